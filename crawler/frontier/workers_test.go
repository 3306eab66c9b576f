package frontier_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gazehound/crawler/frontier"

	"go.uber.org/goleak"
)

// TestWorkers crawls a made-up web with 16 workers: every page once, hosts one
// at a time.
func TestWorkers(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // a store that Badger refuses to open leaves some behind
	const hosts, pages = 40, 60                        // of each host
	f := open(t, frontier.Options{Dir: t.TempDir(), Memory: 32 << 20, Score: func(e *frontier.Entry) float64 { return e.Priority / 2 }})
	push(t, f, entry(0, 0, 1))
	var mu sync.Mutex
	busy, seen := map[string]bool{}, map[string]bool{}
	claim := func(host string) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		if busy[host] {
			return time.Millisecond
		}
		busy[host] = true
		return 0
	}
	var workers sync.WaitGroup
	var added atomic.Int64
	for w := range 16 {
		workers.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(w)))
			for {
				e, err := f.Next(t.Context(), claim)
				if errors.Is(err, io.EOF) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if busy[e.URL.Host()] == false {
					t.Errorf("%s served without a turn", e.URL)
				}
				if seen[e.URL.String()] {
					t.Errorf("%s served twice", e.URL)
				}
				again := r.IntN(20) == 0
				seen[e.URL.String()] = !again
				delete(busy, e.URL.Host())
				mu.Unlock()
				if again {
					if err := f.Return(e, frontier.Backoff{Wait: time.Duration(r.IntN(2000)) * time.Microsecond, Host: true}); err != nil {
						t.Error(err)
					}
					continue
				}
				var host, page int
				fmt.Sscanf(e.URL.String(), "http://h%d.example/p/%d", &host, &page)
				var found []frontier.Entry
				for i := range 12 {
					found = append(found, entry((host+i*i)%hosts, (page*7+i)%pages, r.Float64()))
				}
				found = append(found, entry((host+1)%hosts, page, r.Float64()), entry(host, (page+1)%pages, r.Float64()))
				n, err := f.Done(t.Context(), e, frontier.Outcome{Kind: "page", Relevant: r.IntN(2) == 0, Addresses: []string{fmt.Sprint(r.IntN(100))}}, found...)
				if err != nil {
					t.Error(err)
					return
				}
				added.Add(int64(n))
				if _, err := f.Trail(frontier.KeyOf(e.URL), 3); err != nil {
					t.Error(err)
				}
				f.Totals()
			}
		})
	}
	workers.Wait()
	if got := f.Totals(); got.Visited != hosts*pages || got.Queued != 0 || got.Leased != 0 || added.Load() != hosts*pages-1 {
		t.Errorf("totals %+v; %d added", got, added.Load())
	}
	recount(t, f)
	closed(t, f)
}

// TestCloseUnderLoad closes while everything is going on. What was
// acknowledged is there afterwards.
func TestCloseUnderLoad(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for round := range 5 {
		dir := t.TempDir()
		l := &load{t: t, f: open(t, frontier.Options{Dir: dir, Memory: 32 << 20}),
			pushed: map[string]bool{}, visits: map[string]bool{}}
		var workers sync.WaitGroup
		for n := range 4 {
			workers.Go(func() { l.push(n) })
			if n == 0 {
				workers.Go(l.giveBack)
			} else {
				workers.Go(l.visit)
			}
		}
		workers.Go(l.waitInVain)
		workers.Go(l.walk)
		for busy := false; !busy; busy = l.busy() {
			time.Sleep(time.Duration(20+30*round) * time.Millisecond)
		}
		closed(t, l.f)
		workers.Wait()
		l.f = open(t, frontier.Options{Dir: dir})
		l.isKept()
		closed(t, l.f)
	}
}

// A load works on a frontier until it is closed, and knows what was acknowledged.
type load struct {
	t              *testing.T
	f              *frontier.Frontier
	mu             sync.Mutex
	pushed, visits map[string]bool // by URL
}

// ended reports whether the frontier is closed; another error fails the test.
func (l *load) ended(what string, err error) bool {
	if err != nil && !errors.Is(err, frontier.ErrClosed) {
		l.t.Errorf("%s: %v", what, err)
	}
	return err != nil
}

func (l *load) note(in map[string]bool, e frontier.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in[e.URL.String()] = true
}

// busy reports whether something was pushed and something visited.
func (l *load) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pushed) > 0 && len(l.visits) > 0
}

// push pushes new links; n tells those of several calls apart.
func (l *load) push(n int) {
	for i := 0; ; i++ {
		e := entry(i%9, n*1_000_000+i, float64(i%10)/10)
		_, err := l.f.Push(context.Background(), e)
		if l.ended("Push", err) {
			return
		}
		l.note(l.pushed, e)
	}
}

// next takes an entry; false: the frontier is closed.
func (l *load) next() (frontier.Entry, bool) {
	for {
		e, err := l.f.Next(context.Background(), free)
		if !errors.Is(err, io.EOF) {
			return e, !l.ended("Next", err)
		}
		time.Sleep(time.Millisecond)
	}
}

func (l *load) giveBack() {
	for e, more := l.next(); more; e, more = l.next() {
		err := l.f.Return(e, frontier.Backoff{Wait: time.Millisecond, Host: true})
		if l.ended("Return", err) {
			return
		}
	}
}

func (l *load) visit() {
	for e, more := l.next(); more; e, more = l.next() {
		_, err := l.f.Done(context.Background(), e, page)
		if l.ended("Done", err) {
			return
		}
		l.note(l.visits, e)
	}
}

// waitInVain never gets a turn; what a claim says counts for all.
func (l *load) waitInVain() {
	for {
		_, err := l.f.Next(context.Background(), func(string) time.Duration { return 100 * time.Microsecond })
		if !errors.Is(err, io.EOF) && l.ended("Next", err) {
			return
		}
	}
}

func (l *load) walk() {
	for {
		err := l.f.Walk(context.Background(), 0, func(n frontier.Node) error {
			_, err := l.f.Trail(frontier.KeyOf(n.URL), 2)
			return err
		})
		if l.ended("Walk", err) {
			return
		}
	}
}

// isKept holds that the frontier, opened again, has all that was acknowledged, and visits nothing twice.
func (l *load) isKept() {
	t := l.t
	t.Helper()
	for u := range l.pushed {
		if _, ok, err := l.f.Get(keyOf(u)); err != nil || !ok {
			t.Fatalf("%s was lost: %v", u, err)
		}
	}
	for u := range l.visits {
		if n, ok, err := l.f.Get(keyOf(u)); err != nil || !ok || n.State != frontier.Visited {
			t.Fatalf("the visit of %s was lost: %v", u, err)
		}
	}
	tree := recount(t, l.f)
	rest := drain(t, l.f)
	for _, u := range rest {
		if _, ok := tree[u]; ok {
			t.Errorf("%s is visited again", u)
		}
	}
	if len(tree)+len(rest) < len(l.pushed) {
		t.Errorf("%d visited and %d queued of %d", len(tree), len(rest), len(l.pushed))
	}
}

// TestRefused: a Next that is refused by one host after the other lets other calls proceed, also if
// the first host is free again before the last one was tried. Otherwise a Done that would free a host
// never gets the lock.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		hosts int
		wait  time.Duration
	}{
		"round and round": {3, 500 * time.Microsecond},
		"many":            {3000, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, frontier.Options{})
			var es []frontier.Entry
			for i := range test.hosts {
				es = append(es, entry(i, i, .5))
			}
			push(t, f, es...)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			asked := make(chan struct{}, 1)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				f.Next(ctx, func(string) time.Duration {
					select {
					case asked <- struct{}{}:
					default:
					}
					time.Sleep(time.Millisecond)
					return test.wait
				})
			}()
			<-asked
			began := time.Now()
			push(t, f, entry(99, 99, .1))
			if took := time.Since(began); took > time.Second {
				t.Errorf("others had to wait for %v", took)
			}
			cancel()
			<-ended
		})
	}
}
