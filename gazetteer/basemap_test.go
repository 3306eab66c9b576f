package gazetteer

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"
)

// basemapOf writes the base map of shapes within box and opens it.
func basemapOf(t testing.TB, dir string, box orb.Bound, shapes ...Shape) *Basemap {
	b, err := NewBuilder(filepath.Join(dir, "gazetteer"))
	if err != nil {
		t.Fatal(err)
	}
	err = b.Add(&Source{Name: "town.osm", Format: "osm"}, func(emit func(Place) error) error {
		for _, s := range shapes {
			if err := b.Shape(s); err != nil {
				return err
			}
		}
		return emit(Place{ID: "node/1", Kind: City, Names: []string{"Musterstadt"}, City: "Musterstadt"})
	})
	if err == nil {
		err = b.Finish(t.Context())
	}
	if err == nil {
		_, err = WriteBasemap(t.Context(), filepath.Join(dir, "gazetteer"), filepath.Join(dir, "basemap"), box)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := OpenBasemap(filepath.Join(dir, "basemap"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// tile reads one tile; nil where there is none.
func tileOf(t testing.TB, m *Basemap, level, x, y int) tile {
	packed, err := m.Tile(level, x, y)
	if err != nil {
		t.Fatal(err)
	}
	if packed == nil {
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var v tile
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("tile %d/%d/%d: %v in %.200s", level, x, y, err, text)
	}
	return v
}

// unitsBeside returns how far, in units, a point of a tile lies from the lines.
func unitsBeside(p orb.Point, shapes []tileShape) float64 {
	least := math.Inf(1)
	for _, s := range shapes {
		for _, line := range s.Lines {
			at := orb.Point{float64(line[0]), float64(line[1])}
			for i := 2; i < len(line); i += 2 {
				next := orb.Point{at[0] + float64(line[i]), at[1] + float64(line[i+1])}
				d := orb.Point{next[0] - at[0], next[1] - at[1]}
				u := 0.0
				if l := d[0]*d[0] + d[1]*d[1]; l > 0 {
					u = max(0, min(1, ((p[0]-at[0])*d[0]+(p[1]-at[1])*d[1])/l))
				}
				least = min(least, math.Hypot(p[0]-at[0]-u*d[0], p[1]-at[1]-u*d[1]))
				at = next
			}
		}
	}
	return least
}

// Every point of a road lies on it in the tile that the point belongs to, at
// every level that shows the road.
func TestBasemapShowsRoads(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		lon, lat := rapid.Float64Range(-179, 179).Draw(r, "lon"), rapid.Float64Range(-80, 80).Draw(r, "lat")
		var line orb.LineString
		for range rapid.IntRange(2, 8).Draw(r, "points") {
			line = append(line, orb.Point{lon + rapid.Float64Range(-0.05, 0.05).Draw(r, "dx"), lat + rapid.Float64Range(-0.05, 0.05).Draw(r, "dy")})
		}
		box := orb.Bound{Min: orb.Point{lon - 0.1, lat - 0.1}, Max: orb.Point{lon + 0.1, lat + 0.1}}
		sorted := disk.Sorter{Memory: 1 << 20}
		if err := cut(&sorted, Shape{Kind: MajorRoad, Name: "Lange Straße", Lines: []orb.LineString{line}}, box); err != nil {
			r.Fatal(err)
		}
		var file bytes.Buffer
		if _, err := writeTiles(t.Context(), &file, &sorted); err != nil {
			r.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			r.Fatal(err)
		}
		m := newBasemap(z, io.NopCloser(nil))
		for i := 1; i < len(line); i++ {
			u := rapid.Float64Range(0, 1).Draw(r, "along")
			// Lines are straight on the map, not in degrees.
			a, b := world(line[i-1]), world(line[i])
			p := orb.Point{a[0] + u*(b[0]-a[0]), a[1] + u*(b[1]-a[1])}
			for _, level := range BasemapLevels {
				small := math.Exp2(float64(level)) * TileExtent * max(line.Bound().Max[0]-line.Bound().Min[0], line.Bound().Max[1]-line.Bound().Min[1]) / 360
				if small < 2*coarseness[level].small+4 {
					continue // as good as a point
				}
				x, y := p[0]*math.Exp2(float64(level)), p[1]*math.Exp2(float64(level))
				tile := tileOf(t, m, level, int(x), int(y))
				in := orb.Point{(x - math.Floor(x)) * TileExtent, (y - math.Floor(y)) * TileExtent}
				if d := unitsBeside(in, tile["major"]); d > coarseness[level].corner+2 {
					r.Fatalf("level %d: %v lies %.1f units beside its road: %v", level, in, d, tile)
				}
			}
		}
	})
}

func TestBasemapContents(t *testing.T) {
	road := func(kind ShapeKind, name string, points ...orb.Point) Shape {
		return Shape{Kind: kind, Name: name, Lines: []orb.LineString{points}}
	}
	square := func(lon, lat, size float64) orb.LineString {
		return orb.LineString{{lon, lat}, {lon + size, lat}, {lon + size, lat + size}, {lon, lat + size}, {lon, lat}}
	}
	m := basemapOf(t, t.TempDir(), orb.Bound{Min: orb.Point{7.7, 49.4}, Max: orb.Point{7.8, 49.5}},
		road(MinorRoad, "Lange Straße", orb.Point{7.75, 49.445}, orb.Point{7.752, 49.445}),
		road(MinorRoad, "Lange Straße", orb.Point{7.752, 49.445}, orb.Point{7.754, 49.446}),
		road(Path, `Weg "am" <Ufer>`, orb.Point{7.75, 49.444}, orb.Point{7.753, 49.444}),
		Shape{Kind: Water, Lines: []orb.LineString{square(7.75, 49.44, 0.01), square(7.752, 49.442, 0.002)}},
		Shape{Kind: Building, Lines: []orb.LineString{square(7.7526, 49.4446, 0.0002)}},
		road(TownLabel, "Musterstadt", orb.Point{7.7525, 49.4445}),
		road(VillageLabel, "Dorf", orb.Point{7.7526, 49.4446}),
		road(MajorRoad, "weit fort", orb.Point{10, 50}, orb.Point{10.1, 50}),
		road(MajorRoad, "nirgends", orb.Point{math.NaN(), 50}, orb.Point{7.75, 49.44}),
		road(MajorRoad, "ein Punkt", orb.Point{7.75, 49.44}),
		road(0, "nichts", orb.Point{7.75, 49.44}, orb.Point{7.76, 49.44}),
	)
	w := world(orb.Point{7.7525, 49.4445})
	fine := tileOf(t, m, 13, int(w[0]*8192), int(w[1]*8192))
	if got := fine["minor"]; len(got) != 1 || got[0].Name != "Lange Straße" || len(got[0].Lines) != 1 || len(got[0].Lines[0]) != 6 {
		t.Errorf("two ways of one street, end to end: %+v", got)
	}
	if got := fine["path"]; len(got) != 1 || got[0].Name != `Weg "am" <Ufer>` {
		t.Errorf("path: %+v", got)
	}
	if got := fine["water"]; len(got) != 1 || len(got[0].Lines) != 2 {
		t.Errorf("a lake with an island: %+v", got)
	}
	if len(fine["major"]) != 0 {
		t.Errorf("roads that are not there: %+v", fine["major"])
	}
	finest := tileOf(t, m, 15, int(w[0]*32768), int(w[1]*32768))
	if len(fine["building"]) != 0 || len(finest["building"]) != 1 || len(finest["building"][0].Lines[0]) < 8 {
		t.Errorf("a building: %+v at level 13, %+v at 15", fine["building"], finest["building"])
	}
	for level, want := range map[int][2]int{5: {0, 0}, 8: {1, 0}, 11: {1, 1}, 13: {1, 1}, 15: {1, 1}} {
		n := math.Exp2(float64(level))
		tile := tileOf(t, m, level, int(w[0]*n), int(w[1]*n))
		if got := [2]int{len(tile["town"]), len(tile["village"])}; got != want || want[0] > 0 && tile["town"][0].Name != "Musterstadt" {
			t.Errorf("level %d has names %+v and %+v", level, tile["town"], tile["village"])
		}
	}
	if got := m.Levels(); !slices.Equal(got, []int{8, 11, 13, 15}) { // too small for 5
		t.Errorf("levels %v", got)
	}
	shapes, err := m.Shapes(orb.Bound{Min: orb.Point{7.745, 49.435}, Max: orb.Point{7.765, 49.455}})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[ShapeKind]int{}
	for _, s := range shapes {
		kinds[s.Kind]++
		for _, l := range s.Lines {
			for _, p := range l {
				if p[0] < 7.7499 || p[0] > 7.7601 || p[1] < 49.4399 || p[1] > 49.4501 {
					t.Errorf("a %v at %v", s.Kind, p)
				}
			}
		}
	}
	if kinds[Water] == 0 || kinds[MinorRoad] == 0 || kinds[Path] > 0 || len(kinds) != 2 {
		t.Errorf("shapes %v", kinds)
	}
	coarse := tileOf(t, m, 8, int(w[0]*256), int(w[1]*256))
	if len(coarse["path"])+len(coarse["minor"]) != 0 {
		t.Errorf("a wide map shows small streets: %+v", coarse)
	}
	for _, at := range [][3]int{{13, 0, 0}, {12, 4272, 2796}, {13, -1, 5}, {13, 1 << 13, 5}, {40, 1, 1}, {5, 16, 1 << 40}} {
		if b, err := m.Tile(at[0], at[1], at[2]); b != nil || err != nil {
			t.Errorf("tile %v: %d bytes, %v", at, len(b), err)
		}
	}
}

// A tile has its bounds, whatever lies in it; small streets give way to large
// ones.
func TestBasemapCrowded(t *testing.T) {
	var shapes []Shape
	for i := range maxTileShapes + 500 {
		x := 7.75 + 0.00001*float64(i%1000)
		kind := MinorRoad
		if i%100 == 0 {
			kind = MajorRoad
		}
		shapes = append(shapes, Shape{Kind: kind, Name: fmt.Sprintf("Straße %d %s", i, strings.Repeat("x", 60)), Lines: []orb.LineString{{{x, 49.44}, {x, 49.4401 + 1e-6*float64(i%7)}}}})
	}
	m := basemapOf(t, t.TempDir(), orb.Bound{Min: orb.Point{7.7, 49.4}, Max: orb.Point{7.8, 49.5}}, shapes...)
	w := world(orb.Point{7.755, 49.44})
	tile := tileOf(t, m, 13, int(w[0]*8192), int(w[1]*8192))
	if n := len(tile["major"]); n != (maxTileShapes+500+99)/100 {
		t.Errorf("%d large streets", n)
	}
	if n := len(tile["major"]) + len(tile["minor"]); n > maxTileShapes || n < 1000 {
		t.Errorf("%d streets in a tile", n)
	}
}

// The map has house numbers and the names of places; towns and postcodes only where no extract draws it.
func TestBasemapLabels(t *testing.T) {
	at := orb.Point{7.75, 49.44}
	places := []Place{
		{ID: "node/1", Kind: House, Names: []string{"Ring"}, Street: "Ring", HouseNumber: "12a", Point: at, HasPoint: true},
		{ID: "node/2", Kind: POI, Names: []string{"Altes Rathaus"}, Point: at, HasPoint: true, Object: &Object{ID: "node/2", Names: []string{"Altes Rathaus"}, Tags: []string{"amenity=townhall"}}},
		{ID: "geonames/1", Kind: Postcode, Names: []string{"67655"}, Postcode: "67655", City: "Lautern", Point: at, HasPoint: true},
		{ID: "node/3", Kind: House, Names: []string{"Ring"}, Street: "Ring", HouseNumber: "14"}, // without a point
	}
	for _, c := range []struct {
		drawn bool
		want  string
	}{
		{true, "number: 12a; place: Altes Rathaus"},
		{false, "number: 12a; place: Altes Rathaus; town: Lautern; village: 67655"},
	} {
		var all []string
		for i := range places {
			for _, s := range shapesOf(&places[i], c.drawn) {
				if s.clean() {
					all = append(all, s.Kind.String()+": "+s.Name)
				}
			}
		}
		if got := strings.Join(all, "; "); got != c.want {
			t.Errorf("drawn %t: %s, want %s", c.drawn, got, c.want)
		}
	}
}

func TestBasemapNone(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenBasemap(filepath.Join(dir, "basemap")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	path := filepath.Join(dir, "basemap")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if n, err := WriteBasemap(t.Context(), filepath.Join(dir, "gazetteer"), path, orb.Bound{Min: orb.Point{7, 49}, Max: orb.Point{8, 50}}); n != 0 || err != nil {
		t.Errorf("no sources: %d, %v", n, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old map is still there: %v", err)
	}
}

// A damaged file is refused, or answers with what it has; it never crashes.
func FuzzOpenBasemap(f *testing.F) {
	dir := f.TempDir()
	m := basemapOf(f, dir, orb.Bound{Min: orb.Point{7.7, 49.4}, Max: orb.Point{7.8, 49.5}}, Shape{Kind: MajorRoad, Lines: []orb.LineString{{{7.75, 49.44}, {7.76, 49.45}}}})
	good, err := os.ReadFile(filepath.Join(dir, "basemap"))
	if err != nil || m.Tiles() == 0 {
		f.Fatal(err, m.Tiles())
	}
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte("gazmap1\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "basemap")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := OpenBasemap(path)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		defer m.Close()
		for _, level := range m.Levels() {
			if _, err := m.Tile(level, 0, 0); err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
		}
		for name := range m.tiles {
			var level, x, y int
			fmt.Sscanf(name, "%d/%d/%d", &level, &x, &y)
			if _, err := m.Tile(level, x, y); err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
		}
	})
}
