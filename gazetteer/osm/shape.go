package osm

import (
	"context"

	"github.com/paulmach/orb"
	"github.com/paulmach/osm"

	"gazehound/gazetteer"
)

// shapeKind returns what an object with these tags is on a map; 0: nothing. A
// way is an area only if it is closed.
func shapeKind(tags osm.Tags, closed bool) gazetteer.ShapeKind {
	if tags.Find("tunnel") != "" && tags.Find("waterway") != "" {
		return 0
	}
	switch tags.Find("highway") {
	case "":
	case "motorway", "trunk", "primary", "motorway_link", "trunk_link", "primary_link":
		return gazetteer.MajorRoad
	case "secondary", "tertiary", "secondary_link", "tertiary_link":
		return gazetteer.MiddleRoad
	case "residential", "unclassified", "living_street", "pedestrian", "road":
		return gazetteer.MinorRoad
	case "service":
		if isStreet(tags) {
			return gazetteer.MinorRoad
		}
		return 0
	default:
		if isStreet(tags) {
			return gazetteer.Path
		}
		return 0
	}
	switch tags.Find("railway") {
	case "rail", "light_rail":
		if tags.Find("service") == "" && tags.Find("tunnel") == "" {
			return gazetteer.Rail
		}
		return 0
	}
	switch tags.Find("waterway") {
	case "river", "canal", "stream":
		return gazetteer.River
	case "riverbank", "dock":
		if closed {
			return gazetteer.Water
		}
	}
	if !closed {
		return 0
	}
	if b := tags.Find("building"); b != "" && b != "no" && interesting(tags) { // its corners are read in any case
		return gazetteer.Building
	}
	natural, landuse, leisure := tags.Find("natural"), tags.Find("landuse"), tags.Find("leisure")
	switch {
	case natural == "water", landuse == "reservoir", landuse == "basin":
		return gazetteer.Water
	case natural == "wood", landuse == "forest", landuse == "cemetery", leisure == "park",
		leisure == "nature_reserve" && natural != "":
		return gazetteer.Green
	}
	return 0
}

// wantsShape reports whether a way is drawn on the map.
func (c *collector) wantsShape(w *osm.Way) bool {
	n := len(w.Nodes)
	return c.options.Shape != nil && n > 1 && shapeKind(w.Tags, n > 3 && w.Nodes[0].ID == w.Nodes[n-1].ID) != 0
}

// keepShape files a way for the map.
func (c *collector) keepShape(f feature, tags osm.Tags) {
	kind := shapeKind(tags, len(f.refs) > 3 && f.refs[0] == f.refs[len(f.refs)-1])
	f.names = nil
	if name := tags.Find("name"); name != "" && kind != gazetteer.Rail && kind != gazetteer.Building {
		f.names = []string{name}
	}
	f.street = kind.String() // a spool has no place for it
	c.shapes.add(&f)
}

// water files a lake or river bank of several ways.
func (c *collector) water(r *osm.Relation) {
	a := &area{feature: feature{id: int64(r.ID), kind: 'r', names: []string{r.Tags.Find("name")}}}
	c.outline(a, r)
	c.waters = append(c.waters, a)
}

// emitShapes emits what is drawn on a map.
func (c *collector) emitShapes(ctx context.Context) error {
	if c.options.Shape == nil {
		return nil
	}
	kinds := map[string]gazetteer.ShapeKind{}
	for k := gazetteer.MajorRoad; k <= gazetteer.Building; k++ {
		kinds[k.String()] = k
	}
	err := c.shapes.each(ctx, func(f *feature) error {
		s := gazetteer.Shape{Kind: kinds[f.street], Lines: []orb.LineString{c.nodes.line(f.refs)}}
		if len(f.names) > 0 {
			s.Name = f.names[0]
		}
		return c.options.Shape(s)
	})
	if err != nil {
		return err
	}
	for _, a := range c.waters {
		// A lake that reaches beyond the extract is left out as a whole.
		var lines []orb.LineString
		for _, polygon := range c.assemble(a) {
			for _, ring := range polygon {
				lines = append(lines, orb.LineString(ring))
			}
		}
		if err := c.options.Shape(gazetteer.Shape{Kind: gazetteer.Water, Name: a.names[0], Lines: lines}); err != nil {
			return err
		}
	}
	for i := range c.places {
		p := &c.places[i]
		if kind := labels[p.place]; kind != 0 && p.has && len(p.names) > 0 {
			s := gazetteer.Shape{Kind: kind, Name: p.names[0], Lines: []orb.LineString{{p.point}}}
			if err := c.options.Shape(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// labels are the values of place whose names a map shows.
var labels = map[string]gazetteer.ShapeKind{
	"city": gazetteer.CityLabel, "town": gazetteer.TownLabel, "village": gazetteer.VillageLabel,
	"suburb":  gazetteer.VillageLabel,
	"quarter": gazetteer.VillageLabel, "hamlet": gazetteer.VillageLabel,
}
