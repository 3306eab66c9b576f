package predictor

import (
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/jbrukh/bayesian"
)

// The two classes, in the order in which bayesian.Classifier answers.
const (
	relevantClass bayesian.Class = "relevant"
	otherClass    bayesian.Class = "other"
)

// A classifier tells the links that lead to a relevant page in exactly d steps
// from those that do not. The counts lie in a bayesian.Classifier, of which
// only Observe, WordFrequencies and WordCount are used: its own scores take
// word totals for priors and turn to NaN and -Inf on unseen words.
type classifier struct {
	options         Options
	store           *bayesian.Classifier
	terms           []string            // the vocabulary, in the order of learning; only ever appended to
	known           map[uint64]struct{} // the hashes of terms: to ask the store costs a look-up of the term for each class
	relevant, other int                 // links learned per class
	recent          recent
}

// A recent remembers the counts of terms that were asked for, so that the
// store, which looks a term up for each class anew, is seldom asked: each term
// has one slot, which it shares with others. A store that learns a term takes
// it out. The hash is another one in each process, so that no page can make
// terms that are taken for one another.
type recent struct {
	seed  maphash.Seed
	mu    sync.Mutex
	slots []counted // recentSlots of them, or nil: nobody has asked
}

type counted struct {
	hash            uint64 // of the term; 0 is an empty slot
	relevant, other float64
}

const recentSlots = 1 << 16 // 1.5 MB

// slot returns the slot of a term, and the term's hash. r.mu is held.
func (r *recent) slot(term string) (*counted, uint64) {
	if r.slots == nil {
		r.slots = make([]counted, recentSlots)
	}
	h := r.hash(term)
	return &r.slots[h>>1%recentSlots], h
}

// hash returns a hash of a term, which is never 0.
func (r *recent) hash(term string) uint64 { return maphash.String(r.seed, term) | 1 }

func (r *recent) drop(term string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, h := r.slot(term); s.hash == h {
		*s = counted{}
	}
}

func newClassifier(o Options) *classifier {
	return &classifier{options: o, known: map[uint64]struct{}{}, store: bayesian.NewClassifier(relevantClass, otherClass), recent: recent{seed: maphash.MakeSeed()}}
}

// learn counts one link.
func (c *classifier) learn(terms []string, relevant bool) {
	class := otherClass
	if relevant {
		class = relevantClass
		c.relevant++
	} else {
		c.other++
	}
	for _, term := range terms {
		c.count(c.meet(term), 1, class)
	}
}

// count adds n to the count of a term.
func (c *classifier) count(term string, n int, class bayesian.Class) {
	c.store.Observe(term, n, class)
	c.recent.drop(term)
}

// meet puts a term into the vocabulary, unless it is there, and returns what
// the vocabulary knows it as.
func (c *classifier) meet(term string) string {
	hash := c.recent.hash(term)
	if _, ok := c.known[hash]; ok {
		return term
	}
	if len(c.terms) >= c.options.Vocabulary || len(term) > MaxTermLength {
		term = unknown(term)
		hash = c.recent.hash(term)
		if _, ok := c.known[hash]; ok {
			return term
		}
	}
	term = strings.Clone(term) // which may be a part of something large
	c.terms = append(c.terms, term)
	c.known[hash] = struct{}{}
	return term
}

// prune takes those terms out of the vocabulary that are counted no longer.
func (c *classifier) prune() {
	c.terms = slices.DeleteFunc(c.terms, func(term string) bool {
		relevant, other := c.counts([]string{term})
		gone := relevant[0] == 0 && other[0] == 0
		if gone {
			delete(c.known, c.recent.hash(term))
		}
		return gone
	})
}

// observe adds counts of one term that the vocabulary holds.
func (c *classifier) observe(term string, relevant, other int) {
	if relevant != 0 {
		c.count(term, relevant, relevantClass)
	}
	if other != 0 {
		c.count(term, other, otherClass)
	}
}

// counts returns how often each term was learned in the two classes.
func (c *classifier) counts(terms []string) (relevant, other []float64) {
	both := make([]float64, 2*len(terms))
	relevant, other = both[:len(terms)], both[len(terms):]
	c.recent.mu.Lock()
	defer c.recent.mu.Unlock()
	var missing []int
	var strange []string
	for i, term := range terms {
		if s, hash := c.recent.slot(term); s.hash == hash {
			relevant[i], other[i] = s.relevant, s.other
		} else {
			missing, strange = append(missing, i), append(strange, term)
		}
	}
	if len(missing) == 0 {
		return relevant, other
	}
	totals, frequencies := c.store.WordCount(), c.store.WordFrequencies(strange)
	times := func(class, j int) float64 { // the 1e-11 of an unseen word becomes 0
		return math.Round(frequencies[class][j] * float64(totals[class]))
	}
	for j, i := range missing {
		s, hash := c.recent.slot(terms[i])
		*s = counted{hash, times(0, j), times(1, j)}
		relevant[i], other[i] = s.relevant, s.other
	}
	return relevant, other
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
		known[i] = unknown(terms[i])
		r, o := c.counts(known[i : i+1])
		relevant[i], other[i] = r[0], o[0]
	}
	return known, relevant, other
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
	_, relevant, other := c.resolve(terms)
	sum, scale := 0.0, c.scale()
	for i := range relevant {
		sum += scale.logOdds(relevant[i], other[i])
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
	totals, s := c.store.WordCount(), c.options.Smoothing
	vocabulary := s * float64(len(c.terms)+1) // 1 for all terms never seen
	return scale{
		smoothing: s,
		ratio:     math.Log((float64(totals[1]) + vocabulary) / (float64(totals[0]) + vocabulary)),
	}
}

// A scale holds what is the same for all terms of a classifier.
type scale struct {
	smoothing float64
	ratio     float64 // log of the smoothed total of other links' terms by that of relevant ones'
}

// logOdds returns log p(t|relevant)/p(t|other) with Laplace smoothing.
func (s scale) logOdds(relevant, other float64) float64 {
	return math.Log((relevant+s.smoothing)/(other+s.smoothing)) + s.ratio
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
