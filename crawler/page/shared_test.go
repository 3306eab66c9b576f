package page

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gazehound/crawler/weburl"

	"golang.org/x/net/html"
)

// irvine returns the first n pages of the real web in ../shared, or skips.
func irvine(t testing.TB, n int) []*Response {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = filepath.Dir(dir)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "..", "shared", "data", "web", "irvine", "*.warc.gz"))
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

func TestRealWeb(t *testing.T) {
	n := 1500
	if os.Getenv("GAZEHOUND_ALL") != "" {
		n = 1 << 30
	}
	var links, around, empty, noLang, untitled, noText int
	langs, charsets := map[string]int{}, map[string]int{}
	pages := irvine(t, n)
	for _, r := range pages {
		p, err := Parse(r)
		if err != nil {
			t.Logf("%v", err)
			continue
		}
		checkPage(t, p)
		links += len(p.Links)
		for _, l := range p.Links {
			if l.Around != "" {
				around++
			}
			if l.Anchor == "" {
				empty++
			}
		}
		langs[p.Lang]++
		charsets[p.Charset]++
		if p.Title == "" {
			untitled++
		}
		if p.Text == "" {
			noText++
		}
		_ = noLang
	}
	t.Logf("%d pages, %d links (%d without words, %d with words around), untitled %d, without text %d, %v %v",
		len(pages), links, empty, around, untitled, noText, langs, charsets)
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
