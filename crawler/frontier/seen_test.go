package frontier

import (
	"math/rand/v2"
	"testing"
)

// TestFilter: what was added is known, and little else seems to be.
func TestFilter(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := seen{ready: true}
	s.grow(1000) // three times too small: it has to grow
	const n = 4000
	var keys []Key
	for range n {
		k := makeKey(uint64(r.IntN(10)), r.Uint64())
		keys = append(keys, k)
		s.add(k)
	}
	for _, k := range keys {
		if s.never(k) {
			t.Fatalf("%s was added, and is said to be new", k)
		}
	}
	wrong := 0
	for range 100_000 {
		if !s.never(makeKey(uint64(r.IntN(10)), r.Uint64())) {
			wrong++
		}
	}
	if wrong > 2000 {
		t.Errorf("%d of 100,000 new keys seem to be known", wrong)
	}
	t.Logf("%d of 100,000 new keys seem to be known, in %d filters", wrong, len(s.filters))
}

// TestSeenAfterReopen: URLs of a store that is not empty are known, while its
// keys are being read and afterwards.
func TestSeenAfterReopen(t *testing.T) {
	f, es := fill(t, Options{})
	f.halt()
	f, err := start(f.options, f.db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	for i := 0; !f.seen.ready; i++ {
		if n, err := f.Push(t.Context(), es...); n != 0 || err != nil {
			t.Fatalf("round %d: %d URLs are new (%v)", i, n, err)
		}
	}
	if n, err := f.Push(t.Context(), es...); n != 0 || err != nil {
		t.Fatalf("%d URLs are new (%v)", n, err)
	}
}
