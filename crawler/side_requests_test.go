package crawler_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/page"
	"gazehound/crawler/polite"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/weburl"
)

// asked lists the requests to a host, without robots.txt.
func asked(s *crawltest.Server, host string) []string {
	var paths []string
	for _, r := range s.Requests() {
		if r.Host == host && r.Path != "/robots.txt" {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

var mapped = crawltest.Fixture("webs/mapped.txtar")

// Sitemaps of a host that has a relevant page lead to pages that no link
// leads to; they are read for their own host only, and robots.txt stands above
// them.
func TestSitemaps(t *testing.T) {
	s := crawltest.MustWeb(mapped).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "adaptive", nil, nil)
	c.Options.Sitemaps = true
	seed(t, c, "http://seed.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := asked(s, "a.example")
	slices.Sort(got)
	want := []string{"/", "/2.xml", "/3.xml", "/broken.xml", "/further", "/index.xml", "/island", "/missing.xml", "/pages.xml"}
	if !slices.Equal(got, want) {
		t.Errorf("asked a.example for %q; want %q", got, want)
	}
	if got := asked(s, "seed.example"); slices.Contains(got, "/sitemap.xml") {
		t.Errorf("the sitemap of a host without a relevant page was read: %q", got)
	}
	for _, v := range l.visits {
		if v.Entry.URL.String() == "http://a.example/island" && (v.Entry.Distance != 2 || v.Entry.Depth != 2 || v.Entry.Priority >= 1) {
			t.Errorf("page of a sitemap has distance %d, depth %d, priority %v", v.Entry.Distance, v.Entry.Depth, v.Entry.Priority)
		}
	}
	totals := c.Frontier.Totals()
	if totals.Dropped["sitemap_foreign"] != 2 || totals.Dropped["sitemap_nested"] != 1 || totals.Errors["sitemap"] != 1 || totals.Pages != 5 {
		t.Errorf("dropped %v, errors %v, pages %d", totals.Dropped, totals.Errors, totals.Pages)
	}
	if sum := totals.Queued + totals.Parked + totals.Visited + totals.Repeats + count(totals.Dropped); totals.Links != sum {
		t.Errorf("links %d; want %d", totals.Links, sum)
	}
}

// A replay of what a crawl has recorded comes to the same outcomes, also of
// sitemaps and the pages that these lead to, and of pages with reserved rights.
func TestReplayOfSideRequests(t *testing.T) {
	s := crawltest.MustWeb(mapped + `
-- http://a.example/further2 --
<meta name="tdm-reservation" content="1">Lange Straße 5, 26121 Oldenburg
`).Start(1)
	defer s.Close()
	recorded, l := newCrawler(t, s, "link-distance", nil, nil)
	recorded.Options.Sitemaps = true
	seed(t, recorded, "http://seed.example/", "http://a.example/further2")
	if err := recorded.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, r := newCrawler(t, s, "link-distance", nil, nil)
	again.Options.Reservations = true
	err := again.Replay(t.Context(), again.Frontier.(*frontier.Frontier), func(yield func(crawler.Exchange, error) bool) {
		for _, v := range l.visits {
			if v.Response == nil {
				continue
			}
			e := v.Entry
			e.Sitemap = false // an archive does not say so
			o := frontier.Outcome{Kind: v.Outcome.Kind, Reason: v.Outcome.Reason, Status: v.Outcome.Status, Bytes: v.Outcome.Bytes, At: v.Outcome.At}
			if !yield(crawler.Exchange{Entry: e, Outcome: o, Response: v.Response}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want, sitemaps, reserved := map[string]string{}, 0, 0
	for _, v := range l.visits {
		want[v.Entry.URL.String()] = fmt.Sprint(v.Outcome.Kind, v.Outcome.Reason, v.Outcome.Relevant, v.Entry.Depth, v.Entry.Distance, v.Outcome.Dropped)
	}
	for _, v := range r.visits {
		url := v.Entry.URL.String()
		if url == "http://a.example/further2" {
			if reserved++; v.Outcome.Reason != "tdm_reserved" || v.Page != nil {
				t.Errorf("%s: %+v", url, v.Outcome)
			}
			continue
		}
		if v.Outcome.Kind == "sitemap" {
			sitemaps++
		}
		got := fmt.Sprint(v.Outcome.Kind, v.Outcome.Reason, v.Outcome.Relevant, v.Entry.Depth, v.Entry.Distance, v.Outcome.Dropped)
		if got != want[url] {
			t.Errorf("%s: %s, and was %s", url, got, want[url])
		}
	}
	if sitemaps < 4 || reserved != 1 {
		t.Errorf("%d sitemaps and %d reserved pages were replayed", sitemaps, reserved)
	}
	for _, url := range []string{"http://a.example/hidden", "http://a.example/island"} { // the first is asked for by robots.txt only
		if n, known, err := again.Frontier.(*frontier.Frontier).Get(frontier.KeyOf(mustURL(url))); !known || err != nil {
			t.Errorf("%s: %+v, %v", url, n, err)
		}
	}
}

func count(m map[string]int64) (n int64) {
	for _, k := range m {
		n += k
	}
	return n
}

var reserving = crawltest.Fixture("webs/reserving.txtar")

// Reserved pages are not kept. The reservations of a site are requested once, in a slot of their own,
// before its first page is kept.
func TestReservations(t *testing.T) {
	s := crawltest.MustWeb(reserving).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "breadth-first", nil, nil)
	c.Options.Reservations, c.Options.Workers = true, 4
	seed(t, c, "http://seed.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for _, v := range l.visits {
		kept[strings.TrimPrefix(v.Entry.URL.String(), "http://")] = v.Outcome.Relevant
	}
	for url, want := range map[string]bool{"a.example/": false, "a.example/free/": true, "b.example/": false, "c.example/": false, "d.example/": true} {
		if kept[url] != want {
			t.Errorf("%s kept %v; want %v", url, kept[url], want)
		}
	}
	if got := c.Frontier.Totals().Skipped["tdm_reserved"]; got != 3 {
		t.Errorf("%d pages skipped; want 3", got)
	}
	for host, want := range map[string]int{"a.example": 1, "b.example": 0, "c.example": 0, "d.example": 1, "seed.example": 0} {
		files := 0
		paths := asked(s, host)
		for _, p := range paths {
			if p == "/.well-known/tdmrep.json" {
				files++
			}
		}
		if files != want {
			t.Errorf("%s was asked %d times for its reservations; want %d", host, files, want)
		}
	}
	if got := asked(s, "d.example"); len(got) != 2 {
		t.Errorf("a page that waits for reservations was fetched again: %q", got)
	}
	c2, l2 := newCrawler(t, s, "breadth-first", nil, nil) // without
	seed(t, c2, "http://b.example/")
	if err := c2.Run(t.Context()); err != nil || len(l2.visits) != 1 || !l2.visits[0].Outcome.Relevant {
		t.Errorf("reservations were heeded unasked: %v, %v", l2.visits, err)
	}
}

// stored counts the pages that were fetched, and those that were stored since.
type stored struct {
	*fetch.Client
	mu        sync.Mutex
	open      map[weburl.URL]bool
	most      int
	refetched []weburl.URL
	seen      map[weburl.URL]bool
}

func (s *stored) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	s.mu.Lock()
	if s.seen[u] {
		s.refetched = append(s.refetched, u)
	}
	s.seen[u], s.open[u] = true, true
	s.most = max(s.most, len(s.open))
	s.mu.Unlock()
	return s.Client.Fetch(ctx, u)
}

func (s *stored) Visit(ctx context.Context, v *crawler.Visit) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, v.Entry.URL)
	return nil
}

// After a crash only pages that were fetched and not yet stored are fetched again: never more than
// there are workers, even if every page waits for the reservations of its host.
func TestInFlight(t *testing.T) {
	var web, start strings.Builder
	for i := range 20 {
		fmt.Fprintf(&web, "-- http://h%d.example/ --\nLange Straße 5, 26121 Oldenburg <a href=\"/2\">2</a> <a href=\"/3\">3</a>\n", i)
		fmt.Fprintf(&web, "-- http://h%d.example/2 --\nLange Straße 5, 26121 Oldenburg\n-- http://h%d.example/3 --\nnichts\n", i, i)
		fmt.Fprintf(&start, "<a href=\"http://h%d.example/\">x</a> ", i)
	}
	s := crawltest.MustWeb("-- http://seed.example/ --\n" + start.String() + "\n" + web.String()).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "breadth-first", nil, nil)
	manners := polite.DefaultOptions()
	manners.Delay, manners.AdaptiveDelay = 20*time.Millisecond, false
	rules := robots.DefaultOptions()
	manners.Robots, manners.Fetch = &rules, c.Fetcher.(*fetch.Client).FetchPrefix
	gate, err := polite.New(manners)
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	seen := &stored{Client: c.Fetcher.(*fetch.Client), open: map[weburl.URL]bool{}, seen: map[weburl.URL]bool{}}
	c.Gate, c.Fetcher, c.Sinks = gate, seen, append(c.Sinks, seen)
	c.Options.Reservations, c.Options.Workers = true, 3
	seed(t, c, "http://seed.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen.most > 3 || len(seen.refetched) > 0 || len(l.visits) != 61 {
		t.Errorf("%d pages were fetched and not yet stored with 3 workers; %v were fetched twice; %d visits, want 61", seen.most, seen.refetched, len(l.visits))
	}
	for i := range 20 {
		if got := asked(s, fmt.Sprintf("h%d.example", i)); len(got) != 4 || !slices.Contains(got, "/.well-known/tdmrep.json") {
			t.Errorf("host %d was asked for %q", i, got)
		}
	}
}

// longRest makes the first page of a host wait for two minutes for its host.
type longRest struct {
	crawler.Frontier
	claims int
	waits  []time.Duration
}

func (r *longRest) Claim(...string) time.Duration {
	if r.claims++; r.claims == 3 { // after those for robots.txt and the page
		return 2 * time.Minute
	}
	return 0
}

func (r *longRest) Release(...string) {}

func (r *longRest) Return(e frontier.Entry, b frontier.Backoff) error {
	r.waits = append(r.waits, b.Wait)
	return r.Frontier.Return(e, frontier.Backoff{})
}

// A page does not wait for a host in a long back-off. It is fetched again once the host has answered.
func TestReservationsOfRestingHost(t *testing.T) {
	s := crawltest.MustWeb(reserving).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "breadth-first", nil, nil)
	c.Options.Reservations = true
	r := &longRest{Frontier: c.Frontier}
	c.Gate.(*polite.Gate).SetLeases(r)
	c.Frontier = r
	seed(t, c, "http://a.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := asked(s, "a.example"), []string{"/", "/.well-known/tdmrep.json", "/"}; !slices.Equal(got, want) {
		t.Errorf("asked for %q; want %q", got, want)
	}
	if want := []time.Duration{0, 2 * time.Minute, 0}; !slices.Equal(r.waits, want) {
		t.Errorf("waited %v; want %v: robots.txt, the page, the reservations", r.waits, want)
	}
	if len(l.visits) != 1 || l.visits[0].Outcome.Reason != "tdm_reserved" {
		t.Errorf("%+v", l.visits)
	}
}
