package order

import "gazehound/crawler/frontier"

// HardFocused keeps the links of relevant pages and of seeds, all with one
// priority, and drops all others (Somboonviwat et al. 2005, section 3.3.1). It
// never crosses a bridge page, so it comes to an end early. A link that was
// dropped is kept when a relevant page holds it, too.
type HardFocused struct{}

// Score returns 1, and drops what lies behind an irrelevant page.
func (HardFocused) Score(e *frontier.Entry) (float64, bool) {
	return LimitedDistance{}.Score(e)
}

// Learn does nothing.
func (HardFocused) Learn([]frontier.Node, bool) {}
