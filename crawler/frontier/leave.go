package frontier

import (
	"context"
	"fmt"
)

// Leave removes queued and parked URLs that another node owns now, keeps them for their Owner in the same
// transaction, and returns how many there were. They become unknown, so that a link may bring them
// back, and count as dropped for the given reason. Leased URLs stay, except own, whose lease ends.
func (f *Frontier) Leave(
	ctx context.Context, reason string, own *Entry, others ...Entry,
) (left int, err error) {
	if own != nil {
		others = append([]Entry{*own}, others...)
	}
	links, err := prepare(others)
	if err != nil {
		return 0, err
	}
	for i := range links {
		if links[i].Owner == "" {
			return 0, fmt.Errorf("frontier: leave: entry %d has no owner", i)
		}
	}
	for len(links) > 0 {
		part := links[:min(len(links), maxLinks)]
		var gone int
		err := f.write(ctx, func(b *batch) {
			for i := range part {
				if b.takeOut(part[i].key, own != nil && i == 0, reason) {
					b.keep(&part[i])
					gone++
				}
			}
		})
		if err != nil {
			return left, fmt.Errorf("frontier: leave: %w", err)
		}
		left, links, own = left+gone, links[len(part):], nil
	}
	return left, nil
}

// takeOut makes a queued or parked URL unknown; false if it is neither, or leased by another caller.
func (b *batch) takeOut(k Key, own bool, reason string) bool {
	r, known := b.lookup(k)
	if !known || r.State == Visited {
		return false
	}
	if r.State == Parked {
		b.unpark(k, r.Seq)
	} else {
		h, tie := b.host(k), b.tie(k)
		if _, leased := b.f.leaseOf(h, tie); leased && !own {
			return false
		}
		b.dequeue(h, place{r.Rank, tie})
		b.hosts[h].total--
	}
	b.delete(urlKey(k))
	count(b.totals.Dropped, reason, 1)
	return true
}
