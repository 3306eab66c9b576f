package geoparse

import (
	"strings"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
)

// canadianPostcode looks at the digit at i as the last of a Canadian postcode,
// "K1Y 4W7". It reports whether it is one whose first half is known.
func (s *scan) canadianPostcode(i int) bool {
	text := s.text
	if i < 5 || !upper(text[i-1]) || text[i-2]-'0' > 9 {
		return false
	}
	k := i - 2
	if text[k-1] == ' ' || text[k-1] == '-' {
		k--
	}
	start := k - 3
	if start < s.end || start < 0 || !upper(text[start]) || text[start+1]-'0' > 9 || !upper(text[start+2]) || start > 0 && (isLetterAt(text, lastRune(text, start)) || text[start-1]-'0' <= 9) || i+1 < len(text) && isLetterAt(text, i+1) {
		return false
	}
	var areas []*area
	for j, all := 0, s.p.codes.areas(text[start:start+3]); j < len(all); j++ {
		if all[j].place.Country == "CA" {
			areas = append(areas, &all[j])
		}
	}
	if len(areas) == 0 {
		return false
	}
	s.commonwealth("CA", areas, start, i+1)
	return true
}

// australianPostcode looks at the four digits text[i:j] as an Australian
// postcode behind a state: "Pyrmont NSW 2009".
func (s *scan) australianPostcode(i, j int) bool {
	text := s.text
	k := i
	for k > 0 && i-k < 4 && (text[k-1] <= ' ' || text[k-1] == ',' || text[k-1] == '.') {
		k--
	}
	if k == 0 || k == i || !isLetterAt(text, k-1) || j < len(text) && (text[j] == '-' || text[j] == '/') {
		return false
	}
	var areas []*area
	for n, all := 0, s.p.codes.areas(text[i:j]); n < len(all); n++ {
		if all[n].place.Country == "AU" {
			areas = append(areas, &all[n])
		}
	}
	return len(areas) > 0 && s.commonwealth("AU", areas, i, j)
}

// commonwealth reads city, province and street before the postcode
// text[start:end] of Canada or Australia; in Canada the province may also
// follow it, or be left out.
func (s *scan) commonwealth(country string, areas []*area, start, end int) bool {
	text := s.text
	lo := s.windowStart(start)
	s.before = grammar.Tokenize(text, lo, start, s.before[:0])
	t := s.before
	code, span, n := grammar.ProvinceBefore(country, text, t, len(t))
	last := end
	if code == "" && country == "CA" {
		after := grammar.Tokenize(text, end, s.limitAfter(end), nil)
		if code, span = grammar.ProvinceAfter(country, text, after); code != "" {
			last = span.End
		}
	}
	agrees := false
	for _, a := range areas {
		agrees = agrees || a.place.State == code
	}
	if code == "" && country == "AU" || code != "" && !agrees {
		return false
	}
	c := s.provinceCity(country, areas, t, n, code)
	if c.area == nil {
		return false
	}
	a := Address{Start: c.start, End: last, Postcode: text[start:end], City: text[c.start:c.end], State: code, Country: country, Level: CityLevel, Place: c.area.place, Confidence: confidencePlace}
	if code == "" {
		a.State = c.area.place.State
	} else {
		a.State = strings.Trim(span.Of(text), "()")
	}
	street, ok := s.provinceStreet(t[:c.tokens], !c.known)
	if !c.known {
		if a.Confidence -= 0.1; !ok {
			return false
		}
	}
	if ok {
		a.takeStreet(text, street)
	}
	s.resolve(&a, street.Strength)
	s.add(a)
	return true
}

// provinceStreet reads the street before the city in English or French order
// of words.
func (s *scan) provinceStreet(t []grammar.Token, strict bool) (grammar.Street, bool) {
	street, ok := grammar.USBefore(s.text, t, strict)
	if !ok || street.Number.Empty() {
		if french, found := grammar.NumberStreetBefore(s.text, t, nil); found {
			return french, true
		}
	}
	return street, ok
}

// provinceCity returns the longest known name of a city that ends before token
// n, else the words that a separator or a street divides from the rest.
func (s *scan) provinceCity(country string, areas []*area, t []grammar.Token, n int, state string) usCity {
	text := s.text
	n = grammar.SkipMarksBack(text, t, n)
	if n > 0 && text[t[n-1].Start] == ')' {
		return usCity{}
	}
	first := n
	for first > 0 && n-first < 6 && (t[first-1].Kind == grammar.Word || n > first && text[t[first-1].Start:t[first-1].End] == "'") {
		first--
	}
	if first == n {
		return usCity{}
	}
	city := func(i int, a *area, known bool) usCity {
		return usCity{area: a, start: t[i].Start, end: t[n-1].End, tokens: i, known: known}
	}
	for i := first; i < n; i++ {
		name := text[t[i].Start:t[n-1].End]
		key := gazetteer.Key(grammar.ExpandUSCity(name))
		for _, a := range areas {
			for _, known := range a.names {
				if known.key == key || country == "CA" && len(key) > 3 && strings.HasPrefix(known.key, key) {
					return city(i, a, true)
				}
			}
		}
		if country == "CA" && grammar.CanadianCity(key) {
			return city(i, areas[0], true)
		}
		for _, pl := range s.p.g.Cities(country, name) {
			if pl.State == areas[0].place.State && !(i > first && grammar.RoadWord(text[t[i-1].Start:t[i-1].End]) && grammar.RoadWord(text[t[i].Start:t[i].End])) {
				return city(i, areas[0], true)
			}
		}
	}
	if state == "" {
		return usCity{}
	}
	for i := n - 1; i >= max(first, n-4); i-- {
		if i > 0 && t[i-1].Kind == grammar.Word {
			street, ok := s.provinceStreet(t[:i], true)
			if !ok || street.Strength < 3 || max(street.Name.End, street.Unit.End) != t[i-1].End {
				continue
			}
		}
		return city(i, areas[0], false)
	}
	return usCity{}
}
