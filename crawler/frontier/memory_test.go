package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"
	"time"

	"gazehound/crawler/weburl"

	"pgregory.net/rapid"
)

// queueOfACrawl is what Frontier and Memory have in common.
type queueOfACrawl interface {
	Push(ctx context.Context, es ...Entry) (added int, err error)
	Next(ctx context.Context, claim func(host string) time.Duration) (Entry, error)
	Return(Entry, Backoff) error
	Done(ctx context.Context, e Entry, o Outcome, found ...Entry) (added int, err error)
	Trail(k Key, n int) ([]Node, error)
	Known(keys ...Key) ([]Known, error)
	Totals() Totals
}

// Memory returns the same entries in the same order as Frontier, with and without rescoring, and the
// same states.
func TestMemoryAgrees(t *testing.T) {
	steps := 0
	rapid.Check(t, func(t *rapid.T) {
		epoch := 0
		var score func(e *Entry) float64
		if rapid.Bool().Draw(t, "rescores") {
			score = func(e *Entry) float64 { // changes with every visit, for some pages
				n := len(e.URL.String()) + int(e.URL.String()[len(e.URL.String())-1])
				return float64((n*(epoch/3+1))%17) / 17
			}
		}
		seed := rapid.Uint64().Draw(t, "seed")
		perHost := int64(rapid.SampledFrom([]int{0, 3}).Draw(t, "per host"))
		disk, err := Open(Options{InMemory: true, Seed: seed, MaxPerHost: perHost, Score: score, Memory: 32 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer disk.Close()
		queues := [2]queueOfACrawl{disk, NewMemory(Options{Seed: seed, MaxPerHost: perHost, Score: score})}
		both := func(what string, call func(q queueOfACrawl) (any, error)) any {
			t.Helper()
			a, errA := call(queues[0])
			b, errB := call(queues[1])
			if (errA == nil) != (errB == nil) || !reflect.DeepEqual(a, b) {
				t.Fatalf("%s: on disk %+v, %v; in memory %+v, %v", what, a, errA, b, errB)
			}
			return a
		}
		entry := func() Entry {
			u, err := weburl.Parse(fmt.Sprintf("http://h%d.example/%d", rapid.IntRange(0, 4).Draw(t, "host"), rapid.IntRange(0, 12).Draw(t, "page")))
			if err != nil {
				t.Fatal(err)
			}
			return Entry{
				URL: u, Priority: float64(rapid.IntRange(0, 8).Draw(t, "priority")) / 8, Distance: rapid.IntRange(0, 3).Draw(t, "distance"),
				Anchor: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "anchor"), Found: time.Unix(1, 0),
			}
		}
		ctx := context.Background()
		both("push", func(q queueOfACrawl) (any, error) { return q.Push(ctx, entry0()...) })
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			steps++
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				e := entry()
				both("push", func(q queueOfACrawl) (any, error) { return q.Push(ctx, e) })
				continue
			}
			next := both("next", func(q queueOfACrawl) (any, error) {
				e, err := q.Next(ctx, func(string) time.Duration { return 0 })
				if errors.Is(err, io.EOF) {
					return Entry{}, nil
				}
				e.Found = e.Found.UTC()
				return e, err
			}).(Entry)
			if next.URL.IsZero() {
				break
			}
			if rapid.IntRange(0, 5).Draw(t, "return") == 0 {
				next.Retries++
				both("return", func(q queueOfACrawl) (any, error) { return nil, q.Return(next, Backoff{}) })
				continue
			}
			var found []Entry
			for range rapid.IntRange(0, 4).Draw(t, "links") {
				e := entry()
				e.Parent, e.Depth = KeyOf(next.URL), next.Depth+1
				found = append(found, e)
			}
			epoch++
			o := Outcome{Kind: "page", Relevant: epoch%4 == 0, Addresses: []string{fmt.Sprint(epoch % 5)}, At: time.UnixMilli(5).UTC()}
			both("done", func(q queueOfACrawl) (any, error) { return q.Done(ctx, next, o, found...) })
			other := KeyOf(entry().URL)
			both("known", func(q queueOfACrawl) (any, error) {
				return q.Known(KeyOf(next.URL), KeyOf(entry1()), other)
			})
			both("trail", func(q queueOfACrawl) (any, error) {
				trail, err := q.Trail(KeyOf(next.URL), 3)
				var text []string
				for _, n := range trail {
					text = append(text, fmt.Sprint(n.URL, n.State, n.Seq, n.Depth, n.Distance, n.Anchor, n.Retries, n.Outcome.Relevant, n.Outcome.Kind))
				}
				return text, err
			})
		}
		both("totals", func(q queueOfACrawl) (any, error) {
			totals := q.Totals()
			totals.WaitingHosts, totals.ReadyHosts = 0, 0
			return fmt.Sprintf("%+v", totals), nil
		})
	})
	if steps < 500 && !testing.Short() {
		t.Errorf("only %d steps were tried", steps)
	}
}

func entry0() []Entry {
	u, _ := weburl.Parse("http://h0.example/seed")
	v, _ := weburl.Parse("http://h1.example/seed")
	return []Entry{{URL: u, Priority: 1, Found: time.Unix(1, 0)}, {URL: v, Priority: 1, Found: time.Unix(1, 0)}}
}

func entry1() weburl.URL {
	u, _ := weburl.Parse("http://h3.example/3")
	return u
}

// A host that may not be requested waits in the time set by SetTime.
func TestMemoryTime(t *testing.T) {
	m := NewMemory(Options{})
	ctx := t.Context()
	if _, err := m.Next(ctx, nil); err != io.EOF {
		t.Fatalf("an empty queue gives %v", err)
	}
	if _, err := m.Push(ctx, entry0()...); err != nil {
		t.Fatal(err)
	}
	claim := func(host string) time.Duration {
		if host == "h0.example" {
			return 3 * time.Second
		}
		return 0
	}
	e, err := m.Next(ctx, claim)
	if err != nil || e.URL.Host() != "h1.example" {
		t.Fatalf("got %v, %v", e.URL, err)
	}
	if _, err := m.Next(ctx, claim); err != ErrNotNow {
		t.Fatalf("got %v, want ErrNotNow", err)
	}
	if at, ok := m.Wake(); !ok || at != 3*time.Second {
		t.Fatalf("wakes at %v, %v", at, ok)
	}
	if err := m.Return(e, Backoff{Wait: 5 * time.Second, Host: true}); err != nil {
		t.Fatal(err)
	}
	m.SetTime(3 * time.Second)
	open := func(string) time.Duration { return 0 }
	if e, err = m.Next(ctx, open); err != nil || e.URL.Host() != "h0.example" {
		t.Fatalf("got %v, %v", e.URL, err)
	}
	if _, err := m.Next(ctx, open); err != ErrNotNow {
		t.Fatalf("got %v, want ErrNotNow", err)
	}
	m.SetTime(5 * time.Second)
	if e, err = m.Next(ctx, open); err != nil || e.URL.Host() != "h1.example" {
		t.Fatalf("got %v, %v", e.URL, err)
	}
}

// With FirstIn, links of one priority are served as they were found; a better link comes before them,
// and one that is found again, or better, keeps its number.
func TestMemoryFirstIn(t *testing.T) {
	m := NewMemory(Options{Seed: 7, FirstIn: true})
	push := func(name string, priority float64) {
		u, err := weburl.Parse("http://" + name + ".example/")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Push(t.Context(), Entry{URL: u, Priority: priority, Found: time.Unix(1, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"d", "b", "e", "a", "c"} {
		push(name, 0.5)
	}
	push("f", 1)
	push("b", 0.5)
	push("c", 1) // found before f
	order := ""
	for {
		e, err := m.Next(t.Context(), func(string) time.Duration { return 0 })
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		order += e.URL.Host()[:1]
		if _, err := m.Done(t.Context(), e, Outcome{Kind: "page"}); err != nil {
			t.Fatal(err)
		}
	}
	if order != "cfdbea" {
		t.Errorf("served %s, want cfdbea", order)
	}
}
