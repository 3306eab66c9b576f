package textutil

import (
	"regexp"
	"strings"
)

// harmless is what may begin with a sign: a telephone or other number.
var harmless = regexp.MustCompile(`^[+-][0-9(][0-9 ()/.-]*$`)

// Guard returns a cell that no spreadsheet takes for a formula: where it would,
// an apostrophe comes first.
func Guard(cell string) string {
	if cell == "" || harmless.MatchString(cell) {
		return cell
	}
	// Some spreadsheets also take the wide forms of East Asia.
	if strings.ContainsRune("=@+-\t\r\n＝＠＋－", []rune(cell)[0]) {
		return "'" + cell
	}
	return cell
}
