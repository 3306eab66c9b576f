// Package gazetteer knows the places of a region: streets, house numbers,
// postcode areas and cities, read from open data and looked up by any usual
// spelling of their names.
package gazetteer

import (
	"context"
	"fmt"
	"io"

	"github.com/paulmach/orb"
)

// A Kind says what a Place is.
type Kind uint8

// The kinds, from wide to narrow.
const (
	City     Kind = iota + 1 // city, town, village, suburb
	Postcode                 // one (postcode, city) pair of a postcode area
	Street
	House
	Outline // a county, state or country: no city; the name of a state and its code, or an Area
)

var kindNames = [...]string{"none", "city", "postcode", "street", "house", "outline"}

// String returns the name of k, such as "house".
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		k = 0
	}
	return kindNames[k]
}

// MarshalText returns the name of k.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// A Place is one gazetteer entry: a house number, street, postcode area or city.
type Place struct {
	ID    string   // of the source: "node/240036", "way/77", "geonames/DE/26121"
	Kind  Kind     //
	Names []string // the usual name first, then aliases; a House repeats its street's

	Point    orb.Point // lon, lat in degrees, WGS 84; see HasPoint
	HasPoint bool

	// The address, as far as it is known. A Street has Street, a House also
	// HouseNumber, a Postcode its Postcode and City, a City its City.
	Street, HouseNumber, Postcode, City string
	State                               string // code where there is one ("CA"), else name
	Country                             string // ISO 3166-1 alpha-2, upper case

	// MaxNumber, where > 0, says that house numbers 1 … MaxNumber of this
	// Street exist although their coordinates are not known.
	MaxNumber int
	// Range says of a part of a Street which house numbers lie along it.
	Range *Range
	// Object is what a source says is at a House. Looked-up places have none:
	// Gazetteer.Objects returns them.
	Object *Object `json:",omitempty"`
	// Population, where > 0, is that of a City.
	Population int
	// TimeZone is that of a City ("America/Denver"), where its source says it.
	// Looked-up places have none.
	TimeZone string

	// Source is the Name of the Source that the place comes from.
	Source string
	// Area is the outline of a City, Postcode or Outline as a source gives it,
	// AdminLevel its rank as OpenStreetMap counts (2 country … 10 suburb, 0 not
	// known). Looked-up places have neither: Gazetteer.Region returns outlines.
	Area       orb.MultiPolygon
	AdminLevel int
}

// A Range is a stretch of a street whose house numbers run from one end to the
// other: an address range of TIGER, an interpolation way of OpenStreetMap.
// Which of the numbers exist is not known.
type Range struct {
	From, To int            // as they run along Line; To may be the smaller one
	Step     int            // 1 for every number, 2 for those of From's side (odd or even)
	Line     orb.LineString // lon, lat in degrees, at least one point
}

// A Query asks for a place by the parts of its address; empty parts are open.
type Query struct {
	Street, HouseNumber, Postcode, City, State, Country string
}

// A Precision says what a coordinate stands for.
type Precision uint8

// The precisions, from unknown to exact.
const (
	NoPrecision Precision = iota
	CityPrecision
	PostcodePrecision
	StreetPrecision
	InterpolatedPrecision // between known house numbers of the street, or in a Range
	HousePrecision
)

var precisionNames = [...]string{"none", "city", "postcode", "street", "interpolated", "house"}

// String returns the name that people, JSON and config.yaml use.
func (p Precision) String() string { return precisionNames[p] }

// MarshalText returns the name of p.
func (p Precision) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the name of a precision.
func (p *Precision) UnmarshalText(text []byte) error {
	for i, name := range precisionNames {
		if name == string(text) {
			*p = Precision(i)
			return nil
		}
	}
	return fmt.Errorf("gazetteer: %.40q is no precision", text)
}

// A Reader streams the places of one source file to emit, in file order. An
// error of emit ends it and is returned.
type Reader func(ctx context.Context, src io.Reader, emit func(Place) error) error

// A Source says where places came from and under which licence they are used.
type Source struct {
	Name        string `json:"name"`        // file name without folder
	Format      string `json:"format"`      // osm, geonames-postal, openaddresses, table …
	Licence     string `json:"licence"`     // such as "ODbL-1.0"
	Attribution string `json:"attribution"` // such as "© OpenStreetMap contributors"
	Places      int    `json:"places"`
	Data        string `json:"data,omitempty"` // date of the data, where the file says it
}
