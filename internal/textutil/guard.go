package textutil

import (
	"regexp"
	"strings"
)

// harmless matches texts that may begin with a sign: telephone and other numbers.
var harmless = regexp.MustCompile(`^[+-][0-9(][0-9 ()/.-]*$`)

// Guard returns a cell that no spreadsheet takes for a formula, by an apostrophe before texts that
// look like one.
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
