package crawltest

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gazehound/crawler/weburl"

	"github.com/rogpeppe/go-internal/txtar"
)

// A Web is a made-up web: pages by URL. It is written as a txtar archive whose
// file names are URLs.
//
//	-- http://a.example/ --
//	<a href="http://b.example/kontakt">Kontakt</a>
//	-- http://a.example/old --
//	HTTP 301
//	Location: /new
//	-- http://b.example/kontakt --
//	HTTP 200
//	Content-Type: text/plain
//	Sleep: 50ms
//
//	Schloßplatz 1
//
// A file that begins with a line "HTTP status" has header lines up to the
// first empty line; Sleep is not sent, it delays the answer. Other files are
// answers with status 200. The default type follows from the path: robots.txt
// and .txt are plain text, .xml is XML, .js and .json are scripts and JSON, all else HTML. What is not in the
// archive is answered with 404.
type Web struct{ pages map[string]answerPage }

type answerPage struct {
	status int
	header http.Header
	sleep  time.Duration
	body   []byte
}

// ParseWeb reads a Web. Schemes do not count: http and https are one page.
func ParseWeb(archive []byte) (*Web, error) {
	w := &Web{pages: make(map[string]answerPage)}
	for _, f := range txtar.Parse(archive).Files {
		u, err := weburl.Parse(f.Name)
		if err != nil {
			return nil, fmt.Errorf("crawltest: file %q: %w", f.Name, err)
		}
		p, err := parsePage(u.Path(), f.Data)
		if err != nil {
			return nil, fmt.Errorf("crawltest: file %q: %w", f.Name, err)
		}
		w.pages[key(u)] = p
	}
	if len(w.pages) == 0 {
		return nil, errors.New("crawltest: the archive holds no pages")
	}
	return w, nil
}

// MustWeb is ParseWeb for archives that are part of a test.
func MustWeb(archive string) *Web {
	w, err := ParseWeb([]byte(archive))
	if err != nil {
		panic(err)
	}
	return w
}

func key(u weburl.URL) string { return strings.TrimPrefix(u.String(), u.Scheme()+"://") }

// types are the default types of pages by the ends of their paths.
var types = map[string]string{".txt": "text/plain; charset=utf-8", ".xml": "application/xml",
	".js": "text/javascript; charset=utf-8", ".json": "application/json"}

func parsePage(name string, data []byte) (p answerPage, err error) {
	text := string(data)
	if !strings.HasPrefix(text, "HTTP ") {
		text = "HTTP 200\n\n" + text
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(text, "HTTP "), "\n")
	r, err := http.ReadResponse(bufio.NewReader(strings.NewReader("HTTP/1.0 "+first+" -\n"+rest+"\n")), nil)
	if err != nil {
		return p, err
	}
	if r.StatusCode < 200 || r.StatusCode > 599 {
		return p, fmt.Errorf("%q is not a status such as 404", first)
	}
	p.status, p.header = r.StatusCode, r.Header
	if p.header.Get("Content-Type") == "" {
		p.header.Set("Content-Type", cmp.Or(types[path.Ext(name)], "text/html; charset=utf-8"))
	}
	if s := p.header.Get("Sleep"); s != "" {
		p.header.Del("Sleep")
		p.sleep, err = time.ParseDuration(s)
		if err != nil {
			return p, fmt.Errorf("header: %w", err)
		}
	}
	_, body, _ := strings.Cut("\n"+rest, "\n\n")
	p.body = []byte(body)
	return p, nil
}

// Hosts returns the hosts of the web in order.
func (w *Web) Hosts() []string {
	var hosts []string
	for k := range w.pages {
		host, _, _ := strings.Cut(k, "/")
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// A Server is a Web on loopback. All its hosts are reached in two ways: as a
// forward proxy (Proxy), under their own names; or directly, with its Port in
// the URL (URL) and its Resolve in place of DNS.
type Server struct {
	web     *Web
	port    uint16
	addrs   map[string]netip.Addr
	servers []*http.Server
	running sync.WaitGroup

	mu     sync.Mutex
	ledger []Request
}

// A Request is one line of the ledger.
type Request struct {
	Host       string // without the server's port
	Path       string // with query
	IP         string // address of the server
	Start, End time.Time
}

// Start serves w on ips addresses of loopback, 127.0.0.1 and up, over which
// the hosts are spread in order; Close ends it. It panics where loopback
// cannot be listened on; only Linux has more than the first address.
func (w *Web) Start(ips int) *Server {
	s := &Server{web: w, addrs: make(map[string]netip.Addr)}
	var own []netip.Addr
	for i := range ips {
		addr := netip.AddrFrom4([4]byte{127, 0, 0, byte(1 + i)})
		l, err := net.Listen("tcp", netip.AddrPortFrom(addr, s.port).String())
		if err != nil {
			panic(fmt.Sprintf("crawltest: %v", err))
		}
		s.port = uint16(l.Addr().(*net.TCPAddr).Port)
		own = append(own, addr)
		server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
		s.servers = append(s.servers, server)
		s.running.Go(func() { server.Serve(l) })
	}
	for i, host := range w.Hosts() {
		s.addrs[host] = own[i%len(own)]
	}
	return s
}

// Close ends the server and waits for it.
func (s *Server) Close() {
	for _, server := range s.servers {
		server.Close()
	}
	s.running.Wait()
}

// Proxy returns the URL of the server as a forward proxy for http.
func (s *Server) Proxy() string { return fmt.Sprintf("http://127.0.0.1:%d", s.port) }

// URL returns raw, an http URL of the web, with the server's port in it.
func (s *Server) URL(raw string) string {
	u, err := weburl.Parse(raw)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("http://%s:%d%s", u.Hostname(), s.port, strings.TrimPrefix(key(u), u.Host()))
}

// Resolve returns the addresses of the web's hosts and fails for others.
func (s *Server) Resolve(_ context.Context, host string) ([]netip.Addr, error) {
	if addr, ok := s.addrs[host]; ok {
		return []netip.Addr{addr}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// ServeHTTP answers one request and writes it into the ledger.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := strings.TrimSuffix(r.Host, ":"+strconv.Itoa(int(s.port)))
	entry := Request{Host: host, Path: r.URL.RequestURI(), Start: time.Now()}
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		entry.IP = at.IP.String()
	}
	defer func() {
		entry.End = time.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ledger = append(s.ledger, entry)
	}()
	u, err := weburl.Parse("http://" + host + entry.Path)
	p, ok := s.web.pages[key(u)]
	if err != nil || !ok {
		http.NotFound(w, r)
		return
	}
	if p.sleep > 0 {
		select {
		case <-time.After(p.sleep):
		case <-r.Context().Done():
			return
		}
	}
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.WriteHeader(p.status)
	w.Write(p.body)
}

// Requests returns the ledger in the order in which the requests began.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := slices.Clone(s.ledger)
	slices.SortStableFunc(requests, func(a, b Request) int { return a.Start.Compare(b.Start) })
	return requests
}

// Impolite returns in words every request that began before another one to its
// host had ended, or sooner than delay after that; with byIP the same for the
// addresses. Behind a proxy the address is always the proxy's.
func (s *Server) Impolite(delay time.Duration, byIP bool) []string {
	var found []string
	last := make(map[string]Request)
	for _, r := range s.Requests() {
		names := []string{"host " + r.Host}
		if byIP {
			names = append(names, "address "+r.IP)
		}
		for _, name := range names {
			before, ok := last[name]
			if gap := r.Start.Sub(before.End); ok && gap < delay {
				found = append(found, fmt.Sprintf("%s: %s%s began %v after %s%s had ended; want %v",
					name, r.Host, r.Path, gap, before.Host, before.Path, delay))
			}
			if !ok || r.End.After(before.End) {
				last[name] = r
			}
		}
	}
	return found
}
