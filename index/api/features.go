package api

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"gazehound/index"
	"gazehound/index/export"

	"github.com/paulmach/orb"
)

// A collection is an answer: a GeoJSON FeatureCollection (RFC 7946) with the
// members of GeocodeJSON.
type collection struct {
	Type        string    `json:"type"`
	Version     string    `json:"version"` // of GeocodeJSON
	Licence     string    `json:"licence"`
	Attribution string    `json:"attribution"`
	Query       string    `json:"query"`
	Warning     string    `json:"warning,omitempty"`
	Missing     []string  `json:"missing_nodes,omitempty"` // whose part of the index did not answer
	Box         []float64 `json:"bbox,omitempty"`

	Matched   *int        `json:"numberMatched,omitempty"`
	Approx    bool        `json:"approx,omitempty"` // Matched is an estimate
	Returned  int         `json:"numberReturned"`
	Relaxed   bool        `json:"relaxed,omitempty"` // no address has all the words as they are written
	TimeStamp *time.Time  `json:"timeStamp,omitempty"`
	Near      string      `json:"near,omitempty"` // the address that the words took for their centre
	Hint      *streetHint `json:"hint,omitempty"`

	Features []export.Feature        `json:"features"`
	Facets   map[string][]facetValue `json:"facets,omitempty"`
	Links    []link                  `json:"links,omitempty"`
}

// A streetHint says that no page states the house that was asked for, and what is
// known of its street.
type streetHint struct {
	Text        string `json:"text"` // a sentence
	Street      string `json:"street"`
	HouseNumber string `json:"housenumber"`
	Pages       int    `json:"pages"`     // that state an address in the street
	Addresses   int    `json:"addresses"` // in the street
	Href        string `json:"href"`      // the search for them
}

func hintOf(o *index.StreetOnly) *streetHint {
	if o == nil {
		return nil
	}
	v := url.Values{"street": {o.Street}}
	if o.Text != "" {
		v.Set("q", o.Text)
	}
	return &streetHint{o.String(), o.Street, o.HouseNumber, o.Pages, o.Addresses, "/v1/search?" + v.Encode()}
}

type link struct {
	Rel  string `json:"rel"`
	Href string `json:"href"`
	Type string `json:"type"`
}

// properties are those of an address in an answer.
type properties struct {
	export.Properties
	Distance *float64     `json:"distance_m,omitempty"`
	Score    float64      `json:"score"`
	Parts    []index.Part `json:"score_parts,omitempty"`
}

func (s *server) collection(r *http.Request, a asked, result *index.Result) *collection {
	now := time.Now().UTC().Truncate(time.Second)
	c := s.frame(a, result)
	c.Matched, c.Approx, c.TimeStamp, c.Box = &result.Total, result.Approx, &now, boxOf(result.Hits)
	c.Facets, c.Near, c.Hint = facetsOf(result.Facets), result.Near, hintOf(s.streetOnly(r.Context(), a, result))
	for i := range result.Hits {
		h := &result.Hits[i]
		p := properties{Properties: export.PropertiesOf(h), Score: export.Round(h.Score, 4), Parts: h.Parts}
		if h.Distance >= 0 {
			d := math.Round(h.Distance)
			p.Distance = &d
		}
		f := export.Feature{Type: "Feature", ID: h.ID, Geometry: export.GeometryOf(h), Properties: p}
		if a.fields != nil {
			chosen, err := only(p, a.fields)
			if err != nil {
				s.Log.Error("api: fields", "error", err)
			}
			f.Properties = chosen
		}
		c.Features = append(c.Features, f)
	}
	c.Links = []link{{"self", r.URL.RequestURI(), "application/geo+json"}}
	if result.Next != "" {
		c.Links = append(c.Links, link{"next", s.nextOf(r, a, result), "application/geo+json"})
	}
	return c
}

func (s *server) frame(a asked, result *index.Result) *collection {
	var missing []string
	if s.Missing != nil {
		missing = s.Missing()
	}
	return &collection{Type: "FeatureCollection", Missing: missing, Version: "0.1.0", Licence: s.Licence, Attribution: s.Attribution,
		Query: a.Text, Warning: a.warning, Returned: len(result.Hits), Relaxed: result.Relaxed, Features: []export.Feature{}}
}

// photonProperties are those that Photon's clients read. Leaflet's geocoder
// leaves the house number out of its label, so the street carries it, too.
type photonProperties struct {
	Type        string `json:"type"` // house, street, or other
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

// photonCollection answers with what pages state and with what the map knows,
// each in one of the layers that are asked for.
func (s *server) photonCollection(a asked, result *index.Result) *collection {
	c := s.frame(a, result)
	m := s.lookUp(a)
	exact, places, others := m.arrange(result.Hits)
	if number := m.lacks(); number != "" {
		c.Warning = houseUnknown(texts["en"], number, m.places[0].Place.Street)
	}
	add := func(f export.Feature) {
		p := f.Properties.(photonProperties)
		if len(c.Features) < a.Limit && (len(a.layers) == 0 || slices.Contains(a.layers, p.Type)) {
			c.Features = append(c.Features, f)
		}
	}
	for i := range exact {
		add(photonHit(&exact[i], a.Center))
	}
	for _, p := range places {
		add(photonPlace(p, a.Center))
	}
	for i := range others {
		add(photonHit(&others[i], a.Center))
	}
	c.Returned = len(c.Features)
	return c
}

// houseUnknown says that the map lacks a house number in a street that it has.
func houseUnknown(t words, number, street string) string { return t.say("no_house", number, street) }

// photonHit returns a hit as a feature for Photon's clients.
func photonHit(h *index.Hit, center *orb.Point) export.Feature {
	p := photonProperties{Type: "other", Name: h.Name, Street: h.Street, HouseNumber: h.HouseNumber, Postcode: h.Postcode,
		City: h.City, State: h.State, Country: countryName(h.Country), CountryCode: h.Country, OSMKey: "place",
		OSMValue: "house", Website: export.Website(h), Known: "web"}
	if h.HouseNumber != "" && h.Street != "" {
		p.Type, p.Street = "house", streetLine(h)
	} else if h.Street != "" {
		p.Type, p.OSMValue = "street", "street"
	}
	if key, value, ok := strings.Cut(h.Kind, "="); ok {
		p.OSMKey, p.OSMValue = key, value
	}
	p.OSMType, p.OSMID = osmObject(h.Place)
	if h.HasPoint {
		p.Distance = distanceFrom(center, h.Point)
	}
	return export.Feature{Type: "Feature", Geometry: export.GeometryOf(h), Properties: p}
}

// streetLine returns street and number in the order of the country.
func streetLine(h *index.Hit) string {
	only := index.Hit{Street: h.Street, HouseNumber: h.HouseNumber, Country: h.Country}
	return only.Line()
}

// countryName returns the name of the countries that addresses are parsed in.
func countryName(code string) string {
	switch code {
	case "DE":
		return "Deutschland"
	case "AT":
		return "Österreich"
	case "CH":
		return "Schweiz"
	case "LI":
		return "Liechtenstein"
	case "US":
		return "United States"
	case "GB":
		return "United Kingdom"
	}
	return code
}

// boxOf returns the bounds of the hits as RFC 7946 wants them.
func boxOf(hits []index.Hit) []float64 {
	var points orb.MultiPoint
	for _, h := range hits {
		if h.HasPoint {
			points = append(points, h.Point)
		}
	}
	if len(points) == 0 {
		return nil
	}
	b := points.Bound()
	return []float64{export.Round(b.Min[0], 6), export.Round(b.Min[1], 6), export.Round(b.Max[0], 6), export.Round(b.Max[1], 6)}
}
