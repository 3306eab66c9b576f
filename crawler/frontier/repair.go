package frontier

import (
	"container/heap"
	"encoding/binary"
	"maps"

	badger "github.com/dgraph-io/badger/v4"
)

// A recount is what can be found out about a store by reading all of it.
type recount struct {
	totals Totals
	groups uint64
	hosts  map[uint64]hostRecord
}

// countAll reads the whole store. Repeated links, and those that the limit of
// URLs per host dropped, have left no trace in it.
func countAll(txn *badger.Txn, seed uint64) (c recount, err error) {
	c.hosts = make(map[uint64]hostRecord)
	t := &c.totals
	t.Errors, t.Skipped, t.Dropped = make(map[string]int64), make(map[string]int64), make(map[string]int64)
	err = scan(txn, []byte{'u'}, func(key, value []byte) error {
		r, err := decodeURL(value)
		if err != nil || len(key) != 17 {
			return nil // met and counted when it is next asked for
		}
		k := Key(key[1:])
		h, known := c.hosts[k.host()]
		if !known {
			h.best = nowhere
		}
		h.total++
		t.Links++
		if r.state == Queued {
			h.queued++
			t.Queued++
			if p := (place{r.rank, tieOf(seed, k.url())}); p.before(h.best) {
				h.best = p
			}
		}
		c.hosts[k.host()] = h
		return nil
	})
	if err != nil {
		return c, err
	}
	err = scanKeys(txn, []byte{'q'}, func(key []byte) {
		id := decoderOf(key[1:]).uint64()
		if h := c.hosts[id]; !h.ordered && h.total > 0 {
			h.ordered = true
			c.hosts[id] = h
		}
	})
	if err != nil {
		return c, err
	}
	err = scan(txn, []byte{'v'}, func(key, value []byte) error {
		r, err := decodeVisit(value)
		if err != nil {
			return nil
		}
		t.add(&r.outcome)
		t.Visited = max(t.Visited, int64(binary.BigEndian.Uint64(key[1:])))
		return nil
	})
	if err != nil {
		return c, err
	}
	err = scan(txn, []byte{'a'}, func(_, _ []byte) error { t.Addresses++; return nil })
	if err != nil {
		return c, err
	}
	err = scan(txn, []byte{'x'}, func(_, _ []byte) error { t.Damaged++; return nil })
	if err != nil {
		return c, err
	}
	err = scan(txn, []byte{'l'}, func(key, _ []byte) error {
		c.groups = binary.BigEndian.Uint64(key[1:]) + 1
		return nil
	})
	return c, err
}

// ReasonDamaged is the reason for which links are dropped that were in the
// queue and whose record could not be read.
const ReasonDamaged = "damaged"

// repair counts everything again, after the record of the totals or of a host
// was found damaged, and stores the result.
func (f *Frontier) repair(txn *badger.Txn) error {
	if f.totals.Links == 0 { // the seed was lost with the totals
		if err := f.findSeed(txn); err != nil {
			return err
		}
	}
	c, err := countAll(txn, f.seed)
	if err != nil {
		return err
	}
	c.totals.Damaged++
	if c.totals.Links < f.totals.Links { // what leaves no trace is still known
		c.totals.Links, c.totals.Repeats, c.totals.Dropped = f.totals.Links, f.totals.Repeats, maps.Clone(f.totals.Dropped)
	}
	lost := c.totals.Links - c.totals.Queued - c.totals.Visited - c.totals.Repeats
	for _, n := range c.totals.Dropped {
		lost -= n
	}
	if lost > 0 {
		count(c.totals.Dropped, ReasonDamaged, lost)
	}
	f.totals, f.groups = c.totals, max(c.groups, f.groups)
	f.hosts, f.ready.hosts, f.queued = hosts{}, nil, 0
	w := f.db.NewWriteBatchAt(f.version + 1)
	defer w.Cancel()
	for id, r := range c.hosts {
		f.addHost(id, r)
		if err := w.Set(hostKey(id), r.encode()); err != nil {
			return err
		}
	}
	heap.Init(&f.ready)
	if err := w.Set(totalsKey, encodeTotals(&f.totals, f.groups, f.seed)); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	f.version++
	return nil
}

// findSeed computes the seed from a place in the queue, whose tie is a mixture
// of the seed and its URL. A queue without places bears any seed.
func (f *Frontier) findSeed(txn *badger.Txn) error {
	f.seed = f.options.Seed
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{'q'}})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		d := decoderOf(it.Item().Key()[1:])
		d.bytes(12)
		tie := d.uint64()
		var e Entry
		err := it.Item().Value(func(value []byte) error {
			r, _, err := decodeQueue(value)
			if err != nil {
				return err
			}
			e, _, err = f.codec.link(txn, r)
			return err
		})
		if err == nil && !e.URL.IsZero() && d.end() == nil {
			f.seed = seedOf(tie, KeyOf(e.URL).url())
			return nil
		}
	}
	return nil
}

// maxMended bounds what one transaction mends of a host.
const maxMended = 1000

// mend brings the queue of a host, which did not hold what was promised, in
// line with the records of its URLs: places that are missing are set again,
// those of visited URLs and second ones are removed.
func (b *batch) mend(h *host) error {
	b.host(makeKey(h.id, 0))
	b.totals.Damaged++
	return b.recount(h)
}

// recount mends the places of h and what is known about their number.
func (b *batch) recount(h *host) error {
	d := b.hosts[h]
	places := make(map[uint64][]uint32) // tie → ranks
	err := b.f.scanQueue(b.txn, h, b.ordered(h), place{}, func(it item) (bool, error) {
		places[it.tie] = append(places[it.tie], it.rank)
		return true, nil
	})
	if err != nil {
		return err
	}
	mended, later := 0, int64(0)
	remove := func(tie uint64, but func(rank uint32) bool) error {
		var kept []uint32
		for _, rank := range places[tie] {
			if but(rank) {
				kept = append(kept, rank)
				continue
			}
			mended++
			if err := b.unplace(h, place{rank, tie}); err != nil {
				return err
			}
		}
		places[tie] = kept
		return nil
	}
	err = scan(b.txn, urlKey(makeKey(h.id, 0))[:9], func(key, value []byte) error {
		r, err := decodeURL(value)
		if err != nil || len(key) != 17 {
			return nil
		}
		tie := tieOf(b.f.seed, Key(key[1:]).url())
		if mended >= maxMended {
			if r.state == Queued && len(places[tie]) == 0 {
				later++
			}
			return nil
		}
		if err := remove(tie, func(rank uint32) bool { return r.state == Queued && rank == r.rank }); err != nil {
			return err
		}
		if r.state == Queued && len(places[tie]) == 0 {
			mended++
			places[tie] = []uint32{r.rank}
			return b.place(h, place{r.rank, tie}, r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	n := later
	for tie, ranks := range places {
		for _, rank := range ranks {
			n++
			if p := (place{rank, tie}); p.before(d.best) {
				d.best = p
			}
		}
	}
	n -= int64(h.queued) + d.queued
	d.queued += n
	b.totals.Queued += n
	b.changes = append(b.changes, change{kind: isMended, host: h})
	return nil
}
