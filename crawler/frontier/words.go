package frontier

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"gazehound/crawler/weburl"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// A group holds the words of links that were stored together: they have much
// in common and are compressed as one value.
type group struct {
	found   int64 // Unix seconds of the first
	parents []Key
	ends    []int // of the items in data
	data    []byte
}

const maxGroupBytes = 8 << 10

func (g *group) full() bool { return len(g.ends) == maxGroup || len(g.data) >= maxGroupBytes }

// Bits of an item's first byte.
const (
	itemSwitch = 1 << iota
	itemRedirects
	itemFound
	itemSitemap
)

func (g *group) add(e *Entry) (index int) {
	var found int64 // of the zero time
	if !e.Found.IsZero() {
		found = e.Found.Unix()
	}
	if len(g.ends) == 0 {
		g.found = found
	}
	parent := slices.Index(g.parents, e.Parent)
	if parent < 0 {
		parent = len(g.parents)
		g.parents = append(g.parents, e.Parent)
	}
	var flags byte
	if e.Switch {
		flags |= itemSwitch
	}
	if e.Redirects > 0 {
		flags |= itemRedirects
	}
	if e.Sitemap {
		flags |= itemSitemap
	}
	if found != g.found {
		flags |= itemFound
	}
	b := append(g.data, flags)
	b = binary.AppendUvarint(b, uint64(parent))
	b = binary.AppendUvarint(b, uint64(e.Depth))
	b = binary.AppendUvarint(b, uint64(e.Distance))
	if e.Redirects > 0 {
		b = append(b, byte(e.Redirects))
	}
	if found != g.found {
		b = binary.AppendVarint(b, found-g.found)
	}
	for _, s := range [...]string{e.URL.String(), e.Anchor, e.Title, e.Around} {
		b = appendString(b, s)
	}
	g.data = b
	g.ends = append(g.ends, len(b))
	return len(g.ends) - 1
}

// encode returns g uncompressed.
func (g *group) encode() []byte {
	b := make([]byte, 0, len(g.data)+16*len(g.parents)+2*len(g.ends)+16)
	b = binary.AppendVarint(b, g.found)
	b = binary.AppendUvarint(b, uint64(len(g.parents)))
	for _, p := range g.parents {
		b = append(b, p[:]...)
	}
	b = binary.AppendUvarint(b, uint64(len(g.ends)))
	start := 0
	for _, end := range g.ends {
		b = binary.AppendUvarint(b, uint64(end-start))
		start = end
	}
	return append(b, g.data...)
}

// decodeItem returns one link of an encoded group, without Priority and
// Retries.
func decodeItem(value []byte, index int) (e Entry, err error) {
	d := decoder{rest: value}
	found := d.varint()
	parents := d.bytes(16 * d.count(maxGroup))
	n := d.count(maxGroup)
	start, length := 0, 0
	for i := range n {
		l := d.count(len(value))
		if i < index {
			start += l
		}
		if i == index {
			length = l
		}
	}
	d.bytes(start)
	item := decoder{rest: d.bytes(length), bad: d.bad || index >= n}
	flags := item.byte()
	parent := item.count(maxGroup)
	if 16*parent+16 <= len(parents) {
		copy(e.Parent[:], parents[16*parent:])
	} else {
		item.bad = true
	}
	e.Depth, e.Distance = item.count(math.MaxInt32), item.count(math.MaxInt32)
	e.Switch, e.Sitemap = flags&itemSwitch != 0, flags&itemSitemap != 0
	if flags&itemRedirects != 0 {
		e.Redirects = int(item.byte())
	}
	if flags&itemFound != 0 {
		found += item.varint()
	}
	if found != 0 {
		e.Found = time.Unix(found, 0).UTC()
	}
	text := string(item.rest) // one piece of memory for all of them
	next := func() string {
		n := item.count(len(item.rest))
		start := len(text) - len(item.rest)
		item.bytes(n)
		return text[start : start+n]
	}
	raw := next()
	e.Anchor, e.Title, e.Around = next(), next(), next()
	if err := item.end(); err != nil {
		return Entry{}, err
	}
	if raw == "" {
		return e, errForgotten
	}
	if e.URL, err = weburl.Parse(raw); err != nil {
		return Entry{}, errDamaged
	}
	return e, nil
}

// A codec compresses groups, once: what the store does block by block it does
// again whenever it moves them. It is safe for concurrent use.
type codec struct {
	older *zstd.Decoder // of stores of format 2

	mu     sync.Mutex
	groups shelf  // records of groups that links were read from
	room   []byte // for the last of them uncompressed
	epoch  int    // how often forget was called
}

// forget lets go of groups that were read: some were stored anew.
func (c *codec) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.groups.clear()
	c.epoch++
}

// maxPlain bounds a group before compression: a full one, and a last link of
// any length.
const maxPlain = maxGroupBytes + 16*maxGroup + 16<<10

// newCodec returns a codec that keeps up to so many bytes of groups that were
// read.
func newCodec(bytes int64) (*codec, error) {
	older, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPlain), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return &codec{older: older, groups: newShelf(bytes)}, nil
}

func (c *codec) close() { c.older.Close() }

// The first byte of the record of a group.
const (
	asZstd = version // stores of formats 1 and 2
	asS2   = 2
)

// pack returns the record of a group.
func (c *codec) pack(g *group) []byte {
	plain := g.encode()
	b := make([]byte, 1+s2.MaxEncodedLen(len(plain)))
	b[0] = asS2
	return slices.Clone(b[:1+len(s2.EncodeBetter(b[1:], plain))])
}

// A packer compresses the full groups of a batch while that goes on.
type packer struct {
	groups chan numbered
	done   chan []packed // once, when groups is closed
}

type numbered struct {
	id    uint64
	group group
}

type packed struct {
	id    uint64
	value []byte
}

// packer starts a packer; end has to be called.
func (c *codec) packer() *packer {
	p := &packer{groups: make(chan numbered, 8), done: make(chan []packed, 1)}
	groups := p.groups
	go func() {
		var all []packed
		for n := range groups {
			all = append(all, packed{n.id, c.pack(&n.group)})
		}
		p.done <- all
	}()
	return p
}

// end waits for the packer, also for nil, and returns its groups, the first
// time.
func (p *packer) end() []packed {
	if p == nil || p.groups == nil {
		return nil
	}
	close(p.groups)
	p.groups = nil
	return <-p.done
}

// plain returns the record of a group uncompressed, in room if that is large
// enough.
func (c *codec) plain(value, room []byte) (plain []byte, err error) {
	d := decoder{rest: value}
	switch d.byte() {
	case asS2:
		if n, err := s2.DecodedLen(d.rest); err != nil || n > maxPlain {
			return nil, errDamaged
		}
		plain, err = s2.Decode(room[:cap(room)], d.rest)
	case asZstd:
		plain, err = c.older.DecodeAll(d.rest, room[:0])
	default:
		err = errDamaged
	}
	if err != nil {
		return nil, errDamaged
	}
	return plain, nil
}

// unpackAll returns all links of the record of a group; a forgotten one has no
// URL.
func (c *codec) unpackAll(value []byte) (entries []Entry, err error) {
	plain, err := c.plain(value, nil)
	if err != nil {
		return nil, err
	}
	head := decoder{rest: plain}
	head.varint()
	head.bytes(16 * head.count(maxGroup))
	for i := range head.count(maxGroup) {
		e, err := decodeItem(plain, i)
		if err != nil && err != errForgotten {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// link reads a link of the store.
func (c *codec) link(txn *badger.Txn, r ref) (e Entry, known bool, err error) {
	c.mu.Lock()
	epoch := c.epoch
	if value := c.groups.get(r.group()); value != nil {
		defer c.mu.Unlock()
		e, err = c.item(value, r.index())
		return e, true, err
	}
	c.mu.Unlock()
	unread := true
	known, err = get(txn, groupKey(r.group()), func(value []byte) (err error) {
		unread = false
		c.mu.Lock()
		defer c.mu.Unlock()
		if epoch == c.epoch { // else it may have been stored anew meanwhile
			c.groups.put(r.group(), value)
		}
		e, err = c.item(value, r.index())
		return err
	})
	if known && err != nil && unread { // a power cut took it out of the value log
		err = errDamaged
	}
	return e, known, err
}

// item returns a link of the record of a group. c.mu is held.
func (c *codec) item(value []byte, index int) (Entry, error) {
	plain, err := c.plain(value, c.room)
	if err != nil {
		return Entry{}, err
	}
	c.room = plain
	return decodeItem(plain, index)
}

// words reads the link to k.
func (c *codec) words(txn *badger.Txn, r ref, k Key) (Entry, error) {
	e, known, err := c.link(txn, r)
	if err == nil && (!known || KeyOf(e.URL) != k) {
		err = errDamaged
	}
	return e, err
}
