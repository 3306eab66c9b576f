package frontier

import (
	"context"
	"errors"
	"fmt"
)

// read runs fn on the store as it is now and keeps Close waiting meanwhile.
func (f *Frontier) read(fn func(v view) error) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return ErrClosed
	}
	f.readers.Add(1)
	f.mu.Unlock()
	defer f.readers.Done()
	v := f.store.view()
	defer v.close()
	return fn(v)
}

// node reads the node k; false if it is unknown or forgotten.
func (f *Frontier) node(v view, k Key) (n Node, ok bool, err error) {
	r, known, err := get(v, urlKey(k), decodeFixed[urlRecord])
	switch {
	case err != nil || !known:
		return Node{}, false, err
	case r.State == Visited:
		n, ok, err = get(v, visitKey(r.Seq), visited)
		n.Seq = r.Seq
	case r.State == Parked:
		n.Entry, ok, err = get(v, parkedKey(k.host(), r.Seq, k.url()), decodeLink)
		n.State = Parked
	default:
		n.Entry, ok, err = get(v, queueKey(k.host(), place{r.Rank, f.tie(k)}), decodeLink)
		n.Priority, n.State = priorityOf(r.Rank), Queued
	}
	if err != nil || !ok {
		return Node{}, false, unlessForgotten(err)
	}
	return n, true, nil
}

// visited returns the node of a visit without its number.
func visited(value []byte) (n Node, err error) {
	v, err := decode[visitRecord](value)
	if err == nil && v.Link.URL.IsZero() {
		err = errForgotten
	}
	v.Link.Priority = priorityOf(v.Rank)
	return Node{Entry: v.Link, State: Visited, Outcome: v.Outcome}, err
}

func unlessForgotten(err error) error {
	if errors.Is(err, errForgotten) {
		return nil
	}
	return err
}

// Get returns what is known about a URL; false if it was never queued.
func (f *Frontier) Get(k Key) (n Node, ok bool, err error) {
	err = f.read(func(v view) error {
		n, ok, err = f.node(v, k)
		return err
	})
	if err != nil {
		return Node{}, false, fmt.Errorf("frontier: get %s: %w", k, err)
	}
	return n, ok, nil
}

// Known is what is known of a URL.
type Known struct {
	State  State // 0: it was never queued
	record urlRecord
}

// Outdoes reports whether Push of another link to the URL changes nothing but the count of Repeats. That
// stays so unless the URL is parked: one that is queued becomes visited, or gets a better link.
func (k Known) Outdoes(e *Entry) bool { return k.State != 0 && k.record.outdoes(e) }

// Known returns what is known of each key's URL. State may change at any moment, but for Visited.
func (f *Frontier) Known(keys ...Key) ([]Known, error) {
	known := make([]Known, len(keys))
	err := f.read(func(v view) error {
		for i, k := range keys {
			r, _, err := get(v, urlKey(k), decodeFixed[urlRecord])
			if err != nil {
				return err
			}
			known[i] = Known{r.State, r}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: known: %w", err)
	}
	return known, nil
}

// Trail returns the node k, the page it was found on, the page that one was found on, and so on, at
// most n of them. It ends at a seed, and at a page that is not known.
func (f *Frontier) Trail(k Key, n int) ([]Node, error) {
	var trail []Node
	start := k
	err := f.read(func(v view) error {
		for len(trail) < n && !k.IsZero() {
			next, ok, err := f.node(v, k)
			if err != nil || !ok {
				return err
			}
			trail = append(trail, next)
			k = next.Parent
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: trail of %s: %w", start, err)
	}
	return trail, nil
}

// Walk calls fn with the visited nodes in the order of their visits, from the one after the visit
// number after on, until fn returns an error, which Walk returns. Visits that end while it walks may
// be left out; forgotten ones are.
func (f *Frontier) Walk(ctx context.Context, after uint64, fn func(Node) error) error {
	return f.read(func(v view) error {
		read := int64(after)
		err := v.scan(visitKey(0)[:1], visitKey(after), func(key, value []byte) error {
			if err := f.ended(ctx); err != nil || idOf(key) == after {
				return err
			}
			read++
			n, err := visited(value)
			if err != nil {
				return unlessForgotten(err)
			}
			n.Seq = idOf(key)
			return fn(n)
		})
		if err == nil && f.options.ReadOnly { // else the totals change meanwhile
			err = f.short("visits", read, f.totals.Visited-f.totals.Damaged)
		}
		return err
	})
}

// short returns an error if a reader of a store that nobody changes has found fewer records than the
// totals say.
func (f *Frontier) short(what string, read, all int64) error {
	if read >= all {
		return nil
	}
	return inFile(f.options.Dir, fmt.Errorf("%w: only %d %s of %d can be read", ErrDamaged, read, what, all))
}

// ended returns why a walk must end: ctx has ended, or f is being closed.
func (f *Frontier) ended(ctx context.Context) error {
	select {
	case <-f.stop:
		return ErrClosed
	default:
		return ctx.Err()
	}
}

// WalkQueue calls fn with the queued nodes, leased ones included, host by host and the best of a
// host first, until fn returns an error, which WalkQueue returns.
func (f *Frontier) WalkQueue(ctx context.Context, fn func(Node) error) error {
	read, err := f.walkLinks(ctx, 'q', func(key []byte, e Entry) error {
		e.Priority = priorityOf(placeOf(key).rank)
		return fn(Node{Entry: e, State: Queued})
	})
	if err == nil && f.options.ReadOnly { // else the totals change meanwhile
		err = f.short("queued links", read, f.totals.Queued)
	}
	return err
}

// WalkParked calls fn with the parked nodes, pattern by pattern, until fn returns an error, which
// WalkParked returns. They have no Priority.
func (f *Frontier) WalkParked(ctx context.Context, fn func(Node) error) error {
	read, err := f.walkLinks(ctx, 'k', func(_ []byte, e Entry) error {
		return fn(Node{Entry: e, State: Parked})
	})
	if err == nil && f.options.ReadOnly {
		err = f.short("parked links", read, f.totals.Parked)
	}
	return err
}

// walkLinks calls fn with the links whose keys have a prefix, and returns how many it read.
func (f *Frontier) walkLinks(
	ctx context.Context, prefix byte, fn func(key []byte, e Entry) error,
) (read int64, err error) {
	err = f.read(func(v view) error {
		return v.scan([]byte{prefix}, nil, func(key, value []byte) error {
			if err := f.ended(ctx); err != nil {
				return err
			}
			read++
			e, err := decodeLink(value)
			if err != nil {
				return err
			}
			return fn(key, e)
		})
	})
	return read, err
}
