package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

// endless is a web of traps in which 60 good pages stand in a row.
type endless struct{}

func (endless) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	if ctx.Err() != nil {
		return nil, &fetch.Error{Class: fetch.ClassTimeout, URL: u, Err: ctx.Err()}
	}
	return &page.Response{URL: u, Status: 200, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Content-Language": {"de"}}, Body: []byte(endlessPage(u)), Fetched: time.Now()}, nil
}

func endlessPage(u weburl.URL) string {
	var b strings.Builder
	filler := func(words int, seed uint64) {
		for range words {
			seed = seed*6364136223846793005 + 1442695040888963407
			fmt.Fprintf(&b, "%s ", strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(seed>>40)))
		}
	}
	number := func(s string) uint64 {
		n, _ := strconv.ParseUint(strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, s), 10, 64)
		return n
	}
	n := number(u.Path() + u.Query())
	kind, _, _ := strings.Cut(u.Hostname(), ".")
	switch kind {
	case "start":
		for _, host := range []string{"good", "cal", "shop", "loop", "forum", "tar", "soft"} {
			fmt.Fprintf(&b, `<a href="http://%s.example/0">%s</a> `, host, host)
		}
	case "good":
		if n%3 == 0 {
			b.WriteString(here)
		}
		filler(100, n)
		if n < 59 {
			fmt.Fprintf(&b, `<a href="/%d">weiter</a>`, n+1)
		}
	case "cal": // month by month, for ever
		filler(100, 1)
		fmt.Fprintf(&b, `%d <a href="/%d">weiter</a><a href="/%d">zurück</a><a href="/%d?tag=1">Tag</a>`, n, n+1, n+1000, n)
	case "shop": // filters that can be combined
		filler(100, 2)
		for i := range uint64(6) {
			fmt.Fprintf(&b, `<a href="?farbe=%d&groesse=%d">Filter</a>`, (n+i)%97, (n*i)%89)
		}
	case "loop": // a path that grows
		filler(100, n+uint64(len(u.Path())))
		b.WriteString(`<a href="weiter/weiter/">weiter</a> <a href="x/loop.example/">x</a>`)
	case "forum": // a session id, another one on each page
		thread := number(u.Path())
		filler(100, 5000+thread)
		for i := range uint64(4) {
			fmt.Fprintf(&b, `<a href="/%d?sid=%d">Thema</a>`, (thread+i)%40, n*31+i)
		}
	case "tar": // fresh words for ever
		filler(100, n+77)
		for i := range uint64(3) {
			fmt.Fprintf(&b, `<a href="/%d">mehr</a>`, (n*3+i+1)%1e9)
		}
	case "soft": // every path is there
		filler(50, 3)
		fmt.Fprintf(&b, `<a href="/%s%d">mehr</a><a href="/%sx/%d">mehr</a>`, strings.Repeat("y", int(n%20)), n+1, strings.Repeat("z", int(n%20)), n+1)
	}
	return b.String()
}

// Traps are parked by what was learned of them and never dropped; good pages take the same number of
// visits.
func TestTraps(t *testing.T) {
	run := func(traps *trap.Detector) (good int, per map[string]int, totals frontier.Totals) {
		order, err := order.New("link-distance", order.Options{Settings: order.Settings{Decay: 0.5}})
		if err != nil {
			t.Fatal(err)
		}
		score := func(e *frontier.Entry) float64 {
			p, _ := order.Score(e)
			if traps != nil {
				p *= traps.Check(e.URL).Factor
			}
			return p
		}
		f, err := frontier.Open(frontier.Options{InMemory: true, Memory: 32e6, Score: score})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		per = map[string]int{}
		c := &crawler.Crawler{
			Options:  crawler.Options{Workers: 1, MaxPages: 500, Grace: time.Second},
			Frontier: f, Fetcher: endless{}, Gate: crawler.Open{}, Judge: judge{}, Strategy: order, Traps: traps,
			Scope: func(weburl.URL) string { return "" },
			Report: func(v *crawler.Visit) {
				host, _, _ := strings.Cut(v.Entry.URL.Hostname(), ".")
				per[host]++
			},
		}
		seed(t, c, "http://start.example/")
		if err := c.Run(t.Context()); err != nil && err != crawler.ErrPageLimit {
			t.Fatal(err)
		}
		return per["good"], per, f.Totals()
	}
	_, plain, _ := run(nil)
	d := trap.New()
	good, per, totals := run(d)
	t.Logf("pages of each host without %v", plain)
	t.Logf("pages of each host with    %v", per)
	if good != 60 {
		t.Errorf("%d good pages of 60", good)
	}
	for _, host := range []string{"cal", "shop", "soft", "forum", "loop"} {
		if per[host] > 60 {
			t.Errorf("%s: %d pages", host, per[host])
		}
	}
	if plain["shop"] < 3*per["shop"] {
		t.Errorf("%d pages of the shop, and %d with nothing learned", per["shop"], plain["shop"])
	}
	if n := count(totals.Dropped); n != 0 || totals.Links != totals.Queued+totals.Parked+totals.Visited+totals.Repeats {
		t.Errorf("%d links were dropped: %+v", n, totals)
	}
	for raw, want := range map[string]string{
		"http://cal.example/99999": "nearly the same", "http://shop.example/0?farbe=500&groesse=1": "pages",
		"http://loop.example/weiter/weiter/weiter/": "3 times", "http://good.example/60": "",
	} {
		if f := d.Check(mustURL(raw)); (f.Reason == "") != (want == "") || !strings.Contains(f.Reason, want) {
			t.Errorf("%s: %+v; want %q", raw, f, want)
		}
	}
}

// Traps end for strategies without scores, too: of a pattern that repeats itself no more pages
// are fetched after a sample.
func TestTrapsEndForEveryStrategy(t *testing.T) {
	for _, name := range []string{"breadth-first", "soft-focused"} {
		s, err := order.New(name, order.Options{Settings: order.Settings{Decay: 0.5}})
		if err != nil {
			t.Fatal(err)
		}
		per := map[string]int{}
		d := trap.New()
		c := &crawler.Crawler{
			Options:  crawler.Options{Workers: 1, MaxPages: 12_000},
			Frontier: frontier.NewMemory(frontier.Options{Seed: 1, Score: crawler.Rescore(s, d)}),
			Fetcher:  endless{}, Gate: crawler.Open{}, Judge: judge{}, Strategy: s, Traps: d,
			Scope: func(u weburl.URL) string {
				if strings.HasPrefix(u.Host(), "loop") || strings.HasPrefix(u.Host(), "tar") {
					return "host" // these have no copies: see trap.TestHostWithoutYield
				}
				return ""
			},
			Report: func(v *crawler.Visit) {
				if host, _, _ := strings.Cut(v.Entry.URL.Hostname(), "."); v.Page != nil {
					per[host]++
				}
			},
		}
		seed(t, c, "http://start.example/")
		for range 5000 {
			e, err := c.Frontier.Next(t.Context(), c.Gate.Claim)
			if err != nil { // nothing waits any more
				break
			}
			if _, err := c.Visit(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%s: pages of each host %v", name, per)
		if _, err := c.Frontier.Next(t.Context(), c.Gate.Claim); err == nil {
			t.Errorf("%s: the crawl has no end", name)
		}
		if per["good"] != 60 {
			t.Errorf("%s: %d good pages of 60", name, per["good"])
		}
		for host, most := range map[string]int{"cal": 150, "shop": 150, "soft": 150, "forum": 150} {
			if per[host] > most {
				t.Errorf("%s: %d pages of %s, want at most %d", name, per[host], host, most)
			}
		}
	}
}
