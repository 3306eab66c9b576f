package frontier

import "maps"

// A recount is what can be found out about a store by reading all of it.
type recount struct {
	totals Totals
	hosts  map[uint64]hostRecord
}

// countAll reads the whole store. Repeated links, and those that were dropped before they were
// queued, have left no trace in it.
func countAll(v view, seed uint64) (c recount, err error) {
	c.hosts = make(map[uint64]hostRecord)
	t := &c.totals
	t.Errors, t.Skipped, t.Dropped = make(map[string]int64), make(map[string]int64), make(map[string]int64)
	err = v.scan([]byte{'u'}, nil, func(key, value []byte) error {
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
	err = v.scan([]byte{'v'}, nil, func(key, value []byte) error {
		if r, err := decodeVisit(value); err == nil {
			t.add(&r.outcome)
		}
		t.Visited = max(t.Visited, int64(idOf(key)))
		return nil
	})
	if err != nil {
		return c, err
	}
	err = v.scan([]byte{'a'}, nil, func(_, _ []byte) error { t.Addresses++; return nil })
	return c, err
}

// ReasonDamaged is the reason for which links are dropped that were in the queue and whose record
// could not be read.
const ReasonDamaged = "damaged"

// repair counts everything again, after the record of the totals or of a host was found damaged, and
// stores the result.
func (f *Frontier) repair() error {
	c, err := countAll(f.view, f.seed)
	if err != nil {
		return err
	}
	t, was := &c.totals, f.totals
	t.Damaged = was.Damaged + 1
	if t.Links < was.Links { // what leaves no trace is still known
		t.Links, t.Repeats, t.Dropped = was.Links, was.Repeats, maps.Clone(was.Dropped)
		if t.Dropped == nil {
			t.Dropped = make(map[string]int64)
		}
	}
	lost := t.Links - t.Queued - t.Visited - t.Repeats
	for _, n := range t.Dropped {
		lost -= n
	}
	if lost > 0 {
		count(t.Dropped, ReasonDamaged, lost)
	}
	f.totals, f.ready.hosts = *t, nil
	clear(f.hosts)
	u := f.store.update()
	defer func() { u.close() }()
	for id, r := range c.hosts {
		f.addHost(id, r)
		if err := u.set(hostKey(id), r.encode()); err != nil {
			return err
		}
		if len(f.hosts)%1000 == 0 { // many do not fit into one transaction
			if err := u.commit(); err != nil {
				return err
			}
			u = f.store.update()
		}
	}
	if err := u.set(totalsKey, t.encode()); err != nil {
		return err
	}
	return u.commit()
}

// dropURL takes a URL out of the crawl whose record is damaged. Nothing tells whether it was queued.
func (b *batch) dropURL(k Key) error {
	b.totals.Damaged++
	if err := b.delete(urlKey(k)); err != nil {
		return err
	}
	h, tie := b.host(k), b.tie(k)
	b.hosts[h].total--
	var at place
	known := false
	err := b.scan(queueOf(h.id), nil, func(key, _ []byte) error {
		if at, known = placeOf(key); known && at.tie == tie {
			return errEnough
		}
		known = false
		return nil
	})
	if err != nil || !known {
		return err
	}
	count(b.totals.Dropped, ReasonDamaged, 1)
	return b.dequeue(h, at)
}

// drop takes an entry out of the crawl that cannot be read. Several callers of Next may have met it:
// the first of them takes it out.
func (b *batch) drop(h *host, it item) error {
	k := makeKey(h.id, urlOf(b.f.seed, it.tie))
	b.host(k)
	b.f.mu.Lock()
	i := h.waitsAt(it.tie)
	waits := i >= 0 && h.buffer.items[i].stored == it.stored
	b.f.mu.Unlock()
	if !waits {
		return nil
	}
	b.totals.Damaged++
	if err := b.dequeue(h, it.storedPlace()); err != nil {
		return err
	}
	r, known, err := b.lookup(k)
	if err != nil || !known || r.state != Queued {
		return err
	}
	b.hosts[h].total--
	count(b.totals.Dropped, ReasonDamaged, 1)
	return b.delete(urlKey(k))
}

// maxRecounted bounds how many records of lost URLs one transaction deletes.
const maxRecounted = 1000

// recount corrects the number of queued entries of h, which has fewer than its record promised. URLs
// whose entries are lost are unknown afterwards, so that a link can bring them back.
func (b *batch) recount(h *host) error {
	b.host(makeKey(h.id, 0))
	d := b.hosts[h]
	waiting := make(map[uint64]bool) // by tie
	err := b.scan(queueOf(h.id), nil, func(key, _ []byte) error {
		if p, ok := placeOf(key); ok {
			waiting[p.tie] = true
			if p.before(d.best) {
				d.best = p
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var lost []Key
	err = b.scan(urlKey(makeKey(h.id, 0))[:9], nil, func(key, value []byte) error {
		r, err := decodeURL(value)
		if err != nil || len(key) != 17 || r.state != Queued || waiting[b.tie(Key(key[1:]))] {
			return nil
		}
		if lost = append(lost, Key(key[1:])); len(lost) == maxRecounted {
			return errEnough
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, k := range lost {
		d.total--
		if err := b.delete(urlKey(k)); err != nil {
			return err
		}
	}
	b.totals.Damaged++
	n := int64(len(waiting)) - int64(h.queued) - d.queued
	d.queued += n
	b.totals.Queued += n
	if n < 0 {
		count(b.totals.Dropped, ReasonDamaged, -n)
	}
	b.changes = append(b.changes, change{kind: isRecounted, host: h})
	return nil
}
