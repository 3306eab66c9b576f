package geoparse

import (
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
	k := inward
	for k > 0 && inward-k < 3 && (text[k-1] == ' ' || strings.HasSuffix(text[:k], "\u00a0")) {
		if text[k-1] == ' ' {
			k--
		} else {
			k -= 2
		}
	}
	start := k
	for start > 0 && k-start < 5 && (upper(text[start-1]) || text[start-1]-'0' <= 9) {
		start--
	}
	areas := s.outward(start, k)
	if len(areas) == 0 {
		return false
	}
	s.british(areas, text[start:k], start, j+2)
	return true
}

// inwardAt reports whether the second half of a postcode stands at i: "6DN".
func inwardAt(text string, i int) bool {
	return i+3 <= len(text) && text[i]-'0' <= 9 && upper(text[i+1]) && upper(text[i+2]) &&
		!(i+3 < len(text) && (isLetterAt(text, i+3) || text[i+3]-'0' <= 9))
}

// outward returns the British areas of the outward code text[start:end]; none if it is malformed or
// part of a word.
func (s *scan) outward(start, end int) []*area {
	if start < s.end || !outwardForm(s.text[start:end]) ||
		start > 0 && isLetterAt(s.text, lastRune(s.text, start)) {
		return nil
	}
	return s.areasIn(s.forms[grammar.CityPostcode][0], s.text[start:end])
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
	if start == i || start < 2 || text[start-1] != ' ' ||
		end < len(text) && (isLetterAt(text, end) || strings.IndexByte("0123456789-/", text[end]) >= 0) ||
		end+1 < len(text) && (inwardAt(text, end) || inwardAt(text, end+1)) {
		return false
	}
	areas := s.outward(start, end)
	return len(areas) > 0 && s.british(areas, text[start:end], start, end)
}

func upper(c byte) bool { return c-'A' <= 25 }

// outwardForm reports whether s has the form of the first half of a British postcode.
func outwardForm(s string) bool { return outward.Fits(s) }

var outward = &grammar.Country{Codes: "A9,A99,AA9,AA99,A9A,AA9A"}

// british reads what stands before the postcode text[start:end]: county, city, street. The first
// half of a postcode alone needs a known city with a street.
func (s *scan) british(areas []*area, outward string, start, end int) bool {
	text := s.text
	t := s.tokensBefore(start)
	n := grammar.SkipMarksBack(t, grammar.SkipLabel(t, len(t)))
	n = grammar.SkipMarksBack(t, grammar.SkipCountry(t, n))
	n = grammar.SkipMarksBack(t, grammar.SkipLabel(t, n))
	n = grammar.SkipMarksBack(t, grammar.SkipCounty("GB", t, n))
	if t.At(n-1).Kind != grammar.Word {
		return false
	}
	a := Address{
		Start: start, End: end, Postcode: text[start:end], Country: "GB", State: areas[0].place.State,
		Level: CityLevel, Place: areas[0].place, Confidence: confidencePlace,
	}
	first, known := s.britishCity(areas, outward, t, n)
	if known == nil {
		a.Confidence -= 0.1
	} else {
		a.Place = *known
	}
	cut := n
	if first < n {
		a.City = grammar.Phrase(t[first:n])
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
	if !ok && known == nil || end-start == len(outward) && (known == nil || street.Name.Empty()) {
		return false
	}
	s.keep(a, street, ok)
	return true
}

// britishCity returns the index of the first token of the city that ends with token n-1, n if there
// is none, and the gazetteer's place of that name.
func (s *scan) britishCity(areas []*area, outward string, t grammar.Tokens, n int) (int, *gazetteer.Place) {
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
		key := gazetteer.Key(grammar.Phrase(t[i:n]))
		for _, a := range areas {
			for _, name := range a.names {
				if !name.weak && name.key == key {
					return i, &a.place
				}
			}
		}
		for _, name := range grammar.PostTowns(outward) {
			if name == key {
				return i, &areas[0].place
			}
		}
		if grammar.RoadWord(grammar.Phrase(t[i:n])) {
			continue
		}
		for _, pl := range s.p.codes.cities("GB", grammar.Phrase(t[i:n])) {
			if pl.HasPoint && areas[0].place.HasPoint && kilometres(pl.Point, areas[0].place.Point) < 2*near {
				return i, &areas[0].place
			}
		}
	}
	// Unknown: the words since the last separator, unless they are a street.
	if n-first > 3 || t.At(first-1).Kind == grammar.Number ||
		!grammar.Capital(text[t[first].Start:]) || grammar.RoadWord(t[n-1].Text()) {
		return n, nil
	}
	return first, nil
}
