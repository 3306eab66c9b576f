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

// A message carries links of several visits to one node: a byte for the
// version, then this, packed with Brotli. Like stands beside like, which packs
// best: numbers first, then texts.
//
//	pages   number of pages that hold the links, of each its key, 16 bytes,
//	        when it was read (Unix seconds, relative to the one before) and how
//	        many of its links follow, sorted by URL
//	flags   a byte each: 1 other sites, 2 sitemap, 4 a title, 8 redirects or
//	        retries, 16 the anchor stands in the words around
//	priority  in steps of 1/4095: the upper byte of each, then the lower one
//	depth, distance; redirects and retries where flagged
//	lengths of: what a URL shares with the one before, the rest of it, anchor
//	        (or where it stands in the words around, and its length), title, words around
//	the rest of each URL, anchors, titles, words around
//
// Numbers are uvarints, differences zigzag.
const wireVersion = 2

const (
	flagSwitch = 1 << iota
	flagSitemap
	flagTitle
	flagTries
	flagInside
	flagsKnown = 1<<iota - 1
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
	var pages, flags, high, low, numbers, lengths []byte
	var urls, anchors, titles, arounds strings.Builder
	var count, at int // of pages; where the last one begins
	var before int64
	url := ""
	for i := range es {
		e := &es[i]
		if i == 0 || e.Parent != es[at].Parent || e.Found.Unix() != es[at].Found.Unix() {
			if i > 0 {
				pages = binary.AppendUvarint(pages, uint64(i-at))
			}
			pages = append(pages, e.Parent[:]...)
			pages = binary.AppendVarint(pages, e.Found.Unix()-before)
			before, at = e.Found.Unix(), i
			count++
		}
		anchor, title, around := textutil.ClipBytes(e.Anchor, frontier.MaxAnchor), textutil.ClipBytes(e.Title, frontier.MaxAnchor), distinct(textutil.ClipBytes(e.Around, frontier.MaxAround))
		inside := -1
		if anchor != "" {
			inside = strings.Index(around, anchor)
		}
		var flag byte
		for bit, set := range []bool{e.Switch, e.Sitemap, title != "", e.Redirects > 0 || e.Retries > 0, inside >= 0} {
			if set {
				flag |= 1 << bit
			}
		}
		flags = append(flags, flag)
		priority := e.Priority
		if !(priority >= 0) {
			priority = 0
		}
		p := uint16(math.Round(min(priority, 1) * steps))
		high, low = append(high, byte(p>>8)), append(low, byte(p))
		numbers = appendNumbers(numbers, e.Depth, e.Distance)
		if flag&flagTries != 0 {
			numbers = appendNumbers(numbers, e.Redirects, e.Retries)
		}
		text := e.URL.String()
		shared := 0
		for shared < len(text) && shared < len(url) && text[shared] == url[shared] {
			shared++
		}
		url = text
		lengths = appendNumbers(lengths, shared, len(text)-shared)
		urls.WriteString(text[shared:])
		if inside >= 0 {
			lengths = appendNumbers(lengths, inside)
		} else {
			anchors.WriteString(anchor)
		}
		lengths = appendNumbers(lengths, len(anchor))
		if title != "" {
			lengths = appendNumbers(lengths, len(title))
			titles.WriteString(title)
		}
		lengths = appendNumbers(lengths, len(around))
		arounds.WriteString(around)
	}
	pages = binary.AppendUvarint(pages, uint64(len(es)-at))
	b = binary.AppendUvarint(b, uint64(count))
	b = slices.Concat(b, pages, flags, high, low, numbers, lengths)
	for _, part := range []*strings.Builder{&urls, &anchors, &titles, &arounds} {
		b = append(b, part.String()...)
	}
	return b
}

func appendNumbers(b []byte, numbers ...int) []byte {
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(max(n, 0)))
	}
	return b
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
	r := disk.Decode(inside)
	number := func() int { return r.Int(math.MaxInt32) }
	var es []frontier.Entry
	var before int64
	for pages := number(); pages > 0 && !r.Failed(); pages-- {
		var e frontier.Entry
		copy(e.Parent[:], r.Next(len(e.Parent)))
		before += r.Varint()
		e.Found = time.Unix(before, 0)
		links := number()
		if links == 0 || links > maxLinks-len(es) || links > r.Len() {
			return nil, fmt.Errorf("%w: a page with %d links", errMessage, links)
		}
		es = append(es, slices.Repeat([]frontier.Entry{e}, links)...)
	}
	flags, high, low := r.Next(len(es)), r.Next(len(es)), r.Next(len(es))
	if r.Failed() {
		return nil, fmt.Errorf("%w: it is cut off", errMessage)
	}
	for i := range es {
		e := &es[i]
		if flags[i]&^flagsKnown != 0 || high[i] > steps>>8 {
			return nil, fmt.Errorf("%w: link %d has unknown flags", errMessage, i+1)
		}
		e.Switch, e.Sitemap = flags[i]&flagSwitch != 0, flags[i]&flagSitemap != 0
		e.Priority = float64(int(high[i])<<8|int(low[i])) / steps
		e.Depth, e.Distance = number(), number()
		if flags[i]&flagTries != 0 {
			e.Redirects, e.Retries = number(), number()
		}
	}
	type lengths struct{ shared, rest, inside, anchor, title, around int }
	all := make([]lengths, len(es))
	for i := range all {
		l := &all[i]
		l.shared, l.rest = number(), number()
		if flags[i]&flagInside != 0 {
			l.inside = number()
		}
		l.anchor = number()
		if flags[i]&flagTitle != 0 {
			l.title = number()
		}
		l.around = number()
	}
	url := ""
	for i := range es {
		if all[i].shared > len(url) {
			return nil, fmt.Errorf("%w: link %d shares more than there is", errMessage, i+1)
		}
		if all[i].shared+all[i].rest > weburl.MaxLength {
			return nil, fmt.Errorf("%w: link %d is longer than %d bytes", errMessage, i+1, weburl.MaxLength)
		}
		url = url[:all[i].shared] + string(r.Next(all[i].rest))
		if r.Failed() {
			break
		}
		var err error
		if es[i].URL, err = weburl.Parse(url); err != nil {
			return nil, fmt.Errorf("%w: link %d: %w", errMessage, i+1, err)
		}
	}
	for i := range es {
		if flags[i]&flagInside == 0 {
			es[i].Anchor = string(r.Next(all[i].anchor))
		}
	}
	for i := range es {
		es[i].Title = string(r.Next(all[i].title))
	}
	for i := range es {
		es[i].Around = string(r.Next(all[i].around))
		if flags[i]&flagInside != 0 {
			if from, to := all[i].inside, all[i].inside+all[i].anchor; to <= len(es[i].Around) {
				es[i].Anchor = es[i].Around[from:to]
			} else {
				r.Fail()
			}
		}
	}
	if r.Err() != nil {
		return nil, fmt.Errorf("%w: its parts do not fit together", errMessage)
	}
	return es, nil
}
