package gazetteer

import (
	_ "embed"
	"slices"
	"strings"

	"gazehound/internal/textutil"
)

//go:embed spellings.txt
var spellingLists string

// spellings has the other words and phrases that a folded word may stand for; "" where it may be
// left out.
var spellings = func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(spellingLists) {
		if line[0] == '#' {
			continue
		}
		group := strings.Fields(line)
		for i, word := range group {
			for _, other := range slices.Concat(group[:i], group[i+1:]) {
				// Full words lead to abbreviations of several letters, not to one another.
				if word != "-" && (i == 0 || other == group[0] && len(other) > 1) {
					m[word] = append(m[word], strings.Trim(other, "-"))
				}
			}
		}
	}
	return m
}()

// roads are the names of numbered roads of one kind, each before its number.
var roads = [][]string{
	{"state route", "state road", "state highway", "state hwy", "sr", "sh", "st rt", "route", "highway", "hwy"},
	{"us highway", "us route", "us hwy", "us", "united states highway", "u s highway", "u s route", "highway", "hwy"},
	{"county road", "county route", "county highway", "cr", "co rd", "co road"},
	{"farm to market road", "fm", "fm road", "farm road"},
	{"interstate", "i", "interstate highway", "ih"},
}

// joining are the words between a kind of street and the rest of its name that people leave out,
// and what else may stand there. leading begin such names.
var (
	joining = []string{
		"de la", "de", "del", "de los", "de las", "du", "des", "de l", "della", "di", "del", "dei", "da", "do",
		"dos", "das", "d",
	}
	small   = textutil.Words("de la le les l del los las du des d della dello di dei degli delle da do dos das el")
	leading = textutil.Words("calle carrer avenida avinguda plaza placa paseo passeig camino carretera rue avenue " +
		"place boulevard chemin route impasse allee quai square via viale piazza corso vicolo largo rua praca " +
		"travessa estrada strada")
)

// Limits of Spellings.
const (
	maxSpelledWords = 8
	maxSpellings    = 60
)

// Spellings returns other names under which the gazetteer may have a street, folded: with its
// abbreviations spelled out ("C/ Mayor": "calle mayor", "SR-9": "state route 9"), and with or without
// the small words behind its first ("Avenida Constitución": "avenida de la constitucion"). There are
// at most 60.
func Spellings(name string) []string {
	words := strings.FieldsFunc(name, isWordBreak)
	if len(words) < 2 || len(words) > maxSpelledWords {
		return nil
	}
	for i, w := range words {
		words[i] = Key(w)
	}
	all := []string{strings.Join(words, " ")}
	all = append(all, numberedRoads(words)...)
	for i, w := range words {
		for _, spelled := range all[:len(all):len(all)] {
			for _, other := range spellings[w] {
				if len(all) < maxSpellings/2 {
					all = append(all, replaceWord(spelled, i, other))
				}
			}
		}
	}
	for _, spelled := range all[:len(all):len(all)] {
		first, rest, _ := strings.Cut(strings.TrimSpace(spelled), " ")
		if !leading[first] || rest == "" {
			continue
		}
		bare := strings.Fields(rest)
		for len(bare) > 1 && small[bare[0]] {
			bare = bare[1:]
		}
		rest = strings.Join(bare, " ")
		all = append(all, first+" "+rest)
		for _, join := range joining {
			all = append(all, first+" "+join+" "+rest)
		}
	}
	return all[1:min(len(all), maxSpellings)]
}

// replaceWord replaces word i of a name.
func replaceWord(name string, i int, by string) string {
	words := strings.Split(name, " ")
	if i >= len(words) {
		return name
	}
	words[i] = by
	return strings.Join(words, " ")
}

// numberedRoads returns the other names of a numbered road: those of "sr 9" or "state highway no 12".
func numberedRoads(words []string) (all []string) {
	number := slices.IndexFunc(words, func(w string) bool { return startsWithDigit(w) })
	if number < 1 {
		return nil
	}
	kind, rest := words[:number], strings.Join(words[number:], " ")
	if last := kind[len(kind)-1]; len(kind) > 1 && (last == "no" || last == "nr" || last == "number") {
		kind = kind[:len(kind)-1]
	}
	name := strings.Join(kind, " ")
	for _, group := range roads {
		if !slices.Contains(group, name) {
			continue
		}
		for _, other := range group {
			all = append(all, other+" "+rest)
		}
	}
	return all
}
