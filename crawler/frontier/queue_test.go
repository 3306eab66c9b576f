package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"gazehound/crawler/weburl"
)

func open(t testing.TB, o Options) *Frontier {
	t.Helper()
	if o.Dir == "" {
		o.InMemory = true
	}
	f, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func parse(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func always(string) time.Duration { return 0 }

// TestOrderAcrossReopen pushes links at random, closes, and gets every one of
// them once in the order of their priorities.
func TestOrderAcrossReopen(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	f := open(t, Options{Dir: dir})
	r := rand.New(rand.NewPCG(1, 2))
	const n = 10_000
	for i := 0; i < n; i += 100 {
		var es []Entry
		for j := range 100 {
			es = append(es, Entry{URL: parse(t, fmt.Sprintf("http://h%d.example/%d", (i+j)%50, i+j)), Priority: r.Float64(), Anchor: "kontakt"})
		}
		if added, err := f.Push(ctx, es...); err != nil || added != 100 {
			t.Fatal(added, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = open(t, Options{Dir: dir})
	last := 2.0
	seen := map[string]bool{}
	for i := 0; ; i++ {
		e, err := f.Next(ctx, always)
		if errors.Is(err, io.EOF) {
			if i != n {
				t.Errorf("ended after %d entries, want %d", i, n)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Priority > last || seen[e.URL.String()] || e.Anchor != "kontakt" {
			t.Fatalf("entry %d is %+v after priority %v", i, e, last)
		}
		seen[e.URL.String()], last = true, e.Priority
		if _, err := f.Done(ctx, e, Outcome{Kind: "page"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := f.Totals(); got.Pages != n || got.Queued != 0 || got.Leased != 0 || got.Hosts != 50 {
		t.Errorf("totals = %+v", got)
	}
}
