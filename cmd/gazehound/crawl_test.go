package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/monitor"
)

// townProject makes a data directory of a small made-up town that a proxy on
// loopback serves, and returns the flags that crawl it.
func townProject(t *testing.T) (data string, flags []string) {
	data, flags, _, _ = servedTown(t)
	return data, flags
}

// A requestLedger keeps the requests that a handler answered. It is safe for concurrent use.
type requestLedger struct {
	http.Handler
	mu       sync.Mutex
	requests []request
	at       int    // the number of answers after which do runs
	do       func() // nil: nothing
}

// A request is one line of a requestLedger.
type request struct {
	Began      time.Time
	Host, Path string // the path with its query
	Status     int    // 0: the connection was closed
}

func (l *requestLedger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	seen := request{Began: time.Now(), Host: r.Host, Path: r.URL.RequestURI()}
	if r.URL.IsAbs() {
		seen.Host = r.URL.Host
	}
	answer := &statusWriter{ResponseWriter: w}
	defer func() {
		seen.Status = answer.status
		l.mu.Lock()
		defer l.mu.Unlock()
		l.requests = append(l.requests, seen)
		if l.do != nil && len(l.requests) == l.at {
			l.do()
		}
	}()
	l.Handler.ServeHTTP(answer, r)
}

// after calls do once after so many answers.
func (l *requestLedger) after(answers int, do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.do = answers, do
}

// Requests returns the requests in the order in which they were answered.
func (l *requestLedger) Requests() []request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.requests)
}

// fetches counts how often each page was sent, but for paths that contain one of these texts.
func (l *requestLedger) fetches(without ...string) map[string]int {
	fetched := map[string]int{}
	for _, r := range l.Requests() {
		other := slices.ContainsFunc(without, func(text string) bool { return strings.Contains(r.Path, text) })
		if r.Status == http.StatusOK && !other {
			fetched[r.Host+r.Path]++
		}
	}
	return fetched
}

// A statusWriter knows the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// servedTown is townProject with the town and the ledger of its server.
func servedTown(t *testing.T) (data string, flags []string, town *demo.Town, ledger *requestLedger) {
	t.Helper()
	return projectOf(t, smallTown())
}

// smallTown returns the options of testdata/towns/small.txt.
func smallTown() demo.Options {
	o, err := demo.ParseOptions(strings.TrimSpace(crawltest.Fixture("towns/small.txt")))
	if err != nil {
		panic(err)
	}
	return o
}

// projectOf is servedTown of a town with these options.
func projectOf(t *testing.T, o demo.Options) (data string, flags []string, town *demo.Town, ledger *requestLedger) {
	t.Helper()
	made, err := makeTown(o)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := demo.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	ledger = &requestLedger{Handler: made}
	go func() { done <- monitor.ServeHTTP(ctx, ln, ledger, longestPage) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	data = filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(data, os.DirFS(made.file("project"))); err != nil {
		t.Fatal(err)
	}
	flags = []string{"--data", data, "--seeds", made.file("seeds.txt"), "--proxy", "http://" + ln.Addr().String(), "--delay", "0s"}
	return data, flags, made.Town, ledger
}

func TestCrawlLocked(t *testing.T) {
	t.Parallel()
	data, flags := townProject(t)
	f, err := frontier.Open(frontier.Options{Dir: filepath.Join(data, "frontier")})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, command := range []string{"crawl", "retrain"} {
		args := []string{command, "--data", data}
		if command == "crawl" {
			args = append([]string{command}, flags...)
		}
		var out, complaints bytes.Buffer
		if code := run(t.Context(), args, nil, &out, &complaints); code != exitLocked || !strings.Contains(complaints.String(), "in use") {
			t.Errorf("%s: exit %d, %q; want 5 and that it is in use", command, code, complaints.String())
		}
	}
}

// terminate sends this process what a crawl or a server takes for the end.
func terminate(t *testing.T) {
	t.Helper()
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(syscall.SIGTERM)
	}
	if err != nil {
		t.Error(err)
	}
}

// One signal saves and exits with 11, and the same command goes on.
func TestCrawlStoppedBySignal(t *testing.T) {
	_, flags, _, ledger := servedTown(t)
	var out, complaints bytes.Buffer
	ledger.after(100, func() { terminate(t) }) // a crawl that requests pages hears signals
	code := run(t.Context(), append([]string{"crawl", "--json", "--quiet"}, flags...), nil, &out, &complaints)
	if code != exitStopped || !strings.Contains(out.String(), `"reason":"signal","exit_code":11`) {
		t.Fatalf("exit %d, %s%s; want 11", code, out.String(), complaints.String())
	}
	out.Reset()
	code = run(t.Context(), append([]string{"crawl", "--json", "--quiet", "--max-time", "300ms"}, flags...), nil, &out, &complaints)
	if code != exitTimeLimit || !strings.Contains(out.String(), `"resumed":true`) {
		t.Errorf("exit %d, %s%s; want 15 and resumed", code, out.String(), complaints.String())
	}
}

// A disk that is nearly full is not filled.
func TestCrawlDiskReserve(t *testing.T) {
	t.Parallel()
	_, flags := townProject(t)
	cmd := program(append([]string{"crawl", "--json", "--quiet"}, flags...)...)
	cmd.Env = append(cmd.Env, "GAZEHOUND_STORAGE__DISK_RESERVE=900000TB")
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != exitDiskReserve || !strings.Contains(string(out), "are free") {
		t.Errorf("exit %d, %s; want 16", code, out)
	}
}
