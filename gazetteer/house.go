package gazetteer

import (
	"sort"
	"strconv"
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
	if key == "" {
		return street, NoPrecision
	}
	off, ok := g.streetOffset(street)
	if !ok {
		return street, NoPrecision
	}
	d := g.at(off)
	head := g.streetHead(&d)
	// Of a list such as "30, 32" the best known member counts.
	var house Place
	precision := NoPrecision
	for member := range strings.SplitSeq(key, ";") {
		r := d
		if h, got := g.findHouse(&r, head, NumberKey(member), nil); !r.Failed() && got > precision {
			house, precision = h, got
		}
	}
	if precision == NoPrecision {
		base, _, ok := splitNumber(key)
		if ok && 1 <= base && base <= head.MaxNumber {
			p := head
			p.Kind, p.HouseNumber = House, number
			return p, StreetPrecision
		}
		return street, NoPrecision
	}
	return house, precision
}

// Houses returns all places of a house number in a street that Streets
// returned: more than one where a source has several houses with the same
// address, more than 10 m apart. The first is that of House. It is empty where
// the number is not known as such.
func (g *Gazetteer) Houses(street Place, number string) []Place {
	key := NumberKey(number)
	off, ok := g.streetOffset(street)
	if !ok || key == "" {
		return nil
	}
	d := g.at(off)
	head := g.streetHead(&d)
	var all []Place
	if g.findHouse(&d, head, key, &all); d.Failed() {
		return nil
	}
	return all
}

// maxGap is how far apart, in metres, two houses may lie for a third to be
// placed between them.
const maxGap = 1000

// findHouse looks for a number among the houses of a street, whose record d
// has been read up to the ranges. If all is not nil, it adds every house with
// exactly that number to it.
func (g *Gazetteer) findHouse(d *decoder, street Place, key string, all *[]Place) (Place, Precision) {
	base, rest, numeric := splitNumber(key)
	if !numeric {
		rest = key
	}
	inRange := -1
	for range d.Count() {
		r := numberRange{int(d.Uvarint()), int(d.Uvarint())}
		i := int(d.Uvarint())
		if inRange < 0 && numeric && rest == "" && r.lo != base && r.covers(base) {
			inRange = i
		}
	}
	n := d.Count()
	type block struct{ first, size int }
	skip := make([]block, 0, (n+blockHouses-1)/blockHouses)
	for range (n + blockHouses - 1) / blockHouses {
		skip = append(skip, block{int(d.Uvarint()), int(d.Uvarint())})
	}
	// The number stands in the last block that starts below it, or in the one
	// after; neighbours for interpolation may stand one further away.
	from := max(sort.Search(len(skip), func(i int) bool { return skip[i].first >= base })-2, 0)
	to := min(sort.Search(len(skip), func(i int) bool { return skip[i].first > base })+1, len(skip))

	var member houseRecord
	var near neighbours
	for i, b := range skip {
		enc := d.Next(b.size)
		if (i < from || i >= to) && inRange/blockHouses != i {
			continue
		}
		bd := decode(enc)
		base0 := b.first
		for j := range min(blockHouses, n-i*blockHouses) {
			h := readHouse(&bd, base0)
			base0 = h.base
			if bd.Failed() {
				d.Fail()
				return Place{}, NoPrecision
			}
			if i*blockHouses+j == inRange {
				member = h
			}
			switch {
			case i < from || i >= to:
			case h.base == base && string(h.rest) == rest:
				if all == nil {
					return g.house(street, h), HousePrecision
				}
				*all = append(*all, g.house(street, h))
			case numeric && h.has:
				near.note(h, base)
			}
		}
	}
	switch {
	case member.ok:
		return g.house(street, member), HousePrecision
	case near.same.ok && isRange(rest) && len(near.same.rest) == 0:
		return g.house(street, near.same), HousePrecision // "12-14" where 12 is a house of its own
	case near.same.ok:
		return g.house(street, near.same), InterpolatedPrecision
	case !numeric:
		return Place{}, NoPrecision
	}
	return g.interpolate(d, street, key, base, &near)
}

// neighbours are the houses around a number of a street, in whose order they are
// noted: one with the number and another ending, and the nearest below and above,
// also on its own side.
type neighbours struct{ same, low, lowSide, high, highSide houseRecord }

func (n *neighbours) note(h houseRecord, base int) {
	switch {
	case h.base == base:
		if !n.same.ok {
			n.same = h
		}
	case h.base < base:
		n.low = h
		if h.base%2 == base%2 {
			n.lowSide = h
		}
	default:
		if !n.high.ok {
			n.high = h
		}
		if !n.highSide.ok && h.base%2 == base%2 {
			n.highSide = h
		}
	}
}

// interpolate returns the house number that nobody knows where it must lie:
// between its neighbours on its side of the street, on a range, or between any
// two neighbours. d stands behind the houses of the street.
func (g *Gazetteer) interpolate(d *decoder, street Place, key string, base int, near *neighbours) (Place, Precision) {
	p := street
	p.Kind, p.HouseNumber, p.ID, p.MaxNumber, p.HasPoint = House, key, "", 0, true
	between := func(low, high houseRecord) bool {
		if !low.ok || !high.ok {
			return false
		}
		a, b := g.house(street, low).Point, g.house(street, high).Point
		t := float64(base-low.base) / float64(high.base-low.base)
		p.Point = orb.Point{a[0] + t*(b[0]-a[0]), a[1] + t*(b[1]-a[1])}
		p.Source = g.sourceName(low.source)
		return geo.Distance(a, b) <= maxGap
	}
	if between(near.lowSide, near.highSide) {
		return p, InterpolatedPrecision
	}
	if r, source, ok := g.findRange(d, street, base); ok {
		p.Point, p.Source = r.point(base), g.sourceName(source)
		return p, InterpolatedPrecision
	}
	if between(near.low, near.high) {
		return p, InterpolatedPrecision
	}
	return Place{}, NoPrecision
}

// findRange returns the narrowest of a street's ranges that covers a number; d
// stands behind the houses.
func (g *Gazetteer) findRange(d *decoder, street Place, number int) (best Range, source uint64, ok bool) {
	if g.format < 2 {
		return best, 0, false
	}
	for range d.Count() {
		from := d.Uvarint()
		r := d.streetRange(street.Point)
		if d.Failed() {
			return best, 0, false
		}
		if r.covers(number) && (!ok || r.width() < best.width()) {
			best, source, ok = r, from, true
		}
	}
	return best, source, ok
}

func isRange(rest string) bool {
	return len(rest) > 1 && strings.IndexByte("-/+", rest[0]) >= 0
}

// A houseRecord is one house as it stands in the file.
type houseRecord struct {
	ok               bool
	base             int
	rest, text, name []byte // text and name are empty where they follow from the rest
	source           uint64
	id               []byte
	has              bool
	lon, lat         int64 // from the street's coordinate
}

// readHouse reads the next house of a block; last is the number before it.
func readHouse(d *decoder, last int) houseRecord {
	h := houseRecord{ok: true, base: last + int(d.Uvarint())}
	h.rest, h.text, h.name = d.Bytes(), d.Bytes(), d.Bytes()
	h.source = d.Uvarint()
	h.id = d.Rest()
	d.skipID()
	if h.has = d.Byte() == 1; h.has {
		h.lon, h.lat = d.Varint(), d.Varint()
	}
	return h
}

// house returns the Place of a record.
func (g *Gazetteer) house(street Place, h houseRecord) Place {
	p := street
	p.Kind, p.MaxNumber, p.Source = House, 0, g.sourceName(h.source)
	switch {
	case len(h.text) > 0:
		p.HouseNumber = string(h.text)
	case h.base > 0:
		p.HouseNumber = strconv.Itoa(h.base) + string(h.rest)
	default:
		p.HouseNumber = string(h.rest)
	}
	if len(h.name) > 0 {
		p.Street = string(h.name)
	}
	d := decode(h.id)
	p.ID = d.id()
	p.Point, p.HasPoint = orb.Point{}, h.has
	if h.has {
		lon, lat := toUnits(street.Point)
		p.Point = fromUnits(lon+h.lon, lat+h.lat)
	}
	return p
}
