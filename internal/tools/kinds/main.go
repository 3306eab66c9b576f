// Kinds writes the table of kinds from two npm packages, the presets of
// @openstreetmap/id-tagging-schema and the brands of name-suggestion-index, and from supplement.tsv
// for words that they lack. It needs npm, or the folders of the unpacked packages; "go generate
// ./internal/kind" calls it. The same packages give the same bytes.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"gazehound/internal/kind"
)

// The packages whose data the table holds; their licences are in NOTICE.
const (
	schemaPackage = "@openstreetmap/id-tagging-schema@6.19.2"
	brandsPackage = "name-suggestion-index@8.0.20260918"
)

func main() {
	schema := flag.String("schema", "", "`FOLDER` of the unpacked "+schemaPackage+" (default: npm fetches it)")
	brands := flag.String("brands", "", "`FOLDER` of the unpacked "+brandsPackage)
	out := flag.String("out", "kinds.txt.gz", "the table")
	flag.Parse()
	err := run(*schema, *brands, *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(schema, brands, out string) error {
	if schema == "" || brands == "" {
		folder, err := install()
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		schema = filepath.Join(folder, "node_modules/@openstreetmap/id-tagging-schema")
		brands = filepath.Join(folder, "node_modules/name-suggestion-index")
	}
	type counts = map[string]map[string]int
	t := &table{kinds: map[string]*entry{}, claims: counts{}, names: map[string]map[string]bool{},
		terms: counts{}, places: map[string]string{}, spoken: counts{}, generic: counts{}}
	err := t.readSchema(filepath.Join(schema, "dist"))
	if err != nil {
		return err
	}
	err = t.readBrands(filepath.Join(brands, "dist/json/nsi.min.json"))
	if err != nil {
		return err
	}
	t.said, err = t.supplement()
	if err != nil {
		return err
	}
	return os.WriteFile(out, pack(t.text()), 0o644)
}

// install fetches the packages into a temporary folder.
func install() (folder string, err error) {
	folder, err = os.MkdirTemp("", "kinds")
	if err != nil {
		return "", err
	}
	npm := exec.Command("npm", "install", "--ignore-scripts", "--no-save", "--prefix", folder,
		schemaPackage, brandsPackage)
	npm.Stderr = os.Stderr
	err = npm.Run()
	if err != nil {
		return "", errors.Join(fmt.Errorf("npm install: %w", err), os.RemoveAll(folder))
	}
	return folder, nil
}

func pack(text string) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

func readJSON(path string, to any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// A table is what the packages say. Its kinds are tags such as "amenity=dentist";
// one of a narrower preset has more tags, "amenity=fast_food cuisine=pizza".
type table struct {
	kinds  map[string]*entry
	claims map[string]map[string]int  // how well a phrase means each kind; "" is none that has an address
	names  map[string]map[string]bool // kinds of the brands of a name

	terms   map[string]map[string]int // search terms: of each kind 1
	generic map[string]map[string]int // names that no brand has by itself: of each kind isGeneric
	spoken  map[string]map[string]int // languages, a bit each, that mean a wide kind with it
	places  map[string]string         // countries of the brands of a name
	said    map[string]saying         // by the supplement
}

type entry struct{ names [6]string } // in kind.Languages

// What the claim of a phrase to mean a kind weighs. Those of the presets and
// languages add up.
const (
	isTerm    = 1 // a search term of the preset
	isGeneric = 6 // a name that no brand has by itself
	isNarrow  = 6 // a name of a preset with more tags, or of one that has no address
	isName    = 9 // a name of the preset
)

// placeKeys are the keys of what people visit; a preset of another key, such as a
// building or a landuse, says nothing of who is there.
var placeKeys = []string{"amenity", "shop", "office", "craft", "healthcare", "education", "tourism",
	"leisure", "club", "public_transport"}

// goodsKeys are keys whose values are often what is sold or done, not the place:
// "kitchen" of "Kitchen Design Store".
var goodsKeys = []string{"shop", "office", "craft", "club"}

type preset struct {
	Tags, AddTags      map[string]string
	Geometry           []string
	Fields, MoreFields []string
	Searchable         *bool
	LocationSet        struct{ Include []any }
}

// A translation is what one language calls a preset.
type translation struct{ Name, Aliases, Terms string }

func (t *table) readSchema(dist string) error {
	var presets map[string]preset
	if err := readJSON(filepath.Join(dist, "presets.min.json"), &presets); err != nil {
		return err
	}
	for i, lang := range kind.Languages {
		var file map[string]struct {
			Presets struct{ Presets map[string]translation }
		}
		if err := readJSON(filepath.Join(dist, "translations", lang+".min.json"), &file); err != nil {
			return err
		}
		for _, id := range slices.Sorted(maps.Keys(presets)) {
			p := presets[id]
			if !p.wanted() {
				continue
			}
			t.addPreset(presets, id, i, file[lang].Presets.Presets[id])
		}
	}
	return nil
}

func (p *preset) wanted() bool {
	point := slices.Contains(p.Geometry, "point") || slices.Contains(p.Geometry, "area")
	return point && inCountries(p.LocationSet.Include)
}

// countries are those whose brands and presets the table has.
var countries = strings.Fields("001 150 q46 de at ch li lu us ca gb ie au nz fr fx be es ad it sm nl mc")

func inCountries(include []any) bool {
	for _, place := range include {
		code, _ := place.(string)
		code, _, _ = strings.Cut(strings.ToLower(code), "-")
		code, _, _ = strings.Cut(code, ".")
		if slices.Contains(countries, code) {
			return true
		}
	}
	return len(include) == 0
}

// addPreset takes over what a language says of a preset.
func (t *table) addPreset(presets map[string]preset, id string, language int, says translation) {
	p := presets[id]
	tags := p.kind(presets, id)
	names := append(strings.Split(says.Aliases, "\n"), says.Name)
	claim := isNarrow
	if tags == "" && p.Searchable != nil && !*p.Searchable {
		return // out of use
	}
	if tags != "" {
		if !strings.Contains(tags, " ") {
			claim = isName
		}
		e := t.kinds[tags]
		if e == nil {
			e = &entry{}
			t.kinds[tags] = e
		}
		e.names[language] = cmp.Or(e.names[language], title(says.Name, tags))
		if short := title(says.Name, tags); claim == isName && short != says.Name &&
			!slices.Contains(goodsKeys, kind.Key(tags)) {
			names = append(names, short)
		}
	}
	for _, name := range names {
		for _, part := range alternatives(name) {
			t.claim(part, tags, claim)
			t.speak(fold(part), tags, language)
		}
	}
	for term := range strings.SplitSeq(says.Terms, ",") {
		if words := kind.Words(term); tags != "" && 0 < len(words) && len(words) <= kind.MaxPhrase {
			of(t.terms, strings.Join(words, " "))[tags] = isTerm
			of(t.claims, strings.Join(words, " "))
			t.speak(strings.Join(words, " "), tags, language)
		}
	}
}

// alternatives cuts a name such as "Mairie, hôtel de ville" where it is several.
func alternatives(name string) []string {
	if strings.Contains(name, "- ") || strings.Contains(name, "-,") {
		return []string{name}
	}
	return strings.FieldsFunc(name, func(r rune) bool { return r == ',' || r == '/' || r == '(' || r == ')' })
}

// title returns the name of a kind for people: the first of several, and in English
// without what iD adds to tell a preset from others, as in "Hospital Grounds".
func title(name, tags string) string {
	parts := alternatives(name)
	if len(parts) == 0 {
		return ""
	}
	name = strings.TrimSpace(parts[0])
	value := strings.ReplaceAll(tags[strings.Index(tags, "=")+1:], "_", " ")
	if len(name) > len(value) && strings.EqualFold(name[:len(value)], value) && name[len(value)] == ' ' {
		name = name[:len(value)]
	}
	return name
}

// kind returns the tags of a preset that can stand at an address, or "".
func (p *preset) kind(presets map[string]preset, id string) string {
	key, _, _ := strings.Cut(id, "/")
	value := p.Tags[key]
	if value == "" || value == "*" || value == "yes" || !slices.Contains(placeKeys, key) ||
		p.Searchable != nil && !*p.Searchable {
		return ""
	}
	fields := append(inherited(presets, id, false, 9), inherited(presets, id, true, 9)...)
	if !slices.Contains(fields, "address") || !slices.Contains(fields, "phone") {
		return ""
	}
	main := key + "=" + value
	if amenity := p.AddTags["amenity"]; amenity != "" && key != "amenity" {
		main = "amenity=" + amenity // OSM's usual tag of what "education" and "healthcare" say as well
	}
	var more []string
	for k, v := range p.Tags {
		if k != key && v != "*" && k != "amenity" && k != "healthcare" {
			more = append(more, k+"="+v)
		}
	}
	slices.Sort(more)
	return strings.Join(append([]string{main}, more...), " ")
}

// inherited returns the fields of a preset, with those of the presets that it
// names, or else of the preset above it.
func inherited(presets map[string]preset, id string, more bool, depth int) (all []string) {
	p, ok := presets[id]
	fields := p.Fields
	if more {
		fields = p.MoreFields
	}
	if fields == nil || !ok || depth == 0 {
		if i := strings.LastIndexByte(id, '/'); i > 0 && depth > 0 {
			return inherited(presets, id[:i], more, depth-1)
		}
		return nil
	}
	for _, f := range fields {
		if strings.HasPrefix(f, "{") {
			all = append(all, inherited(presets, strings.Trim(f, "{}"), more, depth-1)...)
		} else {
			all = append(all, f)
		}
	}
	return all
}

func (t *table) claim(phrase, tags string, claim int) {
	words := kind.Words(phrase)
	if len(words) == 0 || len(words) > kind.MaxPhrase {
		return
	}
	phrase = strings.Join(words, " ")
	of(t.claims, phrase)[tags] += claim
}

// speak notes that a language calls a kind so.
func (t *table) speak(phrase, tags string, language int) {
	of(t.spoken, phrase)[kind.Main(tags)] |= 1 << language
}

// of returns the counts of a phrase, which may be set.
func of(all map[string]map[string]int, phrase string) map[string]int {
	if all[phrase] == nil {
		all[phrase] = map[string]int{}
	}
	return all[phrase]
}

func fold(text string) string { return strings.Join(kind.Words(text), " ") }
