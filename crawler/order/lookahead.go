package order

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gazehound/crawler/frontier"
	"gazehound/internal/textutil"
	"gazehound/predictor"
)

// LookaheadSettings are the options of lookahead.
type LookaheadSettings struct {
	News bool // links count less if their pages are likely to repeat addresses
}

var lookahead = Kind{
	Name: "lookahead",
	Help: "what the model expects behind the link, and behind the links there",
	Keys: []string{"news"},
	New: func(o Options) (Strategy, error) {
		if o.Model == nil {
			return nil, errNoModel
		}
		near := Nearness{cmp.Or(o.BridgeWeight, bridgeWeight), o.Decay}
		s := Lookahead{Near: near, Model: o.Model, Without: o.Without}
		if o.News && !o.Without.Novelty {
			s.News = NewNews()
		}
		return s, nil
	},
}

// Lookahead serves links by the same sum as Adaptive,
//
//	priority = s + p · (1 − s)
//
// where s is Near, with a small weight, and p the value of the link: the chance of
// a relevant page and, for a bridge page, a part of the value of its own best
// links. So one prediction looks ahead over bridges of any length.
//
// The value of a link is learned from every judged page by predictor.Model: naive
// Bayes classifiers of values and of each depth learn its words, and a small
// regression how far these can be trusted beside the values of pages of the same
// host and shape of URL and the distance to the last relevant page. Links are
// scored again when they reach the front.
//
// The value of a link counts less if its host repeats known addresses, as in footers: a crawl wants
// addresses, and the thousandth page with the same one has nothing new.
type Lookahead struct {
	Near  Nearness
	Model *predictor.Model
	News  *News // nil: repeated addresses do not lower the value

	Without Parts
}

// Parts are the parts of lookahead that can be left out, to measure what they give.
type Parts struct {
	predictor.Parts
	Novelty bool // News
}

// ParseParts reads names of parts, such as "bayes" or "bayes+bridge".
func ParseParts(names string) (p Parts, err error) {
	parts := map[string]*bool{"bayes": &p.Bayes, "bridge": &p.Bridge, "rates": &p.Rates, "novelty": &p.Novelty}
	for name := range strings.SplitSeq(names, "+") {
		part := parts[name]
		if part == nil {
			return p, errors.New(textutil.NotOneOf(name, slices.Sorted(maps.Keys(parts))))
		}
		*part = true
	}
	return p, nil
}

// discount is the value of a bridge page as a share of the mean of its best links.
const discount = 0.45

// repeated is the share of its value that a link keeps if every page repeats known addresses.
const repeated = 0.3

// bridgeWeight is the default λ.
const bridgeWeight = 0.1

// Score returns s + p·(1 − s) under the present model; 1 for a seed.
func (s Lookahead) Score(e *frontier.Entry) (float64, bool) {
	if e.Depth == 0 {
		return 1, true // no link led to a seed
	}
	return predictor.Priority(s.near(e), s.value(e)*s.novelty(e)), true
}

// near returns s of e, which must not be a seed: 0 if no relevant page lies between its seed and it. That
// the seed itself was relevant does not count: it changed the area of lookahead by +1.4 % on the small sites
// of docs/decisions/030-lookahead.md and by −1.5 % in twelve towns.
func (s Lookahead) near(e *frontier.Entry) float64 {
	if s.Without.Bridge || e.Distance >= e.Depth {
		return 0
	}
	return s.Near.Score(e.Distance)
}

// value returns p of e, which must not be a seed, under the present model.
func (s Lookahead) value(e *frontier.Entry) float64 {
	return s.Model.Value(LinkOf(e))
}

// novelty returns the share of the value of e that counts, from repeated to 1.
func (s Lookahead) novelty(e *frontier.Entry) float64 {
	return repeated + (1-repeated)*s.News.Fresh(e.URL)
}

// Learn teaches the value of the link to trail[0]: 1 if its page is relevant,
// else the value of its page's links. It trains the classifiers, too.
func (s Lookahead) Learn(trail []frontier.Node, relevant bool) {
	s.Model.Teach(Example(trail, relevant))
	s.News.Observe(trail[0].URL, trail[0].Outcome.Addresses)
}

// Example returns the training example of the visit of trail[0].
func Example(trail []frontier.Node, relevant bool) predictor.Example {
	return predictor.Example{
		Link: LinkOf(&trail[0].Entry), Trail: TrailTerms(trail), Relevant: relevant,
		LinkValue: trail[0].Outcome.LinkValue,
	}
}

// Retract moves the page's links from one class to the other and learns the value of the last one.
// What the weights learned from the first verdict stays.
func (s Lookahead) Retract(trail []frontier.Node, relevant bool) {
	e := Example(trail, relevant)
	if len(e.Trail) == 0 {
		return
	}
	s.Model.CorrectValue(e.Link, e.Trail[0], Example(trail, !relevant).Value(), e.Value())
	s.Model.Retract(e.Trail, relevant)
}

// LinkValue returns discount × the mean p of the BestLinks best new links of a page; missing ones
// count as 0.
func (s Lookahead) LinkValue(best []frontier.Entry) float64 {
	if s.Without.Bridge {
		return 0
	}
	sum := 0.0
	for _, e := range best[:min(len(best), BestLinks)] {
		if !math.IsNaN(e.Priority) {
			if near := s.near(&e); near < 1 {
				sum += max(e.Priority-near, 0) / (1 - near)
			}
		}
	}
	return discount * min(sum/BestLinks, 1)
}

// Explain returns the parts for distance, value and News.
func (s Lookahead) Explain(e *frontier.Entry) Explanation {
	if e.Depth == 0 {
		return whole(1, "a seed")
	}
	value, novelty := s.value(e), s.novelty(e)
	how := s.Near.describe(e.Distance)
	if s.near(e) == 0 {
		how = "0, no relevant page between its seed and it"
	}
	x := explainSum(s.near(e), how, value)
	if novelty < 1 {
		lost := (1 - novelty) * *x.Boost
		x.Parts = append(x.Parts, Part{
			fmt.Sprintf("its host and this part of it repeat addresses: new ones on about %.0f %% of their pages",
				100*s.News.Fresh(e.URL)),
			-lost,
		})
		*x.Boost, *x.Prediction = *x.Boost-lost, value*novelty
	}
	x.Value = s.explainValue(e)
	return x
}

// explainValue explains the value of e, which must not be a seed.
func (s Lookahead) explainValue(e *frontier.Entry) *predictor.ValueExplanation {
	x := s.Model.ExplainValue(LinkOf(e))
	return &x
}

// Rescores is true: learning changes the value of queued links.
func (Lookahead) Rescores() bool { return true }

// LinkOf returns the link by which e was found.
func LinkOf(e *frontier.Entry) predictor.Link {
	path := e.URL.Path()
	if q := e.URL.Query(); q != "" {
		path += "?" + q
	}
	return predictor.Link{
		Host: e.URL.Host(), Path: path, Anchor: e.Anchor, Title: e.Title, Around: e.Around, Place: e.Place,
		Switch: e.Switch, Distance: e.Distance,
	}
}
