package geoparse

import (
	"context"
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
	"gazehound/geoparse/hours"
	"gazehound/geoparse/markup"
	"gazehound/geoparse/place"
	"gazehound/internal/kind"
)

// maxStated is the largest distance of a stated coordinate from the postcode area of its address,
// in kilometres.
const maxStated = 20

// addStatements merges the addresses that the markup states into those found
// in the text. Markup only adds: an address, its origin, a part that the text
// left out, a coordinate better than that of the postcode.
func (p *Parser) addStatements(ctx context.Context, found []Address, statements []markup.Statement,
	in Input) []Address {
	inText := len(found)
	known := make(map[string][]stated) // by house
	for i := range found {
		house, s := found[i].stated(i)
		known[house] = append(known[house], s)
	}
	for _, st := range statements {
		if len(found) >= maxAddresses || ctx.Err() != nil {
			break
		}
		for _, a := range p.readStatement(ctx, st, in) {
			house, s := a.stated(len(found))
			fresh := true
			for _, other := range known[house] {
				if !s.in(other) {
					continue
				}
				fresh = false
				b := &found[other.number]
				if b.Origin == markup.PlainText {
					b.Origin = a.Origin
				}
				b.takeOccupant(&a)
				b.scene = b.scene && a.scene
				if other.number >= inText && a.Level <= b.Level {
					continue
				}
				b.takeStated(&a)
			}
			if fresh {
				found, known[house] = append(found, a), append(known[house], s)
			}
		}
	}
	return found
}

// takeOccupant adds who a statement says is at the address of b. Where an organisation is, nobody's home
// counts: the founder whom its markup names has that address, too.
func (b *Address) takeOccupant(a *Address) {
	isFirm := func(x *Address) bool { return !x.Person && (x.Type != "" || x.Name != "") }
	switch {
	case b.Person && isFirm(a):
		b.Person, b.Belongings = false, a.Belongings
	case a.Person && isFirm(b):
	default:
		b.Person = b.Person || a.Person
		b.fill(a.Belongings)
	}
}

// takeStated fills in what b lacks.
func (b *Address) takeStated(a *Address) {
	if b.Unit == "" {
		b.Unit = a.Unit
	}
	if b.State == "" {
		b.State = a.State
	}
	if a.Precision > b.Precision {
		b.Point, b.Precision = a.Point, a.Precision
	}
	b.Confidence = max(b.Confidence, a.Confidence)
}

// belongings reads what a statement says beside its address.
func (p *Parser) belongings(st *markup.Statement, country string) Belongings {
	b := Belongings{Type: st.Type, Kind: kindOf(st), Website: place.WebURL(st.URL),
		Email: place.RoleAddress(st.Email), Phone: place.PhoneNumber(st.Phone, country)}
	if place.IsName(st.Name) {
		b.Name = st.Name
	}
	b.Hours, _ = hours.Parse(st.Hours)
	return b
}

// kindOf returns the kind that the type of a statement says. "Restaurant" is the type of all places
// with meals, "MedicalClinic" of many surgeries, "AccountingService" of tax advisers, and their names say more:
// "Reents Café".
func kindOf(st *markup.Statement) string {
	typed, named := kind.OfType(st.Type), kind.OfName(st.Name, "", "")
	if typed == "amenity=restaurant" && meals[kind.Main(named)] ||
		typed == "amenity=clinic" && kind.Key(named) == "healthcare" ||
		typed == "office=accountant" && kind.Main(named) == "office=tax_advisor" {
		return named
	}
	return typed
}

// meals are the other kinds of places with meals.
var meals = map[string]bool{"amenity=cafe": true, "amenity=pub": true, "amenity=bar": true,
	"amenity=fast_food": true, "amenity=ice_cream": true}

// A stated address is one of those at one street and number, by its place in the
// list, with the folded parts that tell it from the others.
type stated struct {
	number               int
	postcode, city, unit string
}

// stated returns the country, street and number of a, or its post box, and its distinguishing
// parts.
func (a *Address) stated(number int) (house string, s stated) {
	p := a.Parts().Folded()
	house = p.Country + "|" + p.Street + "|" + p.Number
	if p.Street == "" {
		house += "|" + p.POBox
	}
	return house, stated{number, p.Postcode, p.City, p.Unit}
}

// in reports whether s is an address like o: by the postcodes where both have
// one, else by the cities, and by the units where both have one.
func (s stated) in(o stated) bool {
	if s.unit != o.unit && s.unit != "" && o.unit != "" {
		return false
	}
	if s.postcode != "" && o.postcode != "" {
		return s.postcode == o.postcode
	}
	return s.city == o.city
}

// readStatement reads one statement with the grammar of the text.
func (p *Parser) readStatement(ctx context.Context, st markup.Statement, in Input) []Address {
	country := grammar.CountryOf(st.Country)
	var found []Address
	if st.Raw != "" {
		found = p.readLines(ctx, st.Raw, country, in)
	}
	if len(found) == 0 {
		for _, lines := range compose(st, country) {
			found = p.readLines(ctx, lines, country, in)
			if len(found) > 0 {
				found = found[:1]
				break
			}
		}
	}
	if len(found) == 0 {
		found = p.statedFields(st, country, in)
	}
	for i := range found {
		a := &found[i]
		a.Start, a.End = -1, -1
		a.Origin = st.Origin
		if len(found) == 1 {
			a.Belongings, a.Person = p.belongings(&st, a.Country), st.Person
			a.scene = st.Scene && a.Name != ""
		}
		if a.Street == "" && st.Street != "" && st.Raw == "" {
			a.Street, a.HouseNumber = grammar.SplitStreet(fold(st.Street), p.known(a)) // "7 Via Roma"
			a.Level = StreetLevel
			p.resolve(a, 3)
			a.Text = shown(st.Street + "\n" + a.Text)
		}
		if st.HasPoint && len(found) == 1 && a.Precision <= gazetteer.PostcodePrecision &&
			a.Precision > gazetteer.NoPrecision && a.Street != "" {
			if at := [2]float64{st.Lon, st.Lat}; kilometres(at, a.Point) < maxStated {
				a.Point, a.Precision = at, gazetteer.StreetPrecision
			}
		}
	}
	return found
}

// statedFields reads a statement field by field, of a country whose addresses are not read in text or
// only with the streets of the gazetteer. That must know postcode and town; where it has nothing of
// the country, they and a house number must be stated.
func (p *Parser) statedFields(st markup.Statement, country string, in Input) []Address {
	if country == "" && len(st.Country) == 2 {
		country = strings.ToUpper(st.Country)
	}
	if all := p.g.Countries(); country == "" && st.Country == "" && len(all) == 1 {
		country = all[0]
	}
	land := grammar.Find(country)
	if country == "" || land.Form != grammar.AnyForm && !land.Listed || st.Street == "" ||
		st.City == "" && st.Postcode == "" {
		return nil
	}
	a := Address{
		Postcode: fold(st.Postcode), City: fold(st.City), State: fold(st.State), Country: country,
		Unit: fold(st.Unit), Confidence: confidencePlace, Level: StreetLevel,
	}
	for _, area := range p.codes.areas(a.Postcode) {
		isCity := func(n cityName) bool { return n.key == gazetteer.Key(a.City) }
		if area.place.Country == country && (a.City == "" || slices.ContainsFunc(area.names, isCity)) {
			a.Place = area.place
			break
		}
	}
	if cities := p.codes.cities(country, a.City); a.Place.Kind == 0 && a.City != "" && len(cities) > 0 {
		a.Place = cities[0]
	}
	street := fold(st.Street)
	a.Street, a.HouseNumber = grammar.SplitStreet(street, p.known(&a))
	if a.Place.Kind == 0 && (p.has[country] || a.HouseNumber == "" || a.City == "" || a.Postcode == "") {
		return nil
	}
	p.resolve(&a, 3)
	a.Text = shown(street + "\n" + strings.TrimSpace(a.Postcode+" "+a.City))
	return []Address{a}
}

// readLines reads lines of markup as a text of their own.
func (p *Parser) readLines(ctx context.Context, lines, country string, in Input) []Address {
	in.Text, in.Doc = lines, nil
	if country != "" {
		in.Country = country
	}
	return p.newSource(lines, in, countryHint(in), nil).scan(ctx)
}

// compose writes the parts of a statement as lines, in the orders in which its
// country, or if that is unknown any country, writes them.
func compose(st markup.Statement, country string) []string {
	if st.City == "" && st.Postcode == "" {
		return nil
	}
	var head []string
	for _, part := range [...]string{st.Street, st.Unit, poBox(st.POBox)} {
		part = fold(part)
		if part != "" {
			head = append(head, part)
		}
	}
	street := strings.Join(head, "\n")
	europe := street + "\n" + fold(st.Postcode+" "+st.City)
	america := street + "\n" + fold(st.City+", "+st.State+" "+st.Postcode)
	britain := street + "\n" + fold(st.City) + "\n" + fold(st.Postcode)
	switch grammar.Find(country).Form {
	case grammar.CodeCity:
		return []string{europe}
	case grammar.CityStateZIP, grammar.CityProvinceCode:
		return []string{america}
	case grammar.CityPostcode:
		return []string{britain}
	}
	if st.State != "" && grammar.State("US", st.State) != "" {
		return []string{america, europe}
	}
	return []string{europe, america, britain}
}

func poBox(s string) string {
	if s == "" || !digits(strings.TrimSpace(s)) {
		return s
	}
	return "P.O. Box " + s
}
