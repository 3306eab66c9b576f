package geoparse

import (
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
	"gazehound/internal/textutil"
)

// Limits of the second chance.
const (
	maxWeak    = 500 // candidates of a page
	cityWindow = 400 // bytes around a street in which the city must be named
)

// houseOfStreet reports whether the number at i may be a house number after a street word, of an
// address without a postcode.
func houseOfStreet(text string, i int) bool {
	if i < 4 || text[i-1] != ' ' || text[i] == '0' ||
		!(textutil.LetterBefore(text, i-1) || text[i-2] == '.') {
		return false
	}
	k := i - 1
	for k > 0 && i-k < 40 && text[k-1] != ' ' && text[k-1] != '\n' {
		k--
	}
	return grammar.StreetWord(text[k : i-1])
}

// secondChance adds to the addresses of a text its houses without a postcode: a known house in a street
// of the region, near the name of a city of the region.
func (s *source) secondChance(whole []Address, houses []grammar.Span) []Address {
	found := slices.Clone(whole)
	at := 0
	for _, house := range houses {
		for at < len(whole) && whole[at].End <= house.Start {
			at++
		}
		if at < len(whole) && whole[at].Start < house.End {
			continue // part of an address with its postcode
		}
		from := 0
		if at > 0 {
			from = whole[at-1].End
		}
		a, ok := s.weakAddress(house.Start)
		if ok && len(found) < maxAddresses {
			a.Text = shown(s.text[a.Start:a.End])
			a.Role = thirdParty(s.text, from, a.Start)
			found = append(found, a)
		}
	}
	slices.SortStableFunc(found, func(a, b Address) int { return a.Start - b.Start })
	return found
}

func (s *source) weakAddress(i int) (Address, bool) {
	text := s.text
	end := i
	for end < len(text) && end < i+12 && text[end] != ' ' && text[end] != '\n' && text[end] != ',' {
		end++
	}
	lo := max(0, i-60)
	for lo > 0 && lo < i && text[lo] != ' ' && text[lo] != '\n' {
		lo++
	}
	t := s.windows.tokens(lo, min(end, len(text)))
	var place gazetteer.Place
	known := func(name string) bool {
		if !s.p.g.HasStreet(name) {
			return false
		}
		found := false
		for _, st := range s.p.g.Streets(gazetteer.Query{Street: name}) {
			// of streets in several towns that whose town the page names
			if s.p.region.Has(st) && (!found || !s.cityNamed(place, i, i) && s.cityNamed(st, i, i)) {
				place, found = st, true
			}
		}
		return found
	}
	street, ok := grammar.StreetBefore(t, known)
	if !ok || street.Strength < 4 || street.Number.Empty() {
		return Address{}, false
	}
	known(street.Name.Of(text))
	house, precision := s.p.g.House(place, street.Number.Of(text))
	reason := ""
	switch {
	case precision == gazetteer.NoPrecision:
		reason = "has no postcode, and the street no such number in the gazetteer"
	case s.elsewhere(place, street.Span()):
		reason = "exists in the region, but the page puts it in another place"
	case !s.cityNamed(place, street.Name.Start, street.Number.End):
		reason = "exists in the region, but the page does not name the place near it"
	}
	if reason != "" {
		s.reject(street.Name.Start, street.Number.End, because(reason))
		return Address{}, false
	}
	a := Address{Start: street.Name.Start, End: street.Number.End, Country: place.Country,
		State: place.State, Level: VerifiedLevel, Confidence: confidenceWeak, Place: house}
	a.takeStreet(text, street)
	if house.HasPoint {
		a.Point, a.Precision = house.Point, precision
	}
	a.InRegion = true
	return a, true
}

// elsewhere reports whether the text beside the span puts the street in another
// place than the region: a postcode or a word that can be a city, both of which
// a gazetteer of one town does not know, or a country.
func (s *source) elsewhere(place gazetteer.Place, span grammar.Span) bool {
	text := s.text
	ours := func(name string) bool { return s.p.ourCity(place, gazetteer.Key(name)) }
	after := s.after(span.End)
	if name := grammar.PlaceAfter(after); !name.Empty() {
		return !ours(name.Of(text))
	}
	before := s.windows.tokens(max(0, span.Start-windowAfter), span.Start)
	if name := grammar.PlaceBefore(before); !name.Empty() {
		return !ours(name.Of(text))
	}
	return false
}

// ourCity reports whether the folded words begin with the name of a city in
// question.
func (p *Parser) ourCity(place gazetteer.Place, words string) bool {
	return p.anyCity(place, func(key string) bool { return strings.HasPrefix(words, key) })
}

// cityNamed reports whether a city in question is named near the span.
func (s *source) cityNamed(place gazetteer.Place, start, end int) bool {
	lo, hi := max(0, start-cityWindow), min(len(s.text), end+cityWindow)
	around := gazetteer.Key(s.text[lo:hi])
	return s.p.anyCity(place, func(key string) bool { return strings.Contains(around, key) })
}

// anyCity reports whether is holds for the folded name of a city in question:
// that of the place, one of the region, or the region itself.
func (p *Parser) anyCity(place gazetteer.Place, is func(key string) bool) bool {
	if key := gazetteer.Key(place.City); key != "" && is(key) {
		return true
	}
	for _, key := range p.region.Cities {
		if len(key) > 2 && is(key) {
			return true
		}
	}
	key := gazetteer.Key(p.region.Name)
	return len(key) > 2 && is(key)
}
