package frontier

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func worth(t *testing.T, url string, priority float64) Entry {
	return Entry{URL: parse(t, url), Priority: priority, Found: time.Unix(1, 0)}
}

// While the host of the best link rests, both queues leave alone what is not
// worth selectivity's share of it, and nothing else.
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
				f, err := Open(Options{InMemory: true, Memory: 32e6, Selectivity: c.selectivity, Await: rest})
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
				m := NewMemory(Options{Selectivity: c.selectivity, Await: rest})
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
		f, err := Open(Options{InMemory: true, Memory: 32e6, Selectivity: 0.5, Await: time.Second})
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
			f, err := Open(Options{InMemory: true, Memory: 32e6, Selectivity: 0.5, Await: await})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			claim := slowHost(rest)
			return func(e ...Entry) error { _, err := f.Push(t.Context(), e...); return err },
				func() (Entry, error) { return f.Next(t.Context(), claim) }
		},
		"in memory": func(t *testing.T) (func(...Entry) error, func() (Entry, error)) {
			m := NewMemory(Options{Selectivity: 0.5, Await: await})
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
