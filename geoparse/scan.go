package geoparse

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// Windows around an anchor, in bytes. They bound the work per anchor.
const (
	windowBefore = 180
	windowAfter  = 110
	linesBefore  = 5
)

// maxWindows bounds the windows of a text that are parsed. A page of a thousand addresses takes some
// thousand; a text that is made to look like addresses everywhere would take a hundred thousand.
const maxWindows = 12_000

// A scan is the search of one text. It reads the text once, byte by byte, and parses only around
// digits that can be a postcode and names of states.
type scan struct {
	p     *Parser
	text  string
	in    Input
	hint  string // country that the input speaks for
	only  grammar.Form
	found []Address
	end   int // of the last address found
	digit int // end of the last digits

	windows int // parsed so far

	forms [grammar.CityPostcode + 1][]*grammar.Country // of the gazetteer and looked for, by form
	split []splitCode                                  // forms of their postcodes that are no run of digits
	weak  [][2]int

	phoned       bool // phoneCountry is known
	phoneCountry string

	rejected *[]Candidate // nil: not recorded

	before, after grammar.Tokens // buffers
	window        grammar.Span   // that before holds
}

// run returns the addresses of the text in its order.
func (s *scan) run(ctx context.Context) []Address {
	s.read(ctx)
	if len(s.weak) > 0 && ctx.Err() == nil {
		s.secondChance()
	}
	return s.found
}

// read goes through the text.
func (s *scan) read(ctx context.Context) {
	for _, land := range s.p.lands {
		if s.only.Allows(land.Code) {
			s.forms[land.Form] = append(s.forms[land.Form], land)
			s.addSplit(land)
		}
	}
	if s.isUnproven(s.hint) && s.only.Allows(s.hint) {
		s.addSplit(grammar.Find(s.hint))
	}
	named := s.reads(grammar.CityStateZIP) || s.reads(grammar.CityProvinceCode)
	weak := s.p.region != nil && s.p.streets
	text := s.text
	s.digit = math.MinInt / 2
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c-'0' <= 9:
			n := digitsAt(text, i)
			j := i + n
			if len(s.split) > 0 && n <= 7 && s.splitPostcode(i, n) {
				s.digit = s.end
				if i = max(j, s.end); len(s.found) >= maxAddresses || s.windows >= maxWindows {
					return
				}
				continue
			}
			if n <= 3 && (s.reads(grammar.CityPostcode) && (s.britishPostcode(i, j) || s.eircode(i, j)) ||
				n == 1 && s.letteredPostcode(i)) {
				s.digit = s.end
				if i = max(j, s.end); s.windows >= maxWindows {
					return
				}
				continue
			}
			if n == 4 || n == 5 || n > 5 && n <= 9 {
				s.postcode(i, j)
			} else if n < 4 && weak {
				s.noteWeak(i, j)
			}
			s.digit = j
			if i = j; len(s.found) >= maxAddresses || s.windows >= maxWindows {
				return
			}
			if i&0xFFFF < 8 && ctx.Err() != nil {
				return
			}
		case named && c-'A' <= 'Z'-'A' && i-s.digit < windowBefore && i > 0 && wordBoundary(text[i-1]):
			if i = s.state(i); s.windows >= maxWindows {
				return
			}
		default:
			i++
		}
	}
}

// A splitCode is a form of postcode that is more or less than a run of four or five digits.
type splitCode struct {
	form, lead string
	first, all int // digits before the first that is none, behind lead, and in all
}

// addSplit adds the forms of a country.
func (s *scan) addSplit(land *grammar.Country) {
	if land.Form != grammar.CodeCity {
		return
	}
	for form := range strings.SplitSeq(land.Codes, ",") {
		lead := form[:max(0, strings.IndexByte(form, '9'))]
		code := splitCode{form, lead, digitsAt(form, len(lead)), strings.Count(form, "9")}
		if form != "" && grammar.Split(form) && !slices.Contains(s.split, code) {
			s.split = append(s.split, code)
		}
	}
}

// splitPostcode tries the n digits at i as the first of a postcode such as "87-400", "664 31", "AD500",
// "1000-205" or "060274". It reports whether an address was found.
func (s *scan) splitPostcode(i, n int) bool {
	if i < s.end || s.only != grammar.AnyForm && s.only != grammar.CodeCity {
		return false
	}
	found := len(s.found)
	for _, code := range s.split {
		if n != code.first && n != code.all {
			continue
		}
		end := grammar.CodeAt(code.form[len(code.lead):], s.text, i)
		if end == i || end < i+n {
			continue
		}
		from := i - len(code.lead)
		if lead := strings.TrimRight(s.text[:i], " -"); code.lead != "" && i-len(lead) <= 1 {
			from = len(lead) - len(code.lead) // "AD 500", "AD-500"
		}
		if from < 0 || !strings.HasPrefix(s.text[from:], code.lead) || from > 0 &&
			(s.text[from-1]-'0' <= 9 || isLetterAt(s.text, lastRune(s.text, from))) {
			continue
		}
		start, country := from, ""
		if code.lead == "" {
			start, country = s.prefix(i)
		}
		if s.codeCity(start, from, end, code.lead+s.text[i:end], country, 0); len(s.found) > found {
			return true
		}
	}
	return false
}

// reads reports whether addresses of the form are looked for and can be proven.
func (s *scan) reads(form grammar.Form) bool { return len(s.forms[form]) > 0 }

// lettered reports whether the gazetteer has a country whose postcodes end with two
// letters, where the text names the country written, or none.
func (s *scan) lettered(written string) bool {
	if written != "" {
		return grammar.Find(written).Letters && s.p.has[written]
	}
	return s.p.letters
}

// tokens returns the tokens of the window text[lo:hi], in the room of t.
func (s *scan) tokens(lo, hi int, t grammar.Tokens) grammar.Tokens {
	s.windows++
	return grammar.Tokenize(s.text, lo, hi, t)
}

// wordBoundary reports whether c can stand before the first letter of a word.
func wordBoundary(c byte) bool {
	return c <= ' ' || c == ',' || c == '-' || c == '(' || c == '|' || c == '.' || c >= 0x80
}

// postcode tries the digits text[i:j] as a postcode of any country.
func (s *scan) postcode(i, j int) {
	text := s.text
	n := j - i
	if i < s.end || j < len(text) && isLetterAt(text, j) &&
		!(n == 4 && s.lettered("") && s.codeLetters(i, j) > j) {
		return
	}
	if n == 9 && s.reads(grammar.CityStateZIP) && s.zip(i, i+5) {
		return
	}
	if n > 5 {
		s.gluedPostcode(i, j)
		return
	}
	if i > 0 {
		switch c := text[i-1]; c {
		case '.', ',', '+', '#', '_', '=', '&', '%', '@', '$', ':':
			if c != ',' && c != '.' && c != ':' || i > 1 && text[i-2]-'0' <= 9 ||
				c == '.' && i > 1 && text[i-2] > ' ' && (i < 3 || !isLetterAt(text, i-2)) {
				return
			}
		}
	}
	if s.reads(grammar.CityStateZIP) && s.zip(i, j) || s.provincePostcode(i, j) {
		return
	}
	if s.only != grammar.AnyForm && s.only != grammar.CodeCity {
		return
	}
	if j < len(text) && (text[j] == '%' || text[j] == '.' && j+1 < len(text) && text[j+1]-'0' <= 9 ||
		text[j] == '/' || text[j] == ':' || text[j] == '*') {
		return
	}
	start, country := s.prefix(i)
	if start == i && i > 0 && isLetterAt(text, lastRune(text, i)) {
		return // "Tauchgebiete21955 Titel"
	}
	s.codeCity(start, i, j, text[i:j], country, 0)
}

// lastRune returns the index of the rune that ends before i.
func lastRune(text string, i int) int {
	_, n := utf8.DecodeLastRuneInString(text[:i])
	return i - n
}

func isLetterAt(text string, i int) bool {
	if c := text[i]; c < utf8.RuneSelf {
		return c|0x20-'a' <= 25 && c|0x20 >= 'a'
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.IsLetter(r)
}

// gluedPostcode reads house number and postcode without a space between them,
// as it happens where line breaks were lost: "Winterstraße 222765 Hamburg".
func (s *scan) gluedPostcode(i, j int) {
	if j-i > 8 {
		return
	}
	k := i
	for k > 0 && (s.text[k-1] == ' ' || s.text[k-1] == '.') {
		k--
	}
	if k == i || k == 0 || !isLetterAt(s.text, lastRune(s.text, k)) {
		return
	}
	for _, land := range s.p.lands {
		if land.Glued && (s.hint == "" || s.hint == land.Code) {
			s.codeCity(j-5, j-5, j, s.text[j-5:j], land.Code, 3)
		}
	}
}

// prefix returns where the country prefix before the postcode at i begins ("D-",
// "CH-", "A - ") and its country; i and "" where there is none.
func (s *scan) prefix(i int) (int, string) {
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
	if k == end || k > 0 && (isLetterAt(text, lastRune(text, k)) || text[k-1]-'0' <= 9) {
		return i, ""
	}
	country := grammar.CountryOfPrefix(text[k:end])
	if country == "" || !hyphen && end == i || grammar.Find(country).Listed && !s.p.has[country] && s.hint != country {
		return i, ""
	}
	if !hyphen && len(text[k:end]) == 1 && k > 0 && text[k-1] == ' ' && k > 1 && text[k-2]-'0' <= 9 {
		return i, "" // "Hauptstraße 12 A 1210": rather a house number
	}
	return k, country
}

// A match is a city found beside a postcode.
type match struct {
	area  *area
	start int // of the city in the text
	end   int
	weak  bool
	score int

	neighbour bool // the postcode is that of a place close by
	unlocated bool // the gazetteer knows the city and not the postcode
}

// country is that of the area, "" without one.
func (m match) country() string {
	if m.area == nil {
		return ""
	}
	return m.area.place.Country
}

// codeCity reads "postcode city" with the code at text[i:j], its country
// prefix at start. minStrength is what the street must have at least.
func (s *scan) codeCity(start, i, j int, code, country string, minStrength int) {
	end := j
	if len(code) == 4 && s.lettered(country) {
		end = s.codeLetters(i, j)
	}
	if !wordFollows(s.text, end) {
		return
	}
	t := s.tokensAfter(end)
	k := 0
	for k < len(t) && k < 3 && (t[k].Kind == grammar.Break ||
		t[k].Kind == grammar.Mark && strings.Contains(",-–|*/'’‘", t[k].Text())) { // "'s-Hertogenbosch"
		k++
	}
	if t.At(k).Kind != grammar.Word || !t[k].Space && k == 0 {
		return
	}
	k = skipPlaceLabel(s.text, t, k)
	nextLine := t[0].Kind == grammar.Break
	doubt := 0.0
	var best match
	ok := false
	if end > j { // the whole code, where the gazetteer has it
		best, ok = s.longest(s.p.codes.areas(strings.ToUpper(s.text[i:end])), country, t, k, true)
	}
	if !ok {
		best, ok = s.cityAfter(code, country, t, k, end > j)
	}
	if land := grammar.Find(best.country()); ok && land.Letters && end == j && s.hint != land.Code {
		minStrength = 3 // "1017 Amsterdam" may be a year or an amount
	}
	if !ok {
		doubt = 0.1
		if best, ok = s.cityNear(code, country, t, k); ok && best.unlocated {
			minStrength = 4
		} else if !ok {
			best, ok = s.unproven(code, country, t, k)
			minStrength = 3
		} else if best.neighbour {
			minStrength = max(minStrength, 1)
		}
	}
	if !ok {
		s.reject(start, s.behind(t, end), func() string { return s.disagreement(code, country) })
		return
	}
	a := Address{
		Start: start, End: best.end,
		Postcode: s.text[i:end], City: s.text[best.start:best.end],
		State: best.area.place.State, Country: best.area.place.Country,
		Level: CityLevel, Place: best.area.place, Confidence: confidencePlace - doubt,
	}
	if best.weak {
		a.Confidence -= 0.1
	}
	known := s.known(&a)
	street, ok := s.streetBefore(&a, s.tokensBefore(start), known)
	if (!ok || street.Number.Empty()) && (minStrength < 3 || s.isUnproven(a.Country)) {
		if next, found := s.streetAfter(best.end, known); found {
			street, ok = next, true
		} else if known != nil && !ok {
			street, ok = grammar.KnownAfter(s.tokensAfter(best.end), known)
		}
	}
	reason := ""
	switch {
	case minStrength > 0 && (!ok || street.Strength < minStrength || street.Number.Empty()):
		reason = "the postcode is a neighbour's, and no street with a number stands beside it"
	case !ok:
		reason = s.noPlace(start, best, nextLine, len(code) == 4 && country == "" && (doubt > 0 || s.yearLike(code, best)))
	}
	if reason != "" {
		s.reject(start, best.end, because(reason))
		return
	}
	s.keep(a, street, ok)
}

// noPlace returns why "postcode city" without a street is no address, or "". year: the code may be a
// year or an amount.
func (s *scan) noPlace(start int, city match, nextLine, year bool) (reason string) {
	switch {
	case city.weak || !grammar.Capital(s.text[city.start:]) || nextLine:
		return "no street, and the city is not clearly named"
	case s.digitsBefore(start): // "Tel. 030 10115 Berlin"
		return "another number stands right before it"
	case year:
		return "rather a year or an amount than a postcode"
	}
	return ""
}

// streetBefore reads the street that ends with t.
func (s *scan) streetBefore(a *Address, t grammar.Tokens, known grammar.Known) (grammar.Street, bool) {
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
	street, ok = s.preferKnown(t, street, ok, known, land.NumberFirst)
	if ok && s.isTown(street, a.City) {
		return grammar.Street{POBox: street.POBox}, !street.POBox.Empty()
	}
	return street, ok
}

// isTown reports whether a street is only the city named once more, "Oldenburg, 26121 Oldenburg",
// even where a street is called so. With a number behind it, it is a village without streets.
func (s *scan) isTown(street grammar.Street, city string) bool {
	numbered := !street.Number.Empty() && street.Number.Start > street.Name.Start
	return !numbered && city != "" && gazetteer.Key(street.Name.Of(s.text)) == gazetteer.Key(city)
}

// preferKnown returns the street of the gazetteer that ends with t, whatever it is called, instead of
// what the grammar read there, unless that is one with its number. known may be nil.
func (s *scan) preferKnown(
	t grammar.Tokens, street grammar.Street, ok bool, known grammar.Known, numberFirst bool,
) (grammar.Street, bool) {
	if known == nil || ok && !street.Number.Empty() &&
		(street.Strength == 4 || known(street.Name.Of(s.text))) {
		return street, ok
	}
	better, found := grammar.KnownBefore(t, known, numberFirst)
	if !found || ok && better.Number.Empty() && (!street.Number.Empty() || street.Strength == 4) {
		return street, ok
	}
	if ok && street.Name.Start == better.Name.Start && better.Unit.Empty() {
		if better.Unit = street.Unit; better.Name.End < street.Name.End { // a building behind the street
			better.Unit = grammar.Span{Start: better.Name.End, End: max(street.Name.End, street.Unit.End)}
		}
	}
	if better.POBox.Empty() {
		better.POBox = street.POBox
	}
	return better, true
}

// skipPlaceLabel returns the index behind the label at token k, which a city
// must follow: "Ort: Oldenburg".
func skipPlaceLabel(text string, t grammar.Tokens, k int) int {
	if !grammar.PlaceLabel(t[k].Text()) {
		return k
	}
	for i := k + 1; i < len(t) && i < k+4; i++ {
		switch {
		case t[i].Kind == grammar.Word && i > k+1:
			return i
		case t[i].Kind != grammar.Break && t[i].Text()[0] != ':':
			return k
		}
	}
	return k
}

// digitsBefore reports whether a number stands right before i in its line.
func (s *scan) digitsBefore(i int) bool {
	for i > s.end && s.text[i-1] == ' ' {
		i--
	}
	return i > 0 && s.text[i-1]-'0' <= 9
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
func (s *scan) yearLike(code string, m match) bool {
	return code >= "1900" && code <= "2039" || s.hint != "" && s.hint != m.area.place.Country
}

// codeLetters returns the end of the two letters of the postcode text[i:j] ("1012 JS"), or j. In small
// letters the gazetteer must know the code, where they stand apart the whole of it: "3811 ab".
func (s *scan) codeLetters(i, j int) int {
	text := s.text
	k := j
	if k < len(text) && text[k] == ' ' {
		k++
	}
	if k+2 > len(text) || text[k]|0x20-'a' > 25 || text[k+1]|0x20-'a' > 25 || k+2 < len(text) && isLetterAt(text, k+2) {
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
	if text[k] >= 'a' && text[k+1] >= 'a' && slices.ContainsFunc(s.p.codes.areas(code), isLettered) {
		return k + 2
	}
	return j
}

// tokensAfter returns the tokens of the window after i, until the next call.
func (s *scan) tokensAfter(i int) grammar.Tokens {
	end := min(len(s.text), i+windowAfter)
	for end < len(s.text) && end > i && !utf8.RuneStart(s.text[end]) {
		end--
	}
	s.after = s.tokens(i, end, s.after[:0])
	return s.after
}

// tokensBefore returns those of the window before i, until the next call.
func (s *scan) tokensBefore(i int) grammar.Tokens {
	if window := (grammar.Span{Start: s.windowStart(i), End: i}); window != s.window {
		s.before, s.window = s.tokens(window.Start, i, s.before[:0]), window
	}
	return s.before
}

// windowStart returns where the window before i begins: at the end of the last
// address, a few lines or windowBefore bytes back.
func (s *scan) windowStart(i int) int {
	lo := max(s.end, i-windowBefore, 0)
	lines := 0
	for k := i - 1; k >= lo; k-- {
		if s.text[k] == '\n' && k+1 < i && s.text[k+1] != '\n' {
			if lines++; lines > linesBefore {
				return k + 1
			}
		}
	}
	if lo > 0 && lo > s.end {
		// begin with a whole word
		for k := lo; k < i; k++ {
			if s.text[k] == ' ' || s.text[k] == '\n' {
				return k
			}
		}
	}
	for lo < i && !utf8.RuneStart(s.text[lo]) {
		lo++
	}
	return lo
}

// cityAfter returns the longest name of a city of the code that begins with
// token k.
func (s *scan) cityAfter(code, country string, t grammar.Tokens, k int, letters bool) (match, bool) {
	best, ok := s.longest(s.p.codes.areas(code), country, t, k, letters)
	for _, land := range s.p.lands {
		if ok || country != "" && country != land.Code {
			continue
		}
		if land.CodePrefix != "" && land.Fits(code) {
			best, ok = s.longest(s.p.codes.areas(land.CodePrefix+code), land.Code, t, k, letters)
		}
		if land.LostZero && len(code) == 4 {
			best, ok = s.longest(s.p.codes.areas("0"+code), land.Code, t, k, letters)
			ok = ok && !best.weak
		}
	}
	return best, ok
}

// longest matches the names of areas with the words from token k on.
func (s *scan) longest(areas []area, country string, t grammar.Tokens, k int, letters bool) (match, bool) {
	fits := func(a area) bool {
		land := grammar.Find(a.place.Country)
		return (country == "" || land.Code == country) && land.Form == grammar.CodeCity &&
			(letters == land.Letters || !letters)
	}
	if !slices.ContainsFunc(areas, fits) {
		return match{}, false
	}
	var best match
	start := t[k].Start
	if k > 0 && t[k-1].Kind == grammar.Mark && strings.Contains("'’‘", t[k-1].Text()) {
		start = t[k-1].Start // "'s-Hertogenbosch"
	}
	for m := k; m < len(t) && m < k+8; m++ {
		tok := t[m]
		if tok.Kind == grammar.Mark && m > k && strings.Contains("/(-.'’&", tok.Text()) {
			continue
		}
		if tok.Kind != grammar.Word && tok.Kind != grammar.Number {
			break
		}
		name := grammar.Phrase(t[k : m+1])
		found := match{start: start, end: trimCity(s.text, t[k].Start, tok.End)}
		best = s.better(best, found, areas, fits, gazetteer.Key(name), m-k)
		if h := strings.IndexByte(name, '-'); m == k && h >= 3 { // "Beelitz-Heilstätten" of 14547 Beelitz
			if part := s.better(match{}, found, areas, fits, gazetteer.Key(name[:h]), 0); part.area != nil {
				best = part
			}
		}
	}
	if best.area == nil {
		return match{}, false
	}
	best.end = s.qualifier(best, t)
	return best, true
}

// trimCity returns the end of a city's name without a full stop.
func trimCity(text string, start, end int) int {
	for end > start && (text[end-1] == '.' || text[end-1] == '-') {
		end--
	}
	return end
}

// better returns found with the area that fits and is called key, if that is better than best.
func (s *scan) better(best, found match, areas []area, fits func(area) bool, key string, words int) match {
	for i := range areas {
		a := &areas[i]
		n := slices.IndexFunc(a.names, func(name cityName) bool { return name.key == key })
		if key == "" || n < 0 || !fits(*a) {
			continue
		}
		found.area, found.weak = a, a.names[n].weak
		found.score = weightWord*(words+1) + s.weigh(&a.place)
		if found.weak {
			found.score += weightPart
		}
		if key == gazetteer.Key(a.place.City) {
			found.score += weightUsual
		}
		if best.area == nil || found.score > best.score {
			best = found
		}
	}
	return best
}

// qualifier returns the end of the city with its qualifier in another spelling: "Frankfurt/M.",
// "Halle (Saale)".
func (s *scan) qualifier(m match, t grammar.Tokens) int {
	text := s.text
	k := 0
	for k < len(t) && t[k].Start < m.end {
		k++
	}
	var initial byte
	for _, name := range m.area.names {
		if name.rest != 0 {
			initial = name.rest
		}
	}
	if k < len(t) && t[k].Text()[0] == ')' && strings.Contains(text[m.start:m.end], "(") {
		return t[k].End
	}
	marks := 0
	for i := k; i < len(t) && i < k+5; i++ {
		tok := t[i]
		s := tok.Text()
		switch tok.Kind {
		case grammar.Mark:
			if s != "/" && s != "(" && s != "-" && s != "." || marks == 2 {
				return m.end
			}
			marks++
		case grammar.Word:
			if grammar.CityLink(s) && t.At(i+1).Kind == grammar.Word {
				continue
			}
			r, _ := utf8.DecodeRuneInString(s)
			if strings.HasPrefix(s, "a.") && len(s) > 2 || strings.HasPrefix(s, "i.") && len(s) > 2 {
				r, _ = utf8.DecodeRuneInString(s[2:])
			}
			glued := i == k+1 && marks == 1 && !t[k].Space && !tok.Space && t[k].Text()[0] == '/' &&
				grammar.Capital(s)
			if i == k && !strings.Contains(s, ".") || !glued &&
				(initial == 0 || grammar.FoldInitial(r) != initial || marks == 0 && i == k) {
				return m.end
			}
			end := tok.End
			if i+1 < len(t) && t[i+1].Text() == ")" {
				end = t[i+1].End
			}
			return trimCity(text, m.start, end)
		default:
			return m.end
		}
	}
	return m.end
}

// near is how far the known areas of a city may lie from a postcode that
// belongs to a neighbour, in kilometres.
const near = 25

// cityNear accepts a city beside a postcode that the gazetteer does not have
// (post boxes, bulk users) if the city has other codes with the same first two
// digits, or a known city beside a postcode of its neighbour if their areas lie
// close.
func (s *scan) cityNear(code, country string, t grammar.Tokens, k int) (match, bool) {
	text := s.text
	start := t[k].Start
	if !grammar.Capital(text[start:]) {
		return match{}, false
	}
	areas := s.p.codes.areas(code)
	isNew := func(city gazetteer.Place) bool {
		return s.wants(city.Country, country) &&
			!slices.ContainsFunc(areas, func(a area) bool { return a.place.Country == city.Country })
	}
	for n := min(k+3, len(t)) - 1; n >= k; n-- {
		end := trimCity(text, start, t[n].End)
		if end-start < 3 || !nameTokens(text, t[k:n+1]) {
			continue
		}
		cities := s.p.codes.cities(country, text[start:end])
		if len(cities) > 0 && grammar.Find(country).BoxCodes {
			return match{area: &area{place: cities[0]}, start: start, end: end}, true
		}
		if slices.ContainsFunc(cities, isNew) {
			likely := s.p.g.CitiesByCode(country, text[start:end], code)
			if i := slices.IndexFunc(likely, isNew); i >= 0 {
				return match{area: &area{place: likely[i]}, start: start, end: end}, true
			}
		}
		for _, city := range cities {
			if !s.wants(city.Country, country) || !grammar.Find(city.Country).Fits(code) {
				continue
			}
			if s.p.streets && grammar.Find(city.Country).Listed {
				return match{area: &area{place: city}, start: start, end: end, unlocated: true}, true
			}
			for i := range areas {
				a := areas[i].place
				if a.Country == city.Country && a.HasPoint && city.HasPoint && kilometres(a.Point, city.Point) < near {
					return match{area: &areas[i], start: start, end: end, neighbour: true}, true
				}
			}
		}
	}
	return match{}, false
}

// unproven accepts what has the form of postcode and city in a country that the
// gazetteer knows nothing of, if the caller, the host, the prefix of the code or
// the name behind the city says which. A street word and a house number must
// stand beside it.
func (s *scan) unproven(code, country string, t grammar.Tokens, k int) (match, bool) {
	text := s.text
	if !grammar.Capital(text[t[k].Start:]) {
		return match{}, false
	}
	m := k
	for m+1 < len(t) && m < k+6 && (t[m+1].Kind == grammar.Word && (grammar.Capital(text[t[m+1].Start:]) ||
		m+2 < len(t) && grammar.NameParticle(t[m+1].Text())) || t[m+1].Kind == grammar.Mark &&
		strings.Contains("-'’", t[m+1].Text())) {
		m++
	}
	named := country
	for _, by := range [...]string{strings.ToUpper(s.in.Country), s.hint, grammar.CountryAfter(t[m+1:])} {
		if named == "" {
			named = by
		}
	}
	land := grammar.Find(named)
	if !s.isUnproven(named) || !s.only.Allows(named) || !land.Fits(code) {
		return match{}, false
	}
	for t[m].Kind != grammar.Word || m > k && land.Province && t[m].End-t[m].Start == 2 {
		m-- // "Milano MI"
	}
	end := t[m].End
	if t.At(m+1).Kind == grammar.Number && t[m+1].End-t[m+1].Start <= 2 &&
		strings.EqualFold(t[m].Text(), "cedex") {
		end = t[m+1].End // "Paris Cedex 08"
	}
	state := ""
	if land.StateOf != nil {
		state = land.StateOf(code)
		if short := strings.TrimSuffix(text[t[k].Start:end], " "+state); strings.HasSuffix(short, ".") {
			end = t[k].Start + len(short) - 1 // "28232 Las Rozas. Madrid"
		}
	}
	city := fold(text[t[k].Start:end])
	place := gazetteer.Place{Names: []string{city}, Postcode: code, City: city, State: state, Country: named}
	return match{area: &area{place: place}, start: t[k].Start, end: end}, true
}

// isUnproven reports whether the gazetteer has no data of a country.
func (s *scan) isUnproven(country string) bool { return country != "" && !s.p.has[country] }

// wants reports whether a place of country may be meant where the text names the
// country written, or none.
func (s *scan) wants(country, written string) bool {
	if written != "" {
		return country == written
	}
	return grammar.Find(country).Form == grammar.CodeCity && (s.hint == "" || s.hint == country)
}

// nameTokens reports whether the tokens are the words of one name.
func nameTokens(text string, t grammar.Tokens) bool {
	for _, tok := range t {
		if tok.Kind != grammar.Word && !(tok.Kind == grammar.Mark && tok.Text()[0] == '.') {
			return false
		}
	}
	return t[len(t)-1].Kind == grammar.Word
}

// kilometres returns the distance of two points.
func kilometres(a, b orb.Point) float64 { return geo.Distance(a, b) / 1000 }

// maxChain bounds the addresses read to learn their order.
const maxChain = 8

// streetAfter reads "postcode city, street number" behind the city.
func (s *scan) streetAfter(end int, known grammar.Known) (grammar.Street, bool) {
	first, ok := s.nextStreet(end, known)
	if !ok {
		return first, false
	}
	// The street may belong to the postcode after it. In a list the last address decides: it ends
	// with a street or a city.
	street := first
	for range maxChain {
		city := s.nextCity(street.Number.End)
		if city < 0 {
			return first, true
		}
		if street, ok = s.nextStreet(city, nil); !ok {
			return first, false
		}
	}
	return first, false
}

// nextStreet reads the street and house number that begin at i.
func (s *scan) nextStreet(i int, known grammar.Known) (grammar.Street, bool) {
	return grammar.StreetAfter(s.tokensAfter(i), known)
}

// nextCity returns the end of the words behind the postcode that follows i, or
// -1 if none follows.
func (s *scan) nextCity(i int) int {
	text := s.text
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
func (s *scan) known(a *Address) grammar.Known {
	if !s.p.streets {
		return nil
	}
	q := gazetteer.Query{Postcode: codeOf(a.Place, a.Postcode), City: a.City, Country: a.Country}
	if q.Postcode == "" {
		q.State = a.Place.State
	}
	return func(name string) bool {
		if !s.p.g.HasStreet(name) {
			return false
		}
		q.Street = name
		return len(s.p.g.Streets(q)) > 0
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
		return fold(sp.Of(text))
	}
	if !s.Name.Empty() {
		a.Street = take(s.Name)
		a.HouseNumber = take(s.Number)
	}
	a.Unit = take(s.Unit)
	a.POBox = take(s.POBox)
}

// keep takes the street, where there is one, looks the address up and adds it.
func (s *scan) keep(a Address, street grammar.Street, ok bool) {
	if ok {
		a.takeStreet(s.text, street)
	}
	s.resolve(&a, street.Strength)
	s.add(a)
}

// add keeps the address.
func (s *scan) add(a Address) {
	a.Text = shown(s.text[a.Start:a.End])
	a.Postcode, a.City = fold(a.Postcode), fold(a.City)
	if a.Role = thirdParty(s.text, s.end, a.Start); a.Role.ThirdParty() {
		a.Confidence = min(a.Confidence, confidenceWeak)
	}
	s.others(&a)
	s.found = append(s.found, a)
	s.end = a.End
}
