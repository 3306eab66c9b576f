package frontier_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gazehound/crawler/frontier"
)

// A file of a store that was changed or cut short anywhere is an error that names a file, or makes no
// difference, whether the store was closed or its process killed. Nothing is changed by asking.
// GAZEHOUND_DAMAGE is the number of damages.
func TestDamagedFiles(t *testing.T) {
	times, _ := strconv.Atoi(os.Getenv("GAZEHOUND_DAMAGE"))
	times = cmp.Or(times, 24)
	work := t.TempDir()
	f := open(t, frontier.Options{Dir: work})
	grow(t, f, 0)
	closed(t, f)
	whole := filepath.Join(t.TempDir(), "closed")
	copyDir(t, work, whole)
	f = open(t, frontier.Options{Dir: work})
	grow(t, f, 1)
	killed := filepath.Join(t.TempDir(), "killed")
	copyDir(t, work, killed)
	closed(t, f)
	for _, dir := range []string{whole, killed} {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			testDamagedFiles(t, dir, times/2)
		})
	}
}

// A bit that was flipped anywhere in a table is an error for a reader, or makes no difference, also where
// Badger skips the block or panics over it.
func TestDamagedTable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir})
	grow(t, f, 0)
	closed(t, f)
	want, err := ask(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) != 1 {
		t.Fatal(tables, err)
	}
	text, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	refused, tried := 0, 0
	for at := 0; at < len(text); at += 41 {
		bad := bytes.Clone(text)
		bad[at] ^= 1 << (at % 8)
		write(t, tables[0], bad, len(bad))
		tried++
		got, err := ask(dir, true)
		switch {
		case err != nil && strings.Contains(err.Error(), filepath.Base(tables[0])):
			refused++
		case err != nil:
			t.Errorf("bit flipped at %d of %d: the error does not name the table: %v", at, len(text), err)
		case got != want:
			t.Errorf("bit flipped at %d of %d: other answers", at, len(text))
		}
	}
	if refused < tried/2 {
		t.Errorf("%d of %d were refused", refused, tried)
	}
	t.Logf("%d of %d were refused", refused, tried)
}

// grow adds pages and links to a store.
func grow(t *testing.T, f *frontier.Frontier, round int) {
	for i := range 400 {
		push(t, f, entry(i%10, 1000*round+i, float64(i)/400))
	}
	for range 60 {
		o := page
		o.Relevant, o.Addresses = true, []string{fmt.Sprint(round)}
		done(t, f, next(t, f), o)
	}
}

func testDamagedFiles(t *testing.T, dir string, times int) {
	want, err := ask(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	refused, named := 0, 0
	for i := range times {
		name := entries[r.IntN(len(entries))].Name()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		used := len(bytes.TrimRight(text, "\x00")) // logs end with zeros
		used = max(1, min(len(text), used+used/10))
		at := r.IntN(used)
		what := fmt.Sprintf("%s: bit flipped at %d of %d", name, at, len(text))
		bad, size := bytes.Clone(text[:min(used, len(text))]), len(text)
		if i%4 == 0 || len(text) == 0 {
			what = fmt.Sprintf("%s: %d of %d bytes", name, at, len(text))
			bad, size = bad[:at], at
		} else {
			bad[at] ^= 1 << r.IntN(8)
		}
		write(t, filepath.Join(dir, name), bad, size)
		got, err := ask(dir, true)
		now, _ := os.ReadFile(filepath.Join(dir, name))
		if rest, ok := bytes.CutPrefix(now, bad); !ok || len(now) != size || len(bytes.Trim(rest, "\x00")) > 0 {
			t.Errorf("%s: reading has changed the file", what)
		}
		if after, _ := os.ReadDir(dir); len(after) != len(entries) {
			t.Errorf("%s: reading has made or removed files", what)
		}
		if err != nil {
			refused++
			if strings.Contains(err.Error(), name) {
				named++
			}
		} else if got != want {
			t.Errorf("%s: other answers:\n%.300s\nwant\n%.300s", what, got, want)
		}
		if i%8 == 0 { // a writer gets the same error
			again := filepath.Join(t.TempDir(), "again")
			copyDir(t, dir, again)
			if got, err := ask(again, false); err == nil && got != want {
				t.Errorf("%s: other answers to a writer:\n%.300s\nwant\n%.300s", what, got, want)
			}
			os.RemoveAll(again)
		}
		write(t, filepath.Join(dir, name), text[:min(used, len(text))], len(text))
	}
	if refused < times/4 || named < refused*3/4 {
		t.Errorf("only %d of %d were refused, %d with the name of the file", refused, times, named)
	}
	t.Logf("%d damages, %d refused, %d with the name of the file", times, refused, named)
}

// ask returns all that a store knows.
func ask(dir string, readOnly bool) (string, error) {
	f, err := frontier.Open(frontier.Options{Dir: dir, Memory: 32e6, ReadOnly: readOnly})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n", f.Totals())
	var known []frontier.Node
	tell := func(n frontier.Node) error {
		known = append(known, n)
		_, err := fmt.Fprintf(&b, "%+v\n", n)
		return err
	}
	err = errors.Join(f.Walk(context.Background(), 0, tell), f.WalkQueue(context.Background(), tell))
	for _, n := range known {
		again, found, failed := f.Get(frontier.KeyOf(n.URL))
		check, checked, alsoFailed := f.Check(frontier.KeyOf(n.URL))
		fmt.Fprintf(&b, "%+v %v %+v %v\n", again, found, check, checked)
		err = errors.Join(err, failed, alsoFailed)
	}
	return b.String(), errors.Join(err, f.Close())
}

// copyDir copies a store without the zeros that its logs end with.
func copyDir(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err := errors.Join(err, os.MkdirAll(to, 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(to, e.Name()), bytes.TrimRight(text, "\x00"), len(text))
	}
}

// write makes a file of a text and the zeros up to a size.
func write(t *testing.T, name string, text []byte, size int) {
	t.Helper()
	if err := errors.Join(os.WriteFile(name, text, 0o644), os.Truncate(name, int64(size))); err != nil {
		t.Fatal(err)
	}
}
