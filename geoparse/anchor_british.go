package geoparse

import (
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
)

// britishPostcode tries the digits text[i:j] as those before the last two letters of a British
// postcode, "SW1A 1AA" or "ME97BZ", or of its first half alone: "London NW3". It reports whether
// they belong to a known outward code.
func (s *scan) britishPostcode(i, j int) bool {
	text := s.text
	if !inwardAt(text, j-1) {
		return s.outwardPostcode(i, j)
	}
	inward := j - 1
	isPart, fold := upper, strings.Clone
	if !upper(text[j]) { // "sn8 3rg"
		isPart, fold = func(c byte) bool { return c-'a' <= 25 }, strings.ToUpper
	}
	k := inward
	for k > 0 && inward-k < 3 && (text[k-1] == ' ' || strings.HasSuffix(text[:k], "\u00a0")) {
		if text[k-1] == ' ' {
			k--
		} else {
			k -= 2
		}
	}
	start := k
	for start > 0 && k-start < 5 && (isPart(text[start-1]) || text[start-1]-'0' <= 9) {
		start--
	}
	outward := fold(text[start:k])
	areas := s.outward(start, outward)
	if full := s.outwardAreas(outward + fold(text[inward:j+2])); len(areas) > 0 && len(full) > 0 {
		areas = full
	}
	if len(areas) == 0 {
		return false
	}
	return s.british(grammar.Find("GB"), areas, outward, start, j+2) || upper(text[j])
}

// inwardAt reports whether the second half of a postcode stands at i: "6DN", in small letters as
// well, which are no ordinal number.
func inwardAt(text string, i int) bool {
	if i+3 > len(text) || text[i]-'0' > 9 || i+3 < len(text) && (isLetterAt(text, i+3) || text[i+3]-'0' <= 9) {
		return false
	}
	a, b := text[i+1], text[i+2]
	return upper(a) && upper(b) || a-'a' <= 25 && b-'a' <= 25 && !grammar.Ordinal(text[i:i+3])
}

// outward returns the British areas of the outward code at start; none if it is malformed or part
// of a word.
func (s *scan) outward(start int, code string) []*area {
	if start < s.end || !outwardForm(code) || start > 0 && isLetterAt(s.text, lastRune(s.text, start)) {
		return nil
	}
	return s.outwardAreas(code)
}

func (s *scan) outwardAreas(code string) []*area { return s.areasIn(grammar.Find("GB"), code) }

// eircode tries the digits text[i:j] as those of the routing key of an Irish postcode: "P51 KT93",
// "D6W XY00". It reports whether an address was found.
func (s *scan) eircode(i, j int) bool {
	land := grammar.Find("IE")
	if i == 0 || i-1 < s.end || !upper(s.text[i-1]) || !slices.Contains(s.forms[grammar.CityPostcode], land) ||
		i > 1 && (isLetterAt(s.text, lastRune(s.text, i-1)) || s.text[i-2]-'0' <= 9) {
		return false
	}
	for form := range strings.SplitSeq(land.Codes, ",") {
		end := grammar.CodeAt(form, s.text, i-1)
		if end < j {
			continue
		}
		areas := s.areasIn(land, s.text[i-1:end])
		if len(areas) == 0 {
			areas = s.areasIn(land, s.text[i-1:i+2])
		}
		if s.british(land, areas, "", i-1, end) {
			return true
		}
	}
	return false
}

// outwardPostcode tries the digits text[i:j] as those of the first half of a postcode at the end of
// an address: its city and a street must precede it.
func (s *scan) outwardPostcode(i, j int) bool {
	text := s.text
	start, end := i, j
	for start > 0 && i-start < 2 && upper(text[start-1]) {
		start--
	}
	if end < len(text) && upper(text[end]) {
		end++
	}
	if start == i || start < 2 || text[start-1] != ' ' && text[start-1] != '\n' ||
		end < len(text) && (isLetterAt(text, end) || strings.IndexByte("0123456789-/", text[end]) >= 0) ||
		inwardAt(text, end+len(text[end:])-len(strings.TrimLeft(text[end:], " \u00a0"))) ||
		text[start-1] == '\n' && strings.TrimLeft(text[end:min(len(text), end+1)], "\r\n") != "" {
		return false
	}
	areas := s.outward(start, text[start:end])
	return len(areas) > 0 && s.british(grammar.Find("GB"), areas, text[start:end], start, end)
}

func upper(c byte) bool { return c-'A' <= 25 }

// outwardForm reports whether s has the form of the first half of a British postcode.
func outwardForm(s string) bool { return outward.Fits(s) }

var outward = &grammar.Country{Codes: "A9,A99,AA9,AA99,A9A,AA9A"}

// british reads what stands before the postcode text[start:end]: county, city, street. The first
// half of a postcode alone needs a known city with a street, as does a postcode of no known area. A
// city behind the postcode counts where none stands before it.
func (s *scan) british(land *grammar.Country, areas []*area, outward string, start, end int) bool {
	text := s.text
	t := s.tokensBefore(start)
	n := grammar.SkipMarksBack(t, grammar.SkipLabel(t, len(t)))
	n = grammar.SkipMarksBack(t, grammar.SkipCountry(t, n))
	n = grammar.SkipMarksBack(t, grammar.SkipLabel(t, n))
	n = grammar.SkipMarksBack(t, grammar.SkipCounty(land.Code, t, n))
	if t.At(n-1).Kind != grammar.Word {
		return false
	}
	a := Address{
		Start: start, End: end, Postcode: text[start:end], Country: land.Code,
		Level: CityLevel, Confidence: confidencePlace,
	}
	if len(areas) > 0 {
		a.State, a.Place = areas[0].place.State, areas[0].place
	}
	first, known := s.britishCity(land, areas, outward, t, n)
	if known == nil && len(areas) > 0 && end-start > len(outward) {
		if town, place := s.townAfter(land, areas, outward, end); place != nil {
			first, known = n, place
			a.City, a.End = town.Of(text), town.End
		}
	}
	switch {
	case known != nil:
		a.Place = *known
	case len(areas) == 0:
		return false
	default:
		a.Confidence -= 0.1
	}
	cut := n
	if first < n {
		a.City = strings.TrimSuffix(grammar.Phrase(t[first:n]), ".")
		a.Start = t[first].Start
		cut = first
	}
	street, ok := grammar.USBefore(t[:cut], true)
	if !ok && known != nil {
		// a name without a street word that fills its part: "7 Deansgate, Manchester"
		if bounded, found := grammar.USBefore(t[:cut], false); found && bounded.Strength >= 2 &&
			!bounded.Number.Empty() {
			street, ok = bounded, true
		}
	}
	if !ok {
		street, ok = grammar.PremisesBefore(t[:cut])
		ok = ok && (known != nil || street.Strength > 0)
	}
	if !ok {
		street, ok = grammar.LineBefore(t[:cut])
	}
	street, ok = s.preferKnown(t[:cut], street, ok, s.known(&a), true)
	if !street.Unit.Empty() && !street.Name.Empty() && street.Unit.Start >= street.Name.End &&
		!grammar.HasUnitWord(street.Unit.Of(text)) {
		street.Unit = grammar.Span{} // a quarter: "44 The Mall, Ealing, London"
	}
	if !ok && known == nil || (end-start == len(outward) || len(areas) == 0 || text[end-1] >= 'a') &&
		(known == nil || street.Name.Empty()) {
		return false
	}
	s.keep(a, street, ok)
	return true
}

// britishCity returns the index of the first token of the city that ends with token n-1, n if there
// is none, and the gazetteer's place of that name.
func (s *scan) britishCity(
	land *grammar.Country, areas []*area, outward string, t grammar.Tokens, n int,
) (int, *gazetteer.Place) {
	text := s.text
	first := n
	for first > 0 && n-first < 5 && (t[first-1].Kind == grammar.Word || n-first > 0 &&
		t[first-1].Kind == grammar.Mark && strings.Contains("'’-.&", t[first-1].Text())) {
		first--
	}
	for i := first; i < n; i++ {
		if t[i].Kind != grammar.Word {
			continue
		}
		if place := s.britishTown(land, areas, outward, grammar.Phrase(t[i:n])); place != nil {
			return i, place
		}
	}
	// Unknown: the words since the last separator, unless they are a street.
	if n-first > 3 || t.At(first-1).Kind == grammar.Number ||
		!grammar.Capital(text[t[first].Start:]) || grammar.RoadWord(t[n-1].Text()) {
		return n, nil
	}
	return first, nil
}

// britishTown returns the gazetteer's place of a town of the areas or near them, nil for none.
func (s *scan) britishTown(
	land *grammar.Country, areas []*area, outward, name string,
) *gazetteer.Place {
	key := gazetteer.Key(name)
	for _, a := range areas {
		for _, n := range a.names {
			if !n.weak && n.key == key {
				return &a.place
			}
		}
	}
	if slices.Contains(grammar.PostTowns(outward), key) {
		return &areas[0].place
	}
	if grammar.RoadWord(name) {
		return nil
	}
	for _, pl := range s.p.codes.cities(land.Code, name) {
		if len(areas) == 0 {
			return &pl
		}
		if pl.HasPoint && areas[0].place.HasPoint && kilometres(pl.Point, areas[0].place.Point) < 2*near {
			return &areas[0].place
		}
	}
	return nil
}

// townAfter returns the town right behind the postcode that ends at i, "N1 9ZZ London", and its
// place, nil for none.
func (s *scan) townAfter(land *grammar.Country, areas []*area, outward string, i int) (grammar.Span, *gazetteer.Place) {
	t := s.tokensAfter(i)
	k := 0
	for k < len(t) && k < 2 && (t[k].Kind == grammar.Break || t[k].Text() == ",") {
		k++
	}
	for n := min(k+3, len(t)); n > k && t[k].Kind == grammar.Word && grammar.Capital(t[k].Text()); n-- {
		if t[n-1].Kind != grammar.Word {
			continue
		}
		if place := s.britishTown(land, areas, outward, grammar.Phrase(t[k:n])); place != nil {
			return grammar.Span{Start: t[k].Start, End: t[n-1].End}, place
		}
	}
	return grammar.Span{}, nil
}
