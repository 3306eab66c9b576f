package geoparse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
)

// maxRejected bounds the candidates that Explain keeps.
const maxRejected = 1000

// A Candidate is a stretch of text that looked like an address and was rejected, or a place for
// which an address was not taken.
type Candidate struct {
	Text       string
	Start, End int    // in Unicode characters of Input.Text
	Reason     string // "the gazetteer has no postcode 99999"
	Other      bool   // Text is a place that the address found there could also have meant
}

// Explain is Parse that also returns what was rejected and why, in the order of
// the text, at most 1,000 of them. It is for people; a crawl calls Parse.
func (p *Parser) Explain(ctx context.Context, in Input) (Verdict, []Candidate, error) {
	var rejected []Candidate
	v, err := p.parse(ctx, in, &rejected)
	rejected = slices.DeleteFunc(rejected, func(c Candidate) bool {
		return !c.Other && slices.ContainsFunc(v.Addresses, func(a Address) bool {
			return a.Start < c.End &&
				c.Start < a.End
		})
	})
	slices.SortStableFunc(rejected, func(a, b Candidate) int { return a.Start - b.Start })
	return v, rejected, err
}

// Doubt returns why the address does not make a page relevant, or "" if it does.
func (p *Parser) Doubt(a Address) string {
	switch {
	case p.region == nil:
		return "no region to judge it by"
	case !a.InRegion:
		return "outside the region"
	case a.Private:
		return "belongs to a private person"
	case proven(&a) >= p.min:
		return ""
	case a.Street == "":
		return "names no street"
	case p.min == gazetteer.InterpolatedPrecision && proven(&a) == gazetteer.StreetPrecision:
		return fmt.Sprintf("%s has no number %s in the gazetteer", a.Street, a.HouseNumber)
	}
	place := a.City
	if a.Postcode != "" {
		place = a.Postcode + " " + place
	}
	if p.g.HasStreet(a.Street) {
		return fmt.Sprintf("%s exists, but not in %s", a.Street, place)
	}
	return fmt.Sprintf("the gazetteer has no street %s", a.Street)
}

// reject records that text[start:end] is no address.
func (s *source) reject(start, end int, reason func() string) {
	if s.log == nil || len(*s.log) >= maxRejected {
		return
	}
	*s.log = append(*s.log, Candidate{Text: shown(s.text[start:end]), Start: start, End: end,
		Reason: reason()})
}

func because(reason string) func() string { return func() string { return reason } }

// disagreement returns why no city was found after, or before, the postcode.
func (p *Parser) disagreement(code, country string, only grammar.Form) string {
	var names []string
	for _, a := range p.codes.areas(code) {
		if pl := a.place; (country == "" || pl.Country == country) && only.Allows(pl.Country) &&
			pl.City != "" && !slices.Contains(names, pl.City) {
			names = append(names, pl.City)
		}
	}
	switch {
	case len(names) == 0:
		return fmt.Sprintf("the gazetteer has no postcode %s", code)
	case len(names) > 3:
		names = append(names[:3], "…")
	}
	return fmt.Sprintf("the city disagrees: %s is %s", code, strings.Join(names, ", "))
}

// behind returns the end of the words behind i: up to three, in one line.
func behind(t grammar.Tokens, i int) int {
	words := 0
	for _, tok := range t {
		if tok.Kind == grammar.Break && words > 0 || words == 3 {
			break
		}
		if tok.Kind == grammar.Word {
			i = tok.End
			words++
		} else if words > 0 {
			break
		}
	}
	return i
}

// longestLine is how much of a line withoutCode looks at, in bytes.
const longestLine = 200

// withoutCode rejects the lines with street, number and city in which neither a
// postcode nor a state says which city of the name is meant.
func (s *source) withoutCode(found []Address) {
	start := 0
	for line := range strings.SplitAfterSeq(s.text, "\n") {
		from, to := start, start+min(len(line), longestLine)
		start += len(line)
		if s.windows.count >= maxWindows || len(*s.log) >= maxRejected {
			return
		}
		if !strings.ContainsAny(line, "123456789") ||
			slices.ContainsFunc(found, func(a Address) bool { return a.Start < to && from < a.End }) ||
			slices.ContainsFunc(*s.log, func(c Candidate) bool { return c.Start < to && from < c.End }) {
			continue
		}
		t := s.windows.tokens(from, to)
		street, ok := streetInLine(t)
		if !ok {
			continue
		}
		k := 0
		for k < len(t) && (t[k].Start < street.End || t[k].Kind == grammar.Mark) {
			k++
		}
		for n := min(4, len(t)-k); n >= 1; n-- {
			name := grammar.Phrase(t[k : k+n])
			if cities := s.p.codes.cities("", name); len(cities) > 0 && s.only.Allows(cities[0].Country) {
				s.reject(street.Start, t[k+n-1].End, func() string { return whichCity(name, cities) })
				break
			}
		}
	}
}

// streetInLine returns the span of the first street with a number among t.
func streetInLine(t grammar.Tokens) (grammar.Span, bool) {
	if street, ok := grammar.StreetAfter(t, nil); ok {
		return street.Span(), true
	}
	for i := range t {
		if street, _, ok := grammar.USForward(t, i); ok && street.Strength >= 3 {
			return street.Span(), true
		}
	}
	return grammar.Span{}, false
}

// whichCity lists where the cities of a name are, in one line.
func whichCity(name string, cities []gazetteer.Place) string {
	var where []string
	for _, c := range cities {
		at := strings.TrimSpace(c.State + " " + c.Country)
		if c.State == "" {
			at = strings.TrimSpace(c.Postcode + " " + c.Country)
		}
		if !slices.Contains(where, at) {
			where = append(where, at)
		}
	}
	if len(where) > maxOthers {
		where = append(where[:maxOthers], "…")
	}
	return fmt.Sprintf("no postcode or state beside the city; there is a %s in %s", fold(name),
		strings.Join(where, ", "))
}
