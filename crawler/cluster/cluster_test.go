package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/internal/textutil"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"
)

// Most tests wait for heartbeats and servers, and use hardly any processor.
func TestMain(m *testing.M) {
	flag.Set("test.parallel", "8") // the command line comes later and counts
	os.Exit(m.Run())
}

func parse(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// serve starts a server for the nodes of a test.
func serve(t testing.TB, change func(*ServerOptions)) *Server {
	t.Helper()
	o := ServerOptions{Name: "s", Dir: t.TempDir(), Listen: "127.0.0.1:0", MaxBytes: 1 << 30}
	if change != nil {
		change(&o)
	}
	s, err := Serve(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// A memory is a frontier that records what is pushed for this node, and keeps the rest.
type memory struct {
	mu      sync.Mutex
	entries []frontier.Entry
	fail    error
	others  *frontier.Frontier // what waits for other nodes, see outbox
}

func (m *memory) Push(ctx context.Context, es ...frontier.Entry) (int, error) {
	f := m.outbox()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return 0, m.fail
	}
	own := len(m.entries)
	for _, e := range es {
		if e.Owner == "" {
			m.entries = append(m.entries, e)
		} else if _, err := f.Push(ctx, e); err != nil {
			return 0, err
		}
	}
	return len(m.entries) - own, nil
}

func (m *memory) outbox() *frontier.Frontier {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.others == nil {
		m.others = frontier.NewMemory(frontier.Options{}).Frontier
	}
	return m.others
}

func (m *memory) Totals() frontier.Totals { return m.outbox().Totals() }

func (m *memory) Outgoing(ctx context.Context) (frontier.Outgoing, error) {
	return m.outbox().Outgoing(ctx)
}

func (m *memory) Sent(ctx context.Context, out frontier.Outgoing) error {
	return m.outbox().Sent(ctx, out)
}

func (m *memory) Resend() { m.outbox().Resend() }

func (m *memory) Sync() error { return nil }

func (m *memory) Leave(context.Context, string, *frontier.Entry, ...frontier.Entry) (int, error) {
	return 0, nil
}

func (m *memory) Walk(context.Context, uint64, func(frontier.Node) error) error { return nil }

func (m *memory) Front(int) ([]frontier.Entry, error) { return nil, nil }

func (m *memory) WalkQueue(context.Context, func(frontier.Node) error) error { return nil }

func (m *memory) WalkParked(context.Context, func(frontier.Node) error) error { return nil }

func (m *memory) urls() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for _, e := range m.entries {
		all = append(all, e.URL.String())
	}
	slices.Sort(all)
	return all
}

// options returns the options of a node with short intervals.
func options(t testing.TB, s *Server, name string) Options {
	o := DefaultOptions()
	o.Name, o.URL, o.Dir = name, s.URL(), t.TempDir()
	o.Definition.Region, o.PagesFormat = "Testville", 1
	o.Heartbeat, o.Away, o.Lease, o.Rest, o.Linger, o.MaxBytes = 200*time.Millisecond, time.Hour, 4*time.Second, 100*time.Millisecond, 50*time.Millisecond, 16<<20
	o.Log = func(f string, args ...any) { t.Logf(name+": "+f, args...) }
	return o
}

func join(t testing.TB, f Frontier, o Options) *Node {
	t.Helper()
	n, err := Join(context.Background(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// route gives links to a node as the visit that found them does, and returns the node's own.
func route(t testing.TB, n *Node, es []frontier.Entry) (own []frontier.Entry) {
	t.Helper()
	own, others, err := n.Route(t.Context(), nil, es)
	if err == nil {
		_, err = n.frontier.Push(t.Context(), others...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// until waits for a condition that other goroutines fulfil.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s has not happened in a minute", what)
		}
	}
}

func entries(t testing.TB, n int) []frontier.Entry {
	var es []frontier.Entry
	for i := range n {
		es = append(es, frontier.Entry{URL: parse(t, fmt.Sprintf("http://www.site%d.example/page", i)), Priority: 0.5, Depth: 1, Distance: 1, Anchor: "Kontakt"})
	}
	return es
}

// Every link reaches the one node that owns it, once, wherever it was found
// and however often.
func TestRoute(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	names := []string{"a", "b", "c"}
	var nodes []*Node
	var queues []*memory
	for _, name := range names {
		m := &memory{}
		queues = append(queues, m)
		nodes = append(nodes, join(t, m, options(t, s, name)))
	}
	until(t, "the map of three nodes", func() bool {
		for _, n := range nodes {
			if len(n.shares.Load().nodes) != 3 {
				return false
			}
		}
		return true
	})
	const links = 300
	ctx := context.Background()
	for round := range 2 {
		for i, n := range nodes {
			own := route(t, n, entries(t, links))
			if round == 0 && i == 0 {
				queues[0].Push(ctx, own...)
			}
			for _, e := range own {
				if n.Owner(e.URL) != names[i] {
					t.Fatalf("%s keeps %s of %s", names[i], e.URL, n.Owner(e.URL))
				}
			}
		}
	}
	until(t, "all links to arrive", func() bool {
		for _, n := range nodes {
			if n.State().Outbox > 0 {
				return false
			}
		}
		info, err := nodes[0].links.Info(ctx)
		return err == nil && info.State.Msgs == 0
	})
	seen := map[string]string{}
	for i, q := range queues {
		for _, u := range q.urls() {
			if nodes[i].Owner(parse(t, u)) != names[i] {
				t.Errorf("%s has %s, which is %s's", names[i], u, nodes[i].Owner(parse(t, u)))
			}
			seen[u] = names[i]
		}
	}
	if len(seen) != links {
		t.Errorf("%d of %d links arrived", len(seen), links)
	}
	// Two nodes found each link; the second of a node's rounds sends nothing.
	for i, q := range queues {
		all := q.urls()
		unique := len(slices.Compact(slices.Clone(all)))
		if len(all) > 3*unique {
			t.Errorf("%s received %d links %d times", names[i], unique, len(all))
		}
	}
}

// Links sent to a node while it is down wait for it.
func TestNodeComesBack(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	a := join(t, &memory{}, options(t, s, "a"))
	ob := options(t, s, "b")
	b, err := Join(context.Background(), &memory{}, ob)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "a to see b", func() bool { return len(a.shares.Load().nodes) == 2 })
	b.Close()
	own := route(t, a, entries(t, 100))
	if len(own) == 0 || len(own) == 100 {
		t.Fatalf("a keeps %d of 100", len(own))
	}
	m := &memory{}
	join(t, m, ob)
	until(t, "b to get its links", func() bool { return len(m.urls()) == 100-len(own) })
}

// Links for a node that stays away go to the nodes that have its share now.
func TestNodeStaysAway(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	oa, ob := options(t, s, "a"), options(t, s, "b")
	oa.Away = 2 * time.Second
	m := &memory{}
	a := join(t, m, oa)
	b, err := Join(context.Background(), &memory{fail: errors.New("disk is full")}, ob) // takes nothing in
	if err != nil {
		t.Fatal(err)
	}
	until(t, "a to see b", func() bool { return len(a.shares.Load().nodes) == 2 })
	own := route(t, a, entries(t, 100))
	b.Close()
	until(t, "b's links to reach a", func() bool { return len(m.urls()) == 100-len(own) })
	if !slices.Equal(a.shares.Load().nodes, []string{"a"}) {
		t.Errorf("nodes %v", a.shares.Load().nodes)
	}
	for _, e := range entries(t, 100) {
		if moved, err := a.Moved(context.Background(), e); moved || err != nil {
			t.Fatalf("%s is somebody else's: %v", e.URL, err)
		}
	}
}

func TestJoinRefuses(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	join(t, &memory{}, options(t, s, "a"))
	try := func(change func(*Options)) error {
		o := options(t, s, "b")
		change(&o)
		n, err := Join(context.Background(), &memory{}, o)
		if err == nil {
			n.Close()
		}
		return err
	}
	for name, tt := range map[string]struct {
		change func(*Options)
		want   error
		text   string
	}{
		"same name":       {func(o *Options) { o.Name = "a" }, ErrNameTaken, `"a"`},
		"other region":    {func(o *Options) { o.Definition.Region = "Elsewhere" }, ErrOtherCrawl, "Testville"},
		"other partition": {func(o *Options) { o.Definition.Partition = partition.URLHash }, ErrOtherCrawl, "url-hash"},
		"other order":     {func(o *Options) { o.Definition.Order = &Order{URLs: 64, Parts: 4, Lambda: 16} }, ErrOtherCrawl, "one order of 64"},
		"bad order":       {func(o *Options) { o.Definition.Order = &Order{URLs: 1, Parts: 4, Lambda: 4} }, nil, "one for each part"},
		"unreachable":     {func(o *Options) { o.URL = "nats://127.0.0.1:1" }, ErrUnreachable, "127.0.0.1:1"},
		"bad name":        {func(o *Options) { o.Name = "a.b" }, nil, "letters, digits"},
		"no places":       {func(o *Options) { o.Crawl, o.Definition.Partition = "second", partition.FullContent }, nil, "needs nodes with cities"},
		"not planned": {func(o *Options) {
			o.Crawl, o.Definition.Nodes = "third", []partition.Node{{Name: "x"}}
		}, nil, "none of them"},
	} {
		err := try(tt.change)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The refused node leaves no trace: the name is still taken.
	time.Sleep(50 * time.Millisecond)
	if err := try(func(o *Options) { o.Name = "a" }); !errors.Is(err, ErrNameTaken) {
		t.Errorf("the second time: %v", err)
	}
	if err := try(func(o *Options) { o.Crawl, o.MaxBytes = "huge", 1<<40 }); err == nil || !strings.Contains(err.Error(), "cluster.max_bytes") {
		t.Errorf("no room: %v", err)
	}
	if err := try(func(o *Options) { o.Crawl = "another" }); err != nil {
		t.Errorf("another crawl on the same cluster: %v", err)
	}
}

// A newer program's definition is left alone.
func TestOtherFormat(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	a := join(t, &memory{}, options(t, s, "a"))
	if _, err := a.crawl.Put(context.Background(), "definition", []byte(`{"format": 9}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := Join(context.Background(), &memory{}, options(t, s, "b")); !errors.Is(err, ErrOtherFormat) {
		t.Errorf("got %v", err)
	}
}

// An unreadable message is kept aside and does not block the others.
func TestPoisonedMessage(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	m := &memory{}
	o := options(t, s, "a")
	a := join(t, m, o)
	ctx := context.Background()
	for _, data := range []string{"", "no links", "\x28\xb5\x2f\xfd\x04\x00"} {
		if _, err := a.js.Publish(ctx, a.subject("a"), []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	for _, message := range packLinks(entries(t, 3)) {
		if _, err := a.js.Publish(ctx, a.subject("a"), message); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the good message", func() bool { return len(m.urls()) == 3 })
	until(t, "all messages to be dealt with", func() bool {
		info, err := a.links.Info(ctx)
		return err == nil && info.State.Msgs == 0
	})
	files, err := filepath.Glob(filepath.Join(o.Dir, "unreadable", "*.msg"))
	if err != nil || len(files) != 3 {
		t.Errorf("%d files put aside, want 3", len(files))
	}
	for i := range 30 {
		if _, err := a.js.Publish(ctx, a.subject("a"), fmt.Appendf(nil, "no links %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "all messages to be counted", func() bool { return a.poisoned.Load() == 33 })
	if files, err = filepath.Glob(filepath.Join(o.Dir, "unreadable", "*.msg")); err != nil || len(files) != maxUnreadable {
		t.Errorf("%d files put aside, want %d", len(files), maxUnreadable)
	}
}

// While JetStream has no room, links wait; none is lost.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	oa, ob := options(t, s, "a"), options(t, s, "b")
	oa.MaxBytes, ob.MaxBytes = 1<<20, 1<<20
	a := join(t, &memory{}, oa)
	m := &memory{fail: errors.New("not now")}
	join(t, m, ob)
	until(t, "a to see b", func() bool { return len(a.shares.Load().nodes) == 2 })
	ctx := context.Background()
	stuffing := make([]byte, 700<<10)
	if _, err := a.js.Publish(ctx, a.subject("nobody"), stuffing); err != nil {
		t.Fatal(err)
	}
	if _, err := a.js.Publish(ctx, a.subject("nobody"), append(stuffing, 1)); err == nil {
		t.Fatal("the stream has room for more than it may")
	}
	// Random words do not compress, so the links need more space than is left.
	var es []frontier.Entry
	for _, e := range entries(t, 6000) {
		sum := sha256.Sum256([]byte(e.URL.String()))
		e.Anchor, e.Title = hex.EncodeToString(sum[:]), hex.EncodeToString(sum[16:])
		es = append(es, e)
	}
	done := make(chan int, 1)
	go func() { done <- len(route(t, a, es)) }()
	time.Sleep(200 * time.Millisecond)
	stream, err := a.js.Stream(ctx, "gazehound-links")
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	m.fail = nil
	m.mu.Unlock()
	if err := stream.Purge(ctx, jetstream.WithPurgeSubject(a.subject("nobody"))); err != nil {
		t.Fatal(err)
	}
	own := <-done
	until(t, "the rest at b", func() bool { return len(slices.Compact(m.urls())) == len(es)-own })
}

// The crawl is over when all nodes are idle and no link is in transit, and not before.
func TestWait(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	a, b := join(t, &memory{}, options(t, s, "a")), join(t, &memory{}, options(t, s, "b"))
	until(t, "a to see b", func() bool { return len(a.shares.Load().nodes) == 2 })
	a.Workers(1)
	b.Workers(1)
	ended := make(chan bool, 2)
	go func() { more, _ := a.Wait(context.Background()); ended <- more }()
	select {
	case <-ended:
		t.Fatal("a does not wait for b, which works")
	case <-time.After(500 * time.Millisecond):
	}
	// A link for a wakes it.
	var own []frontier.Entry
	for _, e := range entries(t, 50) {
		if b.Owner(e.URL) == "a" {
			own = append(own, e)
		}
	}
	route(t, b, own[:1])
	if !<-ended {
		t.Fatal("a saw the crawl as over")
	}
	go func() { more, _ := a.Wait(context.Background()); ended <- more }()
	go func() { more, _ := b.Wait(context.Background()); ended <- more }()
	for range 2 {
		select {
		case more := <-ended:
			if more {
				t.Error("more links are promised")
			}
		case <-time.After(time.Minute):
			t.Fatal("the crawl does not end")
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := join(t, &memory{}, options(t, s, "c"))
	if _, err := c.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a stopped node: %v", err)
	}
}

// One node at a time requests from a host, and the host rests in between.
func TestLeases(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	var gates []*Leases
	for _, name := range []string{"a", "b", "c"} {
		n := join(t, &memory{}, options(t, s, name))
		gates = append(gates, n.Leases())
	}
	const host = "www.example.org:8080"
	var mu sync.Mutex
	holder, last, turns := -1, -1, 0
	var ended time.Time
	var group sync.WaitGroup
	for i, g := range gates {
		group.Go(func() {
			for n := 0; n < 5; {
				if wait := g.Claim(host); wait > 0 {
					time.Sleep(min(wait, 20*time.Millisecond))
					continue
				}
				mu.Lock()
				if holder >= 0 {
					t.Errorf("%d asks while %d does", i, holder)
				}
				if last >= 0 && last != i && time.Since(ended) < 100*time.Millisecond {
					t.Errorf("%d asks %v after %d", i, time.Since(ended), last)
				}
				holder = i
				turns++
				mu.Unlock()
				time.Sleep(5 * time.Millisecond)
				mu.Lock()
				holder, last, ended = -1, i, time.Now()
				mu.Unlock()
				g.Release(host)
				n++
			}
		})
	}
	group.Wait()
	if turns != 15 {
		t.Errorf("%d turns, want 15", turns)
	}
}

// A viewer sees the state of all nodes, of a crawl that there is.
func TestView(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	a := join(t, &memory{}, options(t, s, "a"))
	join(t, &memory{}, options(t, s, "b"))
	until(t, "a to see b", func() bool { return len(a.shares.Load().nodes) == 2 })
	o := options(t, s, "viewer")
	v, err := View(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	status, err := v.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range status.Nodes {
		if names = append(names, m.Name); m.State == NodeSilent || m.State == NodeAway {
			t.Errorf("node %s is %s", m.Name, m.State)
		}
	}
	if !slices.Equal(names, []string{"a", "b"}) || status.Definition.Region != "Testville" {
		t.Errorf("%+v", status)
	}
	o.Crawl = "other"
	if _, err := View(context.Background(), o); err == nil || !strings.Contains(err.Error(), `no crawl called "other"`) {
		t.Errorf("got %v", err)
	}
}

func TestServerRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*ServerOptions)
		want   string
	}{
		"open to all":    {func(o *ServerOptions) { o.Listen = "0.0.0.0:0" }, "needs a token or keys"},
		"any address":    {func(o *ServerOptions) { o.Listen = ":4222" }, "needs a token or keys"},
		"no port":        {func(o *ServerOptions) { o.Listen = "127.0.0.1" }, "host:port"},
		"port":           {func(o *ServerOptions) { o.Listen = "127.0.0.1:99999" }, "port of 0 to 65535"},
		"open peers":     {func(o *ServerOptions) { o.Peers = "192.0.2.1:1" }, "needs a token"},
		"route":          {func(o *ServerOptions) { o.Routes = []string{"127.0.0.1:1"} }, "nats://host:port"},
		"no certificate": {func(o *ServerOptions) { o.TLS.CA = "nowhere.pem" }, "nowhere.pem"},
	} {
		o := ServerOptions{Name: "s", Dir: t.TempDir(), Listen: "127.0.0.1:0", MaxBytes: 1 << 20}
		tt.change(&o)
		if s, err := Serve(o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
			if err == nil {
				s.Close()
			}
		}
	}
	s := serve(t, func(o *ServerOptions) { o.Token = "secret" })
	if _, err := Join(context.Background(), &memory{}, options(t, s, "a")); !errors.Is(err, ErrUnreachable) {
		t.Errorf("without the token: %v", err)
	}
	o := options(t, s, "a")
	for _, wrong := range []string{"Secret", "secret2", strings.Repeat("s", 10_000)} {
		o.Token = wrong
		if _, err := Join(context.Background(), &memory{}, o); !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), wrong) {
			t.Errorf("with the token %.20q: %v", wrong, err)
		}
	}
	o.Token = "secret"
	join(t, &memory{}, o)
	private := serve(t, func(o *ServerOptions) { o.Listen = "" })
	if private.URL() != "" {
		t.Errorf("a private server listens on %s", private.URL())
	}
	o = options(t, private, "a")
	o.URL, o.Server = "", private
	join(t, &memory{}, o)
}

// A token that is sent beyond this machine without TLS causes a warning.
func TestWarnsOfToken(t *testing.T) {
	for _, test := range []struct {
		o    Options
		want bool
	}{
		{Options{URL: "nats://127.0.0.1:4222", Token: "secret"}, false},
		{Options{URL: "nats://localhost:4222", Token: "secret"}, false},
		{Options{URL: "nats://10.0.0.1:4222"}, false},
		{Options{URL: "tls://10.0.0.1:4222", Token: "secret"}, false},
		{Options{URL: "nats://10.0.0.1:4222", Token: "secret", TLS: TLSFiles{CA: "ca.pem"}}, false},
		{Options{URL: "nats://10.0.0.1:4222", Token: "secret"}, true},
		{Options{URL: "nats://127.0.0.1:4222, nats://crawl.example.org:4222", Token: "secret"}, true},
		{Options{Server: serve(t, func(o *ServerOptions) { o.Listen, o.Token = "0.0.0.0:0", "secret" }), Token: "secret"}, true},
		{Options{Server: serve(t, func(o *ServerOptions) { o.Token = "secret" }), Token: "secret"}, false},
	} {
		warned := ""
		test.o.Log = func(format string, args ...any) { warned += fmt.Sprintf(format, args...) }
		(&connection{o: test.o}).warnOfToken()
		if (warned != "") != test.want || strings.Contains(warned, "secret") || test.want && !strings.Contains(warned, "unencrypted") {
			t.Errorf("%s: warned %q", test.o.URL, warned)
		}
	}
}

func genEntry(t *rapid.T) frontier.Entry {
	u, err := weburl.Parse("http://" + rapid.StringMatching(`[a-z]{1,8}\.example/[a-z/]{0,30}`).Draw(t, "url"))
	if err != nil {
		t.Fatal(err)
	}
	e := frontier.Entry{
		URL: u, Priority: float64(rapid.IntRange(0, 65535).Draw(t, "priority")) / 65535, Depth: rapid.IntRange(0, 1000).Draw(t, "depth"), Distance: rapid.IntRange(0, 1000).Draw(t, "distance"),
		Anchor: rapid.String().Draw(t, "anchor"), Title: rapid.String().Draw(t, "title"), Around: rapid.String().Draw(t, "around"),
		Switch: rapid.Bool().Draw(t, "switch"), Sitemap: rapid.Bool().Draw(t, "sitemap"), Redirects: rapid.IntRange(0, 9).Draw(t, "redirects"),
		Found: time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "found")),
	}
	e.Parent[0] = rapid.Byte().Draw(t, "parent")
	return e
}

// arrives returns an entry as the receiver gets it: without what it does not need, and with
// rounded numbers.
func arrives(e frontier.Entry) frontier.Entry {
	e.Anchor, e.Title, e.Around = textutil.ClipBytes(e.Anchor, frontier.MaxAnchor), textutil.ClipBytes(e.Title, frontier.MaxAnchor), textutil.ClipBytes(e.Around, frontier.MaxAround)
	e.Priority = float64(float32(e.Priority))
	e.Found = time.Unix(e.Found.Unix(), 0)
	return e
}

func byURL(a, b frontier.Entry) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }

// Unpacking returns all that was packed, and packing again gives the same bytes.
func TestPack(t *testing.T) {
	unpack := func(t interface{ Fatal(...any) }, messages [][]byte) []frontier.Entry {
		var got []frontier.Entry
		for _, m := range messages {
			some, err := unpackLinks(m)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, some...)
		}
		return got
	}
	rapid.Check(t, func(t *rapid.T) {
		es := rapid.SliceOfN(rapid.Custom(genEntry), 1, 20).Draw(t, "entries")
		got := unpack(t, packLinks(es))
		if again := unpack(t, packLinks(got)); !slices.Equal(again, got) {
			t.Fatal(cmp.Diff(fmt.Sprint(got), fmt.Sprint(again)))
		}
		for i := range es {
			es[i] = arrives(es[i])
		}
		slices.SortFunc(es, byURL)
		slices.SortFunc(got, byURL)
		if d := cmp.Diff(es, got, cmp.Comparer(func(a, b weburl.URL) bool { return a == b }), cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); d != "" {
			t.Fatal(d)
		}
	})
	big := entries(t, 20_000)
	messages := packLinks(big)
	if total := len(unpack(t, messages)); total != len(big) || len(messages) < 2 {
		t.Errorf("%d of %d links in %d messages", total, len(big), len(messages))
	}
}

// Any bytes either unpack to links that can be packed again, or give an error.
func FuzzUnpack(f *testing.F) {
	for _, m := range packLinks(entries(f, 3)) {
		f.Add(m, true)
	}
	f.Add(encodeLinks(entries(f, 3)), false)
	f.Fuzz(func(t *testing.T, b []byte, packed bool) {
		if !packed { // beneath the compression, where a fuzzer cannot reach
			b = compress(b)
		}
		es, err := unpackLinks(b)
		if err != nil {
			return
		}
		again := 0
		for _, m := range packLinks(es) {
			some, err := unpackLinks(m)
			if err != nil {
				t.Fatal(err)
			}
			again += len(some)
		}
		if again != len(es) {
			t.Fatalf("%d links became %d", len(es), again)
		}
	})
}
