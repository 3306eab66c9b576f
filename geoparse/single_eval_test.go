package geoparse

import (
	"os"
	"strings"
	"testing"

	"gazehound/gazetteer"
)

// TestEvalSingle prints how many of the labelled single strings are read with
// every field right.
func TestEvalSingle(t *testing.T) {
	needEval(t)
	p, err := New(evalGazetteer(t), nil, Options{EveryMention: true})
	if err != nil {
		t.Fatal(err)
	}
	verbose := os.Getenv("EVAL_ERRORS")
	for _, file := range []string{"usaddress", "usaddress_osm", "opencage_multiline", "libpostal", "pelias", "geocoder_tester"} {
		// the labels of these are what a geocoder should answer: only those that
		// the text states are asked for
		partial := file == "opencage_multiline" || file == "pelias" || file == "geocoder_tester"
		type count struct{ right, all int }
		by := map[string]*count{}
		for _, row := range readLabelled(t, "parse/"+file+".jsonl") {
			if len(row.Addresses) != 1 {
				continue
			}
			v, err := p.Parse(t.Context(), Input{Text: row.Text, Country: row.Country})
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
			var wrong []string
			check := func(field, got, want string) {
				if partial && (want == "" || !strings.Contains(gazetteer.Key(row.Text), gazetteer.Key(want))) {
					return
				}
				if gazetteer.Key(got) != gazetteer.Key(want) {
					wrong = append(wrong, field+" "+got+" ≠ "+want)
				}
			}
			check("number", got.HouseNumber, want.HouseNumber)
			check("street", got.Street, want.Street)
			check("unit", got.Unit, want.Unit)
			check("box", got.POBox, box)
			check("postcode", got.Postcode, want.Postcode)
			check("city", got.City, want.City)
			if want.State != "" {
				check("state", got.State, want.State)
			}
			if len(wrong) == 0 {
				c.right++
			} else if verbose != "" && (row.Country == "US" || row.Country == "DE" || row.Country == "AT" || row.Country == "CH" || row.Country == "LI" || verbose == "all") {
				t.Logf("BAD %s %s %q: %s", file, row.Country, row.Text, strings.Join(wrong, "; "))
			}
		}
		for country, c := range by {
			if c.all > 2 || grammarGerman(country) {
				t.Logf("%-20s %s  all fields %.3f (%d/%d)", file, country, ratio(c.right, c.all), c.right, c.all)
				if floor := singleFloors[file+" "+country]; ratio(c.right, c.all) < floor {
					t.Errorf("%s %s fell below %.2f", file, country, floor)
				}
			}
		}
	}
}

// singleFloors are the shares that the single strings of a country must keep.
var singleFloors = map[string]float64{
	"usaddress US": .85, "usaddress_osm US": .99, "libpostal DE": 1, "libpostal AT": 1, "opencage_multiline DE": .87, "opencage_multiline AT": 1, "opencage_multiline LI": 1,
	"opencage_multiline IT": 1, "opencage_multiline AU": 1, "opencage_multiline FR": .6, "pelias NL": .9, "pelias FR": .7,
	"geocoder_tester DE": .75, "geocoder_tester IT": .8, "geocoder_tester NL": .8, "geocoder_tester FR": .55,
}

func grammarGerman(c string) bool { return strings.Contains("DE AT CH LI US GB", c) }
