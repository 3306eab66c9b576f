package main

import (
	"testing"
	"time"

	"gazehound/gazetteer"
)

// The holidays of a region are those of its state, which its postcodes know where the map does not.
func TestClockOf(t *testing.T) {
	allSaints := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	code := func(state string) gazetteer.Place {
		return gazetteer.Place{ID: "geonames/DE/67655", Kind: gazetteer.Postcode, Names: []string{"Kaiserslautern"},
			Postcode: "67655", City: "Kaiserslautern", State: state, Country: "DE"}
	}
	region := &gazetteer.Region{Name: "Kaiserslautern", Postcodes: []string{"DE 67653", "DE 67655"}}
	for _, c := range []struct {
		g      *gazetteer.Gazetteer
		region *gazetteer.Region
		state  string
		want   bool
	}{
		{gazetteer.Of(code("RP")), region, "RP", true},
		{gazetteer.Of(code("")), region, "", false},
		{gazetteer.Of(code("RP")), &gazetteer.Region{State: "BE"}, "BE", false},
		{gazetteer.Of(code("RP")), nil, "", false},
	} {
		clock := clockOf(new(Config), c.g, c.region)
		if clock.Country != "DE" || clock.State != c.state || clock.Holiday(allSaints) != c.want {
			t.Errorf("%+v, All Saints' Day %v; want state %q, %v", clock, clock.Holiday(allSaints), c.state, c.want)
		}
	}
}
