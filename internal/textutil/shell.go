package textutil

import (
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
)

// ShellQuote returns an argument for a command that people copy. It is quoted where a shell would change it.
func ShellQuote(s string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == filepath.Separator || strings.ContainsRune("_./:=@%+,-", r)
	}
	switch {
	case s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }):
		return s
	case runtime.GOOS == "windows":
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ShellQuoteAll returns the arguments of such a command.
func ShellQuoteAll(args []string) string {
	var words []string
	for _, arg := range args {
		words = append(words, ShellQuote(arg))
	}
	return strings.Join(words, " ")
}
