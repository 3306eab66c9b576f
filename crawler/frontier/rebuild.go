package frontier

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gazehound/internal/disk"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
)

// Rebuild makes a store in the new directory to from what can be read of the one in from, which is
// not changed. lost describes what is missing from each damaged file.
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

// rebuild collects the newest version of all records in a temporary store, and makes the one in to
// from these.
func rebuild(from, to string) (lost []string, err error) {
	temp := to + ".records"
	defer os.RemoveAll(temp)
	err = errors.Join(os.RemoveAll(temp), os.MkdirAll(temp, 0o777))
	if err != nil {
		return nil, err
	}
	if err := checkFree(temp, 2*sizeOf(from)+usualMinFree); err != nil {
		return nil, err
	}
	db, err := badger.OpenManaged(badgerOptions(Options{Dir: temp, Memory: usualMemory}))
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
	err = errors.Join(err, batch.Flush())
	if err == nil {
		c := newCopying(badgerTxn{txn: db.NewTransactionAt(math.MaxUint64, false)}, Removal{})
		c.plan(context.Background()) // what cannot be read is left out
		_, err = c.copy(context.Background(), to)
		c.from.close()
	}
	return lost, errors.Join(err, db.Close())
}

// sizeOf returns the bytes that the files in dir take on the disk.
func sizeOf(dir string) (bytes int64) {
	entries, _ := os.ReadDir(dir) // salvage reports what cannot be read
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			bytes += disk.Allocated(info)
		}
	}
	return bytes
}

// salvage calls fn with all versions of all records that can be read in the tables and the logs.
func salvage(
	dir string, fn func(key []byte, version uint64, value []byte, deleted bool) error,
) (lost []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		id, inTable := table.ParseFileID(name)
		if !inTable && !strings.HasSuffix(name, ".mem") {
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
				deleted := e.flags&isDeleted != 0
				failed = errors.Join(failed, fn(slices.Clone(e.key), e.version, slices.Clone(e.value), deleted))
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
