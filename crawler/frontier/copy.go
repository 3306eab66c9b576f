package frontier

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gazehound/crawler/weburl"
)

// A copying makes a new store from the visits, links and values of another one, without what a
// Removal removes. URLs in none of them become unknown; visits are renumbered.
type copying struct {
	Removal
	Forgotten
	from     view
	to       *Frontier
	progress func(done, all int64) // or nil

	gone      map[Key]bool    // URLs that match
	forgotten map[uint64]Key  // URLs that were forgotten before, by the numbers of their visits
	keys      map[string]bool // of records that go, and of pieces what they begin with
	newest    uint64          // visit
	done, all int64           // visits and links
}

func newCopying(from view, r Removal) *copying {
	r = Removal{unlessNil(r.URL), unlessNil(r.Address), unlessNil(r.Page), unlessNil(r.Text)}
	return &copying{
		Removal: r, from: from, gone: map[Key]bool{}, forgotten: map[uint64]Key{}, keys: map[string]bool{},
	}
}

// unlessNil returns fn; nil is false of everything.
func unlessNil[T any](fn func(T) bool) func(T) bool {
	if fn == nil {
		return func(T) bool { return false }
	}
	return fn
}

// plan collects what is removed. It skips unreadable records and returns the first error.
func (c *copying) plan(ctx context.Context) (unread error) {
	for _, p := range []struct {
		kind byte
		read func(key, value []byte) error
	}{{'v', c.planVisit}, {'u', c.planURL}, {'q', c.planLink}, {'k', c.planLink}, {'m', c.planMeta}} {
		err := c.from.scan([]byte{p.kind}, nil, func(key, value []byte) error {
			unread = cmp.Or(unread, p.read(key, value))
			return ctx.Err()
		})
		unread = cmp.Or(unread, err)
	}
	return unread
}

func (c *copying) planVisit(key, value []byte) error {
	seq := idOf(key)
	c.newest = max(c.newest, seq)
	c.all++
	n, err := visited(value)
	if errors.Is(err, errForgotten) {
		c.forgotten[seq] = Key{}
		return nil
	} else if err != nil {
		return err
	}
	c.planPage(n.URL)
	for _, id := range n.Outcome.Addresses {
		if c.Address(id) {
			c.keys[string(addressKey(id))] = true
		}
	}
	return nil
}

func (c *copying) planURL(key, value []byte) error {
	r, err := decodeFixed[urlRecord](value)
	if err != nil || r.State != Visited {
		return err
	}
	c.newest = max(c.newest, r.Seq)
	if _, forgotten := c.forgotten[r.Seq]; forgotten {
		c.forgotten[r.Seq] = Key(key[1:])
	}
	return nil
}

func (c *copying) planLink(_, value []byte) error {
	c.all++
	e, err := decodeLink(value)
	if err == nil {
		c.planPage(e.URL)
	}
	return err
}

func (c *copying) planPage(u weburl.URL) {
	if c.URL(u) {
		c.gone[KeyOf(u)] = true
	}
}

// planMeta removes a value of PutMeta if it or its name matches.
func (c *copying) planMeta(key, _ []byte) error {
	name := string(key[1:])
	value, err := metaOf(c.from, name)
	if c.Text(name) || c.Text(string(value)) {
		c.keys[string(key)], c.keys[string(pieceKey(name, 0, 0)[:pieceName])] = true, true
	}
	return err
}

// copy makes the store in the new directory dir from what is readable and not removed.
func (c *copying) copy(ctx context.Context, dir string) (n Forgotten, err error) {
	seed, known, err := get(c.from, seedKey, decodeFixed[uint64])
	if err != nil || !known {
		return n, fmt.Errorf("%w: its seed cannot be read", cmp.Or(err, ErrDamaged))
	}
	was, _, _ := get(c.from, totalsKey, decode[Totals])
	c.to, err = Open(Options{Dir: dir, Seed: seed})
	if err != nil {
		return n, err
	}
	err = cmp.Or(c.each(ctx, 'a', c.other), c.each(ctx, 'v', c.visit))
	lost := int64(c.newest) - c.to.Totals().Visited
	err = cmp.Or(err, c.each(ctx, 'q', c.link), c.each(ctx, 'k', c.link))
	err = cmp.Or(err, c.each(ctx, 'o', c.outgoing))
	for _, kind := range []byte("dmpl") {
		err = cmp.Or(err, c.each(ctx, kind, c.other))
	}
	err = cmp.Or(err, c.to.write(ctx, func(b *batch) { b.totals.adopt(was, lost) }))
	return c.Forgotten, errors.Join(err, c.to.Close())
}

// each calls fn with all records of a kind, many of them in one transaction.
func (c *copying) each(ctx context.Context, kind byte, fn func(b *batch, key, value []byte)) error {
	type record struct{ key, value []byte }
	var part []record
	size := 0
	flush := func() error {
		err := c.to.write(ctx, func(b *batch) {
			for _, r := range part {
				fn(b, r.key, r.value)
			}
		})
		if c.progress != nil {
			c.progress(c.done, c.all)
		}
		part, size = nil, 0
		return err
	}
	err := c.from.scan([]byte{kind}, nil, func(key, value []byte) error {
		part = append(part, record{bytes.Clone(key), bytes.Clone(value)})
		size += len(value)
		if len(part) < maxLinks && size < pieceSize {
			return nil
		}
		return flush()
	})
	return cmp.Or(err, flush())
}

// other copies a record of something else than a page or a link.
func (c *copying) other(b *batch, key, value []byte) {
	name := key
	if key[0] == 'p' {
		name = key[:pieceName]
	}
	if c.keys[string(name)] {
		return
	}
	if key[0] == 'a' {
		b.totals.Addresses++
	}
	b.set(key, value)
}

func (c *copying) visit(b *batch, key, value []byte) {
	c.done++
	r, err := decode[visitRecord](value)
	if err != nil {
		return
	}
	e, o := &r.Link, &r.Outcome
	k, known := c.forgotten[idOf(key)]
	switch {
	case known && k.IsZero(): // all of it was removed
		return
	case known:
	case c.gone[KeyOf(e.URL)]:
		c.forget(b, KeyOf(e.URL), *o)
		return
	default:
		k = KeyOf(e.URL)
		c.blank(e)
		found := len(o.Addresses)
		o.Addresses = slices.DeleteFunc(o.Addresses, c.Address)
		if taken := found - len(o.Addresses); taken > 0 || c.Text(o.Title) || c.Text(o.Evidence) {
			c.Addresses += taken
			o.Title, o.Evidence = "", ""
		}
		if check, known, err := get(c.from, checkKey(k), decode[Check]); err == nil && known {
			o.Check = &check
		}
	}
	e.Priority = priorityOf(r.Rank)
	b.finish(&link{*e, k}, *o)
}

func (c *copying) link(b *batch, key, value []byte) {
	c.done++
	e, err := decodeLink(value)
	if err != nil {
		return
	}
	k := KeyOf(e.URL)
	if c.gone[k] {
		c.forget(b, k, Outcome{At: time.Now().UTC().Truncate(time.Millisecond)})
		return
	}
	c.blank(&e)
	if key[0] == 'q' {
		e.Priority = priorityOf(placeOf(key).rank)
	}
	b.pushLink(&link{e, k})
}

// outgoing copies a link that waits for another node. It keeps its number.
func (c *copying) outgoing(b *batch, key, value []byte) {
	r, err := decode[outgoingRecord](value)
	if err != nil {
		return
	}
	if c.URL(r.Link.URL) {
		c.Unsent++
		return
	}
	c.blank(&r.Link)
	b.put(key, r)
}

// forget reduces a URL to its hash and a visit without words.
func (c *copying) forget(b *batch, k Key, o Outcome) {
	c.URLs++
	c.Links++
	b.finish(&link{key: k}, Outcome{
		Kind: KindSkipped, Reason: ReasonForgotten, At: o.At, Bytes: o.Bytes, Dropped: o.Dropped,
	})
}

// blank removes the words of a link if they match.
func (c *copying) blank(e *Entry) {
	words := e.Words()
	if words != "\n\n\n" && (c.gone[e.Parent] || c.Page(e.Parent) || c.Text(words)) {
		e.Anchor, e.Title, e.Around, e.Place = "", "", "", ""
		c.Links++
	}
}

// adopt copies totals that records cannot restore: repeated and dropped links. lost is the number
// of unreadable visits.
func (t *Totals) adopt(was Totals, lost int64) {
	t.Repeats, t.Damaged = was.Repeats, was.Damaged+lost
	t.Dropped = was.Dropped
	if t.Dropped == nil {
		t.Dropped = make(map[string]int64)
	}
	t.Links = t.Queued + t.Parked + t.Visited + t.Repeats
	for _, n := range t.Dropped {
		t.Links += n
	}
}
