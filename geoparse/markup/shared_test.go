package markup_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
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

// labelledPage is a row of the labelled pages: which addresses a reader finds.
type labelledPage struct {
	ID        string
	Addresses []struct{ Text string }
}

func labelledPages(t testing.TB, set string) (pages []labelledPage, load func(id string) []byte) {
	t.Helper()
	dir := sharedData(t, "labelled")
	f, err := os.Open(filepath.Join(dir, "detect", set+".jsonl"))
	if err != nil {
		t.Skipf("labels missing: %v", err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var p labelledPage
		if err := json.Unmarshal(s.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, p)
	}
	if err := s.Err(); err != nil || len(pages) == 0 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	return pages, func(id string) []byte {
		f, err := os.Open(filepath.Join(dir, set+"_html", id+".html.gz"))
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
		return body
	}
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

func TestLabelledAddressesAreInText(t *testing.T) {
	for _, c := range []struct {
		set   string
		least float64 // share of the labelled addresses
	}{{"de_pages", 1}, {"webstruct", 0.985}} { // what webstruct lacks stands in display:none
		t.Run(c.set, func(t *testing.T) {
			pages, load := labelledPages(t, c.set)
			var found, all int
			for _, p := range pages {
				text := letters(markup.Text(markup.Parse(load(p.ID))))
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

// The tree of Parse is not that of html.Parse, but shows the same text.
func TestTextAsWithHTMLParse(t *testing.T) {
	if testing.Short() {
		t.Skip("parses 427 pages twice")
	}
	same, all := 0, 0
	for _, set := range []string{"de_pages", "webstruct"} {
		pages, load := labelledPages(t, set)
		for _, p := range pages {
			page := load(p.ID)
			doc, err := html.ParseWithOptions(bytes.NewReader(page), html.ParseOptionEnableScripting(false))
			if err != nil {
				t.Logf("%s: %v", p.ID, err)
				continue
			}
			all++
			if markup.Text(doc) == markup.Text(markup.Parse(page)) {
				same++
			} else {
				t.Logf("%s: texts differ", p.ID)
			}
		}
	}
	t.Logf("%d of %d texts are the same", same, all)
	if same*100 < all*99 {
		t.Errorf("%d of %d texts are the same; want 99 %%", same, all)
	}
}

func BenchmarkMarkup(b *testing.B) {
	pages, load := labelledPages(b, "de_pages")
	var bodies [][]byte
	for _, p := range pages[:50] {
		bodies = append(bodies, load(p.ID))
	}
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
		markup.Find(doc)
	})
	run("parse", func(page []byte) { markup.Parse(page) })
	run("text", func(page []byte) { markup.Text(docs[&page[0]]) })
	run("find", func(page []byte) { markup.Find(docs[&page[0]]) })
	run("html.Parse", func(page []byte) { html.Parse(bytes.NewReader(page)) })
	run("tokenizer", func(page []byte) {
		for z := html.NewTokenizer(bytes.NewReader(page)); z.Next() != html.ErrorToken; {
			z.Token()
		}
	})
}
