package demo

import (
	"context"
	"errors"
	"fmt"
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

// answer returns what u's host says. The names of hosts in it end in domain.
func (t *Town) answer(u weburl.URL, domain string) (answer, bool) {
	to, bare, ok := t.targetOf(u)
	if !ok {
		return answer{}, false
	}
	site := int(to.ref.site)
	s := &t.sites[0]
	if i, _, found := t.siteOf(u.Host()); found {
		site, s = i, &t.sites[i]
	}
	host := s.host + "." + domain
	if s.www {
		host = "www." + host
	}
	redirect := func(path string) (answer, bool) {
		h := http.Header{"Location": {"http://" + host + path}, "Content-Type": {"text/html"}}
		return answer{status: http.StatusMovedPermanently, header: h}, true
	}
	plain := func(status int, kind, body string) (answer, bool) {
		return answer{status: status, header: http.Header{"Content-Type": {kind}}, body: []byte(body)}, true
	}
	switch {
	case s.fate == broken:
		return plain(http.StatusInternalServerError, "text/html", "<h1>Interner Fehler</h1>")
	case s.fate == resets:
		return answer{reset: true}, true
	case bare:
		path := u.Path()
		if u.Query() != "" {
			path += "?" + u.Query()
		}
		return redirect(path)
	case to.what == moved:
		return redirect(t.path(to.ref))
	case to.what == robotsTxt && s.fate == noRobots:
		return plain(http.StatusServiceUnavailable, "text/plain", "")
	case to.what == robotsTxt:
		if text := t.robots(site, host); text != "" {
			return plain(http.StatusOK, "text/plain; charset=utf-8", text)
		}
		return plain(http.StatusNotFound, "text/html", "<h1>Nicht gefunden</h1>")
	case to.what == sitemapXML:
		return plain(http.StatusOK, "application/xml", t.sitemap(site, host))
	case to.what == document:
		return plain(http.StatusOK, "application/pdf", "%PDF-1.4\n%made up\n%%EOF\n")
	case to.what == image:
		return plain(http.StatusOK, "image/png", "\x89PNG\r\n\x1a\n")
	case to.what == deadLink:
		return plain(http.StatusGone, "text/html", "<h1>Gibt es nicht mehr</h1>")
	case to.what == missing:
		return plain(http.StatusNotFound, "text/html", "<h1>Nicht gefunden</h1>")
	}
	c := t.canvas(to.ref, to.trap, false)
	c.domain = domain
	c.draw()
	c.fill(t.o.PageSize)
	a := answer{status: http.StatusOK, header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, body: c.buf}
	if c.foreign {
		var err error
		if a.body, a.header, err = t.codePage(to.ref.site).encode(c.buf); err != nil {
			panic("demo: page that cannot be encoded: " + err.Error()) // what a code page lacks is escaped
		}
	} else if s.latin1 {
		a.body = latin1(c.buf)
		a.header.Set("Content-Type", "text/html")
		if s.declares {
			a.header.Set("Content-Type", "text/html; charset=ISO-8859-1")
		}
	}
	if to.what == aTrap {
		a.header.Set("X-Robots-Tag", "noindex")
	}
	if s.fate == slow {
		a.wait = slowness
	}
	return a, true
}

// latin1 recodes a page, with references for what ISO-8859-1 does not have.
func latin1(utf8 []byte) []byte {
	out := make([]byte, 0, len(utf8))
	for _, r := range string(utf8) {
		if r < 256 {
			out = append(out, byte(r))
		} else {
			out = append(out, "&#"...)
			out = strconv.AppendInt(out, int64(r), 10)
			out = append(out, ';')
		}
	}
	return out
}

// robots returns a site's robots.txt, or "" if it has none.
func (t *Town) robots(site int, host string) string {
	s := &t.sites[site]
	switch {
	case s.fate == optedOut:
		return "User-agent: *\nDisallow: /\n"
	case s.crawlGap > 0:
		return fmt.Sprintf("User-agent: *\nCrawl-delay: %d\nDisallow: /intern/\n", s.crawlGap)
	case s.style == 3:
		return "# willkommen\nUser-agent: Plagegeist\nDisallow: /\n\nUser-agent: *\nDisallow: /intern\nAllow: /\nSitemap: http://" + host + "/sitemap.xml\n"
	case s.kind == organisation && s.org.has&(1<<orgIntern) == 0:
		return ""
	default:
		return "User-agent: *\nDisallow: /intern/\nDisallow: /*.pdf$\n"
	}
}

// sitemap returns a site map of the first pages.
func (t *Town) sitemap(site int, host string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n")
	for n := range min(t.sites[site].pages, 50) {
		if r := (ref{int32(site), n}); !t.disallowed(r) {
			b.WriteString("<url><loc>http://" + host + strings.ReplaceAll(t.path(r), "&", "&amp;") + "</loc></url>\n")
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
	u, err := weburl.Parse("http://" + host + r.URL.EscapedPath() + query(r))
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

func query(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + r.URL.RawQuery
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
	_, port, _ := net.SplitHostPort(r.Host)
	for _, u := range t.Seeds() {
		name := strings.TrimSuffix(u.Host(), "."+t.o.Domain)
		href := "http://" + name + ".localhost"
		if port != "" {
			href += ":" + port
		}
		fmt.Fprintf(w, "<li><a href=\"%s/\">%s</a></li>\n", href, name)
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
