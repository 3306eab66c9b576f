package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"gazehound/crawler/warc"
	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/differences"
	"gazehound/index/export"

	"github.com/paulmach/orb"
	"github.com/spf13/cobra"
)

// exportOptions are the flags of export.
type exportOptions struct {
	filters
	output, region    string
	confidence        float64
	missing, evidence bool
	names             bool
	rs, excel         bool
	lang, dialect     string
}

func exportHelp() string {
	return `Writes every address that the crawl found, or those that match the flags:

` + exportFormats() + `
The same index gives the same bytes, so that two exports can be compared. The
licence of the data is in the file, or in FILE.licence.txt beside it.

--only-missing keeps places that OpenStreetMap lacks at the date of the imported data, by
name and kind near the door: the list "missing" of "gazehound compare". Survey before you
map. In osm and conflator the tags have the kind of place; --with-names adds names.

Examples:
  gazehound export csv --excel --postcode 26122 -o addresses.csv
  gazehound export osm --only-missing --with-names -o missing.osm
  gazehound export maproulette --only-missing --min-confidence 0.9 -o missing.mr.geojsonl
`
}

// exportFormats describes the formats, a line for each.
func exportFormats() string {
	var b strings.Builder
	for _, f := range export.Formats() {
		fmt.Fprintf(&b, "  %-12s %s\n", f.Name, f.About)
	}
	return b.String()
}

func newExportCommand(a *app) *cobra.Command {
	var o exportOptions
	cmd := command("export FORMAT", "Write the addresses for other programs", exportHelp(), nil,
		stoppable(func(ctx context.Context, args []string) error {
			format, err := formatOf(args)
			if err != nil {
				return err
			}
			return a.export(ctx, format, o)
		}, "the export is not complete"))
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "-", "`FILE` to write; - is standard output")
	f.StringVar(&o.region, "region", "", "only in this `REGION`: a name of the gazetteer, relation/ID, FILE.geojson "+
		"or minLon,minLat,maxLon,maxLat")
	o.filters.flags(f, walkFilters()...)
	f.Float64Var(&o.confidence, "min-confidence", 0, "only addresses with at least this confidence, 0 to 1")
	f.BoolVar(&o.missing, "only-missing", false, "only places that the map lacks, as compare lists them")
	f.BoolVar(&o.names, "with-names", false, "osm, conflator: with the names of the places, which are words of pages: "+
		"whether the rights in them let you contribute them to OpenStreetMap is for you to decide")
	f.BoolVar(&o.evidence, "include-evidence", false, "with the page's title and up to 120 characters of its text")
	f.BoolVar(&o.rs, "rs", false, "geojsonseq: an RS character before each line")
	f.BoolVar(&o.excel, "excel", false, "csv: for Excel, which then keeps umlauts and leading zeros")
	f.StringVar(&o.lang, "lang", "", "html: `LANGUAGE` of its labels, en or de")
	f.StringVar(&o.dialect, "csv-dialect", "", "csv: names of columns for a `PROGRAM`: plain (lat, lon) or "+
		"datasette (latitude, longitude)")
	between(f, "min-confidence", 0, 1)
	oneOf(f, "lang", []string{"en", "de"})
	oneOf(f, "csv-dialect", []string{"plain", "datasette"})
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
		return export.Format{}, fail(badUsage, "export needs a format: %s", all)
	case len(args) > 1:
		return export.Format{}, fail(badUsage, "export takes one format, got %d arguments. -o names the file",
			len(args))
	}
	f, ok := export.Lookup(args[0])
	if !ok {
		return f, fail(badUsage, "format %.40q is not offered.%s One of %s", args[0],
			didYouMean(strings.ToLower(args[0]), names), all)
	}
	return f, nil
}

// options turns the flags into options.
func (o exportOptions) options() export.Options {
	return export.Options{Filters: o.Filters, MinConfidence: o.confidence, Evidence: o.evidence, RS: o.rs, Names: o.names,
		Excel: o.excel, Lang: o.lang, Datasette: o.dialect == "datasette"}
}

// export writes the index in a format to the file or standard output.
func (a *app) export(ctx context.Context, format export.Format, flags exportOptions) error {
	o := flags.options()
	if err := o.Validate(format); err != nil {
		return fail(badUsage, "%s", strings.TrimPrefix(err.Error(), "export: "+export.ErrOptions.Error()+": "))
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	return a.readIndex(func(p project, x *index.Index) error { return a.exportIndex(ctx, cfg, p, x, format, flags, o) })
}

func (a *app) exportIndex(ctx context.Context, cfg *Config, p project, x *index.Index, format export.Format,
	flags exportOptions, o export.Options) error {
	if s, err := x.Stats(ctx); err != nil {
		return err
	} else if s.Pages == 0 {
		return fail(noData, "%s", p.emptyIndex())
	}
	o.Region = cfg.Region.Name
	if r, err := gazetteer.ReadRegion(p.region()); err == nil {
		o.Outline, o.Region = r.Area, cmp.Or(o.Region, r.Name)
	}
	region := flags.region
	if isFile := a.path(region); fileExists(isFile) {
		region = isFile
	}
	err := a.exportTerms(&o, p, region)
	if err != nil {
		return err
	}

	if format.Name == "html" {
		if m := a.openBasemap(p); m != nil {
			defer m.Close()
			o.Shapes = func(box orb.Bound) []gazetteer.Shape {
				shapes, err := m.Shapes(box)
				if err != nil {
					a.warn("the map has no streets: %s", oneLine(err.Error()))
				}
				return shapes
			}
		}
	}

	write := func(w io.Writer) (export.Summary, error) { return export.Write(ctx, w, x, format, o) }
	if flags.missing {
		hits, err := a.missingPlaces(ctx, p, x, &o)
		if err != nil {
			return err
		}
		write = func(w io.Writer) (export.Summary, error) { return export.WriteHits(w, hits, format, o) }
	}
	var sum export.Summary
	err = a.writeExport(flags.output, o.LicenceText(format), func(w io.Writer) (err error) {
		sum, err = write(w)
		return err
	})
	if err != nil {
		return err
	}
	return a.exported(format, flags.output, o, sum)
}

// missingPlaces returns the places that the map lacks and that fit o, of which it takes what Compare
// has judged.
func (a *app) missingPlaces(ctx context.Context, p project, x *index.Index, o *export.Options) ([]index.Hit, error) {
	c, _, err := a.compareWithMap(ctx, p, x, "--only-missing")
	if err != nil {
		return nil, err
	}
	some, _, err := c.Select(differences.Filter{Filters: o.Filters, Kinds: []differences.Kind{differences.Missing},
		MinConfidence: o.MinConfidence})
	if err != nil {
		return nil, err
	}
	o.MinConfidence = 0
	var hits []index.Hit
	seen := map[string]bool{}
	for _, d := range some {
		h := *d.Hit
		if seen[h.ID] { // another place at the same address
			h.ID = d.ID
		}
		seen[h.ID] = true
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b index.Hit) int { return strings.Compare(a.ID, b.ID) })
	return hits, nil
}

// exportTerms fills in what comes from the gazetteer: the licence of the data and the region of
// --region.
func (a *app) exportTerms(o *export.Options, p project, region string) error {
	g, err := gazetteer.Open(p.gazetteer())
	if err != nil {
		if region != "" {
			return fail(badInput, "--region is looked up in the gazetteer, which cannot be read: %w", err)
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
	return nil
}

var exportText = textTemplate(`{{if eq .format.Name "seeds"}}{{several .sum.Sites "site"}} with {{end}}{{several .sum.Addresses "address"}}
{{- if ne .file "-"}} → {{.file}}{{end}}
{{with .sum.LeftOut}}{{several . "more address"}} without a coordinate precise enough for {{$.format.Name}}
{{end}}{{with .sum.Gone}}{{several . "more address"}} gone: the pages no longer exist, or no longer state them
{{end}}{{with .notice}}{{line .}}
{{end}}{{if .format.ForOSM}}Read OpenStreetMap's import guidelines before any bulk use: one person who checks each {{/**/ -}}
address is the accepted way.
{{end}}`)

// exported reports what was written: as JSON where standard output is free, else for people.
func (a *app) exported(f export.Format, file string, o export.Options, sum export.Summary) error {
	if file != "-" && a.json {
		line := map[string]any{"type": "summary", "format": f.Name, "file": file, "addresses": sum.Addresses,
			"left_out": sum.LeftOut, "gone": sum.Gone, "licence": o.Licence, "attribution": o.Attribution}
		if f.Name == "seeds" {
			line["sites"] = sum.Sites
		}
		return a.printJSON(line)
	}
	a.sayText(exportText, fields{"format": f, "sum": sum, "file": file, "notice": o.Notice()})
	return nil
}

// newArchiveCommand makes an export of WARC files: the named ones or those of the project's crawls.
func newArchiveCommand(a *app, format, short, help string,
	write func(ctx context.Context, w io.Writer, archive *warc.Archive, cfg *Config) error) *cobra.Command {
	var output string
	cmd := command(format+" [FILE|DIR…]", short, help, nil, stoppable(func(ctx context.Context, args []string) error {
		cfg, err := a.config()
		if err != nil {
			return err
		}
		archive, missing, err := a.openOwnArchive(cfg, args)
		if err != nil {
			return err
		}
		defer archive.Close()
		err = a.writeExport(output, "", func(w io.Writer) error { return write(ctx, w, archive, cfg) })
		if err != nil || output == "-" {
			return cmp.Or(err, lacking(archive, missing))
		}
		s := archive.Stats()
		if a.json {
			err = a.printJSON(fields{"type": "summary", "format": format, "file": output, "warc_files": s.Files,
				"captures": s.Responses, "damaged_files": s.Damaged})
		} else {
			a.say("%s in %s → %s", several(s.Responses, "capture"), several(s.Files, "WARC file"), output)
		}
		return cmp.Or(err, lacking(archive, missing))
	}, "the export is not complete"))
	cmd.Flags().StringVarP(&output, "output", "o", "-", "`FILE` to write; - is standard output")
	return cmd
}

const exportCDXJHelp = `Writes one line per response in the WARC files of the crawl (crawl --warc), or in the
named ones: sortable URL, time, and position of the record. The lines are sorted by
their bytes (LC_ALL=C sort -c), as pywb and other replay tools require. Exit status 6: the
index is written, but files are damaged or missing, and some records are not in it.

Examples:
  gazehound export cdxj -o all.cdxj
  gazehound export cdxj archive/*.warc.gz
`

func newExportCDXJCommand(a *app) *cobra.Command {
	return newArchiveCommand(a, "cdxj", "Write the index of the WARC files of the crawl", exportCDXJHelp,
		func(ctx context.Context, w io.Writer, archive *warc.Archive, _ *Config) error {
			return archive.WriteCDXJ(ctx, w)
		})
}

const exportWACZHelp = `Packs the WARC files of the crawl (crawl --warc), or the named ones, with an index and
the list of relevant pages into one WACZ 1.1.1 file for replayweb.page and other replay
tools. The same archive gives the same bytes. Make it again after "forget". Exit status 6:
it is written, but files are damaged or missing.

Examples:
  gazehound export wacz -o crawl.wacz
  gazehound export wacz archive/*.warc.gz -o some.wacz
`

func newExportWACZCommand(a *app) *cobra.Command {
	return newArchiveCommand(a, "wacz", "Pack the WARC files of the crawl into one file for replay", exportWACZHelp,
		func(ctx context.Context, w io.Writer, archive *warc.Archive, cfg *Config) error {
			o := warc.WACZOptions{Title: "Crawl", Software: "gazehound/" + version}
			if name := (project{a.data}).regionName(cfg); name != "" {
				o.Title += " of " + name
			}
			return archive.WriteWACZ(ctx, w, o)
		})
}

// openOwnArchive opens the named WARC files or, without names, those of the project's crawls, and
// returns the number of those that are missing.
func (a *app) openOwnArchive(cfg *Config, names []string) (_ *warc.Archive, missing int, err error) {
	if len(names) == 0 {
		if err := a.needData(); err != nil {
			return nil, 0, err
		}
		m, err := a.ownManifest()
		if err != nil {
			return nil, 0, err
		}
		for _, what := range m.Missing() {
			a.warn("%s", what)
			missing++
		}
		names = m.Folders()
		if len(names) == 0 {
			return nil, 0, fail(noData, "%s has no WARC files. \"gazehound crawl --warc DIR\" writes them; others "+
				"can be named", a.data)
		}
	}
	archive, err := a.openRecorded(cfg, false, names...)
	return archive, missing, err
}
