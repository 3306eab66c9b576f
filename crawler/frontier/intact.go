package frontier

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// Badger takes what it cannot read for the end of a file, removes tables that a shortened MANIFEST
// does not name, and ends the process where a table was cut short. So all of a store is read before
// Badger opens it. The end of MANIFEST and of a log may be torn: nothing valid follows then.

// A store's files, as they were found.
type files struct {
	closed   bool
	sums     map[string]sum // of the tables
	tables   []string       // those that MANIFEST names
	manifest []byte         // MANIFEST, as far as it is whole
	logs     map[string]int // bytes of each log that are whole
}

// examine reads all files of the store in dir. The error is an ErrDamaged that names a file, or the
// file system's.
func examine(dir string) (f files, err error) {
	if f.sums, err = readSums(dir); err != nil {
		return f, err
	}
	if f.sums != nil {
		f.closed = true
		return f, checkSums(dir, f.sums)
	}
	f.sums, f.logs = map[string]sum{}, map[string]int{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return f, err
	}
	var found []string // tables
	newest, running := uint64(0), false
	for _, e := range entries {
		running = running || e.Name() == openFile
		switch {
		case isTable(e.Name()):
			found = append(found, e.Name())
		case strings.HasSuffix(e.Name(), ".mem"):
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return f, err
			}
			end, version, err := checkLog(data, nil)
			if err != nil {
				return f, damaged(e.Name(), "%w", err)
			}
			f.logs[e.Name()] = end
			newest = max(newest, version)
		}
	}
	if whole := slices.Max(append(slices.Collect(maps.Values(f.logs)), 0)); running && whole == 0 {
		return f, damaged("*.mem", "the log is missing or empty")
	}
	return f, f.examineTables(dir, found, newest)
}

// examineTables reads MANIFEST and the tables that were found. newest is the newest version in the
// logs.
func (f *files) examineTables(dir string, found []string, newest uint64) error {
	m, err := f.readManifest(dir, len(found)+len(f.logs) > 0)
	if err != nil {
		return err
	}
	for id, t := range m.Tables {
		name := table.IDToFilename(id)
		s, version, err := checkTable(filepath.Join(dir, name), id, t)
		if err != nil {
			return damaged(name, "%w", err)
		}
		f.sums[name], newest = s, max(newest, version)
		f.tables = append(f.tables, name)
	}
	for _, name := range found { // what a killed compaction left holds nothing new
		id, ok := table.ParseFileID(name)
		if _, known := m.Tables[id]; known || !ok {
			continue
		}
		var unknown badger.TableManifest
		unknown.Compression = badgerOptions(Options{}).Compression
		_, version, err := checkTable(filepath.Join(dir, name), id, unknown)
		if err == nil && version > newest {
			return damaged(badger.ManifestFilename, "it lacks %s", name)
		}
	}
	return nil
}

// readManifest reads MANIFEST, which must be there where there are other files.
func (f *files) readManifest(dir string, needed bool) (m badger.Manifest, err error) {
	const name = badger.ManifestFilename
	file, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		if needed {
			return m, damaged(name, "it is missing")
		}
		return m, nil
	} else if err != nil {
		return m, err
	}
	defer file.Close()
	var end int64
	err = guarded(func() (err error) {
		m, end, err = badger.ReplayManifestFile(file, 0, badgerOptions(Options{Dir: dir}))
		return err
	})
	if err != nil {
		return m, damaged(name, "%w", err)
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return m, err
	}
	if recordIn(data[end:]) {
		return m, damaged(name, "the record at byte %d cannot be read", end)
	}
	f.manifest = data[:end]
	return m, nil
}

// recordIn tells whether b holds a record of MANIFEST: its length and its CRC-32C, 4 bytes each, and
// its bytes. The length of the one that b begins with may be wrong.
func recordIn(b []byte) bool {
	const head = 8
	for i := 0; i+head < len(b); i++ {
		n, sum, body := int(binary.BigEndian.Uint32(b[i:])), binary.BigEndian.Uint32(b[i+4:]), b[i+head:]
		if n > 0 && n <= len(body) && crc32.Checksum(body[:n], castagnoli) == sum {
			return true
		}
	}
	if len(b) <= head {
		return false
	}
	sum := uint32(0)
	for _, c := range b[head:] {
		if sum = crc32.Update(sum, castagnoli, []byte{c}); sum == binary.BigEndian.Uint32(b[4:]) {
			return true
		}
	}
	return false
}

// checkTable reads all blocks of a table and returns the newest version in it.
func checkTable(name string, id uint64, m badger.TableManifest) (s sum, newest uint64, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return s, 0, err
	}
	s = sum{crc32.Checksum(data, castagnoli), int64(len(data))}
	o := badgerOptions(Options{})
	err = guarded(func() error {
		t, err := table.OpenInMemoryTable(data, id, &table.Options{Compression: m.Compression, BlockSize: o.BlockSize})
		if err != nil {
			return err
		}
		newest = t.MaxVersion()
		return t.VerifyChecksum()
	})
	return s, newest, err
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
			return end, newest, fmt.Errorf("the entry at byte %d cannot be read, and one of %d bytes follows", at, e.bytes)
		}
	}
	return end, newest, nil
}
