package api

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"time"

	"gazehound/index/web"
)

// A handler answers a request, or returns its problem.
type handler func(*server, http.ResponseWriter, *http.Request, *params) *Problem

// asJSON answers with what f returns.
func asJSON(f func(*server, *http.Request, *params) (any, *Problem)) handler {
	return func(s *server, w http.ResponseWriter, r *http.Request, a *params) *Problem {
		v, p := f(s, r, a)
		if p != nil {
			return p
		}
		return s.writeJSON(w, r, v)
	}
}

// asText answers with the text that f returns.
func asText(f func(*server, *http.Request) string) handler {
	return func(s *server, w http.ResponseWriter, r *http.Request, _ *params) *Problem {
		writeBody(w, r, []byte(f(s, r)))
		return nil
	}
}

// forReaders answers browsers with the page that f returns, and programs with data.
func forReaders(f func(*server, *http.Request) (web.Note, *Problem), data handler) handler {
	return func(s *server, w http.ResponseWriter, r *http.Request, a *params) *Problem {
		if !isBrowser(r) {
			return data(s, w, r, a)
		}
		note, p := f(s, r)
		if p != nil {
			return p
		}
		note.Lang, note.Region = languageOf(r), s.Region
		var body bytes.Buffer
		if err := web.RenderNote(&body, note); err != nil {
			return s.broken("page", err)
		}
		w.Header().Set("Content-Type", anyHTML)
		writeBody(w, r, body.Bytes())
		return nil
	}
}

// An endpoint is one row of the table of everything that can be requested.
type endpoint struct {
	path    string // of http.ServeMux, without method
	on      route
	about   string // one line; "" keeps it out of /openapi.json
	media   string // of the answer
	example string // a path with a query that works on every index
	handle  handler
}

// Media types.
const (
	geoJSON      = "application/geo+json"
	anyJSON      = "application/json"
	anyHTML      = "text/html; charset=utf-8"
	anyText      = "text/plain; charset=utf-8"
	openAPIMedia = "application/vnd.oai.openapi+json;version=3.1"
	describe     = "application/opensearchdescription+xml"
)

const items = "/ogc/collections/addresses/items"

// endpoints lists all but the files of the page, in the order of the documents.
func endpoints() []endpoint {
	photon := asJSON((*server).photon)
	all := []endpoint{
		{"/v1/search", onSearch, "addresses that match words, area and filters", geoJSON,
			"/v1/search?q=b%C3%A4ckerei&limit=5&facets=street", (*server).search},
		{"/v1/clusters", onClusters, "number of addresses in each cell of a grid, for maps", geoJSON,
			"/v1/clusters?bbox=-180,-85,180,85&zoom=3", asJSON((*server).clusters)},
		{"/v1/facets", onFacets, "number of addresses by street, postcode, site …", anyJSON,
			"/v1/facets?facets=street,postcode", asJSON((*server).facets)},
		{"/v1/suggest", onSuggest, "streets, names, postcodes, cities and sites that begin so", anyJSON,
			"/v1/suggest?q=lan", asJSON((*server).suggest)},
		{"/v1/addresses/{id}", onAddress, "one address", geoJSON, "", asJSON((*server).address)},
		{"/v1/addresses/{id}/evidence", onAddress, "the pages that state an address, and where in their text", anyJSON,
			"", asJSON((*server).evidence)},
		{placesPath, onPlaces, "places of the map that match words, area and filters, those without pages too", geoJSON,
			placesPath + "?q=b%C3%A4ckerei&facets=kind,postcode", (*server).places},
		{differencesPath, onDifferences, "what pages and OpenStreetMap do not agree about, place by place", geoJSON,
			differencesPath + "?difference=missing&min_confidence=0.8", (*server).differences},
		{differencesPath + ".csv", onDifferencesFile, "all of them as a table", mediaOf("csv"),
			differencesPath + ".csv", (*server).differences},
		{differencesPath + ".maproulette", onDifferencesFile, "tasks of MapRoulette, with the tags to set",
			mediaOf("geojsonseq"), "", (*server).differences},
		{"/feed.atom", onFeed, "addresses as a feed, newest first", mediaOf("atom"),
			"/feed.atom?since=7d", (*server).feed},
		{"/api", onPhoton, "search in Photon's form", anyJSON,
			"/api?q=b%C3%A4ckerei&lat=53.14&lon=8.21&zoom=13", photon},
		{"/api/{$}", onPhoton, "", anyJSON, "", photon}, // Leaflet's geocoder uses it
		{"/reverse", onReverse, "the nearest addresses, houses and streets in Photon's form, with distances", anyJSON,
			"/reverse?lat=53.14&lon=8.21", photon},
		{"/reverse/{$}", onReverse, "", anyJSON, "", photon},
		{"/structured", onStructured, "an address by its parts, in Photon's form", anyJSON,
			"/structured?street=Lange+Stra%C3%9Fe&housenumber=5", photon},
		{"/structured/{$}", onStructured, "", anyJSON, "", photon},
		{"/status", onNote, "state of the data", anyJSON, "/status",
			forReaders((*server).statusPage, asJSON((*server).status))},
		{"/healthz", 0, "whether the server works; 503 with reasons", anyJSON, "/healthz", health("ok", "unhealthy")},
		{"/readyz", 0, "whether there is something to serve; 503 with reasons", anyJSON,
			"", health("ready", "not ready")},
		{"/ogc/{$}", onPlain, "OGC API Features: landing page", anyJSON, "/ogc/", asJSON((*server).ogcLanding)},
		{"/ogc", onPlain, "", anyJSON, "", asJSON((*server).ogcLanding)},
		{"/ogc/conformance", onPlain, "OGC API Features: conformance classes", anyJSON,
			"/ogc/conformance", asJSON(ogcConformance)},
		{"/ogc/collections", onPlain, "OGC API Features: the collections", anyJSON,
			"/ogc/collections", asJSON((*server).ogcCollections)},
		{"/ogc/collections/addresses", onPlain, "OGC API Features: the collection of addresses", anyJSON,
			"/ogc/collections/addresses", asJSON((*server).ogcCollection)},
		{items, onItems, "OGC API Features: addresses", geoJSON, items + "?limit=5", (*server).search},
		{items + "/{id}", onItem, "OGC API Features: one address", geoJSON, "", asJSON((*server).address)},
		{basemapPath + "{level}/{x}/{y}", onPlain, "", anyJSON, "", (*server).basemap},
		{"/licences", onNote, "terms under which the data may be used", anyText,
			"/licences", forReaders((*server).licencesPage, asText((*server).licences))},
		{"/openapi.json", onPlain, "this description", openAPIMedia, "/openapi.json", asJSON((*server).openAPI)},
		{"/opensearch.xml", onPlain, "for the search field of browsers", describe,
			"/opensearch.xml", asText((*server).openSearch)},
		{"/bot", onBot, "who crawls and why, and removal requests", anyHTML, "/bot?lang=en", (*server).bot},
		{removalPath, onBot, "", anyHTML, "", (*server).bot},
		{"/robots.txt", 0, "", anyText, "", asText((*server).robots)},
		{web.AddressPath + "{id}", onOne, "one address, for people", anyHTML, "", (*server).addressPage},
		{web.DifferencesPath, onWebAndMap, "the same differences, for people", anyHTML,
			web.DifferencesPath + "?lang=en", (*server).webAndMap},
		{"/{$}", onPage, "the search page", anyHTML, "/?lang=en", (*server).page},
	}
	for _, name := range formats {
		e := endpoint{"/v1/search." + name, onSearch, "", mediaOf(name), "", (*server).search}
		if name != "geojson" {
			e.about, e.example = "the same as "+name, "/v1/search."+name+"?limit=2"
		}
		all = append(all, e)
	}
	for _, name := range []string{"geojsonseq", "ndjson", "csv"} {
		about, path := "all addresses that match the filters, as "+name, "/v1/export."+name
		all = append(all, endpoint{path, onExport, about, mediaOf(name), path, (*server).export})
	}
	return all
}

// mediaOf returns the media type of a format.
func mediaOf(format string) string {
	return map[string]string{
		"geojson": geoJSON, "csv": "text/csv; charset=utf-8; header=present", "ndjson": "application/x-ndjson",
		"geojsonseq": "application/geo+json-seq", "kml": "application/vnd.google-earth.kml+xml",
		"gpx": "application/gpx+xml", "atom": "application/atom+xml",
	}[format]
}

// serve answers a request at e.
func (s *server) serve(e endpoint, w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if e.on&(onSearch|onItems|onPlaces|onPage|onNote|onWebAndMap) != 0 {
		h.Add("Vary", "Accept")
	}
	if e.on&forPeople != 0 {
		h.Add("Vary", "Accept-Language")
	}
	if e.on&(onNote|onBot) != 0 {
		h.Set("Cache-Control", "no-store")
	}
	var a params
	var p *Problem
	if e.on != 0 {
		a, p = s.parse(r, e.on)
	}
	if p == nil && e.on&^(onPlain|onBot|onNote) != 0 && s.notModified(w, r, &a) {
		return
	}
	if p == nil {
		h.Set("Content-Type", e.media)
		if e.media == anyJSON {
			h.Set("Content-Type", anyJSON+"; charset=utf-8")
		}
		p = e.handle(s, w, r, &a)
	}
	switch {
	case p == nil:
	case e.on == onOne && p.Status == http.StatusNotFound:
		s.lost(w, r, web.LostAddress)
	case e.on == onPage && !isProgram(r), e.on&forPeople != 0 && isBrowser(r):
		s.problemPage(w, r, p)
	default:
		p.Write(w, r)
	}
}

// isProgram reports whether a client accepts JSON and not HTML.
func isProgram(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "json") && !isBrowser(r)
}

// isBrowser reports whether a client accepts HTML.
func isBrowser(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// freshness is how long an answer stays the same where nothing was crawled.
const freshness = 5 * time.Minute

// notModified sets the ETag, a hash of the data's generation, the program's version and the
// request, and answers 304 to a client that has this answer already.
func (s *server) notModified(w http.ResponseWriter, r *http.Request, a *params) bool {
	state, err := s.index.State()
	if err != nil {
		return false
	}
	sum := fnv.New64a()
	for _, part := range []string{
		s.Version, s.Licence, s.Attribution, s.Region, r.Host, r.URL.RequestURI(), web.Version(),
		r.Header.Get("Accept"), r.Header.Get("Accept-Language"), a.Since.Format(time.RFC3339),
		a.Now.Truncate(freshness).String(), // what is open changes
	} {
		fmt.Fprintf(sum, "%q", part)
	}
	tag := fmt.Sprintf(`W/"%s-%x"`, state.Generation, sum.Sum64())
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "public, max-age=30")
	for given := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		given = strings.TrimSpace(given)
		if given == "*" || strings.TrimPrefix(given, "W/") == strings.TrimPrefix(tag, "W/") {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// paths returns the documented paths.
func paths() []string {
	var all []string
	for _, e := range endpoints() {
		if e.about != "" {
			all = append(all, strings.TrimSuffix(e.path, "{$}"))
		}
	}
	return all
}

// notFound answers requests without an endpoint: with a page for people, a problem for programs.
func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept, Accept-Language")
	data := strings.HasPrefix(r.URL.Path, "/v1/") || strings.HasPrefix(r.URL.Path, "/ogc/")
	if isBrowser(r) && !data {
		s.lost(w, r, web.LostPage)
		return
	}
	p := &Problem{Title: "there is nothing here", Status: http.StatusNotFound,
		Detail: fmt.Sprintf("%s does not exist.", clip(r.URL.Path)), Expected: strings.Join(paths(), ", "),
		Hint: didYouMean(english(), r.URL.Path, paths())}
	p.Write(w, r)
}
