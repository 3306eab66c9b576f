package main

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gazehound/internal/kind"
)

//go:embed supplement.tsv
var supplementFile string

// A saying is what the supplement says of a phrase.
type saying struct {
	use   byte
	kinds []string
	langs []string
}

// supplement returns what supplement.tsv says of folded phrases. A phrase that means something else in
// a later language is under kind.In of that language, too: "Club" ends compounds in German.
func (t *table) supplement() (map[string]saying, error) {
	all := map[string]saying{}
	for line := range strings.Lines(supplementFile) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if len(cells) != 4 || len(cells[1]) != 1 {
			return nil, fmt.Errorf("supplement.tsv: %q: want language, use, kinds, phrases", line)
		}
		if cells[1] == isNew {
			t.addKind(cells[2], cells[0], cells[3])
			continue
		}
		var kinds []string
		for id := range strings.SplitSeq(cells[2], "; ") {
			if id != "" && !t.isKind(id) {
				return nil, fmt.Errorf("supplement.tsv: the packages have no kind %q", id)
			}
			if id != "" {
				kinds = append(kinds, id)
			}
		}
		for phrase := range strings.SplitSeq(cells[3], ", ") {
			key := fold(phrase)
			s, known := all[key]
			if known && (s.use != cells[1][0] || !slices.Equal(s.kinds, kinds)) && !slices.Contains(s.langs, cells[0]) {
				key = kind.In(cells[0], key)
				s, known = all[key]
			}
			if known && slices.Contains(s.langs, cells[0]) {
				return nil, fmt.Errorf("supplement.tsv: %q is said twice for %s", phrase, cells[0])
			}
			if !known {
				s = saying{use: cells[1][0], kinds: kinds}
			}
			s.langs = append(s.langs, cells[0])
			all[key] = s
		}
	}
	return all, nil
}

// isNew is the use of a line with a kind that the packages lack and what the language calls it.
const isNew = "k"

// addKind adds a kind that the packages lack. Languages that do not name it have its English name.
func (t *table) addKind(id, lang, name string) {
	if !t.isKind(id) {
		t.kinds[id] = &entry{}
	}
	t.kinds[id].names[slices.Index(kind.Languages[:], lang)] = name
}

// writeSupplement writes its lines of the table. Where the packages say a narrower kind of a phrase,
// that is kept, and so are their languages.
func (t *table) writeSupplement(b *strings.Builder, number map[string]int, brands map[string]map[string]int) {
	for _, phrase := range slices.Sorted(maps.Keys(t.said)) {
		s := t.said[phrase]
		if _, kinds := t.judge(phrase, brands[phrase]); s.use == kind.Name && len(kinds) == 1 &&
			kind.Main(kinds[0]) == s.kinds[0] {
			s.kinds = kinds
			s.langs = append(s.langs, strings.Fields(t.languages(phrase, kinds))...)
		}
		if s.use == kind.Head {
			s.langs = []string{"de", "nl"}
		}
		slices.Sort(s.langs)
		fmt.Fprintf(b, "%s\t%c%s\t%s\n", phrase, s.use, numbers(s.kinds, number),
			strings.Join(slices.Compact(s.langs), " "))
	}
}
