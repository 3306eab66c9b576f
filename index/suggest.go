package index

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gazehound/gazetteer"
)

// A Suggestion completes what somebody types.
type Suggestion struct {
	Text  string
	Kind  Facet // ByStreet, ByPostcode, ByCity, BySite or "name"
	Count int   // addresses that have it
}

// What may be typed is a field of its own, with a term for each word of a text at
// which typing may begin: the folded text from there on, whether it is all of it,
// its kind and how it is written. So its dictionary is the list of suggestions.
const (
	maxStarts    = 8 // words of one text at which typing may begin
	maxSuggested = 5000
)

// suggest adds a text to what may be typed.
func (b *builder) suggest(kind Facet, text string) {
	phrase := foldPhrase(text)
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
	terms []string // of the dictionary
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
		return nil, fmt.Errorf("index: %w: a suggestion wants at most %d characters of UTF-8, and a limit of 1 to %d",
			ErrQuery, MaxQueryLength, MaxLimit)
	}
	done, err := x.use()
	if err != nil {
		return nil, err
	}
	defer done()
	folded := foldPhrase(typed)
	if x.bleve == nil || folded == "" {
		return []Suggestion{}, nil
	}
	r, err := x.reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	name, start := termOf(fieldTyped, folded)
	dict, err := r.FieldDictPrefix(name, []byte(start))
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	defer dict.Close()
	found := map[[2]string]*candidate{}
	for range maxSuggested {
		e, err := dict.Next()
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		if e == nil {
			break
		}
		addCandidate(found, strings.TrimPrefix(e.Term, fieldTyped+separator), e.Count)
	}
	all := make([]*candidate, 0, len(found))
	for _, c := range found {
		all = append(all, c)
	}
	slices.SortFunc(all, (*candidate).compare)
	k := &hitMaker{reader: r}
	var best []*candidate // the dictionary still counts what was deleted
	for _, c := range all {
		if len(best) == limit {
			break
		}
		c.Count = 0
		for _, term := range c.terms {
			c.Count += k.count(fieldTyped, term)
		}
		if c.Count > 0 {
			best = append(best, c)
		}
	}
	slices.SortFunc(best, (*candidate).compare)
	out := make([]Suggestion, len(best))
	for i, c := range best {
		out[i] = c.Suggestion
	}
	return out, nil
}

// addCandidate takes a term of the dictionary into what may be suggested.
func addCandidate(found map[[2]string]*candidate, term string, count uint64) {
	parts := strings.SplitN(term, separator, 4)
	if len(parts) < 4 {
		return
	}
	kind, text := Facet(parts[2]), parts[3]
	key := [2]string{parts[2], keyOf(kind, text)}
	c := found[key]
	if c == nil {
		c = &candidate{Suggestion: Suggestion{Kind: kind}, part: parts[1]}
		found[key] = c
	}
	switch {
	case parts[1] > c.part: // another word of it, which is counted already
		return
	case parts[1] < c.part:
		*c = candidate{Suggestion: Suggestion{Kind: kind}, part: parts[1]}
	}
	if slices.ContainsFunc(c.terms, func(t string) bool { return strings.HasSuffix(t, separator+text) }) {
		return // a word that is there twice
	}
	c.terms, c.Count = append(c.terms, term), c.Count+int(count)
	if count > c.most {
		c.most, c.Text = count, text
	}
}
