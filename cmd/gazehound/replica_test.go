package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gazehound/cmd/gazehound/forget"
	"gazehound/crawler/cluster"
	"gazehound/crawler/frontier"
	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/index"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/paulmach/orb"
)

// shopPage is a page of a shop at a house of a street.
func shopPage(name string, house int) index.Document {
	line := fmt.Sprintf("Lange Straße %d, 26122 Oldenburg", house)
	start := len("Laden " + name + "\n")
	return index.Document{URL: fmt.Sprintf("https://%s.example/%d", name, house), Title: "Laden " + name,
		Text: "Laden " + name + "\n" + line, Lang: "de", Fetched: time.Now(), Addresses: []geoparse.Address{{
			Text: line, Start: start, End: start + len([]rune(line)), Street: "Lange Straße", HouseNumber: fmt.Sprint(house),
			Postcode: "26122", City: "Oldenburg", Country: "DE", Level: geoparse.VerifiedLevel, Confidence: 0.9,
			Precision: gazetteer.HousePrecision, Point: orb.Point{8.21, 53.14}, InRegion: true}}}
}

// A publishingNode is a node that publishes the pages of its index.
type publishingNode struct {
	*index.Index
	stop func()
}

// publishing joins the crawl at url as a node without a queue, which has forgotten what the lines of its
// blocklist say.
func publishing(t *testing.T, url, name string, blocked ...string) *publishingNode {
	t.Helper()
	list := forget.Node{Dir: forget.Dir(t.TempDir()), Current: forget.NewCurrent(forget.Blocklist{}),
		Learned: func([]string) {}}
	if err := list.Add(blocked); err != nil {
		t.Fatal(err)
	}
	x, err := index.Open(project{t.TempDir()}.index())
	if err != nil {
		t.Fatal(err)
	}
	f, err := frontier.Open(frontier.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	o := cluster.DefaultOptions()
	o.Name, o.URL, o.Dir, o.Definition.Region = name, url, t.TempDir(), "Oldenburg"
	o.Heartbeat, o.MaxBytes = 200*time.Millisecond, 16<<20
	o.PagesFormat, o.Blocklist = index.Format, list
	n, err := cluster.Join(t.Context(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &publisher{a: &app{}, index: x, node: n}
	p.a.Err = os.Stderr
	var running sync.WaitGroup
	running.Go(func() { p.run(ctx) })
	node := &publishingNode{Index: x, stop: sync.OnceFunc(func() {
		cancel()
		running.Wait()
		n.Close()
		x.Close()
		f.Close()
	})}
	t.Cleanup(node.stop)
	return node
}

func (n *publishingNode) put(t *testing.T, ds ...index.Document) {
	t.Helper()
	var putting sync.WaitGroup
	for _, d := range ds {
		putting.Go(func() {
			if err := n.Put(t.Context(), d); err != nil {
				t.Error(err)
			}
		})
	}
	putting.Wait()
}

// shows waits until the search page at url has so many addresses of a query.
func shows(t *testing.T, what, url, query string, matches int) {
	t.Helper()
	want, text := fmt.Sprintf(`"numberMatched":%d,`, matches), ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		_, text = fetchText(t, url+"v1/search?limit=1&q="+query)
		if strings.Contains(text, want) {
			return
		}
	}
	t.Errorf("%s: no %s in a minute: %.500s", what, want, text)
}

// saysOfCrawl waits until the /status of a server says this of the crawl.
func saysOfCrawl(t *testing.T, url, state string) {
	t.Helper()
	want := fmt.Sprintf(`"crawl":%q`, state)
	eventually(t, want, func() bool {
		_, text := fetchText(t, url+"status")
		return strings.Contains(text, want)
	})
}

func clusterServer(t *testing.T) *cluster.Server {
	t.Helper()
	s, err := cluster.Serve(cluster.ServerOptions{Name: "test", Dir: t.TempDir(), Listen: "127.0.0.1:0", MaxBytes: 4 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Followers have what all nodes have found, and lose what one of them forgets. One that was stopped goes
// on where it was; one whose stream was cut makes a new index while the old one is served.
func TestServeFollow(t *testing.T) {
	t.Parallel()
	server := clusterServer(t)
	a, b := publishing(t, server.URL(), "a"), publishing(t, server.URL(), "b")
	for i := range 9 {
		a.put(t, shopPage("a", i+1))
		b.put(t, shopPage("b", i+5)) // five houses have both
	}
	one, two := t.TempDir(), t.TempDir()
	url, _, stop := runServe(t, one, "--follow", server.URL())
	other, _, _ := runServe(t, two, "--follow", server.URL())
	shows(t, "a follower", url, "laden", 13)
	shows(t, "another follower", other, "laden", 13)
	saysOfCrawl(t, url, "running")

	is := func(url string) bool { return strings.HasPrefix(url, "https://a.example/1") }
	if _, err := a.Forget(t.Context(), is, nil, nil); err != nil {
		t.Fatal(err)
	}
	shows(t, "after forget", url, "laden", 12)
	if code := stop(); code != 0 {
		t.Errorf("exit %d", code)
	}
	a.put(t, shopPage("a", 30))
	url, stderr, stop := runServe(t, one, "--follow", server.URL())
	shows(t, "after a stop", url, "laden", 13)
	if strings.Contains(stderr.String(), "new index") {
		t.Errorf("it did not go on where it was: %s", stderr)
	}
	var out, errs lockedBuffer
	code := run(t.Context(), []string{"search", "laden", "--data", one}, strings.NewReader(""), &out, &errs)
	if code != exitOK || !strings.Contains(errs.String(), "13 addresses") {
		t.Errorf("search beside a follower: %d %s", code, &errs)
	}
	stop()

	// The stream is cut while this follower is away and the other one is there.
	conn, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, _ := jetstream.New(conn)
	stream, err := js.Stream(t.Context(), "gazehound-index")
	if err == nil {
		err = stream.Purge(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), "https://b.example/13"); err != nil {
		t.Fatal(err)
	}
	shows(t, "there while the stream was cut", other, "laden", 12)
	url, stderr, _ = runServe(t, one, "--follow", server.URL())
	shows(t, "away while the stream was cut", url, "laden", 12)
	for _, said := range []string{"a new index is made beside it", "the new index is complete"} {
		if !strings.Contains(stderr.String(), said) {
			t.Errorf("it does not say %q: %s", said, stderr)
		}
	}
	for _, left := range []string{"index.new", "index.old"} {
		if fileExists(filepath.Join(one, left)) {
			t.Errorf("%s is left", left)
		}
	}
	eventually(t, "both nodes run, by the status of the cluster", func() bool {
		out, errs = lockedBuffer{}, lockedBuffer{}
		code = run(t.Context(), []string{"status", "--cluster", server.URL()}, strings.NewReader(""), &out, &errs)
		if code != exitOK {
			t.Fatalf("status: %d %s", code, &errs)
		}
		return strings.Contains(out.String(), "\na     running") && strings.Contains(out.String(), "\nb     running")
	})
	for _, want := range []string{"Oldenburg, partition site-hash", "bytes/URL"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("status lacks %q: %s", want, &out)
		}
	}
	a.put(t, shopPage("a", 31))
	shows(t, "followed on after that", url, "laden", 13)
	shows(t, "followed on by the other", other, "laden", 13)

	// A node has forgotten what another one has stored.
	publishing(t, server.URL(), "c", "host b.example")
	shows(t, "without what another node has forgotten", url, "laden", 10)
	b.put(t, shopPage("b", 40))
	a.put(t, shopPage("a", 41))
	shows(t, "what was forgotten comes in no more", url, "laden", 11)
}

// What cannot be followed is refused with what to do; a server that is away is no reason not to serve what
// is there.
func TestServeFollowRefuses(t *testing.T) {
	t.Parallel()
	server := clusterServer(t)
	a := publishing(t, server.URL(), "a")
	a.put(t, shopPage("a", 1))
	follower, crawl := t.TempDir(), t.TempDir()
	url, _, stop := runServe(t, follower, "--follow", server.URL())
	shows(t, "a follower", url, "laden", 1)
	stop()
	x, err := index.Open(project{crawl}.index())
	if err != nil {
		t.Fatal(err)
	}
	x.Close()
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{exitUsage, []string{"--follow", "http://127.0.0.1:1"}, "--follow must be a URL such as nats://127.0.0.1:4222"},
		{exitPeer, []string{"--follow", "nats://127.0.0.1:1"}, "cluster cannot be reached: nats://127.0.0.1:1"},
		{exitInvalidInput, []string{"--follow", server.URL(), "--crawl-name", "nobody"}, `no crawl called "nobody"`},
		{exitInvalidInput, []string{"--follow", server.URL(), "--data", crawl}, "holds a crawl of its own"},
		{exitInvalidInput, []string{"--follow", server.URL(), "--data", follower, "--crawl-name", "other"},
			"follows the crawl gazehound, not other"},
	} {
		var out, errs lockedBuffer
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		args := append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()}, c.args...)
		code := run(ctx, args, strings.NewReader(""), &out, &errs)
		if code != c.code || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%q: exit %d, want %d: %s", c.args, code, c.code, &errs)
		}
		cancel()
	}
	if fileExists(filepath.Join(crawl, "follows")) {
		t.Error("a crawl is marked as a follower")
	}
	address := server.URL()
	url, _, stop = runServe(t, follower, "--follow", address)
	saysOfCrawl(t, url, "running")
	a.stop()
	saysOfCrawl(t, url, "stopped")
	stop()
	server.Close()
	url, stderr, _ := runServe(t, follower, "--follow", address)
	if r, err := http.Get(url + "v1/search?q=laden"); err != nil || r.StatusCode != 200 {
		t.Errorf("without the nodes: %v", err)
	} else {
		r.Body.Close()
	}
	shows(t, "without the nodes", url, "laden", 1)
	if !strings.Contains(stderr.String(), "cannot be followed") {
		t.Errorf("it does not say that the nodes are away: %s", stderr)
	}
}

// Figures of docs/decisions/052: how long a node takes to publish 10,000 pages, a new follower to take
// them in, and after how long a page that the node has put is found by readers of the follower.
func TestEvalFollower(t *testing.T) {
	if run := flag.Lookup("test.run"); run == nil || !strings.Contains(run.Value.String(), "Eval") {
		t.Skip("takes a minute: asked for by make eval")
	}
	server := clusterServer(t)
	a := publishing(t, server.URL(), "a")
	const pages = 10_000
	began := time.Now()
	for first := 0; first < pages; first += 500 {
		var some []index.Document
		for i := range 500 {
			some = append(some, shopPage(fmt.Sprintf("h%d", (first+i)%3000), 1+(first+i)%4000))
		}
		a.put(t, some...)
	}
	put := time.Since(began)
	for n := 1; n > 0; time.Sleep(20 * time.Millisecond) {
		n, _ = a.CountUnsent()
	}
	published := time.Since(began) - put
	t.Logf("%d pages are put in %.1f s and published %.1f s after the last one", pages, put.Seconds(), published.Seconds())
	data := t.TempDir()
	began = time.Now()
	url, stderr, _ := runServe(t, data, "--follow", server.URL())
	for !strings.Contains(stderr.String(), "all is taken in") {
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("a new follower takes them in in %.1f s", time.Since(began).Seconds())
	var waits []time.Duration
	for i := range 10 {
		began := time.Now()
		a.put(t, shopPage(fmt.Sprintf("new%d", i), 5000+i))
		question, want := fmt.Sprintf("%sv1/search?q=%d", url, 5000+i), fmt.Sprintf("new%d.example", i)
		for text := ""; !strings.Contains(text, want); time.Sleep(20 * time.Millisecond) {
			_, text = fetchText(t, question)
		}
		waits = append(waits, time.Since(began))
	}
	slices.Sort(waits)
	t.Logf("a page is found after %.1f s (median of %d; %.1f to %.1f)",
		waits[5].Seconds(), len(waits), waits[0].Seconds(), waits[9].Seconds())
}
