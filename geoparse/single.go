package geoparse

import (
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
)

// Limits of a text that is read as one address.
const (
	maxSingle      = 250 // bytes
	maxSingleLines = 8
)

const endOfLine = " \t\r\n.,"

// A single is a short text that is one address, whole or in part: a line of a list, a form field. It
// needs no postcode. It is read where nothing else was found and the country is known.
type single struct {
	*source
	land *grammar.Country
}

// single returns the address that the whole of the text is.
func (s *source) single() []Address {
	text := strings.TrimRight(s.text, endOfLine)
	if !s.isShort() || text == "" {
		return nil
	}
	t := grammar.Tokenize(text, 0, len(text), nil)
	if len(t) >= grammar.MaxTokens {
		return nil
	}
	one := single{s, grammar.Find(s.hint)}
	var found *Address
	switch one.land.Form {
	case grammar.CityStateZIP:
		found = one.american(t)
	case grammar.CityProvinceCode, grammar.CityPostcode:
		found = one.commonwealth(t)
	case grammar.CodeCity:
		found = one.european(t)
	}
	if found == nil {
		return nil
	}
	s.describe(found, 0)
	return []Address{*found}
}

// isShort reports whether the text may be one address: it is short, and of a stated country.
func (s *source) isShort() bool {
	text := strings.TrimRight(s.text, endOfLine)
	return s.country != "" && len(text) <= maxSingle && strings.Count(text, "\n") <= maxSingleLines
}

// american reads "number street, unit, city, state ZIP", any part of which may
// be missing.
func (s single) american(t grammar.Tokens) *Address {
	n := grammar.SkipCountry(t, len(t))
	a := Address{Start: len(s.text), Country: s.hint, Confidence: confidenceWeak, Level: StreetLevel}
	if n > 0 && grammar.Find("US").Fits(t[n-1].Text()) {
		n--
		a.Postcode = t[n].Text()
		a.take(t[n].Start, t[n].End)
	}
	code := ""
	if state, span, k := grammar.StateBefore("US", t, n); state != "" && k > 0 && (a.Postcode != "" ||
		commaBefore(t, k) || !grammar.RoadWord(span.Of(s.text)) || s.cityEnds(t[:k], state)) &&
		!(a.Postcode == "" && grammar.FloorNumber(t[k-1].Text())) {
		code, n = state, k
		a.State = span.Of(s.text)
		a.take(span.Start, span.End)
	}
	bare := code == "" && a.Postcode == ""
	t = t[:grammar.SkipMarksBack(t, n)]
	street, cut, ok := s.cityBehindStreet(t, code, bare)
	if !ok && cut != 0 {
		var fits bool
		street, cut, ok, fits = streetAhead(t, bare)
		if !fits {
			return nil
		}
	}
	alone := false
	if !ok && bare {
		street, ok = grammar.LineBefore(t)
		alone, cut = ok, len(t)
	}
	if !ok && (cut > 0 || bare) {
		return nil
	}
	if cut < len(t) {
		a.City = fold(grammar.Phrase(t[cut:]))
		a.take(t[cut].Start, t[len(t)-1].End)
	}
	switch {
	case !ok:
		a.Level = CityLevel
	case !alone && street.Number.Empty() && street.POBox.Empty() && a.City == "" && a.Postcode == "":
		return nil
	default:
		a.takeStreet(s.text, street)
	}
	return s.finish(a, code, street.Strength)
}

// cityBehindStreet reads the longest known city of the state that ends t and the street before it. It
// returns where the city begins, which is len(t) where there is none.
func (s single) cityBehindStreet(t grammar.Tokens, state string, bare bool) (
	street grammar.Street, cut int, ok bool,
) {
	n := len(t)
	for i := max(0, n-4); i < n; i++ {
		if t[i].Kind != grammar.Word || i+1 == n && i > 0 && t[i-1].Kind != grammar.Mark &&
			grammar.RoadWord(t[i].Text()) || !s.isCity(grammar.Phrase(t[i:]), state) {
			continue
		}
		street, found := grammar.USBefore(t[:i], !commaBefore(t, i))
		if found && street.Span().End >= t[max(0, grammar.SkipMarksBack(t, i)-1)].End {
			return street, i, true
		}
		if i == 0 && !bare {
			return grammar.Street{}, 0, false
		}
	}
	return grammar.Street{}, n, false
}

// streetAhead reads the first street of t, and returns where the city behind it begins. fits: what
// stands there can be one.
func streetAhead(t grammar.Tokens, bare bool) (street grammar.Street, cut int, ok, fits bool) {
	n := len(t)
	street, end, ok := firstUS(t)
	if !ok {
		return street, n, false, true
	}
	cut = grammar.SkipMarks(t, end)
	if cut < n && bare && street.Strength == 3 && grammar.HasUnitWord(grammar.Phrase(t[cut:])) {
		// what follows the street is a building or its part
		if street.Unit.Empty() {
			street.Unit.Start = t[cut].Start
			if t[cut-1].Text()[0] == '(' {
				street.Unit.Start = t[cut-1].Start
			}
		}
		street.Unit.End = t[n-1].End
		return street, n, true, true
	}
	return street, cut, true, cut >= n || (!bare || commaBefore(t, cut)) && cityLike(t[cut:])
}

// commonwealth reads "number street, city, province or county, postcode,
// country", any part of which may be missing.
func (s single) commonwealth(t grammar.Tokens) *Address {
	land := s.land
	n := grammar.SkipMarksBack(t, len(t))
	a := Address{Start: len(s.text), Country: s.hint, Level: StreetLevel}
	country := false
	if k := grammar.SkipCountry(t, n); k < n {
		n, country = k, true
	}
	n = s.takeCodeAndState(&a, t, n)
	for _, part := range land.Parts {
		if i := n - strings.Count(part, " ") - 1; i > 0 && grammar.Phrase(t[i:n]) == part {
			a.State, country = part, true
			a.take(t[i].Start, t[n-1].End)
			n = grammar.SkipMarksBack(t, i)
			break
		}
	}
	n = grammar.SkipMarksBack(t, grammar.SkipCounty(land.Code, t, n))
	placed := country || a.Postcode != "" || a.State != ""
	cut := s.takeCityBehind(&a, t[:n], placed)
	street, ok := streetOf(land, t[:cut], true)
	if !ok {
		street, ok = grammar.LineBefore(t[:cut])
	}
	if !ok {
		street, ok = grammar.PremisesBefore(t[:cut])
	}
	switch {
	case ok:
		a.takeStreet(s.text, street)
	case !placed || a.City == "" && a.Postcode == "":
		return nil
	default:
		a.Level = CityLevel
	}
	return s.finish(a, "", street.Strength)
}

// takeCodeAndState takes the postcode and the state that end t[:n], in either order. It returns the
// index behind what stands before them.
func (s single) takeCodeAndState(a *Address, t grammar.Tokens, n int) int {
	for range 2 {
		if code := codeEnd(s.land, t[:n]); code.End > code.Start && a.Postcode == "" {
			a.Postcode = code.Of(s.text)
			a.take(code.Start, code.End)
			for n > 0 && t[n-1].Start >= code.Start {
				n--
			}
			n = grammar.SkipMarksBack(t, n)
		}
		if a.State == "" {
			if state, span, k := grammar.StateBefore(s.hint, t, n); state != "" && k > 0 {
				a.State = strings.Trim(span.Of(s.text), "()")
				a.take(span.Start, span.End)
				n = grammar.SkipMarksBack(t, k)
			}
		}
	}
	return n
}

// takeCityBehind takes the words that end t as the city: behind a comma, where the rest tells that a
// place stands there (placed), else only a known one. It returns the index of its first token, or
// len(t).
func (s single) takeCityBehind(a *Address, t grammar.Tokens, placed bool) int {
	n := len(t)
	for i := max(0, n-4); i < n; i++ {
		comma := commaBefore(t, i)
		if t[i].Kind != grammar.Word || !cityLike(t[i:]) || i == 0 && !placed ||
			i > 0 && !comma && !grammar.RoadWord(t[i-1].Text()) {
			continue
		}
		name := grammar.Phrase(t[i:])
		if placed && comma || len(s.p.codes.cities(s.hint, name)) > 0 || s.land.Cities[gazetteer.Key(name)] {
			a.City = fold(name)
			a.take(t[i].Start, t[n-1].End)
			return i
		}
	}
	return n
}

// codeEnd returns the postcode that ends t, for one of two halves also the first
// alone: "SW1A".
func codeEnd(land *grammar.Country, t grammar.Tokens) grammar.Span {
	if len(t) < 2 {
		return grammar.Span{}
	}
	end := t[len(t)-1].End
	for k := len(t) - 1; k >= 0 && k >= len(t)-5 && end-t[k].Start <= 9; k-- {
		alone := land.Form == grammar.CityPostcode && t[k].Kind == grammar.Word &&
			(t.At(k-1).Kind != grammar.Word || t[k].Space)
		if code := grammar.Phrase(t[k:]); land.Fits(code) || alone && outwardForm(code) {
			return grammar.Span{Start: t[k].Start, End: end}
		}
	}
	return grammar.Span{}
}

// finish fills in what the gazetteer knows.
func (s single) finish(a Address, state string, strength int) *Address {
	var fits []gazetteer.Place
	for _, area := range s.p.codes.areas(a.Postcode) {
		if a.Postcode != "" && area.place.Country == a.Country && (state == "" || area.place.State == state) {
			fits = append(fits, area.place)
		}
	}
	if len(fits) == 0 && a.City != "" {
		for _, pl := range s.p.codes.cities(a.Country, a.City) {
			if state == "" || pl.State == state {
				fits = append(fits, pl)
			}
		}
	}
	if pl, ok := s.prefer(fits); ok {
		a.Place = pl
	}
	land := grammar.Find(a.Country)
	if a.State == "" && land.Form != grammar.CityStateZIP {
		a.State = a.Place.State
	}
	if a.State == "" && land.StateOf != nil {
		a.State = land.StateOf(a.Postcode)
	}
	if a.POBox != "" && a.Street == "" {
		a.Level = CityLevel
	}
	a.Confidence = confidencePlace - 0.15
	s.p.resolve(&a, strength)
	if a.Level == StreetLevel && a.Street == "" {
		a.Level = CityLevel
	}
	return &a
}

// firstUS reads the first street of t, or its post box.
func firstUS(t grammar.Tokens) (grammar.Street, int, bool) {
	for i := range t {
		if street, end, ok := grammar.USPostBox(t, i); ok {
			return street, end, true
		}
		if street, end, ok := grammar.USForward(t, i); ok {
			return street, end, true
		}
	}
	return grammar.Street{}, 0, false
}

func commaBefore(t grammar.Tokens, i int) bool {
	return i > 0 && (t[i-1].Kind == grammar.Break || t[i-1].Text()[0] == ',')
}

// cityEnds reports whether t ends with a city of the state behind a street.
func (s single) cityEnds(t grammar.Tokens, state string) bool {
	for i := max(1, len(t)-3); i < len(t); i++ {
		if t[i].Kind == grammar.Word && grammar.RoadWord(t[i-1].Text()) &&
			s.isCity(grammar.Phrase(t[i:]), state) {
			return true
		}
	}
	return false
}

// cityLike reports whether the tokens can name a city: a few words.
func cityLike(t grammar.Tokens) bool {
	for _, tok := range t {
		if tok.Kind != grammar.Word && !(tok.Kind == grammar.Mark && strings.Contains(".'-", tok.Text())) {
			return false
		}
	}
	return len(t) > 0 && len(t) <= 4
}

// isCity reports whether a city of the state, or of any where it is "", has
// this name.
func (s single) isCity(name, state string) bool {
	_, ok := s.p.codes.cityIn(s.hint, state, name)
	return ok
}

// european reads "street number, postcode city, state, country" in the
// order of most of Europe; each part may be missing, and the house number may
// come first where the country writes it so.
func (s single) european(t grammar.Tokens) *Address {
	land := s.land
	n := grammar.SkipMarksBack(t, grammar.SkipCountry(t, len(t)))
	if t.At(n-1).Kind == grammar.Number && land.Fits(t[n-1].Text()) {
		n = len(t) // "2016 Luxembourg": a city of the country's name
	}
	country := n < len(t)
	a := Address{Start: len(s.text), Country: s.hint, Level: StreetLevel}
	if k, name := grammar.RegionBefore(s.hint, t, n); k < n {
		a.State, country = fold(name.Of(s.text)), true
		a.take(name.Start, name.End)
		n = grammar.SkipMarksBack(t, k)
		if land.CityStates[gazetteer.Key(a.State)] {
			a.City = a.State
		}
	}
	cut := s.takeCode(&a, t, n)
	if cut == n && a.City == "" {
		cut = s.takeCity(&a, t, n, country)
	}
	street, ok := s.street(&a, t[:cut])
	if !ok && cut < n && !country && a.Postcode == "" && commaBefore(t, cut) {
		street, ok = grammar.SegmentBefore(t[:cut])
	}
	if ok {
		a.takeStreet(s.text, street)
		s.splitStreet(&a)
	} else if a.City == "" || !country && a.Postcode == "" {
		return nil
	} else {
		a.Level = CityLevel
	}
	return s.finish(a, "", street.Strength)
}

// splitStreet parts a street from the city behind it, where nothing but the form
// of the name shows where: the gazetteer has nothing of the country.
func (s single) splitStreet(a *Address) {
	land := s.land
	words := strings.Fields(a.Street)
	if land.StreetEnd == nil || s.p.has[land.Code] || a.City != "" || a.Postcode != "" && !lowerCase(words) {
		return
	}
	n := land.StreetEnd(words)
	if n == len(words) || strings.ContainsAny(strings.Join(words[n:], ""), "0123456789") {
		return
	}
	a.Street = strings.Join(words[:n], " ")
	if words[n] == "à" && n+1 < len(words) {
		n++
	}
	a.City = strings.Join(words[n:], " ")
}

// take widens the span of a.
func (a *Address) take(start, end int) { a.Start, a.End = min(a.Start, start), max(a.End, end) }

// street reads the street that ends with t.
func (s single) street(a *Address, t grammar.Tokens) (grammar.Street, bool) {
	known := s.p.known(a)
	street, ok := grammar.StreetBefore(t, known)
	if s.land.NumberFirst && (!ok || street.Number.Empty()) {
		if first, found := grammar.NumberStreetBefore(t, known); found {
			street, ok = first, true
		}
	}
	return preferKnown(s.text, t, street, ok, known, s.land.NumberFirst)
}

// takeCode takes the last postcode of t[:n], and as city the words behind
// it. It returns the index of what they begin with, or n.
func (s single) takeCode(a *Address, t grammar.Tokens, n int) int {
	for k := n - 1; k >= 0 && k >= n-8; k-- {
		code := s.codeAt(t[k])
		if code.Empty() {
			continue
		}
		first := k + 1
		for first < n && t[first].Start < code.End {
			first++
		}
		first = grammar.SkipMarks(t[:n], first)
		last := first
		for last < n && inCity(t[last]) {
			last++
		}
		if k == 0 && (last < n || first == n) {
			continue
		}
		a.Postcode = code.Of(s.text)
		a.take(code.Start, code.End)
		if last > first {
			end := endOfCity(s.land, t[:n], first, last-1)
			a.City = fold(s.text[t[first].Start:end])
			a.take(t[first].Start, end)
		}
		if k > 0 && grammar.CountryOfPrefix(strings.TrimRight(t[k-1].Text(), "-")) == s.hint {
			k-- // "DK-8660"
		}
		return k
	}
	return n
}

// codeAt returns the postcode that begins with tok, with its letters; an empty span: it is none.
func (s single) codeAt(tok grammar.Token) grammar.Span {
	if tok.Kind != grammar.Number {
		return grammar.Span{}
	}
	digits := strings.TrimRight(tok.Text(), "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	end := tok.Start + len(digits)
	if s.land.Letters {
		end = s.p.codeLetters(s.text, tok.Start, end)
	}
	if end < tok.End || !s.land.Fits(digits) {
		return grammar.Span{}
	}
	return grammar.Span{Start: tok.Start, End: end}
}

// takeCity takes the longest known name of a city that ends with token
// n-1. It returns the index of its first token, or n.
func (s single) takeCity(a *Address, t grammar.Tokens, n int, country bool) int {
	unknown := !s.p.has[s.hint]
	for i := max(0, n-5); i < n; i++ {
		if t[i].Kind == grammar.Word && unknown && commaBefore(t, i) && cityLike(t[i:n]) {
			a.City = fold(grammar.Phrase(t[i:n]))
			a.take(t[i].Start, t[n-1].End)
			return i
		}
		if t[i].Kind != grammar.Word || !cityLike(t[i:n]) || i == 0 && !country {
			continue
		}
		name := grammar.Phrase(t[i:n])
		if len(name) < 3 || len(s.p.codes.cities(s.hint, name)) == 0 &&
			len(s.p.codes.cities(s.hint, grammar.Native(name))) == 0 {
			continue
		}
		if t.At(i-1).Kind == grammar.Word && t[i-1].End-t[i-1].Start > 1 {
			// nothing divides it from the street, which must be one without it
			if street, ok := s.street(a, t[:i]); !ok || street.Strength < 3 ||
				street.Name.End != t[i-1].End {
				continue
			}
		}
		a.City = fold(name)
		a.take(t[i].Start, t[n-1].End)
		return i
	}
	return n
}

// lowerCase reports whether no word begins with a capital, as people type.
func lowerCase(words []string) bool {
	return !slices.ContainsFunc(words, grammar.Capital)
}
