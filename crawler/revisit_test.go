package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/order/sitewide"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
)

// A paper is a web in memory that changes between two crawls. A page "301 URL"
// has moved, one "timeout" does not answer, one that is missing is gone.
type paper struct {
	mu    sync.Mutex
	pages map[string]string
	asked []string // "/path", with "?" in front where it was asked on condition

	during func() // each request; may be nil
}

func (w *paper) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	return w.FetchIf(ctx, u, page.Validators{})
}

func (w *paper) FetchIf(_ context.Context, u weburl.URL, v page.Validators) (*page.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.during != nil {
		w.during()
	}
	mark := ""
	if v.ETag != "" {
		mark = "?"
	}
	w.asked = append(w.asked, mark+u.Path())
	body, ok := w.pages[u.Path()]
	tag := fmt.Sprintf(`"%x"`, len(body))
	r := &page.Response{URL: u, Status: 200, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Etag": {tag}}, Body: []byte(body), Fetched: time.Now()}
	to, moved := strings.CutPrefix(body, "301 ")
	switch {
	case !ok:
		r.Status = 404
	case body == "timeout":
		return nil, &fetch.Error{Class: fetch.ClassTimeout, URL: u, Err: context.DeadlineExceeded}
	case moved:
		r.Status, r.Location = 301, mustURL(to)
	case v.ETag == tag:
		r.Status, r.Body = 304, nil
	}
	return r, nil
}

func (w *paper) took() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = nil
	slices.Sort(asked)
	return asked
}

func mustURL(raw string) weburl.URL {
	u, err := weburl.Parse(raw)
	if err != nil {
		panic(err)
	}
	return u
}

const day = 24 * time.Hour

// A paperCrawl crawls a paper again and again.
type paperCrawl struct {
	*paper
	t    *testing.T
	dir  string
	f    *frontier.Frontier
	c    *crawler.Crawler
	last []crawler.Visit // of the last revisit
}

func newPaperCrawl(t *testing.T, pages map[string]string) *paperCrawl {
	w := &paperCrawl{paper: &paper{pages: pages}, t: t, dir: t.TempDir()}
	breadthFirst, err := order.New("breadth-first", order.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.c = &crawler.Crawler{
		Options: crawler.Options{Workers: 1, Grace: time.Second, Revisits: crawler.DefaultSchedule()},
		Fetcher: w.paper, Gate: crawler.Open{}, Judge: judge{}, Strategy: breadthFirst,
		Scope:  func(weburl.URL) string { return "" },
		Report: func(v *crawler.Visit) { w.last = append(w.last, *v) },
	}
	w.open()
	seed(t, w.c, "http://a.example/")
	w.crawl()
	return w
}

func (w *paperCrawl) open() {
	w.t.Helper()
	var err error
	w.f, err = frontier.Open(frontier.Options{Dir: w.dir, Memory: 32e6})
	if err != nil {
		w.t.Fatal(err)
	}
	w.c.Frontier = w.f
}

// crawl visits what is queued and returns the requests.
func (w *paperCrawl) crawl() []string {
	w.t.Helper()
	w.took()
	if err := w.c.Run(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return w.took()
}

// after revisits what is due after some time, with a store that was closed meanwhile (its own clocks
// tick), and returns the requests.
func (w *paperCrawl) after(wait time.Duration) []string {
	w.t.Helper()
	w.f.Close()
	time.Sleep(wait)
	w.open()
	w.took()
	w.last = nil
	if left, err := w.c.Revisit(w.t.Context(), w.f); err != nil || left != 0 {
		w.t.Fatalf("revisit: %v, %d left", err, left)
	}
	return w.took()
}

// outcomes are those of the last revisit, by path.
func (w *paperCrawl) outcomes() map[string]crawler.RevisitOutcome {
	o := map[string]crawler.RevisitOutcome{}
	for _, v := range w.last {
		o[v.Entry.URL.Path()] = v.Revisit
	}
	return o
}

// kept returns what the crawl tree keeps of the visits of a page.
func (w *paperCrawl) kept(path string) frontier.Check {
	w.t.Helper()
	k, known, err := w.f.Check(frontier.KeyOf(mustURL("http://a.example" + path)))
	if err != nil || !known {
		w.t.Fatalf("check of %s: %v, %v", path, known, err)
	}
	return k
}

// The same crawl some weeks later: what is due is requested again with conditions,
// relevant pages first and changed ones sooner; new links are found, and what
// is gone is noticed.
func TestRevisit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("Das Geschäft liegt am Markt und hat jeden Tag geöffnet. ", 20)
		w := newPaperCrawl(t, map[string]string{
			"/": `<a href=/stays>a</a> <a href=/changes>b</a> <a href=/closes>c</a> <a href=/moves>d</a> ` +
				`<a href=/plain>e</a> <a href=/flaky>f</a>`,
			"/stays": here + long, "/changes": here + long, "/closes": here + long + "x", "/moves": here + long + "yy",
			"/plain": "nur Text " + long, "/flaky": "timeout",
		})
		defer func() { w.f.Close() }()
		first := time.Now()
		got := w.after(12 * time.Hour)
		if len(got) != 0 {
			t.Errorf("after 12 hours asked for %q; nothing is due", got)
		}
		got = w.after(day)
		if !slices.Equal(got, []string{"/flaky"}) {
			t.Errorf("after a day asked for %q; want what gave no answer", got)
		}
		w.changeAndRevisit(first)
		got = w.crawl()
		if !slices.Equal(got, []string{"/new", "/there"}) {
			t.Errorf("then asked for %q; want the new pages", got)
		}
		totals := w.f.Totals()
		if totals.Pages != 9 || len(totals.Errors) != 0 || totals.Relevant != 7 || totals.Queued != 0 ||
			totals.Links != totals.Visited+totals.Repeats {
			t.Errorf("totals %+v", totals)
		}
		// The front page and the page without an address wait twice as long.
		got = w.after(7 * day)
		if !slices.Equal(got, []string{"/flaky", "/new", "/there", "?/", "?/changes", "?/plain"}) &&
			!slices.Equal(got, []string{"?/", "?/changes", "?/flaky", "?/new", "?/plain", "?/there"}) {
			t.Errorf("in the third week asked for %q", got)
		}
		// A page that comes back is there again.
		w.pages["/closes"] = here + long
		got = w.after(100 * day)
		if !slices.Contains(got, "/closes") {
			t.Errorf("asked for %q; want the page that was gone, without condition", got)
		}
		if k := w.kept("/closes"); !k.Gone.IsZero() || k.Asks != 2 {
			t.Errorf("what is back: %+v", k)
		}
		// A host that answers no more is gone after three visits and two weeks.
		for path := range w.pages {
			w.pages[path] = "timeout"
		}
		for range 12 {
			w.after(100 * day)
		}
		if k := w.kept("/stays"); k.Gone.IsZero() {
			t.Errorf("after years without an answer: %+v", k)
		}
	})
}

// changeAndRevisit changes the web in all ways in which pages change, and holds that a revisit a week
// later sees each; first is when the first crawl ended.
func (w *paperCrawl) changeAndRevisit(first time.Time) {
	t := w.t
	t.Helper()
	w.pages["/changes"] = here + `<p>Neu: <a href=/new>Filiale</a> ` +
		strings.Repeat("Wir sind umgebaut worden und freuen uns auf Sie. ", 20)
	w.pages["/new"], w.pages["/there"] = here, here
	w.pages["/moves"] = "301 http://a.example/there"
	w.pages["/flaky"] = here
	delete(w.pages, "/closes")
	want := []string{"/flaky", "?/changes", "?/closes", "?/moves", "?/stays"}
	got := w.after(7 * day)
	if !slices.Equal(got, want) {
		t.Errorf("after a week asked for %q; want the relevant pages, on condition: %q", got, want)
	}
	now := time.Now().UTC().Truncate(time.Second)
	answers := w.outcomes()
	for path, want := range map[string]crawler.RevisitOutcome{
		"/stays": crawler.Same, "/changes": crawler.Changed, "/closes": crawler.Gone, "/moves": crawler.Gone,
		"/flaky": crawler.Changed,
	} {
		if answers[path] != want {
			t.Errorf("%s is %v; want %v", path, answers[path], want)
		}
	}
	if w.last[len(w.last)-1].Entry.URL.Path() != "/flaky" {
		t.Error("a page that was not known to be relevant was not the last")
	}
	if k := w.kept("/stays"); k.Wait != 7*day*3/2 || !k.Last.Equal(now) || k.First.After(first) || !k.Gone.IsZero() {
		t.Errorf("what stays: %+v", k)
	}
	if k := w.kept("/changes"); k.Wait != 7*day/2 || k.Changes != 1 {
		t.Errorf("what changes: %+v", k)
	}
	if k := w.kept("/closes"); !k.Gone.Equal(now) || k.Last.After(first) || k.Wait != 90*day {
		t.Errorf("what is gone: %+v", k)
	}
	if k := w.kept("/flaky"); !k.First.Equal(now) || k.Fails != 0 || !k.Relevant {
		t.Errorf("what came late: %+v", k)
	}
}

func TestSchedule(t *testing.T) {
	if err := crawler.DefaultSchedule().Validate(); err != nil {
		t.Error(err)
	}
	for _, s := range []crawler.Schedule{{}, {First: 1, Min: 2, Max: 3}, {First: 3, Min: 1, Max: 2}, {First: 1, Min: -1, Max: 2}} {
		if s.Validate() == nil {
			t.Errorf("%+v: no error", s)
		}
	}
}

// A crawl that stays asks again what is due, round after round, fetches what is
// new in between, rests in the meantime and where its page limit is reached, and ends when it is stopped.
func TestStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &paper{pages: map[string]string{"/": `<a href=/a>a</a>`, "/a": here}}
		f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Memory: 32e6})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		order, err := order.New("breadth-first", order.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := &crawler.Crawler{
			Options:  crawler.Options{Workers: 1, MaxPages: 4, Grace: time.Second, Revisits: crawler.Schedule{First: 2 * time.Minute, Min: time.Minute, Max: 10 * time.Minute}},
			Frontier: f, Fetcher: w, Gate: crawler.Open{}, Judge: judge{}, Strategy: order,
			Scope: func(weburl.URL) string { return "" },
		}
		seed(t, c, "http://a.example/")
		asked := errors.New("asked to end")
		ctx, end := context.WithCancelCause(t.Context())
		ended := make(chan error)
		go func() {
			_, err := c.Stay(ctx, f, time.Minute)
			ended <- err
		}()
		time.Sleep(30 * time.Second)
		if _, asking := c.Due(); asking {
			t.Error("it asks again what it has just fetched")
		}
		if got := w.took(); !slices.Equal(got, []string{"/", "/a"}) || !c.Resting() {
			t.Errorf("at first it asked %v; resting %v", got, c.Resting())
		}
		w.mu.Lock()
		w.pages["/given"] = "nothing"
		w.mu.Unlock()
		seed(t, c, "http://a.example/given")
		time.Sleep(time.Second)
		if got := w.took(); !slices.Equal(got, []string{"/given"}) || !c.Resting() {
			t.Errorf("of a new seed it asked %v; resting %v", got, c.Resting())
		}
		w.mu.Lock()
		w.during = func() {
			if due, asking := c.Due(); !asking || due.Leased != 1 || due.Queued == 0 {
				t.Errorf("while a page is requested again, %d of %d are leased; asking %v", due.Leased, due.Queued, asking)
			}
		}
		w.mu.Unlock()
		time.Sleep(3 * time.Minute)
		w.mu.Lock()
		w.during = nil
		w.mu.Unlock()
		if got := w.took(); !slices.Contains(got, "?/a") {
			t.Errorf("after 3 minutes it has asked %v, and not /a on condition", got)
		}
		w.mu.Lock()
		w.pages["/a"], w.pages["/new"] = here+` and more <a href=/new>new</a>`, "nothing"
		w.mu.Unlock()
		time.Sleep(10 * time.Minute)
		if got := w.took(); !slices.Contains(got, "/new") || !c.Resting() {
			t.Errorf("it asked %v, and not the new page; resting %v", got, c.Resting())
		}
		end(asked)
		if err := <-ended; err != asked {
			t.Errorf("it ended with %v, want %v", err, asked)
		}
		if c.Resting() {
			t.Error("it rests and has ended")
		}
	})
}

// What a first visit has noted of a page beside its verdict is still there once the
// page was read again: that its addresses are site-wide, and what its links are worth.
func TestRevisitKeepsMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &paper{pages: map[string]string{"/": `<a href=/1>1</a> <a href=/2>2</a> <a href=/3>3</a> <a href=/plain>4</a>`,
			"/1": here, "/2": here, "/3": here, "/plain": "nur Text <a href=/open>5</a>", "/open": here}}
		dir := t.TempDir()
		open := func() *frontier.Frontier {
			f, err := frontier.Open(frontier.Options{Dir: dir, Memory: 32e6})
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		f := open()
		defer func() { f.Close() }()
		model := predictor.NewModel(predictor.DefaultOptions())
		strategy, err := order.New("lookahead", order.Options{Model: model})
		if err != nil {
			t.Fatal(err)
		}
		c := &crawler.Crawler{
			Options:  crawler.Options{Workers: 1, Grace: time.Second, Revisits: crawler.DefaultSchedule()},
			Frontier: f, Fetcher: w, Gate: crawler.Open{}, Judge: judge{}, Strategy: strategy, SiteWide: sitewide.New(),
			Scope: func(weburl.URL) string { return "" },
		}
		outcome := func(path string) frontier.Outcome {
			t.Helper()
			n, known, err := f.Get(frontier.KeyOf(mustURL("http://a.example" + path)))
			if err != nil || !known {
				t.Fatalf("%s: %v, %v", path, known, err)
			}
			return n.Outcome
		}
		seed(t, c, "http://a.example/")
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		expected := outcome("/plain").LinkValue
		marked := 0
		for _, path := range []string{"/1", "/2", "/3", "/open"} {
			if outcome(path).SiteWide {
				marked++
			}
		}
		if marked == 0 || expected == 0 {
			t.Fatalf("the first visits marked %d pages as site-wide and expect %v of a page's links", marked, expected)
		}
		for path := range w.pages {
			w.pages[path] += strings.Repeat(" Wir sind umgebaut worden und freuen uns auf Sie.", 20)
		}
		f.Close() // the store's own clocks tick
		time.Sleep(30 * day)
		f = open()
		c.Frontier = f
		again := map[string]crawler.Visit{}
		c.Report = func(v *crawler.Visit) { again[v.Entry.URL.Path()] = *v }
		if _, err := c.Revisit(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/1", "/2", "/3", "/open"} {
			v, ok := again[path]
			if !ok || v.Revisit != crawler.Changed || !v.Verdict.SiteWide || !v.Verdict.Addresses[0].SiteWide || !outcome(path).SiteWide {
				t.Errorf("%s was read again: %v %v; its verdict says site-wide %v, the crawl tree %v; want true", path, ok, v.Revisit, v.Verdict.SiteWide, outcome(path).SiteWide)
			}
		}
		if got := outcome("/plain").LinkValue; got != expected {
			t.Errorf("the links of a page that was read again are worth %v, and were worth %v", got, expected)
		}
	})
}
