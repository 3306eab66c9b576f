package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/differences"

	"github.com/paulmach/orb"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// searchOptions are the flags of search.
type searchOptions struct {
	filters
	around
	sort   string
	limit  int
	cursor string
}

const searchHelp = `Searches the index as the search page does: words of names, addresses, titles and the
text around an address. All words must occur; if no address has them all, typing errors
are allowed, and finally some of the words are enough. Places that only the map knows
(◇) come after the hits that are what is asked for.

With --near, closer addresses rank higher; --radius keeps those within it, nearest first.

Examples:
  gazehound search tischlerei
  gazehound search "cafe 67655" --near 49.4447,7.7689 --radius 2km --json
`

func newSearchCommand(a *app) *cobra.Command {
	var o searchOptions
	cmd := command("search [QUERY]", "Search what the crawl found", searchHelp, nil,
		func(ctx context.Context, args []string) error {
			return a.search(ctx, strings.Join(args, " "), o)
		})
	f := cmd.Flags()
	o.filters.flags(f, index.AllFilters()...)
	o.around.flags(f)
	f.StringVar(&o.sort, "sort", "", "`ORDER`: relevance | distance (needs --near) | newest | name | importance "+
		"(of the pages, where the crawl had --strategy trend)")
	f.IntVar(&o.limit, "limit", 10, fmt.Sprintf("hits to print, 1 to %d", index.MaxLimit))
	between(f, "limit", 1, index.MaxLimit)
	f.StringVar(&o.cursor, "cursor", "",
		"continue after the previous page, whose summary has the `CURSOR` (with --json)")
	return cmd
}

// filters are the flags that filter the addresses of a search, an export or a comparison.
type filters struct{ index.Filters }

// flags adds the flags of some filters.
func (o *filters) flags(f *pflag.FlagSet, all ...index.Filter) {
	for _, one := range all {
		if one.Flag == "" {
			continue
		}
		name := strings.ReplaceAll(one.Name, "_", "-")
		flag := f.VarPF(&filterFlag{filter: one, into: &o.Filters}, name, "", one.Flag)
		if one.Kind == index.Truth {
			flag.NoOptDefVal = "true"
		}
	}
}

// walkFilters returns the filters that exports and comparisons have.
func walkFilters() []index.Filter {
	return slices.DeleteFunc(slices.Clone(index.AllFilters()), func(f index.Filter) bool { return f.OfSearches })
}

// A filterFlag is the flag of a filter.
type filterFlag struct {
	filter index.Filter
	into   *index.Filters
}

// Set reads a value; days of --since count back from now.
func (v *filterFlag) Set(value string) error {
	name := strings.ReplaceAll(v.filter.Name, "_", "-")
	if v.filter.Kind == index.Choice {
		if err := checkOneOf(name, value, v.filter.Values); err != nil {
			return &refusedError{err}
		}
	}
	wrong, ok := v.filter.Read(v.into, value, time.Now())
	want := v.filter.Want.In("en")
	switch {
	case ok:
		return nil
	case wrong != "":
		return &refusedError{fail(badUsage, "--%s must be %s; %.60q %s", name, want, value, wrong)}
	case v.filter.Known != nil:
		return &refusedError{fail(badUsage, "--%s must be %s, got %.60q.%s", name, want, value,
			didYouMean(strings.ToLower(value), v.filter.Known()))}
	}
	return &refusedError{fail(badUsage, "--%s must be %s, got %.60q", name, want, value)}
}

// String is the default: nothing.
func (v *filterFlag) String() string { return "" }

// Type is that of the flag in the help.
func (v *filterFlag) Type() string {
	if v.filter.Kind == index.Truth {
		return "bool"
	}
	return "string"
}

// searchTimeout bounds a search from the terminal.
const searchTimeout = 30 * time.Second

func (a *app) search(ctx context.Context, text string, o searchOptions) error {
	q, err := o.query(text)
	if err != nil {
		return err
	}
	clock := a.clock()
	q.Now = clock.Now()
	q.Holidays = clock.Holidays(q.Now)
	return a.readIndex(func(p project, x *index.Index) error { return a.searchIndex(ctx, p, x, q) })
}

func (a *app) searchIndex(ctx context.Context, p project, x *index.Index, q index.Query) error {
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	var finder *differences.Finder
	if g, err := p.openGazetteer(); err == nil { // without one, names are found as they are written
		defer g.Close()
		finder = &differences.Finder{Map: g, Search: x.Search}
		if region, err := gazetteer.ReadRegion(p.region()); err == nil { // without one all of the map counts
			finder.Within = region
		}
		q.Locate = finder.Locate
		q.OtherNames = func(name string) []string {
			return g.OtherNames(name, func(*gazetteer.Place) bool { return true })
		}
	}
	r, err := x.Search(ctx, q)
	if err != nil {
		return err
	}
	var beside differences.Beside
	if finder != nil {
		beside = finder.Beside(ctx, q, r.Hits, q.Limit)
	}
	if r.Total == 0 && len(beside.Others) == 0 {
		if s, err := x.Stats(ctx); err == nil && s.Pages == 0 {
			return fail(noData, "%s", p.emptyIndex())
		}
	}
	return a.showHits(ctx, x, q, r, beside)
}

var hitsText = textTemplate(`{{range $i, $h := .hits}}{{printf "%3d" (plus $.offset $i 1)}}  {{with .Name}}{{line .}}
     {{end}}{{line .Line}}   ({{.Precision}}){{with .Status}}   {{.}}{{end}}{{if ge .Distance 0.0}}   {{metres .Distance}}{{end}}
{{with .Names}}     also here: {{line (join . ", ")}}
{{end}}{{with index .Evidence 0}}     {{line .Snippet.Text}}
     {{line .URL}}{{if gt $h.Mentions 1}}   ({{several $h.Mentions "page"}}){{end}}
{{end}}{{end}}`)

var onMapText = textTemplate(`{{range .}}  ◇  {{line .Name}}
     {{with .Line}}{{line .}}   {{end}}(on the map, no page yet)
{{end}}`)

var hitsEndText = textTemplate(`{{if not .r.Total}}no address for {{printf "%q" (line .text)}}
{{else}}{{if .r.Relaxed}}No exact match. Showing similar results: {{end}}{{several .r.Total "address"}}
{{- if and (gt .r.Total (len .r.Hits)) (not .r.Relaxed)}}; --limit shows more{{end}}
{{end}}{{with .more}}{{.}} more on the map without a page; --limit shows more
{{end}}{{with .street}}{{line .String}} --street {{printf "%q" (line .Street)}} shows them.
{{end}}`)

// showHits prints the result of q.
func (a *app) showHits(
	ctx context.Context, x *index.Index, q index.Query, r *index.Result, beside differences.Beside,
) error {
	var street *index.StreetOnly
	if q.Cursor == "" {
		var err error
		street, err = index.KnownStreet(ctx, x.Search, q.Text, r)
		if err != nil {
			return err
		}
	}
	var onMap []*index.Hit
	for i := range beside.Others {
		onMap = append(onMap, differences.HitOf(&beside.Others[i]))
	}
	asked, others := r.Hits[:beside.After], r.Hits[beside.After:]
	if a.json {
		return a.printHits(r, asked, onMap, others, street)
	}
	// Page text is escaped, so it cannot move the cursor or change colours.
	err := a.print("%s%s%s", text{hitsText, fields{"hits": asked, "offset": r.Offset}}, text{onMapText, onMap},
		text{hitsText, fields{"hits": others, "offset": r.Offset + beside.After}})
	if err != nil {
		return err
	}
	a.sayText(hitsEndText, fields{"r": r, "text": q.Text, "street": street, "more": beside.More})
	return nil
}

// query turns the flags into a query.
func (o searchOptions) query(text string) (index.Query, error) {
	q := index.Query{Text: text, Filters: o.Filters, Limit: o.limit, Cursor: o.cursor, Bias: 0.8,
		Sort: index.Sort(o.sort)}
	err := o.around.set(&q.Filters)
	if err != nil {
		return q, err
	}
	if q.Radius > 0 {
		q.Sort = index.Distance
	}
	return q, nil
}

// around are the flags for a point, and how far from it.
type around struct{ near, radius string }

func (o *around) flags(f *pflag.FlagSet) {
	f.StringVar(&o.near, "near", "", "a point: `LAT,LON`, latitude first as maps show it")
	f.StringVar(&o.radius, "radius", "", "only this far from --near: `LENGTH` such as 500m or 2km")
}

// set sets centre and radius of filters.
func (o *around) set(q *index.Filters) error {
	if o.near != "" {
		n, ok := index.ReadDegrees(o.near, 2)
		if !ok {
			return fail(badUsage, "--near must be LAT,LON such as 49.4447,7.7689, got %.60q", o.near)
		}
		if math.Abs(n[0]) > 90 {
			return fail(badUsage, "--near must be LAT,LON, and %v is no latitude. Did you mean --near %v,%v?",
				n[0], n[1], n[0])
		}
		q.Center = &orb.Point{n[1], n[0]}
	}
	if o.radius != "" {
		metres, ok := index.ReadMetres(o.radius)
		if !ok || !(metres > 0 && metres <= index.MaxRadius) {
			return fail(badUsage, "--radius must be a length such as 500m or 2km, at most %dkm, got %.40q",
				index.MaxRadius/1000, o.radius)
		}
		if q.Center == nil {
			return fail(badUsage, "--radius needs a point: --near LAT,LON")
		}
		q.Radius = metres
	}
	return nil
}

// printHits writes one JSON line per hit and per place that only the map knows, which have the type
// onmap, and a summary.
func (a *app) printHits(
	r *index.Result, asked []index.Hit, onMap []*index.Hit, others []index.Hit, street *index.StreetOnly,
) error {
	var lines []map[string]any
	for i := range asked {
		lines = append(lines, asked[i].Record())
	}
	for _, h := range onMap {
		lines = append(lines, map[string]any{"type": "onmap", "osm": h.Object, "name": h.Name, "kind": h.Kind,
			"address": h.Line(), "lat": h.Point[1], "lon": h.Point[0]})
	}
	for i := range others {
		lines = append(lines, others[i].Record())
	}
	for _, line := range lines {
		if err := a.printJSON(line); err != nil {
			return err
		}
	}
	summary := map[string]any{"type": "summary", "total": r.Total, "returned": len(r.Hits), "relaxed": r.Relaxed,
		"cursor": r.Next}
	if street != nil {
		summary["hint"] = map[string]any{"text": street.String(), "street": street.Street,
			"housenumber": street.HouseNumber, "pages": street.Pages, "addresses": street.Addresses}
	}
	return a.printJSON(summary)
}
