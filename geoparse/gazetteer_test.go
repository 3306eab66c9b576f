package geoparse

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gazehound/gazetteer"

	"github.com/paulmach/orb"
)

// testGazetteer returns the gazetteer of postal codes of testdata/codes.tsv.
func testGazetteer(t testing.TB, more ...gazetteer.Place) *gazetteer.Gazetteer {
	t.Helper()
	data, err := os.ReadFile("testdata/codes.tsv")
	if err != nil {
		t.Fatal(err)
	}
	places := more
	for line := range strings.Lines(string(data)) {
		c := strings.Split(strings.TrimSpace(line), "\t")
		var lat, lon float64
		if _, err := fmt.Sscan(c[4], &lat); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(c[5], &lon); err != nil {
			t.Fatal(err)
		}
		places = append(places, gazetteer.Place{
			ID: "test/" + c[0] + "/" + c[1], Kind: gazetteer.Postcode, Country: c[0], Postcode: c[1], City: c[2], Names: []string{c[2]}, State: c[3],
			Point: orb.Point{lon, lat}, HasPoint: true,
		})
	}
	g := gazetteer.Of(places...)
	t.Cleanup(func() { g.Close() })
	return g
}
