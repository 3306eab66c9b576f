package frontier

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
)

// Rebuild makes a store in the new directory to of what can be read of the one in from, which is not
// changed. lost says of each file that cannot be read to its end what is missing.
func Rebuild(from, to string) (lost []string, err error) {
	unlock, err := lock(from, true)
	if err == nil {
		lost, err = rebuild(from, to)
		err = errors.Join(err, unlock())
	}
	if err != nil {
		return lost, fmt.Errorf("frontier: rebuild %s: %w", from, err)
	}
	return lost, nil
}

func rebuild(from, to string) (lost []string, err error) {
	db, err := newBadger(to, badger.OpenManaged)
	if err != nil {
		return nil, err
	}
	batch := db.NewManagedWriteBatch()
	lost, err = salvage(from, func(key []byte, version uint64, value []byte, deleted bool) error {
		switch {
		case bytes.HasPrefix(key, []byte("!badger!")):
			return nil // its own
		case deleted:
			return batch.DeleteAt(key, version)
		}
		return batch.SetEntryAt(badger.NewEntry(key, value), version)
	})
	if err = errors.Join(err, batch.Flush(), db.Close()); err != nil {
		return lost, err
	}
	if db, err = badger.Open(newOptions(to)); err != nil {
		return lost, err
	}
	return lost, errors.Join(reconcile(db), db.Close())
}

// newBadger makes an empty store.
func newBadger(dir string, open func(badger.Options) (*badger.DB, error)) (*badger.DB, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	if err := writeFormat(dir); err != nil {
		return nil, err
	}
	return open(newOptions(dir))
}

func newOptions(dir string) badger.Options {
	return badgerOptions(Options{Dir: dir, Memory: DefaultOptions().Memory})
}

// reconcile brings the records of a store in line after some of them were lost.
func reconcile(db *badger.DB) error {
	v := badgerTxn{db.NewTransaction(false)}
	defer v.close()
	w := db.NewWriteBatch()
	defer w.Cancel()
	var failed error
	put := func(key, value []byte) {
		if value == nil {
			failed = cmp.Or(failed, w.Delete(bytes.Clone(key)))
		} else {
			failed = cmp.Or(failed, w.Set(bytes.Clone(key), value))
		}
	}
	seed, known, err := get(v, seedKey, decodeFixed[uint64])
	if err == nil && !known {
		return fmt.Errorf("%w: its seed cannot be read", ErrDamaged)
	}
	var c recount
	if err == nil {
		c, err = countAll(v, seed, put)
	}
	if err == nil {
		err = v.scan(hostKey(0)[:1], nil, func(key, _ []byte) error { put(key, nil); return nil })
	}
	if err != nil {
		return err
	}
	for id, r := range c.hosts {
		put(hostKey(id), fixed(r))
	}
	t := &c.totals // repeats and links that were dropped have left no other trace
	if was, known, err := get(v, totalsKey, decode[Totals]); err == nil && known {
		t.Repeats, t.Dropped = was.Repeats, was.Dropped
	}
	t.Links = t.Queued + t.Visited + t.Repeats
	for _, n := range t.Dropped {
		t.Links += n
	}
	text, err := encode(t)
	put(totalsKey, text)
	return errors.Join(err, failed, w.Flush())
}

// A recount is what the URLs and visits of a store say together.
type recount struct {
	totals Totals
	hosts  map[uint64]hostRecord
}

// countAll reads the whole store. It calls put with what has to be changed, nil for what has to go,
// so that the record of each URL has its counterpart in the queue, and the other way round. A
// URL that lacks it is unknown again.
func countAll(v view, seed uint64, put func(key, value []byte)) (c recount, err error) {
	c.hosts = make(map[uint64]hostRecord)
	t := &c.totals
	t.Errors, t.Skipped, t.Dropped = make(map[string]int64), make(map[string]int64), make(map[string]int64)
	newest := uint64(0) // visit
	add := func(k Key, r urlRecord) {
		h, known := c.hosts[k.host()]
		if !known {
			h.Rank, h.Tie = nowhere.rank, nowhere.tie
		}
		h.Total++
		if r.State == Queued {
			h.Queued++
			t.Queued++
			if p := (place{r.Rank, tieOf(seed, k.url())}); p.before(h.best()) {
				h.Rank, h.Tie = p.rank, p.tie
			}
		}
		newest = max(newest, r.Seq)
		c.hosts[k.host()] = h
	}
	known := func(k Key) (r urlRecord, known bool) {
		r, known, err := get(v, urlKey(k), decodeFixed[urlRecord])
		return r, known && err == nil
	}
	// each calls fn with the records of a kind; those for which it returns false go.
	each := func(kind byte, fn func(key, value []byte) bool) {
		if err == nil {
			err = v.scan([]byte{kind}, nil, func(key, value []byte) error {
				if !fn(key, value) {
					put(key, nil)
				}
				return nil
			})
		}
	}
	each('u', func(key, value []byte) bool {
		k := Key(key[1:])
		r, err := decodeFixed[urlRecord](value)
		if err == nil && r.State == Queued {
			e, waits, broken := get(v, queueKey(k.host(), place{r.Rank, tieOf(seed, k.url())}), decodeLink)
			if !waits || broken != nil || KeyOf(e.URL) != k {
				return false
			}
		}
		if err == nil {
			add(k, r)
		}
		return err == nil
	})
	// found makes a URL known whose record was lost.
	found := func(k Key, r urlRecord) {
		put(urlKey(k), fixed(r))
		add(k, r)
	}
	each('v', func(key, value []byte) bool {
		r, err := decode[visitRecord](value)
		if err != nil {
			return false
		}
		t.add(&r.Outcome)
		newest = max(newest, idOf(key))
		if e, err := decodeLink(r.Link); err == nil {
			if _, some := known(KeyOf(e.URL)); !some {
				found(KeyOf(e.URL), urlRecord{State: Visited, Seq: idOf(key)})
			}
		}
		return true
	})
	each('q', func(key, value []byte) bool {
		e, err := decodeLink(value)
		k, p := KeyOf(e.URL), placeOf(key)
		if err != nil || p.tie != tieOf(seed, k.url()) {
			return false
		}
		r, some := known(k)
		if !some {
			found(k, urlRecord{Queued, p.rank, uint32(e.Distance), uint8(e.Retries), 0})
		}
		return !some || r.State == Queued && r.Rank == p.rank
	})
	each('a', func(_, _ []byte) bool { t.Addresses++; return true })
	t.Visited, t.Damaged = int64(newest), int64(newest)-t.Visited
	return c, err
}

// salvage calls fn with all versions of all records that can be read in the tables that MANIFEST
// names, or in all where it cannot be read, and in the logs.
func salvage(dir string, fn func(key []byte, version uint64, value []byte, deleted bool) error) (lost []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	known, _ := new(files).readManifest(dir)
	for _, e := range entries {
		name := e.Name()
		id, inTable := table.ParseFileID(name)
		_, named := known.Tables[id]
		if !inTable && !strings.HasSuffix(name, ".mem") || inTable && !named && len(known.Tables) > 0 {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return lost, err
		}
		var failed, unread error
		if inTable {
			unread = eachInTable(data, id, func(key []byte, version uint64, v y.ValueStruct) {
				failed = errors.Join(failed, fn(key, version, v.Value, v.Meta&isDeleted != 0))
			})
		} else {
			_, _, unread = checkLog(data, func(e logEntry) {
				failed = errors.Join(failed, fn(slices.Clone(e.key), e.version, slices.Clone(e.value), e.flags&isDeleted != 0))
			})
		}
		if unread != nil {
			lost = append(lost, fmt.Sprintf("%s: %v", name, unread))
		}
		if failed != nil {
			return lost, failed
		}
	}
	return lost, nil
}

// eachInTable calls fn with the records of a table. The error says how many of its blocks cannot be
// read. The table ends with an index, its length, a checksum and its length, 4 bytes each.
func eachInTable(data []byte, id uint64, fn func(key []byte, version uint64, v y.ValueStruct)) error {
	var t *table.Table
	var index *fb.TableIndex
	err := guarded(func() (err error) {
		t, err = openTable(data, id, options.Snappy)
		if err == nil {
			end := len(data) - 4
			end -= int(binary.BigEndian.Uint32(data[end:])) + 4
			size := int(binary.BigEndian.Uint32(data[end:]))
			index = fb.GetRootAsTableIndex(data[end-size:end], 0)
		}
		return err
	})
	if err != nil {
		return err
	}
	blocks, unread := index.OffsetsLength(), 0
	firstKey := func(block int) []byte {
		var offset fb.BlockOffset
		index.Offsets(&offset, block)
		return offset.KeyBytes()
	}
	for i := range blocks {
		var next []byte
		if i+1 < blocks {
			next = firstKey(i + 1)
		}
		err := guarded(func() error {
			it := t.NewIterator(table.NOCACHE)
			defer it.Close()
			it.Seek(firstKey(i))
			if !it.Valid() {
				return ErrDamaged
			}
			for ; it.Valid() && (next == nil || y.CompareKeys(it.Key(), next) < 0); it.Next() {
				fn(slices.Clone(y.ParseKey(it.Key())), y.ParseTs(it.Key()), it.ValueCopy())
			}
			return nil
		})
		if err != nil {
			unread++
		}
	}
	if unread > 0 {
		return fmt.Errorf("%d of %d blocks cannot be read", unread, blocks)
	}
	return nil
}
