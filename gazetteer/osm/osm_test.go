package osm

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gazehound/gazetteer"
)

// town is a made-up extract: a boundary with two postal areas, a street
// through both, houses with more and less complete addresses.
const town = `<?xml version="1.0" encoding="UTF-8"?>
<osm version="0.6">
 <node id="1" lat="53.00" lon="8.00"/><node id="2" lat="53.00" lon="8.04"/><node id="3" lat="53.02" lon="8.04"/><node id="4" lat="53.02" lon="8.00"/>
 <node id="5" lat="53.00" lon="8.02"/><node id="6" lat="53.02" lon="8.02"/>
 <node id="10" lat="53.010" lon="8.005"/><node id="11" lat="53.010" lon="8.035"/>
 <node id="20" lat="53.011" lon="8.010" timestamp="2026-05-01T00:00:00Z"><tag k="addr:street" v="Lange Straße"/><tag k="addr:housenumber" v="1"/><tag k="addr:city" v="Musterstadt"/><tag k="addr:postcode" v="26121"/><tag k="addr:country" v="DE"/></node>
 <node id="21" lat="53.011" lon="8.030"><tag k="addr:street" v="Lange Straße"/><tag k="addr:housenumber" v="9"/></node>
 <node id="22" lat="53.0102" lon="8.012"><tag k="addr:housenumber" v="2"/></node>
 <node id="23" lat="53.018" lon="8.038"><tag k="addr:place" v="Hof"/><tag k="addr:housenumber" v="7"/><tag k="website" v="www.hof.example; https://facebook.com/hof"/></node>
 <node id="24" lat="53.01" lon="8.02"><tag k="place" v="town"/><tag k="name" v="Musterstadt"/><tag k="name:en" v="Sample Town"/><tag k="population" v="12,345"/></node>
 <node id="25" lat="53.0111" lon="8.011"><tag k="website" v="http://www.hof.example/"/></node>
 <node id="30" lat="53.012" lon="8.0200"/><node id="31" lat="53.012" lon="8.0202"/><node id="32" lat="53.0122" lon="8.0202"/><node id="33" lat="53.0122" lon="8.0200"/>
 <way id="100"><nd ref="5"/><nd ref="1"/><nd ref="4"/><nd ref="6"/></way>
 <way id="101"><nd ref="5"/><nd ref="2"/><nd ref="3"/><nd ref="6"/></way>
 <way id="102"><nd ref="5"/><nd ref="6"/></way>
 <way id="110"><nd ref="10"/><nd ref="11"/><tag k="highway" v="residential"/><tag k="name" v="Lange Straße"/></way>
 <way id="111"><nd ref="30"/><nd ref="31"/><nd ref="32"/><nd ref="33"/><nd ref="30"/><tag k="building" v="yes"/><tag k="addr:housenumber" v="5"/></way>
 <relation id="1000"><member type="way" ref="100" role="outer"/><member type="way" ref="101" role="outer"/><tag k="type" v="boundary"/><tag k="boundary" v="administrative"/><tag k="admin_level" v="8"/><tag k="name" v="Musterstadt"/></relation>
 <relation id="1001"><member type="way" ref="100" role="outer"/><member type="way" ref="102" role="outer"/><tag k="type" v="boundary"/><tag k="boundary" v="postal_code"/><tag k="postal_code" v="26121"/></relation>
 <relation id="1002"><member type="way" ref="101" role="outer"/><member type="way" ref="102" role="outer"/><tag k="type" v="boundary"/><tag k="boundary" v="postal_code"/><tag k="postal_code" v="26123"/></relation>
 <relation id="1003"><member type="way" ref="101" role="outer"/><member type="way" ref="999" role="outer"/><tag k="boundary" v="administrative"/><tag k="admin_level" v="6"/><tag k="name" v="Half County"/></relation>
 <relation id="1004"><member type="way" ref="111" role="house"/><tag k="type" v="associatedStreet"/><tag k="name" v="Lange Straße"/></relation>
</osm>`

func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func readAll(path string) (map[string]gazetteer.Place, *Extract, error) {
	places := map[string]gazetteer.Place{}
	e, err := Read(context.Background(), path, Options{}, func(p gazetteer.Place) error {
		places[fmt.Sprintf("%v %s %s %s", p.Kind, p.ID, p.HouseNumber, p.Postcode)] = p
		return nil
	})
	return places, e, err
}

func TestTown(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(town))
	z.Close()
	for name, data := range map[string][]byte{"town.osm": []byte(town), "town.osm.gz": packed.Bytes(), "named-wrong.pbf": []byte(town)} {
		t.Run(name, func(t *testing.T) {
			places, e, err := readAll(write(t, name, data))
			if err != nil {
				t.Fatal(err)
			}
			for key, want := range map[string][4]string{ // street, city, postcode, country
				"house node/20 1 26121":         {"Lange Straße", "Musterstadt", "26121", "DE"},
				"house node/21 9 26123":         {"Lange Straße", "Musterstadt", "26123", "DE"}, // by the outlines around it
				"house node/22 2 26121":         {"Lange Straße", "Musterstadt", "26121", "DE"}, // beside the street
				"house node/23 7 26123":         {"Hof", "Musterstadt", "26123", "DE"},          // of a place without streets
				"house way/111 5 26123":         {"Lange Straße", "Musterstadt", "26123", "DE"}, // by its associatedStreet
				"street way/110  26123":         {"Lange Straße", "Musterstadt", "26123", "DE"},
				"city node/24  ":                {"", "", "", "DE"},
				"city relation/1000  ":          {"", "", "", "DE"},
				"postcode relation/1001  26121": {"", "Musterstadt", "26121", "DE"},
			} {
				p, ok := places[key]
				if got := [4]string{p.Street, p.City, p.Postcode, p.Country}; !ok || got != want {
					t.Errorf("%s: %v %q, want %q", key, ok, got, want)
				}
			}
			if len(places["city relation/1000  "].Area) != 1 || len(places["postcode relation/1001  26121"].Area) != 1 {
				t.Error("outlines were not assembled")
			}
			if e.HouseNumbers != 5 || e.NoStreet != 0 || e.Highways != 1 || e.Broken != 1 || e.Websites != 2 || e.SocialMedia != 1 || len(e.Sites) != 1 || e.Date.Format("2006-01") != "2026-05" {
				t.Errorf("%+v", e)
			}
			if len(e.Sites) == 1 && e.Sites[0].URL != "https://www.hof.example/" && e.Sites[0].URL != "http://www.hof.example/" {
				t.Errorf("site %+v", e.Sites[0])
			}
		})
		if t.Failed() {
			places, _, _ := readAll(write(t, name, data))
			for key := range places {
				t.Log(key)
			}
		}
	}
}

func TestBadExtracts(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(strings.Repeat(town, 1)))
	z.Close()
	block := func(kind string, size int) []byte {
		head := append([]byte{0x0a, byte(len(kind))}, kind...)
		head = binary.AppendUvarint(append(head, 3<<3), uint64(size))
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(head))), head...)
	}
	pbf := append(block("OSMHeader", 4), 0x10, 0, 0x10, 0)
	pbf = append(pbf, block("OSMData", 1000)...)
	for name, c := range map[string]struct {
		data []byte
		want error
		says string
	}{
		"empty.osm.pbf":     {nil, ErrFormat, "it is empty"},
		"page.osm.pbf":      {[]byte("<!DOCTYPE html><title>404</title>"), ErrFormat, "a web page"},
		"zip.osm.pbf":       {[]byte("PK\x03\x04xxxxxxxxxxxxxxxx"), ErrFormat, "a zip"},
		"table.osm":         {[]byte("a,b,c\n1,2,3\n"), ErrFormat, "wanted .osm.pbf"},
		"other.osm":         {[]byte("<?xml version=\"1.0\"?><gpx/>"), ErrFormat, "without an <osm> element"},
		"cut.osm":           {[]byte(town[:len(town)/2]), ErrTruncated, "ends in the middle"},
		"long.osm":          {[]byte(`<osm version="0.6"><node id="1" lat="53" lon="8"><tag k="name" v="` + strings.Repeat("x", 3*maxElement) + `"/></node></osm>`), ErrFormat, "an element of more than"},
		"cut.osm.gz":        {packed.Bytes()[:packed.Len()/2], ErrTruncated, ""},
		"wrong.osm":         {[]byte("<osm><node id=\"1\" lat=\"1\" lon=\"2\"></way></osm>"), ErrFormat, "line 1"},
		"cut.osm.pbf":       {append(pbf, make([]byte, 100)...), ErrTruncated, "in the middle of block 2 ("},
		"cut-head.osm.pbf":  {append(pbf, append(make([]byte, 1000), 0, 0)...), ErrTruncated, "block 3"},
		"noise.osm.pbf":     {append(pbf, append(make([]byte, 1000), 0xff, 0xff, 0xff, 0xff, 1)...), ErrFormat, "block 3 at byte"},
		"bad-block.osm.pbf": {append(pbf, make([]byte, 1000)...), ErrFormat, ""},
	} {
		t.Run(name, func(t *testing.T) {
			places, _, err := readAll(write(t, name, c.data))
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || len(places) > 0 {
				t.Errorf("%v, want %v with %q", err, c.want, c.says)
			}
		})
	}
	if _, _, err := readAll(filepath.Join(t.TempDir(), "none.osm.pbf")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, _, err := readAll(t.TempDir()); !errors.Is(err, ErrFormat) {
		t.Errorf("folder: %v", err)
	}
}

func TestCleanURL(t *testing.T) {
	for raw, want := range map[string]string{
		"www.example.org": "https://www.example.org/", "http://Example.ORG": "http://example.org/", "affenstall.example\u200e": "https://affenstall.example/",
		"//example.org/a#b": "https://example.org/a", "ftp://example.org": "", "mailto:a@example.org": "", "example": "", "": "", "http://": "",
		"https://www.facebook.com/x": "", "https://de-de.facebook.com/x": "", "bit.ly/abc": "", "notfacebook.com": "https://notfacebook.com/",
		"http://a b.example/": "http://ab.example/", "javascript:alert(1)": "", "http://u:p@example.org/": "", "https://example.org/a?b=c": "https://example.org/a?b=c",
	} {
		if got, _ := CleanURL(raw); got != want {
			t.Errorf("CleanURL(%q) = %q, want %q", raw, got, want)
		}
	}
}

// FuzzCleanURL holds the law that a cleaned URL is clean.
func FuzzCleanURL(f *testing.F) {
	for _, s := range []string{"www.example.org", "http://a.b/c?d#e", "//x.y", "https://facebook.com"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		site, _ := CleanURL(raw)
		if site == "" {
			return
		}
		if again, _ := CleanURL(site); again != site {
			t.Errorf("CleanURL(%q) = %q, but of that %q", raw, site, again)
		}
		if !strings.HasPrefix(site, "http://") && !strings.HasPrefix(site, "https://") {
			t.Errorf("CleanURL(%q) = %q", raw, site)
		}
	})
}

// TestInterpolationWays reads stretches of house numbers, names of streets that
// people use beside the usual one, and addresses of a place.
func TestInterpolationWays(t *testing.T) {
	const text = `<osm version="0.6">
 <node id="1" lat="53.010" lon="8.000"><tag k="addr:housenumber" v="1"/><tag k="addr:street" v="Lange Straße"/><tag k="addr:city" v="Ort"/><tag k="addr:postcode" v="26121"/></node>
 <node id="2" lat="53.010" lon="8.005"/>
 <node id="3" lat="53.010" lon="8.010"><tag k="addr:housenumber" v="21a"/></node>
 <node id="4" lat="53.010" lon="8.020"><tag k="addr:housenumber" v="31"/></node>
 <node id="5" lat="53.020" lon="8.000"/><node id="6" lat="53.020" lon="8.010"/>
 <way id="10"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="4"/><tag k="addr:interpolation" v="odd"/></way>
 <way id="11"><nd ref="1"/><nd ref="4"/><tag k="addr:interpolation" v="alphabetic"/></way>
 <way id="12"><nd ref="5"/><nd ref="6"/><tag k="addr:interpolation" v="even"/></way>
 <way id="13"><nd ref="5"/><nd ref="6"/><tag k="highway" v="residential"/><tag k="name" v="Neue Straße"/><tag k="alt_name" v="Marktstraße"/><tag k="old_name" v="Adolfstraße;Kaiserweg"/><tag k="loc_name" v="Gass"/><tag k="short_name" v="N4"/></way>
</osm>`
	var ranges []gazetteer.Place
	var names []string
	_, err := Read(context.Background(), write(t, "x.osm", []byte(text)), Options{}, func(p gazetteer.Place) error {
		if p.Range != nil {
			ranges = append(ranges, p)
		} else if p.Street == "Neue Straße" {
			names = p.Names
		}
		return nil
	})
	if err != nil || len(ranges) != 2 {
		t.Fatalf("%+v, %v", ranges, err)
	}
	first, second := ranges[0], ranges[1]
	if r := first.Range; first.Street != "Lange Straße" || first.City != "Ort" || first.Postcode != "26121" || r.From != 1 || r.To != 21 || r.Step != 2 || len(r.Line) != 3 || first.ID != "way/10" {
		t.Errorf("%+v %+v", first, r)
	}
	if r := second.Range; r.From != 21 || r.To != 31 || len(r.Line) != 2 {
		t.Errorf("%+v %+v", second, r)
	}
	if strings.Join(names, "|") != "Neue Straße|Marktstraße|N4|Gass|Adolfstraße|Kaiserweg" {
		t.Errorf("names %q", names)
	}
}

// FuzzRead holds the law that whatever is read has a name and lies on Earth.
func FuzzRead(f *testing.F) {
	f.Add([]byte(town))
	f.Add([]byte("<osm><node id='1' lat='NaN' lon='1e309'><tag k='addr:housenumber' v='1'/><tag k='addr:street' v='a'/></node></osm>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.osm")
		os.WriteFile(path, data, 0o644)
		Read(context.Background(), path, Options{}, func(p gazetteer.Place) error {
			if len(p.Names) == 0 && p.Kind != gazetteer.Postcode {
				t.Errorf("a place without a name: %+v", p)
			}
			return nil
		})
	})
}

// What is at a house comes with its name, its kind and its hours.
func TestObjectsOfHouses(t *testing.T) {
	const extract = `<osm version="0.6">
 <node id="1" lat="53.01" lon="8.01"><tag k="addr:street" v="Lange Straße"/><tag k="addr:housenumber" v="1"/><tag k="name" v="Krone"/><tag k="alt_name" v="Zur Krone"/><tag k="amenity" v="pub"/><tag k="opening_hours" v="Mo-Fr 17:00-23:00"/></node>
 <node id="2" lat="53.01" lon="8.02"><tag k="addr:street" v="Lange Straße"/><tag k="addr:housenumber" v="2"/><tag k="amenity" v="pub"/></node>
 <node id="3" lat="53.01" lon="8.03"><tag k="addr:street" v="Lange Straße"/><tag k="addr:housenumber" v="3"/><tag k="name" v="Haus Eva"/></node>
</osm>`
	places, _, err := readAll(write(t, "objects.osm", []byte(extract)))
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range map[string]string{
		"1": "&{node/1 [Krone Zur Krone] [amenity=pub opening_hours=Mo-Fr 17:00-23:00]}", "2": "<nil>", "3": "<nil>",
	} {
		if p := places["house node/"+number+" "+number+" "]; fmt.Sprint(p.Object) != want || p.Street != "Lange Straße" {
			t.Errorf("%s: %v, want %s", number, p.Object, want)
		}
	}
}
