package grammar

import (
	"strings"
	"unicode/utf8"
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
	stateCodes = set("AA AE AP AS MP") // and those of states
	stateWords = make(map[string]bool) // the codes and the first words of the names, in lower case
)

func init() {
	for name, code := range states {
		stateCodes[code] = true
		first, _, _ := strings.Cut(name, " ")
		stateWords[first] = true
	}
	for code := range stateCodes {
		stateWords[strings.ToLower(code)] = true
	}
}

// MayBeState reports whether the word can begin the name of a US state or be its code.
func MayBeState(word string) bool { return isIn(stateWords, word) }

// isIn reports whether words has the word without its dots and in lower case.
func isIn(words map[string]bool, word string) bool {
	var buf [24]byte
	lower := buf[:0]
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c == '.':
		case len(lower) == len(buf) || c >= utf8.RuneSelf:
			return words[LowerASCII(word)]
		case 'A' <= c && c <= 'Z':
			lower = append(lower, c|0x20)
		default:
			lower = append(lower, c)
		}
	}
	return words[string(lower)] // which allocates nothing
}

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
