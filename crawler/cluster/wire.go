package cluster

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/internal/disk"
	"gazehound/internal/textutil"

	"github.com/andybalholm/brotli"
)

// A message carries links of several visits to one node: a byte for the version,
// then what follows, packed with Brotli. Numbers stand apart from texts, because
// like beside like packs best:
//
//	numbers  with their length before them. For each link its flags, the key of
//	         its page (16 bytes) and when that was read (Unix seconds, relative to
//	         the one before) unless they are those of the link before, priority
//	         (in steps of 1/4095), depth, distance, redirects and retries where
//	         flagged, how many bytes its URL shares with the one before, and the
//	         lengths of its texts; an anchor that stands in the words around has
//	         its place there before its length
//	texts    of each link the rest of its URL, anchor, title, words around
//
// Numbers are uvarints, differences zigzag.
const wireVersion = 3

const (
	flagSwitch  = 1 << iota // the link leads to another site
	flagSitemap             // it is of a sitemap
	flagTries               // it has redirects or retries
	flagInside              // its anchor stands in the words around it
	flagPage                // it is the first of a page
	flagsKnown  = 1<<iota - 1
)

const (
	maxMessage = 256 << 10 // bytes of the links of a message before it is packed; JetStream takes 1 MB
	maxUnpack  = 4 << 20   // bytes that a message may unpack to
	maxLinks   = 20_000    // of one message
	quality    = 5         // of Brotli: 9 takes several times as long for half a per cent
	steps      = 1<<12 - 1 // of a priority
)

// errMessage says that a message is not one of ours or was damaged.
var errMessage = errors.New("not a message of links")

// size is about what an entry adds to a message before it is packed.
func size(e *frontier.Entry) int {
	return 16 + len(e.URL.String()) + min(len(e.Anchor), frontier.MaxAnchor) + min(len(e.Title), frontier.MaxAnchor) + min(len(e.Around), frontier.MaxAround)
}

// pack makes the messages of links, as many as it takes. What the receiver's
// frontier would cut off is left out.
func (c *codec) pack(es []frontier.Entry) [][]byte {
	es = slices.Clone(es)
	slices.SortStableFunc(es, func(a, b frontier.Entry) int {
		return cmp.Or(cmp.Compare(a.Found.Unix(), b.Found.Unix()), bytes.Compare(a.Parent[:], b.Parent[:]), cmp.Compare(a.URL.String(), b.URL.String()))
	})
	var messages [][]byte
	for len(es) > 0 {
		n, weight := 0, 0
		for n < len(es) && n < maxLinks && (n == 0 || weight < maxMessage) {
			weight += size(&es[n])
			n++
		}
		messages = append(messages, c.compress(appendLinks(nil, es[:n])))
		es = es[n:]
	}
	return messages
}

// appendLinks writes links as the inside of a message. Links of one page should
// stand together, by their URLs.
func appendLinks(b []byte, es []frontier.Entry) []byte {
	var numbers []byte
	var texts strings.Builder
	number := func(list ...int) {
		for _, n := range list {
			numbers = binary.AppendUvarint(numbers, uint64(max(n, 0)))
		}
	}
	before, url := frontier.Entry{}, ""
	for i := range es {
		e := &es[i]
		around := distinct(textutil.ClipBytes(e.Around, frontier.MaxAround))
		anchor, title := textutil.ClipBytes(e.Anchor, frontier.MaxAnchor), textutil.ClipBytes(e.Title, frontier.MaxAnchor)
		inside := -1
		if anchor != "" {
			inside = strings.Index(around, anchor)
		}
		isFirst := i == 0 || e.Parent != before.Parent || e.Found.Unix() != before.Found.Unix()
		flags := 0
		for bit, set := range []bool{e.Switch, e.Sitemap, e.Redirects > 0 || e.Retries > 0, inside >= 0, isFirst} {
			if set {
				flags |= 1 << bit
			}
		}
		number(flags)
		if isFirst {
			numbers = append(numbers, e.Parent[:]...)
			since := e.Found.Unix()
			if i > 0 {
				since -= before.Found.Unix()
			}
			numbers = binary.AppendVarint(numbers, since)
		}
		priority := 0.0
		if e.Priority > 0 { // not NaN either
			priority = min(e.Priority, 1)
		}
		number(int(math.Round(priority*steps)), e.Depth, e.Distance)
		if flags&flagTries != 0 {
			number(e.Redirects, e.Retries)
		}
		text := e.URL.String()
		shared := 0
		for shared < len(text) && shared < len(url) && text[shared] == url[shared] {
			shared++
		}
		number(shared, len(text)-shared, len(title), len(around))
		texts.WriteString(text[shared:] + title + around)
		if inside >= 0 {
			number(inside, len(anchor))
		} else {
			number(len(anchor))
			texts.WriteString(anchor)
		}
		before, url = *e, text
	}
	b = binary.AppendUvarint(b, uint64(len(numbers)))
	return append(append(b, numbers...), texts.String()...)
}

// maxAround is how many of the words around a link travel: as many as the
// predictor looks at.
const maxAround = 19

// distinct keeps the first words of a text, each once, which is all that the
// predictor reads of the words around a link.
func distinct(s string) string {
	var kept []string
	seen := map[string]bool{}
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		if like := strings.Map(alike, word); !seen[like] {
			seen[like] = true
			kept = append(kept, word)
		}
		if len(kept) == maxAround {
			break
		}
	}
	return strings.Join(kept, " ")
}

// alike folds what the predictor takes for the same word.
func alike(r rune) rune {
	if unicode.IsDigit(r) {
		return '0'
	}
	return unicode.ToLower(r)
}

// A codec packs and unpacks messages. It is safe for concurrent use.
type codec struct {
	mu sync.Mutex
	w  *brotli.Writer
}

func newCodec() *codec { return &codec{w: brotli.NewWriterLevel(io.Discard, quality)} }

func (c *codec) compress(inside []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	var packed bytes.Buffer
	packed.WriteByte(wireVersion)
	c.w.Reset(&packed)
	c.w.Write(inside) // a buffer takes everything
	c.w.Close()
	return packed.Bytes()
}

// unpack reads a message of another node. Whatever it holds, time and memory
// are bounded, and every URL has passed weburl.Parse.
func (c *codec) unpack(message []byte) ([]frontier.Entry, error) {
	if len(message) == 0 {
		return nil, fmt.Errorf("%w: it is empty", errMessage)
	}
	if v := message[0]; v != wireVersion {
		return nil, fmt.Errorf("%w: version %d, this program reads %d", errMessage, v, wireVersion)
	}
	inside, err := io.ReadAll(io.LimitReader(brotli.NewReader(bytes.NewReader(message[1:])), maxUnpack+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMessage, err)
	}
	if len(inside) > maxUnpack {
		return nil, fmt.Errorf("%w: it unpacks to more than %d bytes", errMessage, maxUnpack)
	}
	return readLinks(inside)
}

// readLinks reads what appendLinks wrote.
func readLinks(inside []byte) ([]frontier.Entry, error) {
	texts := disk.Decode(inside)
	numbers := disk.Decode(texts.Bytes())
	var es []frontier.Entry
	var before frontier.Entry
	url := ""
	for numbers.Len() > 0 {
		if len(es) == maxLinks {
			return nil, fmt.Errorf("%w: more than %d links", errMessage, maxLinks)
		}
		flags := numbers.Int(math.MaxInt32)
		if flags&^flagsKnown != 0 || flags&flagPage == 0 && len(es) == 0 {
			return nil, fmt.Errorf("%w: link %d has unknown flags", errMessage, len(es)+1)
		}
		e := frontier.Entry{
			Parent: before.Parent, Found: before.Found,
			Switch: flags&flagSwitch != 0, Sitemap: flags&flagSitemap != 0,
		}
		if flags&flagPage != 0 {
			copy(e.Parent[:], numbers.Next(len(e.Parent)))
			since := numbers.Varint()
			if len(es) > 0 {
				since += before.Found.Unix()
			}
			e.Found = time.Unix(since, 0)
		}
		e.Priority = float64(numbers.Int(steps)) / steps
		e.Depth, e.Distance = numbers.Int(math.MaxInt32), numbers.Int(math.MaxInt32)
		if flags&flagTries != 0 {
			e.Redirects, e.Retries = numbers.Int(math.MaxInt32), numbers.Int(math.MaxInt32)
		}
		shared := numbers.Int(len(url))
		rest := numbers.Int(weburl.MaxLength - shared)
		title, around := numbers.Int(frontier.MaxAnchor), numbers.Int(frontier.MaxAround)
		if numbers.Failed() {
			break
		}
		url = url[:shared] + string(texts.Next(rest))
		e.Title, e.Around = string(texts.Next(title)), string(texts.Next(around))
		if flags&flagInside != 0 {
			from := numbers.Int(len(e.Around))
			e.Anchor = e.Around[from : from+numbers.Int(len(e.Around)-from)]
		} else {
			e.Anchor = string(texts.Next(numbers.Int(frontier.MaxAnchor)))
		}
		var err error
		if e.URL, err = weburl.Parse(url); err != nil {
			return nil, fmt.Errorf("%w: link %d: %w", errMessage, len(es)+1, err)
		}
		es, before = append(es, e), e
	}
	if numbers.Failed() || texts.Err() != nil {
		return nil, fmt.Errorf("%w: it is cut off or damaged", errMessage)
	}
	return es, nil
}
