package api

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/differences"
	"gazehound/index/export"
)

const placesPath = "/v1/places"

// maxPlaces is how many places of the map one answer of /v1/places has.
const maxPlaces = 5000

// places answers /v1/places: all points of interest of the map that fit, with and without pages, in
// GeoJSON or another format.
func (s *server) places(w http.ResponseWriter, r *http.Request, a *params) *Problem {
	p := a.chooseFormat(r)
	if p != nil {
		return p
	}
	var found []gazetteer.Place
	p = s.limited(r.Context(), a.t, func(ctx context.Context) (err error) {
		found, err = s.findPlaces(ctx, a, index.SubjectOf(a.Query))
		return err
	})
	if p != nil {
		return p
	}
	hits := make([]index.Hit, len(found))
	for i := range found {
		hits[i] = *differences.HitOf(&found[i])
	}
	if a.format.Name != "geojson" {
		return s.writeHits(w, r, a.format.Name, hits)
	}
	total := len(hits)
	c := s.frame(a, &index.Result{Hits: hits})
	c.Matched, c.Approx = &total, total == maxPlaces
	c.Facets = facetsOf(countPlaces(hits, a.Facets))
	for i := range hits {
		h := &hits[i]
		c.Features = append(c.Features, export.Feature{Type: "Feature", ID: h.Place, Geometry: export.GeometryOf(h),
			Properties: export.PropertiesOf(h)})
	}
	w.Header().Set("Content-Type", geoJSON)
	return s.writeJSON(w, r, c)
}

// findPlaces returns the points of interest that a request, which is about something, asks for; without
// words all that fit its filters.
func (s *server) findPlaces(ctx context.Context, a *params, about index.Subject) (found []gazetteer.Place, err error) {
	if s.Gazetteer == nil {
		return nil, nil
	}
	finder := s.finder()
	mayShow, err := finder.Fits(&a.Query, &about)
	if err != nil {
		return nil, err
	}
	if len(about.Words) > 0 {
		return finder.Find(gazetteer.POIQuery{Near: a.Center, Limit: maxPlaces, Fits: mayShow}, about), nil
	}
	for place := range s.Gazetteer.EachPOI() {
		if err := ctx.Err(); err != nil || len(found) == maxPlaces {
			return found, err
		}
		if mayShow(&place) {
			found = append(found, place)
		}
	}
	return found, nil
}

// countPlaces counts places by street, postcode, town and kind, of which facets names some.
func countPlaces(hits []index.Hit, facets []index.Facet) (counts []index.Count) {
	for _, facet := range facets {
		n := map[string]int{}
		for i := range hits {
			h := &hits[i]
			value := map[index.Facet]string{index.ByStreet: h.Street, index.ByPostcode: h.Postcode, index.ByCity: h.City,
				index.ByKind: h.Kind}[facet]
			if value != "" {
				n[value]++
			}
		}
		count := index.Count{Facet: facet, Values: []index.Value{}}
		for value, of := range n {
			count.Values = append(count.Values, index.Value{Value: value, Count: of})
		}
		slices.SortFunc(count.Values, func(a, b index.Value) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
		})
		counts = append(counts, count)
	}
	return counts
}

// tableOf returns the address of a table of the places of the map that a request to the page asks
// for.
func tableOf(a *params) string {
	v := url.Values{"format": {"csv"}}
	for _, p := range parameters {
		if values := a.given[p.name]; p.on&onPlaces != 0 && p.on&onPage != 0 && len(values) > 0 {
			v[p.name] = values
		}
	}
	return placesPath + "?" + v.Encode()
}
