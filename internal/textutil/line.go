package textutil

import (
	"strings"
	"unicode"
)

// OneLine makes foreign text safe for terminals and logs: control characters but the tab, line
// separators and bidirectional controls become spaces.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || 0x80 <= r && r < 0xa0 || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
}

// Wrap joins words into lines of at most width characters.
func Wrap(words []string, sep string, width int, indent string) string {
	var b strings.Builder
	column := len(indent)
	for i, word := range words {
		if i < len(words)-1 {
			word += sep
		}
		if column+len(strings.TrimRight(word, " ")) > width {
			b.WriteString("\n" + indent)
			column = len(indent)
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
