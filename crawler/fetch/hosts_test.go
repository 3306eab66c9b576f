package fetch_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"gazehound/crawler/fetch"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

// A host's own header, user and password go to that host alone, and the
// password not over plain http on the public internet.
func TestHostOverrides(t *testing.T) {
	var mu sync.Mutex
	got := map[string]http.Header{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		got[strings.Split(r.Host, ":")[0]] = r.Header
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, town)
	}))
	defer s.Close()
	secret := fetch.Host{Header: http.Header{"X-Key": {"k"}, "Accept-Language": {"de"}}, Agent: "(town archive)", User: "ada", Password: "p:w"}
	plain := secret
	plain.AllowPlain = true
	c := client(t, func(o *fetch.Options) {
		o.Host = func(u weburl.URL) fetch.Host {
			switch u.Hostname() {
			case "own.example", "127.0.0.1":
				return secret
			case "plain.example":
				return plain
			}
			return fetch.Host{}
		}
	})
	const basic = "Basic YWRhOnA6dw=="
	for host, want := range map[string]struct{ auth, key, agent string }{
		"own.example":   {"", "k", "gazehound/test (+http://127.0.0.1/bot) (town archive)"},
		"127.0.0.1":     {basic, "k", "gazehound/test (+http://127.0.0.1/bot) (town archive)"},
		"plain.example": {basic, "k", "gazehound/test (+http://127.0.0.1/bot) (town archive)"},
		"other.example": {"", "", "gazehound/test (+http://127.0.0.1/bot)"},
	} {
		r, err := c.Fetch(t.Context(), mustParse(t, "http://"+host+":"+port(s.Listener.Addr())+"/"))
		if err != nil {
			t.Fatal(err)
		}
		if r.Request.Get("Authorization") != "" || r.Request.Get("X-Key") != "" {
			t.Errorf("%s: what may be archived holds secrets: %v", host, r.Request)
		}
		h := got[host]
		if h.Get("Authorization") != want.auth || h.Get("X-Key") != want.key || h.Get("User-Agent") != want.agent {
			t.Errorf("%s was sent %v", host, h)
		}
	}
	for name, h := range map[string]fetch.Host{
		"colon": {User: "a:b"}, "agent": {Agent: "a\nb"}, "name": {Header: http.Header{"a b": {"x"}}},
		"value": {Header: http.Header{"X": {"a\r\nb"}}}, "ours": {Header: http.Header{"host": {"x"}}},
	} {
		if h.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := secret.Validate(); err != nil {
		t.Error(err)
	}
}

// Cookies go back to the site that set them, and only with Options.Cookies;
// a flood of them is not kept.
func TestCookies(t *testing.T) {
	var mu sync.Mutex
	sent := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		sent = r.Header.Get("Cookie")
		mu.Unlock()
		for _, c := range []string{"session=1", "wide=2; Domain=site.example", "foreign=3; Domain=other.example", "suffix=4; Domain=example"} {
			w.Header().Add("Set-Cookie", c)
		}
		if r.URL.Path == "/flood" {
			for i := range 2000 {
				w.Header().Add("Set-Cookie", fmt.Sprintf("flood%d=x", i))
			}
			w.Header().Add("Set-Cookie", "big="+strings.Repeat("x", 10_000))
		}
		w.Header().Set("Content-Type", "text/html")
	}))
	defer s.Close()
	ask := func(c *fetch.Client, host, path string) string {
		t.Helper()
		if _, err := c.Fetch(t.Context(), mustParse(t, "http://"+host+":"+port(s.Listener.Addr())+path)); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		return sent
	}
	none, some := client(t, nil), client(t, func(o *fetch.Options) { o.Cookies = true })
	for _, c := range []struct {
		client           *fetch.Client
		host, path, want string
	}{
		{none, "a.site.example", "/", ""}, {none, "a.site.example", "/", ""},
		{some, "a.site.example", "/", ""}, {some, "a.site.example", "/x", "session=1; wide=2"},
		{some, "b.site.example", "/", "wide=2"}, {some, "other.example", "/", ""}, {some, "third.example", "/", ""},
		{some, "flood.example", "/flood", ""},
	} {
		if got := ask(c.client, c.host, c.path); got != c.want {
			t.Errorf("%s%s was sent %q; want %q", c.host, c.path, got, c.want)
		}
	}
	for range 30 {
		if got := ask(some, "flood.example", "/flood"); len(got) > 1000 {
			t.Fatalf("%d bytes of cookies", len(got))
		}
	}
}

// A page that has not changed costs a header.
func TestConditional(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 10:00:00 GMT")
		w.Header().Set("Content-Type", "text/html")
		if r.Header.Get("If-None-Match") == `"v1"` && r.Header.Get("If-Modified-Since") == "Sat, 21 Nov 2026 10:00:00 GMT" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		io.WriteString(w, town)
	}))
	defer s.Close()
	c := client(t, nil)
	u := mustParse(t, "http://a.example:"+port(s.Listener.Addr())+"/")
	r, err := c.Fetch(t.Context(), u)
	if err != nil || r.Status != 200 {
		t.Fatalf("%+v, %v", r, err)
	}
	again, err := c.FetchIf(t.Context(), u, r.Validators())
	if err != nil || again.Status != 304 || len(again.Body) != 0 {
		t.Errorf("unchanged: %+v, %v; want 304", again, err)
	}
	again, err = c.FetchIf(t.Context(), u, page.Validators{ETag: "a\r\nX: y"})
	if err != nil || again.Status != 200 || string(again.Body) != town {
		t.Errorf("validator that cannot be sent: %+v, %v; want the page", again, err)
	}
}

// Pages of one host come over one connection.
func TestKeepAlive(t *testing.T) {
	var mu sync.Mutex
	conns := map[string]bool{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, town)
	}))
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		conns[c.RemoteAddr().String()] = true
	}
	s.Start()
	defer s.Close()
	c := client(t, nil)
	for i := range 20 {
		if _, err := c.Fetch(t.Context(), mustParse(t, fmt.Sprintf("http://a.example:%s/%d", port(s.Listener.Addr()), i))); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(conns) != 1 {
		t.Errorf("%d connections for 20 pages of one host; want 1", len(conns))
	}
}
