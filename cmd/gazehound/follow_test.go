package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/lab/demo"
)

// pagesServed returns how many pages a server has, from its own account.
func pagesServed(t *testing.T, url string) int {
	t.Helper()
	status, body := fetchText(t, url+"status")
	var v struct{ Pages int }
	if err := json.Unmarshal([]byte(body), &v); status != http.StatusOK || err != nil {
		t.Fatalf("status: %d %s", status, body)
	}
	return v.Pages
}

// serving starts a server as a process of its own and returns its URL.
func serving(t *testing.T, data string) (p *process, url string) {
	t.Helper()
	p = startProgram(t, "serve", "--data", data, "--listen", "127.0.0.1:0")
	const before = "search page  "
	for line := range p.stderr {
		if _, url, ok := strings.Cut(line, before); ok {
			return p, url
		}
	}
	t.Fatalf("the server ended: exit %d", p.end(t))
	panic("")
}

// A server and crawls use one data directory, whichever begins first and whichever is killed.
// What a crawl writes is served while it runs and after it, and no request is refused.
func TestServeBesideCrawl(t *testing.T) {
	if testing.Short() {
		t.Skip("several processes")
	}
	t.Parallel()
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite = 150, 40
	data, flags, _, _ := projectOf(t, o)
	crawl := func(more ...string) *process {
		args := append([]string{"crawl", "--admin", "127.0.0.1:0", "--workers", "2", "--serve", "off"}, flags...)
		args = append(args, "--stats", "1h", "--delay", "1s") // it takes its time for what is asked meanwhile
		return startProgram(t, append(args, more...)...)
	}
	grows := func(url string, least int) (pages int) {
		t.Helper()
		for range 600 {
			pages = pagesServed(t, url)
			if pages >= least {
				return pages
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("%d pages are served, want %d", pages, least)
		panic("")
	}

	server, url := serving(t, data) // before any data
	c := crawl()
	n := grows(url, 1)
	n = grows(url, n+1) // a further snapshot of the same crawl
	c.Process.Kill()
	c.end(t)
	n = grows(url, n)
	if code := crawl("--max-pages", "1").end(t); code != exitOK { // the next one is not locked out
		t.Errorf("crawl beside a server: exit %d", code)
	}
	c = crawl()
	ready(t, data, int64(n))
	other, late := serving(t, data) // while it runs
	grows(late, n+1)
	server.Process.Kill()
	server.end(t)
	n = pagesServed(t, late)
	grows(late, n+1)
	c.Process.Signal(os.Interrupt)
	if code := c.end(t); code != exitStopped {
		t.Errorf("the crawl ended with %d, want %d", code, exitStopped)
	}
	s, _ := statusOf(t, data)
	grows(late, int(s.Relevant))
	other.Process.Signal(os.Interrupt)
	if code := other.end(t); code != exitOK {
		t.Errorf("the server ended with %d", code)
	}
}
