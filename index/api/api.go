// Package api answers queries about an index over HTTP: /v1 in full, /api,
// /reverse and /structured as Photon does, /ogc as OGC API Features wants it,
// feeds, and the search page. Two tables know what can be asked: endpoints and
// parameters; /openapi.json is made from them.
package api

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/web"

	"github.com/paulmach/orb"
	"golang.org/x/time/rate"
)

// Options say what the answers carry and how much they may cost.
type Options struct {
	Region  string           // shown to people; may be empty
	Outline orb.MultiPolygon // of the region, drawn on the page; may be empty

	Version, Commit string // of the program

	// Licence and Attribution are those of the gazetteers that the coordinates
	// come from: "ODbL-1.0", "© OpenStreetMap contributors". Every answer
	// carries them.
	Licence, Attribution string
	GazetteerDate        string // of the gazetteer's data, for /status; may be empty

	// OSM says that the gazetteer knows OpenStreetMap, so that what it has no
	// house for is missing there.
	OSM bool

	// Basemap has the streets and waters that the map shows; nil: none. Tiles
	// is the address of a tile server in its place, such as
	// "https://tile.example/{z}/{x}/{y}.png", and TilesAttribution what its
	// terms want to be read on the map.
	Basemap                 *gazetteer.Basemap
	Tiles, TilesAttribution string

	// Gazetteer knows the houses, streets and villages of the region, or of Within
	// where that is not nil. Nil: only what pages state is found.
	Gazetteer *gazetteer.Gazetteer
	Within    *gazetteer.Region

	// CORS lists the origins whose pages may read the answers, such as
	// "https://map.example"; "*" is every one. Empty: none.
	CORS []string

	MaxLimit     int           // hits of one answer, 1 to index.MaxLimit
	QueryTimeout time.Duration // > 0
	MaxQueries   int           // running at once, ≥ 1; further ones wait
	Rate         float64       // requests a second of one client that is not on this machine, ≥ 0; 0: any number

	// Loopback says that the server listens on this machine only. It then
	// answers requests for localhost, loopback addresses and Hosts, because a
	// stranger's page may have its own name bound to our address.
	Loopback bool
	Hosts    []string

	// Agent and Contact say on /bot who crawls: the token for robots.txt, and a
	// URL or mail address of the operator, which may be empty.
	Agent, Contact string
	// Remove stores a removal request and returns its number; nil: none are
	// taken. It is called by several goroutines.
	Remove func(Removal) (number int, err error)

	// Ready says why there is nothing to serve yet: no crawl so far. Nil, or
	// nil returned: there is.
	Ready func() error

	// Missing names the nodes of a crawl of several whose part of the index is
	// missing in the answers now. Every answer says so: in the header
	// Gazehound-Missing-Nodes, and, where it can, in its text. Nil: none ever is.
	Missing func() []string

	// Coverage says in how many of the region's streets the crawl has found
	// addresses; of 0 streets nothing is known. Nil: nobody knows.
	Coverage func() (found, streets int)

	// Crawl is shown by /status: "running", "stopped". Nil: "stopped".
	Crawl func() string
	// Checks are asked by /healthz beside the index's own, by their names.
	Checks map[string]func(context.Context) error
	// Log gets failures that are ours. Nil: nowhere.
	Log *slog.Logger
}

// DefaultOptions returns the options of config.yaml as shipped.
func DefaultOptions() Options {
	return Options{Version: "dev", Agent: "gazehound", MaxLimit: index.MaxLimit, QueryTimeout: 5 * time.Second, MaxQueries: 4 * runtime.GOMAXPROCS(0)}
}

// Validate returns an error that names the first bad option.
func (o Options) Validate() error {
	switch {
	case o.MaxLimit < 1 || o.MaxLimit > index.MaxLimit:
		return fmt.Errorf("api: limit of %d hits; 1 to %d are possible", o.MaxLimit, index.MaxLimit)
	case o.QueryTimeout <= 0:
		return fmt.Errorf("api: query timeout %v is not positive", o.QueryTimeout)
	case o.MaxQueries < 1:
		return fmt.Errorf("api: %d queries at once; 1 is the least", o.MaxQueries)
	case !(o.Rate >= 0 && o.Rate <= 1e6):
		return fmt.Errorf("api: rate of %v requests a second; 0 to 1000000 are possible", o.Rate)
	}
	if o.Tiles != "" && (web.Origin(o.Tiles) == "" || !strings.Contains(o.Tiles, "{z}") || !strings.Contains(o.Tiles, "{x}") || !strings.Contains(o.Tiles, "{y}")) {
		return fmt.Errorf("api: %q is no address of tiles; one looks like https://tile.example/{z}/{x}/{y}.png", o.Tiles)
	}
	for _, origin := range o.CORS {
		if origin == "*" {
			if len(o.CORS) > 1 {
				return errors.New(`api: "*" already allows every origin; name no others beside it`)
			}
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.Scheme+"://"+u.Host != origin {
			return fmt.Errorf(`api: %q is no origin; one looks like https://map.example, without a path`, origin)
		}
	}
	return nil
}

// A Source is what is served: an index.Index, or several that answer as one.
type Source interface {
	Search(ctx context.Context, q index.Query) (*index.Result, error)
	Clusters(ctx context.Context, q index.Query, zoom int) ([]index.Cluster, int, error)
	Suggest(typed string, limit int) ([]index.Suggestion, error)
	Walk(ctx context.Context, q index.Query, fn func(*index.Hit) error) error
	Address(id string) (*index.Hit, error)
	Stats(ctx context.Context) (index.Stats, error)
	State() (index.State, error)
}

// missingHeader names the nodes that an answer is without.
const missingHeader = "Gazehound-Missing-Nodes"

// noteMissing says in the header of an answer whose parts it is without. An
// answer that is not whole is not kept by anybody.
func (s *server) noteMissing(h http.Header) (nodes []string) {
	if s.Missing == nil {
		return nil
	}
	if nodes = s.Missing(); len(nodes) > 0 {
		h.Set(missingHeader, strings.Join(nodes, ", "))
		h.Del("ETag")
		h.Set("Cache-Control", "no-store")
	}
	return nodes
}

// maxURL is the longest request target in bytes.
const maxURL = 8 << 10

// A server answers requests about one index.
type server struct {
	Options
	index     Source
	running   chan struct{} // a place for each query that runs
	exporting chan struct{} // a place for each export that runs
	clients   *clients
	removals  *rate.Limiter
	known     background
}

// maxExports is how many exports run at once.
const maxExports = 2

// A background is where anything is known, for the map: a part of all
// addresses, kept until the data changes.
type background struct {
	sync.Mutex
	generation string
	points     []orb.Point
}

// maxKnown bounds the points of a background.
const maxKnown = 3000

// background returns the map's background. Where it cannot be had in time, the
// map goes without.
func (s *server) background(ctx context.Context) []orb.Point {
	state, err := s.index.State()
	if err != nil {
		return nil
	}
	s.known.Lock()
	defer s.known.Unlock()
	if s.known.generation == state.Generation {
		return s.known.points
	}
	r, p := s.query(ctx, texts["en"], index.Query{Located: true, Limit: 1, Points: maxKnown})
	if p != nil {
		return nil
	}
	s.known.generation, s.known.points = state.Generation, r.Points
	return r.Points
}

// Handler answers all requests about x. It panics where o does not validate.
func Handler(x Source, o Options) http.Handler {
	if err := o.Validate(); err != nil {
		panic(err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Outline = web.Coarse(o.Outline)
	s := newServer(x, o)
	mux := http.NewServeMux()
	for _, e := range endpoints() {
		mux.HandleFunc(e.path, func(w http.ResponseWriter, r *http.Request) { e.handle(s, w, r, e.on) })
	}
	for _, a := range web.Assets() {
		mux.HandleFunc(a.Path, func(w http.ResponseWriter, r *http.Request) { s.asset(w, r, a) })
	}
	mux.HandleFunc("/", s.notFound)
	return s.logged(s.guard(mux))
}

// logged writes a line for each request where the log is that fine. It names
// no client.
func (s *server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.Log.Enabled(r.Context(), slog.LevelDebug) {
			next.ServeHTTP(w, r)
			return
		}
		began, c := time.Now(), &counting{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			s.Log.Debug("request", "method", clip(r.Method), "path", clip(r.URL.EscapedPath()), "query", clip(r.URL.RawQuery), "status", c.status, "bytes", c.bytes, "took", time.Since(began).Round(time.Microsecond))
		}()
		next.ServeHTTP(c, r)
	})
}

// A counting writer notes what became of a request.
type counting struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader notes the status.
func (c *counting) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

// Write counts what was written.
func (c *counting) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (c *counting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func newServer(x Source, o Options) *server {
	return &server{Options: o, index: x, running: make(chan struct{}, o.MaxQueries), exporting: make(chan struct{}, maxExports), clients: newClients(o.Rate), removals: newRemovalLimit()}
}

// guard does what every request needs: headers, method, CORS, limits, and an
// answer where a handler panics.
func (s *server) guard(next http.Handler) http.Handler {
	policy := web.Policy(web.Origin(s.Tiles))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Permissions-Policy", "geolocation=(self), camera=(), microphone=()")
		h.Set("Content-Security-Policy", policy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if origin := s.allowed(r.Header.Get("Origin")); origin != "" {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", "ETag, Link, Retry-After, "+missingHeader)
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		}
		if len(s.CORS) > 0 && s.CORS[0] != "*" {
			h.Add("Vary", "Origin")
		}
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				s.Log.Error("api: panic", "path", clip(r.URL.Path), "panic", fmt.Sprint(p))
				writeProblem(w, r, &Problem{Title: "the server could not answer", Status: http.StatusInternalServerError,
					Detail: "An unexpected failure; the server's log says more."})
			}
		}()
		switch {
		case !s.hostAllowed(r):
			writeProblem(w, r, &Problem{Title: "this host is not served", Status: http.StatusMisdirectedRequest, Given: clip(r.Host), Expected: "localhost or a loopback address",
				Detail: "This server is for its own machine and was asked under another name.", Hint: "serve.hosts in config.yaml lists further names, such as that of a proxy."})
		case !s.clients.allow(r.RemoteAddr):
			writeProblem(w, r, &Problem{Title: "too many requests", Status: http.StatusTooManyRequests, Retry: true,
				Detail: fmt.Sprintf("One client may ask %g times a second here.", s.Rate), Hint: "Wait a second. /v1/export.geojsonseq has everything at once."})
		case len(r.RequestURI) > maxURL:
			writeProblem(w, r, &Problem{Title: "the address is too long", Status: http.StatusRequestURITooLong,
				Detail: fmt.Sprintf("The request has %d bytes; %d are possible.", len(r.RequestURI), maxURL)})
		case r.Method == http.MethodOptions:
			h.Set("Allow", "GET, HEAD, OPTIONS")
			if h.Get("Access-Control-Allow-Origin") != "" {
				h.Set("Access-Control-Allow-Methods", "GET, HEAD")
				h.Set("Access-Control-Max-Age", "86400")
			}
			w.WriteHeader(http.StatusNoContent)
		case r.Method == http.MethodPost && r.URL.Path == removalPath && s.Remove != nil:
			next.ServeHTTP(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD, OPTIONS")
			writeProblem(w, r, &Problem{Title: "the method is not offered", Status: http.StatusMethodNotAllowed,
				Detail: fmt.Sprintf("%s is not offered here.", clip(r.Method)), Expected: "GET"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// allowed returns what the answer to a page of this origin says, or "".
func (s *server) allowed(origin string) string {
	switch {
	case origin == "":
		return ""
	case slices.Contains(s.CORS, "*"):
		return "*"
	case slices.Contains(s.CORS, origin):
		return origin
	}
	return ""
}

// query answers q within the limits. The Problem, said in t, is nil when it
// could.
func (s *server) query(ctx context.Context, t words, q index.Query) (r *index.Result, p *Problem) {
	ctx, cancel := context.WithTimeout(ctx, s.QueryTimeout)
	defer cancel()
	p = s.limited(ctx, t, func() (err error) {
		if s.Gazetteer != nil {
			q.Locate = s.locate
		}
		r, err = s.index.Search(ctx, q)
		return err
	})
	if p != nil && p.Parameter == "cursor" {
		p.Given = clip(q.Cursor)
	}
	return r, p
}

// limited does work on the index when there is a place for it, and says in t
// what went wrong.
func (s *server) limited(ctx context.Context, t words, work func() error) *Problem {
	ctx, cancel := context.WithTimeout(ctx, s.QueryTimeout)
	defer cancel()
	busy := &Problem{Title: "the server is busy", Status: http.StatusServiceUnavailable,
		Detail: t.say("slow", s.QueryTimeout), Hint: t.say("smaller"), Retry: true}
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	case <-ctx.Done():
		return busy
	}
	err := work()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, index.ErrCursor):
		return &Problem{Title: "cursor does not fit", Detail: t.say("cursor"), Parameter: "cursor",
			Expected: "the cursor of a next link, with the same parameters", Hint: t.say("again")}
	case errors.Is(err, index.ErrQuery):
		return &Problem{Title: "the query cannot be answered", Detail: explain(err)}
	case ctx.Err() != nil:
		return busy
	case errors.Is(err, index.ErrAway):
		return &Problem{Title: "no node answers", Status: http.StatusServiceUnavailable, Detail: t.say("away"), Retry: true}
	case errors.Is(err, index.ErrClosed):
		return &Problem{Title: "the server is stopping", Status: http.StatusServiceUnavailable, Detail: t.say("closed"), Retry: true}
	}
	s.Log.Error("api: search", "error", err)
	return &Problem{Title: "the server could not answer", Status: http.StatusInternalServerError,
		Detail: t.say("failed")}
}

// explain turns an error of index into a sentence.
func explain(err error) string {
	text := err.Error()
	for _, prefix := range []string{"index: ", "bad query: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return clip(text) + "."
}

// answer searches, and where an area finds nothing looks whether latitude and
// longitude were swapped.
func (s *server) answer(ctx context.Context, a asked) (*index.Result, *Problem) {
	result, p := s.query(ctx, a.t, a.Query)
	if p != nil || result.Total > 0 || a.Cursor != "" {
		return result, p
	}
	if p := s.swapped(ctx, a); p != nil {
		return nil, p
	}
	return result, nil
}

// swapped returns a Problem where the area asked for holds nothing at all, and
// the one with latitude and longitude exchanged does.
func (s *server) swapped(ctx context.Context, a asked) *Problem {
	holds := func(q index.Query) bool {
		r, p := s.query(ctx, a.t, q)
		return p == nil && r.Total > 0
	}
	if b := a.Box; b != nil {
		other := orb.Bound{Min: orb.Point{b.Min[1], b.Min[0]}, Max: orb.Point{b.Max[1], b.Max[0]}}
		if !holds(index.Query{Box: b, Limit: 1}) && holds(index.Query{Box: &other, Limit: 1}) {
			return a.t.latitudeFirst(a.given["bbox"], other)
		}
	}
	if c := a.Center; c != nil && a.Radius > 0 {
		other := orb.Point{c[1], c[0]}
		if !holds(index.Query{Center: c, Radius: a.Radius, Limit: 1}) && holds(index.Query{Center: &other, Radius: a.Radius, Limit: 1}) {
			return &Problem{Title: "lat and lon are exchanged", Parameter: "lat", Given: a.given["lat"], Expected: "degrees north in lat, degrees east in lon",
				Detail: a.t.say("exchanged"), Hint: a.t.say("mean", "lat="+number(other[1])+"&lon="+number(other[0]))}
		}
	}
	return nil
}

// similar returns what begins like a word of a text that nothing was found for,
// the longest beginning first; nothing where there is none.
func (s *server) similar(text string) []string {
	const least, most = 3, 4 // characters of a beginning, texts
	for word := range strings.FieldsSeq(text) {
		for runes := []rune(word); len(runes) >= least; runes = runes[:len(runes)-1] {
			found, err := s.index.Suggest(string(runes), most)
			if err != nil {
				return nil // the page says without that nothing was found
			}
			var texts []string
			for _, f := range found {
				texts = append(texts, f.Text)
			}
			if len(texts) > 0 {
				return texts
			}
		}
	}
	return nil
}

// streetOnly tells whether a request asks for a house that is not known in a
// street that is; nil where it does not, or where there is no time to find out.
func (s *server) streetOnly(ctx context.Context, a asked, result *index.Result) *index.StreetOnly {
	if a.Cursor != "" {
		return nil // the first page has said it
	}
	search := func(ctx context.Context, q index.Query) (*index.Result, error) {
		r, p := s.query(ctx, texts["en"], q)
		if p != nil {
			return nil, errors.New(sentence(p))
		}
		return r, nil
	}
	found, err := index.KnownStreet(ctx, search, a.Text, result)
	if err != nil {
		s.Log.Debug("api: known street", "error", err)
	}
	return found
}

// photon answers /api, /reverse and /structured.
func (s *server) photon(w http.ResponseWriter, r *http.Request, on route) {
	a, result, ok := s.searched(w, r, on)
	if !ok {
		return
	}
	s.document(w, r, anyJSON, s.photonCollection(a, result))
}

// page answers / with HTML.
func (s *server) page(w http.ResponseWriter, r *http.Request, on route) {
	w.Header().Add("Vary", "Accept, Accept-Language")
	if prefersJSON(r.Header.Get("Accept")) {
		s.links(w, r)
		return
	}
	p := s.newPage(r)
	p.Form = formOf(r)
	status := http.StatusOK
	a, problem := s.parse(r, on)
	if problem == nil {
		if s.notModified(w, r, a) {
			return
		}
		p.Asked = a.filtering()
		a.Points = 2000
		a.Facets = []index.Facet{index.ByStreet, index.ByPostcode, index.ByCity, index.BySite, index.ByKind, index.ByMonth, index.ByPrecision}
		p.Result, problem = s.answer(r.Context(), a)
		if problem == nil && s.OSM && a.InOSM == nil && p.Result.Total > 0 {
			p.Missing, problem = s.missing(r.Context(), a)
		}
		if problem == nil && p.Result.Total > 0 {
			problem = s.widen(r.Context(), a, p.Result.Facets)
		}
		if problem == nil {
			p.StreetOnly = s.streetOnly(r.Context(), a, p.Result)
		}
		if problem == nil {
			s.showOnMap(a, &p)
		}
		if problem == nil && p.Result.Total == 0 {
			p.Similar = s.similar(a.Text)
			if s.Coverage != nil {
				p.Found, p.Streets = s.Coverage()
			}
		}
	}
	if problem != nil {
		status = cmp.Or(problem.Status, http.StatusBadRequest)
		if problem.Retry {
			w.Header().Set("Retry-After", "1")
		}
		w.Header().Del("ETag")
		w.Header().Set("Cache-Control", "no-store")
		p.Problem, p.Hint = sentence(problem), problem.Hint
	} else {
		p.Known = s.background(r.Context())
	}
	if problem == nil && p.Result.Next != "" {
		p.Next = s.nextOf(r, a, p.Result)
	}
	stats, err := s.index.Stats(r.Context())
	if err != nil && problem == nil {
		s.Log.Error("api: stats", "error", err)
	}
	p.Stats, p.MissingNodes = stats, s.noteMissing(w.Header())
	s.writePage(w, r, status, p)
}

// languageOf returns the language in which a page is for the reader who asks for
// it.
func languageOf(r *http.Request) string {
	return web.Language(r.URL.Query().Get("lang"), r.Header.Get("Accept-Language"))
}

// newPage returns a page with what all have.
func (s *server) newPage(r *http.Request) web.Page {
	p := web.Page{Lang: languageOf(r), Region: s.Region, Outline: s.Outline,
		Attribution: s.Attribution, Licence: s.Licence, Version: s.Version, OSM: s.OSM, Tiles: s.Tiles, TilesAttribution: s.TilesAttribution,
		Crawling: s.Crawl != nil && s.Crawl() == "running"}
	if s.Basemap != nil {
		p.Basemap, p.Levels, p.Shapes = basemapPath, s.Basemap.Levels(), s.shapes
	}
	return p
}

func (s *server) writePage(w http.ResponseWriter, r *http.Request, status int, p web.Page) {
	var body, packed bytes.Buffer
	if err := web.Render(&body, p); err != nil {
		s.Log.Error("api: page", "error", err)
		writeProblem(w, r, &Problem{Title: "the server could not answer", Status: http.StatusInternalServerError})
		return
	}
	z := gzip.NewWriter(&packed)
	z.Write(body.Bytes()) // a buffer takes everything
	z.Close()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	writePacked(w, r, status, body.Bytes(), packed.Bytes())
}

// addressPage answers for one address with HTML.
func (s *server) addressPage(w http.ResponseWriter, r *http.Request, on route) {
	w.Header().Add("Vary", "Accept-Language")
	h, problem := s.found(w, r, on)
	p := s.newPage(r)
	p.Form.Lang = clip(r.URL.Query().Get("lang"))
	switch {
	case problem != nil && problem.Status == http.StatusNotFound:
		s.lost(w, r, web.LostAddress)
		return
	case problem != nil:
		writeProblem(w, r, problem)
		return
	case h == nil:
		return
	}
	p.One, p.Asked, p.Result = true, true, &index.Result{Total: 1, Hits: []index.Hit{*h}}
	p.Known, p.MissingNodes = s.background(r.Context()), s.noteMissing(w.Header())
	s.writePage(w, r, http.StatusOK, p)
}

// lost answers people who ask for what is not there.
func (s *server) lost(w http.ResponseWriter, r *http.Request, what web.Lost) {
	p := s.newPage(r)
	p.Lost, p.Form.Lang = what, clip(r.URL.Query().Get("lang"))
	w.Header().Del("ETag")
	w.Header().Set("Cache-Control", "no-store")
	s.writePage(w, r, http.StatusNotFound, p)
}

// widen counts the facets by which q narrows without what it asks of them, so
// that a reader sees what else may be chosen.
func (s *server) widen(ctx context.Context, a asked, facets []index.Count) *Problem {
	q := a.Query
	q.Points, q.Limit, q.Cursor = 0, 1, ""
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
func (s *server) missing(ctx context.Context, a asked) (int, *Problem) {
	no, q := false, a.Query
	q.InOSM, q.Facets, q.Points, q.Limit, q.Cursor = &no, nil, 0, 1, ""
	result, p := s.query(ctx, a.t, q)
	if p != nil {
		return 0, p
	}
	return result.Total, nil
}

// links answers / for programs.
func (s *server) links(w http.ResponseWriter, r *http.Request) {
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
	s.document(w, r, anyJSON, map[string]any{"name": "gazehound", "region": s.Region, "licence": s.Licence, "attribution": s.Attribution, "links": all})
}

func (s *server) asset(w http.ResponseWriter, r *http.Request, a web.Asset) {
	w.Header().Set("Content-Type", a.Type)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // the path holds its hash
	writePacked(w, r, http.StatusOK, a.Body, a.Gzip)
}

// writePacked writes a body to a client that takes gzip as it is packed.
// The one that the client does not take may be nil.
func writePacked(w http.ResponseWriter, r *http.Request, status int, body, packed []byte) {
	w.Header().Add("Vary", "Accept-Encoding")
	if takesGzip(r.Header.Get("Accept-Encoding")) {
		w.Header().Set("Content-Encoding", "gzip")
		body = packed
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(body) // a reader who has gone does not miss it
	}
}

// takesGzip reads an Accept-Encoding header.
func takesGzip(accept string) bool {
	for part := range strings.SplitSeq(clip(accept), ",") {
		coding, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			_, q, _ := strings.Cut(quality, "q=")
			return strings.Trim(strings.TrimSpace(q), "0.") != "" || strings.TrimSpace(q) == ""
		}
	}
	return false
}

func (s *server) robots(w http.ResponseWriter, r *http.Request, _ route) {
	s.writeText(w, r, "text/plain; charset=utf-8", "User-agent: *\nDisallow: /v1/\nDisallow: /api\nDisallow: /reverse\nDisallow: /structured\nDisallow: /ogc/\nDisallow: /*?\n")
}

func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept, Accept-Language")
	if strings.Contains(r.Header.Get("Accept"), "text/html") && !strings.HasPrefix(r.URL.Path, "/v1/") && !strings.HasPrefix(r.URL.Path, "/ogc/") {
		s.lost(w, r, web.LostPage)
		return
	}
	writeProblem(w, r, &Problem{Title: "there is nothing here", Status: http.StatusNotFound,
		Detail: fmt.Sprintf("%s does not exist.", clip(r.URL.Path)), Expected: strings.Join(paths(), ", "), Hint: texts["en"].didYouMean(r.URL.Path, paths())})
}

// status says what is served; a superset of Photon's and Nominatim's.
func (s *server) status(w http.ResponseWriter, r *http.Request, on route) {
	if _, p := s.parse(r, on); p != nil {
		writeProblem(w, r, p)
		return
	}
	answer := struct {
		Status      string     `json:"status"`
		Version     string     `json:"version"`
		Commit      string     `json:"git_commit,omitempty"`
		Region      string     `json:"region,omitempty"`
		DataUpdated *time.Time `json:"data_updated,omitempty"`
		ImportDate  string     `json:"import_date,omitempty"`
		Addresses   int        `json:"addresses"`
		Pages       int        `json:"pages"`
		Crawl       string     `json:"crawl"`
	}{Status: "ok", Version: s.Version, Commit: s.Commit, Region: s.Region, ImportDate: s.GazetteerDate, Crawl: "stopped"}
	if s.Crawl != nil {
		answer.Crawl = s.Crawl()
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.QueryTimeout)
	defer cancel()
	state, err := s.index.State()
	stats, err2 := s.index.Stats(ctx)
	if err := errors.Join(err, err2); err != nil {
		s.Log.Error("api: status", "error", err)
		writeProblem(w, r, &Problem{Title: "the index cannot be read", Status: http.StatusServiceUnavailable, Retry: true})
		return
	}
	if !state.Updated.IsZero() {
		answer.DataUpdated = &state.Updated
	}
	answer.Addresses, answer.Pages = stats.Addresses, stats.Pages
	w.Header().Set("Cache-Control", "no-store")
	s.document(w, r, anyJSON, answer)
}

// healthz answers 200, or 503 with what is wrong.
func (s *server) healthz(w http.ResponseWriter, r *http.Request, _ route) { s.health(w, r, false) }

// readyz answers 200 when there is something to serve, or 503 with what is
// missing.
func (s *server) readyz(w http.ResponseWriter, r *http.Request, _ route) { s.health(w, r, true) }

func (s *server) health(w http.ResponseWriter, r *http.Request, ready bool) {
	ctx, cancel := context.WithTimeout(r.Context(), s.QueryTimeout)
	defer cancel()
	checks, status := map[string]string{}, http.StatusOK
	note := func(name string, err error) {
		checks[name] = "ok"
		if err != nil {
			checks[name], status = clip(err.Error()), http.StatusServiceUnavailable
		}
	}
	_, err := s.index.Search(ctx, index.Query{Postcode: []string{"0"}, Limit: 1})
	note("index", err)
	for name, check := range s.Checks {
		note(name, check(ctx))
	}
	word := map[bool]string{false: "ok", true: "ready"}[ready]
	if ready && err == nil && s.Ready != nil {
		note("data", s.Ready())
	}
	if status != http.StatusOK {
		word = map[bool]string{false: "unhealthy", true: "not ready"}[ready]
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if status != http.StatusOK {
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(status)
	}
	s.writeJSON(w, r, map[string]any{"status": word, "checks": checks})
}

// notModified sets the ETag, which stands for the data, the program and the
// request, and answers 304 where the asker has this answer already.
func (s *server) notModified(w http.ResponseWriter, r *http.Request, a asked) bool {
	state, err := s.index.State()
	if err != nil {
		return false
	}
	sum := fnv.New64a()
	for _, part := range []string{s.Version, s.Licence, s.Attribution, s.Region, r.Host, r.URL.RequestURI(), r.Header.Get("Accept-Language"), a.format.Name, a.Since.Format(time.RFC3339), web.Version()} {
		fmt.Fprintf(sum, "%q", part)
	}
	tag := fmt.Sprintf(`W/"%s-%x"`, state.Generation, sum.Sum64())
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "public, max-age=30")
	for given := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if given = strings.TrimSpace(given); given == "*" || strings.TrimPrefix(given, "W/") == strings.TrimPrefix(tag, "W/") {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// writeJSON writes v; the headers are set.
func (s *server) writeJSON(w http.ResponseWriter, r *http.Request, v any) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		s.Log.Error("api: encode", "error", err)
		writeProblem(w, r, &Problem{Title: "the server could not answer", Status: http.StatusInternalServerError})
		return
	}
	if r.Method != http.MethodHead {
		w.Write(body.Bytes()) // a reader who has gone does not miss it
	}
}

func (s *server) writeGeoJSON(w http.ResponseWriter, r *http.Request, c *collection) {
	w.Header().Set("Content-Type", "application/geo+json")
	s.noteMissing(w.Header())
	s.writeJSON(w, r, c)
}

// prefersJSON tells whether a client asks for JSON and not for HTML.
func prefersJSON(accept string) bool {
	return strings.Contains(accept, "json") && !strings.Contains(accept, "text/html")
}

// clip bounds foreign text in an answer or log line, and keeps control
// characters out of it.
func clip(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || 0x7f <= r && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if runes := []rune(text); len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return text
}
