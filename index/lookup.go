package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// occurrences are where a word of a query stands.
type occurrences struct {
	word    word
	must    bool
	count   uint64 // of all entries
	written uint64 // of those of the word as it is written
	rarity  float64
	found   []entries
}

// entries are the mentions in one part that have one term.
type entries struct {
	part  *part
	list  []posting // with those that were deleted
	worth *impacts  // of each weight
}

const (
	maxPrefixes = 40 // words that one start stands for
	maxTypos    = 40 // words that one misspelt word stands for
)

const (
	inWords = iota // numbers of the two fields in search.dicts
	inWhere
)

// dict returns the words of a field in a part.
func (s *search) dict(part, field int) (segment.TermDictionary, error) {
	if s.dicts == nil {
		s.dicts = make([][2]segment.TermDictionary, len(s.v.parts))
	}
	d := &s.dicts[part][field]
	if *d == nil {
		var err error
		if *d, err = s.v.parts[part].segment.Dictionary([]string{fieldWords, fieldWhere}[field]); err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
	}
	return *d, nil
}

// A lookUp says how a word is looked up.
type lookUp struct {
	word      *word
	last      bool // it may be the start of one
	forgives  bool // one edit
	whereOnly bool // in addresses
}

// look finds the lists of a word. A search that tries several stages looks it up
// once for each way.
func (s *search) look(up lookUp) (l *occurrences, err error) {
	if l, known := s.looked[up]; known {
		return l, nil
	}
	if up.forgives {
		l, err = s.misspelt(up)
	} else {
		l, err = s.written(up)
	}
	if err != nil {
		return nil, err
	}
	df := min(float64(l.count), float64(s.v.mentions))
	l.rarity = math.Log(1 + (float64(s.v.mentions)-df+0.5)/(df+0.5))
	if s.looked == nil {
		s.looked = map[lookUp]*occurrences{}
	}
	s.looked[up] = l
	return l, nil
}

// written finds a word as it is written, and as the start of longer ones.
func (s *search) written(up lookUp) (*occurrences, error) {
	w := up.word
	l := &occurrences{word: *w}
	if !up.whereOnly {
		for _, term := range w.terms {
			if err := s.add(l, inWords, term, &whole, allParts); err != nil {
				return nil, err
			}
		}
	}
	// Of "langestr." lange is enough: str is a word of most addresses.
	if err := s.add(l, inWhere, w.where[0], &whole, allParts); err != nil {
		return nil, err
	}
	l.written = l.count
	start := w.terms[0]
	if !up.last || utf8.RuneCountInString(start) < 2 || isNumber(start) {
		return l, nil
	}
	for _, field := range up.fields() {
		longer, err := s.completions(field, start)
		if err != nil {
			return nil, err
		}
		if err := s.addSimilar(l, field, longer, &started); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// misspelt is written, and finds words one edit away of one that is not frequent
// itself.
func (s *search) misspelt(up lookUp) (*occurrences, error) {
	exactly := up
	exactly.forgives = false
	base, err := s.look(exactly)
	if err != nil {
		return nil, err
	}
	l := *base
	l.found = slices.Clip(l.found)
	start := l.word.terms[0]
	if utf8.RuneCountInString(start) < 4 || isNumber(start) || l.written > uint64(s.v.mentions)/100 {
		return &l, nil
	}
	for _, field := range up.fields() {
		near, err := s.corrections(field, start)
		if err != nil {
			return nil, err
		}
		if err := s.addSimilar(&l, field, near, &misspelt); err != nil {
			return nil, err
		}
	}
	return &l, nil
}

// fields are those that a word is looked up in.
func (up *lookUp) fields() []int {
	if up.whereOnly {
		return []int{inWhere}
	}
	return []int{inWords, inWhere}
}

// addSimilar adds the lists of terms that stand for the word of l.
func (s *search) addSimilar(l *occurrences, field int, terms []similar, worth *impacts) error {
	for _, t := range terms {
		if slices.Contains(l.word.terms, t.term) {
			continue
		}
		if err := s.add(l, field, t.term, worth, t.in); err != nil {
			return err
		}
	}
	return nil
}

// add adds the lists of a term to l.
func (s *search) add(l *occurrences, field int, term string, worth *impacts, in inParts) error {
	for i := range s.v.parts {
		if !in.has(i) {
			continue
		}
		p := &s.v.parts[i]
		d, err := s.dict(i, field)
		if err != nil {
			return err
		}
		postings, n, err := s.list(p, field, term, d)
		if err != nil {
			return err
		}
		if n > 0 {
			l.found = append(l.found, entries{p, postings, worth})
			l.count += n
		}
	}
	return nil
}

// list returns the decoded list of a term in a part, with those that were
// deleted, and how many were not.
func (s *search) list(p *part, field int, term string, d segment.TermDictionary) (list []posting, live uint64, err error) {
	key := listKey{p.id, field, term}
	if p.deleted == nil { // what is deleted differs from view to view
		if list, ok := s.x.lists.get(key); ok {
			return list, uint64(len(list)), nil
		}
	}
	if s.postings, err = d.PostingsList([]byte(term), p.deleted, s.postings); err != nil {
		return nil, 0, fmt.Errorf("index: %w", err)
	}
	if live = s.postings.Count(); live == 0 {
		return nil, 0, nil
	}
	if live < leastKept {
		list, err = s.decode()
		return list, live, err
	}
	if p.deleted != nil {
		if list, ok := s.x.lists.get(key); ok {
			return list, live, nil
		}
		if s.postings, err = d.PostingsList([]byte(term), nil, s.postings); err != nil {
			return nil, 0, fmt.Errorf("index: %w", err)
		}
	}
	if list, err = s.decode(); err == nil {
		s.x.lists.keep(key, list)
	}
	return list, live, err
}

// decode returns the entries of s.postings.
func (s *search) decode() ([]posting, error) {
	all := make([]posting, 0, s.postings.Count())
	s.iterator = s.postings.Iterator(true, false, false, s.iterator)
	for {
		p, err := s.iterator.Next()
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		if p == nil {
			return all, nil
		}
		all = append(all, newPosting(uint32(p.Number()), p.Frequency()))
	}
}

// A similar is a term of the index that may stand for a word.
type similar struct {
	term  string
	count uint64 // of the entries that have it
	in    inParts
}

// inParts says which parts of a view may have a term: a bit for each of the
// first ones; those after them may.
type inParts uint64

const (
	allParts   = ^inParts(0)
	knownParts = 64
)

func (in inParts) has(part int) bool { return part >= knownParts || in>>part&1 != 0 }

// completions returns the most frequent terms of a field that start so.
func (s *search) completions(field int, start string) ([]similar, error) {
	return s.similar(field, nil, start, 2000, maxPrefixes)
}

// similar returns the most frequent terms of a field that begin with start and
// that an automaton takes, nil for all. It looks at so many terms of each part
// of the index.
func (s *search) similar(field int, takes segment.Automaton, start string, look, most int) ([]similar, error) {
	at := map[string]int{}
	var all []similar
	var unsure inParts // where there are more terms than it looks at
	from, to := []byte(start), append([]byte(start), 0xff)
	for i := range s.v.parts {
		d, err := s.dict(i, field)
		if err != nil {
			return nil, err
		}
		terms := d.AutomatonIterator(takes, from, to)
		for looked := 0; ; looked++ {
			if looked == look {
				unsure |= 1 << i
				break
			}
			e, err := terms.Next()
			if err != nil {
				return nil, fmt.Errorf("index: %w", err)
			}
			if e == nil {
				break
			}
			n, known := at[e.Term]
			if !known {
				n = len(all)
				at[e.Term] = n
				all = append(all, similar{term: e.Term})
			}
			all[n].count += e.Count
			all[n].in |= 1 << i
		}
	}
	best := mostFrequent(all, most)
	for i := range best {
		best[i].in |= unsure
	}
	return best, nil
}

func mostFrequent(all []similar, most int) []similar {
	slices.SortFunc(all, func(a, b similar) int { return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.term, b.term)) })
	return all[:min(most, len(all))]
}

// corrections returns the most frequent terms of a field that are one edit away
// from a word and begin with the same letter.
func (s *search) corrections(field int, word string) ([]similar, error) {
	_, first := utf8.DecodeRuneInString(word)
	near := newEdits(word)
	if near == nil {
		return s.bleveCorrections(field, word, word[:first])
	}
	return s.similar(field, near, word[:first], math.MaxInt, maxTypos)
}

// bleveCorrections is corrections with Bleve's automaton, for any word; it does
// not know which terms are frequent, nor in which parts they are.
func (s *search) bleveCorrections(field int, word, first string) ([]similar, error) {
	dict, err := s.v.reader.FieldDictFuzzy([]string{fieldWords, fieldWhere}[field], word, 1, first)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	defer dict.Close()
	var all []similar
	for {
		e, err := dict.Next()
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		if e == nil {
			return mostFrequent(all, maxTypos), nil
		}
		all = append(all, similar{e.Term, e.Count, allParts})
	}
}
