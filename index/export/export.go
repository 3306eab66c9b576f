// Package export writes all addresses of an index, or those that fit a filter,
// in the formats of other programs: GIS, spreadsheets, map editors, crawlers.
//
// The same index gives the same bytes: addresses come in the order of their
// IDs, and no format carries the time of its making. One address at a time is
// in memory; html, seeds and atom, which need to know all first, keep the text
// of each. Everything that pages wrote is hostile, and escaped as the format and
// its readers need it.
package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/texts"

	"github.com/paulmach/orb"
)

// ErrOptions is wrapped by errors of Write that lie in its Options.
var ErrOptions = errors.New("bad options")

// A Format is a way to write addresses.
type Format struct {
	Name  string
	About string // one line for people

	// Carries: the licence is in the file itself; otherwise it belongs in a file beside it.
	Carries bool
	// ForOSM: for people who edit OpenStreetMap. Gone addresses are left out.
	ForOSM bool

	least gazetteer.Precision // of addresses that the format can hold
	facts bool                // holds no words of pages, whatever Options.Evidence says
	write func(*run) error
}

// formats lists all, in the order of the help text.
var formats = []Format{
	{Name: "geojson", About: "one FeatureCollection: QGIS, uMap, geojson.io", Carries: true, write: writeGeoJSON},
	{Name: "geojsonseq", About: "one Feature per line (RFC 8142 with RS): tippecanoe, jq", write: writeGeoJSONSeq},
	{Name: "ndjson", About: "one flat JSON object per line", write: writeNDJSON},
	{Name: "csv", About: "a table (RFC 4180) that a spreadsheet can open without harm", write: writeCSV},
	{Name: "geoparquet", About: "a column store in the shape of Overture's places: DuckDB, GDAL", Carries: true,
		least: gazetteer.CityPrecision, facts: true, write: writeGeoParquet},
	{Name: "kml", About: "Google Earth and Maps", Carries: true,
		least: gazetteer.CityPrecision, write: writeXML("kml")},
	{Name: "gpx", About: "waypoints: OsmAnd, Garmin", Carries: true,
		least: gazetteer.CityPrecision, write: writeXML("gpx")},
	{Name: "atom", About: "a feed with GeoRSS points: news readers", Carries: true, write: writeXML("atom")},
	{Name: "osm", About: "JOSM, a node with tags for each; cannot be uploaded", Carries: true, ForOSM: true,
		least: gazetteer.StreetPrecision, facts: true, write: writeXML("osm")},
	{Name: "maproulette", About: "one task per line, for people to check one by one", ForOSM: true,
		least: gazetteer.StreetPrecision, write: writeMapRoulette},
	{Name: "conflator", About: "a JSON array of id, lat, lon and tags: OSM Conflator", ForOSM: true,
		least: gazetteer.StreetPrecision, facts: true, write: writeConflator},
	{Name: "html", About: "one page with list and map, without scripts", Carries: true, write: writeHTML},
	{Name: "seeds", About: "a relevant page of each site, to start a crawl from", Carries: true,
		facts: true, write: writeSeeds},
}

// Formats returns all formats.
func Formats() []Format { return slices.Clone(formats) }

// Lookup returns the format of this name.
func Lookup(name string) (Format, bool) {
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return formats[i], true
}

// Options select what is written. The zero Options write every address, without words of the pages.
type Options struct {
	Region  string           // for people; may be empty
	Outline orb.MultiPolygon // of the region, drawn by html; may be empty

	// Licence and Attribution are those of the gazetteers that the coordinates
	// come from: "ODbL-1.0", "© OpenStreetMap contributors".
	Licence, Attribution string

	index.Filters
	Within        *gazetteer.Region // only addresses there; nil: all
	MinConfidence float64           // 0 to 1

	// Lang is the language of html's own words, "en" or "de"; "": English.
	Lang string
	// Shapes returns what the base map has in a box, drawn by html; nil: nothing.
	Shapes func(orb.Bound) []gazetteer.Shape

	Link string // atom: address of what is written, its identity; may be empty

	Names     bool // osm and conflator: with the name of each place, as a page writes it
	Evidence  bool // words of the pages: title, and up to 120 characters around the address
	RS        bool // geojsonseq: an RS character (0x1E) before each line
	Datasette bool // csv: latitude and longitude in place of lat and lon, as Datasette's map wants them
	Excel     bool // csv: a byte order mark, and numbers that Excel leaves as they are
}

// Validate returns an error that wraps ErrOptions or index.ErrQuery where o
// cannot be meant for this format.
func (o Options) Validate(f Format) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("export: %w: "+format, append([]any{ErrOptions}, args...)...)
	}
	switch {
	case !(o.MinConfidence >= 0 && o.MinConfidence <= 1):
		return bad("least confidence %v is not 0 to 1", o.MinConfidence)
	case o.Evidence && f.facts:
		return bad("%s never holds words of pages", f.Name)
	case o.Names && f.Name != "osm" && f.Name != "conflator":
		return bad("%s has no tags to add names to; osm and conflator have", f.Name)
	case o.Lang != "" && f.Name != "html":
		return bad("%s has no labels to translate; html has", f.Name)
	case o.Lang != "" && !slices.Contains(texts.Languages, o.Lang):
		return bad("no language %q; there are %s", o.Lang, strings.Join(texts.Languages, " and "))
	case o.RS && f.Name != "geojsonseq":
		return bad("%s has no RS characters to choose; geojsonseq has", f.Name)
	case o.Datasette && f.Name != "csv":
		return bad("%s is not for Datasette; csv is", f.Name)
	case o.Excel && f.Name != "csv":
		return bad("%s is not for Excel; csv is", f.Name)
	}
	return o.Filters.Check()
}

// A Summary counts what was written.
type Summary struct {
	Addresses int // that fit the filters and were written
	LeftOut   int // that fit and have no coordinate, or one too coarse for the format
	Gone      int // that fit, are gone, and were left out
	Sites     int // seeds: lines
}

// A Source has addresses: an index.Index, or several as one.
type Source interface {
	Walk(ctx context.Context, f index.Filters, fn func(*index.Hit) error) error
}

// Write writes the addresses of x in a format. Errors wrap ErrOptions or index.ErrQuery if o is
// invalid; after other errors the output is unusable.
func Write(ctx context.Context, w io.Writer, x Source, f Format, o Options) (Summary, error) {
	return write(w, f, o, func(fn func(*index.Hit) error) error { return x.Walk(ctx, o.Filters, fn) })
}

// WriteHits writes hits of a search in a format, in their order, as Write does.
// Its filters are those of o but for Filters.
func WriteHits(w io.Writer, hits []index.Hit, f Format, o Options) (Summary, error) {
	o.Filters = index.Filters{}
	return write(w, f, o, func(fn func(*index.Hit) error) error {
		for i := range hits {
			if err := fn(&hits[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func write(w io.Writer, f Format, o Options, walk func(func(*index.Hit) error) error) (Summary, error) {
	if err := o.Validate(f); err != nil {
		return Summary{}, err
	}
	r := &run{Options: o, Writer: bufio.NewWriterSize(w, 64<<10), walk: walk, format: f}
	if err := f.write(r); err != nil {
		return Summary{}, err
	}
	err := r.Flush()
	if err != nil {
		return Summary{}, fmt.Errorf("export: %w", err)
	}
	return r.sum, nil
}

// A run is one Write.
type run struct {
	Options
	*bufio.Writer                                    // its first error stays; each looks for it
	walk          func(func(*index.Hit) error) error // hands out all addresses
	format        Format
	sum           Summary
}

// each calls fn with every address that is to be written, in the order of
// their IDs, and counts. It ends with the first error of writing.
func (r *run) each(fn func(*index.Hit) error) error {
	r.sum = Summary{}
	return r.walk(func(h *index.Hit) error {
		precision := precisionOf(h)
		switch {
		case h.Confidence < r.MinConfidence,
			r.Within != nil && !r.Within.Has(placeOf(h)):
			return nil
		case r.format.ForOSM && !h.Gone.IsZero():
			r.sum.Gone++
			return nil
		case precision < r.format.least:
			r.sum.LeftOut++
			return nil
		}
		r.sum.Addresses++
		if err := fn(h); err != nil {
			return err
		}
		_, err := r.Writer.Write(nil)
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		return nil
	})
}

// placeOf is h as a gazetteer knows places.
func placeOf(h *index.Hit) gazetteer.Place {
	return gazetteer.Place{Kind: gazetteer.House, Point: h.Point, HasPoint: h.HasPoint,
		Postcode: h.Postcode, City: h.City, State: h.State, Country: h.Country}
}

// precisionOf returns the precision of the coordinate of h.
func precisionOf(h *index.Hit) gazetteer.Precision {
	for p := gazetteer.HousePrecision; h.HasPoint && p > gazetteer.NoPrecision; p-- {
		if p.String() == h.Precision {
			return p
		}
	}
	return gazetteer.NoPrecision
}

// properties returns what is known of h, without words of pages where they
// were not asked for.
func (r *run) properties(h *index.Hit) Properties {
	p := PropertiesOf(h)
	if !r.Evidence {
		p.Title, p.Evidence = "", ""
	}
	return p
}

// Notice returns the terms of the data in one line, or "" if they are unknown.
func (o Options) Notice() string {
	if o.Licence == "" && o.Attribution == "" {
		return ""
	}
	var parts []string
	if strings.HasPrefix(o.Attribution, "©") {
		parts = append(parts, "Contains data "+o.Attribution+".")
	} else if o.Attribution != "" {
		parts = append(parts, "Contains data from "+o.Attribution+".")
	}
	if o.Licence != "" {
		parts = append(parts, "Licence: "+o.Licence+".")
	}
	return strings.Join(parts, " ")
}

// title names the data for people.
func (r *run) title() string {
	if r.Region == "" {
		return "Addresses"
	}
	return "Addresses in " + r.Region
}

// LicenceText returns the text of the licence file beside an export, or "" if the format carries
// it.
func (o Options) LicenceText(f Format) string {
	if f.Carries || o.Notice() == "" {
		return ""
	}
	return o.Notice() + "\n"
}
