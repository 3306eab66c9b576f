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
	tagPathBandit,
}

// A Kind describes a strategy and makes it.
type Kind struct {
	Name string
	Help string // what it does, in lines of at most 66 columns
	// Keys are those of Settings that no other strategy reads, as config.yaml has
	// them below crawl.
	Keys []string
	Logs bool // New reads Options.Topic, Stay and Known
	// Missing returns an error for a setting that New requires and that is not set; nil: none is
	// required.
	Missing func(Settings) *MissingError
	// Variant applies a suffix of the name, such as "-2-prioritised", to the settings and reports
	// whether the suffix is valid; nil: none is.
	Variant func(suffix string, s *Settings) bool
	New     func(Options) (Strategy, error)
}

// Settings are the options of strategies that config.yaml holds below crawl.
type Settings struct {
	// base of the link-distance score, used by several strategies
	Decay float64 `range:"0.01..1"`
	// λ of adaptive and lookahead; 0: their default
	BridgeWeight float64 `key:"bridge_weight" range:"0..1"`
	LookaheadSettings
	LimitedSettings
	BestFirstSettings
	TrendSettings
	TagPathSettings
	topic.Options // of Okapi, for trend and judge topic
}

// Options are the inputs of all strategies; each uses what it needs.
type Options struct {
	Settings
	Model   *predictor.Model
	Without Parts        // of lookahead; those of its model are the model's
	Topic   *topic.Okapi // nil: there is none
	// Stay is how long people stay on a page: 0 to 1, or in seconds if trend's importance is as
	// published; 0 for pages in no access log; nil: there are no logs.
	Stay  func(u weburl.URL) float64
	Known []weburl.URL // pages in access logs, which become seeds
}

// A MissingError is the error for a required setting that is missing.
type MissingError struct {
	Strategy string
	Key      string // of Settings
	Need     string // what it must be and why, to follow the key
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

// Find returns the strategy called name and the settings with the name's suffix applied:
// limited-distance-2 is limited-distance with a limit of 2.
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
	s, err = kind.New(o)
	if err != nil {
		return nil, fmt.Errorf("strategy %s %w", name, err)
	}
	return s, nil
}

// Check returns a *MissingError if s lacks a setting that the strategy requires.
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
	// Score returns the priority of e, in [0, 1], from its depth, its distance and its link's
	// words, and whether it is kept. It is called when the link is found and, for a Rescorer, again
	// at the front of the queue.
	Score(e *frontier.Entry) (priority float64, keep bool)
}

// A Learner is a Strategy that learns from pages.
type Learner interface {
	// Learn learns the verdict on the page trail[0], after its links have been scored. trail[1] is
	// the page with the link to it, and so on towards the seed.
	Learn(trail []frontier.Node, relevant bool)
}

// A Rescorer is a Strategy whose priorities change while it learns. If Rescores is true, Score is
// called again for entries that reach the front of the queue.
type Rescorer interface{ Rescores() bool }

// A TreeLearner is a Strategy whose state is not saved. If LearnsTree is true, Learn is called at the
// start for every visit of the crawl tree, in their order.
type TreeLearner interface{ LearnsTree() bool }

// A LinkValuer is a Strategy that learns the value of irrelevant pages from their links.
type LinkValuer interface {
	// LinkValue returns the expected value of an irrelevant page's links, in [0, 1]: best are the
	// links that were new to the queue, the highest priority first, at most BestLinks. Learn finds
	// it in the outcome of trail[0].
	LinkValue(best []frontier.Entry) float64
}

// BestLinks is how many of a page's new links go into its LinkValue.
const BestLinks = 3

// LinksValue returns the value of the links of an irrelevant page whose best links have these values,
// the highest first: discount × the mean of the BestLinks best; missing ones count as 0.
func LinksValue(best []float64) float64 {
	sum := 0.0
	for _, v := range best[:min(len(best), BestLinks)] {
		sum += v
	}
	return discount * min(sum/BestLinks, 1)
}

// A SeedSource is a Strategy with seeds of its own, such as the pages of an access log.
type SeedSource interface {
	// Seeds returns the seeds without priorities, at most about 10,000.
	Seeds() []frontier.Entry
}

// A Retractor is a Strategy that can correct the verdict from which it learned.
type Retractor interface {
	// Retract undoes Learn(trail, !relevant) as far as possible, and learns the page as relevant or
	// not.
	Retract(trail []frontier.Node, relevant bool)
}

// A PageRater is a Strategy that also rates fetched pages.
type PageRater interface {
	// Read notes what Importance needs of the text of a page in its outcome.
	Read(o *frontier.Outcome, text string)
	// Importance returns the importance of a page, in [0, 1], by what the strategy knows now.
	Importance(u weburl.URL, o *frontier.Outcome) float64
}

// Nearness is the part of a priority for the distance from the last relevant page:
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

// describe returns the formula of s for that distance.
func (n Nearness) describe(distance int) string {
	text := fmt.Sprintf("%v^%d, links since a relevant page", n.Decay, distance)
	if n.Weight != 1 {
		text = fmt.Sprintf("%v × %s", n.Weight, text)
	}
	return text
}
