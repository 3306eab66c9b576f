package textutil

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"wien", "wein", 1}, {"wien", "wien", 0}, {"muenhcen", "muenchen", 1}, {"ab", "ba", 1}, {"a", "", 1}, {"", "", 0}, {"kitten", "sitting", 3}, {"abc", "xyz", 3}, {"abcd", "wxyz", 4}, {"abc", "abcdefgh", 4}} {
		if got := Distance(c.a, c.b, 3); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"max_pages", "max_depth", "strategy"}
	for given, want := range map[string]string{"max_page": "max_pages", "strategy": "strategy", "startegy": "strategy", "max_pepth": "max_depth", "decay": "", "": ""} {
		if got := Nearest(given, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", given, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text        string
		n           int
		clip, bytes string
	}{
		{"Straße", 10, "Straße", "Straße"},
		{"Straße", 5, "Straß", "Stra"},
		{"Lange Straße", 6, "Lange", "Lange "},
		{"öl", 1, "ö", ""},
		{"öl", 0, "", ""},
	} {
		if got := Clip(c.text, c.n); got != c.clip {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.text, c.n, got, c.clip)
		}
		if got := ClipBytes(c.text, c.n); got != c.bytes {
			t.Errorf("ClipBytes(%q, %d) = %q, want %q", c.text, c.n, got, c.bytes)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(0, 20).Draw(t, "n")
		if got := Clip(s, n); utf8.RuneCountInString(got) > n || !utf8.ValidString(got) {
			t.Fatalf("Clip(%q, %d) = %q", s, n, got)
		}
		if got := ClipBytes(s, n); len(got) > n || !utf8.ValidString(got) {
			t.Fatalf("ClipBytes(%q, %d) = %q", s, n, got)
		}
	})
}
