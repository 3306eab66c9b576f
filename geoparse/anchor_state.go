package geoparse

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
	"gazehound/internal/textutil"
)

// zip tries the digits text[i:j] as a US ZIP code after "city, state": five, or four if a
// spreadsheet lost the leading zero.
func (a anchor) zip(i, j int) *Address {
	text := a.text
	end, ok := zipEnd(text, j)
	if !ok {
		return nil
	}
	k := i
	for k > 0 && (text[k-1] <= ' ' || text[k-1] == '-' && k < i ||
		strings.IndexByte(",.|:)\xA0\xC2", text[k-1]) >= 0) {
		k--
	}
	if k == 0 || i-k > 6 || !textutil.LetterBefore(text, k) {
		return nil
	}
	land, code := grammar.Find("US"), text[i:j]
	if j-i == 4 {
		code = "0" + code
	}
	areas := a.p.codes.areasIn(land, code)
	if j-i == 4 { // "WA 6006" is Western Australia
		t := a.before(i)
		state, _, _ := grammar.StateBefore(land.Code, t, len(t))
		if state == "" || !inState(areas, state) {
			return nil
		}
	}
	return a.codeBehindState(land, areas, code, i, end)
}

// zipEnd returns the end of the ZIP code whose first digits end at j, with the four behind a dash or
// space; false: the digits are of a longer number.
func zipEnd(text string, j int) (int, bool) {
	n := dashAt(text, j)
	rest := text[j:]
	switch {
	case n > 0 && j+n+4 <= len(text) && digits(text[j+n:j+n+4]) &&
		(j+n+4 == len(text) || text[j+n+4]-'0' > 9 && !textutil.LetterAt(text, j+n+4)):
		return j + n + 4, true
	case len(rest) >= 5 && rest[0] == ' ' && digits(rest[1:5]) &&
		(len(rest) == 5 || strings.IndexByte("\n,.;)", rest[5]) >= 0):
		return j + 5, true // "97227 1234"
	case len(rest) >= 4 && digits(rest[:4]):
		return j + 4, true // "972271234"
	}
	return j, !(len(rest) > 1 && rest[0] == '-' && rest[1]-'0' <= 9)
}

// inState reports whether one of the areas may lie in the state.
func inState(areas []*area, state string) bool {
	return slices.ContainsFunc(areas, func(a *area) bool { return a.place.State == state || a.place.State == "" })
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

// letteredPostcode tries the digit at i as the last of a postcode with letters, "K1Y 4W7". isCode: its
// first half is known.
func (a anchor) letteredPostcode(i int) (found *Address, isCode bool) {
	text := a.text
	for _, land := range a.forms[grammar.CityProvinceCode] {
		half := strings.IndexByte(land.Codes, ' ')
		for n := len(land.Codes); half > 0 && n >= len(land.Codes)-1; n-- { // with and without the space
			start := i + 1 - n
			if start < max(a.from, 0) || !land.Fits(strings.Replace(text[start:i+1], "-", " ", 1)) ||
				start > 0 && (textutil.LetterBefore(text, start) || text[start-1]-'0' <= 9) ||
				i+1 < len(text) && textutil.LetterAt(text, i+1) {
				continue
			}
			for _, code := range [...]string{text[start : i+1], text[start : start+half]} {
				if areas := a.p.codes.areasIn(land, code); len(areas) > 0 {
					return a.codeBehindState(land, areas, code, start, i+1), true
				}
			}
		}
	}
	return nil, false
}

// provincePostcode tries the digits text[i:j] as a postcode after a state: "Pyrmont NSW 2009".
func (a anchor) provincePostcode(i, j int) *Address {
	text := a.text
	k := i
	for k > 0 && i-k < 4 && (text[k-1] <= ' ' || text[k-1] == ',' || text[k-1] == '.') {
		k--
	}
	if k == 0 || k == i || !textutil.LetterAt(text, k-1) || j < len(text) && (text[j] == '-' || text[j] == '/') {
		return nil
	}
	for _, land := range a.forms[grammar.CityProvinceCode] {
		if !land.Fits(text[i:j]) {
			continue
		}
		areas := a.p.codes.areasIn(land, text[i:j])
		if len(areas) == 0 {
			continue
		}
		if found := a.codeBehindState(land, areas, text[i:j], i, j); found != nil {
			return found
		}
	}
	return nil
}

// codeBehindState reads city, state and street before the postcode text[start:end] of the areas. A
// postcode with letters needs no state, or has it behind it; digits without one need a city of their own and a
// street with its number, those of other countries than the United States also a sign of their country.
func (a anchor) codeBehindState(
	land *grammar.Country, areas []*area, code string, start, end int,
) *Address {
	text := a.text
	t := a.before(start)
	state, span, n := grammar.StateBefore(land.Code, t, len(t))
	last, lettered := end, text[start] > '9'
	if state == "" && lettered {
		state, span = grammar.StateAfter(land.Code, a.after(end))
		if state != "" {
			last = span.End
		}
	}
	alone := state == "" && !lettered
	if alone && (land.Form != grammar.CityStateZIP && a.hint != land.Code || len(areas) == 0) {
		return nil
	}
	agrees := state == "" || inState(areas, state)
	c := a.p.cityOf(land, areas, t, n, state, agrees)
	if c.area == nil || alone && !c.known {
		if !alone {
			a.reject(span.Start, end, func() string {
				if len(areas) > 0 && !agrees {
					return fmt.Sprintf("%s is in %s, not in %s", code, areas[0].place.State, state)
				}
				return a.p.disagreement(code, land.Code, a.only)
			})
		}
		return nil
	}
	street, ok := streetOf(land, t[:c.tokens], !c.known || alone)
	if c.known {
		known := a.p.known(&Address{Place: c.area.place, Postcode: code, City: text[c.start:c.end], Country: land.Code})
		street, ok = preferKnown(text, t[:c.tokens], street, ok, known, true)
	}
	if (!c.known || alone) && (!ok || !street.Found()) {
		return nil
	}
	found := Address{End: last, Postcode: text[start:end], State: c.area.place.State, Country: land.Code,
		Confidence: confidencePlace}
	if n := end - start; land.Code == "US" && n > 5 && digits(text[start:start+5]) && digits(text[end-4:end]) {
		found.Postcode = text[start:start+5] + "-" + text[end-4:end] // "972271234", "97227 1234"
	}
	if state != "" {
		found.State = strings.Trim(span.Of(text), "()")
	}
	if !c.known || !agrees || c.elsewhere {
		found.Confidence -= 0.1
	}
	if c.elsewhere && a.country == "" {
		found.Postcode = "" // on a page, a misprint: the town and its state agree
	}
	return a.finishStated(found, c, street, ok)
}

// A cityBefore is the city before a state.
type cityBefore struct {
	area       *area
	start, end int
	tokens     int  // index of its first token
	known      bool // a name of the postcode or of a city of the state
	elsewhere  bool // far from where the postcode is
}

// cityOf returns the longest known name of a city that ends before token n, else the
// words that a separator or a street divides from the rest. The areas are those of the
// postcode; agrees: one of them lies in the state.
func (p *Parser) cityOf(
	land *grammar.Country, areas []*area, t grammar.Tokens, n int, state string, agrees bool,
) cityBefore {
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
		if c := p.cityOf(land, areas, t, first, state, agrees); c.known { // "Seattle, King County, WA"
			return c
		}
	}
	city := func(i int, a *area, known bool) cityBefore {
		return cityBefore{area: a, start: t[i].Start, end: t[n-1].End, tokens: i, known: known}
	}
	for i := first; i < n; i++ {
		if a := areaNamed(land, areas, grammar.Phrase(t[i:n]), state, agrees); a != nil {
			return city(i, a, true)
		}
	}
	for i := first; i < n; i++ {
		inRoad := i > first && land.Form == grammar.CityProvinceCode && // "12 Dundas Street West"
			grammar.RoadWord(t[i-1].Text()) && grammar.RoadWord(t[i].Text())
		if a := p.cityInState(land, areas, grammar.Phrase(t[i:n]), state); a != nil && !inRoad {
			c := city(i, a, true)
			switch {
			case len(areas) == 0:
			case !agrees || far(&a.place, &areas[0].place):
				c.elsewhere = true
			default:
				c.area = areas[0]
			}
			return c
		}
	}
	if !agrees || len(areas) == 0 || state == "" {
		return cityBefore{}
	}
	if i := unknownCity(land, t[:n], first); i < n {
		return city(i, areas[0], false)
	}
	return cityBefore{}
}

// areaNamed returns the area of a postcode that has the name, or nil. agrees: one of the areas lies in
// the state, and only those are compared.
func areaNamed(land *grammar.Country, areas []*area, name, state string, agrees bool) *area {
	key := gazetteer.Key(grammar.ExpandUSCity(name))
	for _, a := range areas {
		if agrees && state != "" && a.place.State != state && a.place.State != "" {
			continue
		}
		for _, own := range a.names {
			if own.key == key || land.Cities != nil && len(key) > 3 && strings.HasPrefix(own.key, key) {
				return a
			}
		}
	}
	return nil
}

// unknownCity returns where a city of an unknown name begins that ends t, or len(t): the words since
// the last separator, which is not before first, a few at most, or those behind a complete street.
func unknownCity(land *grammar.Country, t grammar.Tokens, first int) int {
	n := len(t)
	if n-first <= 4 && commaBefore(t, first) && grammar.Capital(t[first].Text()) {
		if street, ok := streetOf(land, t[:first], true); ok && street.Found() {
			return first
		}
	}
	for i := n - 1; i >= max(first, n-4); i-- {
		if t.At(i-1).Kind == grammar.Word {
			street, ok := streetOf(land, t[:i], true)
			if !ok || street.Strength < 3 || max(street.Name.End, street.Unit.End) != t[i-1].End {
				continue
			}
		}
		return i
	}
	return n
}

// far reports whether two places lie too far apart to share a postcode.
func far(a, b *gazetteer.Place) bool {
	return a.HasPoint && b.HasPoint && kilometres(a.Point, b.Point) > 4*near
}

// cityInState returns the city of a name in the state, or where that is not given
// near the areas of the postcode; nil: none.
func (p *Parser) cityInState(land *grammar.Country, areas []*area, name, state string) *area {
	isCity := land.Cities[gazetteer.Key(grammar.ExpandUSCity(name))]
	if isCity && len(areas) > 0 {
		return areas[0]
	}
	for _, long := range [...]string{name, grammar.ExpandUSCity(name)} {
		for _, pl := range p.codes.cities(land.Code, long) {
			near := state == "" && len(areas) > 0 && areas[0].place.State == pl.State &&
				areas[0].place.HasPoint && pl.HasPoint && kilometres(areas[0].place.Point, pl.Point) < near
			if pl.State == state || near {
				return &area{place: pl}
			}
		}
	}
	if isCity {
		return &area{place: gazetteer.Place{Names: []string{name}, City: name, State: state, Country: land.Code}}
	}
	return nil
}

// streetOf reads the street before the city in English, and where the country
// speaks it also in French order of words.
func streetOf(land *grammar.Country, t grammar.Tokens, strict bool) (grammar.Street, bool) {
	street, ok := grammar.USBefore(t, strict)
	if land.Form != grammar.CityProvinceCode {
		return street, ok
	}
	if french, found := grammar.NumberStreetBefore(t, nil); found &&
		(!ok || street.Number.Empty() || grammar.FrenchName(french.Name.In(t))) {
		return french, true
	}
	return street, ok
}

// finishStated is finish for an address with a city before a state, of which a has the rest.
func (s *source) finishStated(a Address, c cityBefore, street grammar.Street, ok bool) *Address {
	a.Start, a.City, a.Level, a.Place = c.start, s.text[c.start:c.end], CityLevel, c.area.place
	return s.finish(a, street, ok)
}

// state tries the capital letter at i as the beginning of a state or province after a city, without
// a postcode. A known city and a street with its number must precede it. next is where the scan
// continues.
func (a anchor) state(i int) (found *Address, next int) {
	text := a.text
	j := i + 1
	for j < len(text) && (textutil.LetterAt(text, j) ||
		(text[j] == '.' || text[j] == '-') && j+1 < len(text) && textutil.LetterAt(text, j+1)) {
		if text[j] < utf8.RuneSelf {
			j++
			continue
		}
		_, n := utf8.DecodeRuneInString(text[j:])
		j += n
	}
	if j-i > 24 || j-i < 2 {
		return nil, j
	}
	for _, form := range [...]grammar.Form{grammar.CityProvinceCode, grammar.CityStateZIP} {
		for _, land := range a.forms[form] {
			if !land.MayBeState(text[i:j]) {
				continue
			}
			if found := a.stateOf(land, i, j); found != nil {
				return found, found.End
			}
		}
	}
	return nil, j
}

// stateOf is state for the word text[i:j] and one country.
func (a anchor) stateOf(land *grammar.Country, i, j int) *Address {
	text := a.text
	end, code := j, grammar.State(land.Code, text[i:j])
	for n, k := 0, j; code == "" && n < 2 && k < len(text) && text[k] == ' '; n++ { // "New York"
		for k++; k < len(text) && textutil.LetterAt(text, k); {
			_, size := utf8.DecodeRuneInString(text[k:])
			k += size
		}
		end, code = k, grammar.State(land.Code, text[i:k])
	}
	if code == "" || a.p.codeFollows(land, text[end:]) {
		return nil
	}
	t := a.before(i)
	c := a.p.cityOf(land, nil, t, len(t), code, false)
	if c.area == nil {
		c = a.cityOfState(land, t, i, end, code)
	}
	if c.area == nil {
		return nil
	}
	street, ok := streetOf(land, t[:c.tokens], true)
	known := a.p.known(&Address{Place: c.area.place, City: text[c.start:c.end], Country: land.Code})
	street, ok = preferKnown(text, t[:c.tokens], street, ok, known, true)
	if !ok || street.Strength < 3 || !street.Found() ||
		a.p.namesPlace(land, street.Name.Of(text), street.Number.Of(text)) {
		return nil
	}
	return a.finishStated(Address{
		End: end, State: text[i:end], Country: land.Code, Confidence: confidencePlace - 0.05,
	}, c, street, true)
}

// codeFollows reports whether a postcode stands at the beginning of text, the one behind a state, or
// behind the name of its country: that is where the address is read.
func (p *Parser) codeFollows(land *grammar.Country, text string) bool {
	text = skipSeparators(text)
	word := text[:min(len(text), 24)]
	letters := len(word) - len(strings.TrimLeftFunc(word, unicode.IsLetter))
	if letters > 3 && grammar.CountryOf(text[:letters]) != "" {
		text = skipSeparators(text[letters:])
	}
	switch n := digitsAt(text, 0); {
	case land.Form == grammar.CityStateZIP:
		return n == 5 || n == 9 || n == 4 && len(p.codes.areas("0"+text[:4])) > 0
	case n > 0:
		return n >= 4
	}
	return len(text) >= 4 && upper(text[0]) && text[1]-'0' <= 9 && upper(text[2]) && text[3] <= '9'
}

// skipSeparators cuts a few separators off the beginning of text.
func skipSeparators(text string) string {
	k := 0
	for k < len(text) && k < 6 && (text[k] <= ' ' || strings.IndexByte(",.-)(|;:", text[k]) >= 0) {
		k++
	}
	return text[k:]
}

// cityOfState returns the city that has the name of its state, text[i:end], where
// that stands behind a comma or line break and no state behind it: "350 Fifth
// Avenue, New York".
func (s *source) cityOfState(land *grammar.Country, t grammar.Tokens, i, end int, code string) cityBefore {
	if !commaBefore(t, len(t)) {
		return cityBefore{}
	}
	after := s.after(end)
	k := grammar.SkipMarks(after, 0)
	for n := k + 1; n <= min(k+2, len(after)); n++ {
		if grammar.State(land.Code, grammar.Phrase(after[k:n])) != "" {
			return cityBefore{}
		}
	}
	if pl, ok := s.p.codes.cityIn(land.Code, code, s.text[i:end]); ok {
		return cityBefore{area: &area{place: pl}, start: i, end: end, tokens: len(t), known: true}
	}
	return cityBefore{}
}

// namesPlace reports whether number and name of a street are rather a ZIP code and
// its city, or a number before city and state: "92128 San Diego, San Diego, CA",
// "in 1959 Los Angeles CA, San Diego CA".
func (p *Parser) namesPlace(land *grammar.Country, name, number string) bool {
	if i := strings.LastIndexByte(name, ' '); i > 0 && len(name)-i == len(" CA") &&
		name[i+1:] == grammar.State(land.Code, name[i+1:]) {
		if _, ok := p.codes.cityIn(land.Code, name[i+1:], name[:i]); ok {
			return true
		}
	}
	key := gazetteer.Key(name)
	for _, a := range p.codes.areasIn(land, number) {
		if slices.ContainsFunc(a.names, func(n cityName) bool { return n.key == key }) {
			return true
		}
	}
	return false
}
