package polite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
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

// TestKeep: who rests when a gate is closed, or its process is killed, rests
// in the next one, whatever the clock did in between.
func TestKeep(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed=%v", killed), func(t *testing.T) { testKeep(t, killed) })
	}
}

func testKeep(t *testing.T, killed bool) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(dir, "politeness.log")
		start := func() *Gate {
			g := gate(t, func(o *Options) {
				o.Resolve = func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{addr(1)}, nil }
			})
			if err := g.Keep(file); err != nil {
				t.Fatal(err)
			}
			return g
		}
		g := start()
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
		if killed {
			claim(g, "held.example")
			left, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			g.Close()
			g.journal = nil
			if err := os.WriteFile(file, append(left, `{"host":"torn.exam`...), 0o666); err != nil {
				t.Fatal(err)
			}
		} else if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		next := start()
		for delay, want := range map[time.Duration]time.Duration{0: 0, 30 * time.Second: 30 * time.Second, time.Hour: time.Minute} {
			if !killed {
				want = 0
			}
			if owed := next.owed(delay); owed != want {
				t.Errorf("a host that wants %v is owed %v after the restart, want %v", delay, owed, want)
			}
		}
		for _, name := range []string{"slow.example", "bad.example", "fine.example", "held.example", "other.example"} {
			want := time.Duration(0) // of other.example: the address rests
			if h := g.hosts[name]; h != nil && name != "held.example" {
				want = time.Until(h.next)
			}
			if h := next.hosts[name]; h != nil {
				if got := time.Until(h.next); (got - want).Abs() > 2*time.Millisecond {
					t.Errorf("%s rests for %v after the restart; before %v", name, got, want)
				}
			} else if want > 2*time.Second {
				t.Errorf("%s is forgotten", name)
			}
			if wait := next.Claim(name); wait <= 0 {
				t.Errorf("%s is asked at once", name)
			}
		}
		if wait := max(next.ips[addr(1)].restOf(), time.Until(next.quiet)); wait < 1900*time.Millisecond || wait > 2001*time.Millisecond {
			t.Errorf("address rests for %v", wait)
		}
		if h := next.hosts["well.example"]; h != nil && h.fails != 0 {
			t.Errorf("well.example is said to have failed %d times in a row", h.fails)
		}
		claim(next, "bad.example")
		next.Visited("bad.example", Visit{Status: 503})
		if wait := time.Until(next.hosts["bad.example"].next); wait != 20*time.Minute {
			t.Errorf("third rest is %v; want 20m: the failures in a row were forgotten", wait)
		}
		if owed := next.owed(time.Minute); owed != 0 {
			t.Errorf("owed %v long after the restart", owed)
		}
		next.Close()
	})
}

func (t *slot) restOf() time.Duration {
	if t == nil {
		return 0
	}
	return time.Until(t.next)
}

// TestKeepClock: a clock that was set back by a year makes nobody rest longer
// than it was to rest, and one that was set forward ends no crawl.
func TestKeepClock(t *testing.T) {
	for _, jump := range []time.Duration{-365 * 24 * time.Hour, -time.Minute, time.Minute, 365 * 24 * time.Hour} {
		file := filepath.Join(t.TempDir(), "politeness.log")
		at := time.Now().Add(-jump) // the file's now
		text := fmt.Sprintf("{\"version\":1}\n{\"host\":\"slow.example\",\"next\":%d,\"rest\":30000,\"delay\":30000}\n{\"host\":\"bad.example\",\"next\":%d,\"rest\":600000,\"delay\":600000,\"fails\":2}\n",
			at.Add(30*time.Second).UnixMilli(), at.Add(10*time.Minute).UnixMilli())
		if err := os.WriteFile(file, summed([]byte(text)), 0o666); err != nil {
			t.Fatal(err)
		}
		g := gate(t, nil)
		if err := g.Keep(file); err != nil {
			t.Fatal(err)
		}
		for name, most := range map[string]time.Duration{"slow.example": 30 * time.Second, "bad.example": 10 * time.Minute, "other.example": 2 * time.Second} {
			least := time.Second
			if jump < 0 && name != "other.example" {
				least = most - 10*time.Second
			}
			if wait := g.Claim(name); wait > most || g.quiet.IsZero() {
				t.Errorf("clock %v: %s waits %v, want at most %v", jump, name, wait, most)
			}
			if h := g.hosts[name]; h != nil && time.Until(h.next) < least {
				t.Errorf("clock %v: %s rests for %v only", jump, name, time.Until(h.next))
			}
		}
		g.Close()
	}
}

// TestKeepSize: the journal is written anew before it is large.
func TestKeepSize(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		g := gate(t, nil)
		file := filepath.Join(dir, "politeness.log")
		if err := g.Keep(file); err != nil {
			t.Fatal(err)
		}
		for i := range 100_000 {
			name := fmt.Sprintf("host-%d.example", i%100)
			claim(g, name)
			g.Visited(name, Visit{Status: 200, CrawlDelay: 10 * time.Second})
		}
		if info, err := os.Stat(file); err != nil || info.Size() > maxAppended+1<<20 {
			t.Errorf("%v, %v", info.Size(), err)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		if err := g.Keep(file); err != nil || len(g.hosts) != 100 {
			t.Errorf("%d hosts are known, %v", len(g.hosts), err)
		}
		g.Close()
	})
}

// summed returns the lines of a journal with their check sums.
func summed(text []byte) (lines []byte) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		lines = fmt.Appendf(lines, "%s\t%08x\n", line, crc32.ChecksumIEEE(line))
	}
	return lines
}

// TestKeepDamaged flips each bit of a journal and cuts it everywhere: the file is refused, or the hosts
// of the lines that are there rest as they would have.
func TestKeepDamaged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "politeness.log")
	keep := func(text []byte) (rests map[string]time.Duration, err error) {
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
		g := gate(t, nil)
		defer g.Close()
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := g.recall(f, time.Now()); err != nil {
			return nil, err
		}
		rests = map[string]time.Duration{}
		for name, h := range g.hosts {
			rests[name] = time.Until(h.next).Round(time.Minute)
		}
		return rests, nil
	}
	next := time.Now().Add(time.Hour).UnixMilli()
	text := summed(fmt.Appendf(nil, "{\"version\":1}\n{\"host\":\"a.example\",\"next\":%d,\"rest\":3600000}\n{\"host\":\"b.example\",\"next\":%d,\"rest\":1800000}\n{\"closed\":true}\n", next, next))
	want, err := keep(text)
	if err != nil || len(want) != 2 {
		t.Fatalf("%v, %v", want, err)
	}
	refused, tried := 0, 0
	try := func(what string, at int, text []byte) {
		tried++
		rests, err := keep(text)
		if err != nil {
			refused++
			return
		}
		for name, rest := range rests {
			if want[name] != rest {
				t.Errorf("%s at %d: %s rests %v, want %v", what, at, name, rest, want[name])
			}
		}
	}
	for at := range text {
		for bit := range 8 {
			bad := bytes.Clone(text)
			bad[at] ^= 1 << bit
			try("bit flipped", at, bad)
		}
		try("cut", at, text[:at])
	}
	if refused < tried/2 {
		t.Errorf("%d of %d were refused", refused, tried)
	}
}

func FuzzKeep(f *testing.F) {
	f.Add([]byte("{\"version\":1}\n{\"host\":\"a.example\",\"next\":99999999999999,\"rest\":-1,\"fails\":9999999,\"delay\":-1}\n{\"ip\":\"127.0.0.1\",\"next\":-1}"))
	f.Add([]byte("{\"version\":1}\n{\"host\":\"a.example\",\"next\":99999999999999,\"rest\":9223372036854775807,\"delay\":9223372036854775807}\n{\"closed\":true}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "politeness.log")
		if err := os.WriteFile(file, summed(data), 0o666); err != nil {
			t.Fatal(err)
		}
		g := gate(t, nil)
		defer g.Close()
		if g.Keep(file) != nil {
			return
		}
		g.quiet = time.Time{}
		for name := range g.hosts {
			if wait := g.Claim(name); wait > g.options.BackoffMax {
				t.Fatalf("%q: %q waits %v", data, name, wait)
			} else if wait <= 0 {
				g.Visited(name, Visit{Status: 503})
				if wait := g.Claim(name); wait < g.options.Delay || wait > g.options.BackoffMax {
					t.Fatalf("%q: %q rests %v", data, name, wait)
				}
			}
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

func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"delay":    func(o *Options) { o.Delay = -1 },
		"max":      func(o *Options) { o.MaxDelay = -1 },
		"back-off": func(o *Options) { o.BackoffMax = time.Second },
		"lookups": func(o *Options) {
			o.Lookups = 0
			o.Resolve = func(context.Context, string) ([]netip.Addr, error) { return nil, nil }
		},
	} {
		o := DefaultOptions()
		change(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
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
