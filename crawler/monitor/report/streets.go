package report

import (
	"gazehound/gazetteer"
	"gazehound/geoparse"
)

// StreetOptions compares the addresses of a crawl tree with the streets of a
// region.
func StreetOptions(g *gazetteer.Gazetteer, region *gazetteer.Region) Options {
	streets := g.RegionStreets(region)
	if len(streets) == 0 {
		return Options{} // it has postcodes only
	}
	return Options{
		Streets: len(streets),
		Street: func(address string) string {
			return StreetOf(g, address, func(id string) bool { return streets[id] })
		},
	}
}

// StreetOf returns the gazetteer.StreetID of an address in a crawl tree (see geoparse.Parts.Key),
// the first known one; "" if there is none.
func StreetOf(g *gazetteer.Gazetteer, address string, known func(id string) bool) string {
	p, _ := geoparse.ReadKey(address)
	if p.Street == "" {
		return ""
	}
	q := gazetteer.Query{Country: p.Country, State: p.State, Postcode: p.Postcode, City: p.City, Street: p.Street}
	for _, s := range g.Streets(q) {
		if id := gazetteer.StreetID(s); known(id) {
			return id
		}
	}
	return ""
}
