package order

import (
	"regexp"
	"strconv"

	"gazehound/crawler/frontier"
)

// LimitedSettings are the options of limited-distance.
type LimitedSettings struct {
	LimitDistance int  `key:"limit_distance" range:"0..1000"` // irrelevant pages in a row that it crosses, ≥ 1
	Prioritised   bool // links near a relevant page come first
}

var limitedDistance = Kind{
	Name: "limited-distance",
	Help: "at most --limit-distance irrelevant pages in a row; --prioritised\ntakes what is near a relevant page first",
	Keys: []string{"limit_distance", "prioritised"},
	Missing: func(s Settings) *MissingError {
		if s.LimitDistance >= 1 {
			return nil
		}
		return &MissingError{Key: "limit_distance",
			Need: " of at least 1 (--limit-distance N): how many irrelevant pages in a row it crosses"}
	},
	Variant: func(suffix string, s *Settings) bool {
		m := limitedSuffix.FindStringSubmatch(suffix)
		if m == nil {
			return false
		}
		s.LimitDistance, _ = strconv.Atoi(m[1])
		s.Prioritised = m[2] != ""
		return true
	},
	New: func(o Options) (Strategy, error) { return LimitedDistance{o.LimitDistance, o.Prioritised}, nil },
}

var limitedSuffix = regexp.MustCompile(`^-([0-9]{1,3})(-prioritised)?$`)

// LimitedDistance follows a path until more than Limit irrelevant pages come
// in a row, and drops the links behind them (Somboonviwat et al. 2005, section
// 3.3.2). With Prioritised the links nearest to a relevant page come first;
// without, all are equal.
//
// A link is dropped for the path by which it was found: it is kept when a shorter path leads to it,
// and a queued link takes the shortest distance. A page visited by a long path is not visited
// again, as in the paper.
type LimitedDistance struct {
	Limit       int // irrelevant pages in a row, ≥ 0
	Prioritised bool
}

// Score returns 1, or with Prioritised 1/(1+distance), and drops what lies behind more than Limit
// irrelevant pages. Dropped links have priority 0, so entries that another strategy queued come
// last.
func (s LimitedDistance) Score(e *frontier.Entry) (float64, bool) {
	switch {
	case irrelevantBefore(e) > s.Limit:
		return 0, false
	case s.Prioritised:
		return 1 / float64(1+e.Distance), true
	}
	return 1, true
}

// Explain returns the distance of e as its one part.
func (s LimitedDistance) Explain(e *frontier.Entry) Explanation {
	priority, _ := s.Score(e)
	if s.Prioritised {
		return whole(priority, "1/(1+%d), links since a relevant page", e.Distance)
	}
	return whole(priority, "within %d irrelevant pages in a row", s.Limit)
}

// irrelevantBefore returns how many irrelevant pages in a row lie before e: 0
// for seeds, which count as relevant, and for links of relevant pages and of
// seeds.
func irrelevantBefore(e *frontier.Entry) int { return max(0, e.Distance-1) }
