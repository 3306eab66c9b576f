package gazetteer

import (
	"maps"
	"slices"
	"testing"

	"github.com/paulmach/orb"
)

func TestRegionStreets(t *testing.T) {
	street := func(name, code, city string, lon float64, more ...string) Place {
		return Place{Kind: Street, Names: append([]string{name}, more...), Street: name, Postcode: code, City: city, Country: "DE", Point: orb.Point{lon, 53}, HasPoint: true}
	}
	g := Of(
		street("Lange Straße", "26121", "Oldenburg", 8.1, "Langer Weg"),
		street("Lange Straße", "26122", "Oldenburg", 8.2), // the same street
		street("Lange Straße", "26180", "Rastede", 8.3),   // another one
		street("Achternstraße", "26122", "Oldenburg", 8.2),
		street("Hauptstraße", "26188", "Edewecht", 9.5), // elsewhere
	)
	r := &Region{Area: orb.MultiPolygon{{{{8, 52}, {9, 52}, {9, 54}, {8, 54}, {8, 52}}}}}
	want := []string{"DE|oldenburg|" + StreetKey("Achternstraße"), "DE|oldenburg|" + StreetKey("Lange Str."), "DE|rastede|" + StreetKey("Lange Straße")}
	if got := slices.Sorted(maps.Keys(g.RegionStreets(r))); !slices.Equal(got, want) {
		t.Errorf("streets of the region: %q, want %q", got, want)
	}
	// What a page calls it leads to the same street, by whichever name.
	for _, name := range []string{"Langer Weg", "Lange Str.", StreetKey("Langer Weg")} {
		found := g.Streets(Query{Street: name, Postcode: "26121", City: "Oldenburg"})
		if len(found) == 0 || StreetID(found[0]) != want[1] {
			t.Errorf("Streets(%q) = %v, want one with the id %s", name, found, want[1])
		}
	}
}
