package geoparse

import (
	"strings"

	"gazehound/geoparse/grammar"
)

// Limits of a text that is read as one address.
const (
	maxSingle      = 250 // bytes
	maxSingleLines = 8
)

// single reads a short text that is one address, whole or in part: a line of a
// list, a form field. It needs no postcode. It is tried where nothing else was
// found and the country is known.
func (s *scan) single() []Address {
	text := strings.TrimRight(s.text, " \t\r\n.,")
	if s.in.Country == "" || len(text) > maxSingle || strings.Count(text, "\n") > maxSingleLines || text == "" {
		return nil
	}
	s.end = 0
	t := grammar.Tokenize(text, 0, len(text), nil)
	switch {
	case len(t) >= grammar.MaxTokens:
	case s.hint == "US":
		s.singleUS(text, t)
	case grammar.FamilyOf(s.hint) == grammar.Europe:
		s.singleEurope(text, t)
	}
	return s.found
}

// singleUS reads "number street, unit, city, state ZIP", any part of which may
// be missing.
func (s *scan) singleUS(text string, t []grammar.Token) {
	n := grammar.SkipCountry(text, t, len(t))
	a := Address{Start: len(text), Country: "US", Confidence: confidenceWeak, Level: StreetLevel}
	if n > 0 && isZIP(text[t[n-1].Start:t[n-1].End]) {
		a.Postcode = text[t[n-1].Start:t[n-1].End]
		a.Start, a.End = t[n-1].Start, t[n-1].End
		n--
	}
	code := ""
	if state, span, k := grammar.StateBefore(text, t, n); state != "" && k > 0 && (a.Postcode != "" || commaBefore(text, t, k) || !grammar.RoadWord(span.Of(text))) {
		code, n = state, k
		a.State = span.Of(text)
		a.Start, a.End = min(a.Start, span.Start), max(a.End, span.End)
	}
	n = grammar.SkipMarksBack(text, t, n)
	cut := n
	street, ok := grammar.Street{}, false
	for i := max(0, n-4); i < n && !ok; i++ {
		if t[i].Kind != grammar.Word || i+1 == n && i > 0 && t[i-1].Kind != grammar.Mark && grammar.RoadWord(text[t[i].Start:t[i].End]) || !s.cityOfUS(text[t[i].Start:t[n-1].End], code) {
			continue
		}
		if st, found := grammar.USBefore(text, t[:i], !commaBefore(text, t, i)); found && st.Span().End >= t[max(0, grammar.SkipMarksBack(text, t, i)-1)].End {
			street, ok, cut = st, true, i
		} else if i == 0 && (code != "" || a.Postcode != "") {
			cut = 0
			break
		}
	}
	if !ok && cut != 0 {
		var end int
		street, end, ok = s.firstUS(text, t[:n])
		if ok {
			cut = grammar.SkipMarks(text, t, end)
			if cut < n && (code == "" && a.Postcode == "" && !commaBefore(text, t, cut) || !cityLike(text, t[cut:n])) {
				return
			}
		}
	}
	if !ok && (cut > 0 || a.Postcode == "" && code == "") {
		return
	}
	if cut < n {
		a.City = fold(text[t[cut].Start:t[n-1].End])
		a.Start, a.End = min(a.Start, t[cut].Start), max(a.End, t[n-1].End)
	}
	if ok {
		if street.Number.Empty() && street.POBox.Empty() && a.City == "" && a.Postcode == "" {
			return
		}
		a.takeStreet(text, street)
	} else {
		a.Level = CityLevel
	}
	s.finishSingle(a, code, street.Strength)
}

// finishSingle fills in what the gazetteer knows and keeps the address.
func (s *scan) finishSingle(a Address, state string, strength int) {
	for _, area := range s.p.codes.areas(strings.SplitN(a.Postcode, "-", 2)[0]) {
		if a.Postcode != "" && area.place.Country == a.Country && (state == "" || area.place.State == state) {
			a.Place = area.place
			break
		}
	}
	if a.Place.Kind == 0 && a.City != "" {
		for _, pl := range s.p.g.Cities(a.Country, a.City) {
			if state == "" || pl.State == state {
				a.Place = pl
				break
			}
		}
	}
	if a.POBox != "" && a.Street == "" {
		a.Level = CityLevel
	}
	a.Confidence = confidencePlace - 0.15
	s.resolve(&a, strength)
	if a.Level == StreetLevel && a.Street == "" {
		a.Level = CityLevel
	}
	s.add(a)
}

// firstUS reads the first street of t, or its post box.
func (s *scan) firstUS(text string, t []grammar.Token) (grammar.Street, int, bool) {
	for i := range t {
		if street, end, ok := grammar.USPostBox(text, t, i); ok {
			return street, end, true
		}
		if street, end, ok := grammar.USForward(text, t, i); ok {
			return street, end, true
		}
	}
	return grammar.Street{}, 0, false
}

func commaBefore(text string, t []grammar.Token, i int) bool {
	return i > 0 && (t[i-1].Kind == grammar.Break || text[t[i-1].Start] == ',')
}

// cityLike tells whether the tokens can name a city: a few words.
func cityLike(text string, t []grammar.Token) bool {
	for _, tok := range t {
		if tok.Kind != grammar.Word && !(tok.Kind == grammar.Mark && strings.Contains(".'-", text[tok.Start:tok.End])) {
			return false
		}
	}
	return len(t) > 0 && len(t) <= 4
}

// cityOfUS tells whether a city of the state, or of any where it is "", has
// this name.
func (s *scan) cityOfUS(name, state string) bool {
	for _, n := range [...]string{name, grammar.ExpandUSCity(name)} {
		for _, pl := range s.p.g.Cities("US", n) {
			if state == "" || pl.State == state {
				return true
			}
		}
	}
	return false
}

func isZIP(s string) bool {
	return len(s) == 5 && digits(s) || len(s) == 10 && s[5] == '-' && digits(s[:5]) && digits(s[6:])
}

// singleEurope reads "street number, city, country" in the order of most of
// Europe.
func (s *scan) singleEurope(text string, t []grammar.Token) {
	n := grammar.SkipMarksBack(text, t, grammar.SkipCountry(text, t, len(t)))
	a := Address{Start: len(text), Country: s.hint, Level: StreetLevel}
	cut := n
	for i := max(0, n-4); i < n; i++ {
		if i > 0 && t[i-1].Kind == grammar.Word || t[i].Kind != grammar.Word || !cityLike(text, t[i:n]) {
			continue
		}
		if len(s.p.g.Cities(s.hint, text[t[i].Start:t[n-1].End])) > 0 {
			a.City = fold(text[t[i].Start:t[n-1].End])
			a.Start, a.End = t[i].Start, t[n-1].End
			cut = i
			break
		}
	}
	street, ok := grammar.StreetBefore(text, t[:cut], s.known(&a))
	if ok {
		a.takeStreet(text, street)
	} else if a.City == "" || n == len(t) {
		return
	} else {
		a.Level = CityLevel
	}
	s.finishSingle(a, "", street.Strength)
}
