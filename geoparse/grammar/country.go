package grammar

import (
	"embed"
	"strings"
	"unicode"
	"unicode/utf8"

	"gazehound/internal/textutil"
)

// A Form is the order in which a country writes the parts of an address.
type Form uint8

// The forms.
const (
	AnyForm          Form = iota
	CodeCity              // "Lange Straße 5, 26122 Oldenburg"
	CityStateZIP          // "5 Main Street, Irvine, CA 92697"
	CityProvinceCode      // "5 Main Street, Ottawa, ON K1A 0A9", "5 Main Street, Sydney NSW 2000"
	CityPostcode          // "5 High Street, London SW1A 1AA"
)

// Allows reports whether addresses of the country are read when those of form f are wanted. The two
// forms with a state go together.
func (f Form) Allows(country string) bool {
	other := Find(country).Form
	stated := func(f Form) bool { return f == CityStateZIP || f == CityProvinceCode }
	return f == AnyForm || f == other || stated(f) && stated(other)
}

// A Country is how one country writes its addresses. Each has its own file, or
// shares one with those of its language, and is added there.
type Country struct {
	Code      string // ISO 3166-1 alpha-2
	Form      Form
	Names     string // and codes, as addresses end with them; folded, divided by commas
	Prefixes  string // letters before a postcode: "D DE"
	Domains   string // top-level domains
	Languages string // ISO 639-1
	Phone     string // international prefix of telephone numbers

	// Codes are the forms of a postcode, where 9 is a digit, A a capital and * either: "A9A 9A9". What
	// else they hold stands for itself.
	Codes string

	// Listed: of the table of countries without words of their own. The gazetteer proves the rest.
	Listed bool

	// Where postcode and city come first.
	NumberFirst bool   // the house number may stand before the street
	Letters     bool   // two letters belong to the postcode: "1012 JS"
	LostZero    bool   // spreadsheets lose the zero that a postcode begins with: "4109 Leipzig"
	Glued       bool   // where line breaks are lost, a house number runs into the postcode
	CodePrefix  string // of the postcodes in the gazetteer
	BoxCodes    bool   // codes of post boxes share no digits with those of their city
	Province    bool   // two letters of a province stand behind the city: "Milano MI"

	States     map[string]string // folded names and abbreviations of states or provinces; their codes
	CityStates map[string]bool   // those that are a city
	Parts      []string          // countries within it, as written
	Counties   map[string]bool   // folded names that stand behind a city
	Cities     map[string]bool   // by gazetteer.Key: cities that the gazetteer may know by their quarters alone

	Respell     *strings.Replacer                      // other letters for those of a city's name, or nil
	StateOf     func(code string) string               // the state of a postcode, or nil
	StreetEnd   func(words []string) int               // words of the street where the city follows undivided, or nil
	CityStreets map[string]func(Tokens) (Street, bool) // cities with streets of their own form

	stateWords map[string]bool // first words of States
}

// table has the countries by the letters of their codes.
var table [26][26]*Country

// byName, byPrefix, byDomain and byPhone have the codes of countries.
var (
	byName   = map[string]string{}
	byPrefix = map[string]string{}
	byDomain = map[string]string{}
	byPhone  = map[string]string{}
)

// add puts a country into the table.
func add(c Country) {
	table[c.Code[0]-'A'][c.Code[1]-'A'] = &c
	for name := range strings.SplitSeq(c.Names, ",") {
		byName[name] = c.Code
	}
	for prefix := range strings.FieldsSeq(c.Prefixes) {
		byPrefix[prefix] = c.Code
	}
	for domain := range strings.FieldsSeq(c.Domains) {
		byDomain[domain] = c.Code
	}
	if c.Phone != "" {
		byPhone[c.Phone] = c.Code
	}
	c.stateWords = map[string]bool{}
	for name := range c.States {
		first, _, _ := strings.Cut(name, " ")
		c.stateWords[first] = true
	}
}

// statesOf reads states as "AL:alabama,ala;AK:alaska": code, then folded names. The
// code is a name, too; it may be empty.
func statesOf(list string) map[string]string {
	states := make(map[string]string)
	for state := range strings.SplitSeq(list, "; ") {
		code, names, _ := strings.Cut(state, ":")
		for name := range strings.SplitSeq(names, ",") {
			states[name] = code
		}
		states[strings.ToLower(code)] = code
	}
	delete(states, "")
	return states
}

var unknown Country

// Find returns the country of an ISO 3166-1 alpha-2 code; for others one without
// anything.
func Find(code string) *Country {
	if len(code) == 2 {
		if i, j := code[0]-'A', code[1]-'A'; i < 26 && j < 26 && table[i][j] != nil {
			return table[i][j]
		}
	}
	return &unknown
}

// Fits reports whether code has the form of a postcode of the country. The space in
// it may be missing.
func (c *Country) Fits(code string) bool {
	for form := range strings.SplitSeq(c.Codes, ",") {
		if code != "" && fits(form, code) {
			return true
		}
	}
	return false
}

// Spelled returns a postcode as its country writes it: "sw1a1aa" as "SW1A 1AA", "1012js" as "1012 JS". Of a
// ZIP+4 it is the ZIP, as on maps.
func (c *Country) Spelled(code string) string {
	if c.Form == CityStateZIP {
		zip, _, _ := strings.Cut(code, "-")
		return zip
	}
	forms := c.Codes
	if c.Letters {
		forms = "9999 AA"
	}
	upper := strings.ToUpper(code)
	for form := range strings.SplitSeq(forms, ",") {
		space := strings.IndexByte(form, ' ')
		if space > 0 && upper != "" && CodeAt(form, upper, 0) == len(upper) {
			return upper[:space] + " " + upper[len(upper)-(len(form)-space-1):]
		}
	}
	return code
}

func fits(form, code string) bool {
	for i := range len(form) {
		switch {
		case form[i] == ' ':
			code = strings.TrimPrefix(code, " ")
			continue
		case code == "" || !stands(form[i], code[0]):
			return false
		}
		code = code[1:]
	}
	return code == ""
}

// stands reports whether the byte c can stand where a form has f.
func stands(f, c byte) bool {
	switch f {
	case '9':
		return c-'0' <= 9
	case 'A':
		return c-'A' <= 25
	case '*':
		return c-'0' <= 9 || c-'A' <= 25
	}
	return f == c
}

// CodeAt returns the end of a postcode of the form that begins at text[i], or i. A space may be one
// of no break or left out, a hyphen may be any dash.
func CodeAt(form, text string, i int) int {
	at := i
	for k := range len(form) {
		rest := text[at:]
		switch {
		case form[k] == ' ':
			if r, n := utf8.DecodeRuneInString(rest); n > 0 && IsSpace(r) {
				at += n
			}
			continue
		case form[k] == '-':
			if r, n := utf8.DecodeRuneInString(rest); n > 0 && isHyphen(r) {
				at += n
				continue
			}
			return i
		case rest == "" || !stands(form[k], rest[0]):
			return i
		}
		at++
	}
	if r, _ := utf8.DecodeRuneInString(text[at:]); isDigit(r) || unicode.IsLetter(r) {
		return i
	}
	return at
}

// Split reports whether a scan for runs of four or five digits does not find the postcodes of a
// form: "99-999", "AD999", "999999".
func Split(form string) bool {
	return strings.Trim(form, "9") != "" || len(form) != 4 && len(form) != 5
}

func init() {
	list, err := wordFiles.ReadFile("words/countries.txt")
	if err != nil {
		panic(err) // at the start of the program: any test finds it
	}
	for line := range strings.Lines(string(list)) {
		if line[0] == '#' {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "; ")
		c := Country{
			Code: f[0], Form: CodeCity, Codes: f[1], Prefixes: f[2], Phone: f[3], Languages: f[4],
			Names: f[5] + "," + strings.ToLower(f[0]), Domains: strings.ToLower(f[0]), Listed: true, NumberFirst: true,
		}
		if c.Prefixes == "town-code" {
			c.Form, c.Prefixes = CityPostcode, ""
		}
		add(c)
	}
}

//go:embed words
var wordFiles embed.FS

// readLists reads words/NAME.txt.
func readLists(name string) textutil.Lists {
	file, err := wordFiles.ReadFile("words/" + name + ".txt")
	if err != nil {
		panic(err) // at the start of the program: any test finds it
	}
	return textutil.ReadLists(string(file))
}

// suffixes returns the words of a list by their last byte, so that few are compared.
func suffixes(words map[string]bool) map[byte][]string {
	m := make(map[byte][]string)
	for w := range words {
		m[lastByte(w)] = append(m[lastByte(w)], w)
	}
	return m
}

// The words of all languages, folded by Fold. They are looked for everywhere: Swiss
// and Belgian streets have names in several languages.
var (
	streetTypes    = map[string]bool{}   // can stand alone: "Platz"
	leadTypes      = map[string]bool{}   // begin a name: "Rue", "Via"
	linkWords      = map[string]bool{}   // join a street word to the rest of its name; as written
	adjectiveWords = map[string]bool{}   // before a street word: "Alte"
	smallWords     = map[string]bool{}   // inside a name; as written
	nobility       = map[string]bool{}   // between first name and surname; as written
	unitWords      = map[string]bool{}   // before a number or letter: "Haus 3"
	floorWords     = map[string]bool{}   // "OG", "links"
	placeLabels    = map[string]bool{}   // before a postcode or city in forms
	beforeCity     = map[string]bool{}   // "5541 BA te Reusel"
	boxWords       = map[string]bool{}   // before the number of a post box
	cityLinks      = map[string]bool{}   // between a city and its qualifier: "am"
	streetSuffixes = map[byte][]string{} // at the end of a compound, "-strasse", by their last byte
)

// addWords adds the words of a language.
func addWords(l textutil.Lists) {
	for name, to := range map[string]map[string]bool{
		"types": streetTypes, "leads": leadTypes, "links": linkWords, "adjectives": adjectiveWords,
		"particles": smallWords, "nobility": nobility, "units": unitWords, "floors": floorWords,
		"labels": placeLabels, "before-city": beforeCity, "boxes": boxWords, "city-links": cityLinks,
	} {
		for word := range strings.FieldsSeq(l[name]) {
			to[word] = true
		}
	}
	for word := range strings.FieldsSeq(l["ends"]) {
		streetSuffixes[lastByte(word)] = append(streetSuffixes[lastByte(word)], word)
	}
}

// CountryOfPrefix returns the country of the letters before a postcode ("D" of
// D-26121), or "".
func CountryOfPrefix(letters string) string { return byPrefix[letters] }

// CountryOf returns the ISO 3166-1 code of a country's name or code, or "".
func CountryOf(name string) string { return byName[foldName(name)] }

// foldName folds a name of several words.
func foldName(name string) string { return strings.Join(strings.Fields(Fold(name)), " ") }

// CountryOfDomain returns the country of a top-level domain, or "".
func CountryOfDomain(tld string) string { return byDomain[strings.ToLower(tld)] }

// CountryOfPhone returns the country of a telephone number without its "+", or
// "".
func CountryOfPhone(number string) string {
	for n := 3; n >= 2; n-- {
		if len(number) > n+1 && byPhone[number[:n]] != "" {
			return byPhone[number[:n]]
		}
	}
	return ""
}

// Speaks reports whether the language, ISO 639-1, is an official one of the country.
func Speaks(country, lang string) bool {
	return len(lang) >= 2 && strings.Contains(Find(country).Languages, strings.ToLower(lang[:2]))
}

// RegionBefore steps back from token k over the name of a state that fills its
// line. It returns the index of the first token of the name, or k.
func RegionBefore(country string, t Tokens, k int) (int, Span) {
	for n := min(3, k); n >= 1; n-- {
		if !onlyWords(t[k-n:k]) || k > n && t[k-n-1].Kind != Break && !t[k-n-1].isMark(",") {
			continue
		}
		name := Span{t[k-n].Start, t[k-1].End}
		if _, ok := Find(country).States[foldName(name.In(t))]; ok {
			return k - n, name
		}
	}
	return k, Span{}
}

// CountryAfter returns the country whose name, not code, t begins with behind
// separators, or "".
func CountryAfter(t Tokens) string {
	i := 0
	for i < len(t) && i < 3 && (t[i].Kind == Break || t[i].isMark(",-–|(/")) {
		i++
	}
	for n := min(3, len(t)-i); n >= 1 && i > 0; n-- {
		name := Phrase(t[i : i+n])
		if len(name) > 3 && onlyWords(t[i:i+n]) && CountryOf(name) != "" {
			return CountryOf(name)
		}
	}
	return ""
}

// NameParticle reports whether a word is a small one inside a city's name: "sur", "de".
func NameParticle(w string) bool {
	return linkWords[w] || smallWords[w] && w != "und" && w != "s" && w != "t"
}

// SkipCountry steps back from token k over the name of a country at the end.
func SkipCountry(t Tokens, k int) int {
	end := SkipMarksBack(t, k)
	for n := 4; n >= 1; n-- {
		if end <= n || !onlyWords(t[end-n:end]) {
			continue
		}
		name := Phrase(t[end-n : end])
		form := Find(CountryOf(name)).Form
		code := len(strings.Trim(name, ".")) <= 2 && form != CityStateZIP && form != CityPostcode
		if form != AnyForm && !code {
			return SkipMarksBack(t, end-n)
		}
	}
	return k
}

// SkipMarksBack steps back from token k over line breaks and punctuation.
func SkipMarksBack(t Tokens, k int) int {
	for k > 0 && (t[k-1].Kind == Break || t[k-1].Kind == Mark && !t[k-1].isMark(")#")) {
		k--
	}
	return k
}

// SkipMarks steps from token k over line breaks and punctuation.
func SkipMarks(t Tokens, k int) int {
	for k < len(t) && (t[k].Kind == Break || t[k].Kind == Mark && !t[k].isMark("#")) {
		k++
	}
	return k
}

// CityLink reports whether a word stands between a city's name and its qualifier: "am", "bei",
// "a.d.".
func CityLink(w string) bool { return cityLinks[Fold(w)] || w == "d." || w == "der" || w == "dem" }
