package predictor

import (
	"hash/maphash"
	"strings"
	"sync"
)

// A vocabulary holds the terms that were learned, each once for the classifiers
// of all depths, and remembers what is known of those that were asked for or
// learned lately, so that the stores, which look a term up for each depth and
// class anew, are seldom asked. Terms are found by a hash that is another one in
// each process, so that no page can make terms that are taken for one another.
//
// Who asks holds Model.mu for reading, and who learns holds it alone.
type vocabulary struct {
	seed  maphash.Seed
	words []word            // in the order of learning; only ever appended to
	block strings.Builder   // which holds the texts of the newest words, so that there are few pieces of memory
	known map[uint64]uint32 // hash of a term → its place in words

	mu     sync.Mutex   // of recent, for those who ask
	recent []cachedTerm // recentTerms of them, or nil: nothing was asked or learned; in tests another power of 2
}

// A word is a term as the vocabulary keeps it.
type word struct {
	text   string
	depths uint8 // bit d: the classifier of depth d+1 has learned it
}

// at tells whether the classifier of depth d+1 has learned the word.
func (w *word) at(d int) bool { return w.depths>>d&1 != 0 }

// termCounts say how often a term was learned at each depth on each side.
type termCounts [MaxDepth][2]float64

// A cachedTerm is what is known of one term. Terms share the places for it: each has
// one, and who comes last has it.
type cachedTerm struct {
	hash   uint64     // of the term; 0 is an empty place
	counts termCounts // if asked: those of the stores
	word   uint32     // 1 + the term's place in words, or 0: it was not there when it was asked for
	asked  bool
}

const recentTerms = 1 << 16 // 4 MB, a line of the processor's cache each

func newVocabulary() *vocabulary {
	return &vocabulary{seed: maphash.MakeSeed(), known: map[uint64]uint32{}}
}

// hash returns a hash of a term, which is never 0.
func (v *vocabulary) hash(term string) uint64 { return maphash.String(v.seed, term) | 1 }

// A key is what a model that is asked knows a term by, so that the terms of a
// link that is scored need not be made into strings.
type key struct {
	hash   uint64 // in the vocabulary
	slot   uint32 // in valueModel.words
	family int
}

// keys appends those of the terms to keys.
func (v *vocabulary) keys(keys []key, terms []string) []key {
	for _, term := range terms {
		keys = append(keys, key{v.hash(term), slotOf(term), familyOf(term)})
	}
	return keys
}

// place returns the place in recent for the term with this hash. What is there
// may be another term's.
func (v *vocabulary) place(hash uint64) *cachedTerm {
	if v.recent == nil {
		v.recent = make([]cachedTerm, recentTerms)
	}
	return &v.recent[hash>>1&uint64(len(v.recent)-1)]
}

// find returns where in words the term with this hash is, and whether it is. It
// is for who learns.
func (v *vocabulary) find(hash uint64) (at uint32, ok bool) {
	r := v.place(hash)
	if r.hash == hash && r.word > 0 {
		return r.word - 1, true
	}
	if at, ok = v.known[hash]; ok {
		*r = cachedTerm{hash: hash, word: at + 1}
	}
	return at, ok
}

// add puts a term into words that is not there, and returns where. It is for who
// learns.
func (v *vocabulary) add(term string, hash uint64) (at uint32) {
	at = uint32(len(v.words))
	v.words = append(v.words, word{text: v.keep(term)})
	v.known[hash] = at
	*v.place(hash) = cachedTerm{hash: hash, word: at + 1}
	return at
}

// keep returns a text that stands beside those of other words: the given one is a
// part of all terms of a link.
func (v *vocabulary) keep(text string) string {
	const usual = 64 << 10 // bytes of a block
	if v.block.Cap()-v.block.Len() < len(text) {
		v.block = strings.Builder{}
		v.block.Grow(max(usual, len(text)))
	}
	v.block.WriteString(text)
	return v.block.String()[v.block.Len()-len(text):]
}

// counted notes that n links more were learned with a term. It is for who learns.
func (v *vocabulary) counted(hash uint64, d int, side side, n int) {
	if r := v.place(hash); r.hash == hash {
		r.counts[d][side] += float64(n)
	}
}

// countsOf appends the counts of the terms to all. It may be called by several
// goroutines at once.
func (v *vocabulary) countsOf(depths *[MaxDepth]*classifier, terms []key, all []termCounts) []termCounts {
	v.mu.Lock()
	defer v.mu.Unlock()
	var room [MaxTerms]int
	missing := room[:0]
	for i := range terms {
		r := v.place(terms[i].hash)
		if r.hash != terms[i].hash || !r.asked {
			missing = append(missing, i)
		}
		all = append(all, r.counts)
	}
	if len(missing) == 0 {
		return all
	}
	asked := make([]cachedTerm, len(missing))
	for j, i := range missing {
		asked[j] = cachedTerm{hash: terms[i].hash, asked: true}
		if at, ok := v.known[terms[i].hash]; ok {
			asked[j].word = at + 1
		}
	}
	for d, c := range depths {
		v.ask(c, d, asked)
	}
	for j, i := range missing {
		all[i] = asked[j].counts
		*v.place(terms[i].hash) = asked[j]
	}
	return all
}

// ask fills in the counts of depth d+1 of those terms that are known there.
func (v *vocabulary) ask(c *classifier, d int, terms []cachedTerm) {
	texts, which := make([]string, 0, len(terms)), make([]int, 0, len(terms))
	for i, t := range terms {
		if t.word > 0 && v.words[t.word-1].at(d) {
			texts, which = append(texts, v.words[t.word-1].text), append(which, i)
		}
	}
	if len(texts) == 0 {
		return
	}
	relevant, other := c.counts(texts)
	for j, i := range which {
		terms[i].counts[d] = [...]float64{relevantSide: relevant[j], otherSide: other[j]}
	}
}
