package frontier_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"gazehound/crawler/frontier"

	"pgregory.net/rapid"
)

// What has left is as if it had never been found: it can come back, and the
// totals add up, before and after a restart. It waits for its owner.
func TestLeave(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		o := frontier.Options{InMemory: true}
		if rapid.IntRange(0, 29).Draw(r, "on disk") == 0 { // which takes long to open
			o = frontier.Options{Dir: t.TempDir()}
		}
		f := open(t, o)
		defer func() { f.Close() }()
		const urls, hosts = 30, 3
		all := make([]frontier.Entry, urls)
		queued, parked := map[int]bool{}, map[int]bool{}
		for i := range all {
			all[i] = entry(i%hosts, i, float64(i)/urls)
			push(t, f, all[i])
			queued[i] = true
		}
		number := map[string]int{}
		for i, e := range all {
			number[e.URL.String()] = i
		}
		var hand *frontier.Entry // what a worker has
		var gone []string        // what has left
		leave := func(e frontier.Entry, own bool) (left int) {
			var err error
			e.Owner = "b"
			if own {
				left, err = f.Leave(context.Background(), "elsewhere", &e)
			} else {
				left, err = f.Leave(context.Background(), "elsewhere", nil, e)
			}
			if err != nil {
				r.Fatal(err)
			}
			if left > 0 {
				gone = append(gone, "b "+e.URL.String())
			}
			return left
		}
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			i := rapid.IntRange(0, urls-1).Draw(r, "url")
			steps := []string{"leave", "push", "next", "leave own", "park", "done", "reopen"}
			switch what := rapid.SampledFrom(steps).Draw(r, "what"); {
			case what == "leave":
				left := leave(all[i], false)
				may := parked[i] || queued[i] && (hand == nil || number[hand.URL.String()] != i)
				if (left == 1) != may {
					r.Fatalf("left %d of %s, which may leave: %v", left, all[i].URL, may)
				}
				if may {
					delete(queued, i)
					delete(parked, i)
				}
			case what == "push":
				push(t, f, all[i])
				if n, ok, _ := f.Get(frontier.KeyOf(all[i].URL)); !ok {
					r.Fatal("not known after Push")
				} else if n.State == frontier.Queued { // also if it was parked
					queued[i] = true
					delete(parked, i)
				}
			case what == "next" && hand == nil && len(queued) > 0:
				e := next(t, f)
				hand = &e
			case what == "leave own" && hand != nil:
				if left := leave(*hand, true); left != 1 {
					r.Fatalf("left %d", left)
				}
				delete(queued, number[hand.URL.String()])
				if err := f.Return(*hand, frontier.Backoff{}); !errors.Is(err, frontier.ErrNotLeased) {
					r.Fatalf("return of what has left: %v", err)
				}
				hand = nil
			case what == "park" && hand != nil:
				hand.Parked = "pattern"
				if err := f.Park(context.Background(), *hand); err != nil {
					r.Fatal(err)
				}
				i := number[hand.URL.String()]
				delete(queued, i)
				parked[i] = true
				hand = nil
			case what == "done" && hand != nil:
				done(t, f, *hand, page)
				delete(queued, number[hand.URL.String()])
				hand = nil
			case what == "reopen" && !o.InMemory:
				f.Close()
				f = open(t, o)
				hand = nil
			}
			totals := f.Totals()
			if totals.Queued != int64(len(queued)) || totals.Parked != int64(len(parked)) {
				r.Fatalf("%d queued, %d parked, want %d, %d", totals.Queued, totals.Parked, len(queued), len(parked))
			}
			waits, ended := totals.Queued+totals.Parked, totals.Visited+totals.Repeats+totals.Dropped["elsewhere"]
			if sum := waits + ended; totals.Links != sum {
				r.Fatalf("%d links, %d accounted for", totals.Links, sum)
			}
		}
		if got := waiting(r, f); !slices.Equal(got, gone) {
			r.Fatalf("%q wait, want %q", got, gone)
		}
		if hand != nil {
			if err := f.Return(*hand, frontier.Backoff{}); err != nil {
				r.Fatal(err)
			}
		}
		if served := drain(t, f); len(served) != len(queued) {
			r.Fatalf("%d served, want %d", len(served), len(queued))
		}
	})
}

// Parked links leave, too. Their owner judges for itself whether to park them.
func TestParkedLinksLeave(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir})
	for i := range 5 {
		e := entry(i%2, i, 0.5)
		e.Parked = []string{"p", "q"}[i/3]
		push(t, f, e)
	}
	push(t, f, entry(0, 9, 0.5))
	walked := func() (parked []frontier.Entry) {
		err := f.WalkParked(t.Context(), func(n frontier.Node) error {
			if n.State != frontier.Parked || n.Entry.Parked == "" {
				t.Errorf("a parked link is %s, under %q", n.State, n.Entry.Parked)
			}
			n.Owner = "b"
			parked = append(parked, n.Entry)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return parked
	}
	parked := walked()
	if left, err := f.Leave(t.Context(), "elsewhere", nil, parked...); left != 5 || len(parked) != 5 || err != nil {
		t.Fatalf("%d of %d have left: %v", left, len(parked), err)
	}
	closed(t, f)
	f = open(t, frontier.Options{Dir: dir, Verify: true})
	patterns, err := f.Parked()
	if len(walked()) != 0 || len(patterns) != 0 || err != nil {
		t.Errorf("patterns %v (%v) are left", patterns, err)
	}
	if totals := f.Totals(); totals.Parked != 0 || totals.Queued != 1 {
		t.Errorf("%+v", totals)
	}
	out, err := f.Outgoing(t.Context())
	if len(out.Links) != 5 || err != nil {
		t.Fatalf("%d links wait, %v", len(out.Links), err)
	}
	for _, e := range out.Links {
		if e.Parked != "" {
			t.Errorf("%s is sent as parked under %q", e.URL, e.Parked)
		}
	}
}

// A link leaves for a node only.
func TestLeaveForNobody(t *testing.T) {
	f := open(t, frontier.Options{InMemory: true})
	push(t, f, entry(0, 0, 1))
	if left, err := f.Leave(t.Context(), "elsewhere", nil, entry(0, 0, 1)); left != 0 || err == nil || f.Totals().Queued != 1 {
		t.Errorf("left %d: %v", left, err)
	}
}
