package gazetteer

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/paulmach/orb"
)

// Errors of Open.
var (
	ErrNewerFormat = errors.New("gazetteer of a newer format")
	ErrDamaged     = errors.New("gazetteer is damaged")
)

// A Gazetteer is a compiled gazetteer. It is safe for concurrent use.
type Gazetteer struct {
	places  []Place
	sources []Source
	streets map[string][]int
	codes   map[string][]int
	cities  map[string][]Place
}

// A Match is one answer of Lookup.
type Match struct {
	Place     Place
	Precision Precision
	Score     float64 // 0 to 1
}

// Stats counts what a gazetteer holds.
type Stats struct {
	Houses, Streets, Postcodes, Cities, Areas int
	Countries                                 []string
	Sources                                   []Source
}

// A Builder compiles the places of sources into a gazetteer.
type Builder struct {
	dir  string
	data stored
}

type stored struct {
	Places  []Place
	Sources []Source
}

// NewBuilder returns a Builder for the gazetteer in dir.
func NewBuilder(dir string) (*Builder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return &Builder{dir: dir}, nil
}

// Add adds the places of one source.
func (b *Builder) Add(src Source, read func(emit func(Place) error) error) error {
	return read(func(p Place) error {
		src.Places++
		p.Source = src.Name
		b.data.Places = append(b.data.Places, p)
		return nil
	})
}

// Finish writes the compiled gazetteer.
func (b *Builder) Finish(ctx context.Context) error {
	f, err := os.Create(filepath.Join(b.dir, "places.gob"))
	if err != nil {
		return err
	}
	defer f.Close()
	return gob.NewEncoder(f).Encode(b.data)
}

// Open opens the compiled gazetteer in dir.
func Open(dir string) (*Gazetteer, error) {
	f, err := os.Open(filepath.Join(dir, "places.gob"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var data stored
	if err := gob.NewDecoder(f).Decode(&data); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return newGazetteer(data), nil
}

// Of returns a gazetteer of the given places, for tests and the demo.
func Of(places ...Place) *Gazetteer { return newGazetteer(stored{Places: places}) }

func newGazetteer(data stored) *Gazetteer {
	g := &Gazetteer{places: data.Places, sources: data.Sources, streets: map[string][]int{}, codes: map[string][]int{}, cities: map[string][]Place{}}
	seen := map[string]bool{}
	addCity := func(p Place, name string) {
		if name == "" || seen[p.Country+"|"+p.State+"|"+Key(name)] {
			return
		}
		seen[p.Country+"|"+p.State+"|"+Key(name)] = true
		g.cities[Key(name)] = append(g.cities[Key(name)], Place{Kind: City, Names: []string{name}, City: name, State: p.State, Country: p.Country, Point: p.Point, HasPoint: p.HasPoint, Population: p.Population})
	}
	streets := map[string]bool{}
	for i := 0; i < len(g.places); i++ {
		p := &g.places[i]
		switch p.Kind {
		case House:
			k := StreetKey(p.Street) + "|" + p.Postcode + "|" + Key(p.City)
			if !streets[k] {
				streets[k] = true
				s := *p
				s.Kind, s.HouseNumber = Street, ""
				s.Names = []string{p.Street}
				g.places = append(g.places, s)
			}
		case Street:
			name := p.Street
			if name == "" {
				name = p.Names[0]
				g.places[i].Street = name
			}
			streets[StreetKey(name)+"|"+p.Postcode+"|"+Key(p.City)] = true
			g.streets[StreetKey(name)] = append(g.streets[StreetKey(name)], i)
		case Postcode:
			g.codes[postcodeKey(p.Postcode)] = append(g.codes[postcodeKey(p.Postcode)], i)
			for _, n := range p.Names {
				addCity(*p, n)
			}
		case City:
			for _, n := range p.Names {
				addCity(*p, n)
			}
		}
		addCity(*p, p.City)
	}
	return g
}

// Close releases the files of g.
func (g *Gazetteer) Close() error { return nil }

// Postcodes returns the places of a postcode, one per city that has it; the
// Names are those of the city, its usual one first. An empty country means all.
func (g *Gazetteer) Postcodes(country, code string) []Place {
	var found []Place
	for _, i := range g.codes[postcodeKey(code)] {
		if p := g.places[i]; country == "" || p.Country == country {
			if len(p.Names) == 0 {
				p.Names = []string{p.City}
			}
			found = append(found, p)
		}
	}
	return found
}

// Cities returns the cities of a name or alias. An empty country means all.
func (g *Gazetteer) Cities(country, name string) []Place {
	var found []Place
	for _, p := range g.cities[Key(name)] {
		if country == "" || p.Country == country {
			found = append(found, p)
		}
	}
	return found
}

// Streets returns the streets called q.Street: those of q.Postcode if there
// are any, else those of q.City, and if both are empty those of any place.
func (g *Gazetteer) Streets(q Query) []Place {
	var byCode, byCity, all []Place
	for _, i := range g.streets[StreetKey(q.Street)] {
		p := g.places[i]
		if q.Country != "" && p.Country != "" && p.Country != q.Country {
			continue
		}
		if q.Postcode != "" && p.Postcode == postcodeKey(q.Postcode) {
			byCode = append(byCode, p)
		}
		if q.City != "" && Key(p.City) == Key(q.City) {
			byCity = append(byCity, p)
		}
		all = append(all, p)
	}
	switch {
	case len(byCode) > 0:
		return byCode
	case q.Postcode == "" && q.City == "":
		return all
	}
	return byCity
}

// HasStreet reports whether any place has a street of that name.
func (g *Gazetteer) HasStreet(name string) bool { return len(g.streets[StreetKey(name)]) > 0 }

// House returns the house of a street.
func (g *Gazetteer) House(street Place, number string) (Place, Precision) {
	key := NumberKey(number)
	base, _, ok := splitNumber(key)
	for _, p := range g.places {
		if p.Kind == House && StreetKey(p.Street) == StreetKey(street.Street) && p.Postcode == street.Postcode && Key(p.City) == Key(street.City) && NumberKey(p.HouseNumber) == key {
			return p, HousePrecision
		}
	}
	if ok && base >= 1 && base <= street.MaxNumber {
		return street, StreetPrecision
	}
	return street, NoPrecision
}

// Lookup answers people: the places that fit q, best first.
func (g *Gazetteer) Lookup(q Query) []Match {
	var found []Match
	for _, s := range g.Streets(q) {
		p, prec := g.House(s, q.HouseNumber)
		if prec == NoPrecision {
			prec = StreetPrecision
		}
		found = append(found, Match{p, prec, float64(prec) / float64(HousePrecision)})
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Score > found[j].Score })
	return found
}

// Stats counts what g holds.
func (g *Gazetteer) Stats() Stats { return Stats{Sources: g.sources, Countries: g.Countries()} }

// Sources returns the sources of g with their licences.
func (g *Gazetteer) Sources() []Source { return g.sources }

// Countries returns the country codes of g, sorted.
func (g *Gazetteer) Countries() []string {
	var all []string
	for _, p := range g.places {
		if p.Country != "" && !slices.Contains(all, p.Country) {
			all = append(all, p.Country)
		}
	}
	slices.Sort(all)
	return all
}

// Region returns the region that spec asks for.
func (g *Gazetteer) Region(spec string) (*Region, error) {
	name, _, _ := strings.Cut(spec, ",")
	cities := g.Cities("", name)
	if len(cities) == 0 {
		return nil, &RegionError{Kind: ErrUnknownRegion, Spec: spec, text: fmt.Sprintf("no place called %q", spec)}
	}
	c := cities[0]
	r := &Region{Name: c.Names[0], Country: c.Country, State: c.State, Cities: []string{Key(name)}, Estimated: true}
	var pts orb.MultiPoint
	for _, p := range g.places {
		if Key(p.City) == Key(name) && p.Postcode != "" {
			r.Postcodes = append(r.Postcodes, p.Country+" "+postcodeKey(p.Postcode))
		}
		if Key(p.City) == Key(name) && p.HasPoint {
			pts = append(pts, p.Point)
		}
	}
	if len(pts) > 0 {
		r.Area = orb.MultiPolygon{pts.Bound().Pad(0.02).ToPolygon()}
	}
	return r.prepare(), nil
}

var _ = fs.ErrNotExist
