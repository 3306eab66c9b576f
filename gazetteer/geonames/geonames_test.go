package geonames

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gazehound/gazetteer"
)

func read(r gazetteer.Reader, text string) ([]gazetteer.Place, error) {
	var places []gazetteer.Place
	err := r(context.Background(), strings.NewReader(text), func(p gazetteer.Place) error {
		places = append(places, p)
		return nil
	})
	return places, err
}

const (
	postalRow = "US\t92602\tIrvine\tCalifornia\tCA\tOrange\t059\t\t\t33.7419\t-117.7467\t1\n"
	dumpRow   = "5359777\tIrvine\tIrvine\tIRV,Irvajn,Irvine City\t33.66946\t-117.82311\tP\tPPL\tUS\t\tCA\t059\t\t\t256927\t17\t20\tAmerica/Los_Angeles\t2019-02-27\n"
)

func TestPostal(t *testing.T) {
	for row, want := range map[string]gazetteer.Place{
		postalRow: {Postcode: "92602", Names: []string{"Irvine"}, State: "CA", Country: "US"},
		"AT\t1010\tWien, Innere Stadt\tWien\t09\ta\t900\tb\t90101\t48.2\t16.3\t5\n": {Postcode: "1010", Names: []string{"Wien", "Wien, Innere Stadt"}, State: "Wien", Country: "AT"},
		"CH\t5001\tAarau 1\tKanton Aargau\tAG\ta\t1901\tAarau\t4001\t47.3\t8.0\t\n": {Postcode: "5001", Names: []string{"Aarau", "Aarau 1"}, State: "AG", Country: "CH"},
	} {
		places, err := read(Postal(nil), row)
		if err != nil || len(places) != 1 {
			t.Fatalf("%q: %v, %v", row, places, err)
		}
		p := places[0]
		if p.Kind != gazetteer.Postcode || p.Postcode != want.Postcode || !slices.Equal(p.Names, want.Names) || p.State != want.State || p.Country != want.Country || !p.HasPoint {
			t.Errorf("%q:\n got %+v\nwant %+v", row, p, want)
		}
	}
}

func TestDump(t *testing.T) {
	places, err := read(Dump(nil), dumpRow+strings.Replace(dumpRow, "\tP\t", "\tH\t", 1))
	if err != nil || len(places) != 1 {
		t.Fatalf("%v, %v", places, err)
	}
	p := places[0]
	if p.Kind != gazetteer.City || p.Population != 256927 || p.State != "CA" || slices.Contains(p.Names, "IRV") || !slices.Contains(p.Names, "Irvine City") {
		t.Errorf("%+v", p)
	}
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]string{postalRow: "geonames-postal", dumpRow: "geonames", "a,b\n": "", "": "", "US\t1\n": ""} {
		if got := Sniff([]byte(text)); got != want {
			t.Errorf("Sniff(%.20q) = %q, want %q", text, got, want)
		}
	}
}

func TestBadRows(t *testing.T) {
	if _, err := read(Postal(nil), dumpRow); !errors.Is(err, gazetteer.ErrFormat) {
		t.Errorf("another format: %v", err)
	}
	if _, err := read(Postal(nil), strings.Repeat("x\n", 1000)); !errors.Is(err, gazetteer.ErrFormat) {
		t.Errorf("no rows: %v", err)
	}
	var rows []int
	text := postalRow + "x\n" + strings.Replace(postalRow, "33.7419", "NaN?", 1) + strings.Repeat("y", 1<<20) + "\n" + postalRow
	places, err := read(Postal(func(row int, _ string, _ error) { rows = append(rows, row) }), text)
	if err != nil || len(places) != 2 || !slices.Equal(rows, []int{2, 3, 4}) {
		t.Errorf("%d places, refused %v, %v", len(places), rows, err)
	}
}

// FuzzPostal holds the law that a reader never invents a postcode or a name.
func FuzzPostal(f *testing.F) {
	f.Add(postalRow)
	f.Add(dumpRow)
	f.Add("DE\t1\tA 1\t\t\t\t\t\t\t1\t2\t\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range []gazetteer.Reader{Postal(nil), Dump(nil)} {
			places, _ := read(r, text)
			for _, p := range places {
				for _, v := range append(p.Names, p.Postcode, p.Country) {
					if !strings.Contains(text, v) {
						t.Errorf("%q is not in %q", v, text)
					}
				}
			}
		}
	})
}

func TestRealFiles(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "gazetteer", "geonames-postal", "*.txt"))
	if len(files) == 0 {
		t.Skip("real data is missing")
	}
	rows := 0
	for _, file := range files {
		if filepath.Base(file) == "SOURCE.txt" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		places, err := read(Postal(func(row int, text string, why error) { t.Errorf("%s:%d: %v", file, row, why) }), string(data))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		rows += len(places)
	}
	if rows != 158_637 {
		t.Errorf("%d rows", rows)
	}
}
