package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/index"
	"gazehound/internal/kind"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Bleve's analysis workers belong to the process, not to an index.
		goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

var day = time.Date(2026, 11, 21, 10, 12, 40, 0, time.UTC)

// A shop is one address on one page of a made-up town.
type shop struct {
	url, title, name string
	street, number   string
	code, city       string
	lon, lat         float64
	osm              string
	precision        gazetteer.Precision
	confidence       float64
	day              int // after the first one
	before, after    string
}

func (s shop) document() index.Document {
	d := index.Document{URL: s.url, Title: s.title, Lang: "de", Fetched: day.AddDate(0, 0, s.day)}
	head := s.before + "\n" + s.name + "\n"
	text := fmt.Sprintf("%s %s, %s %s", s.street, s.number, s.code, s.city)
	d.Text = head + text + "\n" + s.after
	start := len([]rune(head))
	d.Addresses = []geoparse.Address{{
		Text: text, Start: start, End: start + len([]rune(text)), Street: s.street, HouseNumber: s.number, Postcode: s.code, City: s.city, Country: "DE",
		Level: geoparse.VerifiedLevel, Confidence: s.confidence, Precision: s.precision, Point: orb.Point{s.lon, s.lat}, InRegion: true,
		Place:      gazetteer.Place{ID: s.osm, Street: s.street, Postcode: s.code, City: s.city},
		Belongings: geoparse.Belongings{Name: s.name, Kind: kind.OfName(s.name, "de", "DE")},
	}}
	return d
}

var shops = []shop{
	{url: "https://www.tischlerei-harms.example/kontakt", title: "Kontakt | Tischlerei Harms", name: "Tischlerei Harms", street: "Nadorster Straße", number: "12a", code: "26123", city: "Oldenburg", lon: 8.2187, lat: 53.15262, osm: "node/240036", precision: gazetteer.HousePrecision, confidence: 0.98, before: "Möbel nach Maß"},
	{url: "https://www.tischlerei-harms.example/impressum", title: "Impressum | Tischlerei Harms", name: "Tischlerei Harms", street: "Nadorster Straße", number: "12a", code: "26123", city: "Oldenburg", lon: 8.2187, lat: 53.15262, osm: "node/240036", precision: gazetteer.HousePrecision, confidence: 0.98, day: 3},
	{url: "https://baeckerei-mueller.example/?a=1&b=2", title: "Bäckerei Müller", name: "Bäckerei Müller", street: "Lange Straße", number: "5", code: "26122", city: "Oldenburg", lon: 8.2140001234, lat: 53.14, precision: gazetteer.InterpolatedPrecision, confidence: 0.9, day: 5, after: "Brötchen & Kuchen"},
	{url: "https://verein.example/", title: "Turnverein", name: "Turnverein von 1880", street: "Haarenesch", number: "7-9", code: "01067", city: "Dresden", lon: 13.73, lat: 51.05, osm: "way/9", precision: gazetteer.StreetPrecision, confidence: 0.7},
	{url: "https://platz.example/", title: "Am Platz", name: "Kiosk am Platz", street: "", number: "", code: "26121", city: "Oldenburg", lon: 8.2, lat: 53.15, precision: gazetteer.PostcodePrecision, confidence: 0.6},
	{url: "https://ohne.example/", title: "Ohne Lage", name: "Verein ohne Lage", street: "Neue Straße", number: "3", code: "26121", city: "Oldenburg", confidence: 0.5},
	{url: "https://böse.example/<script>\"'", title: hostile, name: "=cmd|' /C calc'!A0", street: "Neue Straße", number: "4", code: "26121", city: "Oldenburg", lon: 8.21, lat: 53.141, precision: gazetteer.HousePrecision, confidence: 0.8, before: hostile, after: hostile},
	{url: "javascript://x.example/%0aalert(1)", title: "]]>", name: "<b onmouseover=alert(3)>Böse</b>", street: "Weg \"A\" & 'B'", number: "1", code: "26121", city: "-1+2", lon: 8.22, lat: 53.142, precision: gazetteer.StreetPrecision, confidence: 0.8},
}

const hostile = `</textarea></script><script>alert(1)</script>"><img src=x onerror=alert(2)> {{.}} ]]> <!-- --> &amp; ` + "\x01\u2028"

var outline = orb.MultiPolygon{{{{8.15, 53.10}, {8.22, 53.09}, {8.28, 53.12}, {8.29, 53.17}, {8.23, 53.20}, {8.16, 53.18}, {8.14, 53.14}, {8.15, 53.10}}}}

// town returns an index of the shops.
func town(t testing.TB, shops []shop) *index.Index {
	t.Helper()
	x, err := index.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	errs := make(chan error, len(shops))
	for _, s := range shops {
		go func() { errs <- x.Put(context.Background(), s.document()) }()
	}
	for range shops {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	return x
}

func options() Options {
	return Options{Region: "Oldenburg <&>", Outline: outline, Licence: "ODbL-1.0", Attribution: "© OpenStreetMap contributors"}
}

func export(t testing.TB, x *index.Index, format string, o Options) (string, Summary) {
	t.Helper()
	f, ok := Lookup(format)
	if !ok {
		t.Fatalf("no format %s", format)
	}
	var b bytes.Buffer
	sum, err := Write(t.Context(), &b, x, f, o)
	if err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String(), sum
}

// Each format as it is, whatever order the pages came in.
func TestGolden(t *testing.T) {
	x, y := town(t, shops), town(t, shops[len(shops)-1:])
	for _, s := range slices.Backward(shops) {
		if err := y.Put(t.Context(), s.document()); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range Formats() {
		for _, c := range []struct {
			name   string
			change func(*Options)
		}{
			{f.Name, func(*Options) {}},
			{f.Name + "-evidence", func(o *Options) { o.Evidence = !f.facts }},
			{f.Name + "-special", func(o *Options) {
				o.RS, o.Excel, o.Names = f.Name == "geojsonseq", f.Name == "csv", f.Name == "osm" || f.Name == "conflator"
			}},
		} {
			o := options()
			c.change(&o)
			if c.name != f.Name && reflect.DeepEqual(o, options()) {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				got, _ := export(t, x, f.Name, o)
				if again, _ := export(t, y, f.Name, o); again != got {
					t.Errorf("the order of the pages shows:\n%s", cmp.Diff(got, again))
				}
				if f.Name == "geoparquet" {
					return // not for eyes; TestGeoParquet reads it
				}
				golden := filepath.Join("testdata", c.name+".golden")
				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestFilters(t *testing.T) {
	x := town(t, shops)
	for _, c := range []struct {
		name   string
		format string
		change func(*Options)
		want   Summary
	}{
		{"all", "ndjson", func(*Options) {}, Summary{Addresses: 7}},
		{"points", "kml", func(*Options) {}, Summary{Addresses: 6, LeftOut: 1}},
		{"street at least", "osm", func(*Options) {}, Summary{Addresses: 5, LeftOut: 2}},
		{"box", "csv", func(o *Options) { o.Box = &orb.Bound{Min: orb.Point{8.2, 53.13}, Max: orb.Point{8.215, 53.145}} }, Summary{Addresses: 2}},
		{"street", "csv", func(o *Options) { o.Street = []string{"lange str."} }, Summary{Addresses: 1}},
		{"postcode", "csv", func(o *Options) { o.Postcode = []string{"26121"} }, Summary{Addresses: 4}},
		{"host", "csv", func(o *Options) { o.Host = []string{"tischlerei-harms.example"} }, Summary{Addresses: 1}},
		{"confidence", "csv", func(o *Options) { o.MinConfidence = 0.8 }, Summary{Addresses: 4}},
		{"precision", "csv", func(o *Options) { o.Precision = gazetteer.InterpolatedPrecision }, Summary{Addresses: 3}},
		{"since", "csv", func(o *Options) { o.Since = day.AddDate(0, 0, 1) }, Summary{Addresses: 1}},
		{"region", "csv", func(o *Options) { o.Within = &gazetteer.Region{Area: outline} }, Summary{Addresses: 5}},
		{"region by postcodes", "csv", func(o *Options) {
			o.Within = &gazetteer.Region{Area: outline, Estimated: true, Country: "DE", Postcodes: []string{"DE 01067"}}
		}, Summary{Addresses: 1}},
		{"nothing", "geojson", func(o *Options) { o.Street = []string{"Kein Weg"} }, Summary{}},
		{"seeds", "seeds", func(*Options) {}, Summary{Addresses: 7, Sites: 6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options()
			c.change(&o)
			if _, got := export(t, x, c.format, o); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// Most formats mark what is gone; formats for maps leave it out.
func TestGone(t *testing.T) {
	x := town(t, shops[:3])
	d := shops[2].document()
	d.Addresses, d.Fetched = nil, d.Fetched.AddDate(0, 0, 9)
	if err := x.Renew(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]Summary{
		"geojson": {Addresses: 2}, "csv": {Addresses: 2},
		"osm": {Addresses: 1, Gone: 1}, "maproulette": {Addresses: 1, Gone: 1}, "conflator": {Addresses: 1, Gone: 1},
	} {
		if text, got := export(t, x, format, options()); got != want {
			t.Errorf("%s: %+v, want %+v:\n%s", format, got, want, text)
		}
	}
}

// All formats stand an index without addresses.
func TestEmpty(t *testing.T) {
	x := town(t, nil)
	for _, f := range Formats() {
		text, sum := export(t, x, f.Name, Options{})
		if sum != (Summary{}) {
			t.Errorf("%s: %+v", f.Name, sum)
		}
		check(t, f.Name, text, 0)
	}
}

func TestBadOptions(t *testing.T) {
	x := town(t, nil)
	for _, c := range []struct {
		format string
		o      Options
	}{
		{"csv", Options{MinConfidence: 1.5}}, {"osm", Options{Evidence: true}}, {"seeds", Options{Evidence: true}},
		{"csv", Options{RS: true}}, {"kml", Options{Excel: true}}, {"geojson", Options{Names: true}},
	} {
		f, _ := Lookup(c.format)
		if _, err := Write(t.Context(), io.Discard, x, f, c.o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s %+v: %v", c.format, c.o, err)
		}
	}
	f, _ := Lookup("csv")
	if _, err := Write(t.Context(), io.Discard, x, f, Options{Filters: index.Filters{Precision: 9}}); !errors.Is(err, index.ErrQuery) {
		t.Errorf("no precision: %v", err)
	}
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

// An export ends when it cannot write and when its context ends.
func TestStops(t *testing.T) {
	x := town(t, shops)
	for _, f := range Formats() {
		if _, err := Write(t.Context(), full{}, x, f, options()); !errors.Is(err, errFull) {
			t.Errorf("%s: disk full: %v", f.Name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Write(ctx, io.Discard, x, f, options()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", f.Name, err)
		}
	}
}

// The columns are the properties, under their names and in their order.
func TestColumns(t *testing.T) {
	var want, got []string
	for f := range reflect.TypeFor[Properties]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous { // of a KindTag, @kind says all
			want = append(want, name)
		}
	}
	for _, c := range columns {
		got = append(got, c.name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// check reads an export as its readers do, and counts its addresses.
func check(t testing.TB, format, text string, want int) {
	t.Helper()
	got := 0
	switch format {
	case "geojson":
		var c struct {
			Type     string
			Features []Feature
		}
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.Type != "FeatureCollection" || c.Features == nil {
			t.Errorf("%s: %v", format, err)
		}
		got = len(c.Features)
	case "conflator":
		got = checkConflator(t, text)
	case "geojsonseq", "ndjson", "maproulette":
		for line := range strings.Lines(text) {
			line, marked := strings.CutPrefix(line, recordSeparator)
			var v map[string]any
			if err := json.Unmarshal([]byte(line), &v); err != nil || marked != (format == "maproulette") {
				t.Errorf("%s: %v in %q", format, err, line)
			}
			got++
		}
	case "csv":
		got = checkCSV(t, text)
	case "kml", "gpx", "osm", "atom":
		got = checkXML(t, format, text)
	case "html":
		got = strings.Count(text, "<li id=")
		checkHTML(t, text)
	case "seeds":
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "#") {
				got++
				if !strings.HasPrefix(line, "http") {
					t.Errorf("seeds: %q", line)
				}
			}
		}
	case "geoparquet":
		got = len(readGeoParquet(t, text))
	default:
		t.Fatalf("format %s is not checked", format)
	}
	if got != want {
		t.Errorf("%s: %d addresses, want %d", format, got, want)
	}
}

func checkConflator(t testing.TB, text string) (addresses int) {
	t.Helper()
	var list []struct {
		ID       string
		Lat, Lon *float64
		Tags     map[string]string
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil || list == nil {
		t.Errorf("conflator: %v", err)
	}
	ids := map[string]bool{}
	for _, o := range list {
		if o.ID == "" || ids[o.ID] || o.Lat == nil || o.Lon == nil || o.Tags["addr:city"] == "" {
			t.Errorf("conflator: %+v", o)
		}
		ids[o.ID] = true
	}
	return len(list)
}

func checkCSV(t testing.TB, text string) (addresses int) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatalf("csv: %v", err)
	}
	for _, row := range rows {
		for _, cell := range row {
			if dangerous(cell) {
				t.Errorf("csv: cell %q is a formula", cell)
			}
		}
	}
	return len(rows) - 1
}

// checkXML also holds that no page adds an element.
func checkXML(t testing.TB, format, text string) (addresses int) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := dec.Token()
		if err == io.EOF {
			return addresses
		}
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !slices.Contains(elements, e.Name.Local) {
			t.Errorf("%s: element %s comes from a page", format, e.Name.Local)
		}
		if slices.Contains([]string{"Placemark", "wpt", "node", "entry"}, e.Name.Local) {
			addresses++
		}
	}
}

var elements = strings.Fields("feed entry id title published updated summary point author rights kml Document Placemark name address description ExtendedData Data value Point coordinates gpx metadata desc wpt cmt src link text type osm node tag")

func TestNotice(t *testing.T) {
	for want, o := range map[string]Options{
		"": {},
		"Contains data from GeoNames. Licence: CC BY 4.0.": {Attribution: "GeoNames", Licence: "CC BY 4.0"},
		"Contains data © OpenStreetMap contributors.":      {Attribution: "© OpenStreetMap contributors"},
	} {
		if got := o.Notice(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
