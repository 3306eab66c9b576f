package frontier_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"gazehound/crawler/frontier"

	"github.com/dgraph-io/badger/v4"
)

// A store that lacks one record of any kind is rebuilt, and the crawl goes on.
func TestLostRecords(t *testing.T) {
	for _, kind := range "uhqtv" {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			f := open(t, frontier.Options{Dir: dir})
			for i := range 100 {
				push(t, f, entry(i%10, i, float64(i)/100))
			}
			for range 10 {
				done(t, f, next(t, f), page)
			}
			closed(t, f)
			if !edit(t, dir, func(key, _ []byte, nth int) ([]byte, bool) {
				return nil, key[0] == byte(kind) && (nth == 3 || kind == 't')
			}) {
				t.Fatal("no such record")
			}
			f = rebuilt(t, dir, frontier.Options{})
			served := drain(t, f)
			slices.Sort(served)
			if len(slices.Compact(served)) != len(served) || len(served) < 89 {
				t.Errorf("served %d of 90, or some twice", len(served))
			}
			got := f.Totals()
			if got.Queued != 0 || got.Links != got.Visited+got.Repeats || got.Damaged > 1 || kind == 'v' && got.Damaged != 1 {
				t.Errorf("totals %+v at the end", got)
			}
			push(t, f, entry(99, 99, .5)) // it goes on
			if urls := drain(t, f); len(urls) != 1 {
				t.Errorf("served %s", urls)
			}
		})
	}
}

// rebuilt opens what Rebuild makes of a store.
func rebuilt(t *testing.T, dir string, o frontier.Options) *frontier.Frontier {
	t.Helper()
	o.Dir = filepath.Join(t.TempDir(), "rebuilt")
	if lost, err := frontier.Rebuild(dir, o.Dir); err != nil || len(lost) > 0 {
		t.Fatalf("Rebuild = %v, %v", lost, err)
	}
	return open(t, o)
}

// Values that are larger than a transaction are rebuilt, and what is kept for revisiting pages.
func TestRebuildValues(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir})
	value := bytes.Repeat([]byte("0123456789abcdef"), 5<<20/16)
	if err := f.PutMeta("large", value); err != nil {
		t.Fatal(err)
	}
	push(t, f, entry(1, 1, .5), entry(1, 2, .4))
	e := next(t, f)
	o := page
	o.Check = &frontier.Check{ETag: "x"}
	done(t, f, e, o)
	before := f.Totals()
	closed(t, f)
	f = rebuilt(t, dir, frontier.Options{})
	if got, err := f.Meta("large"); err != nil || !bytes.Equal(got, value) {
		t.Errorf("%d bytes of %d, %v", len(got), len(value), err)
	}
	if c, known, err := f.Check(frontier.KeyOf(e.URL)); err != nil || !known || c.ETag != "x" {
		t.Errorf("check %+v, %v, %v", c, known, err)
	}
	if got := f.Totals(); fmt.Sprint(got) != fmt.Sprint(before) {
		t.Errorf("totals %+v, before %+v", got, before)
	}
}

func raw(t *testing.T, dir string) *badger.DB {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithMemTableSize(8 << 20).WithValueLogFileSize(16 << 20).
		WithBlockCacheSize(1 << 20).WithBypassLockGuard(true))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// edit replaces the values for which fn returns true, or removes their keys
// where the new value is nil. nth counts the keys with one first byte.
func edit(t *testing.T, dir string, fn func(key, value []byte, nth int) ([]byte, bool)) (changed bool) {
	t.Helper()
	db := raw(t, dir)
	defer db.Close()
	err := db.Update(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{})
		defer it.Close()
		nth := map[byte]int{}
		type change struct{ key, value []byte }
		var changes []change
		for it.Rewind(); it.Valid(); it.Next() {
			key := it.Item().KeyCopy(nil)
			value, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			nth[key[0]]++
			if new, ok := fn(key, value, nth[key[0]]); ok {
				changes = append(changes, change{key, new})
			}
		}
		for _, c := range changes {
			changed = true
			if c.value == nil {
				if err := txn.Delete(c.key); err != nil {
					return err
				}
				continue
			}
			if err := txn.Set(c.key, c.value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// TestLostTotals holds that visits are not numbered anew over the old ones
// when the totals are gone and nothing waits, and that such a store is refused.
func TestLostTotals(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir, Seed: 9})
	for i := range 10 {
		push(t, f, entry(i%3, i, .5))
	}
	drain(t, f)
	closed(t, f)
	if !edit(t, dir, func(key, _ []byte, _ int) ([]byte, bool) { return nil, key[0] == 't' }) {
		t.Fatal("no totals")
	}
	if _, err := frontier.Open(frontier.Options{Dir: dir}); !errors.Is(err, frontier.ErrDamaged) {
		t.Errorf("Open = %v, want damage", err)
	}
	f = rebuilt(t, dir, frontier.Options{Seed: 9})
	if n := push(t, f, entry(1, 1, .5), entry(7, 70, .5)); n != 1 {
		t.Errorf("%d added, want 1", n)
	}
	drain(t, f)
	if visits := recount(t, f); len(visits) != 11 {
		t.Errorf("%d visits are left of 11", len(visits))
	}
}
