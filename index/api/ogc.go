package api

import (
	"net/http"
)

// OGC API - Features - Part 1: Core (OGC 17-069r4), with its conformance
// classes core, oas30 and geojson. The items are answered by search.

type ogcLink struct {
	Rel   string `json:"rel"`
	Href  string `json:"href"`
	Type  string `json:"type"`
	Title string `json:"title,omitempty"`
}

const ogcItems = "/ogc/collections/addresses/items"

func (s *server) ogcLanding(w http.ResponseWriter, r *http.Request, on route) {
	s.plain(w, r, on, map[string]any{
		"title": "gazehound" + prefixed(" ", s.Region), "description": "Addresses that web pages state. " + s.terms(), "attribution": s.Attribution,
		"links": []ogcLink{
			{"self", "/ogc/", anyJSON, "this document"},
			{"service-desc", "/openapi.json", "application/vnd.oai.openapi+json;version=3.0", "the API"},
			{"conformance", "/ogc/conformance", anyJSON, "conformance classes"},
			{"data", "/ogc/collections", anyJSON, "collections"},
			{"license", "/licences", "text/plain", orUnknown(s.Licence)},
		},
	})
}

func (s *server) ogcConformance(w http.ResponseWriter, r *http.Request, on route) {
	const class = "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/"
	s.plain(w, r, on, map[string]any{"conformsTo": []string{class + "core", class + "oas30", class + "geojson"}})
}

func (s *server) ogcCollections(w http.ResponseWriter, r *http.Request, on route) {
	s.plain(w, r, on, map[string]any{
		"links":       []ogcLink{{"self", "/ogc/collections", anyJSON, "this document"}},
		"collections": []any{s.ogcAddresses()},
	})
}

func (s *server) ogcCollection(w http.ResponseWriter, r *http.Request, on route) {
	s.plain(w, r, on, s.ogcAddresses())
}

func (s *server) ogcAddresses() map[string]any {
	const crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
	box := []float64{-180, -90, 180, 90}
	if len(s.Outline) > 0 {
		b := s.Outline.Bound()
		box = []float64{b.Min[0], b.Min[1], b.Max[0], b.Max[1]}
	}
	return map[string]any{
		"id": "addresses", "title": "Addresses" + prefixed(" in ", s.Region), "description": "Addresses that web pages state, with the pages. " + s.terms(),
		"itemType": "feature", "crs": []string{crs84},
		"extent": map[string]any{
			"spatial":  map[string]any{"bbox": [][]float64{box}, "crs": crs84},
			"temporal": map[string]any{"interval": [][]any{{nil, nil}}},
		},
		"links": []ogcLink{
			{"self", "/ogc/collections/addresses", anyJSON, "this document"},
			{"items", ogcItems, geoJSON, "addresses"},
			{"items", ogcItems + "?format=csv", "text/csv", "addresses as a table"},
			{"license", "/licences", "text/plain", orUnknown(s.Licence)},
		},
	}
}
