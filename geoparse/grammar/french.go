package grammar

import "strings"

var french = readLists("french")

func init() {
	add(Country{
		Code: "FR", Form: CodeCity, Codes: "99999", NumberFirst: true, StreetEnd: frenchStreet,
		Prefixes: "F FR", Domains: "fr", Languages: "fr", Phone: "33",
		Names: "france,frankreich,fr",
	})
	add(Country{
		Code: "MC", Form: CodeCity, Codes: "99999", NumberFirst: true,
		Prefixes: "MC", Domains: "mc", Languages: "fr", Phone: "377", Names: "monaco,mc",
	})
	add(Country{
		Code: "LU", Form: CodeCity, Codes: "9999", NumberFirst: true, CodePrefix: "L", BoxCodes: true,
		Prefixes: "L LU", Domains: "lu", Languages: "de fr lb", Phone: "352",
		Names: "luxembourg,luxemburg,lu",
	})
	addWords(french)
}

// frenchStreet returns how many of the words are a French street's name, where
// its city may stand behind it without anything between: 3 of "Rue Victor Hugo
// Anzin", 4 of "Rue de la Nouzillère Mussidan". It is len(words) where nothing
// is left for a city. It goes by the form of such names: what "de la" and the
// like lead to, a person's given name and surname, or one word. Where capitals
// are written, so are the hyphens of a city, which then is the last word.
func frenchStreet(words []string) int {
	w := make([]string, len(words))
	for i, word := range words {
		w[i] = Fold(word)
	}
	i := 0
	for i < len(w) && (frenchBefore[w[i]] || leadTypes[w[i]]) {
		i++ // "Grande Rue", "Petit Chemin"
		if leadTypes[w[i-1]] {
			break
		}
	}
	if i == 0 || !leadTypes[w[i-1]] {
		return len(words)
	}
	if i == 1 && !strings.HasPrefix(w[0], "grand") {
		i = frenchNoun(w, i)
	} // else "Grande Rue" is complete
	for i < len(w) {
		j := i
		for j < len(w) && frenchLinks[w[j]] {
			j++
		}
		elided := j < len(w) && (strings.HasPrefix(w[j], "d'") || strings.HasPrefix(w[j], "d’"))
		switch {
		case j < len(w) && (j > i || elided):
			i = frenchNoun(w, i) // "du Parc", "et Marie Curie"
			continue
		case frenchAfter[w[i]]:
			i++ // "des Ponts Neufs"
			continue
		}
		break
	}
	return frenchCity(words, w, min(i, len(words)))
}

// frenchCity returns the index of the city at the end of words, of which those
// from i on may be it: w are the same folded. With capitals it is one word, or two
// if the first is an article, and what is left before it belongs to the street.
func frenchCity(words, w []string, i int) int {
	last := len(words) - 1
	if i == last && CountryOf(words[i]) != "" {
		return len(words) // "Avenue Pierre Mendès France"
	}
	if i >= last || !Capital(words[i]) || !Capital(words[last]) || w[i] == "saint" || w[i] == "sainte" ||
		frenchLinks[w[last-1]] || frenchArticles[words[last-1]] {
		return i
	}
	for _, word := range w[i:] {
		if word == "cedex" || strings.ContainsAny(word, "0123456789") {
			return i
		}
	}
	if frenchArticles[w[last-1]] {
		return max(i, last-1)
	}
	return last
}

// frenchNoun returns the index behind the name that begins at word i: articles,
// a title, adjectives, a date, a person or one word.
func frenchNoun(w []string, i int) int {
	for i < len(w) && (frenchLinks[w[i]] || frenchArticles[w[i]]) {
		i++
	}
	for i+1 < len(w) && (frenchTitles[w[i]] || frenchBefore[w[i]]) {
		i++
	}
	for i+1 < len(w) && frenchSmall[w[i]] {
		i++ // "du Général de Gaulle"
	}
	if i >= len(w) {
		return i
	}
	word := strings.TrimPrefix(strings.TrimPrefix(w[i], "l'"), "d'")
	if ordinal := strings.TrimLeft(word, "0123456789"); i+2 < len(w) && ordinal != word &&
		frenchOrdinals[ordinal] && !frenchMonths[w[i+1]] {
		i++ // "du 1er Régiment"
		word = w[i]
	}
	if isDigit(rune(word[0])) { // "11 Novembre 1918"
		for i++; i < len(w) && (frenchMonths[w[i]] || isDigit(rune(w[i][0])) && len(w[i]) == 4); i++ {
		}
		return i
	}
	if (word == "saint" || word == "sainte" || word == "st" || word == "ste") && i+1 < len(w) {
		return i + 2
	}
	first, _, _ := strings.Cut(word, "-")
	if i+1 < len(w) && (frenchGiven[first] && (first == word || frenchGiven[word[len(first)+1:]]) ||
		len(strings.TrimRight(word, ".")) == 1) {
		i++ // a person: given name, then surname
		for i+1 < len(w) && (frenchSmall[w[i]] || w[i] == "et" || w[i-1] == "et" && frenchGiven[w[i]]) {
			i++ // "Charles de Gaulle", "Pierre et Marie Curie"
		}
	}
	return i + 1
}

var (
	frenchPlaces   = french.Words("places")
	frenchAt       = french.Words("at") // before a house number in a sentence
	frenchLinks    = french.Words("joining")
	frenchArticles = french.Words("articles")
	frenchSmall    = french.Words("small")
	frenchOrdinals = french.Words("ordinals")
	frenchTitles   = french.Words("titles")
	frenchBefore   = french.Words("before")
	frenchAfter    = french.Words("after")
	frenchMonths   = french.Words("months")
	frenchGiven    = french.Words("given")
)

// FrenchName reports whether a street's name is a French one: "rue Bleury",
// "avenue des Pins".
func FrenchName(name string) bool {
	words := strings.Fields(Fold(name))
	if len(words) < 2 || !leadTypes[words[0]] {
		return false
	}
	switch words[0] {
	case "rue", "chemin", "boul", "montee", "cote", "rang", "impasse", "ruelle", "allee", "route", "faubourg", "quai":
		return true
	}
	return nobility[words[1]] || smallWords[words[1]] || strings.HasPrefix(words[1], "l'") ||
		strings.HasPrefix(words[1], "d'")
}
