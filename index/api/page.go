package api

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/differences"
	"gazehound/index/web"

	"github.com/paulmach/orb"
)

// languageOf returns the language in which a page is for its reader.
func languageOf(r *http.Request) string {
	return web.Language(r.URL.Query().Get("lang"), r.Header.Get("Accept-Language"))
}

// newPage returns a page with what all have.
func (s *server) newPage(r *http.Request) web.Page {
	p := web.Page{Lang: languageOf(r), Region: s.Region, Outline: s.Outline,
		Attribution: s.Attribution, Licence: s.Licence, Version: s.Version, OSM: s.OSM,
		Tiles: s.Tiles, TilesAttribution: s.TilesAttribution,
		Corrections: s.Corrections != nil,
		Crawling:    s.Crawl != nil && s.Crawl() == "running",
		Clock:       s.clock(), Form: formOf(r), Cursor: clip(r.URL.Query().Get("cursor"))}
	if s.Basemap != nil {
		p.Basemap, p.Levels, p.Shapes = basemapPath, s.Basemap.Levels(), s.shapes
	}
	return p
}

// pageFacets are the filters that the search page offers.
var pageFacets = []index.Facet{index.ByStreet, index.ByPostcode, index.ByCity, index.BySite, index.ByKind,
	index.ByMonth, index.ByPrecision}

// maxDots is how many matches beyond the list the page has on its map.
const maxDots = 1500

// page answers / with HTML.
func (s *server) page(w http.ResponseWriter, r *http.Request, a *params) *Problem {
	if isProgram(r) {
		w.Header().Set("Content-Type", anyJSON)
		return s.writeJSON(w, r, s.links())
	}
	p := s.newPage(r)
	p.Asked = a.narrows()
	a.Facets, a.Group = pageFacets, true
	var problem *Problem
	p.Result, problem = s.answer(r.Context(), a)
	if problem != nil {
		return problem
	}
	if p.Result.Total > 0 {
		p.Points, problem = s.dots(r.Context(), a, p.Result.Hits)
		if problem != nil {
			return problem
		}
		problem = s.widen(r.Context(), a, p.Result.Facets)
		if problem != nil {
			return problem
		}
		if s.OSM && a.InOSM == nil {
			p.Missing, problem = s.missing(r.Context(), a)
			if problem != nil {
				return problem
			}
		}
		p.MissingPlaces = s.missingPlaces(r, a)
	} else {
		p.Similar = s.similar(a.Text)
		if s.Coverage != nil {
			p.Found, p.Streets = s.Coverage()
		}
	}
	if p.Result.Total == 0 {
		p.Result.Open = index.SubjectOf(a.Query).Open // an index without pages does not say it
	}
	if p.Result.Total == 0 && p.Result.Open != nil {
		p.NextOpen, problem = s.nextOpen(r.Context(), a)
		if problem != nil {
			return problem
		}
	}
	p.StreetOnly = s.streetOnly(r.Context(), a, p.Result)
	s.showOnMap(r.Context(), a, &p)
	if p.Result.Next != "" {
		p.Next = nextOf(r, a, p.Result.Next)
	}
	s.writePage(w, r, http.StatusOK, p)
	return nil
}

// nextOpen returns the place of pages or of the map that opens next of those that fit but are closed
// at the time that is asked for; nil where none is known.
func (s *server) nextOpen(ctx context.Context, a *params) (*web.NextOpen, *Problem) {
	q := a.Query
	q.AnyTime, q.Group, q.Limit, q.Facets = true, false, s.MaxLimit, nil
	result, p := s.query(ctx, a.t, q)
	if p != nil {
		return nil, p
	}
	about := index.SubjectOf(a.Query)
	about.Open = nil
	var closed []gazetteer.Place
	p = s.limited(ctx, a.t, func(ctx context.Context) (err error) {
		closed, err = s.findPlaces(ctx, a, about)
		return err
	})
	if p != nil {
		return nil, p
	}
	hits := result.Hits
	for i := range closed {
		hits = append(hits, *differences.HitOf(&closed[i]))
	}
	var next *web.NextOpen
	clock := s.clock()
	for i := range hits {
		h := &hits[i]
		state, ok := h.OpenAt(a.Now, clock.Holiday)
		if ok && h.Gone.IsZero() && !state.Opens.IsZero() && (next == nil || state.Opens.Before(next.Opens)) {
			next = &web.NextOpen{Hit: h, Opens: state.Opens}
		}
	}
	return next, nil
}

// dots returns where matches beyond the list lie; those in one place are one dot.
func (s *server) dots(ctx context.Context, a *params, hits []index.Hit) (points []orb.Point, p *Problem) {
	p = s.limited(ctx, a.t, func(ctx context.Context) error {
		clusters, _, err := s.index.Clusters(ctx, a.Query, index.MaxZoom)
		for _, c := range clusters {
			listed := slices.ContainsFunc(hits, func(h index.Hit) bool { return h.ID == c.ID })
			if !listed && len(points) < maxDots {
				points = append(points, c.Point)
			}
		}
		return err
	})
	return points, p
}

// problemPage answers people with what is wrong with their request.
func (s *server) problemPage(w http.ResponseWriter, r *http.Request, problem *Problem) {
	p := s.newPage(r)
	if problem.Parameter == "lang" {
		delete(p.Form, "lang") // the links of the page would fail, too
	}
	p.Problem, p.Hint = sentence(problem), problem.Hint
	w.Header().Del("ETag")
	w.Header().Set("Cache-Control", "no-store")
	if problem.Retry {
		w.Header().Set("Retry-After", "1")
	}
	s.writePage(w, r, cmp.Or(problem.Status, http.StatusBadRequest), p)
}

// writePage writes a page with its status.
func (s *server) writePage(w http.ResponseWriter, r *http.Request, status int, p web.Page) {
	var err error
	p.Stats, err = s.index.Stats(r.Context())
	if err != nil && p.Problem == "" {
		s.Log.Error("api: stats", "error", err)
	}
	var body bytes.Buffer
	if err := web.Render(&body, p); err != nil {
		s.broken("page", err).Write(w, r)
		return
	}
	w.Header().Set("Content-Type", anyHTML)
	w.WriteHeader(status)
	writeBody(w, r, body.Bytes())
}

// addressPage answers for one address with HTML.
func (s *server) addressPage(w http.ResponseWriter, r *http.Request, a *params) *Problem {
	h, problem := s.found(r, a)
	if problem != nil {
		return problem
	}
	p := s.newPage(r)
	p.One, p.Asked, p.Result = true, true, &index.Result{Total: 1, Hits: []index.Hit{*h}}
	s.writePage(w, r, http.StatusOK, p)
	return nil
}

// lost answers requests for a missing page or address with HTML.
func (s *server) lost(w http.ResponseWriter, r *http.Request, what web.Lost) {
	p := s.newPage(r)
	p.Lost, p.Form = what, p.Form.Only("lang")
	w.Header().Del("ETag")
	w.Header().Set("Cache-Control", "no-store")
	s.writePage(w, r, http.StatusNotFound, p)
}

// formOf returns the page's form as it was filled in.
func formOf(r *http.Request) web.Form {
	v := r.URL.Query()
	for _, values := range v {
		for i := range values {
			values[i] = clip(values[i])
		}
	}
	return web.NewForm(v)
}
