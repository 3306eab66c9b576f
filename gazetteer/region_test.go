package gazetteer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"
)

func square(minLon, minLat, maxLon, maxLat float64) orb.MultiPolygon {
	return orb.MultiPolygon{orb.Bound{Min: orb.Point{minLon, minLat}, Max: orb.Point{maxLon, maxLat}}.ToPolygon()}
}

// land has a city with an outline, one with postal areas, one with addresses
// and two of one name.
func land() *Gazetteer {
	places := []Place{
		{Kind: City, ID: "relation/7", Names: []string{"Umriss"}, Country: "DE", State: "NI", Point: orb.Point{8.05, 53.05}, HasPoint: true, Area: square(8, 53, 8.1, 53.1), AdminLevel: 8},
		{Kind: Postcode, ID: "relation/8", Postcode: "11111", City: "Postal", Country: "DE", Point: orb.Point{9.05, 53.05}, HasPoint: true, Area: square(9, 53, 9.1, 53.1)},
		{Kind: Postcode, Postcode: "22222", City: "Neustadt", Country: "DE", State: "NI", Point: orb.Point{10, 53}, HasPoint: true},
		{Kind: Postcode, Postcode: "22223", City: "Neustadt", Country: "DE", State: "NI", Point: orb.Point{10.05, 53}, HasPoint: true},
		{Kind: Postcode, Postcode: "22223", City: "Nachbarort", Country: "DE", State: "NI", Point: orb.Point{10.07, 53.02}, HasPoint: true},
		{Kind: Postcode, Postcode: "33333", City: "Neustadt", Country: "DE", State: "SH", Point: orb.Point{11, 54}, HasPoint: true},
		{Kind: Outline, ID: "relation/9", Names: []string{"Landkreis Weit"}, Country: "DE", Area: square(7, 52, 9, 54), AdminLevel: 6},
		{Kind: City, ID: "node/1", Names: []string{"Nur Name"}, Country: "DE"},
		{Kind: Postcode, Postcode: "92602", City: "Irvine", Country: "US", State: "CA", Point: orb.Point{-117.7, 33.7}, HasPoint: true},
		{Kind: Postcode, Postcode: "22222", City: "Arlington", Country: "US", State: "VA", Point: orb.Point{-77, 38.8}, HasPoint: true},
	}
	for i := range 30 {
		places = append(places, Place{Kind: House, Street: "Weg", HouseNumber: fmt.Sprint(i + 1), Postcode: "44444", City: "Adressen", Country: "DE", Point: orb.Point{12 + float64(i)*0.001, 50}, HasPoint: true})
	}
	return Of(append(places, Place{Kind: House, Street: "Weg", HouseNumber: "99", Postcode: "44444", City: "Adressen", Country: "DE", Point: orb.Point{14, 51}, HasPoint: true})...)
}

func TestRegions(t *testing.T) {
	g := land()
	defer g.Close()
	file := filepath.Join(t.TempDir(), "area.geojson")
	os.WriteFile(file, []byte(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"Feld","x":[1]},"geometry":{"type":"Polygon","coordinates":[[[8,53],[8.1,53],[8.1,53.1],[8,53]]]}}]}`), 0o644)
	for _, c := range []struct {
		spec, name string
		estimated  bool
		codes      string
		in, out    orb.Point
	}{
		{"Umriss", "Umriss", false, "", orb.Point{8.01, 53.09}, orb.Point{8.11, 53}},
		{"UMRISS, ni", "Umriss", false, "", orb.Point{8.01, 53.09}, orb.Point{8.11, 53}},
		{"relation/7", "Umriss", false, "", orb.Point{8.01, 53.09}, orb.Point{8.11, 53}},
		{"r9", "Landkreis Weit", false, "", orb.Point{7.5, 53}, orb.Point{9.5, 53}},
		{"Landkreis Weit", "Landkreis Weit", false, "", orb.Point{7.5, 53}, orb.Point{9.5, 53}},
		{"Postal", "Postal", true, "DE 11111", orb.Point{9.01, 53.09}, orb.Point{9.11, 53}},
		{"Neustadt, NI", "Neustadt", true, "DE 22222 DE 22223", orb.Point{10.02, 53}, orb.Point{10.2, 53}},
		{"Adressen", "Adressen", true, "DE 44444", orb.Point{12.01, 50}, orb.Point{14, 51}}, // without the slip
		{"Irvine, CA, US", "Irvine", true, "US 92602", orb.Point{-117.7, 33.7}, orb.Point{-118, 33}},
		{"7.9,52.9,8.2,53.2", "7.9,52.9,8.2,53.2", false, "", orb.Point{8, 53}, orb.Point{9, 53}},
		{"postcodes:22223,11111-11119", "postcodes:22223,11111-11119", true, "DE 11111 DE 22223", orb.Point{10.05, 53}, orb.Point{20, 50}},
		{"postcodes:US:22222", "postcodes:US:22222", true, "US 22222", orb.Point{-77, 38.8}, orb.Point{10, 53}},
		{file, "Feld", false, "", orb.Point{8.09, 53.05}, orb.Point{8.01, 53.09}},
	} {
		r, err := g.Region(c.spec)
		if err != nil {
			t.Errorf("%s: %v", c.spec, err)
			continue
		}
		if r.Name != c.name || r.Estimated != c.estimated || strings.Join(r.Postcodes, " ") != c.codes || !r.Contains(c.in) || r.Contains(c.out) {
			t.Errorf("%s = %+v; holds %v, does not hold %v", c.spec, r, r.Contains(c.in), !r.Contains(c.out))
		}
	}
}

func TestBadRegions(t *testing.T) {
	g := land()
	defer g.Close()
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "area.geojson")
		os.WriteFile(path, []byte(text), 0o644)
		return path
	}
	for _, c := range []struct {
		spec string
		kind error
		says string
	}{
		{"", ErrBadRegion, "a region is missing"},
		{"Neustdt", ErrUnknownRegion, "Did you mean Neustadt?"},
		{"Neustadt, BY", ErrUnknownRegion, "Neustadt, NI, DE"},
		{"Neustadt", ErrAmbiguousRegion, "matches 2 areas of the gazetteer. Give one: Neustadt, NI, DE · Neustadt, SH, DE"},
		{"Nur Name", ErrEmptyRegion, "by name only"},
		{"relation/555", ErrUnknownRegion, "no outline relation/555"},
		{"53,8,53.1,8.1", ErrBadRegion, "Did you mean 8,53,8.1,53.1?"},
		{"8.1,53,8,53.1", ErrBadRegion, "minLon < maxLon"},
		{"8,53,8.1", ErrBadRegion, "four numbers"},
		{"8,53,8.1,NaN", ErrBadRegion, "four numbers"},
		{"8,53,800,54", ErrBadRegion, "degrees"},
		{"-60,-40,-59,-39", ErrEmptyRegion, "nearest"},
		{"postcodes:", ErrBadRegion, "holds no postcode"},
		{"postcodes:99999", ErrUnknownRegion, "does not know the postcode 99999"},
		{"postcodes:22222", ErrAmbiguousRegion, "postcodes:DE:22222 · postcodes:US:22222"},
		{"postcodes:FR:22222", ErrBadRegion, `no country "FR"`},
		{file(`{`), ErrBadRegion, "not GeoJSON"},
		{file(`{"type":"Point","coordinates":[1,2]}`), ErrBadRegion, "must be a Polygon"},
		{file(`{"type":"Polygon","coordinates":[[[446531,5888210],[446532,5888210],[446532,5888211],[446531,5888210]]]}`), ErrBadRegion, "EPSG:4326"},
		{file(`{"type":"Polygon","coordinates":[[[53,8],[53.1,8],[53.1,8.1],[53,8]]]}`), ErrEmptyRegion, "swapped"},
		{file(`{"type":"FeatureCollection","features":[]}`), ErrBadRegion, "no Polygon"},
		{file(`{"type":"Polygon","coordinates":[[[8,53]]]}`), ErrBadRegion, "fewer than four"},
		{file(`{"type":"FeatureCollection","features":[` +
			`{"type":"Feature","geometry":{"type":"Polygon","coordinates":[]}}]}`), ErrBadRegion, "no ring"},
		{file(`{"type":"MultiPolygon","coordinates":[[],[[[8,53],[9,53],[9,54],[8,53]]]]}`), ErrBadRegion, "no ring"},
	} {
		r, err := g.Region(c.spec)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v; want %v with %q", c.spec, r, err, c.kind, c.says)
		}
		var e *RegionError
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s: %T is no RegionError", c.spec, err)
		}
	}
	if _, err := g.Region("none.geojson"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestHas(t *testing.T) {
	g := land()
	defer g.Close()
	r, err := g.Region("Neustadt, NI")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		p    Place
		want bool
	}{
		"own postcode":          {Place{Kind: Postcode, Postcode: "22222", City: "Neustadt", Country: "DE"}, true},
		"without city":          {Place{Kind: Postcode, Postcode: "22222", Country: "DE"}, true},
		"without country":       {Place{Kind: Postcode, Postcode: "22222"}, true},
		"another country":       {Place{Kind: Postcode, Postcode: "22222", City: "Arlington", Country: "US"}, false},
		"shared, this city":     {Place{Kind: Postcode, Postcode: "22223", City: "NEUSTADT", Country: "DE"}, true},
		"shared, the neighbour": {Place{Kind: Postcode, Postcode: "22223", City: "Nachbarort", Country: "DE"}, false},
		"another Neustadt":      {Place{Kind: Postcode, Postcode: "33333", City: "Neustadt", Country: "DE"}, false},
		"by coordinate":         {Place{Kind: House, Point: orb.Point{10.01, 53}, HasPoint: true}, true},
		"by city":               {Place{Kind: City, Names: []string{"Neustadt"}, State: "NI", Country: "DE"}, true},
		"city, wrong state":     {Place{Kind: City, Names: []string{"Neustadt"}, State: "SH", Country: "DE"}, false},
		"nothing known":         {Place{Kind: Street, Street: "Weg"}, false},
	} {
		if got := r.Has(c.p); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSourcesTogether holds who wins where sources disagree: the last added,
// except that a coordinate wins over none.
func TestSourcesTogether(t *testing.T) {
	dir := t.TempDir()
	add := func(name string, places ...Place) {
		t.Helper()
		b, err := NewBuilder(dir)
		if err != nil {
			t.Fatal(err)
		}
		err = b.Add(&Source{Name: name, Format: "test", Licence: name + "'s"}, func(emit func(Place) error) error {
			for _, p := range places {
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
	}
	h := func(number string, lon float64) Place {
		return Place{Kind: House, ID: fmt.Sprint(lon), Street: "Weg", HouseNumber: number, Postcode: "1", City: "Ort", Country: "DE", Point: orb.Point{lon, 50}, HasPoint: lon != 0}
	}
	add("old", h("1", 8), h("2", 8), h("3", 8))
	add("new", h("1", 9), h("3", 0), h("4", 9))
	find := func() string {
		g, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		s := g.Streets(Query{Street: "Weg", Postcode: "1"})
		if len(s) != 1 {
			t.Fatalf("%+v", s)
		}
		var got []string
		for _, n := range []string{"1", "2", "3", "4"} {
			p, precision := g.House(s[0], n)
			got = append(got, fmt.Sprintf("%s:%v:%g:%s", n, precision, p.Point[0], p.Source))
		}
		return strings.Join(got, " ")
	}
	if got, want := find(), "1:house:9:new 2:house:8:old 3:house:8:old 4:house:9:new"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	add("old", h("1", 7)) // replaced, and now the last
	if got, want := find(), "1:house:7:old 2:interpolated:0:new 3:house:0:new 4:house:9:new"; !strings.HasPrefix(got, "1:house:7:old") || strings.Contains(got, ":8:") {
		t.Errorf("after replacing: %s (like %s)", got, want)
	}
	files, _ := os.ReadDir(filepath.Join(dir, sourcesDir))
	if len(files) != 2 {
		t.Errorf("%d source files for two sources", len(files))
	}
	// A source that fails leaves everything as it was.
	before := find()
	b, _ := NewBuilder(dir)
	boom := errors.New("boom")
	if err := b.Add(&Source{Name: "bad"}, func(emit func(Place) error) error { emit(h("9", 1)); return boom }); !errors.Is(err, boom) {
		t.Error(err)
	}
	if err := b.Add(&Source{Name: "good"}, func(emit func(Place) error) error { return emit(h("9", 1)) }); err != nil {
		t.Error(err)
	}
	b.Discard()
	if files, _ := os.ReadDir(filepath.Join(dir, sourcesDir)); len(files) != 2 || find() != before {
		t.Errorf("%d files after Discard", len(files))
	}
}

// FuzzDamaged holds that a gazetteer with any byte changed is found damaged by
// load, and that one with a forged checksum makes no look-up panic.
func FuzzDamaged(f *testing.F) {
	g := Of(town...)
	whole := slices.Clone(g.data)
	f.Add(uint32(20), byte(1), uint16(0))
	f.Add(uint32(len(whole)-30), byte(255), uint16(3))
	f.Fuzz(func(t *testing.T, at uint32, change byte, cut uint16) {
		if change == 0 && cut == 0 {
			return
		}
		data := slices.Clone(whole)
		data[int(at)%len(data)] ^= change
		data = data[:len(data)-min(int(cut), len(data))]
		if _, err := load(data); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewerFormat) && !errors.Is(err, ErrOlderFormat) {
			t.Fatalf("load: %v", err)
		}
		// Only the records, whose checksum is forged: the index is vellum's.
		if cut != 0 || change == 0 {
			return
		}
		records := int(binary.LittleEndian.Uint64(whole[len(whole)-footerSize:]))
		data = slices.Clone(whole)
		data[headerSize+int(at)%(records-headerSize)] ^= change
		sum := len(data) - len(magic) - 4
		binary.LittleEndian.PutUint32(data[sum:], crc32.Checksum(data[:sum], crcTable))
		bad, err := load(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range bad.Streets(Query{Street: "Lange Straße"}) {
			bad.House(s, "5")
		}
		bad.Streets(Query{Street: "Lange Straße", City: "Musterstadt"})
		bad.Postcodes("", "26121")
		bad.Cities("", "Musterstadt")
		bad.Region("Musterstadt")
	})
}
