package monitor

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gazehound/crawler"
	"gazehound/internal/problem"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/simplify"
)

// Options are the data and the controls of an Admin. All functions must be safe for concurrent use.
type Options struct {
	Board   *Board
	Version string
	Region  string
	Outline orb.MultiPolygon // lon, lat; empty: there is none

	// Language returns the language of the page, en or de, from the requested one and the
	// browser's Accept-Language. nil: all pages are in English.
	Language func(asked, accept string) string

	// Token is required by everything that changes something, as
	// "Authorization: Bearer …", and with Closed by everything but the page
	// itself, /healthz and /readyz.
	Token  string
	Closed bool
	// Hand puts the token into the page. It is for listeners on loopback, whose page no other web
	// site can read.
	Hand bool
	// Loopback refuses requests under names that do not mean this machine, as
	// a web site would make them whose name was bound to our address (DNS
	// rebinding).
	Loopback bool

	Features []string // families of the predictor's terms
	Terms    func(depth int, feature string, n int) []Term
	Next     func(n int) ([]Link, error)
	Explain  func(url string) (any, error) // a value for JSON; an error that wraps ErrUnknown where nothing is known
	Rests    func(hosts []string) []Rest   // nil: no host rests
	Extras   func() Extras

	Nodes func(ctx context.Context) (any, error) // of the crawl, with their state; a value for JSON

	// Run runs the command line of a request that brings the token Owner, which the page
	// does not have: it reads files by the rights of the crawl. nil: none.
	Run   http.HandlerFunc
	Owner string

	// The following functions change the crawl. Their errors may be a *problem.Problem.
	Pause, Resume, Stop func()
	Checkpoint          func() error // makes durable what is not yet
	Lend                func() error // closes the stores for another command; nil: never
	// a person's verdict; see ErrUnknown
	Label func(ctx context.Context, url string, relevant bool) error
	Seeds func(ctx context.Context, urls []string) (SeedsTaken, error) // those out of scope are refused
	Scope *crawler.Scope                                               // takes standing orders
	// queues the parked links that an order released, and counts them; nil disables it
	Release func(ctx context.Context) (int, error)
	// reports each order that was carried out; nil disables it
	Ordered func(done string)

	Troubles func() []string // why the crawl is not well
}

// ErrUnknown is the error for URLs that the crawl does not know, or has not judged.
var ErrUnknown = errors.New("not known")

// A Term is one term of the predictor at a depth.
type Term struct {
	Feature  string  `json:"feature"`
	Word     string  `json:"word"`
	LogOdds  float64 `json:"log_odds"` // > 0: evidence for the link
	Relevant int     `json:"relevant"` // links with it that led to a relevant page
	Other    int     `json:"other"`
	// Trend is LogOdds at moments of this run, the last one last, for as long as
	// the term has been among the strongest.
	Trend []float64 `json:"trend,omitempty"`
}

// A Link is one that waits.
type Link struct {
	URL      string  `json:"url"`
	Priority float64 `json:"priority"`
	Anchor   string  `json:"anchor,omitempty"`
	Distance int     `json:"distance"` // links since the last relevant page
}

// An Admin answers for a running crawl: dashboard, control and metrics. Make
// one with NewAdmin; Close ends its event streams.
type Admin struct {
	o       Options
	mux     *http.ServeMux
	events  *events
	paths   []string // for programs, that are registered
	outline [][][2]float64
	trend   trends[termKey] // of the log-odds; guarded by mu
	ill     bool            // as Publish saw last

	mu sync.Mutex
}

// The dashboard.
var (
	//go:embed dashboard.html
	pageSource string
	//go:embed dashboard.css
	style string
	//go:embed dashboard.js
	script string
)

// NewAdmin returns the handler of the admin listener.
func NewAdmin(o Options) *Admin {
	a := &Admin{o: o, mux: http.NewServeMux(), events: newEvents(), trend: newTermTrends()}
	a.outline = rings(o.Outline)
	page := template.Must(template.New("dashboard").Parse(pageSource))
	stylePath, scriptPath := assetPath(style, ".css"), assetPath(script, ".js")
	a.open("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		token := ""
		if o.Hand {
			token = o.Token
		}
		lang := "en"
		if o.Language != nil {
			lang = o.Language(r.URL.Query().Get("lang"), r.Header.Get("Accept-Language"))
		}
		w.Header().Set("Vary", "Accept-Language")
		page.Execute(w, map[string]any{"Region": o.Region, "Version": o.Version, "Token": token,
			"Style": stylePath[1:], "Script": scriptPath[1:], // below any path "Features": o.Features,
			"Lang": lang, "T": texts[lang], "Tiles": tiles(&Snapshot{}, texts[lang]),
			"Texts": texts[lang].ofScript()})
	})
	a.asset(stylePath, "text/css; charset=utf-8", style)
	a.asset(scriptPath, "text/javascript; charset=utf-8", script)
	a.open("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		health(w, "ok", "unhealthy", o.Troubles())
	})
	a.open("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		health(w, "ready", "not ready", a.unready())
	})

	a.read("GET /metrics", metricsHandler(registry(o.Board, o.Version, o.Extras)).ServeHTTP)
	a.read("GET /v1/crawl", a.json(func(q url.Values) (any, error) {
		lang, err := queryLanguage(q)
		if err != nil {
			return nil, err
		}
		return a.in(lang, o.Board.State()), nil
	}, "lang"))
	a.read("GET /v1/crawl/series", a.json(a.series, "span"))
	a.read("GET /v1/crawl/hosts", a.json(a.hosts, "limit"))
	a.read("GET /v1/crawl/errors", a.json(func(url.Values) (any, error) {
		return map[string]any{"every_s": trendEvery.Seconds(), "errors": o.Board.Troubles()}, nil
	}))
	a.read("GET /v1/crawl/coverage", a.json(a.streets, "limit"))
	a.read("GET /v1/crawl/found", a.json(a.found))
	a.read("GET /v1/crawl/model", a.json(a.terms, "feature", "depth", "top"))
	a.read("GET /v1/crawl/frontier", a.json(a.next, "limit"))
	a.read("GET /v1/crawl/explain", a.json(func(q url.Values) (any, error) {
		if q.Get("url") == "" || len(q.Get("url")) > maxURL {
			return nil, bad("url", q.Get("url"), crawlURL)
		}
		return o.Explain(q.Get("url"))
	}, "url"))
	a.read("GET /v1/crawl/orders", a.json(func(url.Values) (any, error) { return o.Scope.Orders(), nil }))
	a.read("GET /v1/crawl/nodes", a.nodes)
	a.read("GET /v1/crawl/events", func(w http.ResponseWriter, r *http.Request) {
		lang, err := queryLanguage(r.URL.Query())
		if err != nil {
			fault(w, r, err)
			return
		}
		a.events.serve(w, r, o.Board.State(), func(s State) []byte {
			data, _ := json.Marshal(a.in(lang, s)) // texts and finite numbers
			return data
		})
	})

	a.control()
	return a
}

// ServeHTTP answers a request.
func (a *Admin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
		"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if a.o.Loopback && !meansLoopback(r.Host) {
		fault(w, r, &problem.Problem{Status: http.StatusMisdirectedRequest,
			Title:    fmt.Sprintf("this listener does not answer to the name %.80q", r.Host),
			Given:    problem.Clip(r.Host),
			Expected: "localhost or a loopback address",
			Hint:     "use http://localhost or http://127.0.0.1 with its port"})
		return
	}
	if _, pattern := a.mux.Handler(r); pattern == "" {
		a.astray(w, r)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// astray answers a request that nothing is registered for.
func (a *Admin) astray(w http.ResponseWriter, r *http.Request) {
	var methods []string
	for _, m := range []string{http.MethodGet, http.MethodPost} {
		other := r.WithContext(r.Context())
		other.Method = m
		if _, pattern := a.mux.Handler(other); pattern != "" {
			methods = append(methods, m)
		}
	}
	if len(methods) > 0 {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		fault(w, r, &problem.Problem{Status: http.StatusMethodNotAllowed,
			Title: fmt.Sprintf("%.20q is not offered at %.80q", r.Method, r.URL.Path),
			Given: problem.Clip(r.Method), Expected: strings.Join(methods, " or ")})
		return
	}
	fault(w, r, &problem.Problem{Status: http.StatusNotFound,
		Title: fmt.Sprintf("%.80q does not exist here", r.URL.Path), Given: problem.Clip(r.URL.Path),
		Expected: "one of " + strings.Join(a.paths, ", "), Hint: "the dashboard is at /"})
}

// Publish sends s to all readers of the event stream, after new addresses and changes of the
// crawl's health. It never blocks on them.
func (a *Admin) Publish(s State) {
	a.mu.Lock()
	a.trend.sample(s.At, func() map[termKey]float64 { return termValues(a.o.Features, a.o.Terms) })
	a.mu.Unlock()
	var news []event
	add := func(kind string, v any) {
		if data, err := json.Marshal(v); err == nil {
			news = append(news, event{kind: kind, data: data})
		}
	}
	for _, found := range s.New {
		add("address", found)
	}
	reasons := a.o.Troubles()
	if ill := len(reasons) > 0; ill != a.ill {
		a.ill = ill
		add("alert", map[string]any{"at": s.At, "well": !ill, "reasons": append([]string{}, reasons...)})
	}
	a.events.publish(news, s)
}

// in returns s, which is in English, with its sentences in a language of texts.
func (a *Admin) in(lang string, s State) State {
	if lang == "en" {
		return s
	}
	return a.o.Board.in(texts[lang], s)
}

// queryLanguage returns the language in a query, by default English.
func queryLanguage(q url.Values) (string, error) {
	lang := cmp.Or(q.Get("lang"), "en")
	if texts[lang] == nil {
		return "", bad("lang", lang, "en or de")
	}
	return lang, nil
}

// Close ends the event streams.
func (a *Admin) Close() { a.events.close() }

// meansLoopback reports whether the Host of a request can only mean this machine.
func meansLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// open registers what everybody may read.
func (a *Admin) open(pattern string, h http.HandlerFunc) { a.mux.HandleFunc(pattern, h) }

// read registers what only readers with the token get, where one is required.
func (a *Admin) read(pattern string, h http.HandlerFunc) {
	a.paths = append(a.paths, pattern)
	a.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if a.o.Closed && !knows(r, a.o.Token) {
			unauthorized(w, r)
			return
		}
		h(w, r)
	})
}

// asset registers an embedded file under a name that changes with it.
func (a *Admin) asset(path, kind, text string) {
	a.open("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		w.Write([]byte(text))
	})
}

func assetPath(text, end string) string {
	sum := sha256.Sum256([]byte(text))
	return "/assets/" + hex.EncodeToString(sum[:6]) + end
}

// unready returns why the crawl does no work.
func (a *Admin) unready() []string {
	s := a.o.Board.State()
	reasons := a.o.Troubles()
	switch {
	case s.At.IsZero():
		reasons = append(reasons, "the crawl is starting")
	case s.End != "":
		reasons = append(reasons, "the crawl has ended")
	case s.Stopping:
		reasons = append(reasons, "the crawl is stopping")
	case s.Paused:
		reasons = append(reasons, "the crawl is paused")
	}
	return reasons
}

// health answers 200 with the status well, or 503 with the other one and the reasons.
func health(w http.ResponseWriter, well, not string, reasons []string) {
	code, body := http.StatusOK, map[string]any{"status": well}
	if len(reasons) > 0 {
		code, body = http.StatusServiceUnavailable, map[string]any{"status": not, "reasons": reasons}
	}
	data, _ := json.Marshal(body) // texts only
	send(w, code, data)
}

// maxURL bounds a URL of a request, in bytes.
const maxURL = 4096

// crawlURL is what the parameter url takes.
var crawlURL = fmt.Sprintf("one of the crawl's URLs, of at most %d bytes", maxURL)

// json answers with the result of f for a query with these parameters only.
func (a *Admin) json(f func(q url.Values) (any, error), parameters ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for name := range r.URL.Query() {
			if !slices.Contains(parameters, name) {
				fault(w, r, &problem.Problem{
					Title:     fmt.Sprintf("there is no parameter %.40q here", name),
					Parameter: problem.Clip(name), Given: problem.Clip(name),
					Expected: cmp.Or(strings.Join(parameters, ", "), "no parameter"),
				})
				return
			}
		}
		v, err := f(r.URL.Query())
		if err != nil {
			fault(w, r, err)
			return
		}
		answer(w, r, v)
	}
}

// wholeNumber reads a whole number of the query.
func wholeNumber(q url.Values, name string, standard, least, most int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return standard, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, bad(name, text, fmt.Sprintf("%d to %d", least, most))
	}
	return n, nil
}

// series returns one of the curves in columns.
func (a *Admin) series(q url.Values) (any, error) {
	name := q.Get("span")
	if name == "" {
		name = spans[0].Name
	}
	points, ok := a.o.Board.History(name)
	if !ok {
		return nil, bad("span", name, "10m, 6h or 90d")
	}
	c := columns{Span: name, T: []int64{}, Pages: []int64{}, Relevant: []int64{}, Queued: []int64{},
		Addresses: []int64{}, Errors: []int64{}, Harvest: []float64{}}
	for _, p := range points {
		c.T, c.Pages, c.Relevant, c.Queued = append(c.T, p.At), append(c.Pages, p.Pages),
			append(c.Relevant, p.Relevant), append(c.Queued, p.Queued)
		c.Addresses, c.Errors = append(c.Addresses, p.Addresses), append(c.Errors, p.Errors)
		c.Harvest = append(c.Harvest, float64(p.Harvest))
	}
	return c, nil
}

type columns struct {
	Span      string    `json:"span"`
	T         []int64   `json:"t"` // Unix time, seconds
	Pages     []int64   `json:"pages"`
	Relevant  []int64   `json:"relevant"`
	Queued    []int64   `json:"links_queued"`
	Addresses []int64   `json:"addresses"`
	Errors    []int64   `json:"errors"`
	Harvest   []float64 `json:"harvest_1000"`
}

func (a *Admin) hosts(q url.Values) (any, error) {
	n, err := wholeNumber(q, "limit", 20, 1, 1000)
	if err != nil {
		return nil, err
	}
	hosts := a.o.Board.Hosts(n)
	names := make([]string, len(hosts))
	for i := range hosts {
		names[i], hosts[i].State = hosts[i].Name, "ready"
	}
	if a.o.Rests != nil {
		for i, r := range a.o.Rests(names) {
			hosts[i].Rest = r
		}
	}
	return map[string]any{"hosts": hosts}, nil
}

func (a *Admin) streets(q url.Values) (any, error) {
	n, err := wholeNumber(q, "limit", 20, 1, 1000)
	if err != nil {
		return nil, err
	}
	streets, coverage := a.o.Board.Streets(n)
	return map[string]any{"streets": streets, "coverage": coverage}, nil
}

// maxStreetDots bounds the streets on the map.
const maxStreetDots = 5_000

// found returns everything that is on the map: lon, lat, and of dots when they
// were found in Unix seconds, 0 before this run; of streets whether an address of
// it was found.
func (a *Admin) found(url.Values) (any, error) {
	dots := [][3]float64{}
	for _, d := range a.o.Board.Dots() {
		at := 0.0
		if !d.Found.IsZero() {
			at = float64(d.Found.Unix())
		}
		dots = append(dots, [3]float64{d.Lon, d.Lat, at})
	}
	streets, _ := a.o.Board.Streets(maxStreetDots)
	marks := [][3]float64{}
	for _, s := range streets {
		covered := 0.0
		if s.Found > 0 {
			covered = 1
		}
		if s.Lon != 0 || s.Lat != 0 {
			marks = append(marks, [3]float64{s.Lon, s.Lat, covered})
		}
	}
	return map[string]any{"outline": a.outline, "dots": dots, "streets": marks}, nil
}

func (a *Admin) terms(q url.Values) (any, error) {
	depth, err := wholeNumber(q, "depth", 1, 1, 3)
	if err != nil {
		return nil, err
	}
	n, err := wholeNumber(q, "top", 16, 1, 200)
	if err != nil {
		return nil, err
	}
	feature := q.Get("feature")
	known := feature == ""
	for _, f := range a.o.Features {
		known = known || f == feature
	}
	if !known {
		return nil, bad("feature", feature, "one of "+strings.Join(a.o.Features, ", "))
	}
	list := a.o.Terms(depth, feature, n)
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, t := range list {
		list[i].Trend = a.trend.points[termKey{depth, t.Feature, t.Word}]
	}
	return map[string]any{"depth": depth, "feature": feature, "terms": list, "every_s": a.trend.every.Seconds()}, nil
}

func (a *Admin) next(q url.Values) (any, error) {
	n, err := wholeNumber(q, "limit", 10, 1, 100)
	if err != nil {
		return nil, err
	}
	links, err := a.o.Next(n)
	if err != nil {
		return nil, err
	}
	return map[string]any{"links": links}, nil
}

// nodesPatience bounds the search for the nodes of a cluster.
const nodesPatience = 10 * time.Second

func (a *Admin) nodes(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), nodesPatience)
	defer cancel()
	v, err := a.o.Nodes(ctx)
	if err != nil {
		fault(w, r, &problem.Problem{Status: http.StatusServiceUnavailable,
			Title: "the cluster does not say who takes part", Detail: problem.Clip(err.Error()),
			Hint: "the crawl goes on; try again in a moment"})
		return
	}
	answer(w, r, v)
}

// rings returns the rings of the outline, as fine as a small map can show.
func rings(area orb.MultiPolygon) [][][2]float64 {
	list := [][][2]float64{}
	if len(area) == 0 {
		return list
	}
	b := area.Bound()
	fine := simplify.DouglasPeucker(max(b.Max[0]-b.Min[0], b.Max[1]-b.Min[1]) / 1000)
	for _, polygon := range area.Clone() {
		for _, ring := range polygon {
			var points [][2]float64
			for _, p := range fine.Ring(ring) {
				points = append(points, [2]float64{p[0], p[1]})
			}
			list = append(list, points)
		}
	}
	return list
}
