package geoparse

import (
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
	"gazehound/internal/textutil"
)

// britishPostcode tries the digits text[i:j] as those before the last two letters of a British
// postcode, "SW1A 1AA" or "ME97BZ", or of its first half alone: "London NW3". isCode: they belong
// to a known outward code.
func (a anchor) britishPostcode(i, j int) (found *Address, isCode bool) {
	text := a.text
	if !inwardAt(text, j-1) {
		found = a.outwardPostcode(i, j)
		return found, found != nil
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
	areas := a.outward(start, outward)
	if len(areas) == 0 {
		return nil, false
	}
	if full := a.p.codes.areasIn(grammar.Find("GB"), outward+fold(text[inward:j+2])); len(full) > 0 {
		areas = full
	}
	found = a.british(grammar.Find("GB"), areas, outward, start, j+2)
	return found, found != nil || upper(text[j])
}

// inwardAt reports whether the second half of a postcode stands at i: "6DN", in small letters as
// well, which are no ordinal number.
func inwardAt(text string, i int) bool {
	if i+3 > len(text) || text[i]-'0' > 9 || i+3 < len(text) && (textutil.LetterAt(text, i+3) || text[i+3]-'0' <= 9) {
		return false
	}
	a, b := text[i+1], text[i+2]
	return upper(a) && upper(b) || a-'a' <= 25 && b-'a' <= 25 && !grammar.Ordinal(text[i:i+3])
}

// outward returns the British areas of the outward code at start; none if it is malformed or part
// of a word.
func (a anchor) outward(start int, code string) []*area {
	if start < a.from || !outwardForm(code) || start > 0 && textutil.LetterBefore(a.text, start) {
		return nil
	}
	return a.p.codes.areasIn(grammar.Find("GB"), code)
}

// eircode tries the digits text[i:j] as those of the routing key of an Irish postcode: "P51 KT93",
// "D6W XY00".
func (a anchor) eircode(i, j int) *Address {
	land, text := grammar.Find("IE"), a.text
	if i == 0 || i-1 < a.from || !upper(text[i-1]) || !slices.Contains(a.forms[grammar.CityPostcode], land) ||
		i > 1 && (textutil.LetterBefore(text, i-1) || text[i-2]-'0' <= 9) {
		return nil
	}
	for form := range strings.SplitSeq(land.Codes, ",") {
		end := grammar.CodeAt(form, text, i-1)
		if end < j {
			continue
		}
		areas := a.p.codes.areasIn(land, text[i-1:end])
		if len(areas) == 0 {
			areas = a.p.codes.areasIn(land, text[i-1:i+2])
		}
		if found := a.british(land, areas, "", i-1, end); found != nil {
			return found
		}
	}
	return nil
}

// outwardPostcode tries the digits text[i:j] as those of the first half of a postcode at the end of
// an address: its city and a street must precede it.
func (a anchor) outwardPostcode(i, j int) *Address {
	text := a.text
	start, end := i, j
	for start > 0 && i-start < 2 && upper(text[start-1]) {
		start--
	}
	if end < len(text) && upper(text[end]) {
		end++
	}
	if start == i || start < 2 || text[start-1] != ' ' && text[start-1] != '\n' ||
		end < len(text) && (textutil.LetterAt(text, end) || strings.IndexByte("0123456789-/", text[end]) >= 0) ||
		inwardAt(text, end+len(text[end:])-len(strings.TrimLeft(text[end:], " \u00a0"))) ||
		text[start-1] == '\n' && strings.TrimLeft(text[end:min(len(text), end+1)], "\r\n") != "" {
		return nil
	}
	areas := a.outward(start, text[start:end])
	if len(areas) == 0 {
		return nil
	}
	return a.british(grammar.Find("GB"), areas, text[start:end], start, end)
}

func upper(c byte) bool { return c-'A' <= 25 }

// outwardForm reports whether s has the form of the first half of a British postcode.
func outwardForm(s string) bool { return outward.Fits(s) }

var outward = &grammar.Country{Codes: "A9,A99,AA9,AA99,A9A,AA9A"}

// british reads what stands before the postcode text[start:end]: county, city, street. The first
// half of a postcode alone needs a known city with a street, as does a postcode of no known area. A
// city behind the postcode counts where none stands before it.
func (a anchor) british(land *grammar.Country, areas []*area, outward string, start, end int) *Address {
	text := a.text
	t := a.before(start)
	n := endOfTown(land, t)
	if t.At(n-1).Kind != grammar.Word {
		return nil
	}
	found := Address{
		Start: start, End: end, Postcode: text[start:end], Country: land.Code,
		Level: CityLevel, Confidence: confidencePlace,
	}
	if len(areas) > 0 {
		found.State, found.Place = areas[0].place.State, areas[0].place
	}
	first, known := a.p.britishCity(land, areas, outward, t, n)
	if known == nil && len(areas) > 0 && end-start > len(outward) {
		town, place := a.townAfter(land, areas, outward, end)
		if place != nil {
			first, known = n, place
			found.City, found.End = town.Of(text), town.End
		}
	}
	switch {
	case known != nil:
		found.Place = *known
	case len(areas) == 0:
		return nil
	default:
		found.Confidence -= 0.1
	}
	if first < n {
		found.City = strings.TrimSuffix(grammar.Phrase(t[first:n]), ".")
		found.Start = t[first].Start
	}
	street, ok := britishStreet(t[:first], known != nil)
	street, ok = preferKnown(text, t[:first], street, ok, a.p.known(&found), true)
	if !street.Unit.Empty() && !street.Name.Empty() && street.Unit.Start >= street.Name.End &&
		!grammar.HasUnitWord(street.Unit.Of(text)) {
		street.Unit = grammar.Span{} // a quarter: "44 The Mall, Ealing, London"
	}
	if !ok && known == nil || (end-start == len(outward) || len(areas) == 0 || text[end-1] >= 'a') &&
		(known == nil || street.Name.Empty()) {
		return nil
	}
	return a.finish(found, street, ok)
}

// endOfTown returns the index behind the town at the end of t, before a country, a county and labels.
func endOfTown(land *grammar.Country, t grammar.Tokens) int {
	n := grammar.SkipMarksBack(t, grammar.SkipLabel(t, len(t)))
	n = grammar.SkipMarksBack(t, grammar.SkipCountry(t, n))
	n = grammar.SkipMarksBack(t, grammar.SkipLabel(t, n))
	return grammar.SkipMarksBack(t, grammar.SkipCounty(land.Code, t, n))
}

// britishStreet reads the street that ends with t. cityKnown: the gazetteer has the city behind it.
func britishStreet(t grammar.Tokens, cityKnown bool) (grammar.Street, bool) {
	street, ok := grammar.USBefore(t, true)
	if !ok && cityKnown {
		// a name without a street word that fills its part: "7 Deansgate, Manchester"
		bounded, found := grammar.USBefore(t, false)
		if found && bounded.Strength >= 2 && !bounded.Number.Empty() {
			return bounded, true
		}
	}
	if !ok {
		street, ok = grammar.PremisesBefore(t)
		ok = ok && (cityKnown || street.Strength > 0)
	}
	if !ok {
		street, ok = grammar.LineBefore(t)
	}
	return street, ok
}

// britishCity returns the index of the first token of the city that ends with token n-1, n if there
// is none, and the gazetteer's place of that name.
func (p *Parser) britishCity(
	land *grammar.Country, areas []*area, outward string, t grammar.Tokens, n int,
) (int, *gazetteer.Place) {
	first := n
	for first > 0 && n-first < 5 && (t[first-1].Kind == grammar.Word || n-first > 0 &&
		t[first-1].Kind == grammar.Mark && strings.Contains("'’-.&", t[first-1].Text())) {
		first--
	}
	for i := first; i < n; i++ {
		if t[i].Kind != grammar.Word {
			continue
		}
		if place := p.britishTown(land, areas, outward, grammar.Phrase(t[i:n])); place != nil {
			return i, place
		}
	}
	// Unknown: the words since the last separator, unless they are a street.
	if n-first > 3 || t.At(first-1).Kind == grammar.Number ||
		!grammar.Capital(t[first].Text()) || grammar.RoadWord(t[n-1].Text()) {
		return n, nil
	}
	return first, nil
}

// britishTown returns the gazetteer's place of a town of the areas or near them, nil for none.
func (p *Parser) britishTown(
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
	for _, pl := range p.codes.cities(land.Code, name) {
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
func (s *source) townAfter(
	land *grammar.Country, areas []*area, outward string, i int,
) (grammar.Span, *gazetteer.Place) {
	t := s.after(i)
	k := 0
	for k < len(t) && k < 2 && (t[k].Kind == grammar.Break || t[k].Text() == ",") {
		k++
	}
	for n := min(k+3, len(t)); n > k && t[k].Kind == grammar.Word && grammar.Capital(t[k].Text()); n-- {
		if t[n-1].Kind != grammar.Word {
			continue
		}
		if place := s.p.britishTown(land, areas, outward, grammar.Phrase(t[k:n])); place != nil {
			return grammar.Span{Start: t[k].Start, End: t[n-1].End}, place
		}
	}
	return grammar.Span{}, nil
}
