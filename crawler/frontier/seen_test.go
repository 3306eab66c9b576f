package frontier

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// TestSeenKept: what Close keeps is taken by the first write after Open, once,
// and not if it is damaged or of another store.
func TestSeenKept(t *testing.T) {
	dir := t.TempDir()
	f, es := fill(t, Options{Dir: dir})
	name := filepath.Join(dir, filterFile)
	reopen := func(kept bool, spoil func(b []byte) []byte) {
		t.Helper()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if spoil != nil {
			if err := os.WriteFile(name, spoil(b), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		f = open(t, Options{Dir: dir})
		if n, err := f.Push(t.Context(), es...); n != 0 || err != nil || f.seen.old == nil != kept {
			t.Fatalf("%d URLs are new, %v; taken from the file: %v, want %v", n, err, f.seen.old == nil, kept)
		}
		if _, err := os.Stat(name); err == nil {
			t.Errorf("the file is still there after a write")
		}
		for i := 0; !f.seen.ready; i++ {
			if n, err := f.Push(t.Context(), es...); n != 0 || err != nil {
				t.Fatalf("round %d: %d URLs are new (%v)", i, n, err)
			}
		}
	}
	reopen(true, nil)
	old, err := os.ReadFile(name)
	if err == nil {
		t.Fatalf("%d bytes are still there", len(old))
	}
	reopen(true, func(b []byte) []byte { old = b; return b })
	reopen(false, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	reopen(false, func(b []byte) []byte { return b[:len(b)/2] })
	reopen(false, func(b []byte) []byte { return nil })
	if n, err := f.Push(t.Context(), Entry{URL: parse(t, "http://another.example/")}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	reopen(false, func([]byte) []byte { return old })
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

// What was not asked for is forgotten, nothing is told of another URL, and what
// is told last holds.
func TestLately(t *testing.T) {
	l := newLately(2 * 4 * fateBytes) // two sets of four
	key := func(i uint64) Key { return makeKey(i/3, (i+1)*golden) }
	if _, known := l.of(Key{}); known {
		t.Error("a URL is known before any was put")
	}
	want := func(i uint64, want fate) {
		t.Helper()
		if got, known := l.of(key(i)); !known || got != want {
			t.Fatalf("%d: %+v, %v, want %+v", i, got, known, want)
		}
	}
	waits := func(i uint64, rank uint32) fate {
		return fateOf(key(i), urlRecord{state: Queued, rank: rank, distance: i})
	}
	for i := range uint64(500) {
		if _, known := l.of(key(i + 1)); known {
			t.Fatalf("%d is known before it was put", i)
		}
		l.put(waits(i+1, 7))
		l.put(waits(i+1, 5))
		l.put(fateOf(key(0), urlRecord{state: Visited, seq: 3})) // all the time
		want(i+1, waits(i+1, 5))
		want(0, fate{url: key(0).url(), rank: 3, distance: wasVisited})
	}
	known := func() (n int) {
		for i := range uint64(501) {
			if _, known := l.of(key(i)); known {
				n++
			}
		}
		return n
	}
	if n := known(); n != 8 {
		t.Errorf("%d URLs are known, there is room for 8", n)
	}
	l.drop(key(0))
	l.drop(key(0))
	if n := known(); n != 7 {
		t.Errorf("%d URLs are known after one of 8 was dropped", n)
	}
	l.clear()
	if n := known(); n != 0 {
		t.Errorf("%d URLs are known after all were forgotten", n)
	}
}

// A fate knows the number of a visit that has 32 bits, and of nothing else.
func TestVisitOfFate(t *testing.T) {
	for _, c := range []struct {
		r    urlRecord
		want uint64
	}{
		{urlRecord{state: Visited, seq: 1}, 1},
		{urlRecord{state: Visited, seq: math.MaxUint32}, math.MaxUint32},
		{urlRecord{state: Visited, seq: math.MaxUint32 + 1}, 0},
		{urlRecord{state: Queued, rank: 5}, 0},
		{urlRecord{state: Queued, rank: 5, distance: math.MaxUint64}, 0},
	} {
		if got := fateOf(Key{1}, c.r).visit(); got != c.want {
			t.Errorf("%+v: visit %d, want %d", c.r, got, c.want)
		}
	}
}

// Another link changes nothing unless its URL waits with a worse rank or, of the same
// rank, at a greater distance.
func TestOutdoes(t *testing.T) {
	waits := fateOf(Key{1}, urlRecord{state: Queued, rank: 5, distance: 2})
	for _, c := range []struct {
		was      fate
		rank     uint32
		distance int
		want     bool
	}{
		{waits, 4, 9, false},
		{waits, 5, 1, false},
		{waits, 5, 2, true},
		{waits, 5, 3, true},
		{waits, 6, 0, true},
		{waits, 6, math.MaxInt32, true},
		{fateOf(Key{1}, urlRecord{state: Queued, rank: 5, distance: math.MaxUint64}), 5, math.MaxInt32, true},
		{fateOf(Key{1}, urlRecord{state: Visited, seq: 1}), 0, 0, true},
	} {
		if got := c.was.outdoes(c.rank, c.distance); got != c.want {
			t.Errorf("%+v outdoes rank %d at %d: %v", c.was, c.rank, c.distance, got)
		}
	}
}
