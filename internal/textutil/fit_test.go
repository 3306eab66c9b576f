package textutil

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFit(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"short\n", 20, "short\n"},
		{"one two three four five six\n", 12, "one two\n  three four\n  five six\n"},
		{"hosts     337 known; 315 ready, 2 waiting\n", 30, "hosts     337 known; 315\n          ready, 2 waiting\n"},
		{"✓ disk       57.1 GB free, 0.2 GB kept\n", 30, "✓ disk       57.1 GB free, 0.2\n             GB kept\n"},
		{"  https://a.example/very/long/word after\n", 12, "  https://a.example/very/long/word\n    after\n"},
		{"no spaces at all: überall\n\nb", 20, "no spaces at all:\n  überall\n\nb"},
		{"", 20, ""},
	} {
		if got := Fit(c.text, c.width); got != c.want {
			t.Errorf("Fit(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestReflow(t *testing.T) {
	text := "A paragraph of\nseveral lines.\n\n  name      what it\n            means\n  other     x"
	want := "A paragraph of several lines.\n\n  name      what it means\n  other     x"
	if got := Reflow(text, 40); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	want = "A paragraph of\nseveral lines."
	if got := Reflow("A paragraph of several\nlines.", 15); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Fit loses no word, and a line that is too long is one word behind its indentation.
func FuzzFit(f *testing.F) {
	f.Add("hosts     337 known; of those 315\n  a  b c\n", 20)
	f.Fuzz(func(t *testing.T, text string, width int) {
		if width = width&127 + 1; !utf8.ValidString(text) || len(text) > 2000 {
			return
		}
		fitted := Fit(text, width)
		if got, want := strings.Join(strings.Fields(fitted), " "), strings.Join(strings.Fields(text), " "); got != want {
			t.Fatalf("words of %q: %q", text, got)
		}
		for line := range strings.SplitSeq(fitted, "\n") {
			words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' })
			if utf8.RuneCountInString(strings.TrimRight(line, " ")) > width && len(words) > 2 && width > 40 {
				t.Fatalf("%q in %d columns", line, width)
			}
		}
	})
}
