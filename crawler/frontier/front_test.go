package frontier

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// What Front shows is what Next hands out, whether hosts rest or not, and it
// takes nothing.
func TestFront(t *testing.T) {
	f := open(t, Options{})
	r := rand.New(rand.NewPCG(3, 4))
	const n = 2_000
	var es []Entry
	for i := range n {
		es = append(es, Entry{URL: parse(t, fmt.Sprintf("http://h%d.example/%d", i*i%37, i)), Priority: r.Float64(), Anchor: "kontakt"})
	}
	if _, err := f.Push(t.Context(), es...); err != nil {
		t.Fatal(err)
	}
	// A host that rests keeps its place in what is shown.
	rests, err := f.Next(t.Context(), always)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Return(rests, Backoff{Wait: time.Hour, Host: true}); err != nil {
		t.Fatal(err)
	}
	for shown := 1; shown <= 50; shown++ {
		front, err := f.Front(shown)
		if err != nil || len(front) != shown {
			t.Fatalf("Front(%d): %d entries, %v", shown, len(front), err)
		}
		for i := 1; i < shown; i++ {
			if front[i-1].Priority < front[i].Priority {
				t.Fatalf("Front(%d): %v before %v", shown, front[i-1].Priority, front[i].Priority)
			}
		}
		if front[0].URL != rests.URL {
			t.Fatalf("Front(%d) starts with %s, not with %s", shown, front[0].URL, rests.URL)
		}
	}
	front, err := f.Front(n)
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	for range 500 {
		e, err := f.Next(t.Context(), always)
		if err != nil {
			t.Fatal(err)
		}
		for front[next].URL.Host() == rests.URL.Host() {
			next++
		}
		if e.URL != front[next].URL || e.Anchor != front[next].Anchor {
			t.Fatalf("Next returns %s, Front said %s", e.URL, front[next].URL)
		}
		if next++; next%50 == 0 {
			checkMemory(t, f)
		}
	}
	f.Close()
	if _, err := f.Front(1); err != ErrClosed {
		t.Errorf("after Close: %v", err)
	}
}
