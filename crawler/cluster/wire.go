package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"

	"github.com/klauspost/compress/zstd"
)

// A message carries the links that one visit found for one node, packed with
// zstd: a byte for the version, then one record for each link.
//
//	flags     byte: 1 other sites, 2 sitemap, 4 parent and time as before
//	priority  2 bytes, in steps of 1/65535
//	depth, distance, redirects, retries  uvarint
//	parent    16 bytes, found 8 bytes (Unix ms), unless as before
//	URL, anchor, title, around  uvarint length and bytes
const wireVersion = 1

const (
	flagSwitch = 1 << iota
	flagSitemap
	flagSame
)

const (
	maxMessage = 512 << 10 // bytes of a message before it is packed; JetStream takes 1 MB
	maxUnpack  = 4 << 20   // bytes that a message may unpack to
	maxLinks   = 100_000   // of one message
)

// errMessage says that a message is not one of ours or was damaged.
var errMessage = errors.New("not a message of links")

// A codec packs and unpacks messages. It is safe for concurrent use.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newCodec() (*codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxUnpack))
	if err != nil {
		return nil, err
	}
	return &codec{enc, dec}, nil
}

func (c *codec) close() {
	c.enc.Close() // nothing is buffered
	c.dec.Close()
}

// pack makes the messages of links, as many as it takes.
func (c *codec) pack(es []frontier.Entry) [][]byte {
	var messages [][]byte
	raw := []byte{wireVersion}
	var before *frontier.Entry
	end := func() {
		messages = append(messages, c.enc.EncodeAll(raw, nil))
		raw, before = []byte{wireVersion}, nil
	}
	for i := range es {
		if len(raw) > maxMessage {
			end()
		}
		raw = appendEntry(raw, &es[i], before)
		before = &es[i]
	}
	end()
	return messages
}

func appendEntry(b []byte, e, before *frontier.Entry) []byte {
	var flags byte
	if e.Switch {
		flags |= flagSwitch
	}
	if e.Sitemap {
		flags |= flagSitemap
	}
	same := before != nil && before.Parent == e.Parent && before.Found.UnixMilli() == e.Found.UnixMilli()
	if same {
		flags |= flagSame
	}
	b = append(b, flags)
	priority := e.Priority
	if !(priority >= 0) {
		priority = 0
	}
	b = binary.BigEndian.AppendUint16(b, uint16(math.Round(min(priority, 1)*math.MaxUint16)))
	for _, n := range []int{e.Depth, e.Distance, e.Redirects, e.Retries} {
		b = binary.AppendUvarint(b, uint64(max(n, 0)))
	}
	if !same {
		b = append(b, e.Parent[:]...)
		b = binary.BigEndian.AppendUint64(b, uint64(e.Found.UnixMilli()))
	}
	for _, s := range []string{e.URL.String(), e.Anchor, e.Title, e.Around} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return b
}

// unpack reads a message of another node. Whatever it holds, time and memory
// are bounded, and every URL has passed weburl.Parse.
func (c *codec) unpack(message []byte) ([]frontier.Entry, error) {
	raw, err := c.dec.DecodeAll(message, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMessage, err)
	}
	r := reader{b: raw}
	if v := r.byte(); v != wireVersion {
		return nil, fmt.Errorf("%w: version %d, this program reads %d", errMessage, v, wireVersion)
	}
	var es []frontier.Entry
	for len(r.b) > 0 && !r.short {
		if len(es) == maxLinks {
			return nil, fmt.Errorf("%w: more than %d links", errMessage, maxLinks)
		}
		var e frontier.Entry
		flags := r.byte()
		e.Switch, e.Sitemap = flags&flagSwitch != 0, flags&flagSitemap != 0
		e.Priority = float64(binary.BigEndian.Uint16(r.bytes(2))) / math.MaxUint16
		e.Depth, e.Distance, e.Redirects, e.Retries = r.int(), r.int(), r.int(), r.int()
		switch {
		case flags&flagSame == 0:
			copy(e.Parent[:], r.bytes(16))
			e.Found = time.UnixMilli(int64(binary.BigEndian.Uint64(r.bytes(8))))
		case len(es) > 0:
			e.Parent, e.Found = es[len(es)-1].Parent, es[len(es)-1].Found
		}
		text := string(r.bytes(r.int()))
		e.Anchor, e.Title, e.Around = string(r.bytes(r.int())), string(r.bytes(r.int())), string(r.bytes(r.int()))
		if r.short {
			break
		}
		if e.URL, err = weburl.Parse(text); err != nil {
			return nil, fmt.Errorf("%w: link %d: %w", errMessage, len(es)+1, err)
		}
		es = append(es, e)
	}
	if r.short {
		return nil, fmt.Errorf("%w: link %d is cut off", errMessage, len(es)+1)
	}
	return es, nil
}

// A reader takes values off the front of bytes; short says that they ended.
type reader struct {
	b     []byte
	short bool
}

var zeros [16]byte

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.short, r.b = true, nil
		return zeros[:min(max(n, 0), len(zeros))]
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) byte() byte { return r.bytes(1)[0] }

func (r *reader) int() int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > math.MaxInt32 {
		r.short, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}
