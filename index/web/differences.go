package web

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"gazehound/index/differences"
	"gazehound/index/export"
	"gazehound/index/texts"
	"gazehound/internal/kind"
)

//go:embed differences.html
var differencesSource string

// DifferencesPath is that of the page of Differences.
const DifferencesPath = "/differences"

// Differences is the page of what the web and the map do not agree about.
type Differences struct {
	Page                            // its language, form, next page and what all pages have
	Counts map[differences.Kind]int // of each kind that fits the other filters
	Some   []*differences.Difference
	NoMap  bool // there is no map to compare with
}

// RenderDifferences writes the page.
func RenderDifferences(w io.Writer, d Differences) error {
	around := view{Page: d.Page, T: texts.Of("page", d.Lang)}
	return differencesPage().Execute(w, &differencesView{around, d.Counts, d.Some, d.NoMap})
}

var differencesPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("differences").Parse(differencesSource))
})

// A differencesView is what the template shows.
type differencesView struct {
	view
	Counts map[differences.Kind]int
	Some   []*differences.Difference
	NoMap  bool
}

// A differenceCard is one difference.
type differenceCard struct {
	Title, What, Address, KindName string
	Web, Map                       string
	Page, PageTitle, Fetched, Lang string
	Text                           string // words of the page
	Sure                           string
	OSM, Edit, JOSM                string // addresses; "": none
	New                            bool   // JOSM adds it
	Own                            string // page of the address
}

// Cards returns the differences of the page.
func (v *differencesView) Cards() (all []differenceCard) {
	for _, d := range v.Some {
		at := d.At()
		c := differenceCard{Title: d.Label(), What: v.T["diff_"+string(d.Kind)], Address: d.Address(),
			Web: v.value(d.Kind, d.Web), Map: v.value(d.Kind, d.Map),
			Sure: v.T.Say("diff_sure", int(100*d.Confidence+0.5)), New: d.Place == nil}
		if at.Kind != "" {
			c.KindName = v.kind(at.Kind)
		}
		if e := d.Evidence; e != nil {
			c.Page, c.PageTitle, c.Fetched, c.Lang = safeLink(e.URL), e.Title, v.date(e.Fetched), e.Lang
			c.Text = e.Snippet.Text
		}
		if d.Hit != nil {
			c.Own = v.To(AddressPath + d.Hit.ID)
		}
		if d.Place != nil {
			c.OSM = export.ObjectURL(d.Place.ID, d.Place.Point)
			c.JOSM = loadInJOSM(d.Place.ID, d.Place.Point, d.Set)
		} else {
			c.JOSM = addInJOSM(d.Point(), export.OSMTags(d.Hit, false))
		}
		c.Edit = fmt.Sprintf("https://www.openstreetmap.org/edit?editor=id#map=19/%.5f/%.5f", d.Point()[1], d.Point()[0])
		all = append(all, c)
	}
	return all
}

// value writes one of the two sides of a difference for people.
func (v *differencesView) value(k differences.Kind, text string) string {
	switch k {
	case differences.OtherKind:
		if text != "" {
			return kind.Title(text, v.Lang)
		}
	case differences.Hours:
		return openingHours(text, v.T)
	}
	return text
}

// Lists returns the kinds of differences, each to be chosen.
func (v *differencesView) Lists() []choice {
	sum := 0
	var all []choice
	for _, k := range differences.Kinds {
		n := v.Counts[k]
		sum += n
		if chosen := slices.Contains(v.Form["difference"], string(k)); n > 0 || chosen {
			all = append(all, choice{Text: v.T["diff_"+string(k)], Link: v.at(v.Form.plus("difference", string(k))),
				Count: n, Chosen: chosen})
		}
	}
	whole := choice{Text: v.T["diff_all"], Link: v.at(v.Form.plus("difference")), Count: sum,
		Chosen: len(v.Form["difference"]) == 0}
	return append([]choice{whole}, all...)
}

// Narrowed returns the filters beside the list.
func (v *differencesView) Narrowed() (all []chip) {
	for _, c := range v.Chips() {
		c.Remove = DifferencesPath + strings.TrimPrefix(c.Remove, "/")
		all = append(all, c)
	}
	return all
}

// at returns the address of the page with a form.
func (v *differencesView) at(f Form) string { return DifferencesPath + "?" + f.query() }

// File returns the address of the list in a format.
func (v *differencesView) File(format string) string {
	return "/v1/differences." + format + "?" + v.Form.query("lang")
}

// First returns the address of the first page.
func (v *differencesView) First() string { return v.at(v.Form) }

// InOther returns the address of the page in the other language.
func (v *differencesView) InOther() string {
	other := "de"
	if v.Lang == "de" {
		other = "en"
	}
	return v.at(v.Form.plus("lang", other))
}

// Other is the other language of the page.
func (v *differencesView) Other() string { return Note{Lang: v.Lang}.Other() }

// Least returns how sure differences may have to be.
func (v *differencesView) Least() (all []choice) {
	for _, share := range []string{"0", "0.5", "0.8"} {
		text := v.T["diff_least_"+share]
		all = append(all, choice{Text: text, Link: share, Chosen: v.Form.Get("min_confidence") == share})
	}
	return all
}

// Kept returns what the form of the page keeps.
func (v *differencesView) Kept() (all []hidden) {
	for name, values := range url.Values(v.Form.plus("kind").plus("min_confidence")) {
		for _, value := range values {
			all = append(all, hidden{name, value})
		}
	}
	slices.SortFunc(all, func(a, b hidden) int {
		return slices.Compare([]string{a.Name, a.Value}, []string{b.Name, b.Value})
	})
	return all
}
