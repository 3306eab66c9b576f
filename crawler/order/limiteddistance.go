package order

import "gazehound/crawler/frontier"

// LimitedDistance follows a path until more than Limit irrelevant pages come
// in a row, and drops the links behind them (Somboonviwat et al. 2005, section
// 3.3.2). With Prioritised the links nearest to a relevant page come first;
// without, all are equal.
//
// What a link is dropped for is the path by which it was found: it is kept
// when a shorter path leads to it, and a link that waits takes the shortest
// distance. A page that was visited by a long path is not visited again, as in
// the paper.
type LimitedDistance struct {
	Limit       int // irrelevant pages in a row, ≥ 0
	Prioritised bool
}

// Score returns 1, or with Prioritised 1/(1+distance), and drops what lies
// behind more than Limit irrelevant pages. What is dropped has priority 0: an
// entry that another strategy left in the queue comes last.
func (s LimitedDistance) Score(e *frontier.Entry) (float64, bool) {
	switch {
	case irrelevantBefore(e) > s.Limit:
		return 0, false
	case s.Prioritised:
		return 1 / float64(1+e.Distance), true
	}
	return 1, true
}

// Learn does nothing.
func (LimitedDistance) Learn([]frontier.Node, bool) {}

// irrelevantBefore returns how many irrelevant pages in a row lie before e: 0
// for seeds, which count as relevant, and for links of relevant pages and of
// seeds.
func irrelevantBefore(e *frontier.Entry) int { return max(0, e.Distance-1) }
