package grammar

import "strings"

// PlaceAfter returns the words behind a street and house number that say where
// the street lies: those behind a postcode ("26121 Oldenburg", "1234 AB
// Almere", in the same or the next lines), or a name set off by a comma, dash
// or "in" in the same line, or a country in a line of its own. It returns the
// empty Span where nothing does. t are the tokens behind the number.
func PlaceAfter(text string, t []Token) Span {
	i, breaks := 0, 0
	introduced, words := false, false
	for ; i < len(t); i++ {
		tok := t[i]
		switch {
		case tok.Kind == Break:
			if breaks++; breaks > 2 {
				return Span{}
			}
			introduced, words = false, false
			continue
		case isMark(text, tok, "("):
			if j := closing(text, t, i); j > 0 {
				i = j - 1
			}
			continue
		case isMark(text, tok, ".;"):
			return Span{}
		case tok.Kind == Mark:
			introduced = breaks == 0
			continue
		case breaks == 0 && isWord(text, tok, "in", "at", "te"):
			introduced = true
			continue
		case tok.Kind == Number:
			if !codeLike(text, tok) || words {
				return Span{}
			}
			return wordsFrom(text, t, i+1)
		case i+1 < len(t) && t[i+1].Kind != Break && byPrefix[strings.TrimRight(tok.text(text), "-")] != "":
			continue // "D-26121"
		case breaks > 0 && t[i-1].Kind == Break && CountryOf(lineFrom(t, i).Of(text)) != "":
			return lineFrom(t, i)
		case introduced && Capital(tok.text(text)) && !notPlace(tok.text(text)):
			return wordsFrom(text, t, i)
		case introduced:
			return Span{}
		}
		words = true // a remark, a district; the postcode may stand in the next line
	}
	return Span{}
}

// PlaceBefore returns the words between a postcode and a street that follows
// it: "26121 Oldenburg, Lange Straße 5". t are the tokens before the street.
func PlaceBefore(text string, t []Token) Span {
	k := len(t)
	for k > 0 && len(t)-k < 3 && (t[k-1].Kind == Break || t[k-1].Kind == Mark && !isMark(text, t[k-1], ".!?")) {
		k--
	}
	for i := k - 1; i >= 0 && i >= k-7; i-- {
		switch {
		case t[i].Kind == Number:
			if i+1 < k && codeLike(text, t[i]) && t[i+1].Kind == Word && Capital(t[i+1].text(text)) {
				return Span{t[i+1].Start, t[k-1].End}
			}
			return Span{}
		case t[i].Kind == Break, isMark(text, t[i], ";:|!?"):
			return Span{}
		}
	}
	return Span{}
}

// codeLike reports whether tok has the form of a postcode: four to six digits.
func codeLike(text string, tok Token) bool {
	n := tok.End - tok.Start
	if n < 4 || n > 6 {
		return false
	}
	for _, r := range tok.text(text) {
		if !isDigit(r) {
			return false
		}
	}
	return true
}

// wordsFrom returns the words from token i on in one line, at least what is
// there; the empty Span where none begins with a capital.
func wordsFrom(text string, t []Token, i int) Span {
	for i < len(t) && t[i].Kind == Mark {
		i++
	}
	if i >= len(t) || t[i].Kind != Word || !Capital(t[i].text(text)) {
		return Span{}
	}
	if i+1 < len(t) && t[i].End-t[i].Start == 2 && t[i+1].Kind == Word && Capital(t[i+1].text(text)) {
		i++ // "1234 AB Almere"
	}
	j := i
	for j < len(t) && (t[j].Kind == Word || isMark(text, t[j], "-./")) {
		j++
	}
	return Span{t[i].Start, t[j-1].End}
}

// lineFrom returns the rest of the line from token i on.
func lineFrom(t []Token, i int) Span {
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
var behindAddress = german.set("behind-address")
