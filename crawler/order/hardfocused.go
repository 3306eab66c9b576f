package order

import "gazehound/crawler/frontier"

var hardFocused = Kind{
	Name: "hard-focused",
	Help: "only links of relevant pages and seeds",
	New:  func(Options) (Strategy, error) { return HardFocused{}, nil },
}

// HardFocused keeps the links of relevant pages and of seeds, all with one priority, and drops all
// others (Somboonviwat et al. 2005, section 3.3.1). It never crosses a bridge page, so it ends
// early. A dropped link is kept when a relevant page has it, too.
type HardFocused struct{}

// Score returns 1, and drops what lies behind an irrelevant page.
func (HardFocused) Score(e *frontier.Entry) (float64, bool) {
	return LimitedDistance{}.Score(e)
}

// Explain returns why e is kept.
func (HardFocused) Explain(*frontier.Entry) Explanation { return whole(1, keptLink) }

// keptLink is the name of the part for links near a relevant page.
const keptLink = "a relevant page or a seed holds the link, or it is a seed"
