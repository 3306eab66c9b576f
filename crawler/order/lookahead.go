package order

import (
	"math"

	"gazehound/crawler/frontier"
	"gazehound/predictor"
)

// Lookahead serves links by what they are worth: the chance of a relevant page
// and, for a bridge page, a part of what its own best links are worth. So one
// prediction looks ahead over bridges of any length, where Adaptive has one for
// each depth.
//
// A link's worth is learned from every judged page by predictor.Model: from
// the words of the link, from what pages of the same host and shape of URL were
// worth, from the distance to the last relevant page, and from the naive Bayes
// classifiers of Adaptive. Links are scored again when they reach the front.
//
// Where host and part of a link repeat the addresses that they had, as a
// site does with one in its footer, its worth counts less: what a crawl is for
// are addresses, and the thousandth page with the same one holds none.
type Lookahead struct {
	Model *predictor.Model
	News  *News // nil: a page is worth the same whatever addresses it states
}

// Promising is how many of a page's new links tell what it promises.
const Promising = 3

// discount is what a bridge page is worth of the mean of its best links.
const discount = 0.6

// repeated is the share of its worth that a link keeps where every page repeats
// the addresses of others.
const repeated = 0.3

// Score returns the worth of e by today's model, and less where its page is
// likely to state no new address; a seed has 1.
func (s Lookahead) Score(e *frontier.Entry) (float64, bool) {
	if e.Depth == 0 {
		return 1, true // no link led to a seed
	}
	return s.worth(e) * s.novelty(e), true
}

// worth returns that of e, which is no seed, by today's model.
func (s Lookahead) worth(e *frontier.Entry) float64 {
	return s.Model.Worth(linkOf(e))
}

// novelty returns the share of its worth that counts: from repeated to 1.
func (s Lookahead) novelty(e *frontier.Entry) float64 {
	return repeated + (1-repeated)*s.News.Fresh(e.URL)
}

// Learn teaches what the link to trail[0] was worth: 1 if its page is
// relevant, else what its page promised. It trains the classifiers, too.
func (s Lookahead) Learn(trail []frontier.Node, relevant bool) {
	s.Model.Teach(Example(trail, relevant))
	s.News.Saw(trail[0].URL, trail[0].Outcome.Addresses)
}

// Example returns what the visit of trail[0] teaches a model.
func Example(trail []frontier.Node, relevant bool) predictor.Example {
	return predictor.Example{
		Link: linkOf(&trail[0].Entry), Trail: TrailTerms(trail), Relevant: relevant, Promise: trail[0].Outcome.Promise,
	}
}

// Promise returns a part of the mean priority of the best of a page's new
// links: fewer than Promising count as if the others were worth nothing.
func (s Lookahead) Promise(best []frontier.Entry) float64 {
	sum := 0.0
	for _, e := range best[:min(len(best), Promising)] {
		if !math.IsNaN(e.Priority) {
			sum += e.Priority
		}
	}
	return discount * min(sum/Promising, 1)
}

// Explain returns how the worth of e, which is no seed, comes about under
// today's model; Parts says what Score makes of it.
func (s Lookahead) Explain(e *frontier.Entry) predictor.WorthExplanation {
	return s.Model.ExplainWorth(linkOf(e))
}

// Rescores is true: what is learned changes the worth of links that wait.
func (Lookahead) Rescores() bool { return true }

// linkOf returns the link that e was found by.
func linkOf(e *frontier.Entry) predictor.Link {
	path := e.URL.Path()
	if q := e.URL.Query(); q != "" {
		path += "?" + q
	}
	return predictor.Link{
		Host: e.URL.Host(), Path: path, Anchor: e.Anchor, Title: e.Title, Around: e.Around, Switch: e.Switch, Distance: e.Distance,
	}
}
