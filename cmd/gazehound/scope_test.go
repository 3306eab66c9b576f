package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"
	"time"

	"gazehound/crawler/weburl"
)

// TestScopeSaysTheSameAgain asks about more URLs than are remembered, in any
// order, and holds every answer against the patterns themselves.
func TestScopeSaysTheSameAgain(t *testing.T) {
	t.Parallel()
	for _, include := range [][]string{nil, {`/shop/`, `page1\d*`}} {
		cfg := DefaultConfig()
		cfg.Crawl.Include = include
		cfg.Crawl.Exclude = []string{`\.(jpe?g|pdf)(\?|$)`, `/private/`}
		scope, err := newScope(&cfg, crawlOptions{replay: []string{""}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		excluded, included := regexp.MustCompile(`(?i)\.(jpe?g|pdf)(\?|$)|/private/`), regexp.MustCompile(`/shop/|page1\d*`)
		want := func(text string) string {
			switch {
			case excluded.MatchString(text):
				return "excluded"
			case include != nil && !included.MatchString(text):
				return "not_included"
			}
			return ""
		}
		random := rand.New(rand.NewPCG(1, 2))
		reasons := map[string]int{}
		for range 30_000 {
			u, err := weburl.Parse(fmt.Sprintf("http://a.example/%s/page%d%s", []string{"shop", "private", "news"}[random.IntN(3)], random.IntN(500),
				[]string{"", ".html", ".JPG", ".pdf?x=1"}[random.IntN(4)]))
			if err != nil {
				t.Fatal(err)
			}
			got := scope(u)
			if reasons[got]++; got != want(u.String()) {
				t.Fatalf("include %q: %s is %q, want %q", include, u, got, want(u.String()))
			}
		}
		if reasons["excluded"] == 0 || reasons[""] == 0 {
			t.Errorf("include %q: %v", include, reasons)
		}
	}
}

// Without a delay nothing beyond loopback is of the crawl, whoever can be reached.
func TestScopeWithoutDelay(t *testing.T) {
	for _, c := range []struct {
		delay time.Duration
		url   string
		want  string
	}{
		{0, "http://www.example.org/", "out_of_scope"}, {0, "http://127.0.0.1:8080/", ""}, {0, "http://town.localhost/", ""},
		{time.Second, "http://www.example.org/", ""},
	} {
		cfg := DefaultConfig()
		cfg.Fetch.Contact, cfg.Fetch.Delay, cfg.Fetch.AllowPrivateAddresses = "https://a.example/bot", c.delay, true
		scope, err := newScope(&cfg, crawlOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := scope(mustParse(t, c.url)); got != c.want {
			t.Errorf("%s with a delay of %v is %q, want %q", c.url, c.delay, got, c.want)
		}
	}
}
