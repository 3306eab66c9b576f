package monitor

import (
	"cmp"
	"slices"
	"time"
)

// The trends of errors: how many came in each of the last spans of time.
const (
	trendEvery = 10 * time.Second
	trendSize  = 60
	maxReasons = 100 // of each kind; there are about 30
)

// A Trouble is one reason for which visits brought no page.
type Trouble struct {
	Reason string  `json:"reason"`
	Kind   string  `json:"kind"`  // "error" or "skipped"
	Count  int64   `json:"count"` // of the whole crawl
	Trend  []int64 `json:"trend"` // of this run, in the last spans of 10 s, the present one last
}

// troubles counts them.
type troubles struct {
	span int64 // number of the present span; 0: nothing was seen yet
	by   map[[2]string]*trouble
}

type trouble struct {
	count int64
	trend [trendSize]int64 // at the number of the span modulo the size
}

// see takes the totals of a moment.
func (t *troubles) see(at time.Time, kinds map[string]map[string]int64) {
	span := at.Unix() / int64(trendEvery/time.Second)
	first := t.span == 0
	if first {
		t.span, t.by = span, map[[2]string]*trouble{}
	}
	for ; t.span < span; t.span++ {
		if span-t.span > trendSize {
			t.span = span - trendSize
		}
		for _, one := range t.by {
			one.trend[(t.span+1)%trendSize] = 0
		}
	}
	for kind, totals := range kinds {
		for reason, n := range totals {
			one := t.by[[2]string{kind, reason}]
			if one == nil {
				if len(t.by) >= 2*maxReasons {
					continue
				}
				one = &trouble{}
				if first { // what earlier runs counted
					one.count = n
				}
				t.by[[2]string{kind, reason}] = one
			}
			one.trend[t.span%trendSize] += max(0, n-one.count)
			one.count = n
		}
	}
}

// list returns them, the most frequent first.
func (t *troubles) list() []Trouble {
	list := make([]Trouble, 0, len(t.by))
	for key, one := range t.by {
		if one.count <= 0 {
			continue
		}
		trend := make([]int64, 0, trendSize)
		for n := t.span + 1; n <= t.span+trendSize; n++ {
			trend = append(trend, one.trend[n%trendSize])
		}
		list = append(list, Trouble{Kind: key[0], Reason: key[1], Count: one.count, Trend: trend})
	}
	slices.SortFunc(list, func(a, b Trouble) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

// Troubles returns why visits brought no page, the most frequent reason first.
func (b *Board) Troubles() []Trouble {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.troubles.list()
}
