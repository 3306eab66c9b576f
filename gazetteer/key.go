package gazetteer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Key folds a name so that the usual spellings of it are equal: lower case;
// ß is ss, ä ae, ö oe, ü ue; accents, spaces and all punctuation are dropped.
// Letters and digits of every script stay. It is idempotent and may be empty.
func Key(name string) string {
	if isKey(name) {
		return name
	}
	for {
		folded := fold(name)
		if folded == name || isKey(folded) {
			return folded
		}
		name = folded // rare letters fold in two steps
	}
}

// isKey reports whether s consists of lower-case ASCII letters and digits.
func isKey(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func fold(name string) string {
	ascii := true
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	var b strings.Builder
	b.Grow(len(name) + 2)
	if ascii {
		for i := range len(name) {
			switch c := name[i]; {
			case 'A' <= c && c <= 'Z':
				b.WriteByte(c + 'a' - 'A')
			case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
				b.WriteByte(c)
			}
		}
		return b.String()
	}
	// Composed first, so that u + diaeresis is ü; then what is left of the
	// accents is split off and dropped.
	for _, r := range norm.NFKC.String(strings.ToValidUTF8(name, "")) {
		r = unicode.ToLower(r)
		if s, ok := foldLetters[r]; ok {
			b.WriteString(s)
			continue
		}
		if r < utf8.RuneSelf {
			if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
				b.WriteByte(byte(r))
			}
			continue
		}
		for _, d := range norm.NFKD.String(string(r)) {
			d = unicode.ToLower(d)
			if s, ok := foldLetters[d]; ok {
				b.WriteString(s)
			} else if unicode.IsLetter(d) || unicode.IsDigit(d) {
				b.WriteRune(d)
			}
		}
	}
	return b.String()
}

var foldLetters = map[rune]string{
	'ß': "ss", 'ä': "ae", 'ö': "oe", 'ü': "ue",
	'æ': "ae", 'œ': "oe", 'ø': "oe", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ı': "i", 'ſ': "s", 'ħ': "h", 'ŋ': "n",
}

// StreetKey is Key for the names of streets: the words and abbreviations for
// one kind of street are one, as words and as German suffix (Straße, Strasse,
// Str., -str; Platz, Pl.; Sankt, St.; Avenue, Ave; North, N), and written
// ordinals are figures (Fifth Ave, 5th Ave). It is idempotent.
//
// St. for saint and St for street share a key, as do Dr. and Drive: telling
// them apart is not needed to find a street by its name.
func StreetKey(name string) string {
	for {
		key := foldStreet(name)
		if key == name {
			return key
		}
		name = key
	}
}

func foldStreet(name string) string {
	var b strings.Builder
	b.Grow(len(name))
	for rest := name; rest != ""; {
		word := rest
		if i := strings.IndexFunc(rest, isWordBreak); i >= 0 {
			_, size := utf8.DecodeRuneInString(rest[i:])
			word, rest = rest[:i], rest[i+size:]
		} else {
			rest = ""
		}
		word = Key(word)
		if short, ok := streetWords[word]; ok {
			word = short
		}
		b.WriteString(word)
	}
	key := b.String()
	if short, ok := streetWords[key]; ok {
		return short
	}
	for _, s := range streetSuffixes {
		if stem, ok := strings.CutSuffix(key, s.long); ok && len(stem) >= 2 { // "Austraße"
			return stem + s.short
		}
	}
	return key
}

// isWordBreak tells the words of a name apart. The apostrophe does not:
// "O'Farrell" and "OFarrell" are one word.
func isWordBreak(r rune) bool {
	switch r {
	case '\'', '’', '`', '´':
		return false
	}
	return r < utf8.RuneSelf && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') ||
		r >= utf8.RuneSelf && (unicode.IsSpace(r) || unicode.IsPunct(r))
}

var streetSuffixes = []struct{ long, short string }{
	{"strasse", "str"}, {"straat", "str"}, {"platz", "pl"},
}

// streetWords maps a folded word of a street's name to its canonical form,
// always a fixed point of the map.
var streetWords = func() map[string]string {
	m := map[string]string{}
	for _, line := range []string{
		// German, Dutch
		"str strasse strase strassse straat", "pl platz place", "st sankt saint street str.",
		"dr doktor doctor drive drv",
		"prof professor", "gasse g", "prom promenade", "chaussee chausse chs",
		// directions
		"n north nord", "s south", "e east", "w west", "ne northeast", "nw northwest", "se southeast", "sw southwest",
		// United States (USPS suffixes)
		"ave avenue av aven avenida avda", "rd road", "ln lane", "ct court crt", "cir circle circ",
		"blvd boulevard boul bd", "pkwy parkway pky pkway",
		"hwy highway", "ter terrace terr", "trl trail", "sq square", "expy expressway expwy", "fwy freeway",
		"aly alley", "plz plaza pza plza",
		"cv cove", "xing crossing", "pt point", "hts heights", "rdg ridge", "vw view", "crk creek",
		"spgs springs", "spg spring", "rte route rt",
		"mt mount", "ft fort", "ctr center centre", "bldg building", "jct junction", "mtn mountain",
		"gdns gardens", "gdn garden", "grn green",
		"grv grove", "hl hill", "is island", "lk lake", "mdws meadows", "mnr manor", "orch orchard", "pk park",
		"vlg village", "vly valley",
		"hbr harbor harbour", "brg bridge", "byp bypass", "cres crescent", "est estate", "ests estates",
		"frst forest", "holw hollow",
		"lndg landing", "pass passage", "pln plain", "shr shore", "sta station", "tpke turnpike", "jr junior",
		"sr senior", "cr countyroad",
		// French, Italian
		"ch chemin chem", "imp impasse", "all allee", "fbg faubourg", "ste sainte",
		"p.za piazza pzza", "vle viale", "cso corso",
		// ordinals
		"1st first", "2nd second", "3rd third", "4th fourth", "5th fifth", "6th sixth", "7th seventh",
		"8th eighth", "9th ninth", "10th tenth",
		"11th eleventh", "12th twelfth", "13th thirteenth", "14th fourteenth", "15th fifteenth",
		"16th sixteenth", "17th seventeenth",
		"18th eighteenth", "19th nineteenth", "20th twentieth",
	} {
		words := strings.Fields(line)
		short := Key(words[0])
		for _, w := range words {
			m[Key(w)] = short
		}
	}
	// "str" alone is the German word; "St" the English one.
	m["str"], m["strasse"] = "str", "str"
	return m
}()

// PostcodeKey folds a postcode: upper case, letters and digits only, without
// the country before a hyphen ("D-26121", "L-4906"), a ZIP+4 cut to its ZIP.
func PostcodeKey(code string) string {
	code = strings.TrimSpace(code)
	if i := strings.IndexByte(code, '-'); 0 < i && i <= 3 && allLetters(code[:i]) &&
		startsWithDigit(strings.TrimSpace(code[i+1:])) {
		code = strings.TrimSpace(code[i+1:])
	}
	if len(code) == 10 && code[5] == '-' && allDigits(code[:5]) && allDigits(code[6:]) {
		return code[:5]
	}
	ok := true
	for i := range len(code) {
		if c := code[i]; (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			ok = false
			break
		}
	}
	if ok {
		return code
	}
	return strings.ToUpper(Key(code))
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func allLetters(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}
