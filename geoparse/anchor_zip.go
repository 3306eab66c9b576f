package geoparse

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
)

// zip tries the digits text[i:j] as a US ZIP code after "city, state": five, or four if a
// spreadsheet lost the leading zero. If it reports true, no other country is tried.
func (s *scan) zip(i, j int) bool {
	text := s.text
	end := j
	if n := dashAt(text, j); n > 0 && j+n+4 <= len(text) && digits(text[j+n:j+n+4]) &&
		(j+n+4 == len(text) || text[j+n+4]-'0' > 9 && !isLetterAt(text, j+n+4)) {
		end = j + n + 4
	} else if j < len(text) && text[j] == '-' && j+1 < len(text) && text[j+1]-'0' <= 9 {
		return false
	}
	k := i
	for k > 0 && (text[k-1] <= ' ' || text[k-1] == '-' && k < i ||
		strings.IndexByte(",.|:)\xA0\xC2", text[k-1]) >= 0) {
		k--
	}
	if k == 0 || i-k > 6 || !isLetterAt(text, lastRune(text, k)) {
		return false
	}
	t := s.tokensBefore(i)
	state, span, n := grammar.StateBefore(t, len(t))
	code := text[i:j]
	if j-i == 4 {
		if state == "" {
			return false
		}
		code = "0" + code
	}
	land := grammar.Find("US")
	us := s.areasIn(land, code)
	agrees := slices.ContainsFunc(us, func(a *area) bool { return a.place.State == state || a.place.State == "" })
	if state == "" {
		return len(us) > 0 && s.zipCity(us, t, i, end)
	}
	if j-i == 4 && !agrees {
		return false // "WA 6006" is Western Australia
	}
	c := s.cityOf(land, us, t, n, state, agrees)
	if c.area == nil {
		s.reject(span.Start, end, func() string {
			if len(us) > 0 && !agrees {
				return fmt.Sprintf("%s is in %s, not in %s", code, us[0].place.State, state)
			}
			return s.disagreement(code, "US")
		})
		return false
	}
	a := Address{
		End: end, Postcode: text[i:end], State: span.Of(text), Country: "US", Confidence: confidencePlace,
	}
	street, ok := grammar.USBefore(t[:c.tokens], !c.known)
	switch {
	case !c.known && (!ok || !street.Found()):
		return false
	case !c.known || !agrees:
		a.Confidence -= 0.1
	}
	s.addStated(a, c, street, ok)
	return true
}

// dashAt returns the length of the dash at i, or 0.
func dashAt(text string, i int) int {
	for _, dash := range [...]string{"-", "–", "—", "‑"} {
		if strings.HasPrefix(text[i:], dash) {
			return len(dash)
		}
	}
	return 0
}

func digits(s string) bool { return digitsAt(s, 0) == len(s) }

// digitsAt counts the digits that begin at i.
func digitsAt(text string, i int) int {
	n := 0
	for i+n < len(text) && text[i+n]-'0' <= 9 {
		n++
	}
	return n
}

// A cityBefore is the city before a state.
type cityBefore struct {
	area       *area
	start, end int
	tokens     int  // index of its first token
	known      bool // a name of the postcode or of a city of the state
}

// cityOf returns the longest known name of a city that ends before token n, else the
// words that a separator or a street divides from the rest. The areas are those of the
// postcode; agrees: one of them lies in the state.
func (s *scan) cityOf(
	land *grammar.Country, areas []*area, t grammar.Tokens, n int, state string, agrees bool,
) cityBefore {
	text := s.text
	n = grammar.SkipMarksBack(t, n)
	first := n
	for first > 0 && n-first < 6 && (t[first-1].Kind == grammar.Word ||
		n > first && t[first-1].Text() == "'") {
		first--
	}
	if first == n {
		return cityBefore{}
	}
	if last := t[n-1]; first > 0 && n-first > 1 && strings.EqualFold(last.Text(), "county") {
		if c := s.cityOf(land, areas, t, first, state, agrees); c.known { // "Seattle, King County, WA"
			return c
		}
	}
	city := func(i int, a *area, known bool) cityBefore {
		return cityBefore{area: a, start: t[i].Start, end: t[n-1].End, tokens: i, known: known}
	}
	for i := first; i < n; i++ {
		key := gazetteer.Key(grammar.ExpandUSCity(grammar.Phrase(t[i:n])))
		for _, a := range areas {
			if agrees && state != "" && a.place.State != state && a.place.State != "" {
				continue
			}
			for _, name := range a.names {
				if name.key == key || land.Cities != nil && len(key) > 3 && strings.HasPrefix(name.key, key) {
					return city(i, a, true)
				}
			}
		}
	}
	for i := first; i < n; i++ {
		inRoad := i > first && land.Form == grammar.CityProvinceCode && // "12 Dundas Street West"
			grammar.RoadWord(t[i-1].Text()) && grammar.RoadWord(t[i].Text())
		if a := s.cityInState(land, areas, grammar.Phrase(t[i:n]), state); a != nil && !inRoad {
			if agrees && len(areas) > 0 {
				a = areas[0]
			}
			return city(i, a, true)
		}
	}
	if !agrees || len(areas) == 0 || state == "" {
		return cityBefore{}
	}
	// An unknown name in the right state: the words since the last separator,
	// a few at most, or those behind a complete street.
	if n-first <= 4 && commaBefore(t, first) && grammar.Capital(text[t[first].Start:]) {
		if street, ok := s.streetOf(land, t[:first], true); ok && street.Found() {
			return city(first, areas[0], false)
		}
	}
	for i := n - 1; i >= max(first, n-4); i-- {
		if t.At(i-1).Kind == grammar.Word {
			street, ok := s.streetOf(land, t[:i], true)
			if !ok || street.Strength < 3 || max(street.Name.End, street.Unit.End) != t[i-1].End {
				continue
			}
		}
		return city(i, areas[0], false)
	}
	return cityBefore{}
}

// cityInState returns the city of a name in the state, or where that is not given
// near the areas of the postcode; nil: none.
func (s *scan) cityInState(land *grammar.Country, areas []*area, name, state string) *area {
	if len(areas) > 0 && land.Cities[gazetteer.Key(grammar.ExpandUSCity(name))] {
		return areas[0]
	}
	for _, long := range [...]string{name, grammar.ExpandUSCity(name)} {
		for _, pl := range s.p.codes.cities(land.Code, long) {
			near := state == "" && len(areas) > 0 && areas[0].place.State == pl.State &&
				areas[0].place.HasPoint && pl.HasPoint && kilometres(areas[0].place.Point, pl.Point) < near
			if pl.State == state || near {
				return &area{place: pl}
			}
		}
	}
	return nil
}

// streetOf reads the street before the city in English, and where the country
// speaks it also in French order of words.
func (s *scan) streetOf(land *grammar.Country, t grammar.Tokens, strict bool) (grammar.Street, bool) {
	street, ok := grammar.USBefore(t, strict)
	if land.Form != grammar.CityProvinceCode {
		return street, ok
	}
	if french, found := grammar.NumberStreetBefore(t, nil); found &&
		(!ok || street.Number.Empty() || grammar.FrenchName(french.Name.Of(s.text))) {
		return french, true
	}
	return street, ok
}

// addStated keeps an address with a city before a state, of which a has the rest.
func (s *scan) addStated(a Address, c cityBefore, street grammar.Street, ok bool) {
	a.Start, a.City, a.Level, a.Place = c.start, s.text[c.start:c.end], CityLevel, c.area.place
	s.keep(a, street, ok)
}

// zipCity reads "city ZIP" without a state. A street and number must precede it.
func (s *scan) zipCity(us []*area, t grammar.Tokens, i, end int) bool {
	c := s.cityOf(grammar.Find("US"), us, t, len(t), "", true)
	if c.area == nil || !c.known {
		return false
	}
	street, ok := grammar.USBefore(t[:c.tokens], true)
	if !ok || !street.Found() {
		return false
	}
	s.addStated(Address{
		End: end, Postcode: s.text[i:end], State: c.area.place.State, Country: "US", Confidence: confidencePlace,
	}, c, street, true)
	return true
}

// state tries the capital letter at i as the beginning of a US state after a city, without a ZIP
// code. It returns where the scan continues.
func (s *scan) state(i int) int {
	text := s.text
	j := i + 1
	for j < len(text) && (isLetterAt(text, j) ||
		(text[j] == '.' || text[j] == '-') && j+1 < len(text) && isLetterAt(text, j+1)) {
		if text[j] < utf8.RuneSelf {
			j++
			continue
		}
		_, n := utf8.DecodeRuneInString(text[j:])
		j += n
	}
	if j-i > 24 || j-i < 2 {
		return j
	}
	if s.reads(grammar.CityProvinceCode) && grammar.MayBeProvince(text[i:j]) {
		if next := s.province(i, j); next > j {
			return next
		}
	}
	if !s.reads(grammar.CityStateZIP) || j-i > 14 || !grammar.MayBeState(text[i:j]) {
		return j
	}
	if j-i == 2 && !upper(text[i+1]) {
		return j // "In", "Me"
	}
	end, code := j, grammar.State(text[i:j])
	if code == "" && j-i > 2 && text[i+1] != '.' && j < len(text) && text[j] == ' ' {
		for end++; end < len(text) && isLetterAt(text, end); end++ {
		}
		code = grammar.State(text[i:end]) // "New York"
	}
	if code == "" {
		return j
	}
	// A ZIP code behind it: that is where the address is read.
	k := end
	for k < len(text) && k < end+6 && (text[k] <= ' ' || strings.IndexByte(",.-)|", text[k]) >= 0) {
		k++
	}
	if n := digitsAt(text, k); k < end+6 &&
		(n == 5 || n == 4 && len(s.p.codes.areas("0"+text[k:k+4])) > 0) {
		return j
	}
	t := s.tokensBefore(i)
	c := s.cityOf(grammar.Find("US"), nil, t, len(t), code, false)
	if c.area == nil {
		if c = s.cityOfState(t, i, end, code); c.area == nil {
			return j
		}
	}
	street, ok := grammar.USBefore(t[:c.tokens], true)
	if !ok || !street.Found() || s.namesPlace(street) {
		return j
	}
	s.addStated(Address{
		End: end, State: text[i:end], Country: "US", Confidence: confidencePlace - 0.05,
	}, c, street, true)
	return end
}

// cityOfState returns the city that has the name of its state, text[i:end], where
// that stands behind a comma or line break and no state behind it: "350 Fifth
// Avenue, New York".
func (s *scan) cityOfState(t grammar.Tokens, i, end int, code string) cityBefore {
	if !commaBefore(t, len(t)) {
		return cityBefore{}
	}
	after := s.tokensAfter(end)
	k := grammar.SkipMarks(after, 0)
	for n := k + 1; n <= min(k+2, len(after)); n++ {
		if grammar.State(grammar.Phrase(after[k:n])) != "" {
			return cityBefore{}
		}
	}
	if pl, ok := s.cityIn("US", code, s.text[i:end]); ok {
		return cityBefore{area: &area{place: pl}, start: i, end: end, tokens: len(t), known: true}
	}
	return cityBefore{}
}

// cityIn returns the city of a name in a state, or in any where that is "".
func (s *scan) cityIn(country, state, name string) (gazetteer.Place, bool) {
	for _, long := range [...]string{name, grammar.ExpandUSCity(name)} {
		for _, pl := range s.p.codes.cities(country, long) {
			if state == "" || pl.State == state {
				return pl, true
			}
		}
	}
	return gazetteer.Place{}, false
}

// namesPlace reports whether number and name of a street are rather a ZIP code and
// its city, or a number before city and state: "92128 San Diego, San Diego, CA",
// "in 1959 Los Angeles CA, San Diego CA".
func (s *scan) namesPlace(street grammar.Street) bool {
	name := street.Name.Of(s.text)
	if i := strings.LastIndexByte(name, ' '); i > 0 && len(name)-i == len(" CA") &&
		name[i+1:] == grammar.State(name[i+1:]) {
		if _, ok := s.cityIn("US", name[i+1:], name[:i]); ok {
			return true
		}
	}
	key := gazetteer.Key(name)
	for _, a := range s.p.codes.areas(street.Number.Of(s.text)) {
		if a.place.Country == "US" && slices.ContainsFunc(a.names, func(n cityName) bool { return n.key == key }) {
			return true
		}
	}
	return false
}
