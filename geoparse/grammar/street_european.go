package grammar

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gazehound/internal/textutil"
)

// A Known reports whether a name is a street of the place that the anchor names.
type Known func(name string) bool

// maxNameWords bounds the words of a street name.
const maxNameWords = 8

// StreetBefore reads the street that stands before an anchor in the order street, number: Germany,
// Austria, Switzerland, Liechtenstein, and most of Europe. t are the tokens that end at the anchor.
// The street is the longest suffix of the words before the number that known accepts (known may be
// nil), else by the grammar.
func StreetBefore(t Tokens, known Known) (Street, bool) {
	s, k := skipTail(t, len(t))
	if s, ok := streetEndingAt(t, k, known, s); ok {
		return s, true
	}
	// A line of its own between the street and the anchor, such as a district
	// or the name of a business park.
	if line, ok := skipLine(t, k); ok {
		unit, j := skipTail(t, line)
		if unit.POBox.Empty() {
			unit.POBox = s.POBox
		}
		if found, ok := streetEndingAt(t, j, known, unit); ok && !found.Number.Empty() &&
			found.Strength >= 3 {
			return found, true
		}
	}
	// One part between separators that is no street: a room, a building.
	if part, ok := skipPart(t, k); ok {
		unit, j := skipTail(t, part)
		if found, ok := streetEndingAt(t, j, known, unit); ok && !found.Number.Empty() &&
			found.Strength >= 3 {
			return found, true
		}
	}
	return s, !s.POBox.Empty()
}

// skipPart steps back over one part of at most five tokens between separators,
// without a label: ", R. 1/B201,".
func skipPart(t Tokens, k int) (int, bool) {
	if k == len(t) {
		return 0, false
	}
	for i := k - 1; i > 0 && k-i <= 6; i-- {
		if t[i].Kind == Word && germanStops[t[i].fold()] {
			return 0, false
		}
		if t[i].Kind == Break || t[i].isMark(",|·•;") {
			return i, i < k-1
		}
	}
	return 0, false
}

// streetEndingAt reads name and number that end with token k-1.
func streetEndingAt(t Tokens, k int, known Known, s Street) (Street, bool) {
	j, ok := numberBefore(t, k)
	if !ok {
		return lineStreet(t, k, known, s)
	}
	number := Span{t[j].Start, t[k-1].End}
	if s.slash > number.Start {
		number.End = min(number.End, s.slash)
	}
	n := j
	labelled := false
	for n > 0 && (t[n-1].isMark(",:°") || t[n-1].Kind == Word && numberWords[t[n-1].fold()]) {
		n--
		labelled = labelled || t[n].Kind == Word
	}
	if labelled && n >= 2 && t[n-1].Kind == Number && shortNumber(t[n-1].Text()) &&
		t[n-2].Kind == Word && streetTypes[t[n-2].fold()] {
		s.Name, s.Number, s.Strength = Span{t[n-2].Start, t[n-1].End}, number, 3 // "Straße 12 Nr. 5"
		return s, true
	}
	if t.At(n-1).Kind == Break && (k == len(t) || t[k].Kind == Break) {
		n-- // the number stands alone in its line
	}
	name, strength, ok := nameBefore(t, n, known)
	if !ok || strength < 3 && leadingInt(number.In(t)) > 999 {
		return s, false
	}
	s.Name, s.Number, s.Strength = name, number, strength
	return s, true
}

// lineStreet reads a street without a number: it must fill its line, and known
// or a street word must prove it.
func lineStreet(t Tokens, k int, known Known, s Street) (Street, bool) {
	if t.At(k-1).Kind != Word {
		return s, false
	}
	name, strength, ok := nameBefore(t, k, known)
	if !ok || strength < 3 {
		return s, false
	}
	for i, tok := range t {
		if tok.Start == name.Start && i > 0 && t[i-1].Kind != Break && !t[i-1].isMark(",|;") {
			return s, false
		}
	}
	s.Name, s.Strength = name, strength
	return s, true
}

// SegmentBefore reads what stands since the last separator as a street, with a
// number behind it or without: for a text that is known to be one address.
func SegmentBefore(t Tokens) (Street, bool) {
	k := SkipMarksBack(t, len(t))
	j, ok := numberBefore(t, k)
	if !ok {
		j = k
	}
	first := j
	for first > 0 && j-first < maxNameWords && (t[first-1].Kind == Word ||
		t[first-1].Kind == Mark && first < j && t[first-1].isMark("'’-.")) {
		first--
	}
	if first == j || !nameLikeTokens(t[first:j]) {
		return Street{}, false
	}
	s := Street{Name: Span{t[first].Start, t[j-1].End}, Strength: 1}
	if ok {
		s.Number = Span{t[j].Start, t[k-1].End}
	}
	return s, true
}

// nameLikeTokens reports whether the tokens hold a word of three letters or more
// and none that never stands in a street's name.
func nameLikeTokens(t Tokens) bool {
	long := false
	for _, tok := range t {
		if w := tok.Text(); tok.Kind == Word {
			if germanStops[Fold(w)] {
				return false
			}
			long = long || utf8.RuneCountInString(w) >= 3
		}
	}
	return long
}

// skipTail steps back over what may stand between the house number and the
// anchor: separators, one remark in parentheses, a post box, a unit.
func skipTail(t Tokens, k int) (Street, int) {
	var s Street
	parentheses := 1
	if n := backOver(t, k, ""); k == len(t) && n > 1 && BeforeCity(t[n-1].fold()) &&
		(t[n-2].Kind == Number || n > 2 && isLetterWord(t[n-2]) && t[n-3].Kind == Number) {
		k = n - 1 // "Lange Straße 10 in 26121 Oldenburg", "Lange Straße 10 a in …"
	}
	for k > 0 {
		tok := t[k-1]
		switch tok.Kind {
		case Break:
			k--
			continue
		case Mark:
			lone := tok.Space && (k == len(t) || t[k].Space || t[k].Kind == Mark) // "15 ~ 26121 Oldenburg"
			if tok.isMark(",|/*·-–—•;:([{»") || lone && tok.isMark("~°⋅_<>→=†") {
				k--
				continue
			}
			if open := parenthesis(t, k); open >= 0 && parentheses > 0 {
				parentheses--
				k = open
				continue
			}
			return s, k
		}
		if tok.Kind == Word && PlaceLabel(tok.Text()) && s == (Street{}) &&
			(k == 1 || t[k-2].Kind != Number && (t[k-2].Kind != Word || PlaceLabel(t[k-2].Text()))) {
			k-- // "PLZ / Ort: 26122 Oldenburg"
			continue
		}
		if n := noNumber(t[:k]); n > 0 {
			k -= n
			continue
		}
		if j := remarkBefore(t, k); j > 0 {
			k = j
			continue
		}
		if j := postBoxBefore(t, k); j >= 0 {
			s.POBox = Span{t[j].Start, t[k-1].End}
			k = j
			continue
		}
		if slash := floorInNumber(t, k); slash > 0 && s.Unit.Empty() {
			s.Unit, s.slash = Span{slash + 1, t[k-1].End}, slash
			k -= 2
			continue
		}
		if j := unitBefore(t, k); j >= 0 {
			if s.Unit.Empty() {
				s.Unit.End = t[k-1].End
			}
			s.Unit.Start = t[j].Start
			k = j
			continue
		}
		return s, k
	}
	return s, k
}

// noNumber returns how many tokens at the end of t say that a house has no number: "s/n", "snc",
// "senza numero civico", "ohne Nr.".
func noNumber(t Tokens) int {
	k := len(t)
	switch {
	case k > 2 && t[k-1].isWord("n", "nº", "num") && t[k-2].isMark("/") && t[k-3].isWord("s"):
		return 3
	case k > 1 && t[k-1].isWord("snc", "sn") && t[k-2].Kind != Break:
		return 1
	case k > 3 && t[k-1].isWord("civico") && t[k-2].isWord("numero") && t[k-3].isWord("senza"):
		return 3
	case k > 2 && t[k-1].isWord("numero") && t[k-2].isWord("senza", "sin", "sans", "sem"),
		k > 2 && t[k-1].isWord("nr", "nummer", "hausnummer", "hausnr") && t[k-2].isWord("o", "ohne"):
		return 2
	}
	return 0
}

// remarkBefore returns the index where a remark behind a house number begins that ends with token k-1, on a corner or
// a part of the town: "Lange Straße 15 / Ecke Poststraße", "Lange Straße 15 OT Okken"; else 0.
func remarkBefore(t Tokens, k int) int {
	const mostWords = 3 // of the name in it
	for i := k - 2; i > 0 && i >= k-1-mostWords && t[i].Kind == Word; i-- {
		if !remarkWords[t[i].fold()] {
			continue
		}
		before := t[:i]
		for before.At(len(before) - 1).isMark(",/-–") {
			before = before[:len(before)-1]
		}
		if _, numbered := numberBefore(before, len(before)); numbered {
			return i
		}
	}
	return 0
}

// parenthesis returns the index of the token that opens the parenthesis which
// token k-1 closes, or -1.
func parenthesis(t Tokens, k int) int {
	if !t[k-1].isMark(")") {
		return -1
	}
	for i := k - 2; i >= 0 && i >= k-10; i-- {
		if t[i].isMark("(") {
			return i
		}
	}
	return -1
}

// skipLine steps back over one whole line without digits and of at most five
// words, which may not be the first.
func skipLine(t Tokens, k int) (int, bool) {
	if k == 0 || t.At(k).Kind == Word {
		return 0, false
	}
	for i := k - 1; i >= 0 && k-i <= 6; i-- {
		switch t[i].Kind {
		case Break:
			return i, i > 0
		case Number:
			return 0, false
		}
	}
	return 0, false
}

// postBoxBefore returns the index where a post box phrase begins that ends with
// token k-1, or -1.
func postBoxBefore(t Tokens, k int) int {
	i := k - 1
	for i >= 0 && i >= k-4 && t[i].Kind == Number {
		i--
	}
	if i < 0 || t[i].Kind != Word {
		return -1
	}
	switch w := t[i].fold(); {
	case germanBoxes[w], boxWords[w] && i < k-1:
		return i
	case w == "box", w == "postale":
		if i < k-1 && t.At(i-1).Kind == Word {
			switch t[i-1].fold() {
			case "po", "case", "casella", "boite":
				return i - 1
			}
		}
	}
	return -1
}

// PlaceLabel reports whether a word labels a postcode or city in forms and tables: "PLZ", "Ort".
func PlaceLabel(w string) bool { return placeLabels[Fold(w)] }

// Remark reports whether a word begins a remark on a corner or a part of the town: "OT".
func Remark(w string) bool { return remarkWords[Fold(w)] }

// BeforeCity reports whether a word, folded, stands between a street or postcode and the city: "te".
func BeforeCity(w string) bool { return beforeCity[w] }

// floorInNumber returns the offset of the stroke in "37/2. Stock", which divides
// the house number from the floor, where that ends with token k-1; else 0.
func floorInNumber(t Tokens, k int) int {
	if k < 3 || t[k-1].Kind != Word || !floorWords[t[k-1].fold()] ||
		!t[k-2].isMark(".") || t[k-3].Kind != Number {
		return 0
	}
	n := strings.LastIndexByte(t[k-3].Text(), '/')
	if n <= 0 || t[k-3].size()-n > 3 {
		return 0
	}
	return t[k-3].Start + n
}

// unitBefore returns the index where a unit ("Haus A", "2. OG") begins that
// ends with token k-1, or -1.
func unitBefore(t Tokens, k int) int {
	last := t[k-1]
	if last.Kind == Word {
		word := last.fold()
		i := k - 1
		ordinal := i > 1 && t[i-1].isMark(".") && t[i-2].Kind == Number &&
			shortNumber(t[i-2].Text()) && !strings.Contains(t[i-2].Text(), "/")
		switch {
		case ordinal && (floorWords[word] || unitWords[word]): // "2. Stiege"
			return i - 2
		case floorWords[word] && t.At(i-1).Kind == Number && strings.ContainsAny(t[i-1].Text(), "ºª"):
			return i - 1
		case (word == "th" || word == "tv" || word == "mf") && (t.At(i-1).isWord("st") ||
			i > 1 && t[i-1].Kind == Number && shortNumber(t[i-1].Text()) && t[i-2].Kind != Word): // "42 4 tv"
			return i - 1
		case floorWords[word]:
			return i
		}
	}
	if door := k - 1; spanishFloor(t[door]) ||
		door > 0 && spanishFloor(t[door-1]) && isLetterWord(t[door]) {
		for door > 0 && spanishFloor(t[door-1]) {
			door-- // "3º B", "3º 2ª"
		}
		if door > 0 && (t[door-1].Kind == Number ||
			door > 1 && t[door-1].isMark(",-") && (t[door-2].Kind == Number || isLetterWord(t[door-2]))) {
			return door
		}
	}
	id := last.Kind == Number || last.Kind == Word &&
		utf8.RuneCountInString(strings.TrimRight(last.Text(), ".")) == 1
	if id && t.At(k-2).Kind == Word && unitWords[t[k-2].fold()] {
		// "Haus 3" is a unit only behind a number: alone it is a street; "MZH, Ebene 3" is none
		j := k - 3
		if j >= 0 && rooms[t[k-2].fold()] {
			return k - 2
		}
		if j > 0 && t[j].Kind != Number && t[j].Kind != Word {
			j--
		}
		if j >= 0 && (t[j].Kind == Number || t[j].Kind == Word && (floorWords[t[j].fold()] ||
			unitWords[t[j].fold()] || j > 0 && numberSuffix(t[:j+1]) > 0)) {
			return k - 2
		}
	}
	return -1
}

// spanishFloor reports whether tok is a floor or door: "3º", "2ª".
func spanishFloor(tok Token) bool {
	s := tok.Text()
	return tok.Kind == Number && (strings.HasSuffix(s, "º") || strings.HasSuffix(s, "ª")) && leadingInt(s) < 100
}

// numberBefore returns the index of the token where the house number begins
// that ends with token k-1: "12", "12 a", "35 - 37", "1 und 3".
func numberBefore(t Tokens, k int) (int, bool) {
	if k == 0 {
		return 0, false
	}
	j := k - 1 - numberSuffix(t[:k])
	if j < 0 || t[j].Kind != Number || !shortNumber(t[j].Text()) || dateIn(t, j) {
		return 0, false
	}
	if j > 0 && fractions[t[j].Text()] && t[j].Space && t[j-1].Kind == Number &&
		shortNumber(t[j-1].Text()) {
		j-- // "23 1/2"
	}
	for j >= 2 && joins(t[j-1]) {
		i := j - 2 - numberSuffix(t[:j-1]) // "12 a - 14"
		if i < 0 || t[i].Kind != Number || !shortNumber(t[i].Text()) {
			break
		}
		j = i
	}
	return j, true
}

var fractions = textutil.Words("1/2 1/3 2/3 1/4 3/4 ½ ⅓ ⅔ ¼ ¾")

// numberWords stand before a house number and are no street, folded.
var numberWords = textutil.Words("nr haus-nr hnr no hausnr hausnummer huisnummer numero n num nro nº no° numer čp cp civ " +
	"civico nc")

// numberSuffix returns how many tokens at the end of t can belong to the house
// number before them: "a", "a-c", "a + b", "bis", "II".
func numberSuffix(t Tokens) int {
	k := len(t)
	if k < 2 || t[k-1].Kind != Word {
		return 0
	}
	w := t[k-1].Text()
	switch {
	case len(w) == 1 && k >= 3 && t[k-2].isWord("bis", "ter") && t[k-3].Kind == Number: // "12 bis A"
		return 2
	case len(w) == 1 && k >= 4 && t[k-2].Kind == Mark && joins(t[k-2]) && isLetterWord(t[k-3]) &&
		t[k-4].Kind == Number:
		return 3
	case len(w) == 1, len(w) == 3 && w[1] == '-':
		return 1
	}
	switch w {
	case "bis", "ter", "quater", "hs", "HS", "huis", "II", "III", "IV":
		if k > 2 && t[k-2].isMark("-/") && t[k-3].Kind == Number && !t[k-1].Space {
			return 2 // "33-HS", "5/bis"
		}
		return b2i(t[k-2].Kind == Number)
	}
	return 0
}

// isLetterWord reports whether tok is one ASCII letter.
func isLetterWord(tok Token) bool {
	return tok.Kind == Word && tok.size() == 1
}

// joins reports whether tok stands between the two numbers of a range or list.
func joins(tok Token) bool {
	if tok.Kind == Word {
		switch tok.Text() {
		case "und", "bis", "u.", "et", "e":
			return true
		}
		return false
	}
	return tok.isMark("-–/+&—−,;")
}

// countsOther reports whether the second number of "5, 80 Parkplätze" is rather of
// what follows it than a house number beside the first: t begins with the two.
func countsOther(t Tokens) bool {
	step := leadingInt(t[2].Text()) - leadingInt(t[0].Text())
	return step <= 0 || step > 50 || len(t) > 3 &&
		(t[3].Kind == Number || t[3].Kind == Word && t[3].size() > 1 && !joins(t[3]))
}

// shortNumber reports whether s can be a house number: each of its parts has one
// to four digits, it is no decimal, time or ordinal.
func shortNumber(s string) bool {
	digits := 0
	for i, r := range s {
		switch {
		case isDigit(r):
			digits++
			if digits > 4 || digits == 1 && r == '0' {
				return false
			}
		case r == '.' || r == ':':
			return false
		case unicode.IsLetter(r):
			if i == 0 {
				return false
			}
		default:
			digits = 0
		}
	}
	return !Ordinal(s)
}

// leadingInt returns the number that s begins with.
func leadingInt(s string) int {
	n := 0
	for i := 0; i < len(s) && i < 9 && isDigit(rune(s[i])); i++ {
		n = 10*n + int(s[i]-'0')
	}
	return n
}

// nameBefore reads the street name that ends before token n, and how sure it is.
func nameBefore(t Tokens, n int, known Known) (Span, int, bool) {
	for t.At(n - 1).isMark("\"“”") {
		n--
	}
	first := nameStart(t, n)
	if first >= n || t[n-1].Kind != Word {
		return Span{}, 0, false
	}
	words, end := wordsOf(t[first:n]), trimWord(t[n-1])
	if known != nil {
		for i := max(0, len(words)-maxNameWords); i < len(words); i++ {
			if words[i].kind != Mark && known(Span{words[i].start, end}.In(t)) {
				return Span{words[i].start, end}, 4, true
			}
		}
	}
	i, strength := germanName(words, n-first < 2*maxNameWords)
	if i < 0 {
		return Span{}, 0, false
	}
	start := words[i].start
	if i == len(words)-1 && strength == 3 {
		start += gluedWord(words[i].text)
	}
	return Span{start, end}, strength, true
}

// nameStart returns the index of the first token that may be in a street name that ends before token n,
// or n.
func nameStart(t Tokens, n int) int {
	first := n
	for first > 0 && n-first < 2*maxNameWords {
		before, more := backInName(t[:n], first)
		first = before
		if !more {
			break
		}
	}
	for first < n && t[first].Kind != Word && !t[first].isMark("'’") && !dutchOrdinal(t[first].Text()) {
		first++
	}
	return first
}

// backInName returns the index of the token that a name, of which t[i:] is the end so far, begins with
// if what stands before it is a part of it, else i. more: the name may begin before that.
func backInName(t Tokens, i int) (before int, more bool) {
	tok, behind := t[i-1], i < len(t)
	switch {
	case tok.Kind == Number && behind && dutchOrdinal(tok.Text()) && wholeEnd(t[len(t)-1].fold()): // "2e Kerkstraat"
		return i - 1, false
	case tok.Kind == Number: // only inside a name: "Straße des 17. Juni"
		inside := behind && i >= 2 && leadingInt(tok.Text()) <= 31 && // "Via 25 Aprile"
			(t[i-2].isWord("des", "den", "der", "vom", "am", "du", "del") || leadTypes[t[i-2].fold()])
		return i - b2i(inside), inside
	case tok.isMark(".") && t.At(i-2).Kind == Number && !tok.Space:
		return i - 1, true
	case behind && tok.isMark("'’") && !t[i].Space && (t[i].isWord("t", "s") || strings.HasPrefix(t[i].Text(), "s-")):
		// "'t Zand", "'s-Gravenweg"
		return i - 1, false
	case behind && i >= 2 && tok.isMark("/") && t[i-2].isWord("c"): // "C/ Gran Vía"
		return i - 2, false
	case behind && i >= 2 && tok.isMark(dashes) && t[i-2].Kind == Word && t[i].capital() &&
		(streetTypes[t[i].fold()] || t.At(i+1).isMark(dashes) || !tok.Space && !t[i].Space):
		return i - 1, true // "Joseph - Haydn - Straße", "Joseph–Haydn–Straße", not "Tenniszentrum - Resselstraße"
	case tok.Kind == Word && !germanStops[tok.fold()]:
		return i - 1, true
	}
	return i, false
}

const dashes = "-‐‑‒–—―"

// wordsOf returns the words of a name.
func wordsOf(t Tokens) []word {
	words := make([]word, len(t))
	anyCapital := false
	for i, tok := range t {
		w := word{text: tok.Text(), kind: tok.Kind, start: tok.Start}
		w.capital = Capital(w.text) || elided(w.text) || w.kind == Mark && strings.Contains("'’", w.text)
		anyCapital = anyCapital || w.capital
		words[i] = w
	}
	if !anyCapital { // all lower case, as people type
		for i := range words {
			words[i].capital = !articles[words[i].text]
		}
	}
	return words
}

// elided reports whether an article is joined to a name: "dell'Arte", "d’Esch".
func elided(s string) bool {
	i := strings.IndexAny(s, "'’")
	return i > 0 && i <= 6 && Capital(strings.TrimLeft(s[i:], "'’"))
}

// gluedWord returns where in a compound street name what a lost line break
// glued before it ends: 14 in "FINANZCHECK.deWinterstraße".
func gluedWord(s string) int {
	var before rune
	for i, r := range s {
		if i > 3 && unicode.IsUpper(r) && unicode.IsLower(before) && len(s)-i > 6 {
			return i
		}
		before = r
	}
	return 0
}

// A word is one token of a name with its folded form, made on first use.
type word struct {
	text    string
	kind    Kind
	start   int
	folded  string
	capital bool // begins with a capital letter, or no word does
}

func (w *word) fold() string {
	if w.folded == "" {
		w.folded = Fold(w.text)
	}
	return w.folded
}

// wholeStart returns where a Dutch or Danish street begins of which w[i:] is the end. There all that stands
// before a compound in its line belongs to it, "Tweede Jan Steenstraat", "Store Kongensgade", as a German
// address would not have it: "Reents Poststraße".
func wholeStart(w []word, i int, bounded bool) int {
	last := len(w) - 1
	if i > 0 && w[i-1].kind == Mark && strings.HasPrefix(w[i].text, "s-") { // "'s-Gravelandseweg"
		return i - 1
	}
	const mostBefore = 5 // words and full stops
	if i < last || !bounded || last == 0 || last > mostBefore ||
		slices.Contains(wholePlaces, w[0].fold()) || !w[last-1].isNamePart() {
		return i
	}
	van := w[0].capital && wholeLinks[w[0].fold()] && w[0].text != "Der" || w[0].kind == Mark // "Van der Hoopweg"
	if !van && !wholeEnd(w[last].fold()) {
		return i
	}
	for j := range w[:last] {
		isFirm := func(end string) bool { return strings.HasSuffix(w[j].fold(), end) }
		if !w[j].isNamePart() && w[j].text != "." || slices.ContainsFunc(wholeFirms, isFirm) {
			return i
		}
	}
	return 0
}

// wholeEnd reports whether a word, folded, ends as Dutch and Danish compounds do.
func wholeEnd(folded string) bool {
	return slices.ContainsFunc(wholeEnds, func(end string) bool { return strings.HasSuffix(folded, end) })
}

// dutchOrdinal reports whether s is a number that begins the name of a street: "1e", "2de".
func dutchOrdinal(s string) bool {
	digits := strings.TrimRight(s, "edst")
	return len(digits) == 1 && slices.Contains([]string{"e", "de", "ste"}, s[len(digits):])
}

// isNamePart reports whether a word may stand before a compound: a name, or what links names.
func (w *word) isNamePart() bool {
	return w.kind == Number && dutchOrdinal(w.text) || w.kind == Word && (w.capital || wholeLinks[w.text]) ||
		w.kind == Mark && strings.Contains("'’", w.text)
}

// Words of Dutch and Danish streets.
var (
	wholeEnds  = slices.Concat(strings.Fields(dutch["whole"]), strings.Fields(danish["whole"]))
	wholeFirms = strings.Fields(dutch["firms"]) // end words of organisations: "Tandartspraktijk Okken Kerkstraat 5"
	wholeLinks = dutch.Words("name-links")
	// wholePlaces stand before a street and are no part of it: "Bij de Kerkstraat".
	wholePlaces = slices.Concat(strings.Fields(dutch["places"]), strings.Fields(danish["places"]))
)

// ofNoble returns where the street begins of which w[i:] is the end, if it is called after somebody with "von"
// and nothing else stands before it: "Werner von Siemensstraße", "Bertha von Suttner Platz".
func ofNoble(w []word, i int, bounded bool) int {
	const mostNames = 3
	from, von := i, false
	for from > 0 && nobility[w[from-1].text] {
		from--
		von = von || strings.HasPrefix(w[from].text, "v") || strings.HasPrefix(w[from].text, "zu")
	}
	isNoName := func(w word) bool { return w.kind != Word || !w.capital }
	if !von || !bounded || from == 0 || from > mostNames || slices.ContainsFunc(w[:from], isNoName) {
		return i
	}
	return 0
}

// germanName returns the index of the word where the street name begins, and
// how sure it is; -1 if the words end in no street name.
func germanName(w []word, bounded bool) (int, int) {
	n := len(w)
	last := &w[n-1]
	// "Platz der Republik", "Straße nach Fichtenwalde", "Via Bologna"
	for i := n - 2; i >= 0; i-- {
		if w[i].kind != Word {
			continue
		}
		lead := leadTypes[w[i].fold()] && !(i == n-2 && w[i].fold() == "strasse" && streetEnd(last.fold())) // a label
		french := frenchPlaces[w[i].fold()] && w[i].capital && frenchLinks[w[i+1].text]
		if (lead || french) && i > 0 && frenchBefore[w[i-1].fold()] && w[i-1].capital && nameLike(w[i+1:]) {
			return i - 1, 3 // "Vieille Route de Lens"
		}
		if (lead || w[i].fold() == "c" && w[i+1].text == "/") && (nameLike(w[i+1:]) || lead && commonNoun(w[i+1:])) {
			return adjectives(w, i), 3
		}
		typed := streetTypes[w[i].fold()] && w[i].capital && linkWords[w[i+1].text] &&
			!(streetEnd(last.fold()) && inWords[w[i+1].text])
		if (french || typed) && nameLike(w[i+2:]) {
			return adjectives(w, i), 3
		}
	}
	if strings.TrimRight(last.text, "-.") == "" {
		return -1, 0
	}
	joined := n > 2 && w[n-2].kind == Mark && strings.Contains(dashes, w[n-2].text)
	if streetTypes[last.fold()] && !joined {
		if i := separateName(w, bounded); i >= 0 {
			return ofNoble(w, i, bounded), 3
		}
	} else if streetEnd(last.fold()) || streetTypes[last.fold()] {
		i := compound(w)
		if i == n-1 && i > 0 && w[i-1].kind == Word && w[i-1].capital && ofPlace(w, i-1, bounded) {
			i--
		}
		i = ofNoble(w, wholeStart(w, i, bounded), bounded)
		titled := bounded && onlyTitles(w[:i], last.fold()) // "Eugen Schafhauser-Strasse"
		if strings.Count(last.text, "-") == 1 || joined || titled {
			for i > 0 && w[i-1].capital && titles[w[i-1].fold()] {
				i--
			}
		}
		return adjectives(w, i), 3
	}
	for i := n - 2; i >= 0 && i >= n-5; i-- {
		if w[i].kind == Word && prepositions[w[i].fold()] && w[i].capital && nameLike(w[i+1:]) {
			return i, 2 + b2i(i == 0 && bounded)
		}
	}
	if germanNoStreet[last.fold()] || !last.capital || utf8.RuneCountInString(last.text) < 3 {
		return -1, 0
	}
	if bounded && n <= 4 && w[0].capital && nameLike(w) {
		return 0, 1 + b2i(n <= 2)
	}
	if utf8.RuneCountInString(last.text) >= 5 {
		return compound(w), 1
	}
	return -1, 0
}

// inWords lead from a building to its street: "Zentrum im Pfarrweg", "Garten an der Poststraße".
var inWords = textutil.Words("im in am an")

// onlyTitles reports whether words are a short title and given names, which name nobody without the surname
// in the street behind them, "Dr. Karl Rennergasse", or given names before a lane, "Karl Rennergasse".
func onlyTitles(w []word, street string) bool {
	return len(w) > 0 && (strings.HasSuffix(w[0].text, ".") || strings.HasSuffix(street, "gasse")) &&
		!slices.ContainsFunc(w, func(x word) bool { return !x.capital || !titles[x.fold()] })
}

// ofPlace reports whether word i is an adjective that belongs to the compound behind
// it: one of a town ("Ammerländer Heerstraße", "Altonaer Poststraße", "Kölnische
// Landstraße") or a short title ("Dr. Eberlestraße"). A word in -er may also be the
// name or trade of whoever has the address: it must end as those of towns do, and
// begin the name or follow an article.
func ofPlace(w []word, i int, bounded bool) bool {
	folded := w[i].fold()
	switch {
	case titles[folded] && strings.HasSuffix(w[i].text, "."):
		return true
	case strings.HasSuffix(folded, "er"):
		if i > 0 && w[i-1].text == "Am" { // "Am Kölner Bahnhof"
			return true
		}
		first := i == 0 && bounded || i > 0 && articles[w[i-1].text]
		return highRoads[w[i+1].fold()] || first &&
			(strings.HasSuffix(w[i].text, "aer") || endsIn(folded, townEndings, 3))
	}
	return len(folded) > 7 && endsIn(folded, adjectiveEndings, 3)
}

// separateName returns where the name begins whose last word is a street word
// of its own: "Köpenicker Str.", "Prinz Eugen Straße", "Am Markt".
func separateName(w []word, bounded bool) int {
	n := len(w)
	if n == 1 {
		if bounded && len(w[0].fold()) >= 4 && w[0].capital {
			return 0
		}
		return -1
	}
	prev := &w[n-2]
	if prepositions[prev.fold()] && prev.capital || articles[prev.text] {
		return adjectives(w, n-1)
	}
	isLabel := prev.fold() == "strasse" // "Straße Hauptstr."
	if prev.kind != Word || isLabel || !prev.capital && w[n-1].capital {
		if len(w[n-1].fold()) >= 5 && w[n-1].capital {
			return n - 1
		}
		return -1
	}
	i := n - 2
	if !strings.HasSuffix(prev.fold(), "er") && !titles[prev.fold()] {
		for j := 0; j < 2 && i > 0 && w[i-1].kind == Word && !articles[w[i-1].text]; j++ {
			before := &w[i-1]
			if streetTypes[before.fold()] && len(before.fold()) > 4 {
				break // a label: "Straße Lange Str."
			}
			if !before.capital && !nobility[before.text] || prepositions[before.fold()] ||
				acronym(before.text) && !acronym(w[n-1].text) {
				break
			}
			i--
		}
		if i > 0 && !bounded || i > 0 && w[i-1].kind == Word && w[i-1].capital &&
			!prepositions[w[i-1].fold()] && !titles[w[i].fold()] {
			// the name runs on to the left: what lies there is a firm or person
			i = n - 2
			for i > 0 && (titles[w[i-1].fold()] || nobility[w[i-1].text]) {
				i--
			}
		}
	}
	for i > 0 && (titles[w[i-1].fold()] || strings.HasSuffix(w[i].text, ".") && len(w[i].fold()) <= 2 &&
		w[i-1].capital && len(w[i-1].fold()) <= 2) {
		i--
	}
	if i > 0 && strings.HasSuffix(prev.fold(), "er") && oldOrNew[w[i-1].text] { // "Alt Reentser Weg"
		i--
	}
	return adjectives(w, i)
}

var oldOrNew = textutil.Words("Alt Neu")

// acronym reports whether s is written in capitals only, as organisations are.
func acronym(s string) bool {
	letters := 0
	for _, r := range s {
		if unicode.IsLower(r) {
			return false
		}
		if unicode.IsUpper(r) {
			letters++
		}
	}
	return letters >= 3
}

// compound steps back from the last word over "Sport- und" and the like.
func compound(w []word) int {
	i := len(w) - 1
	for i > 0 {
		switch {
		case strings.HasSuffix(w[i-1].text, "-"), w[i-1].kind == Mark && w[i-1].text != ".":
			i--
		case w[i].kind == Mark && w[i].text != ".":
			i-- // "Joseph–Haydn–Straße"
		case i > 1 && (w[i-1].text == "und" || w[i-1].text == "u.") && strings.HasSuffix(w[i-2].text, "-"):
			i -= 2
		default:
			return i
		}
	}
	return i
}

// adjectives steps back over "Große", "Am", "An der" before word i.
func adjectives(w []word, i int) int {
	for i > 0 && w[i-1].kind == Word && adjectiveWords[w[i-1].fold()] &&
		(w[i-1].capital || i > 1 && (articles[w[i-2].text] || prepositions[w[i-2].fold()])) {
		i--
	}
	j := i
	for j > 0 && articles[w[j-1].text] {
		j--
	}
	if j > 0 && w[j-1].kind == Word && prepositions[w[j-1].fold()] && w[j-1].capital {
		return j - 1
	}
	return i
}

// nameLike reports whether every word can stand inside a street name.
func nameLike(w []word) bool {
	for i := range w {
		if w[i].kind == Word && !w[i].capital && !smallWords[w[i].text] && !nobility[w[i].text] &&
			!adjectiveWords[w[i].fold()] {
			return false
		}
	}
	return len(w) > 0
}

// commonNoun reports whether words behind a street word are those of a street called after a thing, in small
// letters: "de la gare", "des vieux moulins", "Sentiero degli alpini".
func commonNoun(w []word) bool {
	const mostSmall = 2 // words behind a particle
	small := 0
	for i := range w {
		switch {
		case w[i].kind != Word:
		case w[i].capital:
			small = 0
		case smallWords[w[i].text] || nobility[w[i].text]:
			small = mostSmall
		case elided(w[i].text):
			small = mostSmall - 1
		case small == 0:
			return false
		default:
			small--
		}
	}
	return len(w) > 1 && small < mostSmall
}

// streetEnd reports whether the folded word ends with a street word.
func streetEnd(folded string) bool { return endsIn(folded, streetSuffixes, 2) }

// endsIn reports whether folded ends with one of the suffixes behind at least so
// many bytes.
func endsIn(folded string, suffixes map[byte][]string, before int) bool {
	for _, suffix := range suffixes[lastByte(folded)] {
		if len(folded) >= len(suffix)+before && strings.HasSuffix(folded, suffix) {
			return true
		}
	}
	return false
}

// StreetWord reports whether w ends with a German street word: "Lange-Str.",
// "Nadorster Straße".
func StreetWord(w string) bool {
	folded := Fold(w)
	return streetTypes[folded] || streetEnd(folded)
}

func lastByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

// Fold lowers s, spells umlauts with e, ß with ss, and drops dots and the
// hyphen at the end.
func Fold(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' || c == '.' {
			plain = false
			break
		}
	}
	if plain {
		return strings.TrimSuffix(s, "-")
	}
	var b strings.Builder
	for _, r := range s {
		if plain, ok := foldedLetters[r]; ok {
			b.WriteString(plain)
		} else {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return strings.TrimSuffix(b.String(), "-")
}

// foldedLetters are what stands for letters with marks, and for what is dropped.
var foldedLetters = func() map[rune]string {
	letters := map[rune]string{'.': "", 0xAD: ""}
	const folded = "ssßẞ aeäÄ oeöÖ ueüÜ eéèêÉÈ aàâáÂÀ oôóò iíìîÍ uúùû nñÑ cçÇ"
	for _, one := range strings.Fields(folded) {
		plain := strings.TrimRightFunc(one, func(r rune) bool { return r > unicode.MaxASCII })
		for _, r := range one[len(plain):] {
			letters[r] = plain
		}
	}
	return letters
}()

// isMark reports whether tok is one of the marks.
func (tok Token) isMark(marks string) bool {
	return tok.Kind == Mark && strings.Contains(marks, tok.Text())
}

// isWord reports whether tok is one of the words, folded by Fold.
func (tok Token) isWord(words ...string) bool {
	if tok.Kind != Word {
		return false
	}
	folded := tok.fold()
	for _, w := range words {
		if w == folded {
			return true
		}
	}
	return false
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// StreetAfter reads the street that follows an anchor in the order "postcode
// city, street number". t are the tokens after the city.
func StreetAfter(t Tokens, known Known) (Street, bool) {
	i := 0
	if len(t) > 0 && t[0].isMark("(") {
		i = closing(t, 0)
		inner := t[1:max(1, i-1)]
		if street, ok := streetFrom(inner, 0, known); ok && street.Number.End == inner[len(inner)-1].End {
			return street, true // "26121 Oldenburg (Lange Straße 5)", else a district
		}
	}
	for n := i + 4; i < len(t) && i < n && (t[i].Kind == Break || t[i].isMark(",;|-–:/·•*(")); {
		i++
	}
	if i == 0 && len(t) > 0 && !t[0].Space {
		return Street{}, false
	}
	if i > 0 && i+1 < len(t) && (t[i].isWord("strasse", "str", "adresse", "anschrift", "rue",
		"via", "straat", "adres", "vej") && t[i+1].isMark(":") ||
		t[i].isWord("strasse", "adresse", "anschrift") && t[i+1].Kind == Break) {
		i += 2 // "Straße: Lange Str. 5"
	}
	street, ok := streetFrom(t, i, known)
	if !ok && i > 0 && t.At(i).isWord("in", "an", "auf") && t.At(i+1).isWord("der") {
		return streetFrom(t, i+2, known) // "in 26121 Oldenburg, in der Langen Straße 5", not "An der Mühle 5"
	}
	return street, ok
}

// streetFrom reads the street, with its number, that begins with token i.
func streetFrom(t Tokens, i int, known Known) (Street, bool) {
	j := i
	for j < len(t) && j-i <= maxNameWords && (t[j].Kind == Word || t[j].isMark(".")) {
		j++
	}
	if j == i || t.At(j).Kind != Number || !shortNumber(t[j].Text()) {
		return Street{}, false
	}
	name, strength, ok := nameBefore(t[:j], j, known)
	if !ok || strength < 3 || name.Start != t[i].Start {
		return Street{}, false
	}
	end := j
	for end+2 < len(t) && joins(t[end+1]) && t[end+2].Kind == Number &&
		shortNumber(t[end+2].Text()) && !(t[end+1].isMark(",;") && countsOther(t[end:])) {
		end += 2
	}
	if t.At(end+1).Kind == Word && t[end+1].size() == 1 && (t.At(end+2).Kind != Number) {
		end++
	}
	return Street{Name: name, Number: Span{t[j].Start, t[end].End}, Strength: strength}, true
}

// NumberStreetBefore reads the street before an anchor in the order number,
// street: "12, rue du Rhône".
func NumberStreetBefore(t Tokens, known Known) (Street, bool) {
	s, k := skipTail(t, len(t))
	if k > 3 && s.Unit.Empty() && t[k-1].Kind == Number && t[k-2].Kind == Word &&
		unitWords[t[k-2].fold()] && (t[k-3].Kind == Break || t[k-3].isMark(",-–")) {
		s.Unit = Span{t[k-2].Start, t[k-1].End} // "rue Sainte-Catherine Ouest, bureau 500"
		k = SkipMarksBack(t, k-2)
	}
	if k == len(t) && k > 1 && t[k-1].isWord("a", "in") && t[k-2].Kind == Word {
		k-- // "12 rue du Rhône à 1204 Genève"
	}
	for i := k - 1; i >= 0 && i >= k-maxNameWords-2; i-- {
		if t[i].Kind == Break {
			return s, false
		}
		if t[i].Kind != Number || !shortNumber(t[i].Text()) {
			continue
		}
		if dateIn(t, i) {
			continue // "29 rue du 11 Novembre 1918"
		}
		stated := i > 0 && t[i-1].Kind == Word && frenchAt[t[i-1].fold()] // "au 12 rue du Rhône"
		if i > 0 && !(t[i-1].Kind == Break || t[i-1].Kind == Mark || stated) {
			return s, false
		}
		j := i + 1
		number := Span{t[i].Start, t[i].End}
		if j < k && t[j].Kind == Word && t[j].isWord("bis", "ter") {
			number.End = t[j].End
			j++
		}
		for j < k && t[j].isMark(",") {
			j++
		}
		if j >= k || t[j].Kind != Word || !numberFirstName(t[j:k], !stated && !t[j-1].isMark(",")) {
			return s, false
		}
		for n := j; n < k; n++ {
			if t[n].Kind != Word && !t[n].isMark("'’-.") && !dateIn(t, n) {
				return s, false
			}
		}
		s.Name, s.Number, s.Strength = Span{t[j].Start, t[k-1].End}, number, 3
		if known != nil && known(s.Name.In(t)) {
			s.Strength = 4
		}
		return s, true
	}
	return s, false
}

// frenchPlace reports whether the tokens begin with a word that begins the names of French streets, of
// which there is more: "Clos des Tilleuls", "Remparts Nord". In the plural it may be counted by a
// number right before it: "3 jardins publics"; then it needs a capital.
func frenchPlace(t Tokens, counted bool) bool {
	first := t[0].fold()
	if len(t) < 2 || frenchPlaces[first] {
		return len(t) > 1
	}
	single, plural := strings.CutSuffix(first, "s")
	if !plural {
		single, plural = strings.CutSuffix(first, "x")
	}
	return plural && (!counted || t[0].capital()) && (frenchPlaces[single] || leadTypes[single])
}

// dateIn reports whether the number at i belongs to the name of a French street:
// "du 11 Novembre 1918", "du 1er Mai".
func dateIn(t Tokens, i int) bool {
	if i == 0 || t[i].Kind != Number || t[i-1].Kind != Word {
		return false
	}
	return t[i-1].isWord("du") && leadingInt(t[i].Text()) <= 31 ||
		frenchMonths[t[i-1].fold()] && t[i].size() == 4
}

// numberFirstName reports whether the tokens behind a house number can be a
// street name: "rue du Rhône", in Luxembourg also "am Wëngert", "Neigaass". counted: nothing stands
// between the two.
func numberFirstName(t Tokens, counted bool) bool {
	first, last := t[0].fold(), t[len(t)-1]
	return leadTypes[first] || frenchPlace(t, counted) ||
		len(t) > 1 && frenchBefore[first] && (leadTypes[t[1].fold()] || frenchPlace(t[1:], counted)) ||
		len(t) > 1 && (prepositions[first] || first == "op" || first == "um") ||
		last.Kind == Word && (streetEnd(last.fold()) || streetTypes[last.fold()])
}
