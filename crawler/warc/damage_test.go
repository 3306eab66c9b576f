package warc

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/weburl"
)

// A part is a record of a file and where it lies.
type part struct {
	url      string // "": not of a response
	from, to int
}

// manyPages writes a file of responses, compressed or not, and returns its bytes and their places.
func manyPages(t *testing.T, name string, n int) (raw []byte, parts []part) {
	records := []string{info}
	for i := range n {
		text := fmt.Sprintf("page %d %x", i, noise(200+17*i%900))
		records = append(records, response(fmt.Sprintf("http://a.example/%d", i), html(text)))
	}
	raw, err := os.ReadFile(write(t, name, records...))
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for i, record := range records {
		size, url := len(record), ""
		if strings.HasSuffix(name, ".gz") {
			size = len(zipText(record))
		}
		if i > 0 {
			url = fmt.Sprintf("http://a.example/%d", i-1)
		}
		parts = append(parts, part{url, at, at + size})
		at += size
	}
	if at != len(raw) {
		t.Fatalf("%d bytes of records in a file of %d", at, len(raw))
	}
	return raw, parts
}

// 64 damaged bytes cost at most the records that they touch: in the index, in a walk, in the lines
// of CDXJ and for Forget, which keeps the damage and says that it was not searched.
func TestDamageCostsItsRecordsOnly(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, name := range []string{"web.warc.gz", "web.warc"} {
		raw, parts := manyPages(t, name, 12)
		for round := range 20 {
			at := random.IntN(len(raw) - 64)
			if round == 0 {
				at = 0
			}
			bad := bytes.Clone(raw)
			for i := range 64 {
				bad[at+i] ^= byte(1 + random.IntN(255))
			}
			dir := t.TempDir()
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			var must []string // URLs of the records that the damage does not touch
			for _, p := range parts {
				// an uncompressed record is recognised by the end of a line before it
				if touched := p.from-1 < at+64 && at < p.to; p.url != "" && !touched {
					must = append(must, p.url)
				}
			}
			t.Run(fmt.Sprintf("%s/%d", name, at), func(t *testing.T) { checkDamaged(t, file, must) })
		}
	}
}

// What a broken writer puts between two records costs none.
func TestJunkBetweenRecords(t *testing.T) {
	raw, parts := manyPages(t, "web.warc", 6)
	for _, junk := range []string{"junk\n", "junk", "\r\n", "WARC/1.0\r\nWARC-Type: none\r\n\r\n\n", "WARC/1.0\n"} {
		t.Run(fmt.Sprintf("%q", junk), func(t *testing.T) {
			at := parts[3].from
			if !strings.HasSuffix(junk, "\n") {
				at -= len("\r\n") // the record keeps its place behind a line
			}
			file := filepath.Join(t.TempDir(), "web.warc")
			err := os.WriteFile(file, slices.Concat(raw[:at], []byte(junk), raw[at:]), 0o644)
			if err != nil {
				t.Fatal(err)
			}
			var must []string
			for _, p := range parts[1:] {
				must = append(must, p.url)
			}
			checkDamaged(t, file, must)
		})
	}
}

func checkDamaged(t *testing.T, file string, must []string) {
	has := func(file, where string, but func(weburl.URL) bool) {
		t.Helper()
		a := open(t, file)
		var walked, listed []string
		err := a.Walk(t.Context(), func(x Recorded) error { walked = append(walked, x.URL.String()); return nil })
		if err != nil {
			t.Error(err)
		}
		err = a.Index(t.Context(), func(l IndexLine) error { listed = append(listed, l.URL); return nil })
		if err != nil {
			t.Error(err)
		}
		for _, raw := range must {
			u := mustURL(t, raw)
			if but(u) {
				continue
			}
			if !a.Has(u) || !slices.Contains(walked, raw) || !slices.Contains(listed, raw) {
				t.Errorf("%s: %s is lost: found %v, walked %v, listed %v", where, raw, a.Has(u), slices.Contains(walked, raw), slices.Contains(listed, raw))
			}
			if r, err := a.Fetch(t.Context(), u); err != nil || r.Status != 200 {
				t.Errorf("%s: %s: %v", where, raw, err)
			}
		}
	}
	has(file, "damaged", func(weburl.URL) bool { return false })
	damaged := open(t, file).Stats().Damaged > 0
	if first, err := findDamage(t.Context(), filepath.Dir(file)); err != nil || (first != "") != damaged {
		t.Errorf("checked: %q, %v; damaged %v", first, err, damaged)
	}
	gone := func(u weburl.URL) bool { return strings.HasSuffix(u.Path(), "/3") }
	n, err := Forget(t.Context(), within(t, filepath.Dir(file)), Removal{URL: gone, Text: noText})
	if err != nil || (len(n.Damaged) > 0) != damaged {
		t.Fatalf("damaged %v, forgotten %+v, %v", damaged, n, err)
	}
	has(file, "after forget", gone)
	if still := open(t, file).Stats().Damaged > 0; still != damaged {
		t.Errorf("damaged %v before and %v after", damaged, still)
	}
	n, err = Forget(t.Context(), within(t, filepath.Dir(file)), Removal{URL: gone, Text: noText, Lost: true})
	if err != nil || len(n.Damaged) > 0 || (n.Lost > 0) != damaged {
		t.Fatalf("damage taken out: %+v, %v", n, err)
	}
	has(file, "without damage", gone)
	if s := open(t, file).Stats(); s.Damaged > 0 {
		t.Errorf("damage stays: %q", s.Warnings)
	}
}

// What a killed crawl left open is ended with all records behind a damage.
func TestDamageInOpenFile(t *testing.T) {
	raw, parts := manyPages(t, "web.warc.gz", 6)
	bad := bytes.Clone(raw)
	copy(bad[parts[3].from+20:], make([]byte, 64))
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "web.warc.gz.open"), append(bad, raw[:40]...), 0o644); err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, dir)
	if done := w.Repaired(); len(done) != 1 || !strings.Contains(done[0], "40 bytes of a torn record were cut off") {
		t.Errorf("repaired: %q", done)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a := open(t, dir)
	for i, p := range parts[1:] {
		if found := a.Has(mustURL(t, p.url)); found != (i != 2) {
			t.Errorf("%s: found %v", p.url, found)
		}
	}
}

// A file full of beginnings of records costs bounded time.
func TestDamageIsBounded(t *testing.T) {
	raw, _ := manyPages(t, "web.warc.gz", 1)
	member := zipText(response("http://a.example/", html(strings.Repeat("x", 10000))))
	for what, text := range map[string]string{
		"magic bytes": strings.Repeat(string(gzipMagic), 300_000),
		"headers":     strings.Repeat(member[:len(member)-20], 3_000),
	} {
		file := filepath.Join(t.TempDir(), "bad.warc.gz")
		if err := os.WriteFile(file, append(bytes.Clone(raw), text...), 0o644); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		a := open(t, file)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: %v", what, took)
		}
		if s := a.Stats(); s.Damaged != 1 || s.Responses != 1 || a.files[0].tried > 2*maxTried*s.Bytes+2<<20 {
			t.Errorf("%s: %+v, %d bytes tried", what, s, a.files[0].tried)
		}
	}
}

// An ARC file says what it is, plain or compressed, alone or in a folder, whatever its name.
func TestARCSaysWhatItIs(t *testing.T) {
	const arc = "filedesc://old.arc 0.0.0.0 20050101000000 text/plain 76\n1 0 Some Crawler\nURL IP-address Archive-date Content-type Archive-length\n\n"
	for name, text := range map[string]string{
		"old.arc": arc, "old.arc.gz": zipText(arc) + zipText("http://a.example/ 192.0.2.1 20050101000000 text/html 5\nHTTP/"),
		"old.warc.gz": zipText(arc), "old.warc": arc,
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{file, dir} {
			if _, err := Open(path); !errors.Is(err, ErrNotWARC) || !strings.Contains(err.Error(), "an ARC file of the older format") {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}
