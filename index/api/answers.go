package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"gazehound/index"
	"gazehound/index/export"
	"gazehound/index/web"
)

// search answers /v1/search and its formats, and the items of OGC API.
func (s *server) search(w http.ResponseWriter, r *http.Request, on route) {
	a, p := s.parse(r, on)
	if p == nil {
		a.format, p = s.formatOf(r, a)
	}
	if p != nil {
		writeProblem(w, r, p)
		return
	}
	w.Header().Add("Vary", "Accept")
	if s.notModified(w, r, a) {
		return
	}
	result, p := s.answer(r.Context(), a)
	if p != nil {
		writeProblem(w, r, p)
		return
	}
	if result.Next != "" {
		w.Header().Set("Link", fmt.Sprintf("<%s>; rel=%q", s.nextOf(r, a, result), "next"))
	}
	if a.format.Name == "geojson" {
		s.writeGeoJSON(w, r, s.collection(r, a, result))
		return
	}
	s.writeHits(w, r, a.format, result.Hits)
}

// writeHits writes hits in one of the formats of export.
func (s *server) writeHits(w http.ResponseWriter, r *http.Request, f export.Format, hits []index.Hit) {
	var body bytes.Buffer
	if _, err := export.WriteHits(&body, hits, f, s.exportOptions(r)); err != nil {
		s.Log.Error("api: write", "format", f.Name, "error", err)
		writeProblem(w, r, &Problem{Title: "the server could not answer", Status: http.StatusInternalServerError})
		return
	}
	w.Header().Set("Content-Type", mediaOf(f.Name))
	if f.Name != "atom" {
		w.Header().Set("Content-Disposition", `attachment; filename="addresses.`+f.Name+`"`)
	}
	s.licenceLink(w)
	if r.Method != http.MethodHead {
		w.Write(body.Bytes()) // a reader who has gone does not miss it
	}
}

func (s *server) exportOptions(r *http.Request) export.Options {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return export.Options{Region: s.Region, Outline: s.Outline, Licence: s.Licence, Attribution: s.Attribution, Evidence: true, Link: scheme + r.Host + r.URL.RequestURI()}
}

// licenceLink says under which terms the answer is, where its format cannot.
func (s *server) licenceLink(w http.ResponseWriter) {
	w.Header().Add("Link", `</licences>; rel="license"`)
}

// formatOf returns the format that a request names in its path, its query or
// its Accept header, in this order.
func (s *server) formatOf(r *http.Request, a asked) (export.Format, *Problem) {
	if name, ok := strings.CutPrefix(r.URL.Path, "/v1/search."); ok {
		if given, twice := a.given["format"]; twice && given != name {
			return a.format, &Problem{Title: "format is given twice", Parameter: "format", Given: clip(given), Expected: name,
				Detail: fmt.Sprintf("The path asks for %s and format for %s.", name, clip(given))}
		}
		a.format, _ = export.Lookup(name)
	}
	if a.format.Name == "" {
		a.format, _ = export.Lookup(accepted(r.Header.Get("Accept")))
	}
	if a.format.Name != "geojson" && len(a.fields) > 0 {
		return a.format, &Problem{Title: "fields goes with geojson", Parameter: "fields", Given: a.given["fields"], Expected: "no fields",
			Detail: fmt.Sprintf("fields goes with format=geojson; %s always has all.", a.format.Name)}
	}
	return a.format, nil
}

// accepted returns the format that a client would rather have.
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
			if q > most && (name == offered || format == "geojson" && (name == anyJSON || name == "*/*" || name == "text/html")) {
				best, most = format, q
			}
		}
	}
	return best
}

// nextOf returns the address of the page after this one. A time that counted
// back from now stays what it was.
func (s *server) nextOf(r *http.Request, a asked, result *index.Result) string {
	v := r.URL.Query()
	if a.relative {
		v.Set("since", a.Since.Format(time.RFC3339))
	}
	return r.URL.Path + "?" + withCursor(v, result.Next)
}

// searched reads a request and searches for what it asks. Where it is not ok, the
// request is answered: a problem, or nothing has changed.
func (s *server) searched(w http.ResponseWriter, r *http.Request, on route) (a asked, result *index.Result, ok bool) {
	a, p := s.parse(r, on)
	if p != nil {
		writeProblem(w, r, p)
		return a, nil, false
	}
	if s.notModified(w, r, a) {
		return a, nil, false
	}
	if result, p = s.answer(r.Context(), a); p != nil {
		writeProblem(w, r, p)
		return a, nil, false
	}
	return a, result, true
}

// feed answers /feed.atom.
func (s *server) feed(w http.ResponseWriter, r *http.Request, on route) {
	_, result, ok := s.searched(w, r, on)
	if !ok {
		return
	}
	f, _ := export.Lookup("atom")
	s.writeHits(w, r, f, result.Hits)
}

// export streams every address that fits.
func (s *server) export(w http.ResponseWriter, r *http.Request, on route) {
	a, p := s.parse(r, on)
	if p != nil {
		writeProblem(w, r, p)
		return
	}
	if a.Center != nil && a.Radius == 0 {
		writeProblem(w, r, &Problem{Title: "radius is missing", Parameter: "radius", Detail: "radius is missing; with lat and lon it says how far from them."})
		return
	}
	f, _ := export.Lookup(strings.TrimPrefix(r.URL.Path, "/v1/export."))
	if s.notModified(w, r, a) {
		return
	}
	select {
	case s.exporting <- struct{}{}:
		defer func() { <-s.exporting }()
	default:
		writeProblem(w, r, &Problem{Title: "the server is busy", Status: http.StatusServiceUnavailable, Detail: "Others export already.", Hint: "Try again in a minute.", Retry: true})
		return
	}
	w.Header().Set("Content-Type", mediaOf(f.Name))
	w.Header().Set("Content-Disposition", `attachment; filename="addresses.`+f.Name+`"`)
	s.licenceLink(w)
	s.noteMissing(w.Header())
	if r.Method == http.MethodHead {
		return
	}
	o := s.exportOptions(r)
	a.Sort, a.Limit, a.Bias = "", 0, 0
	o.Query = a.Query
	if _, err := export.Write(r.Context(), &patient{w, http.NewResponseController(w)}, s.index, f, o); err != nil && r.Context().Err() == nil {
		s.Log.Warn("api: export ended early", "error", err)
		panic(http.ErrAbortHandler) // the reader must not take the half for the whole
	}
}

// A patient writer gives the reader of a stream time for each piece, not for
// all of it.
type patient struct {
	io.Writer
	control *http.ResponseController
}

const patience = 30 * time.Second

func (p *patient) Write(b []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return p.Writer.Write(b)
}

// clusters answers /v1/clusters.
func (s *server) clusters(w http.ResponseWriter, r *http.Request, on route) {
	a, p := s.parse(r, on)
	if p != nil {
		writeProblem(w, r, p)
		return
	}
	if s.notModified(w, r, a) {
		return
	}
	type properties struct {
		Count int       `json:"count"`
		Box   []float64 `json:"bbox"`
		ID    string    `json:"id,omitempty"` // of the address, where it is only one
	}
	answer := struct {
		Type        string           `json:"type"`
		Licence     string           `json:"licence"`
		Attribution string           `json:"attribution"`
		Zoom        int              `json:"zoom"` // less than asked for where there are too many cells
		Matched     int              `json:"numberMatched"`
		Returned    int              `json:"numberReturned"`
		Features    []export.Feature `json:"features"`
	}{Type: "FeatureCollection", Licence: s.Licence, Attribution: s.Attribution, Features: []export.Feature{}}
	p = s.limited(r.Context(), texts["en"], func() error {
		clusters, zoom, err := s.index.Clusters(r.Context(), a.Query, *a.zoom)
		answer.Zoom, answer.Returned = zoom, len(clusters)
		for _, c := range clusters {
			answer.Matched += c.Count
			at := [2]float64{export.Round(c.Point[0], 6), export.Round(c.Point[1], 6)}
			box := []float64{export.Round(c.Box.Min[0], 6), export.Round(c.Box.Min[1], 6), export.Round(c.Box.Max[0], 6), export.Round(c.Box.Max[1], 6)}
			answer.Features = append(answer.Features, export.Feature{Type: "Feature", Geometry: &export.Geometry{Type: "Point", Coordinates: at}, Properties: properties{c.Count, box, c.ID}})
		}
		return err
	})
	if p != nil {
		writeProblem(w, r, p)
		return
	}
	s.document(w, r, geoJSON, answer)
}

// A facet is how often the values of a property occur.
type facetValue struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

func facetsOf(counts []index.Count) map[string][]facetValue {
	if len(counts) == 0 {
		return nil
	}
	all := map[string][]facetValue{}
	for _, c := range counts {
		values := []facetValue{}
		for _, v := range c.Values {
			values = append(values, facetValue{v.Value, v.Count})
		}
		all[string(c.Facet)] = values
	}
	return all
}

// facets answers /v1/facets.
func (s *server) facets(w http.ResponseWriter, r *http.Request, on route) {
	_, result, ok := s.searched(w, r, on)
	if !ok {
		return
	}
	s.document(w, r, anyJSON, map[string]any{"numberMatched": result.Total, "relaxed": result.Relaxed, "facets": facetsOf(result.Facets), "licence": s.Licence, "attribution": s.Attribution})
}

// suggest answers /v1/suggest.
func (s *server) suggest(w http.ResponseWriter, r *http.Request, on route) {
	a, p := s.parse(r, on)
	if p != nil {
		writeProblem(w, r, p)
		return
	}
	if s.notModified(w, r, a) {
		return
	}
	type suggestion struct {
		Text  string `json:"text"`
		Kind  string `json:"kind"` // street, postcode, city, site or name
		Count int    `json:"count"`
	}
	answer := []suggestion{}
	p = s.limited(r.Context(), texts["en"], func() error {
		found, err := s.index.Suggest(a.Text, a.Limit)
		for _, f := range found {
			answer = append(answer, suggestion{f.Text, string(f.Kind), f.Count})
		}
		return err
	})
	if p != nil {
		writeProblem(w, r, p)
		return
	}
	s.document(w, r, anyJSON, map[string]any{"query": a.Text, "suggestions": answer})
}

// found returns the address that the path names; neither it nor a Problem where
// the request is answered.
func (s *server) found(w http.ResponseWriter, r *http.Request, on route) (h *index.Hit, p *Problem) {
	a, p := s.parse(r, on)
	if p != nil || s.notModified(w, r, a) {
		return nil, p
	}
	p = s.limited(r.Context(), texts["en"], func() (err error) {
		h, err = s.index.Address(r.PathValue("id"))
		return err
	})
	if p == nil && h == nil {
		p = &Problem{Title: "there is no such address", Status: http.StatusNotFound, Detail: fmt.Sprintf("No address has the ID %q.", clip(r.PathValue("id"))),
			Expected: "an id of /v1/search: 16 hexadecimal digits", Hint: "The pages that stated it may have gone."}
	}
	return h, p
}

// address answers for one address.
func (s *server) address(w http.ResponseWriter, r *http.Request, on route) {
	h, p := s.found(w, r, on)
	if p != nil {
		writeProblem(w, r, p)
	}
	if h == nil {
		return
	}
	s.document(w, r, geoJSON, struct {
		export.Feature
		Licence     string    `json:"licence"`
		Attribution string    `json:"attribution"`
		Links       []ogcLink `json:"links"`
	}{
		export.Feature{Type: "Feature", ID: h.ID, Geometry: export.GeometryOf(h), Properties: export.PropertiesOf(h)}, s.Licence, s.Attribution,
		[]ogcLink{{"self", clip(r.URL.Path), geoJSON, ""}, {"collection", "/ogc/collections/addresses", anyJSON, ""}, {"evidence", "/v1/addresses/" + h.ID + "/evidence", anyJSON, ""},
			{"alternate", web.AddressPath + h.ID, "text/html", ""}},
	})
}

// evidence answers with the pages that state an address.
func (s *server) evidence(w http.ResponseWriter, r *http.Request, on route) {
	h, p := s.found(w, r, on)
	if p != nil {
		writeProblem(w, r, p)
	}
	if h == nil {
		return
	}
	type page struct {
		URL        string    `json:"url"`
		Title      string    `json:"title"`
		Lang       string    `json:"lang,omitempty"`
		Snippet    string    `json:"snippet"`
		Span       []int     `json:"span,omitempty"` // of the address in it, in characters
		Fetched    time.Time `json:"fetched"`
		Confidence float64   `json:"confidence"`
		Origin     string    `json:"origin"`
	}
	pages := []page{}
	for _, e := range h.Evidence {
		var span []int
		if at := e.Snippet.Address; at[0] < at[1] {
			span = []int{utf8.RuneCountInString(e.Snippet.Text[:at[0]]), utf8.RuneCountInString(e.Snippet.Text[:at[1]])}
		}
		pages = append(pages, page{e.URL, e.Title, e.Lang, e.Snippet.Text, span, e.Fetched, export.Round(e.Confidence, 2), e.Origin})
	}
	s.document(w, r, anyJSON, map[string]any{"id": h.ID, "label": h.Label(), "mentions": h.Mentions, "first_seen": h.FirstSeen, "last_seen": h.LastSeen, "evidence": pages,
		"licence": s.Licence, "attribution": s.Attribution})
}

// plain answers a document that takes no parameters of its own.
func (s *server) plain(w http.ResponseWriter, r *http.Request, on route, v any) {
	if _, p := s.parse(r, on); p != nil {
		writeProblem(w, r, p)
		return
	}
	s.document(w, r, anyJSON, v)
}

// document writes v as JSON of a media type.
func (s *server) document(w http.ResponseWriter, r *http.Request, media string, v any) {
	if media == anyJSON {
		media += "; charset=utf-8"
	}
	w.Header().Set("Content-Type", media)
	s.noteMissing(w.Header())
	s.writeJSON(w, r, v)
}

// terms says in one line under which terms the data may be used.
func (s *server) terms() string {
	return export.Options{Licence: s.Licence, Attribution: s.Attribution}.Notice()
}

func (s *server) licences(w http.ResponseWriter, r *http.Request, on route) {
	if _, p := s.parse(r, on); p != nil {
		writeProblem(w, r, p)
		return
	}
	text := s.terms()
	if text == "" {
		text = "Nothing is known of the terms of the data."
	}
	s.writeText(w, r, "text/plain; charset=utf-8", text+"\nTexts of pages are those of their authors.\n")
}

func (s *server) openSearch(w http.ResponseWriter, r *http.Request, on route) {
	if _, p := s.parse(r, on); p != nil {
		writeProblem(w, r, p)
		return
	}
	base := (&url.URL{Scheme: "http", Host: r.Host}).String()
	if r.TLS != nil {
		base = (&url.URL{Scheme: "https", Host: r.Host}).String()
	}
	s.writeText(w, r, "application/opensearchdescription+xml", `<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>gazehound</ShortName><Description>`+xmlText("Addresses"+prefixed(" in ", s.Region))+`</Description>`+
		`<Url type="text/html" template="`+xmlText(base)+`/?q={searchTerms}"/><Url type="application/atom+xml" template="`+xmlText(base)+`/feed.atom?q={searchTerms}"/></OpenSearchDescription>
`)
}

func (s *server) writeText(w http.ResponseWriter, r *http.Request, media, text string) {
	w.Header().Set("Content-Type", media)
	if r.Method != http.MethodHead {
		io.WriteString(w, text)
	}
}

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

func xmlText(s string) string { return xmlEscaper.Replace(clip(s)) }

// propertyNames returns the names of all properties of an address in an
// answer.
var propertyNames = sync.OnceValue(func() []string {
	var names []string
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
func only(p properties, fields []string) (any, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for name := range all {
		if !slices.Contains(fields, name) {
			delete(all, name)
		}
	}
	return all, nil
}
