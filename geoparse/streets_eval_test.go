package geoparse

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/gazetteer/osm"
)

// TestEvalStreets writes the streets of extracts of OpenStreetMap as addresses and reads them with
// the gazetteer of postal codes alone, which knows none of them.
func TestEvalStreets(t *testing.T) {
	needEval(t)
	data := sharedData(t)
	p, err := New(evalGazetteer(t), nil, Options{EveryMention: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, country, place string
		floor                float64 // of names of several words
	}{
		{"osm-kaiserslautern-de/kaiserslautern.osm.gz", "DE", "67655 Kaiserslautern", .99},
		{"osm-krems-at/krems.osm.gz", "AT", "3500 Krems", .93},
		{"osm-liechtenstein/liechtenstein-latest.osm.pbf", "LI", "9490 Vaduz", .97},
	} {
		streets := map[string]bool{}
		_, err := osm.Read(t.Context(), filepath.Join(data, "gazetteer", c.file), osm.Options{Country: c.country},
			func(pl gazetteer.Place) error {
				if name := fold(pl.Street); name != "" {
					streets[name] = true
				}
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		var tried, right [2]int // of one word, of several
		for street := range streets {
			several := 0
			if strings.Contains(street, " ") {
				several = 1
			}
			for _, form := range []string{"Muster GmbH\n%s 12a\n%s\nTelefon", "Muster GmbH, %s 12a, %s, Telefon"} {
				v := parse(t, p, Input{Text: fmt.Sprintf(form, street, c.place)})
				tried[several]++
				if len(v.Addresses) == 1 && v.Addresses[0].Street == street && v.Addresses[0].HouseNumber == "12a" {
					right[several]++
				} else {
					t.Logf("%s: %q", c.country, street)
				}
			}
		}
		t.Logf("%s: one word %.3f of %d, several %.3f of %d", c.country, ratio(right[0], tried[0]), tried[0],
			ratio(right[1], tried[1]), tried[1])
		if ratio(right[1], tried[1]) < c.floor {
			t.Errorf("%s: names of several words %d of %d", c.country, right[1], tried[1])
		}
	}
}

// TestEvalFrenchStreets writes streets that begin with each French street word of another project's
// dictionary as addresses and reads them without a gazetteer of streets.
func TestEvalFrenchStreets(t *testing.T) {
	needEval(t)
	data, err := os.ReadFile(filepath.Join(sharedData(t), "gazetteer/libpostal-dictionaries/fr/street_types.txt"))
	if err != nil {
		t.Skip(err)
	}
	postcode := func(country, code, city string) gazetteer.Place {
		return gazetteer.Place{Kind: gazetteer.Postcode, Country: country, Postcode: code, City: city, Names: []string{city}}
	}
	p, err := New(testGazetteer(t, postcode("FR", "59000", "Lille"), postcode("BE", "1000", "Bruxelles")), nil,
		Options{EveryMention: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []struct {
		text  string
		floor float64
	}{
		{"Menuiserie Arlot\n3 %s\n59000 Lille\nTél. 03 20 00 00 00", .95},
		{"Menuiserie Arlot, 3, %s, 59000 Lille", .95},
		{"Venez nous voir au 3 %s, 59000 Lille.", .95},
		{"L'atelier, situé 3 %s à 59000 Lille", .95},
		{"Menuiserie\n%s 3\n1000 Bruxelles\n", .9},
	} {
		tried, right := 0, 0
		for line := range strings.Lines(string(data)) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "|")
			if word == "" {
				continue
			}
			first, size := utf8.DecodeRuneInString(word)
			street := string(unicode.ToUpper(first)) + word[size:] + " des Tilleuls"
			v := parse(t, p, Input{Text: fmt.Sprintf(form.text, street)})
			if tried++; len(v.Addresses) == 1 && v.Addresses[0].Street == street && v.Addresses[0].HouseNumber == "3" {
				right++
			} else {
				t.Logf("missed "+form.text, street)
			}
		}
		t.Logf("%-45q %d of %d", form.text, right, tried)
		if tried == 0 || ratio(right, tried) < form.floor {
			t.Errorf("%q: %d of %d", form.text, right, tried)
		}
	}
}
