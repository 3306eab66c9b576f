package robots

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/crawler/weburl"
)

// TestKeep: a Cache that another has kept what it knows for answers alike, and
// sends no request before it is time.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := &answers{by: map[string]string{
			"http://rules.example/robots.txt": "200 User-agent: *\nDisallow: /private\nAllow: /private/open\nDisallow: /*.pdf$\nCrawl-delay: 7\nSitemap: http://rules.example/map.xml",
			"http://down.example/robots.txt":  "503 ",
			"http://moved.example/robots.txt": "301 http://rules.example/robots.txt",
			"http://dns.example/robots.txt":   "error",
		}}
		store := map[string][]byte{}
		start := func(change func(*Options)) *Cache {
			return cache(t, web, func(o *Options) {
				o.Save = func(site string, data []byte) { store[site] = data }
				o.Load = func(site string) []byte { return store[site] }
				if change != nil {
					change(o)
				}
			})
		}
		urls := []string{"http://rules.example/", "http://rules.example/private/x", "http://rules.example/private/open", "http://rules.example/x.pdf",
			"http://down.example/", "http://open.example/"}
		check := func(c *Cache, raw string) Decision {
			t.Helper()
			u, err := weburl.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			d, err := c.Check(context.Background(), u)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		first := start(nil)
		for _, u := range urls {
			check(first, u)
		}
		check(first, "http://moved.example/")
		check(first, "http://dns.example/")
		time.Sleep(time.Minute)
		asked := len(web.asked)
		next := start(nil)
		for _, u := range urls {
			was, is := check(first, u), check(next, u)
			if was.Allowed != is.Allowed || was.Delay != is.Delay || was.Retry != is.Retry || len(was.Sitemaps) != len(is.Sitemaps) || is.Fetched {
				t.Errorf("%s: %+v after the restart, before %+v", u, is, was)
			}
		}
		if n := len(web.asked); n != asked {
			t.Errorf("%d requests after the restart: %v", n-asked, web.asked[asked:])
		}
		if d := check(next, "http://moved.example/"); !d.Fetched || web.asked[asked] != "http://moved.example/robots.txt" {
			t.Errorf("in the middle of a redirect: %+v, %v", d, web.asked[asked:])
		}
		if d := check(next, "http://dns.example/"); !d.Fetched {
			t.Errorf("a host without an answer is not retried: %+v", d)
		}
		if d := check(start(func(o *Options) { o.Agent = "other" }), "http://rules.example/"); !d.Fetched {
			t.Errorf("rules for another agent are believed: %+v", d)
		}
		time.Sleep(24 * time.Hour)
		if d := check(start(nil), "http://rules.example/"); !d.Fetched {
			t.Errorf("old rules are believed: %+v", d)
		}
	})
}

// TestKeepDamaged: what was kept is foreign once it has been on a disk.
func TestKeepDamaged(t *testing.T) {
	for _, text := range []string{"", "{", "null", `{"version":9}`, `{"version":3,"agent":"gazehound","until":"2999-01-01T00:00:00Z","at":"2000-01-01T00:00:00Z","rules":{"delay":99999999999999}}`,
		`{"version":3,"agent":"gazehound","failure":"x","fails":-5,"until":"2999-01-01T00:00:00Z","at":"2998-12-31T00:00:00Z"}`} {
		c := cache(t, &answers{by: map[string]string{}}, func(o *Options) { o.Load = func(string) []byte { return []byte(text) } })
		u, err := weburl.Parse("http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Check(t.Context(), u)
		if err != nil || d.Retry > c.options.RetryMax || d.Delay > c.options.MaxDelay {
			t.Errorf("%s: %+v, %v", text, d, err)
		}
	}
}
