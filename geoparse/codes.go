package geoparse

import (
	"slices"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
)

// An area is one postcode area of one city, with the folded names of the city.
type area struct {
	place gazetteer.Place
	names []cityName
}

// A cityName is one folded name of a city.
type cityName struct {
	key  string
	rest byte // initial of what was cut off the full name ("am Main": m), or 0
	weak bool // only a part of the name: "Bad"
}

// A codeCache is an LRU cache of look-ups: a crawl meets the same few thousand postcodes and cities
// repeatedly.
type codeCache struct {
	g     *gazetteer.Gazetteer
	codes *lru.Cache[string, []area]
	named *lru.Cache[cityQuery, []gazetteer.Place]
}

// A cityQuery is a key of the cache of cities.
type cityQuery struct{ country, name string }

const (
	maxCachedCodes  = 16384
	maxCachedCities = 4096
)

func newCodeCache(g *gazetteer.Gazetteer) *codeCache {
	c := &codeCache{g: g}
	// New fails for sizes that are not positive.
	c.codes, _ = lru.New[string, []area](maxCachedCodes)
	c.named, _ = lru.New[cityQuery, []gazetteer.Place](maxCachedCities)
	return c
}

// cities returns the cities of a name in a country, or with "" in all. Only known names are cached:
// they cost more to look up and recur.
func (c *codeCache) cities(country, name string) []gazetteer.Place {
	if found, ok := c.named.Get(cityQuery{country, name}); ok {
		return found
	}
	found := c.g.Cities(country, name)
	if len(found) > 0 {
		c.named.Add(cityQuery{strings.Clone(country), strings.Clone(name)}, found)
	}
	return found
}

// areas returns the areas of a postcode in all countries.
func (c *codeCache) areas(code string) []area {
	if found, ok := c.codes.Get(code); ok {
		return found
	}
	var found []area
	for _, pl := range c.g.Postcodes("", code) {
		found = append(found, area{pl, namesOf(pl)})
	}
	c.codes.Add(strings.Clone(code), found)
	return found
}

// areasIn returns the areas of a postcode in one country.
func (c *codeCache) areasIn(land *grammar.Country, code string) []*area {
	var areas []*area
	for i, all := 0, c.areas(code); i < len(all); i++ {
		if all[i].place.Country == land.Code {
			areas = append(areas, &all[i])
		}
	}
	return areas
}

// cityIn returns the city of a name in a state, or in any where that is "".
func (c *codeCache) cityIn(country, state, name string) (gazetteer.Place, bool) {
	for _, long := range [...]string{name, grammar.ExpandUSCity(name)} {
		for _, pl := range c.cities(country, long) {
			if state == "" || pl.State == state {
				return pl, true
			}
		}
	}
	return gazetteer.Place{}, false
}

// otherSaint returns a name that begins with "Sankt" with "St.", and the other way round; "" is none of both.
func otherSaint(name string) string {
	lower := strings.ToLower(name)
	switch {
	case strings.HasPrefix(lower, "sankt "):
		return "St " + name[6:]
	case strings.HasPrefix(lower, "st. "):
		return "Sankt " + name[4:]
	}
	return ""
}

// namesOf returns the folded names of the city of pl.
func namesOf(pl gazetteer.Place) []cityName {
	land := grammar.Find(pl.Country)
	stated := land.Form == grammar.CityStateZIP || land.Form == grammar.CityProvinceCode
	var names []cityName
	add := func(name string, rest byte, weak bool) {
		if stated {
			name = grammar.ExpandUSCity(name)
		}
		key := gazetteer.Key(name)
		if key == "" {
			return
		}
		if !slices.ContainsFunc(names, func(n cityName) bool { return n.key == key }) {
			names = append(names, cityName{key, rest, weak})
		}
	}
	all := pl.Names
	if len(all) == 0 {
		all = []string{pl.City}
	}
	for _, name := range all {
		add(name, 0, false)
		if stated {
			add(strings.TrimSpace(name[:max(0, strings.IndexByte(name, '('))]), 0, false)
			continue
		}
		for _, exonym := range grammar.Exonyms(gazetteer.Key(name)) {
			add(exonym, 0, false)
		}
		add(grammar.PlainUmlauts(name), 0, false)
		if land.Respell != nil {
			add(land.Respell.Replace(name), 0, false)
		}
		add(otherSaint(name), 0, false)
		base, rest, first := grammar.SplitCity(name)
		if base != "" {
			add(base, rest, false)
			add(otherSaint(base), rest, false)
			add(grammar.PlainUmlauts(base), rest, false)
			for _, exonym := range grammar.Exonyms(gazetteer.Key(base)) {
				add(exonym, 0, false)
			}
		}
		if first != "" {
			add(first, rest, true)
		}
	}
	return names
}
