package index

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/blevesearch/bleve/v2/index/scorch"
)

// A site and an address of somebody else's page are forgotten: no query finds
// them, no file holds them, and what is beside them stays.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	x := openDir(t, dir)
	put(t, x, town()...)
	put(t, x, page("https://zwei.example/", "Zwei Läden", "de", "Laden eins\n{Damm 4, 26135 Oldenburg}\nfreundlich\nLaden zwei\n{Huntestraße 8, 26135 Oldenburg}\nruhig"))
	page := func(url string) bool { return strings.Contains(url, "kaiser.example") }
	gone := []string{PlaceOf("Nadorster Strasse", "12 A", "26123", "Oldenburg"), PlaceOf("Damm", "4", "26135", "")}
	place := func(of string) bool { return slices.Contains(gone, of) }

	n, err := x.Forget(t.Context(), page, place, nil)
	want := []string{"https://cafe-kaiser.example/", "https://verzeichnis.example/handwerk", "https://www.harms.example/impressum", "https://www.harms.example/kontakt", "https://zwei.example/"}
	if err != nil || n.Addresses != 5 || !slices.Equal(n.Pages, want) {
		t.Fatalf("%+v, %v", n, err)
	}
	check := func(x *Index) {
		t.Helper()
		for _, h := range walk(t, x, Query{}) {
			for _, word := range []string{"Kaiser", "Harms", "Damm"} {
				if strings.Contains(h.Line()+h.Name, word) {
					t.Errorf("%s is still there: %+v", word, h)
				}
			}
		}
		for _, text := range []string{"kaiser", "damm 4", "tischlerei harms"} {
			for _, h := range find(t, x, Query{Text: text, Limit: 10}).Hits {
				if strings.Contains(h.Line(), "Kaiser") || strings.Contains(h.Line(), "Damm") || strings.Contains(h.Line(), "Nadorster") {
					t.Errorf("%q finds %s", text, h.Line())
				}
			}
		}
		for text, name := range map[string]string{"elektro bruns": "Elektro Bruns", "laden zwei": "Laden zwei", "huntestraße 8": "Laden zwei", "bäckerei": "Bäckerei Müller"} {
			if r := find(t, x, Query{Text: text, Limit: 10}); len(r.Hits) == 0 || r.Hits[0].Name != name {
				t.Errorf("%q finds %s, want %s", text, names(r), name)
			}
		}
	}
	check(x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	y := openDir(t, dir)
	check(y)
	files := 0
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // a snapshot that got its name meanwhile
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(dir), name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(text, []byte("kaiser.example")) || bytes.Contains(text, []byte("harms.example/")) {
			t.Errorf("%s still holds what was forgotten", name)
		}
		files++
		return err
	})
	if err != nil || files < 3 {
		t.Errorf("looked at %d files, %v", files, err)
	}
	if n, err := y.Forget(t.Context(), page, place, nil); err != nil || n.Addresses != 0 {
		t.Errorf("a second time: %+v, %v", n, err)
	}
}

// More files than one merge of Bleve takes by itself become one, and the only page of an index goes, too.
func TestForgetLeavesOneFile(t *testing.T) {
	for _, pages := range []int{1, 25} {
		dir := t.TempDir()
		x := openDir(t, dir)
		for i := range pages {
			put(t, x, page(fmt.Sprintf("https://seite%d.example/", i), "Laden", "de", fmt.Sprintf("Laden\n{Damm %d, 26135 Oldenburg}", i+1)))
		}
		_, err := x.Forget(t.Context(), func(url string) bool { return strings.Contains(url, "seite0.example") }, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if stats, err := x.Stats(t.Context()); err != nil || stats.Pages != pages-1 || stats.Addresses != pages-1 {
			t.Errorf("%d pages: %+v, %v", pages, stats, err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "bleve", "store", "*.zap"))
		if err != nil || len(files) > 1 {
			t.Errorf("%d pages: %q, %v", pages, files, err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err != nil || bytes.Contains(text, []byte("seite0")) {
				t.Errorf("%d pages: %s: it is still there (%v)", pages, file, err)
			}
		}
	}
}

// An index of one segment loses what is forgotten from its file, too: stored fields and terms. What
// others say of a forgotten site goes from beside their addresses.
func TestForgetOneSegment(t *testing.T) {
	dir := t.TempDir()
	x := openDir(t, dir)
	put(t, x,
		page("https://weg.example/", "Zweigstelle Xaverl", "de", "Gasthof Xaverl\n{Damm 4, 26135 Oldenburg}\nfreundlich"),
		page("https://bleibt.example/", "Laden", "de", "Laden eins\n{Huntestraße 8, 26135 Oldenburg}\nneben weg.example zu finden"))
	if err := x.merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := textsIn(t, x); !strings.Contains(all, "xaverl") || !strings.Contains(all, "neben weg.example") {
		t.Fatalf("the test finds nothing that is there:\n%s", all)
	}
	_, err := x.Forget(t.Context(), func(url string) bool { return strings.Contains(url, "weg.example") }, nil,
		func(text string) bool { return strings.Contains(text, "weg.example") })
	if err != nil {
		t.Fatal(err)
	}
	all := textsIn(t, x)
	for _, word := range []string{"weg.example", "Xaverl", "xaverl", "freundlich"} {
		if strings.Contains(all, word) {
			t.Errorf("%s is still there:\n%s", word, all)
		}
	}
	if r := find(t, x, Query{Text: "huntestraße 8"}); len(r.Hits) != 1 || r.Hits[0].Name != "Laden eins" {
		t.Errorf("what stays: %s", names(r))
	}
}

// textsIn returns all stored fields, of deleted documents too, and all terms of the files of an index.
func textsIn(t *testing.T, x *Index) string {
	t.Helper()
	r, err := x.view()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b strings.Builder
	segments := r.IndexReader.(*scorch.IndexSnapshot).Segments()
	for _, s := range segments {
		for n := range s.FullSize() {
			err := s.VisitDocument(uint64(n), func(_ string, _ byte, value []byte, _ []uint64) bool {
				fmt.Fprintf(&b, "%s\n", value)
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	fields, err := r.Fields()
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range fields {
		d, err := r.FieldDict(field)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := d.Next(); e != nil && err == nil; e, err = d.Next() {
			b.WriteString(e.Term + "\n")
		}
		d.Close()
	}
	files, err := fs.Glob(os.DirFS(x.dir), "bleve/store/*.zap")
	if err != nil || len(files) != len(segments) {
		t.Errorf("%d files of %d segments, %v", len(files), len(segments), err)
	}
	return b.String()
}
