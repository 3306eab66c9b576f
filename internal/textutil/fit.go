package textutil

import (
	"strings"
	"unicode/utf8"

	"github.com/mitchellh/go-wordwrap"
)

// Fit breaks the lines of text at spaces so that none has more than width characters, unless one word
// is longer; width 0 is no limit. A line goes on below its text: behind its indentation, or where a
// column of names ends, as in "hosts     337 known".
func Fit(text string, width int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(fitLine(line, width, hanging(line)))
	}
	return b.String()
}

// fitLine breaks a line, which goes on behind hang spaces.
func fitLine(line string, width, hang int) string {
	if hang > width/2 {
		hang = 2
	}
	letters := []rune(line)
	if len(letters) <= width {
		return line
	}
	rest := wordwrap.WrapString(strings.TrimRight(string(letters[hang:]), "\n"), uint(width-hang))
	rest = strings.ReplaceAll(rest, "\n", "\n"+strings.Repeat(" ", hang))
	if strings.HasSuffix(line, "\n") {
		rest += "\n"
	}
	return string(letters[:hang]) + rest
}

// hanging returns the column at which a line goes on: behind the first name that two spaces or more
// set off, else two spaces behind its indentation.
func hanging(line string) int {
	const most = 24 // characters of a name
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	name, rest, set := strings.Cut(strings.TrimRight(text, "\n"), "  ")
	if !set || utf8.RuneCountInString(name) > most {
		return indent + 2
	}
	gap := 2 + len(rest) - len(strings.TrimLeft(rest, " "))
	return indent + utf8.RuneCountInString(name) + gap
}

// Reflow fits text that was broken into lines before: lines of a paragraph without indentation are one,
// and lines that go on where Fit would break them belong to the line above.
func Reflow(text string, width int) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimLeft(line, " ")
		if i := len(lines) - 1; i >= 0 && words != "" && lines[i] != "" {
			indent := len(line) - len(words)
			paragraph := indent == 0 && lines[i][0] != ' '
			if paragraph || indent > 0 && indent == hanging(lines[i]) {
				lines[i] += " " + words
				continue
			}
		}
		lines = append(lines, line)
	}
	var b strings.Builder
	for line := range strings.Lines(strings.Join(lines, "\n")) {
		hang := 0
		if line[0] == ' ' {
			hang = hanging(line)
		}
		b.WriteString(fitLine(line, width, hang))
	}
	return b.String()
}

// Rows returns how many rows of a terminal the lines of a text take.
func Rows(text string, width int) (n int) {
	for line := range strings.Lines(text) {
		n += max(1, (utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))+width-1)/max(width, 1))
	}
	return n
}
