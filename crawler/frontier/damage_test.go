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

// spoil changes the store of f.
func spoil(t testing.TB, f *Frontier, change func(update) error) {
	t.Helper()
	u := f.store.update()
	defer u.close()
	if err := errors.Join(change(u), u.commit()); err != nil {
		t.Fatal(err)
	}
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

// A record of any kind that cannot be read is an error that says so, to whoever reads it.
func TestSpoiltRecords(t *testing.T) {
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
		return func(value []byte) bool { r, _ := decodeFixed[urlRecord](value); return r.State == s }
	}
	for name, key := range map[string]func(update) []byte{
		"totals": func(update) []byte { return totalsKey }, "host": first("h", nil), "place": first("q", nil), "visit": first("v", nil),
		"queued URL": first("u", inState(Queued)), "visited URL": first("u", inState(Visited)),
	} {
		for _, spoilt := range []string{"", "\x02", "\x01\xff\xff\xff\xff", "{", `{"URL":"http://other.example/"`} {
			t.Run(fmt.Sprintf("%s %x", name, spoilt), func(t *testing.T) {
				f, es := fill(t, Options{Seed: 42})
				f.halt()
				spoil(t, f, func(u update) error { return u.set(key(u), []byte(spoilt)) })
				f, err := start(f.options, f.store)
				if err == nil {
					defer f.Close()
					err = errors.Join(f.Walk(ctx, 0, func(Node) error { return nil }), f.WalkQueue(ctx, func(Node) error { return nil }))
				}
				for i := 0; i < len(es) && err == nil; i++ {
					_, _, err = f.Get(KeyOf(es[i].URL))
				}
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("error %v, want %v", err, ErrDamaged)
				}
			})
		}
	}
}

// A store of the format before becomes one of this format in another directory; others are refused.
func TestUpgrade(t *testing.T) {
	dir := t.TempDir()
	f, _ := fill(t, Options{Dir: dir})
	want := f.Totals()
	locked := filepath.Join(t.TempDir(), "locked")
	if err := Upgrade(dir, locked); !errors.Is(err, ErrLocked) {
		t.Errorf("while it is open: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for n := range Format + 2 {
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("%s %d\n", formatName, n)
		if err := os.WriteFile(filepath.Join(dir, formatFile), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "new")
		err := Upgrade(dir, to)
		if !CanUpgrade(n) {
			if n > Format && !errors.Is(err, ErrNewerFormat) || n < Format && !errors.Is(err, ErrOlderFormat) {
				t.Errorf("format %d: %v", n, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("format %d: %v", n, err)
		}
		f, err := Open(Options{Dir: to})
		if err != nil {
			t.Fatalf("format %d: %v", n, err)
		}
		got := f.Totals()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if got.Links != want.Links || got.Visited != want.Visited || got.Queued+got.Leased != want.Queued {
			t.Errorf("format %d: %+v, want %+v", n, got, want)
		}
		if is, err := FormatOf(dir); is != n || err != nil {
			t.Errorf("format %d became %d (%v)", n, is, err)
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
			write(t, dir, formatFile, "gazehound frontier 7\n")
			return dir
		}, ErrNewerFormat, "format 7"},
		{"older", func(t *testing.T) string {
			dir := store(t)
			write(t, dir, formatFile, "gazehound frontier 5\n")
			return dir
		}, ErrOlderFormat, "format 5"},
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

// A damaged block of a store that was closed is found by a writer and with Verify when they open it,
// and by any other reader when it has read less than there is. The error names the table.
func TestDamagedBlock(t *testing.T) {
	for _, readOnly := range []bool{true, false} {
		t.Run(fmt.Sprintf("read-only %t", readOnly), func(t *testing.T) {
			dir := t.TempDir()
			f, _ := fill(t, Options{Dir: dir})
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
			if err != nil || len(tables) == 0 {
				t.Fatalf("tables: %v, %v", tables, err)
			}
			data, err := os.ReadFile(tables[0])
			if err != nil {
				t.Fatal(err)
			}
			data[20] ^= 1
			if err := os.WriteFile(tables[0], data, 0o666); err != nil {
				t.Fatal(err)
			}
			isNamed := func(err error) bool {
				return errors.Is(err, ErrDamaged) && strings.Contains(err.Error(), filepath.Base(tables[0]))
			}
			if _, err := Open(Options{Dir: dir, ReadOnly: readOnly, Verify: readOnly}); !isNamed(err) {
				t.Fatalf("Open = %v, want damage of %s", err, tables[0])
			}
			if !readOnly {
				return
			}
			f, err = Open(Options{Dir: dir, ReadOnly: true})
			if err == nil {
				none := func(Node) error { return nil }
				err = errors.Join(f.Walk(t.Context(), 0, none), f.WalkQueue(t.Context(), none), f.Close())
			}
			if !isNamed(err) {
				t.Errorf("reading = %v, want damage of %s", err, tables[0])
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

// An entry at the place of another one is not served, nor is one that was counted and is gone.
func TestSwapped(t *testing.T) {
	for name, change := range map[string]func(update, [][]byte, [][]byte) error{
		"swapped": func(u update, keys, values [][]byte) error {
			return errors.Join(u.set(keys[0], values[1]), u.set(keys[1], values[0]))
		},
		"gone": func(u update, keys, _ [][]byte) error { return u.delete(keys[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := fill(t, Options{})
			f.halt()
			spoil(t, f, func(u update) error {
				var keys, values [][]byte
				err := u.scan([]byte{'q'}, nil, func(key, value []byte) error {
					keys, values = append(keys, bytes.Clone(key)), append(values, bytes.Clone(value))
					return nil
				})
				return errors.Join(err, change(u, keys, values))
			})
			f, err := start(f.options, f.store)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			for range 31 {
				var e Entry
				if e, err = f.Next(t.Context(), always); err != nil {
					break
				}
				if _, err := f.Done(t.Context(), e, Outcome{Kind: "page"}); err != nil {
					t.Fatal(err)
				}
			}
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("Next = %v, want %v", err, ErrDamaged)
			}
		})
	}
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
