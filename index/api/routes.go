package api

import (
	"fmt"
	"net/http"
	"strings"

	"gazehound/index"
	"gazehound/index/web"
)

// An endpoint is one row of the table of everything that can be asked.
type endpoint struct {
	path    string // of http.ServeMux, without method
	on      route
	about   string // one line
	media   string // of the answer
	example string // a path with a query that works on every index
	handle  func(*server, http.ResponseWriter, *http.Request, route)
}

const (
	geoJSON = "application/geo+json"
	anyJSON = "application/json"
)

// endpoints lists all but the style sheet, in the order of the documents.
func endpoints() []endpoint {
	all := []endpoint{
		{"/v1/search", onSearch, "addresses that fit words, area and filters", geoJSON, "/v1/search?q=b%C3%A4ckerei&limit=5&facets=street", (*server).search},
		{"/v1/clusters", onClusters, "how many addresses are in the cells of a grid, for a map", geoJSON, "/v1/clusters?bbox=-180,-85,180,85&zoom=3", (*server).clusters},
		{"/v1/facets", onFacets, "how many addresses have which street, postcode, site …", anyJSON, "/v1/facets?facets=street,postcode", (*server).facets},
		{"/v1/suggest", onSuggest, "streets, names, postcodes, cities and sites that begin so", anyJSON, "/v1/suggest?q=lan", (*server).suggest},
		{"/v1/addresses/{id}", onAddress, "one address", geoJSON, "", (*server).address},
		{"/v1/addresses/{id}/evidence", onAddress, "the pages that state an address, and where in their text", anyJSON, "", (*server).evidence},
		{"/feed.atom", onFeed, "addresses as a feed, newest first", "application/atom+xml", "/feed.atom?since=7d", (*server).feed},
		{"/api", onPhoton, "search in Photon's form", anyJSON, "/api?q=b%C3%A4ckerei&lat=53.14&lon=8.21&zoom=13", (*server).photon},
		{"/api/{$}", onPhoton, "", anyJSON, "", (*server).photon}, // Leaflet's geocoder asks so
		{"/reverse", onReverse, "the nearest addresses in Photon's form", anyJSON, "/reverse?lat=53.14&lon=8.21", (*server).photon},
		{"/reverse/{$}", onReverse, "", anyJSON, "", (*server).photon},
		{"/structured", onStructured, "an address by its parts, in Photon's form", anyJSON, "/structured?street=Lange+Stra%C3%9Fe&housenumber=5", (*server).photon},
		{"/structured/{$}", onStructured, "", anyJSON, "", (*server).photon},
		{"/status", onStatus, "state of the data", anyJSON, "/status", (*server).status},
		{"/healthz", onPlain, "whether the server works; 503 with reasons", anyJSON, "/healthz", (*server).healthz},
		{"/readyz", onPlain, "whether there is something to serve; 503 with reasons", anyJSON, "", (*server).readyz},
		{"/ogc/{$}", onPlain, "OGC API Features: landing page", anyJSON, "/ogc/", (*server).ogcLanding},
		{"/ogc", onPlain, "", anyJSON, "", (*server).ogcLanding},
		{"/ogc/conformance", onPlain, "OGC API Features: conformance classes", anyJSON, "/ogc/conformance", (*server).ogcConformance},
		{"/ogc/collections", onPlain, "OGC API Features: the collections", anyJSON, "/ogc/collections", (*server).ogcCollections},
		{"/ogc/collections/addresses", onPlain, "OGC API Features: the collection of addresses", anyJSON, "/ogc/collections/addresses", (*server).ogcCollection},
		{"/ogc/collections/addresses/items", onItems, "OGC API Features: addresses", geoJSON, "/ogc/collections/addresses/items?limit=5", (*server).search},
		{"/ogc/collections/addresses/items/{id}", onPlain, "OGC API Features: one address", geoJSON, "", (*server).address},
		{basemapPath + "{level}/{x}/{y}", onPlain, "", anyJSON, "", (*server).basemap},
		{"/licences", onPlain, "under which terms the data may be used", "text/plain; charset=utf-8", "/licences", (*server).licences},
		{"/openapi.json", onPlain, "this description", "application/vnd.oai.openapi+json;version=3.0", "/openapi.json", (*server).openAPI},
		{"/opensearch.xml", onPlain, "for the search field of browsers", "application/opensearchdescription+xml", "/opensearch.xml", (*server).openSearch},
		{"/bot", onBot, "who crawls and why, and removal requests", "text/html; charset=utf-8", "/bot?lang=en", (*server).bot},
		{removalPath, onBot, "", "text/html; charset=utf-8", "", (*server).bot},
		{"/robots.txt", onPlain, "", "text/plain; charset=utf-8", "", (*server).robots},
		{web.AddressPath + "{id}", onOne, "one address, for people", "text/html; charset=utf-8", "", (*server).addressPage},
		{"/{$}", onPage, "the search page", "text/html; charset=utf-8", "/?lang=en", (*server).page},
	}
	for _, name := range formats {
		e := endpoint{"/v1/search." + name, onSearch, "", mediaOf(name), "", (*server).search}
		if name != "geojson" {
			e.about, e.example = fmt.Sprintf("the same as %s", name), "/v1/search."+name+"?limit=2"
		}
		all = append(all, e)
	}
	for _, name := range []string{"geojsonseq", "ndjson", "csv"} {
		all = append(all, endpoint{"/v1/export." + name, onExport, "all addresses that fit the filters, as " + name, mediaOf(name), "/v1/export." + name, (*server).export})
	}
	return all
}

// media types of the formats.
func mediaOf(format string) string {
	switch format {
	case "csv":
		return "text/csv; charset=utf-8; header=present"
	case "ndjson":
		return "application/x-ndjson"
	case "geojsonseq":
		return "application/geo+json-seq"
	case "kml":
		return "application/vnd.google-earth.kml+xml"
	case "gpx":
		return "application/gpx+xml"
	case "atom":
		return "application/atom+xml"
	}
	return geoJSON
}

// paths are what people may ask for.
func paths() []string {
	var all []string
	for _, e := range endpoints() {
		if e.about != "" {
			all = append(all, strings.TrimSuffix(e.path, "{$}"))
		}
	}
	return all
}

// openAPI describes the table in OpenAPI 3.0.
func (s *server) openAPI(w http.ResponseWriter, r *http.Request, on route) {
	if _, p := s.parse(r, on); p != nil {
		writeProblem(w, r, p)
		return
	}
	type object = map[string]any
	problem := object{"description": "what is wrong, and what was expected", "content": object{"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/Problem"}}}}
	all := object{}
	for _, e := range endpoints() {
		if e.about == "" {
			continue
		}
		parameterList := []object{}
		if strings.Contains(e.path, "{id}") {
			parameterList = append(parameterList, object{"name": "id", "in": "path", "required": true, "description": "ID of an address", "schema": object{"type": "string", "pattern": "^[0-9a-f]{16}$"}})
		}
		for _, p := range parameters {
			if p.on&e.on == 0 {
				continue
			}
			schema := object{"type": "string"}
			if p.kind != "" {
				schema["type"] = p.kind
			}
			if p.enum != nil && p.kind != "boolean" {
				schema["enum"] = p.enum
			}
			if p.name == "limit" {
				schema["minimum"], schema["maximum"] = 1, s.MaxLimit
			}
			about := p.wants(s, texts["en"])
			if p.many {
				schema = object{"type": "array", "items": schema, "maxItems": index.MaxValues}
				about += "; of several values one must fit"
			}
			o := object{"name": p.name, "in": "query", "description": about, "schema": schema}
			if p.example != "" {
				o["example"] = p.example
			}
			if p.many {
				o["explode"] = true // name=a&name=b
				o["example"] = []string{p.example}
			}
			if required(e.on, p.name) {
				o["required"] = true
			}
			parameterList = append(parameterList, o)
		}
		schema := object{"type": "string"}
		if strings.Contains(e.media, "json") && !strings.Contains(e.media, "seq") && !strings.Contains(e.media, "nd") {
			schema = object{"type": "object"}
		}
		if e.media == geoJSON && e.on&(onSearch|onItems) != 0 {
			schema["properties"] = object{"hint": object{"$ref": "#/components/schemas/Hint"}}
		}
		get := object{
			"summary": e.about, "operationId": operationID(e.path), "parameters": parameterList,
			"responses": object{"200": object{"description": e.about, "content": object{e.media: object{"schema": schema}}}, "400": problem, "429": problem, "503": problem},
		}
		if e.example != "" {
			get["x-example"] = e.example
		}
		all[strings.TrimSuffix(e.path, "{$}")] = object{"get": get}
	}
	text, count := object{"type": "string"}, object{"type": "integer", "minimum": 1}
	s.document(w, r, "application/vnd.oai.openapi+json;version=3.0", object{
		"openapi": "3.0.3",
		"info": object{"title": "gazehound" + prefixed(" ", s.Region), "version": s.Version, "description": "Addresses that web pages state. " + s.terms(),
			"license": object{"name": orUnknown(s.Licence)}},
		"servers": []object{{"url": "/"}},
		"paths":   all,
		"components": object{"schemas": object{"Problem": object{"type": "object", "description": "RFC 9457", "properties": object{
			"type": text, "title": text, "status": object{"type": "integer"}, "detail": text, "instance": text, "parameter": text, "given": text, "expected": text, "hint": text}},
			"Hint": object{"type": "object", "description": "the house that was asked for is not known, and its street is", "properties": object{
				"text": text, "street": text, "housenumber": text, "pages": count, "addresses": count, "href": text}}}},
	})
}

// required tells which parameters a route cannot do without.
func required(on route, name string) bool {
	switch on {
	case onPhoton, onSuggest:
		return name == "q"
	case onReverse:
		return name == "lat" || name == "lon"
	case onClusters:
		return name == "bbox" || name == "zoom"
	}
	return false
}

// operationID makes a name of a path: "v1-search".
func operationID(path string) string {
	words := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("/{}$.", r) })
	if len(words) == 0 {
		return "page"
	}
	return strings.Join(words, "-")
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func orUnknown(text string) string {
	if text == "" {
		return "not known"
	}
	return text
}
