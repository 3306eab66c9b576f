package order

import "gazehound/crawler/frontier"

// BreadthFirst serves links level by level from the seeds; it is the baseline
// of all four papers.
type BreadthFirst struct{}

// Score returns 1/(1+depth).
func (BreadthFirst) Score(e *frontier.Entry) (float64, bool) {
	return 1 / float64(1+e.Depth), true
}

// Learn does nothing.
func (BreadthFirst) Learn([]frontier.Node, bool) {}
