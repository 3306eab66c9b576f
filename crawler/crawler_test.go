package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/order"
	"gazehound/crawler/order/sitewide"
	"gazehound/crawler/page"
	"gazehound/crawler/polite"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/predictor"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// here is the address that makes a test page relevant.
const here = "Lange Straße 5, 26121 Oldenburg"

// judge finds here without a gazetteer.
type judge struct{}

func (judge) Judge(_ context.Context, p *page.Page) (geoparse.Verdict, error) {
	v := geoparse.Verdict{}
	if strings.Contains(p.Text, here) {
		v.Relevant, v.Score = true, 1
		v.Addresses = []geoparse.Address{{Text: here, Street: "Lange Straße", HouseNumber: "5", Postcode: "26121", City: "Oldenburg", InRegion: true}}
	}
	return v, nil
}

// A ledger is a Sink and remembers the visits that were reported.
type ledger struct {
	mu     sync.Mutex
	stored map[string]int
	visits []crawler.Visit
	fail   error
}

func (l *ledger) Visit(_ context.Context, v *crawler.Visit) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stored == nil {
		l.stored = map[string]int{}
	}
	l.stored[v.Entry.URL.String()]++
	return l.fail
}

// report keeps the visit.
func (l *ledger) report(v *crawler.Visit) { l.visits = append(l.visits, *v) }

// urls lists the pages in the order of their visits.
func (l *ledger) urls() []string {
	var list []string
	for _, v := range l.visits {
		if v.Outcome.Kind == "page" {
			list = append(list, v.Entry.URL.String())
		}
	}
	return list
}

// newCrawler puts a crawl of s together; every part but the judge is real.
func newCrawler(t *testing.T, s *crawltest.Server, name string, f *frontier.Frontier, model *predictor.Model) (*crawler.Crawler, *ledger) {
	t.Helper()
	if f == nil {
		var err error
		if f, err = frontier.Open(frontier.Options{InMemory: true, Memory: 32e6}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
	}
	if model == nil {
		model = predictor.NewModel(predictor.DefaultOptions())
	}
	o := fetch.DefaultOptions()
	o.Proxy, o.Timeout, o.UserAgent = s.Proxy(), 5*time.Second, "gazehound/test"
	client, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	rules := robots.DefaultOptions()
	rules.Agent, rules.Retry, rules.RetryMax = "gazehound", 10*time.Millisecond, 20*time.Millisecond
	manners := polite.DefaultOptions()
	manners.Delay, manners.AdaptiveDelay, manners.BackoffStart, manners.AtOnce = 0, false, 10*time.Millisecond, 1
	manners.Fetch, manners.Robots = client.FetchPrefix, &rules
	gate, err := polite.New(manners)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gate.Close() })
	order, err := order.New(name, order.Options{Settings: order.Settings{Decay: 0.5}, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{}
	return &crawler.Crawler{
		Options:  crawler.Options{Workers: 1, Retries: 2, RetryWait: 5 * time.Millisecond, Grace: 2 * time.Second},
		Frontier: f, Fetcher: client, Gate: gate, Judge: judge{}, Strategy: order,
		Sinks: []crawler.Sink{l}, Scope: func(weburl.URL) string { return "" }, Report: l.report,
	}, l
}

// unhurried obeys robots.txt and reservations, without any delay.
type unhurried struct{ *polite.Gate }

func (unhurried) Claim(string) time.Duration   { return 0 }
func (unhurried) Visited(string, polite.Visit) {}

// noDelays returns a gate that reads robots.txt and reservations with fetch, without any delay.
func noDelays(t *testing.T, fetch func(ctx context.Context, u weburl.URL, max int64) (*page.Response, error)) crawler.Gate {
	t.Helper()
	o, rules := polite.DefaultOptions(), robots.DefaultOptions()
	o.Delay, o.AdaptiveDelay, o.MaxDelay, o.BackoffOn, o.AtOnce = 0, false, 0, nil, 1000
	o.Fetch, o.Robots = fetch, &rules
	gate, err := polite.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gate.Close() })
	return unhurried{gate}
}

func seed(t *testing.T, c *crawler.Crawler, raw ...string) {
	t.Helper()
	var urls []weburl.URL
	for _, r := range raw {
		u, err := weburl.Parse(r)
		if err != nil {
			t.Fatal(err)
		}
		urls = append(urls, u)
	}
	if _, err := c.Seed(t.Context(), urls); err != nil {
		t.Fatal(err)
	}
}

// A bridge leads to two relevant pages; a far branch is a chain of others.
var town = crawltest.Fixture("webs/town.txtar")

func TestLinkDistanceStaysNearRelevantPages(t *testing.T) {
	s := crawltest.MustWeb(town).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "link-distance", nil, nil)
	seed(t, c, "http://seed.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := l.urls()
	if len(got) != 7 {
		t.Fatalf("pages = %q; want all 7", got)
	}
	// /kontakt has distance 1 behind a relevant page and so comes before /far3 (3).
	if slices.Index(got, "http://a.example/kontakt") > slices.Index(got, "http://seed.example/far3") {
		t.Errorf("order = %q", got)
	}
	totals := c.Frontier.Totals()
	if totals.Pages != 7 || totals.Relevant != 2 || totals.Addresses != 1 || totals.Queued != 0 {
		t.Errorf("totals = %+v", totals)
	}
	for _, v := range l.visits {
		want := map[string]int{"http://seed.example/": 0, "http://a.example/": 2, "http://a.example/kontakt": 1, "http://seed.example/far3": 3}
		if d, ok := want[v.Entry.URL.String()]; ok && v.Entry.Distance != d {
			t.Errorf("distance of %s = %d; want %d", v.Entry.URL, v.Entry.Distance, d)
		}
	}
}

func TestBreadthFirstGoesLevelByLevel(t *testing.T) {
	s := crawltest.MustWeb(town).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "breadth-first", nil, nil)
	seed(t, c, "http://seed.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	depth := 0
	for _, v := range l.visits {
		if v.Entry.Depth < depth {
			t.Errorf("%s of depth %d comes after depth %d", v.Entry.URL, v.Entry.Depth, depth)
		}
		depth = v.Entry.Depth
	}
}

// Verdicts train each depth with the link that many steps back.
func TestAdaptiveLearnsAlongTheTrail(t *testing.T) {
	s := crawltest.MustWeb(town).Start(1)
	defer s.Close()
	model := predictor.NewModel(predictor.DefaultOptions())
	c, _ := newCrawler(t, s, "adaptive", nil, model)
	seed(t, c, "http://seed.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	stats := model.Stats().Depths
	// 6 pages were led to by a link, 2 of them relevant; 4 had a link before that
	// (far2, far3, a, kontakt), 2 a third one (far3, kontakt).
	for d, want := range [][2]int{{2, 4}, {2, 2}, {1, 1}} {
		if stats[d].Relevant != want[0] || stats[d].Other != want[1] {
			t.Errorf("depth %d learned %d relevant, %d other; want %v", d+1, stats[d].Relevant, stats[d].Other, want)
		}
	}
}

// Two levels of a domain: of a row of pages the third has no more links within its domain, and the page
// of another domain that it links to begins anew.
func TestDomainLevels(t *testing.T) {
	const row = `
-- http://a.example/ --
<a href="/1">1</a>
-- http://a.example/1 --
<a href="/2">2</a>
-- http://a.example/2 --
<a href="/3">3</a> <a href="http://b.example/">b</a>
-- http://a.example/3 --
too deep
-- http://b.example/ --
<a href="/1">1</a>
-- http://b.example/1 --
<a href="http://a.example/3">3</a>
`
	for levels, want := range map[int]string{
		0: "a/ a/1 a/2 a/3 b/ b/1",
		1: "a/ a/1",
		2: "a/ a/1 a/2 b/ b/1 a/3", // by another way it lies at the top
	} {
		s := crawltest.MustWeb(row).Start(1)
		defer s.Close()
		c, l := newCrawler(t, s, "breadth-first", nil, nil)
		c.Options.DomainLevels = levels
		seed(t, c, "http://a.example/")
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		var pages []string
		for _, v := range l.visits {
			if v.Page != nil {
				pages = append(pages, strings.ReplaceAll(strings.TrimPrefix(v.Entry.URL.String(), "http://"), ".example", ""))
			}
		}
		slices.Sort(pages)
		sorted := strings.Fields(want)
		slices.Sort(sorted)
		if !slices.Equal(pages, sorted) {
			t.Errorf("%d levels: %q, want %q", levels, pages, sorted)
		}
	}
}

// scored counts how often a strategy scored a page.
type scored struct {
	order.Strategy
	times map[string]int
}

func (s scored) Score(e *frontier.Entry) (float64, bool) {
	s.times[e.URL.String()]++
	return s.Strategy.Score(e)
}

// A link back to a page that was visited is counted, and not scored.
func TestVisitedPagesAreNotScored(t *testing.T) {
	const ring = `
-- http://a.example/ --
<a href="/1">1</a>
-- http://a.example/1 --
<a href="/">Start</a> <a href="/2">2</a>
-- http://a.example/2 --
<a href="/">Start</a> <a href="/1">1</a> <a href="/3">3</a>
-- http://a.example/3 --
<a href="/">Start</a> <a href="/1">1</a> <a href="/2">2</a>
`
	s := crawltest.MustWeb(ring).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "breadth-first", nil, nil)
	order := scored{c.Strategy, map[string]int{}}
	c.Strategy = order
	seed(t, c, "http://a.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		"http://a.example/": 1, "http://a.example/1": 1, "http://a.example/2": 1, "http://a.example/3": 1,
	}
	if !maps.Equal(order.times, want) {
		t.Errorf("asked for %v, want %v", order.times, want)
	}
	if n := c.Frontier.Totals(); len(l.urls()) != 4 || n.Links != 10 || n.Repeats != 6 || n.Visited != 4 {
		t.Errorf("visited %q, totals %+v", l.urls(), n)
	}
}

// A page over the limit is judged by what is before the cut: it counts if that has an address, is no
// negative example if not, and its links before the cut are followed.
func TestCutPage(t *testing.T) {
	s := crawltest.MustWeb("-- http://a.example/ --\n<a href=\"/first\">a</a> " + strings.Repeat(" lorem ipsum", 250_000) +
		"<a href=\"/last\">b</a>\n-- http://a.example/first --\n" + here + "\n-- http://a.example/last --\nx\n").Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "breadth-first", nil, nil)
	seed(t, c, "http://a.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := l.urls(); !slices.Equal(got, []string{"http://a.example/first"}) {
		t.Errorf("pages %q; want the one that is linked before the cut", got)
	}
	if n := c.Frontier.Totals(); n.Skipped[fetch.ClassTooLarge] != 1 || n.Relevant != 1 {
		t.Errorf("totals %+v", n)
	}
}

// A page whose text only scripts write is no negative example, and its links are followed; one whose
// data have an address counts.
func TestPageNeedsScript(t *testing.T) {
	s := crawltest.MustWeb(`
-- http://a.example/ --
<nav><a href="/shell">a</a> <a href="/data">b</a></nav><div id="app"></div><script src="/main.js"></script>
-- http://a.example/shell --
<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script src="/main.js"></script>
-- http://a.example/data --
<div id="app"></div><noscript>` + here + `</noscript><script src="/main.js"></script>
`).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "breadth-first", nil, nil)
	seed(t, c, "http://a.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := l.urls(); !slices.Equal(got, []string{"http://a.example/data"}) {
		t.Errorf("pages %q; want the one with an address", got)
	}
	if n := c.Frontier.Totals(); n.Skipped[crawler.ReasonNeedsScript] != 2 || n.Relevant != 1 || n.Pages != 1 {
		t.Errorf("totals %+v", n)
	}
}

func TestOutcomes(t *testing.T) {
	s := crawltest.MustWeb(`
-- http://a.example/robots.txt --
User-agent: gazehound
Disallow: /private
-- http://a.example/ --
<a href="/private/x">geheim</a> <a href="/old">alt</a> <a href="/loop1">Schleife</a> <a href="/missing">fehlt</a> <a href="/pdf">PDF</a>
<a href="/down">kaputt</a> <a href="http://down.example/">Server kaputt</a> <a href="https://plain.example/x">ohne TLS</a> <a href="/index.html">Start</a>
-- http://a.example/old --
HTTP 301
Location: http://b.example/new
-- http://b.example/new --
Lange Straße 5, 26121 Oldenburg
-- http://a.example/loop1 --
HTTP 302
Location: /loop1
-- http://a.example/pdf --
HTTP 200
Content-Type: application/pdf

%PDF
-- http://a.example/down --
HTTP 500

-- http://down.example/robots.txt --
HTTP 503

-- http://plain.example/x --
ohne Verschlüsselung
`).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "link-distance", nil, nil)
	c.Options.Workers = 4
	seed(t, c, "http://a.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range l.visits {
		got[v.Entry.URL.String()] = strings.TrimSpace(string(v.Outcome.Kind) + " " + v.Outcome.Reason)
	}
	want := map[string]string{
		"http://a.example/":          "page",
		"http://a.example/private/x": "skipped robots",
		"http://a.example/old":       "redirect",
		"http://b.example/new":       "page",
		"http://a.example/loop1":     "error redirect_loop",
		"http://a.example/missing":   "error http_4xx",
		"http://a.example/pdf":       "skipped content_type",
		"http://a.example/down":      "error http_5xx",
		"http://down.example/":       "skipped robots_unreachable",
		"http://plain.example/x":     "page", // the proxy has no https
	}
	for u, outcome := range want {
		if got[u] != outcome {
			t.Errorf("%s: %q; want %q", u, got[u], outcome)
		}
	}
	if len(got) != len(want) {
		t.Errorf("visits = %v", got)
	}
	for _, r := range s.Requests() {
		if strings.HasPrefix(r.Path, "/private") {
			t.Errorf("asked for %s, which robots.txt forbids", r.Path)
		}
	}
	totals := c.Frontier.Totals()
	if totals.Pages != 3 || totals.Redirects != 1 || totals.Errors["http_5xx"] != 1 || totals.Skipped["robots"] != 1 {
		t.Errorf("totals = %+v", totals)
	}
}

// wide is a web with n pages on one level.
func wide(n int) string {
	var b strings.Builder
	b.WriteString("-- http://a.example/ --\n")
	for i := range n {
		fmt.Fprintf(&b, "<a href=\"/p%d\">Seite %d</a>\n", i, i)
	}
	for i := range n {
		fmt.Fprintf(&b, "-- http://a.example/p%d --\nSeite %d\n", i, i)
	}
	return b.String()
}

// With many workers the page limit is exact, and a second run goes on.
func TestPageLimitIsExact(t *testing.T) {
	s := crawltest.MustWeb(wide(60)).Start(1)
	defer s.Close()
	dir := t.TempDir()
	for run, want := range []int64{20, 20, 45, 61} {
		f, err := frontier.Open(frontier.Options{Dir: dir, Memory: 32e6})
		if err != nil {
			t.Fatal(err)
		}
		c, _ := newCrawler(t, s, "link-distance", f, nil)
		c.Options.Workers, c.Options.MaxPages = 8, []int64{20, 20, 45, 0}[run]
		seed(t, c, "http://a.example/")
		err = c.Run(t.Context())
		if c.Options.MaxPages > 0 && !errors.Is(err, crawler.ErrPageLimit) || c.Options.MaxPages == 0 && err != nil {
			t.Errorf("run %d: %v", run, err)
		}
		if got := f.Totals().Pages; got != want {
			t.Errorf("run %d: %d pages; want %d", run, got, want)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]int{}
	for _, r := range s.Requests() {
		seen[r.Path]++
	}
	for path, n := range seen {
		if n > 1 && path != "/robots.txt" {
			t.Errorf("%s was fetched %d times", path, n)
		}
	}
}

// A run that is stopped finishes the pages in flight and leaves the rest queued.
func TestStop(t *testing.T) {
	s := crawltest.MustWeb(wide(200)).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "link-distance", nil, nil)
	c.Options.Workers = 4
	seed(t, c, "http://a.example/")
	stopped := errors.New("stopped by the test")
	ctx, cancel := context.WithCancelCause(t.Context())
	c.Report = func(v *crawler.Visit) {
		l.report(v)
		if len(l.visits) == 30 {
			cancel(stopped)
		}
	}
	if err := c.Run(ctx); !errors.Is(err, stopped) {
		t.Fatalf("run = %v", err)
	}
	totals := c.Frontier.Totals()
	if totals.Visited < 30 || totals.Visited > 30+4 || totals.Leased != 0 && totals.Leased > 4 || totals.Visited+totals.Queued != 201 {
		t.Errorf("totals = %+v", totals)
	}
}

// What cannot be stored ends the run and leaves its page queued.
func TestSinkFails(t *testing.T) {
	s := crawltest.MustWeb(town).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "link-distance", nil, nil)
	l.fail = errors.New("disk full")
	seed(t, c, "http://seed.example/")
	if err := c.Run(t.Context()); !errors.Is(err, l.fail) {
		t.Fatalf("run = %v; want %v", err, l.fail)
	}
	if totals := c.Frontier.Totals(); totals.Visited != 0 || totals.Queued != 1 {
		t.Errorf("totals = %+v; want the seed still queued", totals)
	}
}

func TestTooManyFailures(t *testing.T) {
	s := crawltest.MustWeb("-- http://a.example/ --\n" + strings.Repeat("x", 10)).Start(1)
	defer s.Close()
	c, _ := newCrawler(t, s, "link-distance", nil, nil)
	c.Options.MaxFailures = 3
	seed(t, c, "http://a.example/1", "http://a.example/2", "http://a.example/3", "http://a.example/4", "http://a.example/5")
	if err := c.Run(t.Context()); !errors.Is(err, crawler.ErrFailures) {
		t.Errorf("run = %v; want %v", err, crawler.ErrFailures)
	}
}

// Every kind of hostile server is an outcome, and the crawl goes on to the end.
func TestHostileServers(t *testing.T) {
	h := crawltest.NewHostile()
	defer h.Close()
	o := fetch.DefaultOptions()
	o.AllowPrivate, o.Timeout, o.MaxBody, o.UserAgent = true, 300*time.Millisecond, 1<<20, "gazehound/test"
	client, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s := crawltest.MustWeb(town).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "link-distance", nil, nil)
	c.Fetcher, c.Gate = client, crawler.Open{}
	c.Options.Workers, c.Options.Retries = 16, 0
	var urls []string
	for _, name := range crawltest.Cases() {
		urls = append(urls, h.URL(name))
	}
	if len(urls) < 40 {
		t.Fatalf("only %d hostile cases", len(urls))
	}
	seed(t, c, urls...)
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	totals := c.Frontier.Totals()
	if totals.Queued != 0 || totals.Visited < int64(len(urls)) {
		t.Errorf("totals = %+v; want all %d visited", totals, len(urls))
	}
	for _, v := range l.visits {
		if v.Outcome.Kind != "page" && v.Outcome.Kind != "redirect" && v.Outcome.Reason == "" {
			t.Errorf("%s: %s without a reason", v.Entry.URL, v.Outcome.Kind)
		}
	}
}

// From the third page on, a footer's address tells nothing new: the pages stay
// relevant, and the verdict and the crawl tree say so.
func TestSiteWide(t *testing.T) {
	var web strings.Builder
	web.WriteString("-- http://a.example/ --\nLange Straße 5, 26121 Oldenburg")
	for i := range 5 {
		fmt.Fprintf(&web, ` <a href="/%d">mehr</a>`, i)
	}
	for i := range 5 {
		fmt.Fprintf(&web, "\n-- http://a.example/%d --\nLange Straße 5, 26121 Oldenburg", i)
	}
	s := crawltest.MustWeb(web.String() + "\n").Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "breadth-first", nil, nil)
	c.SiteWide = sitewide.New()
	seed(t, c, "http://a.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(l.visits) != 6 {
		t.Fatalf("%d visits, want 6", len(l.visits))
	}
	for i, v := range l.visits {
		wide := i >= 2
		n, _, err := c.Frontier.(*frontier.Frontier).Get(frontier.KeyOf(v.Entry.URL))
		if err != nil || !v.Outcome.Relevant || v.Verdict.SiteWide != wide || n.Outcome.SiteWide != wide || v.Verdict.Addresses[0].SiteWide != wide {
			t.Errorf("page %d: relevant %v, site-wide %v, in the tree %v, address %v; want true, %v (%v)",
				i, v.Outcome.Relevant, v.Verdict.SiteWide, n.Outcome.SiteWide, v.Verdict.Addresses[0].SiteWide, wide, err)
		}
	}
	if got := c.Frontier.Totals().Relevant; got != 6 {
		t.Errorf("%d relevant pages, want 6", got)
	}
}
