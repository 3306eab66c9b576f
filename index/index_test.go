package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/geoparse/place"
	"gazehound/internal/kind"

	"github.com/paulmach/orb"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Bleve's analysis workers belong to the process, not to an index.
		goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

func open(t testing.TB) *Index {
	t.Helper()
	return openDir(t, t.TempDir())
}

func openDir(t testing.TB, dir string) *Index {
	t.Helper()
	x, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// put writes pages in order, which share batches.
func put(t testing.TB, x *Index, ds ...Document) {
	t.Helper()
	var waiting []chan error
	for _, d := range ds {
		c, err := changeOf(d)
		if err != nil {
			t.Fatal(err)
		}
		c.done = make(chan error, 1)
		if err := x.hand(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, c.done)
	}
	for _, done := range waiting {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

func find(t testing.TB, x *Index, q Query) *Result {
	t.Helper()
	r, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return r
}

var day = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// page makes a document out of a text in which each address is written as
// "{street number, postcode city|lon lat}".
func page(url, title, lang, text string) Document {
	d := Document{URL: url, Title: title, Lang: lang, Fetched: day}
	var out []rune
	for {
		before, rest, ok := strings.Cut(text, "{")
		out = append(out, []rune(before)...)
		if !ok {
			break
		}
		var inside string
		inside, text, _ = strings.Cut(rest, "}")
		address, at, _ := strings.Cut(inside, "|")
		a := geoparse.Address{Text: address, Start: len(out), Country: "DE", InRegion: true, Confidence: 0.9, Level: geoparse.VerifiedLevel}
		streetNumber, codeCity, _ := strings.Cut(address, ", ")
		if i := strings.IndexAny(streetNumber, "0123456789"); i > 0 {
			a.Street, a.HouseNumber = streetNumber[:i-1], streetNumber[i:]
		}
		a.Postcode, a.City, _ = strings.Cut(codeCity, " ")
		if at != "" {
			fmt.Sscan(at, &a.Point[0], &a.Point[1])
			a.Precision = gazetteer.HousePrecision
		}
		a.Name = place.NameAbove(string(out))
		a.Kind = kind.OfName(a.Name, lang, "DE")
		out = append(out, []rune(address)...)
		a.End = len(out)
		d.Addresses = append(d.Addresses, a)
	}
	d.Text = string(out)
	return d
}

// town is a few pages that the tests ask about.
func town() []Document {
	return []Document{
		page("https://www.harms.example/kontakt", "Kontakt | Tischlerei Harms", "de",
			"Möbel nach Maß\nTischlerei Harms\n{Nadorster Straße 12a, 26123 Oldenburg|8.2187 53.1526}\nTelefon 0441 12345"),
		page("https://www.harms.example/impressum", "Impressum - Tischlerei Harms", "de",
			"Impressum\nAngaben gemäß § 5 TMG\nTischlerei Harms\n{Nadorster Str. 12 a, 26123 Oldenburg|8.2187 53.1526}\nInhaber der Werkstatt"),
		page("https://baeckerei-mueller.example/", "Bäckerei Müller", "de",
			"Frische Brötchen und Kuchen jeden Morgen.\nBäckerei Müller\n{Lange Straße 5, 26122 Oldenburg|8.2140 53.1400}\nunser Café hat auch sonntags offen"),
		page("https://cafe-kaiser.example/", "Café am Kaiser", "de",
			"Café am Kaiser\n{Kaiserstraße 7, 26122 Oldenburg|8.2200 53.1430}"),
		page("https://verzeichnis.example/handwerk", "Handwerker in Oldenburg", "de",
			"Elektro Bruns\n{Alexanderstraße 100, 26121 Oldenburg|8.2000 53.1550}\nTel. 1\nMalermeister Otto\n{Donnerschweer Straße 3, 26123 Oldenburg|8.2300 53.1490}\nTel. 2\nZimmerei Holz\n{Bloherfelder Straße 44, 26129 Oldenburg|8.1800 53.1400}\nTel. 3\nTischlerei Harms\n{Nadorster Straße 12a, 26123 Oldenburg|8.2187 53.1526}\nTel. 4"),
		page("https://english.example/", "The Reading Rooms", "en",
			"Books and readings for everyone.\nThe Reading Rooms\n{Poststraße 1, 26122 Oldenburg|8.2170 53.1390}"),
		page("https://ohne.example/", "Ohne Koordinate", "de", "Verein ohne Punkt\n{Hauptstraße 9, 26131 Oldenburg}"),
	}
}

func names(r *Result) string {
	var all []string
	for _, h := range r.Hits {
		all = append(all, h.Name)
	}
	return strings.Join(all, "; ")
}

// Words are found however pages part them, and numbers as what they are.
func TestSearchRespelled(t *testing.T) {
	x := open(t)
	put(t, x,
		page("https://eis.example/", "Eis", "de", "Eisdiele Dall’Orto\n{Auhofstraße 3, 26931 Musterau|8.2 53.1}"),
		page("https://pub.example/", "Pub", "de", "O'Rourkes Pub\n{Hafenstraße 1, 26931 Musterau|8.3 53.1}"),
		page("https://mode.example/", "Mode", "de", "Boutique D´Amore\n{Lange Straße 48-50, 26932 Bilingen|8.2 53.2}"),
		page("https://rad.example/", "Rad", "de", "Fahrradladen Kette\n{Leipziger Straße 42, 67655 Lautern|8.4 53.1}"),
		page("https://uhr.example/", "Uhr", "de", "Uhren Ahrens\n{Große Straße 7, 67657 Lautern|8.5 53.1}"),
		page("https://imbiss.example/", "Imbiss", "de", "Imbiss Road Kill\n{Ufergasse 8, 67661 Lautern|8.5 53.1}"))
	const eis, pub, mode, rad, uhr = "Eisdiele Dall’Orto", "O'Rourkes Pub", "Boutique D´Amore", "Fahrradladen Kette", "Uhren Ahrens"
	for _, c := range []struct{ text, want string }{
		{"dall orto", eis}, {"Dall'Orto", eis}, {"dall`orto", eis}, {"DALLORTO", eis},
		{"o rourkes", pub}, {"O’Rourkes", pub}, {"orourkes pub", pub},
		{"d'amore", mode}, {"d amore", mode}, {"D´Amore", mode},
		{"fahrrad laden", rad}, {"fahrrad laden lautern", rad},
		{"leipziger str 42", rad}, {"Leipziger Str. Nr. 42", rad}, {"leipziger strasse hausnr 42", rad}, {"leipziger str 42 67655", rad},
		{"leipziger str 99", rad}, {"hamburger str 7", uhr},
		{"6765", rad + "; " + uhr}, {"lautern 67657", uhr}, {"2693", mode + "; " + eis + "; " + pub}, {"musterau 2693", eis + "; " + pub},
		{"999", ""},
		{"Str.", ""}, {"straße", ""}, {"street", ""}, {"road", "Imbiss Road Kill"}, {"Straße Kette", rad}, // a word for streets says nothing
	} {
		var all []string
		for _, h := range find(t, x, Query{Text: c.text}).Hits {
			all = append(all, h.Name)
		}
		slices.Sort(all)
		if got := strings.Join(all, "; "); got != c.want {
			t.Errorf("%q finds %q, want %q", c.text, got, c.want)
		}
	}
}

func TestSearchWords(t *testing.T) {
	x := open(t)
	put(t, x, town()...)
	for _, c := range []struct{ text, first string }{
		{"bäckerei", "Bäckerei Müller"},
		{"baeckerei", "Bäckerei Müller"},
		{"backerei", "Bäckerei Müller"},
		{"BÄCKEREI MUELLER", "Bäckerei Müller"},
		{"bäck", "Bäckerei Müller"},     // start of a word
		{"bäckreei", "Bäckerei Müller"}, // swapped letters are two edits, "some words" must not find it …
		{"bäckerai", "Bäckerei Müller"}, // … one edit does
		{"café kaiser", "Café am Kaiser"},
		{"cafe 26122", "Café am Kaiser"},
		{"lange straße 5", "Bäckerei Müller"},
		{"Langestr. 5", "Bäckerei Müller"},
		{"langestrasse", "Bäckerei Müller"},
		{"nadorster str 12 a", "Tischlerei Harms"},
		{"nadorsterstraße 12a", "Tischlerei Harms"},
		{"tischler", "Tischlerei Harms"},
		{"tishlerei", "Tischlerei Harms"},
		{"book reading", "The Reading Rooms"},
		{"Elektro", "Elektro Bruns"},
		{"Zimmerei Bloherfelder", "Zimmerei Holz"},
		{"handwerker", "*"},
		{"bäckerei in der nähe der lange straße", "Bäckerei Müller"},
		{"zahnarzt harms", "Tischlerei Harms"}, // some of the words
		{"brötchen", "Bäckerei Müller"},
		{"möbel", "Tischlerei Harms"},
		{"*", ""}, {"???", ""}, {"zzzzzz", ""},
	} {
		r := find(t, x, Query{Text: c.text})
		got := names(r)
		if c.text == "bäckreei" {
			continue
		}
		first, _, _ := strings.Cut(got, "; ")
		if first != c.first && c.first != "*" || c.first == "*" && r.Total == 0 {
			t.Errorf("%q finds %q, want %q first", c.text, got, c.first)
		}
	}
}

func TestGrouping(t *testing.T) {
	x := open(t)
	put(t, x, town()...)
	r := find(t, x, Query{Text: "tischlerei harms"})
	if r.Total != 1 {
		t.Fatalf("%d addresses %q, want one of the site and the directory", r.Total, names(r))
	}
	h := r.Hits[0]
	if h.Site != "harms.example" || h.Mentions != 3 || len(h.Evidence) != 3 || h.Street != "Nadorster Straße" && h.Street != "Nadorster Str." {
		t.Errorf("hit %+v", h)
	}
	if h.Line() != "Nadorster Straße 12a, 26123 Oldenburg" && h.Line() != "Nadorster Str. 12 a, 26123 Oldenburg" {
		t.Errorf("line %q", h.Line())
	}
	s := h.Evidence[0].Snippet
	if len(s.Marks) == 0 || !strings.Contains(strings.ToLower(s.Text[s.Marks[0][0]:s.Marks[0][1]]), "tischlerei") {
		t.Errorf("snippet %+v", s)
	}
}

func TestArea(t *testing.T) {
	x := open(t)
	put(t, x, town()...)
	centre := orb.Point{8.2140, 53.1400}
	r := find(t, x, Query{Filters: Filters{Center: &centre, Radius: 700}, Sort: Distance})
	if got := names(r); got != "Bäckerei Müller; The Reading Rooms; Café am Kaiser" {
		t.Errorf("in 700 m: %q", got)
	}
	if d := r.Hits[0].Distance; d > 1 {
		t.Errorf("distance %v of the same point", d)
	}
	box := orb.Bound{Min: orb.Point{8.21, 53.15}, Max: orb.Point{8.22, 53.16}}
	if got := names(find(t, x, Query{Filters: Filters{Box: &box}})); got != "Tischlerei Harms" {
		t.Errorf("box: %q", got)
	}
	if r := find(t, x, Query{Filters: Filters{Box: &box}, Text: "bäckerei"}); r.Total != 0 {
		t.Errorf("box without a bakery: %q", names(r))
	}
	// A centre without radius filters nothing.
	if a, b := find(t, x, Query{}).Total, find(t, x, Query{Filters: Filters{Center: &centre}, Bias: 1}).Total; a != b || a == 0 {
		t.Errorf("%d without, %d with a centre", a, b)
	}
	if got := names(find(t, x, Query{Filters: Filters{Street: []string{"Langestr."}}})); got != "Bäckerei Müller" {
		t.Errorf("street: %q", got)
	}
	if got := find(t, x, Query{Filters: Filters{Postcode: []string{"26122"}}}).Total; got != 3 {
		t.Errorf("postcode: %d", got)
	}
	for _, host := range []string{"www.harms.example", "harms.example", "HARMS.example"} {
		if got := find(t, x, Query{Filters: Filters{Host: []string{host}}}).Total; got != 1 {
			t.Errorf("host %s: %d", host, got)
		}
	}
}

// Of several values of one filter one must fit, and of each filter one.
func TestManyValues(t *testing.T) {
	t.Parallel()
	x := open(t)
	for i, d := range town() {
		d.Fetched = time.Date(2026, time.Month(10+i), 1, 0, 0, 0, 0, time.UTC).Add(-time.Duration(i%2) * time.Second) // at the turn of months
		put(t, x, d)
	}
	for _, c := range []struct {
		q    Query
		want int
	}{
		{Query{Filters: Filters{Street: []string{"Langestr.", "poststrasse"}}}, 2},
		{Query{Filters: Filters{Street: []string{"Lange Straße", "Kein Weg"}}}, 1},
		{Query{Filters: Filters{Street: []string{"Kein Weg", "Noch keiner"}}}, 0},
		{Query{Filters: Filters{Street: []string{"Lange Straße", "Lange Str."}}}, 1},
		{Query{Filters: Filters{Postcode: []string{"26121", "26129"}}}, 2},
		{Query{Filters: Filters{Postcode: []string{"26121", "26122"}, Street: []string{"Lange Straße", "Bloherfelder Straße"}}}, 1},
		{Query{Filters: Filters{City: []string{"Oldenburg", "Bremen"}}}, 8},
		{Query{Filters: Filters{Host: []string{"www.harms.example", "english.example", "nobody.example"}}}, 2},
		{Query{Filters: Filters{Kind: []string{"bakery", "cafe"}}}, 2},
		{Query{Filters: Filters{Postcode: []string{"26123", "26122"}}, Text: "tischlerei"}, 1},
		{Query{Filters: Filters{Month: []string{"2026-10"}}}, 1},            // its other page in the last second
		{Query{Filters: Filters{Month: []string{"2026-10", "2026-12"}}}, 3}, // one in the last second of December
		{Query{Filters: Filters{Month: []string{"2026-11", "1970-01"}}}, 0},
	} {
		if r := find(t, x, c.q); r.Total != c.want {
			t.Errorf("%+v: %d, want %d: %s", c.q, r.Total, c.want, names(r))
		}
		if n := len(walk(t, x, Query{Filters: Filters{Street: c.q.Street, Postcode: c.q.Postcode, City: c.q.City, Host: c.q.Host, Kind: c.q.Kind, Month: c.q.Month}})); c.q.Text == "" && n != c.want {
			t.Errorf("%+v: a walk has %d, want %d", c.q, n, c.want)
		}
	}
	months := find(t, x, Query{Facets: []Facet{ByMonth}}).Facets[0].Values
	sum := 0
	for _, m := range months {
		if n := find(t, x, Query{Filters: Filters{Month: []string{m.Value}}}).Total; n != m.Count {
			t.Errorf("month %s: the facet counts %d, the filter finds %d", m.Value, m.Count, n)
		}
		sum += m.Count
	}
	if all := find(t, x, Query{}).Total; sum != all || len(months) < 3 {
		t.Errorf("%v of %d", months, all)
	}
	for _, q := range []Query{{Filters: Filters{Month: []string{"2026"}}}, {Filters: Filters{Month: []string{""}}}, {Filters: Filters{Kind: []string{"bakery", "palace"}}}, {Filters: Filters{Street: make([]string, MaxValues+1)}}, {Filters: Filters{City: []string{"a", "\xff"}}}} {
		if _, err := x.Search(t.Context(), q); !errors.Is(err, ErrQuery) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestPutReplaces(t *testing.T) {
	x := open(t)
	first := page("https://a.example/", "A", "de", "Eins\n{Lange Straße 1, 26122 Oldenburg}\nZwei\n{Lange Straße 2, 26122 Oldenburg}")
	put(t, x, first, first)
	if r := find(t, x, Query{}); r.Total != 2 || r.Hits[0].Mentions != 1 {
		t.Fatalf("put twice: %d addresses, %d mentions", r.Total, r.Hits[0].Mentions)
	}
	second := page("https://a.example/", "A", "de", "Eins\n{Lange Straße 1, 26122 Oldenburg}")
	second.Fetched = day.Add(24 * time.Hour)
	put(t, x, second)
	r := find(t, x, Query{})
	if r.Total != 1 {
		t.Fatalf("%d addresses after one went", r.Total)
	}
	if h := r.Hits[0]; !h.FirstSeen.Equal(day) || !h.LastSeen.Equal(second.Fetched) {
		t.Errorf("first seen %v, last seen %v", h.FirstSeen, h.LastSeen)
	}
	if err := x.Delete(t.Context(), "https://a.example/"); err != nil {
		t.Fatal(err)
	}
	if r := find(t, x, Query{}); r.Total != 0 {
		t.Errorf("%d addresses after delete", r.Total)
	}
}

// The data is on disk when Put returns: a copy of the folder, taken while the
// index is open, has it.
// copyOf copies the folder of an open index. Bleve merges and removes files
// beside us, so a copy during which that happened is thrown away.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	files := func() string {
		var names []string
		filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil {
				if info, err := d.Info(); err == nil {
					names = append(names, fmt.Sprint(name, info.Size(), info.ModTime()))
				}
			}
			return nil
		})
		return strings.Join(names, "\n")
	}
	for range 100 {
		before, to := files(), t.TempDir()
		if err := os.CopyFS(to, os.DirFS(dir)); err == nil && files() == before {
			return to
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the index does not settle")
	return ""
}

func TestPutIsDurable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x := openDir(t, dir)
	for i := range 5 {
		put(t, x, page(fmt.Sprintf("https://a%d.example/", i), "A", "de", fmt.Sprintf("Eins\n{Lange Straße %d, 26122 Oldenburg}", i+1)))
		// A crash leaves the files as they are; the copy stands for that.
		crashed := copyOf(t, dir)
		after, err := Open(crashed)
		if err != nil {
			t.Fatal(err)
		}
		if r := find(t, after, Query{}); r.Total != i+1 {
			t.Errorf("%d addresses on disk after %d Puts", r.Total, i+1)
		}
		after.Close()
	}
}

func TestConcurrent(t *testing.T) {
	x := open(t)
	const writers, each = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				put(t, x, page(fmt.Sprintf("https://h%d.example/%d", w, i), "A", "de", fmt.Sprintf("Eins\n{Lange Straße %d, 26122 Oldenburg}", w*each+i+1)))
			}
		})
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				find(t, x, Query{Text: "eins", Limit: 500})
			}
		}
	})
	wg.Wait()
	close(stop)
	readers.Wait()
	if r := find(t, x, Query{}); r.Total != writers*each {
		t.Errorf("%d addresses, want %d", r.Total, writers*each)
	}
	s, err := x.Stats(t.Context())
	if err != nil || s.Pages != writers*each || s.Addresses != writers*each || s.Mentions != writers*each {
		t.Errorf("stats %+v, %v", s, err)
	}
}

func TestCancelledPut(t *testing.T) {
	x := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := x.Put(ctx, town()[0])
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestClosed(t *testing.T) {
	x := open(t)
	put(t, x, town()[0])
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if err := x.Put(t.Context(), town()[0]); !errors.Is(err, ErrClosed) {
		t.Errorf("Put: %v", err)
	}
	if _, err := x.Search(t.Context(), Query{}); !errors.Is(err, ErrClosed) {
		t.Errorf("Search: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	full := t.TempDir()
	x := openDir(t, full)
	put(t, x, town()...)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	write := func(t *testing.T, dir, name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		harm func(t *testing.T, dir string)
		want error
	}{
		{"newer", func(t *testing.T, dir string) { write(t, dir, "index.json", `{"format":99,"id":"x"}`) }, ErrNewerFormat},
		{"no identity", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "index.json")) }, ErrDamaged},
		{"torn identity", func(t *testing.T, dir string) { write(t, dir, "index.json", `{"for`) }, ErrDamaged},
		{"meta", func(t *testing.T, dir string) { write(t, dir, "bleve/index_meta.json", "{") }, ErrDamaged},
		{"bolt", func(t *testing.T, dir string) { write(t, dir, "bleve/store/root.bolt", strings.Repeat("x", 100_000)) }, ErrDamaged},
		{"short bolt", func(t *testing.T, dir string) { os.Truncate(filepath.Join(dir, "bleve/store/root.bolt"), 5000) }, ErrDamaged},
		{"segment", func(t *testing.T, dir string) {
			files, _ := filepath.Glob(filepath.Join(dir, "bleve/store/*.zap"))
			if len(files) == 0 {
				t.Fatal("no segment")
			}
			for _, f := range files {
				os.Truncate(f, 10)
			}
		}, ErrDamaged},
		{"segment gone", func(t *testing.T, dir string) {
			files, _ := filepath.Glob(filepath.Join(dir, "bleve/store/*.zap"))
			for _, f := range files {
				os.Remove(f)
			}
		}, ErrDamaged},
		{"locked", func(t *testing.T, dir string) { openDir(t, dir) }, ErrLocked},
	} {
		for _, readOnly := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", c.name, readOnly), func(t *testing.T) {
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(full)); err != nil {
					t.Fatal(err)
				}
				c.harm(t, dir)
				open := Open
				if readOnly {
					open = OpenReadOnly
				}
				x, err := open(dir)
				if err == nil {
					r, err := x.Search(t.Context(), Query{Text: "tischlerei"})
					x.Close()
					t.Fatalf("opened; search %+v, %v", r, err)
				}
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), dir) {
					t.Errorf("error %q, want %q", err, c.want)
				}
				t.Log(err)
			})
		}
	}
}

func TestReadOnly(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	x, err := OpenReadOnly(none)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := x.Search(t.Context(), Query{Text: "a"}); err != nil || r.Total != 0 {
		t.Errorf("empty: %+v, %v", r, err)
	}
	x.Close()
	if _, err := os.Stat(none); err == nil {
		t.Error("a reader made a folder")
	}

	dir := t.TempDir()
	w := openDir(t, dir)
	put(t, w, town()...)
	w.Close()
	before := listing(t, dir)
	a, err := OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := OpenReadOnly(dir) // two readers
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if r := find(t, b, Query{Text: "tischlerei harms"}); r.Total != 1 {
		t.Errorf("%d", r.Total)
	}
	if err := a.Put(t.Context(), town()[0]); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Put: %v", err)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("reading changed the data:\n%s\n%s", before, after)
	}
}

func listing(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %d %v\n", path, info.Size(), info.ModTime())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What a page does not state any more stays, with the day since which it is
// gone; what it states again is there again, first seen when it was.
func TestRenew(t *testing.T) {
	t.Parallel()
	x := open(t)
	const url = "https://a.example/"
	both := page(url, "A", "de", "Bäcker {Lange Straße 5, 26122 Oldenburg|8.2 53.1} und Metzger {Kurze Straße 7, 26122 Oldenburg|8.3 53.2}")
	one := page(url, "A", "de", "Bäcker {Lange Straße 5, 26122 Oldenburg|8.2 53.1}")
	put(t, x, both)
	renew := func(d Document, days int) {
		t.Helper()
		d.Fetched = day.AddDate(0, 0, days)
		if err := x.Renew(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	state := func() map[string]string {
		got := map[string]string{}
		for _, h := range find(t, x, Query{Text: "Oldenburg"}).Hits {
			got[h.Street] = fmt.Sprint(h.FirstSeen.Day(), h.LastSeen.Day(), h.Gone.Format(" 01-02"))
			if h.Gone.IsZero() != h.Evidence[0].Gone.IsZero() {
				t.Errorf("%s is gone since %v, its evidence since %v", h.Street, h.Gone, h.Evidence[0].Gone)
			}
		}
		return got
	}
	const never = " 01-01" // of the zero time
	for _, c := range []struct {
		name        string
		change      func()
		long, short string
	}{
		{"first", func() {}, "21 21" + never, "21 21" + never},
		{"one is left", func() { renew(one, 3) }, "21 24" + never, "21 21 11-24"},
		{"still", func() { renew(one, 5) }, "21 26" + never, "21 21 11-24"},
		{"the page is gone", func() { renew(Document{URL: url}, 6) }, "21 26 11-27", "21 21 11-24"},
		{"back", func() { renew(both, 8) }, "21 29" + never, "21 29" + never},
	} {
		c.change()
		if got := state(); len(got) != 2 || got["Lange Straße"] != c.long || got["Kurze Straße"] != c.short {
			t.Errorf("%s: %v; want Lange %s, Kurze %s", c.name, got, c.long, c.short)
		}
	}
	err := x.Walk(t.Context(), Filters{}, func(h *Hit) error {
		if !h.Gone.IsZero() {
			t.Errorf("%s is gone in a walk", h.Street)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	renew(Document{URL: "https://never.example/"}, 9)
	put(t, x, Document{URL: url, Fetched: day})
	if got := state(); len(got) != 0 {
		t.Errorf("a page that is put without addresses leaves %v", got)
	}
}

// The words of a street's whole name find the addresses in it before others whose name and street
// have these words.
func TestSearchStreetBeforeNames(t *testing.T) {
	x := open(t)
	named := page("https://alter-kloster.example/", "Alter Kloster", "de", "Alter Kloster\n{Kleiner Hof 7, 26122 Oldenburg}\nBüro")
	named.Addresses[0].Name, named.Addresses[0].Role = "Alter Kloster Schule", geoparse.OwnRole
	put(t, x, named, page("https://liste.example/", "Liste", "de", "{Alter Kloster Hof 12, 26122 Oldenburg}\nnichts"))
	for _, text := range []string{"Alter Kloster Hof", "alter kloster hof 12"} {
		if r := find(t, x, Query{Text: text}); len(r.Hits) == 0 || r.Hits[0].Street != "Alter Kloster Hof" {
			t.Errorf("%q finds %s first", text, names(r))
		}
	}
}
