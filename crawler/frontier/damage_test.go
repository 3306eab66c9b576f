package frontier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// fill makes a store of 40 URLs on four hosts, of which 10 are visited.
func fill(t *testing.T, o Options) (*Frontier, []Entry) {
	t.Helper()
	ctx := context.Background()
	f := open(t, o)
	var es []Entry
	for i := range 40 {
		es = append(es, Entry{URL: parse(t, fmt.Sprintf("http://h%d.example/%d", i%4, i)), Priority: float64(i), Anchor: fmt.Sprint("link ", i)})
	}
	for i := range es {
		if _, err := f.Push(ctx, es[i]); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		e, err := f.Next(ctx, always)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Done(ctx, e, Outcome{Kind: "page", Relevant: true, Addresses: []string{e.URL.Path()}}); err != nil {
			t.Fatal(err)
		}
	}
	return f, es
}

// again ends f as a crash does, has spoil change its store, and starts it again.
func again(t testing.TB, f *Frontier, spoil func(update) error) *Frontier {
	t.Helper()
	f.halt()
	u := f.store.update()
	defer u.close()
	if err := errors.Join(spoil(u), u.commit()); err != nil {
		t.Fatal(err)
	}
	next, err := start(f.options, f.store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { next.Close() })
	return next
}

// drain serves everything and returns how many entries there were.
func drain(t *testing.T, f *Frontier) (n int64) {
	t.Helper()
	ctx := context.Background()
	for {
		e, err := f.Next(ctx, always)
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Done(ctx, e, Outcome{Kind: "page"}); err != nil {
			t.Fatal(err)
		}
		n++
	}
}

// TestDamage spoils one record of each kind. The crawl goes on without it, and
// says so.
func TestDamage(t *testing.T) {
	ctx := context.Background()
	first := func(prefix string, is func(value []byte) bool) func(update) []byte {
		return func(u update) (key []byte) {
			u.scan([]byte(prefix), nil, func(k, value []byte) error {
				if key = bytes.Clone(k); is == nil || is(value) {
					return errEnough
				}
				return nil
			})
			return key
		}
	}
	inState := func(s State) func(value []byte) bool {
		return func(value []byte) bool { r, _ := decodeURL(value); return r.state == s }
	}
	for _, c := range []struct {
		name   string
		key    func(update) []byte
		served int64 // of the 30 that wait
		walked int64 // of the 10 that are visited
		found  int64 // of all URLs, are new when they are pushed once more
	}{
		{"totals", func(update) []byte { return totalsKey }, 30, 10, 0},
		{"host", first("h", nil), 30, 10, 0},
		{"place", first("q", nil), 29, 10, 1},
		{"visit", first("v", nil), 30, 9, 0},
		{"queued URL", first("u", inState(Queued)), 30, 10, 0},
		{"visited URL", first("u", inState(Visited)), 30, 10, 1},
		{"address", first("a", nil), 30, 10, 0},
	} {
		for _, spoilt := range []string{"", "\x02", "\x01\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
			t.Run(fmt.Sprintf("%s %x", c.name, spoilt), func(t *testing.T) {
				f, es := fill(t, Options{Seed: 42})
				f = again(t, f, func(u update) error { return u.set(c.key(u), []byte(spoilt)) })
				if f.seed != 42 {
					t.Errorf("seed = %d", f.seed)
				}
				walked := int64(0)
				if err := f.Walk(ctx, 0, func(Node) error { walked++; return nil }); err != nil || walked != c.walked {
					t.Errorf("walked over %d visits, want %d (%v)", walked, c.walked, err)
				}
				for _, e := range es {
					if _, _, err := f.Get(KeyOf(e.URL)); err != nil {
						t.Errorf("Get: %v", err)
					}
					if _, err := f.Trail(KeyOf(e.URL), 3); err != nil {
						t.Errorf("Trail: %v", err)
					}
				}
				if served := drain(t, f); served != c.served {
					t.Errorf("served %d, want %d", served, c.served)
				}
				found, err := f.Push(ctx, es...)
				if err != nil || int64(found) != c.found {
					t.Errorf("pushed again: %d new, want %d (%v)", found, c.found, err)
				}
				if served := drain(t, f); served != c.found {
					t.Errorf("then served %d, want %d", served, c.found)
				}
				got := f.Totals()
				if got.Queued != 0 || got.Leased != 0 || c.name != "address" && got.Damaged == 0 {
					t.Errorf("totals = %+v", got)
				}
				checkMemory(t, f)
			})
		}
	}
}

// TestOpenErrors: each is one clear sentence, and nothing is touched.
func TestOpenErrors(t *testing.T) {
	store := func(t *testing.T) string {
		dir := t.TempDir()
		f, _ := fill(t, Options{Dir: dir})
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	write := func(t *testing.T, dir, name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T) string
		want error
		says string
	}{
		{"newer", func(t *testing.T) string {
			dir := store(t)
			write(t, dir, formatFile, "gazehound frontier 5\n")
			return dir
		}, ErrNewerFormat, "format 5"},
		{"older", func(t *testing.T) string {
			dir := store(t)
			write(t, dir, formatFile, "gazehound frontier 3\n")
			return dir
		}, ErrOlderFormat, "format 3"},
		{"other format file", func(t *testing.T) string {
			dir := store(t)
			write(t, dir, formatFile, "something else entirely, and a lot of it, too much to print")
			return dir
		}, ErrForeign, `"something else entirely, and a lot of it"`},
		{"foreign files", func(t *testing.T) string {
			dir := t.TempDir()
			write(t, dir, "holiday.jpg", "")
			return dir
		}, ErrForeign, "Choose another directory"},
		{"a file", func(t *testing.T) string {
			dir := t.TempDir()
			write(t, dir, "file", "")
			return filepath.Join(dir, "file")
		}, syscall.ENOTDIR, "file"},
		{"in use", func(t *testing.T) string {
			dir := t.TempDir()
			open(t, Options{Dir: dir})
			return dir
		}, ErrLocked, fmt.Sprintf("process %d", os.Getpid())},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := c.make(t)
			before := listing(t, dir)
			f, err := Open(Options{Dir: dir})
			if err == nil {
				f.Close()
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), dir) {
				t.Errorf("Open = %v, want %v that says %s", err, c.want, c.says)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("files before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
	t.Run("read-only", func(t *testing.T) {
		dir := store(t)
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o777)
		if os.Getuid() == 0 {
			t.Skip("the superuser may write everywhere")
		}
		if _, err := Open(Options{Dir: dir}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("Open = %v", err)
		}
	})
	t.Run("options", func(t *testing.T) {
		for _, o := range []Options{{}, {Dir: "x", Memory: 1}, {Dir: "x", MaxPerHost: -1}, {Dir: "x", MinFree: -1}} {
			if _, err := Open(o); err == nil {
				t.Errorf("Open(%+v) has no error", o)
			}
		}
	})
}

func listing(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, path, info.Mode(), info.ModTime())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFullDisk: a write that might fill the disk is refused, and works again
// when there is room.
func TestFullDisk(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	f := open(t, Options{Dir: dir})
	e := Entry{URL: parse(t, "http://a.example/")}
	f.options.MinFree = 1 << 60
	if _, err := f.Push(ctx, e); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) {
		t.Errorf("Push = %v", err)
	}
	f.options.MinFree = 0
	if n, err := f.Push(ctx, e); n != 1 || err != nil {
		t.Errorf("Push = %d, %v", n, err)
	}
}

// TestTornLog scribbles over the end of Badger's log, as a power cut may.
func TestTornLog(t *testing.T) {
	dir := t.TempDir()
	f, es := fill(t, Options{Dir: dir})
	logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs: %v, %v", logs, err)
	}
	// The copy is what a crash leaves behind.
	copied := filepath.Join(t.TempDir(), "[a-b]*") // is no pattern
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	f.Close()
	name := filepath.Join(copied, filepath.Base(logs[0]))
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	end := len(strings.TrimRight(string(data), "\x00"))
	for i := end - 100; i < end; i++ {
		data[i] ^= 0x55
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f = open(t, Options{Dir: copied})
	checkStore(t, f)
	if got := f.Totals(); got.Visited != 9 || got.Queued != 31 { // all but the last transaction
		t.Errorf("totals = %+v", got)
	}
	if n := drain(t, f); n != 31 {
		t.Errorf("served %d of %d", n, len(es))
	}
}

// TestEmptyLog: a process that dies while it makes a log leaves a file of no
// bytes, which is no damage.
func TestEmptyLog(t *testing.T) {
	for _, patterns := range [][]string{{"*.mem"}, {"*.vlog"}, {"*.mem", "*.vlog"}} {
		t.Run(strings.Join(patterns, " "), func(t *testing.T) {
			dir := t.TempDir()
			f, _ := fill(t, Options{Dir: dir})
			copied := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			f.Close()
			for _, pattern := range patterns {
				logs, err := filepath.Glob(filepath.Join(copied, pattern))
				if err != nil || len(logs) == 0 {
					t.Fatalf("logs: %v, %v", logs, err)
				}
				last := filepath.Base(logs[len(logs)-1])
				kind := filepath.Ext(last)
				n, err := strconv.Atoi(strings.TrimSuffix(last, kind))
				if err != nil {
					t.Fatal(err)
				}
				next := fmt.Sprintf("%0*d%s", len(last)-len(kind), n+1, kind)
				if err := os.WriteFile(filepath.Join(copied, next), nil, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			f = open(t, Options{Dir: copied})
			checkStore(t, f)
			if n := drain(t, f); n != 30 {
				t.Errorf("served %d of 30", n)
			}
		})
	}
}

// A store that lacks a table is refused, and the error says so.
func TestLostTable(t *testing.T) {
	dir := t.TempDir()
	f, _ := fill(t, Options{Dir: dir})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables: %v, %v", tables, err)
	}
	if err := os.Remove(tables[0]); err != nil {
		t.Fatal(err)
	}
	f, err = Open(Options{Dir: dir})
	if err == nil {
		f.Close()
	}
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), dir) {
		t.Errorf("Open = %v, want %v", err, ErrDamaged)
	}
}

// An entry at the place of another one is not served, and nothing is served for ever.
func TestSwapped(t *testing.T) {
	f, es := fill(t, Options{})
	f = again(t, f, func(u update) error {
		var keys, values [][]byte
		err := u.scan([]byte{'q'}, nil, func(key, value []byte) error {
			keys, values = append(keys, bytes.Clone(key)), append(values, bytes.Clone(value))
			return nil
		})
		return errors.Join(err, u.set(keys[0], values[1]), u.set(keys[1], values[0]))
	})
	if n := drain(t, f); n != 28 {
		t.Errorf("served %d of 30, two of them swapped", n)
	}
	if n, err := f.Push(t.Context(), es...); n != 2 || err != nil {
		t.Errorf("%d are new again, %v; want 2", n, err)
	}
	checkMemory(t, f)
}

// A store without its seed has no order.
func TestLostSeed(t *testing.T) {
	f, _ := fill(t, Options{Seed: 42})
	f.halt()
	u := f.store.update()
	if err := errors.Join(u.delete(seedKey), u.commit()); err != nil {
		t.Fatal(err)
	}
	if _, err := start(f.options, f.store); !errors.Is(err, ErrDamaged) {
		t.Errorf("start = %v, want %v", err, ErrDamaged)
	}
}

// A host that lost entries of its queue serves the others, and the lost ones are new when they are
// found again.
func TestRecount(t *testing.T) {
	f := open(t, Options{})
	var es []Entry
	for i := range 500 {
		es = append(es, Entry{URL: parse(t, fmt.Sprintf("http://a.example/%d", i)), Priority: float64(i % 100)})
	}
	if _, err := f.Push(t.Context(), es...); err != nil {
		t.Fatal(err)
	}
	lost := 0
	f = again(t, f, func(u update) error {
		var keys [][]byte
		err := u.scan([]byte{'q'}, nil, func(key, _ []byte) error {
			keys = append(keys, bytes.Clone(key))
			return nil
		})
		for i, key := range keys {
			if i%3 == 0 {
				err = errors.Join(err, u.delete(key))
				lost++
			}
		}
		return err
	})
	if n := drain(t, f); n != int64(len(es)-lost) {
		t.Errorf("served %d, want %d", n, len(es)-lost)
	}
	if got := f.Totals(); got.Queued != 0 || got.Damaged == 0 || got.Dropped[ReasonDamaged] != int64(lost) {
		t.Errorf("totals = %+v", got)
	}
	if n, err := f.Push(t.Context(), es...); n != lost || err != nil {
		t.Errorf("%d are new again, %v; want %d", n, err, lost)
	}
	checkMemory(t, f)
}
