package robots

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A site map of answers by URL: "200 body", "301 location" or "error".
type answers struct {
	mu    sync.Mutex
	by    map[string]string
	asked []string
	slow  time.Duration
}

var errDown = errors.New("down")

func (a *answers) fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	a.mu.Lock()
	a.asked = append(a.asked, u.String())
	answer, ok := a.by[u.String()]
	slow := a.slow
	a.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if !ok {
		answer = "404 "
	}
	if answer == "error" {
		return nil, errDown
	}
	r := &page.Response{URL: u, Header: make(http.Header)}
	head, body, _ := strings.Cut(answer, " ")
	fmt.Sscan(head, &r.Status)
	if r.Status/100 == 3 {
		r.Location, _ = u.Resolve(body)
	} else {
		r.Body = []byte(body)
	}
	return r, nil
}

func (a *answers) set(u, answer string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.by[u] = answer
}

func cache(t testing.TB, a *answers, change func(*Options)) *Cache {
	t.Helper()
	o := DefaultOptions()
	o.Fetch = a.fetch
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func check(t testing.TB, c *Cache, raw string) Decision {
	t.Helper()
	d, err := c.Check(t.Context(), mustParse(raw))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestStatus is the policy: what each answer to the request for robots.txt
// means.
func TestStatus(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /x"
	for _, c := range []struct {
		answer  string
		allowed bool
		retry   bool
	}{
		{"200 " + rules, false, false},
		{"206 " + rules, false, false},
		{"200 ", true, false},
		{"204 ", true, false},
		{"400 " + rules, true, false},
		{"401 " + rules, true, false},
		{"403 " + rules, true, false},
		{"404 " + rules, true, false},
		{"410 " + rules, true, false},
		{"451 " + rules, true, false},
		{"429 " + rules, false, true},
		{"500 " + rules, false, true},
		{"503 ", false, true},
		{"599 ", false, true},
		{"error", false, true},
		{"304 ", true, false},
		{"301 javascript:x", true, false},
	} {
		a := &answers{by: map[string]string{"http://a.example/robots.txt": c.answer}}
		d := check(t, cache(t, a, nil), "http://a.example/x")
		if d.Allowed != c.allowed || (d.Retry > 0) != c.retry || !d.Fetched {
			t.Errorf("%q: %+v; want allowed %v, retry %v", c.answer, d, c.allowed, c.retry)
		}
		if got := errors.Is(d.Err, errDown); got != (c.answer == "error") {
			t.Errorf("%q: error %v", c.answer, d.Err)
		}
	}
}

func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answers{by: map[string]string{
			"http://a.example/robots.txt":      "200 User-agent: *\nDisallow: /x\nCrawl-delay: 7\nSitemap: /s.xml",
			"http://a.example:8080/robots.txt": "200 User-agent: *\nDisallow: /",
		}}
		c := cache(t, a, nil)
		first := check(t, c, "http://a.example/y")
		if !first.Allowed || !first.Fetched || first.Response == nil || first.Delay != 7*time.Second ||
			len(first.Sitemaps) != 1 || first.Retry != 0 {
			t.Errorf("first %+v", first)
		}
		second := check(t, c, "http://a.example/x?y")
		if second.Allowed || second.Fetched || second.Response != nil {
			t.Errorf("second %+v", second)
		}
		if d := check(t, c, "http://a.example:8080/y"); d.Allowed || !d.Fetched {
			t.Errorf("another port %+v", d)
		}
		if d := check(t, c, "https://a.example/x"); !d.Allowed || !d.Fetched {
			t.Errorf("another scheme %+v", d)
		}
		time.Sleep(23 * time.Hour)
		if d := check(t, c, "http://a.example/y"); d.Fetched {
			t.Error("requested again within a day")
		}
		a.set("http://a.example/robots.txt", "404 ")
		time.Sleep(2 * time.Hour)
		if d := check(t, c, "http://a.example/x"); !d.Allowed || !d.Fetched {
			t.Errorf("after a day %+v", d)
		}
	})
}

func TestUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answers{by: map[string]string{"http://a.example/robots.txt": "error"}}
		c := cache(t, a, nil)
		var waits []time.Duration
		for range 12 {
			d := check(t, c, "http://a.example/x")
			if d.Allowed || !d.Fetched || d.Retry <= 0 {
				t.Fatalf("%+v", d)
			}
			waits = append(waits, d.Retry)
			if again := check(t, c, "http://a.example/y"); again.Allowed || again.Fetched || again.Retry != d.Retry || again.Err == nil {
				t.Fatalf("requested again at once: %+v", again)
			}
			time.Sleep(d.Retry)
		}
		if got := fmt.Sprint(waits[:4], waits[11]); got != "[5m0s 10m0s 20m0s 40m0s] 24h0m0s" {
			t.Errorf("waits %s", got)
		}
		a.set("http://a.example/robots.txt", "200 User-agent: *\nDisallow: /x")
		if d := check(t, c, "http://a.example/y"); !d.Allowed || d.Retry != 0 || d.Err != nil {
			t.Errorf("back again: %+v", d)
		}
		// Known rules outlive a host that is down when they grow old.
		a.set("http://a.example/robots.txt", "503 ")
		time.Sleep(25 * time.Hour)
		if d := check(t, c, "http://a.example/x"); d.Allowed || !d.Fetched || d.Retry != 0 {
			t.Errorf("down again: %+v", d)
		}
		if d := check(t, c, "http://a.example/y"); !d.Allowed || d.Fetched {
			t.Errorf("down again, second: %+v", d)
		}
	})
}

// TestRedirects follows robots.txt one request a Check, over hosts, five times
// and no sixth.
func TestRedirects(t *testing.T) {
	const rules = "200 User-agent: *\nDisallow: /x"
	chain := func(hops int, end string) map[string]string {
		by := make(map[string]string)
		at := "http://a.example/robots.txt"
		for i := range hops {
			next := fmt.Sprintf("https://h%d.example/robots.txt", i)
			by[at], at = "301 "+next, next
		}
		by[at] = end
		return by
	}
	for _, c := range []struct {
		name    string
		by      map[string]string
		asked   int
		allowed bool
		retry   bool
	}{
		{"none", chain(0, rules), 1, false, false},
		{"one", chain(1, rules), 2, false, false},
		{"five", chain(5, rules), 6, false, false},
		{"six", chain(6, rules), 6, true, false},
		{"to nothing", chain(2, "404 "), 3, true, false},
		{"to an error", chain(2, "error"), 3, false, true},
		{"to itself", map[string]string{"http://a.example/robots.txt": "302 /robots.txt"}, 6, true, false},
	} {
		a := &answers{by: c.by}
		cache := cache(t, a, nil)
		var d Decision
		for i := range c.asked {
			if d = check(t, cache, "http://a.example/x"); !d.Fetched || len(a.asked) != i+1 {
				t.Fatalf("%s: request %d: %+v after %v", c.name, i+1, d, a.asked)
			}
		}
		if d.Allowed != c.allowed || (d.Retry > 0) != c.retry {
			t.Errorf("%s: %+v", c.name, d)
		}
		if d = check(t, cache, "http://a.example/x"); d.Fetched || d.Allowed != c.allowed {
			t.Errorf("%s: afterwards %+v", c.name, d)
		}
	}
}

// TestClaim: a robots.txt that has moved to another host waits for that one's
// turn, and one that has moved to https does not.
func TestTurn(t *testing.T) {
	a := &answers{by: map[string]string{
		"http://a.example/robots.txt":     "301 http://www.a.example/robots.txt",
		"http://www.a.example/robots.txt": "200 User-agent: *\nDisallow: /x",
		"http://b.example/robots.txt":     "301 https://b.example/robots.txt",
	}}
	wait := time.Minute
	var turns []string
	c := cache(t, a, func(o *Options) {
		o.Claim = func(host string) time.Duration { turns = append(turns, host); return wait }
	})
	if d := check(t, c, "http://a.example/x"); !d.Fetched || d.Asked != "a.example" {
		t.Errorf("first: %+v", d)
	}
	for range 2 {
		if d := check(t, c, "http://a.example/x"); d.Fetched || d.Wait != wait || d.Allowed || len(a.asked) != 1 {
			t.Errorf("while the other rests: %+v, asked %v", d, a.asked)
		}
	}
	wait = 0
	if d := check(t, c, "http://a.example/x"); !d.Fetched || d.Asked != "www.a.example" || d.Allowed {
		t.Errorf("then: %+v", d)
	}
	if len(turns) != 3 || turns[2] != "www.a.example" {
		t.Errorf("turns: %v", turns)
	}
	check(t, c, "http://b.example/x")
	if d := check(t, c, "http://b.example/x"); !d.Fetched || d.Asked != "b.example" || len(turns) != 3 {
		t.Errorf("moved to https: %+v, turns %v", d, turns)
	}
}

func TestConcurrentChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answers{slow: time.Second, by: map[string]string{"http://a.example/robots.txt": "200 User-agent: *\nDisallow: /x"}}
		c := cache(t, a, nil)
		// One gives up in the middle of the request; another makes it.
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.Check(ctx, mustParse("http://a.example/x")); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("gave up with %v", err)
			}
		})
		synctest.Wait()
		var fetched atomic.Int64
		for range 50 {
			wg.Go(func() {
				d, err := c.Check(t.Context(), mustParse("http://a.example/x"))
				if err != nil || d.Allowed || d.Retry != 0 {
					t.Errorf("%+v, %v", d, err)
				}
				if d.Fetched {
					fetched.Add(1)
				}
			})
		}
		wg.Wait()
		if len(a.asked) != 2 || fetched.Load() != 1 {
			t.Errorf("asked %d times, %d knew of it; want 2 and 1", len(a.asked), fetched.Load())
		}
	})
}

func TestBounds(t *testing.T) {
	a := &answers{by: make(map[string]string)}
	big := "200 User-agent: *\n" + strings.Repeat("Disallow: /some/where\n", 1000)
	for i := range 100 {
		a.by[fmt.Sprintf("http://h%d.example/robots.txt", i)] = big
	}
	c := cache(t, a, func(o *Options) { o.Hosts = 50; o.Memory = 400 << 10 })
	for i := range 200 {
		check(t, c, fmt.Sprintf("http://h%d.example/", i))
		if c.sites.Len() > 50 || c.memory > 400<<10 {
			t.Fatalf("%d sites, %d bytes", c.sites.Len(), c.memory)
		}
	}
	if d := check(t, c, "http://h199.example/"); d.Fetched {
		t.Error("the last host is forgotten")
	}
	if d := check(t, c, "http://h0.example/"); !d.Fetched {
		t.Error("the first host is remembered")
	}
	if c := cache(t, a, func(o *Options) { o.Memory = 1 }); !check(t, c, "http://h1.example/some/where/else").Fetched || c.sites.Len() != 1 {
		t.Error("too large for the cache")
	}
}

func TestAgent(t *testing.T) {
	for _, agent := range []string{"gazehound/1.0", ""} {
		o := DefaultOptions()
		o.Agent = agent
		if _, err := New(o); err == nil {
			t.Errorf("%q: no error", agent)
		}
	}
}
