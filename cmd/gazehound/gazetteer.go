package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gazehound/gazetteer"
	"gazehound/gazetteer/importer"
	"gazehound/gazetteer/table"

	"github.com/spf13/cobra"
)

func newGazetteerCommand(a *app) *cobra.Command {
	return group("gazetteer", "Import places, count them, look one up", newGazetteerImportCommand(a),
		newGazetteerStatsCommand(a), newGazetteerLookupCommand(a), newGazetteerRegionsCommand(a))
}

// importOptions are the flags of gazetteer import.
type importOptions struct {
	format, columns, licence, attribution, country, refused string
}

func newGazetteerImportCommand(a *app) *cobra.Command {
	var o importOptions
	c := command("import FILE…", "Add the places of files to the gazetteer", needArgs("a file to import"),
		stoppable(func(ctx context.Context, args []string) error { return a.gazetteerImport(ctx, args, o) }))
	f := c.Flags()
	f.StringVar(&o.format, "format", "", "format of the files, a `NAME` of the list above (default: guessed)")
	f.StringVar(&o.columns, "map", "", "which column is what: `street=…,housenumber=…,…` (table only)")
	f.StringVar(&o.licence, "licence", "", "licence of the data, kept with it (`TEXT`; OpenStreetMap's, GeoNames' "+
		"and TIGER's are known)")
	f.StringVar(&o.attribution, "attribution", "", "who must be named where the data is shown (`TEXT`)")
	f.StringVar(&o.country, "country", "", "country of places that do not state one (ISO 3166-1 `CODE`)")
	f.StringVar(&o.refused, "refused", "", "`FILE` for the rows that cannot be used (default: refused/ in the "+
		"gazetteer)")
	return c
}

// needArgs requires at least one argument.
func needArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fail(exitUsage, "%s is missing. \"%s --help\" shows examples", what, cmd.CommandPath())
		}
		return nil
	}
}

func (o *importOptions) validate() error {
	if names := importer.Names(); o.format != "" && !slices.Contains(names, o.format) {
		return fail(exitUsage, "--format must be one of %s, got %q.%s", strings.Join(names, ", "), o.format,
			didYouMean(o.format, names))
	}
	return checkCountry(o.country)
}

func checkCountry(code string) error {
	if code != "" && (len(code) != 2 || strings.Trim(strings.ToUpper(code), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		return fail(exitUsage, "--country must be a code of two letters such as DE or US, got %q", code)
	}
	return nil
}

func (a *app) gazetteerImport(ctx context.Context, files []string, o importOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	columns, err := table.ParseMap(o.columns)
	if err != nil {
		return fail(exitUsage, "--map: %w", err)
	}
	if o.refused != "" {
		if err := os.WriteFile(o.refused, nil, 0o644); err != nil {
			return fail(exitInvalidInput, "--refused: %w", err)
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
	if err := importer.WriteLicences(p.licences(), g.Sources()); err != nil {
		return err
	}
	if region, err := gazetteer.ReadRegion(p.region()); err == nil {
		if err := a.writeBasemap(ctx, p, region); err != nil {
			return err
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

// importError gives the errors of readers their exit code.
func importError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fail(exitStopped, "stopped by a signal; the gazetteer is as it was before")
	}
	return invalid(err)
}

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
	done, err := o.Import(ctx, dir, files, func(one *importer.Imported) {
		if one != nil {
			a.say("Reading %s (%s) …", one.Name, one.Format)
		} else {
			a.say("Building the gazetteer …")
		}
	})
	if err != nil {
		return nil, importError(ctx, err)
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

func newGazetteerStatsCommand(a *app) *cobra.Command {
	return command("stats", "Count what the gazetteer holds", noArgs,
		func(ctx context.Context, args []string) error {
			g, err := project{a.data}.openGazetteer()
			if err != nil {
				return err
			}
			defer g.Close()
			if a.json {
				return a.printJSON(fields{"type": "gazetteer", "stats": g.Stats(), "sources": g.Sources()})
			}
			a.print("%s", g.Stats())
			for _, s := range g.Sources() {
				a.print("source     %s\n", s)
			}
			return nil
		})
}

func newGazetteerRegionsCommand(a *app) *cobra.Command {
	return command("regions [TEXT]", "List the names that --region takes", nil,
		func(ctx context.Context, args []string) error {
			g, err := project{a.data}.openGazetteer()
			if err != nil {
				return err
			}
			defer g.Close()
			return a.printRegions(g, strings.Join(args, " "))
		})
}

// printRegions lists the names that --region takes.
func (a *app) printRegions(g *gazetteer.Gazetteer, text string) error {
	list := g.RegionNames(text)
	for _, r := range list {
		text := oneLine(r.Spec)
		for _, n := range []struct {
			count int
			what  string
		}{{r.Places, "houses and streets"}, {r.Postcodes, "postcodes"}, {r.Population, "inhabitants"}} {
			if n.count > 0 {
				text += fmt.Sprintf("  %s %s", count(n.count), n.what)
			}
		}
		line := struct {
			Type string `json:"type"`
			gazetteer.RegionName
		}{"region", r}
		if err := a.tell(line, "%s\n", text); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		a.say("No region of that name. \"gazehound gazetteer stats\" lists its contents.")
		return silentExit(exitGate)
	}
	return nil
}

func newGazetteerLookupCommand(a *app) *cobra.Command {
	var q gazetteer.Query
	c := command("lookup [TEXT]", "Look up an address, street, postcode or city", nil,
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

func (a *app) gazetteerLookup(text string, q gazetteer.Query) error {
	if text != "" && q != (gazetteer.Query{}) {
		return fail(exitUsage, "give either a text or --street, --number, … , not both")
	}
	if text == "" && q == (gazetteer.Query{}) {
		return fail(exitUsage, "nothing to look up was given. \"gazehound gazetteer lookup --help\" shows examples")
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
	for _, m := range found {
		at := "no coordinate"
		if m.Place.HasPoint {
			at = fmt.Sprintf("%.5f,%.5f", m.Place.Point[0], m.Place.Point[1])
		}
		text := oneLine(fmt.Sprintf("%s  %s  %.2f  %s  %s", m.Place.Line(), m.Precision, m.Score, at, m.Place.ID))
		if err := a.tell(m.Record(g.Sources()), "%s\n", strings.TrimRight(text, " ")); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		a.say("Nothing found. \"gazehound gazetteer stats\" lists its contents.")
		return silentExit(exitGate)
	}
	return nil
}
