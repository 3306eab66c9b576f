package geonames

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gazehound/gazetteer"
)

// Cities returns the cities of a country in the GeoNames dump called file, such as cities15000.txt,
// the most populous first, each name of a state once.
func Cities(ctx context.Context, file, country string) ([]gazetteer.Place, error) {
	all, err := readCountry(ctx, file, Dump(nil), country)
	if err != nil {
		return nil, err
	}
	return citiesBySize(all), nil
}

// TopCities are the most populous cities of a country.
type TopCities struct {
	Country string
	N       int
	States  map[string]string // names by codes; nil: not known
}

// Read returns the top cities of a GeoNames dump, and the others that share a name with one of them.
func (t TopCities) Read(ctx context.Context, file string) (top, same []gazetteer.Place, err error) {
	all, err := Cities(ctx, file, t.Country)
	if err != nil {
		return nil, nil, err
	}
	if len(all) < t.N {
		return nil, nil, fmt.Errorf("%s has %d cities of %s, want %d", file, len(all), t.Country, t.N)
	}
	names := map[string]bool{}
	for _, p := range all[:t.N] {
		names[gazetteer.Key(p.Names[0])] = true
	}
	same = slices.DeleteFunc(all[t.N:], func(p gazetteer.Place) bool { return !names[gazetteer.Key(p.Names[0])] })
	return all[:t.N], same, nil
}

// StateNames returns the names of a country's states by their codes, from the file
// admin1CodesASCII.txt.
func StateNames(ctx context.Context, file, country string) (map[string]string, error) {
	list, err := readCountry(ctx, file, Admin(nil), country)
	names := map[string]string{}
	for _, p := range list {
		names[p.State] = p.Names[0]
	}
	return names, err
}

// readCountry returns the places of a country in a GeoNames file.
func readCountry(ctx context.Context, file string, read gazetteer.Reader,
	country string) (places []gazetteer.Place, err error) {
	f, _, err := gazetteer.OpenSource(file, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = read(ctx, f, func(p gazetteer.Place) error {
		if p.Country == country {
			places = append(places, p)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return places, nil
}

// citiesBySize returns the cities among places, the most populous first.
func citiesBySize(places []gazetteer.Place) []gazetteer.Place {
	slices.SortStableFunc(places, func(a, b gazetteer.Place) int { return cmp.Compare(b.Population, a.Population) })
	seen := map[string]bool{} // a dump may have a city and a part of it that is as large
	return slices.DeleteFunc(places, func(p gazetteer.Place) bool {
		if p.Population == 0 || p.AdminLevel != 0 { // a suburb
			return true
		}
		key := gazetteer.Key(p.Names[0]) + "|" + p.State
		again := seen[key]
		seen[key] = true
		return again
	})
}
