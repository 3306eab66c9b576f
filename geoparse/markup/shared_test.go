package markup_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"gazehound/geoparse/markup"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding/charmap"
)

// sharedData returns the folder of real data beside the repository, or skips.
func sharedData(t testing.TB, elements ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		t.Fatal("no go.mod above the test's folder")
	}
	path := filepath.Join(append([]string{dir, "..", "shared", "data"}, elements...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("real data missing: %v", err)
	}
	return path
}

// realPages returns the pages of a labelled set, in UTF-8.
func realPages(t testing.TB, set string) [][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(sharedData(t, "labelled", set+"_html"), "*.html.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	var pages [][]byte
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(body) {
			body, err = charmap.Windows1252.NewDecoder().Bytes(body)
			if err != nil {
				t.Fatal(err)
			}
		}
		pages = append(pages, body)
	}
	return pages
}

// The tree of Parse is not that of html.Parse, but shows the same text.
func TestTextAsWithHTMLParse(t *testing.T) {
	if testing.Short() {
		t.Skip("parses 427 pages twice")
	}
	same, all := 0, 0
	for _, set := range []string{"de_pages", "webstruct"} {
		pages := realPages(t, set)
		if os.Getenv("GAZEHOUND_ALL") == "" {
			pages = pages[:60]
		}
		for i, page := range pages {
			doc, err := html.ParseWithOptions(bytes.NewReader(page), html.ParseOptionEnableScripting(false))
			if err != nil {
				t.Logf("%s %d: %v", set, i, err)
				continue
			}
			all++
			if markup.Text(doc) == markup.Text(markup.Parse(page)) {
				same++
			} else {
				t.Logf("%s %d: texts differ", set, i)
			}
		}
	}
	t.Logf("%d of %d texts are the same", same, all)
	if same*100 < all*99 {
		t.Errorf("%d of %d texts are the same; want 99 %%", same, all)
	}
}

func BenchmarkMarkup(b *testing.B) {
	bodies := realPages(b, "de_pages")[:50]
	run := func(name string, do func(page []byte)) {
		b.Run(name, func(b *testing.B) {
			var n, size int
			for b.Loop() {
				do(bodies[n%len(bodies)])
				size += len(bodies[n%len(bodies)])
				n++
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "pages/s")
			b.ReportMetric(float64(size)/b.Elapsed().Seconds()/1e6, "MB/s")
		})
	}
	docs := make(map[*byte]*html.Node)
	for _, body := range bodies {
		docs[&body[0]] = markup.Parse(body)
	}
	run("parse+text+find", func(page []byte) {
		doc := markup.Parse(page)
		markup.Text(doc)
		markup.Read(doc)
	})
	run("parse", func(page []byte) { markup.Parse(page) })
	run("text", func(page []byte) { markup.Text(docs[&page[0]]) })
	run("find", func(page []byte) { markup.Read(docs[&page[0]]) })
	run("html.Parse", func(page []byte) { html.Parse(bytes.NewReader(page)) })
	run("tokenizer", func(page []byte) {
		for z := html.NewTokenizer(bytes.NewReader(page)); z.Next() != html.ErrorToken; {
			z.Token()
		}
	})
}
