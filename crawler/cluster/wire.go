package cluster

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/internal/textutil"

	"github.com/andybalholm/brotli"
)

// A wireLink is a link in a message to another node: the JSON of an entry, and its priority, which
// the frontier keeps elsewhere. A message is a list of them, packed with Brotli.
type wireLink struct {
	frontier.Entry
	Priority float32 `json:",omitzero"`
}

const (
	maxMessage = 256 << 10 // bytes of the links of a message before it is packed; JetStream takes 1 MB
	maxUnpack  = 2 << 20   // bytes that a message may unpack to
	maxLinks   = 20_000    // of one message
	quality    = 5         // of Brotli: 9 takes several times as long for half a per cent
)

// errMessage means that a message is foreign or damaged.
var errMessage = errors.New("not a message of links")

// encodeLinks encodes links as JSON, without what the receiver's frontier would cut off.
func encodeLinks(es []frontier.Entry) []byte {
	links := make([]wireLink, len(es))
	for i, e := range es {
		e.Found = e.Found.UTC().Truncate(time.Second)
		e.Anchor = textutil.ClipBytes(e.Anchor, frontier.MaxAnchor)
		e.Title = textutil.ClipBytes(e.Title, frontier.MaxAnchor)
		e.Around = textutil.ClipBytes(e.Around, frontier.MaxAround)
		e.Place = textutil.ClipBytes(e.Place, frontier.MaxPlace)
		links[i].Entry = e
		if e.Priority > 0 { // not NaN either
			links[i].Priority = float32(min(e.Priority, 1))
		}
	}
	text, err := json.Marshal(links)
	if err != nil {
		panic(err) // strings and finite numbers only
	}
	return text
}

// decodeLinks reads what encodeLinks wrote. Every URL has passed weburl.Parse.
func decodeLinks(text []byte) ([]frontier.Entry, error) {
	var links []wireLink
	if err := json.Unmarshal(text, &links); err != nil {
		return nil, fmt.Errorf("%w: %w", errMessage, err)
	}
	if len(links) > maxLinks {
		return nil, fmt.Errorf("%w: more than %d links", errMessage, maxLinks)
	}
	es := make([]frontier.Entry, len(links))
	for i, l := range links {
		if l.URL.IsZero() || min(l.Depth, l.Distance, l.Redirects, l.Retries) < 0 {
			return nil, fmt.Errorf("%w: link %d has no URL, or a negative count", errMessage, i+1)
		}
		es[i] = l.Entry
		es[i].Priority = float64(l.Priority)
	}
	return es, nil
}

// size is about what an entry adds to a message before it is packed.
func size(e *frontier.Entry) int {
	return 160 + len(e.URL.String()) + min(len(e.Anchor), frontier.MaxAnchor) +
		min(len(e.Title), frontier.MaxAnchor) + min(len(e.Around), frontier.MaxAround) +
		min(len(e.Place), frontier.MaxPlace)
}

// packLinks makes the messages of links, as many as it takes. Links of one page stand
// together, by their URLs: like beside like packs best.
func packLinks(es []frontier.Entry) [][]byte {
	es = slices.Clone(es)
	slices.SortStableFunc(es, func(a, b frontier.Entry) int {
		return cmp.Or(cmp.Compare(a.Found.Unix(), b.Found.Unix()), bytes.Compare(a.Parent[:], b.Parent[:]),
			cmp.Compare(a.URL.String(), b.URL.String()))
	})
	var messages [][]byte
	for len(es) > 0 {
		n, weight := 0, 0
		for n < len(es) && n < maxLinks && (n == 0 || weight < maxMessage) {
			weight += size(&es[n])
			n++
		}
		messages = append(messages, compress(encodeLinks(es[:n])))
		es = es[n:]
	}
	return messages
}

func compress(text []byte) []byte {
	var packed bytes.Buffer
	w := brotli.NewWriterLevel(&packed, quality)
	w.Write(text) // a buffer takes everything
	w.Close()
	return packed.Bytes()
}

// unpackLinks reads a message of another node. Whatever it holds, time and memory
// are bounded.
func unpackLinks(message []byte) ([]frontier.Entry, error) {
	text, err := io.ReadAll(io.LimitReader(brotli.NewReader(bytes.NewReader(message)), maxUnpack+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMessage, err)
	}
	if len(text) > maxUnpack {
		return nil, fmt.Errorf("%w: it unpacks to more than %d bytes", errMessage, maxUnpack)
	}
	return decodeLinks(text)
}
