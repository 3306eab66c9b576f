package frontier

import (
	"bytes"
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
	db, err := newBadger(to)
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
	f, err := Open(Options{Dir: to})
	if err != nil {
		return lost, err
	}
	return lost, errors.Join(f.repair(), f.Close())
}

// salvage calls fn with all versions of all records that can be read in the tables that MANIFEST
// names, or in all where it cannot be read, and in the logs.
func salvage(dir string, fn func(key []byte, version uint64, value []byte, deleted bool) error) (lost []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var whole files
	known, _ := whole.readManifest(dir, false)
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
	b := badgerOptions(Options{})
	err := guarded(func() (err error) {
		t, err = table.OpenInMemoryTable(data, id, &table.Options{
			Compression: b.Compression, BlockSize: b.BlockSize, ChkMode: options.OnBlockRead,
		})
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
				return errDamaged
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
