package geoparse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"gazehound/geoparse/grammar"
)

// Windows around an anchor, in bytes. They bound the work per anchor.
const (
	windowBefore = 180
	windowAfter  = 110
	linesBefore  = 5
)

// A source is a text, where it stands, and which countries' addresses are looked for in it. It stays
// the same while the text is read; what is found is returned.
type source struct {
	hints
	forms   [grammar.CityPostcode + 1][]*grammar.Country // of the gazetteer and looked for, by form
	split   []splitCode                                  // forms of their postcodes that are no run of digits
	windows *windows
	log     *[]Candidate // rejected ones, for Explain; nil: not recorded
}

// newSource returns the source of an input's text, or of a part of it, that speaks for the country
// hint, which may be "".
func (p *Parser) newSource(text string, in Input, hint string, log *[]Candidate) *source {
	s := &source{hints: newHints(p, text, in, hint), windows: &windows{text: text}, log: log}
	for _, land := range p.lands {
		if s.only.Allows(land.Code) {
			s.forms[land.Form] = append(s.forms[land.Form], land)
			s.split = appendSplit(s.split, land)
		}
	}
	if s.isUnproven(hint) && s.only.Allows(hint) {
		s.split = appendSplit(s.split, grammar.Find(hint))
	}
	return s
}

// reads reports whether addresses of the form are looked for and can be proven.
func (s *source) reads(form grammar.Form) bool { return len(s.forms[form]) > 0 }

// A splitCode is a form of postcode that is more or less than a run of four or five digits.
type splitCode struct {
	form, lead string
	first, all int // digits before the first that is none, behind lead, and in all
}

// appendSplit adds the forms of a country.
func appendSplit(split []splitCode, land *grammar.Country) []splitCode {
	if land.Form != grammar.CodeCity {
		return split
	}
	for form := range strings.SplitSeq(land.Codes, ",") {
		lead := form[:max(0, strings.IndexByte(form, '9'))]
		code := splitCode{form, lead, digitsAt(form, len(lead)), strings.Count(form, "9")}
		if form != "" && grammar.Split(form) && !slices.Contains(split, code) {
			split = append(split, code)
		}
	}
	return split
}

// An anchor is a place of the source that may be in an address. Nothing before from, the end of the
// last address, is read.
type anchor struct {
	*source
	from int
}

// before returns the tokens of the window that ends at i.
func (a anchor) before(i int) grammar.Tokens {
	return a.windows.before(windowStart(a.text, a.from, i), i)
}

// after returns the tokens of the window that begins at i.
func (s *source) after(i int) grammar.Tokens {
	end := min(len(s.text), i+windowAfter)
	for end < len(s.text) && end > i && !utf8.RuneStart(s.text[end]) {
		end--
	}
	return s.windows.tokens(i, end)
}

// windows are the stretches of a text that are cut into tokens. Their count is bounded by maxWindows.
type windows struct {
	text  string
	count int
	room  grammar.Tokens // of the anchor that is read
	last  grammar.Tokens // before it: it may be read as a postcode of several countries
	span  grammar.Span   // of last
}

// next makes room for the tokens of another anchor: nobody reads those of the last one any more.
func (w *windows) next() { w.room, w.last = w.room[:0], nil }

// tokens returns the tokens of the text from lo to hi, for as long as the anchor is read.
func (w *windows) tokens(lo, hi int) grammar.Tokens {
	const most = 2 * grammar.MaxTokens // that Tokenize has at a time
	w.count++
	if cap(w.room)-len(w.room) < most {
		w.room = make(grammar.Tokens, 0, most+most/2)
	}
	n := len(w.room)
	t := grammar.Tokenize(w.text, lo, hi, w.room[n:n:n+most])
	w.room = w.room[:n+len(t)]
	return t[:len(t):len(t)]
}

// before is tokens for the window before an anchor. Its tokens may not be changed.
func (w *windows) before(lo, hi int) grammar.Tokens {
	if span := (grammar.Span{Start: lo, End: hi}); w.last == nil || span != w.span {
		w.last, w.span = w.tokens(lo, hi), span
	}
	return w.last
}

// windowStart returns where the window before i begins: at from, a few lines or windowBefore bytes back.
func windowStart(text string, from, i int) int {
	lo := max(from, i-windowBefore, 0)
	lines := 0
	for k := i - 1; k >= lo; k-- {
		if text[k] != '\n' || k+1 >= i || text[k+1] == '\n' {
			continue
		}
		lines++
		if lines > linesBefore {
			return k + 1
		}
	}
	if lo > 0 && lo > from {
		// begin with a whole word
		for k := lo; k < i; k++ {
			if text[k] == ' ' || text[k] == '\n' {
				return k
			}
		}
	}
	for lo < i && !utf8.RuneStart(text[lo]) {
		lo++
	}
	return lo
}
