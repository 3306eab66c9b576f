package order

import (
	"fmt"

	"gazehound/crawler/frontier"
	"gazehound/predictor"
)

// A Part is one summand of a priority.
type Part struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// An Explanation says how a priority comes about. The values of Parts add up to
// it. The other fields show what is behind a part, where that applies.
type Explanation struct {
	Parts      []Part       `json:"parts"`
	Decayed    *float64     `json:"decayed,omitempty"`    // s = λ · decay^distance
	Boost      *float64     `json:"boost,omitempty"`      // p · (1 − s)
	Prediction *float64     `json:"prediction,omitempty"` // p
	Depths     []Depth      `json:"depths,omitempty"`     // what Prediction is made of; none of a seed
	Trend      *TrendScores `json:"trend,omitempty"`
	// Value says what the value of the link is made of.
	Value *predictor.ValueExplanation `json:"worth,omitempty"`
}

// A Depth is the prediction for one depth.
type Depth struct {
	Depth int `json:"depth"`
	predictor.Explanation
}

// An Explainer is a Strategy that knows the parts of its priorities.
type Explainer interface {
	// Explain returns how Score comes to the priority of e, which it keeps.
	Explain(e *frontier.Entry) Explanation
}

// Explain returns how s comes to the priority of e as it is now. An entry that s
// drops has one part, 0, which says so.
func Explain(s Strategy, e *frontier.Entry) Explanation {
	priority, keep := s.Score(e)
	if !keep {
		return whole(priority, "dropped: %d irrelevant pages in a row lead to it", irrelevantBefore(e))
	}
	if x, ok := s.(Explainer); ok {
		return x.Explain(e)
	}
	return whole(priority, "priority")
}

// explainSum explains a priority of s + p·(1 − s); how says how s comes about.
func explainSum(s float64, how string, prediction float64) Explanation {
	boost := predictor.Priority(s, prediction) - s
	x := whole(s, "s = %s", how)
	x.Parts = append(x.Parts, Part{fmt.Sprintf("p × (1 − s), with p = %.3f as the model expects", prediction), boost})
	x.Decayed, x.Boost, x.Prediction = &s, &boost, &prediction
	return x
}

// whole is the explanation of a priority that has one part.
func whole(priority float64, name string, args ...any) Explanation {
	return Explanation{Parts: []Part{{fmt.Sprintf(name, args...), priority}}}
}
