// Package kind has the kinds of places of OpenStreetMap's tagging schema, such as
// "amenity=dentist", their names in six languages, and the words, brands and types by which a place
// shows its kind.
package kind

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:generate go run ../tools/kinds

// Languages are those of the names, ISO 639-1.
var Languages = [...]string{"de", "en", "fr", "es", "it", "nl"}

// MaxPhrase is the longest phrase that means a kind, in words.
const MaxPhrase = 5

// links stand between the words of a German or Dutch compound.
var links = []string{"", "s", "n", "en", "er", "e"}

// Uses of a phrase of the table.
const (
	Name   = 'n' // the kind is called so
	Term   = 't' // places of the kind have it in their names
	Unsure = 'u' // several kinds are called so
	Query  = 'q' // readers look for kinds by it, but what is named so may be of others
	Other  = 'o' // it means what is no kind
	Head   = 'h' // compound names of many kinds end with it: "laden"
	Start  = 'm' // compound names of the kind begin with it: "Schuhladen"
	First  = 'f' // names of the kind begin with it, where no other word says a kind: "Stadt Oldenburg"
)

// In returns the key of the table for what a phrase means in one language and in no other.
func In(lang, phrase string) string { return lang + ":" + phrase }

//go:embed kinds.txt.gz
var packed []byte

type table struct {
	ids     []string // in order
	names   [][len(Languages)]string
	phrases map[string]phrase
	german  []string // single words of phrases that name kinds in German, in order
	brands  map[string]brand
	alike   map[string][]string
}

type brand struct {
	kind      int
	countries string // ISO 3166-1 codes in lower case, run together; "*" is everywhere
}

type phrase struct {
	use   byte
	kinds []int
	langs string // in which it is said, "de en"; "": it was found in brands
}

// load reads the table when it is first asked for something, in about 20 ms.
var load = sync.OnceValue(func() *table {
	t, err := read(packed)
	if err != nil {
		panic(fmt.Sprintf("kind: kinds.txt.gz: %v", err)) // a test reads it
	}
	return t
})

// read unpacks a table: lines of kinds with their names, of phrases with their use
// and the numbers of kinds, and of brands with one number, with an empty line
// between the three.
func read(packed []byte) (*table, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	parts := strings.SplitN(string(data), "\n\n", 3)
	if len(parts) != 3 {
		return nil, fmt.Errorf("%d parts, want 3", len(parts))
	}
	t := &table{phrases: make(map[string]phrase, 28_000), brands: make(map[string]brand, 12_000)}
	for line := range strings.Lines(parts[0]) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 1+len(Languages) {
			return nil, fmt.Errorf("%q: want an id and %d names", line, len(Languages))
		}
		t.ids = append(t.ids, cells[0])
		t.names = append(t.names, [len(Languages)]string(cells[1:]))
	}
	for line := range strings.Lines(parts[1]) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 3 || cells[1] == "" {
			return nil, fmt.Errorf("%q is not a phrase", line)
		}
		text, of := cells[0], cells[1]
		p := phrase{use: of[0], langs: cells[2]}
		for number := range strings.SplitSeq(of[1:], ",") {
			if number == "" {
				continue
			}
			n, err := strconv.Atoi(number)
			if err != nil || n >= len(t.ids) {
				return nil, fmt.Errorf("%q is not a phrase", line)
			}
			p.kinds = append(p.kinds, n)
		}
		t.phrases[text] = p
	}
	t.addValues()
	for text, p := range t.phrases {
		if strings.Contains(p.langs, "de") && !strings.ContainsAny(text, " :") && !p.isPart() {
			t.german = append(t.german, text)
		}
	}
	slices.Sort(t.german)
	t.alike = alike(t)
	for line := range strings.Lines(parts[2]) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 3 {
			return nil, fmt.Errorf("%q is not a brand", line)
		}
		n, err := strconv.Atoi(cells[1])
		if err != nil || n >= len(t.ids) {
			return nil, fmt.Errorf("%q is not a brand", line)
		}
		t.brands[cells[0]] = brand{n, cells[2]}
	}
	return t, nil
}

// isPart reports whether the phrase means a kind only within a name, or none.
func (p phrase) isPart() bool {
	return p.use == Other || p.use == Head || p.use == Start || p.use == First
}

// alike returns for each kind those that share a name with it in one language.
func alike(t *table) map[string][]string {
	called := map[string][]string{}
	for i, id := range t.ids {
		for l, name := range t.names[i] {
			if key := Languages[l] + fold(name); name != "" && !strings.Contains(id, " ") &&
				!slices.Contains(called[key], id) {
				called[key] = append(called[key], id)
			}
		}
	}
	all := map[string][]string{}
	for _, ids := range called {
		for _, id := range ids {
			for _, other := range ids {
				if other != id && !slices.Contains(all[id], other) {
					all[id] = append(all[id], other)
				}
			}
		}
	}
	return all
}

// addValues adds the values of tags as names, such as "lawyer", which readers of
// OpenStreetMap know, where nothing else is called so.
func (t *table) addValues() {
	for i, id := range t.ids {
		value := fold(strings.ReplaceAll(id[len(Key(id))+1:], "_", " "))
		if p, known := t.phrases[value]; !strings.Contains(id, " ") && (!known || p.use == Query) {
			t.phrases[value] = phrase{use: Unsure, kinds: []int{i}, langs: "en"}
		}
	}
}

// Main returns the wider kind of a narrow one: "amenity=fast_food" of
// "amenity=fast_food cuisine=pizza".
func Main(id string) string {
	id, _, _ = strings.Cut(id, " ")
	return id
}

// Key returns the key of a kind: "amenity".
func Key(id string) string {
	key, _, _ := strings.Cut(id, "=")
	return key
}

// MostSpecific returns the kind with the most tags of those that an object has
// the tags of, or "".
func MostSpecific(isKind func(id string) bool, tags map[string]string) string {
	all := make([]string, 0, len(tags))
	for k, v := range tags {
		all = append(all, k+"="+v)
	}
	slices.Sort(all)
	best := ""
	better := func(id string) {
		if isKind(id) && (strings.Count(id, " ") > strings.Count(best, " ") || best == "") {
			best = id
		}
	}
	for _, main := range all {
		better(main)
		for i, one := range all {
			better(main + " " + one)
			for _, other := range all[i+1:] {
				better(main + " " + one + " " + other)
			}
		}
	}
	return best
}
