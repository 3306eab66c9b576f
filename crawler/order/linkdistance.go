package order

import "gazehound/crawler/frontier"

var linkDistance = Kind{
	Name: "link-distance",
	Help: "near relevant pages: decay^(links since the last one)",
	New:  func(o Options) (Strategy, error) { return LinkDistance{Nearness{1, o.Decay}}, nil },
}

// LinkDistance serves links by their distance from the last relevant page
// (Ahlers & Boll 2009, sections 4.1 and 4.2).
type LinkDistance struct {
	Near Nearness
}

// Score returns decay^distance.
func (s LinkDistance) Score(e *frontier.Entry) (float64, bool) {
	return s.Near.Score(e.Distance), true
}

// Explain returns the distance of e as its one part.
func (s LinkDistance) Explain(e *frontier.Entry) Explanation {
	priority, _ := s.Score(e)
	x := whole(priority, "%s", s.Near.describe(e.Distance))
	x.Decayed, x.Boost = &priority, new(float64)
	return x
}
