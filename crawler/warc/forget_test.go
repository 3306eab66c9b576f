package warc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/weburl"
)

func ofGone(u weburl.URL) bool { return u.Host() == "gone.example" }

func ofAny(weburl.URL) bool { return true }

// keptAndGone writes two files of pages of two hosts; the first has a copy of
// a page of gone.example at kept.example, too.
func keptAndGone(t testing.TB, dir string) {
	for range 2 {
		w := newWriter(t, dir)
		for i := range 5 {
			c := capture(t, fmt.Sprintf("http://gone.example/%d", i), 200, fmt.Sprintf("secret %d", i))
			put(t, w, c)
			c = capture(t, fmt.Sprintf("http://kept.example/%d", i), 200, fmt.Sprintf("public %d", i))
			c.Note.Via, c.Note.Around = "http://gone.example/1", "secret words"
			put(t, w, c)
		}
		put(t, w, capture(t, "http://kept.example/copy", 200, "secret 3"))
		put(t, w, capture(t, "http://kept.example/own", 200, "nothing but our own"))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	w := newWriter(t, dir)
	put(t, w, capture(t, "http://other.example/", 200, "other"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestForget(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[a-b]*") // is no pattern
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	keptAndGone(t, dir)
	names := files(t, dir)
	if len(names) != 3 {
		t.Fatal(names)
	}
	before := map[string][]plainRecord{}
	for _, name := range names {
		before[name] = readStrictly(t, name)
	}
	for name, records := range before {
		if !slices.ContainsFunc(records, func(r plainRecord) bool {
			return strings.Contains(r.header["WARC-Target-URI"], "gone.example")
		}) {
			continue
		}
		torn := filepath.Join(dir, "."+filepath.Base(name)+".123.part") // of a killed one
		if err := os.WriteFile(torn, []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	n, err := Forget(t.Context(), within(t, dir), Removal{URL: ofGone, Text: noText})
	if err != nil || n.Searched != 3 || n.Files != 2 || n.Notes != 10 || len(n.Damaged) != 0 {
		t.Fatalf("%+v, %v", n, err)
	}
	if got := files(t, dir); !slices.Equal(got, names) {
		t.Errorf("files are %q, were %q", got, names)
	}
	records := 0
	for _, name := range names {
		file, err := crawltest.ReadGzip(name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(file)
		if strings.Contains(text, "gone.example") || strings.Contains(text, "secret") {
			t.Errorf("%s still holds what was forgotten", name)
		}
		readWithLibrary(t, name) // the strictest reading, digests included
		after := readStrictly(t, name)
		records += len(before[name]) - len(after)
		was := map[string][]byte{}
		for _, r := range before[name] {
			was[r.header["WARC-Record-ID"]] = r.block
		}
		for _, r := range after {
			old, ok := was[r.header["WARC-Record-ID"]]
			if !ok || !bytes.Equal(old, r.block) && r.header["WARC-Type"] != "metadata" {
				t.Errorf("%s: a record of %s is another one", name, r.header["WARC-Target-URI"])
			}
		}
	}
	if n.Records != records || records == 0 {
		t.Errorf("%d records were taken out, %d are missing", n.Records, records)
	}
	a := open(t, dir)
	if !a.Has(mustURL(t, "http://kept.example/4")) || !a.Has(mustURL(t, "http://kept.example/own")) || a.Has(mustURL(t, "http://gone.example/1")) {
		t.Error("the wrong pages are left")
	}
	checkIndex(t, a, dir)
	if n, err := Forget(t.Context(), within(t, dir), Removal{URL: ofGone, Text: noText}); err != nil || n.Files+n.Records+n.Notes != 0 {
		t.Errorf("a second time: %+v, %v", n, err)
	}
}

// A file that ends in the middle of a record is said to be searched in part,
// and keeps what cannot be read.
func TestForgetDamaged(t *testing.T) {
	dir := t.TempDir()
	keptAndGone(t, dir)
	name := files(t, dir)[0]
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, info.Size()-5); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.warc.gz"), []byte("no WARC file"), 0o644); err != nil {
		t.Fatal(err)
	}
	n, err := Forget(t.Context(), within(t, dir), Removal{URL: ofGone, Text: noText})
	if err != nil || n.Files != 2 || len(n.Damaged) != 2 || !strings.Contains(strings.Join(n.Damaged, "\n"), "1 place were not searched") {
		t.Errorf("%+v, %v", n, err)
	}
	a := open(t, name)
	if len(a.Stats().Warnings) != 1 || a.Has(mustURL(t, "http://gone.example/1")) {
		t.Errorf("%+v", a.Stats())
	}
}

func TestForgetStops(t *testing.T) {
	dir := t.TempDir()
	keptAndGone(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Forget(ctx, within(t, dir), Removal{URL: ofGone, Text: noText}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	w := newWriter(t, dir)
	put(t, w, capture(t, "http://gone.example/now", 200, "being written"))
	if _, err := Forget(t.Context(), within(t, dir), Removal{URL: ofGone, Text: noText}); err == nil || !strings.Contains(err.Error(), "a running program writes to it") {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := Forget(t.Context(), within(t, dir), Removal{URL: ofGone, Text: noText}); err != nil || n.Files == 0 {
		t.Errorf("%+v, %v", n, err)
	}
	if n, err := Forget(t.Context(), within(t, filepath.Join(dir, "none")), Removal{URL: ofGone, Text: noText}); err != nil || len(n.Damaged) != 1 {
		t.Errorf("a folder that is not there: %+v, %v", n, err)
	}
}

// within returns the manifest of a data directory with one folder of WARC files.
func within(t testing.TB, dir string) *Manifest {
	m, err := ReadManifest(filepath.Join(filepath.Dir(dir), "archives.txt"), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func noText(string) bool { return false }

// Bodies are compared as readers see them, too, whatever their code page and markup.
func TestForgetAsRead(t *testing.T) {
	utf16 := func(s string) string {
		out := []byte{0xFF, 0xFE}
		for _, c := range s {
			out = append(out, byte(c), byte(c>>8))
		}
		return string(out)
	}
	says := map[string]string{
		"plain":  "<p>See gone.example here",
		"entity": "<p>See gone&#46;example here",
		"break":  "<p>See gone<wbr>.example here",
		"bold":   "<p>See gone<b>.example</b> here",
		"target": `<p><a href="http://gone&#46;example/x">here</a>`,
		"wide":   utf16("<meta charset=utf-16><p>See gone.example here"),
	}
	dir := t.TempDir()
	w := newWriter(t, dir)
	for name, body := range says {
		put(t, w, capture(t, "http://kept.example/"+name, 200, body))
	}
	put(t, w, capture(t, "http://kept.example/other", 200, "<p>See bygone&#46;example here"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text := func(s string) bool { return strings.Contains(strings.ReplaceAll(s, "bygone", ""), "gone.example") }
	n, err := Forget(t.Context(), within(t, dir), Removal{URL: func(weburl.URL) bool { return false }, Text: text})
	if err != nil || n.Files != 1 {
		t.Fatalf("%+v, %v", n, err)
	}
	a := open(t, dir)
	for name := range says {
		if a.Has(mustURL(t, "http://kept.example/"+name)) {
			t.Errorf("%s is still there", name)
		}
	}
	if !a.Has(mustURL(t, "http://kept.example/other")) {
		t.Error("another page is gone")
	}
}
