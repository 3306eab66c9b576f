package index

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	bolt "go.etcd.io/bbolt"
)

// Bleve trusts its files, and ends the process where one was cut short or
// changed. So they are read once before it opens them: segments end with the sum
// of all bytes before, and the small root file is walked.

// A root is what the root file names, in all states of the data that it has.
type root struct {
	segments []string
	newest   int // generation
}

// check returns the generation of the newest state in a folder of Bleve, or an
// error that names the first file that cannot be as it was written.
func check(path string, lockWait time.Duration) (newest int, err error) {
	store := filepath.Join(path, "store")
	const name = "root.bolt"
	r, err := readRoot(filepath.Join(store, name), lockWait)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	for _, segment := range r.segments {
		err := checkSum(filepath.Join(store, segment))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // of an older state
			return 0, fmt.Errorf("%s: %w", segment, err)
		}
	}
	return r.newest, nil
}

// checkSum reads a file whose last four bytes are the CRC-32 of those before.
func checkSum(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < 4 {
		return fmt.Errorf("%d bytes are too few", info.Size())
	}
	sum := hash.Hash32(crc32.NewIEEE())
	if _, err := io.CopyN(sum, f, info.Size()-4); err != nil {
		return err
	}
	var want [4]byte
	if _, err := io.ReadFull(f, want[:]); err != nil {
		return err
	}
	if binary.BigEndian.Uint32(want[:]) != sum.Sum32() {
		return errors.New("the checksum is wrong")
	}
	return nil
}

// readRoot reads all of a Bolt file. Bolt maps the file and panics where it is
// damaged.
func readRoot(name string, lockWait time.Duration) (r root, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cannot be read: %.200v", p)
		}
	}()
	info, err := os.Stat(name)
	if err != nil {
		return r, err
	}
	db, err := bolt.Open(name, 0o600, &bolt.Options{ReadOnly: true, Timeout: lockWait, PreLoadFreelist: true})
	if err != nil {
		return r, err
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error {
		if tx.Size() > info.Size() {
			return fmt.Errorf("%d bytes of %d", info.Size(), tx.Size())
		}
		if err := checkPages(name, info.Size(), uint64(tx.Cursor().Bucket().Root()), db.Info().PageSize); err != nil {
			return err
		}
		return tx.ForEach(func(_ []byte, b *bolt.Bucket) error { return r.read(b) })
	})
	return r, err
}

// maxRoot bounds the root file, which has some kB.
const maxRoot = 256 << 20

// checkPages follows the pages of a Bolt file from its root and returns an error
// where they lead nowhere or back to each other: Bolt would follow them until no
// memory is left.
func checkPages(name string, size int64, root uint64, pageSize int) error {
	if size > maxRoot {
		return fmt.Errorf("%d bytes are too many", size)
	}
	file, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	w := pageWalk{file: file, pageSize: pageSize, visited: map[uint64]bool{}}
	return w.page(root)
}

// A pageWalk reads pages of Bolt: each begins with its number (8 bytes), its kind
// (2), the count of its elements (2) and of the pages that continue it (4).
type pageWalk struct {
	file     []byte
	pageSize int
	visited  map[uint64]bool
}

func (w *pageWalk) page(number uint64) error {
	if number >= uint64(len(w.file)/w.pageSize) || w.visited[number] {
		return fmt.Errorf("page %d is in the wrong place", number)
	}
	w.visited[number] = true
	page := w.file[int(number)*w.pageSize:]
	pages := 1 + int(binary.NativeEndian.Uint32(page[12:]))
	if binary.NativeEndian.Uint64(page) != number || pages > len(page)/w.pageSize {
		return fmt.Errorf("page %d is not what it was", number)
	}
	return w.elements(page[:pages*w.pageSize], false)
}

// elements follows what a page names. Elements of a branch are 16 bytes that end
// with the number of a page; those of a leaf are kind, place, length of the key
// and of the value, 4 bytes each. The value of a bucket begins with the number of
// its page, or with 0, and the page follows.
func (w *pageWalk) elements(page []byte, inline bool) error {
	const branch, leaf, bucket, head, element = 1, 2, 1, 16, 16
	if len(page) < head {
		return errors.New("a page is cut short")
	}
	kind, count := binary.NativeEndian.Uint16(page[8:]), int(binary.NativeEndian.Uint16(page[10:]))
	if kind != leaf && (kind != branch || inline) || head+element*count > len(page) {
		return errors.New("a page is neither branch nor leaf")
	}
	for i := range count {
		e := page[head+element*i:]
		if kind == branch {
			if err := w.page(binary.NativeEndian.Uint64(e[8:])); err != nil {
				return err
			}
			continue
		}
		place, key, value := uint64(binary.NativeEndian.Uint32(e[4:])), uint64(binary.NativeEndian.Uint32(e[8:])), uint64(binary.NativeEndian.Uint32(e[12:]))
		if place+key+value > uint64(len(e)) {
			return errors.New("an element ends behind its page")
		}
		if binary.NativeEndian.Uint32(e)&bucket == 0 {
			continue
		}
		v := e[place+key:][:value]
		if len(v) < 16 {
			return errors.New("a bucket is cut short")
		}
		var err error
		if below := binary.NativeEndian.Uint64(v); below != 0 {
			err = w.page(below)
		} else {
			err = w.elements(v[16:], true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read takes in what a bucket names, and the buckets in it.
func (r *root) read(b *bolt.Bucket) error {
	return b.ForEach(func(key, value []byte) error {
		var s state
		name := string(value)
		switch {
		case value == nil:
			return r.read(b.Bucket(key))
		case string(key) == string(stateKey) && json.Unmarshal(value, &s) == nil:
			r.newest = max(r.newest, s.Generation)
		case strings.HasSuffix(name, ".zap") && filepath.Base(name) == name && !slices.Contains(r.segments, name):
			r.segments = append(r.segments, name)
		}
		return nil
	})
}

// checkState returns an error where the documents are not those of the newest
// batch.
func checkState(b bleve.Index, newest int) error {
	r, err := readerOf(b)
	if err != nil {
		return err
	}
	defer r.Close()
	s, err := stateOf(r)
	if err != nil {
		return err
	}
	if s.Generation < newest {
		return fmt.Errorf("state %d cannot be read, only %d", newest, s.Generation)
	}
	n, err := r.DocCount()
	if err != nil {
		return err
	}
	if n != uint64(s.Documents) {
		return fmt.Errorf("%d documents of %d can be read", n, s.Documents)
	}
	return nil
}
