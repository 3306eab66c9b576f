package order

import (
	"errors"

	"gazehound/crawler/frontier"
	"gazehound/predictor"
)

var adaptive = Kind{
	Name: "adaptive",
	Help: "near relevant pages, raised by what the model expects behind the link\n(Ahlers & Boll 2009)",
	New: func(o Options) (Strategy, error) {
		if o.Model == nil {
			return nil, errNoModel
		}
		return Adaptive{o.Decay, o.Model}, nil
	},
}

var errNoModel = errors.New("needs a model")

// Adaptive raises the link-distance score by what the predictor expects behind
// a link (Ahlers & Boll 2009, section 4.5):
//
//	priority = score + prediction · (1 − score)
type Adaptive struct {
	Decay float64 // in (0, 1]; the paper uses ½
	Model *predictor.Model
}

// Score returns the priority of e under today's model.
func (s Adaptive) Score(e *frontier.Entry) (float64, bool) {
	score := distanceScore(s.Decay, e.Distance)
	if e.Depth == 0 {
		return score, true // no link led to a seed
	}
	return predictor.Priority(score, s.Model.Predict(LinkTerms(e))), true
}

// Explain returns the score of the distance, and what the prediction adds.
func (s Adaptive) Explain(e *frontier.Entry) Explanation {
	priority, _ := s.Score(e)
	score, prediction := distanceScore(s.Decay, e.Distance), 0.0
	boost := priority - score
	x := whole(score, "%v^%d, links since a relevant page", s.Decay, e.Distance)
	x.Parts = append(x.Parts, Part{"boost of the predictor", boost})
	x.Decayed, x.Boost, x.Prediction = &score, &boost, &prediction
	if e.Depth > 0 { // no link led to a seed
		terms := LinkTerms(e)
		prediction = s.Model.Predict(terms)
		for depth := 1; depth <= predictor.MaxDepth; depth++ {
			x.Depths = append(x.Depths, Depth{depth, s.Model.Explain(terms, depth)})
		}
	}
	return x
}

// Learn trains depth d with the link d steps back from the judged page.
func (s Adaptive) Learn(trail []frontier.Node, relevant bool) {
	if links := TrailTerms(trail); len(links) > 0 {
		s.Model.Learn(links, relevant)
	}
}

// Retract moves the page's links from one side to the other.
func (s Adaptive) Retract(trail []frontier.Node, relevant bool) {
	if links := TrailTerms(trail); len(links) > 0 {
		s.Model.Retract(links, relevant)
	}
}

// TrailTerms returns the terms of the links that led to trail[0], the last
// link first. A seed was led to by no link and ends them.
func TrailTerms(trail []frontier.Node) [][]string {
	var links [][]string
	for i := range trail {
		if trail[i].Depth == 0 || len(links) == predictor.MaxDepth {
			break
		}
		links = append(links, LinkTerms(&trail[i].Entry))
	}
	return links
}

// LinkTerms returns the predictor's terms of the link that e was found by.
func LinkTerms(e *frontier.Entry) []string {
	return predictor.Terms(linkOf(e))
}
