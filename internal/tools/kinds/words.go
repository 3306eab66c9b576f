package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gazehound/internal/kind"
)

// Bounds of what brands say of a word.
const (
	fewBrands    = 3    // with a word, that support it
	someBrands   = 8    // with a word, that speak against another kind
	manyBrands   = 15   // with a word, that speak against a name of another kind
	purity       = 0.95 // share of them that are of the kind
	shortestTerm = 4    // letters of a term that only several presets or languages support
	stem         = 5    // letters that a term shares with a name of its kind

	agreement    = 0.6 // share of the claims to a phrase that are of its kind
	mostTerms    = 3   // that count, of one kind
	severalTerms = 2   // presets or languages that make a term a word of a kind
	mostWanted   = 3   // kinds that one search term means
)

type brandItem struct {
	LocationSet struct{ Include []any }
	MatchNames  []string
	Tags        map[string]string
}

// readBrands reads the brands of the name-suggestion-index.
func (t *table) readBrands(path string) error {
	var file struct {
		NSI map[string]struct {
			Items      []brandItem
			Properties struct{ Exclude struct{ Generic []string } }
		}
	}
	if err := readJSON(path, &file); err != nil {
		return err
	}
	for _, category := range slices.Sorted(maps.Keys(file.NSI)) {
		parts := strings.Split(category, "/")
		if tags := parts[1] + "=" + parts[2]; t.isKind(tags) {
			if parts[0] != "brands" {
				tags = "" // names of who runs them, such as "church"
			}
			t.claimGeneric(file.NSI[category].Properties.Exclude.Generic, tags)
		}
		if parts[0] != "brands" {
			continue
		}
		for _, item := range file.NSI[category].Items {
			if tags := kind.MostSpecific(t.isKind, item.Tags); tags != "" && inCountries(item.LocationSet.Include) {
				places := countriesOf(item.LocationSet.Include)
				for _, name := range append(item.MatchNames, item.Tags["name"], item.Tags["brand"],
					item.Tags["name:en"]) {
					t.addBrand(name, tags, places)
				}
			}
		}
	}
	for phrase, claims := range t.generic {
		if len(t.claims[phrase]) == 0 && len(claims) == 1 && claims[""] == 0 {
			t.claims[phrase] = claims
		}
	}
	return nil
}

func (t *table) isKind(tags string) bool { return t.kinds[tags] != nil }

// countriesOf returns the countries of a brand, each once, "*" for all.
func countriesOf(include []any) string {
	found := map[string]bool{}
	for _, place := range include {
		code, _ := place.(string)
		code, _, _ = strings.Cut(strings.ToLower(code), "-")
		code, _, _ = strings.Cut(code, ".")
		switch {
		case len(code) == 2 && code != "fx" && slices.Contains(countries, code):
			found[code] = true
		case code == "fx":
			found["fr"] = true
		case code == "001", code == "150", code == "q46":
			return "*"
		}
	}
	if len(include) == 0 {
		return "*"
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), "")
}

func (t *table) addBrand(name, tags, places string) {
	name = strings.Join(kind.Words(name), " ")
	if len(name) < 3 || len(name) > 60 || !strings.ContainsFunc(name,
		func(r rune) bool { return 'a' <= r && r <= 'z' }) {
		return
	}
	if t.names[name] == nil {
		t.names[name] = map[string]bool{}
	}
	t.names[name][tags] = true
	if known := t.places[name]; places == "*" || known == "*" {
		t.places[name] = "*"
	} else if !strings.Contains(known, places) {
		t.places[name] += places
	}
}

// phrases are the words of one or two in a folded name.
func phrases(name string) (all []string) {
	words := strings.Fields(name)
	for i, w := range words {
		all = append(all, w)
		if i > 0 {
			all = append(all, words[i-1]+" "+w)
		}
	}
	return all
}

// counts returns the number of brands with a phrase for each kind.
func (t *table) counts() map[string]map[string]int {
	counts := map[string]map[string]int{}
	for name, kinds := range t.names {
		if len(kinds) > 1 {
			continue
		}
		for _, phrase := range phrases(name) {
			if counts[phrase] == nil {
				counts[phrase] = map[string]int{}
			}
			for k := range kinds {
				counts[phrase][kind.Main(k)]++
			}
		}
	}
	return counts
}

// text returns the table, see kind.read.
func (t *table) text() string {
	var b strings.Builder
	ids := slices.Sorted(maps.Keys(t.kinds))
	number := map[string]int{}
	for i, id := range ids {
		number[id] = i
		names := t.kinds[id].names
		for l := range names {
			names[l] = cmp.Or(names[l], names[1])
		}
		fmt.Fprintf(&b, "%s\t%s\n", id, strings.Join(names[:], "\t"))
	}
	b.WriteString("\n")
	counts := t.counts()
	t.writeSupplement(&b, number, counts)
	write := func(phrase string, use byte, kinds []string, langs string) {
		if _, known := t.said[phrase]; !known {
			fmt.Fprintf(&b, "%s\t%c%s\t%s\n", phrase, use, numbers(kinds, number), langs)
		}
	}
	for _, phrase := range slices.Sorted(maps.Keys(t.claims)) {
		use, kinds := t.judge(phrase, counts[phrase])
		if use == 0 {
			kinds = t.wanted(phrase)
			if kinds != nil {
				use = kind.Query
			}
		}
		if use != 0 {
			write(phrase, use, kinds, t.languages(phrase, kinds))
		}
	}
	b.WriteString("\n")
	for _, name := range slices.Sorted(maps.Keys(t.names)) {
		if of := slices.Sorted(maps.Keys(t.names[name])); len(of) == 1 && t.isBrand(name, of[0], counts[name]) {
			fmt.Fprintf(&b, "%s\t%d\t%s\n", name, number[of[0]], t.places[name])
		}
	}
	return b.String()
}

// isBrand reports whether a name says by itself that it is the brand of a kind: it is
// no word of the table, and one word is no usual name, such as "Müller".
func (t *table) isBrand(name, id string, counts map[string]int) bool {
	if use, _ := t.judge(name, counts); use == kind.Name || use == kind.Term || use == kind.Unsure {
		return false
	}
	return strings.Contains(name, " ") || counts[kind.Main(id)]*2 > sum(counts)
}

// languages returns those in which a phrase means one of the kinds.
func (t *table) languages(phrase string, kinds []string) string {
	bits := 0
	for _, id := range kinds {
		bits |= t.spoken[phrase][kind.Main(id)]
	}
	var all []string
	for i, lang := range kind.Languages {
		if bits&(1<<i) != 0 {
			all = append(all, lang)
		}
	}
	return strings.Join(all, " ")
}

func numbers(kinds []string, number map[string]int) string {
	var b strings.Builder
	for i, k := range kinds {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, number[k])
	}
	return b.String()
}

func most(counts map[string]int) (best string, n int) {
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		if counts[k] > n {
			best, n = k, counts[k]
		}
	}
	return best, n
}

// share returns the share of the most frequent kind.
func share(counts map[string]int) float64 {
	_, n := most(counts)
	return float64(n) / float64(max(sum(counts), 1))
}

func sum(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// judge returns the use of a phrase, 0: none, and the kinds that it means.
func (t *table) judge(phrase string, brands map[string]int) (use byte, kinds []string) {
	sums := map[string]int{} // of claims, by wide kind
	for id := range t.terms[phrase] {
		sums[kind.Main(id)] = min(sums[kind.Main(id)]+isTerm, mostTerms)
	}
	for id, claim := range t.claims[phrase] {
		sums[kind.Main(id)] += claim
	}
	best, claimed := most(sums)
	sure := share(sums) >= agreement
	if best == "" {
		return kind.Other, nil
	}
	named := 0 // claims of more than a term
	claims := map[string]int{}
	for id, claim := range t.claims[phrase] {
		if kind.Main(id) == best {
			claims[id] = claim
			named = max(named, claim)
		}
	}
	for id, claim := range t.terms[phrase] {
		if kind.Main(id) == best {
			claims[id] += claim
		}
	}
	one := t.common(claims)
	ofBrands, n := most(brands)
	known := n >= fewBrands && share(brands) >= purity && ofBrands == best
	against := sum(brands) >= someBrands && brands[best]*5 < sum(brands)
	if named >= isNarrow {
		against = n >= manyBrands && ofBrands != best && share(brands) > 0.5
	}
	switch {
	case sure && !against && named >= isNarrow:
		return kind.Name, []string{one}
	case named >= isNarrow:
		return kind.Unsure, t.likely(phrase)
	case sure && !against && (known || t.akin(phrase, best) ||
		claimed >= severalTerms && len(phrase) >= shortestTerm):
		return kind.Term, []string{one}
	}
	return 0, nil
}

// wanted returns the kinds that a phrase is a search term of; nil where they are many.
func (t *table) wanted(phrase string) []string {
	kinds := slices.Sorted(maps.Keys(t.terms[phrase]))
	if len(kinds) > mostWanted {
		return nil
	}
	return kinds
}

// likely returns the kinds that have a name's claim to a phrase.
func (t *table) likely(phrase string) (kinds []string) {
	for _, id := range slices.Sorted(maps.Keys(t.claims[phrase])) {
		if id != "" && t.claims[phrase][id] >= isNarrow && len(kinds) < 4 {
			kinds = append(kinds, id)
		}
	}
	return kinds
}

// common returns the one of narrow kinds with most of the claims, else the wide
// one that they share.
func (t *table) common(claims map[string]int) string {
	best, _ := most(claims)
	if main := kind.Main(best); share(claims) < agreement && t.isKind(main) {
		return main
	}
	return best
}

// akin reports whether a term is formed like a name of its kind: "schreiner" like
// "schreinerei".
func (t *table) akin(term, main string) bool {
	if strings.Contains(term, " ") || len(term) < stem {
		return false
	}
	for phrase, claims := range t.claims {
		if strings.Contains(phrase, " ") || len(phrase) < stem || phrase == term ||
			!strings.HasPrefix(phrase, term[:stem]) && !strings.HasSuffix(phrase, term[len(term)-stem:]) {
			continue
		}
		for id, claim := range claims {
			if claim >= isNarrow && kind.Main(id) == main {
				return true
			}
		}
	}
	return false
}
