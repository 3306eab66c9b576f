package index

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// distance is that of Damerau and Levenshtein with neighbours swapped once
// (optimal string alignment), by the book.
func distance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0:
				d[i][j] = j
			case j == 0:
				d[i][j] = i
			default:
				cost := 1
				if a[i-1] == b[j-1] {
					cost = 0
				}
				d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					d[i][j] = min(d[i][j], d[i-2][j-2]+1)
				}
			}
		}
	}
	return d[len(a)][len(b)]
}

// The automaton takes exactly the words that are at most one edit away.
func TestEdits(t *testing.T) {
	near := 0
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc1]{1,20}`).Draw(t, "word")
		term := []rune(word)
		for range rapid.IntRange(0, 2).Draw(t, "edits") {
			i := rapid.IntRange(0, len(term)).Draw(t, "at")
			r := rapid.SampledFrom([]rune("abcdé日")).Draw(t, "letter")
			switch rapid.IntRange(0, 3).Draw(t, "edit") {
			case 0:
				term = slices.Insert(term, i, r)
			case 1:
				if i < len(term) {
					term = slices.Delete(term, i, i+1)
				}
			case 2:
				if i < len(term) {
					term[i] = r
				}
			case 3:
				if i+1 < len(term) {
					term[i], term[i+1] = term[i+1], term[i]
				}
			}
		}
		e := newEdits(word)
		state := e.Start()
		for _, b := range []byte(string(term)) {
			if state = e.Accept(state, b); !e.CanMatch(state) {
				break
			}
		}
		want := distance([]rune(word), term) <= 1
		if want {
			near++
		}
		if got := e.CanMatch(state) && e.IsMatch(state); got != want {
			t.Errorf("%q and %q: %v, want %v", word, string(term), got, want)
		}
	})
	if near == 0 {
		t.Error("no pair was near")
	}
	if newEdits("größe") != nil || newEdits("") != nil || newEdits("aaaaaaaaaaaaaaaaaaaaa") != nil {
		t.Error("an automaton that has no room")
	}
}
