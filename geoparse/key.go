package geoparse

import (
	"cmp"
	"strings"
	"unicode"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
)

// Parts identify an address.
type Parts struct {
	Country                     string // ISO 3166-1 alpha-2
	State                       string // counts only where there is no postcode: Portland in OR is not that in ME
	Postcode, City              string
	Street, Number, Unit, POBox string
}

// Parts returns the address in the gazetteer's spelling as far as it matched a
// place there, else in the page's: a page may write "Lange Str. 5, 26122
// Oldenburg-Mitte" for 5 Lange Straße in 26122 Oldenburg. The postcode is the
// page's unless the very house is known under another, and the city where the gazetteer has but its quarters.
func (a *Address) Parts() Parts {
	p := Parts{
		Country: a.Country, State: cmp.Or(a.Place.State, a.State), City: cmp.Or(a.Place.City, a.City),
		Postcode: cmp.Or(a.Postcode, a.Place.Postcode),
		Street:   a.Street, Number: a.HouseNumber, Unit: a.Unit, POBox: a.POBox,
	}
	if grammar.Find(p.Country).Cities[gazetteer.Key(a.City)] { // "Toronto", not "York (Fairbank / Oakwood)"
		p.City = a.City
	}
	if a.Street != "" { // an interpolated house has no ID, but a name
		p.Street = cmp.Or(a.Place.Street, a.Street)
	}
	if a.Precision == gazetteer.HousePrecision {
		p.Postcode = cmp.Or(a.Place.Postcode, p.Postcode)
	}
	p.Postcode = grammar.Find(p.Country).Spelled(p.Postcode)
	return p
}

// Folded returns p in the one spelling in which parts are compared: without
// case, accents and marks, street words short. Folded parts stay as they are.
func (p Parts) Folded() Parts {
	f := Parts{
		Country: p.Country, Postcode: gazetteer.PostcodeKey(p.Postcode), City: gazetteer.Key(p.City),
		Street: gazetteer.StreetKey(p.Street), Number: numberKey(p.Number), Unit: unitKey(p.Unit),
		POBox: gazetteer.Key(p.POBox),
	}
	if f.Postcode == "" {
		f.State = strings.ToUpper(gazetteer.Key(p.State)) // "CA", as in ISO 3166-2
	}
	return f
}

// Key returns the address in one spelling: equal for "Lange Str. 5" and "Lange
// Straße 5" of the same postcode. Distinct addresses are counted by it. See
// [Parts.Key].
func (a *Address) Key() string { return a.Parts().Key() }

// Key returns the folded parts as "DE|26122|oldenburg|langestr|5": country,
// with a hyphen and the state where there is no postcode, postcode, city, street
// and door, which is the number, "#" and the unit, "@" and the post box.
func (p Parts) Key() string {
	f := p.Folded()
	land, door := f.Country, f.Number
	if f.State != "" {
		land += "-" + f.State
	}
	if f.Unit != "" {
		door += "#" + f.Unit
	}
	if f.POBox != "" {
		door += "@" + f.POBox
	}
	return strings.Join([]string{land, f.Postcode, f.City, f.Street, door}, "|")
}

// ReadKey returns the folded parts of a key; false for what is none.
func ReadKey(key string) (p Parts, ok bool) {
	part := strings.Split(key, "|")
	if len(part) != 5 {
		return p, false
	}
	p.Country, p.State, _ = strings.Cut(part[0], "-")
	p.Postcode, p.City, p.Street = part[1], part[2], part[3]
	door, box, _ := strings.Cut(part[4], "@")
	p.Number, p.Unit, _ = strings.Cut(door, "#")
	p.POBox = box
	return p, true
}

// numberKey folds a house number, without the marks of a key.
func numberKey(number string) string {
	return gazetteer.NumberKey(strings.Map(func(r rune) rune {
		if strings.ContainsRune("|#@", r) {
			return ' '
		}
		return r
	}, number))
}

// unitWords are dropped from units, which are distinguished by the rest.
var unitWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("suite ste apartment apt unit no number nr flat room rm office") {
		m[w] = true
	}
	return m
}()

// unitKey folds the name of a unit: "Suite 200", "Ste. 200" and "#200" are one.
func unitKey(unit string) string {
	words := strings.FieldsFunc(strings.ToLower(unit), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	})
	if len(words) > 1 && unitWords[words[0]] {
		words = words[1:]
	}
	return gazetteer.Key(strings.Join(words, " "))
}

// withPostcodes fills in the postcode of the addresses of a page that are stated without one: where the page
// states the same street, number and city with one postcode, it is meant.
func withPostcodes(found []Address) {
	codes := map[string]string{} // of an address without postcode and unit; "" where there are several
	for i := range found {
		if code := found[i].Parts().Postcode; code != "" && found[i].HouseNumber != "" {
			key := found[i].doorIn("")
			if old, known := codes[key]; known && gazetteer.PostcodeKey(old) != gazetteer.PostcodeKey(code) {
				code = ""
			}
			codes[key] = code
		}
	}
	for i := range found {
		if found[i].HouseNumber != "" && found[i].Parts().Postcode == "" {
			found[i].Postcode = codes[found[i].doorIn("")]
		}
	}
}

// withUnits fills in the unit of the addresses of a page that are stated
// without one: where the page states the same address with one unit, it is
// meant.
func withUnits(found []Address) {
	units := map[string]string{} // of an address without unit; "" where there are several
	for i := range found {
		if unit := found[i].Unit; unit != "" {
			key := found[i].door()
			if old, known := units[key]; known && unitKey(old) != unitKey(unit) {
				unit = ""
			}
			units[key] = unit
		}
	}
	if len(units) == 0 {
		return
	}
	for i := range found {
		if found[i].Unit == "" {
			found[i].Unit = units[found[i].door()]
		}
	}
}

// door returns the key of the address without its unit.
func (a *Address) door() string { return a.doorIn(a.Parts().Postcode) }

// doorIn returns that of the address with another postcode.
func (a *Address) doorIn(postcode string) string {
	p := a.Parts()
	p.Unit, p.Postcode = "", postcode
	return p.Key()
}
