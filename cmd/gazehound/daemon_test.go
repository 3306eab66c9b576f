package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/monitor"
	"gazehound/internal/textutil"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// An adminAddress is where a crawl takes orders.
type adminAddress monitor.Address

func readAdmin(data string) (adminAddress, error) {
	d, err := monitor.ReadAddress(project{data}.admin())
	return adminAddress(d), err
}

// get requests a path of the admin listener.
func (d adminAddress) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	response, err := http.Get(d.URL + path)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(data)
}

// ready waits until the crawl of p says that it is ready, and has enough pages.
func ready(t *testing.T, data string, pages int64) adminAddress {
	t.Helper()
	last := ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		d, err := readAdmin(data)
		if err != nil {
			last = err.Error()
			continue
		}
		var status int
		if status, last = d.get(t, "readyz"); status != http.StatusOK {
			continue
		}
		var s monitor.State
		if _, last = d.get(t, "v1/crawl"); json.Unmarshal([]byte(last), &s) == nil && s.Pages >= pages {
			return d
		}
	}
	t.Fatalf("it is never ready: %s", last)
	panic("")
}

// held waits until the open pages of a paused crawl have ended.
func (d adminAddress) held(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		var s monitor.State
		if _, body := d.get(t, "v1/crawl"); json.Unmarshal([]byte(body), &s) == nil && s.Paused && s.Leased == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("open pages never end")
		}
	}
}

// A crawl as a daemon: it reports when it is ready, has metrics, accepts new settings of hosts, exits
// with 11 on a signal, is killed, and resumes each time.
func TestDaemon(t *testing.T) {
	if testing.Short() {
		t.Skip("several runs of a crawl")
	}
	t.Parallel()
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite = 150, 40
	c := &daemon{config: filepath.Join(t.TempDir(), "config.yaml")}
	c.data, c.flags, _, c.ledger = projectOf(t, o)
	c.configure(t, "")

	p := c.start(t)
	d := ready(t, c.data, 100)
	c.watched(t, d)
	blocked, asked := c.toldToSkip(t, p, d)
	stopped := c.terminated(t, p)
	killed := c.resumedAndKilled(t, stopped)
	c.endsAtLimit(t, killed.Pages+200)

	if n := requestsTo(c.ledger, blocked) - asked; n > 1 { // a seed on it is allowed by the operator
		t.Errorf("%d requests to %s, which was to be skipped", n, blocked)
	}
	twice := 0
	for _, n := range c.ledger.fetches("/robots.txt", "/.well-known/tdmrep.json") {
		if n > 1 {
			twice++
		}
	}
	if twice > 2 { // those that the kill found in flight, one a worker
		t.Errorf("%d pages were fetched twice", twice)
	}
	f, err := frontier.Open(frontier.Options{Dir: project{c.data}.frontier()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	figure(t.Logf, "story C: %d requests, %d pages, %d fetched twice after a kill", len(c.ledger.Requests()), f.Totals().Pages, twice)
}

// A daemon is a crawl with an admin listener and a configuration that changes while it runs.
type daemon struct {
	data, config string
	flags        []string
	ledger       *requestLedger
}

// configure writes the configuration: a contact, and more.
func (c *daemon) configure(t *testing.T, more string) {
	t.Helper()
	if err := os.WriteFile(c.config, []byte("fetch: {contact: https://bot.example/}\n"+more), 0o666); err != nil {
		t.Fatal(err)
	}
}

func (c *daemon) start(t *testing.T, more ...string) *process {
	t.Helper()
	args := append([]string{"crawl", "--config", c.config, "--admin", "127.0.0.1:0", "--workers", "2", "--stats", "1h"}, c.flags...)
	return startProgram(t, append(args, more...)...)
}

// watched holds that metrics and health are served, and that the admin token is the user's alone.
func (c *daemon) watched(t *testing.T, d adminAddress) {
	t.Helper()
	status, metrics := d.get(t, "metrics")
	problems, err := promlint.New(strings.NewReader(metrics)).Lint()
	if status != http.StatusOK || err != nil || len(problems) > 0 ||
		!strings.Contains(metrics, `gazehound_pages_total{result="relevant"}`) {
		t.Errorf("metrics: %d, %v, %v\n%.300s", status, err, problems, metrics)
	}
	if status, body := d.get(t, "healthz"); status != http.StatusOK {
		t.Errorf("healthz: %d %s", status, body)
	}
	if info, err := os.Stat(project{c.data}.admin()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("admin.json: %v, %v", info.Mode(), err)
	}
}

// toldToSkip pauses the crawl and tells it by SIGHUP to skip the host that had most pages. It holds
// that a paused crawl says so and makes no request. It returns the host and how often it was asked.
func (c *daemon) toldToSkip(t *testing.T, p *process, d adminAddress) (blocked string, asked int) {
	t.Helper()
	var table struct{ Hosts []monitor.Host }
	_, body := d.get(t, "v1/crawl/hosts?limit=1")
	if err := json.Unmarshal([]byte(body), &table); err != nil || len(table.Hosts) == 0 {
		t.Fatalf("hosts: %s", body)
	}
	blocked = table.Hosts[0].Name
	runText(t, "ctl", "pause", "--data", c.data)
	d.held(t)
	if status, body := d.get(t, "readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "paused") {
		t.Errorf("readyz of a paused crawl: %d %s", status, body)
	}
	s, text := statusOf(t, c.data)
	for range 50 { // the file of the state is written once a second
		if s.State == monitor.Paused {
			break
		}
		time.Sleep(100 * time.Millisecond)
		s, text = statusOf(t, c.data)
	}
	if s.State != monitor.Paused || !strings.Contains(text, "ctl resume") {
		t.Errorf("status of a paused crawl: %s", text)
	}

	still := len(c.ledger.Requests())
	c.configure(t, fmt.Sprintf("hosts: {%q: {skip: true}}\nlog: {level: debug}\n", blocked))
	p.Process.Signal(syscall.SIGHUP)
	p.says(t, "1 hosts with settings")
	if n := len(c.ledger.Requests()); n != still {
		t.Errorf("a paused crawl made %d requests", n-still)
	}
	asked = requestsTo(c.ledger, blocked)
	runText(t, "ctl", "checkpoint", "--data", c.data)
	runText(t, "ctl", "resume", "--data", c.data)
	p.says(t, "INFO visit kind=")
	return blocked, asked
}

// terminated stops the crawl by SIGTERM. It holds that the last state counts every link, and that
// there is no crawl to control.
func (c *daemon) terminated(t *testing.T, p *process) (stopped crawlStatus) {
	t.Helper()
	_, body := ready(t, c.data, 300).get(t, "v1/crawl")
	var running monitor.State
	if err := json.Unmarshal([]byte(body), &running); err != nil {
		t.Fatal(err)
	}
	p.Process.Signal(syscall.SIGTERM)
	if code := p.end(t); code != exitStopped {
		t.Errorf("exit %d after SIGTERM, want %d", code, exitStopped)
	}
	stopped, text := statusOf(t, c.data)
	if stopped.State != monitor.Ended || stopped.End != "signal" || stopped.Seen < running.Seen || !countsAll(stopped) {
		t.Errorf("after SIGTERM: %s", text)
	}
	var out, complaints bytes.Buffer
	if code := run(t.Context(), []string{"ctl", "pause", "--data", c.data}, nil, &out, &complaints); code != exitNoData {
		t.Errorf("ctl without a crawl: exit %d, %s", code, complaints.String())
	}
	return stopped
}

// resumedAndKilled holds that the crawl goes on with its curves, and that status knows of its kill.
func (c *daemon) resumedAndKilled(t *testing.T, stopped crawlStatus) (killed crawlStatus) {
	t.Helper()
	p := c.start(t)
	d := ready(t, c.data, stopped.Pages+100)
	var curve struct{ T, Pages []int64 }
	_, body := d.get(t, "v1/crawl/series?span=10m")
	err := json.Unmarshal([]byte(body), &curve)
	if err != nil || len(curve.T) == 0 || curve.Pages[0] > stopped.Pages {
		t.Errorf("the curves do not start before the restart: %.300s", body)
	}
	p.Process.Kill()
	p.end(t)
	killed, text := statusOf(t, c.data)
	if killed.State != monitor.Killed {
		t.Errorf("after SIGKILL: %s", text)
	}
	return killed
}

// endsAtLimit holds that the crawl goes on to a limit of pages, which counts as success.
func (c *daemon) endsAtLimit(t *testing.T, limit int64) {
	t.Helper()
	p := c.start(t, "--max-pages", fmt.Sprint(limit), "--json")
	if code := p.end(t); code != exitOK {
		t.Errorf("exit %d at the page limit, want 0", code)
	}
	if s, text := statusOf(t, c.data); s.Pages != limit || !countsAll(s) {
		t.Errorf("%d pages at the limit of %d: %s", s.Pages, limit, text)
	}
}

// countsAll reports whether each link that was seen waits, was visited or was dropped.
func countsAll(s crawlStatus) bool {
	return s.Seen == s.Queued+s.Visited+s.Repeats+textutil.Sum(s.Dropped)
}

// requestsTo counts the requests for pages of a host.
func requestsTo(ledger *requestLedger, host string) (n int) {
	for _, r := range ledger.Requests() {
		if r.Host == host && r.Path != "/robots.txt" {
			n++
		}
	}
	return n
}

// A listener beyond loopback needs a token; an address in use is named in the error.
func TestAdminListen(t *testing.T) {
	data, flags := townProject(t)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := demo.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		name, listen, token, says string
		code                      int
	}{
		{"open to all", "0.0.0.0:0", "", "would let anyone stop the crawl. Set admin.token_file", exitInvalidInput},
		{"open to all, in short", ":0", "", "would let anyone stop the crawl", exitInvalidInput},
		{"token too short", "0.0.0.0:0", file, "at least 16 characters", exitInvalidInput},
		{"no token file", "127.0.0.1:0", file + ".nowhere", "admin.token_file", exitInvalidInput},
		{"no port", "localhost", "", "must be host:port", exitInvalidInput},
		{"taken", taken.Addr().String(), "", "is in use by another program. --admin 127.0.0.1:0", exitError},
		{"none", "off", "", "", exitOK},
	} {
		t.Setenv("GAZEHOUND_ADMIN__TOKEN_FILE", c.token)
		var out, complaints bytes.Buffer
		code := run(t.Context(), append([]string{"crawl", "--max-pages", "1", "--admin", c.listen}, flags...), nil, &out, &complaints)
		if code != c.code || !strings.Contains(complaints.String(), c.says) {
			t.Errorf("%s: exit %d, %s", c.name, code, complaints.String())
		}
		if _, err := os.Stat(project{data}.admin()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: admin.json is left", c.name)
		}
	}
}

// A crawl that eats into the disk reserve is not well.
func TestTroubles(t *testing.T) {
	r := &monitor.Recorder{Board: monitor.NewBoard(), Dir: t.TempDir()}
	if why := r.Troubles(0, "0"); len(why) > 0 {
		t.Errorf("of a crawl that is well: %v", why)
	}
	r.Board.Tick(monitor.Snapshot{At: time.Now().Add(-time.Hour)})
	if why := strings.Join(r.Troubles(1e18, "1EB"), "\n"); !strings.Contains(why, "are free on the disk") || !strings.Contains(why, "no sign of life") {
		t.Errorf("troubles: %s", why)
	}
}
