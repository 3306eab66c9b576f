package page

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/weburl"

	"golang.org/x/net/html"
)

// shared returns a folder or file pattern of the real data beside the
// repository.
func shared(t testing.TB, elements ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(append([]string{dir, "..", "shared", "data"}, elements...)...)
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = filepath.Dir(dir)
	}
}

// irvine returns the first n pages of the real web in ../shared, or skips.
func irvine(t testing.TB, n int) []*Response {
	t.Helper()
	files, _ := filepath.Glob(shared(t, "web", "irvine", "*.warc.gz"))
	if len(files) == 0 {
		t.Skip("real web missing: no ../shared/data/web/irvine/*.warc.gz")
	}
	var pages []*Response
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<20))
		if err != nil {
			t.Fatal(err)
		}
		for r := bufio.NewReaderSize(z, 1<<20); len(pages) < n; {
			p, err := nextResponse(r)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if p != nil {
				pages = append(pages, p)
			}
		}
	}
	return pages
}

// nextResponse reads one WARC record; it returns nil for those that hold no page.
func nextResponse(r *bufio.Reader) (*Response, error) {
	line, err := r.ReadString('\n')
	for strings.TrimSpace(line) == "" && err == nil {
		line, err = r.ReadString('\n')
	}
	if err != nil {
		return nil, err
	}
	fields, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	size, err := strconv.Atoi(fields.Get("Content-Length"))
	if err != nil {
		return nil, err
	}
	block := make([]byte, size)
	if _, err := io.ReadFull(r, block); err != nil {
		return nil, err
	}
	if fields.Get("Warc-Type") != "response" {
		return nil, nil
	}
	h, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), nil)
	if err != nil {
		return nil, nil
	}
	body, _ := io.ReadAll(h.Body)
	u, err := weburl.Parse(strings.Trim(fields.Get("Warc-Target-Uri"), "<>"))
	if err != nil {
		return nil, nil
	}
	return &Response{URL: u, Status: h.StatusCode, Header: h.Header, Body: body}, nil
}

// labelled returns the ids of a labelled set, with the addresses that a reader
// finds on each page, and a function that loads one.
func labelled(t *testing.T, set string) (rows []labelledPage, load func(id string) *Response) {
	t.Helper()
	f, err := os.Open(shared(t, "labelled", "detect", set+".jsonl"))
	if err != nil {
		t.Skipf("labelled pages missing: %v", err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var p labelledPage
		if err := json.Unmarshal(s.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, p)
	}
	if err := s.Err(); err != nil || len(rows) == 0 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	return rows, func(id string) *Response {
		body, err := crawltest.ReadGzip(shared(t, "labelled", set+"_html", id+".html.gz"))
		if err != nil {
			t.Fatal(err)
		}
		return response(t, "http://www.town.example/"+id, "", string(body))
	}
}

type labelledPage struct {
	ID        string
	Addresses []struct{ Text string }
}

// letters keeps what an address is recognised by, in order.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

func TestEvalAddressesAreInText(t *testing.T) {
	for _, c := range []struct {
		set   string
		least float64 // share of the labelled addresses
	}{{"de_pages", 1}, {"webstruct", 0.985}} { // what webstruct lacks stands in display:none
		t.Run(c.set, func(t *testing.T) {
			pages, load := labelled(t, c.set)
			var found, all int
			for _, p := range pages {
				text := letters(parse(t, load(p.ID)).Text)
				for _, a := range p.Addresses {
					all++
					if strings.Contains(text, letters(a.Text)) {
						found++
					} else {
						t.Logf("%s: not in the text: %q", p.ID, a.Text)
					}
				}
			}
			share := float64(found) / float64(all)
			t.Logf("%d pages: %d of %d labelled addresses stand in the text (%.4f)", len(pages), found, all, share)
			if share < c.least {
				t.Errorf("share %.4f; want at least %.3f", share, c.least)
			}
		})
	}
}

// Every page of a real web parses, and keeps the laws.
func TestEvalRealWeb(t *testing.T) {
	n := 500
	if os.Getenv("GAZEHOUND_ALL") != "" { // 25,889 pages: half a minute
		n = 1 << 30
	}
	var failed, links, wordless, alone, untitled, empty int
	langs, charsets := map[string]int{}, map[string]int{}
	pages := irvine(t, n)
	for _, r := range pages {
		p, err := Parse(r)
		if err != nil {
			failed++
			t.Log(err)
			continue
		}
		checkPage(t, p)
		links += len(p.Links)
		for _, l := range p.Links {
			if l.Anchor == "" {
				wordless++
			}
			if l.Around == "" {
				alone++
			}
		}
		langs[p.Lang]++
		charsets[p.Charset]++
		if p.Title == "" {
			untitled++
		}
		if p.Text == "" {
			empty++
		}
	}
	t.Logf("%d pages, %d failed, %d without title, %d without text; languages %v; charsets %v", len(pages), failed, untitled, empty, langs, charsets)
	t.Logf("%d links, %d without words, %d with nothing around them", links, wordless, alone)
	if failed*1000 > len(pages) {
		t.Errorf("%d of %d pages failed", failed, len(pages))
	}
}

func BenchmarkParse(b *testing.B) {
	pages := irvine(b, 500)
	run := func(name string, parse func(*Response)) {
		b.Run(name, func(b *testing.B) {
			var n, size int
			for b.Loop() {
				parse(pages[n%len(pages)])
				size += len(pages[n%len(pages)].Body)
				n++
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "pages/s")
			b.ReportMetric(float64(size)/b.Elapsed().Seconds()/1e6, "MB/s")
		})
	}
	run("page", func(r *Response) {
		if _, err := Parse(r); err != nil {
			b.Fatal(err)
		}
	})
	run("html.Parse", func(r *Response) {
		if _, err := html.Parse(bytes.NewReader(r.Body)); err != nil {
			b.Log(err)
		}
	})
	run("tokenizer", func(r *Response) {
		for z := html.NewTokenizer(bytes.NewReader(r.Body)); z.Next() != html.ErrorToken; {
			z.Token()
		}
	})
}
