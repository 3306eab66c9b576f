package grammar

import (
	"strings"
	"unicode/utf8"
)

// State returns the code of the state or province that s names in a country: "CA", "Ca.", "D.C.",
// "North Carolina". One of another country than the United States must begin with a capital, and
// its abbreviation be in capitals: there it may stand without a postcode that proves it.
func State(country, s string) string {
	s = strings.TrimRight(s, ",")
	folded := foldName(s)
	short := len(folded) <= 3 && s != strings.ToUpper(s) && !strings.HasSuffix(s, ".")
	if country != "US" && (!Capital(s) || short && country != "AU") {
		return ""
	}
	return Find(country).States[folded]
}

// MayBeState reports whether the word can begin the name of a state or province of the country, or
// be its code in capitals.
func (c *Country) MayBeState(word string) bool {
	if len(word) == 2 && word[1] >= 'a' {
		return false // "In", "Me"
	}
	var buf [24]byte
	lower := buf[:0]
	for i := 0; i < len(word); i++ {
		switch b := word[i]; {
		case b == '.':
		case len(lower) == len(buf) || b >= utf8.RuneSelf:
			return c.stateWords[Fold(word)]
		case 'A' <= b && b <= 'Z':
			lower = append(lower, b|0x20)
		default:
			lower = append(lower, b)
		}
	}
	return c.stateWords[string(lower)] // which allocates nothing
}

// StateBefore reads the state or province that ends with token k-1, in parentheses or not, with
// the name of the country behind it skipped, and a label before it. It returns its code, its span
// and the index of its first token.
func StateBefore(country string, t Tokens, k int) (string, Span, int) {
	for k > 0 && (t[k-1].Kind == Break || t[k-1].isMark(",.|-–;:()") ||
		t[k-1].Kind == Word && PlaceLabel(t[k-1].Text()) && k > 2) {
		k--
		if k > 1 && t[k].isWord("code") && t[k-1].isWord("zip", "postal", "post") {
			k--
		}
	}
	for _, end := range [...]int{k, backOver(t, SkipCountry(t, k), ",.|-–;()")} {
		for n := min(3, end); n >= 1; n-- {
			span := Span{t[end-n].Start, t[end-1].End}
			code := ""
			if onlyWords(t[end-n : end]) {
				code = State(country, span.In(t))
			}
			if code == "" {
				continue
			}
			if name := span.In(t); strings.IndexByte(name, '.') == len(name)-1 {
				span.End--
			}
			k = end - n
			if labelled := backOver(t, k, ":"); labelled < k && labelled > 0 &&
				t[labelled-1].isWord("state", "province", "region") {
				k = labelled - 1
			}
			return code, span, k
		}
	}
	return "", Span{}, k
}

// StateAfter reads the state or province that begins with token 0: "V7P 1B3 BC".
func StateAfter(country string, t Tokens) (string, Span) {
	i := 0
	for i < len(t) && i < 2 && (t[i].Kind == Break || t[i].isMark(",(")) {
		i++
	}
	for n := min(3, len(t)-i); n >= 1; n-- {
		if onlyWords(t[i : i+n]) {
			sp := Span{t[i].Start, t[i+n-1].End}
			if code := State(country, sp.In(t)); code != "" {
				return code, sp
			}
		}
	}
	return "", Span{}
}

func backOver(t Tokens, k int, marks string) int {
	for k > 0 && (t[k-1].Kind == Break || t[k-1].isMark(marks)) {
		k--
	}
	return k
}

// SkipLabel steps back from token k over a label such as "Postcode:".
func SkipLabel(t Tokens, k int) int {
	n := backOver(t, k, ":.,")
	if t.At(n-1).isWord("postcode", "code", "zip") {
		n--
		if t.At(n-1).isWord("post", "postal", "zip") {
			n--
		}
		return n
	}
	return k
}

// SkipCounty steps back from token k over the name of a county.
func SkipCounty(country string, t Tokens, k int) int {
	if k > 2 && Find(country).Listed && t[k-2].isWord("co", "county") && t[k-1].Kind == Word {
		return k - 2 // "Co. Cork"
	}
	for n := min(4, k); n >= 1; n-- {
		if k-n > 0 && Find(country).Counties[foldName(Phrase(t[k-n:k]))] {
			return k - n
		}
	}
	return k
}
