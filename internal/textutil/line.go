package textutil

import "strings"

// OneLine keeps foreign text from forging lines, or colours of a terminal:
// control characters but the tab, and line separators, become spaces.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || 0x80 <= r && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
}
