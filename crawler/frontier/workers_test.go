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
		f := open(t, frontier.Options{Dir: dir, Memory: 32 << 20})
		var mu sync.Mutex
		pushed, visits := map[string]bool{}, map[string]bool{}
		var workers sync.WaitGroup
		ended := func(what string, err error) bool {
			if err != nil && !errors.Is(err, frontier.ErrClosed) {
				t.Errorf("%s: %v", what, err)
			}
			return err != nil
		}
		for w := range 4 {
			workers.Go(func() {
				for i := 0; ; i++ {
					e := entry(i%9, w*1_000_000+i, float64(i%10)/10)
					if _, err := f.Push(context.Background(), e); ended("Push", err) {
						return
					}
					mu.Lock()
					pushed[e.URL.String()] = true
					mu.Unlock()
				}
			})
			workers.Go(func() {
				for {
					e, err := f.Next(context.Background(), free)
					if errors.Is(err, io.EOF) {
						time.Sleep(time.Millisecond)
						continue
					}
					if ended("Next", err) {
						return
					}
					if w == 0 {
						if ended("Return", f.Return(e, frontier.Backoff{Wait: time.Millisecond, Host: true})) {
							return
						}
						continue
					}
					if _, err := f.Done(context.Background(), e, page); ended("Done", err) {
						return
					}
					mu.Lock()
					visits[e.URL.String()] = true
					mu.Unlock()
				}
			})
		}
		workers.Go(func() { // never gets a turn; what a claim says counts for all
			for {
				_, err := f.Next(context.Background(), func(string) time.Duration { return 100 * time.Microsecond })
				if !errors.Is(err, io.EOF) && ended("Next", err) {
					return
				}
			}
		})
		workers.Go(func() {
			for {
				err := f.Walk(context.Background(), 0, func(n frontier.Node) error {
					_, err := f.Trail(frontier.KeyOf(n.URL), 2)
					return err
				})
				if ended("Walk", err) {
					return
				}
			}
		})
		for busy := false; !busy; { // with both
			time.Sleep(time.Duration(20+30*round) * time.Millisecond)
			mu.Lock()
			busy = len(pushed) > 0 && len(visits) > 0
			mu.Unlock()
		}
		closed(t, f)
		workers.Wait()
		f = open(t, frontier.Options{Dir: dir})
		for u := range pushed {
			if _, ok, err := f.Get(keyOf(u)); err != nil || !ok {
				t.Fatalf("%s was lost: %v", u, err)
			}
		}
		for u := range visits {
			if n, ok, err := f.Get(keyOf(u)); err != nil || !ok || n.State != frontier.Visited {
				t.Fatalf("the visit of %s was lost: %v", u, err)
			}
		}
		tree := recount(t, f)
		rest := drain(t, f)
		for _, u := range rest {
			if _, ok := tree[u]; ok {
				t.Errorf("%s is visited again", u)
			}
		}
		if len(tree)+len(rest) < len(pushed) {
			t.Errorf("%d visited and %d queued of %d", len(tree), len(rest), len(pushed))
		}
		closed(t, f)
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
