package gazetteer

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
// It reads the heads of all records of g once.
func (g *Gazetteer) RegionStreets(r *Region) map[string]bool {
	ids := map[string]bool{}
	if g.closed.Load() {
		return ids
	}
	it, err := g.streets.Iterator(nil, nil)
	for ; err == nil; err = it.Next() { // it ends with vellum.ErrIteratorDone
		_, off := it.Current()
		list := g.streetList(off)
		for i := range list.n {
			if p, ok := g.street(list.entry(i).off); ok && r.Has(p) {
				ids[StreetID(p)] = true
			}
		}
	}
	return ids
}
