package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gazehound/gazetteer"

	"github.com/paulmach/orb"
)

// A Layer is all that a base map has of one kind, as an SVG path in halves of the
// map's units. The kind is a class of the style sheets.
type Layer struct{ Kind, Path string }

// MaxLayers bounds the paths of all layers in bytes; small streets give way.
const MaxLayers = 120_000

// Layers returns shapes as one path for each kind, areas first, as fine as a map
// can show. at says where on the map a place lies.
func Layers(shapes []gazetteer.Shape, at func(orb.Point) (x, y float64)) []Layer {
	// In this order they are drawn; the streets are given room from the end.
	order := []gazetteer.ShapeKind{gazetteer.Green, gazetteer.Water, gazetteer.River, gazetteer.Rail, gazetteer.MinorRoad, gazetteer.MiddleRoad, gazetteer.MajorRoad}
	left := MaxLayers
	layers := make([]Layer, len(order))
	for i := len(order) - 1; i >= 0; i-- {
		var b strings.Builder
		for _, s := range shapes {
			for _, line := range s.Lines {
				if s.Kind != order[i] || b.Len() > left {
					continue
				}
				last, n := [2]int{}, 0
				for _, place := range line {
					x, y := at(place)
					q := [2]int{int(math.Round(x * 2)), int(math.Round(y * 2))} // halves of a unit
					switch {
					case n == 0:
						fmt.Fprintf(&b, "M%d %d", q[0], q[1])
					case q == last:
						continue
					default:
						fmt.Fprintf(&b, "l%d %d", q[0]-last[0], q[1]-last[1])
					}
					last = q
					n++
				}
			}
		}
		layers[i] = Layer{order[i].String(), b.String()}
		left -= b.Len()
	}
	return slices.DeleteFunc(layers, func(l Layer) bool { return l.Path == "" })
}
