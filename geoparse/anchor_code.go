package geoparse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
	"gazehound/internal/textutil"
)

// A code is a postcode before its city, as it stands in the text.
type code struct {
	start, from, end int    // of its country prefix, of its first digit or letter, and its end
	value            string // as the gazetteer has it
	country          string // of the prefix, or ""
	strength         int    // that the street beside it must have at least
}

// splitPostcode tries the n digits at i as the first of a postcode such as "87-400", "664 31", "AD500",
// "1000-205" or "060274".
func (a anchor) splitPostcode(i, n int) *Address {
	if i < a.from || a.only != grammar.AnyForm && a.only != grammar.CodeCity {
		return nil
	}
	text := a.text
	for _, form := range a.split {
		if n != form.first && n != form.all {
			continue
		}
		end := grammar.CodeAt(form.form[len(form.lead):], text, i)
		if end == i || end < i+n {
			continue
		}
		from := i - len(form.lead)
		if lead := strings.TrimRight(text[:i], " -"); form.lead != "" && i-len(lead) <= 1 {
			from = len(lead) - len(form.lead) // "AD 500", "AD-500"
		}
		if from < 0 || !strings.HasPrefix(text[from:], form.lead) || from > 0 &&
			(text[from-1]-'0' <= 9 || textutil.LetterBefore(text, from)) {
			continue
		}
		start, country := from, ""
		if form.lead == "" {
			start, country = a.prefix(i)
		}
		c := code{start: start, from: from, end: end, value: form.lead + text[i:end], country: country}
		if found := a.codeCity(c); found != nil {
			return found
		}
	}
	return nil
}

// postcode tries the digits text[i:j] as a postcode of any country.
func (a anchor) postcode(i, j int) *Address {
	text := a.text
	n := j - i
	if i < a.from || j < len(text) && textutil.LetterAt(text, j) &&
		!(n == 4 && a.lettered("") && a.p.codeLetters(text, i, j) > j) {
		return nil
	}
	if n == 9 && a.reads(grammar.CityStateZIP) {
		if found := a.zip(i, i+5); found != nil {
			return found
		}
	}
	if n > 5 {
		return a.gluedPostcode(i, j)
	}
	if partOfNumber(text, i) {
		return nil
	}
	if a.reads(grammar.CityStateZIP) {
		if found := a.zip(i, j); found != nil {
			return found
		}
	}
	if found := a.provincePostcode(i, j); found != nil {
		return found
	}
	if a.only != grammar.AnyForm && a.only != grammar.CodeCity {
		return nil
	}
	if j < len(text) && (text[j] == '%' || text[j] == '.' && j+1 < len(text) && text[j+1]-'0' <= 9 ||
		text[j] == '/' || text[j] == ':' || text[j] == '*') {
		return nil
	}
	start, country := a.prefix(i)
	if start == i && i > 0 && textutil.LetterBefore(text, i) {
		return nil // "Tauchgebiete21955 Titel"
	}
	c := code{start: start, from: i, end: j, value: text[i:j], country: country}
	found := a.codeCity(c)
	if found == nil {
		found = a.cityCode(c)
	}
	return found
}

// partOfNumber reports whether a mark before the digits at i makes them a part of a longer number or
// of a web address: "3.14159", "+49441", "id=26122".
func partOfNumber(text string, i int) bool {
	if i == 0 {
		return false
	}
	afterDigit := i > 1 && text[i-2]-'0' <= 9
	switch text[i-1] {
	case '+', '#', '_', '=', '&', '%', '@', '$':
		return true
	case ',', ':':
		return afterDigit
	case '.':
		return afterDigit || i > 1 && text[i-2] > ' ' && (i < 3 || !textutil.LetterAt(text, i-2))
	}
	return false
}

// gluedPostcode reads house number and postcode without a space between them,
// as it happens where line breaks were lost: "Winterstraße 222765 Hamburg".
func (a anchor) gluedPostcode(i, j int) *Address {
	if j-i > 8 {
		return nil
	}
	k := i
	for k > 0 && (a.text[k-1] == ' ' || a.text[k-1] == '.') {
		k--
	}
	if k == i || k == 0 || !textutil.LetterBefore(a.text, k) {
		return nil
	}
	for _, land := range a.p.lands {
		if !land.Glued || a.hint != "" && a.hint != land.Code {
			continue
		}
		c := code{start: j - 5, from: j - 5, end: j, value: a.text[j-5 : j], country: land.Code, strength: 3}
		if found := a.codeCity(c); found != nil {
			return found
		}
	}
	return nil
}

// prefix returns where the country prefix before the postcode at i begins ("D-",
// "CH-", "A - ") and its country; i and "" where there is none.
func (s *source) prefix(i int) (int, string) {
	text := s.text
	k := i
	for k > 0 && i-k < 6 && text[k-1] == ' ' {
		k--
	}
	hyphen := false
	for _, dash := range [...]string{"-", "–", "‑", "−"} {
		if strings.HasSuffix(text[:k], dash) {
			k -= len(dash)
			hyphen = true
			break
		}
	}
	for k > 0 && i-k < 9 && text[k-1] == ' ' {
		k--
	}
	end := k
	for k > 0 && end-k < 3 && text[k-1] >= 'A' && text[k-1] <= 'Z' {
		k--
	}
	if k == end || k > 0 && (textutil.LetterBefore(text, k) || text[k-1]-'0' <= 9) {
		return i, ""
	}
	country := grammar.CountryOfPrefix(text[k:end])
	if country == "" || !hyphen && end == i || grammar.Find(country).Listed && !s.p.has[country] && s.hint != country {
		return i, ""
	}
	if len(text[k:end]) == 1 && k > 1 && text[k-2]-'0' <= 9 && (text[k-1] == '/' || !hyphen && text[k-1] == ' ') {
		return i, "" // "Hauptstraße 12 A 1210", "Via Tezze, 78/E – 37066": rather a house number
	}
	return k, country
}

// lettered reports whether the gazetteer has a country whose postcodes end with two
// letters, where the text names the country written, or none.
func (s *source) lettered(written string) bool {
	if written != "" {
		return grammar.Find(written).Letters && s.p.has[written]
	}
	return s.p.letters
}

// endOf returns the end of a postcode, with its letters where its country has them.
func (a anchor) endOf(c code) int {
	if len(c.value) == 4 && a.lettered(c.country) {
		return a.p.codeLetters(a.text, c.from, c.end)
	}
	return c.end
}

// codeCity reads "postcode city" and the street beside it.
func (a anchor) codeCity(c code) *Address {
	text := a.text
	digits := c.end
	c.end = a.endOf(c)
	if !wordFollows(text, c.end) {
		return nil
	}
	t := a.after(c.end)
	k := firstOfCity(text, t)
	if k < 0 {
		return nil
	}
	city, ok := a.cityBeside(&c, text[c.from:c.end], c.end > digits, t, k)
	if !ok {
		a.reject(c.start, behind(t, c.end), func() string { return a.p.disagreement(c.value, c.country, a.only) })
		return nil
	}
	found := Address{
		Start: c.start, End: city.end,
		Postcode: text[c.from:c.end], City: text[city.start:city.end],
		State: city.area.place.State, Country: city.area.place.Country,
		Level: CityLevel, Place: city.area.place, Confidence: confidencePlace - city.doubt,
	}
	if city.weak {
		found.Confidence -= 0.1
	}
	street, ok := a.streetBeside(&found, c, city.end)
	reason := ""
	switch {
	case c.strength > 0 && (!ok || street.Strength < c.strength || street.Number.Empty()):
		reason = "the postcode is a neighbour's, and no street with a number stands beside it"
	case city.doubt > 0 && (a.text[c.end] == ',' || t[0].Kind == grammar.Break) && a.yearLike(c.value, found.Country):
		reason = "rather a year than a postcode, as no town of it stands right behind it" // "Okken, 35, 2013, Harms"
	case !ok || street.Strength < 3 && city.doubt > 0 && a.yearLike(c.value, found.Country): // "Breakfast 2018, 2017"
		year := len(c.value) == 4 && c.country == "" && (city.doubt > 0 || a.yearLike(c.value, found.Country))
		reason = a.noPlace(c.start, city, t[0].Kind == grammar.Break, year)
	}
	if reason != "" {
		a.reject(c.start, city.end, because(reason))
		return nil
	}
	return a.finish(found, street, ok)
}

// cityCode reads "street, city postcode", as some people write it where the postcode comes first: "Lange
// Straße 5, Oldenburg 26122", "Via Roma 5, Viareggio (LU) 55049". Only the city of the postcode counts, and only
// behind a street with a number.
func (a anchor) cityCode(c code) *Address {
	const strength = 3
	before := strings.TrimRight(a.text[a.from:c.start], " ,\n")
	if before == "" || !textutil.LetterBefore(before, len(before)) && !strings.HasSuffix(before, ")") {
		return nil
	}
	areas := a.p.codes.areas(c.value)
	if len(areas) == 0 {
		return nil
	}
	c.end = a.endOf(c)
	t := a.before(c.start)
	n := endOfCityBefore(t)
	for k := max(0, n-mostCity); k < n; k++ {
		if k > 0 && t[k-1].Kind == grammar.Word || t[k].Kind != grammar.Word {
			continue // "Zwischenahn" of "Bad Zwischenahn"
		}
		city, ok := a.longest(areas, c.country, t[:n], k, false)
		if !ok || city.end < t[n-1].End {
			continue
		}
		found := Address{
			Start: city.start, End: c.end, Postcode: a.text[c.from:c.end], City: a.text[city.start:city.end],
			State: city.area.place.State, Country: city.area.place.Country,
			Level: CityLevel, Place: city.area.place, Confidence: confidencePlace - 0.1,
		}
		if city.weak {
			found.Confidence -= 0.1
		}
		street, ok := streetBefore(&found, a.text, a.before(city.start), a.p.known(&found))
		if !ok || street.Number.Empty() || street.Strength < strength {
			return nil
		}
		return a.finish(found, street, true)
	}
	return nil
}

// mostCity is how many words and marks the name of a city has that stands before its postcode.
const mostCity = 5

// endOfCityBefore returns the number of tokens without commas, line breaks and a province in brackets at their end.
func endOfCityBefore(t grammar.Tokens) int {
	n := len(t)
	back := func() {
		for n > 0 && (t[n-1].Kind == grammar.Break || t[n-1].Text() == ",") {
			n--
		}
	}
	back()
	if n > 3 && t[n-1].Text() == ")" && t[n-2].Kind == grammar.Word && t[n-3].Text() == "(" {
		n -= 3
		back()
	}
	return n
}

// firstOfCity returns the index of the token that the city behind a postcode begins with, or -1.
func firstOfCity(text string, t grammar.Tokens) int {
	k := 0
	for k < len(t) && k < 3 && (t[k].Kind == grammar.Break ||
		t[k].Kind == grammar.Mark && strings.Contains(",-–|*/'’‘", t[k].Text())) { // "'s-Hertogenbosch"
		k++
	}
	if t.At(k).Kind != grammar.Word || !t[k].Space && k == 0 {
		return -1
	}
	return skipPlaceLabel(text, t, k)
}

// cityBeside returns the city that begins with token k behind the postcode c, which is whole in the text,
// with letters or without. It raises the strength that c asks of a street where the two don't agree.
func (a anchor) cityBeside(c *code, whole string, letters bool, t grammar.Tokens, k int) (match, bool) {
	if letters { // the whole code, where the gazetteer has it
		if city, ok := a.longest(a.p.codes.areas(strings.ToUpper(whole)), c.country, t, k, true); ok {
			return city, true
		}
	}
	if city, ok := a.cityAfter(c.value, c.country, t, k, letters); ok {
		if land := grammar.Find(city.area.place.Country); land.Letters && !letters && a.hint != land.Code {
			c.strength = 3 // "1017 Amsterdam" may be a year or an amount
		}
		return city, true
	}
	city, ok := a.cityNear(c.value, c.country, t, k)
	switch {
	case ok && city.unlocated:
		c.strength = 4
	case !ok:
		c.strength = 3
		city, ok = a.unproven(c.value, c.country, t, k)
		if !ok {
			city, ok = a.hamlet(c.value, c.country, t, k)
		}
	case city.neighbour:
		c.strength = max(c.strength, 1)
	}
	city.doubt = 0.1
	return city, ok
}

// streetBeside reads the street before the postcode c, else the one behind its city, which ends at end.
func (a anchor) streetBeside(found *Address, c code, end int) (grammar.Street, bool) {
	known := a.p.known(found)
	street, ok := streetBefore(found, a.text, a.before(c.start), known)
	if ok && !street.Number.Empty() || c.strength >= 3 && !a.isUnproven(found.Country) {
		return street, ok
	}
	if next, isNext := a.streetAfter(end, known); isNext {
		return next, true
	}
	if known != nil && !ok {
		return grammar.KnownAfter(a.after(end), known)
	}
	return street, ok
}

// noPlace returns why "postcode city" without a street is no address, or "". year: the code may be a
// year or an amount.
func (a anchor) noPlace(start int, city match, nextLine, year bool) (reason string) {
	switch {
	case city.weak || !grammar.Capital(a.text[city.start:]) || nextLine:
		return "no street, and the city is not clearly named"
	case digitsBefore(a.text, a.from, start): // "Tel. 030 10115 Berlin"
		return "another number stands right before it"
	case year:
		return "rather a year or an amount than a postcode"
	}
	return ""
}

// streetBefore reads the street that ends with t.
func streetBefore(a *Address, text string, t grammar.Tokens, known grammar.Known) (grammar.Street, bool) {
	if read := grammar.Find(a.Country).CityStreets[gazetteer.Key(a.City)]; read != nil {
		if street, ok := read(t); ok {
			return street, true
		}
	}
	street, ok := grammar.StreetBefore(t, known)
	land := grammar.Find(a.Country)
	if land.NumberFirst && (!ok || street.Strength < 4) {
		if first, found := grammar.NumberStreetBefore(t, known); found &&
			(!ok || street.Number.Empty() || first.Strength > street.Strength) {
			street, ok = first, true
		}
	}
	street, ok = preferKnown(text, t, street, ok, known, land.NumberFirst)
	if ok && isTown(street.Name.Of(text), street, a.City) {
		return grammar.Street{POBox: street.POBox}, !street.POBox.Empty()
	}
	return street, ok
}

// isTown reports whether a street is only the city named once more, "Oldenburg, 26121 Oldenburg",
// even where a street is called so. With a number behind it, it is a village without streets.
func isTown(name string, street grammar.Street, city string) bool {
	numbered := !street.Number.Empty() && street.Number.Start > street.Name.Start
	return !numbered && city != "" && gazetteer.Key(name) == gazetteer.Key(city)
}

// preferKnown returns the street of the gazetteer that ends with t, whatever it is called, instead of
// what the grammar read there, unless that is one with its number. known may be nil.
func preferKnown(
	text string, t grammar.Tokens, street grammar.Street, ok bool, known grammar.Known, numberFirst bool,
) (grammar.Street, bool) {
	if known == nil || ok && !street.Number.Empty() &&
		(street.Strength == 4 || known(street.Name.Of(text))) {
		return street, ok
	}
	better, found := grammar.KnownBefore(t, known, numberFirst)
	if !found || ok && better.Number.Empty() && (!street.Number.Empty() || street.Strength == 4) {
		return street, ok
	}
	if ok && street.Name.Start == better.Name.Start && better.Unit.Empty() {
		better.Unit = street.Unit
		if better.Name.End < street.Name.End { // a building behind the street
			better.Unit = grammar.Span{Start: better.Name.End, End: max(street.Name.End, street.Unit.End)}
		}
	}
	if better.POBox.Empty() {
		better.POBox = street.POBox
	}
	return better, true
}

// skipPlaceLabel returns the index behind the label or preposition at token k,
// which a city must follow: "Ort: Oldenburg", "te Reusel".
func skipPlaceLabel(text string, t grammar.Tokens, k int) int {
	if grammar.BeforeCity(t[k].Text()) && t.At(k+1).Kind == grammar.Word { // "5541 BA te Reusel", no country "AT"
		return k + 1
	}
	if !grammar.PlaceLabel(t[k].Text()) {
		return k
	}
	inOwnLine := k > 0 && t[k-1].Kind == grammar.Break // "PLZ 26121", below it "Ort Oldenburg"
	for i := k + 1; i < len(t) && i < k+4; i++ {
		switch {
		case t[i].Kind == grammar.Word && (i > k+1 || inOwnLine):
			return i
		case t[i].Kind != grammar.Break && t[i].Text()[0] != ':':
			return k
		}
	}
	return k
}

// digitsBefore reports whether a number stands right before i in its line, behind from.
func digitsBefore(text string, from, i int) bool {
	for i > from && text[i-1] == ' ' {
		i--
	}
	return i > 0 && text[i-1]-'0' <= 9
}

// wordFollows reports whether a letter follows within a few separators, which skips columns of
// figures cheaply.
func wordFollows(text string, i int) bool {
	for end := min(len(text), i+8); i < end; i++ {
		switch c := text[i]; {
		case c >= utf8.RuneSelf || c|0x20-'a' <= 25 && c|0x20 >= 'a':
			return true
		case c-'0' <= 9:
			return false
		}
	}
	return false
}

// yearLike reports whether a four-digit code without a street is more likely a
// year or an amount.
func (s *source) yearLike(code string, country string) bool {
	return code >= "1900" && code <= "2039" || s.hint != "" && s.hint != country
}

// codeLetters returns the end of the two letters of the postcode text[i:j] ("1012 JS"), or j. In small
// letters the gazetteer must know the code, where they stand apart the whole of it: "3811 ab".
func (p *Parser) codeLetters(text string, i, j int) int {
	k := j
	if k < len(text) && text[k] == ' ' {
		k++
	}
	if k+2 > len(text) || text[k]|0x20-'a' > 25 || text[k+1]|0x20-'a' > 25 ||
		k+2 < len(text) && textutil.LetterAt(text, k+2) {
		return j
	}
	if text[k]-'A' <= 25 && text[k+1]-'A' <= 25 {
		return k + 2
	}
	code := text[i:j]
	if k > j {
		code = strings.ToUpper(text[i : k+2])
	}
	isLettered := func(a area) bool { return grammar.Find(a.place.Country).Letters }
	if text[k] >= 'a' && text[k+1] >= 'a' && slices.ContainsFunc(p.codes.areas(code), isLettered) {
		return k + 2
	}
	return j
}

// maxChain bounds the addresses read to learn their order.
const maxChain = 8

// streetAfter reads "postcode city, street number" behind the city.
func (s *source) streetAfter(end int, known grammar.Known) (grammar.Street, bool) {
	first, ok := s.nextStreet(end, known)
	if !ok {
		return first, false
	}
	// The street may belong to the postcode after it. In a list the last address decides: it ends
	// with a street or a city.
	street := first
	for range maxChain {
		city := nextCity(s.text, street.Number.End)
		if city < 0 {
			return first, true
		}
		street, ok = s.nextStreet(city, nil)
		if !ok {
			return first, false
		}
	}
	return first, false
}

// nextStreet reads the street and house number that begin at i.
func (s *source) nextStreet(i int, known grammar.Known) (grammar.Street, bool) {
	return grammar.StreetAfter(s.after(i), known)
}

// nextCity returns the end of the words behind the postcode that follows i, or
// -1 if none follows.
func nextCity(text string, i int) int {
	for end := i + 6; i < len(text) && i < end &&
		(text[i] <= ' ' || strings.IndexByte(",|-DACHFL", text[i]) >= 0); i++ {
	}
	j := i + digitsAt(text, i)
	if j-i != 4 && j-i != 5 {
		return -1
	}
	for end := j + 60; j < len(text) && j < end && text[j] != '\n' && text[j] != ','; j++ {
	}
	return j
}

// known returns the test of street names for the place of a, or nil where the
// gazetteer has no streets.
func (p *Parser) known(a *Address) grammar.Known {
	if !p.streets {
		return nil
	}
	q := gazetteer.Query{Postcode: codeOf(a.Place, a.Postcode), City: a.City, Country: a.Country}
	if q.Postcode == "" {
		q.State = a.Place.State
	}
	return func(name string) bool {
		if !p.g.HasStreet(name) {
			return false
		}
		q.Street = name
		return len(p.g.Streets(q)) > 0
	}
}

// codeOf returns the postcode of the place, or what the text says.
func codeOf(pl gazetteer.Place, text string) string {
	if pl.Postcode != "" {
		return pl.Postcode
	}
	return text
}

// takeStreet copies the parts of the street and widens the span over them.
func (a *Address) takeStreet(text string, s grammar.Street) {
	take := func(sp grammar.Span) string {
		if sp.Empty() {
			return ""
		}
		a.take(sp.Start, sp.End)
		return fold(strings.ReplaceAll(sp.Of(text), "_", " "))
	}
	if !s.Name.Empty() {
		a.Street = take(s.Name)
		a.HouseNumber = take(s.Number)
	}
	a.Unit = take(s.Unit)
	a.POBox = take(s.POBox)
}

// wordBoundary reports whether c can stand before the first letter of a word.
func wordBoundary(c byte) bool {
	return c <= ' ' || c == ',' || c == '-' || c == '(' || c == '|' || c == '.' || c >= 0x80
}
