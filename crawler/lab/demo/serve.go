package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
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

// A fixedAnswer is one without a page.
type fixedAnswer struct {
	status     int
	kind, body string
}

func plain(a fixedAnswer) *page.Response {
	return &page.Response{Status: a.status, Header: http.Header{"Content-Type": {a.kind}}, Body: []byte(a.body)}
}

// fixedAnswers are the same on all hosts.
var fixedAnswers = map[whatKind]fixedAnswer{
	missing:  {http.StatusNotFound, "text/html", "<h1>Nicht gefunden</h1>"},
	document: {http.StatusOK, "application/pdf", "%PDF-1.4\n%made up\n%%EOF\n"},
	image:    {http.StatusOK, "image/png", "\x89PNG\r\n\x1a\n"},
	deadLink: {http.StatusGone, "text/html", "<h1>Gibt es nicht mehr</h1>"},
}

func redirect(to string) *page.Response {
	r := plain(fixedAnswer{http.StatusMovedPermanently, "text/html", ""})
	r.Header.Set("Location", to)
	return r
}

// answer returns what u's host says, without waiting for Took, or an error that wraps
// ErrNoHost or ErrReset. The names of hosts in it end in domain.
func (t *Town) answer(u weburl.URL, domain string) (*page.Response, error) {
	n, bare, ok := t.siteOf(u.Host())
	if !ok {
		return nil, fmt.Errorf("demo: %s: %w", u.Host(), ErrNoHost)
	}
	s, home := &t.sites[n], "http://"+t.hostUnder(n, domain)
	path := requestPath(u)
	to := t.lookup(n, path)
	switch {
	case s.behaviour == broken:
		return plain(fixedAnswer{http.StatusInternalServerError, "text/html", "<h1>Interner Fehler</h1>"}), nil
	case s.behaviour == resets:
		return nil, fmt.Errorf("demo: %s: %w", u.Host(), ErrReset)
	case bare:
		return redirect(home + path), nil
	}
	if a, ok := fixedAnswers[to.what]; ok {
		return plain(a), nil
	}
	switch to.what {
	case moved:
		return redirect(home + t.path(to.ref)), nil
	case robotsTxt:
		return t.robots(s, home), nil
	case sitemapXML:
		return plain(fixedAnswer{http.StatusOK, "application/xml", t.sitemap(n, home)}), nil
	}
	c := t.draw(to.ref, to.trap, domain)
	r := &page.Response{Status: http.StatusOK}
	var err error
	r.Body, r.Header, err = c.CodePage().encode(c.buf.Bytes())
	if err != nil {
		panic("demo: page that cannot be encoded: " + err.Error()) // what a code page lacks is escaped
	}
	if to.what == aTrap {
		r.Header.Set("X-Robots-Tag", "noindex")
	}
	if s.behaviour == slow {
		r.Took = slowness
	}
	return r, nil
}

// requestPath returns the path of u with its query.
func requestPath(u weburl.URL) string {
	if u.Query() == "" {
		return u.Path()
	}
	return u.Path() + "?" + u.Query()
}

// robots returns a site's robots.txt.
func (t *Town) robots(s *site, home string) *page.Response {
	text := "User-agent: *\nDisallow: /intern/\nDisallow: /*.pdf$\n"
	switch {
	case s.behaviour == noRobots:
		return plain(fixedAnswer{http.StatusServiceUnavailable, "text/plain", ""})
	case s.behaviour == optedOut:
		text = "User-agent: *\nDisallow: /\n"
	case s.crawlGap > 0:
		text = fmt.Sprintf("User-agent: *\nCrawl-delay: %d\nDisallow: /intern/\n", s.crawlGap)
	case s.style == 3:
		text = "# willkommen\nUser-agent: Plagegeist\nDisallow: /\n\nUser-agent: *\n" +
			"Disallow: /intern\nAllow: /\nSitemap: " + home + "/sitemap.xml\n"
	case s.kind == organisation && s.org.count[orgIntern] == 0:
		return plain(fixedAnswers[missing])
	}
	return plain(fixedAnswer{http.StatusOK, "text/plain; charset=utf-8", text})
}

// sitemap returns a site map of the first pages.
func (t *Town) sitemap(site int32, home string) string {
	var urls []string
	for n := range min(t.sites[site].pages, 50) {
		if r := (ref{site, n}); !t.disallowed(r) {
			urls = append(urls, home+t.path(r))
		}
	}
	return written("sitemap", urls)
}

// written returns what a template makes of data.
func written(template string, data any) string {
	var b strings.Builder
	if err := templates().ExecuteTemplate(&b, template, data); err != nil {
		panic("demo: pages.tmpl: " + err.Error()) // it is part of the program
	}
	return b.String()
}

// Fetch answers without a network and without waiting: Took says how long the
// host would have taken.
func (t *Town) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := t.answer(u, t.o.Domain)
	if err != nil {
		return nil, err
	}
	r.URL, r.Fetched = u, time.Now()
	if to := r.Header.Get("Location"); to != "" {
		r.Location, _ = u.Resolve(to)
	}
	return r, nil
}

// ServeHTTP answers for every host of the town's web: as a forward proxy, by
// the Host header, and for NAME.localhost, whose pages then link to other
// hosts of that form. A host that is none of the town's is a bad gateway; an
// IP address or plain localhost gets a page about the town.
func (t *Town) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if r.URL.IsAbs() {
		host = r.URL.Host
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "demo: only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	u, err := weburl.Parse("http://" + host + r.URL.RequestURI())
	if err != nil {
		http.Error(w, "demo: "+err.Error(), http.StatusBadRequest)
		return
	}
	a, err := t.answer(u, t.domainFor(host))
	switch {
	case errors.Is(err, ErrReset):
		panic(http.ErrAbortHandler) // closes the connection without an answer
	case err != nil && !r.URL.IsAbs() && isHere(u.Hostname()):
		t.serveSelf(w, r)
		return
	case err != nil:
		http.Error(w, "demo: no such host: "+u.Host(), http.StatusBadGateway)
		return
	}
	select {
	case <-time.After(a.Took):
	case <-r.Context().Done():
		return
	}
	maps.Copy(w.Header(), a.Header)
	w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	w.WriteHeader(a.Status)
	if r.Method == http.MethodGet {
		w.Write(a.Body) // the client may have gone
	}
}

// domainFor returns what host names end in on a page that was requested from host.
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

// isHere reports whether a name means the server itself.
func isHere(name string) bool {
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// serveSelf answers with a page about the town.
func (t *Town) serveSelf(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" && r.URL.Path != "/bot" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	domain := t.domainFor("x.localhost" + r.Host[strings.LastIndexByte(r.Host, ':'):])
	var seeds [][2]string
	for _, s := range t.seedSites() {
		seeds = append(seeds, [2]string{t.hostUnder(s, domain), t.sites[s].name})
	}
	io.WriteString(w, written("self", map[string]any{"Name": t.Name(), "Seeds": seeds}))
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
