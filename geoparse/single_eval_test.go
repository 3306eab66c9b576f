package geoparse

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gazehound/gazetteer"
)

// singleFloors are the shares that the single strings of a country must keep.
var singleFloors = map[string]float64{
	"usaddress US": .85, "usaddress_osm US": .99, "libpostal DE": 1, "libpostal AT": 1, "opencage_multiline DE": .87, "opencage_multiline AT": 1, "opencage_multiline LI": 1,
	"opencage_multiline IT": 1, "opencage_multiline AU": 1, "opencage_multiline FR": .6, "pelias NL": .9, "pelias FR": .7,
	"geocoder_tester DE": .75, "geocoder_tester IT": .8, "geocoder_tester NL": .8, "geocoder_tester FR": .92, "ilib ES": 1,
}

// singleCountries are those whose addresses are read.
var singleCountries = strings.Fields("DE AT CH LI US GB NL FR IT ES BE CA AU DK LU")

// A singleCount counts single strings, and those of them that are read with every field right.
type singleCount struct{ right, all int }

func (c *singleCount) add(d singleCount) {
	c.right += d.right
	c.all += d.all
}

func (c singleCount) print(file, country string) {
	fmt.Printf("%-20s %-7s %5d  %.3f %s\n", file, country, c.all, ratio(c.right, c.all), of(c.right, c.all))
}

// TestEvalSingle prints how many of the labelled single strings are read with
// every field right, and which fields are wrong how.
func TestEvalSingle(t *testing.T) {
	needEval(t)
	e := newEvaluation(t)
	var german, libpostal singleCount
	fmt.Printf("\n%-20s %-7s %5s  %s\n", "single strings", "country", "rows", "every field exact")
	for _, file := range []string{"usaddress", "usaddress_osm", "opencage_multiline", "libpostal", "pelias", "geocoder_tester", "ilib"} {
		by := map[string]singleCount{}
		for _, row := range readLabelled(t, "parse/"+file+".jsonl") {
			if len(row.Addresses) != 1 || !slices.Contains(singleCountries, row.Country) {
				continue
			}
			c := by[row.Country]
			c.all++
			if e.readsSingle(file, row) {
				c.right++
			}
			by[row.Country] = c
		}
		for _, country := range singleCountries {
			c := by[country]
			if c.all == 0 {
				continue
			}
			c.print(file, country)
			if floor := singleFloors[file+" "+country]; ratio(c.right, c.all) < floor {
				t.Errorf("%s %s fell below %.2f", file, country, floor)
			}
			if file == "opencage_multiline" && strings.Contains("DE AT CH LI", country) {
				german.add(c)
			}
			if file == "libpostal" && strings.Contains("DE AT", country) {
				libpostal.add(c)
			}
		}
	}
	german.print("opencage_multiline", "DACHLI")
	libpostal.print("libpostal", "DE+AT")
	e.worst(20)
}

// readsSingle reports whether every field of a row is read as its label says, and notes those that are not.
func (e *evaluation) readsSingle(file string, row labelled) (right bool) {
	e.t.Helper()
	v, err := e.p.Parse(e.t.Context(), Input{Text: row.Text, Country: row.Country})
	if err != nil {
		e.t.Fatal(err)
	}
	var got Address
	if len(v.Addresses) > 0 {
		got = v.Addresses[0]
	}
	want := row.Addresses[0]
	box, _ := want.POBox.(string)
	if _, code, ok := strings.Cut(want.Postcode, "-"); ok && file == "ilib" && len(want.Postcode) < 8 {
		want.Postcode = code // "L-4750"
	}
	if want.State == "" {
		got.State = ""
	}
	// the labels of these are what a geocoder should answer: only those that
	// the text states are asked for
	partial := file == "opencage_multiline" || file == "pelias" || file == "geocoder_tester" || file == "ilib"
	right = true
	for _, f := range []struct{ name, got, want string }{
		{"number", got.HouseNumber, want.HouseNumber},
		{"street", got.Street, want.Street},
		{"unit", got.Unit, want.Unit},
		{"box", got.POBox, box},
		{"postcode", got.Postcode, want.Postcode},
		{"city", got.City, want.City},
		{"state", got.State, want.State},
	} {
		if partial && (f.want == "" || !strings.Contains(gazetteer.Key(row.Text), gazetteer.Key(f.want))) {
			continue
		}
		if how := wrongHow(f.got, f.want); how != "" {
			right = false
			e.wrong(file+" "+row.Country, f.name+" "+how, row.ID,
				fmt.Sprintf("%q ← %q in %q", f.got, f.want, row.Text))
		}
	}
	return right
}

// wrongHow returns how a field differs from its label, or "".
func wrongHow(got, want string) string {
	g, w := gazetteer.Key(got), gazetteer.Key(want)
	switch {
	case g == w:
		return ""
	case g == "":
		return "missing"
	case w == "":
		return "invented"
	case strings.Contains(g, w):
		return "too long"
	case strings.Contains(w, g):
		return "too short"
	}
	return "differs"
}
