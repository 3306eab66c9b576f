package frontier

import (
	"context"
	"fmt"
)

// Leave takes URLs out of the queue that another crawler takes care of from
// now on, and returns how many were there. It is as if they had never been
// found: a link may bring them back. They count as dropped for the given
// reason. What is being visited stays, unless it is own, whose lease ends.
func (f *Frontier) Leave(ctx context.Context, reason string, own *Entry, others ...Entry) (left int, err error) {
	if own != nil {
		others = append([]Entry{*own}, others...)
	}
	links, err := prepare(others)
	if err != nil {
		return 0, err
	}
	for len(links) > 0 {
		part := links[:f.portion(links)]
		var gone int
		err := f.write(ctx, func(b *batch) error {
			for i := range part {
				ok, err := b.takeOut(part[i].key, own != nil && i == 0, reason)
				if err != nil {
					return err
				}
				if ok {
					gone++
				}
			}
			return nil
		})
		if err != nil {
			return left, fmt.Errorf("frontier: leave: %w", err)
		}
		left, links, own = left+gone, links[len(part):], nil
	}
	return left, nil
}

// takeOut makes a queued URL unknown; false if it is not queued, or leased by somebody else.
func (b *batch) takeOut(k Key, own bool, reason string) (bool, error) {
	r, known, err := b.lookup(k)
	if err != nil || !known || r.state != Queued {
		return false, err
	}
	h, tie := b.host(k), b.tie(k)
	if _, leased := b.f.leaseOf(h, tie); leased && !own {
		return false, nil
	}
	if err := b.dequeue(h, place{r.rank, tie}); err != nil {
		return false, err
	}
	b.hosts[h].total--
	count(b.totals.Dropped, reason, 1)
	return true, b.delete(urlKey(k))
}
