package geoparse

import (
	"testing"

	"gazehound/gazetteer"

	"github.com/paulmach/orb"
)

// Two towns of one postcode have a street of the same name: the one that the address names is meant, also
// where only the house in the other is on the map.
func TestStreetOfNamedTown(t *testing.T) {
	at := func(id, town, number string, kind gazetteer.Kind) gazetteer.Place {
		return gazetteer.Place{ID: id, Kind: kind, Country: "DE", City: town, Postcode: "26939", Street: "Kirchweg",
			Names: []string{"Kirchweg"}, HouseNumber: number, Point: orb.Point{8.4, 53.3}, HasPoint: true}
	}
	code := func(town string) gazetteer.Place {
		return gazetteer.Place{ID: "code/" + town, Kind: gazetteer.Postcode, Country: "DE", City: town, Postcode: "26939",
			Names: []string{town}, Point: orb.Point{8.4, 53.3}, HasPoint: true}
	}
	g := testGazetteer(t, code("Ovelgönne"), code("Frieschenmoor"),
		at("way/1", "Ovelgönne", "", gazetteer.Street), at("way/2", "Frieschenmoor", "", gazetteer.Street),
		at("node/4", "Frieschenmoor", "4", gazetteer.House))
	p, err := New(g, nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Kirchweg 4, 26939 Frieschenmoor": "node/4",
		"Kirchweg 4, 26939 Ovelgönne":     "way/1",
	} {
		v := parse(t, p, Input{Text: text})
		if len(v.Addresses) != 1 || v.Addresses[0].Place.ID != want {
			t.Errorf("%s: %+v, want %s", text, v.Addresses, want)
		}
	}
}
