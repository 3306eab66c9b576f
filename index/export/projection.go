package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gazehound/gazetteer"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/clip"
	"github.com/paulmach/orb/simplify"
)

// A Projection puts places on a map drawn as SVG: spherical Mercator, scaled so that
// a box fills the map.
type Projection struct {
	Width, Height    float64 // of the map, in its own units
	Scale            float64 // units a radian of longitude
	left, top        float64 // radians
	outlineClippedTo orb.Bound
}

// NewProjection returns the projection of a box to a map with a margin around it. A
// height of 0 is chosen so that the box fits, between a third of the width and more
// than all of it.
func NewProjection(b orb.Bound, width, height, margin float64) Projection {
	// A single point still needs surroundings: about 1,200 m.
	const least = 0.011
	shrink := max(0.1, math.Cos(b.Center()[1]*math.Pi/180))
	dx, dy := max(0, least/shrink-(b.Max[0]-b.Min[0]))/2, max(0, least-(b.Max[1]-b.Min[1]))/2
	b.Min, b.Max = orb.Point{b.Min[0] - dx, max(-85, b.Min[1]-dy)}, orb.Point{b.Max[0] + dx, min(85, b.Max[1]+dy)}
	x0, y0 := mercator(orb.Point{b.Min[0], b.Max[1]})
	x1, y1 := mercator(orb.Point{b.Max[0], b.Min[1]})
	if height == 0 {
		height = math.Ceil(min(9./8*width, max(3./8*width, (y1-y0)/(x1-x0)*(width-2*margin)+2*margin)))
	}
	p := Projection{Width: width, Height: height, Scale: min((width-2*margin)/(x1-x0), (height-2*margin)/(y1-y0))}
	p.left = (x0+x1)/2 - width/2/p.Scale
	p.top = (y0+y1)/2 - height/2/p.Scale
	p.outlineClippedTo = b.Pad(3*max(b.Max[0]-b.Min[0], b.Max[1]-b.Min[1]) + 1e-3)
	return p
}

// mercator returns x to the east and y to the south, in radians.
func mercator(p orb.Point) (x, y float64) {
	lat := max(-85, min(85, p[1])) * math.Pi / 180
	return p[0] * math.Pi / 180, -math.Log(math.Tan(math.Pi/4 + lat/2))
}

// At returns where on the map a place lies.
func (p Projection) At(place orb.Point) (x, y float64) {
	x, y = mercator(place)
	return (x - p.left) * p.Scale, (y - p.top) * p.Scale
}

// Has reports whether a position lies on the map.
func (p Projection) Has(x, y float64) bool { return 0 <= x && x <= p.Width && 0 <= y && y <= p.Height }

// Bound returns the box of the map in degrees.
func (p Projection) Bound() orb.Bound {
	at := func(x, y float64) orb.Point {
		lat := 2*math.Atan(math.Exp(-(y/p.Scale+p.top))) - math.Pi/2
		return orb.Point{(x/p.Scale + p.left) * 180 / math.Pi, lat * 180 / math.Pi}
	}
	return orb.Bound{Min: at(0, p.Height), Max: at(p.Width, 0)}
}

// Outline returns the outline of a region as an SVG path, as fine as the map can show.
func (p Projection) Outline(outline orb.MultiPolygon) string {
	var b strings.Builder
	fine := simplify.DouglasPeucker(0.5 / p.Scale * 180 / math.Pi)
	for _, polygon := range outline {
		for _, ring := range clip.Polygon(p.outlineClippedTo, polygon.Clone()) {
			ring = fine.Ring(ring)
			for i, place := range ring {
				x, y := p.At(place)
				fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(i, 1)], x, y)
			}
			if len(ring) > 0 {
				b.WriteString("Z")
			}
		}
	}
	return b.String()
}

// A Layer is all that a base map has of one kind, as an SVG path in halves of the
// map's units. The kind is a class of the style sheets.
type Layer struct{ Kind, Path string }

// MaxLayers bounds the paths of all layers in bytes; small streets give way.
const MaxLayers = 120_000

// drawn lists what the map shows in the order of drawing; the streets are given room
// from the end.
var drawn = []gazetteer.ShapeKind{gazetteer.Green, gazetteer.Water, gazetteer.River, gazetteer.Rail,
	gazetteer.MinorRoad, gazetteer.MiddleRoad, gazetteer.MajorRoad}

// Layers returns shapes as one path for each kind, areas first.
func (p Projection) Layers(shapes []gazetteer.Shape) []Layer {
	left := MaxLayers
	layers := make([]Layer, len(drawn))
	for i := len(drawn) - 1; i >= 0; i-- {
		var b strings.Builder
		for _, s := range shapes {
			for _, line := range s.Lines {
				if s.Kind == drawn[i] && b.Len() <= left {
					p.draw(&b, line)
				}
			}
		}
		layers[i] = Layer{drawn[i].String(), b.String()}
		left -= b.Len()
	}
	return slices.DeleteFunc(layers, func(l Layer) bool { return l.Path == "" })
}

// draw adds a line to a path in halves of a unit.
func (p Projection) draw(b *strings.Builder, line orb.LineString) {
	var last [2]int
	for i, place := range line {
		x, y := p.At(place)
		q := [2]int{int(math.Round(x * 2)), int(math.Round(y * 2))}
		if i == 0 {
			fmt.Fprintf(b, "M%d %d", q[0], q[1])
		} else if q != last {
			fmt.Fprintf(b, "l%d %d", q[0]-last[0], q[1]-last[1])
		}
		last = q
	}
}
