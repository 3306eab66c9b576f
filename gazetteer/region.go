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
	ID      string `json:"id,omitempty"` // of the outline's source, "relation/62409"; may be empty
	Name    string `json:"name"`
	Country string `json:"country,omitempty"` // ISO 3166-1 alpha-2, where it is known
	State   string `json:"state,omitempty"`

	// Area is the outline. Where no source has one it is Estimated: the hull of
	// the postcodes or addresses of the place, and Postcodes count for more.
	Area      orb.MultiPolygon `json:"-"`
	Estimated bool             `json:"estimated,omitempty"`

	// Postcodes are those of the region, each with its country: "US 92697".
	// Shared are those among them that other cities have, too; there a place's
	// city, one of Cities (folded by Key), decides.
	Postcodes []string `json:"postcodes,omitempty"`
	Shared    []string `json:"shared_postcodes,omitempty"`
	Cities    []string `json:"cities,omitempty"`

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

// A RegionError is the reason why no region matches a specification.
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

// Names returns what the region is called: the names of its cities, folded by Key, and its own as people
// write it, unless that lists postcodes or coordinates. A region that is no place has none, nor has nil.
func (r *Region) Names() []string {
	if r == nil {
		return nil
	}
	names := slices.Clone(r.Cities)
	if len(r.Area) > 0 && !strings.ContainsAny(r.Name, ":0123456789") {
		names = append(names, r.Name)
	}
	return names
}

// Km2 returns the size of the area in square kilometres.
func (r *Region) Km2() float64 { return geo.Area(r.Area) / 1e6 }

// Bound returns the box of the area; it is empty without an area.
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

// Has reports whether pl is in the region: by its coordinate if the region has a true outline, by
// its postcode if the outline is estimated and both have postcodes, otherwise by whichever of
// coordinate, postcode and city both have.
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

// A regionFile is a GeoJSON object that holds a region. The properties of its feature
// are those that Region names.
type regionFile struct {
	Type       string            `json:"type"`
	Geometry   *geojson.Geometry `json:"geometry"`
	Properties json.RawMessage   `json:"properties"`
	Features   []regionFile      `json:"features"`
}

func parseRegion(data []byte) (*Region, error) {
	var f regionFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("this is not GeoJSON: %w", err)
	}
	if f.Type == "Polygon" || f.Type == "MultiPolygon" {
		g, err := geojson.UnmarshalGeometry(data)
		if err != nil {
			return nil, err
		}
		f = regionFile{Type: "Feature", Geometry: g}
	}
	r := &Region{}
	err := r.read(&f)
	if err != nil {
		return nil, err
	}
	if len(r.Area) == 0 && len(r.Postcodes) == 0 {
		return nil, errors.New("it holds no Polygon or MultiPolygon")
	}
	for _, poly := range r.Area {
		if len(poly) == 0 {
			return nil, errors.New("a polygon of the outline has no ring")
		}
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

// read adds what f holds; of several features the first with a name gives the region its own.
func (r *Region) read(f *regionFile) error {
	switch f.Type {
	case "FeatureCollection":
		for i := range f.Features {
			err := r.read(&f.Features[i])
			if err != nil {
				return err
			}
		}
		return nil
	case "Feature":
	case "":
		return errors.New(`this is not GeoJSON: it has no "type"`)
	default:
		return fmt.Errorf("a region must be a Polygon or MultiPolygon, not a %.40q", f.Type)
	}
	var p Region
	if len(f.Properties) > 0 && json.Unmarshal(f.Properties, &p) != nil {
		p = Region{} // foreign properties of another shape
	}
	if r.Name == "" {
		r.ID, r.Name, r.Country, r.State, r.Estimated = p.ID, p.Name, p.Country, p.State, p.Estimated
	}
	r.Postcodes = append(r.Postcodes, p.Postcodes...)
	r.Shared = append(r.Shared, p.Shared...)
	r.Cities = append(r.Cities, p.Cities...)
	if f.Geometry == nil {
		return nil
	}
	switch g := f.Geometry.Geometry().(type) {
	case orb.Polygon:
		r.Area = append(r.Area, g)
	case orb.MultiPolygon:
		r.Area = append(r.Area, g...)
	default:
		return fmt.Errorf("a region must be a Polygon or MultiPolygon, not a %.40q", f.Geometry.Type)
	}
	return nil
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
	props, err := json.Marshal(r)
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
