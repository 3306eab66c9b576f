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
		d := g.at(s.off)
		street := g.streetHead(&d)
		nearest := Near{street, geo.Distance(at, s.point)}
		g.eachHouse(&d, street, func(house Place) {
			n := Near{house, geo.Distance(at, house.Point)}
			if n.Distance <= radius {
				found = append(found, n)
			}
			if n.Distance < nearest.Distance {
				nearest.Place.Point, nearest.Distance = house.Point, n.Distance
			}
		})
		if nearest.Distance <= radius {
			found = append(found, nearest)
		}
	}
	slices.SortStableFunc(found, func(a, b Near) int { return cmp.Compare(a.Distance, b.Distance) })
	return found[:min(len(found), most)]
}

// measureStreets returns the streets that have a coordinate.
func (g *Gazetteer) measureStreets() []streetReach {
	var all []streetReach
	it, err := g.streets.Iterator(nil, nil)
	for ; err == nil; err = it.Next() {
		key, off := it.Current()
		list := g.streetList(off)
		for i := range list.n {
			d := g.at(list.entry(i).off)
			street := g.streetHead(&d)
			if d.Failed() || !street.HasPoint || StreetKey(street.Street) != string(key) {
				continue // another name of a street that comes under its own
			}
			s := streetReach{off: list.entry(i).off, point: street.Point}
			g.eachHouse(&d, street, func(house Place) { s.reach = max(s.reach, geo.Distance(s.point, house.Point)) })
			all = append(all, s)
		}
	}
	return all
}

// eachHouse calls fn for the houses of a street that have a coordinate; d has read the
// head of its record.
func (g *Gazetteer) eachHouse(d *decoder, street Place, fn func(Place)) {
	for range 3 * d.Count() { // ranges
		d.Uvarint()
	}
	n := d.Count()
	first := make([]int, (n+blockHouses-1)/blockHouses) // number of each block
	for i := range first {
		first[i] = int(d.Uvarint())
		d.Uvarint()
	}
	number := 0
	for i := range n {
		if i%blockHouses == 0 {
			number = first[i/blockHouses]
		}
		h := readHouse(d, number)
		if number = h.base; d.Failed() {
			return
		}
		if h.has {
			fn(g.house(street, h))
		}
	}
}
