package index

import (
	"bytes"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
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

	n, err := x.Forget(t.Context(), page, place)
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
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(dir), name)
		if bytes.Contains(text, []byte("kaiser.example")) || bytes.Contains(text, []byte("harms.example/")) {
			t.Errorf("%s still holds what was forgotten", name)
		}
		files++
		return err
	})
	if err != nil || files < 3 {
		t.Errorf("looked at %d files, %v", files, err)
	}
	if n, err := y.Forget(t.Context(), page, place); err != nil || n.Addresses != 0 {
		t.Errorf("a second time: %+v, %v", n, err)
	}
}
