package grammar

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// USBefore reads the street that stands before the city of an address of the
// United States: number, directional, name, type, directional, unit, in up to
// four lines. t are the tokens that end where the city begins. With strict, the
// street must have a number and a street word, and there must be no date (there
// is no postcode to prove the rest).
func USBefore(t Tokens, strict bool) (Street, bool) {
	var best Street
	bestScore := -1
	tries := 0
	for i := len(t) - 1; i >= 0 && tries < 12; i-- {
		n := usNumber(t, i)
		if n == 0 {
			continue
		}
		tries++
		if strict && (yearOfDate(t, i) || holdsDate(t[i+n:])) {
			continue // "Jun 3, 1953 Palm Beach FL - May 4, 2011 Houston TX"
		}
		s, score, ok := usStreet(t, i, n)
		if !ok || strict && (s.Strength < 3 || proseName(s.Name.In(t))) ||
			s.Strength == 1 && t.At(i-1).Kind == Word && t[i-1].capital() {
			continue
		}
		if score > bestScore {
			best, bestScore = s, score
		}
	}
	if bestScore >= 0 {
		return best, true
	}
	if s, ok := crossingBefore(t); ok || strict {
		return s, ok
	}
	return LineBefore(t)
}

// crossingBefore reads two streets that cross and end where the city begins:
// "64th Street and Fifth Avenue", "the corner of Main St. & 5th Ave".
func crossingBefore(t Tokens) (Street, bool) {
	end := backOver(t, len(t), ",|·-–(")
	for i := end - 2; i > 0 && i >= end-6; i-- {
		if !t[i].isWord("and", "at") && !t[i].isMark("&@/") {
			continue
		}
		start := i
		for start > 0 && i-start < 5 && (t[start-1].Kind == Word && t[start-1].capital() ||
			t[start-1].Kind == Number && Ordinal(t[start-1].Text()) ||
			i-start > 0 && t[start-1].isMark(".")) {
			start--
		}
		for ; start < i; start++ {
			first, second := start, i+1
			if _, strength, next := usName(t, first, i); strength < 3 || backOver(t[:i], i, ".") > next {
				continue
			}
			if _, strength, next := usName(t, second, end); strength < 3 || next != end {
				break
			}
			return Street{Name: Span{t[first].Start, trimWord(t[end-1])}, Strength: 3, Crossing: true}, true
		}
	}
	return Street{}, false
}

// proseName reports whether what looks like a street's name is rather a piece of
// a sentence: "at the Research Park", "edge points".
func proseName(name string) bool {
	words := strings.Fields(name)
	if proseWords[words[0]] {
		return true
	}
	return name == strings.ToLower(name) && !slices.ContainsFunc(words,
		func(w string) bool { return roads[LowerASCII(w)] || usLead[w] || usAlone[w] })
}

// yearOfDate reports whether the number at i is the year of a date in its line:
// "Sep 16, 1967", "16 Sep 1967", "Sep 1967".
func yearOfDate(t Tokens, i int) bool {
	if year := leadingInt(t[i].Text()); t[i].Kind != Number || year < 1500 || year > 2100 {
		return false
	}
	k := i - 1
	if k > 0 && t[k].isMark(",") {
		k--
	}
	if k > 0 && t[k].Kind == Number && dayOfMonth(t[k]) {
		k--
	}
	return k >= 0 && t[k].Kind == Word && months[t[k].lower()]
}

// holdsDate reports whether a month beside a day or year is among t: "Nov 10",
// "3rd May", "Aug 1970".
func holdsDate(t Tokens) bool {
	for i := range t {
		if t[i].Kind != Word || !months[t[i].lower()] {
			continue
		}
		if i > 0 && dayOfMonth(t[i-1]) || i+1 < len(t) && (dayOfMonth(t[i+1]) || yearOfDate(t, i+1)) {
			return true
		}
	}
	return false
}

func dayOfMonth(tok Token) bool {
	day := 0
	if tok.Kind == Number {
		day = leadingInt(tok.Text())
	}
	return day >= 1 && day <= 31
}

// USForward reads a street that begins with token i, as far as it goes, and
// returns the index behind it. It is for single lines without city or postcode.
func USForward(t Tokens, i int) (Street, int, bool) {
	n := usNumber(t, i)
	if n == 0 {
		return Street{}, i, false
	}
	end := segmentEnd(t, i+n)
	name, strength, k := usName(t, i+n, end)
	if name.Empty() {
		return Street{}, i, false
	}
	if j := secondNumber(t, i+n+1, k); j > 0 {
		// "1000 Cathedral Pl 925 W Georgia St": a building before the street
		if s, after, ok := USForward(t, j); ok && s.Strength == 3 && s.Unit.Empty() {
			s.Unit = Span{t[i].Start, t[j-1].End}
			return s, after, true
		}
	}
	s := Street{Name: name, Number: Span{t[i].Start, t[i+n-1].End}, Strength: strength}
	for k < len(t) {
		j := skipSeparators(t, k)
		u := usUnit(t, j)
		if u == 0 {
			u = bareUnit(t, j)
		}
		if u == 0 {
			break
		}
		addUnit(&s, t, j, j+u)
		k = j + u
	}
	if s.Unit.Empty() {
		s.Unit = unitAhead(t, i)
	}
	return s, k, true
}

// secondNumber returns the index in t[from:end] of a house number behind the
// name of a building, or 0.
func secondNumber(t Tokens, from, end int) int {
	for j := from; j+1 < end; j++ {
		if t[j].Kind == Number && t[j].size() >= 2 && usHouseNumber(t[j].Text()) && t[j-1].Kind == Word &&
			usPlaces[t[j-1].lower()] && (t[j+1].Kind == Word || Ordinal(t[j+1].Text())) {
			return j
		}
	}
	return 0
}

// bareUnit returns how many tokens from i to the end are a unit without a
// word: "900", "36M", "C-5"; 0 for none.
func bareUnit(t Tokens, i int) int {
	switch {
	case i+1 == len(t) && t[i].Kind == Number && t[i].size() <= 4 && !Ordinal(t[i].Text()):
		return 1
	case i+2 == len(t) && t[i].Kind == Word && t[i].size() <= 2 && t[i+1].Kind == Number && !t[i+1].Space:
		return 2
	}
	return 0
}

// USPostBox reads a post box that begins with token i.
func USPostBox(t Tokens, i int) (Street, int, bool) {
	n := postBox(t, i)
	if n == 0 {
		return Street{}, i, false
	}
	s := Street{POBox: Span{t[i].Start, t[i+n-1].End}}
	s.Unit = unitAhead(t, i)
	return s, i + n, true
}

// RoadWord reports whether w is a street word or directional, which a city's
// name hardly is: "Avenue", "N".
func RoadWord(w string) bool {
	w = LowerASCII(w)
	return usTypes[w] || directions[w]
}

// usNumber returns how many tokens from i on are a house number: "12", "226
// 1/2", "N112 W16700", "One"; 0 for none.
func usNumber(t Tokens, i int) int {
	if i > 0 && slices.ContainsFunc(otherNumbers, func(is func(Tokens, int) bool) bool { return is(t, i) }) {
		return 0
	}
	if t[i].Kind == Number && !usHouseNumber(t[i].Text()) &&
		!(atStart(t, i) && unitAndNumber(t[i].Text()) && t.At(i+1).Kind == Word) {
		return 0
	}
	for _, form := range numberForms {
		if n, is := form(t, i); is {
			return n
		}
	}
	return b2i(t[i].Kind == Number)
}

// otherNumbers tell by what stands before token i that it is no house number.
var otherNumbers = []func(t Tokens, i int) bool{
	func(t Tokens, i int) bool { return t[i-1].isMark("#$€£№") },
	func(t Tokens, i int) bool { // glued to what stands before it, but for "Perth493 Charles Street"
		prev := t[i-1]
		return !t[i].Space && (prev.Kind == Word && !gluedName(prev.Text(), t[i].Text()) ||
			prev.Kind == Number || prev.isMark("-–.+&=_@%"))
	},
	func(t Tokens, i int) bool { // "Units 3 & 4"
		return i > 2 && t[i-1].isMark("&") && t[i-2].Kind == Number && t[i-3].isWord("units", "suites")
	},
	func(t Tokens, i int) bool { // "Suite 500", but for "Unit 4/12" and "No. 22 The Light"
		prev := t[i-1]
		return prev.Kind == Word && notBeforeNumber[prev.lower()] && !unitSlash(prev.Text(), t[i].Text()) &&
			!labelled(t, i) && !(prev.isWord("floor") && namesFloor(t.At(i-2)))
	},
	func(t Tokens, i int) bool { // "12 - 14 High Street", one side of it, but for "200 - 5050 Kingsway"
		const widest = 50
		first := t.At(i - 2)
		if i < 2 || !t[i-1].isMark("-–") || first.Kind != Number || !atStart(t, i-2) {
			return false
		}
		apart := leadingInt(t[i].Text()) - leadingInt(first.Text())
		return apart > 0 && apart <= widest && apart%2 == 0
	},
	telephone,
	func(t Tokens, i int) bool { // "12345 - 118 Avenue NW"
		return i > 1 && t[i-1].isMark("-–") && t[i-2].Kind == Number && atStart(t, i-2) &&
			t.At(i+1).Kind == Word && usTypes[t[i+1].lower()]
	},
}

// numberForms are the forms of a house number that are more than its digits. Each returns how many
// tokens from i on it is; is: no other form fits.
var numberForms = []func(t Tokens, i int) (n int, is bool){
	func(t Tokens, i int) (int, bool) {
		if t[i].Kind == Number {
			return 0, false
		}
		return numberInWords(t, i), true
	},
	func(t Tokens, i int) (int, bool) { // "200 - 5050 Kingsway", but for "12345 - 118 Avenue NW"
		if i+3 >= len(t) || !t[i+1].isMark("-–") || !t[i+1].Space || t[i+2].Kind != Number ||
			!usHouseNumber(t[i+2].Text()) || t[i+3].Kind != Word || !t[i+3].Space {
			return 0, false
		}
		if usTypes[t[i+3].lower()] && (t.At(i+4).Kind != Word || direction(t[i+4])) {
			return 1, true
		}
		return 3, true
	},
	func(t Tokens, i int) (int, bool) { // "5)", "5%", "5:30"
		next := t.At(i + 1)
		return 0, next.isMark(")%$€°\"“*") || !next.Space && next.isMark(":.")
	},
	func(t Tokens, i int) (int, bool) { // "226 1/2"
		next := t.At(i + 1)
		return 2, next.Kind == Number && strings.Contains(next.Text(), "/") && next.size() == 3
	},
	func(t Tokens, i int) (int, bool) { // "400 A South Boulevard"
		next, third := t.At(i+1), t.At(i+2)
		return 2, next.Kind == Word && next.size() == 1 && next.Space && !direction(next) &&
			third.Kind == Word && !usTypes[third.lower()] && !third.isWord("and")
	},
}

// numberInWords returns how many tokens from i on are a house number of letters: "N112 W16700", "One",
// "Two Hundred"; 0 for none.
func numberInWords(t Tokens, i int) int {
	if t[i].Kind != Word {
		return 0
	}
	if grid := gridNumber(t, i); grid > 0 {
		return grid
	}
	s := t[i].Text()
	if !spelledNumbers[LowerASCII(s)] || !Capital(s) || t.At(i+1).Kind != Word {
		return 0
	}
	return 1 + b2i(i+2 < len(t) && t[i+1].lower() == "hundred")
}

// telephone reports whether the number at i is the second or third group of a
// telephone number: "(555) 123 4567", "555 123 4567".
func telephone(t Tokens, i int) bool {
	group := func(k, n int) bool {
		return k >= 0 && t.At(k).Kind == Number && t[k].size() == n
	}
	area := func(k int) bool { return group(k, 3) || k >= 0 && t[k].isMark(")") }
	return group(i, 3) && group(i+1, 4) && area(i-1) || group(i, 4) && group(i-1, 3) && area(i-2)
}

// unitSlash reports whether number holds a unit and a house number, as Australians
// write it behind a word for the unit: "Unit 4/12".
func unitSlash(word, number string) bool {
	unit, house, ok := strings.Cut(number, "/")
	return ok && unit != "" && house != "" && isDigit(rune(house[0])) && usUnits[LowerASCII(word)]
}

// gluedName reports whether the number s, glued to the word before it, may be a
// house number after a lost line break: "Perth493 Charles Street".
func gluedName(before, s string) bool {
	last := before[len(before)-1]
	return len(before) >= 5 && Capital(before) && 'a' <= last && last <= 'z' && len(s) <= 5 && usHouseNumber(s)
}

// atStart reports whether token i begins a line or part of one.
func atStart(t Tokens, i int) bool {
	return i == 0 || t[i-1].Kind == Break || t[i-1].isMark(",|:;•·")
}

// labelled reports whether a part of a line begins with a word for a number, right before the number at i:
// "No. 12, High Street".
func labelled(t Tokens, i int) bool {
	return t[i-1].isWord("no", "number") && atStart(t, i-1)
}

// namesFloor reports whether a floor is called by tok: "Ground", "2nd".
func namesFloor(tok Token) bool {
	return tok.Kind == Word && (levelWords[tok.lower()] || spelledOrdinals[tok.lower()]) ||
		tok.Kind == Number && Ordinal(tok.Text())
}

// unitAndNumber reports whether s may be a unit and house number, as Canadians
// write it, though it looks like a telephone number: "101-1305".
func unitAndNumber(s string) bool {
	unit, number, ok := strings.Cut(s, "-")
	return ok && len(unit) == 3 && len(number) == 4 && number[0] != '0' && leadingInt(unit) > 0 && unit != "555"
}

// usHouseNumber reports whether s has the form of a US house number: "12", "12A",
// "45-18", "535-B".
func usHouseNumber(s string) bool {
	digits, total, parts := 0, 0, 1
	for i, r := range s {
		switch {
		case isDigit(r):
			digits++
			total++
		case r == '-' || r == '–' || r == '&':
			parts++
			digits = 0
		case r == '/' && i > 0:
			digits = 0
		case unicode.IsLetter(r):
		default:
			return false
		}
		if digits > 6 {
			return false
		}
	}
	phone := parts == 2 && total == 7 && digits == 4 // "555-0199"
	return parts <= 2 && total <= 9 && !phone && !Ordinal(s)
}

// gridNumber reads "N112 W16700" and "W156N8000"; it returns the number of its
// tokens or 0.
func gridNumber(t Tokens, i int) int {
	n := 0
	for i+n+1 < len(t) && n < 4 {
		d, num := t[i+n], t[i+n+1]
		if d.Kind != Word || d.size() != 1 || !strings.Contains("NSEWnsew", d.Text()) ||
			num.Kind != Number || num.Space {
			break
		}
		n += 2
	}
	if n == 0 || leadingInt(t[i+1].Text()) < 10 {
		return 0
	}
	if n == 2 && (leadingInt(t[i+1].Text()) < 1000 ||
		!atStart(t, i)) { // "E4 Street" is none, "N7120 State Road 59" is
		return 0
	}
	return n
}

// usStreet reads the street whose number is t[i:i+n] up to the end of t.
func usStreet(t Tokens, i, n int) (Street, int, bool) {
	from := i + n
	stated := atStart(t, i) || t[i-1].isWord("at") || labelled(t, i) // "situated at 30, Okken Avenue"
	if stated && from+1 < len(t) && t[from].isMark(",-–") && t[from+1].Space &&
		(t[from+1].Kind == Word || t[from+1].Kind == Number && t.At(from+2).Kind == Word &&
			usTypes[t[from+2].lower()]) {
		from++ // "4260, Still Creek Drive", "5320 - Roper Road"
	}
	end := segmentEnd(t, from)
	name, strength, k := usName(t, from, end)
	if from > i+n && strength < 3 {
		return Street{}, 0, false
	}
	if name.Empty() || t[i+n].isWord("sq", "square") && i+n+1 < len(t) &&
		(t[i+n+1].isMark(".") || t[i+n+1].isWord("ft", "feet")) {
		return Street{}, 0, false
	}
	s := Street{Name: name, Number: Span{t[i].Start, t[i+n-1].End}, Strength: strength}
	if num := t[i].Text(); t.At(i-1).Kind == Word && unitSlash(t[i-1].Text(), num) {
		slash := t[i].Start + strings.IndexByte(num, '/')
		s.Unit, s.Number.Start = Span{t[i-1].Start, slash}, slash+1
	}
	score := 2 * strength
	if i == 0 || t[i-1].Kind == Break || t[i-1].isMark("|:;,•·*(") || t[i-1].isMark("-–—") && t[i].Space {
		score += 3
		if strength == 1 {
			s.Strength = 2
		}
	}
	unknown, breaks, ok := behindStreet(t, k, &s)
	if !ok || unknown > 6 || breaks > 4 {
		return Street{}, 0, false
	}
	if s.Unit.Empty() {
		s.Unit = unitAhead(t, i)
	}
	score -= unknown
	if unknown > 0 && s.Strength < 3 || score < 0 {
		return Street{}, 0, false
	}
	return s, score, true
}

// behindStreet reads what stands between a street and its city, from token k on, units
// above all. It counts the words that it does not know, which may be the name of a
// building, and line breaks; ok is false where a word never stands in an address.
func behindStreet(t Tokens, k int, s *Street) (unknown, breaks int, ok bool) {
	for k < len(t) {
		tok := t[k]
		switch {
		case tok.Kind == Break:
			breaks++
			k = skipInstitution(t, k+1)
			continue
		case tok.Kind == Mark && !tok.isMark("#"):
			if tok.isMark("(") {
				if j := closing(t, k); j > 0 {
					k = j
					continue
				}
			}
			k++
			continue
		}
		if u := usUnit(t, k); u > 0 {
			addUnit(s, t, k, k+u)
			k += u
			continue
		}
		if tok.Kind == Word && PlaceLabel(tok.Text()) &&
			(t[k-1].Kind == Break || k+1 == len(t) || t[k+1].isMark(":")) {
			k++ // "City: Chicago"
			continue
		}
		if tok.isWord("in") && k == len(t)-1 {
			k++ // "1391 Smizer Mill Road in Fenton Missouri"
			continue
		}
		if tok.Kind == Number && isLocalPhone(tok.Text()) {
			k++
			continue
		}
		if tok.Kind == Number && tok.size() <= 4 && !Ordinal(tok.Text()) &&
			(k+1 == len(t) || t[k+1].Kind == Break || t[k+1].isMark(",")) {
			addUnit(s, t, k, k+1) // "PEACHTREE ST NE 900, ATLANTA", "W. Washington, 1506, Chicago"
			k++
			continue
		}
		if tok.Kind == Word && usStops[tok.lower()] {
			return 0, 0, false
		}
		unknown++
		if tok.Kind == Number {
			unknown++
		}
		// the name of a building
		if s.Unit.Empty() {
			s.Unit.Start = tok.Start
		}
		s.Unit.End = max(s.Unit.End, trimWord(tok))
		k++
	}
	return unknown, breaks, true
}

// isLocalPhone reports whether a number is of a telephone, without its area code: "555-0142".
func isLocalPhone(number string) bool {
	return len(number) == len("555-0142") && strings.IndexAny(number, "-.") == 3
}

// skipInstitution returns the index behind the line that begins with token k, if
// that is the name of an institution and not the last before the city: what
// stands between a building and its city on a campus. Else it returns k.
func skipInstitution(t Tokens, k int) int {
	named := false
	for j := k; j < len(t); j++ {
		switch t[j].Kind {
		case Break:
			if named {
				return j
			}
			return k
		case Number:
			return k
		case Word:
			named = named || institutions[t[j].lower()]
		}
	}
	return k
}

// unitAhead returns the unit that ends before token i and begins its segment:
// "unit 111 501 South Mill St", "Flat 3, 22 Acacia Avenue".
func unitAhead(t Tokens, i int) Span {
	if i < 1 || i > len(t) {
		return Span{}
	}
	end := i
	if t[end-1].Kind == Break || t[end-1].isMark(",-–/") {
		end--
	}
	for k := max(0, end-5); k < end; k++ {
		if (k == 0 || t[k-1].Kind == Break || t[k-1].isMark(",;|:")) &&
			k+usUnit(t[:end], k) == end && postBox(t, k) == 0 {
			return Span{t[k].Start, t[end-1].End}
		}
	}
	return Span{}
}

// closing returns the index behind the parenthesis that token k opens, or 0.
func closing(t Tokens, k int) int {
	for j := k + 1; j < len(t) && j < k+12; j++ {
		if t[j].isMark(")") {
			return j + 1
		}
	}
	return 0
}

// segmentEnd returns the index of the first token from i on that ends a street
// name: punctuation or a line break.
func segmentEnd(t Tokens, i int) int {
	for ; i < len(t); i++ {
		if t[i].Kind == Break || t[i].Kind == Mark && !t[i].isMark("&'’/½") {
			return i
		}
	}
	return i
}

// usName reads the street name in t[i:end]: it returns its span, the strength
// and the index behind it.
func usName(t Tokens, i, end int) (Span, int, int) {
	first := i
	if i < end && direction(t[i]) {
		i++
	}
	if i == first+1 && i+1 < end && direction(t[i]) && t[i].size() <= 2 {
		i++
	}
	if i == first+1 && i+1 < end && t[i].Kind == Number && direction(t[i+1]) && !Ordinal(t[i].Text()) {
		return Span{t[first].Start, trimWord(t[i+1])}, 3, i + 2 // "300 North 450 East", the streets of Utah
	}
	stop := nameEnd(t, first, i, end)
	if stop == first || t[stop-1].isWord("llc", "inc", "corp", "llp", "ltd") {
		return Span{}, 0, i
	}
	typ := streetType(t, first, i, stop)
	if typ < 0 && i < stop && t[i].Kind == Word {
		switch w := t[i].lower(); {
		case i+1 < stop && (usTypes[w] && (routeName(t[i+1]) || t[i+1].isWord("of")) || usLead[w]):
			// "242 N Avenue 25", "9912 S. Avenue H", "1000 Via Real"
			return Span{t[first].Start, t[stop-1].End}, 3, stop
		case usAlone[w]: // "Broadway"
			typ = i
		}
	}
	if typ < 0 {
		return nameWithoutType(t, first, i, stop)
	}
	last := withType(t, first, typ, stop, end)
	if last-first > 8 {
		return Span{}, 0, i
	}
	return Span{t[first].Start, trimWord(t[last])}, 3, last + 1
}

// nameEnd returns where the street name t[first:] ends that goes on with i behind its directional: at
// its unit or at a word that is in no name, else at the end of the segment.
func nameEnd(t Tokens, first, i, end int) int {
	for k := i; k < end; k++ {
		isUnit := k > first && usUnit(t, k) > 0 && !(k == i && unitLikeName(t, k, end))
		if isUnit || t[k].Kind == Word && usStops[t[k].lower()] || k > i+1 && t[k].isWord("in") {
			return k
		}
	}
	return max(i, end)
}

// streetType returns the index of the last street word of the name t[first:stop], of a highway that
// of its number, or -1. The name begins with i behind its directional.
func streetType(t Tokens, first, i, stop int) int {
	for j := stop - 1; j >= first; j-- {
		if t[j].Kind != Word {
			continue
		}
		w := t[j].lower()
		if highwayTypes[w] && j+1 < stop && routeName(t[j+1]) && !(usTypes[w] && j > i && !numberedTypes[w]) {
			if j+2 < stop && t[j+1].isWord("no") && t[j+2].Kind == Number {
				return j + 2
			}
			return j + 1
		}
		if usTypes[w] && j > first && !(w == "st" && saintBefore(t, j, first, stop)) {
			return j
		}
	}
	return -1
}

// nameWithoutType is usName for the name t[first:stop], which has no street word.
func nameWithoutType(t Tokens, first, i, stop int) (Span, int, int) {
	if stop-first > 5 || !usNameLike(t[first:stop]) {
		return Span{}, 0, i
	}
	k := stop - 1
	if stop-first >= 3 && t[k].Kind == Number && !Ordinal(t[k].Text()) && t[k].size() <= 4 {
		return Span{t[first].Start, trimWord(t[k-1])}, 1, k // "West Bryn Mawr 211"
	}
	strength := 1
	if Ordinal(t[k].Text()) || i > first && i < stop && Ordinal(t[i].Text()) {
		strength = 3
	}
	return Span{t[first].Start, trimWord(t[k])}, strength, stop
}

// withType returns the index of the last token that belongs to the street word
// t[typ] of the name t[first:stop]: "Avenue N", "Ave of the Stars", "Street NW",
// "Street Promenade", "Road Extension". The segment ends at end.
func withType(t Tokens, first, typ, stop, end int) int {
	last := typ
	if last+1 < stop && t[last].Kind == Word && usTypes[t[last].lower()] &&
		routeName(t[last+1]) && !direction(t[last+1]) && last-first <= 1 {
		last++
	}
	if typ > first && t[typ].Kind == Number && last+1 < stop &&
		t[last+1].isWord("business", "bypass", "alternate", "alt", "truck", "loop", "spur") {
		last++
	}
	if last+1 < stop && direction(t[last+1]) {
		last++
		if last+1 < stop && direction(t[last+1]) && len(t[last].lower()) == 1 &&
			len(t[last+1].lower()) == 1 {
			last++ // "n. e."
		}
	} else if last+1 == stop && stop == end && end+1 < len(t) && t[end].isMark(",") && direction(t[end+1]) {
		// "New York Avenue, N.W."
		return end + 1
	}
	return last
}

func onlyWords(t Tokens) bool {
	for _, tok := range t {
		if tok.Kind != Word {
			return false
		}
	}
	return true
}

// trimWord returns the end of the token without a hyphen at its end.
func trimWord(tok Token) int { return tok.Start + len(strings.TrimRight(tok.Text(), "-")) }

// saintBefore reports whether the "St" at j is a saint: nothing but a directional
// stands before it and a word follows.
func saintBefore(t Tokens, j, first, stop int) bool {
	for k := first; k < j; k++ {
		if !direction(t[k]) {
			return false
		}
	}
	return j+1 < stop && t[j+1].Kind == Word && !direction(t[j+1])
}

// unitLikeName reports whether the unit word at i is rather the name: "5 Park
// Place", "10 Floor Street".
func unitLikeName(t Tokens, i, end int) bool {
	for j := i + 1; j < end; j++ {
		if t[j].Kind == Word && usTypes[t[j].lower()] {
			return true
		}
	}
	return false
}

// usNameLike reports whether the tokens can be a street name without a street
// word: all capitals or small words.
func usNameLike(t Tokens) bool {
	words := 0
	for _, tok := range t {
		s := tok.Text()
		switch tok.Kind {
		case Word:
			if usNoStreet[LowerASCII(s)] || germanNoStreet[LowerASCII(s)] {
				return false
			}
			if !Capital(s) && !usSmall[s] {
				return false
			}
			if utf8.RuneCountInString(s) > 1 {
				words++
			}
		case Number:
			if len(s) > 5 {
				return false
			}
			if Ordinal(s) {
				words++
			}
		default:
			if !tok.isMark("&'’/.-") {
				return false
			}
		}
	}
	return words > 0
}

// routeName reports whether tok can name a highway or lettered avenue: "66", "N",
// "DB".
func routeName(tok Token) bool {
	s := tok.Text()
	return tok.Kind == Number && len(s) <= 5 || tok.Kind == Word && len(strings.TrimRight(s, ".")) <= 2 &&
		(Capital(s) || len(s) == 1) || tok.isMark("#") || tok.isWord("no")
}

// direction reports whether tok is a directional: "N", "SW", "N.E.", "South".
func direction(tok Token) bool {
	return tok.Kind == Word && directions[tok.lower()]
}

// Ordinal reports whether s is an English ordinal in digits: "17th", "2nd".
func Ordinal(s string) bool {
	n := len(s)
	if n < 3 || !isDigit(rune(s[n-3])) || !isDigit(rune(s[0])) {
		return false
	}
	switch strings.ToLower(s[n-2:]) {
	case "st", "nd", "rd", "th":
		return true
	}
	return false
}

func skipSeparators(t Tokens, k int) int {
	for k < len(t) && (t[k].Kind == Break || t[k].isMark(",;|·•-–(")) {
		k++
	}
	return k
}

// addUnit widens the unit of s, or sets its post box, by t[i:j].
func addUnit(s *Street, t Tokens, i, j int) {
	if postBox(t, i) > 0 {
		if s.POBox.Empty() {
			s.POBox = Span{t[i].Start, t[j-1].End}
		}
		return
	}
	if t[i].isWord("attn") {
		return // a person
	}
	if s.Unit.Empty() {
		s.Unit.Start = t[i].Start
	}
	s.Unit.End = trimWord(t[j-1])
}

// usUnit returns how many tokens from i on are a unit ("Suite 500", "#243",
// "6th Floor", "Bldg A") or a post box; 0 for none.
func usUnit(t Tokens, i int) int {
	if i >= len(t) {
		return 0
	}
	if n := postBox(t, i); n > 0 {
		return n
	}
	tok, next := t[i], t.At(i+1)
	switch {
	case tok.isMark("#"):
		return 2 * b2i(i+1 < len(t) && unitID(next))
	case tok.Kind == Number && Ordinal(tok.Text()), tok.Kind == Word && spelledOrdinals[tok.lower()]:
		return 2 * b2i(next.isWord("floor", "fl", "flr", "level"))
	case tok.Kind != Word:
		return 0
	}
	switch w := tok.lower(); {
	case usAloneUnits[w] && (next.Kind != Word || usUnit(t, i+1) > 0): // "Rear"
		return 1
	case levelWords[w] && next.isWord("level", "floor", "lobby"):
		return 2
	case w == "no" && numberedUnit(t, i) > 0:
		return numberedUnit(t, i)
	case w == "mail" || w == "ms" || w == "attn": // up to the end of the line
		k := i + 1
		for k < len(t) && t[k].Kind != Break && k < i+8 {
			k++
		}
		return k - i
	case usUnits[w]:
		return unitWithID(t, i)
	}
	return 0
}

// numberedUnit returns how many tokens from the "No" at i on are a unit: "361 17th Street No 2202", "No
// B12"; 0 for none.
func numberedUnit(t Tokens, i int) int {
	next, third := t.At(i+1), t.At(i+2)
	if i < 2 || i+1 >= len(t) || !next.Space || Ordinal(next.Text()) || third.Kind == Word {
		return 0
	}
	switch {
	case next.Kind == Number:
		return 2
	case next.Kind == Word && third.Kind == Number && !third.Space:
		return 3
	}
	return 0
}

// unitWithID returns how many tokens the word for a unit at i and what it is called are, "Suite 2800
// South", "Unit K, L", "Suite 280 - 290", "Apt 5 B"; 0 where nothing says what it is called.
func unitWithID(t Tokens, i int) int {
	k := i + 1
	for k < len(t) && k < i+3 && t[k].isMark("#,.:") {
		k++
	}
	if k >= len(t) || !unitID(t[k]) {
		return 0
	}
	k++
	if k < len(t) && t[k-1].Kind == Word && t[k].Kind == Number && !t[k].Space {
		k++ // "Unit D5"
	}
	for k+1 < len(t) && t[k].isMark("-–&/,") && (t[k+1].size() == 1 && t[k+1].Kind == Word ||
		t[k+1].Kind == Number && !t[k].isMark(",") && t[k+1].size() <= 4) {
		k += 2
	}
	if k < len(t) && (direction(t[k]) || t[k].Kind == Word && t[k].size() == 1) && t[k].Space {
		k++
	}
	return k - i
}

// FloorNumber reports whether w is the number of a floor, so that "FL" behind it is
// no state: "6TH", "fourth".
func FloorNumber(w string) bool { return Ordinal(w) || spelledOrdinals[LowerASCII(w)] }

// HasUnitWord reports whether s names a unit rather than a building or quarter:
// it holds a digit or the word for one.
func HasUnitWord(s string) bool {
	for _, w := range strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	}) {
		w = LowerASCII(w)
		if isDigit(rune(w[0])) || usUnits[w] || usAloneUnits[w] {
			return true
		}
	}
	return false
}

// unitID reports whether tok can name a unit: a number, one or two letters.
func unitID(tok Token) bool {
	s := strings.TrimRight(tok.Text(), ".")
	return tok.Kind == Number || tok.isMark("*") || tok.Kind == Word && (len(s) <= 2 ||
		spelledNumbers[LowerASCII(s)] || len(s) <= 4 && strings.ToUpper(s) == s && !usTypes[LowerASCII(s)])
}

// boxPhrases lead to the number of a post box, and ruralRoutes to its box; the longest
// of those that begin with a word stand first.
var boxPhrases, ruralRoutes = phrasesOf("box-phrases"), english.Words("rural-routes")

func phrasesOf(list string) map[string][][]string {
	phrases := map[string][][]string{}
	for _, phrase := range english.Phrases(list) {
		words := strings.Fields(phrase)
		phrases[words[0]] = append(phrases[words[0]], words)
	}
	for _, of := range phrases {
		slices.SortFunc(of, func(a, b []string) int { return len(b) - len(a) })
	}
	return phrases
}

// postBox returns how many tokens from i on are a post box: "P.O. Box 3830",
// "PO Drawer J", "PMB #297", "HC 021 Box 52"; 0 for none.
func postBox(t Tokens, i int) int {
	if t[i].Kind != Word {
		return 0
	}
	first := t[i].lower()
	k := i
	for _, phrase := range boxPhrases[first] {
		n := 1
		for n < len(phrase) && t.At(i+n).Kind == Word && t[i+n].lower() == phrase[n] {
			n++
		}
		if n == len(phrase) {
			k = i + n
			break
		}
	}
	if k == i && first == "po" && strings.Contains(t[i].Text(), ".") && t.At(i+1).Kind == Number {
		return 2 // "P.O. 9774"
	}
	if k == i && ruralRoutes[first] {
		for k++; k < len(t) && k < i+8 && (t[k].Kind == Number || t[k].isMark("#,") ||
			t[k].isWord("route", "rte", "rt", "contract", "site", "comp", "compartment")); k++ {
		}
		if k == len(t) || !t[k].isWord("box") {
			return 0
		}
		k++
	}
	if k == i {
		return 0
	}
	for k < len(t) && k < i+10 && (t[k].isMark("#:.") || t[k].isWord("no", "number")) {
		k++
	}
	if id := t.At(k); id.Kind != Number && (id.Kind != Word || id.size() > 2) {
		return 0
	}
	k++
	if k < len(t) && (t[k].Kind == Number && !t[k].Space || t[k].Kind == Word && t[k].size() == 1) {
		k++ // "A3656", "103 a"
	}
	return k - i
}

// LineBefore reads what stands before the city without a house number: a post box, or
// a street that fills the line, or the part between commas, that ends where the city
// begins.
func LineBefore(t Tokens) (Street, bool) {
	var s Street
	k := len(t)
	for k > 0 && (t[k-1].Kind == Break || t[k-1].isMark(",;|·•-–()")) {
		k--
	}
	end := k
	start := k
	for start > 0 && t[start-1].Kind != Break && !t[start-1].isMark(",;|·•:") {
		start--
	}
	start = behindLead(t[:end], start)
	for i := start; i < end; i++ {
		if n := postBox(t, i); n > 0 && i+n >= end-1 {
			s, _, _ = USPostBox(t, i)
			return s, true
		}
	}
	if start == end || end-start > 6 || mixedCase(t[start:end]) {
		return s, false
	}
	name, strength, next := usName(t, start, end)
	if strength < 3 || next != end || usPlaces[t[end-1].lower()] ||
		!t[start].capital() && t[start].Kind == Word {
		return s, false
	}
	s.Name, s.Strength = name, strength
	s.Unit = unitAhead(t, start)
	return s, true
}

// mixedCase reports whether t holds words with capitals and others without, as
// sentences do and names do not.
func mixedCase(t Tokens) bool {
	capital, small := false, false
	for _, tok := range t {
		if w := tok.Text(); tok.Kind == Word && !usSmall[w] {
			capital, small = capital || Capital(w), small || !Capital(w) && !usTypes[LowerASCII(w)]
		}
	}
	return capital && small
}
