// Package textutil shortens texts, finds the name that a misspelt one was meant to be, and writes
// numbers for people.
package textutil

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LetterAt reports whether a letter begins at text[i].
func LetterAt(text string, i int) bool {
	if c := text[i]; c < utf8.RuneSelf {
		return 'a' <= c|0x20 && c|0x20 <= 'z'
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.IsLetter(r)
}

// LetterBefore reports whether a letter ends before text[i].
func LetterBefore(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return unicode.IsLetter(r)
}

// Clip returns at most n characters of s. White space at the cut is left out.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return strings.TrimSpace(s[:i])
		}
		n--
	}
	return s
}

// ClipBytes returns at most n bytes of s, cut between characters.
func ClipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Nearest returns the one of names that given was probably meant to be, the first of several, or
// "" where none is near: a third of its bytes may differ, and one more.
func Nearest(given string, names []string) string {
	best, limit := "", 1+len(given)/3
	for _, name := range names {
		if d := Distance(given, name, limit); d <= limit {
			best, limit = name, d-1
		}
	}
	return best
}

// Distance counts the insertions, deletions, replacements and swaps of neighbouring bytes that
// make a into b (optimal string alignment). It returns limit+1 where there are more than limit.
func Distance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, last, before := rows[i%3], rows[(i+2)%3], rows[(i+1)%3]
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := last[j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cost = min(cost, before[j-2]+1)
			}
			row[j] = min(cost, last[j]+1, row[j-1]+1)
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
	}
	return min(rows[len(a)%3][len(b)], limit+1)
}

// DidYouMean returns " Did you mean x?" for the nearest of names, or "".
func DidYouMean(given string, names []string) string {
	if near := Nearest(given, names); near != "" {
		return " Did you mean " + near + "?"
	}
	return ""
}

// NotOneOf says that given is none of names, and which it was probably meant to be.
func NotOneOf(given string, names []string) string {
	return fmt.Sprintf("%q is not one of %s.", Clip(given, 40), strings.Join(names, ", ")) + DidYouMean(given, names)
}
