package gazetteer

import (
	"context"
	"iter"
	"slices"
)

// maxStreets is the most streets that Streets returns.
const maxStreets = 1000

// Streets returns the streets that q.Street is a name of (see StreetKey), one
// for each postcode that they run through: those of q.Postcode if there are
// any, else those of q.City under any of its names and then of its postcodes;
// if both are empty, those of any place, at most 1,000. Streets of q.City come
// first. If there are none of the name, those of its Spellings are returned.
func (g *Gazetteer) Streets(q Query) []Place {
	if found := g.streetsNamed(q, StreetKey(q.Street)); len(found) > 0 {
		return found
	}
	for _, name := range Spellings(q.Street) {
		if found := g.streetsNamed(q, StreetKey(name)); len(found) > 0 {
			return found
		}
	}
	return nil
}

// streetsNamed is Streets for the key of a name alone.
func (g *Gazetteer) streetsNamed(q Query, name string) []Place {
	code := PostcodeKey(q.Postcode)
	if !g.hasStreet(name) {
		return nil
	}
	if q.City == "" && q.Postcode == "" {
		return g.streetsUnder(joinKey(streetKey, name), func(p *Place) bool {
			return agree(q.Country, p.Country) && g.agreeState(p.Country, q.State, p.State)
		})
	}
	inCountry := func(p *Place) bool { return agree(q.Country, p.Country) }
	var found []Place
	if code != "" {
		found = g.streetsUnder(joinKey(streetKey, name, code), inCountry)
	}
	if len(found) == 1 || q.City == "" {
		return found
	}
	var cities []*city             // that q.City is a name of
	names := []string{Key(q.City)} // keys of their usual names
	for _, c := range g.findCities(q.Country, names[0]) {
		if g.agreeState(c.place.Country, q.State, c.place.State) {
			cities = append(cities, c)
			if key := Key(c.place.Names[0]); !slices.Contains(names, key) {
				names = append(names, key)
			}
		}
	}
	if len(found) > 0 {
		isElsewhere := func(p Place) bool { return !slices.Contains(names, Key(p.City)) }
		slices.SortStableFunc(found, func(a, b Place) int { return boolOrder(isElsewhere(a), isElsewhere(b)) })
		return found
	}
	for _, city := range names {
		found = append(found, g.streetsUnder(joinKey(townKey, name, city), func(p *Place) bool {
			return inCountry(p) && g.agreeState(p.Country, q.State, p.State)
		})...)
	}
	if len(found) > 0 {
		return found
	}
	for _, c := range cities {
		for _, code := range c.usualCodes() {
			found = append(found, g.streetsUnder(joinKey(streetKey, name, PostcodeKey(code)), inCountry)...)
		}
	}
	return found
}

// boolOrder compares false before true.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// streetsUnder returns the streets whose keys begin with prefix and that fit.
func (g *Gazetteer) streetsUnder(prefix []byte, fits func(*Place) bool) (found []Place) {
	for _, off := range g.each(string(prefix)) {
		if p, ok := g.street(g.at(off)); ok && fits(&p) {
			found = append(found, p)
			if len(found) == maxStreets {
				break
			}
		}
	}
	return found
}

// street decodes the head of a street's record.
func (g *Gazetteer) street(record *codec) (Place, bool) {
	var s streetRecord
	s.head(record)
	s.place.Source = g.sourceName(s.source)
	return s.place, !record.Failed()
}

// HasStreet reports whether any place has a street of that name, or of one of its Spellings.
func (g *Gazetteer) HasStreet(name string) bool {
	return g.hasStreet(StreetKey(name)) ||
		slices.ContainsFunc(Spellings(name), func(s string) bool { return g.hasStreet(StreetKey(s)) })
}

func (g *Gazetteer) hasStreet(key string) bool {
	if key == "" || g.closed.Load() {
		return false
	}
	has, err := g.index.Contains([]byte(nameKey + key))
	return has && err == nil
}

// eachStreet yields the offsets of all streets, in the order of their keys.
func (g *Gazetteer) eachStreet() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for key, off := range g.each(streetKey) {
			// A longer key is another name of a street.
			if len(firstParts([]byte(key), streetParts)) == len(key) && !yield(off) {
				return
			}
		}
	}
}

// StreetsIn calls fn for the streets of r, in the order of their keys, each with
// the number of its houses that are known: one for every postcode that a street
// runs through. It reads the whole gazetteer, so it is not for the hot path. It
// ends with the error of fn or ctx.
func (g *Gazetteer) StreetsIn(ctx context.Context, r *Region, fn func(street Place, houses int) error) error {
	for off := range g.eachStreet() {
		if err := ctx.Err(); err != nil {
			return err
		}
		record := g.at(off)
		if p, ok := g.street(record); ok && r.Has(p) {
			err := fn(p, record.Count(0))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// StreetID names a street over all postcodes that it runs through: equal for
// places of one usual name, city and country.
func StreetID(street Place) string {
	city := Key(street.City)
	if city == "" {
		city = PostcodeKey(street.Postcode)
	}
	name := street.Street
	if len(street.Names) > 0 {
		name = street.Names[0]
	}
	return street.Country + "|" + city + "|" + StreetKey(name)
}

// RegionStreets returns the StreetID of every street of which a part lies in r.
// It reads the whole gazetteer once.
func (g *Gazetteer) RegionStreets(r *Region) map[string]bool {
	ids := map[string]bool{}
	g.StreetsIn(context.Background(), r, func(street Place, _ int) error {
		ids[StreetID(street)] = true
		return nil
	})
	return ids
}
