package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/order"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/page"
	"gazehound/crawler/polite"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/render"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
)

// openBrowser returns a browser with the options of a crawl, or skips the test.
func openBrowser(t *testing.T) *render.Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("browser tests are left out with -short")
	}
	o := render.DefaultOptions()
	o.Profile, o.UserAgent = filepath.Join(t.TempDir(), "browser"), "gazehound/test"
	b, err := render.New(o)
	if errors.Is(err, render.ErrNoBrowser) {
		t.Skip("no Chromium on this machine (Debian: apt-get install chromium); the browser tests are left out")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// Three sites in the manner of React, Vue and Next.js, which have their texts and links only once their
// scripts have run, and that page of a usual site that leads to them.
var applications = crawltest.Fixture("webs/applications.txtar")

// Applications are found with auto, missed with off, and rendered where they are listed; the requests of
// their scripts keep the delays and obey robots.txt; an archive holds what was judged.
func TestRendering(t *testing.T) {
	const delay = 150 * time.Millisecond
	want := []string{"http://next.example/laden", "http://react.example/shop", "http://vue.example/"}
	for _, c := range []struct {
		mode  crawler.Rendering
		finds []string
	}{
		{crawler.Rendering{}, nil},
		{crawler.Rendering{Auto: true, Share: 0.1}, want},
		{crawler.Rendering{Hosts: map[string]bool{"vue.example": true}}, []string{"http://vue.example/"}},
	} {
		s := crawltest.MustWeb(applications).Start(1)
		defer s.Close()
		cr, l := newCrawler(t, s, "breadth-first", nil, nil)
		cr.Options.Workers, cr.Options.Rendering = 4, c.mode
		files := cr.Fetcher.(crawler.FileFetcher)
		manners, rules := polite.DefaultOptions(), robots.DefaultOptions()
		manners.Delay, manners.AdaptiveDelay, manners.Fetch, manners.Robots = delay, false, files.FetchPrefix, &rules
		gate, err := polite.New(manners)
		if err != nil {
			t.Fatal(err)
		}
		defer gate.Close()
		cr.Gate = gate
		if c.mode.Auto || len(c.mode.Hosts) > 0 {
			cr.Renderer = openBrowser(t)
		}
		dir := t.TempDir()
		writer, err := warc.NewWriter(warc.WriterOptions{Dir: dir, MaxFile: 1e9})
		if err != nil {
			t.Fatal(err)
		}
		cr.Sinks = append(cr.Sinks, crawler.ArchiveSink{Writer: writer, Frontier: cr.Frontier.(*frontier.Frontier)})
		seed(t, cr, "http://portal.example/")
		if err := cr.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		found := relevant(l)
		totals := cr.Frontier.Totals()
		t.Logf("%+v: %d pages, %d rendered, needs_javascript %d, %d requests", c.mode, totals.Pages, totals.Rendered,
			totals.Skipped[crawler.ReasonNeedsScript], len(s.Requests()))
		if !slices.Equal(found, c.finds) {
			t.Errorf("%+v: found %q, want %q", c.mode, found, c.finds)
			for _, v := range l.visits {
				t.Logf("%s: %s %s, %v", v.Entry.URL, v.Outcome.Kind, v.Outcome.Reason, v.RenderErr)
			}
		}
		for _, line := range s.Impolite(delay, false) {
			t.Error(line)
		}
		for _, r := range s.Requests() {
			if strings.Contains(r.Path, "forbidden") || strings.Contains(r.Path, ".png") {
				t.Errorf("%s%s was requested", r.Host, r.Path)
			}
		}
		archive, err := warc.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		again, l := newCrawler(t, s, "breadth-first", nil, nil)
		again.Fetcher, again.Gate = archive, crawler.Open{}
		seed(t, again, "http://portal.example/")
		if err := again.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if found := relevant(l); !slices.Equal(found, c.finds) {
			t.Errorf("%+v: found %q in the archive, want %q", c.mode, found, c.finds)
		}
		walked := 0
		if err := archive.Walk(t.Context(), func(x warc.Recorded) error {
			if x.Response != nil && x.Response.Rendered != nil {
				walked++
			}
			return nil
		}); err != nil || int64(walked) != totals.Rendered {
			t.Errorf("%+v: the archive has %d rendered pages, not %d; %v", c.mode, walked, totals.Rendered, err)
		}
	}
}

// relevant lists the relevant pages in alphabetical order.
func relevant(l *ledger) (urls []string) {
	for _, v := range l.visits {
		if v.Outcome.Relevant {
			urls = append(urls, v.Entry.URL.String())
		}
	}
	slices.Sort(urls)
	return urls
}

// A page that is rendered reaches no address inside, directly or by a redirect of its own host.
func TestRenderingStaysOutside(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	inside := http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a request for %s reached the server inside", r.URL)
	})}
	served := make(chan struct{})
	go func() { defer close(served); inside.Serve(l) }()
	defer func() { inside.Close(); <-served }()
	s := crawltest.MustWeb(fmt.Sprintf(`
-- http://evil.example/ --
<div id="app"></div><script src="/main.js"></script><script src="http://%[1]s/script.js"></script>
-- http://evil.example/main.js --
for (const at of ["http://%[1]s/fetch", "/redirect", "http://169.254.169.254/meta", "http://[::1]:%[2]d/six", "http://localhost:%[2]d/name"])
	fetch(at).then((r) => r.text()).then((text) => { app.textContent += text }, () => { app.textContent += "refused " });
setTimeout(() => { app.innerHTML += "%[3]s" }, 500);
-- http://evil.example/redirect --
HTTP 302
Location: http://%[1]s/redirected
`, l.Addr(), l.Addr().(*net.TCPAddr).Port, here)).Start(1)
	defer s.Close()
	c, visits := newCrawler(t, s, "breadth-first", nil, nil)
	c.Renderer, c.Options.Rendering = openBrowser(t), crawler.Rendering{Auto: true}
	seed(t, c, "http://evil.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := relevant(visits); len(found) != 1 {
		t.Errorf("found %q; %+v", found, visits.visits[0].RenderErr)
	}
	for _, r := range s.Requests() {
		if r.Host != "evil.example" {
			t.Errorf("%s%s was requested", r.Host, r.Path)
		}
	}
}

// fakeRenderer answers with a page that has an address, after the requests for its scripts.
type fakeRenderer struct {
	pages int
	fail  error
}

func (f *fakeRenderer) Render(ctx context.Context, r *page.Response,
	fetch func(context.Context, weburl.URL) (*page.Response, error)) ([]byte, error) {
	f.pages++
	if f.fail != nil {
		return nil, f.fail
	}
	return []byte("<p>" + here + " " + r.URL.Path()), nil
}

// No more than the share is rendered, beside the first twenty; what is not, or fails, is no page.
func TestRenderingShare(t *testing.T) {
	var web strings.Builder
	fmt.Fprintf(&web, "-- http://a.example/ --\n")
	for i := range 100 {
		fmt.Fprintf(&web, "<a href=/shell/%d>x</a> <a href=/text/%d>y</a>\n", i, i)
	}
	for i := range 100 {
		fmt.Fprintf(&web, "-- http://a.example/shell/%d --\n<div id=app></div><script src=/x.js></script>\n", i)
		fmt.Fprintf(&web, "-- http://a.example/text/%d --\n%s\n", i, strings.Repeat(fmt.Sprint("word", i, " "), 20))
	}
	for _, fail := range []error{nil, render.ErrTime} {
		s := crawltest.MustWeb(web.String()).Start(1)
		defer s.Close()
		c, _ := newCrawler(t, s, "breadth-first", nil, nil)
		renderer := &fakeRenderer{fail: fail}
		c.Renderer, c.Options.Rendering = renderer, crawler.Rendering{Auto: true, Share: 0.1}
		seed(t, c, "http://a.example/")
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		n := c.Frontier.Totals()
		if fail == nil && (n.Rendered < 30 || n.Rendered > 20+n.Pages/10 || n.Relevant != n.Rendered || int64(renderer.pages) != n.Rendered) {
			t.Errorf("%d pages rendered (%d tries) of %d, %d relevant", n.Rendered, renderer.pages, n.Pages, n.Relevant)
		}
		if fail != nil && (n.Rendered != 0 || n.Skipped[crawler.ReasonNeedsScript] != 100) {
			t.Errorf("%d pages rendered, skipped %v", n.Rendered, n.Skipped)
		}
	}
}

// The shells of a host that shows nothing without scripts are parked like other repetition.
func TestShellsAreParked(t *testing.T) {
	var web strings.Builder
	fmt.Fprintf(&web, "-- http://a.example/ --\n")
	for i := range 400 {
		fmt.Fprintf(&web, "<a href=/shell/%d>x</a>\n", i)
	}
	for i := range 400 {
		fmt.Fprintf(&web, "-- http://a.example/shell/%d --\n<div id=app></div><script src=/x.js></script>\n", i)
	}
	s := crawltest.MustWeb(web.String()).Start(1)
	defer s.Close()
	traps := trap.New()
	breadth, err := order.New("breadth-first", order.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := frontier.Open(frontier.Options{InMemory: true, Memory: 32e6, Score: crawler.Rescore(breadth, traps)})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, _ := newCrawler(t, s, "breadth-first", f, nil)
	c.Traps = traps
	seed(t, c, "http://a.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := c.Frontier.Totals()
	t.Logf("%d skipped, %d parked", n.Skipped[crawler.ReasonNeedsScript], n.Parked)
	if n.Skipped[crawler.ReasonNeedsScript] > 40 || n.Parked < 360 {
		t.Errorf("skipped %v, %d parked", n.Skipped, n.Parked)
	}
}
