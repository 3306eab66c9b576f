package gazetteer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"gazehound/internal/disk"

	"github.com/blevesearch/vellum"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// maxStreets is the most streets that Streets returns.
const maxStreets = 1000

// Streets returns the streets that q.Street is a name of (see StreetKey), one
// for each postcode that they run through: those of q.Postcode if there are
// any, else those of q.City under any of its names and then of its postcodes;
// if both are empty, those of any place, at most 1,000. Streets of q.City come
// first.
func (g *Gazetteer) Streets(q Query) []Place {
	off, ok := g.find(g.streets, StreetKey(q.Street))
	if !ok {
		return nil
	}
	list := g.streetList(off)
	scopes := g.scopes(q.Country)
	var cities []string // keys
	if q.City != "" {
		cities = append(cities, Key(q.City))
		for _, c := range g.findCities(q.Country, cities[0]) {
			if key := Key(c.place.Names[0]); g.agreeState(c.place.Country, q.State, c.place.State) && !slices.Contains(cities, key) {
				cities = append(cities, key)
			}
		}
	}
	if code := PostcodeKey(q.Postcode); code != "" {
		if found := g.streetsByCode(list, scopes, code); len(found) > 0 {
			if len(cities) > 0 {
				slices.SortStableFunc(found, func(a, b Place) int {
					return boolOrder(slices.Contains(cities, Key(b.City)), slices.Contains(cities, Key(a.City)))
				})
			}
			return found
		}
	}
	switch {
	case q.City != "":
		if found := g.streetsByCity(list, scopes, cities, q.State); len(found) > 0 {
			return found
		}
		var found []Place
		for _, c := range g.findCities(q.Country, cities[0]) {
			if !g.agreeState(c.place.Country, q.State, c.place.State) {
				continue
			}
			for _, code := range c.usualCodes() {
				found = append(found, g.streetsByCode(list, scopes, PostcodeKey(code))...)
			}
		}
		return found
	case q.Postcode == "":
		var found []Place
		for i := range min(list.n, maxStreets) {
			if p, ok := g.street(list.entry(i).off); ok && agree(q.Country, p.Country) && g.agreeState(p.Country, q.State, p.State) {
				found = append(found, p)
			}
		}
		return found
	}
	return nil
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (g *Gazetteer) streetsByCode(l streetList, scopes []string, code string) []Place {
	var found []Place
	for _, country := range scopes {
		h := hash32(country, code)
		for i := sort.Search(l.n, func(i int) bool { return l.entry(i).code >= h }); i < l.n && len(found) < maxStreets; i++ {
			e := l.entry(i)
			if e.code != h {
				break
			}
			if p, ok := g.street(e.off); ok && p.Country == country && PostcodeKey(p.Postcode) == code {
				found = append(found, p)
			}
		}
	}
	return found
}

func (g *Gazetteer) streetsByCity(l streetList, scopes, cities []string, state string) []Place {
	var found []Place
	for _, city := range cities {
		for _, country := range scopes {
			h := hash32(country, city)
			for i := sort.Search(l.n, func(i int) bool { return l.byCity(i).city >= h }); i < l.n && len(found) < maxStreets; i++ {
				e := l.byCity(i)
				if e.city != h {
					break
				}
				if p, ok := g.street(e.off); ok && p.Country == country && Key(p.City) == city && g.agreeState(p.Country, state, p.State) {
					found = append(found, p)
				}
			}
		}
	}
	return found
}

// street decodes the head of a street's record.
func (g *Gazetteer) street(off uint64) (Place, bool) {
	d := g.at(off)
	p := g.streetHead(&d)
	return p, !d.Failed()
}

func (g *Gazetteer) streetHead(d *decoder) Place {
	p := Place{Kind: Street}
	p.ID = d.id()
	p.Source = g.sourceName(d.Uvarint())
	p.Names = d.Strings()
	p.Point, p.HasPoint = d.point()
	p.Postcode, p.City, p.State, p.Country = d.String(), d.String(), d.String(), d.String()
	p.MaxNumber = int(d.Uvarint())
	if len(p.Names) == 0 {
		d.Fail()
		return Place{}
	}
	p.Street = p.Names[0]
	return p
}

// HasStreet reports whether any place has a street of that name.
func (g *Gazetteer) HasStreet(name string) bool {
	_, ok := g.find(g.streets, StreetKey(name))
	return ok
}

// streetOffset finds the record of a street that Streets returned.
func (g *Gazetteer) streetOffset(p Place) (uint64, bool) {
	key := StreetKey(p.Street)
	off, ok := g.find(g.streets, key)
	if !ok {
		return 0, false
	}
	l := g.streetList(off)
	code, city := PostcodeKey(p.Postcode), Key(p.City)
	h, hc := hash32(p.Country, code), hash32(p.Country, city)
	for i := sort.Search(l.n, func(i int) bool { return l.entry(i).code >= h }); i < l.n; i++ {
		e := l.entry(i)
		if e.code != h {
			break
		}
		if e.city != hc {
			continue
		}
		s, ok := g.street(e.off)
		if ok && s.Country == p.Country && PostcodeKey(s.Postcode) == code && Key(s.City) == city && (code != "" || Key(s.State) == Key(p.State)) && StreetKey(s.Street) == key {
			return e.off, true
		}
	}
	return 0, false
}

// StreetsIn calls fn for the streets of r, in the order of their keys, each with
// the number of its houses that are known: one for every postcode that a street
// runs through. It reads the names of the whole gazetteer, so it is not for the
// hot path. It ends with the error of fn or ctx.
func (g *Gazetteer) StreetsIn(ctx context.Context, r *Region, fn func(street Place, houses int) error) error {
	it, err := g.streets.Iterator(nil, nil)
	for ; err == nil; err = it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		key, off := it.Current()
		l := g.streetList(off)
		for i := range l.n {
			d := g.at(l.entry(i).off)
			street := g.streetHead(&d)
			if d.Failed() || StreetKey(street.Street) != string(key) || !r.Has(street) {
				continue // another name of a street that comes under its own
			}
			if err := fn(street, countHouses(&d)); err != nil {
				return err
			}
		}
	}
	if errors.Is(err, vellum.ErrIteratorDone) {
		return nil
	}
	return fmt.Errorf("gazetteer: streets: %w", err)
}

// countHouses returns the number of houses of the street whose head d has read.
func countHouses(d *decoder) int {
	for range d.Count() {
		d.Uvarint()
		d.Uvarint()
		d.Uvarint()
	}
	return d.Count()
}

// unitKey is the identity of a street: one per postcode of a city, and per
// state where there is no postcode.
func unitKey(p *Place) []byte {
	state := ""
	if p.Postcode == "" {
		state = Key(p.State)
	}
	return joinKey(StreetKey(p.Street), p.Country, PostcodeKey(p.Postcode), Key(p.City), state)
}

func (c *compiler) addStreet(source int, p *Place) error {
	key := unitKey(p)
	c.buf = putPlace(binary.AppendUvarint(c.buf[:0], uint64(source)), p)
	at, has := p.Point, p.HasPoint
	if p.Range != nil {
		c.buf = putRange(c.buf, p.Range, orb.Point{})
		if !has {
			at, has = p.Range.at(0.5), true
		}
	}
	if p.Kind == Street {
		if err := c.streets.Add(append(key, 0), c.buf); err != nil {
			return err
		}
	} else {
		for _, number := range numberList(p.HouseNumber) {
			base, _, _ := splitNumber(number)
			full := binary.BigEndian.AppendUint32(append(slices.Clip(key), 1), uint32(base))
			if err := c.streets.Add(append(full, number...), c.buf); err != nil {
				return err
			}
		}
	}
	if p.City == "" && p.Postcode == "" {
		return nil
	}
	k := evidenceKey{p.Country, p.State, Key(p.City), PostcodeKey(p.Postcode)}
	e := c.evidence[k]
	if e == nil {
		e = &evidence{source: source, city: p.City, code: p.Postcode, cells: map[cell]int{}}
		c.evidence[k] = e
		c.evidenceCells++
	}
	if has {
		in := cellOf(at)
		if _, ok := e.cells[in]; !ok {
			c.evidenceCells++
		}
		e.cells[in]++
		e.count++
		// A running mean: every house moves the point less.
		e.point[0] += (at[0] - e.point[0]) / float64(e.count)
		e.point[1] += (at[1] - e.point[1]) / float64(e.count)
		e.has = true
	}
	if c.evidenceCells > maxEvidence {
		return c.flushEvidence()
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
		if part = NumberKey(part); part != "" && !slices.Contains(list, part) {
			list = append(list, part)
		}
	}
	return list
}

// A unit is a street in the making: its record is written when the next
// street begins.
type unit struct {
	key    []byte // of the sort, without the kind
	street Place
	source int
	houses []house
	ranges []sourceRange
	names  map[string]bool
	given  bool // the street's coordinate is a source's own
}

type sourceRange struct {
	Range
	source int
}

type house struct {
	number string // key
	place  Place
	source int
}

func (c *compiler) writeStreets() error {
	var listKey string
	cityKeys := map[string]bool{} // cities that have a street of this key
	// A street of a postcode without a city is a part of the first one that has
	// a city.
	var u, placeless *unit
	endUnit := func() error {
		if u == nil {
			return nil
		}
		if placeless != nil {
			u.absorb(placeless)
			placeless = nil
		}
		key, _, _ := strings.Cut(string(u.key), "\x00")
		if key != listKey {
			listKey = key
			clear(cityKeys)
		}
		s := &u.street
		if full := s.Country + "\x00" + Key(s.City); !cityKeys[full] {
			cityKeys[full] = true
			c.meta.Stats.Streets++
		}
		entry := listEntry{hash32(s.Country, PostcodeKey(s.Postcode)), hash32(s.Country, Key(s.City)), c.off}.put(nil)
		for i, name := range s.Names {
			alias := StreetKey(name)
			if i == 0 {
				alias = key // each street stands under its own at least
			} else if alias == key || alias == "" {
				continue
			}
			if err := c.lists.Add([]byte(alias), entry); err != nil {
				return err
			}
		}
		c.meta.Stats.Houses += len(u.houses)
		c.buf = putUnit(c.buf[:0], u)
		u = nil
		return c.write(c.buf)
	}
	n := 0
	err := c.streets.Each(func(key, value []byte) error {
		if n++; n%4096 == 0 && c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		end := 0
		for range 5 {
			end += bytes.IndexByte(key[end:], 0) + 1
		}
		if u == nil || !bytes.Equal(u.key, key[:end]) {
			if u != nil && u.street.City == "" && u.street.Postcode != "" && sameCode(u.key, key) {
				placeless, u = u, nil
			}
			if err := endUnit(); err != nil {
				return err
			}
			u = &unit{key: slices.Clone(key[:end]), names: map[string]bool{}}
		}
		d := decode(value)
		source := int(d.Uvarint())
		p := d.place()
		if d.Len() > 0 {
			r := d.streetRange(orb.Point{})
			p.Range = &r
		}
		u.add(key[end:], source, p)
		return nil
	})
	if err == nil {
		err = endUnit()
	}
	return err
}

// add merges one place, whose kind and number stand in tail, into the unit.
func (u *unit) add(tail []byte, source int, p Place) {
	if u.street.Kind == 0 {
		s := p
		s.Kind, s.HouseNumber, s.Names, s.HasPoint, s.Point = Street, "", nil, false, orb.Point{}
		if p.Kind == House {
			s.ID = ""
		}
		u.street, u.source = s, source
	}
	s := &u.street
	for _, name := range p.Names {
		if !u.names[name] && len(s.Names) < maxNames {
			u.names[name] = true
			s.Names = append(s.Names, name)
		}
	}
	s.MaxNumber = max(s.MaxNumber, p.MaxNumber)
	if s.State == "" {
		s.State = p.State
	}
	if s.City == "" {
		s.City = p.City
	}
	if p.Range != nil {
		u.ranges = append(u.ranges, sourceRange{*p.Range, source})
	}
	if tail[0] == 0 {
		if p.HasPoint && !u.given {
			s.Point, s.HasPoint, u.given = p.Point, true, true
			s.ID, u.source = p.ID, source
		}
		return
	}
	number := string(tail[5:])
	if n := len(u.houses); n > 0 && u.houses[n-1].number == number {
		last := &u.houses[n-1]
		if !last.place.HasPoint && p.HasPoint {
			last.place, last.source = p, source
		} else if u.isTwin(source, &p) {
			u.houses = append(u.houses, house{number, p, source})
		}
	} else {
		u.houses = append(u.houses, house{number, p, source})
	}
}

// sameCode reports whether two sort keys have the same street, country and
// postcode.
func sameCode(a, b []byte) bool {
	end := 0
	for range 3 {
		end += bytes.IndexByte(a[end:], 0) + 1
	}
	return bytes.HasPrefix(b, a[:end])
}

// absorb adds what o knows; where both know a house, the source added last
// wins.
func (u *unit) absorb(o *unit) {
	s := &u.street
	for _, name := range o.street.Names {
		if !u.names[name] && len(s.Names) < maxNames {
			u.names[name] = true
			s.Names = append(s.Names, name)
		}
	}
	s.MaxNumber = max(s.MaxNumber, o.street.MaxNumber)
	s.State = cmp.Or(s.State, o.street.State)
	if o.given && !u.given {
		s.Point, s.HasPoint, u.given = o.street.Point, true, true
		s.ID, u.source = o.street.ID, o.source
	}
	u.ranges = append(u.ranges, o.ranges...)
	u.houses = append(u.houses, o.houses...)
	slices.SortStableFunc(u.houses, func(a, b house) int {
		baseA, _, _ := splitNumber(a.number)
		baseB, _, _ := splitNumber(b.number)
		return cmp.Or(cmp.Compare(baseA, baseB), cmp.Compare(a.number, b.number), boolOrder(b.place.HasPoint, a.place.HasPoint), cmp.Compare(b.source, a.source))
	})
	u.houses = slices.CompactFunc(u.houses, func(a, b house) bool {
		return a.number == b.number && (a.source != b.source || !b.place.HasPoint || geo.Distance(a.place.Point, b.place.Point) <= twinDistance)
	})
}

// Houses of one source with the same address are kept apart if they lie more
// than twinDistance metres from each other: no more than maxTwins of them.
const (
	twinDistance = 10
	maxTwins     = 32
)

// isTwin reports whether p, which has the number of the last house, is another
// one.
func (u *unit) isTwin(source int, p *Place) bool {
	number := u.houses[len(u.houses)-1].number
	for i, n := len(u.houses)-1, 0; i >= 0 && u.houses[i].number == number; i, n = i-1, n+1 {
		h := &u.houses[i]
		if n+1 >= maxTwins || h.source != source || !p.HasPoint || !h.place.HasPoint || geo.Distance(h.place.Point, p.Point) <= twinDistance {
			return false
		}
	}
	return true
}

// point returns the coordinate of the street: its source's, else the middle of
// its houses.
func (u *unit) point() (orb.Point, bool) {
	if u.given {
		return u.street.Point, true
	}
	var lon, lat []float64
	for _, h := range u.houses {
		if h.place.HasPoint {
			lon, lat = append(lon, h.place.Point[0]), append(lat, h.place.Point[1])
		}
	}
	if len(lon) == 0 && len(u.ranges) > 0 {
		return u.ranges[len(u.ranges)/2].at(0.5), true
	}
	if len(lon) == 0 {
		return orb.Point{}, false
	}
	slices.Sort(lon)
	slices.Sort(lat)
	return orb.Point{lon[len(lon)/2], lat[len(lat)/2]}, true
}

// blockHouses is the number of houses in one block of a street's record.
const blockHouses = 64

// putUnit encodes a street: itself, the ranges among its house numbers ("7-15"),
// the skip table of its blocks, the blocks, the stretches with their numbers.
func putUnit(b []byte, u *unit) []byte {
	s := &u.street
	s.Point, s.HasPoint = u.point()
	b = putID(b, s.ID)
	b = binary.AppendUvarint(b, uint64(u.source))
	b = disk.AppendStrings(b, s.Names)
	b = putPoint(b, s.HasPoint, s.Point)
	for _, t := range []string{s.Postcode, s.City, s.State, s.Country} {
		b = disk.AppendString(b, t)
	}
	b = binary.AppendUvarint(b, uint64(s.MaxNumber))

	var ranges []byte
	nranges := 0
	for i, h := range u.houses {
		if r, ok := coveredBy(h.number); ok {
			ranges = binary.AppendUvarint(ranges, uint64(r.lo))
			ranges = binary.AppendUvarint(ranges, uint64(r.hi))
			ranges = binary.AppendUvarint(ranges, uint64(i))
			nranges++
		}
	}
	b = append(binary.AppendUvarint(b, uint64(nranges)), ranges...)

	b = binary.AppendUvarint(b, uint64(len(u.houses)))
	lon0, lat0 := toUnits(s.Point)
	var skip, blocks []byte
	for block := range slices.Chunk(u.houses, blockHouses) {
		first, _, _ := splitNumber(block[0].number)
		var enc []byte
		last := first
		for i := range block {
			h := &block[i]
			base, rest, ok := splitNumber(h.number)
			if !ok {
				rest = h.number
			}
			enc = binary.AppendUvarint(enc, uint64(base-last))
			last = base
			enc = disk.AppendString(enc, rest)
			text := h.place.HouseNumber
			if text == h.number && base > 0 {
				text = "" // follows from base and rest
			}
			enc = disk.AppendString(enc, text)
			name := h.place.Street
			if name == s.Names[0] {
				name = ""
			}
			enc = disk.AppendString(enc, name)
			enc = binary.AppendUvarint(enc, uint64(h.source))
			enc = putID(enc, h.place.ID)
			if h.place.HasPoint {
				lon, lat := toUnits(h.place.Point)
				enc = binary.AppendVarint(binary.AppendVarint(append(enc, 1), lon-lon0), lat-lat0)
			} else {
				enc = append(enc, 0)
			}
		}
		skip = binary.AppendUvarint(binary.AppendUvarint(skip, uint64(first)), uint64(len(enc)))
		blocks = append(blocks, enc...)
	}
	b = append(append(b, skip...), blocks...)
	b = binary.AppendUvarint(b, uint64(len(u.ranges)))
	for i := range u.ranges {
		b = binary.AppendUvarint(b, uint64(u.ranges[i].source))
		b = putRange(b, &u.ranges[i].Range, s.Point)
	}
	return b
}
