package monitor

import (
	"sync"
	"time"
)

// What is kept of how the predictor's terms came to weigh what they do.
const (
	beliefPoints = 32 // of one term
	beliefEvery  = 10 * time.Second
	beliefTerms  = 100 // of each family and depth, the strongest
	beliefDepths = 3
)

// beliefs keep the log-odds of the strongest terms at moments that lie ever
// further apart, so that they reach back to the start of the run. A term that is
// not among the strongest any more is given up.
type beliefs struct {
	mu    sync.Mutex
	every time.Duration // from one moment to the next
	next  time.Time
	kept  map[belief][]float64 // the present moment last
}

// A belief is a term of one depth.
type belief struct {
	depth         int
	feature, word string
}

// see takes the terms of a moment, if one is due: the strongest of each family,
// among which are the strongest of all.
func (b *beliefs) see(at time.Time, families []string, terms func(depth int, family string, n int) []Term) {
	b.mu.Lock()
	due := !at.Before(b.next)
	b.mu.Unlock()
	if !due {
		return
	}
	now := map[belief]float64{}
	for depth := 1; depth <= beliefDepths; depth++ {
		for _, family := range families {
			for _, t := range terms(depth, family, beliefTerms) {
				now[belief{depth, t.Feature, t.Word}] = t.LogOdds
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	kept, longest := make(map[belief][]float64, len(now)), 0
	for term, odds := range now {
		kept[term] = append(b.kept[term], odds)
		longest = max(longest, len(kept[term]))
	}
	if b.kept, b.every = kept, max(b.every, beliefEvery); longest > beliefPoints {
		b.every *= 2
		for term, points := range kept {
			kept[term] = everySecond(points)
		}
	}
	b.next = at.Add(b.every)
}

// everySecond returns every second point, the last one included.
func everySecond(points []float64) []float64 {
	kept := points[:0]
	for i := (len(points) + 1) % 2; i < len(points); i += 2 {
		kept = append(kept, points[i])
	}
	return kept
}

// trend returns the log-odds of a term at the moments that are kept, the last
// one last, and the time between two.
func (b *beliefs) trend(depth int, t Term) (points []float64, every time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]float64{}, b.kept[belief{depth, t.Feature, t.Word}]...), b.every
}
