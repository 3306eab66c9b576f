package gazetteer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"
)

// town is a made-up town of two postcodes with a street through both.
var town = []Place{
	{Kind: City, ID: "node/1", Names: []string{"Musterstadt", "Sample City"}, Country: "DE", State: "NI", Point: orb.Point{8.2, 53.1}, HasPoint: true, Population: 9000},
	{Kind: Postcode, Names: []string{"Musterstadt"}, Postcode: "26121", Country: "DE", State: "NI", Point: orb.Point{8.2, 53.1}, HasPoint: true},
	houseAt("Lange Straße", "1", "26121", 8.2000, 53.1000),
	houseAt("Lange Straße", "3", "26121", 8.2010, 53.1000),
	houseAt("Lange Straße", "9 a", "26121", 8.2040, 53.1000),
	houseAt("Lange Straße", "2", "26121", 8.2000, 53.1010),
	houseAt("Lange Straße", "10", "26121", 8.2040, 53.1010),
	houseAt("Lange Straße", "20-26", "26121", 8.2090, 53.1010),
	houseAt("Lange Straße", "68a;68b", "26121", 8.2190, 53.1010),
	houseAt("Lange Straße", "100", "26123", 8.2300, 53.1010),
	houseAt("Lange Straße", "0", "26123", 8.2310, 53.1010),
	houseAt("Lange Straße", "Haus B", "26123", 8.2320, 53.1010),
	{Kind: Street, ID: "way/5", Names: []string{"Lange Straße"}, Postcode: "26123", City: "Musterstadt", Country: "DE", Point: orb.Point{8.23, 53.1}, HasPoint: true},
	{Kind: Street, ID: "way/6", Names: []string{"Kurzer Weg", "Short Way"}, City: "Musterstadt", Country: "DE", Postcode: "26123", MaxNumber: 40, Point: orb.Point{8.24, 53.1}, HasPoint: true},
	{Kind: Street, Names: []string{"Lange Straße"}, Postcode: "10115", City: "Anderswo", Country: "DE"},
}

func houseAt(street, number, code string, lon, lat float64) Place {
	return Place{Kind: House, ID: "node/" + number, Street: street, HouseNumber: number, Postcode: code, City: "Musterstadt", Country: "DE", Point: orb.Point{lon, lat}, HasPoint: true}
}

func TestHouse(t *testing.T) {
	g := Of(town...)
	defer g.Close()
	for _, c := range []struct {
		number string
		want   Precision
		lon    float64
		text   string
	}{
		{"1", HousePrecision, 8.2000, "1"},
		{"9a", HousePrecision, 8.2040, "9 a"},
		{"9 A", HousePrecision, 8.2040, "9 a"},
		{"9", InterpolatedPrecision, 8.2040, "9 a"},
		{"9c", InterpolatedPrecision, 8.2040, "9 a"},
		{"22", HousePrecision, 8.2090, "20-26"},
		{"20–26", HousePrecision, 8.2090, "20-26"},
		{"68b", HousePrecision, 8.2190, "68a;68b"},
		{"5", InterpolatedPrecision, 8.2020, "5"}, // a third of the way from 3 to 9
		{"6", InterpolatedPrecision, 8.2020, "6"}, // half-way from 2 to 10
		{"1-3", HousePrecision, 8.2000, "1"},
		{"500", NoPrecision, 0, ""},
		{"", NoPrecision, 0, ""},
	} {
		streets := g.Streets(Query{Street: "lange str.", Postcode: "26121"})
		if len(streets) != 1 {
			t.Fatalf("streets = %+v", streets)
		}
		p, precision := g.House(streets[0], c.number)
		if precision != c.want {
			t.Errorf("House(%q) = %v, want %v", c.number, precision, c.want)
			continue
		}
		if precision != NoPrecision && (abs(p.Point[0]-c.lon) > 1e-6 || p.HouseNumber != c.text || p.Kind != House) {
			t.Errorf("House(%q) = %+v, want lon %v, number %q", c.number, p, c.lon, c.text)
		}
		if precision == NoPrecision && p.Kind != Street {
			t.Errorf("House(%q) = %+v, want the street", c.number, p)
		}
	}
	for number, text := range map[string]string{"0": "0", "haus b": "Haus B", "100": "100"} {
		if p, precision := g.House(g.Streets(Query{Street: "Lange Straße", Postcode: "26123"})[0], number); precision != HousePrecision || p.HouseNumber != text {
			t.Errorf("House(%q) = %q, %v", number, p.HouseNumber, precision)
		}
	}
	short := g.Streets(Query{Street: "Kurzer Weg", City: "MUSTERSTADT"})[0]
	if _, precision := g.House(short, "40"); precision != StreetPrecision {
		t.Errorf("number 40 of 40: %v", precision)
	}
	if _, precision := g.House(short, "41"); precision != NoPrecision {
		t.Errorf("number 41 of 40: %v", precision)
	}
}

func abs(x float64) float64 { return max(x, -x) }

func TestStreets(t *testing.T) {
	g := Of(town...)
	defer g.Close()
	for _, c := range []struct {
		q    Query
		want int
	}{
		{Query{Street: "Lange Straße", Postcode: "26121"}, 1},
		{Query{Street: "Lange Straße", City: "Musterstadt"}, 2},
		{Query{Street: "Lange Straße", City: "sample city"}, 2},
		{Query{Street: "Lange Straße"}, 3},
		{Query{Street: "Lange Straße", Country: "AT"}, 0},
		{Query{Street: "Lange Straße", Country: "de", Postcode: "26123"}, 1},
		{Query{Street: "Lange Straße", Postcode: "99999", City: "Musterstadt"}, 2},
		{Query{Street: "Lange Straße", Postcode: "99999"}, 0},
		{Query{Street: "Lange Straße", City: "Nirgends"}, 0},
		{Query{Street: "Short Way", City: "Musterstadt"}, 1}, // another name of Kurzer Weg
		{Query{Street: ""}, 0},
	} {
		if got := g.Streets(c.q); len(got) != c.want {
			t.Errorf("Streets(%+v) = %d streets %+v, want %d", c.q, len(got), got, c.want)
		}
	}
	if !g.HasStreet("langestr") || g.HasStreet("breite Straße") {
		t.Error("HasStreet is wrong")
	}
}

func TestCitiesAndPostcodes(t *testing.T) {
	g := Of(town...)
	defer g.Close()
	if c := g.Cities("", "Sample-City"); len(c) != 1 || c[0].Names[0] != "Musterstadt" || c[0].Population != 9000 {
		t.Errorf("alias: %+v", c)
	}
	if c := g.Cities("DE", "Anderswo"); len(c) != 1 {
		t.Errorf("a city known from a street only: %+v", c)
	}
	if c := g.Cities("US", "Musterstadt"); len(c) != 0 {
		t.Errorf("other country: %+v", c)
	}
	if p := g.Postcodes("", "26123"); len(p) != 1 || p[0].City != "Musterstadt" || !p[0].HasPoint {
		t.Errorf("a postcode known from houses: %+v", p)
	}
	if s := g.Stats(); s.Houses != 11 || s.Streets != 3 || s.Postcodes != 3 || s.Cities != 2 {
		t.Errorf("stats = %+v", s)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	b, err := NewBuilder(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = b.Add(&Source{Name: "town", Format: "test"}, func(emit func(Place) error) error {
		for _, p := range town {
			if err := emit(p); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = b.Finish(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	g, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Sources(); len(got) != 1 || got[0].Places != len(town) {
		t.Errorf("sources = %+v", got)
	}
	g.Close()
	if g.HasStreet("Lange Straße") {
		t.Error("a closed gazetteer finds a street")
	}
	path := filepath.Join(dir, compiledFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	newer := append([]byte(nil), whole...)
	newer[len(magic)] = formatVersion + 1
	older := slices.Clone(whole)
	older[len(magic)] = formatVersion - 1
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"newer": {newer, ErrNewerFormat}, "older": {older, ErrOlderFormat}, "truncated": {whole[:len(whole)-10], ErrDamaged}, "empty": {nil, ErrDamaged},
		"flipped": {append(append(append([]byte(nil), whole[:100]...), whole[100]^1), whole[101:]...), ErrDamaged},
	} {
		os.WriteFile(path, c.data, 0o644)
		if _, err := Open(dir); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// A house keeps what named objects of the map are there.
func TestObjects(t *testing.T) {
	house := func(id, number string, o *Object) Place {
		return Place{
			ID: id, Kind: House, Names: []string{"Lange Straße"}, HouseNumber: number, Postcode: "26122", City: "Oldenburg",
			Country: "DE", Object: o,
		}
	}
	dentist := Object{ID: "node/1", Names: []string{"Praxis Harms"}, Tags: []string{"amenity=dentist", "opening_hours=Mo-Fr 08:00-18:00"}}
	cafe := Object{ID: "way/2", Names: []string{"Café Krone", "Krone"}, Tags: []string{"amenity=cafe"}}
	nameless := Object{ID: "node/3", Tags: []string{"shop=yes"}}
	g := Of(house("node/1", "5", &dentist), house("way/2", "5;7", &cafe), house("node/3", "9", &nameless))
	defer g.Close()
	for number, want := range map[string][]Object{"5": {cafe, dentist}, "7": {cafe, dentist}, "9": nil, "11": nil} {
		streets := g.Streets(Query{Street: "Lange Str.", Postcode: "26122"})
		if len(streets) != 1 {
			t.Fatalf("%d streets", len(streets))
		}
		place, _ := g.House(streets[0], number)
		got := g.Objects(place)
		slices.SortFunc(got, func(a, b Object) int { return strings.Compare(a.Names[0], b.Names[0]) })
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", number, got, want)
		}
	}
}
