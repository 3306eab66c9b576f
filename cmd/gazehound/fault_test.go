package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/index"
	"gazehound/internal/textutil"
)

// A fault is a crawl that is killed repeatedly, beside a server that records its requests.
type fault struct {
	kills   int
	pages   int
	workers int
	delay   time.Duration
	sites   int
}

// Whenever the program is killed, the same command resumes, and the server's ledger shows that
// nothing was lost, little was requested twice, and no request came before its delay.
func TestCrawlKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	t.Parallel()
	t.Run("fast", func(t *testing.T) { fault{kills: 7, pages: 240, workers: 8, sites: 60}.test(t) })
	t.Run("polite", func(t *testing.T) {
		fault{kills: 4, pages: 140, workers: 16, sites: 60, delay: 60 * time.Millisecond}.test(t)
	})
}

// inSoak returns how often a test does something: few times in "make test", many in "make soak".
func inSoak(few, many int) int {
	if os.Getenv("GAZEHOUND_SOAK") != "" {
		return many
	}
	return few
}

// TestSoak is TestCrawlKilled with GAZEHOUND_SOAK kills, half of them of a
// polite crawl: "make soak".
func TestSoak(t *testing.T) {
	kills, _ := strconv.Atoi(os.Getenv("GAZEHOUND_SOAK"))
	if kills == 0 {
		t.Skip("\"make soak\" kills a crawl 200 times")
	}
	t.Run("fast", func(t *testing.T) {
		fault{kills: kills / 2, pages: 60 * kills, workers: 16, sites: 400}.test(t)
	})
	t.Run("polite", func(t *testing.T) {
		fault{kills: kills - kills/2, pages: 30 * kills, workers: 32, sites: 400, delay: 100 * time.Millisecond}.test(t)
	})
}

func (x fault) test(t *testing.T) {
	c := x.newCrawl(t)
	early := c.killRepeatedly(t)
	limit := max(x.pages, len(c.acknowledged)+x.workers+50)
	if c.run(t, 0, 0, limit) {
		t.Fatal("the last run failed")
	}
	f, err := frontier.Open(frontier.Options{Dir: project{c.data}.frontier()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tree := c.keptVisits(t, f, limit)
	queued := tree.queuedOnce(t, f)
	again := c.fetchedAgain(t)
	shortest := x.gaps(t, c.ledger)
	indexed := c.indexed(t, tree.relevant)
	t.Logf("%d kills (%d of them at a moment, the others after a page), %d requests, %d pages, %d fetched again (at most %d in flight), "+
		"%d links looked up, %d queued once, %d relevant, %d in the index, shortest gap %v of %v",
		x.kills, early, len(c.ledger.Requests()), limit, again, x.kills*x.workers,
		tree.links, queued, len(tree.relevant), indexed, shortest, x.delay)
}

// A killedCrawl is the crawl of a fault, which prints each page that it has stored.
type killedCrawl struct {
	fault
	data         string
	args         []string
	town         *demo.Town
	ledger       *requestLedger
	acknowledged map[string]int // URL of a page → how often it was printed
}

func (x fault) newCrawl(t *testing.T) *killedCrawl {
	t.Helper()
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite, o.Streets = x.sites, max(20, 2*x.pages/x.sites), 40
	data, flags, town, ledger := projectOf(t, o)
	args := append([]string{"crawl", "--emit", "page", "--quiet", "--workers", fmt.Sprint(x.workers)}, flags...)
	args = append(args, "--delay", x.delay.String(), "--contact", "https://bot.example/")
	return &killedCrawl{x, data, args, town, ledger, map[string]int{}}
}

// run runs the crawl until it is killed: after a number of lines, or sooner after a time. With lines
// 0 it runs to the limit of pages.
func (c *killedCrawl) run(t *testing.T, lines int, after time.Duration, limit int) (killed bool) {
	t.Helper()
	cmd := program(append(c.args, "--max-pages", fmt.Sprint(limit))...)
	// Crawl-delays of a few seconds are cut, so that the test has an end.
	cmd.Env = append(cmd.Env, "GAZEHOUND_FETCH__MAX_CRAWL_DELAY="+(3*c.delay).String())
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// Unread output blocks the crawl, so that it is never far ahead.
	if err := narrow(out.(*os.File)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		defer time.AfterFunc(after, func() { cmd.Process.Kill() }).Stop()
	}
	read := bufio.NewScanner(out)
	for n := 1; read.Scan(); n++ {
		if n == lines {
			cmd.Process.Kill()
		}
		var p struct {
			Type, URL string
		}
		if json.Unmarshal(read.Bytes(), &p) == nil && p.Type == "page" {
			c.acknowledged[p.URL]++
		}
	}
	err = cmd.Wait()
	if err != nil && cmd.ProcessState.Exited() {
		t.Fatalf("it ended by itself: %v\n%s", err, complaints.String())
	}
	return err != nil
}

// killRepeatedly kills a run after a page or, early, at a moment, and resumes it.
func (c *killedCrawl) killRepeatedly(t *testing.T) (early int) {
	t.Helper()
	killed := 0
	for i := range c.kills {
		lines, after := 1+rand.IntN(2*c.pages/c.kills), time.Duration(0)
		if i%3 == 2 { // while it opens its stores, too
			after = time.Millisecond + rand.N(600*time.Millisecond)
			early++
		}
		if c.run(t, lines, after, 0) {
			killed++
		}
	}
	if killed != c.kills {
		t.Fatalf("only %d of %d runs were killed: the web is too small", killed, c.kills)
	}
	return early
}

// A keptTree is what a crawl tree holds after the kills.
type keptTree struct {
	visited  map[frontier.Key]bool
	relevant []string // pages that may be indexed
	pages    int
	links    int // of pages, within the scope
}

// keptVisits holds that no URL was visited twice, that each acknowledged page is in the tree once and
// that each link of a page is known.
func (c *killedCrawl) keptVisits(t *testing.T, f *frontier.Frontier, limit int) *keptTree {
	t.Helper()
	tree := &keptTree{visited: map[frontier.Key]bool{}}
	scope := defaultScope(t)
	err := f.Walk(t.Context(), 0, func(n frontier.Node) error {
		if tree.visited[frontier.KeyOf(n.URL)] {
			t.Errorf("%s was visited twice", n.URL)
		}
		tree.visited[frontier.KeyOf(n.URL)] = true
		if n.Outcome.Kind != "page" {
			return nil
		}
		tree.pages++
		p, err := parsedPage(t, c.town, n.URL)
		if err != nil {
			return err
		}
		if n.Outcome.Relevant && !p.NoIndex {
			tree.relevant = append(tree.relevant, n.URL.String())
		}
		for _, l := range p.Links { // accepted with the page, in one transaction
			if scope(l.To) != "" {
				continue
			}
			tree.links++
			if _, known, err := f.Get(frontier.KeyOf(l.To)); err != nil || !known {
				t.Errorf("%s, a link of %s, is neither queued nor visited (%v)", l.To, n.URL, err)
			}
		}
		return nil
	})
	if err != nil || tree.pages != limit || tree.links == 0 {
		t.Errorf("%d pages with %d links in the tree, %v; want %d", tree.pages, tree.links, err, limit)
	}
	for raw, n := range c.acknowledged {
		u, err := weburl.Parse(raw)
		if err != nil || !tree.visited[frontier.KeyOf(u)] || n > 1 {
			t.Errorf("%s was acknowledged %d times; in the tree: %v", raw, n, tree.visited[frontier.KeyOf(u)])
		}
	}
	return tree
}

// parsedPage returns a page as the town serves it.
func parsedPage(t *testing.T, town *demo.Town, u weburl.URL) (*page.Page, error) {
	t.Helper()
	r, err := town.Fetch(t.Context(), u)
	if err != nil {
		return nil, err
	}
	return page.Parse(r)
}

// queuedOnce empties the queue. It holds that the totals add up, and that each URL waits once and was
// not visited.
func (tree *keptTree) queuedOnce(t *testing.T, f *frontier.Frontier) int {
	t.Helper()
	totals := f.Totals()
	known := totals.Queued + totals.Parked + totals.Visited + totals.Repeats + textutil.Sum(totals.Dropped)
	if totals.Damaged != 0 || totals.Links != known || totals.Visited != int64(len(tree.visited)) {
		t.Errorf("the totals do not add up: %+v", totals)
	}
	queued := map[frontier.Key]bool{}
	for range totals.Queued {
		e, err := f.Next(t.Context(), func(string) time.Duration { return 0 })
		if err != nil {
			t.Fatal(err)
		}
		k := frontier.KeyOf(e.URL)
		if queued[k] || tree.visited[k] {
			t.Errorf("%s is queued although it is queued (%v) or visited (%v)", e.URL, queued[k], tree.visited[k])
		}
		queued[k] = true
	}
	return len(queued)
}

// fetchedAgain holds that only pages which were in flight at a kill were fetched again.
func (c *killedCrawl) fetchedAgain(t *testing.T) (again int) {
	t.Helper()
	for _, n := range c.ledger.fetches("/robots.txt") {
		again += n - 1
	}
	if again > c.kills*c.workers {
		t.Errorf("%d pages were fetched again after %d kills with %d workers", again, c.kills, c.workers)
	}
	return again
}

// indexed holds that relevant pages are in the index, and returns how many pages are.
func (c *killedCrawl) indexed(t *testing.T, relevant []string) int {
	t.Helper()
	ix, err := index.OpenReadOnly(project{c.data}.index())
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	indexed := map[string]bool{}
	err = ix.Pages(t.Context(), func(url string) { indexed[url] = true })
	if err != nil || len(relevant) == 0 {
		t.Errorf("%d relevant pages were acknowledged, %v", len(relevant), err)
	}
	for _, url := range relevant {
		if !indexed[url] {
			t.Errorf("%s was acknowledged as relevant and is not in the index", url)
		}
	}
	return len(indexed)
}

// gaps compares the ledger with the delay. A request reaches the server after the previous one was
// answered, so the gaps seen by the server are never shorter than the crawl's, on slow machines too.
func (x fault) gaps(t *testing.T, ledger *requestLedger) (shortest time.Duration) {
	byHost := map[string][]request{}
	for _, r := range ledger.Requests() {
		byHost[r.Host] = append(byHost[r.Host], r)
	}
	shortest = time.Hour
	for host, requests := range byHost {
		for i := 1; i < len(requests); i++ { // in the order of their answers
			for j := i; j > 0 && requests[j].Began.Before(requests[j-1].Began); j-- {
				requests[j], requests[j-1] = requests[j-1], requests[j]
			}
		}
		for i := 1; i < len(requests); i++ {
			gap := requests[i].Began.Sub(requests[i-1].Began)
			shortest = min(shortest, gap)
			if gap < x.delay {
				t.Errorf("%s was asked for %s %v after %s (status %d); the delay is %v",
					host, requests[i].Path, gap, requests[i-1].Path, requests[i-1].Status, x.delay)
			}
		}
	}
	return shortest
}

// A crawl that is killed right after a request, or before the answer, waits as long as if it had not
// been killed: the delay of all hosts, the delay of a robots.txt that an earlier run has read, and the
// Retry-After of a 503.
func TestKilledIsPolite(t *testing.T) {
	t.Parallel() // it mostly waits
	w := newPatientWeb(t)
	w.measureRestart(t)
	all := []string{"http://plain.example/", "http://slow.example/", "http://busy.example/"}
	w.killAfter(t, w.crawl(t, all), "busy.example", "/robots.txt", fmt.Sprintf(`"delay_ns":%d`, w.slow))
	w.killAfter(t, w.crawl(t, all), "busy.example", "/", `"fails":1`)
	w.mu.Lock()
	w.patient = true
	w.mu.Unlock()
	w.ends(t, w.crawl(t, all))
	// By now slow.example has rested, and nothing but its rules is known of it.
	more := append(all, "http://slow.example/more")
	w.killAfter(t, w.crawl(t, more), "slow.example", "/more", "")
	w.ends(t, w.crawl(t, more))

	w.waited(t, "plain.example", w.delay, "/")
	w.waited(t, "slow.example", w.slow, "/more")
	w.waited(t, "busy.example", w.busy, "/")
}

// A patientWeb is a web with hosts that each want another delay, and a project that crawls it.
type patientWeb struct {
	url, data, seeds  string
	delay, slow, busy time.Duration // of all hosts, of slow.example and of busy.example

	mu      sync.Mutex           // guards what follows, and delays until they are measured
	ledger  map[string][]request // by host, in the order of their begin; with status 0 it never got an answer
	patient bool                 // busy.example no longer sends Retry-After
}

func newPatientWeb(t *testing.T) *patientWeb {
	t.Helper()
	w := &patientWeb{ledger: map[string][]request{}, seeds: filepath.Join(t.TempDir(), "seeds.txt")}
	w.data, _ = townProject(t)
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

func (w *patientWeb) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	begun := request{Began: time.Now(), Host: r.Host, Path: r.URL.Path, Status: http.StatusOK}
	switch r.Host + r.URL.Path {
	case "slow.example/robots.txt":
	case "busy.example/robots.txt", "slow.example/more": // the first is under way when the crawl is killed
		begun.Status = http.StatusNotFound
		if !w.asked(r.Host, r.URL.Path) {
			begun.Status = 0
		}
	case "busy.example/":
		if !w.patient {
			answer.Header().Set("Retry-After", fmt.Sprint(w.busy.Seconds()))
			begun.Status = http.StatusServiceUnavailable
		}
	case "plain.example/robots.txt", "first.example/robots.txt":
		begun.Status = http.StatusNotFound
	}
	rules := fmt.Sprintf("User-agent: *\nCrawl-delay: %v\n", w.slow.Seconds())
	w.ledger[r.Host] = append(w.ledger[r.Host], begun)
	w.mu.Unlock()
	if begun.Status == 0 {
		<-r.Context().Done()
		return
	}
	answer.Header().Set("Content-Type", "text/html")
	answer.WriteHeader(begun.Status)
	io.WriteString(answer, rules) // of the page this is the text
}

// asked reports whether a path of a host was requested. The caller holds w.mu.
func (w *patientWeb) asked(host, path string) bool {
	return slices.ContainsFunc(w.ledger[host], func(q request) bool { return q.Path == path })
}

// crawl starts a crawl from these seeds.
func (w *patientWeb) crawl(t *testing.T, seeds []string) *process {
	t.Helper()
	if err := os.WriteFile(w.seeds, []byte(strings.Join(seeds, "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	return startProgram(t, "crawl", "--quiet", "--data", w.data, "--seeds", w.seeds, "--proxy", w.url,
		"--delay", w.delay.String(), "--contact", "https://bot.example/")
}

// ends holds that a crawl ends by itself.
func (w *patientWeb) ends(t *testing.T, p *process) {
	t.Helper()
	if code := p.end(t); code != 0 {
		t.Fatalf("exit %d", code)
	}
}

// measureRestart sets the delays: a restart that takes as long as the delay would hide that the crawl
// did not wait.
func (w *patientWeb) measureRestart(t *testing.T) {
	t.Helper()
	began := time.Now()
	w.ends(t, w.crawl(t, []string{"http://first.example/"}))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay = (2 * time.Since(began)).Truncate(time.Second) + time.Second
	w.slow, w.busy = 2*w.delay, 3*w.delay
}

// killAfter kills a crawl once a path of a host was requested and the log of the crawl tree has a
// text, such as how long a host waits.
func (w *patientWeb) killAfter(t *testing.T, p *process, host, path, note string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		w.mu.Lock()
		asked := w.asked(host, path)
		w.mu.Unlock()
		noted := note == "" || asked && w.noted(note)
		if asked && noted {
			break
		}
		if time.Now().After(end) || len(p.ended) > 0 {
			w.mu.Lock()
			defer w.mu.Unlock()
			t.Fatalf("%s%s was asked for: %v; want that and %s in the log: %v\nall requests: %+v",
				host, path, asked, note, noted, w.ledger)
		}
	}
	p.Process.Kill()
	<-p.ended
}

// noted reports whether the log of the crawl tree has a text.
func (w *patientWeb) noted(note string) bool {
	logs, _ := filepath.Glob(filepath.Join(project{w.data}.frontier(), "*.mem"))
	return slices.ContainsFunc(logs, func(log string) bool {
		text, err := os.ReadFile(log)
		return err == nil && bytes.Contains(text, []byte(note))
	})
}

// waited holds that a host got no request before its delay, and that a last one succeeded. Of
// busy.example that is the delay of all hosts, unless the answer before was a 503.
func (w *patientWeb) waited(t *testing.T, host string, delay time.Duration, last string) {
	t.Helper()
	w.mu.Lock()
	requests := w.ledger[host]
	w.mu.Unlock()
	for i, r := range requests[1:] {
		before, least := requests[i], delay
		if host == "busy.example" && before.Status != http.StatusServiceUnavailable {
			least = w.delay
		}
		if gap := r.Began.Sub(before.Began); gap < least {
			t.Errorf("%s was asked for %s %v after %s (status %d), want at least %v",
				host, r.Path, gap, before.Path, before.Status, least)
		}
	}
	end := requests[len(requests)-1]
	if end.Path != last || end.Status == 0 || end.Status == http.StatusServiceUnavailable {
		t.Errorf("the last request of %s: %+v", host, end)
	}
}

// defaultScope is the scope of a crawl as it is configured by default.
func defaultScope(t *testing.T) func(weburl.URL) string {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Fetch.Contact = "https://bot.gazehound.dev/" // that of an example keeps a crawl on this machine
	scope, err := newScope(&cfg, crawlOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return scope.Check
}

// A second signal ends the program at once, and its files are valid.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	data, flags := townProject(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes requests and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	go func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			defer c.Close()
		}
	}()
	p := startProgram(t, append(append([]string{"crawl"}, flags...), "--proxy", "http://"+silent.Addr().String(), "-v")...)
	p.says(t, "Ctrl-C once")
	p.shows(t, data, func(s crawlStatus, _ string) bool { return s.Leased > 0 })
	p.Process.Signal(syscall.SIGINT)
	p.says(t, "Stopping: ")
	p.Process.Signal(syscall.SIGINT)
	if code := p.end(t); code != exitForced {
		t.Errorf("exit %d after the second signal, want %d", code, exitForced)
	}
	var out, complaints bytes.Buffer
	if code := run(t.Context(), append([]string{"crawl", "--json", "--quiet", "--max-pages", "30"}, flags...), nil, &out, &complaints); code != 0 || !strings.Contains(out.String(), `"pages":30,`) {
		t.Errorf("exit %d of the next run: %s%s", code, out.String(), complaints.String())
	}
}

// A crawl that was killed goes on in a copy of its data directory, alone and
// beside the original, and where the ends of its logs were torn.
func TestCrawlCopiedAndTorn(t *testing.T) {
	t.Parallel()
	data, flags := townProject(t)
	crawl := func(dir string, pages int) (reached int) {
		t.Helper()
		cmd := program(append(append([]string{"crawl"}, flags...), "--data", dir, "--quiet", "--json", "--max-pages", fmt.Sprint(pages))...)
		out, err := cmd.CombinedOutput()
		var summary struct{ Pages int }
		lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
		if err == nil {
			err = json.Unmarshal(lines[len(lines)-1], &summary)
		}
		if err != nil || summary.Pages < pages {
			t.Errorf("%s: %v\n%s", filepath.Base(dir), err, out)
		}
		s, text := statusOf(t, dir)
		if s.Seen != s.Queued+s.Parked+s.Visited+s.Repeats+textutil.Sum(s.Dropped) || s.Seen == 0 {
			t.Errorf("%s: the links do not add up: %s", filepath.Base(dir), text)
		}
		return summary.Pages
	}
	p := startProgram(t, append(append([]string{"crawl"}, flags...), "--admin", "127.0.0.1:0")...)
	ready(t, data, 60)
	p.Process.Kill()
	p.end(t)
	copied, torn := filepath.Join(t.TempDir(), "copied"), filepath.Join(t.TempDir(), "torn")
	for _, to := range []string{copied, torn} {
		if err := os.CopyFS(to, os.DirFS(data)); err != nil {
			t.Fatal(err)
		}
	}
	logs := 0
	for _, pattern := range []string{"*.mem", "*.vlog"} {
		names, err := filepath.Glob(filepath.Join(torn, "frontier", pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %q, %v", pattern, names, err)
		}
		name := names[len(names)-1]
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		end := len(bytes.TrimRight(text, "\x00"))
		for i := max(end-40, 20); i < end; i++ { // the last transaction
			text[i] ^= 0x55
			logs++
		}
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if logs == 0 {
		t.Fatal("no log was torn")
	}
	pages := crawl(copied, 1) + 40
	crawl(copied, pages)
	crawl(data, pages) // knows nothing of the copy
	crawl(torn, pages)
	crawl(copied, pages+20)
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// A clock that is set back by a year does not stall a crawl: hosts wait as long as they have
// requested, and status says so.
func TestCrawlClockSetBack(t *testing.T) {
	t.Parallel()
	data, flags := townProject(t)
	crawl := func(pages int) {
		t.Helper()
		var out, complaints bytes.Buffer
		args := append([]string{"crawl", "--quiet", "--json", "--max-pages", fmt.Sprint(pages)}, flags...)
		code := run(t.Context(), args, nil, &out, &complaints)
		if code != 0 || !strings.Contains(out.String(), fmt.Sprintf(`"pages":%d,`, pages)) {
			t.Fatalf("exit %d: %s%s", code, out.String(), complaints.String())
		}
	}
	crawl(40)
	w := nextYear{tree: project{data}.frontier()}
	w.findHosts(t)
	w.moveRules(t)

	w.rest(t, time.Hour)
	p := startProgram(t, append([]string{"crawl", "--admin", "127.0.0.1:0"}, flags...)...)
	said := regexp.MustCompile(`backing off \(429 or 503\)\. The next one is ready in (1h0m0s|5\dm\d+s)\.`)
	p.shows(t, data, func(_ crawlStatus, text string) bool { return said.MatchString(text) })
	p.Process.Signal(syscall.SIGTERM)
	if code := p.end(t); code != exitStopped {
		t.Errorf("exit %d after SIGTERM", code)
	}

	w.rest(t, time.Second)
	crawl(80)
}

// nextYear changes what a crawl keeps of its hosts into what it would keep if its clock had said next
// year.
type nextYear struct {
	tree  string
	hosts map[string]bool
}

// open opens the crawl tree for change, and makes the change durable.
func (w *nextYear) open(t *testing.T, change func(f *frontier.Frontier) error) {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Dir: w.tree})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(change(f), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// findHosts finds the hosts of visited and of queued URLs.
func (w *nextYear) findHosts(t *testing.T) {
	t.Helper()
	w.hosts = map[string]bool{}
	w.open(t, func(f *frontier.Frontier) error {
		for range f.Totals().Queued {
			e, err := f.Next(t.Context(), func(string) time.Duration { return 0 })
			if err != nil {
				return err
			}
			w.hosts[e.URL.Host()] = true
		}
		return f.Walk(t.Context(), 0, func(n frontier.Node) error {
			w.hosts[n.URL.Host()] = true
			return nil
		})
	})
}

// moveRules moves the times of the rules of robots.txt by a year.
func (w *nextYear) moveRules(t *testing.T) {
	t.Helper()
	moved := 0
	w.open(t, func(f *frontier.Frontier) error {
		for host := range w.hosts {
			name := "robots http://" + host
			text, err := f.Meta(name)
			if err != nil {
				return err
			}
			var kept map[string]any
			if json.Unmarshal(text, &kept) != nil {
				continue
			}
			for _, key := range []string{"at", "until"} {
				at, err := time.Parse(time.RFC3339, kept[key].(string))
				if err != nil {
					return err
				}
				kept[key] = at.AddDate(1, 0, 0)
			}
			if err := putJSON(f, name, kept); err != nil {
				return err
			}
			moved++
		}
		return nil
	})
	if moved == 0 {
		t.Fatal("no host has rules")
	}
}

// rest makes all hosts back off for wait, from a moment of next year on.
func (w *nextYear) rest(t *testing.T, wait time.Duration) {
	t.Helper()
	at := time.Now().AddDate(1, 0, 0)
	w.open(t, func(f *frontier.Frontier) error {
		for host := range w.hosts {
			rest := map[string]any{"at": at, "until": at.Add(wait), "delay_ns": wait, "fails": 1}
			err := putJSON(f, "rest "+host, rest)
			if err != nil {
				return err
			}
		}
		return putJSON(f, "rests", map[string]any{"closed": at})
	})
}

func putJSON(f *frontier.Frontier, name string, value map[string]any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return f.PutMeta(name, text)
}
