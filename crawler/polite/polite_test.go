package polite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/crawler/page"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/weburl"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func gate(t rapid.TB, change func(*Options)) *Gate {
	t.Helper()
	o := DefaultOptions()
	o.AdaptiveDelay = false
	if change != nil {
		change(&o)
	}
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// bubble runs test in virtual time with a gate that is closed at its end.
func bubble(t *testing.T, change func(*Options), test func(t *testing.T, g *Gate)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := gate(t, change)
		defer g.Close()
		test(t, g)
	})
}

// claim waits until the turn is had and returns how long that took.
func claim(g *Gate, host string) time.Duration {
	start := time.Now()
	for wait := g.Claim(host); wait > 0; wait = g.Claim(host) {
		time.Sleep(wait)
	}
	return time.Since(start)
}

func TestTurns(t *testing.T) {
	bubble(t, nil, func(t *testing.T, g *Gate) {
		if g.Claim("a.example") != 0 || g.Claim("b.example") != 0 {
			t.Fatal("a free host is refused")
		}
		if wait := g.Claim("a.example"); wait != 2*time.Second {
			t.Errorf("held host: wait %v", wait)
		}
		time.Sleep(10 * time.Second)
		g.Visited("a.example", Visit{Status: 200})
		if wait := g.Claim("a.example"); wait != 2*time.Second {
			t.Errorf("after the end: wait %v; want the delay", wait)
		}
		time.Sleep(1500 * time.Millisecond)
		if wait := g.Claim("a.example"); wait != 500*time.Millisecond {
			t.Errorf("wait %v; want the rest of it", wait)
		}
		time.Sleep(500 * time.Millisecond)
		if g.Claim("a.example") != 0 {
			t.Error("refused after the delay")
		}
		g.Visited("a.example", Visit{NoRequest: true})
		if g.Claim("a.example") != 0 {
			t.Error("a turn that was not used is not free at once")
		}
		g.Visited("never.example", Visit{}) // no turn: nothing happens
		if s := g.Stats(); s != (Stats{Hosts: 2, Asked: 2}) {
			t.Errorf("stats %+v", s)
		}
	})
}

// TestRest is how long a host rests after what happened, one visit after the
// other.
func TestRest(t *testing.T) {
	down := errors.New("down")
	const day = 24 * time.Hour
	for _, c := range []struct {
		name   string
		visits []Visit
		rests  string
	}{
		{"fine", []Visit{{Status: 200}, {Status: 404}, {Status: 301}}, "2s 2s 2s"},
		{"adaptive", []Visit{{Status: 200, Took: 3 * time.Second}, {Status: 200, Took: time.Second / 2}, {Status: 200, Took: time.Hour}}, "6s 2s 1m0s"},
		{"crawl-delay", []Visit{{Status: 200, CrawlDelay: 10 * time.Second}, {CrawlDelay: time.Second}, {Status: 200, CrawlDelay: 1e9 * time.Second}}, "10s 2s 1m0s"},
		{"crawl-delay, then a request that does not know it", []Visit{{Status: 200, CrawlDelay: 10 * time.Second}, {Status: 200, CrawlDelay: -1}, {Status: 200}, {CrawlDelay: -1}}, "10s 10s 2s 2s"},
		{"429", []Visit{{Status: 429}, {Status: 429}, {Status: 503}, {Status: 200}, {Status: 429}}, "5m0s 10m0s 20m0s 2s 5m0s"},
		{"robots.txt says nothing of health", []Visit{{Status: 429}, {}, {Status: 429}}, "5m0s 2s 10m0s"},
		{"Retry-After", []Visit{{Status: 429, RetryAfter: 30 * time.Second}, {Status: 503, RetryAfter: 3 * day}, {Status: 503, RetryAfter: time.Millisecond}, {Status: 503}},
			"30s 24h0m0s 2s 40m0s"},
		{"Retry-After of a page", []Visit{{Status: 200, RetryAfter: time.Hour}}, "2s"},
		{"errors", []Visit{{Err: down}, {Err: down}, {Err: down}, {Status: 200}, {Err: down}}, "4s 8s 16s 2s 4s"},
		{"errors of the server", []Visit{{Status: 500}, {Status: 502, RetryAfter: 30 * time.Second}}, "4s 30s"},
		{"error with crawl-delay", []Visit{{Err: down, CrawlDelay: 9 * time.Second}}, "9s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(o *Options) { o.AdaptiveDelay = true }, func(t *testing.T, g *Gate) {
				var rests []string
				for _, v := range c.visits {
					claim(g, "a.example")
					g.Visited("a.example", v)
					rests = append(rests, g.Claim("a.example").String())
				}
				if got := strings.Join(rests, " "); got != c.rests {
					t.Errorf("rests %s; want %s", got, c.rests)
				}
			})
		})
	}
	for _, v := range []Visit{{Status: 503}, {Err: down}} { // for ever
		bubble(t, nil, func(t *testing.T, g *Gate) {
			for range 200 {
				claim(g, "a.example")
				g.Visited("a.example", v)
			}
			want := day
			if v.Err != nil {
				want = 5 * time.Minute
			}
			if wait := g.Claim("a.example"); wait != want {
				t.Errorf("after 200 times %+v: rest %v; want %v", v, wait, want)
			}
		})
	}
}

func addr(i int) netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, byte(i)}) }

func TestAddresses(t *testing.T) {
	lookups := 0
	resolve := func(o *Options) {
		o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			lookups++
			time.Sleep(30 * time.Millisecond)
			if strings.HasPrefix(host, "none") {
				return nil, errors.New("no such host")
			}
			return []netip.Addr{addr(1)}, nil
		}
	}
	bubble(t, resolve, func(t *testing.T, g *Gate) {
		if took := claim(g, "a.example:8080"); took < 30*time.Millisecond || took > 100*time.Millisecond {
			t.Errorf("first claim with lookup took %v", took)
		}
		claim(g, "none.example") // its lookup fails, which the fetcher may say
		if g.Claim("[::1]:80") != 0 || g.Claim("127.0.0.2") != 0 || g.Claim("[::1]") == 0 {
			t.Error("addresses need no lookup")
		}
		g.Claim("b.example")
		time.Sleep(40 * time.Millisecond)
		if wait := g.Claim("b.example"); wait != 2*time.Second {
			t.Errorf("address is held: wait %v", wait)
		}
		// A Crawl-delay and a back-off are the host's, the delay is the address's.
		g.Visited("a.example:8080", Visit{Status: 429, IP: "127.0.0.1", CrawlDelay: 10 * time.Second})
		if wait := g.Claim("b.example"); wait != 2*time.Second {
			t.Errorf("address rests: wait %v", wait)
		}
		time.Sleep(2 * time.Second)
		if g.Claim("b.example") != 0 {
			t.Error("address is refused after its rest")
		}
		// Another address answered than was thought.
		g.Visited("b.example", Visit{Status: 200, IP: "127.0.0.7"})
		g.Claim("127.0.0.7")
		if wait := g.Claim("127.0.0.7"); wait != 2*time.Second {
			t.Errorf("address that answered: wait %v", wait)
		}
		if lookups != 3 {
			t.Errorf("%d lookups; want 3", lookups)
		}
	})
}

// TestLookupsBounded claims many hosts at once: lookups stay few, and Close
// ends those that never return by themselves.
func TestLookupsBounded(t *testing.T) {
	var mu sync.Mutex
	running, most := 0, 0
	resolve := func(o *Options) {
		o.Lookups = 4
		o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			<-ctx.Done()
			mu.Lock()
			running--
			mu.Unlock()
			return nil, ctx.Err()
		}
	}
	bubble(t, resolve, func(t *testing.T, g *Gate) {
		for i := range 100 {
			if wait := g.Claim(fmt.Sprintf("h%d.example", i)); wait <= 0 || wait > time.Second {
				t.Errorf("wait %v for a lookup", wait)
			}
		}
		synctest.Wait()
		time.Sleep(time.Minute)
		if wait := g.Claim("h0.example"); wait <= 0 || wait > time.Second {
			t.Errorf("wait %v for a slow lookup", wait)
		}
	})
	if most != 4 || running != 0 {
		t.Errorf("%d lookups at once, %d after Close; want 4 and 0", most, running)
	}
}

// TestProperty lets workers crawl a web of hosts on a few addresses in virtual
// time. The law: requests to one host, and to one address, never overlap and
// are apart by the delay at least; every host gets its share.
func TestProperty(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		workers := rapid.IntRange(1, 12).Draw(r, "workers")
		hosts := rapid.IntRange(1, 12).Draw(r, "hosts")
		ips := rapid.IntRange(1, 6).Draw(r, "ips")
		delay := time.Duration(rapid.IntRange(0, 3).Draw(r, "delay")) * time.Second
		took := rapid.SliceOfN(rapid.IntRange(0, 5000), 1, 50).Draw(r, "took")
		crawlDelays := rapid.SliceOfN(rapid.IntRange(0, 5), hosts, hosts).Draw(r, "crawl delays")
		bad := rapid.IntRange(2, 20).Draw(r, "bad")
		failed := ""
		synctest.Test(t, func(t *testing.T) {
			o := DefaultOptions()
			o.Delay, o.BackoffStart, o.AdaptiveDelay = delay, time.Minute, false
			o.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
				var i int
				fmt.Sscanf(host, "h%d.example", &i)
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				return []netip.Addr{addr(1 + i%ips)}, nil
			}
			g, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			failed = crawl(g, workers, hosts, ips, delay, took, crawlDelays, bad)
		})
		if failed != "" {
			r.Fatal(failed)
		}
	})
}

// crawl makes 60 requests and returns what broke the law, or "".
func crawl(g *Gate, workers, hosts, ips int, delay time.Duration, took, crawlDelays []int, bad int) (failed string) {
	type end struct {
		busy bool
		free time.Time
	}
	var mu sync.Mutex
	ends := make(map[string]*end)
	begin := func(name string) {
		e := ends[name]
		if e == nil {
			e = &end{}
			ends[name] = e
		}
		if e.busy {
			failed = name + " is asked twice at once"
		} else if time.Now().Before(e.free) {
			failed = fmt.Sprintf("%s is asked %v too early", name, time.Until(e.free))
		}
		e.busy = true
	}
	finish := func(name string, rest time.Duration) {
		e := ends[name]
		e.busy = false
		if free := time.Now().Add(rest); free.After(e.free) {
			e.free = free
		}
	}
	requests := 0
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; ; i++ {
				host := i % hosts
				name, ip := fmt.Sprintf("h%d.example", host), addr(1+host%ips).String()
				mu.Lock()
				n := requests
				mu.Unlock()
				if n >= 60 {
					return
				}
				if wait := g.Claim(name); wait > 0 {
					time.Sleep(min(wait, time.Second))
					continue
				}
				mu.Lock()
				requests++
				n = requests
				begin(name)
				begin(ip)
				mu.Unlock()
				duration := time.Duration(took[n%len(took)]) * time.Millisecond
				time.Sleep(duration)
				v := Visit{Status: 200, IP: ip, Took: duration, CrawlDelay: time.Duration(crawlDelays[host]) * time.Second}
				rest := max(delay, v.CrawlDelay)
				if n%bad == 0 {
					v.Status, rest = 429, max(rest, time.Minute)
				}
				mu.Lock()
				finish(name, rest)
				finish(ip, delay)
				g.Visited(name, v)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return failed
}

// TestForget visits a million hosts and finds few of them in memory.
func TestForget(t *testing.T) {
	if testing.Short() {
		t.Skip("visits many hosts")
	}
	bubble(t, nil, func(t *testing.T, g *Gate) {
		g.Claim("bad.example")
		g.Visited("bad.example", Visit{Status: 503})
		most := 0
		for i := range 300_000 {
			name := fmt.Sprintf("h%d.example", i)
			if g.Claim(name) != 0 {
				t.Fatal("refused")
			}
			g.Visited(name, Visit{Status: 200})
			if i%1000 == 0 {
				time.Sleep(time.Second)
				most = max(most, len(g.hosts))
			}
		}
		if most > keepHosts+5000 {
			t.Errorf("%d hosts in memory", most)
		}
		if g.hosts["bad.example"] == nil {
			t.Error("a back-off is forgotten before its time")
		}
		claim(g, "bad.example")
		g.Visited("bad.example", Visit{Status: 503})
		if wait := g.Claim("bad.example"); wait != 10*time.Minute {
			t.Errorf("second rest %v", wait)
		}
	})
}

// memory is a Store.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
}

func (m *memory) Meta(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[name], nil
}

func (m *memory) PutMeta(name string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[name] = value
	return nil
}

// keeping returns a Gate that keeps its delays in a store.
func keeping(t *testing.T, s *memory) *Gate {
	t.Helper()
	g := gate(t, nil)
	if err := g.Keep(s); err != nil {
		t.Fatal(err)
	}
	return g
}

// waitOf returns how long a host waits in all for its first request.
func waitOf(t *testing.T, g *Gate, host string) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		claim(g, host)
		d, err := g.Check(t.Context(), mustParse(t, "http://"+host+"/"))
		if err != nil {
			t.Fatal(err)
		}
		if d.Now {
			g.Visited(host, noRequest)
			return time.Since(began)
		}
		time.Sleep(d.Wait)
	}
}

func mustParse(t *testing.T, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestKeep: a host that waits when a gate is closed, or its process is killed, waits in the next one.
func TestKeep(t *testing.T) {
	for _, killed := range []bool{false, true} {
		for _, name := range []string{"slow", "bad", "well", "fine", "held", "other"} {
			t.Run(fmt.Sprintf("killed=%v/%s", killed, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testKeep(t, killed, name+".example") })
			})
		}
	}
}

func testKeep(t *testing.T, killed bool, name string) {
	store := &memory{values: map[string][]byte{}}
	g := keeping(t, store)
	if !g.quiet.IsZero() {
		t.Error("the first run begins with a wait")
	}
	for _, v := range []struct {
		host  string
		visit Visit
	}{
		{"bad.example", Visit{Status: 503}}, {"bad.example", Visit{Status: 503}}, {"slow.example", Visit{Status: 200, CrawlDelay: 30 * time.Second}},
		{"well.example", Visit{Status: 503, RetryAfter: 3 * time.Second}}, {"well.example", Visit{Status: 200}}, {"fine.example", Visit{Status: 200}},
	} {
		claim(g, v.host)
		g.Visited(v.host, v.visit)
	}
	want := 2 * time.Second // of other hosts: they may be at the same address
	if h := g.hosts[name]; h != nil {
		want = max(want, time.Until(h.next))
	}
	left := store
	if killed {
		claim(g, "held.example")
		left = &memory{values: maps.Clone(store.values)}
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	next := keeping(t, left)
	defer next.Close()
	if owed := next.owed(30 * time.Second); (owed > 0) != killed {
		t.Errorf("a host that wants 30s is owed %v after the restart", owed)
	}
	if got := waitOf(t, next, name); (got - want).Abs() > 10*time.Millisecond {
		t.Errorf("waits %v after the restart, want %v", got, want)
	}
	switch name {
	case "well.example":
		if n := next.hosts[name].fails; n != 0 {
			t.Errorf("it is said to have failed %d times in a row", n)
		}
	case "bad.example":
		claim(next, name)
		next.Visited(name, Visit{Status: 503})
		if wait := time.Until(next.hosts[name].next); wait != 20*time.Minute {
			t.Errorf("third wait is %v; want 20m: the failures in a row were forgotten", wait)
		}
	}
}

// A slow answer makes the other hosts of its IP address wait after a clean stop, too.
func TestKeepOfIPs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := func(s *memory) *Gate {
			g := gate(t, func(o *Options) {
				o.AdaptiveDelay = true
				o.Resolve = func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{addr(1)}, nil }
			})
			if err := g.Keep(s); err != nil {
				t.Fatal(err)
			}
			return g
		}
		store := &memory{values: map[string][]byte{}}
		g := start(store)
		claim(g, "slow.example")
		g.Visited("slow.example", Visit{Took: 15 * time.Second, IP: addr(1).String()})
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		g = start(store)
		defer g.Close()
		if wait := claim(g, "other.example"); (wait - 20*time.Second).Abs() > 10*time.Millisecond {
			t.Errorf("the other host waits %v, want 20s", wait)
		}
	})
}

// TestKeepClock: a clock that was set back by a year makes no host wait longer than it was to wait,
// and one that was set forward ends no crawl.
func TestKeepClock(t *testing.T) {
	for _, jump := range []time.Duration{-365 * 24 * time.Hour, -time.Minute, time.Minute, 365 * 24 * time.Hour} {
		then := time.Now().Add(-jump)
		value, err := json.Marshal(storedDelay{At: then, Until: then.Add(10 * time.Minute), Delay: 10 * time.Minute, Fails: 2})
		if err != nil {
			t.Fatal(err)
		}
		g := keeping(t, &memory{values: map[string][]byte{"rests": []byte("{}"), "rest bad.example": value}})
		if wait := time.Until(g.quiet); wait > 2*time.Second || wait < time.Second {
			t.Errorf("clock %v: hosts wait %v", jump, wait)
		}
		g.quiet = time.Time{}
		claim(g, "bad.example")
		if wait := g.recall("bad.example"); wait > 10*time.Minute || jump < 0 && wait < 9*time.Minute {
			t.Errorf("clock %v: it waits %v", jump, wait)
		}
		g.Close()
	}
}

// A robots.txt that has moved to a host that backs off is not fetched from there.
// Without a delay a host may have several slots, and all of them wait for what one has restored.
func TestKeepOfSeveralSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		value, err := json.Marshal(storedDelay{At: now, Until: now.Add(time.Hour), Delay: time.Hour, Fails: 1})
		if err != nil {
			t.Fatal(err)
		}
		g := keeping(t, &memory{values: map[string][]byte{"rest bad.example": value}})
		defer g.Close()
		g.options.Delay, g.options.AtOnce = 0, 2
		for range 2 {
			if wait := g.Claim("bad.example"); wait != 0 {
				t.Fatalf("a slot waits %v", wait)
			}
		}
		for range 2 {
			if wait := g.recall("bad.example"); wait != time.Hour {
				t.Errorf("a slot waits %v for what is stored", wait)
			}
		}
	})
}

func TestKeepOfAnotherHostsRobots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		value, err := json.Marshal(storedDelay{At: now, Until: now.Add(time.Hour), Delay: time.Hour, Fails: 1})
		if err != nil {
			t.Fatal(err)
		}
		g := keeping(t, &memory{values: map[string][]byte{"rest bad.example": value}})
		defer g.Close()
		if wait := g.claimOther("bad.example"); wait != time.Hour || g.hosts["bad.example"].held != 0 {
			t.Errorf("it waits %v", wait)
		}
		if wait := g.claimOther("fine.example"); wait != 0 {
			t.Errorf("another host waits %v", wait)
		}
	})
}

func FuzzKeep(f *testing.F) {
	f.Add([]byte(`{}`), []byte(`{"at":"2026-01-01T00:00:00Z","until":"9999-01-01T00:00:00Z","delay_ns":-1,"fails":9999999,"errs":-1}`))
	f.Add([]byte(`{"closed":"9999-01-01T00:00:00Z"}`), []byte(`{"until":"9999-01-01T00:00:00Z","delay_ns":9223372036854775807}`))
	f.Fuzz(func(t *testing.T, run, delay []byte) {
		g := gate(t, nil)
		defer g.Close()
		if g.Keep(&memory{values: map[string][]byte{"rests": run, "rest a.example": delay}}) != nil {
			return
		}
		if wait := time.Until(g.quiet); wait > g.options.Delay {
			t.Fatalf("all hosts wait %v", wait)
		}
		g.quiet = time.Time{}
		claim(g, "a.example")
		if wait := g.recall("a.example"); wait < 0 || wait > g.options.BackoffMax {
			t.Fatalf("waits %v", wait)
		}
		g.Visited("a.example", Visit{Status: 503})
		if wait := g.Claim("a.example"); wait < g.options.Delay || wait > g.options.BackoffMax {
			t.Fatalf("waits %v after an error", wait)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"120": 2 * time.Minute, " 5 ": 5 * time.Second, "0": 0, "-5": 0, "": 0, "soon": 0, "1.5": 0, "NaN": 0,
		"315360000": 87600 * time.Hour, "9223372036854775807": 9223372036 * time.Second, "99999999999999999999": 0,
		"Sat, 21 Nov 2026 12:01:00 GMT": time.Minute, "Sat, 21 Nov 2020 12:01:00 GMT": 0,
		"Saturday, 21-Nov-26 12:00:30 GMT": 30 * time.Second,
	} {
		if got := RetryAfter(header, now); got != want {
			t.Errorf("RetryAfter(%q) = %v; want %v", header, got, want)
		}
	}
}

// BenchmarkGate claims and visits 100,000 hosts in turn.
func BenchmarkGate(b *testing.B) {
	const hosts = 100_000
	names := make([]string, hosts)
	for i := range names {
		names[i] = fmt.Sprintf("www.host-%d.example", i)
	}
	g := gate(b, func(o *Options) { o.Delay = time.Nanosecond })
	defer g.Close()
	n := 0
	for b.Loop() {
		name := names[n%hosts]
		n++
		if g.Claim(name) == 0 {
			g.Visited(name, Visit{Status: 200})
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "turns/s")
}

// Without any delay a host is asked by several at once, until it wants a rest.
func TestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := DefaultOptions()
		o.Delay, o.AdaptiveDelay, o.AtOnce = 0, false, 2
		g, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		a, b, c := g.Claim("a.example"), g.Claim("a.example"), g.Claim("a.example")
		if a != 0 || b != 0 || c == 0 {
			t.Errorf("claims = %v, %v, %v; want two turns", a, b, c)
		}
		g.Visited("a.example", Visit{Status: 200, CrawlDelay: time.Second})
		g.Visited("a.example", Visit{Status: 200, CrawlDelay: time.Second})
		if wait := g.Claim("a.example"); wait != time.Second {
			t.Errorf("wait = %v after a Crawl-delay of 1s", wait)
		}
		time.Sleep(time.Second)
		a, b = g.Claim("a.example"), g.Claim("a.example")
		if a != 0 || b == 0 {
			t.Errorf("claims = %v, %v; want one turn", a, b)
		}
	})
}

// Look tells what hosts are doing.
func TestLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := DefaultOptions()
		o.Delay, o.AdaptiveDelay = 2*time.Second, false
		g, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		g.Claim("asked.example")
		g.Claim("rests.example")
		g.Visited("rests.example", Visit{Status: 200})
		g.Claim("patience.example")
		g.Visited("patience.example", Visit{Status: 429, RetryAfter: time.Hour})
		time.Sleep(time.Second)
		want := []Rest{{Asked: true}, {Wait: time.Second}, {Wait: time.Hour - time.Second, Backoff: true}, {}}
		got := g.Rests("asked.example", "rests.example", "patience.example", "unknown.example")
		if !slices.Equal(got, want) {
			t.Errorf("Look = %+v, want %+v", got, want)
		}
	})
}

// shared are leases that note what was claimed and released, or refuse.
type shared struct {
	refuse bool
	log    []string
}

func (s *shared) Claim(names ...string) time.Duration {
	s.log = append(s.log, "claim "+strings.Join(names, ", "))
	if s.refuse {
		return time.Minute
	}
	return 0
}

func (s *shared) Release(names ...string) {
	s.log = append(s.log, "release "+strings.Join(names, ", "))
}

// A turn takes the leases of the host and of its lowest address, and gives both
// back, also where another address has answered.
func TestLeases(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := gate(t, func(o *Options) {
				o.Resolve = func(context.Context, string) ([]netip.Addr, error) {
					return []netip.Addr{netip.MustParseAddr("192.0.2.9"), netip.MustParseAddr("192.0.2.1")}, nil
				}
			})
			leases := &shared{refuse: refuse}
			g.SetLeases(leases)
			g.Claim("www.example.org:8080") // looks the address up
			synctest.Wait()
			wait := g.Claim("www.example.org:8080")
			const names = "www.example.org:8080, ip 192.0.2.1"
			want := []string{"claim " + names, "release " + names}
			if refuse {
				want = want[:1]
			}
			if refuse != (wait == time.Minute) {
				t.Errorf("refused: %v, wait %v", refuse, wait)
			}
			if g.Visited("www.example.org:8080", Visit{Status: 200, IP: "192.0.2.9", CrawlDelay: -1}); !slices.Equal(leases.log, want) {
				t.Errorf("%q, want %q", leases.log, want)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A host that answers for another's robots.txt rests as long as was ordered for it, although none of
// its own pages was checked yet.
func TestOrderedDelayOfAnotherHostsRobots(t *testing.T) {
	const ordered = time.Second
	bubble(t, func(o *Options) {
		o.Delay = 100 * time.Millisecond
		rules := robots.DefaultOptions()
		o.Robots = &rules
		o.HostDelay = func(u weburl.URL) time.Duration {
			if u.Host() == "b.example" {
				return ordered
			}
			return 0
		}
		o.Fetch = func(_ context.Context, u weburl.URL, _ int64) (*page.Response, error) {
			r := &page.Response{URL: u, Status: 200, Header: http.Header{}, Fetched: time.Now()}
			if u.Host() == "a.example" {
				r.Status = 301
				r.Location, _ = weburl.Parse("http://b.example/robots.txt")
			}
			return r, nil
		}
	}, func(t *testing.T, g *Gate) {
		u, err := weburl.Parse("http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // its robots.txt, and the one of b.example that it leads to
			claim(g, "a.example")
			if d, err := g.Check(t.Context(), u); err != nil || d.Now {
				t.Fatalf("%+v, %v", d, err)
			}
		}
		if wait := g.Claim("b.example"); wait != ordered {
			t.Errorf("b.example may be asked after %v; want %v", wait, ordered)
		}
	})
}
