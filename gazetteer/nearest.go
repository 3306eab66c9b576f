package gazetteer

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// A streetReach is where a street lies: its coordinate, and how far from there its
// farthest house is, in metres.
type streetReach struct {
	off   uint64 // of its record
	point orb.Point
	reach float64
}

// A Near is a place with its distance in metres.
type Near struct {
	Place    Place
	Distance float64
}

// Nearest returns the houses and streets within radius metres of a point, the nearest
// first, at most that many. A street lies at its nearest known point, which is the
// Point of its Place. The first call reads every street; later ones only those at hand.
func (g *Gazetteer) Nearest(at orb.Point, radius float64, most int) []Near {
	g.reachOnce.Do(func() { g.reaches = g.measureStreets() })
	var found []Near
	for _, s := range g.reaches {
		if geo.Distance(at, s.point) > s.reach+radius {
			continue
		}
		street, _ := g.readStreet(g.at(s.off))
		nearest := Near{street.place, geo.Distance(at, s.point)}
		for i := range street.houses {
			h := &street.houses[i]
			if !h.has {
				continue
			}
			d := geo.Distance(at, h.point)
			if d <= radius {
				found = append(found, Near{g.house(street, h), d})
			}
			if d < nearest.Distance {
				nearest.Place.Point, nearest.Distance = h.point, d
			}
		}
		if nearest.Distance <= radius {
			found = append(found, nearest)
		}
	}
	slices.SortStableFunc(found, func(a, b Near) int { return cmp.Compare(a.Distance, b.Distance) })
	return found[:min(len(found), most)]
}

// measureStreets returns the streets that have a coordinate.
func (g *Gazetteer) measureStreets() (all []streetReach) {
	for off := range g.eachStreet() {
		street, ok := g.readStreet(g.at(off))
		if !ok || !street.place.HasPoint {
			continue
		}
		s := streetReach{off: off, point: street.place.Point}
		for _, h := range street.houses {
			if h.has {
				s.reach = max(s.reach, geo.Distance(s.point, h.point))
			}
		}
		all = append(all, s)
	}
	return all
}
