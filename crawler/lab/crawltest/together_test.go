package crawltest_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gazehound/crawler/fetch"
	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/polite"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/weburl"
)

// TestTogether lets workers fetch a web over HTTP through gate, rules and
// client, and reads in the servers' ledger that nobody was burdened and
// nothing forbidden was asked for, robots.txt and its redirects included.
func TestTogether(t *testing.T) {
	const hosts, pages, delay = 6, 3, 40 * time.Millisecond
	var archive strings.Builder
	for h := range hosts {
		fmt.Fprintf(&archive, "-- http://h%d.example/robots.txt --\n", h)
		switch h {
		case 0:
			archive.WriteString("HTTP 301\nLocation: /moved/robots.txt\n\n-- http://h0.example/moved/robots.txt --\nUser-agent: *\nDisallow: /1\n")
		case 1:
			archive.WriteString("HTTP 503\n\n")
		default:
			archive.WriteString("User-agent: *\nDisallow: /1\nCrawl-delay: 0.1\n")
		}
		for p := range pages {
			fmt.Fprintf(&archive, "-- http://h%d.example/%d --\nHTTP 200\nSleep: %dms\n\n<p>Hallo\n", h, p, 10*p)
		}
	}
	web := crawltest.MustWeb(archive.String()).Start(2)
	defer web.Close()

	o := fetch.DefaultOptions()
	o.AllowPrivate, o.Resolve = true, web.Resolve
	client, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	p := polite.DefaultOptions()
	p.Delay, p.AdaptiveDelay, p.Resolve = delay, false, client.Resolve
	r := robots.DefaultOptions()
	p.BackoffStart, p.BackoffMax = delay, delay
	p.Fetch, p.Robots = client.FetchPrefix, &r
	gate, err := polite.New(p)
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()

	// visit uses a turn that was claimed, and reports whether u is done with.
	visit := func(u weburl.URL) (done bool) {
		d, err := gate.Check(t.Context(), u)
		if err != nil {
			t.Error(err)
		}
		if !d.Now {
			return d.Unreachable || d.Refused != ""
		}
		answer, err := client.Fetch(t.Context(), u)
		gate.Visited(u.Host(), polite.VisitOf(answer, err))
		if err != nil {
			t.Error(err)
		}
		return true
	}
	var workers sync.WaitGroup
	for h := range hosts {
		for n := range pages {
			u, err := weburl.Parse(web.URL(fmt.Sprintf("http://h%d.example/%d", h, n)))
			if err != nil {
				t.Fatal(err)
			}
			workers.Go(func() {
				for {
					for wait := gate.Claim(u.Host()); wait > 0; wait = gate.Claim(u.Host()) {
						time.Sleep(wait)
					}
					if visit(u) {
						return
					}
				}
			})
		}
	}
	workers.Wait()

	for _, s := range web.Impolite(delay-time.Millisecond, true) {
		t.Error(s)
	}
	var got []string
	for _, r := range web.Requests() {
		got = append(got, r.Host+r.Path)
	}
	slices.Sort(got)
	var want []string
	for h := range hosts {
		want = append(want, fmt.Sprintf("h%d.example/robots.txt", h))
		if h != 1 {
			want = append(want, fmt.Sprintf("h%d.example/0", h), fmt.Sprintf("h%d.example/2", h))
		}
	}
	want = append(want, "h0.example/moved/robots.txt")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("asked for\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
