package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"
)

// fresh is a score that has nothing to do with the priority of the push.
func fresh(e *Entry) float64 {
	return float64(KeyOf(e.URL).url()>>11) / (1 << 53)
}

// TestScoreLeads pushes fewer entries than one Next may score anew, all of
// them too high: they come in the order of their scores, give or take the
// tolerance.
func TestScoreLeads(t *testing.T) {
	ctx := context.Background()
	f := open(t, Options{Score: fresh})
	for i := range maxTries - 4 {
		if _, err := f.Push(ctx, Entry{URL: parse(t, fmt.Sprintf("http://h%d.example/%d", i%7, i)), Priority: 1}); err != nil {
			t.Fatal(err)
		}
	}
	last := 1.0
	for i := range maxTries - 4 {
		e, err := f.Next(ctx, always)
		if err != nil {
			t.Fatal(err)
		}
		if e.Priority != float64(float32(fresh(&e))) || e.Priority > last*(1+2*tolerance) {
			t.Errorf("entry %d has priority %v after %v", i, e.Priority, last)
		}
		last = min(last, e.Priority)
	}
	if _, err := f.Push(ctx, Entry{URL: parse(t, "http://new.example/"), Priority: 0.1}); err != nil {
		t.Fatal(err)
	}
	if e, err := f.Next(ctx, always); err != nil || e.Priority != float64(float32(fresh(&e))) {
		t.Errorf("an entry that is worth more than it was pushed with: %+v, %v", e, err)
	} else {
		if _, err := f.Done(ctx, e, Outcome{}); err != nil {
			t.Fatal(err)
		}
		if n, _, err := f.Get(KeyOf(e.URL)); err != nil || n.Priority != e.Priority {
			t.Errorf("it was taken with priority %v, and is remembered with %v (%v)", e.Priority, n.Priority, err)
		}
	}
}

// TestScoreMany pushes thousands of entries that all have been promised too
// much, with small buffers and crashes: places are moved in the store, nothing
// is lost or served twice, and better entries come earlier.
func TestScoreMany(t *testing.T) {
	const n = 3000
	ctx := context.Background()
	f := open(t, Options{Score: fresh})
	r := rand.New(rand.NewPCG(5, 6))
	tiny := func() { f.block, f.budget = 4, 3000 }
	tiny()
	var es []Entry
	for i := range n {
		es = append(es, Entry{URL: parse(t, fmt.Sprintf("http://h%d.example/%d", i%5, i)), Priority: 1 + r.Float64()})
	}
	if added, err := f.Push(ctx, es...); err != nil || added != n {
		t.Fatal(added, err)
	}
	seen := map[Key]bool{}
	var early, late float64
	for i := 0; ; i++ {
		if i%100 == 50 {
			f.halt()
			next, err := start(f.options, f.store)
			if err != nil {
				t.Fatal(err)
			}
			f = next
			t.Cleanup(func() { next.Close() })
			tiny()
		}
		e, err := f.Next(ctx, always)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		k := KeyOf(e.URL)
		if seen[k] {
			t.Fatalf("%s was served twice", e.URL)
		}
		seen[k] = true
		if i < n/2 {
			early += e.Priority / (n / 2)
		} else {
			late += e.Priority / (n / 2)
		}
		if _, err := f.Done(ctx, e, Outcome{Kind: "page"}); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 {
			checkStore(t, f)
			checkMemory(t, f)
		}
	}
	if len(seen) != n {
		t.Errorf("%d entries were served, want %d", len(seen), n)
	}
	if early < 0.7 || late > 0.3 { // sorted: 0.75 and 0.25
		t.Errorf("the first half has a mean score of %.2f, the second %.2f", early, late)
	}
}

func TestPriorities(t *testing.T) {
	ps := []float64{math.Inf(-1), -math.MaxFloat32, -1, -1e-40, 0, 1e-40, 0.25, 1, math.MaxFloat32, math.Inf(1)}
	for i, p := range ps {
		rank := rankOf(finite(p))
		if got := priorityOf(rank); got != float64(finite(p)) {
			t.Errorf("priority %v came back as %v", p, got)
		}
		if i > 0 && rankOf(finite(ps[i-1])) < rank {
			t.Errorf("%v ranks before %v", ps[i-1], p)
		}
	}
	if rankOf(finite(math.NaN())) != rankOf(0) || rankOf(float32(math.Copysign(0, -1))) != rankOf(0) {
		t.Error("NaN and -0 are not 0")
	}
	for seed := range uint64(100) {
		url := rand.Uint64()
		tie := tieOf(seed, url)
		if urlOf(seed, tie) != url {
			t.Fatalf("tie %x of seed %d and URL %x cannot be undone", tie, seed, url)
		}
	}
}
