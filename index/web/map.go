package web

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gazehound/gazetteer"
	"gazehound/index/export"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/clip"
	"github.com/paulmach/orb/simplify"
)

// The size of the map in its own units.
const (
	mapWidth  = 640.0
	mapHeight = 540.0
	mapMargin = 36.0
	maxDots   = 1500
)

// A plan is a map of the hits: the region's outline, faint dots where anything
// is known, a dot for each further match, and numbered pins. It is drawn by the
// server as SVG.
type plan struct {
	Width, Height float64
	Region        string // SVG path of the outline
	Layers        []export.Layer
	Known, Dots   string // paths of points
	Pins          []pin
	Bar           float64 // length of the scale's bar
	BarText       string
}

// A pin stands for one hit, or for several that would cover each other.
type pin struct {
	X, Y   string
	Number int    // of the hit; 0: what only the map knows
	More   int    // further hits at this place
	Name   string // what a screen reader says

	x, y float64
}

// draw returns the map of hits and further matches before all that is known;
// nil where there is nothing to show. It shows what was asked for, and without
// a question the region.
func draw(outline orb.MultiPolygon, hits []hit, onMap []OnMap, more, known []orb.Point, asked bool, shapes func(orb.Bound) []gazetteer.Shape) *plan {
	bound, ok := frame(outline, hits, onMap, more, asked)
	if !ok {
		return nil
	}
	m := newProjection(bound)
	p := &plan{Width: mapWidth, Height: mapHeight, Region: m.path(outline)}
	if shapes != nil {
		p.Layers = export.Layers(shapes(m.seen()), m.at)
	}

	p.Dots = m.dots(more)
	if asked {
		p.Known = m.dots(known)
	}
	const apart = 17.0 // of pins that do not cover each other
	for _, h := range hits {
		if !h.HasPoint {
			continue
		}
		x, y := m.at(h.Point)
		joined := false
		for i := range p.Pins {
			if q := &p.Pins[i]; math.Hypot(q.x-x, q.y-y) < apart {
				q.More++
				q.Name += fmt.Sprintf("; %d %s", h.Number, h.Title)
				joined = true
				break
			}
		}
		if !joined {
			p.Pins = append(p.Pins, pin{X: unit(x), Y: unit(y), Number: h.Number, Name: fmt.Sprintf("%d %s, %s", h.Number, h.Title, h.Address), x: x, y: y})
		}
	}
	for _, o := range onMap {
		x, y := m.at(o.Point)
		p.Pins = append(p.Pins, pin{X: unit(x), Y: unit(y), Name: o.Title, x: x, y: y})
	}
	// Later pins would cover earlier ones: the first is drawn last.
	for i, j := 0, len(p.Pins)-1; i < j; i, j = i+1, j-1 {
		p.Pins[i], p.Pins[j] = p.Pins[j], p.Pins[i]
	}
	p.Bar, p.BarText = m.bar(bound.Center()[1])
	return p
}

// frame returns the box that the map shows at first; ok is false where there is
// nothing to show.
func frame(outline orb.MultiPolygon, hits []hit, onMap []OnMap, more []orb.Point, asked bool) (box orb.Bound, ok bool) {
	var points orb.MultiPoint
	for _, h := range hits {
		if h.HasPoint {
			points = append(points, h.Point)
		}
	}
	for _, o := range onMap {
		points = append(points, o.Point)
	}
	points = append(points, more...)
	if len(points) == 0 && len(outline) == 0 {
		return box, false
	}
	box = points.Bound()
	if len(points) == 0 || !asked && len(outline) > 0 {
		box = outline.Bound()
		if len(points) > 0 {
			box = box.Union(points.Bound())
		}
	}
	return box, true
}

// dots returns those of the points that lie on the map, at most maxDots, as a
// path of lines without length, whose round ends are dots.
func (p projection) dots(points []orb.Point) string {
	var path []byte
	n := 0
	for _, at := range points {
		if x, y := p.at(at); inside(x, y) && n < maxDots {
			path = append(path, 'M')
			path = append(strconv.AppendFloat(path, x, 'f', 1, 64), ' ')
			path = append(strconv.AppendFloat(path, y, 'f', 1, 64), "h0"...)
			n++
		}
	}
	return string(path)
}

func inside(x, y float64) bool { return 0 <= x && x <= mapWidth && 0 <= y && y <= mapHeight }

// unit writes a coordinate of the map.
func unit(v float64) string { return fmt.Sprintf("%.1f", v) }

// A projection is spherical Mercator, scaled so that a box fills the map.
type projection struct {
	scale, left, top float64
	frame            orb.Bound // in degrees, with a margin around what is seen
}

func newProjection(b orb.Bound) projection {
	// A single point still needs surroundings: about 1,200 m.
	const least = 0.011
	if d := least - (b.Max[0]-b.Min[0])*math.Cos(b.Center()[1]*math.Pi/180); d > 0 {
		d /= max(0.1, math.Cos(b.Center()[1]*math.Pi/180))
		b.Min[0], b.Max[0] = b.Min[0]-d/2, b.Max[0]+d/2
	}
	if d := least - (b.Max[1] - b.Min[1]); d > 0 {
		b.Min[1], b.Max[1] = b.Min[1]-d/2, b.Max[1]+d/2
	}
	b.Min[1], b.Max[1] = max(-85, b.Min[1]), min(85, b.Max[1])
	x0, y0 := mercator(b.Min[0], b.Max[1])
	x1, y1 := mercator(b.Max[0], b.Min[1])
	scale := min((mapWidth-2*mapMargin)/(x1-x0), (mapHeight-2*mapMargin)/(y1-y0))
	p := projection{scale: scale}
	p.left = (x0+x1)/2 - mapWidth/2/scale
	p.top = (y0+y1)/2 - mapHeight/2/scale
	dx, dy := b.Max[0]-b.Min[0], b.Max[1]-b.Min[1]
	p.frame = orb.Bound{Min: orb.Point{b.Min[0] - 3*dx - 1e-3, b.Min[1] - 3*dy - 1e-3}, Max: orb.Point{b.Max[0] + 3*dx + 1e-3, b.Max[1] + 3*dy + 1e-3}}
	return p
}

// mercator returns x to the east and y to the south, in radians.
func mercator(lon, lat float64) (x, y float64) {
	lat = max(-85, min(85, lat)) * math.Pi / 180
	return lon * math.Pi / 180, -math.Log(math.Tan(math.Pi/4 + lat/2))
}

func (p projection) at(q orb.Point) (x, y float64) {
	x, y = mercator(q[0], q[1])
	return (x - p.left) * p.scale, (y - p.top) * p.scale
}

// path returns the outline as an SVG path, as fine as the map can show.
func (p projection) path(outline orb.MultiPolygon) string {
	var b strings.Builder
	fine := simplify.DouglasPeucker(0.5 / p.scale * 180 / math.Pi)
	for _, polygon := range outline {
		for _, ring := range clip.Polygon(p.frame, polygon.Clone()) {
			ring = fine.Ring(ring)
			for i, at := range ring {
				x, y := p.at(at)
				command := "L"
				if i == 0 {
					command = "M"
				}
				fmt.Fprintf(&b, "%s%.1f %.1f", command, x, y)
			}
			if len(ring) > 0 {
				b.WriteString("Z")
			}
		}
	}
	return b.String()
}

// seen returns the box of the map in degrees.
func (p projection) seen() orb.Bound {
	at := func(x, y float64) orb.Point {
		return orb.Point{(x/p.scale + p.left) * 180 / math.Pi, (2*math.Atan(math.Exp(-(y/p.scale+p.top))) - math.Pi/2) * 180 / math.Pi}
	}
	return orb.Bound{Min: at(0, mapHeight), Max: at(mapWidth, 0)}
}

// bar returns a round length of at most a quarter of the map, in its units and
// in words.
func (p projection) bar(lat float64) (units float64, text string) {
	const earth = 6371000.0
	metre := p.scale / (earth * math.Cos(lat*math.Pi/180)) // in units
	best := 10.0
	for _, m := range []float64{20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6} {
		if m*metre <= mapWidth/4 {
			best = m
		}
	}
	if best >= 1000 {
		return best * metre, fmt.Sprintf("%.0f km", best/1000)
	}
	return best * metre, fmt.Sprintf("%.0f m", best)
}
