package grammar

import (
	"strings"
	"unicode"
)

func init() {
	add(Country{
		Code: "US", Form: CityStateZIP, Codes: "99999,99999-9999,999999999", States: states,
		Domains: "us gov edu mil", Languages: "en",
		Names: "united states,united states of america,usa,us,vereinigte staaten",
	})
}

var states = statesOf(english["states"])

var (
	stateCodes    = make(map[string]bool)
	stateInitials [256]bool
)

func init() {
	for name, code := range states {
		stateCodes[code] = true
		stateInitials[unicode.ToUpper(rune(name[0]))] = true
		stateInitials[code[0]] = true
	}
	for _, code := range [...]string{"AA", "AE", "AP", "AS", "MP"} {
		stateCodes[code] = true
	}
}

// MayBeState reports whether a US state or its code can begin with the byte c.
func MayBeState(c byte) bool { return stateInitials[c] }

// State returns the code of the US state that s names: "CA", "Ca.", "D.C.",
// "North Carolina".
func State(s string) string {
	s = strings.TrimRight(s, ".,")
	if len(s) <= 4 {
		code := strings.ToUpper(strings.ReplaceAll(s, ".", ""))
		if stateCodes[code] {
			return code
		}
	}
	return states[strings.ToLower(strings.Join(strings.Fields(s), " "))]
}

// StateBefore reads the US state that ends with token k-1, with a country name
// behind it skipped. It returns its code, its span and the index of its first
// token.
func StateBefore(t Tokens, k int) (string, Span, int) {
	for k > 0 && (t[k-1].Kind == Break || t[k-1].isMark(",.|-–;:()") ||
		t[k-1].Kind == Word && PlaceLabel(t[k-1].Text()) && k > 2) {
		k--
		if k > 1 && t[k].isWord("code") && t[k-1].isWord("zip", "postal", "post") {
			k--
		}
	}
	if t.At(k-1).isWord("us", "usa") && k > 2 {
		k--
		for t.At(k - 1).isMark(",") {
			k--
		}
	}
	if t.At(k-1).Kind != Word {
		return "", Span{}, k
	}
	for n := 3; n >= 1; n-- {
		if k < n {
			continue
		}
		words := t[k-n : k]
		if !onlyWords(words) {
			continue
		}
		sp := Span{words[0].Start, words[n-1].End}
		if code := State(sp.in(t)); code != "" {
			if name := sp.in(t); strings.IndexByte(name, '.') == len(name)-1 {
				sp.End--
			}
			k -= n
			if labelled := backOver(t, k, ":"); labelled < k && labelled > 0 &&
				t[labelled-1].isWord("state", "province", "region") {
				k = labelled - 1
			}
			return code, sp, k
		}
	}
	return "", Span{}, k
}
