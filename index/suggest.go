package index

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
	rest string // of the folded text
	text uint32
	head bool // rest is all of it
}

// suggestions are the starts of all texts.
type suggestions struct {
	sorted []start
	fresh  []start // those that came since sorted was made
	texts  int     // that were taken in
}

// maxStarts bounds the words of one text at which typing may begin.
const maxStarts = 8

// grow takes in the texts that are new.
func (s *suggestions) grow(texts []text) {
	for n := s.texts; n < len(texts); n++ {
		if t := texts[n]; t.kind != "" && t.kind != ByHost {
			rest, head := t.phrase, true
			for range maxStarts {
				s.fresh = append(s.fresh, start{rest, uint32(n), head})
				_, after, more := strings.Cut(rest, " ")
				if rest, head = after, false; !more {
					break
				}
			}
		}
	}
	s.texts = len(texts)
	if len(s.fresh) > 1000+len(s.sorted)/10 {
		all := slices.Concat(s.sorted, s.fresh)
		slices.SortFunc(all, func(a, b start) int { return cmp.Or(strings.Compare(a.rest, b.rest), cmp.Compare(a.text, b.text)) })
		s.sorted, s.fresh = all, nil
	}
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
	type candidate struct {
		start
		count uint32
	}
	order := func(a, b candidate) int {
		return cmp.Or(compareBool(b.head, a.head), cmp.Compare(b.count, a.count), cmp.Compare(len(a.rest), len(b.rest)), strings.Compare(v.texts[a.text].shown, v.texts[b.text].shown), cmp.Compare(a.text, b.text))
	}
	usage := v.usage()
	var best []candidate
	consider := func(s start) {
		if int(s.text) >= len(usage) || usage[s.text] == 0 {
			return
		}
		c := candidate{s, usage[s.text]}
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
	from, _ := slices.BinarySearchFunc(v.starts.sorted, folded, func(s start, folded string) int { return strings.Compare(s.rest, folded) })
	for _, s := range v.starts.sorted[from:] {
		if !strings.HasPrefix(s.rest, folded) {
			break
		}
		consider(s)
	}
	for _, s := range v.starts.fresh {
		if strings.HasPrefix(s.rest, folded) {
			consider(s)
		}
	}
	all := make([]Suggestion, len(best))
	for i, c := range best {
		t := v.texts[c.text]
		all[i] = Suggestion{t.shown, t.kind, int(c.count)}
	}
	return all, nil
}
