package order

import "gazehound/crawler/frontier"

// LinkDistance serves links by their distance from the last relevant page
// (Ahlers & Boll 2009, sections 4.1 and 4.2).
type LinkDistance struct {
	Decay float64 // in (0, 1]; the paper uses ½
}

// Score returns decay^distance.
func (s LinkDistance) Score(e *frontier.Entry) (float64, bool) {
	return distanceScore(s.Decay, e.Distance), true
}

// Learn does nothing.
func (LinkDistance) Learn([]frontier.Node, bool) {}
