package gazetteer

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

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
