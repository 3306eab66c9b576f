package order

import (
	"cmp"
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
		return Adaptive{Nearness{cmp.Or(o.BridgeWeight, 1), o.Decay}, o.Model}, nil
	},
}

var errNoModel = errors.New("needs a model")

// Adaptive raises the link-distance score by what the predictor expects behind
// a link (Ahlers & Boll 2009, section 4.5):
//
//	priority = s + p · (1 − s)
//
// where s is Near and p the mean posterior over the depths.
type Adaptive struct {
	Near  Nearness // weight 1 in the paper
	Model *predictor.Model
}

// Score returns the priority of e under the present model; 1 for a seed.
func (s Adaptive) Score(e *frontier.Entry) (float64, bool) {
	if e.Depth == 0 {
		return 1, true // no link led to a seed
	}
	return predictor.Priority(s.Near.Score(e.Distance), s.Model.Predict(LinkTerms(e))), true
}

// Explain returns the score of the distance, and what the prediction adds.
func (s Adaptive) Explain(e *frontier.Entry) Explanation {
	if e.Depth == 0 {
		return whole(1, "a seed")
	}
	terms := LinkTerms(e)
	x := explainSum(s.Near.Score(e.Distance), s.Near.describe(e.Distance), s.Model.Predict(terms))
	for d := range s.Model.Score(terms) {
		x.Depths = append(x.Depths, Depth{d + 1, s.Model.Explain(terms, d+1)})
	}
	return x
}

// Learn trains depth d with the link d steps back from the judged page.
func (s Adaptive) Learn(trail []frontier.Node, relevant bool) {
	if links := TrailTerms(trail); len(links) > 0 {
		s.Model.Learn(links, relevant)
	}
}

// Retract moves the page's links from one class to the other.
func (s Adaptive) Retract(trail []frontier.Node, relevant bool) {
	if links := TrailTerms(trail); len(links) > 0 {
		s.Model.Retract(links, relevant)
	}
}

// TrailTerms returns the terms of the links that led to trail[0], the last link first, up to the
// seed.
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

// LinkTerms returns the predictor's terms of the link by which e was found.
func LinkTerms(e *frontier.Entry) []string {
	return predictor.Terms(LinkOf(e))
}
