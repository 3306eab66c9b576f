package osm

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
	"github.com/paulmach/orb/planar"
	"github.com/tidwall/rtree"

	"gazehound/gazetteer"
)

// surroundings know what lies around a coordinate: outlines, and what the
// complete addresses of the extract say of their postcode, city and country.
type surroundings struct {
	areas    rtree.RTreeG[*area]
	codes    neighbours
	cities   neighbours
	lands    neighbours
	places   []feature
	byCode   map[string]map[string]int // postcode → city → addresses
	fallback string
}

// neighbours finds the most frequent value of the nearest addresses.
type neighbours struct {
	tree  rtree.RTreeG[string]
	cells map[[2]int32]map[string]int
}

// grain is the size of a cell of neighbours in degrees, about 200 m.
const grain = 0.002

func (n *neighbours) vote(p orb.Point, value string) {
	if value == "" {
		return
	}
	if n.cells == nil {
		n.cells = map[[2]int32]map[string]int{}
	}
	at := [2]int32{int32(math.Floor(p[0] / grain)), int32(math.Floor(p[1] / grain))}
	if n.cells[at] == nil {
		n.cells[at] = map[string]int{}
	}
	n.cells[at][value]++
}

// flat maps a coordinate so that distances between neighbours are about equal
// in all directions.
func flat(p orb.Point) [2]float64 {
	return [2]float64{p[0] * math.Cos(p[1]*math.Pi/180), p[1]}
}

// ready ends the voting.
func (n *neighbours) ready() {
	cells := make([][2]int32, 0, len(n.cells))
	for at := range n.cells {
		cells = append(cells, at)
	}
	slices.SortFunc(cells, func(a, b [2]int32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, at := range cells {
		p := flat(orb.Point{(float64(at[0]) + .5) * grain, (float64(at[1]) + .5) * grain})
		n.tree.Insert(p, p, most(n.cells[at]))
	}
	n.cells = nil
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

// near returns the value nearest to p that is at most limit metres away.
func (n *neighbours) near(p orb.Point, limit float64) string {
	at, found := flat(p), ""
	n.tree.Nearby(rtree.BoxDist[float64, string](at, at, nil), func(min, _ [2]float64, value string, _ float64) bool {
		if math.Hypot(min[0]-at[0], min[1]-at[1])*111_195 <= limit {
			found = value
		}
		return false
	})
	return found
}

func newSurroundings(c *collector) *surroundings {
	x := &surroundings{places: c.places, byCode: map[string]map[string]int{}, fallback: strings.ToUpper(c.options.Country)}
	for _, a := range c.areas {
		if len(a.shape) > 0 {
			x.areas.Insert(a.bound.Min, a.bound.Max, a)
		}
	}
	for i := range c.houses {
		f := &c.houses[i]
		if !f.has {
			continue
		}
		x.codes.vote(f.point, f.postcode)
		x.cities.vote(f.point, f.city)
		x.lands.vote(f.point, f.country)
		if f.city != "" && f.postcode != "" {
			if x.byCode[f.postcode] == nil {
				x.byCode[f.postcode] = map[string]int{}
			}
			x.byCode[f.postcode][f.city]++
		}
	}
	x.codes.ready()
	x.cities.ready()
	x.lands.ready()
	return x
}

// around returns the outlines that hold p, the narrowest level first.
func (x *surroundings) around(p orb.Point) []*area {
	var found []*area
	x.areas.Search(p, p, func(_, _ [2]float64, a *area) bool {
		if planar.MultiPolygonContains(a.shape, p) {
			found = append(found, a)
		}
		return true
	})
	slices.SortFunc(found, func(a, b *area) int { return cmp.Or(cmp.Compare(b.level, a.level), cmp.Compare(a.id, b.id)) })
	return found
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
	around := x.around(f.point)
	p.Postcode = f.postcode
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
	p.City = f.city
	if p.City == "" {
		p.City = x.cities.near(f.point, nextDoor)
	}
	if p.City == "" {
		p.City = x.cityAround(around)
	}
	if p.City == "" {
		p.City = x.cities.near(f.point, neighbourly)
	}
	if p.City == "" {
		p.City = x.placeNear(f.point)
	}
	p.Country = x.countryOf(around, f.point, f.country)
	p.State = f.state
	if p.State == "" {
		p.State = stateOf(around)
	}
}

// cityAround returns the name of the municipality among outlines.
func (x *surroundings) cityAround(around []*area) string {
	// From wide to narrow: a municipality comes before its suburbs.
	for _, a := range slices.Backward(around) {
		if !a.postal && len(a.names) > 0 && x.isCity(a) {
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

// isCity reports whether an outline is that of a city or a part of one: by its
// level, or because a place node of its name lies in it.
func (x *surroundings) isCity(a *area) bool {
	if a.postal {
		return false
	}
	if a.level >= municipality || placeKinds[a.place] {
		return true
	}
	limit := cityLargest
	if a.level <= 2 {
		limit = countryTiny
	}
	return x.placeIn(a) != nil && geo.Area(a.shape) < limit
}

// placeIn returns the place node of the same name within a, or nil.
func (x *surroundings) placeIn(a *area) *feature {
	for i := range x.places {
		f := &x.places[i]
		if a.bound.Contains(f.point) && len(a.names) > 0 && gazetteer.Key(f.names[0]) == gazetteer.Key(a.names[0]) && planar.MultiPolygonContains(a.shape, f.point) {
			return f
		}
	}
	return nil
}

// reach is how far, in metres, a place node counts as the city of what lies
// around it.
var reach = map[string]float64{"city": 15_000, "town": 8_000, "village": 4_000, "hamlet": 2_000, "municipality": 4_000}

func (x *surroundings) placeNear(p orb.Point) string {
	best, least := "", 1.0
	for i := range x.places {
		f := &x.places[i]
		r := reach[f.place]
		if r == 0 || math.Abs(f.point[1]-p[1])*111_000 > r {
			continue
		}
		if d := geo.Distance(f.point, p) / r; d < least {
			best, least = f.names[0], d
		}
	}
	return best
}

func (x *surroundings) country(p orb.Point, given string) string {
	return x.countryOf(x.around(p), p, given)
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
	if near := x.lands.near(p, sameCountry); near != "" {
		return near
	}
	return x.fallback
}

func (x *surroundings) state(p orb.Point) string { return stateOf(x.around(p)) }

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

// cityOfCode returns the city that the addresses of a postcode name.
func (x *surroundings) cityOfCode(code string) string {
	return most(x.byCode[code])
}
