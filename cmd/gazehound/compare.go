package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/differences"
	"gazehound/index/export"

	"github.com/spf13/cobra"
)

// compareOptions are the flags of compare.
type compareOptions struct {
	filters
	around
	kinds          []string
	confidence     float64
	format, output string
	limit          int
}

const compareHelp = `Compares what pages state with the named places of the imported OpenStreetMap data, place by
place, and lists what differs, the surest first:

  missing        pages state a place that the map lacks
  moved          pages state a place of the map at another address
  closed         a page says that it has closed for good
  name           another name at the same door
  kind           another kind of place
  phone          another phone, or one that the map lacks
  website        another web site of its own, or one that the map lacks
  opening_hours  other hours, or hours that the map lacks
  not_found      no page states a place of the map; that is weak evidence

Two are one place if they are at the same door and have the same name, phone or web site. Homes
of private persons and pages that were labelled "not" are in no list. The search page has the
same lists at /differences, the API at /v1/differences.

--format maproulette writes a cooperative challenge for MapRoulette: one task for each object
whose tags differ, with the tags to set. Of lists that are not about tags each difference is a
task. New places are for "gazehound export osm --only-missing". Survey before you map.

Exit status: 0 done, 2 unusable flag, 4 no OpenStreetMap data, 10 no addresses yet.

Examples:
  gazehound compare --difference missing,closed --min-confidence 0.8
  gazehound compare --difference phone,website,opening_hours --format maproulette -o tasks.geojson
  gazehound compare --kind bakery --format csv -o bakeries.csv
`

func newCompareCommand(a *app) *cobra.Command {
	var o compareOptions
	cmd := command("compare", "List what the web and OpenStreetMap do not agree about", compareHelp, noArgs,
		stoppable(func(ctx context.Context, args []string) error {
			return a.compare(ctx, o)
		}, "the list is not complete"))
	var kinds []string
	for _, k := range differences.Kinds {
		kinds = append(kinds, string(k))
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.kinds, "difference", nil, "only these `LISTS`, with commas between them: missing, moved, "+
		"closed, name, kind, phone, website, opening_hours, not_found")
	o.filters.flags(f, walkFilters()...)
	o.around.flags(f)
	f.Float64Var(&o.confidence, "min-confidence", 0, "only differences with at least this confidence, 0 to 1")
	f.StringVar(&o.format, "format", "text", "text | geojson | csv | maproulette")
	f.StringVarP(&o.output, "output", "o", "-", "`FILE` for that; - is standard output")
	f.IntVar(&o.limit, "limit", 20, "text: differences to print")
	oneOf(f, "difference", kinds)
	oneOf(f, "format", append([]string{"text"}, differences.Formats...))
	between(f, "min-confidence", 0, 1)
	between(f, "limit", 1, 1_000_000)
	return cmd
}

// filter turns the flags into a filter.
func (o *compareOptions) filter() (f differences.Filter, err error) {
	f.Filters = o.Filters
	err = o.around.set(&f.Filters)
	if err != nil {
		return f, err
	}
	if f.Center != nil && f.Radius == 0 {
		return f, fail(badUsage, "--near needs a distance: --radius 500m")
	}
	f.MinConfidence = o.confidence
	for _, kind := range o.kinds {
		f.Kinds = append(f.Kinds, differences.Kind(kind))
	}
	return f, nil
}

func (a *app) compare(ctx context.Context, o compareOptions) error {
	f, err := o.filter()
	if err != nil {
		return err
	}
	return a.readIndex(func(p project, x *index.Index) error {
		c, terms, err := a.compareWithMap(ctx, p, x, "compare")
		if err != nil {
			return err
		}
		some, counts, err := c.Select(f)
		if err != nil {
			return err
		}
		return a.showDifferences(o, some, counts, terms)
	})
}

var differencesText = textTemplate(`{{range .some}}{{line (printf "%s" .Kind)}}  {{line .Label}} {{/**/ -}}
{{printf "  (%.2f)" .Confidence}}
     {{line .Address}}
{{if .Place}}     map  {{with .Map}}{{line .}}  {{end}}https://www.openstreetmap.org/{{.Place.ID}}
{{end}}{{with .Web}}     web  {{line .}}
{{end}}{{with .Evidence}}     {{line .URL}}   {{date .Fetched}}
{{end}}{{end}}`)

var differencesEndText = textTemplate(`{{range $i, $k := .kinds}}{{if $i}}, {{end}}{{index $.counts $k}} {{$k -}}
{{else}}nothing differs{{end}}
{{if gt .total .shown}}{{.shown}} of {{.total}} shown; --limit shows more
{{end}}{{with .left}}{{several . "more difference"}} that {{if eq . 1}}is{{else}}are{{end}} {{/**/ -}}
not about tags: --difference chooses them
{{end}}`)

// showDifferences prints differences, or writes them in a format.
func (a *app) showDifferences(o compareOptions, some []*differences.Difference, counts map[differences.Kind]int,
	terms differences.Terms) error {
	end := fields{"counts": counts, "shown": len(some), "total": len(some), "left": 0}
	switch {
	case o.format != "text":
		sum, err := a.writeDifferences(o, some, terms)
		if err != nil {
			return err
		}
		if a.json && o.output != "-" {
			return a.printJSON(fields{"type": "summary", "format": o.format, "file": o.output, "written": sum.Written,
				"left_out": sum.LeftOut, "counts": counts})
		}
		end["left"] = sum.LeftOut
	case a.json:
		return a.printDifferences(some, counts)
	default:
		shown := some[:min(len(some), o.limit)]
		end["shown"] = len(shown)
		err := a.print("%s", text{differencesText, fields{"some": shown}})
		if err != nil {
			return err
		}
	}
	end["kinds"] = slices.DeleteFunc(slices.Clone(differences.Kinds), func(k differences.Kind) bool {
		return counts[k] == 0 || len(o.kinds) > 0 && !slices.Contains(o.kinds, string(k))
	})
	a.sayText(differencesEndText, end)
	return nil
}

func (a *app) writeDifferences(o compareOptions, some []*differences.Difference, terms differences.Terms) (
	sum differences.Summary, err error) {
	licence := ""
	if o.format != "geojson" { // which has it
		licence = export.Options{Licence: terms.Licence, Attribution: terms.Attribution}.Notice() + "\n"
	}
	err = a.writeExport(o.output, licence, func(w io.Writer) (err error) {
		sum, err = differences.Write(w, o.format, some, terms)
		return err
	})
	return sum, err
}

// printDifferences writes one JSON line per difference, and a summary.
func (a *app) printDifferences(some []*differences.Difference, counts map[differences.Kind]int) error {
	for _, d := range some {
		line := struct {
			Type string `json:"type"`
			differences.Properties
			Lat float64 `json:"lat"`
			Lon float64 `json:"lon"`
		}{"difference", d.Properties(), export.Round(d.Point().Lat(), 6), export.Round(d.Point().Lon(), 6)}
		if err := a.printJSON(line); err != nil {
			return err
		}
	}
	return a.printJSON(fields{"type": "summary", "total": len(some), "counts": counts})
}

// compareWithMap compares the index with the places of the project's map. who names what asks for it.
func (a *app) compareWithMap(ctx context.Context, p project, x *index.Index, who string) (*differences.Comparison,
	differences.Terms, error) {
	var terms differences.Terms
	if s, err := x.Stats(ctx); err != nil {
		return nil, terms, err
	} else if s.Pages == 0 {
		return nil, terms, fail(noData, "%s", p.emptyIndex())
	}
	g, err := gazetteer.Open(p.gazetteer())
	if err != nil {
		return nil, terms, fail(badInput, "%s compares with the gazetteer, which cannot be read: %w", who, err)
	}
	defer g.Close()
	if !g.KnowsOSM() {
		return nil, terms, fail(badInput, "%s compares with OpenStreetMap, and this gazetteer holds nothing "+
			"of it. \"gazehound gazetteer import FILE.osm.pbf\" adds it; crawl again after that", who)
	}
	region, err := gazetteer.ReadRegion(p.region())
	if errors.Is(err, fs.ErrNotExist) {
		region = nil
	} else if err != nil {
		return nil, terms, invalid(err)
	}
	credits := gazetteer.CreditsOf(g.Sources())
	terms = differences.Terms{Licence: credits.Licence, Attribution: credits.Attribution}
	c, err := differences.Compare(ctx, x, g, region)
	switch {
	case errors.Is(err, differences.ErrTooMany):
		return nil, terms, invalid(err)
	case err == nil && c.Mapped == 0:
		return nil, terms, fail(badInput, "%s compares with the named places of OpenStreetMap, and this gazetteer "+
			"has none here. \"gazehound gazetteer import FILE.osm.pbf\" reads them", who)
	}
	return c, terms, err
}
