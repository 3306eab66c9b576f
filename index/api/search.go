package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"gazehound/index"
	"gazehound/index/texts"
	"gazehound/internal/problem"

	"github.com/paulmach/orb"
)

// A Problem is an answer about what is wrong with a request (RFC 9457).
type Problem = problem.Problem

// query answers q within the limits of time and of queries at once. The Problem, in
// the language of t, is nil on success.
func (s *server) query(ctx context.Context, t texts.Words, q index.Query) (r *index.Result, p *Problem) {
	p = s.limited(ctx, t, func(ctx context.Context) (err error) {
		r, err = s.index.Search(ctx, q)
		return err
	})
	if p != nil && p.Parameter == "cursor" {
		p.Given = clip(q.Cursor)
	}
	return r, p
}

// limited calls f when a slot is free, and returns errors as Problems in the language of t.
func (s *server) limited(ctx context.Context, t texts.Words, work func(context.Context) error) *Problem {
	ctx, cancel := context.WithTimeout(ctx, s.QueryTimeout)
	defer cancel()
	busy := &Problem{Title: "the server is busy", Status: http.StatusServiceUnavailable,
		Detail: t.Say("slow", s.QueryTimeout), Hint: t.Say("smaller"), Retry: true}
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	case <-ctx.Done():
		return busy
	}
	err := work(ctx)
	unavailable := func(title, detail string) *Problem {
		return &Problem{Title: title, Status: http.StatusServiceUnavailable, Detail: t.Say(detail), Retry: true}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, index.ErrCursor):
		return &Problem{Title: "cursor does not fit", Detail: t.Say("cursor"), Parameter: "cursor",
			Expected: "the cursor of a next link, with the same parameters", Hint: t.Say("again")}
	case errors.Is(err, index.ErrQuery):
		text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "index: "), "bad query: ")
		return &Problem{Title: "the query cannot be answered", Detail: clip(text) + "."}
	case ctx.Err() != nil:
		return busy
	case errors.Is(err, index.ErrClosed):
		return unavailable("the server is stopping", "closed")
	}
	p := s.broken("search", err)
	p.Detail = t.Say("failed")
	return p
}

// broken logs an internal error and returns its Problem.
func (s *server) broken(what string, err error) *Problem {
	s.Log.Error("api: "+what, "error", err)
	return &Problem{Title: "the server could not answer", Status: http.StatusInternalServerError}
}

// answer searches. If an area has no results, it checks whether latitude and longitude were
// exchanged.
func (s *server) answer(ctx context.Context, a *params) (*index.Result, *Problem) {
	result, p := s.query(ctx, a.t, a.Query)
	if p == nil {
		s.asked(a, result)
	}
	if p != nil || result.Total > 0 || a.Cursor != "" {
		return result, p
	}
	holds := func(f index.Filters) bool {
		r, p := s.query(ctx, a.t, index.Query{Filters: f, Limit: 1})
		return p == nil && r.Total > 0
	}
	if b := a.Box; b != nil {
		if other := exchanged(*b); !holds(index.Filters{Box: b}) && holds(index.Filters{Box: &other}) {
			return nil, latitudeFirst(a.t, a.given.Get("bbox"), other)
		}
	}
	if c := a.Center; c != nil && a.Radius > 0 {
		other := orb.Point{c[1], c[0]}
		if !holds(index.Filters{Center: c, Radius: a.Radius}) && holds(index.Filters{Center: &other, Radius: a.Radius}) {
			return nil, &Problem{Title: "lat and lon are exchanged", Parameter: "lat", Given: a.given.Get("lat"),
				Expected: "degrees north in lat, degrees east in lon",
				Detail:   a.t.Say("exchanged"), Hint: a.t.Say("mean", fmt.Sprintf("lat=%v&lon=%v", other[1], other[0]))}
		}
	}
	return result, nil
}

// streetOnly returns the known street for a request about an unknown house; nil for other requests,
// or without time left.
func (s *server) streetOnly(ctx context.Context, a *params, result *index.Result) *index.StreetOnly {
	if a.Cursor != "" {
		return nil // it stands on the first page
	}
	search := func(ctx context.Context, q index.Query) (*index.Result, error) {
		r, p := s.query(ctx, a.t, q)
		if p != nil {
			return nil, p
		}
		return r, nil
	}
	found, err := index.KnownStreet(ctx, search, a.Text, result)
	if err != nil {
		s.Log.Debug("api: known street", "error", err)
	}
	return found
}

// similar returns texts that begin like a word of a text that nothing was found for,
// by the longest beginning that has any.
func (s *server) similar(text string) (similar []string) {
	const least, most = 3, 4 // characters of a beginning, texts
	for word := range strings.FieldsSeq(text) {
		for runes := []rune(word); len(runes) >= least; runes = runes[:len(runes)-1] {
			found, err := s.index.Suggest(string(runes), most)
			if err != nil {
				return nil // the page says without them that nothing was found
			}
			for _, f := range found {
				similar = append(similar, f.Text)
			}
			if len(similar) > 0 {
				return similar
			}
		}
	}
	return nil
}

// widen counts each facet by which a narrows without that filter, so that a reader sees
// what else may be chosen.
func (s *server) widen(ctx context.Context, a *params, facets []index.Count) *Problem {
	q := a.Query
	q.Limit, q.Cursor = 1, ""
	for i := range facets {
		wider, narrowed := q.Without(facets[i].Facet)
		if !narrowed {
			continue
		}
		wider.Facets = []index.Facet{facets[i].Facet}
		result, p := s.query(ctx, a.t, wider)
		if p != nil {
			return p
		}
		if len(result.Facets) > 0 {
			facets[i] = result.Facets[0]
		}
	}
	return nil
}

// missing counts the matches that OpenStreetMap does not have as houses.
func (s *server) missing(ctx context.Context, a *params) (int, *Problem) {
	no, q := false, a.Query
	q.InOSM, q.Facets, q.Limit, q.Cursor = &no, nil, 1, ""
	result, p := s.query(ctx, a.t, q)
	if p != nil {
		return 0, p
	}
	return result.Total, nil
}

// sentence describes the problem and its place, in one or two sentences.
func sentence(p *Problem) string {
	text := cmp.Or(p.Detail, p.Title+".")
	if p.Parameter != "" && !strings.Contains(p.Detail, p.Parameter) {
		return p.Parameter + ": " + text
	}
	return text
}
