package order

import (
	"gazehound/crawler/frontier"
	"gazehound/predictor"
)

// An Explanation shows how the adaptive strategy comes to a priority:
// Priority = Decayed + Boost.
type Explanation struct {
	Priority   float64
	Decayed    float64 // the link-distance score, decay^distance
	Boost      float64 // Prediction · (1 − Decayed)
	Prediction float64 // of all depths, combined and weighted; 0 for a seed
	// Depths holds the prediction for each depth; of a seed they are empty.
	Depths [predictor.MaxDepth]predictor.Explanation
}

// Explain returns how Score comes to the priority of e under today's model.
func (s Adaptive) Explain(e *frontier.Entry) Explanation {
	x := Explanation{Decayed: distanceScore(s.Decay, e.Distance)}
	x.Priority, _ = s.Score(e)
	x.Boost = x.Priority - x.Decayed
	if e.Depth > 0 {
		terms := LinkTerms(e)
		x.Prediction = s.Model.Predict(terms)
		for d := range x.Depths {
			x.Depths[d] = s.Model.Explain(terms, d+1)
		}
	}
	return x
}
