package api

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"gazehound/index"
	"gazehound/index/differences"
	"gazehound/index/export"
	"gazehound/index/web"
)

// differencesPath is that of what pages and map do not agree about.
const differencesPath = "/v1/differences"

// compareTimeout bounds a comparison. It is made once for each state of the index.
const compareTimeout = 2 * time.Minute

// A comparing is the last comparison of index and map.
type comparing struct {
	turn       chan struct{} // whose holder may read and change the others; room for one
	generation string        // of the index
	last       *differences.Comparison
}

func differenceNames() (names []string) {
	for _, k := range differences.Kinds {
		names = append(names, string(k))
	}
	return names
}

// knowsMap reports whether there is a map to compare with.
func (s *server) knowsMap() bool { return s.Gazetteer != nil && s.OSM }

// compare returns the comparison of the index as it is now with the map. It waits for another
// request that makes it.
func (s *server) compare(ctx context.Context, a *params) (c *differences.Comparison, p *Problem) {
	ctx, cancel := context.WithTimeout(ctx, compareTimeout)
	defer cancel()
	busy := &Problem{Title: "the server is busy", Status: http.StatusServiceUnavailable,
		Detail: a.t.Say("slow", compareTimeout), Retry: true}
	select {
	case s.comparing.turn <- struct{}{}:
		defer func() { <-s.comparing.turn }()
	case <-ctx.Done():
		return nil, busy
	}
	state, err := s.index.State()
	if err == nil && s.comparing.last != nil && s.comparing.generation == state.Generation {
		return s.comparing.last, nil
	}
	if err == nil {
		c, err = differences.Compare(ctx, s.index, s.Gazetteer, s.Within)
	}
	switch {
	case err == nil:
		s.comparing.generation, s.comparing.last = state.Generation, c
		return c, nil
	case errors.Is(err, differences.ErrTooMany):
		return nil, &Problem{Title: "too many places to compare", Detail: a.t.Say("too_many"),
			Status: http.StatusServiceUnavailable}
	case ctx.Err() != nil:
		return nil, busy
	}
	return nil, s.broken("compare", err)
}

// selected returns the differences that a request asks for, and how many of each kind fit it.
func (s *server) selected(w http.ResponseWriter, r *http.Request, a *params) (
	some []*differences.Difference, counts map[differences.Kind]int, p *Problem) {
	f := differences.Filter{Filters: a.Filters, MinConfidence: valueOr[float64](a, "min_confidence")}
	for _, name := range valueOr[[]string](a, "difference") {
		f.Kinds = append(f.Kinds, differences.Kind(name))
	}
	counts = map[differences.Kind]int{}
	if !s.knowsMap() {
		a.warning = a.t.Say("no_map")
		return nil, counts, nil
	}
	deadline := http.NewResponseController(w)
	err := deadline.SetWriteDeadline(time.Now().Add(compareTimeout + patience))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, nil, s.broken("deadline", err)
	}
	c, p := s.compare(r.Context(), a)
	if p != nil {
		return nil, nil, p
	}
	if c.Mapped == 0 { // an older gazetteer
		a.warning = a.t.Say("no_map")
		return nil, counts, nil
	}
	some, counts, err = c.Select(f)
	if err != nil {
		return nil, nil, &Problem{Title: "the query cannot be answered", Detail: clip(err.Error()) + "."}
	}
	return some, counts, nil
}

// pageOf returns the differences of one page, and the address of the next one or "".
func pageOf(r *http.Request, a *params, all []*differences.Difference) (some []*differences.Difference, next string,
	p *Problem) {
	from := 0
	if a.Cursor != "" {
		from = 1 + slices.IndexFunc(all, func(d *differences.Difference) bool { return d.ID == a.Cursor })
		if from == 0 {
			return nil, "", &Problem{Title: "cursor does not fit", Detail: a.t.Say("cursor"), Parameter: "cursor",
				Given: clip(a.Cursor), Expected: "the cursor of a next link, with the same parameters", Hint: a.t.Say("again")}
		}
	}
	some = all[from:min(len(all), from+a.Limit)]
	if from+len(some) < len(all) {
		next = nextOf(r, a, some[len(some)-1].ID)
	}
	return some, next, nil
}

// differences answers /v1/differences and its files, which have all of them.
func (s *server) differences(w http.ResponseWriter, r *http.Request, a *params) *Problem {
	all, counts, p := s.selected(w, r, a)
	if p != nil {
		return p
	}
	if format, file := strings.CutPrefix(r.URL.Path, differencesPath+"."); file {
		var body bytes.Buffer
		terms := differences.Terms{Licence: s.Licence, Attribution: s.Attribution}
		_, err := differences.Write(&body, format, all, terms)
		if err != nil {
			return s.broken("write differences", err)
		}
		h := w.Header()
		h.Set("Content-Disposition", `attachment; filename="differences.`+strings.Replace(format, "maproulette", "geojsonl", 1)+`"`)
		h.Add("Link", `</licences>; rel="license"`)
		writeBody(w, r, body.Bytes())
		return nil
	}
	some, next, p := pageOf(r, a, all)
	if p != nil {
		return p
	}
	total := len(all)
	c := struct {
		collection
		Counts map[differences.Kind]int `json:"counts"` // by kind, whatever kinds were asked for
	}{collection{Type: "FeatureCollection", Version: "0.1.0", Licence: s.Licence,
		Attribution: s.Attribution, Warning: a.warning, Matched: &total, Returned: len(some),
		Features: []export.Feature{}, Links: []link{{Rel: "self", Href: r.URL.RequestURI(), Type: geoJSON}}}, counts}
	for _, d := range some {
		c.Features = append(c.Features, d.Feature())
	}
	if next != "" {
		c.Links = append(c.Links, link{Rel: "next", Href: next, Type: geoJSON})
		w.Header().Set("Link", "<"+next+`>; rel="next"`)
	}
	return s.writeJSON(w, r, c)
}

// webAndMap answers /differences with HTML.
func (s *server) webAndMap(w http.ResponseWriter, r *http.Request, a *params) *Problem {
	all, counts, p := s.selected(w, r, a)
	if p != nil {
		return p
	}
	page := web.Differences{Page: s.newPage(r), Counts: counts, NoMap: a.warning != ""}
	page.Some, page.Next, p = pageOf(r, a, all)
	if p != nil {
		return p
	}
	var body bytes.Buffer
	if err := web.RenderDifferences(&body, page); err != nil {
		return s.broken("page", err)
	}
	writeBody(w, r, body.Bytes())
	return nil
}

// atOnce is up to how many addresses an index is compared while a reader waits for another page.
const atOnce = 5000

// missingPlaces counts for the search page what the map lacks of the places that it asks for; nil
// where the words ask for something else than kinds, or the comparison would take long.
func (s *server) missingPlaces(r *http.Request, a *params) *web.MissingPlaces {
	about := index.SubjectOf(a.Query)
	f := differences.Filter{Filters: a.Filters, Kinds: []differences.Kind{differences.Missing}}
	switch {
	case !s.knowsMap(), a.Text != "" && (about.Kinds == nil || len(a.Kind) > 0), about.Where != "", about.Open != nil:
		return nil
	case a.Text != "":
		f.Kind = about.Kinds[:min(len(about.Kinds), index.MaxValues)]
	}
	if stats, err := s.index.Stats(r.Context()); err != nil || stats.Addresses > atOnce && !s.isCompared() {
		return nil
	}
	c, p := s.compare(r.Context(), a)
	if p != nil || c.Mapped == 0 {
		return nil
	}
	some, _, err := c.Select(f)
	if err != nil || len(some) == 0 {
		return nil
	}
	return &web.MissingPlaces{Count: len(some), Kinds: f.Kind}
}

// isCompared reports whether the index as it is now has been compared.
func (s *server) isCompared() bool {
	select {
	case s.comparing.turn <- struct{}{}:
		defer func() { <-s.comparing.turn }()
	default:
		return false
	}
	state, err := s.index.State()
	return err == nil && s.comparing.last != nil && s.comparing.generation == state.Generation
}
