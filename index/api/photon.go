package api

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/differences"
	"gazehound/index/export"
	"gazehound/index/web"
	"gazehound/internal/kind"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// photonProperties are those that Photon's clients read.
type photonProperties struct {
	Type        string `json:"type"` // the layer: house, street, locality, city or other
	Name        string `json:"name,omitempty"`
	Street      string `json:"street,omitempty"`
	HouseNumber string `json:"housenumber,omitempty"`
	Postcode    string `json:"postcode,omitempty"`
	City        string `json:"city,omitempty"`
	State       string `json:"state,omitempty"`
	Country     string `json:"country,omitempty"`
	CountryCode string `json:"countrycode,omitempty"`
	OSMType     string `json:"osm_type,omitempty"` // N, W or R
	OSMID       int64  `json:"osm_id,omitempty"`
	OSMKey      string `json:"osm_key"`
	OSMValue    string `json:"osm_value"`
	Website     string `json:"website,omitempty"`

	Distance *float64 `json:"distance,omitempty"` // metres from lat and lon, where they were given
	Known    string   `json:"known"`              // "web": pages state it; "map": the map has it, and no page yet
}

// photon answers /api, /reverse and /structured with addresses on pages and places of the
// gazetteer.
func (s *server) photon(r *http.Request, a *params) (any, *Problem) {
	limit := a.Limit
	tags := valueOr[[]string](a, "osm_tag")
	if include := valueOr[[]string](a, "include"); len(include) == 1 && tags == nil {
		a.Kind = kindsOf(tagsOf(include[0]))
	} else {
		a.Kind = kindsOf(tags)
	}
	if a.filtersFeatures() {
		a.Limit = s.MaxLimit // they are filtered below
	}
	result, p := s.answer(r.Context(), a)
	if p != nil {
		return nil, p
	}
	c := s.frame(a, result)
	onMap := s.lookUp(a)
	if a.on == onReverse {
		onMap.places = s.nearest(*a.Center, a.Radius, a.Limit)
	}
	exact, places, others := onMap.arrange(result.Hits)
	if a.on != onReverse && slices.ContainsFunc(onMap.places, isHouse) {
		c.Relaxed = false // the map has the very house, and what resembles it is left out
	}
	if number := onMap.lacks(); number != "" {
		c.Warning = a.t.Say("no_house", number, onMap.places[0].Street)
	}
	beside := s.beside(r.Context(), a, slices.Concat(exact, others))
	asked := max(0, beside.After-len(exact)) // of the others
	var all []export.Feature
	add := func(hits []index.Hit) {
		for i := range hits {
			all = append(all, photonHit(&hits[i], a.Center))
		}
	}
	add(exact)
	for i := range places {
		all = append(all, photonPlace(&places[i], a.Center))
	}
	add(others[:asked])
	for i := range beside.Others {
		all = append(all, photonPOI(&beside.Others[i], a))
	}
	add(others[asked:])
	all = slices.DeleteFunc(all, func(f export.Feature) bool { return !f.Properties.(*photonProperties).fits(a) })
	if dedupe := valueOf[bool](a, "dedupe"); dedupe == nil || *dedupe {
		all = withoutTwins(all)
	}
	if a.on == onReverse {
		slices.SortStableFunc(all, func(x, y export.Feature) int {
			return cmp.Compare(*x.Properties.(*photonProperties).Distance, *y.Properties.(*photonProperties).Distance)
		})
	}
	c.Features = append(c.Features, all[:min(limit, len(all))]...)
	c.Returned = len(c.Features)
	if valueOr[bool](a, "street_number") {
		for _, f := range c.Features {
			if p := f.Properties.(*photonProperties); p.Type == "house" {
				p.Street = streetLine(p.Street, p.HouseNumber, p.CountryCode)
			}
		}
	}
	return c, nil
}

// filtersFeatures reports whether a request filters by what only features have.
func (a *params) filtersFeatures() bool {
	filters := []string{"layer", "osm_tag", "include", "exclude", "countrycode"}
	return slices.ContainsFunc(filters, func(name string) bool { return a.values[name] != nil })
}

// fits reports whether a feature fits the filters of Photon.
func (p *photonProperties) fits(a *params) bool {
	layers, countries := valueOr[[]string](a, "layer"), valueOr[[]string](a, "countrycode")
	among := func(list string) (some, all bool) {
		all = true
		for category := range strings.SplitSeq(list, ",") {
			has := strings.HasPrefix("osm."+p.OSMKey+"."+p.OSMValue+".", category+".")
			some, all = some || has, all && has
		}
		return some, all
	}
	for _, list := range valueOr[[]string](a, "include") { // of each one category must fit
		if some, _ := among(list); !some {
			return false
		}
	}
	for _, list := range valueOr[[]string](a, "exclude") { // of none all categories may fit
		if _, all := among(list); all {
			return false
		}
	}
	isOf := func(country string) bool { return strings.EqualFold(country, p.CountryCode) }
	in := countries == nil || slices.ContainsFunc(countries, isOf)
	return in && (layers == nil || slices.Contains(layers, p.Type)) && p.fitsTags(valueOr[[]string](a, "osm_tag"))
}

// tagsOf returns categories, "osm.shop.bakery,osm.shop.butcher", as filters by tags.
func tagsOf(categories string) (tags []string) {
	for category := range strings.SplitSeq(categories, ",") {
		tags = append(tags, strings.Replace(strings.TrimPrefix(category, "osm."), ".", ":", 1))
	}
	return tags
}

// withoutTwins drops features that a reader cannot tell from an earlier one: with the same name,
// address and value of their tag.
func withoutTwins(all []export.Feature) []export.Feature {
	seen := map[[6]string]bool{}
	return slices.DeleteFunc(all, func(f export.Feature) bool {
		p := f.Properties.(*photonProperties)
		key := [6]string{gazetteer.Key(p.Name), gazetteer.StreetKey(p.Street), gazetteer.NumberKey(p.HouseNumber),
			p.Postcode, gazetteer.Key(p.City), p.OSMValue}
		twin := seen[key]
		seen[key] = true
		return twin
	})
}

// kindsOf returns the kinds of places that filters by tags leave, where all of them are
// such kinds; else nil.
func kindsOf(tags []string) (kinds []string) {
	for _, tag := range tags {
		k := strings.Replace(tag, ":", "=", 1)
		if kind.Find(k) == nil || strings.Contains(tag, "!") {
			return nil
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// fitsTags reports whether one of the filters by tags includes p, where some include,
// and none with a "!" before it excludes p.
func (p *photonProperties) fitsTags(filters []string) bool {
	including, included := false, false
	for _, filter := range filters {
		filter, exclude := strings.CutPrefix(filter, "!")
		key, value, _ := strings.Cut(filter, ":")
		value, other := strings.CutPrefix(value, "!")
		fits := (key == "" || key == p.OSMKey) && (value == "" || (value == p.OSMValue) != other)
		if exclude && fits {
			return false
		}
		including = including || !exclude
		included = included || !exclude && fits
	}
	return included || !including
}

// photonHit returns a hit as a feature for Photon's clients.
func photonHit(h *index.Hit, center *orb.Point) export.Feature {
	p := &photonProperties{Type: "other", Name: h.Name, Street: h.Street, HouseNumber: h.HouseNumber,
		Postcode: h.Postcode, City: h.City, State: h.State, Country: countryName(h.Country), CountryCode: h.Country,
		OSMKey: "place", OSMValue: "house", Website: export.Website(h), Known: "web"}
	if h.HouseNumber != "" && h.Street != "" {
		p.Type = "house"
	} else if h.Street != "" {
		p.Type, p.OSMValue = "street", "street"
	}
	if key, value, ok := strings.Cut(kind.Main(h.Kind), "="); ok {
		p.OSMKey, p.OSMValue = key, value
	}
	p.OSMType, p.OSMID = osmObject(h.Place)
	if h.HasPoint {
		p.Distance = distanceFrom(center, h.Point)
	}
	return export.Feature{Type: "Feature", Geometry: export.GeometryOf(h), Properties: p}
}

// photonPlace returns a place of the gazetteer as a feature for Photon's clients.
func photonPlace(place *gazetteer.Place, center *orb.Point) export.Feature {
	p := &photonProperties{Type: layerOf(place), Street: place.Street, HouseNumber: place.HouseNumber,
		Postcode: place.Postcode, City: place.City, State: place.State,
		Country: countryName(place.Country), CountryCode: place.Country,
		OSMKey: "place", OSMValue: "house", Known: "map"}
	p.OSMType, p.OSMID = osmObject(place.ID)
	switch p.Type {
	case "house":
	case "street":
		p.Name, p.OSMKey, p.OSMValue = place.Street, "highway", "street"
	default:
		p.Name, p.OSMValue = strings.Join(place.Names[:min(1, len(place.Names))], ""), p.Type
	}
	p.Distance = distanceFrom(center, place.Point)
	return export.Feature{Type: "Feature", Geometry: export.PointAt(place.Point), Properties: p}
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

// streetLine returns street and number in the order of the country.
func streetLine(street, number, country string) string {
	h := index.Hit{Street: street, HouseNumber: number, Country: country}
	return h.Line()
}

// countryName returns the name of the countries that addresses are parsed in.
func countryName(code string) string {
	names := map[string]string{"DE": "Deutschland", "AT": "Österreich", "CH": "Schweiz", "LI": "Liechtenstein",
		"US": "United States", "GB": "United Kingdom"}
	return cmp.Or(names[code], code)
}

// osmObject returns type and number of an object of OpenStreetMap as Photon writes
// them.
func osmObject(id string) (kind string, number int64) {
	if m := export.OSMObject.FindStringSubmatch(id); m != nil {
		kind = strings.ToUpper(m[1][:1])
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

// maxOnMap is how many places of the gazetteer one answer has.
const maxOnMap = 10

// An onMap has the gazetteer's places for the address in a request.
type onMap struct {
	places  []gazetteer.Place // of the region, best first
	address gazetteer.Query   // as the request was read
}

// nearest returns the houses and streets of the map around a point, the nearest first.
func (s *server) nearest(at orb.Point, radius float64, most int) (places []gazetteer.Place) {
	if s.Gazetteer == nil {
		return nil
	}
	for _, n := range s.Gazetteer.Nearest(at, radius, most+maxOnMap) {
		if s.finder().Serves(&n.Place) {
			places = append(places, n.Place)
		}
	}
	return places
}

// lookUp returns the gazetteer's places for the address in a request; none if it has no address. An
// unknown house number finds its street.
func (s *server) lookUp(a *params) (m onMap) {
	if s.Gazetteer == nil || a.Cursor != "" {
		return m
	}
	m.address = gazetteer.Query{Street: a.parts[0], HouseNumber: a.parts[1], Postcode: a.parts[2], City: a.parts[3]}
	if a.parts == [4]string{} {
		m.address = s.Gazetteer.ParseQuery(a.Text)
	}
	if m.address.Street == "" && m.address.City == "" && m.address.Postcode == "" {
		return m
	}
	seen := map[[4]string]bool{}
	for _, match := range s.Gazetteer.Lookup(m.address) {
		p := &match.Place
		if !s.finder().Serves(p) || a.Box != nil && !a.Box.Contains(p.Point) {
			continue
		}
		between := match.Precision < gazetteer.HousePrecision && p.Kind == gazetteer.House && p.MaxNumber == 0
		if m.address.HouseNumber != "" && between {
			p.Kind, p.HouseNumber = gazetteer.Street, "" // a point between two numbers is no house
		}
		key := [4]string{gazetteer.StreetKey(p.Street), gazetteer.NumberKey(p.HouseNumber), p.Postcode, p.City}
		if !seen[key] && len(m.places) < maxOnMap {
			seen[key] = true
			m.places = append(m.places, *p)
		}
	}
	if slices.ContainsFunc(m.places, isHouse) { // streets of the name elsewhere, without the number
		m.places = slices.DeleteFunc(m.places, func(p gazetteer.Place) bool { return !isHouse(p) })
	}
	return m
}

func isHouse(p gazetteer.Place) bool { return p.HouseNumber != "" }

// lacks returns the requested house number if the map lacks it, or "".
func (m *onMap) lacks() string {
	if len(m.places) == 0 || m.address.Street == "" || slices.ContainsFunc(m.places, isHouse) {
		return ""
	}
	return m.address.HouseNumber
}

// arrange parts the hits of an answer to an address: those that are it come first,
// then the places that no page states, then the others. Where a house is asked for,
// no other house stands in for it.
func (m *onMap) arrange(hits []index.Hit) (exact []index.Hit, places []gazetteer.Place, others []index.Hit) {
	if len(m.places) == 0 {
		return nil, nil, hits
	}
	places = slices.Clone(m.places)
	for _, h := range hits {
		i := slices.IndexFunc(m.places, func(p gazetteer.Place) bool { return differences.AtDoor(&p, &h) })
		switch {
		case i >= 0 && (m.address.HouseNumber == "" || isHouse(m.places[i])):
			exact = append(exact, h)
			places = slices.DeleteFunc(places, func(p gazetteer.Place) bool { return differences.AtDoor(&p, &h) })
		case m.address.Street == "" || m.address.HouseNumber == "":
			others = append(others, h)
		}
	}
	return exact, places, others
}

// showOnMap adds places of the map that no page states to the page: houses, streets without
// addresses and, if nothing else was found, towns.
func (s *server) showOnMap(ctx context.Context, a *params, p *web.Page) {
	m := s.lookUp(a)
	_, places, _ := m.arrange(p.Result.Hits)
	p.NoHouse = m.lacks()
	for i := range places {
		place := &places[i]
		stated := place.HouseNumber == "" && slices.ContainsFunc(p.Result.Hits, func(h index.Hit) bool {
			return gazetteer.StreetKey(h.Street) == gazetteer.StreetKey(place.Street)
		})
		if place.Street != "" && !stated || p.Result.Total == 0 {
			p.OnMap = append(p.OnMap, web.OnMap{Title: differences.LineOf(place), Place: place.ID, Point: place.Point})
		}
	}
	beside := s.beside(ctx, a, p.Result.Hits)
	for i := range beside.Others {
		p.OnMap = append(p.OnMap, onMapOf(&beside.Others[i]))
	}
	p.After, p.MorePOIs = beside.After, beside.More
	if len(beside.Others) > 0 {
		p.Places = tableOf(a)
	}
	p.Sides = map[string]web.OnMap{}
	for id, place := range beside.Same {
		p.Sides[id] = onMapOf(&place)
	}
}
