package gazetteer

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"

	"gazehound/internal/disk"

	"github.com/blevesearch/vellum"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// Errors of Open.
var (
	ErrNewerFormat = errors.New("gazetteer of a newer format")
	ErrDamaged     = errors.New("gazetteer is damaged")
)

// A Gazetteer is a compiled gazetteer: one mapped file that any number of
// goroutines and processes may read at once. Look-ups never fail; a gazetteer
// that was damaged after Open, or closed, finds nothing.
type Gazetteer struct {
	data                       []byte
	unmap                      func() error
	format                     uint32            // of the file
	states                     map[string]string // country and key of a name → code of the state
	lands                      map[string]string // key of a name → code of the country
	streets, postcodes, cities *vellum.FST
	table                      [sections][2]uint64
	meta                       meta
	closed                     atomic.Bool
}

// Stats counts what a gazetteer holds.
type Stats struct {
	Houses    int      `json:"houses"`    // distinct house numbers with their streets
	Streets   int      `json:"streets"`   // distinct names per city
	Postcodes int      `json:"postcodes"` // distinct codes per country
	Cities    int      `json:"cities"`
	Outlines  int      `json:"outlines"`
	Countries []string `json:"countries"`
}

// Open maps the compiled gazetteer in dir and checks it; the check reads the
// file once. Errors wrap fs.ErrNotExist, ErrNewerFormat or ErrDamaged.
func Open(dir string) (*Gazetteer, error) {
	path := filepath.Join(dir, compiledFile)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gazetteer: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("gazetteer: %w", err)
	}
	if info.Size() < int64(headerSize+footerSize) || info.Size() > math.MaxInt {
		return nil, fmt.Errorf("gazetteer: %s: %w: it has %d bytes; import its sources again", path, ErrDamaged, info.Size())
	}
	data, unmap, err := disk.Map(f, false)
	if err != nil {
		return nil, fmt.Errorf("gazetteer: %w", err)
	}
	g, err := load(data)
	if err != nil {
		unmap()
		return nil, fmt.Errorf("gazetteer: %s: %w", path, err)
	}
	g.unmap = unmap
	return g, nil
}

// load checks data and returns the gazetteer in it.
func load(data []byte) (*Gazetteer, error) {
	if len(data) < headerSize+footerSize || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it does not start with %q; import its sources again", ErrDamaged, magic)
	}
	if v := binary.LittleEndian.Uint32(data[len(magic):]); v > formatVersion {
		return nil, fmt.Errorf("%w: format %d, this program reads up to %d; use the newer program", ErrNewerFormat, v, formatVersion)
	}
	foot := data[len(data)-footerSize:]
	sum := len(data) - len(magic) - 4
	if string(foot[footerSize-len(magic):]) != magic || crc32.Checksum(data[:sum], crcTable) != binary.LittleEndian.Uint32(data[sum:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong; import its sources again", ErrDamaged)
	}
	g := &Gazetteer{data: data, format: binary.LittleEndian.Uint32(data[len(magic):])}
	for i := range g.table {
		off, n := binary.LittleEndian.Uint64(foot[i*16:]), binary.LittleEndian.Uint64(foot[i*16+8:])
		if off > uint64(len(data)) || n > uint64(len(data))-off {
			return nil, fmt.Errorf("%w: section %d lies outside the file", ErrDamaged, i)
		}
		g.table[i] = [2]uint64{off, n}
	}
	if err := json.Unmarshal(g.section(sectionMeta), &g.meta); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	g.nameStates()
	for i, fst := range []**vellum.FST{&g.streets, &g.postcodes, &g.cities} {
		var err error
		if *fst, err = vellum.Load(g.section(i)); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return g, nil
}

func (g *Gazetteer) section(i int) []byte {
	off, n := g.table[i][0], g.table[i][1]
	return g.data[off : off+n : off+n]
}

// at returns a decoder of the record at off.
func (g *Gazetteer) at(off uint64) decoder {
	if off >= uint64(len(g.data)) || g.closed.Load() {
		d := decoder{}
		d.Fail()
		return d
	}
	return decode(g.data[off:])
}

// find looks key up in one of the FSTs.
func (g *Gazetteer) find(fst *vellum.FST, key string) (off uint64, ok bool) {
	if key == "" || g.closed.Load() {
		return 0, false
	}
	off, ok, err := fst.Get([]byte(key))
	return off, ok && err == nil
}

// Of returns a gazetteer of the given places, held in memory. It is for tests
// and made-up worlds and panics on a place that cannot be kept.
func Of(places ...Place) *Gazetteer {
	in := input{Source{Name: "memory", Format: "memory", Places: len(places)}, func(emit func(*Place) error) error {
		for _, p := range places {
			p.Names = slices.Clone(p.Names)
			if err := p.check(); err != nil {
				return err
			}
			if err := emit(&p); err != nil {
				return err
			}
		}
		return nil
	}}
	var out bytes.Buffer
	if err := compile(context.Background(), &out, []input{in}, os.TempDir(), buildMemory); err != nil {
		panic(fmt.Sprintf("gazetteer.Of: %v", err))
	}
	g, err := load(out.Bytes())
	if err != nil {
		panic(fmt.Sprintf("gazetteer.Of: %v", err))
	}
	g.unmap = func() error { return nil }
	return g
}

// Close unmaps the file. No method may run at the same time or afterwards,
// other than Close.
func (g *Gazetteer) Close() error {
	if g.closed.Swap(true) {
		return nil
	}
	return g.unmap()
}

// Stats counts what g holds.
func (g *Gazetteer) Stats() Stats {
	s := g.meta.Stats
	s.Countries = slices.Clone(s.Countries)
	return s
}

// Sources returns the sources of g with their licences, oldest first.
func (g *Gazetteer) Sources() []Source { return slices.Clone(g.meta.Sources) }

// Countries returns the country codes of g, sorted.
func (g *Gazetteer) Countries() []string { return slices.Clone(g.meta.Stats.Countries) }

// sourceName returns the name of the source with index i.
func (g *Gazetteer) sourceName(i uint64) string {
	if i >= uint64(len(g.meta.Sources)) {
		return ""
	}
	return g.meta.Sources[i].Name
}

// scopes returns the countries that a place of the wanted one may be filed
// under: itself and "", or all.
func (g *Gazetteer) scopes(country string) []string {
	if country != "" {
		return []string{strings.ToUpper(country), ""}
	}
	return append(slices.Clone(g.meta.Stats.Countries), "")
}

// Postcodes returns the places of a postcode, one per city that has it; the
// Names are those of the city, its usual one first, and empty where no source
// says which city it is. An empty country means all.
func (g *Gazetteer) Postcodes(country, code string) []Place {
	var found []Place
	for _, p := range g.pairs(country, code) {
		found = append(found, p.place)
	}
	return found
}

// pairs returns the cities of a postcode with their outlines' offsets.
func (g *Gazetteer) pairs(country, code string) []pair {
	key := PostcodeKey(code)
	if key == "" {
		return nil
	}
	var found []pair
	for _, c := range g.scopes(country) {
		off, ok := g.find(g.postcodes, key+"\x00"+c)
		if !ok {
			continue
		}
		d := g.at(off)
		for range d.Count() {
			var p pair
			source := d.Uvarint()
			p.outline = d.Uvarint()
			p.place = d.place()
			p.place.Source = g.sourceName(source)
			if d.Failed() {
				break
			}
			found = append(found, p)
		}
	}
	return found
}

// Cities returns the cities of a name, greatest first, then those that have it
// as an alias. Cities known only from postcodes or addresses count. An empty
// country means all.
func (g *Gazetteer) Cities(country, name string) []Place {
	var found []Place
	for _, c := range g.findCities(country, Key(name)) {
		found = append(found, c.place)
	}
	return found
}

// findCities returns the cities under key and those it is an alias of.
func (g *Gazetteer) findCities(country, key string) []*city {
	found, aliases := g.citiesOf(key)
	found = slices.DeleteFunc(found, func(c *city) bool { return !agree(country, c.place.Country) })
	for _, a := range aliases {
		if !agree(country, a.country) {
			continue
		}
		primary, _ := g.citiesOf(a.primary)
		best, least := -1, math.Inf(1)
		for i, c := range primary {
			if !agree(a.country, c.place.Country) {
				continue
			}
			d := 0.0
			if a.has && c.place.HasPoint {
				d = geo.Distance(a.point, c.place.Point)
			}
			if d < least {
				best, least = i, d
			}
		}
		if best < 0 || slices.ContainsFunc(found, func(c *city) bool {
			return c.place.ID == primary[best].place.ID && c.place.Names[0] == primary[best].place.Names[0] && c.place.Point == primary[best].place.Point
		}) {
			continue
		}
		found = append(found, primary[best])
	}
	return found
}

func (g *Gazetteer) citiesOf(key string) (found []*city, aliases []alias) {
	off, ok := g.find(g.cities, key)
	if !ok {
		return nil, nil
	}
	d := g.at(off)
	for range d.Count() {
		c := g.city(d.Uvarint())
		if c == nil || d.Failed() {
			return found, nil
		}
		found = append(found, c)
	}
	for range d.Count() {
		if d.Failed() {
			return found, nil
		}
		a := alias{primary: d.String(), country: d.String()}
		a.point, a.has = d.point()
		aliases = append(aliases, a)
	}
	return found, aliases
}

func (g *Gazetteer) city(off uint64) *city {
	d := g.at(off)
	source := d.Uvarint()
	c := &city{place: d.place(), codes: map[string]codeUse{}, cells: map[cell]int{}}
	c.place.Source = g.sourceName(source)
	for range d.Count() {
		code, use := d.String(), d.Uvarint()
		if d.Failed() {
			return nil
		}
		c.codes[code] = codeUse{int(use >> 1), use&1 == 1}
	}
	c.houses = int(d.Uvarint())
	for range d.Count() {
		c.outlines = append(c.outlines, d.Uvarint())
	}
	d.cells(c.cells)
	if d.Failed() || len(c.place.Names) == 0 {
		return nil
	}
	return c
}

// usualCodes returns the postcodes of c, sorted, without those that one or two
// houses of hundreds have.
func (c *city) usualCodes() []string {
	most := 0
	for _, use := range c.codes {
		most = max(most, use.houses)
	}
	var codes []string
	for _, code := range slices.Sorted(maps.Keys(c.codes)) {
		if use := c.codes[code]; use.stated || use.houses > 2 || use.houses*200 >= most {
			codes = append(codes, code)
		}
	}
	return codes
}

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

// A streetList is the streets of one key, as putList wrote them.
type streetList struct {
	n int
	b []byte // entries, then the permutation
}

func (g *Gazetteer) streetList(off uint64) streetList {
	d := g.at(off)
	head := d.Next(4)
	if d.Failed() {
		return streetList{}
	}
	n := int(binary.LittleEndian.Uint32(head))
	if n > d.Len()/(listEntrySize+4) {
		return streetList{}
	}
	return streetList{n, d.Next(n * (listEntrySize + 4))}
}

func (l streetList) entry(i int) listEntry {
	return getListEntry(l.b[i*listEntrySize:])
}

// byCity returns the i-th entry in the order of the cities.
func (l streetList) byCity(i int) listEntry {
	j := int(binary.LittleEndian.Uint32(l.b[l.n*listEntrySize+4*i:]))
	if j >= l.n {
		return listEntry{off: math.MaxUint64}
	}
	return l.entry(j)
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
