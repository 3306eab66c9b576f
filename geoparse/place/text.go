package place

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gazehound/internal/kind"
	"gazehound/internal/textutil"
)

// nameWords returns the words of a text in lower case, without apostrophes and full stops.
func nameWords(text string) []string { return strings.Fields(foldWords(text)) }

// foldWords returns the words of a text as nameWords does, with a space before and
// behind each; two spaces where there are none.
func foldWords(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 2)
	b.WriteByte(' ')
	inWord := false
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z':
			b.WriteByte(byte(r))
			inWord = true
		case r == '\'' || r == '’' || r == '.':
		case isWordBreak(r):
			if inWord {
				b.WriteByte(' ')
			}
			inWord = false
		default:
			b.WriteRune(unicode.ToLower(r))
			inWord = true
		}
	}
	if inWord || b.Len() == 1 {
		b.WriteByte(' ')
	}
	return b.String()
}

// titleMark stands between the parts of a title.
var titleMark = regexp.MustCompile(` [-–—·•∙★»|:/] | (?:::|//) |[>|»ǀ]|: `)

// commaInside are brackets that the parts of a title do not end in: "Grote Church (Reents, Fife)".
var commaInside = regexp.MustCompile(`\s*\([^()]*,[^()]*\)`)

// titleMarks are the marks of titleMark: a text without any, as most are, needs no expression.
const titleMarks = "-–—·•∙★»|:/>ǀ"

// nameLeads and nameEnds often stand around a name and are no part of it.
var nameLeads, nameEnds = Phrases("name-leads"), Phrases("name-ends")

// partners are named before and behind commas: "Katz, Marshall & Banks, LLP".
var partners = regexp.MustCompile(`^\p{Lu}[\p{L}'-]+(?:, \p{Lu}[\p{L}'-]+)+,? (?:&|and|und) \p{Lu}[^,]*` +
	`(?:, (?:LL[PC]|PLLC|PLC|P\.?[AC]\b\.?|Inc\.?))?`)

// cutName cuts a text at the comma behind the name that it begins with.
func cutName(text string) (name, more string) {
	name, more, comma := strings.Cut(text, ", ")
	if !comma {
		return name, ""
	}
	all := partners.FindString(text)
	if all == "" {
		return name, more
	}
	return all, strings.TrimPrefix(text[len(all):], ", ")
}

// TitleParts cuts the title of a page where its parts are set apart.
func TitleParts(title string) []string {
	var parts []string
	if strings.Contains(title, "(") {
		title = commaInside.ReplaceAllString(title, " ")
	}
	phrases := []string{title}
	if strings.ContainsAny(title, titleMarks) {
		phrases = titleMark.Split(title, -1)
	}
	for _, phrase := range phrases {
		for more := strings.TrimSpace(phrase); more != ""; {
			var part string
			part, more = cutName(more)
			parts = append(parts, strings.TrimSpace(part))
		}
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return parts[:min(len(parts), mostParts)]
}

// isOrnament reports whether a rune before or behind a name is no part of it: a mark, a space or a pictogram.
func isOrnament(r rune) bool {
	const marks = " \t,;:|·•–—-/>»›→▸*™[\ufe0e\ufe0f\u200d" // the last ones are of pictograms
	return strings.ContainsRune(marks, r) || r != '©' && r != '®' && unicode.Is(unicode.So, r)
}

// trimName takes off what often stands around a name and is no part of it.
func trimName(text string) string {
	around := func(r rune) bool { return isOrnament(r) || r == '©' || r == '®' }
	text = withoutQuotes(strings.TrimFunc(strings.Join(strings.Fields(text), " "), around))
	text = strings.ReplaceAll(text, " , ", ", ")
	text = behindName.ReplaceAllString(text, "")
	text = ownDomain.ReplaceAllString(text, "")
	lower := strings.ToLower(text)
	for _, lead := range nameLeads {
		if strings.HasPrefix(lower, lead+" ") && len(lower) == len(text) {
			text = text[len(lead)+1:]
			lower = lower[len(lead)+1:]
		}
	}
	for i := 0; i < len(nameEnds); i++ {
		end := nameEnds[i]
		if len(lower) == len(text) && (strings.HasSuffix(lower, " "+end) || strings.HasSuffix(lower, "-"+end)) {
			name := strings.TrimRight(text[:len(text)-len(end)-1], " |·")
			last := lower[strings.LastIndexByte(name, ' ')+1 : len(name)]
			if kind.OfName(name, "", "") != kind.OfName(text, "", "") || prepositions[last] {
				continue // "Okken Funeral Home", "Landesbeauftragte für Datenschutz"
			}
			if !strings.Contains(name, " ") && (firmWords[lower[:len(name)]] || institutions.In(foldWords(name))) {
				return "" // "Club Contact"
			}
			text, lower = name, lower[:len(name)]
			i = -1 // a menu has several
		}
	}
	if utf8.RuneCountInString(text) > MaxName {
		return ""
	}
	if strings.HasSuffix(text, "TM") || strings.HasSuffix(text, "SM") {
		text = serviceMark.ReplaceAllString(text, "$1")
	}
	return strings.Trim(text, " ,;:|·•–—-/")
}

// withoutSeat cuts off what leads from a name to its address: "Okken Ltd, whose registered office is at".
func withoutSeat(line string) string {
	name := line
	if at := seat.FindStringIndex(line); at != nil {
		name = line[:at[0]]
	}
	if at := party.FindStringIndex(name); at != nil {
		name = name[:at[0]]
	}
	words := nameWords(name)
	if len(words) == 0 || isLabel(name) || len(words) < 3 && (here[words[0]] || ownNouns[words[len(words)-1]]) {
		return line // "Unser Büro befindet sich in der"
	}
	return name
}

// seat ends a line with what leads to an address, and party begins what contracts say of a party behind its name.
var (
	seat  = regexp.MustCompile(`(?i)[ ,(–—-]+` + alternatives("seats") + `[: ]*$`)
	party = regexp.MustCompile(`(?i)[ ,(–—-]+` + alternatives("parties") + `\b[^,.]{0,40}$`)

	here, ownNouns = Words("here"), Words("own-nouns")
)

// behindName is what some names end with: "Reents Ltd, est. 1963", "Reents Ltd, 5th floor, The Grange",
// "Reents School (6-8)", "Reents Ltd, Beech Works, Stubley Hollow", "Reents Ltd (“the Firm”)".
var behindName = regexp.MustCompile(`(?i)[ ,(–—-]+(?:gegründet|gegr\.?|seit|since|est\.?|established|founded)` +
	`(?: (?:in|im|anno))? \d{4}\)?$|, (?:\d{1,2}(?:st|nd|rd|th) floor|(?:unit|suite|floor) \d).*$|` +
	`, (?:[\pL'’-]+ ){1,3}(?:house|works|mills?|court|barns?|buildings?|park|estate)(?:,.*)?$|` +
	` \([^()]{0,20}\d[^()]{0,20}\)$| \([“„«"‘'].*$`)

// ownDomain is the web address behind a name: "Reents Data, Inc. ReentsData.com".
var ownDomain = regexp.MustCompile(`(?i) (?:www\.)?[\w-]+\.(?:com|net|org|co\.uk)$`)

// withoutQuotes takes quotation marks off both ends of a name, and one that has no other.
func withoutQuotes(text string) string {
	const marks = "\"“”„"
	inner := strings.Trim(text, marks)
	if strings.ContainsAny(inner, marks) { // of a part: Landhotel "Zur Mühle"
		return text
	}
	return inner
}

// serviceMark is a raised "TM" or "SM" that plain text runs into a name.
var serviceMark = regexp.MustCompile(`(\p{Ll})(TM|SM)$`)

// rightsLine is one such as "© 2010–2012 by Harms Ltd. All rights reserved": marks, years, dates and
// times, then the holder, up to what often stands behind one.
var rightsLine = regexp.MustCompile(`(?i)^.*(?:©|copyright|\(c\) )` +
	`(?:[^\pL\d]+|(?:\d{1,2}\.\d{1,2}\.)?(?:19|20)\d\d\b|\d{1,2}:\d\d(?: h| uhr)?|copyright\b|by\b)*` +
	`(.+?)(?:all rights|alle rechte|\. all| [-–—|·■] | seit | since |powered|(?:built|made) (?:by|with|using)|` +
	`design|$)`)

// rightsEnd is what may stand behind the holder: marks and years, but not the number of "Post 228".
var rightsEnd = regexp.MustCompile(`(?:[^\pL\d.)]+|\b(?:19|20)\d\d\b|^\d+$)*$`)

// rightsMarks stand in lines about rights, where "©" does not. They are looked for in every line of a page.
var rightsMarks = textutil.NewLexicon("opyright", "(c)")

// owner returns the holder of the rights that a line names, or "".
func owner(line string) string {
	if !strings.Contains(line, "©") && !rightsMarks.In(line) {
		return ""
	}
	m := rightsLine.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	name, more := cutName(m[1])
	form, _, _ := strings.Cut(more, ", ")
	if isLegalForm(form) { // "Reents Foundation, Inc., 5 Long Street"
		name += ", " + form
	}
	dot := strings.Index(name, ". ")
	if dot >= 0 && (hasLegalForm(name[:dot+1]) || // not "Dr. Harms" and "St. Mary"
		dot >= 12 && !degrees[strings.ToLower(name[strings.LastIndexByte(name[:dot], ' ')+1:dot])]) {
		name = name[:dot]
	}
	return rightsEnd.ReplaceAllString(name, "")
}

// legalForms end the names of firms and associations.
var legalForms = Words("legal-forms")

// dottedForms are legal forms only with dots, "S.A.".
var dottedForms = map[string]bool{"SA": true, "NV": true, "PC": true, "eU": true, "CB": true}

// hasLegalForm reports whether a word of a name is a legal form; some need their dots or capitals, and are the last.
func hasLegalForm(text string) bool {
	words := strings.Fields(text)
	return slices.ContainsFunc(nameWords(text), func(w string) bool { return legalForms[w] }) ||
		strings.Contains(strings.ToLower(text), "e. v.") || len(words) > 1 && isLegalForm(words[len(words)-1])
}

// coreWords returns the words of a name without legal forms and the smallest words.
func coreWords(text string) []string {
	return slices.DeleteFunc(nameWords(text), func(w string) bool {
		return legalForms[w] || w == "the" || w == "company" || w == "co" || w == "und" || w == "and"
	})
}

// branchTerms name a branch of a firm.
var branchTerms = Words("branch-terms")

// SaysBranch reports whether a text only says which of the addresses of somebody follows: "Zweigstelle:".
func SaysBranch(text string) bool {
	words := nameWords(text)
	return len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return !branchTerms[word] })
}

// branchShare returns the share of a text's words that only say which one of
// several places it is: words such as "office", and names of cities and states.
func (p *Page) branchShare(text string) float64 {
	all := nameWords(text)
	if len(all) == 0 {
		return 0
	}
	if numbered.ReplaceAllString(text, "") == "" { // "Station 1"
		return 1
	}
	n, firm := 0, IsFirm(text)
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("-,–/()", r) }) {
		words := nameWords(part)
		if p.places != nil && len(words) > 0 && len(words) <= 4 && p.places(strings.TrimSpace(part)) {
			n += len(words)
			continue
		}
		for i := 0; i < len(words); i++ {
			if branchTerms[words[i]] || !firm && len(words) > 1 && p.places != nil &&
				len(words[i]) > 3 && p.places(words[i]) {
				n++
			}
		}
	}
	return float64(n) / float64(len(all))
}

// isPhrase reports whether a text reads like a piece of a sentence or a button, and
// not like a name: "For Android Devices", "Jetzt spenden", "Best Gym in Okken".
func isPhrase(text string) bool {
	words := strings.Fields(text)
	if len(words) < 2 {
		return false
	}
	what, _, where := strings.Cut(text, " in ")
	if where && kind.Only(nameWords(what)) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeRuneInString(words[len(words)-1])
	return unicode.IsUpper(first) && unicode.IsLower(last) && !strings.Contains(words[len(words)-1], ".")
}

// unitTerms begin the part of an address that names a part of a building.
var unitTerms = Words("unit-terms")

// houseTerms end the name of a building or estate.
var houseTerms = Words("house-terms")

// estateKinds are the kinds that the name of a building or estate may seem to say: "Okken Business Park".
var estateKinds = wordLists.Words("estate-kinds")

// isAddressPart reports whether a text is a part of an address: a unit, or the name of a building, "Donald
// Bren Hall 2068", of no other kind, as "Okken Caravan Park".
func isAddressPart(text string) bool {
	words := withoutNumbers(nameWords(text))
	switch {
	case len(words) == 0:
		return false
	case unitTerms[words[0]]: // "Unit D Okken House", not "Haus des Gastes"
		return len(words) < 2 || !joins[words[1]]
	case !houseTerms[words[len(words)-1]]:
		return false
	}
	id := kind.Main(kind.OfName(text, "", ""))
	return id == "" || estateKinds[id]
}

// withoutNumbers returns words but for the numbers behind them.
func withoutNumbers(words []string) []string {
	for len(words) > 0 && strings.Trim(words[len(words)-1], "0123456789") == "" {
		words = words[:len(words)-1]
	}
	return words
}

// numbered is what many names of branches of an organisation end with: "Fire Station #28", "Post 4".
var numbered = regexp.MustCompile(`(?i)(?:#|\b(?:no\.?|post|lodge|station|troop|chapter|company) )\d+`)

// labelShare returns the share of the words that stand in usual headings,
// menus and buttons; articles and the like do not count.
func labelShare(words []string) float64 {
	all, n := 0, 0
	for _, w := range words {
		if !joins[w] && w != "the" {
			all++
			n += int(is(allLabels[w]))
		}
	}
	if all == 0 {
		return 1
	}
	return float64(n) / float64(all)
}

// joins are the words in small letters that stand inside the names of firms.
var joins = Words("joins")

// firmIn returns the first name in a line that ends with a legal form: the words with a capital before it, "Harms und
// Söhne GmbH & Co. KG", and what begins the line.
func firmIn(line string) string {
	words := strings.Fields(line)
	end := slices.IndexFunc(words, isLegalForm)
	if end <= 0 || strings.IndexAny(words[end], `"„“«`) == 0 { // "führt der Verein den Zusatz „e.V.“"
		return ""
	}
	from := end
	for from > 0 && end-from < MaxNameWords {
		w := words[from-1]
		first, _ := utf8.DecodeRuneInString(strings.Trim(w, `"„“(`))
		short := strings.Count(w, ".") > 1 // "a.d." of "Bach a.d. Donau"
		if strings.HasSuffix(w, ":") || strings.HasSuffix(w, ".") && len(w) > 4 && !short ||
			strings.HasSuffix(w, ";") || strings.HasSuffix(w, "|") || w == "–" || w == "-" {
			break
		}
		if end > 3 && !short && !unicode.IsUpper(first) && !unicode.IsDigit(first) && !joins[strings.ToLower(w)] &&
			from-1 > 0 && from != end {
			break
		}
		from--
	}
	for from < end && joins[strings.ToLower(words[from])] && words[from] != "The" {
		from++
	}
	for end+1 < len(words) {
		next := strings.Join(nameWords(words[end+1]), "")
		if next != "" && next != "und" && next != "co" && !legalForms[next] || strings.HasSuffix(words[end], ",") {
			break
		}
		end++
	}
	for end > from && !isLegalForm(words[end]) {
		end--
	}
	if from == end {
		return ""
	}
	return strings.Trim(strings.Join(words[from:end+1], " "), ",;:()")
}

// isLegalForm reports whether a word is a legal form, whatever marks it has: "GmbH,",
// "e.V.", "L.L.C.", or ends a name as one does: a dash or another mark alone, but not "-" and "&".
// "EG" is a floor, "limited" an adjective and "se" a pronoun, "SA" a day and "NV" a state.
func isLegalForm(word string) bool {
	plain := strings.ReplaceAll(strings.TrimFunc(word, isWordBreak), ".", "")
	key := strings.ToLower(plain)
	switch {
	case !legalForms[key]:
		return plain == "SE" || plain == "SL" || dottedForms[plain] && strings.Contains(word, ".")
	case key == "":
		return len(word) > 1 && !strings.ContainsFunc(word, isUnprintable)
	}
	return plain[0] == 'e' || key[0] != 'e' && (len(key) < len("limited") || unicode.IsUpper(rune(plain[0])))
}
