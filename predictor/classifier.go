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
	depth           int // d-1
	store           *bayesian.Classifier
	terms           []string          // the vocabulary, in the order of learning; only ever appended to
	known           map[uint64]uint32 // hash of a term → its place in terms: to ask the store costs a look-up of the term for each class
	relevant, other int               // links learned per class
	recent          *recent           // of the model
}

func newClassifier(o Options, depth int, r *recent) *classifier {
	return &classifier{options: o, depth: depth, store: bayesian.NewClassifier(relevantClass, otherClass), known: map[uint64]uint32{}, recent: r}
}

// A side is a class by its number.
type side int

const (
	relevantSide side = iota
	otherSide
)

var classOf = [...]bayesian.Class{relevantSide: relevantClass, otherSide: otherClass}

func sideOf(relevant bool) side {
	if relevant {
		return relevantSide
	}
	return otherSide
}

// Tallies say how often a term was learned at each depth on each side.
type tallies [MaxDepth][2]float64

// A recent remembers what is known of terms that were asked for or learned, so
// that the stores, which look a term up for each depth and class anew, are
// seldom asked: each term has one slot, which it shares with others. The hash
// is another one in each process, so that no page can make terms that are taken
// for one another.
type recent struct {
	seed  maphash.Seed
	mu    sync.Mutex // held by readers; who learns is alone
	slots []slotOf   // recentSlots of them, or nil: nobody has asked; in tests another power of 2
}

// A slotOf is a slot of one term.
type slotOf struct {
	hash    uint64  // of the term; 0 is an empty slot
	tallies tallies // if asked: those of the stores
	asked   bool
	met     [MaxDepth]uint32 // 1 + the term's place in the vocabulary of the depth, or 0
}

const recentSlots = 1 << 16 // 4 MB

func newRecent() *recent { return &recent{seed: maphash.MakeSeed()} }

// hash returns a hash of a term, which is never 0.
func (r *recent) hash(term string) uint64 { return maphash.String(r.seed, term) | 1 }

// slot returns the slot for the term with this hash. It may be another term's.
func (r *recent) slot(hash uint64) *slotOf {
	if r.slots == nil {
		r.slots = make([]slotOf, recentSlots)
	}
	return &r.slots[hash>>1&uint64(len(r.slots)-1)]
}

// take returns the slot for the term with this hash, which is this term's now.
func (r *recent) take(hash uint64) *slotOf {
	s := r.slot(hash)
	if s.hash != hash {
		*s = slotOf{hash: hash}
	}
	return s
}

// look appends the tallies of the terms to all. It may be called by several
// goroutines at once.
func (r *recent) look(depths *[MaxDepth]*classifier, terms []string, all []tallies) []tallies {
	r.mu.Lock()
	defer r.mu.Unlock()
	var missing []int
	var strange []string
	for i, term := range terms {
		hash := r.hash(term)
		s := r.slot(hash)
		if s.hash != hash || !s.asked {
			missing, strange = append(missing, i), append(strange, term)
		}
		all = append(all, s.tallies)
	}
	if len(missing) == 0 {
		return all
	}
	for d, c := range depths {
		relevant, other := c.counts(strange)
		for j, i := range missing {
			all[i][d] = [...]float64{relevantSide: relevant[j], otherSide: other[j]}
		}
	}
	for j, i := range missing {
		s := r.take(r.hash(strange[j]))
		s.tallies, s.asked = all[i], true
	}
	return all
}

// learn counts one link. Nobody else uses the model meanwhile.
func (c *classifier) learn(terms []string, relevant bool) {
	if relevant {
		c.relevant++
	} else {
		c.other++
	}
	for _, term := range terms {
		c.count(term, 1, sideOf(relevant))
	}
}

// count adds n to the count of a term, which enters the vocabulary unless it is
// there. Nobody else uses the model meanwhile.
func (c *classifier) count(term string, n int, side side) {
	hash := c.recent.hash(term)
	s := c.recent.slot(hash)
	if s.hash != hash || s.met[c.depth] == 0 {
		var place uint32
		place, hash = c.meet(term, hash)
		s = c.recent.take(hash)
		s.met[c.depth] = place + 1
	}
	// The store keeps the string that it was given last: not this one, which is a
	// part of all terms of a link, but the vocabulary's.
	c.store.Observe(c.terms[s.met[c.depth]-1], n, classOf[side])
	s.tallies[c.depth][side] += float64(n)
}

// meet puts a term into the vocabulary, unless it is there, and returns the
// place and the hash of what the vocabulary knows it as.
func (c *classifier) meet(term string, hash uint64) (place uint32, known uint64) {
	if place, ok := c.known[hash]; ok {
		return place, hash
	}
	if len(c.terms) >= c.options.Vocabulary || len(term) > MaxTermLength {
		term = unknown(term)
		hash = c.recent.hash(term)
		if place, ok := c.known[hash]; ok {
			return place, hash
		}
	}
	place = uint32(len(c.terms))
	c.terms = append(c.terms, strings.Clone(term))
	c.known[hash] = place
	return place, hash
}

// prune takes those terms out of the vocabulary that are counted no longer.
func (c *classifier) prune() {
	c.terms = slices.DeleteFunc(c.terms, func(term string) bool {
		relevant, other := c.counts([]string{term})
		return relevant[0] == 0 && other[0] == 0
	})
	clear(c.known) // places have moved
	clear(c.recent.slots)
	for place, term := range c.terms {
		c.known[c.recent.hash(term)] = uint32(place)
	}
}

// observe adds counts of one term.
func (c *classifier) observe(term string, relevant, other int) {
	if relevant != 0 {
		c.count(term, relevant, relevantSide)
	}
	if other != 0 {
		c.count(term, other, otherSide)
	}
}

// counts returns how often each term was learned in the two classes.
func (c *classifier) counts(terms []string) (relevant, other []float64) {
	totals, frequencies := c.store.WordCount(), c.store.WordFrequencies(terms)
	for side, times := range frequencies { // the 1e-11 of an unseen word becomes 0
		for i := range times {
			times[i] = math.Round(times[i] * float64(totals[side]))
		}
	}
	return frequencies[relevantSide], frequencies[otherSide]
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

// familyOf returns the number of a term's family, len(families) for none.
func familyOf(term string) int {
	for i, f := range families {
		if strings.HasPrefix(term, f.prefix) {
			return i
		}
	}
	return len(families)
}

// unknown returns the term that stands for all those of a term's family that
// came after the vocabulary was full.
func unknown(term string) string {
	if i := familyOf(term); i < len(families) {
		return families[i].prefix + "<unk>"
	}
	return "<unk>"
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
