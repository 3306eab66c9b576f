// Package order orders the links of a crawl. A strategy gives every link
// its priority; the frontier serves the highest among the hosts that may be
// asked now.
package order

import (
	"errors"
	"fmt"
	"math"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
	"gazehound/predictor/topic"
)

// A Strategy gives every link its place in the queue. It is safe for
// concurrent use.
type Strategy interface {
	// Score returns the priority of e, in [0, 1], from its depth, its distance
	// and its link's words, and whether it is kept at all. It is asked when
	// the link is found and again when the link reaches the front of the queue.
	Score(e *frontier.Entry) (priority float64, keep bool)
	// Learn is told whether the page behind trail[0] is relevant, once its
	// links have been scored. trail[1] is the page that held the link to it,
	// and so on towards the seed.
	Learn(trail []frontier.Node, relevant bool)
}

// A Rescorer is a Strategy whose priorities change while it learns. If
// Rescores is true, Score is asked again for what reaches the front of the
// queue.
type Rescorer interface{ Rescores() bool }

// A Valuer is a Strategy that learns from pages that are not relevant what
// their links are worth.
type Valuer interface {
	// Promise returns what a page promises that is not relevant, in [0, 1]:
	// best are those of its links that were new to the queue, the highest
	// priority first, at most Promising. Learn finds it in the outcome of
	// trail[0].
	Promise(best []frontier.Entry) float64
}

// A Guide is a Strategy that knows pages before a link leads to them, such as
// those of an access log.
type Guide interface {
	// Unlinked returns them without their priorities, at most 10,000 or so.
	Unlinked() []frontier.Entry
}

// Names lists the strategies that New knows, the default first.
var Names = []string{"lookahead", "adaptive", "link-distance", "breadth-first", "hard-focused", "soft-focused", "limited-distance", "best-first-url", "best-first-anchor", "trend"}

// Options tune the strategies; each uses what it needs.
type Options struct {
	Decay         float64          // base of the link-distance score, in (0, 1]
	Model         *predictor.Model // of adaptive and lookahead
	News          *News            // of lookahead; nil: a page is worth the same whatever addresses it states
	LimitDistance int              // irrelevant pages in a row that limited-distance crosses, ≥ 1
	Prioritised   bool             // limited-distance serves what is near a relevant page first
	Places        []string         // names that the best-first strategies look for, one or more

	// Of trend, see there.
	Alpha, Beta, Emphasis float64
	Topic                 *topic.Okapi
	Stay                  func(u weburl.URL) float64
	Known                 []weburl.URL
}

// New returns the strategy called name, one of Names.
func New(name string, o Options) (Strategy, error) {
	switch name {
	case "breadth-first":
		return BreadthFirst{}, nil
	case "link-distance":
		return LinkDistance{o.Decay}, nil
	case "hard-focused":
		return HardFocused{}, nil
	case "soft-focused":
		return SoftFocused{}, nil
	case "limited-distance":
		if o.LimitDistance < 1 {
			return nil, fmt.Errorf("strategy: limited-distance needs a limit of at least 1, got %d", o.LimitDistance)
		}
		return LimitedDistance{o.LimitDistance, o.Prioritised}, nil
	case "best-first-url", "best-first-anchor":
		if len(o.Places) == 0 {
			return nil, fmt.Errorf("strategy: %s needs the names of the places that it looks for", name)
		}
		return BestFirst{o.Decay, o.Places, name == "best-first-anchor"}, nil
	case "adaptive", "lookahead", "trend":
		if o.Model == nil {
			return nil, fmt.Errorf("strategy: %s needs a model", name)
		}
		switch name {
		case "adaptive":
			return Adaptive{o.Decay, o.Model}, nil
		case "lookahead":
			return Lookahead{o.Model, o.News}, nil
		}
		switch {
		case o.Topic == nil && o.Stay == nil:
			return nil, errors.New("strategy: trend needs a topic or access logs")
		case !(o.Alpha >= 0 && o.Beta >= 0 && o.Emphasis >= 0 && o.Alpha*o.Emphasis+o.Beta > 0):
			return nil, fmt.Errorf("strategy: trend needs weights that are not negative and not all 0, got alpha %v, emphasis %v, beta %v", o.Alpha, o.Emphasis, o.Beta)
		}
		return Trend{Lookahead{o.Model, nil}, o.Decay, o.Alpha, o.Beta, o.Emphasis, o.Topic, o.Stay, o.Known}, nil
	}
	return nil, fmt.Errorf("strategy: %q is not known", name)
}

// distanceScore is score(p) = decay^dist of Ahlers & Boll, section 4.2: 1 for
// a seed, decay for a link of a relevant page, decay² behind one bridge page.
func distanceScore(decay float64, distance int) float64 {
	return math.Pow(decay, float64(distance))
}

// A Corrector is a Strategy that can be told that it was wrong to learn a page
// as what it was judged to be.
type Corrector interface {
	// Correct undoes Learn(trail, !relevant) as far as that can be undone, and
	// learns the page as what it is.
	Correct(trail []frontier.Node, relevant bool)
}

// Correct moves the page's links from one side to the other.
func (s Adaptive) Correct(trail []frontier.Node, relevant bool) {
	if links := TrailTerms(trail); len(links) > 0 {
		s.Model.Correct(links, relevant)
	}
}

// Correct moves the page's links from one side to the other, and learns what
// the last one was worth. What its weights learned from the first verdict stays.
func (s Lookahead) Correct(trail []frontier.Node, relevant bool) {
	e := Example(trail, relevant)
	if len(e.Trail) == 0 {
		return
	}
	s.Model.LearnWorth(e.Link, e.Trail[0], e.Worth())
	s.Model.Correct(e.Trail, relevant)
}
