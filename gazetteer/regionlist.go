package gazetteer

import (
	"cmp"
	"slices"
	"strings"
)

// A RegionName is a place or area that Region finds.
type RegionName struct {
	// specification for Region, with state and country; a note in parentheses may follow
	Spec       string `json:"region"`
	Kind       Kind   `json:"kind"` // City or Outline
	Name       string `json:"name"`
	State      string `json:"state,omitempty"`
	Country    string `json:"country,omitempty"`
	Places     int    `json:"places"` // houses and streets with a coordinate
	Postcodes  int    `json:"postcodes"`
	Population int    `json:"population,omitempty"`
}

// RegionNames lists the regions whose name contains text in any spelling, all
// for an empty text: those with the most houses first, then the most
// populous, then those with the most postcodes.
func (g *Gazetteer) RegionNames(text string) []RegionName {
	want := Key(text)
	var list []RegionName
	for key, off := range g.each(cityKey) {
		if !strings.Contains(key[len(cityKey):], want) {
			continue
		}
		for _, c := range g.cityRecord(g.at(off)).cities {
			if len(c.codes) == 0 && c.houses == 0 && len(c.outlines) == 0 {
				continue // known by name only
			}
			p := c.place
			list = append(list, RegionName{
				g.hint(candidate{city: c}), City, p.Names[0], p.State, p.Country, c.houses, len(c.usualCodes()),
				p.Population,
			})
		}
	}
	for _, o := range g.meta.Outlines {
		if p := o.Place; p.Kind == Outline && strings.Contains(Key(p.Names[0]), want) {
			hint := g.hint(candidate{outline: o})
			list = append(list, RegionName{hint, Outline, p.Names[0], p.State, p.Country, 0, 0, p.Population})
		}
	}
	slices.SortStableFunc(list, func(a, b RegionName) int {
		return cmp.Or(cmp.Compare(b.Places, a.Places), cmp.Compare(b.Population, a.Population),
			cmp.Compare(b.Postcodes, a.Postcodes), cmp.Compare(a.Name, b.Name))
	})
	return list
}
