// Package gazetteer looks up places by any usual spelling of their names: streets, house numbers,
// postcode areas and cities, compiled from open data. Start with [Open] and [Gazetteer.House]; a
// [Builder] compiles sources, which the packages below this one read.
package gazetteer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

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
	POI     // a named thing of the map, with an Object: a shop, an office, a church
)

var kindNames = [...]string{"none", "city", "postcode", "street", "house", "outline", "poi"}

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
	// Range is the house numbers along a part of a Street.
	Range *Range
	// Object is what a source says is at a House, or what a POI is. Looked-up places have none:
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

// A Query names a place by the parts of its address; an empty part matches any.
type Query struct {
	Street, HouseNumber, Postcode, City, State, Country string
}

// A Precision says what a coordinate is the position of.
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

// A Source is the origin and the licence of places.
type Source struct {
	Name        string `json:"name"`        // file name without folder
	Format      string `json:"format"`      // osm, geonames-postal, openaddresses, table …
	Licence     string `json:"licence"`     // such as "ODbL-1.0"
	Attribution string `json:"attribution"` // such as "© OpenStreetMap contributors"
	Places      int    `json:"places"`
	Data        string `json:"data,omitempty"` // date of the data, where the file says it
}

// ErrBadPlace is the error for an unusable Place, such as one without a name or with an invalid
// coordinate. Readers count such places and continue.
var ErrBadPlace = errors.New("bad place")

// Limits of a Place.
const (
	maxText        = 256     // bytes of a name or another part
	maxNames       = 64      // aliases beyond them are dropped
	maxAreaPoint   = 1 << 20 // points of an outline
	maxRangeLine   = 4096    // points of a Range
	maxHouseNumber = 9_999_999
)

// check folds white space, fills in what follows from the rest, and returns an
// ErrBadPlace that says what is wrong.
func (p *Place) check() error {
	if err := p.checkTexts(); err != nil {
		return err
	}
	if err := p.checkGeometry(); err != nil {
		return fmt.Errorf("%w: %w", ErrBadPlace, err)
	}
	first := ""
	if len(p.Names) > 0 {
		first = p.Names[0]
	}
	// The usual name leads the others.
	lead := func(name string) {
		if name != "" && name != first {
			p.Names = append([]string{name}, p.Names...)
		}
	}
	p.Object = p.Object.check()
	if p.Kind != House && p.Kind != POI {
		p.Object = nil
	}
	missing := ""
	switch p.Kind {
	case House, Street:
		p.Street = cmp.Or(p.Street, first)
		lead(p.Street)
		switch {
		case StreetKey(p.Street) == "":
			missing = "street"
		case p.Kind == House && Key(NumberKey(p.HouseNumber)) == "":
			missing = "house number"
		case p.MaxNumber < 0 || p.MaxNumber > maxHouseNumber:
			return fmt.Errorf("%w: highest house number %d", ErrBadPlace, p.MaxNumber)
		}
	case Postcode:
		p.City = cmp.Or(p.City, first)
		lead(p.City)
		if PostcodeKey(p.Postcode) == "" {
			missing = "postcode"
		}
	case City, Outline:
		if first == "" {
			lead(p.City)
		}
		if len(p.Names) == 0 || Key(p.Names[0]) == "" {
			missing = "name"
		} else if p.Kind == City {
			p.City = p.Names[0]
		}
	case POI:
		switch {
		case p.Object == nil || len(p.Names) == 0 || Key(p.Names[0]) == "":
			missing = "name or tag"
		case !p.HasPoint:
			missing = "position"
		}
	default:
		return fmt.Errorf("%w: kind %d", ErrBadPlace, p.Kind)
	}
	if missing != "" {
		return fmt.Errorf("%w: no %s", ErrBadPlace, missing)
	}
	return nil
}

// checkTexts cleans the texts of p and drops names that are none.
func (p *Place) checkTexts() error {
	for _, s := range []*string{&p.ID, &p.Street, &p.HouseNumber, &p.Postcode, &p.City, &p.State, &p.Country,
		&p.Source} {
		clean, err := cleanText(*s)
		if err != nil {
			return err
		}
		*s = clean
	}
	p.Country = strings.ToUpper(p.Country)
	if len(p.Country) != 2 || !allLetters(p.Country) {
		p.Country = ""
	}
	if len(p.Postcode) == 10 && p.Postcode[5] == '-' {
		p.Postcode = PostcodeKey(p.Postcode)
	}
	var names []string
	for _, n := range p.Names[:min(len(p.Names), maxNames)] {
		if clean, err := cleanText(n); err == nil && Key(clean) != "" {
			names = append(names, clean)
		}
	}
	p.Names = names
	return nil
}

// checkGeometry returns what is wrong with the coordinates of p.
func (p *Place) checkGeometry() error {
	if !p.HasPoint || p.Point == (orb.Point{}) { // 0,0 is what empty columns become
		p.Point, p.HasPoint = orb.Point{}, false
	}
	if err := checkPoint(p.Point); err != nil {
		return err
	}
	if p.Range != nil {
		if p.Kind != Street {
			return fmt.Errorf("a range of house numbers on a %v", p.Kind)
		}
		if err := p.Range.check(); err != nil {
			return err
		}
	}
	points := 0
	for _, polygon := range p.Area {
		for _, ring := range polygon {
			points += len(ring)
			for _, pt := range ring {
				if err := checkPoint(pt); err != nil {
					return fmt.Errorf("outline: %w", err)
				}
			}
		}
	}
	if points > maxAreaPoint {
		return fmt.Errorf("outline of %d points", points)
	}
	return nil
}

func cleanText(s string) (string, error) {
	plain := len(s) <= maxText
	for i := 0; plain && i < len(s); i++ {
		plain = ' ' < s[i] && s[i] < utf8.RuneSelf-1 || s[i] == ' ' && i > 0 && i < len(s)-1 && s[i+1] != ' '
	}
	if plain {
		return s, nil
	}
	if len(s) > 16*maxText {
		return "", fmt.Errorf("%w: a name of %d bytes", ErrBadPlace, len(s))
	}
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(s) > maxText {
		return "", fmt.Errorf("%w: a name of %d bytes", ErrBadPlace, len(s))
	}
	return s, nil
}
