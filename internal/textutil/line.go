package textutil

import (
	"strings"
	"unicode"
)

// OneLine makes foreign text safe for terminals and logs: control characters but the tab, line
// separators and bidirectional controls become spaces.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		control := r < ' ' && r != '\t' || r == 0x7f || 0x80 <= r && r < 0xa0 || r == 0x2028 || r == 0x2029
		if control || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
}
