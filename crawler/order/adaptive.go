package order

import (
	"gazehound/crawler/frontier"
	"gazehound/predictor"
)

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

// Learn trains depth d with the link d steps back from the judged page.
func (s Adaptive) Learn(trail []frontier.Node, relevant bool) {
	if links := TrailTerms(trail); len(links) > 0 {
		s.Model.Learn(links, relevant)
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
