package demo

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

// slowness is how long a slow host takes for a page.
const slowness = 900 * time.Millisecond

// ErrNoHost is wrapped by the error of Fetch for a host that the town's web
// does not have.
var ErrNoHost = errors.New("no such host")

// ErrReset is wrapped by the error of Fetch for a host that closes
// connections.
var ErrReset = errors.New("connection reset")

// An answer is what a host says to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
	wait   time.Duration // before the answer
	reset  bool          // close the connection instead
}

func plain(status int, kind, body string) answer {
	return answer{status: status, header: http.Header{"Content-Type": {kind}}, body: []byte(body)}
}

func redirect(to string) answer {
	a := plain(http.StatusMovedPermanently, "text/html", "")
	a.header.Set("Location", to)
	return a
}

// answer returns what u's host says. The names of hosts in it end in domain.
func (t *Town) answer(u weburl.URL, domain string) (a answer, ok bool) {
	n, bare, ok := t.siteOf(u.Host())
	if !ok {
		return answer{}, false
	}
	s, home := &t.sites[n], "http://"+t.hostUnder(n, domain)
	path := requestPath(u)
	to := t.lookup(n, path)
	switch {
	case s.fate == broken:
		return plain(http.StatusInternalServerError, "text/html", "<h1>Interner Fehler</h1>"), true
	case s.fate == resets:
		return answer{reset: true}, true
	case bare:
		return redirect(home + path), true
	}
	switch to.what {
	case missing:
		return plain(http.StatusNotFound, "text/html", "<h1>Nicht gefunden</h1>"), true
	case moved:
		return redirect(home + t.path(to.ref)), true
	case robotsTxt:
		return t.robots(s, home), true
	case sitemapXML:
		return plain(http.StatusOK, "application/xml", t.sitemap(n, home)), true
	case document:
		return plain(http.StatusOK, "application/pdf", "%PDF-1.4\n%made up\n%%EOF\n"), true
	case image:
		return plain(http.StatusOK, "image/png", "\x89PNG\r\n\x1a\n"), true
	case deadLink:
		return plain(http.StatusGone, "text/html", "<h1>Gibt es nicht mehr</h1>"), true
	}
	c := t.canvas(to.ref, to.trap, false)
	c.domain = domain
	c.draw()
	c.fill(t.o.PageSize)
	a.status = http.StatusOK
	var err error
	if a.body, a.header, err = c.codePage().encode(c.buf); err != nil {
		panic("demo: page that cannot be encoded: " + err.Error()) // what a code page lacks is escaped
	}
	if to.what == aTrap {
		a.header.Set("X-Robots-Tag", "noindex")
	}
	if s.fate == slow {
		a.wait = slowness
	}
	return a, true
}

// requestPath returns the path of u with its query.
func requestPath(u weburl.URL) string {
	if u.Query() == "" {
		return u.Path()
	}
	return u.Path() + "?" + u.Query()
}

// robots returns a site's robots.txt.
func (t *Town) robots(s *site, home string) answer {
	text := "User-agent: *\nDisallow: /intern/\nDisallow: /*.pdf$\n"
	switch {
	case s.fate == noRobots:
		return plain(http.StatusServiceUnavailable, "text/plain", "")
	case s.fate == optedOut:
		text = "User-agent: *\nDisallow: /\n"
	case s.crawlGap > 0:
		text = fmt.Sprintf("User-agent: *\nCrawl-delay: %d\nDisallow: /intern/\n", s.crawlGap)
	case s.style == 3:
		text = "# willkommen\nUser-agent: Plagegeist\nDisallow: /\n\nUser-agent: *\nDisallow: /intern\nAllow: /\nSitemap: " + home + "/sitemap.xml\n"
	case s.kind == organisation && s.org.count[orgIntern] == 0:
		return plain(http.StatusNotFound, "text/html", "<h1>Nicht gefunden</h1>")
	}
	return plain(http.StatusOK, "text/plain; charset=utf-8", text)
}

// sitemap returns a site map of the first pages.
func (t *Town) sitemap(site int32, home string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n")
	for n := range min(t.sites[site].pages, 50) {
		if r := (ref{site, n}); !t.disallowed(r) {
			b.WriteString("<url><loc>" + home + html.EscapeString(t.path(r)) + "</loc></url>\n")
		}
	}
	b.WriteString("</urlset>\n")
	return b.String()
}

// Fetch answers without a network and without waiting: Took says how long the
// host would have taken.
func (t *Town) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a, ok := t.answer(u, t.o.Domain)
	switch {
	case !ok:
		return nil, fmt.Errorf("demo: %s: %w", u.Host(), ErrNoHost)
	case a.reset:
		return nil, fmt.Errorf("demo: %s: %w", u.Host(), ErrReset)
	}
	r := &page.Response{URL: u, Status: a.status, Header: a.header, Body: a.body, Fetched: time.Now(), Took: a.wait}
	if to := a.header.Get("Location"); to != "" {
		r.Location, _ = u.Resolve(to)
	}
	return r, nil
}

// A Ledger keeps the first million requests that a server answered. The zero
// Ledger is ready; it is safe for concurrent use.
type Ledger struct {
	mu       sync.Mutex
	requests []Request
}

// A Request is one line of a Ledger.
type Request struct {
	Began  time.Time
	Took   time.Duration
	Host   string
	Path   string // with query
	Agent  string
	Status int // 0: the connection was closed
}

const maxRequests = 1_000_000

func (l *Ledger) add(r Request) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.requests) < maxRequests {
		l.requests = append(l.requests, r)
	}
}

// Requests returns the requests in the order in which they were answered.
func (l *Ledger) Requests() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Request(nil), l.requests...)
}

// Handler answers for every host of the town's web: as a forward proxy, by
// the Host header, and for NAME.localhost, whose pages then link to other
// hosts of that form. A host that is none of the town's is a bad gateway; an
// IP address or plain localhost gets a page about the town. Requests are
// written to l unless it is nil.
func (t *Town) Handler(l *Ledger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		host := r.Host
		if r.URL.IsAbs() {
			host = r.URL.Host
		}
		status := t.serve(w, r, host)
		l.add(Request{began, time.Since(began), host, r.URL.RequestURI(), r.UserAgent(), status})
		if status == 0 {
			panic(http.ErrAbortHandler) // closes the connection without an answer
		}
	})
}

// serve answers one request for a host and returns the status, 0 if the
// connection was closed.
func (t *Town) serve(w http.ResponseWriter, r *http.Request, host string) int {
	fail := func(status int, text string) int {
		http.Error(w, "demo: "+text, status)
		return status
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return fail(http.StatusMethodNotAllowed, "only GET and HEAD")
	}
	u, err := weburl.Parse("http://" + host + r.URL.RequestURI())
	if err != nil {
		return fail(http.StatusBadRequest, err.Error())
	}
	a, ok := t.answer(u, t.domainFor(host))
	if !ok {
		if !r.URL.IsAbs() && isHere(u.Hostname()) {
			return t.serveSelf(w, r)
		}
		return fail(http.StatusBadGateway, "no such host: "+u.Host())
	}
	if a.wait > 0 {
		timer := time.NewTimer(a.wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return 0
		}
	}
	if a.reset {
		return 0
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	if r.Method == http.MethodGet {
		w.Write(a.body) // the client may have gone
	}
	return a.status
}

// domainFor returns what the names of hosts end in on a page asked of host.
func (t *Town) domainFor(host string) string {
	name, port, found := strings.Cut(strings.ToLower(host), ":")
	if !strings.HasSuffix(name, ".localhost") || strings.HasSuffix(host, "."+t.o.Domain) {
		return t.o.Domain
	}
	if !found {
		return "localhost"
	}
	return "localhost:" + port
}

// isHere tells whether a name means the server itself.
func isHere(name string) bool {
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// serveSelf tells people where they are.
func (t *Town) serveSelf(w http.ResponseWriter, r *http.Request) int {
	if r.URL.Path != "/" && r.URL.Path != "/bot" {
		http.NotFound(w, r)
		return http.StatusNotFound
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>%[1]s, a made-up town</title>\n"+
		"<h1>%[1]s, a made-up town</h1>\n<p>This server is a proxy for the web of a town that does not exist. Some of its pages:</p>\n<ul>\n", t.Name())
	for _, s := range t.seedSites() {
		fmt.Fprintf(w, "<li><a href=\"http://%s/\">%s</a></li>\n", t.hostUnder(s, t.domainFor("x.localhost"+r.Host[strings.LastIndexByte(r.Host, ':'):])), t.sites[s].name)
	}
	io.WriteString(w, "</ul>\n")
	return http.StatusOK
}

// Listen listens on a loopback address such as "127.0.0.1:9900" (port 0: any)
// and refuses every other one: the town is for this machine only.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("demo: listen address %q: want 127.0.0.1:PORT", address)
	}
	if !isHere(host) {
		return nil, fmt.Errorf("demo: listen address %q is not on loopback; want 127.0.0.1:PORT", address)
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	return ln, nil
}

// Serve answers requests on ln, which it closes, until ctx ends (nil) or the
// listener fails. All goroutines that it starts have ended when it returns.
func (t *Town) Serve(ctx context.Context, ln net.Listener, l *Ledger) error {
	server := &http.Server{Handler: t.Handler(l), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan error, 1)
	go func() { done <- server.Serve(ln) }()
	select {
	case err := <-done:
		return fmt.Errorf("demo: %w", err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if server.Shutdown(stop) != nil {
		server.Close()
	}
	<-done
	return nil
}
