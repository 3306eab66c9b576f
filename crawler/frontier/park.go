package frontier

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"gazehound/crawler/weburl"
)

// A ParkedPattern is a set of links of one host that are kept and not served, see Entry.Parked.
type ParkedPattern struct {
	Host    string `json:"host"`
	Pattern string `json:"pattern"`
	Links   int64  `json:"links"`
}

// Name returns the pattern with its host.
func (p ParkedPattern) Name() string {
	if strings.HasPrefix(p.Pattern, p.Host) {
		return p.Pattern
	}
	return p.Host + " " + p.Pattern
}

// parkedOf returns the id of a pattern in the keys of parked links.
func parkedOf(pattern string) uint64 { return binary.BigEndian.Uint64(digest(pattern)) }

// patternKey is the key of the count of a parked pattern.
func patternKey(host, pattern uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte{'n'}, host), pattern)
}

// parkedKey is the key of a parked link.
func parkedKey(host, pattern, url uint64) []byte {
	key := patternKey(host, pattern)
	key[0] = 'k'
	return binary.BigEndian.AppendUint64(key, url)
}

// Park takes a leased entry out of the queue and keeps it under e.Parked until Unpark, however many
// are parked there: the entry was accepted, and the limit of its host has counted it.
func (f *Frontier) Park(ctx context.Context, e Entry) error {
	links, err := prepare([]Entry{e})
	if err != nil {
		return err
	}
	l := &links[0]
	return f.write(ctx, func(b *batch) {
		r, known := b.lookup(l.key)
		if !known || r.State != Queued {
			return
		}
		h := b.host(l.key)
		b.dequeue(h, place{r.Rank, b.tie(l.key)})
		b.hosts[h].total--
		b.park(h, l)
	})
}

// parkedFull reports whether as many links are parked under the pattern of a link as its host may
// have URLs.
func (b *batch) parkedFull(h *host, l *link) bool {
	n, _ := find(b, patternKey(h.id, parkedOf(l.Parked)), decode[ParkedPattern])
	limit := b.limit(l.URL)
	return limit > 0 && n.Links >= limit
}

// park keeps a link that is not in the queue.
func (b *batch) park(h *host, l *link) {
	id := parkedOf(l.Parked)
	n, _ := find(b, patternKey(h.id, id), decode[ParkedPattern])
	b.put(patternKey(h.id, id), ParkedPattern{l.URL.Host(), l.Parked, n.Links + 1})
	b.put(parkedKey(h.id, id, l.key.url()), &l.Entry)
	b.set(urlKey(l.key), fixed(urlRecord{State: Parked, Distance: uint32(l.Distance), Retries: uint8(l.Retries), Seq: id}))
	b.totals.Parked++
}

// unpark removes a parked link, whose record the caller replaces.
func (b *batch) unpark(k Key, pattern uint64) {
	b.delete(parkedKey(k.host(), pattern, k.url()))
	b.totals.Parked--
	key := patternKey(k.host(), pattern)
	n, _ := find(b, key, decode[ParkedPattern])
	n.Links--
	if n.Links > 0 {
		b.put(key, n)
	} else {
		b.delete(key)
	}
}

// Parked returns the parked patterns, those with the most links first.
func (f *Frontier) Parked() (all []ParkedPattern, err error) {
	err = f.read(func(v view) error {
		return v.scan([]byte{'n'}, nil, func(_, value []byte) error {
			p, err := decode[ParkedPattern](value)
			all = append(all, p)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: parked: %w", err)
	}
	slices.SortFunc(all, func(a, b ParkedPattern) int {
		return cmp.Or(cmp.Compare(b.Links, a.Links), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Pattern, b.Pattern))
	})
	return all, nil
}

// Unpark queues the links of a parked pattern, with the priorities that score returns, and returns
// how many there were. Links that others park meanwhile may stay parked.
func (f *Frontier) Unpark(ctx context.Context, p ParkedPattern, score func(*Entry) float64) (released int, err error) {
	u, err := weburl.Parse("http://" + p.Host + "/")
	if err != nil {
		return 0, fmt.Errorf("frontier: unpark: %w", err)
	}
	prefix := parkedKey(KeyOf(u).host(), parkedOf(p.Pattern), 0)[:17]
	var from []byte // goes on behind what was read, so that it ends whatever others park
	for {
		part, err := f.someParked(prefix, from)
		if err != nil || len(part) == 0 {
			return released, err
		}
		from = append(parkedEntryKey(prefix, part[len(part)-1].key), 0)
		for i := range part {
			part[i].Parked = ""
			part[i].Priority = score(&part[i].Entry)
		}
		err = f.write(ctx, func(b *batch) {
			for i := range part {
				l := &part[i]
				if r, known := b.lookup(l.key); known && r.State == Parked {
					b.release(l, r)
				} else { // it cannot be
					b.delete(parkedEntryKey(prefix, l.key))
				}
			}
		})
		if err != nil {
			return released, err
		}
		released += len(part)
	}
}

// parkedEntryKey is the key of a parked link below that of its pattern.
func parkedEntryKey(prefix []byte, k Key) []byte {
	return binary.BigEndian.AppendUint64(slices.Clone(prefix), k.url())
}

// someParked reads up to maxLinks parked links, from a key on; nil: from the first.
func (f *Frontier) someParked(prefix, from []byte) (part []link, err error) {
	err = f.read(func(v view) error {
		return v.scan(prefix, from, func(key, value []byte) error {
			e, err := decodeLink(value)
			if err != nil {
				return err
			}
			part = append(part, link{e, KeyOf(e.URL)})
			if len(part) == maxLinks {
				return errEnough
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: unpark: %w", err)
	}
	return part, nil
}

// release queues a parked link.
func (b *batch) release(l *link, r urlRecord) {
	b.unpark(l.key, r.Seq)
	h := b.host(l.key)
	l.Retries = int(r.Retries)
	b.totals.Queued++
	b.hosts[h].queued++
	b.hosts[h].total++
	b.enqueue(h, l, place{rankOf(finite(l.Priority)), b.tie(l.key)})
}
