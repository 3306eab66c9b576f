package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gazehound/gazetteer"
	"gazehound/gazetteer/geonames"
	"gazehound/gazetteer/osm"
	"gazehound/gazetteer/table"
)

func newGazetteerCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "gazetteer",
		Short: "Import places, count them, look one up",
		Example: `  gazehound gazetteer import DE.txt                            GeoNames postal codes
  gazehound gazetteer lookup "Lange Straße 5, 26122 Oldenburg"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	c.AddCommand(newGazetteerImportCommand(a), newGazetteerStatsCommand(a), newGazetteerLookupCommand(a))
	return c
}

// importOptions are the flags of gazetteer import.
type importOptions struct {
	format, columns, licence, attribution, country string
}

var importFormats = []string{"osm", "geonames-postal", "geonames", "table"}

func newGazetteerImportCommand(a *app) *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "import FILE…",
		Short: "Add the places of files to the gazetteer",
		Long: `Import adds the places of files to the gazetteer of the data directory and
rebuilds it; a file of the same name and format is replaced. Where files
disagree, the one imported last wins. gzip and bzip2 are unpacked on the fly.

Formats, guessed by content unless --format is given:
  osm               OpenStreetMap extract: .osm.pbf, .osm, .osm.gz
  geonames-postal   GeoNames postal codes, 12 columns
  geonames          GeoNames dump of places, 19 columns
  table             CSV, TSV, GeoJSON, JSON with the usual column names or --map

The fields of --map: ` + strings.Join(table.Fields, ", ") + `.
A+B joins two columns. housenumber_max says that the numbers 1 to it exist.`,
		Example: `  gazehound gazetteer import DE.txt AT.txt CH.txt
  gazehound gazetteer import adressen.csv --map street=STRNAME,housenumber=HNR+HNRZ,postcode=PLZ,city=ORT,lat=Y,lon=X --licence "dl-de/by-2-0; Stadt Oldenburg"`,
		Args: needArgs("a file to import"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.gazetteerImport(cmd.Context(), args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.format, "format", "", "format of the `files`: "+strings.Join(importFormats, ", ")+" (default: guessed)")
	f.StringVar(&o.columns, "map", "", "which column is what: `street=…,housenumber=…,…` (table only)")
	f.StringVar(&o.licence, "licence", "", "licence of the data, kept with it (`TEXT`; OpenStreetMap's and GeoNames' are known)")
	f.StringVar(&o.attribution, "attribution", "", "who must be named where the data is shown (`TEXT`)")
	f.StringVar(&o.country, "country", "", "country of places that do not say theirs (ISO 3166-1 `CODE`)")
	return c
}

// needArgs wants at least one argument.
func needArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fail(exitUsage, "%s is missing. \"%s --help\" shows examples", what, cmd.CommandPath())
		}
		return nil
	}
}

func (o *importOptions) validate() error {
	if o.format != "" && !contains(importFormats, o.format) {
		return fail(exitUsage, "--format wants one of %s, got %q.%s", strings.Join(importFormats, ", "), o.format, didYouMean(o.format, importFormats))
	}
	return checkCountry(o.country)
}

func checkCountry(code string) error {
	if code != "" && (len(code) != 2 || strings.Trim(strings.ToUpper(code), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		return fail(exitUsage, "--country wants a code of two letters such as DE or US, got %q", code)
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// An imported is what became of one file.
type imported struct {
	gazetteer.Source
	Refused     int    `json:"refused"`
	RefusedFile string `json:"refused_file,omitempty"`
	extract     *osm.Extract
}

func (a *app) gazetteerImport(ctx context.Context, files []string, o importOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	columns, err := table.ParseMap(o.columns)
	if err != nil {
		return fail(exitUsage, "--map: %w", err)
	}
	ctx, stop := signals(ctx)
	defer stop()
	p := project{a.data}
	b, err := gazetteer.NewBuilder(p.gazetteer())
	if err != nil {
		return fail(exitInvalidInput, "%w", err)
	}
	start := time.Now()
	var done []imported
	for _, file := range files {
		one, err := a.importFile(ctx, b, p.gazetteer(), file, o, columns)
		if err != nil {
			b.Discard()
			return importError(ctx, file, err)
		}
		done = append(done, one)
	}
	a.say("Building the gazetteer …")
	if err := b.Finish(ctx); err != nil {
		b.Discard()
		return importError(ctx, "gazetteer", err)
	}
	g, err := p.openGazetteer()
	if err != nil {
		return err
	}
	defer g.Close()
	if err := writeLicences(p, g); err != nil {
		return err
	}
	stats := g.Stats()
	if a.json {
		return a.printJSON(map[string]any{"type": "import", "sources": done, "stats": stats, "duration_s": time.Since(start).Seconds()})
	}
	for _, one := range done {
		fmt.Fprintf(a.stdout, "%s  %s, %s places", one.Name, one.Format, count(one.Places))
		if one.Refused > 0 {
			fmt.Fprintf(a.stdout, ", %s refused", count(one.Refused))
			if one.RefusedFile != "" {
				fmt.Fprintf(a.stdout, " → %s", one.RefusedFile)
			}
		}
		fmt.Fprintln(a.stdout)
	}
	a.printStats(stats)
	return nil
}

// importError gives the errors of readers their exit code.
func importError(ctx context.Context, file string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fail(exitStopped, "stopped by a signal; the gazetteer is as it was before")
	case errors.Is(err, fs.ErrNotExist):
		return fail(exitInvalidInput, "%s does not exist", file)
	}
	return fail(exitInvalidInput, "%w", err)
}

// importFile adds one file to b.
func (a *app) importFile(ctx context.Context, b *gazetteer.Builder, dir, file string, o importOptions, columns table.Map) (imported, error) {
	one := imported{Source: gazetteer.Source{Name: filepath.Base(file), Format: o.format, Licence: o.licence, Attribution: o.attribution}}
	if one.Format == "" {
		format, err := guessFormat(file)
		if err != nil {
			return one, err
		}
		one.Format = format
	}
	if len(columns) > 0 && one.Format != "table" {
		return one, fmt.Errorf("%s: --map is for tables, this is %s; --format table says otherwise", one.Name, one.Format)
	}
	licence, attribution := "", ""
	switch one.Format {
	case "osm":
		licence, attribution = osm.Licence, osm.Attribution
	case "geonames", "geonames-postal":
		licence, attribution = geonames.Licence, geonames.Attribution
	}
	if one.Licence == "" {
		one.Licence = licence
	}
	if one.Attribution == "" {
		one.Attribution = attribution
	}
	a.say("Reading %s (%s) …", one.Name, one.Format)
	country := strings.ToUpper(o.country)
	if one.Format == "osm" {
		return one, b.Add(&one.Source, func(emit func(gazetteer.Place) error) (err error) {
			one.extract, err = osm.Read(ctx, file, osm.Options{Country: country}, emit)
			if err != nil {
				return err
			}
			one.Refused = one.extract.Refused
			if !one.extract.Date.IsZero() {
				one.Source.Data = one.extract.Date.UTC().Format(time.DateOnly)
			}
			return nil
		})
	}
	refused := &refusedFile{path: filepath.Join(dir, "refused", one.Name+".tsv")}
	var read gazetteer.Reader
	switch one.Format {
	case "geonames-postal":
		read = geonames.Postal(refused.add)
	case "geonames":
		read = geonames.Dump(refused.add)
	default:
		read = table.Reader(table.Options{Map: columns, Country: country, Refuse: refused.add})
	}
	src, _, err := gazetteer.OpenSource(file)
	if err != nil {
		return one, err
	}
	defer src.Close()
	err = b.Add(&one.Source, func(emit func(gazetteer.Place) error) error { return read(ctx, src, emit) })
	if e := refused.close(); err == nil {
		err = e
	}
	one.Refused, one.RefusedFile = refused.rows, refused.written()
	return one, err
}

// guessFormat tells the format of a file by its content.
func guessFormat(file string) (string, error) {
	src, head, err := gazetteer.OpenSource(file)
	if err != nil {
		return "", err
	}
	defer src.Close()
	switch {
	case osm.Sniff(head):
		return "osm", nil
	case geonames.Sniff(head) != "":
		return geonames.Sniff(head), nil
	case len(head) == 0:
		return "", fmt.Errorf("%s is empty", file)
	}
	return "table", nil
}

// maxRefused bounds the file of refused rows.
const maxRefused = 100_000

// A refusedFile keeps the rows that a reader refused: number, reason, text.
type refusedFile struct {
	path string
	rows int
	f    *os.File
	err  error
}

func (r *refusedFile) add(row int, text string, why error) {
	r.rows++
	if r.rows > maxRefused || r.err != nil {
		return
	}
	if r.f == nil {
		if r.err = os.MkdirAll(filepath.Dir(r.path), 0o755); r.err != nil {
			return
		}
		if r.f, r.err = os.Create(r.path); r.err != nil {
			return
		}
		_, r.err = io.WriteString(r.f, "row\treason\ttext\n")
	}
	clean := func(s string) string { return strings.ReplaceAll(oneLine(s), "\t", " ") }
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.f, "%d\t%s\t%s\n", row, clean(why.Error()), clean(text))
	}
}

func (r *refusedFile) written() string {
	if r.f == nil {
		return ""
	}
	return r.path
}

func (r *refusedFile) close() error {
	if r.f == nil {
		return r.err
	}
	if err := r.f.Close(); r.err == nil {
		r.err = err
	}
	return r.err
}

// writeLicences writes the file LICENCES, which travels with the data.
func writeLicences(p project, g *gazetteer.Gazetteer) error {
	var b strings.Builder
	b.WriteString("The data in this directory is made from these sources and stands under their licences.\n\n")
	for _, s := range g.Sources() {
		fmt.Fprintf(&b, "%s (%s", s.Name, s.Format)
		if s.Data != "" {
			fmt.Fprintf(&b, ", data of %s", s.Data)
		}
		b.WriteString(")\n")
		if s.Attribution != "" {
			fmt.Fprintf(&b, "  %s\n", s.Attribution)
		}
		licence := s.Licence
		if licence == "" {
			licence = "unknown; --licence of \"gazehound gazetteer import\" names it"
		}
		fmt.Fprintf(&b, "  licence: %s\n\n", licence)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "LICENCES"), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("licences: %w", err)
	}
	return nil
}

func newGazetteerStatsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "stats",
		Short:   "Count what the gazetteer holds",
		Example: "  gazehound gazetteer stats\n  gazehound gazetteer stats --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := project{a.data}.openGazetteer()
			if err != nil {
				return err
			}
			defer g.Close()
			if a.json {
				return a.printJSON(map[string]any{"type": "gazetteer", "stats": g.Stats(), "sources": g.Sources()})
			}
			a.printStats(g.Stats())
			for _, s := range g.Sources() {
				fmt.Fprintf(a.stdout, "source     %s  %s, %s places", s.Name, s.Format, count(s.Places))
				for _, part := range []string{s.Data, s.Licence} {
					if part != "" {
						fmt.Fprintf(a.stdout, ", %s", part)
					}
				}
				fmt.Fprintln(a.stdout)
			}
			return nil
		},
	}
}

func (a *app) printStats(s gazetteer.Stats) {
	fmt.Fprintf(a.stdout, "addresses  %s on %s streets\npostcodes  %s\ncities     %s\noutlines   %s\ncountries  %s\n",
		count(s.Houses), count(s.Streets), count(s.Postcodes), count(s.Cities), count(s.Outlines), strings.Join(s.Countries, " "))
}

func newGazetteerLookupCommand(a *app) *cobra.Command {
	var q gazetteer.Query
	c := &cobra.Command{
		Use:   "lookup [TEXT]",
		Short: "Look an address, street, postcode or city up",
		Example: `  gazehound gazetteer lookup "Schauenburger Str. 12, 26121 Oldenburg"
  gazehound gazetteer lookup --street "Main St" --number 5 --city Irvine --state CA --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.gazetteerLookup(strings.Join(args, " "), q) },
	}
	f := c.Flags()
	f.StringVar(&q.Street, "street", "", "`NAME` of the street, in any usual spelling")
	f.StringVar(&q.HouseNumber, "number", "", "house `NUMBER`")
	f.StringVar(&q.Postcode, "postcode", "", "`CODE`")
	f.StringVar(&q.City, "city", "", "`NAME` of the city")
	f.StringVar(&q.State, "state", "", "`CODE` of the state, such as CA")
	f.StringVar(&q.Country, "country", "", "country `CODE`, such as DE")
	return c
}

func (a *app) gazetteerLookup(text string, q gazetteer.Query) error {
	if text != "" && q != (gazetteer.Query{}) {
		return fail(exitUsage, "give either a text or --street, --number, … , not both")
	}
	if text == "" && q == (gazetteer.Query{}) {
		return fail(exitUsage, "what to look up is missing. \"gazehound gazetteer lookup --help\" shows examples")
	}
	g, err := project{a.data}.openGazetteer()
	if err != nil {
		return err
	}
	defer g.Close()
	if text != "" {
		q = g.ParseQuery(text)
	}
	found := g.Lookup(q)
	if a.json {
		for _, m := range found {
			if err := a.printJSON(matchJSON(m)); err != nil {
				return err
			}
		}
	} else {
		for _, m := range found {
			at := "no coordinate"
			if m.Place.HasPoint {
				at = fmt.Sprintf("%.5f,%.5f", m.Place.Point[0], m.Place.Point[1])
			}
			fmt.Fprintln(a.stdout, strings.TrimRight(oneLine(fmt.Sprintf("%s  %s  %.2f  %s  %s", describePlace(m.Place), m.Precision, m.Score, at, m.Place.ID)), " "))
		}
	}
	if len(found) == 0 {
		a.say("Nothing found. \"gazehound gazetteer stats\" says what the gazetteer holds.")
		return silentExit(exitGate)
	}
	return nil
}

func matchJSON(m gazetteer.Match) map[string]any {
	p := m.Place
	o := map[string]any{"type": "place", "kind": p.Kind, "precision": m.Precision, "score": m.Score}
	for k, v := range map[string]string{"id": p.ID, "street": p.Street, "housenumber": p.HouseNumber, "postcode": p.Postcode, "city": p.City,
		"state": p.State, "country": p.Country, "source": p.Source} {
		if v != "" {
			o[k] = v
		}
	}
	if len(p.Names) > 0 {
		o["names"] = p.Names
	}
	if p.HasPoint {
		o["lon"], o["lat"] = p.Point[0], p.Point[1]
	}
	if p.Population > 0 {
		o["population"] = p.Population
	}
	return o
}

// describePlace writes a place as people of its country do.
func describePlace(p gazetteer.Place) string {
	var parts []string
	add := func(words ...string) {
		var kept []string
		for _, w := range words {
			if w != "" {
				kept = append(kept, w)
			}
		}
		if len(kept) > 0 {
			parts = append(parts, strings.Join(kept, " "))
		}
	}
	if p.Country == "US" || p.Country == "CA" || p.Country == "GB" || p.Country == "AU" {
		add(p.HouseNumber, p.Street)
		add(p.City)
		add(p.State, p.Postcode)
	} else {
		add(p.Street, p.HouseNumber)
		add(p.Postcode, p.City)
		if p.Kind == gazetteer.City {
			add(p.State)
		}
	}
	add(p.Country)
	return strings.Join(parts, ", ")
}

// count writes a number with its thousands apart: 11,159.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
