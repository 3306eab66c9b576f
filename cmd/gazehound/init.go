package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gazehound/cmd/gazehound/config"
	"gazehound/gazetteer"
	"gazehound/gazetteer/importer"
	"gazehound/gazetteer/osm"
	"gazehound/geoparse"
	"gazehound/internal/disk"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"
)

// initOptions are the flags of init.
type initOptions struct {
	osm     []string
	region  string
	country string
	contact string
	force   bool
}

// listRegions is the value of --region that lists the names of regions.
const listRegions = "list"

const initHelp = `Init makes the data directory of a project: the gazetteer, the outline of the region,
seeds from the web sites on the map, a small config.yaml and the licences. The
directory is the whole project; it can be copied and moved.

Without --osm it takes the gazetteer that "gazehound gazetteer import" made.

A region is one of
  Oldenburg, "Irvine, CA"         a place, with state or country where its name is not enough
  relation/62409                  an outline of the extract
  8.10,53.07,8.33,53.21           a box: minLon,minLat,maxLon,maxLat
  postcodes:26121,26123-26135     postcodes; postcodes:US:92602-92697 names the country
  outline.geojson                 a file
  list                            prints the names of all places and exits

Examples:
  gazehound init --osm oldenburg.osm.pbf --region Oldenburg --contact https://stadtlabor.example/bot
  gazehound gazetteer import US.txt && gazehound init --region "Irvine, CA"
`

func newInitCommand(a *app) *cobra.Command {
	var o initOptions
	c := command("init", "Make a project from an OpenStreetMap extract", initHelp, noArgs,
		stoppable(func(ctx context.Context, args []string) error { return a.init(ctx, o) }, asBefore))
	f := c.Flags()
	f.StringArrayVar(&o.osm, "osm", nil, "OpenStreetMap extract `FILE`: .osm.pbf, .osm or .osm.gz (repeatable)")
	f.StringVar(&o.region, "region", "", "what the crawl is about (`REGION`, see above)")
	countryFlag(f, &o.country)
	f.StringVar(&o.contact, "contact", "", "`URL` or mail address at which site owners reach you")
	f.BoolVar(&o.force, "force", false, "replace region, seeds and config.yaml of an existing project")
	return c
}

// check returns an error for invalid flags, and for an existing project without --force.
func (o *initOptions) check(p project) error {
	if o.region == "" {
		return fail(badUsage, `--region is missing: a place such as "Oldenburg" or "Irvine, CA", `+
			"relation/ID, minLon,minLat,maxLon,maxLat, postcodes:… or a GeoJSON file")
	}
	if _, err := regionFile(o.region); err != nil { // before an extract is read, which takes minutes
		return err
	}
	if err := config.CheckContact(o.contact); err != nil {
		return fail(badUsage, "--contact %w, got %q", err, o.contact)
	}
	for _, file := range []string{p.region(), p.seeds(), p.config()} {
		if fileExists(file) && !o.force {
			return fail(badInput, "%s exists: %s holds a project already. --force replaces its region, seeds "+
				"and configuration, --data names another directory", file, p.dir)
		}
	}
	return nil
}

// init makes a project. The new gazetteer is built beside the old one and replaces it only after
// everything else has succeeded.
func (a *app) init(ctx context.Context, o initOptions) (err error) {
	p := project{a.data}
	if err := o.check(p); err != nil {
		return err
	}
	madeDir := !fileExists(p.dir)
	err = os.MkdirAll(p.dir, 0o755)
	if err != nil {
		return fail(badInput, "data directory: %w", err)
	}
	defer func() {
		if err != nil && madeDir {
			os.Remove(p.dir) // fails, as intended, unless it is empty
		}
	}()
	stage := p.gazetteer()
	var extracts []*osm.Extract
	if len(o.osm) > 0 {
		stage = filepath.Join(p.dir, "gazetteer.new")
		defer os.RemoveAll(stage)
		extracts, err = a.stageExtracts(ctx, p, stage, o)
		if err != nil {
			return err
		}
	}
	g, err := gazetteer.Open(stage)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(o.osm) == 0:
		return fail(badUsage, "--osm FILE is missing, and %s has no gazetteer. Give an extract, or import one "+
			"first: gazehound gazetteer import FILE", a.data)
	case err != nil:
		return invalid(err)
	}
	defer g.Close()
	if o.region == listRegions {
		return a.printRegions(g, "")
	}
	region, err := p.openRegion(g, o.region)
	if err != nil {
		return err
	}
	if err := g.CheckNotEmpty(region); err != nil {
		return invalid(err)
	}
	region.Country = cmp.Or(region.Country, strings.ToUpper(o.country))
	if stage != p.gazetteer() {
		err := disk.ReplaceDir(stage, p.gazetteer())
		if err != nil {
			return fmt.Errorf("gazetteer: %w", err)
		}
	}
	seeds, list := osm.SeedList(region, o.osm, extracts)
	settings, err := projectConfig(region, o.contact)
	err = cmp.Or(err, region.Write(p.region()), disk.ReplaceBytes(p.seeds(), 0o644, list),
		disk.ReplaceBytes(p.config(), 0o644, settings), importer.WriteLicences(p.licences(), g.Sources()))
	if err == nil {
		err = invalid(region.WriteBasemap(ctx, p.gazetteer(), p.basemap()))
	}
	if err != nil {
		return err
	}
	return a.printInit(p, g, region, seeds, extracts)
}

// stageExtracts builds the gazetteer of the project and the extracts in stage.
func (a *app) stageExtracts(ctx context.Context, p project, stage string, o initOptions) ([]*osm.Extract, error) {
	err := os.RemoveAll(stage)
	if err != nil {
		return nil, fmt.Errorf("gazetteer: %w", err)
	}
	if fileExists(p.gazetteer()) {
		if err := os.CopyFS(stage, os.DirFS(p.gazetteer())); err != nil {
			return nil, fmt.Errorf("gazetteer: %w", err)
		}
	}
	done, err := a.importFiles(ctx, stage, o.osm, importer.Options{Format: "osm",
		Country: strings.ToUpper(o.country), TempDir: a.data})
	var extracts []*osm.Extract
	for _, one := range done {
		extracts = append(extracts, one.Extract)
	}
	return extracts, err
}

// projectConfig returns the config.yaml of a new project: what differs from
// the defaults.
func projectConfig(region *gazetteer.Region, contact string) ([]byte, error) {
	type m = map[string]any
	c := m{"version": 1, "region": m{"name": region.Name, "country": region.Country}}
	if contact != "" {
		c["fetch"] = m{"contact": contact}
	}
	body, err := yaml.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return append([]byte("# What differs from the defaults; \"gazehound config show\" lists all keys.\n"), body...), nil
}

var initText = textTemplate(`  region      {{line .region.Describe}}
{{with .postcodes}}  postcodes   {{join . ", "}}{{with $.more}} and {{count .}} more{{end}}
{{end}}{{if .extract}}  addresses   {{several .total.HouseNumbers "house number"}}, {{/**/ -}}
{{count .stats.Houses}} of them distinct, on {{template "streets" .}}
{{- with .total.NoStreet}}; {{count .}} without a street{{end}}
  places      {{several .stats.Cities "city"}} and parts of them, {{several .stats.Postcodes "postcode"}}, {{/**/ -}}
{{several .stats.Outlines "outline"}}{{with .total.Broken}} ({{count .}} more reach beyond the extract){{end}}
  seeds       {{several .seeds "web site"}} in the region, of {{count .sites}} {{/**/ -}}
on {{several .total.Websites "object"}} (social networks left out: {{count .total.SocialMedia}})
{{else}}  addresses   {{if .stats.Streets}}{{count .stats.Houses}} on {{template "streets" .}}{{else -}}
no streets: a page counts where postcode and city agree{{end}}; {{several .stats.Postcodes "postcode"}}, {{/**/ -}}
{{several .stats.Cities "city"}}
  seeds       none: "gazehound seeds import FILE", crawl --seeds FILE, or an extract with --osm
{{end}}{{with .reach}}  country     {{.}}
{{end}}Wrote gazetteer/, region.geojson, seeds.txt, config.yaml and LICENCES in {{.data}}
{{range .sources}}{{if or .Attribution .Licence}}Licence: {{.Name}} {{.Attribution}} {{.Licence}}
{{end}}{{end}}{{with .contact}}Contact: {{line .}}, and without your own the public internet is not crawled. {{/**/ -}}
Set fetch.contact in {{$.config}}
{{end}}Next:  {{if .seeds}}gazehound doctor{{.flag}} && gazehound crawl{{.flag}}{{else -}}
gazehound seeds query overpass{{.flag}}   (a query for web sites)   then gazehound crawl{{.flag}}{{end}}
{{define "streets"}}{{several .stats.Streets "street"}}, {{count .inRegion}} of them in the region{{end}}`)

func (a *app) printInit(p project, g *gazetteer.Gazetteer, region *gazetteer.Region, seeds int,
	extracts []*osm.Extract) error {
	stats, total, b := g.Stats(), osm.Sum(extracts), region.Bound()
	contact := ""
	if cfg, err := a.config(); err == nil && cfg.Fetch.Contact == "" {
		contact = "none yet"
	} else if err == nil && cfg.ContactIsExample() {
		contact = cfg.Fetch.Contact + " is an example"
	}
	postcodes := region.Postcodes[:min(len(region.Postcodes), 8)]
	return a.show(fields{
		"type": "init", "data": p.dir,
		"region": fields{"id": region.ID, "name": region.Name, "country": region.Country,
			"state": region.State, "estimated": region.Estimated, "postcodes": region.Postcodes, "km2": region.Km2(),
			"bbox": []float64{b.Min[0], b.Min[1], b.Max[0], b.Max[1]}},
		"house_numbers": total.HouseNumbers, "without_street": total.NoStreet, "named_highways": total.Highways,
		"objects_with_website": total.Websites, "social_networks": total.SocialMedia, "websites": len(total.Sites),
		"seeds": seeds, "stats": stats, "sources": g.Sources(),
	}, initText, fields{
		"region": region, "postcodes": postcodes, "more": len(region.Postcodes) - len(postcodes),
		"extract": len(extracts) > 0, "total": total, "sites": len(total.Sites), "stats": stats,
		"inRegion": len(g.RegionStreets(region)), "seeds": seeds, "data": p.dir, "sources": g.Sources(),
		"contact": contact, "config": p.config(), "flag": a.dataFlag(), "reach": unusualReach(g, region),
	})
}

// unusualReach says what of the addresses of the region's country is found, "" where all is.
func unusualReach(g *gazetteer.Gazetteer, region *gazetteer.Region) string {
	reach, text := geoparse.ReachIn(g, region.Country)
	if reach == geoparse.FullReach {
		return ""
	}
	return text
}
