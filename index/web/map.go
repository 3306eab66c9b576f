package web

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gazehound/index/export"

	"github.com/paulmach/orb"
)

// The size of the map in its own units.
const (
	mapWidth  = 640.0
	mapHeight = 540.0
	mapMargin = 36.0
)

// A drawing is a map of the hits: the region's outline, a dot for each further
// match, and numbered pins. It is drawn by the server as SVG.
type drawing struct {
	export.Projection
	Region  string // SVG path of the outline
	Layers  []export.Layer
	Dots    string // path of points
	Pins    []*pin
	Bar     float64 // length of the scale's bar
	BarText string
}

// A pin stands for one hit, or for several that would cover each other.
type pin struct {
	X, Y   float64
	ID     string // of the item in the list
	Number int    // of the hit; 0: what only the map knows
	More   int    // further hits at this place
	Name   string // for screen readers
}

// draw returns the map of the hits and further matches; nil where there is nothing to
// show. It shows what was asked for, and without a question the region.
func (v *view) draw() *drawing {
	bound, ok := v.frame()
	if !ok {
		return nil
	}
	m := &drawing{Projection: export.NewProjection(bound, mapWidth, mapHeight, mapMargin)}
	m.Region = m.Outline(v.Outline)
	if v.Shapes != nil {
		m.Layers = m.Projection.Layers(v.Shapes(m.Bound()))
	}
	m.dots(v.Points)
	for _, h := range v.Hits {
		if h.HasPoint {
			m.pin(h)
		}
	}
	for i, o := range v.OnMap {
		x, y := m.At(o.Point)
		m.Pins = append(m.Pins, &pin{X: x, Y: y, ID: placeID(i), Name: o.Title + ", " + v.T["onmap"]})
	}
	slices.Reverse(m.Pins) // later ones cover earlier ones: the first is drawn last
	m.scaleBar(bound.Center()[1])
	return m
}

// frame returns the box that the map shows at first; ok is false where there is
// nothing to show.
func (v *view) frame() (box orb.Bound, ok bool) {
	var points orb.MultiPoint
	for _, h := range v.Hits {
		if h.HasPoint {
			points = append(points, h.Point)
		}
	}
	for _, o := range v.OnMap {
		points = append(points, o.Point)
	}
	points = append(points, v.Points...)
	box = points.Bound()
	switch {
	case len(v.Outline) == 0 || len(points) > 0 && v.Asked:
		return box, len(points) > 0
	case len(points) == 0:
		return v.Outline.Bound(), true
	}
	return box.Union(v.Outline.Bound()), true
}

// pin adds a hit to the map.
func (m *drawing) pin(h card) {
	const apart = 17.0 // of pins that do not cover each other
	x, y := m.At(h.Point)
	for _, p := range m.Pins {
		if math.Hypot(p.X-x, p.Y-y) < apart {
			p.More++
			p.Name += fmt.Sprintf("; %d %s", h.Number, h.Title())
			return
		}
	}
	name := fmt.Sprintf("%d %s, %s", h.Number, h.Title(), h.Address())
	m.Pins = append(m.Pins, &pin{X: x, Y: y, ID: fmt.Sprintf("r%d", h.Number), Number: h.Number, Name: name})
}

// dots adds those of the points that lie on the map, as a path of lines without length,
// whose round ends are dots.
func (m *drawing) dots(points []orb.Point) {
	var path strings.Builder
	for _, p := range points {
		if x, y := m.At(p); m.Has(x, y) {
			fmt.Fprintf(&path, "M%.1f %.1fh0", x, y)
		}
	}
	m.Dots = path.String()
}

// scaleBar sets a round length of at most a quarter of the map, in its units and
// in words, at a latitude.
func (m *drawing) scaleBar(lat float64) {
	metre := m.Scale / (orb.EarthRadius * math.Cos(lat*math.Pi/180)) // in units
	metres := 10.0
	for _, l := range []float64{20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6} {
		if l*metre <= mapWidth/4 {
			metres = l
		}
	}
	m.Bar, m.BarText = metres*metre, fmt.Sprintf("%.0f m", metres)
	if metres >= 1000 {
		m.BarText = fmt.Sprintf("%.0f km", metres/1000)
	}
}
