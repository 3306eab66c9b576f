package api

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/export"
	"gazehound/index/web"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// maxOnMap is how many places of the gazetteer one answer has.
const maxOnMap = 10

// An onMap is what the gazetteer knows of an address that somebody asks for.
type onMap struct {
	places []gazetteer.Match // of the region, best first; those with a house number are houses
	asked  gazetteer.Query   // how the question was read
}

// lookUp asks the gazetteer for the address that a question is; it has no places
// where it is none. A house number that the map does not have finds its street.
func (s *server) lookUp(a asked) (m onMap) {
	if s.Gazetteer == nil || a.Cursor != "" {
		return m
	}
	m.asked = gazetteer.Query{Street: a.parts[0], HouseNumber: a.parts[1], Postcode: a.parts[2], City: a.parts[3]}
	if a.parts == [4]string{} {
		m.asked = s.Gazetteer.ParseQuery(a.Text)
	}
	if m.asked.Street == "" && m.asked.City == "" && m.asked.Postcode == "" {
		return m
	}
	seen := map[string]bool{}
	for _, match := range s.Gazetteer.Lookup(m.asked) {
		p := &match.Place
		if !p.HasPoint || s.Within != nil && !s.Within.Has(*p) || a.Box != nil && !a.Box.Contains(p.Point) {
			continue
		}
		if m.asked.HouseNumber != "" && match.Precision < gazetteer.HousePrecision && p.Kind == gazetteer.House && p.MaxNumber == 0 {
			p.Kind, p.HouseNumber = gazetteer.Street, "" // a point between two numbers is no house
		}
		key := gazetteer.StreetKey(p.Street) + "\x00" + gazetteer.NumberKey(p.HouseNumber) + "\x00" + p.Postcode + "\x00" + p.City
		if !seen[key] && len(m.places) < maxOnMap {
			seen[key] = true
			m.places = append(m.places, match)
		}
	}
	if slices.ContainsFunc(m.places, isHouse) { // streets of the name elsewhere, without the number
		m.places = slices.DeleteFunc(m.places, func(p gazetteer.Match) bool { return !isHouse(p) })
	}
	return m
}

// locate finds a place of the region for index.Query.
func (s *server) locate(text string) (at orb.Point, name string, ok bool) {
	for _, match := range s.Gazetteer.Lookup(s.Gazetteer.ParseQuery(text)) {
		if p := &match.Place; p.HasPoint && (s.Within == nil || s.Within.Has(*p)) {
			return p.Point, lineOf(p), true
		}
	}
	return at, "", false
}

func isHouse(m gazetteer.Match) bool { return m.Place.HouseNumber != "" }

// lacks returns the house number that was asked for and that the map does not
// have, or "".
func (m *onMap) lacks() string {
	if len(m.places) == 0 || m.asked.Street == "" || slices.ContainsFunc(m.places, isHouse) {
		return ""
	}
	return m.asked.HouseNumber
}

// covers tells whether a hit is the address of a place.
func covers(p *gazetteer.Place, h *index.Hit) bool {
	return gazetteer.StreetKey(p.Street) == gazetteer.StreetKey(h.Street) && p.Street != "" &&
		gazetteer.NumberKey(p.HouseNumber) == gazetteer.NumberKey(h.HouseNumber) &&
		(p.Postcode == "" || h.Postcode == "" || gazetteer.Key(p.Postcode) == gazetteer.Key(h.Postcode))
}

// arrange parts the hits of an answer to an address: those that are it come first,
// then the places that no page states, then the others. Where a house is asked for,
// no other house stands in for it.
func (m *onMap) arrange(hits []index.Hit) (exact []index.Hit, places []gazetteer.Match, others []index.Hit) {
	if len(m.places) == 0 {
		return nil, nil, hits
	}
	places = slices.Clone(m.places)
	for _, h := range hits {
		is := slices.IndexFunc(m.places, func(p gazetteer.Match) bool { return covers(&p.Place, &h) })
		switch {
		case is >= 0 && (m.asked.HouseNumber == "" || isHouse(m.places[is])):
			exact = append(exact, h)
			places = slices.DeleteFunc(places, func(p gazetteer.Match) bool { return covers(&p.Place, &h) })
		case m.asked.Street != "" && m.asked.HouseNumber != "":
		default:
			others = append(others, h)
		}
	}
	return exact, places, others
}

// showOnMap gives the page what the map knows and no page states: houses, streets
// without any, and where nothing else was found towns.
func (s *server) showOnMap(a asked, p *web.Page) {
	m := s.lookUp(a)
	_, places, _ := m.arrange(p.Result.Hits)
	p.NoHouse = m.lacks()
	for _, match := range places {
		place := &match.Place
		known := place.HouseNumber == "" && slices.ContainsFunc(p.Result.Hits, func(h index.Hit) bool {
			return gazetteer.StreetKey(h.Street) == gazetteer.StreetKey(place.Street)
		})
		if place.Street != "" && !known || p.Result.Total == 0 {
			p.OnMap = append(p.OnMap, web.OnMap{Title: lineOf(place), Place: place.ID, Point: place.Point})
		}
	}
}

// layerOf returns what Photon calls the layer of a place.
func layerOf(p *gazetteer.Place) string {
	switch p.Kind {
	case gazetteer.House, gazetteer.Street:
		return p.Kind.String()
	case gazetteer.Postcode:
		return "locality"
	}
	return "city"
}

// lineOf writes a place as an address in one line.
func lineOf(p *gazetteer.Place) string {
	h := index.Hit{Street: p.Street, HouseNumber: p.HouseNumber, Postcode: p.Postcode, City: p.City, State: p.State, Country: p.Country}
	if p.Kind == gazetteer.City && len(p.Names) > 0 {
		h = index.Hit{City: p.Names[0]}
	}
	return h.Line()
}

// photonPlace returns a place of the gazetteer as a feature for Photon's clients.
func photonPlace(m gazetteer.Match, center *orb.Point) export.Feature {
	place := &m.Place
	p := photonProperties{Type: layerOf(place), Street: place.Street, HouseNumber: place.HouseNumber, Postcode: place.Postcode,
		City: place.City, State: place.State, Country: countryName(place.Country), CountryCode: place.Country,
		OSMKey: "place", OSMValue: "house", Known: "map"}
	p.OSMType, p.OSMID = osmObject(place.ID)
	switch p.Type {
	case "house":
		p.Street = streetLine(&index.Hit{Street: p.Street, HouseNumber: p.HouseNumber, Country: place.Country})
	case "street":
		p.Name, p.OSMKey, p.OSMValue = place.Street, "highway", "street"
	default:
		p.Name, p.OSMValue = strings.Join(place.Names[:min(1, len(place.Names))], ""), p.Type
	}
	p.Distance = distanceFrom(center, place.Point)
	at := [2]float64{export.Round(place.Point[0], 7), export.Round(place.Point[1], 7)}
	return export.Feature{Type: "Feature", Geometry: &export.Geometry{Type: "Point", Coordinates: at}, Properties: p}
}

// osmObject returns type and number of an object of OpenStreetMap as Photon writes
// them.
func osmObject(id string) (kind string, number int64) {
	if m := export.OSMObject.FindStringSubmatch(id); m != nil {
		kind = string(m[1][0] &^ 0x20)
		number, _ = strconv.ParseInt(m[2], 10, 64) // at most 18 digits
	}
	return kind, number
}

// distanceFrom returns metres, nil without a centre.
func distanceFrom(center *orb.Point, p orb.Point) *float64 {
	if center == nil {
		return nil
	}
	d := math.Round(geo.DistanceHaversine(*center, p))
	return &d
}
