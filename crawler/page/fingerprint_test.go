package page

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func someText(r *rand.Rand, words int) []string {
	list := make([]string, words)
	for i := range list {
		b := make([]byte, 3+r.IntN(6))
		for j := range b {
			b[j] = 'a' + byte(r.IntN(26))
		}
		list[i] = string(b)
	}
	return list
}

// near returns the fingerprint of a text.
func near(text string) uint64 {
	near, _ := Hashes(text)
	return near
}

// One word of some hundred changes few bits, another text changes many, on
// texts that nobody chose.
func TestSameText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	missed, taken := 0, 0
	for range 200 {
		a := someText(r, 400)
		edited := append([]string{}, a...)
		edited[r.IntN(len(edited))] = "neu"
		if !SameText(near(strings.Join(a, " ")), near(strings.Join(edited, " "))) {
			missed++
		}
		if SameText(near(strings.Join(a, " ")), near(strings.Join(someText(r, 400), " "))) {
			taken++
		}
	}
	if missed > 30 || taken > 0 {
		t.Errorf("of 200 texts %d with one other word are not near, and %d others are", missed, taken)
	}
}

func TestFingerprint(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Keine Termine am 3. März 2026", "keine  Termine am 17. März 2031!", true},
		{"a b c d", "d c b a", false},
		{"Lange Straße", "Kurze Straße", false},
		{"", "17 18 19", true},
	} {
		if got := near(c.a) == near(c.b); got != c.same {
			t.Errorf("%q and %q: same %v", c.a, c.b, got)
		}
	}
}

// Case, numbers and what stands between words change nothing.
func TestFingerprintLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zäß]{1,8}`)).Draw(t, "words")
		var other strings.Builder
		for i, w := range words {
			fmt.Fprintf(&other, "%s%s %d", rapid.SampledFrom([]string{" ", "\n", ", "}).Draw(t, "between"), w, i)
		}
		if near(strings.Join(words, " ")) != near(other.String()) {
			t.Errorf("%q and %q differ", words, other.String())
		}
	})
}

// White space and order change no content, all else does.
func TestContent(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Lange Straße 5, 26121", "\u00a0Straße\n5,\tLange\u2003 26121 ", true},
		{"Lange Straße", "lange Straße", false},
		{"am 3. März", "am 4. März", false},
		{"5 5", "5", false},
		{"", " \n", true},
	} {
		_, a := Hashes(c.a)
		_, b := Hashes(c.b)
		if (a == b) != c.same {
			t.Errorf("%q and %q: same %v", c.a, c.b, a == b)
		}
	}
}

// A store keeps fingerprints, so those of texts of any length stay what they are.
func TestFingerprintStays(t *testing.T) {
	for words, want := range map[int]uint64{
		1:      0x95ca83b605933817,
		254:    0x4cd1d8367a6472f9,
		255:    0xccd1d8367a6472f9,
		256:    0xccd1d8347a6472f9,
		700:    0x6819522c7b6c10f9,
		25_000: 0x3521f3856e4df17d,
	} {
		if got := near(strings.Join(someText(rand.New(rand.NewPCG(1, 2)), words), " ")); got != want {
			t.Errorf("%d words: %#x, want %#x", words, got, want)
		}
	}
}

func BenchmarkFingerprint(b *testing.B) {
	page := strings.Join(someText(rand.New(rand.NewPCG(1, 2)), 600), " ")
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		Hashes(page)
	}
}
