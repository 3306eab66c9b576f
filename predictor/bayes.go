package predictor

import "sync"

// Values of Options.Posterior: how log-odds become a probability.
const (
	// Raw is the posterior as published. Naive Bayes counts words that always
	// come together as independent evidence, so it is nearly always 0 or 1.
	Raw = "raw"
	// Tempered divides the evidence of a link's n terms by √n. On the real web
	// of BenchmarkIrvine it takes the log-loss of the crawl's own predictions
	// from 0.48 to 0.27 and leaves the order about as good.
	Tempered = "tempered"
)

// Values of Options.Combine: how the depths become one prediction.
const (
	// Mean is the published one: see Combine.
	Mean = "mean"
	// Max is the best of the discounted depths: see Best.
	Max = "max"
	// VocabularyLaplace is Laplace smoothing over the words of a class and the vocabulary.
	VocabularyLaplace = "vocabulary"
	// LinkLaplace divides by how often the link's own terms were learned in a class,
	// plus 1, as printed in Ahlers & Boll 2009, section 4.4.
	LinkLaplace = "link"
)

// Values of Options.Prior: what a depth expects of a link without terms.
const (
	// SmoothedPrior counts one more link in each class than was learned.
	SmoothedPrior = "smoothed"
	// SharePrior is the share of relevant links among those learned, p(geoRel_d) as in Ahlers & Boll
	// 2009, section 4.4.
	SharePrior = "share"
)

// Options tune a Model. The defaults are the classifiers as published.
type Options struct {
	Depths     int     // links ahead that are learned and predicted, 1 to MaxDepth
	Posterior  string  // Tempered or Raw
	Combine    string  // Max or Mean
	Laplace    string  // VocabularyLaplace or LinkLaplace
	Prior      string  // SmoothedPrior or SharePrior
	Decay      float64 // of the depths in Predict, in (0, 1]
	Weight     float64 // of the prediction in Predict, in (0, 1]
	Smoothing  float64 // added to every count of a term (Laplace), > 0
	Vocabulary int     // terms known per depth; those beyond share one term per family
	// Without names parts of Value that are left out, to measure what they give.
	Without Parts
	// WithoutContacts leaves out the preference for links that name a contact page.
	WithoutContacts bool
}

// Parts are those of the value of a link that can be left out.
type Parts struct {
	Bayes  bool // the naive Bayes classifier
	Bridge bool // the distance from the last relevant page, and the values of bridge pages
	Rates  bool // of hosts and of the shapes of URLs
}

// DefaultOptions returns the options of config.yaml as shipped.
func DefaultOptions() Options {
	return Options{
		Depths:     DefaultDepths,
		Posterior:  Raw,
		Combine:    Mean,
		Laplace:    VocabularyLaplace,
		Prior:      SmoothedPrior,
		Decay:      0.5,
		Weight:     1,
		Smoothing:  1,
		Vocabulary: 1_000_000,
	}
}

// A Model holds one naive Bayes classifier per depth. It is safe for
// concurrent use.
type Model struct {
	options Options

	saving sync.Mutex // held by Save

	mu     sync.RWMutex
	depths []*classifier // as many as Options.Depths

	value *valueModel
}

// NewModel returns an untrained Model.
func NewModel(o Options) *Model { return emptyModel(o, newValueModel(o)) }

func emptyModel(o Options, w *valueModel) *Model {
	m := &Model{options: o, value: w}
	for range o.Depths {
		m.depths = append(m.depths, newClassifier(o))
	}
	return m
}

// Score returns, for a link with these terms, the probability that a relevant page lies exactly d
// links behind it, at [d-1] of Options.Depths: in [0, 1], never NaN. It is 0 at an untrained depth,
// so that a new model does not change the order of links.
//
// A depth is 0 until it has learned a link that led to a relevant page. Only the tempered depth 1
// predicts earlier: knowing only links that led nowhere, it prefers links unlike them, which leads
// a crawl out of an irrelevant part of the web.
func (m *Model) Score(terms []string) []float64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	p := make([]float64, len(m.depths))
	for d := range p {
		p[d] = m.at(terms, d)
	}
	return p
}

// ScoreAt returns what Score has for a depth from 1 on; ok is false beyond Options.Depths.
func (m *Model) ScoreAt(terms []string, depth int) (p float64, ok bool) {
	if depth < 1 || depth > len(m.depths) {
		return 0, false
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.at(terms, depth-1), true
}

// at returns the probability at depth d+1. m.mu is held.
func (m *Model) at(terms []string, d int) float64 {
	if !m.isTrained(d) {
		return 0
	}
	c := m.depths[d]
	return sigmoid(c.prior() + c.logOdds(terms)/c.temper(len(terms)))
}

// isTrained reports whether depth d+1 is trained enough to predict.
func (m *Model) isTrained(d int) bool {
	c := m.depths[d]
	return c.relevant > 0 || d == 0 && c.other > 0 && m.options.Posterior == Tempered
}

// Predict returns Score combined into one number in [0, 1] and weighted by Options, the input of
// Priority.
func (m *Model) Predict(terms []string) float64 {
	p := m.Score(terms)
	if m.options.Combine == Max {
		return m.options.Weight * Best(p, m.options.Decay)
	}
	return m.options.Weight * Combine(p, m.options.Decay)
}

// Learn trains depth d with the terms of trail[d-1], the link d steps before a judged page:
// trail[0] led to the page, trail[1] to the page that held trail[0], and so on. A trail may be
// empty (a seed). Learning a page twice, as after a crash, only shifts the counts a little.
func (m *Model) Learn(trail [][]string, relevant bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for d := range min(len(trail), len(m.depths)) {
		m.depths[d].learn(trail[d], relevant)
	}
}

// Combine returns Σ decay^d·p_d / Σ decay^d over the depths d = 1, 2, …: one
// prediction in [0, 1] of the predictions for each depth (Ahlers & Boll 2009,
// section 4.5).
func Combine(p []float64, decay float64) float64 {
	sum, weights, weight := 0.0, 0.0, 1.0
	for _, pd := range p {
		weight *= decay
		sum += weight * pd
		weights += weight
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// Best returns max decay^(d-1)·p_d over the depths d = 1, 2, …, in [0, 1].
func Best(p []float64, decay float64) float64 {
	best, weight := 0.0, 1.0
	for _, pd := range p {
		best = max(best, weight*pd)
		weight *= decay
	}
	return best
}

// Priority returns score + prediction·(1 − score): the prediction fills the
// gap between a link's decayed score and 1, so it can raise a link and never
// lower it (Ahlers & Boll 2009, section 4.5). Both in [0, 1], and the result.
func Priority(score, prediction float64) float64 {
	return score + prediction*(1-score)
}
