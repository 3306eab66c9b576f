package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/crawler/weburl"
	"gazehound/internal/textutil"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func open(t testing.TB, o Options) *Frontier {
	t.Helper()
	if o.Dir == "" {
		o.InMemory = true
	}
	if o.Memory == 0 {
		o.Memory = 32e6 // the least; to clear more takes longer than most tests
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

// TestNextWaits: a waiting Next returns when an entry is ready, when there will never be one, and when
// its context ends.
func TestNextWaits(t *testing.T) {
	for name, run := range map[string]func(w *waiter){
		"empty":                                  (*waiter).empty,
		"context":                                (*waiter).context,
		"push wakes, the last Done ends all":     (*waiter).pushWakes,
		"claim says when":                        (*waiter).claimSaysWhen,
		"a finished visit frees the host's turn": (*waiter).finishedVisitFrees,
		"returned":                               (*waiter).returned,
		"close":                                  (*waiter).closed,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, err := Open(Options{InMemory: true, Memory: 32 << 20})
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				run(&waiter{t, f})
			})
		})
	}
}

// A waiter calls Next of a frontier in memory.
type waiter struct {
	*testing.T
	f *Frontier
}

func (w *waiter) push(urls ...string) {
	w.Helper()
	for _, raw := range urls {
		if _, err := w.f.Push(context.Background(), Entry{URL: parse(w, raw)}); err != nil {
			w.Error(err)
		}
	}
}

// next takes an entry and tells how long that took.
func (w *waiter) next(ctx context.Context, claim func(string) time.Duration) (Entry, time.Duration, error) {
	began := time.Now()
	e, err := w.f.Next(ctx, claim)
	return e, time.Since(began), err
}

// take takes an entry of any host.
func (w *waiter) take() Entry {
	w.Helper()
	e, _, err := w.next(context.Background(), always)
	if err != nil {
		w.Fatal(err)
	}
	return e
}

func (w *waiter) empty() {
	if _, took, err := w.next(context.Background(), always); err != io.EOF || took != 0 {
		w.Errorf("Next = %v after %v", err, took)
	}
}

func (w *waiter) pushWakes() {
	ctx := context.Background()
	w.push("http://a.example/")
	first := w.take()
	ends := make(chan error, 3)
	for range 3 {
		go func() {
			e, err := w.f.Next(ctx, always)
			if err == nil {
				_, err = w.f.Done(ctx, e, Outcome{})
			}
			if err == nil {
				_, err = w.f.Next(ctx, always)
			}
			ends <- err
		}()
	}
	time.Sleep(time.Second)
	w.push("http://b.example/")
	time.Sleep(time.Second)
	if got := w.f.Totals(); got.Visited != 1 || got.Leased != 1 {
		w.Errorf("totals = %+v", got)
	}
	if _, err := w.f.Done(ctx, first, Outcome{}); err != nil {
		w.Error(err)
	}
	for range 3 {
		if err := <-ends; err != io.EOF {
			w.Errorf("Next = %v", err)
		}
	}
}

func (w *waiter) context() {
	w.push("http://a.example/")
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, took, err := w.next(ctx, func(string) time.Duration { return time.Minute })
	if !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
		w.Errorf("Next = %v after %v", err, took)
	}
}

func (w *waiter) claimSaysWhen() {
	w.push("http://a.example/")
	free := time.Now().Add(3 * time.Second)
	claims := 0
	_, took, err := w.next(context.Background(), func(string) time.Duration {
		claims++
		return time.Until(free)
	})
	if err != nil || took != 3*time.Second || claims != 2 {
		w.Errorf("Next = %v after %v and %d claims", err, took, claims)
	}
}

func (w *waiter) finishedVisitFrees() {
	w.push("http://a.example/1", "http://a.example/2")
	var held atomic.Bool
	turn := func(string) time.Duration {
		if !held.CompareAndSwap(false, true) {
			return time.Minute
		}
		return 0
	}
	e, _, err := w.next(context.Background(), turn)
	if err != nil {
		w.Fatal(err)
	}
	time.AfterFunc(time.Second, func() {
		held.Store(false)
		w.f.Done(context.Background(), e, Outcome{})
	})
	if _, took, err := w.next(context.Background(), turn); err != nil || took != time.Second {
		w.Errorf("Next = %v after %v", err, took)
	}
}

// returned: an entry comes back after its back-off, with the URL under which it was returned.
func (w *waiter) returned() {
	w.push("http://a.example/1", "http://a.example/2")
	e := w.take()
	e.Retries, e.Redirects, e.URL = 2, 1, parse(w, "https://"+e.URL.String()[len("http://"):])
	if err := w.f.Return(e, Backoff{Wait: 5 * time.Second, Host: true}); err != nil {
		w.Fatal(err)
	}
	again, took, err := w.next(context.Background(), always)
	if err != nil || took != 5*time.Second || again != e {
		w.Errorf("Next = %+v, %v after %v; want %+v", again, err, took, e)
	}
	w.isStored(e)
	if err := w.f.Return(again, Backoff{}); err != nil {
		w.Error(err)
	}
	if err := w.f.Return(again, Backoff{}); err == nil {
		w.Error("an entry could be returned twice")
	}
	last := w.take()
	last.URL = parse(w, "http://a.example"+last.URL.Path()) // as it was fetched in the end
	if _, err := w.f.Done(context.Background(), last, Outcome{}); err != nil {
		w.Error(err)
	}
	w.isStored(last)
}

// isStored holds that the frontier keeps an entry as it is.
func (w *waiter) isStored(e Entry) {
	w.Helper()
	if n, ok, err := w.f.Get(KeyOf(e.URL)); err != nil || !ok || n.Entry != e {
		w.Errorf("Get = %+v, %v, %v; want %+v", n, ok, err, e)
	}
}

// closed: Close ends a Next that waits, and whatever is called later.
func (w *waiter) closed() {
	ctx, f := context.Background(), w.f
	w.push("http://a.example/")
	e := w.take()
	time.AfterFunc(time.Second, func() { f.Close() })
	if _, took, err := w.next(ctx, always); err != ErrClosed || took != time.Second {
		w.Errorf("Next = %v after %v", err, took)
	}
	time.Sleep(time.Second)
	if err := f.Close(); err != nil {
		w.Errorf("second Close: %v", err)
	}
	_, pushed := f.Push(ctx, e)
	_, done := f.Done(ctx, e, Outcome{})
	_, _, got := f.Get(KeyOf(e.URL))
	_, meta := f.Meta("x")
	for i, err := range []error{
		pushed, done, f.Return(e, Backoff{}), got, meta, f.PutMeta("x", nil), f.Walk(ctx, 0, nil),
	} {
		if !errors.Is(err, ErrClosed) {
			w.Errorf("call %d after Close: %v", i, err)
		}
	}
}

// TestTree follows links back to the seed, and takes a better parent.
func TestTree(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	f := open(t, Options{Dir: dir})
	found := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	seed := Entry{URL: parse(t, "https://stadt.example/"), Priority: 1, Found: found}
	link := func(raw string, from Entry) Entry {
		return Entry{
			URL: parse(t, raw), Priority: 0.5, Depth: from.Depth + 1, Distance: from.Distance + 1, Parent: KeyOf(from.URL),
			Anchor: "Äpfel & Birnen", Title: strings.Repeat("ü", 60), Around: strings.Repeat("x", 199) + "ß", Switch: true, Found: found.Add(time.Second),
		}
	}
	bridge := link("https://stadt.example/branchen?seite=2", seed)
	shop := link("http://laden.example/", bridge)
	visit := func(e Entry, o Outcome, found ...Entry) {
		t.Helper()
		got, err := f.Next(ctx, always)
		if err != nil || got.URL != e.URL {
			t.Fatalf("Next = %v, %v, want %v", got.URL, err, e.URL)
		}
		if _, err := f.Done(ctx, got, o, found...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Push(ctx, seed); err != nil {
		t.Fatal(err)
	}
	visit(seed, Outcome{Kind: "page"}, bridge, seed)
	o := Outcome{
		Kind: "page", Status: 200, Relevant: true, Score: 0.75, Addresses: []string{"b", "a"}, Bytes: 1234,
		Dropped: map[string]int64{"scope": 3, "depth": 1}, At: found.Add(1500 * time.Millisecond),
	}
	visit(bridge, o, shop)
	better := shop
	better.Priority, better.Parent, better.Anchor = 0.75, KeyOf(seed.URL), "besser"
	worse := shop
	worse.Priority = 0.25
	if n, err := f.Push(ctx, worse, better, worse, shop); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = open(t, Options{Dir: dir})

	trimmed := func(e Entry) Entry {
		e.Title, e.Around = textutil.ClipBytes(e.Title, MaxAnchor), textutil.ClipBytes(e.Around, MaxAround)
		return e
	}
	if got := trimmed(shop); got.Title != strings.Repeat("ü", 50) || got.Around != strings.Repeat("x", 199) {
		t.Errorf("words were cut to %q and %q", got.Title, got.Around)
	}
	equal := cmp.Comparer(func(a, b weburl.URL) bool { return a == b })
	want := []Node{
		{Entry: trimmed(better), State: Queued},
		{Entry: seed, State: Visited, Outcome: Outcome{Kind: "page"}, Seq: 1},
	}
	got, err := f.Trail(KeyOf(shop.URL), 5)
	if diff := cmp.Diff(want, got, equal); diff != "" || err != nil {
		t.Errorf("Trail (-want +got): %v\n%s", err, diff)
	}
	want = []Node{{Entry: trimmed(bridge), State: Visited, Outcome: o, Seq: 2}}
	got, err = f.Trail(KeyOf(bridge.URL), 1)
	if diff := cmp.Diff(want, got, equal); diff != "" || err != nil {
		t.Errorf("Trail (-want +got): %v\n%s", err, diff)
	}
	var walked []uint64
	if err := f.Walk(ctx, 1, func(n Node) error { walked = append(walked, n.Seq); return nil }); err != nil || !slices.Equal(walked, []uint64{2}) {
		t.Errorf("Walk after the first visit: %v, %v", walked, err)
	}
	stop := errors.New("stop")
	if err := f.Walk(ctx, 0, func(Node) error { return stop }); err != stop {
		t.Errorf("Walk = %v", err)
	}
	if got, err := f.Trail(KeyOf(parse(t, "http://unknown.example/")), 3); err != nil || len(got) != 0 {
		t.Errorf("Trail of an unknown URL = %v, %v", got, err)
	}
	totals := f.Totals()
	totals.ReadyHosts = 0
	wantTotals := Totals{
		Queued: 1, Visited: 2, Pages: 2, Relevant: 1, Addresses: 2, Bytes: 1234, Hosts: 2,
		Errors: map[string]int64{}, Skipped: map[string]int64{}, Dropped: map[string]int64{"scope": 3, "depth": 1},
		Links: 12, Repeats: 5,
	}
	if diff := cmp.Diff(wantTotals, totals); diff != "" {
		t.Errorf("Totals (-want +got):\n%s", diff)
	}
}

func TestMeta(t *testing.T) {
	dir := t.TempDir()
	f := open(t, Options{Dir: dir})
	if v, err := f.Meta("region"); v != nil || err != nil {
		t.Errorf("Meta = %q, %v", v, err)
	}
	for _, v := range []string{"Oldenburg", "", strings.Repeat("x", MaxMeta)} {
		if err := f.PutMeta("region", []byte(v)); err != nil {
			t.Fatal(err)
		}
		f.Close()
		f = open(t, Options{Dir: dir})
		if got, err := f.Meta("region"); err != nil || got == nil || string(got) != v {
			t.Errorf("Meta = %d bytes, %v, want %d", len(got), err, len(v))
		}
	}
	if err := f.PutMeta("region", make([]byte, MaxMeta+1)); err == nil {
		t.Error("a value that is too large was stored")
	}
}

// TestLarge: what does not fit into one transaction takes several.
func TestLarge(t *testing.T) {
	ctx := context.Background()
	f := open(t, Options{Memory: 32 << 20})
	var es []Entry
	for i := range 12_000 {
		es = append(es, Entry{URL: parse(t, fmt.Sprintf("http://h%d.example/%s/%d", i%100, strings.Repeat("long", 200), i)), Around: strings.Repeat("w", MaxAround)})
	}
	seed := Entry{URL: parse(t, "http://seed.example/")}
	o := Outcome{Kind: "page", Relevant: true}
	for i := range MaxAddresses + 10 {
		o.Addresses = append(o.Addresses, fmt.Sprint(i, strings.Repeat("a", 300)))
	}
	if n, err := f.Done(ctx, seed, o, es...); n != len(es) || err != nil {
		t.Errorf("Done = %d, %v", n, err)
	}
	if n, err := f.Push(ctx, es...); n != 0 || err != nil {
		t.Errorf("Push of the same = %d, %v", n, err)
	}
	if got := f.Totals(); got.Addresses != MaxAddresses || got.Queued != int64(len(es)) || got.Visited != 1 {
		t.Errorf("totals = %+v", got)
	}
	checkStore(t, f)
}

// TestTogether has many workers crawl a made-up web and ends them in the
// middle. Run it with -race.
func TestTogether(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx := context.Background()
	dir := t.TempDir()
	f, err := Open(Options{Dir: dir, Memory: 32 << 20, Score: fresh})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if _, err := f.Push(ctx, Entry{URL: parse(t, fmt.Sprintf("http://h%d.example/0", i))}); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	turns := map[string]bool{}
	done := map[Key]int{}
	claim := func(host string) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		if turns[host] {
			return time.Millisecond
		}
		turns[host] = true
		return 0
	}
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(worker)))
			for {
				e, err := f.Next(ctx, claim)
				if err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
				var found []Entry
				for range r.IntN(30) {
					found = append(found, Entry{URL: parse(t, fmt.Sprintf("http://h%d.example/%d", r.IntN(40), r.IntN(1000))), Priority: 1, Parent: KeyOf(e.URL)})
				}
				mu.Lock()
				delete(turns, e.URL.Host())
				mu.Unlock()
				if r.IntN(5) == 0 {
					e.Retries++
					err = f.Return(e, Backoff{})
				} else if _, err = f.Done(ctx, e, Outcome{Kind: "page"}, found...); err == nil {
					mu.Lock()
					done[KeyOf(e.URL)]++
					mu.Unlock()
				}
				if err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
				if _, err := f.Trail(KeyOf(e.URL), 3); err != nil && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
				f.Totals()
			}
		})
	}
	wg.Go(func() {
		for f.Walk(ctx, 0, func(Node) error { return nil }) == nil {
		}
	})
	visits := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(done)
	}
	for patience := time.Now().Add(time.Minute); visits() < 100 && time.Now().Before(patience); {
		time.Sleep(10 * time.Millisecond)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	f, err = Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	checkStore(t, f)
	for k, n := range done {
		if node, ok, err := f.Get(k); n != 1 || !ok || err != nil || node.State != Visited {
			t.Errorf("%s was done %d times: %+v, %v", k, n, node, err)
		}
	}
	if len(done) < 100 {
		t.Errorf("only %d visits", len(done))
	}
}

// A better link to an entry whose wait is over counts, whether or not Next was called since.
func TestPushAfterRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		f := open(t, Options{InMemory: true})
		defer f.Close()
		u := parse(t, "http://h.example/a")
		if _, err := f.Push(ctx, Entry{URL: u, Priority: 1, Distance: 2}); err != nil {
			t.Fatal(err)
		}
		e, err := f.Next(ctx, always)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Return(e, Backoff{Wait: 10 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		for _, better := range []struct{ distance, want int }{{1, 2}, {0, 0}} { // within the rest, and after it
			if _, err := f.Push(ctx, Entry{URL: u, Priority: 1, Distance: better.distance}); err != nil {
				t.Fatal(err)
			}
			if n, ok, err := f.Get(KeyOf(u)); err != nil || !ok || n.Distance != better.want {
				t.Errorf("distance %d, %v, %v after a link of distance %d; want %d", n.Distance, ok, err, better.distance, better.want)
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
}

// Unpark ends although others park links of the pattern all the time.
func TestUnparkEnds(t *testing.T) {
	f := open(t, Options{InMemory: true})
	parked := 0
	park := func() {
		parked++
		e := Entry{URL: parse(t, fmt.Sprintf("http://a.example/%d", parked)), Depth: 1, Parked: "p"}
		if _, err := f.Push(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for range 2*maxLinks + 10 {
		park()
	}
	before := int64(parked)
	released, err := f.Unpark(t.Context(), ParkedPattern{Host: "a.example", Pattern: "p"}, func(*Entry) float64 {
		park()
		return 0.5
	})
	n := f.Totals()
	if err != nil || int64(released) < before || n.Queued != int64(released) || n.Queued+n.Parked != int64(parked) {
		t.Errorf("%d released, %v; %d queued and %d parked of %d", released, err, n.Queued, n.Parked, parked)
	}
	checkStore(t, f)
}
