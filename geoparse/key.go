package geoparse

import (
	"strings"

	"gazehound/gazetteer"
)

// Key returns the address in one spelling: equal for "Lange Str. 5" and
// "Lange Straße 5" of the same postcode. Distinct addresses are counted by it.
func (a Address) Key() string {
	return strings.Join([]string{
		a.Country, a.Postcode, gazetteer.Key(a.City), gazetteer.StreetKey(a.Street), gazetteer.NumberKey(a.HouseNumber),
	}, "|")
}
