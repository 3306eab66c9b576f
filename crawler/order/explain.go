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

// An Explanation is how a priority is computed. The values of Parts add up to it. The other fields
// are details of a part, where they apply.
type Explanation struct {
	Parts      []Part       `json:"parts"`
	Decayed    *float64     `json:"decayed,omitempty"`    // s = λ · decay^distance
	Boost      *float64     `json:"boost,omitempty"`      // p · (1 − s)
	Prediction *float64     `json:"prediction,omitempty"` // p
	Depths     []Depth      `json:"depths,omitempty"`     // parts of Prediction; none for a seed
	Trend      *TrendScores `json:"trend,omitempty"`
	// Value explains the value of the link.
	Value *predictor.ValueExplanation `json:"worth,omitempty"`
}

// A Depth is the prediction for one depth.
type Depth struct {
	Depth int `json:"depth"`
	predictor.Explanation
}

// An Explainer is a Strategy that can explain its priorities.
type Explainer interface {
	// Explain returns how Score computes the priority of e, which it must keep.
	Explain(e *frontier.Entry) Explanation
}

// Explain returns how s computes the present priority of e. An entry that s drops has one part, 0.
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

// explainSum explains a priority of s + p·(1 − s); how describes s.
func explainSum(s float64, how string, prediction float64) Explanation {
	boost := predictor.Priority(s, prediction) - s
	x := whole(s, "s = %s", how)
	how = fmt.Sprintf("p × (1 − s), with p = %.3f as the model expects", prediction)
	x.Parts = append(x.Parts, Part{how, boost})
	x.Decayed, x.Boost, x.Prediction = &s, &boost, &prediction
	return x
}

// whole returns the explanation of a priority with one part.
func whole(priority float64, name string, args ...any) Explanation {
	return Explanation{Parts: []Part{{fmt.Sprintf(name, args...), priority}}}
}
