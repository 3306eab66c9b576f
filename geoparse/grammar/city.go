package grammar

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SplitCity returns the short form of a city's name without its qualifier ("Frankfurt am Main":
// "Frankfurt", "Wien, Wieden": "Wien", "Aarau 1": "Aarau"), the lower-case initial of what was cut
// off, and the first part of the name where people use it alone ("Dessau-Roßlau": "Dessau"). Each
// is empty where there is none.
func SplitCity(name string) (base string, rest byte, first string) {
	cut := len(name)
	if i := strings.IndexAny(name, ",(/"); i > 2 {
		cut = i
	}
	words := strings.Fields(name[:cut])
	for i := 1; i < len(words); i++ {
		if cityLinks[Fold(words[i])] || isDigit(rune(words[i][0])) {
			words = words[:i]
			break
		}
	}
	base = strings.Join(words, " ")
	if base != name {
		rest = initialOf(strings.TrimRight(name, ") "))
	} else {
		base = ""
	}
	short := strings.Join(words, " ")
	if i := strings.IndexByte(short, '-'); i >= 4 && !cityPrefixes[Fold(short[:i])] {
		first = short[:i]
	} else if len(words) > 1 && len(words[0]) >= 5 && !cityPrefixes[Fold(words[0])] {
		first = words[0]
	}
	if base == "" {
		rest = initialOf(name)
	}
	return base, rest, first
}

// initialOf returns the lower-case ASCII initial of the last word of name.
func initialOf(name string) byte {
	i := strings.LastIndexAny(name, " -/(,.")
	if i < 0 || i+1 >= len(name) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(name[i+1:])
	return FoldInitial(r)
}

// FoldInitial returns r folded to one lower-case ASCII letter, or 0.
func FoldInitial(r rune) byte {
	f := Fold(string(unicode.ToLower(r)))
	if f == "" || f[0] >= utf8.RuneSelf {
		return 0
	}
	return f[0]
}

var (
	cityPrefixes = german.Words("city-prefixes")
	exonyms      = readLists("exonyms")
)

// Exonyms returns other folded names of the city with this folded name.
func Exonyms(key string) []string { return strings.Fields(exonyms[key]) }

// Native returns the folded name that a city has at home, or the name itself:
// "koeln" for "Cologne".
func Native(name string) string {
	folded := Fold(name)
	for native, others := range exonyms {
		for other := range strings.FieldsSeq(others) {
			if other == folded {
				return native
			}
		}
	}
	return name
}

// PlainUmlauts spells umlauts by their bare vowel, as typewriters do.
func PlainUmlauts(name string) string { return plainUmlauts.Replace(name) }

var plainUmlauts = strings.NewReplacer("ä", "a", "ö", "o", "ü", "u", "Ä", "A", "Ö", "O", "Ü", "U", "ø",
	"o", "Ø", "O", "ß", "ss")

// ExpandUSCity spells out the abbreviations of a US city's name: "Ft. Walton
// Bch" is "Fort Walton Beach".
func ExpandUSCity(name string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(name, func(r rune) bool {
		return r == ' ' || r == '.' ||
			r == '-' || r == ',' || r == '\n'
	}) {
		if long, ok := cityWords[LowerASCII(w)]; ok {
			w = long
		}
		b.WriteString(w)
		b.WriteByte(' ')
	}
	return b.String()
}

var cityWords = readLists("city-words")
