package grammar

import "strings"

// ProvinceBefore reads the province of Canada or state of Australia that ends
// with token k-1, in parentheses or not, with the name of the country behind it
// skipped. It returns its code, its span and the index of its first token.
func ProvinceBefore(country string, t Tokens, k int) (string, Span, int) {
	k = backOver(t, k, ",.|-–;()")
	if n := SkipCountry(t, k); n < k {
		k = backOver(t, n, ",.|-–;()")
	}
	for n := min(3, k); n >= 1; n-- {
		if !onlyWords(t[k-n : k]) {
			continue
		}
		sp := Span{t[k-n].Start, t[k-1].End}
		if code := Province(country, sp.in(t)); code != "" {
			return code, sp, k - n
		}
	}
	return "", Span{}, k
}

// ProvinceAfter reads the province that begins with token 0: "V7P 1B3 BC".
func ProvinceAfter(country string, t Tokens) (string, Span) {
	i := 0
	for i < len(t) && i < 2 && (t[i].Kind == Break || t[i].isMark(",(")) {
		i++
	}
	for n := min(3, len(t)-i); n >= 1; n-- {
		if onlyWords(t[i : i+n]) {
			sp := Span{t[i].Start, t[i+n-1].End}
			if code := Province(country, sp.in(t)); code != "" {
				return code, sp
			}
		}
	}
	return "", Span{}
}

// Province returns the code of the province called s, which must begin with a
// capital, all of an abbreviation being capitals.
func Province(country, s string) string {
	folded := foldName(s)
	if len(folded) <= 3 && s != strings.ToUpper(s) && !strings.HasSuffix(s, ".") &&
		!(country == "AU" && Capital(s)) || !Capital(s) {
		return ""
	}
	return Find(country).States[folded]
}

// provinceWords are the first words of the names of provinces, in lower case.
var provinceWords = set("québec nouvelle-écosse île-du-prince-édouard")

// MayBeProvince reports whether a province of Canada or state of Australia, or
// its code in capitals, can begin with the word.
func MayBeProvince(word string) bool {
	return !(len(word) == 2 && word[1] >= 'a') && isIn(provinceWords, word)
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
		if n--; t.At(n-1).isWord("post", "postal", "zip") {
			n--
		}
		return n
	}
	return k
}

// SkipCounty steps back from token k over the name of a county.
func SkipCounty(country string, t Tokens, k int) int {
	for n := min(4, k); n >= 1; n-- {
		if k-n > 0 && Find(country).Counties[foldName(Phrase(t[k-n:k]))] {
			return k - n
		}
	}
	return k
}
