package grammar

import "strings"

// PlaceAfter returns the words behind a street and house number that say where
// the street lies: those behind a postcode ("26121 Oldenburg", "1234 AB
// Almere", in the same or the next lines), or a name set off by a comma, dash
// or "in" in the same line, or a country in a line of its own. It returns the
// empty Span where nothing does. t are the tokens behind the number.
func PlaceAfter(t Tokens) Span {
	i, breaks := 0, 0
	introduced, words := false, false
	for ; i < len(t); i++ {
		tok := t[i]
		switch {
		case tok.Kind == Break:
			breaks++
			if breaks > 2 {
				return Span{}
			}
			introduced, words = false, false
			continue
		case tok.isMark("("):
			if j := closing(t, i); j > 0 {
				i = j - 1
			}
			continue
		case tok.isMark(".;"):
			return Span{}
		case tok.Kind == Mark:
			introduced = breaks == 0
			continue
		case breaks == 0 && BeforeCity(tok.fold()):
			introduced = true
			continue
		case tok.Kind == Number:
			if !codeLike(tok) || words {
				return Span{}
			}
			return wordsFrom(t, i+1)
		case i+1 < len(t) && t[i+1].Kind != Break && byPrefix[strings.TrimRight(tok.Text(), "-")] != "":
			continue // "D-26121"
		case breaks > 0 && t[i-1].Kind == Break && CountryOf(lineFrom(t, i).In(t)) != "":
			return lineFrom(t, i)
		case introduced && tok.capital() && !notPlace(tok.Text()):
			return wordsFrom(t, i)
		case introduced:
			return Span{}
		}
		words = true // a remark, a district; the postcode may stand in the next line
	}
	return Span{}
}

// PlaceBefore returns the words between a postcode and a street that follows
// it: "26121 Oldenburg, Lange Straße 5". t are the tokens before the street.
func PlaceBefore(t Tokens) Span {
	k := len(t)
	for k > 0 && len(t)-k < 3 && (t[k-1].Kind == Break || t[k-1].Kind == Mark && !t[k-1].isMark(".!?")) {
		k--
	}
	for i := k - 1; i >= 0 && i >= k-7; i-- {
		switch {
		case t[i].Kind == Number:
			if i+1 < k && codeLike(t[i]) && t[i+1].Kind == Word && t[i+1].capital() {
				return Span{t[i+1].Start, t[k-1].End}
			}
			return Span{}
		case t[i].Kind == Break, t[i].isMark(";:|!?"):
			return Span{}
		}
	}
	return Span{}
}

// codeLike reports whether tok has the form of a postcode: four to six digits.
func codeLike(tok Token) bool {
	n := tok.End - tok.Start
	if n < 4 || n > 6 {
		return false
	}
	for _, r := range tok.Text() {
		if !isDigit(r) {
			return false
		}
	}
	return true
}

// wordsFrom returns the words from token i on in one line, at least what is
// there; the empty Span where none begins with a capital.
func wordsFrom(t Tokens, i int) Span {
	for t.At(i).Kind == Mark {
		i++
	}
	if t.At(i).Kind != Word || !t[i].capital() {
		return Span{}
	}
	if i+1 < len(t) && t[i].size() == 2 && t[i+1].Kind == Word && t[i+1].capital() {
		i++ // "1234 AB Almere"
	}
	j := i
	for j < len(t) && (t[j].Kind == Word || t[j].isMark("-./")) {
		j++
	}
	return Span{t[i].Start, t[j-1].End}
}

// lineFrom returns the rest of the line from token i on.
func lineFrom(t Tokens, i int) Span {
	j := i
	for j+1 < len(t) && t[j+1].Kind != Break {
		j++
	}
	return Span{t[i].Start, t[j].End}
}

// notPlace reports whether w, set off behind an address, is no name of a place
// but leads to something else: "Telefon", "Montag".
func notPlace(w string) bool {
	f := Fold(w)
	return germanStops[f] || germanNoStreet[f] || usStops[f] || floorWords[f] || unitWords[f] || behindAddress[f]
}

// behindAddress are words that often follow an address, none a city.
var behindAddress = german.Words("behind-address")
