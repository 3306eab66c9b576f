package crawler_test

import (
	"fmt"
	"strings"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/crawltest"
	"gazehound/predictor"
)

// readers counts the trails that are read from the queue.
type readers struct {
	crawler.Frontier
	trails int
}

func (r *readers) Trail(k frontier.Key, n int) ([]frontier.Node, error) {
	r.trails++
	return r.Frontier.Trail(k, n)
}

// What is remembered of the pages before a page is what the queue says, also where
// there are more pages than places for them.
func TestTrailsAreThoseOfTheQueue(t *testing.T) {
	var web strings.Builder
	const pages = 300
	web.WriteString("-- http://a.example/ --\n")
	for i := range pages {
		fmt.Fprintf(&web, "<a href=\"/p%d\">Seite %d</a>\n", i, i)
	}
	for i := range pages {
		fmt.Fprintf(&web, "-- http://a.example/p%d --\nvor <a href=\"/p%d/q\">Teil %d</a> nach\n-- http://a.example/p%d/q --\nTeil\n", i, i, i, i)
	}
	s := crawltest.MustWeb(web.String()).Start(1)
	defer s.Close()
	c, l := newCrawler(t, s, "breadth-first", nil, nil)
	queue := &readers{Frontier: c.Frontier}
	c.Frontier = queue
	seed(t, c, "http://a.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if most := pages; queue.trails == 0 || queue.trails >= most {
		t.Errorf("%d trails of %d pages were read; want fewer than %d, and some", queue.trails, 2*pages, most)
	}
	long := 0
	for _, v := range l.visits {
		if len(v.Trail) == 0 || v.Entry.Depth == 0 {
			continue
		}
		want, err := queue.Trail(v.Entry.Parent, predictor.MaxDepth-1)
		if err != nil {
			t.Fatal(err)
		}
		if len(v.Trail)-1 != len(want) {
			t.Fatalf("%s: a trail of %d, want %d", v.Entry.URL, len(v.Trail)-1, len(want))
		}
		for i, n := range v.Trail[1:] {
			w := want[i]
			if n.URL != w.URL || n.Anchor != w.Anchor || n.Title != w.Title || n.Around != w.Around || n.Switch != w.Switch || n.Depth != w.Depth ||
				n.Distance != w.Distance || n.Parent != w.Parent || n.Outcome.Relevant != w.Outcome.Relevant {
				t.Errorf("%s: %d steps back\n%+v, want\n%+v", v.Entry.URL, i+1, n, w)
			}
		}
		if len(want) == 2 {
			long++
		}
	}
	if long != pages {
		t.Errorf("%d pages have two before them, want %d", long, pages)
	}
}
