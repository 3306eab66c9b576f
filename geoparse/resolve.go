package geoparse

import (
	"math"
	"slices"

	"gazehound/gazetteer"

	"github.com/paulmach/orb"
)

// Confidences of an address by its evidence.
const (
	confidenceHouse        = 0.98
	confidenceInterpolated = 0.95
	confidenceMax          = 0.93 // number within the known range of the street
	confidenceStreet       = 0.85 // street known, number not
	confidenceGrammar      = 0.80 // a street word and a house number
	confidenceBounded      = 0.70 // by its place in the line
	confidencePlace        = 0.60 // postcode and city
	confidenceWeak         = 0.45 // no postcode: street and city of the region
)

// misspelt is subtracted from the confidence if the street differs from the gazetteer's by one
// letter.
const misspelt = 0.15

// resolve looks the address up in the gazetteer: level, place, precision,
// point, region. a.Place is the postcode area or city that was matched.
func (p *Parser) resolve(a *Address, strength int) {
	area := a.Place
	a.Precision = gazetteer.NoPrecision
	if area.HasPoint {
		a.Point = area.Point
		a.Precision = gazetteer.PostcodePrecision
		if area.Kind == gazetteer.City {
			a.Precision = gazetteer.CityPrecision
		}
	}
	if a.Street != "" {
		a.Level = StreetLevel
		base := a.Confidence - confidencePlace // negative where the place is in doubt
		switch {
		case a.HouseNumber == "":
			a.Confidence = confidenceBounded + base
		case strength >= 3:
			a.Confidence = confidenceGrammar + base
		default:
			a.Confidence = confidenceBounded + base
		}
		if p.streets && (a.City != "" || a.Postcode != "") {
			p.resolveStreet(a, area, base)
		}
	}
	if a.POBox != "" && a.Street == "" { // no place on the map
		a.Confidence -= 0.05
		a.Point, a.Precision = orb.Point{}, gazetteer.NoPrecision
	}
	a.Confidence = math.Round(100*min(1, max(0.05, a.Confidence))) / 100
	a.InRegion = p.region != nil && p.region.Has(a.Place)
}

// resolveStreet looks up street and house number.
func (p *Parser) resolveStreet(a *Address, area gazetteer.Place, base float64) {
	g := p.g
	q := gazetteer.Query{Street: a.Street, Postcode: codeOf(area, a.Postcode), City: a.City, Country: a.Country}
	if q.Postcode == "" {
		q.State = area.State // Glendale in CA, not in AZ
	}
	streets := g.Streets(q)
	if len(streets) == 0 && area.Kind == gazetteer.Postcode && base >= 0 && a.HouseNumber != "" {
		// a misspelt name, where postcode and city are right
		streets = p.speller.Similar(q)
		if len(streets) > 0 {
			base -= misspelt
		}
	}
	if len(streets) == 0 {
		return
	}
	elsewhere := func(st gazetteer.Place) bool { return gazetteer.Key(st.City) != gazetteer.Key(a.City) }
	n := slices.IndexFunc(streets, elsewhere)
	if n > 0 {
		streets = streets[:n] // a street of the city's neighbour with its name and postcode is not meant
	}
	best, precision := streets[0], gazetteer.NoPrecision
	if a.HouseNumber != "" {
		for _, st := range streets {
			if h, prec := g.House(st, a.HouseNumber); prec > precision {
				best, precision = h, prec
			}
		}
	}
	a.Place = best
	if best.State == "" {
		a.Place.State = area.State
	}
	switch precision {
	case gazetteer.HousePrecision:
		a.Level, a.Confidence = VerifiedLevel, confidenceHouse+base
	case gazetteer.InterpolatedPrecision:
		a.Level, a.Confidence = VerifiedLevel, confidenceInterpolated+base
	case gazetteer.StreetPrecision:
		a.Level, a.Confidence = VerifiedLevel, confidenceMax+base
	default:
		precision = gazetteer.StreetPrecision
		a.Confidence = confidenceStreet + base
	}
	if best.HasPoint {
		a.Point, a.Precision = best.Point, precision
	}
}
