package frontier

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"gazehound/internal/disk"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"golang.org/x/sync/errgroup"
)

// Badger takes what it cannot read for the end of a file, leaves out tables whose index is damaged
// and those that a shortened MANIFEST does not name, and ends the process where a table was cut
// short. So the logs, MANIFEST and the tables' indexes are read before Badger opens a store. Only the
// end of a log may be torn: nothing valid follows then.
//
// Badger also skips blocks that it cannot read, and a merge leaves out what they held. So a writer
// reads all blocks first, and so does a reader after a kill. Other readers compare what they have
// read with the totals (short), and where a key is missing or a range has ended they read the blocks
// of the tables that it may lie in (unread): a large store then opens without being read.

// The files of a store.
type files struct {
	manifest []byte
	tables   []string          // those that MANIFEST names
	running  bool              // a process has it open, or was killed
	logs     map[string][]byte // up to their last valid entry; none if the store was closed
}

// examine reads the files of the store in dir, and all blocks of its tables if a process has left it
// open or inFull is set. The error is an ErrDamaged that names a file, or the file system's.
func examine(dir string, inFull bool) (f files, err error) {
	found, newest, err := f.readLogs(dir)
	if err != nil {
		return f, err
	}
	m, err := f.readManifest(dir)
	if errors.Is(err, fs.ErrNotExist) && len(found)+len(f.logs) == 0 {
		return f, nil
	} else if err != nil {
		return f, damaged(badger.ManifestFilename, "%w", err)
	}
	inTables, err := f.readTables(dir, m, inFull || f.running)
	if err != nil {
		return f, err
	}
	newest = max(newest, inTables)
	for _, id := range found { // left by a killed compaction, with nothing new
		if _, known := m.Tables[id]; known {
			continue
		}
		if version, err := checkTable(dir, id, options.Snappy, true); err == nil && version > newest {
			return f, damaged(badger.ManifestFilename, "it lacks %s", table.IDToFilename(id))
		}
	}
	return f, nil
}

// readLogs reads the logs in dir, and returns the tables there and the newest version in the logs.
func (f *files) readLogs(dir string) (tables []uint64, newest uint64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, err
	}
	f.logs = map[string][]byte{}
	longest := 0
	for _, e := range entries {
		name := e.Name()
		f.running = f.running || name == lockFile
		if id, ok := table.ParseFileID(name); ok {
			tables = append(tables, id)
		}
		if !strings.HasSuffix(name, ".mem") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, 0, err
		}
		end, version, err := checkLog(data, nil)
		if err != nil {
			return nil, 0, damaged(name, "%w", err)
		}
		f.logs[name] = data[:end]
		newest, longest = max(newest, version), max(longest, end)
	}
	if f.running && longest == 0 {
		return nil, 0, damaged("*.mem", "the log is missing or empty")
	}
	return tables, newest, nil
}

// readTables reads the tables that MANIFEST names, and returns the newest version in them.
func (f *files) readTables(dir string, m badger.Manifest, inFull bool) (newest uint64, err error) {
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for id, t := range m.Tables {
		g.Go(func() error {
			name := table.IDToFilename(id)
			version, err := checkTable(dir, id, t.Compression, inFull)
			if err != nil {
				return damaged(name, "%w", err)
			}
			mu.Lock()
			defer mu.Unlock()
			newest, f.tables = max(newest, version), append(f.tables, name)
			return nil
		})
	}
	err = g.Wait()
	return newest, err
}

// unwritten reports whether a log holds entries that may be in no table yet.
func (f *files) unwritten() bool {
	for _, log := range f.logs {
		if len(log) > logHead {
			return true
		}
	}
	return false
}

// readManifest reads MANIFEST, which must be whole.
func (f *files) readManifest(dir string) (m badger.Manifest, err error) {
	name := filepath.Join(dir, badger.ManifestFilename)
	data, err := os.ReadFile(name)
	if err != nil {
		return m, err
	}
	file, err := os.Open(name)
	if err != nil {
		return m, err
	}
	defer file.Close()
	var end int64
	err = guarded(func() (err error) {
		m, end, err = badger.ReplayManifestFile(file, 0, badgerOptions(Options{Dir: dir}))
		return err
	})
	if err == nil && end != int64(len(data)) {
		err = fmt.Errorf("the record at byte %d cannot be read", end)
	}
	f.manifest = data
	return m, err
}

// checkTable reads the index of a table, and inFull all its blocks, and returns the newest version in it.
func checkTable(dir string, id uint64, c options.CompressionType, inFull bool) (newest uint64, err error) {
	file, err := os.Open(filepath.Join(dir, table.IDToFilename(id)))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	data, unmap, err := disk.Map(file, false)
	if err != nil {
		return 0, err
	}
	err = guarded(func() error {
		t, err := openTable(data, id, c)
		if err != nil {
			return err
		}
		newest = t.MaxVersion()
		if inFull {
			err = t.VerifyChecksum()
		}
		return err
	})
	return newest, errors.Join(err, unmap())
}

// unread are the tables of a store of which only the indexes were read.
type unread []unreadTable

// An unreadTable is one of them.
type unreadTable struct {
	low, high []byte       // its range of keys
	read      func() error // reads all blocks, once
}

func unreadTables(dir string, tables []badger.TableInfo) (all unread) {
	for _, t := range tables {
		read := sync.OnceValue(func() error {
			_, err := checkTable(dir, t.ID, options.Snappy, true)
			if err != nil {
				return damaged(table.IDToFilename(t.ID), "%w", err)
			}
			return nil
		})
		all = append(all, unreadTable{y.ParseKey(t.Left), y.ParseKey(t.Right), read})
	}
	return all
}

// check returns an error if a table cannot be read that may hold keys with a prefix.
func (u unread) check(prefix []byte) error {
	for _, t := range u {
		if bytes.HasPrefix(t.low, prefix) || bytes.Compare(t.low, prefix) <= 0 && bytes.Compare(prefix, t.high) <= 0 {
			err := t.read()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func openTable(data []byte, id uint64, c options.CompressionType) (*table.Table, error) {
	b := badgerOptions(Options{})
	return table.OpenInMemoryTable(data, id, &table.Options{
		Compression: c, BlockSize: b.BlockSize, ChkMode: options.OnBlockRead,
	})
}

// inFile returns err; if it is ErrDamaged, with the file where examine finds the damage in full.
func inFile(dir string, err error) error {
	if errors.Is(err, ErrDamaged) {
		if _, found := examine(dir, true); found != nil {
			return found
		}
	}
	return err
}

// damaged returns an ErrDamaged that names a file.
func damaged(name, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %w", ErrDamaged, name, fmt.Errorf(format, args...))
}

// guarded calls fn and returns what it panics with as an error.
func guarded(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cannot be read: %.200s", strings.Join(strings.Fields(fmt.Sprint(p)), " "))
		}
	}()
	return fn()
}

// A log of Badger is a head of 20 bytes and entries: two bytes of flags, the lengths of key and value
// and the time it expires as uvarints, key, value, CRC-32C. A key ends with its version, 8 bytes.
// Entries of a transaction have the flag inTxn, and one with the flag endsTxn, whose value is the
// version in decimal, ends it. Zeros follow: the file is made larger than what it will hold.
const (
	logHead   = 20
	isDeleted = 1 << 0
	inTxn     = 1 << 6
	endsTxn   = 1 << 7
	// gap is how many bytes behind an entry Badger makes zero before it writes the next one.
	gap = 22
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A logEntry is one entry of a log.
type logEntry struct {
	flags   byte
	key     []byte // without the version
	version uint64
	value   []byte
	bytes   int
}

// readEntry returns the entry that b begins with; false where none can be read.
func readEntry(b []byte) (e logEntry, ok bool) {
	at := 2
	var numbers [3]uint64 // length of the key, of the value, expiry
	for i := range numbers {
		n, size := binary.Uvarint(b[min(at, len(b)):])
		if size <= 0 || i < 2 && n > uint64(len(b)) {
			return e, false
		}
		numbers[i], at = n, at+size
	}
	key, value := int(numbers[0]), int(numbers[1])
	end := at + key + value
	if key < 8 || end+crc32.Size > len(b) ||
		crc32.Checksum(b[:end], castagnoli) != binary.BigEndian.Uint32(b[end:]) {
		return e, false
	}
	version := ^binary.BigEndian.Uint64(b[at+key-8:]) // Badger keeps the newest first
	return logEntry{b[0], b[at : at+key-8], version, b[at+key : end], end + crc32.Size}, true
}

// checkLog returns how many bytes of a log are whole, and its newest version. What follows must be
// one transaction at most that was not ended, one entry that was not written to its end, and zeros. fn
// is called with the entries of what is whole; nil: not.
func checkLog(data []byte, fn func(logEntry)) (end int, newest uint64, err error) {
	if len(data) == 0 || len(data) > logHead && len(bytes.Trim(data, "\x00")) == 0 {
		return 0, 0, nil // it was made and never written to
	}
	if len(data) < logHead {
		return 0, 0, fmt.Errorf("%d bytes are too few", len(data))
	}
	end = logHead
	var open []logEntry // of the transaction that at is in
	txn := uint64(0)    // its version
	at := end
	for {
		e, ok := readEntry(data[at:])
		ends := ok && e.flags&endsTxn != 0
		if !ok || txn != 0 && (!ends && e.flags&inTxn == 0 || e.flags&inTxn != 0 && e.version != txn) ||
			ends && string(e.value) != fmt.Sprint(txn) {
			break
		}
		at += e.bytes
		if !ends {
			open, txn = append(open, e), e.version
		}
		if ends || e.flags&inTxn == 0 {
			if fn != nil {
				for _, e := range open {
					fn(e)
				}
			}
			end, open, txn = at, nil, 0
		}
		newest = max(newest, e.version)
	}
	rest := bytes.TrimRight(data[at:], "\x00")
	if at != end || len(rest) > 0 {
		if len(data)-at-len(rest) < gap {
			return end, newest, fmt.Errorf("it is cut short behind byte %d", end)
		}
	}
	for i := 1; i < len(rest); i++ {
		if e, ok := readEntry(rest[i:]); ok {
			err := fmt.Errorf("the entry at byte %d cannot be read, and one of %d bytes follows", at, e.bytes)
			return end, newest, err
		}
	}
	return end, newest, nil
}
