package crawler_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/polite"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/gazetteer/osm"
	"gazehound/geoparse"
	"gazehound/predictor"
)

// A nowhere is a Frontier that knows no link and keeps none.
type nowhere struct{ crawler.Frontier }

func (nowhere) Done(context.Context, frontier.Entry, frontier.Outcome, ...frontier.Entry) (int, error) {
	return 0, nil
}
func (nowhere) Trail(frontier.Key, int) ([]frontier.Node, error) { return nil, nil }
func (nowhere) Known(keys ...frontier.Key) ([]frontier.Known, error) {
	return make([]frontier.Known, len(keys)), nil
}

type anytime struct{ crawler.Open }

func (anytime) Claim(string) time.Duration   { return 0 }
func (anytime) Visited(string, polite.Visit) {}

// BenchmarkVisit processes pages of 16 kB of a made-up web in full, except for frontier and index:
// from a server in this process, whose memory counts in B/page, to the values of their links.
//
//	go test ./crawler -run NONE -bench Visit -benchtime 3000x
func BenchmarkVisit(b *testing.B) {
	o := demo.DefaultOptions()
	o.Sites, o.PageSize, o.Calm = 300, 16_000, true
	town, err := demo.New(o)
	if err != nil {
		b.Fatal(err)
	}
	const kept = 1000
	answers := map[string]*page.Response{}
	var urls []weburl.URL
	town.Pages(func(p demo.Page) {
		if len(urls) == kept {
			return
		}
		if r, err := town.Fetch(b.Context(), p.URL); err == nil && r.Status == http.StatusOK {
			answers[p.URL.String()] = r
			urls = append(urls, p.URL)
		}
	})
	if len(urls) < kept {
		b.Fatalf("%d pages", len(urls))
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[r.URL.String()]
		w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
		w.Write(answer.Body)
	}))
	defer s.Close()
	options := fetch.DefaultOptions()
	options.Proxy, options.UserAgent = s.URL, "gazehound/test"
	client, err := fetch.New(options)
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	model := predictor.NewModel(predictor.DefaultOptions())
	c := &crawler.Crawler{
		Frontier: nowhere{}, Fetcher: client, Gate: anytime{}, Judge: crawler.Geo{Parser: parserOf(b, town)},
		Strategy: order.Lookahead{Model: model, News: order.NewNews()}, Scope: func(weburl.URL) string { return "" },
	}
	var before, after runtime.MemStats
	visited, relevant, links := 0, 0, 0
	c.Report = func(v *crawler.Visit) {
		visited++
		links += len(v.Found)
		if v.Verdict.Relevant {
			relevant++
		}
	}
	runtime.ReadMemStats(&before)
	for b.Loop() {
		if _, err := c.Visit(b.Context(), frontier.Entry{URL: urls[visited%len(urls)], Depth: 1, Distance: 1}); err != nil {
			b.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if links == 0 || relevant == 0 || relevant == visited {
		b.Fatalf("%d pages, %d relevant, %d links", visited, relevant, links)
	}
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(visited), "B/page")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(visited), "allocs/page")
	b.ReportMetric(float64(links)/float64(visited), "links/page")
	b.ReportMetric(float64(relevant)/float64(visited), "relevant/page")
}

// parserOf returns a parser that knows the streets of the town.
func parserOf(b *testing.B, town *demo.Town) *geoparse.Parser {
	b.Helper()
	file := filepath.Join(b.TempDir(), "town.osm")
	f, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(town.WriteOSM(f), f.Close()); err != nil {
		b.Fatal(err)
	}
	var places []gazetteer.Place
	if _, err := osm.Read(b.Context(), file, osm.Options{Country: "DE"}, func(p gazetteer.Place) error {
		places = append(places, p)
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	g := gazetteer.Of(places...)
	b.Cleanup(func() { g.Close() })
	region, err := g.Region(town.Name())
	if err != nil {
		b.Fatal(err)
	}
	p, err := geoparse.New(g, region, geoparse.DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	return p
}
