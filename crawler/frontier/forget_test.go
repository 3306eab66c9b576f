package frontier_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
)

// A host with visited and waiting URLs is forgotten: nothing names it any more,
// it is not queued again, and the totals are those of a recount.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir})
	for i := range 200 { // beyond 128 a host has places of its own
		for host := range 3 {
			e := entry(host, i, float64(i))
			e.Anchor = fmt.Sprintf("anchor-%d-%d", host, i)
			push(t, f, e)
		}
	}
	visited := map[string]bool{}
	for range 30 {
		e := next(t, f)
		child := frontier.Entry{URL: address(7, len(visited)), Parent: frontier.KeyOf(e.URL), Around: "words of " + e.URL.Host(), Priority: -1}
		o := frontier.Outcome{Kind: "page", Relevant: true, Title: "A|" + e.URL.Host(), Addresses: []string{"A|" + e.URL.Host(), "B|" + e.URL.String()}, At: time.Now(), Bytes: 10,
			Check: &frontier.Check{Due: time.Now().Add(-time.Hour), Relevant: true}}
		if _, err := f.Done(t.Context(), e, o, child); err != nil {
			t.Fatal(err)
		}
		visited[e.URL.String()] = true
	}
	before := f.Totals()
	match := func(u weburl.URL) bool { return u.Host() == "h1.example" }
	address := func(id string) bool { return id == "A|h2.example" }

	// Stopped at any moment it changes nothing.
	var n frontier.Forgotten
	for steps := 1; ; steps = steps*5/4 + 1 {
		var err error
		n, err = f.Forget(&countdown{t.Context(), steps}, frontier.Removal{URL: match, Address: address}, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if n.URLs != 200 || n.Links < 200 || n.Addresses != 10 {
		t.Errorf("forgot %+v, want 200 URLs, their links and 10 addresses", n)
	}
	check := func(when string) {
		totals := f.Totals()
		if totals.Queued != before.Queued-190 || totals.Visited != before.Visited+190 || totals.Skipped["forgotten"] != 200 ||
			totals.Pages != before.Pages-10 || totals.Relevant != before.Relevant-10 || totals.Links != before.Links || totals.Bytes != before.Bytes {
			t.Errorf("%s: totals %+v, before %+v", when, totals, before)
		}
		if totals.Addresses != before.Addresses-1 || totals.Damaged != 0 {
			t.Errorf("%s: %d addresses of %d, %d damaged", when, totals.Addresses, before.Addresses, totals.Damaged)
		}
		nodes := 0
		err := f.Walk(t.Context(), 0, func(n frontier.Node) error {
			nodes++
			if strings.Contains(fmt.Sprint(n), "h1.example") || strings.Contains(fmt.Sprint(n), "A|h2.example") {
				t.Errorf("%s: still there: %v", when, n)
			}
			return nil
		})
		if err != nil || nodes != 20 {
			t.Errorf("%s: %d visits, %v; want those of the two other hosts", when, nodes, err)
		}
		if _, ok, err := f.Get(frontier.KeyOf(address1(0))); ok || err != nil {
			t.Errorf("%s: a forgotten URL is known: %v", when, err)
		}
		if due, all, err := f.Due(t.Context(), time.Now(), 100); err != nil || all != 20 || len(due) != 20 {
			t.Errorf("%s: %d URLs are due, %v; want 20", when, all, err)
		}
		if added := push(t, f, frontier.Entry{URL: address1(3), Priority: 1e6}); added != 0 {
			t.Errorf("%s: a forgotten URL was queued again", when)
		}
		before.Links++
	}
	f = open(t, frontier.Options{Dir: dir})
	check("at once")
	closed(t, f)
	f = open(t, frontier.Options{Dir: dir})
	check("opened again")
	for range 410 {
		e := next(t, f)
		if match(e.URL) || strings.Contains(e.Around, "h1.example") {
			t.Fatalf("served %+v", e)
		}
		if _, err := f.Done(t.Context(), e, frontier.Outcome{Kind: "page"}); err != nil {
			t.Fatal(err)
		}
	}
	if n := f.Totals().Queued; n != 0 {
		t.Errorf("%d URLs wait for ever", n)
	}
	if n, err := f.Forget(t.Context(), frontier.Removal{URL: match, Address: address}, nil); err != nil || n != (frontier.Forgotten{}) {
		t.Errorf("a second time: %+v, %v", n, err)
	}
}

// A countdown is a context that ends after it was asked so many times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func address1(page int) weburl.URL { return address(1, page) }
