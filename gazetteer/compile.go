package gazetteer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"gazehound/internal/disk"

	"github.com/blevesearch/vellum"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// The compiled file:
//
//	magic, format version (u32), 0 (u32)
//	records: outlines, streets with their houses, postcodes, cities
//	three FSTs: street key → list of streets; postcode and country → list of
//	its cities; city key → list of cities
//	index of the outlines; cells that hold a coordinate; meta (JSON)
//	footer: offset and length (u64 each) of the six sections, CRC-32C of all
//	that comes before it (u32), magic
//
// Numbers are little-endian. Offsets count from the start of the file.
const (
	magic         = "GAZEHOND"
	formatVersion = 2
	headerSize    = len(magic) + 8
)

// The sections.
const (
	sectionStreets = iota
	sectionPostcodes
	sectionCities
	sectionOutlines
	sectionCells
	sectionMeta
	sections
)

const footerSize = sections*16 + 4 + len(magic)

// meta is the section for what is small.
type meta struct {
	Stats   Stats    `json:"stats"`
	Sources []Source `json:"sources"`
	// States maps country and code ("US CA") to the names of the state, the
	// country's own code ("US") to those of the country.
	States map[string][]string `json:"states,omitempty"`
}

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// A compiler writes one compiled gazetteer.
type compiler struct {
	ctx   context.Context
	w     *bufio.Writer
	off   uint64
	crc   uint32
	table [sections][2]uint64
	buf   []byte

	meta      meta
	countries map[string]bool
	cells     map[cell]bool

	streets, lists, postcodes, cities *disk.Sorter // lists: streets by their names
	evidence                          map[evidenceKey]*evidence
	evidenceCells                     int
	outlines                          []byte // their index
	noutlines                         int
}

// compile writes the gazetteer of inputs, the last of which wins, to w. Its
// memory is bounded by limit for each of three sorts, the cells that hold a
// place (1 km², 8 bytes) and the FSTs.
func compile(ctx context.Context, w io.Writer, inputs []input, tmp string, limit int) error {
	c := &compiler{
		ctx: ctx, w: bufio.NewWriterSize(w, 1<<16),
		countries: map[string]bool{}, cells: map[cell]bool{},
		streets:   &disk.Sorter{Dir: tmp, Memory: limit},
		lists:     &disk.Sorter{Dir: tmp, Memory: limit},
		postcodes: &disk.Sorter{Dir: tmp, Memory: limit},
		cities:    &disk.Sorter{Dir: tmp, Memory: limit},
		evidence:  map[evidenceKey]*evidence{},
	}
	defer c.streets.Close()
	defer c.lists.Close()
	defer c.postcodes.Close()
	defer c.cities.Close()
	head := binary.LittleEndian.AppendUint32([]byte(magic), formatVersion)
	if err := c.write(binary.LittleEndian.AppendUint32(head, 0)); err != nil {
		return err
	}
	// Sorting keeps the order of equals, so the last source is read first.
	for i, in := range slices.Backward(inputs) {
		n := 0
		err := in.each(func(p *Place) error {
			if n++; n%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			return c.add(i, p)
		})
		if err != nil {
			return err
		}
	}
	for _, in := range inputs {
		c.meta.Sources = append(c.meta.Sources, in.Source)
	}
	if err := c.flushEvidence(); err != nil {
		return err
	}
	for _, step := range []func() error{c.writeStreets, c.writeLists, c.writePostcodes, c.writeCities, c.writeRest} {
		if err := step(); err != nil {
			return err
		}
	}
	return c.w.Flush()
}

func (c *compiler) write(b []byte) error {
	c.crc = crc32.Update(c.crc, crcTable, b)
	c.off += uint64(len(b))
	_, err := c.w.Write(b)
	return err
}

// section writes b as section i.
func (c *compiler) section(i int, b []byte) error {
	c.table[i] = [2]uint64{c.off, uint64(len(b))}
	return c.write(b)
}

// A cell is a square of 0.01 degrees: its row from the south pole and its
// column from 180° west, 16 bits each.
type cell uint32

func cellOf(p orb.Point) cell {
	row := uint32(math.Floor((p[1] + 90) * 100))
	col := uint32(math.Floor((p[0] + 180) * 100))
	return cell(row<<16 | col)
}

// bound returns the box of c.
func (c cell) bound() orb.Bound {
	lat, lon := float64(c>>16)/100-90, float64(c&0xffff)/100-180
	return orb.Bound{Min: orb.Point{lon, lat}, Max: orb.Point{lon + 0.01, lat + 0.01}}
}

// add sends one place to the sorts.
func (c *compiler) add(source int, p *Place) error {
	if p.Country != "" && (p.Kind != Outline || len(p.Area) > 0) {
		c.countries[p.Country] = true
	}
	if p.Range != nil {
		for _, pt := range p.Range.Line {
			c.cells[cellOf(pt)] = true
		}
	}
	if p.HasPoint {
		c.cells[cellOf(p.Point)] = true
	}
	var outline uint64
	if len(p.Area) > 0 {
		outline = c.off
		if err := c.writeOutline(p); err != nil {
			return err
		}
	}
	switch p.Kind {
	case Street, House:
		return c.addStreet(source, p)
	case Postcode:
		v := binary.AppendUvarint(append(c.buf[:0], 0), uint64(source))
		c.buf = putPlace(binary.AppendUvarint(v, outline), p)
		if err := c.postcodes.Add(joinKey(PostcodeKey(p.Postcode), p.Country, Key(p.City)), c.buf); err != nil {
			return err
		}
		if err := c.addAliases(Key(p.City), &Place{Names: p.Names[:min(len(p.Names), 1)], Country: p.Country}); err != nil {
			return err
		}
		for _, name := range p.Names {
			e := evidence{source: source, city: name, code: p.Postcode, point: p.Point, has: p.HasPoint}
			if p.HasPoint {
				e.cells = map[cell]int{cellOf(p.Point): 0}
			}
			if err := c.addCityEvidence(Key(name), p.Country, p.State, &e); err != nil {
				return err
			}
		}
	case City:
		v := binary.AppendUvarint(append(c.buf[:0], itemCity), uint64(source))
		c.buf = putPlace(binary.AppendUvarint(v, outline), p)
		primary := Key(p.Names[0])
		if err := c.cities.Add([]byte(primary), c.buf); err != nil {
			return err
		}
		return c.addAliases(primary, p)
	case Outline:
		c.addState(p)
	}
	return nil
}

// The administrative levels of OpenStreetMap that are countries and states.
const (
	countryLevel = 2
	stateLevel   = 4
)

// addState keeps the names of a country or state for its code.
func (c *compiler) addState(p *Place) {
	key := p.Country
	switch {
	case p.Country == "":
		return
	case p.AdminLevel == countryLevel:
	case p.AdminLevel == stateLevel && isStateCode(p.State):
		key += " " + strings.ToUpper(p.State)
	default:
		return
	}
	if c.meta.States == nil {
		c.meta.States = map[string][]string{}
	}
	names := c.meta.States[key]
	for _, name := range p.Names {
		if !slices.Contains(names, name) && len(names) < maxNames {
			names = append(names, name)
		}
	}
	c.meta.States[key] = names
}

// addAliases enters the other names of a city as pointers to its first.
func (c *compiler) addAliases(primary string, p *Place) error {
	seen := map[string]bool{primary: true}
	for i, name := range p.Names {
		keys := []string{Key(name)}
		if i == 0 {
			keys = shortNames(name)
		}
		for _, key := range keys {
			if key == "" || seen[key] {
				continue
			}
			seen[key] = true
			v := disk.AppendString(append(c.buf[:0], itemAlias), primary)
			c.buf = putPoint(disk.AppendString(v, p.Country), p.HasPoint, p.Point)
			if err := c.cities.Add([]byte(key), c.buf); err != nil {
				return err
			}
		}
	}
	return nil
}

// shortNames returns the keys of what people call a city whose full name says
// where it lies: "Frankfurt (Main)", "Frankfurt am Main", "Halle/Saale".
func shortNames(name string) []string {
	var keys []string
	for _, sep := range []string{" (", "(", "/", ", ", " am ", " an der ", " an der", " in der ", " im ", " in ", " bei ", " ob ", " a.", " a. ", " i.", " b.", " v. d. ", " vor der ", " unter ", " sur ", "-sur-", " upon ", "-upon-", " auf "} {
		if head, _, ok := strings.Cut(name, sep); ok && len(head) >= 4 {
			keys = append(keys, Key(head))
		}
	}
	return keys
}

// joinKey joins the parts of a sort key; none of them holds a zero byte.
func joinKey(parts ...string) []byte {
	return []byte(strings.Join(parts, "\x00") + "\x00")
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

// evidence is what the streets and houses of one city and postcode tell about
// both: that they exist, and where.
type evidence struct {
	source     int
	city, code string
	point      orb.Point // mean
	has        bool
	count      int // of houses and streets with a coordinate
	cells      map[cell]int
}

type evidenceKey struct{ country, state, city, code string }

const maxEvidence = 500_000 // cells and keys in memory

// The kinds of record under a city's key.
const (
	itemCity = iota
	itemEvidence
	itemAlias
)

func putEvidence(b []byte, e *evidence) []byte {
	b = binary.AppendUvarint(b, uint64(e.source))
	b = disk.AppendString(disk.AppendString(b, e.city), e.code)
	b = binary.AppendUvarint(putPoint(b, e.has, e.point), uint64(e.count))
	return putCells(b, e.cells)
}

func putCells(b []byte, cells map[cell]int) []byte {
	sorted := make([]cell, 0, len(cells))
	for at := range cells {
		sorted = append(sorted, at)
	}
	slices.Sort(sorted)
	b = binary.AppendUvarint(b, uint64(len(sorted)))
	last := cell(0)
	for _, at := range sorted {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(at-last)), uint64(cells[at]))
		last = at
	}
	return b
}

func (d *decoder) cells(into map[cell]int) {
	at := cell(0)
	for range d.Count() {
		at += cell(d.Uvarint())
		n := int(d.Uvarint())
		if d.Failed() {
			return
		}
		into[at] += n
	}
}

func (d *decoder) evidence() evidence {
	var e evidence
	e.source = int(d.Uvarint())
	e.city = d.String()
	e.code = d.String()
	e.point, e.has = d.point()
	e.count = int(d.Uvarint())
	e.cells = map[cell]int{}
	d.cells(e.cells)
	return e
}

func (c *compiler) addCityEvidence(key, country, state string, e *evidence) error {
	if key == "" {
		return nil
	}
	c.buf = putEvidence(disk.AppendString(disk.AppendString(append(c.buf[:0], itemEvidence), country), state), e)
	return c.cities.Add([]byte(key), c.buf)
}

func (c *compiler) flushEvidence() error {
	keys := make([]evidenceKey, 0, len(c.evidence))
	for k := range c.evidence {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b evidenceKey) int {
		return cmp.Or(cmp.Compare(a.city, b.city), cmp.Compare(a.code, b.code), cmp.Compare(a.country, b.country), cmp.Compare(a.state, b.state))
	})
	for _, k := range keys {
		e := c.evidence[k]
		if err := c.addCityEvidence(k.city, k.country, k.state, e); err != nil {
			return err
		}
		if k.code == "" {
			continue
		}
		c.buf = putEvidence(disk.AppendString(append(c.buf[:0], 1), k.state), e)
		if err := c.postcodes.Add(joinKey(k.code, k.country, k.city), c.buf); err != nil {
			return err
		}
	}
	clear(c.evidence)
	c.evidenceCells = 0
	return nil
}

// writeOutline writes the outline of p and its entry in the index.
func (c *compiler) writeOutline(p *Place) error {
	off := c.off
	c.buf = putArea(c.buf[:0], p.Area)
	if err := c.write(c.buf); err != nil {
		return err
	}
	b := p.Area.Bound()
	entry := putPlace(nil, p)
	entry = putPoint(putPoint(entry, true, b.Min), true, b.Max)
	entry = binary.AppendUvarint(binary.AppendUvarint(entry, off), c.off-off)
	c.outlines = append(binary.AppendUvarint(c.outlines, uint64(len(entry))), entry...)
	c.noutlines++
	return nil
}

// writeGroups writes one record for each group of what was sorted, and the
// section that finds a record by the group's key: groupOf cuts it off the key of
// the sort. add takes what belongs to a group, and end returns its record.
func (c *compiler) writeGroups(section int, sorted *disk.Sorter, groupOf func(key []byte) []byte,
	add func(key, value []byte), end func() ([]byte, error)) error {
	var index bytes.Buffer
	fst, err := vellum.New(&index, nil)
	if err != nil {
		return err
	}
	var group []byte
	finish := func() error {
		if group == nil {
			return nil
		}
		record, err := end()
		if err != nil {
			return err
		}
		if err := fst.Insert(group, c.off); err != nil {
			return err
		}
		return c.write(record)
	}
	err = sorted.Each(func(key, value []byte) error {
		if of := groupOf(key); group == nil || !bytes.Equal(of, group) {
			if err := finish(); err != nil {
				return err
			}
			group = slices.Clone(of)
		}
		add(key, value)
		return nil
	})
	if err == nil {
		err = finish()
	}
	if err == nil {
		err = fst.Close()
	}
	if err != nil {
		return err
	}
	return c.section(section, index.Bytes())
}

func wholeKey(key []byte) []byte { return key }

func hash32(parts ...string) uint32 {
	h := fnv.New32a()
	for _, p := range parts {
		io.WriteString(h, p)
		h.Write([]byte{0})
	}
	return h.Sum32()
}

// A listEntry is one street in the list of a street key: 16 bytes, sorted by
// the hash of country and postcode. A permutation by city follows the entries.
type listEntry struct {
	code, city uint32 // hash32(country, key)
	off        uint64
}

const listEntrySize = 16

func (e listEntry) put(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, e.code)
	b = binary.LittleEndian.AppendUint32(b, e.city)
	return binary.LittleEndian.AppendUint64(b, e.off)
}

// getListEntry decodes what put wrote.
func getListEntry(b []byte) listEntry {
	return listEntry{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint64(b[8:])}
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

// writeLists writes the list of streets of every name, usual or not.
func (c *compiler) writeLists() error {
	var list []listEntry
	add := func(_, value []byte) {
		e := getListEntry(value)
		if !slices.Contains(list[max(0, len(list)-maxNames):], e) { // two names of one key
			list = append(list, e)
		}
	}
	end := func() ([]byte, error) {
		b := putList(c.buf[:0], list)
		list = list[:0]
		return b, nil
	}
	return c.writeGroups(sectionStreets, c.lists, wholeKey, add, end)
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

// putList encodes the streets of one key for two binary searches.
func putList(b []byte, list []listEntry) []byte {
	slices.SortFunc(list, func(a, b listEntry) int {
		return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.city, b.city), cmp.Compare(a.off, b.off))
	})
	byCity := make([]uint32, len(list))
	for i := range byCity {
		byCity[i] = uint32(i)
	}
	slices.SortFunc(byCity, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(list[x].city, list[y].city), cmp.Compare(x, y))
	})
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	for _, e := range list {
		b = e.put(b)
	}
	for _, i := range byCity {
		b = binary.LittleEndian.AppendUint32(b, i)
	}
	return b
}

// A pair is one city of a postcode in the making.
type pair struct {
	place   Place
	source  int
	outline uint64
	stated  bool // by a Postcode of a source, not only by houses
	houses  int
}

func (c *compiler) writePostcodes() error {
	var group []*pair // of one code and country
	var lastCity string
	add := func(key, value []byte) {
		parts := strings.SplitN(string(key), "\x00", 4) // code, country, city
		if city := parts[2]; len(group) == 0 || city != lastCity {
			group = append(group, &pair{})
			lastCity = city
		}
		g := group[len(group)-1]
		d := decode(value)
		if d.Byte() == 0 {
			source := int(d.Uvarint())
			outline := d.Uvarint()
			g.merge(d.place(), source, outline, true)
			return
		}
		p := Place{Kind: Postcode, State: d.String(), Country: parts[1]}
		e := d.evidence()
		p.Postcode, p.City, p.Point, p.HasPoint = e.code, e.city, e.point, e.has
		if e.city != "" {
			p.Names = []string{e.city}
		}
		g.houses += e.count
		g.merge(p, e.source, 0, false)
	}
	end := func() ([]byte, error) {
		c.meta.Stats.Postcodes++
		b := putPairs(c.buf[:0], mostlyRight(group))
		group = group[:0]
		return b, nil
	}
	return c.writeGroups(sectionPostcodes, c.postcodes, codeAndCountry, add, end)
}

// codeAndCountry is what the cities of a postcode have in common.
func codeAndCountry(key []byte) []byte {
	code := bytes.IndexByte(key, 0) + 1
	return key[:code+bytes.IndexByte(key[code:], 0)]
}

func (g *pair) merge(p Place, source int, outline uint64, stated bool) {
	if outline != 0 && g.outline == 0 {
		g.outline = outline
	}
	old := g.place
	if old.Kind == 0 || stated && !g.stated {
		// p leads; what it lacks comes from the old one.
		g.place, g.source, g.stated = p, source, g.stated || stated
		p = old
	}
	m := &g.place
	for _, name := range p.Names {
		if !slices.Contains(m.Names, name) && len(m.Names) < maxNames {
			m.Names = append(m.Names, name)
		}
	}
	if !m.HasPoint {
		m.Point, m.HasPoint = p.Point, p.HasPoint
	}
	if m.State == "" {
		m.State = p.State
	}
}

// mostlyRight leaves out pairs that one or two houses of hundreds claim: slips
// of whoever wrote the address. A pair without a city gives its outline to the
// others and goes if there are any.
func mostlyRight(group []*pair) []*pair {
	houses, cities := 0, 0
	var outline uint64
	for _, g := range group {
		houses = max(houses, g.houses)
		if g.place.City != "" {
			cities++
		}
		outline = max(outline, g.outline)
	}
	var kept []*pair
	for _, g := range group {
		if g.place.City == "" && cities > 0 || !g.stated && g.houses <= 2 && g.houses*200 < houses {
			continue
		}
		if g.outline == 0 {
			g.outline = outline
		}
		kept = append(kept, g)
	}
	return kept
}

func putPairs(b []byte, group []*pair) []byte {
	b = binary.AppendUvarint(b, uint64(len(group)))
	for _, g := range group {
		b = binary.AppendUvarint(b, uint64(g.source))
		b = binary.AppendUvarint(b, g.outline)
		b = putPlace(b, &g.place)
	}
	return b
}

// A city is one city in the making: the items under its name that lie near
// each other.
type city struct {
	place    Place
	stated   bool // by a City of a source
	source   int
	states   map[string]bool
	points   []orb.Point
	codes    map[string]codeUse
	cells    map[cell]int
	houses   int
	outlines []uint64
	spelling map[string]int
}

// A codeUse says how a city is known to have a postcode.
type codeUse struct {
	houses int  // that have both
	stated bool // by a Postcode of a source
}

type alias struct {
	primary, country string
	point            orb.Point
	has              bool
}

func (c *compiler) writeCities() error {
	var group []*city
	var aliases []alias
	add := func(_, value []byte) {
		d := decode(value)
		switch d.Byte() {
		case itemAlias:
			a := alias{primary: d.String(), country: d.String()}
			a.point, a.has = d.point()
			if len(aliases) < maxAliases && !slices.Contains(aliases, a) {
				aliases = append(aliases, a)
			}
		case itemCity:
			source := int(d.Uvarint())
			outline := d.Uvarint()
			g := newCity(d.place(), source)
			g.stated = true
			if outline != 0 {
				g.outlines = []uint64{outline}
			}
			group = addCity(group, g)
		case itemEvidence:
			p := Place{Kind: City, Country: d.String(), State: d.String()}
			e := d.evidence()
			p.City, p.Names, p.Point, p.HasPoint = e.city, []string{e.city}, e.point, e.has
			g := newCity(p, e.source)
			g.cells, g.houses = e.cells, e.count
			g.spelling[e.city] = e.count + 1
			if e.code != "" {
				g.codes[e.code] = codeUse{e.count, e.count == 0}
			}
			group = addCity(group, g)
		}
	}
	end := func() ([]byte, error) {
		group = joinCities(group)
		c.meta.Stats.Cities += len(group)
		list := binary.AppendUvarint(nil, uint64(len(group)))
		for _, g := range group {
			list = binary.AppendUvarint(list, c.off)
			if err := c.write(putCity(c.buf[:0], g)); err != nil {
				return nil, err
			}
		}
		list = binary.AppendUvarint(list, uint64(len(aliases)))
		for _, a := range aliases {
			list = putPoint(disk.AppendString(disk.AppendString(list, a.primary), a.country), a.has, a.point)
		}
		group, aliases = nil, nil
		return list, nil
	}
	return c.writeGroups(sectionCities, c.cities, wholeKey, add, end)
}

const maxAliases = 100 // cities of one alias

func newCity(p Place, source int) *city {
	g := &city{place: p, source: source, states: map[string]bool{}, codes: map[string]codeUse{}, cells: map[cell]int{}, spelling: map[string]int{}}
	if p.State != "" {
		g.states[Key(p.State)] = true
	}
	if p.HasPoint {
		g.points = []orb.Point{p.Point}
	}
	return g
}

// addCity joins g with the first city of the group that it belongs to. An
// outline of its own keeps a city apart from others with another outline.
func addCity(group []*city, g *city) []*city {
	for _, old := range group {
		if old.near(g) {
			old.join(g)
			return group
		}
	}
	return append(group, g)
}

// joinCities joins cities that only became neighbours through later members,
// and puts the greatest first.
func joinCities(group []*city) []*city {
	for changed := true; changed && len(group) <= 2000; {
		changed = false
		for i := 0; i < len(group); i++ {
			for j := len(group) - 1; j > i; j-- {
				if group[i].near(group[j]) {
					group[i].join(group[j])
					group = slices.Delete(group, j, j+1)
					changed = true
				}
			}
		}
	}
	slices.SortStableFunc(group, func(a, b *city) int {
		return cmp.Or(cmp.Compare(b.place.Population, a.place.Population), cmp.Compare(b.houses, a.houses), cmp.Compare(len(b.codes), len(a.codes)))
	})
	return group
}

// sameCity is how far apart, in metres, two postcodes or coordinates of one
// city of one state may lie. In wideCountries a state has no two cities of
// one name, and they are wide.
const (
	sameCity     = 15_000
	sameCityWide = 100_000
)

var wideCountries = map[string]bool{"US": true, "CA": true, "AU": true}

func (g *city) near(o *city) bool {
	if g.place.Country != o.place.Country && g.place.Country != "" && o.place.Country != "" {
		return false
	}
	if len(g.states) > 0 && len(o.states) > 0 {
		shared := false
		for s := range o.states {
			shared = shared || g.states[s]
		}
		// "NI" and "Niedersachsen": names and codes cannot be compared.
		if !shared && sameShape(g.states, o.states) {
			return false
		}
	}
	if len(g.points) == 0 || len(o.points) == 0 {
		return true
	}
	limit := float64(sameCity)
	if wideCountries[g.place.Country] {
		limit = sameCityWide
	}
	for _, p := range g.points {
		for _, q := range o.points {
			if math.Abs(p[1]-q[1])*111_000 <= limit && geo.Distance(p, q) <= limit {
				return true
			}
		}
	}
	return false
}

// sameShape reports whether both sets hold codes or both hold names.
func sameShape(a, b map[string]bool) bool {
	for x := range a {
		for y := range b {
			if (len(x) <= 3) != (len(y) <= 3) {
				return false
			}
		}
	}
	return true
}

const maxCityPoints = 64 // kept for near

func (g *city) join(o *city) {
	old := g.place
	if o.stated && !g.stated {
		g.place, g.source, g.stated = o.place, o.source, true
		o.place = old
	}
	m := &g.place
	if !g.stated {
		o.place.Names = nil // spellings decide
	}
	for _, name := range o.place.Names {
		if !slices.Contains(m.Names, name) && len(m.Names) < maxNames {
			m.Names = append(m.Names, name)
		}
	}
	if !m.HasPoint {
		m.Point, m.HasPoint = o.place.Point, o.place.HasPoint
	}
	m.Population = max(m.Population, o.place.Population)
	for _, s := range []struct{ to, from *string }{{&m.State, &o.place.State}, {&m.Country, &o.place.Country}, {&m.ID, &o.place.ID}} {
		if *s.to == "" {
			*s.to = *s.from
		}
	}
	for s := range o.states {
		g.states[s] = true
	}
	for _, p := range o.points {
		if len(g.points) < maxCityPoints {
			g.points = append(g.points, p)
		}
	}
	for code, use := range o.codes {
		old := g.codes[code]
		g.codes[code] = codeUse{old.houses + use.houses, old.stated || use.stated}
	}
	for at, n := range o.cells {
		g.cells[at] += n
	}
	for name, n := range o.spelling {
		g.spelling[name] += n
	}
	g.houses += o.houses
	g.outlines = append(g.outlines, o.outlines...)
}

func putCity(b []byte, g *city) []byte {
	if !g.stated && len(g.spelling) > 1 {
		best := g.place.Names[0]
		for name, n := range g.spelling {
			if n > g.spelling[best] || n == g.spelling[best] && name < best {
				best = name
			}
		}
		g.place.Names[0], g.place.City = best, best
	}
	b = binary.AppendUvarint(b, uint64(g.source))
	b = putPlace(b, &g.place)
	b = binary.AppendUvarint(b, uint64(len(g.codes)))
	for _, code := range slices.Sorted(maps.Keys(g.codes)) {
		use := g.codes[code]
		b = binary.AppendUvarint(disk.AppendString(b, code), uint64(use.houses)<<1|uint64(bit(use.stated)))
	}
	b = binary.AppendUvarint(b, uint64(g.houses))
	b = binary.AppendUvarint(b, uint64(len(g.outlines)))
	for _, o := range g.outlines {
		b = binary.AppendUvarint(b, o)
	}
	return putCells(b, g.cells)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// writeRest writes the index of the outlines, the cells, the meta section and
// the footer.
func (c *compiler) writeRest() error {
	if err := c.section(sectionOutlines, c.outlines); err != nil {
		return err
	}
	cells := make([]cell, 0, len(c.cells))
	for at := range c.cells {
		cells = append(cells, at)
	}
	slices.Sort(cells)
	enc := make([]byte, 0, 4*len(cells))
	for _, at := range cells {
		enc = binary.LittleEndian.AppendUint32(enc, uint32(at))
	}
	if err := c.section(sectionCells, enc); err != nil {
		return err
	}
	c.meta.Stats.Outlines = c.noutlines
	for country := range c.countries {
		c.meta.Stats.Countries = append(c.meta.Stats.Countries, country)
	}
	slices.Sort(c.meta.Stats.Countries)
	m, err := json.Marshal(c.meta)
	if err != nil {
		return err
	}
	if err := c.section(sectionMeta, m); err != nil {
		return err
	}
	var foot []byte
	for _, s := range c.table {
		foot = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(foot, s[0]), s[1])
	}
	c.crc = crc32.Update(c.crc, crcTable, foot)
	foot = binary.LittleEndian.AppendUint32(foot, c.crc)
	_, err = c.w.Write(append(foot, magic...))
	return err
}
