package osm

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unique"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
	"github.com/paulmach/orb/planar"
	"github.com/tidwall/rtree"

	"gazehound/gazetteer"
)

// surroundings find what is around a coordinate: outlines, and the postcode, city and country of
// complete addresses of the extract.
type surroundings struct {
	areas    areaGrid
	codes    neighbours
	cities   neighbours
	lands    neighbours // countries
	farLands neighbours // the same in wider cells, for where few addresses say theirs
	places   []feature
	tree     rtree.RTreeG[int]         // places by coordinate
	byCode   map[string]map[string]int // postcode → city → addresses
	fallback string
}

// neighbours finds the most frequent value of the nearest addresses. Its
// memory grows with the cells that hold an address, about 40 bytes each.
type neighbours struct {
	grain float64 // of a cell, in degrees
	votes map[ballot]uint32
	cells map[cell]unique.Handle[string]
}

// A cell is a square by its column and row from 0° east and north.
type cell [2]int32

type ballot struct {
	at    cell
	value unique.Handle[string]
}

// The sizes of cells, in degrees: 0.002 are about 200 m.
const (
	fineGrain   = 0.002
	landGrain   = 0.01
	coarseGrain = 0.1
)

func newNeighbours(grain float64) neighbours {
	return neighbours{grain: grain, votes: map[ballot]uint32{}, cells: map[cell]unique.Handle[string]{}}
}

func cellOf(p orb.Point, grain float64) cell {
	return cell{int32(math.Floor(p[0] / grain)), int32(math.Floor(p[1] / grain))}
}

func (n *neighbours) vote(p orb.Point, value string) {
	if value != "" {
		n.votes[ballot{cellOf(p, n.grain), unique.Make(value)}]++
	}
}

// flat returns where p lies seen from origin, a neighbour, in degrees of latitude in all directions.
func flat(origin, p orb.Point) orb.Point {
	return orb.Point{(p[0] - origin[0]) * narrowing(origin), p[1] - origin[1]}
}

// narrowing is how long a degree of longitude is at p, in degrees of latitude, at least a tenth.
func narrowing(p orb.Point) float64 { return math.Max(math.Cos(p[1]*math.Pi/180), 0.1) }

// ready ends the voting.
func (n *neighbours) ready() {
	for b, votes := range n.votes {
		old, ok := n.cells[b.at]
		if ok {
			most := n.votes[ballot{b.at, old}]
			if most > votes || most == votes && old.Value() <= b.value.Value() {
				continue
			}
		}
		n.cells[b.at] = b.value
	}
	n.votes = nil
}

// most returns the most frequent value.
func most(votes map[string]int) string {
	best := ""
	for value, n := range votes {
		if best == "" || n > votes[best] || n == votes[best] && value < best {
			best = value
		}
	}
	return best
}

// near returns the value of the cell nearest to p whose middle is at most
// limit metres away.
func (n *neighbours) near(p orb.Point, limit float64) string {
	from, narrow := cellOf(p, n.grain), narrowing(p)
	best, least := "", limit/111_195
	look := func(c cell) {
		value, ok := n.cells[c]
		if !ok {
			return
		}
		m := flat(p, orb.Point{(float64(c[0]) + .5) * n.grain, (float64(c[1]) + .5) * n.grain})
		if d := math.Hypot(m[0], m[1]); d < least || d == least && value.Value() < best {
			best, least = value.Value(), d
		}
	}
	// Ring by ring, until none of the next can be nearer.
	for r := int32(0); (float64(r)-0.5)*n.grain*narrow <= least; r++ {
		if r == 0 {
			look(from)
			continue
		}
		for k := -r; k <= r; k++ {
			look(cell{from[0] + k, from[1] - r})
			look(cell{from[0] + k, from[1] + r})
			if k > -r && k < r {
				look(cell{from[0] - r, from[1] + k})
				look(cell{from[0] + r, from[1] + k})
			}
		}
	}
	return best
}

func newSurroundings(ctx context.Context, c *collector) (*surroundings, error) {
	x := &surroundings{
		areas: newAreaGrid(c.areas), codes: newNeighbours(fineGrain), cities: newNeighbours(fineGrain),
		lands: newNeighbours(landGrain), farLands: newNeighbours(coarseGrain),
		places: c.places, byCode: map[string]map[string]int{}, fallback: strings.ToUpper(c.options.Country),
	}
	for i := range x.places {
		x.tree.Insert(x.places[i].point, x.places[i].point, i)
	}
	err := c.houses.each(ctx, func(f *feature) error {
		c.locate(f)
		if !f.has {
			return nil
		}
		x.codes.vote(f.point, f.postcode)
		x.cities.vote(f.point, f.city)
		x.lands.vote(f.point, f.country)
		x.farLands.vote(f.point, f.country)
		if f.city != "" && f.postcode != "" {
			if x.byCode[f.postcode] == nil {
				x.byCode[f.postcode] = map[string]int{}
			}
			x.byCode[f.postcode][f.city]++
		}
		return nil
	})
	x.codes.ready()
	x.cities.ready()
	x.lands.ready()
	x.farLands.ready()
	for _, a := range c.areas {
		a.isCity = x.cityByTags(a)
	}
	return x, err
}

// An areaGrid finds the outlines that hold a coordinate. In a cell that the
// line of an outline does not cross, all points are in it or none: that is
// worked out once.
type areaGrid struct {
	tree    rtree.RTreeG[*area]
	crossed map[cell][]*area // outlines with a line in the cell
	whole   map[cell][]*area // outlines that hold all of the cell; filled on first use
}

// areaGrain is the size of a cell in degrees, about 1 km.
const areaGrain = 0.01

func newAreaGrid(areas []*area) areaGrid {
	g := areaGrid{crossed: map[cell][]*area{}, whole: map[cell][]*area{}}
	for _, a := range areas {
		if len(a.shape) == 0 {
			continue
		}
		g.tree.Insert(a.bound.Min, a.bound.Max, a)
		for _, poly := range a.shape {
			for _, ring := range poly {
				for i := 1; i < len(ring); i++ {
					g.cross(a, ring[i-1], ring[i])
				}
			}
		}
	}
	return g
}

// cross enters the cells that a line from p to q may touch. Long lines are cut, so
// that their boxes stay narrow.
func (g *areaGrid) cross(a *area, p, q orb.Point) {
	const hair = 1e-9 // a box is that much wider than the line, for what rounding may do
	n := max(1, math.Ceil(max(math.Abs(p[0]-q[0]), math.Abs(p[1]-q[1]))/areaGrain))
	for i := range int(n) {
		from, to := float64(i)/n, float64(i+1)/n
		box := orb.LineString{
			{p[0] + (q[0]-p[0])*from, p[1] + (q[1]-p[1])*from},
			{p[0] + (q[0]-p[0])*to, p[1] + (q[1]-p[1])*to},
		}.Bound().Pad(hair)
		lo, hi := cellOf(box.Min, areaGrain), cellOf(box.Max, areaGrain)
		for col := lo[0]; col <= hi[0]; col++ {
			for row := lo[1]; row <= hi[1]; row++ {
				at := cell{col, row}
				if list := g.crossed[at]; len(list) == 0 || list[len(list)-1] != a {
					g.crossed[at] = append(list, a)
				}
			}
		}
	}
}

// around returns the outlines that hold p, the narrowest level first.
func (g *areaGrid) around(p orb.Point) []*area {
	at := cellOf(p, areaGrain)
	crossed := g.crossed[at]
	whole, ok := g.whole[at]
	if !ok {
		middle := orb.Point{(float64(at[0]) + .5) * areaGrain, (float64(at[1]) + .5) * areaGrain}
		g.tree.Search(middle, middle, func(_, _ [2]float64, a *area) bool {
			if !slices.Contains(crossed, a) && planar.MultiPolygonContains(a.shape, middle) {
				whole = append(whole, a)
			}
			return true
		})
		slices.SortFunc(whole, byLevel)
		g.whole[at] = whole
	}
	if len(crossed) == 0 {
		return whole
	}
	found := slices.Clone(whole)
	for _, a := range crossed {
		if a.bound.Contains(p) && planar.MultiPolygonContains(a.shape, p) {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, byLevel)
	return found
}

func byLevel(a, b *area) int {
	return cmp.Or(cmp.Compare(b.level, a.level), cmp.Compare(a.id, b.id))
}

// Reach of what the neighbours say, in metres.
const (
	nextDoor     = 300
	neighbourly  = 3_000
	sameCountry  = 200_000
	cityLargest  = 3_000e6 // m², of an outline above the level of a municipality that is a city
	countryTiny  = 50e6    // m², of a country that is a city
	municipality = 8       // the level at which, and below, outlines are cities or their parts
)

// fill adds to p the postcode, city, state and country that the tags of f do
// not say.
func (x *surroundings) fill(p *gazetteer.Place, f *feature) {
	around := x.areas.around(f.point)
	p.Postcode, p.City, p.State = f.postcode, f.city, cmp.Or(f.state, stateOf(around))
	p.Country = x.countryOf(around, f.point, f.country)
	if p.Postcode == "" {
		for _, a := range around {
			if a.postal && a.postcode != "" {
				p.Postcode = a.postcode
			}
		}
	}
	if p.Postcode == "" {
		p.Postcode = x.codes.near(f.point, neighbourly)
	}
	for _, from := range []func() string{
		func() string { return x.cities.near(f.point, nextDoor) },
		func() string { return x.cityAround(around) },
		func() string { return x.cities.near(f.point, neighbourly) },
		func() string { return x.placeNear(f.point) },
	} {
		if p.City == "" {
			p.City = from()
		}
	}
}

// cityAround returns the name of the municipality among outlines.
func (x *surroundings) cityAround(around []*area) string {
	// From wide to narrow: a municipality comes before its suburbs.
	for _, a := range slices.Backward(around) {
		if !a.postal && len(a.names) > 0 && a.isCity {
			return a.names[0]
		}
	}
	for _, a := range around {
		if a.postal && a.city != "" {
			return a.city
		}
	}
	return ""
}

// cityByTags reports whether an outline is that of a city or a part of one: by
// its level, or because a place node of its name lies in it.
func (x *surroundings) cityByTags(a *area) bool {
	if a.postal || len(a.shape) == 0 {
		return false
	}
	if a.level >= municipality || placeKinds[a.place] {
		return true
	}
	limit := cityLargest
	if a.level <= 2 {
		limit = countryTiny
	}
	return geo.Area(a.shape) < limit && x.placeIn(a) != nil
}

// placeIn returns the place node of the same name within a, or nil.
func (x *surroundings) placeIn(a *area) *feature {
	if len(a.names) == 0 {
		return nil
	}
	key, first := gazetteer.Key(a.names[0]), -1
	x.tree.Search(a.bound.Min, a.bound.Max, func(_, _ [2]float64, i int) bool {
		f := &x.places[i]
		if (first < 0 || i < first) && gazetteer.Key(f.names[0]) == key &&
			planar.MultiPolygonContains(a.shape, f.point) {
			first = i
		}
		return true
	})
	if first < 0 {
		return nil
	}
	return &x.places[first]
}

// reach is the distance in metres within which a place node counts as the city of an object.
var reach = map[string]float64{"city": 15_000, "town": 8_000, "village": 4_000, "hamlet": 2_000, "municipality": 4_000}

const farthestReach = 15_000

func (x *surroundings) placeNear(p orb.Point) string {
	best, least := "", 1.0
	b := geo.NewBoundAroundPoint(p, farthestReach)
	x.tree.Search(b.Min, b.Max, func(_, _ [2]float64, i int) bool {
		f := &x.places[i]
		r := reach[f.place]
		if r == 0 {
			return true
		}
		if d := geo.Distance(f.point, p) / r; d < least || d == least && best != "" && f.names[0] < best {
			best, least = f.names[0], d
		}
		return true
	})
	return best
}

func (x *surroundings) countryOf(around []*area, p orb.Point, given string) string {
	if given != "" {
		return given
	}
	for _, a := range around {
		if len(a.isoCode) >= 2 && !a.postal {
			return strings.ToUpper(a.isoCode[:2])
		}
	}
	return cmp.Or(x.lands.near(p, neighbourly), x.farLands.near(p, sameCountry), x.fallback)
}

// stateOf returns the code of the state among outlines, else its name.
func stateOf(around []*area) string {
	for _, a := range around {
		if a.level == 4 && !a.postal {
			if _, code, ok := strings.Cut(a.isoCode, "-"); ok {
				return code
			}
			if len(a.names) > 0 {
				return a.names[0]
			}
		}
	}
	return ""
}
