package gazetteer

import (
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// House returns the place of a house number in a street that Streets
// returned, and what its coordinate stands for:
//
//   - HousePrecision: the number is known, as such or as part of "7-15" or
//     "68a;68b";
//   - InterpolatedPrecision: the number is known with another suffix ("12" for
//     "12c"), or lies between two known ones of its side of the street (odd or
//     even), or in a Range, or between known ones of both sides;
//   - StreetPrecision: the number is at most MaxNumber; the coordinate is the
//     street's;
//   - NoPrecision: the number is not known; the place is the street.
func (g *Gazetteer) House(street Place, number string) (Place, Precision) {
	key := NumberKey(number)
	s, ok := g.streetRecord(street)
	if key == "" || !ok {
		return street, NoPrecision
	}
	// Of a list such as "30, 32" the best known member counts.
	best, precision := street, NoPrecision
	for member := range strings.SplitSeq(key, ";") {
		if p, got := g.findHouse(s, NumberKey(member)); got > precision {
			best, precision = p, got
		}
	}
	if precision == NoPrecision {
		if base, _, ok := splitNumber(key); ok && 1 <= base && base <= s.place.MaxNumber {
			p := s.place
			p.Kind, p.HouseNumber = House, number
			return p, StreetPrecision
		}
	}
	return best, precision
}

// Houses returns all places of a house number in a street that Streets
// returned: more than one where a source has several houses with the same
// address, more than 10 m apart. The first is that of House. It is empty where
// the number is not known as such.
func (g *Gazetteer) Houses(street Place, number string) (all []Place) {
	key := NumberKey(number)
	s, ok := g.streetRecord(street)
	if key == "" || !ok {
		return nil
	}
	for i := range s.houses {
		if s.houses[i].number == key {
			all = append(all, g.house(s, &s.houses[i]))
		}
	}
	return all
}

// streetRecord reads the record of a street that Streets returned.
func (g *Gazetteer) streetRecord(p Place) (*streetRecord, bool) {
	record := g.find(joinKey(streetKey, streetIdentity(&p)...))
	if record == nil {
		return nil, false
	}
	return g.readStreet(record)
}

func (g *Gazetteer) readStreet(record *codec) (*streetRecord, bool) {
	s := &streetRecord{}
	s.head(record)
	s.rest(record)
	s.place.Source = g.sourceName(s.source)
	return s, !record.Failed()
}

// maxGap is how far apart, in metres, two houses may lie for a third to be
// placed between them.
const maxGap = 1000

// findHouse looks for a number among the houses of a street.
func (g *Gazetteer) findHouse(s *streetRecord, key string) (Place, Precision) {
	base, rest, numeric := splitNumber(key)
	var near neighbours
	var covering *houseRecord // a house such as "7-15"
	for i := range s.houses {
		h := &s.houses[i]
		if h.number == key {
			return g.house(s, h), HousePrecision
		}
		number, _, ok := splitNumber(h.number)
		if !numeric || !ok {
			continue
		}
		if covering == nil && rest == "" && number <= base {
			if r, ok := coveredBy(h.number); ok && r.covers(base) {
				covering = h
			}
		}
		if h.has {
			near.note(h, number, base)
		}
	}
	switch {
	case covering != nil:
		return g.house(s, covering), HousePrecision
	case near.same != nil && isRange(rest) && allDigits(near.same.number): // "12-14" where 12 is a house of its own
		return g.house(s, near.same), HousePrecision
	case near.same != nil:
		return g.house(s, near.same), InterpolatedPrecision
	case strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "+"): // "48-50" where 50 is a house of its own
		if end, precision := g.findHouse(s, rest[1:]); precision == HousePrecision {
			return end, precision
		}
		return g.interpolate(s, key, base, &near)
	case !numeric:
		return Place{}, NoPrecision
	}
	return g.interpolate(s, key, base, &near)
}

func isRange(rest string) bool {
	return len(rest) > 1 && strings.IndexByte("-/+", rest[0]) >= 0
}

// neighbours are the houses around a number of a street: one with the number and
// another ending, and the nearest below and above, also on its own side.
type neighbours struct{ same, low, lowSide, high, highSide *houseRecord }

// note considers a house; they come in the order of their numbers.
func (n *neighbours) note(h *houseRecord, number, base int) {
	sameSide := number%2 == base%2
	switch {
	case number == base:
		if n.same == nil {
			n.same = h
		}
	case number < base:
		n.low = h
		if sameSide {
			n.lowSide = h
		}
	default:
		if n.high == nil {
			n.high = h
		}
		if n.highSide == nil && sameSide {
			n.highSide = h
		}
	}
}

// interpolate places a house number that no source has where it must lie:
// between its neighbours on its side of the street, on a range, or between any
// two neighbours.
func (g *Gazetteer) interpolate(s *streetRecord, key string, base int, near *neighbours) (Place, Precision) {
	p := s.place
	p.Kind, p.HouseNumber, p.ID, p.MaxNumber, p.HasPoint = House, key, "", 0, true
	between := func(low, high *houseRecord) bool {
		if low == nil || high == nil {
			return false
		}
		from, _, _ := splitNumber(low.number)
		to, _, _ := splitNumber(high.number)
		p.Point = along(low.point, high.point, float64(base-from)/float64(to-from))
		p.Source = g.sourceName(low.source)
		return geo.Distance(low.point, high.point) <= maxGap
	}
	if between(near.lowSide, near.highSide) {
		return p, InterpolatedPrecision
	}
	var narrowest *sourceRange
	for i := range s.ranges {
		if r := &s.ranges[i]; r.covers(base) && (narrowest == nil || r.width() < narrowest.width()) {
			narrowest = r
		}
	}
	if narrowest != nil {
		p.Point, p.Source = narrowest.point(base), g.sourceName(narrowest.source)
		return p, InterpolatedPrecision
	}
	if between(near.low, near.high) {
		return p, InterpolatedPrecision
	}
	return Place{}, NoPrecision
}

// along returns the point at a share, 0 to 1, of the way from a to b.
func along(a, b orb.Point, share float64) orb.Point {
	return orb.Point{a[0] + share*(b[0]-a[0]), a[1] + share*(b[1]-a[1])}
}

// house returns the Place of a record.
func (g *Gazetteer) house(s *streetRecord, h *houseRecord) Place {
	p := s.place
	p.Kind, p.MaxNumber, p.ID, p.Source = House, 0, h.id.String(), g.sourceName(h.source)
	p.HouseNumber, p.Point, p.HasPoint = h.number, h.point, h.has
	if h.text != "" {
		p.HouseNumber = h.text
	}
	if h.street != "" {
		p.Street = h.street
	}
	return p
}
