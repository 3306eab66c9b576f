package geoparse

import (
	"slices"
	"strings"

	"gazehound/gazetteer"
)

// placeholders are the keys of streets and towns that are nowhere.
var placeholders = strings.Fields(`musterstrasse musterstr musterweg musterallee musterplatz beispielstrasse
	beispielstr beispielweg examplestreet examplest yourstreet ihrestrasse deinestrasse strassenname
	streetname anystreet fakestreet fakest fakeavenue fakeave fakeroad musterstadt musterhausen
	musterort musterdorf beispielstadt beispielort anytown yourtown yourcity ihrestadt ihrort
	exampletown examplecity sampletown`)

// templateStreets are the house numbers and keys of streets that exist, and not where templates say.
var templateStreets = []string{"123 mainstreet", "123 mainst", "1234 mainstreet", "1234 mainst",
	"742 evergreenterrace", "123 businessstreet", "123 businessavenue", "1 exampleroad", "1 exampleavenue",
	"1 examplelane", "1 samplestreet", "1 sampleroad"}

// withoutPlaceholders drops the addresses that a template has for its user to fill in,
// "Musterstraße 1, 12345 Musterstadt", and takes the street off where it is only the town again:
// a heading "Lüneburg" above "21337 Lüneburg". On a line of a list, which is no page, "123 Main Street"
// is meant. rejected is that of Parser.parse.
func withoutPlaceholders(found []Address, line bool, rejected *[]Candidate) []Address {
	for i := range found {
		if a := &found[i]; a.isTown() {
			a.Street, a.Level = "", CityLevel
		}
	}
	return slices.DeleteFunc(found, func(a Address) bool {
		if a.isPlaceholder() || !line && a.isTemplate() {
			if rejected != nil && len(*rejected) < maxRejected {
				*rejected = append(*rejected, Candidate{Text: a.Text, Start: a.Start, End: a.End,
					Reason: "it is the placeholder of a template"})
			}
			return true
		}
		return false
	})
}

// isPlaceholder reports whether street or town are nowhere: "Musterstraße 1".
func (a *Address) isPlaceholder() bool {
	street, city := gazetteer.Key(a.Street), gazetteer.Key(a.City)
	return slices.Contains(placeholders, street) || slices.Contains(placeholders, city)
}

// isTemplate reports whether the address is what templates say, "123 Main Street", and not a house of
// the gazetteer.
func (a *Address) isTemplate() bool {
	return a.Precision < gazetteer.InterpolatedPrecision &&
		slices.Contains(templateStreets, strings.TrimSpace(a.HouseNumber+" "+gazetteer.Key(a.Street)))
}

// isTown reports whether the street is only the town again, as no map has a street of that name.
func (a *Address) isTown() bool {
	return a.HouseNumber == "" && a.Street != "" && a.Precision < gazetteer.StreetPrecision &&
		gazetteer.Key(a.Street) == gazetteer.Key(a.City)
}
