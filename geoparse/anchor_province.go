package geoparse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
)

// letteredPostcode tries the digit at i as the last of a postcode with letters, "K1Y 4W7". It
// reports whether the first half is known.
func (s *scan) letteredPostcode(i int) bool {
	text := s.text
	for _, land := range s.forms[grammar.CityProvinceCode] {
		half := strings.IndexByte(land.Codes, ' ')
		for n := len(land.Codes); half > 0 && n >= len(land.Codes)-1; n-- { // with and without the space
			start := i + 1 - n
			if start < max(s.end, 0) || !land.Fits(strings.Replace(text[start:i+1], "-", " ", 1)) ||
				start > 0 && (isLetterAt(text, lastRune(text, start)) || text[start-1]-'0' <= 9) ||
				i+1 < len(text) && isLetterAt(text, i+1) {
				continue
			}
			if areas := s.areasIn(land, text[start:start+half]); len(areas) > 0 {
				s.provinceBefore(land, areas, start, i+1)
				return true
			}
		}
	}
	return false
}

// provincePostcode tries the digits text[i:j] as a postcode after a state: "Pyrmont NSW 2009".
func (s *scan) provincePostcode(i, j int) bool {
	text := s.text
	k := i
	for k > 0 && i-k < 4 && (text[k-1] <= ' ' || text[k-1] == ',' || text[k-1] == '.') {
		k--
	}
	if k == 0 || k == i || !isLetterAt(text, k-1) || j < len(text) && (text[j] == '-' || text[j] == '/') {
		return false
	}
	for _, land := range s.forms[grammar.CityProvinceCode] {
		if !land.Fits(text[i:j]) {
			continue
		}
		if areas := s.areasIn(land, text[i:j]); len(areas) > 0 && s.provinceBefore(land, areas, i, j) {
			return true
		}
	}
	return false
}

// areasIn returns the areas of a postcode in one country.
func (s *scan) areasIn(land *grammar.Country, code string) []*area {
	var areas []*area
	for i, all := 0, s.p.codes.areas(code); i < len(all); i++ {
		if all[i].place.Country == land.Code {
			areas = append(areas, &all[i])
		}
	}
	return areas
}

// provinceBefore reads city, province and street before the postcode
// text[start:end]. A postcode with letters needs no province, or has it behind it.
func (s *scan) provinceBefore(land *grammar.Country, areas []*area, start, end int) bool {
	text := s.text
	t := s.tokensBefore(start)
	code, span, n := grammar.ProvinceBefore(land.Code, t, len(t))
	last, lettered := end, text[start] > '9'
	if code == "" && lettered {
		after := s.tokensAfter(end)
		if code, span = grammar.ProvinceAfter(land.Code, after); code != "" {
			last = span.End
		}
	}
	agrees := slices.ContainsFunc(areas, func(a *area) bool { return a.place.State == code })
	if code == "" && !lettered || code != "" && !agrees {
		return false
	}
	c := s.cityOf(land, areas, t, n, code, true)
	if c.area == nil {
		return false
	}
	a := Address{End: last, Postcode: text[start:end], Country: land.Code, Confidence: confidencePlace}
	if a.State = c.area.place.State; code != "" {
		a.State = strings.Trim(span.Of(text), "()")
	}
	street, ok := s.streetOf(land, t[:c.tokens], !c.known)
	if !c.known {
		if a.Confidence -= 0.1; !ok {
			return false
		}
	}
	s.addStated(a, c, street, ok)
	return true
}

// province tries the word text[i:j] as the beginning of a province after a city, without a
// postcode. A known city and a street with its number must precede it. It returns where the scan
// continues.
func (s *scan) province(i, j int) int {
	text := s.text
	for _, land := range s.forms[grammar.CityProvinceCode] {
		end, code := j, grammar.Province(land.Code, text[i:j])
		for n, k := 0, j; code == "" && n < 2 && k < len(text) && text[k] == ' '; n++ {
			for k++; k < len(text) && isLetterAt(text, k); {
				_, size := utf8.DecodeRuneInString(text[k:])
				k += size
			}
			code = grammar.Province(land.Code, text[i:k])
			end = k
		}
		if code == "" || s.codeFollows(end) {
			continue
		}
		t := s.tokensBefore(i)
		n := grammar.SkipMarksBack(t, len(t))
		for first := max(0, n-4); first < n; first++ {
			if t[first].Kind != grammar.Word || !grammar.Capital(text[t[first].Start:]) {
				continue
			}
			place, ok := s.cityOfProvince(land, code, grammar.Phrase(t[first:n]))
			if !ok {
				continue
			}
			street, ok := s.streetOf(land, t[:first], true)
			if !ok || street.Number.Empty() || street.Strength < 3 {
				continue
			}
			c := cityBefore{area: &area{place: place}, start: t[first].Start, end: t[n-1].End}
			s.addStated(Address{
				End: end, State: text[i:end], Country: land.Code, Confidence: confidencePlace - 0.05,
			}, c, street, true)
			return end
		}
	}
	return j
}

// cityOfProvince returns the city of this name in the province.
func (s *scan) cityOfProvince(land *grammar.Country, code, name string) (gazetteer.Place, bool) {
	if place, ok := s.cityIn(land.Code, code, name); ok {
		return place, true
	}
	place := gazetteer.Place{Names: []string{name}, City: name, State: code, Country: land.Code}
	return place, land.Cities[gazetteer.Key(name)]
}

// codeFollows reports whether a postcode stands behind the province that ends at
// i: that is where the address is read.
func (s *scan) codeFollows(i int) bool {
	t := s.tokensAfter(i)
	k := grammar.SkipMarks(t, 0)
	if k < len(t) && t[k].End-t[k].Start > 3 && grammar.CountryOf(t[k].Text()) != "" {
		k = grammar.SkipMarks(t, k+1)
	}
	if k >= len(t) {
		return false
	}
	code := s.text[t[k].Start:min(len(s.text), t[k].Start+4)]
	return len(code) == 4 && (digits(code) || upper(code[0]) && code[1]-'0' <= 9 && upper(code[2]) &&
		code[3] <= '9')
}
