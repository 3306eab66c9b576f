package gazetteer

import (
	"slices"
	"strings"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
)

// Postcodes returns the places of a postcode, one per city that has it; the
// Names are those of the city, its usual one first, and empty where no source
// says which city it is. An empty country means all. A code without its second half,
// such as 1017 of "1017 ZZ" or LS9 of "LS9 7ZZ", has the cities of all codes that begin
// with it; the point is in their middle.
func (g *Gazetteer) Postcodes(country, code string) []Place {
	var found []Place
	for _, p := range g.pairs(country, code) {
		found = append(found, p.place)
	}
	for of, tail := range secondHalves {
		if agree(country, of) && slices.Contains(g.meta.Stats.Countries, of) &&
			!slices.ContainsFunc(found, func(p Place) bool { return p.Country == of }) {
			found = append(found, g.beginning(of, PostcodeKey(code), tail)...)
		}
	}
	return found
}

// secondHalves are the forms of what a short postcode leaves out, by country: 9 is a digit, A a
// letter, * either.
var secondHalves = map[string]string{"NL": "AA", "GB": "9AA", "CA": "9A9", "IE": "****", "PT": "999"}

// maxHalves bounds the postcodes that are read for one short code. A British outward code has some
// thousand.
const maxHalves = 5000

// beginning returns the cities of the postcodes that begin with code and end with the form tail.
func (g *Gazetteer) beginning(country, code, tail string) (cities []Place) {
	if code == "" {
		return nil
	}
	at := map[string]int{} // by key
	points := map[string]int{}
	n := 0
	for key, off := range g.each(postcodeKey + code) {
		full, of, _ := strings.Cut(key[len(postcodeKey):], "\x00")
		if !strings.HasPrefix(of, country) || !hasForm(full[len(code):], tail) {
			continue
		}
		n++
		if n > maxHalves {
			break
		}
		for _, pair := range g.pairRecord(off) {
			p := pair.place
			name := Key(p.City)
			i, known := at[name]
			if !known {
				at[name] = len(cities)
				i, cities = len(cities), append(cities, p)
				cities[i].Postcode, cities[i].ID, cities[i].Point, cities[i].HasPoint = code, "", orb.Point{}, false
			}
			c := &cities[i]
			c.Names = addNames(c.Names, p.Names)
			if p.HasPoint {
				points[name]++
				c.Point, c.HasPoint = along(c.Point, p.Point, 1/float64(points[name])), true
			}
		}
	}
	return cities
}

// hasForm reports whether a part of a folded postcode has a form of secondHalves.
func hasForm(part, form string) bool {
	if len(part) != len(form) {
		return false
	}
	for i := range len(part) {
		digit := '0' <= part[i] && part[i] <= '9'
		if form[i] == '9' && !digit || form[i] == 'A' && digit {
			return false
		}
	}
	return true
}

// pairs returns the cities of a postcode with their outlines' offsets.
func (g *Gazetteer) pairs(country, code string) (found []pair) {
	key := PostcodeKey(code)
	if key == "" {
		return nil
	}
	for _, off := range g.each(string(joinKey(postcodeKey, key))) {
		for _, p := range g.pairRecord(off) {
			if agree(country, p.place.Country) {
				found = append(found, p)
			}
		}
	}
	return found
}

// pairRecord decodes the cities of a postcode.
func (g *Gazetteer) pairRecord(off uint64) (all []pair) {
	record := g.at(off)
	disk.List(&record.Codec, &all, record.pair)
	if record.Failed() {
		return nil
	}
	for i := range all {
		all[i].place.Source = g.sourceName(all[i].source)
	}
	return all
}

// A pair is one city of a postcode.
type pair struct {
	place   Place
	source  int
	outline uint64 // 0: none
	stated  bool   // by a Postcode of a source, not only by houses
	houses  int
}

func (c *codec) pair(p *pair) {
	c.place(&p.place)
	disk.Unsigned(&c.Codec, &p.source)
	disk.Unsigned(&c.Codec, &p.outline)
	c.Flag(&p.stated)
	disk.Unsigned(&c.Codec, &p.houses)
}

func (c *compiler) addPair(p *pair) error {
	key := joinKey(postcodeKey, PostcodeKey(p.place.Postcode), p.place.Country, Key(p.place.City))
	return c.addFact(key, func(fact *codec) { fact.pair(p) })
}

// addPostcode adds a Postcode of a source, and its cities.
func (c *compiler) addPostcode(source int, p *Place, outlines []uint64) error {
	one := pair{place: *p, source: source, stated: true}
	if len(outlines) > 0 {
		one.outline = outlines[0]
	}
	err := c.addPair(&one)
	if err != nil {
		return err
	}
	if len(p.Names) > 0 {
		if err := c.addAliases(Key(p.City), &Place{Names: p.Names[:1], Country: p.Country}); err != nil {
			return err
		}
	}
	for _, name := range p.Names {
		e := newCity(Place{
			Kind: City, City: name, Postcode: p.Postcode, Country: p.Country, State: p.State,
			Point: p.Point, HasPoint: p.HasPoint,
		}, source)
		if p.HasPoint {
			e.cells = map[cell]int{cellOf(p.Point): 0}
		}
		err := c.addCityEvidence(e)
		if err != nil {
			return err
		}
	}
	return nil
}

// A pairGroup is the cities of one postcode.
type pairGroup struct {
	key  []byte // of the postcode
	last []byte // key of the last city
	all  []pair
}

func (g *pairGroup) add(key, value []byte) error {
	var p pair
	readFrom(value).pair(&p)
	if !slices.Equal(key, g.last) {
		g.last = slices.Clone(key)
		g.all = append(g.all, p)
		return nil
	}
	g.all[len(g.all)-1].merge(p)
	return nil
}

func (g *pairGroup) write(c *compiler) error {
	c.meta.Stats.Postcodes++
	all := mostlyRight(g.all)
	return c.record(func(record *codec) { disk.List(&record.Codec, &all, record.pair) }, g.key)
}

// merge joins what another source says of the same pair; the first that states it leads.
func (p *pair) merge(o pair) {
	if o.stated && !p.stated {
		*p, o = o, *p
	}
	p.houses += o.houses
	if p.outline == 0 {
		p.outline = o.outline
	}
	m := &p.place
	m.Names = addNames(m.Names, o.place.Names)
	if !m.HasPoint {
		m.Point, m.HasPoint = o.place.Point, o.place.HasPoint
	}
	if m.State == "" {
		m.State = o.place.State
	}
}

// mostlyRight drops pairs that only one or two of hundreds of houses have: mistakes in those
// addresses. A pair without a city passes its outline to the others and is dropped if there are
// any.
func mostlyRight(group []pair) (kept []pair) {
	houses, cities := 0, 0
	var outline uint64
	for _, g := range group {
		houses = max(houses, g.houses)
		if g.place.City != "" {
			cities++
		}
		outline = max(outline, g.outline)
	}
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
