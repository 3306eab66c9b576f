package index

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gazehound/gazetteer"
)

// A StreetOnly is the answer to a query for a house that no page states, in a known street.
type StreetOnly struct {
	Street      string // as most pages write it
	HouseNumber string // that no page states there, as it was asked for
	Text        string // what else was asked for, or "": "26122 Oldenburg"
	Pages       int    // that state an address in the street
	Addresses   int    // in the street that are known
}

// String returns it as a sentence.
func (s *StreetOnly) String() string {
	if s.Pages == 1 {
		return fmt.Sprintf("1 page mentions %s, but without the number %s.", s.Street, s.HouseNumber)
	}
	return fmt.Sprintf("%d pages mention %s, but without the number %s.", s.Pages, s.Street, s.HouseNumber)
}

// maxTried is how many numbers of a text are tried as the number of a house.
const maxTried = 3

var houseNumber = regexp.MustCompile(`^[0-9]{1,6}([-/–][0-9]{1,6})?[A-Za-z]?$`)

// KnownStreet reports whether text, to which search gave the answer r, asks for a
// house in a street that is known while the house is not; nil where it does
// not. The house must be unknown everywhere, not only where r was looked for.
// It searches only where r does not have what was asked for.
func KnownStreet(
	ctx context.Context, search func(context.Context, Query) (*Result, error), text string, r *Result,
) (*StreetOnly, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ';' })
	words = words[:min(len(words), MaxQueryWords)]
	tried := 0
	for i := range words {
		after := i + 1
		if after < len(words) && len(words[after]) == 1 && houseNumber.MatchString(words[i]+words[after]) { // "12 a"
			after++
		}
		number := strings.Join(words[i:after], "")
		if !houseNumber.MatchString(number) || len(words) == after-i {
			continue
		}
		stated := func(h Hit) bool { // where r has all words
			return !r.Relaxed && strings.EqualFold(h.HouseNumber, number) || h.Postcode == number
		}
		if slices.ContainsFunc(r.Hits, stated) {
			continue
		}
		tried++
		if tried > maxTried {
			return nil, nil
		}
		rest := slices.Concat(words[:i], words[after:])
		q := Query{Text: strings.Join(rest, " "), AddressOnly: true, Limit: 1, Facets: []Facet{ByStreet}}
		there, err := search(ctx, q)
		if err != nil {
			return nil, err
		}
		if there.Total == 0 || there.Relaxed {
			continue
		}
		street := longestWithin(there.Facets, q.Text)
		if street == "" {
			continue
		}
		whole, err := search(ctx, Query{Text: text, AddressOnly: true, Limit: 1})
		if err != nil {
			return nil, err
		}
		if whole.Total > 0 && !whole.Relaxed {
			return nil, nil
		}
		q.Street, q.Facets, q.CountPages = []string{street}, nil, true
		there, err = search(ctx, q)
		if err != nil {
			return nil, err
		}
		out := &StreetOnly{
			Street: street, HouseNumber: number, Text: q.Text, Pages: there.Pages, Addresses: there.Total,
		}
		if gazetteer.StreetKey(out.Text) == gazetteer.StreetKey(street) {
			out.Text = ""
		}
		return out, nil
	}
	return nil, nil
}

// longestWithin returns the value of a facet of streets that a text names, of
// several the longest; "" where it names none.
func longestWithin(facets []Count, text string) string {
	key, best := gazetteer.StreetKey(text), ""
	for _, f := range facets {
		for _, v := range f.Values {
			if k := gazetteer.StreetKey(v.Value); strings.Contains(key, k) && len(k) > len(gazetteer.StreetKey(best)) {
				best = v.Value
			}
		}
	}
	return best
}
