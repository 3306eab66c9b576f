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

	"gazehound/gazetteer"
	"gazehound/gazetteer/importer"
	"gazehound/gazetteer/osm"
	"gazehound/internal/config"
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

func newInitCommand(a *app) *cobra.Command {
	var o initOptions
	c := command("init", "Make a project from an OpenStreetMap extract", noArgs,
		stoppable(func(ctx context.Context, args []string) error { return a.init(ctx, o) }))
	f := c.Flags()
	f.StringArrayVar(&o.osm, "osm", nil, "OpenStreetMap extract `FILE`: .osm.pbf, .osm or .osm.gz (repeatable)")
	f.StringVar(&o.region, "region", "", "what the crawl is about (`REGION`, see above)")
	f.StringVar(&o.country, "country", "", "country of places that do not state one (ISO 3166-1 `CODE`)")
	f.StringVar(&o.contact, "contact", "", "`URL` or mail address at which site owners reach you")
	f.BoolVar(&o.force, "force", false, "replace region, seeds and config.yaml of an existing project")
	return c
}

// check returns an error for invalid flags, and for an existing project without --force.
func (o *initOptions) check(p project) error {
	if o.region == "" {
		return fail(exitUsage, `--region is missing: a place such as "Oldenburg" or "Irvine, CA", `+
			"relation/ID, minLon,minLat,maxLon,maxLat, postcodes:… or a GeoJSON file")
	}
	if err := checkCountry(o.country); err != nil {
		return err
	}
	if err := config.CheckContact(o.contact); err != nil {
		return fail(exitUsage, "--contact %w, got %q", err, o.contact)
	}
	for _, file := range []string{p.region(), p.seeds(), p.config()} {
		if fileExists(file) && !o.force {
			return fail(exitInvalidInput, "%s exists: %s holds a project already. --force replaces its region, seeds "+
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
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return fail(exitInvalidInput, "data directory: %w", err)
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
		if extracts, err = a.stageExtracts(ctx, p, stage, o); err != nil {
			return err
		}
	}
	g, err := gazetteer.Open(stage)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(o.osm) == 0:
		return fail(exitUsage, "--osm FILE is missing, and %s has no gazetteer. Give an extract, or import one "+
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
		if err := disk.ReplaceDir(stage, p.gazetteer()); err != nil {
			return fmt.Errorf("gazetteer: %w", err)
		}
	}
	seeds, list := osm.SeedList(region, o.osm, extracts)
	settings, err := projectConfig(region, o.contact)
	err = cmp.Or(err, region.Write(p.region()), disk.ReplaceBytes(p.seeds(), 0o644, list),
		disk.ReplaceBytes(p.config(), 0o644, settings), importer.WriteLicences(p.licences(), g.Sources()))
	if err == nil {
		err = a.writeBasemap(ctx, p, region)
	}
	if err != nil {
		return err
	}
	return a.printInit(p, g, region, seeds, extracts)
}

// writeBasemap draws the map of the region from the extracts of the gazetteer, if it has any.
func (a *app) writeBasemap(ctx context.Context, p project, region *gazetteer.Region) error {
	if err := region.WriteBasemap(ctx, p.gazetteer(), p.basemap()); err != nil {
		return importError(ctx, err)
	}
	return nil
}

// stageExtracts builds the gazetteer of the project and the extracts in stage.
func (a *app) stageExtracts(ctx context.Context, p project, stage string, o initOptions) ([]*osm.Extract, error) {
	if err := os.RemoveAll(stage); err != nil {
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

func (a *app) printInit(p project, g *gazetteer.Gazetteer, region *gazetteer.Region, seeds int,
	extracts []*osm.Extract) error {
	stats := g.Stats()
	total := osm.Sum(extracts)
	sites := len(total.Sites)
	b := region.Bound()
	if a.json {
		return a.printJSON(fields{
			"type": "init", "data": p.dir,
			"region": map[string]any{"id": region.ID, "name": region.Name, "country": region.Country,
				"state": region.State, "estimated": region.Estimated,
				"postcodes": region.Postcodes, "km2": region.Km2(),
				"bbox": []float64{b.Min[0], b.Min[1], b.Max[0], b.Max[1]}},
			"house_numbers": total.HouseNumbers, "without_street": total.NoStreet, "named_highways": total.Highways,
			"objects_with_website": total.Websites, "social_networks": total.SocialMedia, "websites": sites,
			"seeds": seeds,
			"stats": stats, "sources": g.Sources(),
		})
	}
	w := a.stdout
	fmt.Fprintf(w, "  region      %s\n", oneLine(region.Describe()))
	if len(region.Postcodes) > 0 {
		shown := region.Postcodes[:min(len(region.Postcodes), 8)]
		more := ""
		if len(region.Postcodes) > len(shown) {
			more = fmt.Sprintf(" and %d more", len(region.Postcodes)-len(shown))
		}
		fmt.Fprintf(w, "  postcodes   %s%s\n", strings.Join(shown, ", "), more)
	}
	streets := fmt.Sprintf("%s, %s of them in the region", several(stats.Streets, "street"),
		count(len(g.RegionStreets(region))))
	if len(extracts) > 0 {
		fmt.Fprintf(w, "  addresses   %s house numbers, %s of them distinct, on %s", count(total.HouseNumbers),
			count(stats.Houses), streets)
		if total.NoStreet > 0 {
			fmt.Fprintf(w, "; %s have no street", count(total.NoStreet))
		}
		fmt.Fprintf(w, "\n  places      %s cities and parts of them, %s postcodes, %s outlines",
			count(stats.Cities), count(stats.Postcodes), count(stats.Outlines))
		if total.Broken > 0 {
			fmt.Fprintf(w, " (%s more reach beyond the extract)", count(total.Broken))
		}
		fmt.Fprintf(w, "\n  seeds       %s web sites in the region, of %s on %s objects (social networks left out: "+
			"%s)\n", count(seeds), count(sites), count(total.Websites), count(total.SocialMedia))
	} else {
		houses := count(stats.Houses) + " on " + streets
		if stats.Streets == 0 {
			houses = "no streets: a page counts where postcode and city agree"
		}
		fmt.Fprintf(w, "  addresses   %s; %s postcodes, %s cities\n  seeds       none: \"gazehound seeds import "+
			"FILE\", crawl --seeds FILE, or an extract with --osm\n",
			houses, count(stats.Postcodes), count(stats.Cities))
	}
	fmt.Fprintf(w, "Wrote gazetteer/, region.geojson, seeds.txt, config.yaml and LICENCES in %s\n", p.dir)
	for _, s := range g.Sources() {
		if s.Attribution != "" || s.Licence != "" {
			fmt.Fprintf(w, "Licence: %s %s %s\n", s.Name, s.Attribution, s.Licence)
		}
	}
	if cfg, err := a.config(); err == nil && (cfg.Fetch.Contact == "" || cfg.ContactIsExample()) {
		contact := "none yet"
		if cfg.Fetch.Contact != "" {
			contact = oneLine(cfg.Fetch.Contact) + " is an example"
		}
		fmt.Fprintf(w, "Contact: %s, and without your own the public internet is not crawled. Set fetch.contact in "+
			"%s\n",
			contact, p.config())
	}
	if seeds == 0 {
		fmt.Fprintf(w, "Next:  gazehound seeds query overpass%s   (a query for web sites)   then gazehound "+
			"crawl%[1]s\n", a.dataFlag())
	} else {
		fmt.Fprintf(w, "Next:  gazehound doctor%s && gazehound crawl%[1]s\n", a.dataFlag())
	}
	return nil
}
