package api

import (
	"cmp"
	"net/http"

	"github.com/paulmach/orb"
)

// OGC API - Features - Part 1: Core (OGC 17-069r4), with its conformance
// classes core and geojson. The items are answered by search.

func (s *server) ogcLanding(*http.Request, *params) (any, *Problem) {
	return map[string]any{
		"title": "gazehound" + prefixed(" ", s.Region), "attribution": s.Attribution,
		"description": "Addresses that web pages state. " + s.terms(),
		"links": []link{
			{"self", "/ogc/", anyJSON, "this document"},
			{"service-desc", "/openapi.json", openAPIMedia, "the API"},
			{"conformance", "/ogc/conformance", anyJSON, "conformance classes"},
			{"data", "/ogc/collections", anyJSON, "collections"},
			s.licenceLink(),
		},
	}, nil
}

func (s *server) licenceLink() link {
	return link{"license", "/licences", "text/plain", cmp.Or(s.Licence, "not known")}
}

func ogcConformance(*server, *http.Request, *params) (any, *Problem) {
	const class = "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/"
	return map[string]any{"conformsTo": []string{class + "core", class + "geojson"}}, nil
}

func (s *server) ogcCollections(r *http.Request, a *params) (any, *Problem) {
	addresses, _ := s.ogcCollection(r, a)
	return map[string]any{
		"links":       []link{{"self", "/ogc/collections", anyJSON, "this document"}},
		"collections": []any{addresses},
	}, nil
}

func (s *server) ogcCollection(*http.Request, *params) (any, *Problem) {
	const crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
	area := orb.Bound{Min: orb.Point{-180, -90}, Max: orb.Point{180, 90}}
	if len(s.Outline) > 0 {
		area = s.Outline.Bound()
	}
	return map[string]any{
		"id": "addresses", "title": "Addresses" + prefixed(" in ", s.Region),
		"description": "Addresses that web pages state, with the pages. " + s.terms(),
		"itemType":    "feature", "crs": []string{crs84},
		"extent": map[string]any{
			"spatial":  map[string]any{"bbox": [][]float64{boxOf(area)}, "crs": crs84},
			"temporal": map[string]any{"interval": [][]any{{nil, nil}}},
		},
		"links": []link{
			{"self", "/ogc/collections/addresses", anyJSON, "this document"},
			{"items", items, geoJSON, "addresses"},
			{"items", items + "?format=csv", "text/csv", "addresses as a table"},
			s.licenceLink(),
		},
	}, nil
}
