package kind

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Words returns the words of a text as the table has them: in lower case without
// accents, with ß as ss and ä, ae and a alike, as Lucene's GermanNormalizer has it. "F.C." is one word.
func Words(text string) []string {
	if strings.Contains(text, ".") {
		text = initials.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, ".", "") })
	}
	var words []string
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			words = append(words, german(b.String()))
			b.Reset()
		}
	}
	for _, r := range strings.ToLower(norm.NFKD.String(strings.ToLower(text))) {
		switch {
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’':
		case r == 'ß':
			b.WriteString("ss")
		case r == 'œ':
			b.WriteString("oe")
		case r == 'ø':
			b.WriteByte('o')
		case unicode.IsLetter(r), unicode.IsDigit(r):
			b.WriteRune(r)
		default:
			end()
		}
	}
	end()
	return words
}

// initials are letters with full stops between them.
var initials = regexp.MustCompile(`\b(?:\pL\.)+\pL\b\.?`)

// german turns ae, oe and ue into a, o and u, but ue not behind a vowel or q.
func german(word string) string {
	if !strings.Contains(word, "ae") && !strings.Contains(word, "oe") && !strings.Contains(word, "ue") {
		return word
	}
	var b strings.Builder
	before := byte(0)
	for i := range len(word) {
		c := word[i]
		if c == 'e' && (before == 'a' || before == 'o' ||
			before == 'u' && (i < 2 || !strings.ContainsRune("aeiouq", rune(word[i-2])))) {
			continue
		}
		b.WriteByte(c)
		before = c
	}
	return b.String()
}

func fold(text string) string { return strings.Join(Words(text), " ") }
