//go:build unix

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/index"
)

// mentionsIn returns of each address of an index by how many pages of which URLs it is stated; a record
// keeps all of so few.
func mentionsIn(t *testing.T, data string) map[string][]string {
	t.Helper()
	x, err := index.OpenReadOnly(project{data}.index())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	all := map[string][]string{}
	err = x.Walk(t.Context(), index.Filters{}, func(h *index.Hit) error {
		for _, e := range h.Evidence {
			all[h.ID] = append(all[h.ID], e.URL)
		}
		if len(h.Evidence) != h.Mentions {
			t.Errorf("%s has %d pages and shows %d", h.Line(), h.Mentions, len(h.Evidence))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Two nodes and a follower are killed in the middle of a crawl and come back. At the end the follower has
// what both nodes have found, no page less and none more.
func TestFollowerOfNodesKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("runs three processes for half a minute")
	}
	t.Parallel() // it mostly waits
	w := newNodesWeb(t, 40)
	data := t.TempDir()
	follow := func() *nodeProcess {
		return startCommand(t, []string{os.Args[0], "serve", "--follow", w.url, "--data", data, "--listen", "127.0.0.1:0"})
	}
	a, b := w.start("a", "--wait-for", "2", "--delay", "100ms"), w.start("b", "--wait-for", "2", "--delay", "100ms")
	a.reach(t, 10)
	f := follow()
	for range 3 {
		b.reach(t, 20)
		b.Process.Kill()
		<-b.ended
		b = w.start("b", "--delay", "100ms")
		b.reach(t, 5)
		f.Process.Kill()
		<-f.ended
		f = follow()
	}
	for name, p := range map[string]*nodeProcess{"a": a, "b": b} {
		p.end(t, name, w.url)
	}
	want := mentionsIn(t, w.dirs["a"])
	for id, urls := range mentionsIn(t, w.dirs["b"]) {
		want[id] = append(want[id], urls...)
	}
	if len(want) < 20 {
		t.Fatalf("the nodes have found %d addresses", len(want))
	}
	var got map[string][]string
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Second) {
		f.Process.Kill()
		<-f.ended
		if fileExists(filepath.Join(data, "index", "index.json")) {
			got = mentionsIn(t, data)
		}
		if len(got) == len(want) || time.Now().After(end) {
			break
		}
		f = follow()
	}
	for id, urls := range want {
		slices.Sort(urls)
		slices.Sort(got[id])
		if !slices.Equal(urls, got[id]) {
			t.Errorf("%s is stated by %q, at the follower by %q", id, urls, got[id])
		}
		delete(got, id)
	}
	if len(got) > 0 {
		t.Errorf("the follower has what no node has: %q", slices.Sorted(maps.Keys(got)))
	}
}

// A crawl does not write into the directory of a follower, and leaves no trace there.
func TestCrawlBesideFollower(t *testing.T) {
	t.Parallel()
	data, flags := townProject(t)
	if err := os.WriteFile(project{data}.follows(), []byte("gazehound\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs lockedBuffer
	code := run(t.Context(), append([]string{"crawl", "--max-pages", "3"}, flags...), strings.NewReader(""), &out, &errs)
	if code != exitInvalidInput || !strings.Contains(errs.String(), "follows the crawl gazehound on other machines") {
		t.Errorf("exit %d: %s", code, &errs)
	}
	if fileExists(project{data}.frontier()) || fileExists(project{data}.index()) {
		t.Error("the crawl has begun")
	}
}
