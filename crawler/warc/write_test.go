package warc

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gazehound/crawler/page"

	"github.com/nlnwa/gowarc"
)

// A plainRecord is what readStrictly finds.
type plainRecord struct {
	offset int64
	header map[string]string
	block  []byte
}

// readStrictly reads a compressed WARC file by the letter of ISO 28500, with
// nothing but the standard library: a second opinion.
func readStrictly(t testing.TB, name string) []plainRecord {
	t.Helper()
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var records []plainRecord
	in := bytes.NewReader(file)
	for in.Len() > 0 {
		offset := int64(len(file) - in.Len())
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatalf("%s: no gzip member at byte %d: %v", name, offset, err)
		}
		z.Multistream(false)
		member, err := io.ReadAll(z)
		if err != nil {
			t.Fatalf("%s: gzip member at byte %d: %v", name, offset, err)
		}
		head, rest, ok := bytes.Cut(member, []byte("\r\n\r\n"))
		lines := strings.Split(string(head), "\r\n")
		if !ok || lines[0] != "WARC/1.1" {
			t.Fatalf("%s: the member at byte %d starts with %.40q", name, offset, member)
		}
		r := plainRecord{offset: offset, header: map[string]string{}}
		for _, line := range lines[1:] {
			key, value, ok := strings.Cut(line, ": ")
			if !ok || r.header[key] != "" {
				t.Fatalf("%s: header line %q at byte %d", name, line, offset)
			}
			r.header[key] = value
		}
		length, err := strconv.Atoi(r.header["Content-Length"])
		if err != nil || len(rest) != length+4 || string(rest[length:]) != "\r\n\r\n" {
			t.Fatalf("%s: the record at byte %d has %d bytes behind its header, length is %q", name, offset, len(rest), r.header["Content-Length"])
		}
		r.block = rest[:length]
		sum := sha256.Sum256(r.block)
		if want := "sha256:" + base32.StdEncoding.EncodeToString(sum[:]); r.header["WARC-Block-Digest"] != want {
			t.Fatalf("%s: block digest %s at byte %d, want %s", name, r.header["WARC-Block-Digest"], offset, want)
		}
		if _, body, ok := bytes.Cut(r.block, []byte("\r\n\r\n")); ok && r.header["WARC-Type"] == "response" {
			sum := sha256.Sum256(body)
			if want := "sha256:" + base32.StdEncoding.EncodeToString(sum[:]); r.header["WARC-Payload-Digest"] != want {
				t.Fatalf("%s: payload digest %s at byte %d, want %s", name, r.header["WARC-Payload-Digest"], offset, want)
			}
		}
		for _, key := range []string{"WARC-Type", "WARC-Record-ID", "WARC-Date"} {
			if r.header[key] == "" {
				t.Fatalf("%s: the record at byte %d has no %s", name, offset, key)
			}
		}
		records = append(records, r)
	}
	return records
}

// readWithLibrary reads a file with gowarc and its strictest validation.
func readWithLibrary(t testing.TB, name string) (kinds []string) {
	t.Helper()
	r, err := gowarc.NewWarcFileReader(name, 0, gowarc.WithStrictValidation())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		record, offset, validation, err := r.Next()
		if err == io.EOF {
			return kinds
		}
		if err == nil {
			err = record.ValidateDigest(validation)
		}
		if err != nil || !validation.Valid() {
			t.Fatalf("%s: gowarc at byte %d: %v, %v", name, offset, err, validation)
		}
		kinds = append(kinds, record.Type().String())
		record.Close()
	}
}

func newWriter(t testing.TB, dir string) *Writer {
	t.Helper()
	w, err := NewWriter(WriterOptions{Dir: dir, MaxFile: 1e6, Info: [][2]string{{"software", "gazehound/test"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func put(t testing.TB, w *Writer, c Capture) {
	t.Helper()
	if err := w.Write(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func capture(t testing.TB, url string, status int, body string) Capture {
	return Capture{
		Response: &page.Response{URL: mustURL(t, url), Status: status, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
			Body: []byte(body), RemoteIP: "127.0.0.1", Fetched: time.Date(2026, 11, 21, 10, 0, 0, 123e6, time.UTC),
			Request: http.Header{"User-Agent": {"gazehound/test"}, "Authorization": {"Basic c2VjcmV0"}, "Cookie": {"id=secret"}, "X-Key": {"id=secret"}}},
		Note: Note{Outcome: "page", Via: "http://a.example/", Depth: 1, Priority: 0.5, Relevant: true, Addresses: []string{"x"}},
	}
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, filepath.Join(dir, e.Name()))
	}
	return names
}

// putAllKinds writes one exchange of each kind.
func putAllKinds(t *testing.T, w *Writer) {
	t.Helper()
	put(t, w, capture(t, "http://a.example/one?q=ä", 200, "<p>one"))
	zipped := capture(t, "http://a.example/zipped", 200, "<p>zipped")
	zipped.Response.Header["Content-Encoding"] = []string{"gzip"}
	zipped.Response.Raw = []byte(zipText("<p>zipped"))
	put(t, w, zipped)
	decoded := capture(t, "http://a.example/decoded", 200, "<p>decoded")
	decoded.Response.Header["Content-Encoding"] = []string{"br"}
	decoded.Response.Header["X-Split"] = []string{"a\r\nInjected: b"}
	put(t, w, decoded)
	put(t, w, capture(t, "http://b.example/copy", 200, "<p>one")) // an identical body
	moved := capture(t, "http://a.example/moved", 301, "")
	moved.Response.Header["Location"] = []string{"/one"}
	put(t, w, moved)
	same := capture(t, "http://a.example/one?q=ä", 304, "")
	same.Before = same.Response.Fetched
	put(t, w, same)
	private := capture(t, "http://a.example/private", 200, "<p>no copy")
	private.NoteOnly, private.Note.Status = true, 200
	put(t, w, private)
	long := capture(t, "http://a.example/404", 404, "<p>beginning of")
	long.Response.Cut = true
	put(t, w, long)
}

func TestWriter(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir)
	putAllKinds(t, w)
	names := files(t, dir)
	if len(names) != 2 || !strings.HasSuffix(names[0], ".warc.gz.lock") ||
		!strings.HasSuffix(names[1], ".warc.gz.open") {
		t.Fatalf("files of an open writer: %q", names)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), capture(t, "http://a.example/late", 200, "")); !errors.Is(err, ErrClosed) {
		t.Errorf("Write after Close: %v", err)
	}
	names = files(t, dir)
	if len(names) != 1 || !strings.HasSuffix(names[0], ".warc.gz") {
		t.Fatalf("files of a closed writer: %q", names)
	}
	checkRecords(t, names[0])
	a := open(t, dir)
	checkAnswers(t, a)
	checkIndex(t, a, dir)
}

// checkRecords holds that a file has the records of putAllKinds, for us and for gowarc.
func checkRecords(t *testing.T, name string) {
	t.Helper()
	records := readStrictly(t, name)
	var kinds []string
	for _, r := range records {
		kinds = append(kinds, r.header["WARC-Type"])
		if bytes.Contains(r.block, []byte("c2VjcmV0")) || bytes.Contains(r.block, []byte("id=secret")) {
			t.Errorf("a secret of the request is kept: %s", r.block)
		}
		if bytes.Contains(r.block, []byte("<p>no copy")) {
			t.Errorf("a copy is kept: %s", r.block)
		}
		if bytes.Contains(r.block, []byte("\r\nInjected:")) {
			t.Errorf("a header value ends its line: %q", r.block)
		}
	}
	want := "warcinfo" + strings.Repeat(" request response metadata", 3) + " request revisit metadata" +
		" request response metadata request revisit metadata metadata request response metadata"
	if got := strings.Join(kinds, " "); got != want {
		t.Fatalf("records are\n %s, want\n %s", got, want)
	}
	if got := strings.Join(readWithLibrary(t, name), " "); got != want {
		t.Errorf("gowarc reads\n %s, want\n %s", got, want)
	}
	for i, fields := range map[int]map[string]string{
		11: {
			"WARC-Refers-To-Target-URI": "http://a.example/one?q=%C3%A4",
			"WARC-Refers-To-Date":       "2026-11-21T10:00:00.123Z",
			"WARC-Profile":              gowarc.ProfileIdenticalPayloadDigestV1_1,
			"WARC-Payload-Digest":       records[2].header["WARC-Payload-Digest"],
		},
		17: {"WARC-Profile": gowarc.ProfileServerNotModifiedV1_1},
		21: {"WARC-Truncated": "length"},
	} {
		for field, want := range fields {
			if got := records[i].header[field]; got != want {
				t.Errorf("%s of record %d, a %s, is %q, want %q", field, i, kinds[i], got, want)
			}
		}
	}
}

// checkAnswers holds that an archive answers with what putAllKinds has put into it, by URL and in order.
func checkAnswers(t *testing.T, a *Archive) {
	t.Helper()
	for url, body := range map[string]string{
		"http://a.example/one?q=ä": "<p>one", "http://a.example/zipped": "<p>zipped",
		"http://a.example/decoded": "<p>decoded", "http://b.example/copy": "<p>one",
	} {
		if r, err := a.Fetch(t.Context(), mustURL(t, url)); err != nil || string(r.Body) != body {
			t.Errorf("%s: %v, %v", url, r, err)
		}
	}
	var seen []string
	err := a.Walk(t.Context(), func(x Recorded) error {
		if x.Err != nil || x.Note == nil || !x.Note.Relevant || x.Note.Addresses[0] != "x" {
			t.Errorf("%s: %v, %+v", x.URL, x.Err, x.Note)
		}
		if x.Response == nil {
			seen = append(seen, fmt.Sprintf("%s %v %d", x.URL, x.At, x.Note.Status))
			return nil
		}
		seen = append(seen, fmt.Sprintf("%d %s", x.Response.Status, x.Response.Body))
		return nil
	})
	want := []string{
		"200 <p>one", "200 <p>zipped", "200 <p>decoded", "200 <p>one", "301 ", "304 <p>one",
		"http://a.example/private 2026-11-21 10:00:00.123 +0000 UTC 200", "404 <p>beginning of",
	}
	if err != nil || !slices.Equal(seen, want) {
		t.Errorf("walked %q, %v; want %q", seen, err, want)
	}
}

// checkIndex proves that each line of the index leads to its record.
func checkIndex(t *testing.T, a *Archive, dir string) {
	t.Helper()
	lines := 0
	err := a.Index(t.Context(), func(l IndexLine) error {
		lines++
		f, err := os.ReadFile(filepath.Join(dir, l.File))
		if err != nil {
			return err
		}
		z, err := gzip.NewReader(bytes.NewReader(f[l.Offset : l.Offset+l.Length])) // one member and nothing else
		if err != nil {
			return err
		}
		record, err := io.ReadAll(z)
		if err != nil || !strings.Contains(string(record), "WARC-Target-URI: "+l.URL+"\r\n") || strings.Count(string(record), "WARC/1.1\r\n") != 1 {
			t.Errorf("%s leads to %.200q, %v", l, record, err)
		}
		return nil
	})
	if err != nil || lines != a.Stats().Responses {
		t.Errorf("%d lines of %d responses, %v", lines, a.Stats().Responses, err)
	}
}

func TestWriterRotates(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir)
	noise := make([]byte, 300_000)
	for i := range 10 {
		for j := range noise {
			noise[j] = byte((i + 1) * j * j >> 7)
		}
		sum := sha256.Sum256(noise)
		for j := 0; j+32 < len(noise); j += 32 { // cannot be compressed
			sum = sha256.Sum256(sum[:])
			copy(noise[j:], sum[:])
		}
		put(t, w, capture(t, fmt.Sprintf("http://a.example/%d", i), 200, string(noise)))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	names := files(t, dir)
	if len(names) != 4 {
		t.Errorf("3 MB make %d files of at most 1 MB: %q", len(names), names)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || info.Size() > 1e6 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", name, errors.Join(err, fmt.Errorf("%d bytes, mode %v", info.Size(), info.Mode())))
		}
		if readStrictly(t, name)[0].header["WARC-Type"] != "warcinfo" {
			t.Errorf("%s begins with another record", name)
		}
	}
	if a := open(t, dir); a.Stats().URLs != 10 {
		t.Errorf("archive has %d URLs", a.Stats().URLs)
	}
}

// Of two runs of one second the files of the first are read first.
func TestWriterNamesSort(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		w := newWriter(t, dir)
		put(t, w, capture(t, fmt.Sprintf("http://a.example/%d", i), 200, "<p>"))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond) // names have milliseconds
	}
	names := files(t, dir)
	for i, name := range names {
		uri := readStrictly(t, name)[1].header["WARC-Target-URI"]
		if uri != fmt.Sprintf("http://a.example/%d", i) {
			t.Fatalf("file %d of %d, %s, begins with %s", i, len(names), name, uri)
		}
	}
}

// threeCaptures writes a file of three captures, and returns its bytes and
// where its records start and it ends. Before the file is closed it calls open
// with the folder.
func threeCaptures(t *testing.T, open func(dir string)) (whole []byte, starts map[int]bool) {
	t.Helper()
	dir := t.TempDir()
	w := newWriter(t, dir)
	for i := range 3 {
		put(t, w, capture(t, fmt.Sprintf("http://a.example/%d", i), 200, fmt.Sprintf("<p>%d", i)))
	}
	open(dir)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := files(t, dir)[0]
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	starts = map[int]bool{len(whole): true}
	for _, r := range readStrictly(t, name) {
		starts[int(r.offset)] = true
	}
	return whole, starts
}

// TestWriterRepairs cuts a file that was left open at every byte.
func TestWriterRepairs(t *testing.T) {
	whole, starts := threeCaptures(t, func(string) {})
	last := 0
	for n := 0; n <= len(whole); n++ {
		if starts[n] {
			last = n
		}
		if n%29 != 0 && !starts[n] && !starts[n-1] && !starts[n+1] {
			continue
		}
		torn := filepath.Join(t.TempDir(), "[a-b]*") // is no pattern
		if err := os.Mkdir(torn, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(torn, "left.warc.gz.open"), whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		w := newWriter(t, torn)
		got, err := os.ReadFile(filepath.Join(torn, "left.warc.gz"))
		switch {
		case last == 0 && !errors.Is(err, os.ErrNotExist):
			t.Fatalf("%d bytes: a file without a record was kept: %v", n, err)
		case last > 0 && (err != nil || !bytes.Equal(got, whole[:last])):
			t.Fatalf("%d bytes: %d were kept, want %d; %v", n, len(got), last, err)
		}
		if len(w.Repaired()) != 1 {
			t.Fatalf("%d bytes: repaired %q", n, w.Repaired())
		}
	}
}

func TestCheckEnds(t *testing.T) {
	whole, ends := threeCaptures(t, func(dir string) {
		if whole, open, torn, err := checkEnds(dir); err != nil || whole != 0 || len(open) != 1 || len(torn) != 0 {
			t.Errorf("while it is written: %d, %q, %q, %v", whole, open, torn, err)
		}
	})
	delete(ends, 0)
	torn := filepath.Join(t.TempDir(), "torn.warc.gz")
	for n := 0; n <= len(whole); n++ {
		if n%13 != 0 && !ends[n] && !ends[n-1] && !ends[n+1] {
			continue
		}
		if err := os.WriteFile(torn, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		sound, _, cut, err := checkEnds(filepath.Dir(torn))
		if err != nil || sound+len(cut) != 1 || (sound == 1) != ends[n] {
			t.Errorf("%d of %d bytes: %d, %q, %v; whole: %v", n, len(whole), sound, cut, err, ends[n])
		}
	}

	// What looks like the start of a member inside of a record is none.
	dir := t.TempDir()
	w := newWriter(t, dir)
	put(t, w, capture(t, "http://a.example/", 200, strings.Repeat("\x1f\x8b\x08\x00", 50)+string(noise(200<<10))+"\x1f\x8b\x08\x00"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if whole, _, torn, err := checkEnds(dir); err != nil || whole != 1 || len(torn) != 0 {
		t.Errorf("a large record: %d, %q, %v", whole, torn, err)
	}
	if _, _, _, err := checkEnds(filepath.Join(dir, "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// noise returns bytes that cannot be compressed.
func noise(n int) []byte {
	b := make([]byte, n)
	for x := uint32(1); n > 0; n-- {
		x = x*1664525 + 1013904223
		b[n-1] = byte(x >> 24)
	}
	return b
}

func TestWriterLeavesOthersAlone(t *testing.T) {
	dir := t.TempDir()
	first := newWriter(t, dir)
	put(t, first, capture(t, "http://a.example/1", 200, "<p>1"))
	second := newWriter(t, dir)
	put(t, second, capture(t, "http://a.example/2", 200, "<p>2"))
	put(t, first, capture(t, "http://a.example/3", 200, "<p>3"))
	if err := errors.Join(first.Close(), second.Close()); err != nil {
		t.Fatal(err)
	}
	if a := open(t, dir); a.Stats().URLs != 3 || a.Stats().Files != 2 {
		t.Errorf("archive of two writers: %+v", a.Stats())
	}
}

// TestWriterKilled kills a process that writes as fast as it can. What it had
// acknowledged must be there, and nothing torn.
func TestWriterKilled(t *testing.T) {
	if dir := os.Getenv("GAZEHOUND_WARC_KILLED"); dir != "" {
		writeUntilKilled(t, dir)
		return
	}
	rounds := 5
	if testing.Short() {
		rounds = 2
	}
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	for round := range rounds {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWriterKilled$")
		cmd.Env = append(os.Environ(), "GAZEHOUND_WARC_KILLED="+dir, "GAZEHOUND_WARC_ROUND="+strconv.Itoa(round))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if url, ok := strings.CutPrefix(lines.Text(), "written "); ok {
				acknowledged[url] = true
			}
			if n == 40+round*17 {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
	}
	newWriter(t, dir).Close()
	for _, name := range files(t, dir) {
		if strings.HasSuffix(name, ".open") {
			t.Errorf("%s is still open", name)
			continue
		}
		readStrictly(t, name)
	}
	a := open(t, dir)
	if len(acknowledged) < 40*rounds {
		t.Errorf("only %d captures were acknowledged", len(acknowledged))
	}
	for url := range acknowledged {
		if !a.Has(mustURL(t, url)) {
			t.Errorf("%s was acknowledged and is lost", url)
		}
	}
	if len(a.Stats().Warnings) > 0 {
		t.Errorf("warnings: %q", a.Stats().Warnings)
	}
}

func writeUntilKilled(t *testing.T, dir string) {
	w := newWriter(t, dir)
	var line sync.Mutex
	var g sync.WaitGroup
	for worker := range 4 {
		g.Go(func() {
			for i := range 5000 {
				url := fmt.Sprintf("http://a.example/%s/%d/%d", os.Getenv("GAZEHOUND_WARC_ROUND"), worker, i)
				if err := w.Write(context.Background(), capture(t, url, 200, strings.Repeat(url, 100))); err != nil {
					return
				}
				line.Lock()
				fmt.Println("written", url)
				line.Unlock()
			}
		})
	}
	g.Wait()
}

func TestWriterOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	if _, err := NewWriter(WriterOptions{Dir: file, MaxFile: 1e9}); err == nil {
		t.Error("a file was accepted as directory")
	}
}

func TestSURT(t *testing.T) {
	for url, want := range map[string]string{
		"https://www.example.com/Path/?b=2&a=1": "com,example)/path?a=1&b=2",
		"http://example.com":                    "com,example)/",
		"http://www2.a.b.example:8080/x":        "example,b,a:8080)/x",
		"http://127.0.0.1:9900/x":               "127.0.0.1:9900)/x",
		"http://[::1]/":                         "[::1])/",
		"http://optout.localhost:9900/":         "localhost,optout:9900)/",
		"http://bücher.example/ä b":             "example,xn--bcher-kva)/%c3%a4%20b",
	} {
		if got := SURT(mustURL(t, url)); got != want {
			t.Errorf("SURT(%s) = %q, want %q", url, got, want)
		}
	}
}

// BenchmarkWrite reports captures of 16 kB a second, against gowarc's writer,
// which syncs each record.
func BenchmarkWrite(b *testing.B) {
	var body strings.Builder
	for i := 0; body.Len() < 16_000; i++ {
		fmt.Fprintf(&body, "<li><a href=/item/%d>Item %d</a> and more words of it</li>\n", i*7919, i)
	}
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			w := newWriter(b, b.TempDir())
			w.options.MaxFile = 1e9
			next := make(chan int)
			var g sync.WaitGroup
			for range workers {
				g.Go(func() {
					for i := range next {
						c := capture(b, "http://a.example/", 200, body.String()+strconv.Itoa(i))
						if err := w.Write(context.Background(), c); err != nil {
							b.Error(err)
						}
					}
				})
			}
			for i := 0; b.Loop(); i++ {
				next <- i
			}
			close(next)
			g.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "captures/s")
		})
	}
	b.Run("gowarc", func(b *testing.B) {
		w := gowarc.NewWarcFileWriter(gowarc.WithCompression(true), gowarc.WithFlush(true),
			gowarc.WithFileNameGenerator(&gowarc.PatternNameGenerator{Directory: b.TempDir()}))
		defer w.Close()
		for i := 0; b.Loop(); i++ {
			r := gowarc.NewRecordBuilder(gowarc.Response)
			r.AddWarcHeader(gowarc.WarcTargetURI, "http://a.example/")
			r.AddWarcHeader(gowarc.WarcDate, "2026-11-21T10:00:00Z")
			r.AddWarcHeader(gowarc.ContentType, "application/http;msgtype=response")
			r.WriteString(html(body.String() + strconv.Itoa(i)))
			record, _, err := r.Build()
			if err != nil {
				b.Fatal(err)
			}
			if err := w.Write(record)[0].Err; err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "captures/s")
	})
}
