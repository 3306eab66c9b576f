// Package grammar parses the parts of an address by the rules of each country: house numbers,
// streets, units and post boxes. It works on the few words around an anchor (a postcode, a state)
// and has no names of places; the caller verifies the result against a gazetteer. Each country is a
// [Country] in the file of its language; street_european.go and street_us.go read streets.
package grammar

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Kind is the kind of a Token.
type Kind uint8

// The kinds.
const (
	Word   Kind = iota + 1 // letters, with inner dots, hyphens and apostrophes: "W.-C.-Röntgen-Str."
	Number                 // begins with a digit: "12", "12a", "74-76", "178/179", "17th"
	Mark                   // one rune of punctuation
	Break                  // one or more line breaks
)

// A Token is a stretch of a text, in bytes.
type Token struct {
	text       string // that it is a stretch of
	Start, End int    // in bytes
	Kind       Kind
	Space      bool // white space or the start of the window stands before it
}

// Tokens are those of a window of a text.
type Tokens []Token

// At returns token i, or the zero Token where there is none.
func (t Tokens) At(i int) Token {
	if i < 0 || i >= len(t) {
		return Token{}
	}
	return t[i]
}

// Text returns the text of the token.
func (tok Token) Text() string { return tok.text[tok.Start:tok.End] }

// size is the length of the text in bytes.
func (tok Token) size() int { return tok.End - tok.Start }

// lower returns the text as LowerASCII has it, fold as Fold has it.
func (tok Token) lower() string { return LowerASCII(tok.Text()) }
func (tok Token) fold() string  { return Fold(tok.Text()) }

// capital reports whether the text begins with a capital letter.
func (tok Token) capital() bool { return Capital(tok.Text()) }

// Phrase returns the text from the first token to the last.
func Phrase(t Tokens) string { return t[0].text[t[0].Start:t[len(t)-1].End] }

// MaxTokens bounds the tokens around one anchor.
const MaxTokens = 80

// Tokenize appends the tokens of text[lo:hi] to buf, at most MaxTokens of them:
// the last ones. Invalid UTF-8 becomes marks.
func Tokenize(text string, lo, hi int, buf Tokens) Tokens {
	space := true
	for i := lo; i < hi; {
		if len(buf) >= 2*MaxTokens {
			buf = buf[:copy(buf, buf[MaxTokens:])]
		}
		r, n := decode(text[i:hi])
		switch {
		case r == '\n', isBullet(r):
			if len(buf) == 0 || buf[len(buf)-1].Kind != Break {
				buf = append(buf, Token{text, i, i + n, Break, space})
			}
			space = true
			i += n
		case IsSpace(r), r == '_' && !space && i+1 < hi && unicode.IsUpper(rune(text[i+1])): // "Lange_Str. 4"
			space = true
			i += n
		case isDigit(r), isFraction(r):
			end := numberEnd(text, i, hi)
			buf = append(buf, Token{text, i, end, Number, space})
			i, space = end, false
		case unicode.IsLetter(r):
			end, what := wordEnd(text, i, hi), Word
			if space && isBar(text[i:end]) && len(buf) > 0 && buf[len(buf)-1].Kind == Number {
				what = Break
			}
			buf = append(buf, Token{text, i, end, what, space})
			i, space = end, false
		default:
			buf = append(buf, Token{text, i, i + n, Mark, space})
			i, space = i+n, false
		}
	}
	if len(buf) > MaxTokens {
		buf = buf[:copy(buf, buf[len(buf)-MaxTokens:])]
	}
	return buf
}

// decode returns the first rune of s and its length, with a short way for ASCII.
func decode(s string) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	return utf8.DecodeRuneInString(s)
}

// IsSpace reports whether r is white space other than a line break, or invisible: zero-width
// characters and marks of direction.
func IsSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\r' || r == 0xA0 || r == 0x202F || r == 0x200B || r == 0xFEFF ||
		0x2000 <= r && r <= 0x200F || 0x202A <= r && r <= 0x202E || 0x2060 <= r && r <= 0x2069 || r == '\v' ||
		r == '\f'
}

// isBar reports whether a word is a letter that is written for a bar: "Lange Straße 33 I 26122 Oldenburg".
func isBar(word string) bool { return word == "I" || word == "l" }

// isBullet reports whether r is a geometric shape, "■" or "►", which parts lines.
func isBullet(r rune) bool { return 0x25A0 <= r && r <= 0x25FF }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// isFraction reports whether r is a fraction of one character, as in "14½".
func isFraction(r rune) bool { return r == '½' || r == '¼' || r == '¾' || r == '⅓' || r == '⅔' }

// isHyphen reports whether r is a dash that can join the two numbers of a range.
func isHyphen(r rune) bool {
	return r == '-' || '‐' <= r && r <= '―' || r == '−'
}

// wordEnd returns the end of the word that begins at i.
func wordEnd(text string, i, hi int) int {
	for i < hi {
		r, n := decode(text[i:hi])
		switch {
		case unicode.IsLetter(r), unicode.Is(unicode.Mn, r), r == 0xAD:
		case r == '.', r == '\'', r == '’', r == '-', r == '‐', r == '‑':
			// a dot or hyphen ends the word unless a letter or another joint follows
			if i+n >= hi {
				return i + n
			}
			next, m := decode(text[i+n : hi])
			if r != '.' && r != '-' && !unicode.IsLetter(next) {
				return i // an apostrophe or quote after the word
			}
			if r == '.' && isHyphen(next) && i+n+m < hi && letterAt(text, i+n+m, hi) {
				break // "W.-C."
			}
			if !unicode.IsLetter(next) {
				return i + n
			}
		default:
			return i
		}
		i += n
	}
	return i
}

// numberEnd returns the end of the number that begins at i: its digits, a
// letter or ordinal ending, and what is joined to it without a space.
func numberEnd(text string, i, hi int) int {
	for {
		for i < hi && isDigit(rune(text[i])) {
			i++
		}
		if i < hi && text[i] >= utf8.RuneSelf {
			if r, n := decode(text[i:hi]); isFraction(r) {
				i += n
			}
		}
		i = letterEnd(text, i, hi)
		if i >= hi {
			return i
		}
		r, n := decode(text[i:hi])
		if !isHyphen(r) && r != '/' && r != '+' && r != '.' && r != ':' && r != '&' {
			return i
		}
		if i+n >= hi {
			return i
		}
		next := rune(text[i+n])
		switch {
		case isDigit(next):
			i += n
		case r != '.' && r != ':' && next < utf8.RuneSelf && unicode.IsLetter(next) &&
			!letterAt(text, i+n+1, hi) && !digitAt(text, i+n+1, hi):
			return i + n + 1 // "39A/B", "535-B"
		default:
			return i
		}
	}
}

// letterEnd takes up to two letters that end the number before i.
func letterEnd(text string, i, hi int) int {
	j := i
	for n := 0; n < 2 && letterAt(text, j, hi); n++ {
		_, size := decode(text[j:hi])
		j += size
	}
	if j == i+2 && j < hi && (text[i:j+1] == "bis" || text[i:j+1] == "ter") {
		j++ // "12bis"
	}
	if j < hi && (letterAt(text, j, hi) || digitAt(text, j, hi)) {
		return i // a word or code begins here
	}
	return j
}

func letterAt(text string, i, hi int) bool {
	if i >= hi {
		return false
	}
	r, _ := decode(text[i:hi])
	return unicode.IsLetter(r)
}

func digitAt(text string, i, hi int) bool { return i < hi && isDigit(rune(text[i])) }

// LowerASCII lowers s without its dots, as the lists of English words have it.
func LowerASCII(s string) string { return strings.ToLower(strings.ReplaceAll(s, ".", "")) }

// Capital reports whether s begins with an upper-case letter.
func Capital(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r) || unicode.IsTitle(r)
}

// A Span is a stretch of a text in bytes; the zero Span is none.
type Span struct{ Start, End int }

// Of returns the text of the span.
func (s Span) Of(text string) string { return text[s.Start:s.End] }

// In returns the text of the span, which t are the tokens of.
func (s Span) In(t Tokens) string { return s.Of(t[0].text) }

// Empty reports whether the span is none.
func (s Span) Empty() bool { return s.End <= s.Start }

// A Street is what a grammar reads before (or after) an anchor.
type Street struct {
	Name   Span
	Number Span // house number; empty where none is written
	Unit   Span // flat, suite, floor
	POBox  Span
	// Strength is the certainty of the grammar: 0 only a post box or unit, 1 by position alone, 2
	// by a preposition or a bounded line, 3 by a street word.
	Strength int
	Crossing bool // Name holds two streets: "64th Street and Fifth Avenue"

	slash int // in a number that a floor was written to: "37/2. Stock"
}

// Found reports whether the street can be found on a map: it has a house number or
// is a crossing.
func (s Street) Found() bool { return !s.Number.Empty() || s.Crossing }

// Span returns the smallest span that holds all parts of s.
func (s Street) Span() Span {
	var all Span
	for _, p := range [...]Span{s.Name, s.Number, s.Unit, s.POBox} {
		if p.Empty() {
			continue
		}
		if all.Empty() {
			all = p
			continue
		}
		all.Start, all.End = min(all.Start, p.Start), max(all.End, p.End)
	}
	return all
}
