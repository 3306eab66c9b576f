package gazetteer

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

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

// LatinNames returns at most so many other names of a city in Latin letters.
func (g *Gazetteer) LatinNames(p Place, most int) (names []string) {
	isLatin := func(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x24F }) }
	for _, c := range g.Cities(p.Country, p.Names[0]) {
		if c.State != p.State {
			continue
		}
		for _, name := range c.Names {
			if name != p.Names[0] && isLatin(name) && !slices.Contains(names, name) && len(names) < most {
				names = append(names, name)
			}
		}
	}
	return names
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
