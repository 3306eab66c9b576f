package gazetteer_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"gazehound/gazetteer"
	"gazehound/gazetteer/geonames"
	"gazehound/gazetteer/openaddresses"
	"gazehound/gazetteer/table"
	"gazehound/gazetteer/tiger"
)

const addresses = "street;housenumber;postcode;city;lat;lon\nLange Straße;5 a;26122;Oldenburg;53.14;8.21\nÖderweg;7;26122;Oldenburg;53.15;8.22\n"

// archive makes files of text in every wrapping that OpenSource knows.
func archives(t *testing.T, text string) map[string][]byte {
	t.Helper()
	encode := func(order unicode.Endianness) []byte {
		data, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().Bytes([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var gz, zipped bytes.Buffer
	g := gzip.NewWriter(&gz)
	io.WriteString(g, text)
	g.Close()
	z := zip.NewWriter(&zipped)
	for name, data := range map[string]string{"readme.txt": "x", "data/addresses.csv": text} {
		w, _ := z.Create(name)
		io.WriteString(w, data)
	}
	z.Close()
	latin, err := charmap.ISO8859_1.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"plain": []byte(text), "BOM": []byte("\xef\xbb\xbf" + text), "UTF-16LE": encode(unicode.LittleEndian), "UTF-16BE": encode(unicode.BigEndian),
		"CRLF": []byte(strings.ReplaceAll(text, "\n", "\r\n")), "Latin-1": latin, "gzip": gz.Bytes(), "zip": zipped.Bytes(),
	}
}

func readFile(t *testing.T, data []byte, read gazetteer.Reader) (places []gazetteer.Place, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	src, _, err := gazetteer.OpenSource(path, 0)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	err = read(context.Background(), src, func(p gazetteer.Place) error {
		places = append(places, p)
		return nil
	})
	return places, err
}

func TestEncodings(t *testing.T) {
	for name, data := range archives(t, addresses) {
		places, err := readFile(t, data, table.Reader(table.Options{}))
		if err != nil || len(places) != 2 || places[0].Street != "Lange Straße" || places[1].Street != "Öderweg" || places[1].City != "Oldenburg" {
			t.Errorf("%s: %+v, %v", name, places, err)
		}
	}
}

// TestCutArchives cuts archives off anywhere: none of the pieces may be taken
// for the whole.
func TestCutArchives(t *testing.T) {
	for name, data := range archives(t, addresses) {
		if name != "gzip" && name != "zip" {
			continue
		}
		for cut := 4; cut < len(data); cut++ {
			if _, err := readFile(t, data[:cut], table.Reader(table.Options{})); err == nil {
				t.Errorf("the first %d of %d bytes of a %s pass", cut, len(data), name)
			}
		}
	}
}

// TestEveryRowCounts holds the law that each row of a table is emitted or
// refused, never lost.
func TestEveryRowCounts(t *testing.T) {
	bad := []string{
		";1;26122;Oldenburg;53.1;8.2",                              // no street
		"Weg;1;26122;Oldenburg;NaN;8.2",                            // no coordinate
		"Weg;1;26122;Oldenburg;1e309;8.2",                          // infinite
		"Weg;1;26122;Oldenburg;91;8.2",                             // not on Earth
		"Weg;1;26122;Oldenburg;x;8.2",                              // no number
		"Weg;1;26122;Oldenburg;53.1;",                              // a latitude or a longitude alone
		"Weg;1;26122",                                              // too few
		"Weg;1;26122;Oldenburg;53.1;8.2;a;b",                       // too many
		"\"Weg;1;26122;Oldenburg;53.1;8.2 a\"b",                    // text behind a quote
		strings.Repeat("w", 5000) + ";1;26122;Oldenburg;53.1;8.2",  // a name of 5 KB
		strings.Repeat("w", 2<<20) + ";1;26122;Oldenburg;53.1;8.2", // a line of 2 MB
		"...;1;26122;Oldenburg;53.1;8.2",                           // a name without a letter
		"Weg;?;26122;Oldenburg;53.1;8.2",                           // a number without a digit or letter
	}
	text := addresses + strings.Join(bad, "\n") + "\n" + "Weg;9;26122;Oldenburg;53.1;8.2\nWeg;9;26122;Oldenburg;53.1;8.2\n"
	var refused []int
	b, err := gazetteer.NewBuilder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	src := gazetteer.Source{Name: "x", Format: "table"}
	err = b.Add(&src, func(emit func(gazetteer.Place) error) error {
		return table.Reader(table.Options{Country: "DE", Refuse: func(row int, _ string, _ error) { refused = append(refused, row) }})(context.Background(), strings.NewReader(text), func(p gazetteer.Place) error {
			return emit(p)
		})
	})
	if err != nil || src.Places+len(refused) != 2+len(bad)+2 {
		t.Errorf("%d places and %v refused of %d rows, %v", src.Places, refused, 4+len(bad), err)
	}
	for i := range bad {
		if row := 4 + i; !slices.Contains(refused, row) && !strings.HasPrefix(bad[i], "\"") {
			t.Errorf("row %d is kept: %.60s", row, bad[i])
		}
	}
}

// An endless line.
type lines struct {
	head string
	left int
}

func (l *lines) Read(b []byte) (int, error) {
	if l.head != "" {
		n := copy(b, l.head)
		l.head = l.head[n:]
		return n, nil
	}
	if l.left == 0 {
		return 0, io.EOF
	}
	n := min(len(b), l.left)
	for i := range b[:n] {
		b[i] = 'x'
	}
	l.left -= n
	return n, nil
}

// TestHugeLines reads a line of 1 GB, and of 128 MB with each other reader of
// lines, in bounded memory; the rows before and behind it are kept.
func TestHugeLines(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	postal := "US\t92602\tIrvine\tCalifornia\tCA\tOrange\t059\t\t\t33.7419\t-117.7467\t1\n"
	stretch := "101;199;odd;Spring St;Autauga;AL;36067;LINESTRING(-86.466 32.428,-86.464 32.428)\n"
	house := "-117.8,33.6,1,MAIN ST,,IRVINE,,CA,92614,,a1\n"
	for name, c := range map[string]struct {
		read       func(refuse gazetteer.Refuse) gazetteer.Reader
		head, tail string
		places     int
		size       int
	}{
		"geonames": {geonames.Postal, postal, postal, 3, 64 << 20}, // with the name of the state
		"table":    {func(r gazetteer.Refuse) gazetteer.Reader { return table.Reader(table.Options{Refuse: r}) }, addresses, "Weg;1;26122;Oldenburg;53.1;8.2\n", 3, 256 << 20},
		"tiger":    {tiger.CSV, "from;to;interpolation;street;city;state;postcode;geometry\n" + stretch, stretch, 2, 64 << 20},
		"openaddresses": {func(r gazetteer.Refuse) gazetteer.Reader {
			return openaddresses.Reader(openaddresses.Options{Refuse: r})
		}, "LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH\n" + house, house, 2, 64 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			places, refused := 0, 0
			read := c.read(func(row int, text string, why error) {
				refused++
				if len(text) > 1024 || !errors.Is(why, gazetteer.ErrTooLong) {
					t.Errorf("row %d: %v, %d bytes of text", row, why, len(text))
				}
			})
			err := read(context.Background(), io.MultiReader(&lines{c.head, c.size}, strings.NewReader("\n"+c.tail)), func(gazetteer.Place) error {
				places++
				return nil
			})
			runtime.ReadMemStats(&after)
			if err != nil || places != c.places || refused != 1 {
				t.Errorf("%d places, %d refused, %v", places, refused, err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
				t.Errorf("%d bytes allocated", took)
			}
		})
	}
}

// FuzzBuilder: whatever a source contains, a place that is kept has a name and a coordinate on
// Earth, the compiled gazetteer opens, and each place is found by its own words.
func FuzzBuilder(f *testing.F) {
	f.Add("Lange Straße", "5 a", "26122", "Oldenburg", 8.21, 53.14)
	f.Add("", "", "", "Ort", math.NaN(), math.Inf(1))
	f.Add("\x00", "½", "D-1", "a\u202eb", 181.0, 0.0)
	f.Fuzz(func(t *testing.T, street, number, code, city string, lon, lat float64) {
		p := gazetteer.Place{Kind: gazetteer.House, Street: street, HouseNumber: number, Postcode: code, City: city, Country: "DE", HasPoint: true}
		p.Point[0], p.Point[1] = lon, lat
		b, err := gazetteer.NewBuilder(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		var kept error
		err = b.Add(&gazetteer.Source{Name: "x", Format: "x"}, func(emit func(gazetteer.Place) error) error {
			kept = emit(p)
			return nil
		})
		if err != nil || (kept == nil) == (b.Refused() == 1) {
			t.Fatalf("%v, kept %v, %d refused", err, kept, b.Refused())
		}
		if kept != nil {
			if !errors.Is(kept, gazetteer.ErrBadPlace) {
				t.Fatal(kept)
			}
			return
		}
		if gazetteer.StreetKey(street) == "" || gazetteer.NumberKey(number) == "" || lon != 0 && !(math.Abs(lon) <= 180) || lat != 0 && !(math.Abs(lat) <= 90) {
			t.Fatalf("%+v is kept", p)
		}
	})
}

func ExampleGazetteer_House() {
	g := gazetteer.Of(
		gazetteer.Place{Kind: gazetteer.House, Street: "Lange Straße", HouseNumber: "1", City: "Oldenburg", Country: "DE", Point: [2]float64{8.21, 53.14}, HasPoint: true},
		gazetteer.Place{Kind: gazetteer.House, Street: "Lange Straße", HouseNumber: "5", City: "Oldenburg", Country: "DE", Point: [2]float64{8.22, 53.14}, HasPoint: true},
	)
	street := g.Streets(gazetteer.Query{Street: "lange str.", City: "Oldenburg"})[0]
	place, precision := g.House(street, "3")
	fmt.Println(precision, place.Point[0])
	// Output: interpolated 8.215
}
