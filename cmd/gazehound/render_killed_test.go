package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gazehound/crawler/render"
)

// applications serves pages whose address scripts fetch, beside a town. data gets a token for each
// request of such a script before it is answered.
type applications struct {
	town    http.Handler
	address string
	data    chan string
	slow    atomic.Bool // the data take a second, so that a kill hits the rendering
}

func (a *applications) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := r.URL.Host
	switch {
	case !strings.HasPrefix(host, "app"):
		a.town.ServeHTTP(w, r)
	case r.URL.Path == "/data.json":
		select {
		case a.data <- host:
		default:
		}
		if a.slow.Load() {
			time.Sleep(time.Second)
		}
		json.NewEncoder(w).Encode(map[string]string{"text": "Laden " + host + ", " + a.address})
	case r.URL.Path == "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!DOCTYPE html><title>Laden</title><body><div id="root"></div><script type="module">
			const answer = await fetch("/data.json"), data = await answer.json()
			document.getElementById("root").innerHTML = "<h1>Laden</h1><p>" + data.text + "</p>"</script>`)
	default:
		http.NotFound(w, r)
	}
}

// A crawl that is killed while its browser renders renders that page again, once it is resumed, and no
// browser outlives it.
func TestRenderingKilled(t *testing.T) {
	if os.Getenv("GAZEHOUND_SOAK") == "" {
		t.Skip("make soak kills a crawl while it renders")
	}
	browser, err := render.New(render.DefaultOptions())
	if err != nil {
		t.Skip(err)
	}
	browser.Close()
	t.Parallel()
	const pages, kills = 20, 10
	data, flags, _, ledger := servedTown(t)
	runText(t, append([]string{"crawl", "--quiet", "--max-pages", "40"}, flags...)...)
	var found struct {
		Address string `json:"addr:full"`
	}
	line, _, _ := strings.Cut(runText(t, "export", "ndjson", "--quiet", "--data", data), "\n")
	if err := json.Unmarshal([]byte(line), &found); err != nil || found.Address == "" {
		t.Fatalf("%v: %s", err, line)
	}
	apps := &applications{town: ledger.Handler, address: found.Address, data: make(chan string, 1000)}
	ledger.Handler = apps
	config, seeds := filepath.Join(t.TempDir(), "render.yaml"), filepath.Join(t.TempDir(), "seeds.txt")
	var list strings.Builder
	for i := range pages {
		fmt.Fprintf(&list, "http://app%d.example/\n", i)
	}
	for name, text := range map[string]string{config: "fetch: {render: auto, render_share: 1}\n", seeds: list.String()} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args := append([]string{"crawl", "--quiet", "--config", config, "--seeds", seeds, "--max-pages", "100", "--serve", "off",
		"--admin", "off"}, flags...)
	apps.slow.Store(true)
	for range kills {
		for len(apps.data) > 0 {
			<-apps.data
		}
		crawl := program(args...)
		if err := crawl.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-apps.data:
			time.Sleep(100 * time.Millisecond)
		case <-time.After(time.Minute):
			t.Error("no page was rendered within a minute")
		}
		crawl.Process.Kill()
		crawl.Wait()
	}
	apps.slow.Store(false)
	if out, err := program(args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	listed := runText(t, "pages", "--data", data, "--json")
	for i := range pages {
		if page := fmt.Sprintf("http://app%d.example/", i); !strings.Contains(listed, page) {
			t.Errorf("%s is missing", page)
		}
	}
	if left := browsersOf(t, data); left != "" {
		t.Errorf("still running: %s", left)
	}
	if says := problems(t, data); says != "" {
		t.Error(says)
	}
}

// browsersOf returns the command lines of processes that name the data directory.
func browsersOf(t *testing.T, data string) (lines string) {
	t.Helper()
	for range 50 {
		lines = ""
		names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), data) {
				lines += strings.ReplaceAll(string(text), "\x00", " ") + "\n"
			}
		}
		if lines == "" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return lines
}
