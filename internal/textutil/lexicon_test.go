package textutil

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestLexicon(t *testing.T) {
	l := NewLexicon("e.v.", "öffnungszeit", "& co", "§5")
	for text, want := range map[string]bool{
		"":                        false,
		"e.":                      false,
		"Turnverein Okken e.V.":   true,
		"unsere Öffnungszeiten":   true,
		"ÖFFNUNGSZEIT":            true,
		"die öffnungs-Zeit":       false,
		"Harms & CO":              true,
		"nach §5":                 true,
		"nach § 5":                false,
		"öffnungszeiöffnungszeit": true,
		"\xc3\xb6ffnungszei":      false,
		"\xff\xfe\xc3":            false,
	} {
		if got := l.In(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestLexiconOfMany has more phrases than groups.
func TestLexiconOfMany(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := []rune("abcdeéöß &.")
	var phrases []string
	for range 300 {
		phrase := "ab"
		for range 1 + random.IntN(6) {
			phrase += string(letters[random.IntN(len(letters))])
		}
		phrases = append(phrases, phrase)
	}
	l := NewLexicon(phrases...)
	for _, phrase := range phrases {
		cut, other := phrase[:len(phrase)-1], "ge"+phrase[1:]
		for _, text := range []string{phrase, "x" + strings.ToUpper(phrase) + "x", cut, other} {
			lower := strings.ToLower(text)
			want := slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(lower, p) })
			if got := l.In(text); got != want {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		}
	}
}
