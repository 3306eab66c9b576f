package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gazehound/crawler/monitor"
)

// The orders of ctl apply at once and outlive the run: no host gets a request sooner than ordered,
// and an excluded one gets none.
func TestStandingOrders(t *testing.T) {
	if testing.Short() {
		t.Skip("two runs of a crawl with delays")
	}
	t.Parallel() // it mostly waits
	data, flags, town, ledger := servedTown(t)
	args := append(append([]string{"crawl"}, flags...), "--delay", "200ms", "--workers", "4", "--admin", "127.0.0.1:0", "--stats", "1h")
	p := startProgram(t, args...)
	d := ready(t, data, 5)
	ctl := func(want int, args ...string) {
		t.Helper()
		var out, complaints bytes.Buffer
		if code := run(t.Context(), append(append([]string{"ctl"}, args...), "--data", data), nil, &out, &complaints); code != want {
			t.Fatalf("ctl %v: exit %d, %s", args, code, complaints.String())
		}
	}
	ctl(exitOK, "pause")
	d.held(t)
	slow, excluded := queuedHosts(t, d)
	seed := town.Seeds()[0]
	for _, u := range town.Seeds() {
		if u.Host() != slow && u.Host() != excluded {
			seed = u
		}
	}
	ctl(exitOK, "exclude", "--host", excluded)
	ctl(exitOK, "delay", "400ms")
	ctl(exitOK, "delay", "1s", "--host", slow)
	ctl(exitError, "delay", "100ms")
	ctl(exitError, "seeds", "http://"+excluded+"/new")
	ctl(exitOK, "seeds", seed.String()+"brand-new")

	before := len(ledger.Requests())
	after := func(host, path string) (found []request) {
		for _, r := range ledger.Requests()[before:] {
			if (host == "" || r.Host == host) && strings.HasPrefix(r.Path, path) {
				found = append(found, r)
			}
		}
		return found
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("it never comes to %s", what)
			}
		}
	}
	ctl(exitOK, "resume")
	until("the new seed and the slow host", func() bool { return len(after(seed.Host(), "/brand-new")) > 0 && len(after(slow, "/")) > 2 })
	p.Process.Signal(syscall.SIGTERM)
	if code := p.end(t); code != exitStopped {
		t.Errorf("exit %d after SIGTERM, want %d", code, exitStopped)
	}

	p = startProgram(t, args...)
	p.says(t, "3 of \"gazehound ctl\" from before go on")
	slowly := len(after(slow, "/"))
	ready(t, data, 20)
	until("the slow host again", func() bool { return len(after(slow, "/")) > slowly+1 })
	ctl(exitOK, "stop")
	p.end(t)

	for _, r := range after(excluded, "/") {
		if r.Path != "/robots.txt" { // to which another host's may have moved
			t.Errorf("%s of %s was asked for, which was left out", r.Path, excluded)
		}
	}
	last := map[string]time.Time{}
	all := after("", "/")
	slices.SortFunc(all, func(a, b request) int { return a.Began.Compare(b.Began) })
	for _, r := range all {
		least := 400 * time.Millisecond
		if r.Host == slow {
			least = time.Second
		}
		if gap := r.Began.Sub(last[r.Host]); gap < least {
			t.Errorf("%s was asked for %s after %v; %v were ordered", r.Host, r.Path, gap, least)
		}
		last[r.Host] = r.Began
	}
}

// queuedHosts returns the two hosts with the most links among the next ones.
func queuedHosts(t *testing.T, d adminAddress) (first, second string) {
	t.Helper()
	var table struct{ Links []monitor.Link }
	_, body := d.get(t, "v1/crawl/frontier?limit=100")
	if err := json.Unmarshal([]byte(body), &table); err != nil {
		t.Fatal(err)
	}
	links := map[string]int{}
	for _, l := range table.Links {
		links[mustParse(t, l.URL).Host()]++
	}
	var names []string
	for name := range links {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return links[b] - links[a] })
	if len(names) < 2 {
		t.Fatalf("the queue has %d hosts: %s", len(names), body)
	}
	return names[0], names[1]
}
