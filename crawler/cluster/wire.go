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
	"gazehound/crawler/weburl"
	"gazehound/internal/textutil"

	"github.com/andybalholm/brotli"
)

// A message carries links of several visits to one node: the JSON of their
// wireLinks, packed with Brotli.
type wireLink struct {
	URL       string  `json:"url"`
	Parent    []byte  `json:"parent"` // frontier.Key
	Found     int64   `json:"found"`  // Unix seconds
	Priority  float32 `json:"priority,omitempty"`
	Depth     int     `json:"depth"`
	Distance  int     `json:"distance,omitempty"`
	Redirects int     `json:"redirects,omitempty"`
	Retries   int     `json:"retries,omitempty"`
	Switch    bool    `json:"switch,omitempty"`
	Sitemap   bool    `json:"sitemap,omitempty"`
	Anchor    string  `json:"anchor,omitempty"`
	Title     string  `json:"title,omitempty"`
	Around    string  `json:"around,omitempty"`
}

const (
	maxMessage = 256 << 10 // bytes of the links of a message before it is packed; JetStream takes 1 MB
	maxUnpack  = 2 << 20   // bytes that a message may unpack to
	maxLinks   = 20_000    // of one message
	quality    = 5         // of Brotli: 9 takes several times as long for half a per cent
)

// errMessage means that a message is foreign or damaged.
var errMessage = errors.New("not a message of links")

// encodeLinks writes links as JSON. What the receiver's frontier would cut off
// is left out.
func encodeLinks(es []frontier.Entry) []byte {
	links := make([]wireLink, len(es))
	for i := range es {
		e := &es[i]
		priority := 0.0
		if e.Priority > 0 { // not NaN either
			priority = min(e.Priority, 1)
		}
		links[i] = wireLink{
			URL: e.URL.String(), Parent: e.Parent[:], Found: e.Found.Unix(), Priority: float32(priority),
			Depth: e.Depth, Distance: e.Distance, Redirects: e.Redirects, Retries: e.Retries,
			Switch: e.Switch, Sitemap: e.Sitemap,
			Anchor: textutil.ClipBytes(e.Anchor, frontier.MaxAnchor),
			Title:  textutil.ClipBytes(e.Title, frontier.MaxAnchor),
			Around: textutil.ClipBytes(e.Around, frontier.MaxAround),
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
		u, err := weburl.Parse(l.URL)
		if err != nil {
			return nil, fmt.Errorf("%w: link %d: %w", errMessage, i+1, err)
		}
		if len(l.Parent) != len(frontier.Key{}) {
			return nil, fmt.Errorf("%w: link %d has a key of %d bytes", errMessage, i+1, len(l.Parent))
		}
		if min(l.Depth, l.Distance, l.Redirects, l.Retries) < 0 {
			return nil, fmt.Errorf("%w: link %d has a negative count", errMessage, i+1)
		}
		es[i] = frontier.Entry{
			URL: u, Parent: frontier.Key(l.Parent), Found: time.Unix(l.Found, 0), Priority: float64(l.Priority),
			Depth: l.Depth, Distance: l.Distance, Redirects: l.Redirects, Retries: l.Retries,
			Switch: l.Switch, Sitemap: l.Sitemap,
			Anchor: l.Anchor, Title: l.Title, Around: l.Around,
		}
	}
	return es, nil
}

// size is about what an entry adds to a message before it is packed.
func size(e *frontier.Entry) int {
	return 160 + len(e.URL.String()) + min(len(e.Anchor), frontier.MaxAnchor) +
		min(len(e.Title), frontier.MaxAnchor) + min(len(e.Around), frontier.MaxAround)
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
