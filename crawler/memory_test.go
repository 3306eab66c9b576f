package crawler_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

// A wiper overwrites the body of a response that is freed.
type wiper struct {
	*fetch.Client
	lent, freed atomic.Int64
}

func (w *wiper) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	r, err := w.Client.Fetch(ctx, u)
	if err == nil && r.Free != nil {
		w.lent.Add(1)
		body, free := r.Body, r.Free
		r.Free = func() {
			w.freed.Add(1)
			for i := range body {
				body[i] = '?'
			}
			free()
		}
	}
	return r, err
}

// A keeper leaves all bodies as they are.
type keeper struct{ *fetch.Client }

func (k keeper) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	r, err := k.Client.Fetch(ctx, u)
	if err == nil {
		r.Free = nil
	}
	return r, err
}

// A witness is a Sink that writes down all that a visit brought.
type witness struct {
	mu   sync.Mutex
	said map[string]string
}

func (w *witness) Visit(_ context.Context, v *crawler.Visit) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := fmt.Sprintf("%x", sha256.Sum256(v.Response.Body))
	if v.Page != nil {
		said += fmt.Sprintf(" %q %q %q %+v %+v", v.Page.Title, v.Page.Charset, v.Page.Text, v.Verdict, v.Page.Links)
	}
	w.said[v.Entry.URL.String()] = said
	return nil
}

// Bodies, trees and their text lie in memory that the next pages get. What a crawl
// makes of pages is the same where nothing is used again, and where what was given
// back is overwritten at once.
func TestMemoryIsUsedAgain(t *testing.T) {
	var web strings.Builder
	const pages = 150
	for i := range pages {
		fmt.Fprintf(&web, "-- http://h%d.example/p%d --\n<title>Seite %d</title><p title='t%d'>%s %s\n", i%7, i, i, i,
			strings.Repeat(fmt.Sprintf("Wort%d ", i), 1+i*i%4000), []string{"", here, "b\xf6se", "a\u0308"}[i%4])
		for _, to := range []int{2*i + 1, 2*i + 2, i * i % pages} {
			fmt.Fprintf(&web, "<a href='http://h%d.example/p%d#x' title='zu %d'>nach %d</a> davor\n", to%7, to, to, to)
		}
	}
	s := crawltest.MustWeb(web.String()).Start(7)
	defer s.Close()
	crawl := func(fetcher func(*fetch.Client) crawler.Fetcher) map[string]string {
		c, _ := newCrawler(t, s, "lookahead", nil, nil)
		w := &witness{said: map[string]string{}}
		c.Options.Workers, c.Sinks = 8, []crawler.Sink{w}
		c.Fetcher = fetcher(c.Fetcher.(*fetch.Client))
		seed(t, c, "http://h0.example/p0")
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return w.said
	}
	want := crawl(func(c *fetch.Client) crawler.Fetcher { return keeper{c} })
	wiper := &wiper{}
	got := crawl(func(c *fetch.Client) crawler.Fetcher { wiper.Client = c; return wiper })
	if len(want) < pages || len(got) != len(want) {
		t.Fatalf("%d and %d pages of %d", len(want), len(got), pages)
	}
	for url := range want {
		if got[url] != want[url] {
			t.Errorf("%s:\n%.300s\nand was\n%.300s", url, got[url], want[url])
		}
	}
	if lent, freed := wiper.lent.Load(), wiper.freed.Load(); freed < pages || lent != freed {
		t.Errorf("%d bodies of %d were given back", freed, lent)
	}
}
