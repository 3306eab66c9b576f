package frontier

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	badger "github.com/dgraph-io/badger/v4"
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
	for i := range es { // a group each
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
func again(t *testing.T, f *Frontier, spoil func(*badger.Txn) error) *Frontier {
	t.Helper()
	f.halt()
	txn := f.db.NewTransactionAt(f.version, true)
	if err := errors.Join(spoil(txn), txn.CommitAt(f.version+1, nil)); err != nil {
		t.Fatal(err)
	}
	next, err := start(f.options, f.db)
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
	first := func(prefix string) func(*badger.Txn) []byte {
		return func(txn *badger.Txn) (key []byte) {
			it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(prefix)})
			defer it.Close()
			it.Rewind()
			return it.Item().KeyCopy(nil)
		}
	}
	visitedURL := func(txn *badger.Txn) (key []byte) {
		scan(txn, []byte{'u'}, func(k, value []byte) error {
			if r, _ := decodeURL(value); r.state == Visited {
				key = append([]byte(nil), k...)
			}
			return nil
		})
		return key
	}
	queuedURL := func(txn *badger.Txn) (key []byte) {
		scan(txn, []byte{'u'}, func(k, value []byte) error {
			if r, _ := decodeURL(value); r.state == Queued {
				key = append([]byte(nil), k...)
			}
			return nil
		})
		return key
	}
	for _, c := range []struct {
		name   string
		key    func(*badger.Txn) []byte
		served int64 // of the 30 that wait
		walked int64 // of the 10 that are visited
		found  int64 // of all URLs, are new when they are pushed once more
	}{
		{"totals", func(*badger.Txn) []byte { return totalsKey }, 30, 10, 0},
		{"host", first("h"), 30, 10, 0},
		{"words", first("l"), 29, 10, 1},
		{"visit", first("v"), 30, 9, 0},
		{"queued URL", queuedURL, 29, 10, 1},
		{"place", first("q"), 29, 10, 1},
		{"queued URL with a place", queuedURL, 30, 10, 0},
		{"visited URL", visitedURL, 30, 10, 1},
		{"address", first("a"), 30, 10, 0},
	} {
		for _, spoilt := range []string{"", "\x02", "\x01\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
			t.Run(fmt.Sprintf("%s %x", c.name, spoilt), func(t *testing.T) {
				o := Options{Seed: 42}
				if strings.HasSuffix(c.name, "place") {
					o.short = -1
				}
				f, es := fill(t, o)
				f = again(t, f, func(txn *badger.Txn) error { return txn.Set(c.key(txn), []byte(spoilt)) })
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
			write(t, dir, formatFile, "gazehound frontier 4\n")
			return dir
		}, ErrNewerFormat, "format 4"},
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

// TestLongNumber: a log that goes on with a number of more than ten bytes is
// ended there, like one that goes on with anything else that makes no sense.
func TestLongNumber(t *testing.T) {
	for _, pattern := range []string{"*.mem", "*.vlog"} {
		t.Run(pattern, func(t *testing.T) {
			dir := t.TempDir()
			f, _ := fill(t, Options{Dir: dir})
			long := Entry{URL: parse(t, "http://long.example/")} // a group of more than a kilobyte
			var es []Entry
			for i := range 64 {
				e := long
				e.URL = parse(t, fmt.Sprintf("http://long.example/%x", sha256.Sum256([]byte{byte(i)})))
				es = append(es, e)
			}
			if _, err := f.Push(t.Context(), es...); err != nil {
				t.Fatal(err)
			}
			copied := filepath.Join(t.TempDir(), "[a-b]*") // is no pattern
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			f.Close()
			logs, err := fs.Glob(os.DirFS(copied), pattern)
			if err != nil || len(logs) != 1 {
				t.Fatalf("logs: %v, %v", logs, err)
			}
			log := filepath.Join(copied, logs[0])
			data, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			at, broken := endOfLog(data)
			if broken || at <= 1000 || len(strings.Trim(string(data[at:min(len(data), at+1000)]), "\x00")) > 0 {
				t.Fatalf("the log ends at %d: %v", at, broken)
			}
			for i := range 40 {
				data[at+i] = 0xff
			}
			if err := os.WriteFile(log, data, 0o666); err != nil {
				t.Fatal(err)
			}
			if db, err := badger.Open(storeOptions(Options{Dir: copied})); err == nil {
				db.Close()
				t.Skip("Badger bears it now: logs.go is not needed any more")
			}
			f = open(t, Options{Dir: copied})
			checkStore(t, f)
			if got := f.Totals(); got.Visited != 10 || got.Queued != 30+64 || got.Damaged != 0 {
				t.Errorf("totals = %+v", got)
			}
			if n := drain(t, f); n != 94 {
				t.Errorf("served %d of 94", n)
			}
		})
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

func FuzzEndOfLog(f *testing.F) {
	f.Add([]byte(strings.Repeat("\x00", 40)))
	f.Add([]byte(strings.Repeat("\xff", 60)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if at, broken := endOfLog(data); broken && (at < logHeader || at+2 >= len(data)) {
			t.Errorf("ends at %d of %d bytes", at, len(data))
		}
	})
}

// TestFormat1: a store in which every host has its places is read as it is,
// and from then on left alone by versions that want these.
func TestFormat1(t *testing.T) {
	dir := t.TempDir()
	f, es := fill(t, Options{Dir: dir, short: -1})
	f.Close()
	name := filepath.Join(dir, formatFile)
	if err := os.WriteFile(name, []byte("gazehound frontier 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	f = open(t, Options{Dir: dir})
	if n, err := f.Push(t.Context(), Entry{URL: parse(t, "http://new.example/")}, es[39]); n != 1 || err != nil {
		t.Errorf("%d URLs are new, want 1 (%v)", n, err)
	}
	checkStore(t, f)
	if n := drain(t, f); n != 31 {
		t.Errorf("served %d, want 31", n)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "gazehound frontier 3\n" {
		t.Errorf("%s says %q (%v)", formatFile, text, err)
	}
}

// TestShort: a host gets places on disk once it has many URLs, whatever was
// visited, taken or moved before.
func TestShort(t *testing.T) {
	ctx := t.Context()
	f := open(t, Options{short: 8, Score: fresh})
	for i := range 40 {
		es := []Entry{{URL: parse(t, fmt.Sprintf("http://a.example/%d", i)), Priority: float64(i % 7)}, {URL: parse(t, fmt.Sprintf("http://a.example/%d", i/2)), Priority: 8}}
		if _, err := f.Push(ctx, es...); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			e, err := f.Next(ctx, always)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Done(ctx, e, Outcome{Kind: "page"}); err != nil {
				t.Fatal(err)
			}
		}
		checkStore(t, f)
		checkMemory(t, f)
	}
	for h := range f.hosts.all() {
		if !h.ordered {
			t.Error("the host has no places")
		}
	}
	if n := drain(t, f); n != 40-14 {
		t.Errorf("served %d, want %d", n, 40-14)
	}
}

// TestLostValues cuts the value log, as a power cut may: words that are gone
// take their link out of the crawl, and everything else goes on.
func TestLostValues(t *testing.T) {
	dir := t.TempDir()
	f := open(t, Options{Dir: dir})
	var es []Entry
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 100 {
		around := make([]byte, MaxAround)
		for j := range around {
			around[j] = byte('a' + r.IntN(26))
		}
		es = append(es, Entry{URL: parse(t, fmt.Sprintf("http://h%d.example/%d", i%10, i)), Around: string(around)})
	}
	for part := range slices.Chunk(es, 20) {
		if _, err := f.Push(t.Context(), part...); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	logs, err := filepath.Glob(filepath.Join(dir, "*.vlog"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs: %v, %v", logs, err)
	}
	info, err := os.Stat(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(logs[0], info.Size()/2); err != nil {
		t.Fatal(err)
	}
	f = open(t, Options{Dir: dir})
	n := drain(t, f)
	if got := f.Totals(); n < 20 || n >= 60 || got.Queued != 0 || got.Damaged < 100-n {
		t.Errorf("served %d; totals = %+v", n, got)
	}
	if added, err := f.Push(t.Context(), es...); int64(added) != 100-n || err != nil {
		t.Errorf("%d URLs are new again, want %d (%v)", added, 100-n, err)
	}
}

// TestMend removes and doubles places in the queue of a host with more URLs
// than one transaction mends.
func TestMend(t *testing.T) {
	f := open(t, Options{})
	var es []Entry
	for i := range 2*maxMended + 500 {
		es = append(es, Entry{URL: parse(t, fmt.Sprintf("http://a.example/%d", i)), Priority: float64(i % 100)})
	}
	if _, err := f.Push(t.Context(), es...); err != nil {
		t.Fatal(err)
	}
	f = again(t, f, func(txn *badger.Txn) error {
		var keys, values [][]byte
		if err := scan(txn, []byte{'q'}, func(key, value []byte) error {
			keys, values = append(keys, append([]byte(nil), key...)), append(values, append([]byte(nil), value...))
			return nil
		}); err != nil {
			return err
		}
		for i, key := range keys {
			if i < 20 { // a second place
				second := append([]byte(nil), key...)
				second[9] ^= 1
				if err := txn.Set(second, values[i]); err != nil {
					return err
				}
			} else if i > 100 {
				if err := txn.Delete(key); err != nil {
					return err
				}
			}
		}
		return nil
	})
	// The second places may be served as well, but nothing is served for ever.
	if n := drain(t, f); n < int64(len(es)) || n > int64(len(es))+20 {
		t.Errorf("served %d, want %d", n, len(es))
	}
	if got := f.Totals(); got.Queued != 0 || got.Visited != int64(len(es)) || got.Damaged == 0 {
		t.Errorf("totals = %+v", got)
	}
	checkMemory(t, f)
}
