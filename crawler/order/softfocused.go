package order

import "gazehound/crawler/frontier"

var softFocused = Kind{
	Name: "soft-focused",
	Help: "links of relevant pages and seeds, then all others",
	New:  func(Options) (Strategy, error) { return SoftFocused{}, nil },
}

// SoftFocused serves the links of relevant pages and of seeds before all
// others and drops none (Somboonviwat et al. 2005, section 3.3.1).
type SoftFocused struct{}

// Score returns 1 for links of relevant pages and for seeds, ½ for the others.
func (SoftFocused) Score(e *frontier.Entry) (float64, bool) {
	if irrelevantBefore(e) == 0 {
		return 1, true
	}
	return 0.5, true
}

// Explain returns which kind of page has the link to e.
func (s SoftFocused) Explain(e *frontier.Entry) Explanation {
	priority, _ := s.Score(e)
	if irrelevantBefore(e) > 0 {
		return whole(priority, "an irrelevant page holds the link")
	}
	return whole(priority, keptLink)
}
