package monitor

import (
	"cmp"
	"slices"
	"time"
)

// trends keep values at equal moments, so that the dashboard can draw them.
type trends[K comparable] struct {
	every     time.Duration // from one moment to the next
	most      int           // moments that are kept
	fromZero  bool          // what appears later was 0 before
	last      time.Time
	points    map[K][]float64 // the latest moment last
	isStarted bool
}

// sample records the current values, if a sample is due. Keys that have no value any more are
// removed.
func (t *trends[K]) sample(at time.Time, values func() map[K]float64) {
	if since := at.Sub(t.last); since >= 0 && since < t.every {
		return
	}
	t.last = at
	kept := map[K][]float64{}
	for k, v := range values() {
		points := t.points[k]
		if points == nil && t.isStarted && t.fromZero {
			points = []float64{0}
		}
		points = append(points, v)
		kept[k] = points[max(len(points)-t.most, 0):]
	}
	t.points, t.isStarted = kept, true
}

// newTermTrends keep the log-odds of the predictor's strongest terms for an hour.
func newTermTrends() trends[termKey] { return trends[termKey]{every: time.Minute, most: 60} }

// strongest bounds the terms of each family and depth whose trend is kept.
const strongest = 100

// A termKey is a term of one depth.
type termKey struct {
	depth         int
	feature, word string
}

// termValues returns the log-odds of the strongest terms.
func termValues(families []string, terms func(depth int, family string, n int) []Term) map[termKey]float64 {
	values := map[termKey]float64{}
	for depth := 1; depth <= 3; depth++ {
		for _, family := range families {
			for _, t := range terms(depth, family, strongest) {
				values[termKey{depth, t.Feature, t.Word}] = t.LogOdds
			}
		}
	}
	return values
}

// A Trouble is one reason for which visits brought no page.
type Trouble struct {
	Reason string  `json:"reason"`
	Kind   string  `json:"kind"`  // "error" or "skipped"
	Count  int64   `json:"count"` // of the whole crawl
	Trend  []int64 `json:"trend"` // of this run, in the last spans of 10 s, the present one last
}

// trendEvery is the span of the trend of a Trouble, trendSize how many there are.
const (
	trendEvery = 10 * time.Second
	trendSize  = 60
)

// A troubleKey names a Trouble.
type troubleKey struct{ reason, kind string }

func newTroubleTrends() trends[troubleKey] {
	return trends[troubleKey]{every: trendEvery, most: trendSize, fromZero: true}
}

// troubleCounts returns the counts of a Snapshot.
func troubleCounts(s *Snapshot) map[troubleKey]float64 {
	counts := map[troubleKey]float64{}
	for kind, totals := range map[string]map[string]int64{"error": s.Errors, "skipped": s.Skipped} {
		for reason, n := range totals {
			counts[troubleKey{reason, kind}] = float64(n)
		}
	}
	return counts
}

// Troubles returns why visits brought no page, the most frequent reason first.
func (b *Board) Troubles() []Trouble {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []Trouble{}
	for key, n := range troubleCounts(&b.state) {
		points := append(slices.Clone(b.troubles.points[key]), n)
		t := Trouble{Reason: key.reason, Kind: key.kind, Count: int64(n), Trend: make([]int64, trendSize)}
		for i := range points[1:] {
			t.Trend[trendSize-len(points)+1+i] = max(0, int64(points[i+1]-points[i]))
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b Trouble) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}
