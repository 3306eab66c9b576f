package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gazehound/gazetteer"
)

// A Suggestion completes typed text.
type Suggestion struct {
	Text  string `json:"text"`
	Kind  Facet  `json:"kind"`  // ByStreet, ByPostcode, ByCity, BySite or "name"
	Count int    `json:"count"` // addresses that have it
}

// Suggestions are a field of their own, with a term for each word of a text at which typing may
// begin: the folded text from there on, whether that is all of it, its kind and its spelling. So
// the field's dictionary is the list of suggestions.
const (
	maxStarts    = 8 // words of one text at which typing may begin
	maxSuggested = 5000
)

// suggest adds a text to the suggestions.
func (b *builder) suggest(kind Facet, text string) {
	phrase := clipBytes(foldPhrase(text), maxKey)
	if phrase == "" {
		return
	}
	if b.keywords[fieldTyped] == nil {
		b.keywords[fieldTyped] = termSet{}
	}
	whole := "0"
	for range maxStarts {
		b.keywords[fieldTyped][strings.Join([]string{phrase, whole, string(kind), text}, separator)] = 1
		_, rest, more := strings.Cut(phrase, " ")
		if !more {
			return
		}
		phrase, whole = rest, "1"
	}
}

// keyOf returns what makes two spellings of a value one.
func keyOf(kind Facet, text string) string {
	switch kind {
	case ByStreet:
		return gazetteer.StreetKey(text)
	case ByPostcode, ByCity:
		return gazetteer.Key(text)
	case byName:
		return foldWord(text)
	}
	return text
}

// A candidate is what may be suggested, with its spellings.
type candidate struct {
	Suggestion
	part  string   // "0" where all of the text begins with what was typed, else "1"
	terms []string // keywords of fieldTyped
	most  uint64   // addresses that write it as Text
}

func (c *candidate) compare(o *candidate) int {
	return cmp.Or(strings.Compare(c.part, o.part), cmp.Compare(o.Count, c.Count), cmp.Compare(len(c.Text), len(o.Text)),
		strings.Compare(c.Text, o.Text), strings.Compare(string(c.Kind), string(o.Kind)))
}

// Suggest returns at most limit (1 to MaxLimit) streets, postcodes, cities,
// sites and names that have a word beginning with what was typed: first those
// that begin with it, then the more frequent ones.
func (x *Index) Suggest(typed string, limit int) ([]Suggestion, error) {
	if utf8.RuneCountInString(typed) > MaxQueryLength || !utf8.ValidString(typed) || limit < 1 || limit > MaxLimit {
		return nil, fmt.Errorf("index: %w: a suggestion has at most %d characters of UTF-8, and a limit of 1 to %d",
			ErrQuery, MaxQueryLength, MaxLimit)
	}
	out, start := []Suggestion{}, clipBytes(foldPhrase(typed), maxKey)
	if start == "" {
		return out, nil
	}
	s, err := x.newSearch(context.Background(), Query{})
	if err != nil || s == nil {
		return out, err
	}
	defer s.view.Close()
	all, err := s.candidates(start)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, (*candidate).compare)
	best := all[:0] // the dictionary still counts what was deleted
	for _, c := range all {
		c.Count, err = s.count(has(fieldTyped, c.terms...))
		if err != nil {
			return nil, err
		}
		if c.Count > 0 {
			best = append(best, c)
		}
		if len(best) == limit {
			break
		}
	}
	slices.SortFunc(best, (*candidate).compare)
	for _, c := range best {
		out = append(out, c.Suggestion)
	}
	return out, nil
}

// candidates returns what has a word that begins so.
func (s *searcher) candidates(start string) (all []*candidate, err error) {
	name, term := termOf(fieldTyped, start)
	dict, err := s.view.FieldDictPrefix(name, []byte(term))
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	defer dict.Close()
	known := map[[2]string]*candidate{}
	for range maxSuggested {
		e, err := dict.Next()
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		if e == nil {
			break
		}
		value := strings.TrimPrefix(e.Term, fieldTyped+separator)
		parts := strings.SplitN(value, separator, 4)
		if len(parts) < 4 {
			continue
		}
		part, kind, text := parts[1], Facet(parts[2]), parts[3]
		key := [2]string{parts[2], keyOf(kind, text)}
		c := known[key]
		if c == nil {
			c = &candidate{part: "2"}
			known[key] = c
			all = append(all, c)
		}
		if part < c.part { // words further on count where no text begins so
			*c = candidate{Suggestion: Suggestion{Kind: kind}, part: part}
		}
		if part == c.part {
			c.terms, c.Count = append(c.terms, value), c.Count+int(e.Count)
			if e.Count > c.most {
				c.most, c.Text = e.Count, text
			}
		}
	}
	return all, nil
}
