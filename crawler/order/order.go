// Package order orders the links of a crawl. A strategy gives every link its
// priority; the frontier serves the highest among the hosts that are ready.
//
// Each strategy is one file, which also holds its options and its description:
// a Kind, which Kinds lists.
package order

import (
	"fmt"
	"math"
	"strings"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
	"gazehound/predictor/topic"
)

// Kinds lists the strategies, the default first.
var Kinds = []Kind{
	lookahead, adaptive, linkDistance, breadthFirst, hardFocused, softFocused,
	limitedDistance, bestFirstURL, bestFirstAnchor, trend,
}

// A Kind describes a strategy and makes it.
type Kind struct {
	Name string
	Help string // what it does, in lines of at most 66 columns
	// Keys are those of Settings that no other strategy reads, as config.yaml has
	// them below crawl.
	Keys []string
	Logs bool // New reads Options.Topic, Stay and Known
	// Missing says which setting New cannot do without; nil: none.
	Missing func(Settings) *MissingError
	// Variant changes the settings to those that a suffix of the name stands for, such
	// as "-2-prioritised", and reports whether it stands for any; nil: no suffix does.
	Variant func(suffix string, s *Settings) bool
	New     func(Options) (Strategy, error)
}

// Settings are the options of strategies that config.yaml holds below crawl.
type Settings struct {
	Decay        float64 `range:"0.01..1"`                  // base of the link-distance score, of several
	BridgeWeight float64 `key:"bridge_weight" range:"0..1"` // λ of adaptive and lookahead; 0: their own
	LookaheadSettings
	LimitedSettings
	BestFirstSettings
	TrendSettings
	topic.Options // of Okapi, for trend and judge topic
}

// Options are all that a strategy is made of; each takes what it needs.
type Options struct {
	Settings
	Model *predictor.Model
	Topic *topic.Okapi // nil: there is none
	// Stay is how long people stay on a page, 0 to 1, or in seconds where trend's importance
	// is as published; 0 for a page that no access log knows; nil: there are no logs.
	Stay  func(u weburl.URL) float64
	Known []weburl.URL // pages that logs know and that nothing may link to
}

// A MissingError says which setting a strategy cannot do without.
type MissingError struct {
	Strategy string
	Key      string // of Settings
	Need     string // what it must be and what for, after the key
}

// Error names the strategy, the key and what is needed.
func (e *MissingError) Error() string {
	return fmt.Sprintf("strategy %s needs crawl.%s%s", e.Strategy, e.Key, e.Need)
}

// Names returns the names of Kinds.
func Names() []string {
	var names []string
	for _, k := range Kinds {
		names = append(names, k.Name)
	}
	return names
}

// Find returns the strategy called name and the settings that the name stands
// for: limited-distance-2 is limited-distance with a limit of 2.
func Find(name string, s Settings) (Kind, Settings, bool) {
	for _, k := range Kinds {
		suffix, ok := strings.CutPrefix(name, k.Name)
		if ok && (suffix == "" || k.Variant != nil && k.Variant(suffix, &s)) {
			return k, s, true
		}
	}
	return Kind{}, s, false
}

// New returns the strategy called name, one that Find knows.
func New(name string, o Options) (s Strategy, err error) {
	kind, settings, ok := Find(name, o.Settings)
	if !ok {
		return nil, fmt.Errorf("strategy %q is not known", name)
	}
	o.Settings = settings
	if err := kind.Check(settings); err != nil {
		return nil, err
	}
	if s, err = kind.New(o); err != nil {
		return nil, fmt.Errorf("strategy %s %w", name, err)
	}
	return s, nil
}

// Check returns a *MissingError if the strategy cannot do without a setting
// that s lacks.
func (k Kind) Check(s Settings) error {
	if k.Missing != nil {
		if missing := k.Missing(s); missing != nil {
			missing.Strategy = k.Name
			return missing
		}
	}
	return nil
}

// A Strategy gives every link its place in the queue. It is safe for
// concurrent use.
type Strategy interface {
	// Score returns the priority of e, in [0, 1], from its depth, its distance
	// and its link's words, and whether it is kept at all. It is called when
	// the link is found and again when the link reaches the front of the queue.
	Score(e *frontier.Entry) (priority float64, keep bool)
	// Learn gets the verdict on the page behind trail[0], once its links have been
	// scored. trail[1] is the page that held the link to it, and so on towards the
	// seed.
	Learn(trail []frontier.Node, relevant bool)
}

// A Rescorer is a Strategy whose priorities change while it learns. If
// Rescores is true, Score is called again for what reaches the front of the
// queue.
type Rescorer interface{ Rescores() bool }

// A LinkValuer is a Strategy that learns from pages that are not relevant what
// their links are worth.
type LinkValuer interface {
	// LinkValue returns the expected value of the links of a page that is not
	// relevant, in [0, 1]: best are those that were new to the queue, the highest
	// priority first, at most BestLinks. Learn finds it in the outcome of trail[0].
	LinkValue(best []frontier.Entry) float64
}

// BestLinks is how many of a page's new links its LinkValue is made of.
const BestLinks = 3

// A SeedSource is a Strategy that knows pages before a link leads to them, such
// as those of an access log.
type SeedSource interface {
	// Seeds returns them without their priorities, at most 10,000 or so.
	Seeds() []frontier.Entry
}

// A Retractor is a Strategy that can be told that it was wrong to learn a page
// as what it was judged to be.
type Retractor interface {
	// Retract undoes Learn(trail, !relevant) as far as that can be undone, and
	// learns the page as what it is.
	Retract(trail []frontier.Node, relevant bool)
}

// A PageRater is a Strategy that rates pages that were fetched, too.
type PageRater interface {
	// Importance returns that of a page with this text, in [0, 1]; content is the
	// score of the verdict.
	Importance(u weburl.URL, text string, content float64) float64
}

// A Nearness is what the distance from the last relevant page gives a link:
//
//	s = λ · decay^distance
//
// With λ = 1 it is score(p) of Ahlers & Boll, section 4.2: 1 for a seed, decay for
// a link of a relevant page, decay² behind one bridge page.
type Nearness struct {
	Weight float64 // λ, in [0, 1]
	Decay  float64 // in (0, 1]; the paper uses ½
}

// Score returns s for a number of links since the last relevant page, in [0, 1].
func (n Nearness) Score(distance int) float64 {
	return n.Weight * math.Pow(n.Decay, float64(distance))
}

// describe says how s comes about for that distance.
func (n Nearness) describe(distance int) string {
	text := fmt.Sprintf("%v^%d, links since a relevant page", n.Decay, distance)
	if n.Weight != 1 {
		text = fmt.Sprintf("%v × %s", n.Weight, text)
	}
	return text
}
