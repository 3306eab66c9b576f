package order

import "gazehound/crawler/frontier"

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

// Learn does nothing.
func (SoftFocused) Learn([]frontier.Node, bool) {}
