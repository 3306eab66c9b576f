package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/export"

	"github.com/paulmach/orb"
	"github.com/spf13/cobra"
)

// exportFlags are the flags of export.
type exportFlags struct {
	output                   string
	box, since, region       string
	street, code, host, kind []string
	confidence               float64
	precision                string
	missing, evidence        bool
	rs, excel                bool
	lang, dialect            string
}

func newExportCommand(a *app) *cobra.Command {
	var o exportFlags
	var formats strings.Builder
	for _, f := range export.Formats() {
		fmt.Fprintf(&formats, "  %-12s %s\n", f.Name, f.About)
	}
	cmd := &cobra.Command{
		Use:   "export FORMAT",
		Short: "Write the addresses for other programs",
		Long: `Writes every address that the crawl found, or those that fit the flags:

` + formats.String() + `
The same index gives the same bytes, so that two exports can be compared. The
licence of the data stands in the file, or in FILE.licence.txt beside it.

--only-missing keeps the addresses with street and house number that the
gazetteer has no house for: with a gazetteer of OpenStreetMap data, what is not
on the map. It compares with the date of that data; look before you map.`,
		Example: `  gazehound export csv --excel --postcode 26122 -o addresses.csv
  gazehound export maproulette --only-missing --min-confidence 0.9 -o missing.mr.geojsonl`,
		RunE: stoppable(func(ctx context.Context, args []string) error {
			format, err := formatOf(args)
			if err != nil {
				return err
			}
			return a.export(ctx, format, o)
		}),
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.output, "output", "o", "-", "`FILE` to write; - is standard output")
	f.StringVar(&o.box, "bbox", "", "only in this box: `minLon,minLat,maxLon,maxLat`")
	f.StringVar(&o.region, "region", "", "only in this `REGION`: a name of the gazetteer, relation/ID, FILE.geojson or minLon,minLat,maxLon,maxLat")
	f.StringVar(&o.since, "since", "", "only what was first seen since `WHEN`: 2026-11-21, or 7d for the last seven days")
	f.StringArrayVar(&o.street, "street", nil, "only this `STREET`, in any usual spelling (repeatable: one of them)")
	f.StringArrayVar(&o.code, "postcode", nil, "only this `POSTCODE` (repeatable)")
	f.StringArrayVar(&o.host, "host", nil, "only this `HOST` or site (repeatable)")
	f.StringArrayVar(&o.kind, "kind", nil, "only this `KIND` of place (repeatable): "+strings.Join(index.Kinds(), ", "))
	f.Float64Var(&o.confidence, "min-confidence", 0, "only addresses with at least this confidence, 0 to 1")
	f.StringVar(&o.precision, "precision", "", "only coordinates at least this precise: house, interpolated, street, postcode, city (`LEAST`)")
	f.BoolVar(&o.missing, "only-missing", false, "only addresses that the gazetteer has no house for")
	f.BoolVar(&o.evidence, "include-evidence", false, "with the page's title and up to 120 characters of its text")
	f.BoolVar(&o.rs, "rs", false, "geojsonseq: an RS character before each line")
	f.BoolVar(&o.excel, "excel", false, "csv: for Excel, which then keeps umlauts and leading zeros")
	f.StringVar(&o.lang, "lang", "", "html: `LANGUAGE` of its own words, en or de")
	f.StringVar(&o.dialect, "csv-dialect", "", "csv: columns as a `PROGRAM` wants them: plain (lat, lon) or datasette (latitude, longitude)")
	cmd.AddCommand(newExportCDXJCommand(a), newExportWACZCommand(a))
	return cmd
}

// formatOf returns the format that the arguments name.
func formatOf(args []string) (export.Format, error) {
	var names []string
	for _, f := range export.Formats() {
		names = append(names, f.Name)
	}
	names = append(names, "cdxj", "wacz")
	all := strings.Join(names, ", ")
	switch {
	case len(args) == 0:
		return export.Format{}, fail(exitUsage, "export needs a format: %s", all)
	case len(args) > 1:
		return export.Format{}, fail(exitUsage, "export takes one format, got %d arguments. -o names the file", len(args))
	}
	f, ok := export.Lookup(args[0])
	if !ok {
		return f, fail(exitUsage, "format %.40q is not offered.%s One of %s", args[0], didYouMean(strings.ToLower(args[0]), names), all)
	}
	return f, nil
}

// options turns the flags into options; now is what days count back from.
func (o exportFlags) options(now time.Time) (export.Options, error) {
	e := export.Options{MinConfidence: o.confidence, Missing: o.missing, Evidence: o.evidence, RS: o.rs, Excel: o.excel, Lang: o.lang,
		Query: index.Query{Street: o.street, Postcode: o.code, Host: o.host, Kind: o.kind}}
	for _, kind := range o.kind {
		if !slices.Contains(index.Kinds(), kind) {
			return e, fail(exitUsage, "--kind wants one of %s, got %.40q.%s", strings.Join(index.Kinds(), ", "), kind, didYouMean(kind, index.Kinds()))
		}
	}
	if o.lang != "" && o.lang != "en" && o.lang != "de" {
		return e, fail(exitUsage, "--lang wants en or de, got %.40q", o.lang)
	}
	switch o.dialect {
	case "", "plain":
	case "datasette":
		e.Datasette = true
	default:
		return e, fail(exitUsage, "--csv-dialect wants plain or datasette, got %.40q.%s", o.dialect, didYouMean(o.dialect, []string{"plain", "datasette"}))
	}
	if o.box != "" {
		b, err := boxOf(o.box)
		if err != nil {
			return e, err
		}
		e.Query.Box = b
	}
	if o.since != "" {
		t, ok := timeOf(o.since, now)
		if !ok {
			return e, fail(exitUsage, "--since wants 2026-11-21 or 7d, got %.40q", o.since)
		}
		e.Since = t
	}
	if !(o.confidence >= 0 && o.confidence <= 1) {
		return e, fail(exitUsage, "--min-confidence must be 0 to 1, got %v", o.confidence)
	}
	if o.precision != "" {
		for p := gazetteer.CityPrecision; p <= gazetteer.HousePrecision; p++ {
			if p.String() == o.precision {
				e.MinPrecision = p
			}
		}
		if e.MinPrecision == gazetteer.NoPrecision {
			names := []string{"house", "interpolated", "street", "postcode", "city"}
			return e, fail(exitUsage, "--precision wants one of %s, got %.40q.%s", strings.Join(names, ", "), o.precision, didYouMean(o.precision, names))
		}
	}
	return e, nil
}

// boxOf reads the value of --bbox.
func boxOf(text string) (*orb.Bound, error) {
	n, ok := degreesOf(text, 4)
	if !ok {
		return nil, fail(exitUsage, "--bbox wants minLon,minLat,maxLon,maxLat, got %.60q", text)
	}
	if math.Abs(n[1]) > 90 || math.Abs(n[3]) > 90 || n[1] > n[3] {
		return nil, fail(exitUsage, "--bbox wants minLon,minLat,maxLon,maxLat; %.60q has latitudes out of order", text)
	}
	return &orb.Bound{Min: orb.Point{n[0], n[1]}, Max: orb.Point{n[2], n[3]}}, nil
}

// timeOf reads a date, a time (RFC 3339), or a number of days or hours before
// now.
func timeOf(text string, now time.Time) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	unit := 24 * time.Hour
	number, ok := strings.CutSuffix(text, "d")
	if !ok {
		unit = time.Hour
		number, ok = strings.CutSuffix(text, "h")
	}
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 0 || n > 100_000 {
		return time.Time{}, false
	}
	return now.Add(-time.Duration(n) * unit), true
}

// export writes the index in a format to the file or standard output.
func (a *app) export(ctx context.Context, format export.Format, flags exportFlags) error {
	o, err := flags.options(time.Now())
	if err != nil {
		return err
	}
	if err := o.Validate(format); err != nil {
		return fail(exitUsage, "%s", strings.TrimPrefix(err.Error(), "export: "+export.ErrOptions.Error()+": "))
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	return a.readIndex(func(p project, x *index.Index) error { return a.exportIndex(ctx, cfg, p, x, format, flags, o) })
}

func (a *app) exportIndex(ctx context.Context, cfg *Config, p project, x *index.Index, format export.Format, flags exportFlags, o export.Options) error {
	if s, err := x.Stats(ctx); err != nil {
		return err
	} else if s.Pages == 0 {
		return fail(exitNoData, "%s", p.emptyIndex())
	}
	o.Region = cfg.Region.Name
	if r, err := gazetteer.ReadRegion(p.region()); err == nil {
		o.Outline, o.Region = r.Area, cmp.Or(o.Region, r.Name)
	}
	if err := a.exportTerms(&o, p, flags.region); err != nil {
		return err
	}

	if format.Name == "html" {
		switch m, err := gazetteer.OpenBasemap(p.basemap()); {
		case err == nil:
			defer m.Close()
			o.Shapes = func(box orb.Bound) []gazetteer.Shape {
				shapes, err := m.Shapes(box)
				if err != nil {
					a.warn("the map has no streets: %s", oneLine(err.Error()))
				}
				return shapes
			}
		case !errors.Is(err, fs.ErrNotExist):
			a.warn("the map has no streets: %s", oneLine(err.Error()))
		}
	}

	var sum export.Summary
	err := a.writeExport(flags.output, licenceText(format, o), func(w io.Writer) (err error) {
		sum, err = export.Write(ctx, w, x, format, o)
		return err
	})
	if errors.Is(err, context.Canceled) {
		return fail(exitStopped, "stopped; the export is not complete")
	} else if err != nil {
		return err
	}
	return a.exported(format, flags.output, o, sum)
}

// exportTerms fills in what comes from the gazetteer: the licence of the data and
// the region of --region. It sees that it is of use for --only-missing.
func (a *app) exportTerms(o *export.Options, p project, region string) error {
	g, err := gazetteer.Open(p.gazetteer())
	if err != nil {
		if o.Missing {
			return fail(exitInvalidInput, "--only-missing compares with the gazetteer, which cannot be read: %w", err)
		}
		if region != "" {
			return fail(exitInvalidInput, "--region is looked up in the gazetteer, which cannot be read: %w", err)
		}
		a.warn("licence and attribution are not known: %s", oneLine(err.Error()))
		return nil
	}
	defer g.Close()
	credits := gazetteer.CreditsOf(g.Sources())
	o.Licence, o.Attribution = credits.Licence, credits.Attribution
	if region != "" {
		r, err := p.openRegion(g, region)
		if err != nil {
			return err
		}
		o.Within, o.Outline, o.Region = r, r.Area, cmp.Or(r.Name, o.Region)
	}
	if o.Missing && !g.KnowsOSM() {
		return fail(exitInvalidInput, "--only-missing compares with OpenStreetMap, and this gazetteer holds nothing of it. \"gazehound gazetteer import FILE.osm.pbf\" adds it; crawl again after that")
	}
	return nil
}

// licenceText returns what belongs beside a file that cannot say it itself.
func licenceText(f export.Format, o export.Options) string {
	if f.Carries || o.Notice() == "" {
		return ""
	}
	return o.Notice() + "\n"
}

// exported tells people, or programs where standard output is free for them,
// what was written.
func (a *app) exported(f export.Format, file string, o export.Options, sum export.Summary) error {
	if file != "-" && a.json {
		line := map[string]any{"type": "summary", "format": f.Name, "file": file, "addresses": sum.Addresses, "left_out": sum.LeftOut, "gone": sum.Gone, "licence": o.Licence, "attribution": o.Attribution}
		if o.Missing {
			line["known"] = sum.Known
		}
		if f.Name == "seeds" {
			line["sites"] = sum.Sites
		}
		return a.printJSON(line)
	}
	text := several(sum.Addresses, "address")
	if f.Name == "seeds" {
		text = fmt.Sprintf("%s with %s", several(sum.Sites, "site"), text)
	}
	if file != "-" {
		text += " → " + file
	}
	if o.Missing {
		text += fmt.Sprintf("   (%s that the gazetteer knows were left out)", count(sum.Known))
	}
	a.say("%s", text)
	if sum.LeftOut > 0 {
		a.say("%d more have no coordinate that is good enough for %s", sum.LeftOut, f.Name)
	}
	if sum.Gone > 0 {
		a.say("%d more are gone: their pages are not there any more, or do not state them", sum.Gone)
	}
	if notice := o.Notice(); notice != "" {
		a.say("%s", oneLine(notice))
	}
	if f.ForOSM {
		a.say("Read OpenStreetMap's import guidelines before any bulk use: one person who checks each address is the accepted way.")
	}
	return nil
}
