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

func TestQuick(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	start := time.Now()
	const n = 20000
	for i := 0; i < n; i += 100 {
		var es []Entry
		for j := range 100 {
			u, _ := weburl.Parse(fmt.Sprintf("http://h%d.example/%d", (i+j)%50, i+j))
			es = append(es, Entry{URL: u, Priority: r.Float64(), Anchor: "kontakt"})
		}
		if a, err := f.Push(ctx, es...); err != nil || a != 100 {
			t.Fatal(a, err)
		}
	}
	t.Log("push", time.Since(start))
	if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrLocked) {
		t.Error(err)
	} else {
		t.Log(err)
	}
	f.Close()
	f, err = Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	start = time.Now()
	last := 2.0
	claim := func(string) time.Duration { return 0 }
	seen := map[string]bool{}
	for i := 0; ; i++ {
		e, err := f.Next(ctx, claim)
		if errors.Is(err, io.EOF) {
			if i != n {
				t.Error("ended at", i)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Priority > last || seen[e.URL.String()] {
			t.Fatal("order", i, e.Priority, last)
		}
		seen[e.URL.String()] = true
		last = e.Priority
		if _, err := f.Done(ctx, e, Outcome{Kind: "page"}); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("pop %v %+v", time.Since(start), f.Totals())
}
