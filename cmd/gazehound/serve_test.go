package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/index"

	"github.com/paulmach/orb"
)

// A lockedBuffer is a buffer that one goroutine writes and another reads.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// runServe runs "gazehound serve" with args until the test says stop, and
// returns its address.
func runServe(t *testing.T, data string, args ...string) (url string, stderr *lockedBuffer, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stdout, stderr := &lockedBuffer{}, &lockedBuffer{}
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, args...), strings.NewReader(""), stdout, stderr)
	}()
	stopped := false
	stop = func() int {
		if stopped {
			return 0
		}
		stopped = true
		cancel()
		select {
		case c := <-code:
			return c
		case <-time.After(20 * time.Second):
			t.Fatal("serve does not end")
			return -1
		}
	}
	t.Cleanup(func() { stop() })
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`)
	for range 1000 {
		if m := address.FindString(stderr.String() + stdout.String()); m != "" {
			return m, stderr, stop
		}
		select {
		case c := <-code:
			stopped = true
			t.Fatalf("serve ended with %d: %s", c, stderr.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatalf("serve does not start: %s", stderr.String())
	return "", nil, nil
}

func fetchText(t *testing.T, url string) (int, string) {
	t.Helper()
	client := http.Client{Timeout: 10 * time.Second}
	r, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

// shopIndex makes a data directory with one page in its index.
func shopIndex(t *testing.T) string {
	t.Helper()
	data := t.TempDir()
	x, err := index.Open(project{data}.index())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	text := "Tischlerei Harms\nNadorster Straße 12a, 26123 Oldenburg"
	err = x.Put(t.Context(), index.Document{URL: "https://harms.example/", Title: "Tischlerei Harms", Text: text, Lang: "de", Fetched: time.Now(), Addresses: []geoparse.Address{{
		Text: "Nadorster Straße 12a, 26123 Oldenburg", Start: 17, End: 54, Street: "Nadorster Straße", HouseNumber: "12a", Postcode: "26123", City: "Oldenburg", Country: "DE",
		Level: geoparse.VerifiedLevel, Confidence: 0.9, Precision: gazetteer.HousePrecision, Point: orb.Point{8.2187, 53.1526}, InRegion: true}}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestServe(t *testing.T) {
	t.Parallel()
	data := shopIndex(t)
	r := gazetteer.Region{Name: "Oldenburg", Area: orb.MultiPolygon{{{{8.1, 53.1}, {8.3, 53.1}, {8.3, 53.2}, {8.1, 53.2}, {8.1, 53.1}}}}}
	if err := r.Write(project{data}.region()); err != nil {
		t.Fatal(err)
	}
	url, stderr, stop := runServe(t, data)
	if status, body := fetchText(t, url+"v1/search?q=tischlerei"); status != 200 || !strings.Contains(body, "Nadorster Straße") {
		t.Errorf("search: %d %s", status, body)
	}
	if status, body := fetchText(t, url); status != 200 || !strings.Contains(body, "Oldenburg") || !strings.Contains(body, `class="land"`) {
		t.Errorf("page: %d %s", status, body)
	}
	// Others may read the same data at once.
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"search", "--data", data, "tischlerei"}, strings.NewReader(""), &out, &errs); code != 0 || !strings.Contains(out.String(), "Tischlerei Harms") {
		t.Errorf("search beside serve: %d %s %s", code, out.String(), errs.String())
	}
	if code := stop(); code != exitOK {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}

// SIGTERM ends the server after the answers that run, with success.
func TestServeSignal(t *testing.T) {
	url, _, _ := runServe(t, shopIndex(t))
	fetchText(t, url)
	terminate(t)
	for range 500 {
		c, err := net.DialTimeout("tcp", strings.Trim(strings.TrimPrefix(url, "http://"), "/"), time.Second)
		if err != nil {
			return
		}
		c.Close()
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the server still answers after SIGTERM")
}

func TestServeEmpty(t *testing.T) {
	url, stderr, _ := runServe(t, t.TempDir())
	if status, body := fetchText(t, url); status != 200 || !strings.Contains(body, "No pages yet.") || !strings.Contains(body, "Start: gazehound crawl") {
		t.Errorf("page: %d %s", status, body)
	}
	if !strings.Contains(stderr.String(), "the index is empty") {
		t.Errorf("stderr %q", stderr.String())
	}
}

// A server that was started before the first crawl takes up its index.
func TestServeBeforeCrawl(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	url, _, _ := runServe(t, data)
	if status, body := fetchText(t, url+"readyz"); status != 503 || !strings.Contains(body, "no pages yet; start: gazehound crawl") {
		t.Fatalf("readyz: %d %s", status, body)
	}
	if status, body := fetchText(t, url+"v1/search?q=tischlerei"); status != 200 || !strings.Contains(body, `"numberMatched":0`) {
		t.Errorf("search: %d %s", status, body)
	}
	if err := os.Rename(project{shopIndex(t)}.index(), project{data}.index()); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if status, _ := fetchText(t, url+"readyz"); status == 200 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if status, body := fetchText(t, url+"v1/search?q=tischlerei"); status != 200 || !strings.Contains(body, "Nadorster Straße") {
		t.Errorf("search: %d %s", status, body)
	}
}

// Malformed requests: the server answers or closes the connection, and keeps serving.
func TestServeRude(t *testing.T) {
	t.Parallel()
	url, _, _ := runServe(t, shopIndex(t))
	address := strings.Trim(strings.TrimPrefix(url, "http://"), "/")
	say := func(text string) string {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(20 * time.Second))
		go io.WriteString(c, text) // the server may hang up before the end
		answer, _ := bufio.NewReader(c).ReadString('\n')
		return answer
	}
	for name, c := range map[string]struct{ text, want string }{
		"header flood": {"GET / HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 100) + "\r\n", "431"},
		"long line":    {"GET /" + strings.Repeat("a", 100_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "431"},
		"long target":  {"GET /" + strings.Repeat("a", 10_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "414"},
		"no host":      {"GET / HTTP/1.1\r\n\r\n", "400"},
		"two hosts":    {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
		"other host":   {"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421"},
		"absolute":     {"GET http://evil.example/status HTTP/1.1\r\nHost: localhost\r\n\r\n", "421"},
		"garbage":      {"\x16\x03\x01\x02\x00\x01\r\n\r\n", "400"},
		"body":         {"GET /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n" + strings.Repeat("a", 300_000), "200"},
		"both lengths": {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "405"},
		"proxy":        {"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", "421"},
		"path":         {"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "307"},
	} {
		if got := say(c.text); !strings.Contains(got, " "+c.want+" ") {
			t.Errorf("%s: %q, want %s", name, got, c.want)
		}
	}
	if status, _ := fetchText(t, url+"healthz"); status != 200 {
		t.Errorf("afterwards: %d", status)
	}
}

func TestServeJSON(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"serve", "--data", shopIndex(t), "--listen", "127.0.0.1:0", "--json"}, strings.NewReader(""), w, io.Discard)
		w.Close()
	}()
	line, err := bufio.NewReader(r).ReadBytes('\n')
	var v struct{ Type, URL string }
	if err != nil || json.Unmarshal(line, &v) != nil || v.Type != "serving" || !strings.HasPrefix(v.URL, "http://127.0.0.1:") {
		t.Errorf("%q, %v", line, err)
	}
	cancel()
	go io.Copy(io.Discard, r)
	if code := <-done; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestServeProblems(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	locked := shopIndex(t)
	x, err := index.Open(project{locked}.index())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	damaged := shopIndex(t)
	if err := os.Truncate(filepath.Join(project{damaged}.index(), "bleve", "store", "root.bolt"), 4096); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"serve", "--data", shopIndex(t), "--listen", address}, exitError, "error: " + address + " is in use by another program. --listen 127.0.0.1:0 picks a free port"},
		{[]string{"search", "--data", locked, "x"}, exitLocked, "is in use by a running crawl"},
		{[]string{"serve", "--data", damaged}, exitInvalidInput, "damaged"},
	} {
		var out, errs bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		code := run(ctx, c.args, strings.NewReader(""), &out, &errs)
		cancel()
		if code != c.code || !strings.Contains(errs.String(), c.want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%q: %d %s, want %d %s", c.args, code, errs.String(), c.code, c.want)
		}
	}
}
