// Package api serves an index over HTTP: /v1 in full, /api, /reverse and /structured as Photon
// does, /ogc by OGC API Features, feeds, and the search page. Start with the two tables from which
// /openapi.json is made: endpoints (routes.go) and parameters (parameters.go).
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/texts"
	"gazehound/index/web"
	"gazehound/internal/localtime"

	"github.com/klauspost/compress/gzhttp"
	"github.com/paulmach/orb"
)

// Options are the metadata of answers, and limits.
type Options struct {
	Region  string           // shown to people; may be empty
	Outline orb.MultiPolygon // of the region, drawn on the page; may be empty

	Version, Commit string // of the program

	// Licence and Attribution are those of the gazetteers that the coordinates
	// come from: "ODbL-1.0", "© OpenStreetMap contributors". Every answer
	// carries them.
	Licence, Attribution string
	GazetteerDate        string // of the gazetteer's data, for /status; may be empty

	// OSM: the gazetteer has OpenStreetMap data, so a house that it lacks is missing on the map.
	OSM bool

	// Basemap has the streets and waters that the map shows; nil: none. Tiles
	// is the address of a tile server in its place, such as
	// "https://tile.example/{z}/{x}/{y}.png", and TilesAttribution the credit
	// that its terms require on the map.
	Basemap                 *gazetteer.Basemap
	Tiles, TilesAttribution string

	// Gazetteer has the houses, streets and villages of the region, or of Within if that is not
	// nil. nil: only addresses on pages are found.
	Gazetteer *gazetteer.Gazetteer
	Within    *gazetteer.Region

	// Clock returns the clock of the region, for opening hours. nil: that of UTC, without holidays.
	Clock func() localtime.Clock

	// CORS lists the origins whose pages may read the answers, such as
	// "https://map.example"; "*" is every one. Empty: none.
	CORS []string

	MaxLimit     int           // hits of one answer, 1 to index.MaxLimit
	QueryTimeout time.Duration // > 0
	MaxQueries   int           // running at once, ≥ 1; further ones wait

	// Rate and Bandwidth are the requests and the bytes a second of one client that is
	// not on this machine, ≥ 0; 0: any number. TrustedProxies are the addresses ("10.0.0.1")
	// and networks ("10.0.0.0/8") whose X-Forwarded-For header names the client.
	Rate           float64
	Bandwidth      int64
	TrustedProxies []string

	// Loopback: the server listens on this machine only. It then answers only requests for
	// localhost, loopback addresses and Hosts, against DNS rebinding by foreign pages.
	Loopback bool
	Hosts    []string

	// Agent and Contact are shown on /bot: the token for robots.txt, and a URL or mail address of
	// the operator, which may be empty.
	Agent, Contact string
	// Remove stores a removal request and returns its number; nil: the form is off. It must be safe
	// for concurrent use.
	Remove func(Removal) (number int, err error)

	// Corrections take what people say of addresses; nil: nobody corrects anything here.
	Corrections *Corrections

	// Ready returns why there is nothing to serve yet, such as no crawl. nil, or nil returned:
	// ready.
	Ready func() error

	// Coverage returns in how many of the region's streets the crawl has found addresses; 0
	// streets: unknown. nil: unknown.
	Coverage func() (found, streets int)

	// Crawl is shown by /status: "running", "stopped". Nil: "stopped".
	Crawl func() string
	// Asked is called with every first page of a search with words, from many goroutines. Nil: none.
	Asked func(Question)
	// Checks are further checks of /healthz, by their names.
	Checks map[string]func(context.Context) error
	// Log logs internal errors; nil: none.
	Log *slog.Logger
}

// DefaultOptions returns the options of config.yaml as shipped.
func DefaultOptions() Options {
	return Options{Version: "dev", Agent: "gazehound", MaxLimit: index.MaxLimit, Rate: 20,
		QueryTimeout: 5 * time.Second, MaxQueries: 4 * runtime.GOMAXPROCS(0)}
}

// Validate returns an error that names the first bad option.
func (o Options) Validate() error {
	switch {
	case o.MaxLimit < 1 || o.MaxLimit > index.MaxLimit:
		return fmt.Errorf("api: limit must be 1 to %d, got %d", index.MaxLimit, o.MaxLimit)
	case o.QueryTimeout <= 0:
		return fmt.Errorf("api: query timeout %v is not positive", o.QueryTimeout)
	case o.MaxQueries < 1:
		return fmt.Errorf("api: %d queries at once: want 1 or more", o.MaxQueries)
	case !(o.Rate >= 0 && o.Rate <= 1e6):
		return fmt.Errorf("api: rate must be 0 to 1000000 requests a second, got %v", o.Rate)
	case o.Bandwidth < 0:
		return fmt.Errorf("api: bandwidth of %d bytes a second is negative", o.Bandwidth)
	case o.Tiles != "" && (web.Origin(o.Tiles) == "" || !tilePlace.MatchString(o.Tiles)):
		const example = "https://tile.example/{z}/{x}/{y}.png"
		return fmt.Errorf("api: %q is not a tile URL such as %s", o.Tiles, example)
	}
	if _, err := networks(o.TrustedProxies); err != nil {
		return err
	}
	for _, origin := range o.CORS {
		if origin == "*" {
			if len(o.CORS) > 1 {
				return errors.New(`api: "*" already allows every origin; name no others beside it`)
			}
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || "http://"+u.Host != origin && "https://"+u.Host != origin {
			return fmt.Errorf(`api: %q is not an origin such as https://map.example, without a path`, origin)
		}
	}
	return nil
}

// tilePlace matches addresses with the three parts of a tile's place.
var tilePlace = regexp.MustCompile(`\{z\}.*\{x\}.*\{y\}|\{z\}.*\{y\}.*\{x\}`)

// A Source is the index that is served: an index.Index, or several as one.
type Source interface {
	Search(ctx context.Context, q index.Query) (*index.Result, error)
	Clusters(ctx context.Context, q index.Query, zoom int) ([]index.Cluster, int, error)
	Suggest(typed string, limit int) ([]index.Suggestion, error)
	Walk(ctx context.Context, f index.Filters, fn func(*index.Hit) error) error
	WalkNames(ctx context.Context, fn func(*index.Hit) error) error
	Address(id string) (*index.Hit, error)
	Stats(ctx context.Context) (index.Stats, error)
	State() (index.State, error)
}

// clock returns the clock of the region.
func (s *server) clock() localtime.Clock {
	if s.Clock == nil {
		return localtime.Clock{}
	}
	return s.Clock()
}

// A server answers requests about one index.
type server struct {
	Options
	index     Source
	running   chan struct{} // a slot for each query that runs
	exporting chan struct{} // a slot for each export that runs
	clients   *clients
	metrics   *metrics
	comparing comparing
	doubting  doubting
}

const (
	maxURL     = 8 << 10 // bytes of a request target
	maxExports = 2       // at once
)

func newServer(x Source, o Options) *server {
	return &server{Options: o, index: x, clients: newClients(o), metrics: newMetrics(),
		comparing: comparing{turn: make(chan struct{}, 1)}, doubting: doubting{turn: make(chan struct{}, 1)},
		running: make(chan struct{}, o.MaxQueries), exporting: make(chan struct{}, maxExports)}
}

// Handler returns the handler of all requests about x. It panics if o is invalid.
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
		mux.HandleFunc(e.path, func(w http.ResponseWriter, r *http.Request) { s.serve(e, w, r) })
	}
	if s.Corrections != nil {
		mux.HandleFunc(web.CorrectionsPath, s.correctionsPage)
	}
	byPath := map[string][]deskEndpoint{}
	for _, e := range desk() {
		byPath[e.path] = append(byPath[e.path], e)
	}
	for path, offered := range byPath {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { s.serveDesk(offered, w, r) })
	}
	for _, a := range web.Assets() {
		mux.HandleFunc(a.Path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", a.Type)
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // the path holds its hash
			writeBody(w, r, a.Body)
		})
	}
	mux.Handle("/metrics", s.metrics.handler)
	mux.HandleFunc("/", s.notFound)
	return s.counted(gzhttp.GzipHandler(s.guard(mux)))
}

// counted counts the bytes of each answer for its client and logs each request at level debug,
// without the client.
func (s *server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, c := time.Now(), &counting{ResponseWriter: w, status: http.StatusOK, client: s.clients.of(r)}
		defer func() {
			s.metrics.request(r.Pattern, c.status, time.Since(began))
			s.Log.Debug("request", "method", clip(r.Method), "path", clip(r.URL.EscapedPath()),
				"query", clip(r.URL.RawQuery), "status", c.status, "bytes", c.bytes,
				"took", time.Since(began).Round(time.Microsecond))
		}()
		next.ServeHTTP(c, r)
	})
}

// A counting writer records status and size of an answer.
type counting struct {
	http.ResponseWriter
	client *client
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
	c.client.received(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (c *counting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// guard wraps every request: headers, method, CORS, limits, and an answer for panics.
func (s *server) guard(next http.Handler) http.Handler {
	policy := web.Policy(web.Origin(s.Tiles))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.setHeaders(w.Header(), r, policy)
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				problem := s.broken("panic", fmt.Errorf("%s: %v", clip(r.URL.Path), p))
				problem.Detail = "An unexpected failure; the server's log says more."
				problem.Write(w, r)
			}
		}()
		post := r.Method == http.MethodPost && r.URL.Path == removalPath && s.Remove != nil || s.isDeskPost(r)
		p := s.refusal(w.Header(), r, post)
		if p != nil {
			p.Write(w, r)
			return
		}
		if r.Method == http.MethodOptions {
			if w.Header().Get("Access-Control-Allow-Origin") != "" {
				w.Header().Set("Access-Control-Allow-Methods", "GET, HEAD")
				w.Header().Set("Access-Control-Max-Age", "86400")
			}
			w.Header().Set("Allow", methods)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

const methods = "GET, HEAD, OPTIONS"

// setHeaders sets the headers of every answer.
func (s *server) setHeaders(h http.Header, r *http.Request, policy string) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Permissions-Policy", "geolocation=(self), camera=(), microphone=()")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	origin := r.Header.Get("Origin")
	if slices.Contains(s.CORS, "*") && origin != "" {
		origin = "*"
	} else if len(s.CORS) > 0 {
		h.Add("Vary", "Origin")
	}
	if slices.Contains(s.CORS, origin) {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "ETag, Link, Retry-After")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
}

// refusal returns the problem of a refused request, or nil; post says that POST is offered there.
func (s *server) refusal(h http.Header, r *http.Request, post bool) *Problem {
	switch {
	case !s.hostAllowed(r):
		return &Problem{Title: "this host is not served", Status: http.StatusMisdirectedRequest, Given: clip(r.Host),
			Expected: "localhost or a loopback address",
			Detail:   "This server is for its own machine and was requested under another name.",
			Hint:     "serve.hosts in config.yaml lists further names, such as that of a proxy."}
	case !s.clients.of(r).admits():
		return &Problem{Title: "too many requests", Status: http.StatusTooManyRequests, Retry: true,
			Detail: fmt.Sprintf("One client may send %g requests a second here%s.", s.Rate, bandwidth(s.Bandwidth)),
			Hint:   "Wait a second. /v1/export.geojsonseq has everything at once."}
	case len(r.RequestURI) > maxURL:
		return &Problem{Title: "the address is too long", Status: http.StatusRequestURITooLong,
			Detail: fmt.Sprintf("The request has %d bytes; at most %d are allowed.", len(r.RequestURI), maxURL)}
	case !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, r.Method) && !post:
		h.Set("Allow", methods)
		return &Problem{Title: "the method is not offered", Status: http.StatusMethodNotAllowed,
			Detail: fmt.Sprintf("%s is not offered here.", clip(r.Method)), Expected: "GET"}
	}
	return nil
}

func bandwidth(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf(" and receive %d bytes a second", bytes)
}

// english are the words of the API.
func english() texts.Words { return texts.Of("api", "en") }

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
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
