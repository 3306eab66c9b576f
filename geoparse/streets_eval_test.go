package geoparse

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

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
