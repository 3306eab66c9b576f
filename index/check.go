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
// damaged, so this is the one place that recovers.
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
		return tx.ForEach(func(_ []byte, b *bolt.Bucket) error { return r.read(b) })
	})
	return r, err
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
