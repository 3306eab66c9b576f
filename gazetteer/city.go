package gazetteer

import (
	"cmp"
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

// CitiesByCode returns those of Cities that have a postcode of as many digits as code with the
// same first two.
func (g *Gazetteer) CitiesByCode(country, name, code string) (found []Place) {
	isLike := func(other string) bool { return len(other) == len(code) && allDigits(other) && other[:2] == code[:2] }
	for _, c := range g.findCities(country, Key(name)) {
		for other := range c.codes {
			if isLike(PostcodeKey(other)) {
				found = append(found, c.place)
				break
			}
		}
	}
	return found
}

// LatinNames returns at most that many other names of a city in Latin letters.
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

// OtherNames returns the other names of the cities and streets that fit and are called so, as in
// another language: "Bolzano" of "Bozen". "Bozen - Bolzano" and "Bozen/Bolzano" are two names.
func (g *Gazetteer) OtherNames(name string, fits func(*Place) bool) (others []string) {
	key := Key(name)
	if key == "" {
		return nil
	}
	for _, p := range append(g.Cities("", name), g.Streets(Query{Street: name})...) {
		if !fits(&p) {
			continue
		}
		for _, both := range p.Names {
			for other := range strings.SplitSeq(strings.ReplaceAll(both, " - ", "/"), "/") {
				other = strings.TrimSpace(other)
				if !strings.Contains(Key(other), key) && !slices.Contains(others, other) {
					others = append(others, other)
				}
			}
		}
	}
	return others
}

// findCities returns the cities under key and those it is an alias of.
func (g *Gazetteer) findCities(country, key string) []*city {
	record := g.citiesOf(key)
	found := slices.DeleteFunc(record.cities, func(c *city) bool { return !agree(country, c.place.Country) })
	for _, a := range record.aliases {
		if !agree(country, a.country) {
			continue
		}
		var best *city
		least := math.Inf(1)
		for _, c := range g.citiesOf(a.primary).cities {
			if !agree(a.country, c.place.Country) {
				continue
			}
			d := 0.0
			if a.has && c.place.HasPoint {
				d = geo.Distance(a.point, c.place.Point)
			}
			if d < least {
				best, least = c, d
			}
		}
		if best != nil && !slices.ContainsFunc(found, best.equal) {
			found = append(found, best)
		}
	}
	return found
}

func (c *city) equal(o *city) bool {
	return c.place.ID == o.place.ID && c.place.Names[0] == o.place.Names[0] && c.place.Point == o.place.Point
}

// citiesOf returns the cities whose usual name has this key, and the aliases.
func (g *Gazetteer) citiesOf(key string) cityGroup {
	if key == "" {
		return cityGroup{}
	}
	return g.cityRecord(g.find(joinKey(cityKey, key)))
}

// cityRecord decodes a record; nil means that there is none.
func (g *Gazetteer) cityRecord(record *codec) (group cityGroup) {
	if record == nil {
		return group
	}
	group.code(record)
	if record.Failed() {
		return cityGroup{}
	}
	for _, c := range group.cities {
		c.place.Source = g.sourceName(c.source)
	}
	return group
}

// usualCodes returns the postcodes of c, sorted, without those that only one or two of hundreds of
// houses have.
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
			err := c.addFact(joinKey(cityKey, key), func(fact *codec) {
				fact.kind(aliasFact)
				fact.alias(&alias{primary, p.Country, p.Point, p.HasPoint})
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// shortNames returns the keys of the common names of a city whose full name includes its location:
// "Frankfurt (Main)", "Frankfurt am Main", "Halle/Saale".
func shortNames(name string) []string {
	var keys []string
	for _, sep := range []string{
		" (", "(", "/", ", ", " am ", " an der", " in der ", " im ", " in ", " bei ", " ob ", " a.", " i.", " b.",
		" v. d. ", " vor der ", " unter ", " sur ", "-sur-", " upon ", "-upon-", " auf ",
	} {
		if head, _, ok := strings.Cut(name, sep); ok && len(head) >= 4 {
			keys = append(keys, Key(head))
		}
	}
	return keys
}

// A city is one city, or what one source says of it: the facts under its name that lie
// near each other are joined.
type city struct {
	place    Place
	source   int
	stated   bool // by a City of a source, and not only known from addresses
	codes    map[string]codeUse
	houses   int // and streets that have a coordinate
	cells    map[cell]int
	outlines []uint64

	// While it is made:
	spelling map[string]int
	states   map[string]bool
	points   []orb.Point
}

// A codeUse is the evidence that a city has a postcode.
type codeUse struct {
	houses int  // that have both
	stated bool // by a Postcode of a source
}

// An alias is another name of the city whose usual name has the key primary.
type alias struct {
	primary, country string
	point            orb.Point
	has              bool
}

// The facts under the key of a city begin with their kind.
const (
	cityFact uint8 = iota
	aliasFact
)

// kind codes the kind of a fact.
func (c *codec) kind(k uint8) uint8 {
	disk.Unsigned(&c.Codec, &k)
	return k
}

func (c *codec) alias(a *alias) {
	c.Text(&a.primary)
	c.Text(&a.country)
	c.point(&a.point, &a.has)
}

func (c *codec) city(g *city) {
	c.place(&g.place)
	disk.Unsigned(&c.Codec, &g.source)
	c.Flag(&g.stated)
	codeMap(c, &g.codes, c.Text, func(use *codeUse) {
		disk.Unsigned(&c.Codec, &use.houses)
		c.Flag(&use.stated)
	})
	disk.Unsigned(&c.Codec, &g.houses)
	last := int64(0)
	codeMap(c, &g.cells, func(at *cell) {
		n := int64(*at)
		c.Difference(&n, &last)
		*at = cell(n)
	}, func(n *int) { disk.Unsigned(&c.Codec, n) })
	disk.List(&c.Codec, &g.outlines, func(off *uint64) { disk.Unsigned(&c.Codec, off) })
	codeMap(c, &g.spelling, c.Text, func(n *int) { disk.Unsigned(&c.Codec, n) })
	if len(g.place.Names) == 0 {
		c.Fail()
	}
}

// codeMap codes a map in the order of its keys.
func codeMap[K cmp.Ordered, V any](c *codec, m *map[K]V, key func(*K), value func(*V)) {
	n := c.Count(len(*m))
	if !c.Reading() {
		for _, k := range slices.Sorted(maps.Keys(*m)) {
			v := (*m)[k]
			key(&k)
			value(&v)
		}
		return
	}
	*m = make(map[K]V, min(n, 1024))
	for range n {
		var k K
		var v V
		key(&k)
		value(&v)
		if c.Failed() {
			return
		}
		(*m)[k] = v
	}
}

func (c *compiler) addCity(key string, g *city) error {
	return c.addFact(joinKey(cityKey, key), func(fact *codec) {
		fact.kind(cityFact)
		fact.city(g)
	})
}

// A cityGroup is the cities of one name, and those that have it as an alias.
type cityGroup struct {
	key     []byte
	cities  []*city
	aliases []alias
}

func (g *cityGroup) code(c *codec) {
	disk.List(&c.Codec, &g.cities, func(one **city) {
		if *one == nil {
			*one = &city{}
		}
		c.city(*one)
	})
	disk.List(&c.Codec, &g.aliases, c.alias)
}

func (g *cityGroup) add(_, value []byte) error {
	fact := readFrom(value)
	if fact.kind(0) == aliasFact {
		var a alias
		fact.alias(&a)
		if len(g.aliases) < maxAliases && !slices.Contains(g.aliases, a) {
			g.aliases = append(g.aliases, a)
		}
		return nil
	}
	one := &city{}
	fact.city(one)
	one.prepare()
	g.cities = addCity(g.cities, one)
	return nil
}

func (g *cityGroup) write(c *compiler) error {
	g.cities = joinCities(g.cities)
	c.meta.Stats.Cities += len(g.cities)
	for _, one := range g.cities {
		one.spell()
	}
	return c.record(g.code, g.key)
}

const maxAliases = 100 // cities of one alias

func newCity(p Place, source int) *city {
	p.Area = nil
	return &city{place: p, source: source}
}

// prepare fills in what near compares.
func (c *city) prepare() {
	c.states = map[string]bool{}
	if c.place.State != "" {
		c.states[Key(c.place.State)] = true
	}
	if c.place.HasPoint {
		c.points = []orb.Point{c.place.Point}
	}
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
		return cmp.Or(cmp.Compare(b.place.Population, a.place.Population), cmp.Compare(b.houses, a.houses),
			cmp.Compare(len(b.codes), len(a.codes)))
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
	m.Names = addNames(m.Names, o.place.Names)
	if !m.HasPoint {
		m.Point, m.HasPoint = o.place.Point, o.place.HasPoint
	}
	m.Population = max(m.Population, o.place.Population)
	for _, s := range []struct{ to, from *string }{{&m.State, &o.place.State}, {&m.Country, &o.place.Country},
		{&m.ID, &o.place.ID}} {
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

// spell gives a city that is only known from addresses the name that most of them write.
func (c *city) spell() {
	if !c.stated {
		best := c.place.Names[0]
		for name, n := range c.spelling {
			if n > c.spelling[best] || n == c.spelling[best] && name < best {
				best = name
			}
		}
		c.place.Names[0], c.place.City = best, best
	}
	c.spelling = nil
}

type evidenceKey [4]string // keys of city and postcode, country, state

// addEvidence counts a street or a house for its city and postcode.
func (c *compiler) addEvidence(source int, p *Place, at orb.Point, has bool) {
	if p.City == "" && p.Postcode == "" {
		return
	}
	k := evidenceKey{Key(p.City), PostcodeKey(p.Postcode), p.Country, p.State}
	e := c.evidence[k]
	if e == nil {
		e = newCity(Place{Kind: City, City: p.City, Postcode: p.Postcode, Country: p.Country, State: p.State}, source)
		e.cells = map[cell]int{}
		c.evidence[k] = e
	}
	if has {
		e.cells[cellOf(at)]++
		e.houses++
		// A running mean: every house moves the point less.
		mean := &e.place.Point
		mean[0] += (at[0] - mean[0]) / float64(e.houses)
		mean[1] += (at[1] - mean[1]) / float64(e.houses)
		e.place.HasPoint = true
	}
}

// writeEvidence turns the evidence into facts of cities and postcodes.
func (c *compiler) writeEvidence() error {
	compare := func(a, b evidenceKey) int { return slices.Compare(a[:], b[:]) }
	for _, k := range slices.SortedFunc(maps.Keys(c.evidence), compare) {
		e := c.evidence[k]
		if k[1] != "" {
			p := e.place
			p.Kind = Postcode
			if p.City != "" {
				p.Names = []string{p.City}
			}
			err := c.addPair(&pair{place: p, source: e.source, houses: e.houses})
			if err != nil {
				return err
			}
		}
		err := c.addCityEvidence(e)
		if err != nil {
			return err
		}
	}
	return nil
}

// addCityEvidence adds a city that streets, houses or postcodes name.
func (c *compiler) addCityEvidence(e *city) error {
	p := &e.place
	if Key(p.City) == "" {
		return nil
	}
	if p.Postcode != "" {
		e.codes = map[string]codeUse{p.Postcode: {e.houses, e.houses == 0}}
	}
	e.spelling = map[string]int{p.City: e.houses + 1}
	p.Names, p.Postcode = []string{p.City}, ""
	return c.addCity(Key(p.City), e)
}
