package frontier

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func worth(t *testing.T, url string, priority float64) Entry {
	return Entry{URL: parse(t, url), Priority: priority, Found: time.Unix(1, 0)}
}

// While the host of the best link waits, both queues hold back links that score less than
// selectivity's share of it, and no others.
func TestSelectivity(t *testing.T) {
	const rest = 3 * time.Second
	for _, c := range []struct {
		name          string
		selectivity   float64
		better, worse float64       // priorities
		rest          time.Duration // of the better one's host
		waits         bool
	}{
		{"worse", 0.5, 0.8, 0.39, rest, true},
		{"good enough", 0.5, 0.8, 0.4, rest, false},
		{"none", 0, 0.8, 0.01, rest, false},
		{"too long", 0.5, 0.8, 0.01, rest + time.Second, false},
		{"no share of nothing", 0.5, 0, -1, rest, false},
		{"no share of less than nothing", 0.5, -1, -3, rest, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			claim := func(began time.Time) func(string) time.Duration {
				return func(host string) time.Duration {
					if host == "better.example" {
						return max(0, c.rest-time.Since(began))
					}
					return 0
				}
			}
			want, after := "worse.example", time.Duration(0)
			if c.waits {
				want, after = "better.example", c.rest
			}
			entries := []Entry{worth(t, "http://better.example/", c.better), worth(t, "http://worse.example/", c.worse)}
			synctest.Test(t, func(t *testing.T) {
				f, err := Open(Options{InMemory: true, Memory: 32e6, Selectivity: c.selectivity, Patience: 1, Await: rest})
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if _, err := f.Push(t.Context(), entries...); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				e, err := f.Next(t.Context(), claim(began))
				if err != nil || e.URL.Host() != want || time.Since(began) != after {
					t.Errorf("%s after %v, %v; want %s after %v", e.URL, time.Since(began), err, want, after)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				m := NewMemory(Options{Selectivity: c.selectivity, Patience: 1, Await: rest})
				if _, err := m.Push(t.Context(), entries...); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				e, err := m.Next(t.Context(), claim(began))
				if c.waits && errors.Is(err, ErrNotNow) {
					until, _ := m.Wake()
					time.Sleep(until)
					m.SetTime(until)
					e, err = m.Next(t.Context(), claim(began))
				}
				if err != nil || e.URL.Host() != want || time.Since(began) != after {
					t.Errorf("in memory: %s after %v, %v; want %s after %v", e.URL, time.Since(began), err, want, after)
				}
			})
		})
	}
}

// Nobody waits for ever for a host that is always busy.
func TestSelectivityEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := Open(Options{InMemory: true, Memory: 32e6, Selectivity: 0.5, Patience: 1, Await: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Push(t.Context(), worth(t, "http://busy.example/", 1), worth(t, "http://idle.example/", 0.1)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		e, err := f.Next(t.Context(), func(host string) time.Duration {
			if host == "busy.example" {
				return time.Second
			}
			return 0
		})
		if took := time.Since(began); err != nil || e.URL.Host() != "idle.example" || took < maxAwaited || took > maxAwaited+time.Second {
			t.Errorf("%s after %v, %v", e.URL, took, err)
		}
	})
}

// A rest that is too long to be waited for is so until it ends.
func TestSelectivityAtTheEndOfALongRest(t *testing.T) {
	const await, rest = time.Second, 10 * time.Second
	entries := []Entry{worth(t, "http://slow.example/", 1), worth(t, "http://a.example/", 0.2), worth(t, "http://b.example/", 0.1)}
	for name, open := range map[string]func(t *testing.T) (push func(...Entry) error, next func() (Entry, error)){
		"on disk": func(t *testing.T) (func(...Entry) error, func() (Entry, error)) {
			f, err := Open(Options{InMemory: true, Memory: 32e6, Selectivity: 0.5, Patience: 1, Await: await})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			claim := slowHost(rest)
			return func(e ...Entry) error { _, err := f.Push(t.Context(), e...); return err },
				func() (Entry, error) { return f.Next(t.Context(), claim) }
		},
		"in memory": func(t *testing.T) (func(...Entry) error, func() (Entry, error)) {
			m := NewMemory(Options{Selectivity: 0.5, Patience: 1, Await: await})
			claim, began := slowHost(rest), time.Now()
			return func(e ...Entry) error { _, err := m.Push(t.Context(), e...); return err },
				func() (Entry, error) { m.SetTime(time.Since(began)); return m.Next(t.Context(), claim) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				push, next := open(t)
				if err := push(entries...); err != nil {
					t.Fatal(err)
				}
				for _, want := range []string{"a.example", "b.example", "slow.example"} {
					began := time.Now()
					if e, err := next(); err != nil || e.URL.Host() != want || time.Since(began) > 0 {
						t.Errorf("%s after %v, %v; want %s at once", e.URL, time.Since(began), err, want)
					}
					time.Sleep(rest - await/2) // at the second look half of what would be waited for is left
				}
			})
		})
	}
}

// slowHost is a claim by which slow.example rests from its first one on.
func slowHost(rest time.Duration) func(host string) time.Duration {
	began := time.Now()
	return func(host string) time.Duration {
		if host == "slow.example" {
			return max(0, rest-time.Since(began))
		}
		return 0
	}
}

// Workers lose about the share of their time that patience allows by holding back, and no entry is
// held back with a patience of 0. One host has the good links and 1,000 others have poor ones.
func TestPatience(t *testing.T) {
	const workers, visit, delay = 4, 100 * time.Millisecond, 2 * time.Second
	for _, patience := range []float64{0, 0.25, 0.5, 0.75, 1} {
		t.Run(fmt.Sprint(patience), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, err := Open(Options{InMemory: true, Memory: 32e6, Selectivity: 0.5, Patience: patience, Await: delay})
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				var entries []Entry
				for i := range 5000 {
					entries = append(entries, worth(t, fmt.Sprintf("http://poor%d.example/%d", i%1000, i), 0.1),
						worth(t, fmt.Sprintf("http://good.example/%d", i), 1))
				}
				if _, err := f.Push(t.Context(), entries...); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				var mu sync.Mutex
				free, visits := map[string]time.Time{}, 0
				claim := func(host string) time.Duration {
					mu.Lock()
					defer mu.Unlock()
					wait := time.Until(free[host])
					if wait <= 0 {
						free[host] = time.Now().Add(visit + delay)
					}
					return wait
				}
				var g sync.WaitGroup
				for range workers {
					g.Go(func() {
						for {
							e, err := f.Next(ctx, claim)
							if err != nil {
								return
							}
							time.Sleep(visit)
							if _, err := f.Done(t.Context(), e, Outcome{Kind: "page"}); err != nil {
								t.Error(err)
								return
							}
							mu.Lock()
							visits++
							mu.Unlock()
						}
					})
				}
				g.Wait()
				all := float64(workers) * 2 * 60 / visit.Seconds()
				lost := 1 - float64(visits)/all
				if lost > patience+0.05 || patience < 1 && lost < patience/2-0.05 || patience == 1 && lost < 0.9 {
					t.Errorf("%.0f %% of the workers' time was lost with a patience of %v", 100*lost, patience)
				}
			})
		})
	}
}
