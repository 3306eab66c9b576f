package predictor

import (
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strings"
)

// A classifier tells the links that lead to a relevant page in exactly d steps
// from those that do not.
type classifier struct {
	options Options

	seed    maphash.Seed
	numbers map[uint64]int32 // hash of a term → its number
	terms   []string         // the vocabulary: term by number, in the order of learning; only ever appended to
	tallies []tally          // by number
	words   struct{ relevant, other int }

	relevant, other int // links learned per class
}

// A tally counts the links with one term that led to a relevant page, and the
// others.
type tally struct{ relevant, other uint32 }

func newClassifier(o Options) *classifier {
	return &classifier{options: o, seed: maphash.MakeSeed(), numbers: map[uint64]int32{}}
}

// number returns the number of a term, and whether the vocabulary has it. Terms
// are told apart by a hash of 64 bits, which is another one in each process, so
// that no page can make terms that are taken for one another.
func (c *classifier) number(term string) (n int32, ok bool) {
	n, ok = c.numbers[maphash.String(c.seed, term)]
	return n, ok
}

// full tells whether a term that is not in the vocabulary is taken for the
// unknown term of its family.
func (c *classifier) full() bool { return len(c.terms) >= c.options.Vocabulary }

// tally returns the counts of a term: none if the vocabulary does not have it
// and, when that is full, those of its family's unknown term.
func (c *classifier) tally(term string) tally {
	n, ok := c.number(term)
	if !ok && c.full() {
		n, ok = c.number(unknown(term))
	}
	if !ok {
		return tally{}
	}
	return c.tallies[n]
}

// knownAs returns what the classifier knows a term by.
func (c *classifier) knownAs(term string) string {
	if _, ok := c.number(term); !ok && c.full() {
		return unknown(term)
	}
	return term
}

// learn counts one link.
func (c *classifier) learn(terms []string, relevant bool) {
	one := tally{other: 1}
	if relevant {
		one = tally{relevant: 1}
		c.relevant++
	} else {
		c.other++
	}
	for _, term := range terms {
		c.count(c.meet(term), one)
	}
}

// meet puts a term into the vocabulary, unless it is there, and returns its
// number.
func (c *classifier) meet(term string) int32 {
	if n, ok := c.number(term); ok {
		return n
	}
	if c.full() || len(term) > MaxTermLength {
		term = unknown(term)
		if n, ok := c.number(term); ok {
			return n
		}
	}
	n := int32(len(c.terms))
	c.numbers[maphash.String(c.seed, term)] = n
	c.terms = append(c.terms, strings.Clone(term)) // which may be a part of something large
	c.tallies = append(c.tallies, tally{})
	return n
}

// count adds to the counts of a term, up to what a tally can hold.
func (c *classifier) count(n int32, more tally) {
	t := &c.tallies[n]
	more.relevant, more.other = min(more.relevant, math.MaxUint32-t.relevant), min(more.other, math.MaxUint32-t.other)
	t.relevant += more.relevant
	t.other += more.other
	c.words.relevant += int(more.relevant)
	c.words.other += int(more.other)
}

// uncount takes one off a count that is not 0.
func (c *classifier) uncount(n int32, relevant bool) {
	if relevant {
		c.tallies[n].relevant--
		c.words.relevant--
	} else {
		c.tallies[n].other--
		c.words.other--
	}
}

// prune forgets the terms of which nothing is counted.
func (c *classifier) prune() {
	pruned := newClassifier(c.options)
	for i, term := range c.terms {
		if t := c.tallies[i]; t != (tally{}) {
			pruned.count(pruned.meet(term), t)
		}
	}
	pruned.relevant, pruned.other = c.relevant, c.other
	*c = *pruned
}

// clone returns a classifier that has learned the same.
func (c *classifier) clone() *classifier {
	k := *c
	k.numbers, k.terms, k.tallies = maps.Clone(c.numbers), slices.Clone(c.terms), slices.Clone(c.tallies)
	return &k
}

// unknown returns the term that stands for all those of a term's family that
// came after the vocabulary was full.
func unknown(term string) string {
	for _, f := range families {
		if strings.HasPrefix(term, f.name) && strings.HasPrefix(term[len(f.name):], ":") {
			return f.name + ":<unk>"
		}
	}
	return "<unk>"
}

// probability returns the posterior of a link with these terms.
func (c *classifier) probability(terms []string) float64 {
	return sigmoid(c.prior() + c.evidence(terms)/c.temper(len(terms)))
}

// evidence returns the sum of the terms' log-odds.
func (c *classifier) evidence(terms []string) float64 {
	sum, scale := 0.0, c.scale()
	for _, term := range terms {
		sum += scale.logOdds(c.tally(term))
	}
	return sum
}

// prior returns the log-odds of a link of which nothing is known: of links
// learned, smoothed, and not of words.
func (c *classifier) prior() float64 {
	return math.Log(float64(c.relevant+1) / float64(c.other+1))
}

// temper returns what the evidence of n terms is divided by.
func (c *classifier) temper(n int) float64 {
	if c.options.Posterior == Raw || n == 0 {
		return 1
	}
	return math.Sqrt(float64(n))
}

// scale returns what turns the counts of a term into log-odds.
func (c *classifier) scale() scale {
	s := c.options.Smoothing
	vocabulary := s * float64(len(c.terms)+1) // 1 for all terms never seen
	return scale{
		smoothing: s,
		ratio:     math.Log((float64(c.words.other) + vocabulary) / (float64(c.words.relevant) + vocabulary)),
	}
}

// A scale holds what is the same for all terms of a classifier.
type scale struct {
	smoothing float64
	ratio     float64 // log of the smoothed total of other links' terms by that of relevant ones'
}

// logOdds returns log p(t|relevant)/p(t|other) with Laplace smoothing.
func (s scale) logOdds(t tally) float64 {
	return math.Log((float64(t.relevant)+s.smoothing)/(float64(t.other)+s.smoothing)) + s.ratio
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
