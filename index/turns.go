package index

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// turns let no more searches work at once than there are processors. Otherwise
// all that run get slices of time in turn, and a search of a millisecond that
// loses its processor waits for a slice of each other one. Of those that wait
// the one goes first that is likely to be done soonest, but none is passed by
// more than maxPassed others.
type turns struct {
	mu      sync.Mutex
	free    int
	waiting []*turn // in the order in which they came
	usual   map[shape]time.Duration
}

const (
	maxPassed  = 6
	usualShare = 8 // the last search of a shape counts for one in so many
)

// A shape is what is known of a search before it works: those of one shape take
// about as long.
type shape struct {
	words           int
	area, near      bool // in a box or circle; by distance
	ordered, facets bool
	grid            bool
}

func (q *Query) shape(words int) shape {
	return shape{words: words, area: q.Box != nil || q.Radius > 0, near: q.Center != nil && q.Radius == 0, ordered: q.Sort != Relevance, facets: len(q.Facets) > 0}
}

// A turn is a search that waits or works.
type turn struct {
	shape  shape
	passed int           // how many came later and went before
	ready  chan struct{} // closed when it may work
	began  time.Time
}

// take waits until a search of this shape may work. Its turn ends with give.
func (t *turns) take(ctx context.Context, s shape) (*turn, error) {
	w := &turn{shape: s, ready: make(chan struct{})}
	t.mu.Lock()
	t.waiting = append(t.waiting, w)
	t.next()
	t.mu.Unlock()
	select {
	case <-w.ready:
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		if i := slices.Index(t.waiting, w); i >= 0 {
			t.waiting = slices.Delete(t.waiting, i, i+1)
		} else { // it has just been let in
			t.free++
			t.next()
		}
		return nil, fmt.Errorf("index: %w", ctx.Err())
	}
	w.began = time.Now()
	return w, nil
}

// give ends a turn.
func (t *turns) give(w *turn) {
	took := time.Since(w.began)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.usual == nil {
		t.usual = map[shape]time.Duration{}
	}
	usual, known := t.usual[w.shape]
	if !known {
		usual = took
	}
	t.usual[w.shape] = usual + (took-usual)/usualShare
	t.free++
	t.next()
}

// next lets in who is next, while there is room. t.mu is held.
func (t *turns) next() {
	for t.free > 0 && len(t.waiting) > 0 {
		best := 0
		for i, w := range t.waiting {
			if t.waiting[0].passed >= maxPassed { // nobody was passed more often than the first
				break
			}
			if t.usual[w.shape] < t.usual[t.waiting[best].shape] {
				best = i
			}
		}
		w := t.waiting[best]
		for _, earlier := range t.waiting[:best] {
			earlier.passed++
		}
		t.waiting = slices.Delete(t.waiting, best, best+1)
		t.free--
		close(w.ready)
	}
}
