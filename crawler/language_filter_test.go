package crawler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

// With a filter of languages, pages in another one are neither judged nor are their links
// followed; without one all are.
func TestContentLanguages(t *testing.T) {
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite, o.Streets, o.Language, o.Calm = 40, 20, 20, "th", true
	town, err := demo.New(o)
	if err != nil {
		t.Fatal(err)
	}
	crawl := func(languages ...string) (of map[string]int, skipped int64) {
		f, err := frontier.Open(frontier.Options{InMemory: true, Memory: 32e6})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		of = map[string]int{}
		c := &crawler.Crawler{
			Options:  crawler.Options{Workers: 1, MaxPages: 200, Grace: time.Second, Languages: languages},
			Frontier: f, Fetcher: town, Judge: crawler.Language{Code: "th"}, Strategy: order.BreadthFirst{},
			Gate: noDelays(t, func(ctx context.Context, u weburl.URL, _ int64) (*page.Response, error) {
				return town.Fetch(ctx, u)
			}),
			Scope: func(weburl.URL) string { return "" },
			Report: func(v *crawler.Visit) {
				if v.Page != nil {
					of[v.Page.Lang]++
				}
			},
		}
		if _, err := c.Seed(t.Context(), town.Seeds()); err != nil {
			t.Fatal(err)
		}
		if err := c.Run(t.Context()); err != nil && !errors.Is(err, crawler.ErrPageLimit) {
			t.Fatal(err)
		}
		return of, f.Totals().Skipped["language"]
	}
	if of, skipped := crawl(); of["th"] == 0 || of["de"] == 0 || skipped != 0 {
		t.Errorf("without a filter: pages %v, %d skipped", of, skipped)
	}
	if of, skipped := crawl("th"); of["th"] == 0 || of["de"] != 0 || skipped == 0 {
		t.Errorf("pages in Thai only: pages %v, %d skipped", of, skipped)
	}
}
