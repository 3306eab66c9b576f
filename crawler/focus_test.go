package crawler_test

import (
	"slices"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/order"
)

// focused crawls s with order and returns the pages in the order of their
// visits, and the totals. tie decides between equal priorities.
func focused(t *testing.T, s *crawltest.Server, order order.Strategy, tie uint64) ([]string, frontier.Totals) {
	t.Helper()
	f, err := frontier.Open(frontier.Options{InMemory: true, Memory: 32e6, Seed: tie})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, l := newCrawler(t, s, "breadth-first", f, nil)
	c.Strategy = order
	seed(t, c, "http://seed.example/")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	totals := f.Totals()
	if dropped := totals.Dropped["strategy"]; totals.Links != totals.Visited+totals.Queued+totals.Repeats+dropped {
		t.Errorf("%+v: the links do not add up", totals)
	}
	return l.urls(), totals
}

// Hard stops at the bridge, soft reaches everything, a limit lies between.
func TestFocusedStrategies(t *testing.T) {
	s := crawltest.MustWeb(town).Start(1)
	defer s.Close()
	for _, c := range []struct {
		order           order.Strategy
		pages, relevant int64
		dropped         int64
	}{
		{order.HardFocused{}, 3, 0, 2},
		{order.LimitedDistance{Limit: 1}, 6, 2, 1},
		{order.LimitedDistance{Limit: 1, Prioritised: true}, 6, 2, 1},
		{order.LimitedDistance{Limit: 2}, 7, 2, 0},
		{order.SoftFocused{}, 7, 2, 0},
	} {
		for tie := range uint64(4) {
			got, totals := focused(t, s, c.order, tie)
			if totals.Pages != c.pages || totals.Relevant != c.relevant || totals.Dropped["strategy"] != c.dropped {
				t.Errorf("%#v: %d pages (%d relevant), %d links dropped: %q; want %d (%d), %d", c.order,
					totals.Pages, totals.Relevant, totals.Dropped["strategy"], got, c.pages, c.relevant, c.dropped)
			}
			if _, soft := c.order.(order.SoftFocused); !soft {
				continue
			}
			// Behind a relevant page there is nothing to wait for.
			if a := slices.Index(got, "http://a.example/"); a < 0 || got[a+1] != "http://a.example/kontakt" {
				t.Errorf("soft-focused: order = %q; want /kontakt right behind a.example", got)
			}
		}
	}
}

// A link that was dropped on an irrelevant page is accepted from a relevant one.
func TestDroppedLinkIsAcceptedLater(t *testing.T) {
	s := crawltest.MustWeb(`
-- http://seed.example/ --
<a href="/other">Anderes</a> <a href="/a">A</a>
-- http://seed.example/other --
<a href="/target">Ziel</a>
-- http://seed.example/a --
Lange Straße 5, 26121 Oldenburg <a href="/b">B</a>
-- http://seed.example/b --
Lange Straße 5, 26121 Oldenburg <a href="/target">Ziel</a>
-- http://seed.example/target --
Lange Straße 5, 26121 Oldenburg
`).Start(1)
	defer s.Close()
	droppedFirst := 0
	for tie := range uint64(8) {
		got, totals := focused(t, s, order.HardFocused{}, tie)
		if len(got) != 5 || totals.Dropped["strategy"] != 1 {
			t.Errorf("pages = %q, dropped %v; want all 5, and 1", got, totals.Dropped)
		}
		if slices.Index(got, "http://seed.example/other") < slices.Index(got, "http://seed.example/b") {
			droppedFirst++
		}
	}
	if droppedFirst == 0 {
		t.Error("in no order was the link dropped before it was accepted")
	}
}

// A link that waits takes the shortest distance, also where all are equal.
func TestWaitingLinkTakesShorterDistance(t *testing.T) {
	s := crawltest.MustWeb(`
-- http://seed.example/ --
<a href="/other">Anderes</a> <a href="/a">A</a>
-- http://seed.example/other --
<a href="/shared">Gemeinsam</a>
-- http://seed.example/a --
Lange Straße 5, 26121 Oldenburg <a href="/shared">Gemeinsam</a>
-- http://seed.example/shared --
<a href="/behind">Dahinter</a>
-- http://seed.example/behind --
nichts
`).Start(1)
	defer s.Close()
	raised := 0
	for tie := range uint64(16) {
		for _, prioritised := range []bool{false, true} {
			got, _ := focused(t, s, order.LimitedDistance{Limit: 1, Prioritised: prioritised}, tie)
			shared := slices.Index(got, "http://seed.example/shared")
			short := slices.Index(got, "http://seed.example/a") < shared
			if reached := slices.Contains(got, "http://seed.example/behind"); reached != short {
				t.Errorf("order %q: /behind reached %v, although /shared was known at distance 1 before its visit: %v", got, reached, short)
			}
			if short && slices.Index(got, "http://seed.example/other") < slices.Index(got, "http://seed.example/a") {
				raised++
			}
		}
	}
	if raised == 0 {
		t.Error("no link was raised while it waited")
	}
}
