package web

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/index"
)

// A Form is the search as the reader filled it in: the values of each parameter. Of
// the empty ones there is none.
type Form url.Values

// several are the parameters of a Form that take several values, of which one must fit, and single
// those that take one.
var several, single = formOf(index.AllFilters())

// formOf returns the parameters of filters, and of what else there is in a form.
func formOf(filters []index.Filter) (several, single []string) {
	several, single = []string{"difference"}, []string{"q", "lat", "lon", "min_confidence", "sort", "lang"}
	for _, f := range filters {
		if f.Many {
			several = append(several, f.Name)
		} else {
			single = append(single, f.Name)
		}
	}
	return several, single
}

// NewForm returns the form of the parameters of a request. Where one value is possible,
// the first counts.
func NewForm(given url.Values) Form {
	f := Form{}
	for name, values := range given {
		values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
		switch {
		case len(values) == 0:
		case slices.Contains(several, name):
			f[name] = values
		case slices.Contains(single, name):
			f[name] = values[:1]
		}
	}
	return f
}

// Only returns the form with one of its parameters.
func (f Form) Only(name string) Form { return NewForm(url.Values{name: f[name]}) }

// Get returns the first value of a parameter, or "".
func (f Form) Get(name string) string { return url.Values(f).Get(name) }

// plus returns the form with other values of a parameter; without one, it has none.
func (f Form) plus(name string, values ...string) Form {
	given := url.Values(maps.Clone(f))
	if given == nil {
		given = url.Values{}
	}
	given[name] = values
	return NewForm(given)
}

// query returns the form as a query string, without some of its parameters.
func (f Form) query(without ...string) string {
	for _, name := range without {
		f = f.plus(name)
	}
	return url.Values(NewForm(url.Values(f))).Encode()
}

// address returns the address of the page with this form.
func (f Form) address() string { return strings.TrimSuffix("/?"+f.query(), "?") }

// A hidden is a value that a search for other words keeps.
type hidden struct{ Name, Value string }

// Hidden returns what a search for other words keeps.
func (v *view) Hidden() (all []hidden) {
	for _, name := range slices.Concat(single[1:], several) {
		for _, value := range v.Form[name] {
			all = append(all, hidden{name, value})
		}
	}
	return all
}

// A chip is a filter that the reader can take away.
type chip struct {
	Text   string
	Remove string
}

// Chips returns the filters beside the words.
func (v *view) Chips() []chip {
	var chips []chip
	for _, f := range index.AllFilters() {
		for _, value := range v.Form[f.Name] {
			without := v.Form.plus(f.Name)
			switch {
			case f.Many:
				without = v.toggled(f, value)
			case f.Name == "radius":
				without = without.plus("lat").plus("lon").plus("sort")
			}
			chips = append(chips, chip{v.chipText(f, value), v.with(without)})
		}
	}
	return chips
}

// chipText describes a filter with one of its values.
func (v *view) chipText(f index.Filter, value string) string {
	shown := value
	switch f.Name {
	case "kind":
		shown = v.kind(value)
	case "month":
		shown = v.month(value)
	case "open":
		shown = v.openChip(value)
	case "precision":
		shown = cmp.Or(v.T["least_"+value], value)
	case "radius":
		shown = v.Form.Get("lat") + ", " + v.Form.Get("lon") + " · " + value + " m"
	}
	if f.Kind == index.Truth && (value == "false" || value == "0") {
		return f.ChipFalse.In(v.Lang)
	}
	return strings.ReplaceAll(f.Chip.In(v.Lang), "%s", shown)
}

// toggled returns the form with a value of a filter taken away where it was
// chosen, and added where it was not.
func (v *view) toggled(f index.Filter, value string) Form {
	chosen := slices.Clone(v.Form[f.Name])
	if i := v.chosenAt(f, value); i >= 0 {
		return v.Form.plus(f.Name, slices.Delete(chosen, i, i+1)...)
	}
	return v.Form.plus(f.Name, append(chosen, value)...)
}

// chosenAt returns which of the chosen values of a filter means the same as value, or -1.
func (v *view) chosenAt(f index.Filter, value string) int {
	return slices.IndexFunc(v.Form[f.Name], func(chosen string) bool { return f.Same(chosen, value) })
}

// A menu is a facet: values that narrow the result.
type menu struct {
	Name   string
	Values []choice
	Many   bool // several values may be chosen
}

// Chosen returns how many values of a menu that takes several are chosen.
func (m menu) Chosen() (n int) {
	for _, c := range m.Values {
		if m.Many && c.Chosen {
			n++
		}
	}
	return n
}

// A choice is a text that leads to another search.
type choice struct {
	Text, Link string
	Count      int // 0: not known
	Chosen     bool
}

// Menus returns the facets that would narrow the result, and the orders.
func (v *view) Menus() []menu {
	var menus []menu
	if v.Result == nil {
		return nil
	}
	for _, c := range v.Result.Facets {
		m := v.facetMenu(c)
		if c.Facet == index.ByPrecision {
			m = v.precisionMenu(c)
		}
		if len(m.Values) > 1 {
			menus = append(menus, m)
		}
	}
	since := menu{Name: v.T["by_since"]}
	for _, s := range []string{"1d", "7d", "30d"} {
		since.Values = append(since.Values,
			choice{Text: v.T["since_"+s], Link: v.with(v.Form.plus("since", s)), Chosen: v.Form.Get("since") == s})
	}
	order := menu{Name: v.T["by_sort"]}
	for _, s := range []string{"relevance", "newest", "name", "distance", "importance"} {
		// There is importance in crawls with strategy trend only: the address line chooses it.
		possible := s != "distance" && s != "importance" || s == v.Form.Get("sort")
		if possible || s == "distance" && v.Form.Get("lat") != "" {
			order.Values = append(order.Values, choice{Text: v.T["sort_"+s], Link: v.with(v.Form.plus("sort", s)),
				Chosen: cmp.Or(v.Form.Get("sort"), "relevance") == s})
		}
	}
	return append(menus, since, order)
}

// facetMenu returns the menu of the values that addresses have.
func (v *view) facetMenu(c index.Count) menu {
	m := menu{Name: v.T["by_"+string(c.Facet)], Many: true}
	filter, ok := index.FilterBy(c.Facet)
	if c.Facet == index.ByMonth {
		slices.SortFunc(c.Values, func(a, b index.Value) int { return strings.Compare(b.Value, a.Value) })
	}
	for _, value := range c.Values {
		if !ok || value.Value == "" {
			continue
		}
		text := value.Value
		switch c.Facet {
		case index.ByKind:
			text = v.kind(text)
		case index.ByMonth:
			text = v.month(text)
		}
		m.Values = append(m.Values, choice{Text: text, Link: v.with(v.toggled(filter, value.Value)), Count: value.Count,
			Chosen: v.chosenAt(filter, value.Value) >= 0})
	}
	return m
}

// maxKindChips is how many kinds there are above the map.
const maxKindChips = 10

// KindChips returns the most frequent kinds of the result, to choose one, before them "open now"
// where hours are known.
func (v *view) KindChips() []choice {
	if v.Result == nil {
		return nil
	}
	i := slices.IndexFunc(v.Result.Facets, func(c index.Count) bool { return c.Facet == index.ByKind })
	var chips []choice
	if i >= 0 {
		chips = v.facetMenu(v.Result.Facets[i]).Values
	}
	if len(chips) < 2 && len(v.Form["kind"]) == 0 {
		chips = nil
	}
	chips = chips[:min(maxKindChips, len(chips))]
	timed := slices.ContainsFunc(v.Hits, func(c card) bool { return c.Contact.State != "" })
	if asked := v.Form.Get("open") != ""; asked {
		chips = slices.Insert(chips, 0, choice{Text: v.T["opennow"], Link: v.with(v.Form.plus("open")), Chosen: true})
	} else if timed {
		chips = slices.Insert(chips, 0, choice{Text: v.T["opennow"], Link: v.with(v.Form.plus("open", "now"))})
	}
	return chips
}

// openChip describes the filter for opening hours.
func (v *view) openChip(value string) string {
	now := v.Clock.Now()
	if open, ok := index.ReadOpen(value, now, v.Clock.Holidays(now)); ok {
		return v.openTime(*open)
	}
	return value
}

// precisionMenu returns the menu of how exact a position is at least.
func (v *view) precisionMenu(c index.Count) menu {
	m := menu{Name: v.T["by_precision"]}
	sum := 0
	for p := gazetteer.HousePrecision; p >= gazetteer.CityPrecision; p-- {
		i := slices.IndexFunc(c.Values, func(o index.Value) bool { return o.Value == p.String() })
		if i < 0 {
			continue
		}
		sum += c.Values[i].Count
		chosen := v.Form.Get("precision") == p.String()
		to := v.Form.plus("precision", p.String())
		if chosen {
			to = v.Form.plus("precision")
		}
		m.Values = append(m.Values,
			choice{Text: v.T["least_"+p.String()], Link: v.with(to), Count: sum, Chosen: chosen})
	}
	return m
}

// NotInOSM returns the address of the layer "not in OpenStreetMap", or "".
func (v *view) NotInOSM() string {
	if !v.OSM || v.Missing == 0 || v.Form.Get("in_osm") != "" {
		return ""
	}
	return v.with(v.Form.plus("in_osm", "false"))
}

// Lacked returns the address of the list of places that the map lacks, with their number; nil where
// there is none.
func (v *view) Lacked() *choice {
	if v.MissingPlaces == nil {
		return nil
	}
	f := v.Form.plus("q").plus("sort").plus("open").plus("difference", "missing")
	if len(v.MissingPlaces.Kinds) > 0 {
		f = f.plus("kind", v.MissingPlaces.Kinds...)
	}
	if f.Get("radius") == "" {
		f = f.plus("lat").plus("lon")
	}
	return &choice{Text: v.number(v.MissingPlaces.Count), Link: DifferencesPath + "?" + f.query()}
}

// MissingCount writes how many matches OpenStreetMap lacks.
func (v *view) MissingCount() string { return v.number(v.Missing) }
