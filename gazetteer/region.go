package gazetteer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
	"github.com/paulmach/orb/geojson"
	"github.com/paulmach/orb/planar"
)

// A Region is the area that a crawl is about.
type Region struct {
	ID      string // of the outline's source, "relation/62409"; may be empty
	Name    string
	Country string // ISO 3166-1 alpha-2, where it is known
	State   string

	// Area is the outline. Where no source has one it is Estimated: the hull of
	// the postcodes or addresses of the place, and Postcodes count for more.
	Area      orb.MultiPolygon
	Estimated bool

	// Postcodes are those of the region, each with its country: "US 92697".
	// Shared are those among them that other cities have, too; there a place's
	// city, one of Cities (folded by Key), decides.
	Postcodes []string
	Shared    []string
	Cities    []string

	bound orb.Bound // of Area, made on first use by prepare
	ready bool
}

// Errors of regions. Test with errors.Is, or errors.As for the details.
var (
	ErrUnknownRegion   = errors.New("unknown region")
	ErrAmbiguousRegion = errors.New("ambiguous region")
	ErrEmptyRegion     = errors.New("empty region")
	ErrBadRegion       = errors.New("bad region")
)

// A RegionError says why no region fits what was asked for.
type RegionError struct {
	Kind       error // one of the errors above
	Spec       string
	Candidates []string // what to type instead
	text       string
}

// Error is one sentence for people that ends with what to do.
func (e *RegionError) Error() string { return e.text }

// Unwrap returns the kind.
func (e *RegionError) Unwrap() error { return e.Kind }

// Km2 returns the size of the area in square kilometres.
func (r *Region) Km2() float64 { return geo.Area(r.Area) / 1e6 }

// Bound returns the box of the area; it is empty where there is no area.
func (r *Region) Bound() orb.Bound { return r.Area.Bound() }

// Contains reports whether p (lon, lat) lies in the area.
func (r *Region) Contains(p orb.Point) bool {
	if len(r.Area) == 0 {
		return false
	}
	bound := r.bound
	if !r.ready {
		bound = r.Area.Bound()
	}
	return bound.Contains(p) && planar.MultiPolygonContains(r.Area, p)
}

// Has reports whether pl lies in the region: by its coordinate where the
// region has a true outline, by its postcode where the outline is estimated
// and both have postcodes, else by whichever of coordinate, postcode and city
// the place and the region have.
func (r *Region) Has(pl Place) bool {
	exact := pl.HasPoint && pl.Kind != City && len(r.Area) > 0
	if exact && !r.Estimated {
		return r.Contains(pl.Point)
	}
	if pl.Postcode != "" && len(r.Postcodes) > 0 {
		return r.hasPostcode(pl)
	}
	if pl.HasPoint && len(r.Area) > 0 {
		return r.Contains(pl.Point)
	}
	city := pl.City
	if city == "" && pl.Kind == City && len(pl.Names) > 0 {
		city = pl.Names[0]
	}
	return city != "" && agree(pl.Country, r.Country) && agree(pl.State, r.State) &&
		slices.Contains(r.Cities, Key(city))
}

func (r *Region) hasPostcode(pl Place) bool {
	code := PostcodeKey(pl.Postcode)
	for _, country := range r.countriesOf(pl.Country) {
		full := country + " " + code
		if _, ok := slices.BinarySearch(r.Postcodes, full); !ok {
			continue
		}
		if _, shared := slices.BinarySearch(r.Shared, full); !shared || pl.City == "" {
			return true
		}
		if slices.Contains(r.Cities, Key(pl.City)) {
			return true
		}
	}
	return false
}

// countriesOf returns the countries that a place of the given one may lie in.
func (r *Region) countriesOf(country string) []string {
	if country != "" && r.Country != "" {
		return []string{country}
	}
	if country != "" {
		return []string{country, ""}
	}
	var all []string
	for _, full := range r.Postcodes {
		c, _, _ := strings.Cut(full, " ")
		if len(all) == 0 || all[len(all)-1] != c {
			all = append(all, c)
		}
	}
	return all
}

// agree reports whether two codes or names are equal or one is unknown.
func agree(a, b string) bool {
	return a == "" || b == "" || strings.EqualFold(a, b) || Key(a) == Key(b)
}

// prepare sorts the sets and computes what Contains needs.
func (r *Region) prepare() *Region {
	for _, set := range []*[]string{&r.Postcodes, &r.Shared, &r.Cities} {
		slices.Sort(*set)
		*set = slices.Compact(*set)
	}
	r.bound, r.ready = r.Area.Bound(), true
	return r
}

const maxRegionFile = 64 << 20 // bytes

// ReadRegion reads a region from a GeoJSON file: a Polygon, a MultiPolygon, or
// a Feature or FeatureCollection of such.
func ReadRegion(path string) (*Region, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("region: %w", err)
	} else if info.Size() > maxRegionFile {
		return nil, badRegion(path, "%s is larger than %d MB; simplify the outline", path, maxRegionFile>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("region: %w", err)
	}
	r, err := parseRegion(data)
	if err != nil {
		return nil, badRegion(path, "%s: %v", path, err)
	}
	if r.Name == "" {
		r.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	return r, nil
}

func unknownRegion(spec, format string, args ...any) error {
	return &RegionError{Kind: ErrUnknownRegion, Spec: spec, text: fmt.Sprintf(format, args...)}
}

func badRegion(spec, format string, args ...any) error {
	return &RegionError{Kind: ErrBadRegion, Spec: spec, text: fmt.Sprintf(format, args...)}
}

// regionProperties are the members of Region in the properties of its feature.
type regionProperties struct {
	ID        string   `json:"id,omitempty"`
	Name      string   `json:"name"`
	Country   string   `json:"country,omitempty"`
	State     string   `json:"state,omitempty"`
	Estimated bool     `json:"estimated,omitempty"`
	Postcodes []string `json:"postcodes,omitempty"`
	Shared    []string `json:"shared_postcodes,omitempty"`
	Cities    []string `json:"cities,omitempty"`
}

func parseRegion(data []byte) (*Region, error) {
	var head struct {
		Type       string            `json:"type"`
		Geometry   json.RawMessage   `json:"geometry"`
		Properties json.RawMessage   `json:"properties"`
		Features   []json.RawMessage `json:"features"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("this is not GeoJSON: %w", err)
	}
	r := &Region{}
	switch head.Type {
	case "FeatureCollection":
		for _, f := range head.Features {
			part, err := parseRegion(f)
			if err != nil {
				return nil, err
			}
			r.Area = append(r.Area, part.Area...)
			if r.Name == "" {
				r.ID, r.Name, r.Country, r.State, r.Estimated = part.ID, part.Name, part.Country, part.State,
					part.Estimated
			}
			r.Postcodes = append(r.Postcodes, part.Postcodes...)
			r.Shared = append(r.Shared, part.Shared...)
			r.Cities = append(r.Cities, part.Cities...)
		}
	case "Feature":
		var p regionProperties
		if len(head.Properties) > 0 && json.Unmarshal(head.Properties, &p) != nil {
			p = regionProperties{} // foreign properties of another shape
		}
		*r = Region{ID: p.ID, Name: p.Name, Country: p.Country, State: p.State, Estimated: p.Estimated,
			Postcodes: p.Postcodes, Shared: p.Shared, Cities: p.Cities}
		if len(head.Geometry) > 0 && string(head.Geometry) != "null" {
			g, err := parseRegion(head.Geometry)
			if err != nil {
				return nil, err
			}
			r.Area = g.Area
		}
	case "Polygon", "MultiPolygon":
		g, err := geojson.UnmarshalGeometry(data)
		if err != nil {
			return nil, err
		}
		switch g := g.Geometry().(type) {
		case orb.Polygon:
			r.Area = orb.MultiPolygon{g}
		case orb.MultiPolygon:
			r.Area = g
		}
	case "":
		return nil, errors.New(`this is not GeoJSON: it has no "type"`)
	default:
		return nil, fmt.Errorf("a region must be a Polygon or MultiPolygon, not a %.40q", head.Type)
	}
	if len(r.Area) == 0 && len(r.Postcodes) == 0 {
		return nil, errors.New("it holds no Polygon or MultiPolygon")
	}
	for _, poly := range r.Area {
		for _, ring := range poly {
			if len(ring) < 4 {
				return nil, errors.New("a ring of the outline has fewer than four points")
			}
			for _, p := range ring {
				if err := checkPoint(p); err != nil {
					return nil, err
				}
			}
		}
	}
	return r.prepare(), nil
}

func checkPoint(p orb.Point) error {
	switch lon, lat := p[0], p[1]; {
	case math.IsNaN(lon) || math.IsNaN(lat) || math.IsInf(lon, 0) || math.IsInf(lat, 0):
		return errors.New("a coordinate is not a number")
	case math.Abs(lon) > 180 || math.Abs(lat) > 90:
		return fmt.Errorf("%g,%g are not degrees of longitude and latitude (WGS 84). Convert first: "+
			"ogr2ogr -t_srs EPSG:4326 …", lon, lat)
	}
	return nil
}

// Write writes the region to path as one GeoJSON feature, whole or not at all.
func (r *Region) Write(path string) error {
	f := geojson.NewFeature(r.Area)
	if len(r.Area) == 0 {
		f.Geometry = nil
	}
	props, err := json.Marshal(regionProperties{r.ID, r.Name, r.Country, r.State, r.Estimated, r.Postcodes,
		r.Shared, r.Cities})
	if err == nil {
		err = json.Unmarshal(props, &f.Properties)
	}
	if err != nil {
		return fmt.Errorf("region: %w", err)
	}
	data, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return fmt.Errorf("region: %w", err)
	}
	return disk.ReplaceBytes(path, 0o644, append(data, '\n'))
}
