package gazetteer

import (
	_ "embed"
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
	var b strings.Builder
	b.Grow(len(name) + 2)
	// Composed first, so that u + diaeresis is ü; then what is left of the
	// accents is split off and dropped.
	for _, r := range norm.NFKC.String(strings.ToValidUTF8(name, "")) {
		r = unicode.ToLower(r)
		if r < utf8.RuneSelf || foldLetters[r] != "" {
			foldRune(&b, r)
			continue
		}
		for _, d := range norm.NFKD.String(string(r)) {
			foldRune(&b, unicode.ToLower(d))
		}
	}
	return b.String()
}

// foldRune appends what a letter or digit in lower case is folded to.
func foldRune(b *strings.Builder, r rune) {
	switch {
	case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
		b.WriteByte(byte(r))
	case r < utf8.RuneSelf:
	case foldLetters[r] != "":
		b.WriteString(foldLetters[r])
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		b.WriteRune(r)
	}
}

var foldLetters = map[rune]string{
	'ß': "ss", 'ä': "ae", 'ö': "oe", 'ü': "ue",
	'æ': "ae", 'œ': "oe", 'ø': "oe", 'þ': "th",
	'ł': "l", 'đ': "d", 'ð': "d", 'ı': "i", 'ſ': "s", 'ħ': "h", 'ŋ': "n",
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

// isWordBreak reports whether r separates the words of a name. The apostrophe does not:
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

// streetWordLists has a group of spellings per line, the canonical one first.
//
//go:embed streetwords.txt
var streetWordLists string

// streetWords maps a folded word of a street's name to its canonical form,
// always a fixed point of the map.
var streetWords = func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(streetWordLists) {
		group, _, _ := strings.Cut(line, "#")
		words := strings.Fields(group)
		for _, w := range words {
			m[Key(w)] = Key(words[0])
		}
	}
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
	isFolded := func(c rune) bool { return 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' }
	if !strings.ContainsFunc(code, func(c rune) bool { return !isFolded(c) }) {
		return code
	}
	return strings.ToUpper(Key(code))
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func allLetters(s string) bool {
	isOther := func(c rune) bool { return c|0x20 < 'a' || c|0x20 > 'z' }
	return s != "" && !strings.ContainsFunc(s, isOther)
}
