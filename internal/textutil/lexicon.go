package textutil

import (
	"math/bits"
	"strings"
)

// A Lexicon has words, and phrases of several words. It looks for all of them in one pass over a text:
// nearly everywhere three bytes show that none begins there.
type Lexicon struct {
	first, second, third [256]uint64 // groups with a phrase that has this byte there, in any case
	groups               [64][]string
}

// NewLexicon returns a Lexicon of phrases in small letters, each of three bytes at least.
func NewLexicon(phrases ...string) *Lexicon {
	l := &Lexicon{}
	for i, phrase := range phrases {
		group := i % len(l.groups)
		l.groups[group] = append(l.groups[group], phrase)
		for _, p := range []string{phrase, strings.ToUpper(phrase)} {
			l.first[p[0]] |= 1 << group
			l.second[p[1]] |= 1 << group
			l.third[p[2]] |= 1 << group
		}
	}
	return l
}

// In reports whether a text has one of the phrases anywhere, in letters of any case.
func (l *Lexicon) In(text string) bool {
	for i := 0; i+2 < len(text); i++ {
		groups := l.first[text[i]] & l.second[text[i+1]] & l.third[text[i+2]]
		for ; groups != 0; groups &= groups - 1 {
			for _, phrase := range l.groups[bits.TrailingZeros64(groups)] {
				if len(text)-i >= len(phrase) && strings.EqualFold(text[i:i+len(phrase)], phrase) {
					return true
				}
			}
		}
	}
	return false
}
