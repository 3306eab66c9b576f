package frontier

import (
	"maps"
	"slices"
)

// A recount is what can be found out about a store by reading all of it.
type recount struct {
	totals Totals
	hosts  map[uint64]hostRecord
	visits int64 // that can be read
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
			return nil // found and counted when it is next looked up
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
			c.visits++
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

// repair counts everything again, after the record of the totals or of a host was found damaged,
// and stores the result.
func (f *Frontier) repair() error {
	c, err := countAll(f.view, f.seed)
	if err != nil {
		return err
	}
	t, was := &c.totals, f.totals
	t.Damaged = was.Damaged + 1 + t.Visited - c.visits
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
		f.restoreHost(id, r)
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

// maxRepaired bounds how many records of lost URLs one transaction deletes.
const maxRepaired = 1000

// repair brings the records of the URLs of a host in line with its queue, after one of them could
// not be read or there were fewer than the host's record promised. What has no readable counterpart
// is deleted; a link can bring it back.
func (b *batch) repair(h *host) {
	d := b.delta(h)
	waiting, queued := make(map[uint64]place), int64(0)
	var lost []place
	b.scan(queueOf(h.id), func(key, value []byte) {
		p, ok := placeOf(key)
		if !ok {
			return
		}
		queued++
		_, twice := waiting[p.tie]
		if _, err := b.f.decodeAt(h, p, value); (err != nil || twice) && len(lost) < maxRepaired {
			lost = append(lost, p)
			return
		}
		waiting[p.tie] = p
	})
	var unknown []Key
	b.scan(urlKey(makeKey(h.id, 0))[:9], func(key, value []byte) {
		if len(key) != 17 || len(unknown) == maxRepaired {
			return
		}
		k := Key(key[1:])
		r, err := decodeURL(value)
		p, waits := waiting[b.tie(k)]
		switch {
		case err != nil, r.state == Queued && (!waits || p.rank != r.rank):
			unknown = append(unknown, k)
		case r.state == Queued:
			delete(waiting, p.tie)
		}
	})
	for _, k := range unknown {
		d.total--
		b.delete(urlKey(k))
	}
	if len(unknown) < maxRepaired {
		lost = slices.AppendSeq(lost, maps.Values(waiting))
	}
	for _, p := range lost[:min(len(lost), maxRepaired)] {
		queued--
		b.dequeue(h, p)
		count(b.totals.Dropped, ReasonDamaged, 1)
	}
	missing := int64(h.queued) + d.queued - queued
	if missing != 0 {
		d.queued -= missing
		b.totals.Queued -= missing
		count(b.totals.Dropped, ReasonDamaged, missing)
	}
	if len(unknown)+len(lost) > 0 || missing != 0 { // else another caller has repaired it
		b.totals.Damaged++
	}
	b.changes = append(b.changes, change{kind: isRepaired, host: h})
}
