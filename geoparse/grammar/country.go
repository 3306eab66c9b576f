package grammar

import (
	"strings"
	"unicode"
)

var prefixes = map[string]string{
	"D": "DE", "DE": "DE", "A": "AT", "AT": "AT", "CH": "CH", "FL": "LI", "LI": "LI", "I": "IT", "IT": "IT", "B": "BE", "BE": "BE", "NL": "NL", "DK": "DK",
	"L": "LU", "LU": "LU", "E": "ES", "ES": "ES", "F": "FR", "FR": "FR", "MC": "MC", "AD": "AD",
}

// regions are states that stand behind the city in the form of a postal
// service or map: those of Germany and Austria, folded.
var regions = map[string]map[string]bool{
	"DE": lines("badenwuerttemberg,bayern,bavaria,berlin,brandenburg,bremen,hamburg,hessen,hesse,mecklenburg-vorpommern,niedersachsen,lower saxony,nordrhein-westfalen,north rhine-westphalia,rheinland-pfalz," +
		"rhineland-palatinate,saarland,sachsen,saxony,sachsen-anhalt,saxony-anhalt,schleswig-holstein,thueringen,thuringia,baden-wuerttemberg"),
	"AT": lines("burgenland,kaernten,carinthia,niederoesterreich,lower austria,oberoesterreich,upper austria,salzburg,steiermark,styria,tirol,tyrol,vorarlberg,wien,vienna"),
}

func lines(names string) map[string]bool {
	m := make(map[string]bool)
	for name := range strings.SplitSeq(names, ",") {
		m[name] = true
	}
	return m
}

// RegionBefore steps back from token k over the name of a state that fills its
// line. It returns the index of the first token of the name, or k.
func RegionBefore(country, text string, t []Token, k int) (int, Span) {
	for n := min(3, k); n >= 1; n-- {
		if !onlyWords(t[k-n:k]) || k > n && t[k-n-1].Kind != Break && !isMark(text, t[k-n-1], ",") {
			continue
		}
		name := Span{t[k-n].Start, t[k-1].End}
		if regions[country][strings.Join(strings.Fields(Fold(name.Of(text))), " ")] {
			return k - n, name
		}
	}
	return k, Span{}
}

// CityState tells the states that are also cities, by name.
func CityState(name string) bool {
	switch Fold(name) {
	case "berlin", "bremen", "hamburg", "salzburg", "wien", "vienna":
		return true
	}
	return false
}

// CountryOfPrefix returns the country of the letters before a postcode ("D" of
// D-26121), or "".
func CountryOfPrefix(letters string) string { return prefixes[letters] }

// A Family is a set of countries that write addresses in one form.
type Family uint8

// The families.
const (
	AnyFamily Family = iota
	Europe           // "street number, postcode city"
	America          // "number street, city, state postcode": United States, Canada, Australia
	Britain          // "number street, city, postcode"
)

// FamilyOf returns the family of a country, or AnyFamily.
func FamilyOf(country string) Family {
	switch country {
	case "DE", "AT", "CH", "LI", "IT", "BE", "NL", "DK", "LU", "FR", "MC", "AD", "ES":
		return Europe
	case "US", "CA", "AU":
		return America
	case "GB":
		return Britain
	}
	return AnyFamily
}

// Allows tells whether addresses of the country are of the family.
func (f Family) Allows(country string) bool { return f == AnyFamily || f == FamilyOf(country) }

var countryNames = map[string]string{
	"germany": "DE", "deutschland": "DE", "de": "DE", "allemagne": "DE", "germania": "DE", "brd": "DE", "bundesrepublik deutschland": "DE", "austria": "AT", "oesterreich": "AT", "at": "AT",
	"switzerland": "CH", "schweiz": "CH", "suisse": "CH", "svizzera": "CH", "ch": "CH", "liechtenstein": "LI", "fuerstentum liechtenstein": "LI", "li": "LI",
	"united states": "US", "united states of america": "US", "usa": "US", "us": "US", "vereinigte staaten": "US", "united kingdom": "GB", "uk": "GB", "gb": "GB", "great britain": "GB",
	"england": "GB", "scotland": "GB", "wales": "GB", "northern ireland": "GB", "italy": "IT", "italia": "IT", "italien": "IT", "it": "IT", "france": "FR", "frankreich": "FR", "fr": "FR",
	"spain": "ES", "espana": "ES", "españa": "ES", "spanien": "ES", "espagne": "ES", "es": "ES", "netherlands": "NL", "the netherlands": "NL", "nederland": "NL", "niederlande": "NL", "nl": "NL", "belgium": "BE", "belgien": "BE", "belgique": "BE", "belgie": "BE", "be": "BE",
	"denmark": "DK", "danmark": "DK", "daenemark": "DK", "dk": "DK", "luxembourg": "LU", "luxemburg": "LU", "lu": "LU", "canada": "CA", "kanada": "CA", "ca": "CA",
	"australia": "AU", "australien": "AU", "au": "AU", "monaco": "MC", "mc": "MC", "andorra": "AD", "ad": "AD",
}

// CountryOf returns the ISO 3166-1 code of a country's name or code, or "".
func CountryOf(name string) string {
	return countryNames[strings.Join(strings.Fields(Fold(name)), " ")]
}

// CountryAfter returns the country whose name, not code, t begins with behind
// separators, or "".
func CountryAfter(text string, t []Token) string {
	i := 0
	for i < len(t) && i < 3 && (t[i].Kind == Break || isMark(text, t[i], ",-–|(/")) {
		i++
	}
	for n := min(3, len(t)-i); n >= 1 && i > 0; n-- {
		name := Span{t[i].Start, t[i+n-1].End}.Of(text)
		if len(name) > 3 && onlyWords(t[i:i+n]) && CountryOf(name) != "" {
			return CountryOf(name)
		}
	}
	return ""
}

// NameParticle tells the small words inside a city's name: "sur", "de".
func NameParticle(w string) bool {
	return linkWords[w] || smallWords[w] && w != "und" && w != "s" && w != "t"
}

// SkipCountry steps back from token k over the name of a country at the end.
func SkipCountry(text string, t []Token, k int) int {
	end := SkipMarksBack(text, t, k)
	for n := 4; n >= 1; n-- {
		if end <= n || !onlyWords(t[end-n:end]) {
			continue
		}
		name := text[t[end-n].Start:t[end-1].End]
		if len(strings.Trim(name, ".")) <= 2 && CountryOf(name) != "US" {
			continue
		}
		if CountryOf(name) != "" {
			return SkipMarksBack(text, t, end-n)
		}
	}
	return k
}

// SkipMarksBack steps back from token k over line breaks and punctuation.
func SkipMarksBack(text string, t []Token, k int) int {
	for k > 0 && (t[k-1].Kind == Break || t[k-1].Kind == Mark && !isMark(text, t[k-1], ")#")) {
		k--
	}
	return k
}

// SkipMarks steps from token k over line breaks and punctuation.
func SkipMarks(text string, t []Token, k int) int {
	for k < len(t) && (t[k].Kind == Break || t[k].Kind == Mark && !isMark(text, t[k], "#")) {
		k++
	}
	return k
}

// German tells the countries whose addresses are written in German order and
// words.
func German(country string) bool {
	switch country {
	case "DE", "AT", "CH", "LI":
		return true
	}
	return false
}

var languages = map[string]string{
	"de": "DE AT CH LI LU BE", "fr": "FR BE CH LU CA MC", "nl": "NL BE", "it": "IT CH", "da": "DK", "es": "ES AD", "ca": "AD ES", "en": "GB US CA AU", "lb": "LU",
}

// Speaks tells whether the language, ISO 639-1, is an official one of the country.
func Speaks(country, lang string) bool {
	return lang != "" && country != "" && strings.Contains(languages[strings.ToLower(lang[:min(2, len(lang))])], country)
}

// phones are the international prefixes of telephone numbers. That of the
// United States is Canada's too.
var phones = map[string]string{
	"49": "DE", "43": "AT", "41": "CH", "423": "LI", "39": "IT", "32": "BE", "31": "NL", "45": "DK", "352": "LU", "33": "FR", "34": "ES", "377": "MC", "376": "AD", "44": "GB", "61": "AU",
}

// CountryOfPhone returns the country of a telephone number without its "+", or
// "".
func CountryOfPhone(number string) string {
	for _, n := range [...]int{3, 2} {
		if len(number) > n+1 && isDigit(rune(number[0])) {
			if c := phones[number[:n]]; c != "" {
				return c
			}
		}
	}
	return ""
}

// NumberFirst tells the countries where the house number may stand before the
// street.
func NumberFirst(country string) bool {
	switch country {
	case "CH", "LU", "BE", "FR", "MC", "AD", "ES":
		return true
	}
	return false
}

// CodeFits tells whether a postcode of so many digits is of the country's form.
func CodeFits(country, code string) bool {
	switch country {
	case "DE":
		return len(code) == 5
	case "AT", "CH", "LI", "LU", "BE", "DK", "NL":
		return len(code) == 4
	case "IT", "MC", "FR", "ES":
		return len(code) == 5
	}
	return false
}

// CityLink tells the words between a city's name and what tells it from its
// namesakes: "am", "bei", "a.d.".
func CityLink(w string) bool { return cityLinks[Fold(w)] || w == "d." || w == "der" || w == "dem" }

// NumberStreetBefore reads the street before an anchor in the order number,
// street: "12, rue du Rhône".
func NumberStreetBefore(text string, t []Token, known Known) (Street, bool) {
	s, k := skipTail(text, t, len(t))
	if k > 3 && s.Unit.Empty() && t[k-1].Kind == Number && t[k-2].Kind == Word && unitWords[Fold(t[k-2].text(text))] && (t[k-3].Kind == Break || isMark(text, t[k-3], ",-–")) {
		s.Unit = Span{t[k-2].Start, t[k-1].End} // "rue Sainte-Catherine Ouest, bureau 500"
		k = SkipMarksBack(text, t, k-2)
	}
	for i := k - 1; i >= 0 && i >= k-maxNameWords-2; i-- {
		if t[i].Kind == Break {
			return s, false
		}
		if t[i].Kind != Number || !shortNumber(t[i].text(text)) {
			continue
		}
		if dateIn(text, t, i) {
			continue // "29 rue du 11 Novembre 1918"
		}
		if i > 0 && !(t[i-1].Kind == Break || t[i-1].Kind == Mark) {
			return s, false
		}
		j := i + 1
		number := Span{t[i].Start, t[i].End}
		if j < k && t[j].Kind == Word && isWord(text, t[j], "bis", "ter") {
			number.End = t[j].End
			j++
		}
		for j < k && isMark(text, t[j], ",") {
			j++
		}
		if j >= k || t[j].Kind != Word || !numberFirstName(text, t[j:k]) {
			return s, false
		}
		for n := j; n < k; n++ {
			if t[n].Kind != Word && !isMark(text, t[n], "'’-.") && !dateIn(text, t, n) {
				return s, false
			}
		}
		s.Name, s.Number, s.Strength = Span{t[j].Start, t[k-1].End}, number, 3
		if known != nil && known(s.Name.Of(text)) {
			s.Strength = 4
		}
		return s, true
	}
	return s, false
}

// dateIn tells whether the number at i belongs to the name of a French street:
// "du 11 Novembre 1918", "du 1er Mai".
func dateIn(text string, t []Token, i int) bool {
	if i == 0 || t[i].Kind != Number || t[i-1].Kind != Word {
		return false
	}
	return isWord(text, t[i-1], "du") && leadingInt(t[i].text(text)) <= 31 || frenchMonths[Fold(t[i-1].text(text))] && t[i].End-t[i].Start == 4
}

// numberFirstName tells whether the tokens behind a house number can be a
// street name: "rue du Rhône", in Luxembourg also "am Wëngert", "Neigaass".
func numberFirstName(text string, t []Token) bool {
	first, last := Fold(t[0].text(text)), t[len(t)-1]
	return leadTypes[first] || len(t) > 1 && frenchBefore[first] && leadTypes[Fold(t[1].text(text))] || len(t) > 1 && (prepositions[first] || first == "op" || first == "um") || last.Kind == Word && (streetEnd(Fold(last.text(text))) || streetTypes[Fold(last.text(text))])
}

// FrenchName tells whether a street's name is a French one: "rue Bleury",
// "avenue des Pins".
func FrenchName(name string) bool {
	words := strings.Fields(Fold(name))
	if len(words) < 2 || !leadTypes[words[0]] {
		return false
	}
	switch words[0] {
	case "rue", "chemin", "boul", "montee", "cote", "rang", "impasse", "ruelle", "allee", "route", "faubourg", "quai":
		return true
	}
	return nobility[words[1]] || smallWords[words[1]] || strings.HasPrefix(words[1], "l'") || strings.HasPrefix(words[1], "d'")
}

var states = map[string]string{
	"alabama": "AL", "alaska": "AK", "arizona": "AZ", "arkansas": "AR", "california": "CA", "colorado": "CO", "connecticut": "CT", "delaware": "DE", "florida": "FL",
	"georgia": "GA", "hawaii": "HI", "idaho": "ID", "illinois": "IL", "indiana": "IN", "iowa": "IA", "kansas": "KS", "kentucky": "KY", "louisiana": "LA", "maine": "ME",
	"maryland": "MD", "massachusetts": "MA", "michigan": "MI", "minnesota": "MN", "mississippi": "MS", "missouri": "MO", "montana": "MT", "nebraska": "NE", "nevada": "NV",
	"new hampshire": "NH", "new jersey": "NJ", "new mexico": "NM", "new york": "NY", "north carolina": "NC", "north dakota": "ND", "ohio": "OH", "oklahoma": "OK",
	"oregon": "OR", "pennsylvania": "PA", "rhode island": "RI", "south carolina": "SC", "south dakota": "SD", "tennessee": "TN", "texas": "TX", "utah": "UT",
	"vermont": "VT", "virginia": "VA", "washington": "WA", "west virginia": "WV", "wisconsin": "WI", "wyoming": "WY", "district of columbia": "DC", "puerto rico": "PR",
	"guam": "GU", "virgin islands": "VI", "calif": "CA", "cal": "CA", "oreg": "OR", "ore": "OR", "fla": "FL", "penn": "PA", "mass": "MA", "conn": "CT", "ariz": "AZ", "colo": "CO", "tex": "TX", "wash": "WA", "ill": "IL", "mich": "MI", "minn": "MN", "tenn": "TN",
	"ala": "AL", "ark": "AR", "del": "DE", "ind": "IN", "kan": "KS", "kans": "KS", "miss": "MS", "mont": "MT", "neb": "NE", "nebr": "NE", "nev": "NV", "okla": "OK", "wis": "WI", "wisc": "WI", "wyo": "WY",
}

var (
	stateCodes    = make(map[string]bool)
	stateInitials [256]bool
)

func init() {
	for name, code := range states {
		stateCodes[code] = true
		stateInitials[unicode.ToUpper(rune(name[0]))] = true
		stateInitials[code[0]] = true
	}
	for _, code := range [...]string{"AA", "AE", "AP", "AS", "MP"} {
		stateCodes[code] = true
	}
}

// MayBeState tells whether a US state or its code can begin with the byte c.
func MayBeState(c byte) bool { return stateInitials[c] }

// State returns the code of the US state that s names: "CA", "Ca.", "D.C.",
// "North Carolina".
func State(s string) string {
	s = strings.TrimRight(s, ".,")
	if len(s) <= 4 {
		code := strings.ToUpper(strings.ReplaceAll(s, ".", ""))
		if stateCodes[code] {
			return code
		}
	}
	if len(s) > len("district of columbia")+2 {
		return ""
	}
	var lower [24]byte
	n := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c <= ' ':
			if n == 0 || lower[n-1] == ' ' {
				continue
			}
			c = ' '
		}
		lower[n] = c
		n++
	}
	return states[string(lower[:n])]
}

// StateBefore reads the US state that ends with token k-1, with a country name
// behind it skipped. It returns its code, its span and the index of its first
// token.
func StateBefore(text string, t []Token, k int) (string, Span, int) {
	for k > 0 && (t[k-1].Kind == Break || isMark(text, t[k-1], ",.|-–;:()") || t[k-1].Kind == Word && PlaceLabel(t[k-1].text(text)) && k > 2) {
		k--
		if k > 1 && isWord(text, t[k], "code") && isWord(text, t[k-1], "zip", "postal", "post") {
			k--
		}
	}
	if k > 0 && isWord(text, t[k-1], "us", "usa") && k > 2 {
		k--
		for k > 0 && isMark(text, t[k-1], ",") {
			k--
		}
	}
	if k == 0 || t[k-1].Kind != Word {
		return "", Span{}, k
	}
	for n := 3; n >= 1; n-- {
		if k < n {
			continue
		}
		words := t[k-n : k]
		if !onlyWords(words) {
			continue
		}
		sp := Span{words[0].Start, words[n-1].End}
		if code := State(sp.Of(text)); code != "" {
			if text[sp.End-1] == '.' && !strings.Contains(text[sp.Start:sp.End-1], ".") {
				sp.End--
			}
			k -= n
			if labelled := backOver(text, t, k, ":"); labelled < k && labelled > 0 && isWord(text, t[labelled-1], "state", "province", "region") {
				k = labelled - 1
			}
			return code, sp, k
		}
	}
	return "", Span{}, k
}
