package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/fetch"
	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // net/http logs bytes behind a 204, which the hostile server sends
	goleak.VerifyTestMain(m)
}

func mustParse(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// client returns a Client for loopback that is closed with the test.
func client(t testing.TB, change func(*fetch.Options)) *fetch.Client {
	t.Helper()
	o := fetch.DefaultOptions()
	o.UserAgent = "gazehound/test (+http://127.0.0.1/bot)"
	o.AllowPrivate = true
	o.Timeout = 5 * time.Second
	o.Resolve = loopback
	if change != nil {
		change(&o)
	}
	c, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func loopback(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

const town = "Schloßplatz 1, 26122 Oldenburg"

// A hostileWant is what a case of the hostile server must lead to: a class of error, or a status with
// "page" where the body must be whole, "" where it must be empty, or "any", or "cut" after hostileBody bytes.
type hostileWant struct {
	class  string
	status int
	body   string
}

const (
	hostileBody = 256 << 10
	// Only servers that are to be given up meet a short timeout: on a busy machine any answer may take long.
	patience   = 20 * time.Second
	impatience = 600 * time.Millisecond
)

// hostileWants are those of all cases.
func hostileWants() map[string]hostileWant {
	type want = hostileWant
	page, empty := want{status: 200, body: "page"}, want{status: 200}
	class := func(c string) want { return want{class: c} }
	cut := want{status: 200, body: "cut"}
	redirect := want{status: 302, body: "any"}
	return map[string]want{
		"good": page, "gzip": page, "deflate-zlib": page, "deflate-raw": page, "br": page, "zstd": page,
		"gzip-twice": page, "chunked": page, "close-delimited": page, "latin1-header": page,

		"never-answers": class("timeout"), "slow-header": class("timeout"), "slow-body": class("timeout"),

		"closes-at-once": class("connect"), "reset-before": class("connect"), "reset-mid-body": class("connect"),
		"closes-second-use": page,

		"http-0.9": class("protocol"), "bad-status-line": class("protocol"), "status-999": class("protocol"),
		"status-abc": class("protocol"), "binary-status": class("protocol"), "switching": class("protocol"),
		"continues": class("too_large"), "header-without-colon": class("protocol"), "header-folded": page,
		"header-nul": class("protocol"), "header-cr": class("protocol"), "header-10mb": class("too_large"),
		"headers-10000": class("too_large"), "headers-endless": class("too_large"), "cookies-1mb": class("too_large"),

		"length-abc": class("protocol"), "length-negative": class("protocol"), "length-too-long": class("connect"),
		"length-too-short": {status: 200, body: "any"}, "length-twice": class("protocol"),
		"length-10gb": class("too_large"), "chunk-bad-size": class("protocol"), "chunk-no-end": class("connect"),
		"chunk-huge-size": class("protocol"), "chunk-endless": cut, "chunk-tiny": cut,
		"body-endless": cut, "body-too-large": cut,
		"204-with-body": {status: 204}, "304-with-body": {status: 304}, "401-endless": {status: 401, body: "any"},
		"404-broken-body": {status: 404}, "503-retry-after": {status: 503, body: "page"},
		"429-retry-10-years": {status: 429, body: "page"},

		"gzip-bomb": cut, "gzip-bomb-twice": cut, "br-bomb": cut,
		"zstd-bomb": cut, "gzip-in-gzip": class("content_type"), "gzip-plain": page,
		"gzip-truncated": class("protocol"), "gzip-corrupt": class("protocol"), "gzip-trailing": page,
		"gzip-empty": empty, "gzip-no-output": class("too_large"), "deflate-corrupt": class("protocol"),
		"br-corrupt": class("protocol"), "zstd-corrupt": class("protocol"), "zstd-huge-window": class("protocol"),
		"coding-unknown": class("protocol"), "coding-charset": page, "coding-many": class("protocol"),

		"type-missing": page, "type-missing-pdf": class("content_type"), "type-pdf": class("content_type"),
		"type-pdf-as-html": class("content_type"), "type-sloppy": page, "type-image-endless": class("content_type"),

		"redirect-self": redirect, "redirect-a": redirect, "redirect-b": redirect, "redirect-none": redirect,
		"redirect-empty": redirect, "redirect-javascript": redirect, "redirect-file": redirect,
		"redirect-data": redirect, "redirect-ftp": redirect, "redirect-relative": redirect,
		"redirect-slashes": redirect, "redirect-latin1": redirect, "redirect-private": redirect,
		"redirect-endless": {status: 301, body: "any"},
	}
}

// TestHostile runs every case of the hostile server.
func TestHostile(t *testing.T) {
	wants := hostileWants()
	server := crawltest.NewHostile()
	defer server.Close()
	impatient := client(t, func(o *fetch.Options) { o.Timeout = impatience; o.MaxBody = hostileBody })
	patient := client(t, func(o *fetch.Options) { o.Timeout = patience; o.MaxBody = hostileBody })
	names := crawltest.Cases()
	if len(names) < 64 {
		t.Fatalf("%d cases; want all", len(names))
	}
	for name := range wants {
		if !slices.Contains(names, name) {
			t.Errorf("case %s does not exist", name)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			want, ok := wants[name]
			if !ok {
				t.Fatal("no expectation")
			}
			c := patient
			if want.class == "timeout" {
				c = impatient
			}
			start := time.Now()
			r, err := fetchBounded(t, c, server.URL(name))
			if got := fetch.Class(err); got != want.class {
				t.Fatalf("class %q (%v); want %q", got, err, want.class)
			}
			if err != nil {
				if len(err.Error()) > 500 {
					t.Errorf("error has %d bytes", len(err.Error()))
				}
				if r != nil {
					t.Error("response beside an error")
				}
				return
			}
			if r.Fetched.Before(start) {
				t.Errorf("fetched at %v, before the request", r.Fetched)
			}
			want.check(t, r)
		})
	}
}

// fetchBounded fetches a page, and fails the test where that takes too long or too much memory.
func fetchBounded(t *testing.T, c *fetch.Client, url string) (*page.Response, error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	r, err := c.Fetch(t.Context(), mustParse(t, url))
	if took := time.Since(start); took > patience/2 {
		t.Errorf("took %v", took)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 40<<20 { // client and server
		t.Errorf("allocated %d MB", used>>20)
	}
	return r, err
}

// check compares a response with what is wanted.
func (w hostileWant) check(t *testing.T, r *page.Response) {
	t.Helper()
	if r.Status != w.status || r.RemoteIP != "127.0.0.1" || r.Took <= 0 {
		t.Errorf("status %d from %q in %v; want %d from 127.0.0.1", r.Status, r.RemoteIP, r.Took, w.status)
	}
	switch w.body {
	case "page":
		if !strings.Contains(string(r.Body), town) || !strings.HasSuffix(string(r.Body), "\n") {
			t.Errorf("body %.100q", r.Body)
		}
	case "cut":
		if !r.Cut || len(r.Body) != hostileBody {
			t.Errorf("%d bytes, cut %v", len(r.Body), r.Cut)
		}
	case "":
		if len(r.Body) > 0 {
			t.Errorf("body %.100q; want none", r.Body)
		}
	}
}

func TestLocation(t *testing.T) {
	server := crawltest.NewHostile()
	defer server.Close()
	for name, want := range map[string]string{
		"redirect-self": "/redirect-self", "redirect-relative": "/good?x=1", "redirect-latin1": "/stra%DFe",
		"redirect-none": "", "redirect-empty": "", "redirect-javascript": "", "redirect-file": "",
		"redirect-data": "", "redirect-ftp": "", "redirect-slashes": "", "redirect-endless": "/good",
		"redirect-private": "http://169.254.169.254/latest/meta-data/", "good": "", "304-with-body": "",
	} {
		if strings.HasPrefix(want, "/") {
			want = "http://" + server.Addr() + want
		}
		c := client(t, nil) // the bytes after a 304 end a connection, and a request that reuses it is not repeated
		r, err := c.Fetch(t.Context(), mustParse(t, server.URL(name)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.Location.String() != want {
			t.Errorf("%s: location %q; want %q", name, r.Location, want)
		}
	}
}

// TestStop tells our own end from the page's fault.
func TestStop(t *testing.T) {
	server := crawltest.NewHostile()
	defer server.Close()
	c := client(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := c.Fetch(ctx, mustParse(t, server.URL("slow-body")))
	if !errors.Is(err, context.DeadlineExceeded) || fetch.Class(err) != "" {
		t.Errorf("error %v of class %q; want the context's, of none", err, fetch.Class(err))
	}
}

func TestReuse(t *testing.T) {
	server := crawltest.NewHostile()
	defer server.Close()
	c := client(t, nil)
	for i := range 3 { // the server closes the connection at the second use, unseen
		_, err := c.Fetch(t.Context(), mustParse(t, server.URL("closes-second-use")))
		if want := []string{"", fetch.ClassConnect, ""}[i]; fetch.Class(err) != want {
			t.Errorf("use %d: %v; want class %q", i+1, err, want)
		}
	}
}

func TestPrefix(t *testing.T) {
	server := crawltest.NewHostile()
	defer server.Close()
	c := client(t, nil)
	for name, size := range map[string]int{"body-endless": 1000, "type-image-endless": 1000, "gzip-bomb": 1000, "type-pdf": 9} {
		r, err := c.FetchPrefix(t.Context(), mustParse(t, server.URL(name)), 1000)
		if err != nil || len(r.Body) != size {
			t.Errorf("%s: %v, %v; want %d bytes", name, r, err, size)
		}
	}
	for _, name := range []string{"reset-mid-body", "gzip-truncated"} {
		if _, err := c.FetchPrefix(t.Context(), mustParse(t, server.URL(name)), 1000); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRaw(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, town)
		z.Close()
	}))
	defer server.Close()
	r, err := client(t, func(o *fetch.Options) { o.KeepRaw = true }).Fetch(t.Context(), mustParse(t, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(r.Raw))
	if err != nil {
		t.Fatalf("raw body %.40q: %v", r.Raw, err)
	}
	if body, err := io.ReadAll(z); string(body) != town || err != nil || string(r.Body) != town {
		t.Errorf("raw body holds %q, %v, and the body is %q", body, err, r.Body)
	}
	if got := r.Request.Get("User-Agent"); got != "gazehound/test (+http://127.0.0.1/bot)" {
		t.Errorf("request header has the user agent %q", got)
	}
}
