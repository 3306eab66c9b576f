package osm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/osm"

	"gazehound/gazetteer"
)

func TestShapeKind(t *testing.T) {
	for _, c := range []struct {
		tags         string
		open, closed gazetteer.ShapeKind
	}{
		{"highway=motorway", gazetteer.MajorRoad, gazetteer.MajorRoad}, {"highway=tertiary_link", gazetteer.MiddleRoad, gazetteer.MiddleRoad},
		{"highway=residential", gazetteer.MinorRoad, gazetteer.MinorRoad}, {"highway=service", 0, 0}, {"highway=service name=Hof", gazetteer.MinorRoad, gazetteer.MinorRoad},
		{"highway=footway", 0, 0}, {"highway=footway name=Am_Ufer", gazetteer.Path, gazetteer.Path}, {"highway=proposed name=B_7", 0, 0}, {"highway=bus_stop name=Markt", 0, 0},
		{"railway=rail", gazetteer.Rail, gazetteer.Rail}, {"railway=rail service=siding", 0, 0}, {"railway=rail tunnel=yes", 0, 0}, {"railway=platform", 0, 0},
		{"waterway=river", gazetteer.River, gazetteer.River}, {"waterway=stream tunnel=culvert", 0, 0}, {"waterway=weir", 0, 0},
		{"natural=water", 0, gazetteer.Water}, {"landuse=basin", 0, gazetteer.Water}, {"waterway=riverbank", 0, gazetteer.Water},
		{"landuse=forest", 0, gazetteer.Green}, {"leisure=park", 0, gazetteer.Green}, {"leisure=pitch", 0, 0}, {"building=yes", 0, 0}, {"building=yes addr:housenumber=5", 0, gazetteer.Building}, {"building=no addr:housenumber=5", 0, 0}, {"", 0, 0},
	} {
		var tags osm.Tags
		for tag := range strings.FieldsSeq(c.tags) {
			key, value, _ := strings.Cut(tag, "=")
			tags = append(tags, osm.Tag{Key: key, Value: value})
		}
		if open, closed := shapeKind(tags, false), shapeKind(tags, true); open != c.open || closed != c.closed {
			t.Errorf("%s: open %v, closed %v; want %v, %v", c.tags, open, closed, c.open, c.closed)
		}
	}
}

// The map gets streets with their names, lakes of one way and of several, and the
// names of towns.
func TestReadShapes(t *testing.T) {
	const more = `
 <way id="120"><nd ref="30"/><nd ref="31"/><nd ref="32"/><nd ref="33"/><nd ref="30"/><tag k="natural" v="water"/></way>
 <way id="121"><nd ref="10"/><nd ref="24"/><tag k="highway" v="residential"/></way>
 <way id="122"><nd ref="10"/><nd ref="999"/><tag k="highway" v="residential"/></way>
 <relation id="1010"><member type="way" ref="100" role="outer"/><member type="way" ref="101" role="outer"/><member type="way" ref="120" role="inner"/><tag k="type" v="multipolygon"/><tag k="natural" v="water"/></relation>
 <relation id="1011"><member type="way" ref="100" role="outer"/><member type="way" ref="998" role="outer"/><tag k="type" v="multipolygon"/><tag k="natural" v="water"/></relation>
 </osm>`
	path := write(t, "town.osm", []byte(strings.Replace(town, "</osm>", more, 1)))
	var got []string
	keep := func(s gazetteer.Shape) error {
		if len(s.Lines) == 0 || len(s.Lines[0]) < 2 && s.Kind != gazetteer.TownLabel {
			return nil
		}
		text := fmt.Sprintf("%v %q", s.Kind, s.Name)
		for _, l := range s.Lines {
			text += fmt.Sprintf(" %d", len(l))
		}
		got = append(got, text)
		return nil
	}
	count := func(o Options) (n int) {
		if _, err := Read(context.Background(), path, o, func(gazetteer.Place) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	with, without := count(Options{Shape: keep}), count(Options{})
	if with != without {
		t.Errorf("%d places with shapes, %d without", with, without)
	}
	slices.Sort(got)
	want := []string{`building "" 5`, `minor "" 2`, `minor "Lange Straße" 2`, `town "Musterstadt" 1`, `water "" 5`, `water "" 7 5`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
