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

// TestEvalSingle prints how many of the labelled single strings are read with
// every field right, and which fields are wrong how.
func TestEvalSingle(t *testing.T) {
	needEval(t)
	e := newEvaluation(t)
	type count struct{ right, all int }
	german, libpostal := new(count), new(count)
	fmt.Printf("\n%-20s %-7s %5s  %s\n", "single strings", "country", "rows", "every field exact")
	for _, file := range []string{"usaddress", "usaddress_osm", "opencage_multiline", "libpostal", "pelias", "geocoder_tester", "ilib"} {
		// the labels of these are what a geocoder should answer: only those that
		// the text states are asked for
		partial := file == "opencage_multiline" || file == "pelias" || file == "geocoder_tester" || file == "ilib"
		by := map[string]*count{}
		for _, row := range readLabelled(t, "parse/"+file+".jsonl") {
			if len(row.Addresses) != 1 || !slices.Contains(singleCountries, row.Country) {
				continue
			}
			v, err := e.p.Parse(t.Context(), Input{Text: row.Text, Country: row.Country})
			if err != nil {
				t.Fatal(err)
			}
			var got Address
			if len(v.Addresses) > 0 {
				got = v.Addresses[0]
			}
			c := by[row.Country]
			if c == nil {
				c = new(count)
				by[row.Country] = c
			}
			c.all++
			want := row.Addresses[0]
			box, _ := want.POBox.(string)
			right := true
			check := func(field, got, want string) {
				if partial && (want == "" || !strings.Contains(gazetteer.Key(row.Text), gazetteer.Key(want))) {
					return
				}
				g, w := gazetteer.Key(got), gazetteer.Key(want)
				if g == w {
					return
				}
				right = false
				kind := "differs"
				switch {
				case g == "":
					kind = "missing"
				case w == "":
					kind = "invented"
				case strings.Contains(g, w):
					kind = "too long"
				case strings.Contains(w, g):
					kind = "too short"
				}
				e.wrong(file+" "+row.Country, field+" "+kind, row.ID, fmt.Sprintf("%q ← %q in %q", got, want, row.Text))
			}
			check("number", got.HouseNumber, want.HouseNumber)
			check("street", got.Street, want.Street)
			check("unit", got.Unit, want.Unit)
			check("box", got.POBox, box)
			if _, code, ok := strings.Cut(want.Postcode, "-"); ok && file == "ilib" && len(want.Postcode) < 8 {
				want.Postcode = code // "L-4750"
			}
			check("postcode", got.Postcode, want.Postcode)
			check("city", got.City, want.City)
			if want.State != "" {
				check("state", got.State, want.State)
			}
			if right {
				c.right++
			}
		}
		for _, country := range singleCountries {
			c := by[country]
			if c == nil {
				continue
			}
			fmt.Printf("%-20s %-7s %5d  %.3f %s\n", file, country, c.all, ratio(c.right, c.all), of(c.right, c.all))
			if floor := singleFloors[file+" "+country]; ratio(c.right, c.all) < floor {
				t.Errorf("%s %s fell below %.2f", file, country, floor)
			}
			if file == "opencage_multiline" && strings.Contains("DE AT CH LI", country) {
				german.right, german.all = german.right+c.right, german.all+c.all
			}
			if file == "libpostal" && strings.Contains("DE AT", country) {
				libpostal.right, libpostal.all = libpostal.right+c.right, libpostal.all+c.all
			}
		}
	}
	fmt.Printf("%-20s %-7s %5d  %.3f %s\n", "opencage_multiline", "DACHLI", german.all, ratio(german.right, german.all), of(german.right, german.all))
	fmt.Printf("%-20s %-7s %5d  %.3f %s\n", "libpostal", "DE+AT", libpostal.all, ratio(libpostal.right, libpostal.all), of(libpostal.right, libpostal.all))
	e.worst(20)
}
