//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
)

// A nodeProcess is one node of a test as a process of its own.
type nodeProcess struct {
	*exec.Cmd
	pages      atomic.Int64
	complaints bytes.Buffer
	ended      chan error
}

func startCommand(t *testing.T, command []string) *nodeProcess {
	t.Helper()
	p := &nodeProcess{Cmd: exec.Command(command[0], command[1:]...), ended: make(chan error, 1)}
	p.Env = append(os.Environ(), "GAZEHOUND_TEST_MAIN=1")
	p.Stderr = &p.complaints
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	go func() {
		for read := bufio.NewScanner(out); read.Scan(); {
			var line struct{ Type string }
			if json.Unmarshal(read.Bytes(), &line) == nil && line.Type == "page" {
				p.pages.Add(1)
			}
		}
		p.ended <- p.Wait()
	}()
	return p
}

// reach waits until the node has stored that many pages.
func (p *nodeProcess) reach(t *testing.T, pages int64) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); p.pages.Load() < pages; time.Sleep(10 * time.Millisecond) {
		if len(p.ended) > 0 {
			t.Fatalf("ended after %d pages: %v: %s", p.pages.Load(), <-p.ended, p.complaints.String())
		}
		if time.Now().After(end) {
			t.Fatalf("%d pages in three minutes: %s", p.pages.Load(), p.complaints.String())
		}
	}
}

// end waits until the node ends by itself.
func (p *nodeProcess) end(t *testing.T, name, url string) {
	t.Helper()
	select {
	case err := <-p.ended:
		if err != nil {
			t.Fatalf("node %s: %v\n%s", name, err, p.complaints.String())
		}
	case <-time.After(2 * time.Minute):
		status := clusterStatus(t, url)
		p.Process.Kill()
		<-p.ended
		t.Fatalf("node %s does not end (%+v): %s", name, status, p.complaints.String())
	}
}

// clusterStatus returns the state of the cluster at url.
func clusterStatus(t *testing.T, url string) *cluster.Summary {
	t.Helper()
	o := cluster.DefaultOptions()
	o.Name, o.URL = "viewer", url
	v, err := cluster.View(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	s, err := v.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	nodeWorkers = 8
	nodePerHost = 20 // a calendar has no end
	nodeDelay   = 40 * time.Millisecond
)

// haste begins a command with short waits for other nodes, for long delays and for silent hosts.
var haste = []string{
	"env", "GAZEHOUND_TEST_HASTE=1",
	"GAZEHOUND_FETCH__TIMEOUT=2s", "GAZEHOUND_FETCH__MAX_CRAWL_DELAY=" + (3 * nodeDelay).String(),
	"GAZEHOUND_FETCH__BACKOFF_START=200ms", "GAZEHOUND_FETCH__BACKOFF_MAX=500ms",
}

// A nodesWeb is a web that ends, and nodes that crawl it.
type nodesWeb struct {
	url    string // of the cluster
	town   *demo.Town
	ledger *requestLedger
	dirs   map[string]string
	gone   map[string]bool            // nodes that do not come back: what waits in their queues waits there
	join   func(name string) []string // flags that take a node to the cluster
	within func(name string) []string // command that runs a node
	start  func(name string, args ...string) *nodeProcess

	environment []string // of the nodes
}

func newNodesWeb(t *testing.T, sites int) *nodesWeb {
	t.Helper()
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite, o.Streets, o.Calm = sites, 20, 20, true
	data, flags, town, ledger := projectOf(t, o)
	server, err := cluster.Serve(cluster.ServerOptions{Name: "test", Dir: t.TempDir(), Listen: "127.0.0.1:0", MaxBytes: 4 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	w := &nodesWeb{url: server.URL(), town: town, ledger: ledger, dirs: map[string]string{}, gone: map[string]bool{}}
	w.join = func(string) []string { return []string{"--cluster", w.url} }
	w.within = func(string) []string { return nil }
	w.start = func(name string, more ...string) *nodeProcess {
		if w.dirs[name] == "" {
			w.dirs[name] = filepath.Join(t.TempDir(), name)
			if err := os.CopyFS(w.dirs[name], os.DirFS(data)); err != nil {
				t.Fatal(err)
			}
		}
		args := append(append(append(w.within(name), haste...), w.environment...), os.Args[0])
		args = append(append(args, "node", "--name", name, "--emit", "page", "--workers", fmt.Sprint(nodeWorkers), "--max-pages-per-host", fmt.Sprint(nodePerHost)), flags...)
		args = append(args, w.join(name)...)
		return startCommand(t, append(append(args, "--data", w.dirs[name], "--delay", nodeDelay.String(), "--contact", "https://bot.gazehound.dev/"), more...))
	}
	return w
}

// check compares the nodes' stores with the web's ledger: nothing is lost, at most that many pages
// were fetched again, and no host got a request too soon.
func (w *nodesWeb) check(t *testing.T, again int) {
	t.Helper()
	s := w.openStores(t)
	defer s.close()
	s.visitedOnce(t)
	s.leftBehind(t)
	s.nothingLost(t)
	twice := 0
	for _, n := range w.ledger.fetches("/robots.txt", "sitemap") {
		twice += n - 1
	}
	if twice > again {
		t.Errorf("%d pages were fetched again; at most %d were in flight", twice, again)
	}
	shortest := fault{delay: nodeDelay}.gaps(t, w.ledger)
	for name := range w.dirs {
		if s.pages[name] == 0 {
			t.Errorf("node %s fetched nothing", name)
		}
	}
	t.Logf("pages %v, %d requests, %d fetched again, shortest gap %v of %v",
		s.pages, len(w.ledger.Requests()), twice, shortest, nodeDelay)
}

// nodeStores are the frontiers of the nodes after their end, and what they hold together.
type nodeStores struct {
	*nodesWeb
	frontiers map[string]*frontier.Frontier // by node, as pages are
	pages     map[string]int
	visitedBy map[frontier.Key]string // node or skippedByAll
	ofHost    map[string]int          // URLs that are known of a host
}

// skippedByAll is in place of the node of a URL that was never requested.
const skippedByAll = "nobody"

// openStores opens the frontiers.
func (w *nodesWeb) openStores(t *testing.T) *nodeStores {
	t.Helper()
	s := &nodeStores{w, map[string]*frontier.Frontier{}, map[string]int{}, map[frontier.Key]string{}, map[string]int{}}
	for name, dir := range w.dirs {
		f, err := frontier.Open(frontier.Options{Dir: project{dir}.frontier()})
		if err != nil {
			t.Fatal(err)
		}
		s.frontiers[name] = f
	}
	return s
}

func (s *nodeStores) close() {
	for _, f := range s.frontiers {
		f.Close()
	}
}

// visitedOnce holds that no link waits at a node that came to its end, and that no two such nodes
// visited the same URL.
func (s *nodeStores) visitedOnce(t *testing.T) {
	t.Helper()
	for name, f := range s.frontiers {
		if n := f.Totals().Queued; n > 0 && !s.gone[name] {
			t.Errorf("node %s ended with %d links in its queue", name, n)
		}
		err := f.Walk(t.Context(), 0, func(n frontier.Node) error {
			s.ofHost[n.URL.Host()]++
			key := frontier.KeyOf(n.URL)
			other := s.visitedBy[key]
			if n.Outcome.Kind == "skipped" { // never requested; two nodes may have skipped it
				if other == "" {
					s.visitedBy[key] = skippedByAll
				}
				return nil
			}
			if other != "" && other != skippedByAll && !s.gone[name] && !s.gone[other] {
				t.Errorf("%s was visited by %s and %s", n.URL, other, name)
			}
			s.visitedBy[key] = name
			if n.Outcome.Kind == "page" {
				s.pages[name]++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// leftBehind counts as theirs what nodes have parked, and what waits in the queues of those that do not
// come back.
func (s *nodeStores) leftBehind(t *testing.T) {
	t.Helper()
	for name, f := range s.frontiers {
		note := func(n frontier.Node) error {
			if n.State == frontier.Queued { // the limit of a host does not count parked ones
				s.ofHost[n.URL.Host()]++
			}
			if key := frontier.KeyOf(n.URL); s.visitedBy[key] == "" {
				s.visitedBy[key] = name
			}
			return nil
		}
		err := f.WalkParked(t.Context(), note)
		if s.gone[name] {
			err = errors.Join(err, f.WalkQueue(t.Context(), note))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// whereabouts tells what the nodes know of a URL and why they dropped links.
func (s *nodeStores) whereabouts(t *testing.T, u weburl.URL) string {
	t.Helper()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.frontiers)) {
		n, known, err := s.frontiers[name].Get(frontier.KeyOf(u))
		if err != nil {
			t.Fatal(err)
		}
		totals := s.frontiers[name].Totals()
		all = append(all, fmt.Sprintf("%s: known %v, %v; %d of its host at all nodes; dropped %v, %d bytes wait",
			name, known, n.State, s.ofHost[u.Host()], totals.Dropped, totals.Outgoing))
	}
	return strings.Join(all, "; ")
}

// nothingLost holds that each link of a page was visited by some node, unless its host is full.
func (s *nodeStores) nothingLost(t *testing.T) {
	t.Helper()
	scope, lost, links := defaultScope(t), 0, 0
	for name, f := range s.frontiers {
		if s.gone[name] {
			continue // what it found last waits in its outbox
		}
		err := f.Walk(t.Context(), 0, func(n frontier.Node) error {
			if n.Outcome.Kind != "page" {
				return nil
			}
			p, err := parsedPage(t, s.town, n.URL)
			if err != nil {
				return err
			}
			for _, l := range p.Links {
				if scope(l.To) != "" || s.ofHost[l.To.Host()] >= nodePerHost {
					continue
				}
				links++
				if _, known := s.visitedBy[frontier.KeyOf(l.To)]; known {
					continue
				}
				lost++
				if lost < 5 {
					t.Errorf("%s, a link of %s, was never visited: %s", l.To, n.URL, s.whereabouts(t, l.To))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if links == 0 {
		t.Error("no link was looked up")
	}
	if lost > 0 {
		t.Errorf("%d of %d links were lost", lost, links)
	}
}

// Three nodes, one of which is killed and one cut off for a while, find every page; only pages in
// flight are fetched twice, and no host gets a request before its delay, from any node.
func TestNodesKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("runs three processes for half a minute")
	}
	t.Parallel() // it mostly waits
	w := newNodesWeb(t, 40)
	more := []string{"--wait-for", "3", "--delay", "200ms"} // a host lasts 4 s, so c has a queue when it leaves
	a, b, c := w.start("a", more...), w.start("b", more...), w.start("c", more...)
	b.reach(t, 20)
	b.Process.Kill()
	<-b.ended
	c.reach(t, 20)
	c.Process.Signal(syscall.SIGSTOP)
	b = w.start("b")
	time.Sleep(time.Second)
	c.Process.Signal(syscall.SIGCONT)
	for name, p := range map[string]*nodeProcess{"a": a, "b": b, "c": c} {
		p.end(t, name, w.url)
	}
	w.check(t, 2*nodeWorkers)
}

// serverEach gives each of these nodes a JetStream server of its own in place
// of the one of the test: together they are one cluster, which keeps all it
// keeps as often as there are nodes.
func (w *nodesWeb) serverEach(t *testing.T, names ...string) {
	t.Helper()
	// On an address of its own: what other tests connect from takes no port of it.
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 1+rand.IntN(250))
	if ln, err := net.Listen("tcp", host+":0"); err != nil {
		host = "127.0.0.1" // a system with one address
	} else {
		ln.Close()
	}
	client, peers := map[string]string{}, map[string]string{}
	var urls []string
	for _, name := range names {
		for _, of := range []map[string]string{client, peers} {
			ln, err := net.Listen("tcp", host+":0")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			of[name] = ln.Addr().String()
		}
		urls = append(urls, "nats://"+client[name])
	}
	w.url = strings.Join(urls, ",")
	w.join = func(name string) []string {
		args := []string{"--listen", client[name], "--peers", peers[name]}
		for _, other := range names {
			if other != name {
				args = append(args, "--routes", "nats://"+peers[other])
			}
		}
		return args
	}
}

// serversEach starts three nodes, each with a JetStream server inside, which keep everything three times.
func serversEach(t *testing.T, more ...string) (w *nodesWeb, a, b, c *nodeProcess) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs three processes for half a minute")
	}
	t.Parallel() // it mostly waits
	w = newNodesWeb(t, 40)
	w.environment = []string{"GAZEHOUND_CLUSTER__LEASE=40s"} // 5 s in haste, in which the hosts of a dead node wait
	w.serverEach(t, "a", "b", "c")
	more = append(more, "--wait-for", "3")
	return w, w.start("a", more...), w.start("b", more...), w.start("c", more...)
}

// A node that is killed with its server and comes back: nothing is lost, only what was in flight is
// fetched twice, and no host gets a request too soon.
func TestServerKilled(t *testing.T) {
	w, a, b, c := serversEach(t)
	b.reach(t, 20)
	if s := clusterStatus(t, w.url); s.Replicas != 3 {
		t.Errorf("not everything is kept three times: %+v", s)
	}
	b.Process.Kill()
	<-b.ended
	time.Sleep(time.Second)
	b = w.start("b")
	for name, p := range map[string]*nodeProcess{"a": a, "b": b, "c": c} {
		p.end(t, name, w.url)
	}
	w.check(t, nodeWorkers)
}

// A node that is killed with its server for good: only what it fetched since its last heartbeat is
// fetched again, and nothing is lost.
func TestServerKilledForGood(t *testing.T) {
	w, a, b, c := serversEach(t, "--away", "12s")
	b.reach(t, 20)
	before := b.pages.Load()
	time.Sleep(cluster.DefaultOptions().Heartbeat / 2) // four in haste
	b.Process.Kill()
	<-b.ended
	w.gone["b"] = true
	for name, p := range map[string]*nodeProcess{"a": a, "c": c} {
		p.end(t, name, w.url)
	}
	w.check(t, nodeWorkers+int(b.pages.Load()-before))
}

// A node joins at half time, leaves, loses its share and comes back: only pages in flight are fetched
// again, and nothing is lost.
func TestNodeJoinsLate(t *testing.T) {
	if testing.Short() {
		t.Skip("runs three processes for a minute")
	}
	t.Parallel() // it mostly waits
	w := newNodesWeb(t, 40)
	const away = "12s" // 3 s in haste
	a, b := w.start("a", "--wait-for", "2", "--away", away), w.start("b", "--wait-for", "2", "--away", away)
	a.reach(t, 80)
	c := w.start("c", "--away", away)
	c.reach(t, 20)
	c.Process.Signal(syscall.SIGTERM)
	<-c.ended
	isAway := func(n cluster.NodeSummary) bool { return n.Name == "c" && n.State == cluster.NodeAway }
	for !slices.ContainsFunc(clusterStatus(t, w.url).Nodes, isAway) { // its share moves
		time.Sleep(200 * time.Millisecond)
	}
	c = w.start("c", "--away", away)
	for name, p := range map[string]*nodeProcess{"a": a, "b": b, "c": c} {
		p.end(t, name, w.url)
	}
	w.check(t, nodeWorkers)
}

// A node that leaves for good hands its queue over at once: the others fetch it long before its share
// would move by itself; nothing is lost, and only pages in flight are fetched again. All nodes can be
// paused and resumed.
func TestNodeLeaves(t *testing.T) {
	if testing.Short() {
		t.Skip("runs three processes for half a minute")
	}
	t.Parallel() // it mostly waits
	w := newNodesWeb(t, 40)
	w.environment = []string{"GAZEHOUND_TEST_HASTE="}       // hosts change hands only once all know what was visited
	more := []string{"--wait-for", "3", "--delay", "200ms"} // a host lasts 4 s, so c has a queue when it leaves
	a, b, c := w.start("a", more...), w.start("b", more...), w.start("c", more...)
	b.reach(t, 20)
	c.reach(t, 20)
	run := func(args ...string) string {
		t.Helper()
		out, err := program(args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	c.Process.Signal(syscall.SIGTERM)
	<-c.ended
	totals := func() frontier.Totals {
		t.Helper()
		f, err := frontier.Open(frontier.Options{Dir: filepath.Join(w.dirs["c"], "frontier")})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return f.Totals()
	}
	if totals().Queued == 0 {
		t.Fatal("the node that leaves has no queue")
	}
	w.start("c", "--leave").end(t, "c", w.url)
	if n := totals(); n.Queued+n.Parked+n.Outgoing > 0 {
		t.Errorf("c keeps %d queued and %d parked links, and %d bytes wait", n.Queued, n.Parked, n.Outgoing)
	}
	if out := run("ctl", "pause", "--cluster", w.url); !strings.Contains(out, "a, b: paused") && !strings.Contains(out, "b, a: paused") {
		t.Errorf("ctl pause: %s", out)
	}
	if out := run("status", "--cluster", w.url); strings.Count(out, "paused") != 2 || !strings.Contains(out, "c     away") {
		t.Errorf("status: %s", out)
	}
	before := int64(-1)
	for now := a.pages.Load() + b.pages.Load(); now != before; now = a.pages.Load() + b.pages.Load() {
		before = now
		time.Sleep(500 * time.Millisecond) // pages in flight end
	}
	run("ctl", "checkpoint", "--cluster", w.url)
	if now := a.pages.Load() + b.pages.Load(); now != before {
		t.Errorf("%d pages were fetched in the pause", now-before)
	}
	run("ctl", "resume", "--cluster", w.url)
	for name, p := range map[string]*nodeProcess{"a": a, "b": b} {
		p.end(t, name, w.url)
	}
	w.check(t, nodeWorkers)
}

// Three nodes with one order exchange as many bits of nuggets as equation 8 says, end by themselves,
// and report and status show it: the better half of all queues at once, and in turn by a clock.
func TestNodesKeepOneOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("runs three processes for half a minute")
	}
	for name, flags := range map[string][]string{
		"nuggets":            {"--order", "nuggets"},
		"turns every 100 ms": {"--order", "turns", "--order-every", "100ms"},
	} {
		t.Run(name, func(t *testing.T) { keepOneOrder(t, flags) })
	}
}

func keepOneOrder(t *testing.T, order []string) {
	t.Parallel() // it mostly waits
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite, o.Streets, o.Calm = 40, 20, 40, true
	data, flags, _, _ := projectOf(t, o)
	server, err := cluster.Serve(cluster.ServerOptions{Name: "test", Dir: t.TempDir(), Listen: "127.0.0.1:0", MaxBytes: 4 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	names := []string{"a", "b", "c"}
	var nodes []*nodeProcess
	var dirs []string
	for _, name := range names {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.CopyFS(dir, os.DirFS(data)); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
		args := slices.Concat(haste, []string{os.Args[0], "node", "--name", name, "--cluster", server.URL(),
			"--wait-for", "3", "--patience", "1s", "--max-pages-per-host", "15"}, order, flags,
			[]string{"--data", dir, "--delay", "5ms", "--contact", "https://bot.gazehound.dev/"})
		nodes = append(nodes, startCommand(t, args))
	}
	for i, p := range nodes {
		p.end(t, names[i], server.URL())
	}
	var sum nugget.Count
	for i, dir := range dirs {
		c, err := cluster.ReadOrder(filepath.Join(dir, "cluster"))
		if err != nil {
			t.Fatal(err)
		}
		if c.Rounds == 0 || c.Bits == 0 || c.Bytes < c.Bits/8 {
			t.Errorf("node %s: %+v", names[i], c)
		}
		sum = sum.Add(c)
	}
	// Beyond equation 8 for the agreed rounds, only bits of abandoned rounds and of the last one were
	// received.
	const round = 2 * 4 * 21 // of two others four parts each, m = 3, L = 4, λ = 16
	if sum.Bits > sum.Formula+(sum.Abandoned+3)*round {
		t.Errorf("%d bits were heard, equation 8 says %d; %d rounds were abandoned", sum.Bits, sum.Formula, sum.Abandoned)
	}
	t.Logf("all nodes: %+v", sum)
	if out, err := program(append([]string{"report", "--nodes"}, dirs...)...).CombinedOutput(); err != nil || !strings.Contains(string(out), "One order of all nodes") {
		t.Errorf("report: %v\n%s", err, out)
	}
	if out, err := program("status", "--data", dirs[0]).CombinedOutput(); err != nil || !strings.Contains(string(out), "rounds with other nodes") {
		t.Errorf("status: %v\n%s", err, out)
	}
}

// A node on the live web knows the IP addresses of hosts, for their delays and for the partition ip;
// one behind a proxy does not.
func TestNodeKnowsAddresses(t *testing.T) {
	for proxy, want := range map[string]bool{"": true, "http://127.0.0.1:1": false} {
		cfg := DefaultConfig()
		cfg.Fetch.Contact, cfg.Fetch.Proxy = "https://bot.gazehound.dev/", proxy
		seed, err := weburl.Parse("http://www.example.org/")
		if err != nil {
			t.Fatal(err)
		}
		w, err := (&app{}).openWeb(&cfg, crawlOptions{}, &gazetteer.Region{Name: "Testville"}, []weburl.URL{seed})
		if err != nil {
			t.Fatal(err)
		}
		if (w.resolve != nil) != want {
			t.Errorf("proxy %q: knows addresses: %v", proxy, w.resolve != nil)
		}
		w.close()
	}
}
