package crawler_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"gazehound/crawler/fetch"
	"gazehound/crawler/lab/crawltest"
)

// Walls that redirect until a cookie comes back are passed if cookies are kept, whether they redirect
// to themselves, over another page or over another host; one that lets nobody through ends in a few
// requests.
func TestCookieWalls(t *testing.T) {
	var mu sync.Mutex
	requests := map[string]int{}
	wall := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests[r.Host+r.URL.Path]++
		mu.Unlock()
		_, err := r.Cookie("seen")
		moved := func(to string, set bool) {
			if set {
				http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1", Path: "/", Domain: map[bool]string{true: "wall.example"}[strings.HasSuffix(r.Host, "wall.example")]})
			}
			http.Redirect(w, r, to, http.StatusFound)
		}
		switch where := r.Host + r.URL.Path; {
		case r.URL.Path == "/robots.txt" || strings.HasPrefix(r.URL.Path, "/.well-known"):
			http.NotFound(w, r)
		case r.Host == "never.example":
			moved("/", true)
		case where == "page.example/consent":
			moved("/", true)
		case where == "login.wall.example/":
			moved("http://www.wall.example/", true)
		case err == nil:
			fmt.Fprint(w, "<p>", here)
		case r.Host == "self.example":
			moved("/", true)
		case r.Host == "page.example":
			moved("/consent", false)
		case r.Host == "www.wall.example":
			moved("http://login.wall.example/", false)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(wall))
	defer server.Close()
	placeholder := crawltest.MustWeb("-- http://a.example/ --\n").Start(1)
	defer placeholder.Close()
	for _, keeps := range []bool{false, true} {
		clear(requests)
		o := fetch.DefaultOptions()
		o.Proxy, o.Cookies = server.URL, keeps
		client, err := fetch.New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		c, l := newCrawler(t, placeholder, "breadth-first", nil, nil)
		c.Fetcher, c.Gate, c.Options.Cookies = client, noDelays(t, client.FetchPrefix), keeps
		seed(t, c, "http://self.example/", "http://page.example/", "http://www.wall.example/", "http://never.example/")
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := l.urls()
		slices.Sort(got)
		var want []string
		if keeps {
			want = []string{"http://page.example/", "http://self.example/", "http://www.wall.example/"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("cookies %v: pages %q, want %q", keeps, got, want)
		}
		if n := requests["never.example/"]; n > 2 {
			t.Errorf("cookies %v: %d requests to a wall that lets nobody through", keeps, n)
		}
		totals := c.Frontier.Totals()
		if totals.Errors["redirect_loop"] == 0 || totals.Queued != 0 {
			t.Errorf("cookies %v: errors %v, %d queued", keeps, totals.Errors, totals.Queued)
		}
	}
}

// The addresses of plain text, of XHTML sent as XML, and before the cut of a page that is too long
// count; other XML is left out.
func TestOtherPages(t *testing.T) {
	s := crawltest.MustWeb(`
-- http://text.example/ --
HTTP 200
Content-Type: text/plain; charset=utf-8

Bäckerei
Lange Straße 5, 26121 Oldenburg
-- http://app.example/ --
HTTP 200
Content-Type: application/xml

<?xml version="1.0"?>
<!-- made by hand -->
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Lange Straße 5, 26121 Oldenburg</p></body></html>
-- http://xml.example/ --
HTTP 200
Content-Type: text/xml; charset=utf-8

<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Lange Straße 5, 26121 Oldenburg</p></body></html>
-- http://news.example/ --
HTTP 200
Content-Type: text/xml; charset=utf-8

<rss><channel><title>Lange Straße 5, 26121 Oldenburg</title></channel></rss>
-- http://long.example/ --
<p>Lange Straße 5, 26121 Oldenburg <a href="http://text.example/">Text</a> <img src="data:image/png;base64,` + strings.Repeat("AAAA", 600_000) + `">
-- http://longer.example/ --
<a href="http://app.example/">App</a> <p>` + strings.Repeat("nichts ", 400_000) + `
`).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "breadth-first", nil, nil)
	hosts := []string{"http://text.example/", "http://app.example/", "http://xml.example/", "http://news.example/", "http://long.example/", "http://longer.example/"}
	seed(t, c, hosts...)
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, v := range l.visits {
		want := "page"
		switch v.Entry.URL.Hostname() {
		case "news.example", "longer.example":
			want = "skipped"
		}
		if string(v.Outcome.Kind) != want || v.Outcome.Relevant != (want == "page") {
			t.Errorf("%s: %s %s, relevant %v; want %s", v.Entry.URL, v.Outcome.Kind, v.Outcome.Reason, v.Outcome.Relevant, want)
		}
	}
	if len(l.visits) != len(hosts) {
		t.Errorf("%d visits of %d", len(l.visits), len(hosts))
	}
}

// A host with a relevant page is asked for its usual sitemap, unless robots.txt names one, and for the
// feeds of that page, which lead to pages without a link.
func TestUnnamedSitemaps(t *testing.T) {
	s := crawltest.MustWeb(`
-- http://shop.example/ --
<link rel=alternate type="application/rss+xml" href="/feed/"><link rel=alternate type="application/atom+xml" href="http://other.example/feed">
Lange Straße 5, 26121 Oldenburg <a href="/feed/">Feed</a>
-- http://shop.example/sitemap.xml --
<urlset><url><loc>http://www.shop.example/island</loc></url></urlset>
-- http://shop.example/feed/ --
HTTP 200
Content-Type: application/rss+xml

<rss><channel><item><title>Neu</title><link>http://shop.example/news</link></item></channel></rss>
-- http://shop.example/news --
Neues
-- http://www.shop.example/island --
Lange Straße 5, 26121 Oldenburg
-- http://soft.example/ --
Lange Straße 5, 26121 Oldenburg
-- http://soft.example/sitemap.xml --
HTTP 200
Content-Type: text/html

<html>Seite nicht gefunden
-- http://dull.example/ --
nichts
-- http://dull.example/sitemap.xml --
<urlset><url><loc>http://dull.example/never</loc></url></urlset>
`).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "breadth-first", nil, nil)
	c.Options.Sitemaps = true
	seed(t, c, "http://shop.example/", "http://soft.example/", "http://dull.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := l.urls()
	slices.Sort(got)
	want := []string{"http://dull.example/", "http://shop.example/", "http://shop.example/news", "http://soft.example/", "http://www.shop.example/island"}
	if !slices.Equal(got, want) {
		t.Errorf("pages %q, want %q", got, want)
	}
	totals := c.Frontier.Totals()
	if len(totals.Errors) > 0 || totals.Skipped["no_sitemap"] != 2 {
		t.Errorf("errors %v, skipped %v; want two hosts without a sitemap", totals.Errors, totals.Skipped)
	}
}
