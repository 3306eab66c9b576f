package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/differences"
	"gazehound/index/export"
	"gazehound/index/web"

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
	Box         []float64 `json:"bbox,omitempty"`

	Matched   *int        `json:"numberMatched,omitempty"`
	Approx    bool        `json:"approx,omitempty"` // Matched is an estimate
	Returned  int         `json:"numberReturned"`
	Relaxed   bool        `json:"relaxed,omitempty"` // no address has all the words as they are written
	TimeStamp *time.Time  `json:"timeStamp,omitempty"`
	Absent    []string    `json:"kinds_absent,omitempty"` // kinds that are asked for and of which there is no place
	Near      string      `json:"near,omitempty"`         // the address that the words took for their centre
	Hint      *streetHint `json:"hint,omitempty"`

	Features []export.Feature `json:"features"`
	// Points of interest of the map that no page states, and how many of Features come before them.
	OnMap      []export.Feature `json:"onmap,omitempty"`
	OnMapAfter *int             `json:"onmap_after,omitempty"`

	Facets map[string][]index.Value `json:"facets,omitempty"`
	Links  []link                   `json:"links,omitempty"`
}

// A link leads to a related answer.
type link struct {
	Rel   string `json:"rel"`
	Href  string `json:"href"`
	Type  string `json:"type"`
	Title string `json:"title,omitempty"`
}

// A streetHint is the answer for a house that no page states, in a known street.
type streetHint struct {
	Text        string `json:"text"` // a sentence
	Street      string `json:"street"`
	HouseNumber string `json:"housenumber"`
	Pages       int    `json:"pages"`     // that state an address in the street
	Addresses   int    `json:"addresses"` // in the street
	Href        string `json:"href"`      // the search for them
}

// properties are those of an address in an answer.
type properties struct {
	export.Properties
	Distance *float64     `json:"distance_m,omitempty"`
	Score    float64      `json:"score"`
	Parts    []index.Part `json:"score_parts,omitempty"`
}

// search answers /v1/search and its formats, and the items of OGC API.
func (s *server) search(w http.ResponseWriter, r *http.Request, a *params) *Problem {
	p := a.chooseFormat(r)
	if p != nil {
		return p
	}
	result, p := s.answer(r.Context(), a)
	if p != nil {
		return p
	}
	if result.Next != "" {
		w.Header().Set("Link", fmt.Sprintf("<%s>; rel=%q", nextOf(r, a, result.Next), "next"))
	}
	if a.format.Name != "geojson" {
		return s.writeHits(w, r, a.format.Name, result.Hits)
	}
	w.Header().Set("Content-Type", geoJSON)
	return s.writeJSON(w, r, s.collection(r, a, result))
}

// chooseFormat sets the format that a request names in its path, its query or its
// Accept header, in this order.
func (a *params) chooseFormat(r *http.Request) *Problem {
	if name, ok := strings.CutPrefix(r.URL.Path, "/v1/search."); ok {
		if given := a.format.Name; given != "" && given != name {
			return &Problem{Title: "format is given twice", Parameter: "format", Given: given, Expected: name,
				Detail: fmt.Sprintf("The path asks for %s and format for %s.", name, given)}
		}
		a.format, _ = export.Lookup(name)
	}
	if a.format.Name == "" {
		a.format, _ = export.Lookup(accepted(r.Header.Get("Accept")))
	}
	if a.format.Name != "geojson" && len(a.fields) > 0 {
		return &Problem{Title: "fields goes with geojson", Parameter: "fields", Given: a.given.Get("fields"),
			Expected: "no fields",
			Detail:   fmt.Sprintf("fields goes with format=geojson; %s always has all.", a.format.Name)}
	}
	return nil
}

// accepted returns the format that an Accept header prefers.
func accepted(accept string) string {
	best, most := "geojson", 0.0
	for media := range strings.SplitSeq(clip(accept), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(media), ";")
		q := 1.0
		if _, text, ok := strings.Cut(quality, "q="); ok {
			q, _ = decimal(strings.TrimSpace(text))
		}
		for _, format := range formats {
			offered, _, _ := strings.Cut(mediaOf(format), ";")
			general := format == "geojson" && slices.Contains([]string{"application/json", "*/*", "text/html"}, name)
			if q > most && (name == offered || general) {
				best, most = format, q
			}
		}
	}
	return best
}

// nextOf returns the address of the page after this one, which begins at a cursor. A time that
// counted back from now stays what it was.
func nextOf(r *http.Request, a *params, cursor string) string {
	next := url.Values{}
	for name, values := range r.URL.Query() {
		values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
		if len(values) > 0 {
			next[name] = values
		}
	}
	if a.relative {
		next.Set("since", a.Since.Format(time.RFC3339))
	}
	next.Set("cursor", cursor)
	return r.URL.Path + "?" + next.Encode()
}

// frame returns a collection without features.
func (s *server) frame(a *params, result *index.Result) *collection {
	return &collection{Type: "FeatureCollection", Version: "0.1.0",
		Licence: s.Licence, Attribution: s.Attribution, Query: a.Text, Warning: a.warning,
		Returned: len(result.Hits), Relaxed: result.Relaxed, Features: []export.Feature{}}
}

func (s *server) collection(r *http.Request, a *params, result *index.Result) *collection {
	now := time.Now().UTC().Truncate(time.Second)
	c := s.frame(a, result)
	c.Matched, c.TimeStamp = &result.Total, &now
	c.Facets, c.Near, c.Absent = facetsOf(result.Facets), result.Near, result.Absent
	if o := s.streetOnly(r.Context(), a, result); o != nil {
		v := url.Values{"street": {o.Street}}
		if o.Text != "" {
			v.Set("q", o.Text)
		}
		c.Hint = &streetHint{o.String(), o.Street, o.HouseNumber, o.Pages, o.Addresses, "/v1/search?" + v.Encode()}
	}
	beside := s.beside(r.Context(), a, result.Hits)
	for i := range beside.Others {
		place := &beside.Others[i]
		h := differences.HitOf(place)
		c.OnMapAfter = &beside.After
		c.OnMap = append(c.OnMap, export.Feature{Type: "Feature", ID: place.ID, Geometry: export.GeometryOf(h),
			Properties: export.PropertiesOf(h)})
	}
	var points orb.MultiPoint
	for i := range result.Hits {
		h := &result.Hits[i]
		p := properties{Properties: export.PropertiesOf(h), Score: export.Round(h.Score, 4), Parts: h.Parts}
		if h.Distance >= 0 {
			d := math.Round(h.Distance)
			p.Distance = &d
		}
		f := export.Feature{Type: "Feature", ID: h.ID, Geometry: export.GeometryOf(h), Properties: p}
		if a.fields != nil {
			f.Properties = only(p, a.fields)
		}
		c.Features = append(c.Features, f)
		if h.HasPoint {
			points = append(points, h.Point)
		}
	}
	if len(points) > 0 {
		c.Box = boxOf(points.Bound())
	}
	c.Links = []link{{Rel: "self", Href: r.URL.RequestURI(), Type: geoJSON}}
	if result.Next != "" {
		c.Links = append(c.Links, link{Rel: "next", Href: nextOf(r, a, result.Next), Type: geoJSON})
	}
	return c
}

// boxOf writes a box as RFC 7946 wants it, in degrees with 6 decimals.
func boxOf(b orb.Bound) (box []float64) {
	for _, v := range []float64{b.Min[0], b.Min[1], b.Max[0], b.Max[1]} {
		box = append(box, export.Round(v, 6))
	}
	return box
}

// propertyNames returns the names of all properties of an address in an answer.
var propertyNames = sync.OnceValue(func() (names []string) {
	for _, t := range []reflect.Type{reflect.TypeFor[export.Properties](), reflect.TypeFor[properties]()} {
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
})

// only returns the properties with these names.
func only(p properties, fields []string) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	if text, err := json.Marshal(p); err == nil { // it consists of texts and numbers
		json.Unmarshal(text, &all)
	}
	for name := range all {
		if !slices.Contains(fields, name) {
			delete(all, name)
		}
	}
	return all
}

// feed answers /feed.atom.
func (s *server) feed(w http.ResponseWriter, r *http.Request, a *params) *Problem {
	result, p := s.answer(r.Context(), a)
	if p != nil {
		return p
	}
	return s.writeHits(w, r, "atom", result.Hits)
}

// writeHits writes hits in one of the formats of package export.
func (s *server) writeHits(w http.ResponseWriter, r *http.Request, format string, hits []index.Hit) *Problem {
	f, _ := export.Lookup(format)
	var body bytes.Buffer
	_, err := export.WriteHits(&body, hits, f, s.exportOptions(r))
	if err != nil {
		return s.broken("write "+format, err)
	}
	s.fileHeader(w, format)
	writeBody(w, r, body.Bytes())
	return nil
}

// fileHeader describes an answer that is a file, and under which terms it is, which its
// format cannot always say.
func (s *server) fileHeader(w http.ResponseWriter, format string) {
	h := w.Header()
	h.Set("Content-Type", mediaOf(format))
	if format != "atom" {
		h.Set("Content-Disposition", `attachment; filename="addresses.`+format+`"`)
	}
	h.Add("Link", `</licences>; rel="license"`)
}

func (s *server) exportOptions(r *http.Request) export.Options {
	return export.Options{Region: s.Region, Outline: s.Outline, Licence: s.Licence, Attribution: s.Attribution,
		Evidence: true, Link: origin(r) + r.URL.RequestURI()}
}

// origin returns scheme and host of a request.
func origin(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// export streams every address that matches.
func (s *server) export(w http.ResponseWriter, r *http.Request, a *params) *Problem {
	if a.Center != nil && a.Radius == 0 {
		return &Problem{Title: "radius is missing", Parameter: "radius",
			Detail: "radius is missing; with lat and lon it says how far from them."}
	}
	select {
	case s.exporting <- struct{}{}:
		defer func() { <-s.exporting }()
	default:
		return &Problem{Title: "the server is busy", Status: http.StatusServiceUnavailable,
			Detail: "Other exports are running.", Hint: "Try again in a minute.", Retry: true}
	}
	f, _ := export.Lookup(strings.TrimPrefix(r.URL.Path, "/v1/export."))
	s.fileHeader(w, f.Name)
	if r.Method == http.MethodHead {
		return nil
	}
	o := s.exportOptions(r)
	o.Filters = a.Filters
	_, err := export.Write(r.Context(), &patient{w, http.NewResponseController(w)}, s.index, f, o)
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			s.Log.Warn("api: export ended early", "error", err)
		}
		panic(http.ErrAbortHandler) // the client must notice that the answer is incomplete
	}
	return nil
}

// A patient writer sets the write deadline for each piece of a stream, not for all of it.
type patient struct {
	io.Writer
	control *http.ResponseController
}

const patience = 30 * time.Second

func (p *patient) Write(b []byte) (int, error) {
	err := p.control.SetWriteDeadline(time.Now().Add(patience))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return p.Writer.Write(b)
}

// clusters answers /v1/clusters.
func (s *server) clusters(r *http.Request, a *params) (any, *Problem) {
	type properties struct {
		Count int       `json:"count"`
		Box   []float64 `json:"bbox"`
		ID    string    `json:"id,omitempty"` // of the address, where it is only one
	}
	features, matched, zoom := []export.Feature{}, 0, 0
	p := s.limited(r.Context(), a.t, func(ctx context.Context) error {
		clusters, used, err := s.index.Clusters(ctx, a.Query, valueOr[int](a, "zoom"))
		zoom = used
		for _, c := range clusters {
			matched += c.Count
			features = append(features, export.Feature{Type: "Feature", Geometry: export.PointAt(c.Point),
				Properties: properties{c.Count, boxOf(c.Box), c.ID}})
		}
		return err
	})
	return map[string]any{"type": "FeatureCollection", "licence": s.Licence, "attribution": s.Attribution,
		"zoom":          zoom, // less than requested where there are too many cells
		"numberMatched": matched, "numberReturned": len(features), "features": features}, p
}

func facetsOf(counts []index.Count) map[string][]index.Value {
	all := map[string][]index.Value{}
	for _, c := range counts {
		all[string(c.Facet)] = c.Values
	}
	return all
}

// facets answers /v1/facets.
func (s *server) facets(r *http.Request, a *params) (any, *Problem) {
	result, p := s.answer(r.Context(), a)
	if p != nil {
		return nil, p
	}
	return map[string]any{"numberMatched": result.Total, "relaxed": result.Relaxed, "facets": facetsOf(result.Facets),
		"licence": s.Licence, "attribution": s.Attribution}, nil
}

// suggest answers /v1/suggest.
func (s *server) suggest(r *http.Request, a *params) (any, *Problem) {
	all := []index.Suggestion{}
	p := s.limited(r.Context(), a.t, func(context.Context) (err error) {
		all, err = s.index.Suggest(a.Text, a.Limit)
		all = s.suggestPOIs(all, a)
		return err
	})
	return map[string]any{"query": a.Text, "suggestions": all}, p
}

// suggestPOIs adds the names of points of interest that begin so.
func (s *server) suggestPOIs(all []index.Suggestion, a *params) []index.Suggestion {
	words := strings.Fields(a.Text)
	if s.Gazetteer == nil || len(words) == 0 {
		return all
	}
	for _, p := range s.Gazetteer.POIs(gazetteer.POIQuery{Words: words, Fits: s.finder().Serves, Limit: a.Limit}) {
		known := slices.ContainsFunc(all, func(o index.Suggestion) bool { return o.Text == p.Names[0] })
		if !known && len(all) < a.Limit {
			all = append(all, index.Suggestion{Text: p.Names[0], Kind: "name", Count: 1})
		}
	}
	return all
}

// found returns the address that the path names.
func (s *server) found(r *http.Request, a *params) (h *index.Hit, p *Problem) {
	p = s.limited(r.Context(), a.t, func(context.Context) (err error) {
		h, err = s.index.Address(r.PathValue("id"))
		return err
	})
	if p == nil && h == nil {
		p = &Problem{Title: "there is no such address", Status: http.StatusNotFound,
			Detail:   fmt.Sprintf("No address has the ID %q.", clip(r.PathValue("id"))),
			Expected: "an id of /v1/search: 16 hexadecimal digits", Hint: "The pages that stated it may have gone."}
	}
	return h, p
}

// address answers for one address.
func (s *server) address(r *http.Request, a *params) (any, *Problem) {
	h, p := s.found(r, a)
	if p != nil {
		return nil, p
	}
	return struct {
		export.Feature
		Licence     string `json:"licence"`
		Attribution string `json:"attribution"`
		Links       []link `json:"links"`
	}{
		export.Feature{Type: "Feature", ID: h.ID, Geometry: export.GeometryOf(h), Properties: export.PropertiesOf(h)},
		s.Licence, s.Attribution,
		[]link{
			{Rel: "self", Href: clip(r.URL.Path), Type: geoJSON},
			{Rel: "collection", Href: "/ogc/collections/addresses", Type: anyJSON},
			{Rel: "evidence", Href: "/v1/addresses/" + h.ID + "/evidence", Type: anyJSON},
			{Rel: "alternate", Href: web.AddressPath + h.ID, Type: "text/html"},
		},
	}, nil
}

// evidence answers with the pages that state an address.
func (s *server) evidence(r *http.Request, a *params) (any, *Problem) {
	h, p := s.found(r, a)
	if p != nil {
		return nil, p
	}
	answer := h.Proof()
	answer["licence"], answer["attribution"] = s.Licence, s.Attribution
	return answer, nil
}

// status answers /status, a superset of Photon's and Nominatim's.
func (s *server) status(r *http.Request, _ *params) (any, *Problem) {
	stats, state, p := s.counts(r)
	if p != nil {
		return nil, p
	}
	answer := map[string]any{"status": "ok", "version": s.Version, "crawl": s.crawl(),
		"addresses": stats.Addresses, "pages": stats.Pages}
	optional := map[string]string{"git_commit": s.Commit, "region": s.Region, "import_date": s.GazetteerDate}
	for name, text := range optional {
		if text != "" {
			answer[name] = text
		}
	}
	if !state.Updated.IsZero() {
		answer["data_updated"] = state.Updated
	}
	return answer, nil
}

// statusPage is the same for people.
func (s *server) statusPage(r *http.Request) (web.Note, *Problem) {
	stats, state, p := s.counts(r)
	if p != nil {
		return web.Note{}, p
	}
	n := web.Note{Path: "/status", Title: "state"}
	n.Add("state_addresses", stats.Addresses)
	n.Add("state_pages", stats.Pages)
	n.Add("state_updated", state.Updated)
	n.Add("state_map", s.GazetteerDate)
	n.Add("state_crawl", web.Key("crawl_"+s.crawl()))
	n.Add("state_version", s.Version)
	return n, nil
}

// crawl says whether a crawl adds to the index.
func (s *server) crawl() string {
	if s.Crawl == nil {
		return "stopped"
	}
	return s.Crawl()
}

// counts returns how much the index has, and its state.
func (s *server) counts(r *http.Request) (index.Stats, index.State, *Problem) {
	ctx, cancel := context.WithTimeout(r.Context(), s.QueryTimeout)
	defer cancel()
	state, err := s.index.State()
	stats, err2 := s.index.Stats(ctx)
	if err := errors.Join(err, err2); err != nil {
		s.Log.Error("api: status", "error", err)
		return stats, state, &Problem{Title: "the index cannot be read", Status: http.StatusServiceUnavailable, Retry: true}
	}
	return stats, state, nil
}

// health returns a handler that answers 200 with a word, or 503 with another one and the problems.
func health(well, ill string) handler {
	return func(s *server, w http.ResponseWriter, r *http.Request, _ *params) *Problem {
		ctx, cancel := context.WithTimeout(r.Context(), s.QueryTimeout)
		defer cancel()
		checks, word := map[string]string{}, well
		note := func(name string, err error) {
			checks[name] = "ok"
			if err != nil {
				checks[name], word = clip(err.Error()), ill
			}
		}
		_, err := s.index.Search(ctx, index.Query{Filters: index.Filters{Postcode: []string{"0"}}, Limit: 1})
		note("index", err)
		for name, check := range s.Checks {
			note(name, check(ctx))
		}
		if well == "ready" && err == nil && s.Ready != nil {
			note("data", s.Ready())
		}
		w.Header().Set("Cache-Control", "no-store")
		if word == ill {
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return s.writeJSON(w, r, map[string]any{"status": word, "checks": checks})
	}
}

// links answers / for programs.
func (s *server) links() any {
	type link struct {
		Href  string `json:"href"`
		Title string `json:"title"`
	}
	var all []link
	for _, e := range endpoints() {
		if e.about != "" {
			all = append(all, link{strings.TrimSuffix(e.path, "{$}"), e.about})
		}
	}
	return map[string]any{"name": "gazehound", "region": s.Region, "links": all,
		"licence": s.Licence, "attribution": s.Attribution}
}

// terms returns the licence terms in one line.
func (s *server) terms() string {
	return export.Options{Licence: s.Licence, Attribution: s.Attribution}.Notice()
}

func (s *server) licences(*http.Request) string {
	text := s.terms()
	if text == "" {
		text = "Nothing is known of the terms of the data."
	}
	return text + "\nTexts of pages are those of their authors.\n"
}

// licencesPage is the same for people.
func (s *server) licencesPage(*http.Request) (web.Note, *Problem) {
	n := web.Note{Path: "/licences", Title: "licences"}
	n.Add("licence_data", s.Attribution)
	n.Add("licence_terms", s.Licence)
	n.Add("licence_texts", web.Key("foot"))
	return n, nil
}

func (s *server) robots(*http.Request) string {
	const closed = "/v1/ /api /reverse /structured /ogc/ /*?"
	return "User-agent: *\nDisallow: " + strings.ReplaceAll(closed, " ", "\nDisallow: ") + "\n"
}

func (s *server) openSearch(r *http.Request) string {
	base := xmlText(origin(r))
	return `<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>gazehound</ShortName>` +
		`<Description>` + xmlText("Addresses"+prefixed(" in ", s.Region)) + `</Description>` +
		`<Url type="text/html" template="` + base + `/?q={searchTerms}"/>` +
		`<Url type="application/atom+xml" template="` + base + `/feed.atom?q={searchTerms}"/></OpenSearchDescription>
`
}

func xmlText(s string) string { return html.EscapeString(clip(s)) }

// writeJSON writes v.
func (s *server) writeJSON(w http.ResponseWriter, r *http.Request, v any) *Problem {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err != nil {
		return s.broken("encode", err)
	}
	writeBody(w, r, body.Bytes())
	return nil
}

// writeBody writes a body unless the method is HEAD.
func writeBody(w http.ResponseWriter, r *http.Request, body []byte) {
	if r.Method != http.MethodHead {
		w.Write(body) // the client may have gone
	}
}
