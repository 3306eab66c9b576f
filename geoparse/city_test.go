package geoparse

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gazehound/gazetteer"
	"gazehound/gazetteer/osm"
)

// TestEvalCity writes every third house number of a real city in six spellings and
// finds it at its own coordinate.
func TestEvalCity(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	file := filepath.Join(sharedData(t), "gazetteer", "osm-kaiserslautern-de", "kaiserslautern.osm.gz")
	var places []gazetteer.Place
	extract, err := osm.Read(t.Context(), file, osm.Options{Country: "DE"}, func(p gazetteer.Place) error {
		places = append(places, p)
		return nil
	})
	if err != nil {
		t.Skip(err)
	}
	g := gazetteer.Of(places...)
	defer g.Close()
	p, err := New(g, nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	spell := []func(string) string{
		func(s string) string { return s },
		func(s string) string { return strings.NewReplacer("traße", "tr.").Replace(s) },
		func(s string) string { return strings.NewReplacer("ß", "ss").Replace(s) },
		strings.ToLower,
		strings.ToUpper,
		func(s string) string { return strings.ReplaceAll(s, " ", "-") },
	}
	houses, tried, wrong := 0, 0, make(map[string]int)
	for _, h := range places {
		if h.Kind != gazetteer.House || h.Street == "" || h.Postcode == "" || h.City == "" {
			continue
		}
		if houses++; houses%3 != 0 {
			continue
		}
		tried++
		for i, s := range spell {
			if i > 0 && tried%5 != i-1 {
				continue // each house in its own and one other spelling
			}
			text := fmt.Sprintf("Firma Beispiel\n%s %s\n%s %s\nTelefon 0631 5", s(h.Street), h.HouseNumber, h.Postcode, h.City)
			v := parse(t, p, Input{Text: text})
			problem := ""
			switch {
			case len(v.Addresses) != 1:
				problem = fmt.Sprintf("%d addresses", len(v.Addresses))
			case v.Addresses[0].Precision != gazetteer.HousePrecision:
				problem = "precision " + v.Addresses[0].Precision.String()
			case kilometres(v.Addresses[0].Point, h.Point) > 0.2:
				problem = "another coordinate"
			}
			if problem != "" {
				wrong[problem]++
				if wrong[problem] <= 12 {
					t.Logf("%s: %q %+v", problem, text, v.Addresses)
				}
			}
		}
	}
	bad := 0
	for _, n := range wrong {
		bad += n
	}
	t.Logf("%d houses of %d in the extract; %d of %d spellings wrong: %v", houses, extract.HouseNumbers, bad, 2*tried, wrong)
	if houses < 5000 || bad*200 > tried {
		t.Errorf("too few or too many wrong")
	}
}
