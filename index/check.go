package index

import (
	"encoding/binary"
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

// check returns an error that names the first file in a folder of Bleve that
// cannot be as it was written.
func check(path string, lockWait time.Duration) error {
	store := filepath.Join(path, "store")
	const root = "root.bolt"
	segments, err := checkRoot(filepath.Join(store, root), lockWait)
	if err != nil {
		return fmt.Errorf("%s: %w", root, err)
	}
	for _, name := range segments {
		err := checkSum(filepath.Join(store, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // of an older state
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
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

// checkRoot reads all of a Bolt file and returns the segments that it names. Bolt
// maps the file and panics where it is damaged, so this is the one place that
// recovers.
func checkRoot(name string, lockWait time.Duration) (segments []string, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cannot be read: %.200v", p)
		}
	}()
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	db, err := bolt.Open(name, 0o600, &bolt.Options{ReadOnly: true, Timeout: lockWait, PreLoadFreelist: true})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error {
		if tx.Size() > info.Size() {
			return fmt.Errorf("%d bytes of %d", info.Size(), tx.Size())
		}
		return tx.ForEach(func(_ []byte, b *bolt.Bucket) error { return readBucket(b, &segments) })
	})
	return segments, err
}

// readBucket adds the segments that a bucket names, and those in it.
func readBucket(b *bolt.Bucket, segments *[]string) error {
	return b.ForEach(func(key, value []byte) error {
		if inner := b.Bucket(key); inner != nil {
			return readBucket(inner, segments)
		}
		if name := string(value); strings.HasSuffix(name, ".zap") && filepath.Base(name) == name && !slices.Contains(*segments, name) {
			*segments = append(*segments, name)
		}
		return nil
	})
}

// checkState returns an error where the documents are not those of the newest
// batch.
func checkState(b bleve.Index) error {
	r, err := readerOf(b)
	if err != nil {
		return err
	}
	defer r.Close()
	s, err := stateOf(r)
	if err != nil {
		return err
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
