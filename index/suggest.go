package index

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A Suggestion completes what somebody types.
type Suggestion struct {
	Text  string
	Kind  Facet // ByStreet, ByPostcode, ByCity, BySite or "name"
	Count int   // mentions that have it
}

// A start is a place in a text at which typing may begin: at each word.
type start struct {
	text uint32
	at   uint8 // in its phrase, in bytes
}

// rest returns what follows a start.
func (s start) rest(texts []text) string { return texts[s.text].phrase()[s.at:] }

// suggestions are the starts of all texts. They are made when somebody types.
type suggestions struct {
	mu     sync.Mutex
	sorted []start
	fresh  []start // those that came since sorted was made
	texts  []text  // that were taken in
}

// maxStarts bounds the words of one text at which typing may begin.
const maxStarts = 8

// of returns the starts of the texts of a view, and maybe of newer ones: in
// order, and others; and these texts.
func (s *suggestions) of(v *view) (sorted, fresh []start, texts []text) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := len(s.texts); n < len(v.texts); n++ {
		if t := &v.texts[n]; t.suggested() {
			phrase := t.phrase()
			at := 0
			for range maxStarts {
				s.fresh = append(s.fresh, start{uint32(n), uint8(at)})
				word := strings.IndexByte(phrase[at:], ' ')
				if word < 0 {
					break
				}
				at += word + 1
			}
		}
	}
	if len(s.texts) < len(v.texts) {
		s.texts = v.texts
	}
	if len(s.fresh) > 1000+len(s.sorted)/10 {
		s.sorted, s.fresh = inOrder(slices.Concat(s.sorted, s.fresh), s.texts), nil
	}
	return s.sorted, s.fresh, s.texts
}

// inOrder sorts starts by what follows them; most are told apart by its first
// eight bytes.
func inOrder(all []start, texts []text) []start {
	type keyed struct {
		head uint64
		start
	}
	sorted := make([]keyed, len(all))
	for i, s := range all {
		var head [8]byte
		copy(head[:], s.rest(texts))
		sorted[i] = keyed{binary.BigEndian.Uint64(head[:]), s}
	}
	slices.SortFunc(sorted, func(a, b keyed) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return cmp.Or(strings.Compare(a.rest(texts), b.rest(texts)), cmp.Compare(a.text, b.text))
	})
	for i, k := range sorted {
		all[i] = k.start
	}
	return all
}

// foldPhrase folds a text to words with single spaces between them.
func foldPhrase(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.Mn, r) && r != '\'' && r != '’'
	}), " ")
	return clipBytes(foldWord(s), cursorName)
}

// Suggest returns at most limit (1 to MaxLimit) streets, postcodes, cities,
// sites and names that have a word beginning with what was typed: first those
// that begin with it, then the more frequent ones.
func (x *Index) Suggest(typed string, limit int) ([]Suggestion, error) {
	if utf8.RuneCountInString(typed) > MaxQueryLength || !utf8.ValidString(typed) || limit < 1 || limit > MaxLimit {
		return nil, fmt.Errorf("index: %w: a suggestion wants at most %d characters of UTF-8, and a limit of 1 to %d", ErrQuery, MaxQueryLength, MaxLimit)
	}
	v, err := x.see()
	if err != nil {
		return nil, err
	}
	defer v.release()
	folded := foldPhrase(typed)
	if folded == "" {
		return []Suggestion{}, nil
	}
	sorted, fresh, texts := x.table.starts.of(v)
	type candidate struct {
		start
		rest  int // bytes
		count uint32
	}
	order := func(a, b candidate) int {
		return cmp.Or(compareBool(b.at == 0, a.at == 0), cmp.Compare(b.count, a.count), cmp.Compare(a.rest, b.rest), strings.Compare(texts[a.text].shownAs(), texts[b.text].shownAs()), cmp.Compare(a.text, b.text))
	}
	usage := v.usage()
	var best []candidate
	consider := func(s start) {
		if int(s.text) >= len(usage) || usage[s.text] == 0 {
			return
		}
		c := candidate{s, len(s.rest(texts)), usage[s.text]}
		if len(best) == limit && order(best[limit-1], c) <= 0 {
			return
		}
		if i := slices.IndexFunc(best, func(o candidate) bool { return o.text == s.text }); i >= 0 {
			if order(best[i], c) <= 0 {
				return
			}
			best = slices.Delete(best, i, i+1)
		} else if len(best) == limit {
			best = best[:limit-1]
		}
		at, _ := slices.BinarySearchFunc(best, c, order)
		best = slices.Insert(best, at, c)
	}
	from, _ := slices.BinarySearchFunc(sorted, folded, func(s start, folded string) int { return strings.Compare(s.rest(texts), folded) })
	for _, s := range sorted[from:] {
		if !strings.HasPrefix(s.rest(texts), folded) {
			break
		}
		consider(s)
	}
	for _, s := range fresh {
		if strings.HasPrefix(s.rest(texts), folded) {
			consider(s)
		}
	}
	all := make([]Suggestion, len(best))
	for i, c := range best {
		t := &texts[c.text]
		all[i] = Suggestion{t.shownAs(), textKinds[t.kind], int(c.count)}
	}
	return all, nil
}
