package gazetteer

import (
	"slices"
	"strings"
	"unicode/utf8"

	"gazehound/internal/textutil"
)

// Limits of ParseQuery.
const (
	maxQueryWords = 16 // of one part between commas
	maxNumberSize = 12 // bytes of a house number
)

// ParseQuery splits an address as a person types it into a search box: a street that the gazetteer
// has, the house number before or behind it, and the place before or behind both, with commas or
// without ("Lange Straße 12 a Oldenburg", "12 Main St, Irvine", "26121 Oldenburg Lange Straße 12").
// The geoparser, not this, reads addresses in pages.
func (g *Gazetteer) ParseQuery(text string) Query {
	var q Query
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' || r == ';' }) {
		words := strings.Fields(part)
		words = words[:min(len(words), maxQueryWords)]
		switch {
		case len(words) == 0:
		case q.Street == "" && g.parseStreet(&q, words):
		case q.Street != "" && q.HouseNumber == "" && numberLength(words) == len(words) && g.codeLength(words) == 0:
			q.HouseNumber = joinNumber(words) // "Lange Straße, 12"
		default:
			g.parsePlace(&q, words)
		}
	}
	return q
}

// parseStreet reads the longest known street in words, its house number, and the place beside them.
func (g *Gazetteer) parseStreet(q *Query, words []string) bool {
	if len(g.Cities("", strings.Join(words, " "))) > 0 {
		return false
	}
	for n := min(len(words), maxSpelledWords); n > 0; n-- {
		for i := 0; i+n <= len(words); i++ {
			street, before, after := strings.Join(words[i:i+n], " "), words[:i], words[i+n:]
			if !g.HasStreet(street) {
				continue
			}
			number := ""
			if k := numberLength(after); k > 0 && !g.isCodeBeside(street, after) {
				number, after = joinNumber(after[:k]), after[k:]
			} else if k := numberLength(before); k > 0 && k == len(before) && !g.isCodeBeside(street, before) {
				number, before = joinNumber(before), nil
			}
			if !g.isPlace(before) || number == "" && n < len(words) && !g.isNamed(words, i, n) {
				continue
			}
			q.Street, q.HouseNumber = street, number
			g.parsePlace(q, before)
			g.parsePlace(q, after)
			return true
		}
	}
	return false
}

// isNamed reports whether words[i:i+n], a known street without a number beside it, is meant as a
// street: what begins with a postcode or the name of a city is rather a place.
func (g *Gazetteer) isNamed(words []string, i, n int) bool {
	street := strings.Join(words[i:i+n], " ")
	return g.codeLength(words[i:]) == 0 && len(g.Cities("", street)) == 0 && utf8.RuneCountInString(street) > 2
}

// numberLabels are words for "house number", folded.
var numberLabels = textutil.Words("nr no num numero nro hausnummer hausnr number")

// numberLength returns how many of the first words are a house number: 1 of "12 Oldenburg", 2 of
// "12 a" and "Nr. 5a", 3 of "48 - 50".
func numberLength(words []string) int {
	n := labelLength(words)
	if n == len(words) || !startsWithDigit(words[n]) || len(words[n]) > maxNumberSize {
		return 0
	}
	n++
	for n < len(words) {
		word := words[n]
		switch {
		case len(word) == 1 && 'a' <= word[0]|0x20 && word[0]|0x20 <= 'z', // a letter, and no direction of a street
			word == "½", word == "1/2", word == "bis", word == "ter":
			n++
		case (word == "-" || word == "–" || word == "+") && n+1 < len(words) && startsWithDigit(words[n+1]):
			n += 2
		default:
			return n
		}
	}
	return n
}

// labelLength returns 1 if the first word is one for "house number", else 0.
func labelLength(words []string) int {
	if len(words) > 1 && numberLabels[Key(words[0])] {
		return 1
	}
	return 0
}

func joinNumber(words []string) string { return strings.Join(words[labelLength(words):], " ") }

// isCodeBeside reports whether the number that words beside a street begin with is rather a postcode:
// there is such a postcode, no second one follows, and the street has no such house.
func (g *Gazetteer) isCodeBeside(street string, words []string) bool {
	if g.codeLength(words) == 0 || g.codeLength(words[1:]) > 0 {
		return false
	}
	return !slices.ContainsFunc(g.Streets(Query{Street: street}), func(s Place) bool {
		_, precision := g.House(s, words[0])
		return precision > StreetPrecision
	})
}

// codeLength returns how many of the first words are a postcode that the gazetteer has: 2 of "1017 ZZ
// Amsterdam".
func (g *Gazetteer) codeLength(words []string) int {
	for n := min(2, len(words)); n > 0; n-- {
		code := strings.Join(words[:n], " ")
		if strings.ContainsAny(code, "0123456789") && len(g.Postcodes("", trimCountry(code))) > 0 {
			return n
		}
	}
	return 0
}

// isPlace reports whether all words are parts of a place: a known postcode, a known city, both, or
// none.
func (g *Gazetteer) isPlace(words []string) bool {
	var q Query
	g.parsePlace(&q, words)
	return q.City == "" || len(g.Cities("", q.City)) > 0
}

// parsePlace reads "26121 Oldenburg", "Irvine", "CA 92612", "CA" or "DE".
func (g *Gazetteer) parsePlace(q *Query, words []string) {
	var name []string
	for len(words) > 0 {
		w, n := words[0], g.codeLength(words)
		switch {
		case n > 0 && q.Postcode == "":
			q.Postcode = trimCountry(strings.Join(words[:n], " "))
			words = words[n-1:]
		case len(w) == 2 && allLetters(w) && w == strings.ToUpper(w) && (q.City != "" || len(name) > 0 || q.Postcode != ""):
			if q.State == "" {
				q.State = w
			} else if q.Country == "" {
				q.Country = w
			}
		default:
			name = append(name, w)
		}
		words = words[1:]
	}
	if len(name) > 0 && q.City == "" {
		q.City = strings.Join(name, " ")
	}
}

// trimCountry takes the country off "D-26121".
func trimCountry(code string) string {
	if head, rest, ok := strings.Cut(code, "-"); ok && len(head) <= 3 && !strings.ContainsAny(head, "0123456789") {
		return rest
	}
	return code
}

func startsWithDigit(s string) bool { return s != "" && '0' <= s[0] && s[0] <= '9' }
