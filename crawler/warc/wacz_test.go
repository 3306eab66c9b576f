package warc

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pack returns the WACZ file of an archive.
func pack(t testing.TB, a *Archive) []byte {
	t.Helper()
	var b bytes.Buffer
	o := WACZOptions{Title: "Crawl of Oldenburg", Software: "gazehound/test"}
	if err := a.WriteWACZ(t.Context(), &b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpack returns the files in a WACZ, whose sizes and hashes are as
// datapackage.json says.
func unpack(t testing.TB, wacz []byte) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(wacz), int64(len(wacz)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		if f.Method != zip.Store {
			t.Errorf("%s is compressed", f.Name)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	var d dataPackage
	if err := json.Unmarshal(files["datapackage.json"], &d); err != nil || d.Profile != "data-package" || d.Version != "1.1.1" || d.Title == "" {
		t.Errorf("datapackage.json: %+v, %v", d, err)
	}
	if len(d.Resources) != len(files)-2 {
		t.Errorf("%d resources for %d files", len(d.Resources), len(files))
	}
	check := func(name, hash string) {
		if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(files[name])); sum != hash || files[name] == nil {
			t.Errorf("%s has hash %s, and %s is said", name, sum, hash)
		}
	}
	for _, r := range d.Resources {
		check(r.Path, r.Hash)
		if r.Bytes != int64(len(files[r.Path])) || r.Name != filepath.Base(r.Path) {
			t.Errorf("%s has %d bytes, and %+v is said", r.Path, len(files[r.Path]), r)
		}
	}
	var digest struct{ Path, Hash string }
	if err := json.Unmarshal(files["datapackage-digest.json"], &digest); err != nil || digest.Path != "datapackage.json" {
		t.Errorf("datapackage-digest.json: %+v, %v", digest, err)
	}
	check(digest.Path, digest.Hash)
	return files
}

func TestWriteWACZ(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir)
	for i, relevant := range []bool{true, false, true, true} {
		c := capture(t, fmt.Sprintf("http://www.b%d.example/", i%3), 200, fmt.Sprintf("<title>Seite %d</title><p>%d", i, i))
		c.Note.Relevant = relevant
		put(t, w, c)
	}
	open, err := Open(dir) // while the file is written
	if err != nil {
		t.Fatal(err)
	}
	early := unpack(t, pack(t, open))
	open.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	wacz := pack(t, a)
	if !bytes.Equal(wacz, pack(t, a)) {
		t.Error("the second time other bytes")
	}
	all := unpack(t, wacz)
	for name, text := range all {
		if !bytes.Equal(early[name], text) {
			t.Errorf("%s differs while it is written", name)
		}
	}

	checkWACZIndex(t, all)
	checkWACZPages(t, all)

	// Our own reader takes it.
	name := filepath.Join(t.TempDir(), "some.wacz")
	if err := os.WriteFile(name, wacz, 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := OpenWACZ(name)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	got, want := again.Stats(), a.Stats()
	if got.Responses != want.Responses || got.URLs != want.URLs || got.Bytes != want.Bytes {
		t.Errorf("read again: %+v, want %+v", got, want)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.WriteWACZ(ctx, io.Discard, WACZOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// checkWACZIndex holds that each line of the index leads to the record of its URL.
func checkWACZIndex(t *testing.T, all map[string][]byte) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(string(all["indexes/index.cdx"]), "\n"), "\n")
	if len(lines) != 4 || !slices.IsSorted(lines) {
		t.Errorf("index:\n%s", strings.Join(lines, "\n"))
	}
	for _, line := range lines {
		_, fields, _ := strings.Cut(line, " {")
		var at struct {
			URL, Filename  string
			Offset, Length int `json:",string"`
		}
		if err := json.Unmarshal([]byte("{"+fields), &at); err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(all["archive/"+at.Filename][at.Offset : at.Offset+at.Length]))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		record, err := io.ReadAll(z)
		if err != nil || !strings.Contains(string(record), "WARC-Target-URI: "+at.URL+"\r\n") {
			t.Errorf("%s leads to %.300q, %v", line, record, err)
		}
	}
}

// checkWACZPages holds that the pages are the relevant ones, once each.
func checkWACZPages(t *testing.T, all map[string][]byte) {
	t.Helper()
	pages := bufio.NewScanner(bytes.NewReader(all["pages/pages.jsonl"]))
	var got []string
	for pages.Scan() {
		var p struct{ Format, URL, Ts, Title, ID string }
		if err := json.Unmarshal(pages.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		got = append(got, p.Format+p.URL+" "+p.Ts+" "+p.Title)
	}
	want := []string{"json-pages-1.0  All Pages", "http://www.b0.example/ 2026-11-21T10:00:00Z Seite 0", "http://www.b2.example/ 2026-11-21T10:00:00Z Seite 2"}
	if !slices.Equal(got, want) {
		t.Errorf("pages %q, want %q", got, want)
	}
}

// Archives of other programs say nothing of relevance: all HTML pages are
// listed.
func TestWACZOfOthers(t *testing.T) {
	name := filepath.Join(t.TempDir(), "other.warc")
	var b strings.Builder
	for _, r := range []struct{ url, head, body string }{
		{"http://a.example/", "200 OK\r\nContent-Type: text/html", "<title>A</title>"},
		{"http://a.example/", "200 OK\r\nContent-Type: text/html", "<title>A later</title>"},
		{"http://a.example/x.png", "200 OK\r\nContent-Type: image/png", "x"},
		{"http://a.example/no", "404 Not Found\r\nContent-Type: text/html", "no"},
	} {
		block := "HTTP/1.1 " + r.head + "\r\n\r\n" + r.body
		fmt.Fprintf(&b, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: 2026-11-21T10:00:00Z\r\nWARC-Record-ID: <urn:uuid:%08d-0000-0000-0000-000000000000>\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			r.url, b.Len(), len(block), block)
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	all := unpack(t, pack(t, a))
	if got := string(all["pages/pages.jsonl"]); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"title":"A"`) {
		t.Errorf("pages %s", got)
	}
	if string(all["archive/other.warc"]) != b.String() {
		t.Error("the archive has other bytes")
	}
}

// A long index is compressed in blocks that can be read alone.
func TestWACZIndexInBlocks(t *testing.T) {
	for _, n := range []int{0, 1, blockLines - 1, blockLines, blockLines + 1, 3*blockLines + 5} {
		var zipped bytes.Buffer
		p := &packer{ctx: t.Context(), zip: zip.NewWriter(&zipped)}
		x := &indexWriter{to: p}
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "com,example)/%07d 20261121100000 {\"url\":\"http://example.com/%d\"}\n", i, i)
		}
		for line := range strings.Lines(text.String()) {
			if err := x.add([]byte(strings.TrimSuffix(line, "\n"))); err != nil {
				t.Fatal(err)
			}
		}
		x.end()
		if err := errors.Join(p.err, p.zip.Close()); err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(zipped.Bytes()), int64(zipped.Len()))
		if err != nil {
			t.Fatal(err)
		}
		read := func(name string) []byte {
			b, err := readFile(z, name)
			if err != nil {
				t.Fatalf("%d lines: %v", n, err)
			}
			return b
		}
		if n <= blockLines {
			if got := read("indexes/index.cdx"); string(got) != text.String() || len(z.File) != 1 {
				t.Errorf("%d lines: %d bytes of %d, %d files", n, len(got), text.Len(), len(z.File))
			}
			continue
		}
		blocks, index := read("indexes/index.cdx.gz"), strings.Split(strings.TrimSuffix(string(read("indexes/index.idx")), "\n"), "\n")
		got := ""
		for _, line := range index[1:] {
			first, fields, _ := strings.Cut(line, " {")
			var at struct {
				Offset, Length   int
				Digest, Filename string
			}
			if err := json.Unmarshal([]byte("{"+fields), &at); err != nil {
				t.Fatal(err)
			}
			block := blocks[at.Offset : at.Offset+at.Length]
			r, err := gzip.NewReader(bytes.NewReader(block))
			if err != nil {
				t.Fatal(err)
			}
			part, err := io.ReadAll(r)
			if err != nil || !strings.HasPrefix(string(part), first+" {") || at.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256(block)) || at.Filename != blocksFile {
				t.Errorf("%d lines: %s: %.60s, %v", n, line, part, err)
			}
			got += string(part)
		}
		if got != text.String() || !strings.HasPrefix(index[0], "!meta 0 {") || len(index) != 1+(n+blockLines-1)/blockLines {
			t.Errorf("%d lines: %d bytes of %d in %d blocks", n, len(got), text.Len(), len(index)-1)
		}
	}
}

func readFile(z *zip.Reader, name string) ([]byte, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
