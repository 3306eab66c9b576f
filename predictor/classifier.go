package predictor

import (
	"math"
	"slices"
	"strings"

	"github.com/jbrukh/bayesian"
)

// The two classes, in the order in which bayesian.Classifier answers.
const (
	relevantClass bayesian.Class = "relevant"
	otherClass    bayesian.Class = "other"
)

// A classifier separates links that lead to a relevant page in exactly d steps from others. The
// counts are in a bayesian.Classifier, of which only Learn, Observe, WordFrequencies and WordCount
// are used: its own scores use word totals as priors and give NaN and -Inf for unseen words.
// Readers hold Model.mu.RLock, and what changes counts holds the write lock.
type classifier struct {
	options         Options
	store           *bayesian.Classifier
	terms           []string // the vocabulary in the order of learning; only ever appended to
	relevant, other int      // links learned per class
}

func newClassifier(o Options) *classifier {
	return &classifier{options: o, store: bayesian.NewClassifier(relevantClass, otherClass)}
}

// classOf returns the class of links that lead to a relevant page, or of others.
func classOf(relevant bool) bayesian.Class {
	if relevant {
		return relevantClass
	}
	return otherClass
}

// learn counts one link.
func (c *classifier) learn(terms []string, relevant bool) {
	if relevant {
		c.relevant++
	} else {
		c.other++
	}
	for _, term := range terms {
		c.count(term, 1, relevant)
	}
}

// count adds n to the count of a term or, when the vocabulary is full, of its family's unknown
// term.
func (c *classifier) count(term string, n int, relevant bool) {
	if !c.knows(term) {
		if len(c.terms) >= c.options.Vocabulary || len(term) > MaxTermLength {
			term = unknown(familyOf(term))
		}
		if !c.knows(term) {
			c.terms = append(c.terms, term)
		}
	}
	c.store.Observe(term, n, classOf(relevant))
}

func (c *classifier) knows(term string) bool {
	relevant, other := c.counts([]string{term})
	return relevant[0] > 0 || other[0] > 0
}

// prune removes terms with a count of 0 from the vocabulary.
func (c *classifier) prune() {
	c.terms = slices.DeleteFunc(c.terms, func(term string) bool { return !c.knows(term) })
}

// observe adds counts of one term.
func (c *classifier) observe(term string, relevant, other int) {
	if relevant != 0 {
		c.count(term, relevant, true)
	}
	if other != 0 {
		c.count(term, other, false)
	}
}

// counts returns how often each term was learned in the two classes.
func (c *classifier) counts(terms []string) (relevant, other []float64) {
	totals, frequencies := c.store.WordCount(), c.store.WordFrequencies(terms)
	for class, times := range frequencies { // the 1e-11 of an unseen word becomes 0
		if totals[class] == 0 { // the frequency of a word that was forgotten with all others is 0/0
			clear(times)
			continue
		}
		for i := range times {
			times[i] = math.Round(times[i] * float64(totals[class]))
		}
	}
	return frequencies[0], frequencies[1]
}

// resolve returns the terms as the vocabulary knows them, and their counts:
// when it is full, a term that is not in it is its family's unknown term.
func (c *classifier) resolve(terms []string) (known []string, relevant, other []float64) {
	relevant, other = c.counts(terms)
	if len(c.terms) < c.options.Vocabulary {
		return terms, relevant, other
	}
	known = terms
	for i := range terms {
		if relevant[i] > 0 || other[i] > 0 {
			continue
		}
		if &known[0] == &terms[0] {
			known = slices.Clone(terms)
		}
		known[i] = unknown(familyOf(terms[i]))
		r, o := c.counts(known[i : i+1])
		relevant[i], other[i] = r[0], o[0]
	}
	return known, relevant, other
}

// logOdds returns the sum of the terms' log-odds.
func (c *classifier) logOdds(terms []string) (sum float64) {
	_, relevant, other := c.resolve(terms)
	scale := c.scale(relevant, other)
	for i := range relevant {
		sum += scale.logOdds(relevant[i], other[i])
	}
	return sum
}

// familyOf returns the number of a term's family, len(families) for none.
func familyOf(term string) int {
	for i, f := range families {
		if strings.HasPrefix(term, f.prefix) {
			return i
		}
	}
	return len(families)
}

// unknown returns the term that replaces all terms of a family, given by its number, that came
// after the vocabulary was full.
func unknown(family int) string {
	if family < len(families) {
		return families[family].prefix + "<unk>"
	}
	return "<unk>"
}

// prior returns the log-odds of a link without terms, from the links (not words) learned.
func (c *classifier) prior() float64 {
	if c.options.Prior == SharePrior {
		return math.Log(max(float64(c.relevant), 1e-9) / max(float64(c.other), 1e-9)) // finite
	}
	return math.Log(float64(c.relevant+1) / float64(c.other+1))
}

// temper returns the divisor of the evidence of n terms.
func (c *classifier) temper(n int) float64 {
	if c.options.Posterior == Raw || n == 0 {
		return 1
	}
	return math.Sqrt(float64(n))
}

// scale returns the common factors of the log-odds of a link's terms; counts are those of all its
// terms.
func (c *classifier) scale(relevant, other []float64) scale {
	totals, s := c.store.WordCount(), c.options.Smoothing
	if c.options.Laplace == LinkLaplace {
		r, o := s, s
		for i := range relevant {
			r, o = r+relevant[i], o+other[i]
		}
		return scale{smoothing: s, ratio: math.Log(o / r)}
	}
	vocabulary := s * float64(len(c.terms)+1) // 1 for all terms never seen
	return scale{
		smoothing: s,
		ratio:     math.Log((float64(totals[1]) + vocabulary) / (float64(totals[0]) + vocabulary)),
	}
}

// A scale holds the factors common to all terms of a link.
type scale struct {
	smoothing float64
	ratio     float64 // log of the smoothed total of other links' terms by that of relevant ones'
}

// logOdds returns log p(t|relevant)/p(t|other) with Laplace smoothing.
func (s scale) logOdds(relevant, other float64) float64 {
	if relevant == other {
		return s.ratio // most terms were learned at few depths; the logarithm of 1 is 0
	}
	return math.Log((relevant+s.smoothing)/(other+s.smoothing)) + s.ratio
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
