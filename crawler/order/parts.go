package order

import (
	"fmt"

	"gazehound/crawler/frontier"
)

// A Part is one summand of a priority.
type Part struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Parts returns what the priority of e consists of under s as it is now: the
// values add up to that of Score. An entry that s drops has one part, 0, which
// says so.
func Parts(s Strategy, e *frontier.Entry) []Part {
	priority, keep := s.Score(e)
	if !keep {
		return []Part{{fmt.Sprintf("dropped: %d irrelevant pages in a row lead to it", irrelevantBefore(e)), priority}}
	}
	whole := func(name string, args ...any) []Part { return []Part{{fmt.Sprintf(name, args...), priority}} }
	switch s := s.(type) {
	case BreadthFirst:
		return whole("1/(1+%d), %d links from a seed", e.Depth, e.Depth)
	case LinkDistance:
		return whole("%v^%d, links since a relevant page", s.Decay, e.Distance)
	case SoftFocused:
		if irrelevantBefore(e) > 0 {
			return whole("an irrelevant page holds the link")
		}
		return whole("a relevant page or a seed holds the link, or it is a seed")
	case LimitedDistance:
		if s.Prioritised {
			return whole("1/(1+%d), links since a relevant page", e.Distance)
		}
		return whole("within %d irrelevant pages in a row", s.Limit)
	case HardFocused:
		return whole("a relevant page or a seed holds the link, or it is a seed")
	case BestFirst:
		near := distanceScore(s.Decay, e.Distance) / 2
		parts := []Part{{fmt.Sprintf("%v^%d ÷ 2, links since a relevant page", s.Decay, e.Distance), near}}
		if priority > near {
			parts = append(parts, Part{"it names a place, or is a seed", priority - near})
		}
		return parts
	case Adaptive:
		x := s.Explain(e)
		return []Part{{fmt.Sprintf("%v^%d, links since a relevant page", s.Decay, e.Distance), x.Decayed}, {"boost of the predictor", x.Boost}}
	case Trend:
		if e.Depth > 0 {
			x := s.Explain(e)
			stay := s.importance(0, x.Stay)
			return []Part{{"content", x.Priority - stay}, {"stay", stay}}
		}
	case Lookahead:
		if e.Depth > 0 {
			worth := s.worth(e)
			parts := []Part{{"worth of the link", worth}}
			if priority < worth {
				parts = append(parts, Part{fmt.Sprintf("its host and this part of it repeat addresses: new ones on about %.0f %% of their pages", 100*s.News.Fresh(e.URL)), priority - worth})
			}
			return parts
		}
	}
	return whole("a seed")
}
