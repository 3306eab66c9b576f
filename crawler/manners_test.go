package crawler_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/polite"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/weburl"
)

// A movedRules is a web of one page a path, in which the robots.txt of all hosts
// is that of www.example, which wants a long delay.
type movedRules struct{ asked map[string][]time.Time }

func (w *movedRules) Fetch(_ context.Context, u weburl.URL) (*page.Response, error) {
	w.asked[u.Host()] = append(w.asked[u.Host()], time.Now())
	r := &page.Response{URL: u, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("hello"), Fetched: time.Now()}
	switch {
	case u.Path() == "/robots.txt" && u.Host() == "www.example":
		r.Body = []byte("User-agent: *\nCrawl-delay: 10\n")
	case u.Path() == "/robots.txt":
		r.Status, r.Location = 301, mustURL("http://www.example/robots.txt")
	}
	return r, nil
}

// A host keeps its Crawl-delay when the robots.txt of others has moved to it.
func TestRulesOfOthersKeepTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &movedRules{asked: map[string][]time.Time{}}
		f, err := frontier.Open(frontier.Options{InMemory: true, Memory: 32e6})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		order, err := order.New("breadth-first", order.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o, rules := polite.DefaultOptions(), robots.DefaultOptions()
		o.Robots, o.Fetch = &rules, func(ctx context.Context, u weburl.URL, _ int64) (*page.Response, error) { return w.Fetch(ctx, u) }
		gate, err := polite.New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer gate.Close()
		c := &crawler.Crawler{
			Options:  crawler.Options{Workers: 1, Grace: time.Second},
			Frontier: f, Fetcher: w, Gate: gate, Judge: judge{}, Strategy: order,
			Scope: func(weburl.URL) string { return "" },
		}
		seed(t, c, "http://www.example/1", "http://a.example/", "http://www.example/2", "http://b.example/", "http://www.example/3")
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		asked := w.asked["www.example"]
		if len(asked) != 6 { // its own rules, three pages, and the rules of two others
			t.Errorf("www.example was asked %d times", len(asked))
		}
		for i := 1; i < len(asked); i++ {
			if gap := asked[i].Sub(asked[i-1]); gap < 10*time.Second {
				t.Errorf("www.example was asked %v after the request before", gap)
			}
		}
	})
}
