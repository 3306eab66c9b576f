package order

import "gazehound/crawler/frontier"

var linkDistance = Kind{
	Name: "link-distance",
	Help: "near relevant pages: decay^(links since the last one)",
	New:  func(o Options) (Strategy, error) { return LinkDistance{o.Decay}, nil },
}

// LinkDistance serves links by their distance from the last relevant page
// (Ahlers & Boll 2009, sections 4.1 and 4.2).
type LinkDistance struct {
	Decay float64 // in (0, 1]; the paper uses ½
}

// Score returns decay^distance.
func (s LinkDistance) Score(e *frontier.Entry) (float64, bool) {
	return distanceScore(s.Decay, e.Distance), true
}

// Explain says how far e is from a relevant page.
func (s LinkDistance) Explain(e *frontier.Entry) Explanation {
	priority, _ := s.Score(e)
	x := whole(priority, "%v^%d, links since a relevant page", s.Decay, e.Distance)
	x.Decayed, x.Boost = &priority, new(float64)
	return x
}

// Learn does nothing.
func (LinkDistance) Learn([]frontier.Node, bool) {}
