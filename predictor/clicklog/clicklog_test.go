package clicklog

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

func TestParseLine(t *testing.T) {
	at := time.Date(2026, 10, 4, 11, 55, 36, 0, time.UTC)
	tests := []struct {
		name, raw string
		want      Line
	}{
		{"common", `192.0.2.1 - - [04/Oct/2026:13:55:36 +0200] "GET /a.html HTTP/1.0" 200 2326`,
			Line{Client: "192.0.2.1", Time: at, Method: "GET", Target: "/a.html", Status: 200}},
		{"combined", `192.0.2.1 - frank [04/Oct/2026:13:55:36 +0200] "GET /?q=a HTTP/1.1" 304 - "https://example.org/" "Mozilla/5.0 (a \"b\")"`,
			Line{Client: "192.0.2.1", Time: at, Method: "GET", Target: "/?q=a", Status: 304, Agent: `Mozilla/5.0 (a "b")`}},
		{"vhost", `www.example.org:443 2001:DB8::1 - - [04/Oct/2026:11:55:36 +0000] "GET / HTTP/2.0" 200 5 "-" "x"`,
			Line{Vhost: "www.example.org:443", Client: "2001:db8::1", Time: at, Method: "GET", Target: "/", Status: 200, Agent: "x"}},
		{"mapped address, extra fields, CR", "::ffff:192.0.2.1 - - [04/Oct/2026:11:55:36 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"x\" 0.002 upstream\r",
			Line{Client: "192.0.2.1", Time: at, Method: "GET", Target: "/", Status: 200, Agent: "x"}},
		{"host name", `pc-1.Example.ORG - - [04/Oct/2026:11:55:36 +0000] "GET / HTTP/1.1" 200 5`,
			Line{Client: "pc-1.example.org", Time: at, Method: "GET", Target: "/", Status: 200}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseLine([]byte(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseLineRefuses(t *testing.T) {
	ok := `192.0.2.1 - - [04/Oct/2026:13:55:36 +0200] "GET /a HTTP/1.1" 200 1 "-" "x"`
	if _, err := ParseLine([]byte(ok)); err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string]string{
		"empty":                  "",
		"text":                   "hello world",
		"cut in the request":     ok[:60],
		"cut in the agent":       ok[:len(ok)-1],
		"no status":              `192.0.2.1 - - [04/Oct/2026:13:55:36 +0200] "GET /a HTTP/1.1"`,
		"status of four digits":  strings.Replace(ok, " 200 ", " 2000 ", 1),
		"negative size":          strings.Replace(ok, " 200 1 ", " 200 -1 ", 1),
		"impossible day":         strings.Replace(ok, "04/Oct", "44/Oct", 1),
		"forged second request":  strings.Replace(ok, "GET /a", "GET /a HTTP/1.1\\nGET /b", 1),
		"escape sequence":        strings.Replace(ok, "/a", `/a\x1b[31m`, 1),
		"raw escape in agent":    strings.Replace(ok, `"x"`, "\"x\x1b[31m\"", 1),
		"line separator":         strings.Replace(ok, "/a", "/a\u2028", 1),
		"invalid UTF-8":          strings.Replace(ok, "/a", "/\xff", 1),
		"TLS handshake":          `192.0.2.1 - - [04/Oct/2026:13:55:36 +0200] "\x16\x03\x01\x02" 400 1`,
		"client with a slash":    strings.Replace(ok, "192.0.2.1", "../../etc", 1),
		"line of 65 kB":          strings.Replace(ok, "/a", "/"+strings.Repeat("a", MaxLine), 1),
		"dangling backslash":     strings.Replace(ok, `"x"`, `"x\`, 1),
		"half a hexadecimal one": strings.Replace(ok, "/a", `/\x4`, 1),
	} {
		if l, err := ParseLine([]byte(raw)); err == nil {
			t.Errorf("%s: got %+v, want an error", name, l)
		}
	}
}

// A line that is read and written again is the same line.
func FuzzParseLine(f *testing.F) {
	f.Add(`192.0.2.1 - - [04/Oct/2026:13:55:36 +0200] "GET /a HTTP/1.1" 200 1 "-" "x \" \\ y"`)
	f.Add(`www.example.org:443 2001:db8::1 - - [04/Oct/2026:11:55:36 +0000] "GET / HTTP/2.0" 200 5`)
	f.Add("\\x00 \x1b [")
	f.Fuzz(func(t *testing.T, raw string) {
		l, err := ParseLine([]byte(raw))
		if err != nil {
			return
		}
		if l.Vhost != "" && strings.ContainsAny(l.Vhost, " \n") {
			t.Fatalf("vhost %q", l.Vhost)
		}
		again, err := ParseLine([]byte(l.String()))
		if err != nil {
			t.Fatalf("%q was read, %q was not: %v", raw, l.String(), err)
		}
		if d := cmp.Diff(l, again); d != "" {
			t.Error(d)
		}
	})
}

// open makes a store with few views in memory, so that everything spills.
func open(t *testing.T, dir string, views int) *Store {
	t.Helper()
	o := DefaultOptions()
	o.Site, o.Views = "https://example.org", views
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// pages ranks and reads the table back.
func pages(t *testing.T, s *Store) (map[string]Page, Totals) {
	t.Helper()
	n, err := s.Rank(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Page{}
	if err := Pages(s.dir, func(p Page) error { all[p.URL] = p; return nil }); err != nil {
		t.Fatal(err)
	}
	return all, n
}

func TestSessions(t *testing.T) {
	start := time.Date(2026, 10, 4, 12, 0, 0, 0, time.UTC)
	line := func(client string, after time.Duration, target string) string {
		return Line{Client: client, Time: start.Add(after), Method: "GET", Target: target, Status: 200, Agent: firefox}.String() + "\n"
	}
	log := line("192.0.2.1", 0, "/") +
		line("192.0.2.1", time.Second, "/style.css") + // part of the page
		line("192.0.2.2", 5*time.Second, "/") +
		line("192.0.2.1", 10*time.Second, "/a") +
		line("192.0.2.1", 40*time.Second, "/") + // back in the same session
		line("192.0.2.1", 2*time.Hour, "/a") + // a new session, one page: no time
		line("192.0.2.9", 0, "/robots.txt") + line("192.0.2.9", 9*time.Second, "/a") + line("192.0.2.9", 90*time.Second, "/b") +
		Line{Client: "192.0.2.3", Time: start, Method: "GET", Target: "/a", Status: 200, Agent: "Somebot/1.0"}.String() + "\n" +
		Line{Client: "192.0.2.3", Time: start, Method: "POST", Target: "/a", Status: 200, Agent: firefox}.String() + "\n" +
		Line{Client: "192.0.2.3", Time: start, Method: "GET", Target: "/a", Status: 404, Agent: firefox}.String() + "\n" +
		"no line\n"
	for i := range 50 { // a program that says it is a browser
		log += line("192.0.2.4", time.Duration(i)*time.Second, "/b")
	}
	s := open(t, t.TempDir(), 4)
	n, err := s.Import(context.Background(), "access.log", strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Counts{Lines: 63, Views: 57, Robots: 2, Assets: 1, Others: 2, Bad: 1}, n); d != "" {
		t.Error(d)
	}
	got, totals := pages(t, s)
	want := map[string]Page{
		"https://example.org/":  {URL: "https://example.org/", Stay: 10 * time.Second, Visits: 3, Sessions: 2},
		"https://example.org/a": {URL: "https://example.org/a", Stay: 30 * time.Second, Visits: 2, Sessions: 2},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Totals{Clients: 2, Robots: 2, Sessions: 3, Views: 5, Pages: 2, Stay: 40 * time.Second}, totals); d != "" {
		t.Error(d)
	}
	table, err := Load(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if a, home := table.Importance("https://example.org/a"), table.Importance("https://example.org/"); a != 1 || home <= 0 || home >= 1 {
		t.Errorf("importance of /a %v and of / %v, want 1 and something between", a, home)
	}
	if v := table.Importance("https://example.org/never"); v != 0 {
		t.Errorf("importance of an unknown page %v, want 0", v)
	}
}

// madeUp writes n lines of a busy afternoon in the order of a real log.
func madeUp(n int, seed uint64) []Line {
	r := rand.New(rand.NewPCG(seed, 1))
	at := time.Date(2026, 10, 4, 12, 0, 0, 0, time.UTC)
	lines := make([]Line, n)
	for i := range lines {
		at = at.Add(time.Duration(r.IntN(30)) * time.Second)
		lines[i] = Line{Client: fmt.Sprintf("2001:db8::%x", 1+r.IntN(40)), Time: at, Method: "GET",
			Target: fmt.Sprintf("/p%d", int(r.ExpFloat64()*8)), Status: 200, Agent: firefox}
	}
	return lines
}

func text(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// recount is the same by brute force, in memory.
func recount(lines []Line, o Options) map[string]Page {
	by := map[string][]Line{}
	for _, l := range lines {
		by[l.Client] = append(by[l.Client], l)
	}
	all := map[string]Page{}
	for _, views := range by {
		slices.SortStableFunc(views, func(a, b Line) int { return a.Time.Compare(b.Time) })
		session, last := 0, map[string]int{}
		for i, l := range views {
			if i == 0 || l.Time.Sub(views[i-1].Time) > o.Idle {
				session++
			}
			p := all[o.Site+l.Target]
			p.URL = o.Site + l.Target
			p.Visits++
			if last[p.URL] != session {
				last[p.URL] = session
				p.Sessions++
			}
			if i+1 < len(views) && views[i+1].Time.Sub(l.Time) <= o.Idle {
				p.Stay += views[i+1].Time.Sub(l.Time)
			}
			all[p.URL] = p
		}
	}
	return all
}

// However the logs are cut, packed, ordered and repeated, the table is that
// of one pass in memory.
func TestImportIsExact(t *testing.T) {
	lines := madeUp(3000, 1)
	// Two views of one client in the same second have no order in a log.
	seen := map[string]bool{}
	lines = slices.DeleteFunc(lines, func(l Line) bool {
		k := l.Client + l.Time.String()
		defer func() { seen[k] = true }()
		return seen[k]
	})
	want := recount(lines, Options{Site: "https://example.org", Idle: DefaultOptions().Idle})
	third := len(lines) / 3
	s := open(t, t.TempDir(), 20)
	add := func(name, log string) Counts {
		t.Helper()
		n, err := s.Import(context.Background(), name, strings.NewReader(log))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	add("access.log.1", text(lines[third:2*third]))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, text(lines[:third]))
	z.Close()
	add("access.log.2.gz", packed.String())
	log := text(lines[2*third:])
	add("access.log", log[:len(log)/2]) // cut inside a line: that line waits
	if n := add("access.log", log); n.Before == 0 {
		t.Error("the log that grew was read again from its start")
	}
	if n := add("access.log.1 renamed", log); n.Lines != 0 {
		t.Errorf("%d lines of a log that was read already", n.Lines)
	}
	if n := add("copy", packed.String()); n.Lines != 0 {
		t.Errorf("%d lines of a packed log that was read already", n.Lines)
	}
	got, _ := pages(t, s)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// stopping reads up to a place and then fails, as a killed import would.
type stopping struct {
	r  io.Reader
	at int
}

func (s *stopping) Read(b []byte) (int, error) {
	if s.at <= 0 {
		return 0, errors.New("stopped")
	}
	n, err := s.r.Read(b[:min(len(b), s.at)])
	s.at -= n
	return n, err
}

func TestImportGoesOn(t *testing.T) {
	lines := madeUp(20000, 2)
	log := text(lines)
	dir := t.TempDir()
	s := open(t, dir, 500)
	if _, err := s.Import(context.Background(), "a.log", &stopping{strings.NewReader(log), len(log) / 2}); err == nil {
		t.Fatal("no error from a broken reader")
	}
	// A kill leaves uncommitted views, which do not count.
	f, err := os.OpenFile(filepath.Join(dir, s.m.Views), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("half a record")
	f.Close()
	if _, err := Open(dir, DefaultOptions()); !errors.Is(err, ErrLocked) {
		t.Errorf("a second one opened the store: %v", err)
	}
	s.Close()
	s = open(t, dir, 500)
	n, err := s.Import(context.Background(), "a.log", strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	if n.Before == 0 || n.Lines == int64(len(lines)) {
		t.Errorf("the second import began at byte %d and read %d lines", n.Before, n.Lines)
	}
	once := open(t, t.TempDir(), 1_000_000)
	if _, err := once.Import(context.Background(), "a.log", strings.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	got, _ := pages(t, s)
	want, _ := pages(t, once)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestBadStores(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir(), 100)
	if _, err := s.Import(ctx, "page.html", strings.NewReader(strings.Repeat("<p>no log</p>\n", 2000))); !errors.Is(err, ErrFormat) {
		t.Errorf("a page imported as a log: %v", err)
	}
	if _, err := s.Import(ctx, "cut.gz", strings.NewReader("\x1f\x8b\x08cut")); err == nil || !strings.Contains(err.Error(), "cut.gz") {
		t.Errorf("a cut gzip file: %v", err)
	}
	if _, err := Load(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no table: %v", err)
	}
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, manifestName), []byte(`{"Version": 7}`), 0o600)
	if _, err := Open(dir, DefaultOptions()); !errors.Is(err, ErrVersion) {
		t.Errorf("a newer store: %v", err)
	}
	os.WriteFile(filepath.Join(dir, manifestName), []byte(`{`), 0o600)
	if _, err := Open(dir, DefaultOptions()); err == nil || !strings.Contains(err.Error(), manifestName) {
		t.Errorf("a cut manifest: %v", err)
	}
	os.WriteFile(filepath.Join(dir, tableName), []byte("# url\tseconds\tvisits\tsessions\n"), 0o600)
	if _, err := Load(dir); !errors.Is(err, errTable) || !strings.Contains(err.Error(), tableName+": record 1") {
		t.Errorf("a table of another form: %v", err)
	}
	if _, err := s.Import(ctx, "a.log", strings.NewReader(text(madeUp(300, 3)))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.dir, s.m.Views)
	raw, _ := os.ReadFile(path)
	os.WriteFile(path, raw[:len(raw)-3], 0o600)
	if _, err := s.Rank(ctx); err == nil || !strings.Contains(err.Error(), s.m.Views) {
		t.Errorf("a cut file of views: %v", err)
	}
}

func TestOptions(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"idle":   func(o *Options) { o.Idle = time.Second },
		"last":   func(o *Options) { o.LastPage = 2 * o.Idle },
		"minute": func(o *Options) { o.MaxPerMinute = 0 },
		"views":  func(o *Options) { o.Views = 0 },
	} {
		o := DefaultOptions()
		change(&o)
		if _, err := Open(t.TempDir(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// No log line brings the address of a client into the store.
func TestNoClientIsStored(t *testing.T) {
	s := open(t, t.TempDir(), 10)
	l := Line{Client: "198.51.100.77", Time: time.Now(), Method: "GET", Target: "/", Status: 200, Agent: firefox}
	if _, err := s.Import(context.Background(), "a.log", strings.NewReader(l.String()+"\n")); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte("198.51")) || bytes.Contains(raw, []byte("Firefox")) {
			t.Errorf("%s names the client", path)
		}
		return err
	})
	if err != nil || files < 2 {
		t.Errorf("%d files, %v", files, err)
	}
}

// endless makes a log of n lines without holding it.
type endless struct {
	lines []byte
	left  int
	buf   []byte
}

func (e *endless) Read(b []byte) (int, error) {
	if len(e.buf) == 0 {
		if e.left == 0 {
			return 0, io.EOF
		}
		e.left--
		e.buf = e.lines
	}
	n := copy(b, e.buf)
	e.buf = e.buf[n:]
	return n, nil
}

// BenchmarkImport reads and ranks a log, and beside it the same by brute
// force in memory. CLICKLOG_BLOCKS=100 makes it ten million lines.
func BenchmarkImport(b *testing.B) {
	block := madeUp(100_000, 4)
	raw := []byte(text(block))
	blocks := 1
	fmt.Sscan(os.Getenv("CLICKLOG_BLOCKS"), &blocks)
	b.Run("store", func(b *testing.B) {
		for b.Loop() {
			o := DefaultOptions()
			o.Site = "https://example.org"
			s, err := Open(b.TempDir(), o)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Import(context.Background(), "a", &endless{lines: raw, left: blocks}); err != nil {
				b.Fatal(err)
			}
			if _, err := s.Rank(context.Background()); err != nil {
				b.Fatal(err)
			}
			s.Close()
		}
		b.ReportMetric(float64(b.N*blocks*len(block))/b.Elapsed().Seconds(), "lines/s")
	})
	b.Run("brute-force", func(b *testing.B) {
		for b.Loop() {
			var lines []Line
			for raw := range bytes.Lines(raw) {
				if l, err := ParseLine(bytes.TrimSuffix(raw, []byte("\n"))); err == nil {
					lines = append(lines, l)
				}
			}
			if len(slices.Collect(maps.Keys(recount(lines, DefaultOptions())))) == 0 {
				b.Fatal("nothing")
			}
		}
		b.ReportMetric(float64(b.N*len(block))/b.Elapsed().Seconds(), "lines/s")
	})
}
