package crawler_test

import (
	"context"
	"strings"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
)

// fragile panics over one page, in one step of a visit.
type fragile struct {
	judge
	order.Strategy
	step string
}

func (f fragile) over(step string, u weburl.URL) {
	if f.step == step && u.Path() == "/bad" {
		var none *page.Page
		_ = none.Title
	}
}

func (f fragile) Judge(ctx context.Context, p *page.Page) (geoparse.Verdict, error) {
	f.over("judge", p.URL)
	return f.judge.Judge(ctx, p)
}

func (f fragile) Learn(trail []frontier.Node, _ bool) { f.over("learn", trail[0].URL) }

func (f fragile) Visit(_ context.Context, v *crawler.Visit) error {
	if v.Page != nil {
		f.over("store", v.Page.URL)
	}
	return nil
}

// A panic over one page loses only that page: it is requested once and its outcome names the panic,
// and the others are visited.
func TestPanicOverPage(t *testing.T) {
	const web = `
-- http://a.example/ --
<a href="/1">1</a> <a href="/bad">x</a> <a href="/2">2</a>
-- http://a.example/1 --
Lange Straße 5, 26121 Oldenburg <a href="/bad">noch einmal</a>
-- http://a.example/2 --
<a href="/bad">und noch einmal</a> <a href="/3">3</a>
-- http://a.example/bad --
<p>schlimm</p>
-- http://a.example/3 --
drei
`
	for _, step := range []string{"judge", "learn", "store"} {
		s := crawltest.MustWeb(web).Start(1)
		defer s.Close()
		c, l := newCrawler(t, s, "breadth-first", nil, nil)
		f := fragile{Strategy: c.Strategy, step: step}
		c.Judge, c.Strategy = f, f
		c.Sinks = append(c.Sinks, f)
		seed(t, c, "http://a.example/")
		if err := c.Run(t.Context()); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		if got := len(l.urls()); got != 4 {
			t.Errorf("%s: %d pages visited, want the 4 others: %q", step, got, l.urls())
		}
		if n := c.Frontier.Totals(); n.Errors[crawler.ReasonPanic] != 1 || n.Queued != 0 {
			t.Errorf("%s: totals %+v", step, n)
		}
		asked := 0
		for _, e := range s.Requests() {
			if e.Path == "/bad" {
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("%s: the page was asked for %d times", step, asked)
		}
		for _, v := range l.visits {
			if bad := v.Entry.URL.Path() == "/bad"; bad != (v.Panic != "") || bad && !strings.Contains(v.Panic, "survive_test.go") {
				t.Errorf("%s: %s: panic %q", step, v.Entry.URL, v.Panic)
			}
		}
	}
}
