package osm

import (
	"testing"

	"github.com/paulmach/osm"
)

// Names of houses, gardens and pools of private people are no places to look for; an office that is
// named after a person is one.
func TestIsPOI(t *testing.T) {
	for _, c := range []struct {
		tags osm.Tags
		want bool
	}{
		{osm.Tags{{Key: "name", Value: "Haus Brandt"}, {Key: "building", Value: "house"}}, false},
		{osm.Tags{{Key: "name", Value: "Brandt"}, {Key: "building", Value: "detached"}, {Key: "addr:housenumber", Value: "5"}}, false},
		{osm.Tags{{Key: "name", Value: "Brandts Pool"}, {Key: "leisure", Value: "swimming_pool"}, {Key: "access", Value: "private"}}, false},
		{osm.Tags{{Key: "name", Value: "Garten Brandt"}, {Key: "leisure", Value: "garden"}, {Key: "access", Value: "private"}}, false},
		{osm.Tags{{Key: "name", Value: "Stadtgarten"}, {Key: "leisure", Value: "garden"}}, true},
		{osm.Tags{{Key: "name", Value: "Kanzlei Brandt"}, {Key: "office", Value: "lawyer"}}, true},
		{osm.Tags{{Key: "name", Value: "Dr. Ida Brandt"}, {Key: "amenity", Value: "doctors"}}, true},
		{osm.Tags{{Key: "amenity", Value: "bench"}}, false},
	} {
		if got := isPOI(c.tags); got != c.want {
			t.Errorf("%v: %v", c.tags, got)
		}
	}
}
