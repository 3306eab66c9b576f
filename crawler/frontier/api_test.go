package frontier_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
)

// address returns the URL of a page by its host's number and its own.
func address(host, page int) weburl.URL {
	u, err := weburl.Parse(fmt.Sprintf("http://h%d.example/p/%d", host, page))
	if err != nil {
		panic(err)
	}
	return u
}

func entry(host, page int, priority float64) frontier.Entry {
	return frontier.Entry{URL: address(host, page), Priority: priority}
}

func open(t testing.TB, o frontier.Options) *frontier.Frontier {
	t.Helper()
	o.InMemory = o.Dir == ""
	o.Memory = cmp.Or(o.Memory, 32e6) // the least; to clear more takes longer than most tests
	f, err := frontier.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func closed(t testing.TB, f *frontier.Frontier) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func push(t testing.TB, f *frontier.Frontier, es ...frontier.Entry) int {
	t.Helper()
	n, err := f.Push(t.Context(), es...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// free allows requests to every host.
func free(string) time.Duration { return 0 }

func next(t testing.TB, f *frontier.Frontier) frontier.Entry {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	e, err := f.Next(ctx, free)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// wantBlocked fails if Next has something to say at once.
func wantBlocked(t testing.TB, f *frontier.Frontier) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if e, err := f.Next(ctx, free); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Next = %s, %v; want to wait", e.URL, err)
	}
}

func done(t testing.TB, f *frontier.Frontier, e frontier.Entry, o frontier.Outcome, found ...frontier.Entry) int {
	t.Helper()
	n, err := f.Done(t.Context(), e, o, found...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var page = frontier.Outcome{Kind: "page", Status: 200}

// keyOf returns the key of what address returned.
func keyOf(u string) frontier.Key {
	var host, page int
	if _, err := fmt.Sscanf(u, "http://h%d.example/p/%d", &host, &page); err != nil {
		panic(err)
	}
	return frontier.KeyOf(address(host, page))
}

// drain visits all that is left and returns the URLs in order.
func drain(t testing.TB, f *frontier.Frontier) (urls []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		e, err := f.Next(ctx, free)
		if errors.Is(err, io.EOF) {
			return urls
		}
		if err != nil {
			t.Fatal(err)
		}
		urls = append(urls, e.URL.String())
		done(t, f, e, page)
	}
}

func paths(urls []string) string {
	var b strings.Builder
	for _, u := range urls {
		_, path, _ := strings.Cut(u, "/p/")
		fmt.Fprintf(&b, "%s ", path)
	}
	return strings.TrimSpace(b.String())
}

// recount checks that the totals are what a walk over the crawl tree gives, that visits
// are numbered without a gap, and that none is there twice. Links
// that the frontier itself refused (host_limit) are not looked at.
func recount(t testing.TB, f *frontier.Frontier) (visited map[string]frontier.Node) {
	t.Helper()
	visited = map[string]frontier.Node{}
	want := frontier.Totals{Errors: map[string]int64{}, Skipped: map[string]int64{}, Dropped: map[string]int64{}}
	addresses := map[string]bool{}
	err := f.Walk(t.Context(), 0, func(n frontier.Node) error {
		want.Visited++
		if n.State != frontier.Visited || n.Seq != uint64(want.Visited) {
			t.Errorf("visit %d of the walk is %s: state %d, seq %d", want.Visited, n.URL, n.State, n.Seq)
		}
		if _, ok := visited[n.URL.String()]; ok {
			t.Errorf("%s was visited twice", n.URL)
		}
		visited[n.URL.String()] = n
		want.Bytes += n.Outcome.Bytes
		switch n.Outcome.Kind {
		case "page":
			want.Pages++
			if n.Outcome.Relevant {
				want.Relevant++
			}
		case "redirect":
			want.Redirects++
		case "skipped":
			want.Skipped[n.Outcome.Reason]++
		case "error":
			want.Errors[n.Outcome.Reason]++
		}
		for _, a := range n.Outcome.Addresses {
			if n.Outcome.Relevant && n.Outcome.Reason == "" {
				addresses[a] = true
			}
		}
		for reason, count := range n.Outcome.Dropped {
			want.Dropped[reason] += count
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want.Addresses = int64(len(addresses))
	got := f.Totals()
	delete(got.Dropped, "host_limit")
	delete(want.Dropped, "host_limit")
	type counts struct{ Visited, Pages, Relevant, Redirects, Addresses, Bytes int64 }
	a := counts{got.Visited, got.Pages, got.Relevant, got.Redirects, got.Addresses, got.Bytes}
	b := counts{want.Visited, want.Pages, want.Relevant, want.Redirects, want.Addresses, want.Bytes}
	if a != b || !maps.Equal(got.Errors, want.Errors) || !maps.Equal(got.Skipped, want.Skipped) || !maps.Equal(got.Dropped, want.Dropped) {
		t.Errorf("totals %+v\nrecount %+v", got, want)
	}
	return visited
}

func TestOrder(t *testing.T) {
	tests := []struct {
		name    string
		entries []frontier.Entry
		want    string
	}{
		{"best first over hosts", []frontier.Entry{entry(1, 1, .1), entry(2, 2, .9), entry(1, 3, .5), entry(3, 4, .7)}, "2 4 3 1"},
		{"a better link raises", []frontier.Entry{entry(1, 1, .1), entry(1, 2, .5), entry(1, 1, .6)}, "1 2"},
		{"a worse link does not lower", []frontier.Entry{entry(1, 1, .6), entry(1, 2, .5), entry(1, 1, .1)}, "1 2"},
		{"out of range", []frontier.Entry{entry(1, 1, .25), entry(1, 2, -3), entry(1, 3, 7)}, "3 1 2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := open(t, frontier.Options{})
			push(t, f, test.entries...)
			if got := paths(drain(t, f)); got != test.want {
				t.Errorf("order %s, want %s", got, test.want)
			}
			recount(t, f)
		})
	}
}

func TestNotANumber(t *testing.T) {
	f := open(t, frontier.Options{Score: func(e *frontier.Entry) float64 { return e.Priority }})
	nan := entry(1, 1, 0)
	nan.Priority -= nan.Priority / nan.Priority // 0/0
	push(t, f, nan, entry(1, 2, .5))
	if got := paths(drain(t, f)); got != "2 1" {
		t.Errorf("order %s, want 2 1", got)
	}
}

// TestTies: the order of equal priorities depends on the seed alone, and a crawl keeps its first
// seed.
func TestTies(t *testing.T) {
	order := func(dir string, seeds ...uint64) string {
		var urls []string
		for i, seed := range seeds {
			f := open(t, frontier.Options{Dir: dir, Seed: seed})
			if i == 0 {
				for n := range 40 {
					push(t, f, entry(n%4, n, .5))
				}
			}
			if i < len(seeds)-1 {
				for range 10 {
					e := next(t, f)
					urls = append(urls, e.URL.String())
					done(t, f, e, page)
				}
				push(t, f, entry(0, 4, .5), entry(1, 5, .5)) // not new
			} else {
				urls = append(urls, drain(t, f)...)
			}
			recount(t, f)
			if t := f.Totals(); i == len(seeds)-1 && t.Queued+t.Leased != 0 {
				panic(t.Queued)
			}
			closed(t, f)
		}
		return paths(urls)
	}
	one := order("", 1)
	if again := order("", 1); again != one {
		t.Errorf("one seed, two orders:\n%s\n%s", one, again)
	}
	if other := order("", 2); other == one {
		t.Error("two seeds, one order")
	}
	if resumed := order(t.TempDir(), 1, 0, 7); resumed != one {
		t.Errorf("resumed with another seed:\n%s, want\n%s", resumed, one)
	}
}

// TestRaiseAfterRestart holds that no stale place in the queue survives.
func TestRaiseAfterRestart(t *testing.T) {
	dir := t.TempDir()
	for i, seed := range []uint64{1, 2, 3} {
		f := open(t, frontier.Options{Dir: dir, Seed: seed})
		push(t, f, entry(1, 1, .1+.2*float64(i)), entry(1, 2, .4))
		if got := f.Totals().Queued; got != 2 {
			t.Errorf("%d queued, want 2", got)
		}
		closed(t, f)
	}
	f := open(t, frontier.Options{Dir: dir})
	if got := paths(drain(t, f)); got != "1 2" {
		t.Errorf("order %s, want 1 2", got)
	}
	closed(t, f)
	f = open(t, frontier.Options{Dir: dir})
	if urls := drain(t, f); len(urls) > 0 {
		t.Errorf("served again: %s", urls)
	}
}

func TestAdded(t *testing.T) {
	f := open(t, frontier.Options{})
	if n := push(t, f); n != 0 {
		t.Errorf("no entry: %d added", n)
	}
	if n := push(t, f, entry(1, 1, .1), entry(1, 1, .2), entry(2, 1, .1)); n != 2 {
		t.Errorf("%d added, want 2", n)
	}
	if n := push(t, f, entry(1, 1, .3), entry(3, 1, 0)); n != 1 {
		t.Errorf("%d added, want 1", n)
	}
	e := next(t, f)
	if n := done(t, f, e, page, e, entry(4, 1, .1), entry(2, 1, .9)); n != 1 {
		t.Errorf("%d added by Done, want 1", n)
	}
	if n := done(t, f, e, page, entry(5, 1, .1)); n != 1 {
		t.Errorf("%d added by a second Done, want 1", n)
	}
	if n := push(t, f, e); n != 0 {
		t.Errorf("a visited URL was added")
	}
	if got := f.Totals(); got.Visited != 1 || got.Queued != 4 || got.Leased != 0 {
		t.Errorf("totals %+v", got)
	}
	recount(t, f)
}

// TestSpellings holds that URLs of one identity are one entry.
func TestSpellings(t *testing.T) {
	plain, _ := weburl.Parse("http://a.example/x/")
	index, _ := weburl.Parse("https://a.example/x/index.html")
	if frontier.KeyOf(plain) != frontier.KeyOf(index) {
		t.Fatal("two keys for one page")
	}
	f := open(t, frontier.Options{})
	if n := push(t, f, frontier.Entry{URL: plain, Priority: .5}, frontier.Entry{URL: index, Priority: .4}); n != 1 {
		t.Errorf("%d added, want 1", n)
	}
	e := next(t, f)
	if e.URL != plain {
		t.Errorf("got %s", e.URL)
	}
	e.URL, e.Redirects, e.Retries = index, 1, 2
	if err := f.Return(e, frontier.Backoff{}); err != nil {
		t.Fatal(err)
	}
	e = next(t, f)
	if e.URL != index || e.Redirects != 1 || e.Retries != 2 {
		t.Errorf("returned as %s, redirects %d, retries %d", e.URL, e.Redirects, e.Retries)
	}
	done(t, f, e, page)
	if n, ok, err := f.Get(frontier.KeyOf(plain)); err != nil || !ok || n.State != frontier.Visited || n.URL != index {
		t.Errorf("%+v, %v, %v", n, ok, err)
	}
	if urls := drain(t, f); len(urls) != 0 {
		t.Error(urls)
	}
}

func TestReturn(t *testing.T) {
	f := open(t, frontier.Options{})
	push(t, f, entry(1, 1, .5))
	e := next(t, f)
	start := time.Now()
	if err := f.Return(e, frontier.Backoff{Wait: 40 * time.Millisecond, Host: true}); err != nil {
		t.Fatal(err)
	}
	if got := f.Totals(); got.Leased != 0 || got.Queued != 1 {
		t.Errorf("totals %+v", got)
	}
	e = next(t, f) // it is still work: no end of the crawl
	if took := time.Since(start); took < 40*time.Millisecond {
		t.Errorf("served again after %v", took)
	}
	push(t, f, entry(2, 1, .1))
	if err := f.Return(e, frontier.Backoff{Wait: time.Hour, Host: true}); err != nil {
		t.Fatal(err)
	}
	if err := f.Return(e, frontier.Backoff{Wait: time.Hour, Host: true}); err == nil {
		t.Error("returned twice")
	}
	if e := next(t, f); e.URL != address(2, 1) {
		t.Errorf("%s is served although it was returned for an hour", e.URL)
	} else {
		done(t, f, e, page)
	}
	wantBlocked(t, f)
	// A better link does not shorten the wait.
	push(t, f, entry(1, 1, .9))
	wantBlocked(t, f)
	// The whole host rests: what made the visit fail is mostly the host's fault.
	push(t, f, entry(1, 2, 1))
	wantBlocked(t, f)
}

// TestEnd holds that the crawl ends when nothing is queued and nothing leased,
// and not before.
func TestEnd(t *testing.T) {
	f := open(t, frontier.Options{})
	if _, err := f.Next(t.Context(), free); !errors.Is(err, io.EOF) {
		t.Errorf("empty: %v, want io.EOF", err)
	}
	push(t, f, entry(1, 1, .5))
	e := next(t, f)
	ends := make(chan error)
	go func() {
		_, err := f.Next(t.Context(), free)
		ends <- err
	}()
	select {
	case err := <-ends:
		t.Fatalf("ended with %v while a page is under way", err)
	case <-time.After(20 * time.Millisecond):
	}
	done(t, f, e, page)
	if err := <-ends; !errors.Is(err, io.EOF) {
		t.Errorf("%v, want io.EOF", err)
	}
	// Wakes for what a page held, too.
	push(t, f, entry(1, 2, .5))
	e = next(t, f)
	go func() {
		_, err := f.Next(t.Context(), free)
		ends <- err
	}()
	time.Sleep(5 * time.Millisecond)
	done(t, f, e, page, entry(2, 2, .1))
	if err := <-ends; err != nil {
		t.Errorf("%v, want the link that was found", err)
	}
}

// TestClaim: a host is claimed before its entry is returned, and skipped for as long as the claim
// says, while others are served.
func TestClaim(t *testing.T) {
	f := open(t, frontier.Options{})
	push(t, f, entry(1, 1, .9), entry(1, 2, .8), entry(2, 3, .5))
	asked := map[string]int{}
	start := time.Now()
	claim := func(host string) time.Duration {
		asked[host]++
		if host == "h1.example" {
			return 60*time.Millisecond - time.Since(start)
		}
		return 0
	}
	first, err := f.Next(t.Context(), claim)
	if err != nil || first.URL != address(2, 3) {
		t.Fatalf("%s, %v; want the host that may be asked", first.URL, err)
	}
	if got := f.Totals(); got.WaitingHosts != 1 || got.ReadyHosts != 0 || got.Hosts != 2 {
		t.Errorf("hosts: %+v", got)
	}
	second, err := f.Next(t.Context(), claim)
	if err != nil || second.URL != address(1, 1) {
		t.Fatalf("%s, %v", second.URL, err)
	}
	if took := time.Since(start); took < 60*time.Millisecond {
		t.Errorf("asked after %v", took)
	}
	if asked["h1.example"] > 4 {
		t.Errorf("asked %d times: busy waiting", asked["h1.example"])
	}
}

func TestContext(t *testing.T) {
	f := open(t, frontier.Options{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := f.Push(ended, entry(1, 1, .5)); !errors.Is(err, context.Canceled) || n != 0 {
		t.Errorf("Push: %d, %v", n, err)
	}
	if got := f.Totals(); got.Queued != 0 {
		t.Error("pushed although the context had ended")
	}
	push(t, f, entry(1, 1, .5))
	e := next(t, f)
	if _, err := f.Done(ended, e, page); !errors.Is(err, context.Canceled) {
		t.Errorf("Done: %v", err)
	}
	if _, err := f.Next(ended, free); !errors.Is(err, context.Canceled) {
		t.Errorf("Next: %v", err)
	}
	if err := f.Walk(ended, 0, func(frontier.Node) error { return nil }); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Walk: %v", err)
	}
	done(t, f, e, page)
	stop := errors.New("stop")
	if err := f.Walk(t.Context(), 0, func(frontier.Node) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Walk: %v, want the function's error", err)
	}
	if err := f.Walk(ended, 0, func(frontier.Node) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Walk: %v", err)
	}
}

func TestMistakes(t *testing.T) {
	f := open(t, frontier.Options{})
	if _, err := f.Push(t.Context(), frontier.Entry{}); err == nil {
		t.Error("pushed an entry without URL")
	}
	if _, err := f.Done(t.Context(), frontier.Entry{}, page); err == nil {
		t.Error("visited an entry without URL")
	}
	if _, err := frontier.Open(frontier.Options{}); err == nil {
		t.Error("opened without a directory")
	}
	// A URL that nobody queued may be visited.
	done(t, f, entry(7, 7, .5), page)
	if n := push(t, f, entry(7, 7, .5)); n != 0 {
		t.Error("queued a visited URL")
	}
	recount(t, f)
}

// TestClosed holds that everything fails in the same way after Close.
func TestClosed(t *testing.T) {
	f := open(t, frontier.Options{Dir: t.TempDir()})
	push(t, f, entry(1, 1, .5))
	e := next(t, f)
	closed(t, f)
	closed(t, f)
	for name, call := range map[string]func() error{
		"Push":    func() error { _, err := f.Push(t.Context(), entry(1, 2, 0)); return err },
		"Next":    func() error { _, err := f.Next(t.Context(), free); return err },
		"Done":    func() error { _, err := f.Done(t.Context(), e, page); return err },
		"Return":  func() error { return f.Return(e, frontier.Backoff{}) },
		"Get":     func() error { _, _, err := f.Get(frontier.KeyOf(e.URL)); return err },
		"Trail":   func() error { _, err := f.Trail(frontier.KeyOf(e.URL), 3); return err },
		"Walk":    func() error { return f.Walk(t.Context(), 0, func(frontier.Node) error { return nil }) },
		"Meta":    func() error { _, err := f.Meta("x"); return err },
		"PutMeta": func() error { return f.PutMeta("x", nil) },
	} {
		if err := call(); !errors.Is(err, frontier.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
	f.Totals()
}

// TestNode holds that a node comes back as it was stored.
func TestNode(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir})
	seed := frontier.Entry{URL: address(1, 1), Priority: .75, Found: time.UnixMilli(1_700_000_000_000)}
	link := frontier.Entry{
		URL: address(2, 2), Priority: .5, Depth: 3, Distance: 2, Parent: frontier.KeyOf(seed.URL),
		Anchor: "Anfahrt & Kontakt", Title: "Straße", Around: "\xff not UTF-8", Switch: true, Redirects: 2, Found: time.UnixMilli(1_700_000_123_000),
	}
	outcome := frontier.Outcome{
		Kind: "page", Reason: "because", Status: 203, Relevant: true, SiteWide: true, Score: .5, Title: "Über uns", Evidence: "in language th", Addresses: []string{"a", "b"},
		Dropped: map[string]int64{"depth": 3, "scope": 9}, Bytes: 12345, At: time.UnixMilli(1_700_000_200_123),
	}
	push(t, f, seed)
	done(t, f, next(t, f), outcome, link)
	link.Around = "\ufffd not UTF-8"
	check := func() {
		t.Helper()
		want := frontier.Node{Entry: link, State: frontier.Queued}
		got, ok, err := f.Get(frontier.KeyOf(link.URL))
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if !got.Found.Equal(want.Found) {
			t.Errorf("found %v", got.Found)
		}
		got.Found = want.Found
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		trail, err := f.Trail(frontier.KeyOf(link.URL), 5)
		if err != nil || len(trail) != 2 || trail[0].URL != link.URL || trail[1].URL != seed.URL || trail[1].Seq != 1 {
			t.Errorf("trail %+v, %v", trail, err)
		}
		if trail, err := f.Trail(frontier.KeyOf(link.URL), 1); err != nil || len(trail) != 1 {
			t.Errorf("trail of 1: %+v, %v", trail, err)
		}
		o := trail[1].Outcome
		if !o.At.Equal(outcome.At) {
			t.Errorf("at %v", o.At)
		}
		o.At = outcome.At
		if !reflect.DeepEqual(o, outcome) {
			t.Errorf("got  %+v\nwant %+v", o, outcome)
		}
	}
	check()
	closed(t, f)
	f = open(t, frontier.Options{Dir: dir})
	check()
	if _, ok, err := f.Get(frontier.KeyOf(address(9, 9))); ok || err != nil {
		t.Errorf("unknown: %v, %v", ok, err)
	}
	if trail, err := f.Trail(frontier.Key{}, 5); err != nil || len(trail) != 0 {
		t.Errorf("trail of nothing: %v, %v", trail, err)
	}
	recount(t, f)
}

// TestLongWords holds that texts are cut between characters and stay the
// beginning of what was given.
func TestLongWords(t *testing.T) {
	f := open(t, frontier.Options{})
	long := strings.Repeat("ä", 5000)
	e := entry(1, 1, .5)
	e.Anchor, e.Title, e.Around = long, "x"+long, long
	push(t, f, e)
	got := next(t, f)
	for name, s := range map[string]string{"anchor": got.Anchor, "title": got.Title[1:], "around": got.Around} {
		if len(s) == 0 || len(s) > 400 || !strings.HasPrefix(long, s) || len(s)%2 != 0 {
			t.Errorf("%s is cut to %d bytes: %q", name, len(s), s)
		}
	}
	var addresses []string
	for i := range 3000 {
		addresses = append(addresses, fmt.Sprint("address ", i))
	}
	done(t, f, got, frontier.Outcome{Kind: "page", Relevant: true, Addresses: addresses})
	n, _, err := f.Get(frontier.KeyOf(e.URL))
	if err != nil || len(n.Outcome.Addresses) != frontier.MaxAddresses || f.Totals().Addresses != frontier.MaxAddresses {
		t.Errorf("%d addresses, %v; total %d", len(n.Outcome.Addresses), err, f.Totals().Addresses)
	}
}

func TestHostLimit(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir, MaxPerHost: 3})
	if n := push(t, f, entry(1, 1, 0), entry(1, 2, 0), entry(1, 2, .3), entry(1, 3, 0), entry(1, 4, 0), entry(2, 1, 0)); n != 4 {
		t.Errorf("%d added, want 4", n)
	}
	drain(t, f)
	closed(t, f)
	f = open(t, frontier.Options{Dir: dir, MaxPerHost: 3})
	if n := push(t, f, entry(1, 5, 0), entry(2, 2, 0)); n != 1 {
		t.Errorf("%d added, want 1: visited ones count too", n)
	}
	if got := f.Totals().Dropped["host_limit"]; got != 2 {
		t.Errorf("host_limit dropped %d, want 2", got)
	}
}

// Parts of a host have limits of their own, which a restart does not forget and
// which count what is taken only.
func TestPartLimit(t *testing.T) {
	dir := t.TempDir()
	options := frontier.Options{Dir: dir, MaxPerHost: 9, PerPart: func(u weburl.URL) (string, int64) {
		switch {
		case strings.HasPrefix(u.Path(), "/forum/"):
			return "/forum/", 3
		case strings.HasPrefix(u.Path(), "/shop/"):
			return "/shop/", 2
		}
		return "/", 0
	}}
	at := func(host string, path string, n int) frontier.Entry {
		u, err := weburl.Parse(fmt.Sprintf("http://%s.example%s%d", host, path, n))
		if err != nil {
			t.Fatal(err)
		}
		return frontier.Entry{URL: u, Priority: 1}
	}
	f := open(t, options)
	if n := push(t, f, at("a", "/forum/", 1), at("a", "/forum/", 2), at("a", "/forum/", 1), at("a", "/forum/", 3), at("a", "/forum/", 4),
		at("b", "/forum/", 4), at("a", "/shop/", 1), at("a", "/", 1), at("a", "/", 2), at("a", "/", 3)); n != 8 {
		t.Errorf("%d added, want 8: three of a's forum", n)
	}
	drain(t, f)
	closed(t, f)
	f = open(t, options)
	if n := push(t, f, at("a", "/forum/", 5), at("a", "/shop/", 2), at("a", "/shop/", 3), at("b", "/forum/", 5)); n != 2 {
		t.Errorf("%d added, want 2: visited ones count too", n)
	}
	if n := push(t, f, at("a", "/", 4), at("a", "/", 5), at("a", "/forum/", 6)); n != 1 {
		t.Errorf("%d added, want 1: the host has its limit, too", n)
	}
	totals := f.Totals()
	if got := totals.Dropped; got["path_limit"] != 3 || got["host_limit"] != 2 {
		t.Errorf("dropped %v, want 3 by path and 2 by host", got)
	}
	if totals.Links != totals.Queued+totals.Visited+totals.Repeats+totals.Dropped["path_limit"]+totals.Dropped["host_limit"] {
		t.Errorf("the totals do not add up: %+v", totals)
	}
}

func TestWalkAfter(t *testing.T) {
	f := open(t, frontier.Options{})
	for i := range 20 {
		push(t, f, entry(1, i, .5))
		done(t, f, next(t, f), page)
	}
	for _, after := range []uint64{0, 1, 7, 19, 20, 21, 1 << 62, 1<<64 - 1} {
		var seqs []uint64
		if err := f.Walk(t.Context(), after, func(n frontier.Node) error {
			seqs = append(seqs, n.Seq)
			_, err := f.Trail(frontier.KeyOf(n.URL), 3) // as those who learn do
			return err
		}); err != nil {
			t.Fatal(err)
		}
		want := 20 - int(min(after, 20))
		if len(seqs) != want || !slices.IsSorted(seqs) || want > 0 && seqs[0] != after+1 {
			t.Errorf("after %d: %d", after, seqs)
		}
	}
}

func TestMeta(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir, Memory: 32 << 20})
	if v, err := f.Meta("none"); v != nil || err != nil {
		t.Errorf("unknown: %q, %v", v, err)
	}
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for _, v := range [][]byte{[]byte("1"), large, []byte("small again"), large[:700_000]} {
		if err := f.PutMeta("x", v); err != nil {
			t.Fatalf("%d bytes: %v", len(v), err)
		}
		if got, err := f.Meta("x"); err != nil || !bytes.Equal(got, v) {
			t.Fatalf("%d bytes instead of %d, %v", len(got), len(v), err)
		}
	}
	closed(t, f)
	f = open(t, frontier.Options{Dir: dir})
	if got, err := f.Meta("x"); err != nil || !bytes.Equal(got, large[:700_000]) {
		t.Errorf("%d bytes after restart, %v", len(got), err)
	}
	if urls := drain(t, f); len(urls) != 0 {
		t.Error(urls)
	}
}

// TestLargePage holds that a page with as many and as long links as there can
// be fits, with the least memory.
func TestLargePage(t *testing.T) {
	f := open(t, frontier.Options{Dir: t.TempDir(), Memory: 32 << 20})
	push(t, f, entry(1, 1, .5))
	e := next(t, f)
	var found []frontier.Entry
	for i := range 2000 {
		u, err := weburl.Parse(fmt.Sprintf("http://h%d.example/%d/%s", i%500, i, strings.Repeat("x", 1900)))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, frontier.Entry{URL: u, Anchor: strings.Repeat("a", 200), Title: strings.Repeat("b", 200), Around: strings.Repeat("c", 200), Priority: float64(i) / 2000})
	}
	if n := done(t, f, e, page, found...); n != len(found) {
		t.Errorf("%d added", n)
	}
	if n := push(t, f, found...); n != 0 {
		t.Errorf("%d added again", n)
	}
	if got := f.Totals(); got.Queued != 2000 || got.Visited != 1 || got.Leased != 0 {
		t.Errorf("totals %+v", got)
	}
	if n := len(drain(t, f)); n != 2000 {
		t.Errorf("served %d", n)
	}
	recount(t, f)
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir})
	_, err := frontier.Open(frontier.Options{Dir: dir})
	if !errors.Is(err, frontier.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("%v, want ErrLocked with the process id %d", err, os.Getpid())
	}
	push(t, f, entry(1, 1, .5)) // and the holder is not disturbed
	closed(t, f)
	closed(t, open(t, frontier.Options{Dir: dir}))
}

// TestCopy holds that a copied directory is a crawl of its own.
func TestCopy(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir})
	for i := range 100 {
		push(t, f, entry(i%7, i, float64(i)/100))
	}
	for range 30 {
		done(t, f, next(t, f), page)
	}
	closed(t, f)
	for i := range 2 {
		to := filepath.Join(t.TempDir(), fmt.Sprint("copy", i))
		if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		g := open(t, frontier.Options{Dir: to})
		if n := len(drain(t, g)); n != 70 {
			t.Errorf("copy %d serves %d, want 70", i, n)
		}
		recount(t, g)
		closed(t, g)
	}
}

// TestDiskFull holds that a full disk is an error and changes nothing.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir})
	push(t, f, entry(1, 1, .5), entry(1, 2, .25))
	closed(t, f)
	if _, err := frontier.Open(frontier.Options{Dir: dir, MinFree: 1 << 60}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Open: %v; want ENOSPC", err)
	}
	f = open(t, frontier.Options{Dir: dir})
	f.SetMinFree(1 << 60)
	if n, err := f.Push(t.Context(), entry(3, 3, .9)); !errors.Is(err, syscall.ENOSPC) || n != 0 {
		t.Errorf("Push: %d, %v; want ENOSPC", n, err)
	}
	e := next(t, f)
	if n, err := f.Done(t.Context(), e, page, entry(4, 4, 1)); !errors.Is(err, syscall.ENOSPC) || n != 0 {
		t.Errorf("Done: %d, %v; want ENOSPC", n, err)
	}
	if got := f.Totals(); got.Queued != 2 || got.Leased != 1 || got.Visited != 0 {
		t.Errorf("totals %+v", got)
	}
	if err := f.Return(e, frontier.Backoff{}); err != nil {
		t.Error(err)
	}
	closed(t, f)
	f = open(t, frontier.Options{Dir: dir})
	if got := paths(drain(t, f)); got != "1 2" {
		t.Errorf("left: %s", got)
	}
	// A host that was known only to a transaction that failed gets no
	// number twice.
	push(t, f, entry(4, 4, .5), entry(3, 3, .4))
	closed(t, f)
	f = open(t, frontier.Options{Dir: dir})
	push(t, f, entry(5, 5, .3))
	if got := paths(drain(t, f)); got != "4 3 5" {
		t.Errorf("left: %s", got)
	}
}

// known returns the states of URLs, and of which of them another link of this priority changes nothing.
func known(
	t *testing.T, f *frontier.Frontier, priority float64, keys []frontier.Key,
) (states []frontier.State, outdone []bool) {
	t.Helper()
	got, err := f.Known(keys...)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range got {
		states = append(states, k.State)
		outdone = append(outdone, k.Outdoes(&frontier.Entry{Priority: priority}))
	}
	return states, outdone
}

// What is known of URLs is that of the queue, also in a store that was opened anew and has
// nothing of it in memory.
func TestKnown(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir})
	ctx := context.Background()
	if _, err := f.Push(ctx, entry(0, 1, 3), entry(0, 2, 2), entry(0, 3, 1)); err != nil {
		t.Fatal(err)
	}
	first, err := f.Next(ctx, free)
	if err != nil {
		t.Fatal(err)
	}
	done(t, f, first, frontier.Outcome{Kind: "page"})
	if _, err := f.Next(ctx, free); err != nil {
		t.Fatal(err)
	}
	var keys []frontier.Key
	for page := range 4 {
		keys = append(keys, frontier.KeyOf(address(0, page)))
	}
	same := func(when string) {
		states, outdone := known(t, f, 1.5, keys)
		want := []frontier.State{0, frontier.Visited, frontier.Queued, frontier.Queued}
		if !slices.Equal(states, want) || !slices.Equal(outdone, []bool{false, true, true, false}) {
			t.Errorf("%s: %v, outdone %v", when, states, outdone)
		}
	}
	same("in memory")
	f.Close()
	f = open(t, frontier.Options{Dir: dir})
	same("from the store")
	same("read before")
}
