package crawltest

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const web = `
-- http://a.example/ --
<p>Hallo
-- http://a.example/robots.txt --
User-agent: *
-- http://b.example/old?x=1 --
HTTP 301
Location: /new
-- http://b.example/slow --
HTTP 200
Content-Type: application/json
Sleep: 30ms

{}
-- http://c.example/ --
HTTP 503

down
`

func TestWeb(t *testing.T) {
	s := MustWeb(web).Start(2)
	defer s.Close()
	proxy, err := url.Parse(s.Proxy())
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy)}
	defer transport.CloseIdleConnections()
	for _, c := range []struct {
		url, want string
	}{
		{"http://a.example/", "200 text/html; charset=utf-8  <p>Hallo\n"},
		{"http://a.example/robots.txt", "200 text/plain; charset=utf-8  User-agent: *\n"},
		{"http://b.example/old?x=1", "301 text/html; charset=utf-8 /new "},
		{"http://b.example/slow", "200 application/json  {}\n"},
		{"http://c.example/", "503 text/html; charset=utf-8  down\n"},
		{"http://c.example/none", "404 text/plain; charset=utf-8  404 page not found\n"},
		{"http://d.example/", "404 text/plain; charset=utf-8  404 page not found\n"},
	} {
		for _, direct := range []bool{false, true} {
			request, err := http.NewRequest("GET", c.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			if direct { // by Host header
				request.Host = request.URL.Host
				request.URL.Host = proxy.Host
			}
			through := transport
			if direct {
				through = &http.Transport{DisableKeepAlives: true}
			}
			r, err := through.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(r.Body)
			r.Body.Close()
			got := fmt.Sprintf("%d %s %s %s", r.StatusCode, r.Header.Get("Content-Type"), r.Header.Get("Location"), body)
			if err != nil || got != c.want {
				t.Errorf("%s (direct: %v): %q, %v; want %q", c.url, direct, got, err, c.want)
			}
		}
	}
	ledger := s.Requests()
	if len(ledger) != 14 || ledger[4].Host != "b.example" || ledger[4].Path != "/old?x=1" || ledger[4].IP != "127.0.0.1" ||
		ledger[6].End.Sub(ledger[6].Start) < 30*time.Millisecond {
		t.Errorf("ledger %+v", ledger)
	}
	if got := s.Impolite(time.Hour, true); len(got) != 10+13 {
		t.Errorf("%d requests too early; want 10 by host and 13 by address:\n%s", len(got), strings.Join(got, "\n"))
	}
	if got := s.Impolite(0, true); len(got) > 0 {
		t.Errorf("requests at once: %q", got)
	}
	if got, want := s.URL("http://b.example/x?y"), fmt.Sprintf("http://b.example:%d/x?y", s.port); got != want {
		t.Errorf("URL %q; want %q", got, want)
	}
	b, err := s.Resolve(t.Context(), "b.example")
	if err != nil || b[0].String() != "127.0.0.2" {
		t.Errorf("b.example is at %v, %v; want 127.0.0.2", b, err)
	}
	if _, err := s.Resolve(t.Context(), "d.example"); err == nil {
		t.Error("d.example has an address")
	}
}

func TestParseWebErrors(t *testing.T) {
	for _, archive := range []string{
		"", "no files", "-- page.html --\n", "-- ftp://a.example/ --\n", "-- http://a.example/ --\nHTTP ok\n",
		"-- http://a.example/ --\nHTTP 99\n", "-- http://a.example/ --\nHTTP 200\nno colon\n",
		"-- http://a.example/ --\nHTTP 200\nSleep: long\n",
	} {
		if _, err := ParseWeb([]byte(archive)); err == nil {
			t.Errorf("ParseWeb(%q): no error", archive)
		}
	}
}
