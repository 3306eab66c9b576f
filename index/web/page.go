// Package web renders the search page: a list that works without scripts and foreign requests, and
// beside it a map, drawn by the server, or moving if "make ui" has built it in. Texts of crawled
// pages are untrusted and escaped. card.go makes the cards, page.html is the template, and package
// texts has the words.
package web

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/texts"
	"gazehound/internal/localtime"

	"github.com/paulmach/orb"
	"golang.org/x/text/language"
)

//go:embed page.html
var pageSource string

// A Page is the answer to one request.
type Page struct {
	Lang        string // a language of Language
	Region      string
	Outline     orb.MultiPolygon // as Coarse returns it
	Attribution string
	Licence     string
	Version     string
	Stats       index.Stats

	// OSM says that the gazetteer knows OpenStreetMap, Missing how many of the
	// matches it does not have as houses.
	OSM     bool
	Missing int

	MissingPlaces *MissingPlaces // of the matches; nil: not known

	// Basemap is the path before LEVEL/X/Y of the tiles of the base map, Tiles
	// the address of a tile server that takes its place ("https://…/{z}/…").
	// Both may be empty.
	Basemap, Tiles, TilesAttribution string
	Levels                           []int // at which Basemap has tiles

	// Shapes returns what the base map has in a box, for the map that the
	// server draws; nil: there is no base map.
	Shapes func(orb.Bound) []gazetteer.Shape

	One  bool // the page of one address, the only hit
	Lost Lost // the page says that what was requested is not there

	Clock   localtime.Clock // of the region
	Form    Form
	Cursor  string        // of the page of hits, "" for the first
	Asked   bool          // something narrows the result
	Result  *index.Result // nil with a Problem
	Problem string
	Hint    string
	Next    string // address of the next page of hits, or ""

	Similar []string // texts to search for, where nothing was found

	Points   []orb.Point // where matches beyond those of Result lie
	NextOpen *NextOpen   // where nothing is open at the time that was asked for

	OnMap    []OnMap          // what the map has at the address of the search, and no page states
	After    int              // how many hits come before the points of interest of OnMap
	MorePOIs int              // points of interest of the map beyond those of OnMap
	Places   string           // the address of a table of all points of interest that fit, or ""
	Sides    map[string]OnMap // those that a hit is, by its ID

	NoHouse string // the house number of the search, where OnMap's street does not have it

	StreetOnly *index.StreetOnly // where a house is not known and its street is

	// Found is how many of the region's Streets have an address; of no streets
	// nothing is known.
	Found, Streets int

	Corrections bool // people may correct cards
	Crawling    bool // a crawl is adding to the index

}

// MissingPlaces says how many places the map lacks.
type MissingPlaces struct {
	Count int
	Kinds []string // of places that the words ask for
}

// A NextOpen is a place that is closed and opens.
type NextOpen struct {
	Hit   *index.Hit
	Opens time.Time // in the zone of the region
}

// Lost is the key of the text for a missing page or address, or "".
type Lost string

// What may be lost.
const (
	LostPage    Lost = "lost_page"
	LostAddress Lost = "lost_address"
)

// AddressPath is what stands before the ID of an address in the path of its
// page.
const AddressPath = "/addresses/"

var languages = language.NewMatcher([]language.Tag{language.English, language.German}) // as texts.Languages

// Language returns the language of the page's own words: the chosen one,
// else what the browser prefers, else English.
func Language(chosen, accept string) string {
	const longest = 200
	if len(accept) > longest {
		accept = ""
	}
	_, i := language.MatchStrings(languages, chosen, accept)
	return texts.Languages[i]
}

// Render writes the page.
func Render(w io.Writer, p Page) error {
	v := view{Page: p, T: texts.Of("page", p.Lang)}
	if p.Result != nil {
		for i := range p.Result.Hits {
			v.Hits = append(v.Hits, v.card(p.Result.Offset+i+1, &p.Result.Hits[i]))
		}
		if HasMap() {
			v.Shapes = nil // the script draws them
		}
		v.Map = v.draw()
	}
	if HasMap() {
		v.Data = v.data()
	}
	return page().Execute(w, &v)
}

// page is parsed on first use; a test executes it.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageSource))
})

// A view is a Page with all that its template shows.
type view struct {
	Page
	T    texts.Words
	Hits []card
	Map  *drawing
	Data *data // for the script; nil without one
}

// Heading is the name of the page.
func (v *view) Heading() string {
	switch {
	case v.Lost != "":
		return v.T[string(v.Lost)]
	case v.One:
		return v.Hits[0].Title() + ", " + v.Hits[0].Address()
	}
	for _, name := range []string{v.Form.Get("q"), v.Region} {
		if name != "" {
			return name
		}
	}
	return v.T["tagline"]
}

// Count says how many addresses there are.
func (v *view) Count() string {
	return v.count("n_addresses", v.Result.Total)
}

// Lacking describes a house number that the map lacks.
func (v *view) Lacking() string {
	if v.NoHouse == "" {
		return ""
	}
	return v.T.Say("nohouse", v.NoHouse)
}

// Understood describes how the words were interpreted.
func (v *view) Understood() string {
	r := v.Result
	var parts, names []string
	for _, k := range r.Kinds[:min(3, len(r.Kinds))] {
		names = append(names, v.kind(k))
	}
	if len(names) > 0 {
		parts = append(parts, strings.Join(names, ", "))
	}
	if r.Open != nil {
		parts = append(parts, v.openTime(*r.Open))
	}
	switch {
	case r.Near != "":
		parts = append(parts, v.T["near"]+" "+r.Near)
	case r.Me:
		parts = append(parts, v.T["nearyou"])
	}
	return strings.Join(parts, " · ")
}

// Maybe describes the coverage of the crawl so far, for searches without results.
func (v *view) Maybe() string {
	share := fmt.Sprintf("%d %%", 100*v.Found/max(1, v.Streets)) // never more than is true
	switch {
	case v.Streets == 0:
		return v.T["maybe"]
	case v.Found >= v.Streets:
		return v.T["coverage_all"]
	case v.Found > 0 && 100*v.Found < v.Streets:
		share = v.T["coverage_little"]
	}
	return v.T.Say("coverage", share)
}

// Street says what is known of the street of a house that no page states, and
// has the address of the search for it; nil where that is not so.
func (v *view) Street() *choice {
	o := v.StreetOnly
	if o == nil {
		return nil
	}
	text := v.T.Count(o.Pages, "streetonly", v.number(o.Pages), o.Street, o.HouseNumber)
	return &choice{Text: text, Link: v.with(Form{"q": {o.Text}, "street": {o.Street}})}
}

// Absent says that there is no place of the kind that was asked for.
func (v *view) Absent() string {
	if len(v.Result.Absent) == 0 {
		return ""
	}
	text := v.T.Say("absent", v.kind(v.Result.Absent[0]))
	if v.Result.Total > 0 {
		text += " " + v.T["absent_mentions"]
	}
	return text
}

// Opening says what opens next where nothing is open, with the address of its page.
func (v *view) Opening() *choice {
	if v.NextOpen == nil {
		return nil
	}
	h := v.NextOpen.Hit
	link := v.To(AddressPath + h.ID)
	if h.ID == "" { // of the map
		link = h.Evidence[0].URL
	}
	return &choice{Text: cmp.Or(h.Name, h.Site) + ", " + v.opens(v.NextOpen.Opens), Link: link}
}

// Literal returns the address of the search for the words as they are.
func (v *view) Literal() string {
	return v.with(v.Form.plus("q", `"`+strings.ReplaceAll(v.Form.Get("q"), `"`, "")+`"`))
}

// Alike returns the addresses of searches for what is similar, with what they
// look for.
func (v *view) Alike() []choice {
	var all []choice
	for _, text := range v.Similar {
		all = append(all, choice{Text: text, Link: v.with(Form{"q": {text}})})
	}
	return all
}

// TextOnly returns the address of the search for the words alone.
func (v *view) TextOnly() string { return v.with(Form{"q": v.Form["q"]}) }

// First returns the address of the first page of hits.
func (v *view) First() string { return v.with(v.Form) }

// Home returns the address of the page with everything.
func (v *view) Home() string { return v.To("/") }

// InLang returns the address of this page in another language.
func (v *view) InLang(lang string) string {
	if v.One {
		return v.to(AddressPath+v.Hits[0].ID, lang)
	}
	return v.Form.plus("lang", lang).address()
}

// with returns the address of the page with this form, in the language chosen.
func (v *view) with(f Form) string { return f.plus("lang", v.Form.Get("lang")).address() }

// To returns the address of another page in the language chosen.
func (v *view) To(path string) string { return v.to(path, v.Form.Get("lang")) }

// to returns the address of another page in a language; "" is that of the reader.
func (v *view) to(path, lang string) string {
	if lang == "" {
		return path
	}
	return path + "?" + url.Values{"lang": {lang}}.Encode()
}

// wholeList is how many hits a page for printing has at most.
const wholeList = index.MaxLimit

// Whole returns the address of the page with the whole list.
func (v *view) Whole() string {
	link, limit := v.with(v.Form), fmt.Sprintf("limit=%d", wholeList)
	if strings.Contains(link, "?") {
		return link + "&" + limit
	}
	return link + "?" + limit
}

// Download returns the address of the result in a format.
func (v *view) Download(format string) string {
	query := fmt.Sprintf("%s&limit=%d", v.Form.query("lang"), index.MaxLimit)
	return "/v1/search." + format + "?" + strings.TrimPrefix(query, "&")
}

// Feed returns the address of the feed of this search.
func (v *view) Feed() string {
	return strings.TrimSuffix("/feed.atom?"+v.Form.query("lang", "sort"), "?")
}

// HasMap reports whether the page has the moving map.
func (v *view) HasMap() bool { return HasMap() }

// StyleSheet, Script and MapStyle return the paths of the page's files; the last two
// are those of the moving map.
func (v *view) StyleSheet() string { return Assets()[0].Path }
func (v *view) Script() string     { return Assets()[1].Path }
func (v *view) MapStyle() string   { return Assets()[2].Path }
