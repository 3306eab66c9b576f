package gazetteer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// streetIdentity returns the parts of a street's key: one street per postcode of a city, or per
// state without a postcode.
func streetIdentity(p *Place) []string {
	state := ""
	if p.Postcode == "" {
		state = Key(p.State)
	}
	return []string{StreetKey(p.Street), PostcodeKey(p.Postcode), p.Country, Key(p.City), state}
}

// addStreet sends a Street or a House to the sort, below the key of its street: first
// what is said of the street, then the houses by their numbers.
func (c *compiler) addStreet(source int, p *Place) error {
	fact := c.encode(func(fact *codec) {
		disk.Unsigned(&fact.Codec, &source)
		fact.place(p)
		if p.Range != nil {
			fact.numberRange(p.Range, orb.Point{})
		}
	})
	key := joinKey(streetKey, streetIdentity(p)...)
	keys := [][]byte{append(key, 0)}
	if p.Kind == House {
		keys = nil
		for _, number := range numberList(p.HouseNumber) {
			base, _, _ := splitNumber(number)
			full := binary.BigEndian.AppendUint32(append(slices.Clip(key), 1), uint32(base))
			keys = append(keys, append(full, number...))
		}
	}
	for _, key := range keys {
		err := c.facts.Add(key, fact)
		if err != nil {
			return err
		}
	}
	if p.Range != nil && !p.HasPoint {
		c.addEvidence(source, p, p.Range.At(0.5), true)
	} else {
		c.addEvidence(source, p, p.Point, p.HasPoint)
	}
	return nil
}

// numberList splits "68a;68b" and "1, 3, 5" and returns the keys.
func numberList(number string) []string {
	key := NumberKey(number)
	if !strings.Contains(key, ";") {
		return []string{key}
	}
	var list []string
	for part := range strings.SplitSeq(key, ";") {
		part = NumberKey(part)
		if part != "" && !slices.Contains(list, part) {
			list = append(list, part)
		}
	}
	return list
}

// A unit is a street in the making: one of its postcode and city.
type unit struct {
	key   []byte
	given bool // the street's coordinate is a source's own
	streetRecord
}

// add merges one place into the unit.
func (u *unit) add(key, value []byte) error {
	fact := readFrom(value)
	var p Place
	var source int
	disk.Unsigned(&fact.Codec, &source)
	fact.place(&p)
	s := &u.place
	if s.Kind == 0 {
		*s, u.source = p, source
		s.Kind, s.HouseNumber, s.Names, s.HasPoint, s.Point = Street, "", nil, false, orb.Point{}
		if p.Kind == House {
			s.ID = ""
		}
	}
	s.Names = addNames(s.Names, p.Names)
	s.MaxNumber = max(s.MaxNumber, p.MaxNumber)
	s.State = cmp.Or(s.State, p.State)
	s.City = cmp.Or(s.City, p.City)
	if fact.Len() > 0 {
		r := sourceRange{source: source}
		fact.numberRange(&r.Range, orb.Point{})
		u.ranges = append(u.ranges, r)
	}
	if p.Kind == House {
		u.addHouse(houseRecord{
			number: string(key[len(u.key)+5:]), text: p.HouseNumber, street: p.Street, source: source,
			id: parseID(p.ID), point: p.Point, has: p.HasPoint,
		})
	} else if p.HasPoint {
		u.locate(&p, source)
	}
	return nil
}

// locate sets the coordinate of the street, once.
func (u *unit) locate(p *Place, source int) {
	if s := &u.place; !u.given {
		s.Point, s.HasPoint, s.ID = p.Point, true, p.ID
		u.given, u.source = true, source
	}
}

func (u *unit) addHouse(h houseRecord) {
	if n := len(u.houses); n > 0 && u.houses[n-1].number == h.number {
		if last := &u.houses[n-1]; !last.has && h.has {
			*last = h
			return
		}
		if !u.isTwin(&h) {
			return
		}
	}
	u.houses = append(u.houses, h)
}

// Houses of one source with the same address are kept apart if they lie more
// than twinDistance metres from each other: no more than maxTwins of them.
const (
	twinDistance = 10
	maxTwins     = 32
)

// isTwin reports whether h, which has the number of the last house, is another one.
func (u *unit) isTwin(h *houseRecord) bool {
	n := 0
	for _, old := range slices.Backward(u.houses) {
		if old.number != h.number {
			break
		}
		n++
		if n >= maxTwins || old.source != h.source || !old.has || !h.has ||
			geo.Distance(old.point, h.point) <= twinDistance {
			return false
		}
	}
	return true
}

// absorb adds the facts of o; for a house in both, the source added last wins.
func (u *unit) absorb(o *unit) {
	s := &u.place
	s.Names = addNames(s.Names, o.place.Names)
	s.MaxNumber = max(s.MaxNumber, o.place.MaxNumber)
	s.State = cmp.Or(s.State, o.place.State)
	if o.given {
		u.locate(&o.place, o.source)
	}
	u.ranges = append(u.ranges, o.ranges...)
	u.houses = append(u.houses, o.houses...)
	slices.SortStableFunc(u.houses, func(a, b houseRecord) int {
		baseA, _, _ := splitNumber(a.number)
		baseB, _, _ := splitNumber(b.number)
		return cmp.Or(cmp.Compare(baseA, baseB), cmp.Compare(a.number, b.number),
			boolOrder(b.has, a.has), cmp.Compare(b.source, a.source))
	})
	u.houses = slices.CompactFunc(u.houses, func(a, b houseRecord) bool {
		return a.number == b.number && (a.source != b.source || !b.has ||
			geo.Distance(a.point, b.point) <= twinDistance)
	})
}

// middle sets the coordinate of a street without one of its own: the middle of its
// houses, or else of its ranges.
func (u *unit) middle() {
	var lon, lat []float64
	for _, h := range u.houses {
		if h.has {
			lon, lat = append(lon, h.point[0]), append(lat, h.point[1])
		}
	}
	switch s := &u.place; {
	case u.given:
	case len(lon) > 0:
		slices.Sort(lon)
		slices.Sort(lat)
		s.Point, s.HasPoint = orb.Point{lon[len(lon)/2], lat[len(lat)/2]}, true
	case len(u.ranges) > 0:
		s.Point, s.HasPoint = u.ranges[len(u.ranges)/2].At(0.5), true
	}
}

// write writes the street. One with a postcode and without a city waits for the next: it
// is a part of the first street of its name and postcode that has a city.
func (u *unit) write(c *compiler) error {
	if before := c.placeless; before != nil {
		c.placeless = nil
		if bytes.HasPrefix(u.key, firstParts(before.key, 3)) {
			u.absorb(before)
		} else {
			err := c.writeStreet(before)
			if err != nil {
				return err
			}
		}
	}
	if u.place.City == "" && u.place.Postcode != "" {
		c.placeless = u
		return nil
	}
	return c.writeStreet(u)
}

func (c *compiler) writeStreet(u *unit) error {
	s := &u.place
	parts := strings.Split(strings.TrimPrefix(string(u.key), streetKey), "\x00")
	name, code, country, city, state := parts[0], parts[1], parts[2], parts[3], parts[4]
	if c.streetName != name {
		c.streetName = name
		clear(c.cityNames)
	}
	if full := country + " " + Key(s.City); !c.cityNames[full] {
		c.cityNames[full] = true
		c.meta.Stats.Streets++
	}
	c.meta.Stats.Houses += len(u.houses)

	keys := [][]byte{[]byte(nameKey + name), u.key, joinKey(townKey, name, city, country, code, state)}
	for _, other := range s.Names[1:] {
		if alias := StreetKey(other); alias != name && alias != "" {
			keys = append(keys, []byte(nameKey+alias),
				append(joinKey(streetKey, alias, code, country, city, state), u.key...),
				append(joinKey(townKey, alias, city, country, code, state), u.key...))
		}
	}
	u.middle()
	for i := range u.houses {
		h := &u.houses[i]
		if h.text == h.number {
			h.text = ""
		}
		if h.street == s.Names[0] {
			h.street = ""
		}
	}
	return c.record(func(record *codec) {
		u.head(record)
		u.rest(record)
	}, keys...)
}

// A streetRecord is a street as stored in the file.
type streetRecord struct {
	place  Place // the street
	source int
	houses []houseRecord // by number
	ranges []sourceRange
}

// A houseRecord is one house as stored in the file.
type houseRecord struct {
	number       string // key
	text, street string // as the source writes them; empty where they follow from number and street
	source       int
	id           objectID
	point        orb.Point
	has          bool
}

type sourceRange struct {
	Range
	source int
}

// head codes the street itself.
func (s *streetRecord) head(c *codec) {
	p := &s.place
	p.Kind = Street
	c.id(&p.ID)
	disk.Unsigned(&c.Codec, &s.source)
	c.Texts(&p.Names)
	c.point(&p.Point, &p.HasPoint)
	for _, text := range []*string{&p.Postcode, &p.City, &p.State, &p.Country} {
		c.Text(text)
	}
	disk.Unsigned(&c.Codec, &p.MaxNumber)
	if len(p.Names) == 0 {
		c.Fail()
		return
	}
	p.Street = p.Names[0]
}

// rest codes the houses, and the ranges with their numbers.
func (s *streetRecord) rest(c *codec) {
	disk.List(&c.Codec, &s.houses, func(h *houseRecord) {
		c.Text(&h.number)
		c.Text(&h.text)
		c.Text(&h.street)
		disk.Unsigned(&c.Codec, &h.source)
		c.objectID(&h.id)
		c.pointNear(&h.point, &h.has, s.place.Point)
	})
	disk.List(&c.Codec, &s.ranges, func(r *sourceRange) {
		disk.Unsigned(&c.Codec, &r.source)
		c.numberRange(&r.Range, s.place.Point)
	})
}
