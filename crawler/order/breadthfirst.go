package order

import "gazehound/crawler/frontier"

var breadthFirst = Kind{
	Name: "breadth-first",
	Help: "level by level from the seeds",
	New:  func(Options) (Strategy, error) { return BreadthFirst{}, nil },
}

// BreadthFirst serves links level by level from the seeds; it is the baseline
// of all four papers.
type BreadthFirst struct{}

// Score returns 1/(1+depth).
func (BreadthFirst) Score(e *frontier.Entry) (float64, bool) {
	return 1 / float64(1+e.Depth), true
}

// Explain returns the depth of e as its one part.
func (s BreadthFirst) Explain(e *frontier.Entry) Explanation {
	priority, _ := s.Score(e)
	return whole(priority, "1/(1+%d), %d links from a seed", e.Depth, e.Depth)
}
