package index

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// left writes a journal as a killed program leaves it, and nothing of Bleve.
func left(t testing.TB, dir string, file int, entries ...entry) {
	t.Helper()
	j, _, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	j.active = file
	var records [][]byte
	for _, e := range entries {
		r, err := record(e)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	if err := j.add(records); err != nil {
		t.Fatal(err)
	}
}

func putEntry(url, text string) entry {
	d := page(url, "A", "de", text)
	return entry{URL: d.URL, Document: &d}
}

// What a killed program had acknowledged is there after Open, the latest
// state of a page wins whatever file it lies in, and a torn record is no harm.
func TestJournalIsRecovered(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		dir := t.TempDir()
		openDir(t, dir).Close()
		left(t, dir, 1, putEntry("https://a.example/", "Eins\n{Lange Straße 1, 26122 Oldenburg}"), putEntry("https://b.example/", "Eins\n{Lange Straße 2, 26122 Oldenburg}"))
		left(t, dir, 0, entry{URL: "https://b.example/"}, putEntry("https://a.example/", "Neu\n{Lange Straße 3, 26122 Oldenburg}"))
		name := journalNames(dir)[0]
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, append(text, text[:len(text)-3]...), 0o644); err != nil {
			t.Fatal(err)
		}
		o := DefaultOptions()
		o.ReadOnly = readOnly
		x, err := Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		r := find(t, x, Query{})
		if r.Total != 1 || r.Hits[0].HouseNumber != "3" {
			t.Errorf("read only %v: %d addresses, %+v", readOnly, r.Total, r.Hits)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		if journalHolds(dir) {
			t.Error("the journal is not empty after Close")
		}
	}
}

// A whole record that cannot be read was acknowledged: it is not passed over.
func TestJournalDamaged(t *testing.T) {
	dir := t.TempDir()
	openDir(t, dir).Close()
	j, _, err := openJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.add([][]byte{append(make([]byte, 16), "no gob"...)}); err != nil {
		t.Fatal(err)
	}
	j.close()
	if _, err := Open(dir, DefaultOptions()); !errors.Is(err, ErrDamaged) {
		t.Errorf("error %v", err)
	}
}

// A folder that may only be read is read, without the last seconds.
func TestJournalOfReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	x := openDir(t, dir)
	put(t, x, town()[0])
	x.Close()
	left(t, dir, 0, entry{URL: "https://b.example/"})
	for _, name := range journalNames(dir) {
		if err := os.Chmod(name, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	o := DefaultOptions()
	o.ReadOnly = true
	x, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	x.Close()
}

// Many writes reach Bleve in few batches: each would be a segment.
func TestBatches(t *testing.T) {
	dir := t.TempDir()
	x := openDir(t, dir)
	for i := range 50 {
		put(t, x, page(fmt.Sprintf("https://a.example/%d", i), "A", "de", fmt.Sprintf("Eins\n{Lange Straße %d, 26122 Oldenburg}", i+1)))
	}
	if s, err := x.Stats(t.Context()); err != nil || s.Pages != 50 {
		t.Errorf("stats %+v, %v", s, err)
	}
	n, _, err := generationOf(x.bleve)
	if err != nil || n == 0 || n > 25 {
		t.Errorf("50 writes made %d batches, %v", n, err)
	}
	x.Close()
}

// After any turns the journal returns what was added since its files were
// emptied, in order, though older records lie behind and a kill tore the last.
func TestJournalTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "journal")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		j, _, err := openJournal(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { j.close() }()
		var held [2][]string
		some := rapid.SliceOfN(rapid.StringMatching("[a-z]{1,2}"), 1, 4) // often of one length, so that old records fit behind new ones
		add := func(urls []string) {
			var records [][]byte
			for _, u := range urls {
				r, err := record(entry{URL: u})
				if err != nil {
					t.Fatal(err)
				}
				records = append(records, r)
			}
			if err := j.add(records); err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				urls := some.Draw(t, "urls")
				add(urls)
				held[j.active] = append(held[j.active], urls...)
			},
			"turn": func(t *rapid.T) {
				full := j.turn()
				if err := j.empty(full); err != nil {
					t.Fatal(err)
				}
				held[full] = nil
			},
			"kill": func(t *rapid.T) {
				want := append(slices.Clone(held[1-j.active]), held[j.active]...)
				acknowledged := len(want)
				if torn := rapid.SliceOfN(rapid.StringMatching("[a-z]{1,2}"), 0, 4).Draw(t, "torn"); len(torn) > 0 { // not all of their bytes reach the disk
					file, end := j.files[j.active], j.ends[j.active]
					add(torn)
					at := rapid.Int64Range(end, j.ends[j.active]-1).Draw(t, "at")
					if _, err := file.WriteAt([]byte{0xA5}, at); err != nil {
						t.Fatal(err)
					}
					want = append(want, torn...)
				}
				j.close()
				var waiting []entry
				if j, waiting, err = openJournal(dir); err != nil {
					t.Fatal(err)
				}
				if len(waiting) < acknowledged || len(waiting) > len(want) || len(waiting) > 0 && !journalHolds(dir) {
					t.Fatalf("%d writes, want %d to %d; the journal holds some: %v", len(waiting), acknowledged, len(want), journalHolds(dir))
				}
				for i, e := range waiting {
					if e.URL != want[i] {
						t.Fatalf("write %d is %q, want %q", i, e.URL, want[i])
					}
				}
				held = [2][]string{}
				if err := j.clear(); err != nil || journalHolds(dir) {
					t.Fatalf("the journal is not empty: %v", err)
				}
			},
		})
	})
}

func FuzzJournal(f *testing.F) {
	dir := f.TempDir()
	left(f, dir, 0, putEntry("https://a.example/", "Eins\n{Lange Straße 1, 26122 Oldenburg}"), entry{URL: "https://b.example/"})
	text, err := os.ReadFile(filepath.Join(dir, "journal.0"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, uint16(3))
	f.Fuzz(func(t *testing.T, text []byte, cut uint16) {
		count := func(b []byte) (urls []string, err error) {
			err = readRecords(bytes.NewReader(b), func(_ uint64, e entry) { urls = append(urls, e.URL) })
			return urls, err
		}
		whole, err := count(text)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("error %v", err)
		}
		// Whatever is cut off the end, what stands before it stays the same.
		part, _ := count(text[:max(0, len(text)-int(cut))])
		if len(part) > len(whole) || fmt.Sprint(part) != fmt.Sprint(whole[:len(part)]) {
			t.Errorf("%q of the part, %q of the whole", part, whole)
		}
	})
}

// A text has the words that its language's analyser finds in it, at the same
// places, and weighs what they weigh one by one.
func TestDictionary(t *testing.T) {
	a := newAnalysis()
	check := func(t rapid.TB, text string) {
		for _, lang := range []string{"de", "en", ""} {
			d := a.dictionaryOf(lang)
			var want, got []token
			weights := map[string]float64{}
			folded := a.plain.Analyze([]byte(text))
			for i, word := range d.analyser.Analyze([]byte(text)) {
				want = append(want, token{word.Start, word.End, string(word.Term), string(folded[i].Term)})
				weights[string(word.Term)] = min(mostText, weights[string(word.Term)]+weightText)
			}
			d.each(text, func(t *token, start int) { got = append(got, token{start, start + t.end - t.start, t.term, t.folded}) })
			if !slices.Equal(got, want) {
				t.Errorf("%q: %v of %q, want %v", lang, got, text, want)
			}
			if got := a.weighPage(lang, text); !maps.Equal(got, weights) {
				t.Errorf("%q: weights %v of %q, want %v", lang, got, text, weights)
			}
		}
	}
	check(t, "Bäckereien und Bäckerei BACKEREI, baeckerei; Straße strasse Größe. Running runs run 2026 2026 2026 a-b")
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.StringMatching(`[a-zA-ZäöüßÄéçσΣ0-9.,:;_·'’"„“()&@/\-日本 \n]{0,60}`).Draw(t, "text"))
	})
}

// With a lag no search waits for a write, and sees it a little later; what
// counts or walks sees it at once.
func TestLag(t *testing.T) {
	o := DefaultOptions()
	o.Lag = 20 * time.Millisecond
	x, err := Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for i, d := range town()[:3] {
		put(t, x, d)
		if i == 0 {
			if s, err := x.Stats(t.Context()); err != nil || s.Pages != 1 {
				t.Errorf("stats %+v, %v", s, err)
			}
		}
	}
	for find(t, x, Query{Text: "bäckerei"}).Total == 0 { // until the test's own deadline
		time.Sleep(time.Millisecond)
	}
}
