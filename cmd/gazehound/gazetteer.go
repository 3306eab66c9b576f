package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gazehound/gazetteer"
	"gazehound/gazetteer/importer"
	"gazehound/gazetteer/table"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const gazetteerHelp = `Examples:
  gazehound gazetteer import DE.txt                            GeoNames postal codes
  gazehound gazetteer lookup "Lange Straße 5, 26122 Oldenburg"
`

func newGazetteerCommand(a *app) *cobra.Command {
	return group("gazetteer", "Import places, count them, look one up", gazetteerHelp, newGazetteerImportCommand(a),
		newGazetteerStatsCommand(a), newGazetteerLookupCommand(a), newGazetteerRegionsCommand(a))
}

// importOptions are the flags of gazetteer import.
type importOptions struct {
	format, columns, licence, attribution, country, refused string
}

func gazetteerImportHelp() string {
	return `Import adds the places of files to the gazetteer of the data directory and
rebuilds it; a file of the same name and format is replaced. Where files disagree, the
one imported last wins. gzip, bzip2 and zip are unpacked on the fly. Unusable rows are
counted and written to a file with the reason.

Formats, guessed by content unless --format is given:
` + importFormats() + `
Columns of tables are recognised by their names, else by their values; --map names them.
A table without a line of names has the columns 1, 2, 3. The fields of --map:
` + strings.Join(table.Fields, ", ") + `.
A+B joins two columns. housenumber_max means that the numbers from 1 to it exist.

Examples:
  gazehound gazetteer import DE.zip AT.zip CH.zip
  gazehound gazetteer import us-ca-irvine.geojson --country US --licence "public domain" --attribution "City of Irvine"
  gazehound gazetteer import adressen.csv --licence "dl-de/by-2-0; Stadt Oldenburg" \
    --map street=STRNAME,housenumber=HNR+HNRZ,postcode=PLZ,city=ORT,lat=Y,lon=X
`
}

// importFormats describes the formats, a line for each.
func importFormats() string {
	var b strings.Builder
	for _, f := range importer.Formats() {
		fmt.Fprintf(&b, "  %-19s %s\n", f.Name, f.About)
	}
	return b.String()
}

func newGazetteerImportCommand(a *app) *cobra.Command {
	var o importOptions
	c := command("import FILE…", "Add the places of files to the gazetteer", gazetteerImportHelp(),
		needArgs("a file to import"),
		stoppable(func(ctx context.Context, args []string) error { return a.gazetteerImport(ctx, args, o) }, asBefore))
	f := c.Flags()
	f.StringVar(&o.format, "format", "", "format of the files, a `NAME` of the list above (default: guessed)")
	f.StringVar(&o.columns, "map", "", "which `COLUMNS` are what, such as street=STRNAME,postcode=PLZ (table only)")
	f.StringVar(&o.licence, "licence", "", "licence of the data, kept with it (`TEXT`; OpenStreetMap's, GeoNames' "+
		"and TIGER's are known)")
	f.StringVar(&o.attribution, "attribution", "", "who must be named where the data is shown (`TEXT`)")
	countryFlag(f, &o.country)
	oneOf(f, "format", importer.Names())
	f.StringVar(&o.refused, "refused", "", "`FILE` for the rows that cannot be used (default: refused/ in the "+
		"gazetteer)")
	return c
}

// needArgs requires at least one argument.
func needArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fail(badUsage, "%s is missing. \"%s --help\" shows examples", what, cmd.CommandPath())
		}
		return nil
	}
}

// countryFlag adds the flag of the country that sources do not state.
func countryFlag(f *pflag.FlagSet, code *string) {
	f.StringVar(code, "country", "", "country of places that do not state one (ISO 3166-1 `CODE`)")
	restrict(f, "country", func(text string) error {
		if len(text) != 2 || strings.Trim(strings.ToUpper(text), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return fmt.Errorf("--country must be a code of two letters such as DE or US, got %q", text)
		}
		return nil
	})
}

func (a *app) gazetteerImport(ctx context.Context, files []string, o importOptions) error {
	columns, err := table.ParseMap(o.columns)
	if err != nil {
		return fail(badUsage, "--map: %w", err)
	}
	if o.refused != "" {
		err := os.WriteFile(o.refused, nil, 0o644)
		if err != nil {
			return fail(badInput, "--refused: %w", err)
		}
	}
	p := project{a.data}
	start := time.Now()
	options := importer.Options{Format: o.format, Columns: columns, Licence: o.licence, Attribution: o.attribution,
		Country: strings.ToUpper(o.country), Refused: o.refused, TempDir: a.data}
	done, err := a.importFiles(ctx, p.gazetteer(), files, options)
	if err != nil {
		return err
	}
	g, err := p.openGazetteer()
	if err != nil {
		return err
	}
	defer g.Close()
	err = importer.WriteLicences(p.licences(), g.Sources())
	if err != nil {
		return err
	}
	if region, err := gazetteer.ReadRegion(p.region()); err == nil {
		err := region.WriteBasemap(ctx, p.gazetteer(), p.basemap())
		if err != nil {
			return invalid(err)
		}
	}
	stats := g.Stats()
	if a.json {
		return a.printJSON(fields{"type": "import", "sources": done, "stats": stats,
			"duration_s": time.Since(start).Seconds()})
	}
	for _, one := range done {
		a.print("%s\n", one)
	}
	a.print("%s", stats)
	return nil
}

// asBefore says how a stopped import leaves the data.
const asBefore = "the gazetteer is as it was before"

// importFiles adds files to the gazetteer in dir and rebuilds it; an error leaves it unchanged.
func (a *app) importFiles(
	ctx context.Context, dir string, files []string, o importer.Options,
) ([]importer.Imported, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	limitMemory(cfg)
	o.Memory = int64(cfg.Storage.Memory)
	o.Say = func(text string) { a.say("  %s", text) }
	done, err := o.Import(ctx, dir, files, func(one *importer.Imported) {
		if one != nil {
			a.say("Reading %s (%s) …", one.Name, one.Format)
		} else {
			a.say("Building the gazetteer …")
		}
	})
	if err != nil {
		return nil, invalid(err)
	}
	for _, one := range done {
		if one.Licence == "" && one.Attribution == "" {
			a.warn("%s: its licence and attribution are not known; --licence and --attribution name them",
				one.Name)
		}
	}
	return done, nil
}

// licences is the file that names the sources of the project's data.
func (p project) licences() string { return filepath.Join(p.dir, "LICENCES") }

// readGazetteer calls read with the gazetteer of the data directory.
func (a *app) readGazetteer(read func(g *gazetteer.Gazetteer) error) error {
	g, err := project{a.data}.openGazetteer()
	if err != nil {
		return err
	}
	defer g.Close()
	return read(g)
}

const gazetteerStatsHelp = `Examples:
  gazehound gazetteer stats
  gazehound gazetteer stats --json
`

var gazetteerText = textTemplate(`{{.stats}}{{range .sources}}source     {{.}}
{{end}}`)

func newGazetteerStatsCommand(a *app) *cobra.Command {
	return command("stats", "Count what the gazetteer holds", gazetteerStatsHelp, noArgs,
		func(ctx context.Context, args []string) error {
			return a.readGazetteer(func(g *gazetteer.Gazetteer) error {
				line := fields{"type": "gazetteer", "stats": g.Stats(), "sources": g.Sources()}
				return a.show(line, gazetteerText, line)
			})
		})
}

const gazetteerRegionsHelp = `Regions lists the cities and areas that --region finds by name, those with the most
houses first: what to type, houses and streets, postcodes, population. TEXT selects
those whose name contains it.

Examples:
  gazehound gazetteer regions | head
  gazehound gazetteer regions neustadt --json
`

func newGazetteerRegionsCommand(a *app) *cobra.Command {
	return command("regions [TEXT]", "List the names that --region takes", gazetteerRegionsHelp, nil,
		func(ctx context.Context, args []string) error {
			return a.readGazetteer(func(g *gazetteer.Gazetteer) error {
				return a.printRegions(g, strings.Join(args, " "))
			})
		})
}

var regionText = textTemplate(`{{line .Spec}}
{{- with .Places}}  {{if eq . 1}}1 house or street{{else}}{{count .}} houses and streets{{end}}{{end}}
{{- with .Postcodes}}  {{several . "postcode"}}{{end}}
{{- with .Population}}  {{several . "inhabitant"}}{{end}}
`)

// printRegions lists the names that --region takes.
func (a *app) printRegions(g *gazetteer.Gazetteer, text string) error {
	list := g.RegionNames(text)
	for _, r := range list {
		line := struct {
			Type string `json:"type"`
			gazetteer.RegionName
		}{"region", r}
		err := a.show(line, regionText, r)
		if err != nil {
			return err
		}
	}
	if len(list) == 0 {
		a.say("No region of that name. \"gazehound gazetteer stats\" lists its contents.")
		return silentExit(answerNo)
	}
	return nil
}

const gazetteerLookupHelp = `Examples:
  gazehound gazetteer lookup "Schauenburger Str. 12, 26121 Oldenburg"
  gazehound gazetteer lookup --street "Main St" --number 5 --city Irvine --state CA --json
`

func newGazetteerLookupCommand(a *app) *cobra.Command {
	var q gazetteer.Query
	c := command("lookup [TEXT]", "Look up an address, street, postcode or city", gazetteerLookupHelp, nil,
		func(ctx context.Context, args []string) error { return a.gazetteerLookup(strings.Join(args, " "), q) })
	f := c.Flags()
	f.StringVar(&q.Street, "street", "", "`NAME` of the street, in any usual spelling")
	f.StringVar(&q.HouseNumber, "number", "", "house `NUMBER`")
	f.StringVar(&q.Postcode, "postcode", "", "`CODE`")
	f.StringVar(&q.City, "city", "", "`NAME` of the city")
	f.StringVar(&q.State, "state", "", "`CODE` of the state, such as CA")
	f.StringVar(&q.Country, "country", "", "country `CODE`, such as DE")
	return c
}

var matchText = textTemplate(`{{line .Place.Line}}  {{.Precision}}  {{printf "%.2f" .Score}}  {{if .Place.HasPoint -}}
{{printf "%.5f,%.5f" .Place.Point.Lon .Place.Point.Lat}}{{else}}no coordinate{{end}}
{{- with .Place.ID}}  {{line .}}{{end}}
`)

func (a *app) gazetteerLookup(text string, q gazetteer.Query) error {
	if text != "" && q != (gazetteer.Query{}) {
		return fail(badUsage, "give either a text or --street, --number, … , not both")
	}
	if text == "" && q == (gazetteer.Query{}) {
		return fail(badUsage, "nothing to look up was given. \"gazehound gazetteer lookup --help\" shows examples")
	}
	return a.readGazetteer(func(g *gazetteer.Gazetteer) error {
		if text != "" {
			q = g.ParseQuery(text)
		}
		found := g.Lookup(q)
		for _, m := range found {
			err := a.show(m.Record(g.Sources()), matchText, m)
			if err != nil {
				return err
			}
		}
		if len(found) == 0 {
			a.say("Nothing found. \"gazehound gazetteer stats\" lists its contents.")
			return silentExit(answerNo)
		}
		return nil
	})
}
