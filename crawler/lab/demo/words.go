package demo

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
)

//go:embed words.json
var wordsJSON []byte

// wordLists are the words that the town is made of. Personal names are common
// ones; they mean nobody.
type wordLists struct {
	CommonStreets, Stems, Endings, Persons, Adjectives, Prepositions, Plain []string // of street names

	Villages, VillageStreets, FarTowns []string
	Families, FirstNames               []string
	Outside                            []string // hosts that the town's web does not have
	Offices, Goods, JobTitles, Halls   []string
	Nouns, Verbs, Sentences            []string
	Distractions                       []string // numbers that are no postcodes, and addresses that are none
	Vague, Unhelpful                   []string // words of links that say nothing

	FixedPages      []struct{ Path, Title, Other string } // of catalogues, by number; some call them other
	OrgPages        []orgPage                             // of organisations, by orgKind
	CombinedAnchors []string                              // of a page that is contact and imprint

	Kinds     []kindWords // by kind, from portal on
	Trades    []trade
	Opening   map[string][]string   // opening hours by tag, or by its key
	Languages map[string][]string   // words by ISO 639-1
	CodePages map[string][]codePage // by ISO 639-1

	PathForms, Colours, Sizes, Orders []string // of the paths of organisations, and of what filters of shops say
}

// kindWords say what catalogues of a kind are like.
type kindWords struct {
	Paths         [2]string  // of a section and of an item
	Sections      []string   // none: the trades of a directory, or places
	Share, Weight float64    // sites in a hundred; size of one beside a shop
	PerList       int32      // items on one list
	Hosts         [][]string // parts of the host
	Family        bool       // … and the owner's name
	Name          string     // {0} is the first part of the host
	Text          string     // of an item: a template of pages.tmpl
	FurtherLinks  float64    // share of the items with a link to another site
	Rivals        bool       // items are rivals, and most do not name one another
}

// An orgPage is a kind of page that organisations have.
type orgPage struct {
	Name, Path string
	Anchors    []string // of links to it
	Share      float64  // of the sites that have it, where not all have
}

// A trade is a sort of organisation.
type trade struct {
	Plural     string // heading in directories
	Name, Host string // %s is a family name, or the place
	Local      bool   // it is the place
	Tag        string // OpenStreetMap key=value
	Wares      []string
}

var words = sync.OnceValue(func() *wordLists {
	l := &wordLists{}
	if err := json.Unmarshal(wordsJSON, l); err != nil {
		panic("demo: words.json: " + err.Error()) // it is part of the program
	}
	return l
})

var slugs = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "Ä", "ae", "Ö", "oe", "Ü", "ue",
	".", "", ",", "", "(", "", ")", "", " und ", "-", " & ", "-", " ", "-", ":", "", "/", "-")

// slug returns a text as it stands in URLs.
func slug(s string) string { return strings.ToLower(slugs.Replace(s)) }
