package warc

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gazehound/crawler/weburl"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/nlnwa/gowarc"
)

// response returns a WARC record by hand. http is the recorded exchange.
func response(url, http string) string {
	return fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: 2026-11-21T10:00:00Z\r\n"+
		"WARC-Record-ID: <urn:uuid:dd2a40aa-968a-5d11-be05-72747a288d23>\r\n"+
		"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", url, len(http), http)
}

const info = "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Date: 2026-11-21T10:00:00Z\r\n" +
	"WARC-Record-ID: <urn:uuid:b810da4a-fcde-5983-9d6b-76c296a5bb3e>\r\nContent-Type: application/warc-fields\r\nContent-Length: 14\r\n\r\nsoftware: us\r\n\r\n\r\n"

func html(body string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
}

func zipText(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(s))
	z.Close()
	return b.String()
}

// write makes a WARC file of records, gzipped one by one for a name in .gz.
func write(t testing.TB, name string, records ...string) string {
	t.Helper()
	var b strings.Builder
	for _, r := range records {
		if strings.HasSuffix(name, ".gz") {
			r = zipText(r)
		}
		b.WriteString(r)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func open(t testing.TB, paths ...string) *Archive {
	t.Helper()
	a, err := Open(paths...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func mustURL(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestFetch(t *testing.T) {
	records := []string{
		info,
		response("http://a.example/", html("home")),
		response("<http://a.example/dir/>", html("dir")),
		response("http://a.example/site/index.html", html("site")),
		response("http://a.example/page.html", html("page")),
		response("http://a.example/bare", html("bare")),
		response("http://a.example/q?b=2&a=1", html("query")),
		response("http://a.example/gone", "HTTP/1.1 410 Gone\r\n\r\nno more"),
		response("http://a.example/old", "HTTP/1.0 302 Found\r\nLocation: /new\r\n\r\n"),
		response("http://moved.example/", "HTTP/1.1 301 Moved\r\nLocation: https://moved.example/\r\n\r\n"),
		response("https://moved.example/", html("secure")),
		response("http://a.example/twice", html("first")),
		response("http://a.example/twice", html("second")),
		response("http://a.example/track?utm_source=x", html("tracked")),
		response("dns:a.example", html("no page")),
		response("http://a.example/broken", "not http"),
		response("http://a.example/oddheader", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nbroken line\r\nX: y\r\n\r\nodd"),
		response("http://a.example/latin", "HTTP/1.1 200\r\n\r\nStra\xdfe"),
	}
	tests := []struct {
		url    string
		status int
		body   string
		to     string
	}{
		{"http://a.example/", 200, "home", ""},
		{"https://a.example/index.php", 200, "home", ""},
		{"https://A.example/#top", 200, "home", ""},
		{"http://a.example/dir", 301, "", "http://a.example/dir/"},
		{"https://a.example/dir", 301, "", "https://a.example/dir/"},
		{"http://a.example/dir/", 200, "dir", ""},
		{"http://a.example/dir/index.html", 200, "dir", ""},
		{"http://a.example/dir/index.htm", 200, "dir", ""},
		{"http://a.example/site", 301, "", "http://a.example/site/"},
		{"http://a.example/site/", 200, "site", ""},
		{"http://a.example/page", 200, "page", ""},
		{"http://a.example/bare/", 301, "", "http://a.example/bare"},
		{"http://a.example/q?b=2&a=1", 200, "query", ""},
		{"http://a.example/q?a=1&b=2", 404, "", ""},
		{"http://a.example/dir?x=1", 404, "", ""},
		{"http://a.example/gone", 410, "no more", ""},
		{"http://a.example/old", 302, "", "http://a.example/new"},
		{"http://moved.example/", 200, "secure", ""},
		{"http://a.example/twice", 200, "first", ""},
		{"http://a.example/track?utm_medium=y", 200, "tracked", ""},
		{"http://a.example/broken", 404, "", ""},
		{"http://a.example/oddheader", 200, "odd", ""},
		{"http://a.example/latin", 200, "Stra\xdfe", ""},
		{"http://b.example/", 404, "", ""},
		{"http://a.example/page.htm", 404, "", ""},
	}
	for _, name := range []string{"web.warc", "web.warc.gz"} {
		a := open(t, write(t, name, records...))
		if s := a.Stats(); s.Files != 1 || s.Records != 18 || s.Responses != 17 || s.Skipped != 2 || s.URLs != 13 || len(s.Warnings) != 0 {
			t.Errorf("%s: stats = %+v", name, s)
		}
		for _, test := range tests {
			r, err := a.Fetch(context.Background(), mustURL(t, test.url))
			if err != nil {
				t.Errorf("%s: %s: %v", name, test.url, err)
				continue
			}
			if r.Status != test.status || string(r.Body) != test.body || r.Location.String() != test.to {
				t.Errorf("%s: %s = %d %q → %q, want %d %q → %q", name, test.url,
					r.Status, r.Body, r.Location, test.status, test.body, test.to)
			}
			if test.status == 200 && !r.Fetched.Equal(time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)) {
				t.Errorf("%s: %s fetched at %v", name, test.url, r.Fetched)
			}
			if r.Header == nil {
				t.Errorf("%s: %s has no header", name, test.url)
			}
		}
	}
}

func TestFetchEncodings(t *testing.T) {
	const text = "<p>Lindenstraße 12</p>"
	var br, zs bytes.Buffer
	bw := brotli.NewWriter(&br)
	bw.Write([]byte(text))
	bw.Close()
	zw, _ := zstd.NewWriter(&zs)
	zw.Write([]byte(text))
	zw.Close()
	chunked := fmt.Sprintf("8\r\n%s\r\n%x;ext=1\r\n%s\r\n0\r\n\r\n", text[:8], len(text)-8, text[8:])
	zipped := zipText(text)
	tests := map[string]string{
		"plain":           "\r\n" + text,
		"length too long": "Content-Length: 9999\r\n\r\n" + text,
		"length short":    "Content-Length: 3\r\n\r\n" + text,
		"chunked":         "Transfer-Encoding: chunked\r\n\r\n" + chunked,
		"dechunked":       "Transfer-Encoding: chunked\r\n\r\n" + text,
		"gzip":            "Content-Encoding: gzip\r\n\r\n" + zipped,
		"gunzipped":       "Content-Encoding: gzip\r\n\r\n" + text,
		"chunked gzip":    fmt.Sprintf("Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(zipped), zipped),
		"brotli":          "Content-Encoding: br\r\n\r\n" + br.String(),
		"brotli undone":   "Content-Encoding: br\r\n\r\n" + text,
		"zstd":            "Content-Encoding: zstd\r\n\r\n" + zs.String(),
		"deflate undone":  "Content-Encoding: deflate\r\n\r\n" + text,
		"unknown":         "Content-Encoding: rot13\r\n\r\n" + text,
	}
	for name, rest := range tests {
		a := open(t, write(t, "web.warc.gz", response("http://a.example/", "HTTP/1.1 200 OK\r\n"+rest)))
		r, err := a.Fetch(context.Background(), mustURL(t, "http://a.example/"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if string(r.Body) != text {
			t.Errorf("%s: body = %q, want %q", name, r.Body, text)
		} else if h := r.Header; h.Get("Content-Encoding")+h.Get("Transfer-Encoding")+h.Get("Content-Length") != "" {
			t.Errorf("%s: header = %v of a decoded body", name, h)
		}
	}
}

func TestFetchLimitsBody(t *testing.T) {
	bomb := "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + zipText(strings.Repeat("x", 1<<20))
	a := open(t, write(t, "web.warc.gz", response("http://a.example/", bomb)))
	a.MaxBody = 1 << 16
	if _, err := a.Fetch(context.Background(), mustURL(t, "http://a.example/")); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error = %v, want ErrTooLarge", err)
	}
	a.MaxBody = 1 << 20
	if r, err := a.Fetch(context.Background(), mustURL(t, "http://a.example/")); err != nil || len(r.Body) != 1<<20 {
		t.Errorf("a body of just the limit: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	empty := t.TempDir()
	one := response("http://a.example/", html("home"))
	whole := write(t, "whole.warc.gz", one+one)
	tests := []struct {
		paths []string
		want  string
	}{
		{nil, "no file given"},
		{[]string{filepath.Join(empty, "none.warc")}, "none.warc: file does not exist"},
		{[]string{empty}, "no *.warc or *.warc.gz file in folder"},
		{[]string{write(t, "x.warc", "")}, "not a WARC file (it is empty)"},
		{[]string{write(t, "x.zip", "PK\x03\x04...")}, "not a WARC file (starts with PK: a zip; for WACZ"},
		{[]string{write(t, "x.warc", "<html>")}, `not a WARC file (starts with "<html>")`},
		{[]string{write(t, "x.warc.gz", "<html>")}, "not a WARC file"},
		{[]string{write(t, "x.warc", "WARC/1.1")}, "unexpected EOF"},
		{[]string{write(t, "x.warc", "WARC/\r\n\r\n")}, "x.warc: "},
		{[]string{write(t, "x.warc", info)}, "no HTTP response with a usable URL in"},
		{[]string{whole}, "compressed as a whole"},
	}
	for _, test := range tests {
		a, err := Open(test.paths...)
		if err == nil {
			a.Close()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Open(%q) = %v, want …%s…", test.paths, err, test.want)
		}
	}
}

func TestOpenFolder(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"b.warc", "a.WARC.GZ", "notes.txt"} {
		body := response(fmt.Sprintf("http://h%d.example/", i), html("x"))
		if strings.HasSuffix(name, "GZ") {
			body = zipText(body)
		}
		os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644)
	}
	if s := open(t, dir).Stats(); s.Files != 2 || s.URLs != 2 {
		t.Errorf("stats = %+v, want 2 files and 2 URLs", s)
	}
}

// A file cut anywhere is used up to the record that was cut, with a warning,
// and never read wrongly.
func TestOpenTruncated(t *testing.T) {
	records := []string{response("http://a.example/1", html("one")), response("http://a.example/2", html(strings.Repeat("two", 50)))}
	for _, name := range []string{"web.warc", "web.warc.gz"} {
		raw, err := os.ReadFile(write(t, name, records...))
		if err != nil {
			t.Fatal(err)
		}
		first := len(records[0])
		if strings.HasSuffix(name, ".gz") {
			first = len(zipText(records[0]))
		}
		for cut := first + 1; cut < len(raw)-4; cut++ {
			file := filepath.Join(t.TempDir(), name)
			os.WriteFile(file, raw[:cut], 0o644)
			a, err := Open(file)
			if err != nil {
				t.Fatalf("%s cut at %d: %v", name, cut, err)
			}
			s := a.Stats()
			if s.URLs != 1 || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], fmt.Sprintf("record at byte %d of %d", first, cut)) {
				t.Errorf("%s cut at %d: stats = %+v", name, cut, s)
			}
			a.Close()
		}
	}
}

func TestGowarcWriterIsRead(t *testing.T) {
	dir := t.TempDir()
	w := gowarc.NewWarcFileWriter(gowarc.WithFileNameGenerator(&gowarc.PatternNameGenerator{Directory: dir}))
	b := gowarc.NewRecordBuilder(gowarc.Response)
	b.AddWarcHeader(gowarc.WarcTargetURI, "http://a.example/straße")
	b.AddWarcHeader(gowarc.WarcDate, "2026-11-21T10:00:00Z")
	b.AddWarcHeader(gowarc.ContentType, "application/http;msgtype=response")
	b.WriteString(html("written"))
	rec, _, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if res := w.Write(rec); res[0].Err != nil {
		t.Fatal(res[0].Err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := open(t, dir).Fetch(context.Background(), mustURL(t, "https://a.example/stra%C3%9Fe"))
	if err != nil || string(r.Body) != "written" {
		t.Errorf("Fetch = %+v, %v", r, err)
	}
}

// The law: whatever the bytes, opening ends, and every response that is found
// can be fetched or says why not.
func FuzzOpen(f *testing.F) {
	good := response("http://a.example/", html("home"))
	f.Add([]byte(good + info + good))
	f.Add([]byte(zipText(info) + zipText(good)))
	f.Add([]byte(zipText(good)[:100]))
	f.Add([]byte("WARC/1.0\nWARC-Type: response\nContent-Length: 9\n\nx"))
	f.Add([]byte("WARC/1.0\r\nWARC-Block-Digest: crc:1\r\nContent-Type: application/http\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file := filepath.Join(t.TempDir(), "f.warc")
		os.WriteFile(file, raw, 0o644)
		a, err := Open(file)
		if err != nil {
			return
		}
		defer a.Close()
		s := a.Stats()
		if s.URLs == 0 || s.URLs > s.Responses-s.Skipped || s.Responses > s.Records || s.Records > len(raw)/10 {
			t.Errorf("stats = %+v of %d bytes", s, len(raw))
		}
		for k, p := range a.index {
			if p.offset >= int64(len(raw)) {
				t.Errorf("record %x at %d of %d", k, p.offset, len(raw))
			}
			if r, err := a.read(mustURL(t, "http://a.example/"), p); err == nil && (r.Status < 100 || r.Header == nil) {
				t.Errorf("response = %+v", r)
			}
		}
	})
}

// irvine returns the folder of the real recorded web, which the repository
// does not hold.
func irvine(t testing.TB) string {
	t.Helper()
	dir, _ := filepath.Abs(".")
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above this package")
		}
		dir = filepath.Dir(dir)
	}
	web := filepath.Join(dir, "..", "shared", "data", "web", "irvine")
	if _, err := os.Stat(web); err != nil {
		t.Skipf("the real web is not here: %v", err)
	}
	return web
}

func irvineURLs(t testing.TB, dir string) []weburl.URL {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "pages.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	var urls []weburl.URL
	for {
		row, err := r.Read()
		if err == io.EOF {
			return urls[1:]
		} else if err != nil {
			t.Fatal(err)
		}
		u, _ := weburl.Parse(row[0])
		urls = append(urls, u)
	}
}

func TestEvalRealWeb(t *testing.T) {
	if testing.Short() {
		t.Skip("opens 66 MB")
	}
	dir := irvine(t)
	urls := irvineURLs(t, dir)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	a := open(t, dir)
	took := time.Since(began)
	a.readers = sync.Pool{New: a.readers.New} // keep the index alone
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	s := a.Stats()
	t.Logf("opened in %v: %+v, %.0f heap bytes per URL", took.Round(time.Millisecond), s, float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/float64(s.URLs))
	if s.Files != 2 || s.Responses < 25889 || s.Skipped != 0 || len(s.Warnings) != 0 {
		t.Errorf("stats = %+v, want 25,889 responses or more", s)
	}

	if len(urls) != 25889 {
		t.Fatalf("%d URLs in pages.tsv", len(urls))
	}
	began = time.Now()
	var wg sync.WaitGroup
	for worker := range 2 {
		wg.Go(func() {
			for i := worker; i < len(urls); i += 2 {
				r, err := a.Fetch(context.Background(), urls[i])
				if err != nil || r.Status != 200 || len(r.Body) == 0 {
					t.Errorf("%s: %+v, %v", urls[i], r, err)
					return
				}
			}
		})
	}
	wg.Wait()
	took = time.Since(began)
	t.Logf("fetched all in %v: %.0f/s with 2 goroutines", took.Round(time.Millisecond), float64(len(urls))/took.Seconds())
}

func BenchmarkFetch(b *testing.B) {
	dir := irvine(b)
	a, urls := open(b, dir), irvineURLs(b, dir)
	i := 0
	var size int64
	for b.Loop() {
		r, err := a.Fetch(context.Background(), urls[i%len(urls)])
		if err != nil {
			b.Fatal(err)
		}
		size += int64(len(r.Body))
		i++
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(float64(size)/1e6/b.Elapsed().Seconds(), "MB/s")
}
