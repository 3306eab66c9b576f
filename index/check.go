package index

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bolt "go.etcd.io/bbolt"
)

// openChecked opens a Bleve index for reading and reads all of its files once: Bleve
// trusts them, so that a damaged one would end the process or give other answers. Sums of
// our own would not hold after a kill. Bleve and Bolt, which keeps its root file, panic
// where values of that file are damaged, and neither can check it beforehand.
func openChecked(path string) (b bleve.Index, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of a file that is too short
	defer func() {
		if p := recover(); p != nil { // what Bleve has opened stays so until the process ends
			b, err = nil, fmt.Errorf("root.bolt: cannot be read: %.200v", p)
		}
	}()
	if err := checkFiles(filepath.Join(path, "store")); err != nil {
		return nil, err
	}
	b, err = bleve.OpenUsing(path, config(true))
	if err != nil {
		return nil, err
	}
	if err := check(b); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// segmentName is how Bleve names its files, in the root file as well.
var segmentName = regexp.MustCompile(`[0-9a-f]{12}\.zap`)

// checkFiles compares the files that the root file names with the sums that they end
// with, and the root file's size with the one that it says it has. Bleve would
// allocate what a damaged file asks for, and its goroutines read what is missing.
func checkFiles(store string) error {
	name := filepath.Join(store, "root.bolt")
	db, err := bolt.Open(name, 0o600, &bolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(func(tx *bolt.Tx) error { // while nobody writes
		root, err := os.ReadFile(name)
		if err == nil && tx.Size() > int64(len(root)) {
			err = fmt.Errorf("root.bolt: %d bytes of %d", len(root), tx.Size())
		}
		for _, segment := range segmentsIn(root) {
			if err == nil {
				err = checkSum(filepath.Join(store, segment))
			}
			if errors.Is(err, fs.ErrNotExist) { // of an older state, which is not erased at once
				err = nil
			}
		}
		return err
	})
}

// segmentsIn returns the segments that a root file names, each once: every state that it keeps
// names its own.
func segmentsIn(root []byte) (names []string) {
	for _, name := range segmentName.FindAll(root, -1) {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return slices.Compact(names)
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
	sum, want := crc32.NewIEEE(), make([]byte, crc32.Size)
	if _, err := io.CopyN(sum, f, info.Size()-crc32.Size); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	_, err = io.ReadFull(f, want)
	if err != nil || !bytes.Equal(want, sum.Sum(nil)) {
		return fmt.Errorf("%s: the checksum is wrong", filepath.Base(name))
	}
	return nil
}

// check returns an error where the newest state of the data cannot be read: Bleve
// takes an older one or none then, and a writer removes the newer.
func check(b bleve.Index) error {
	s, err := scorchOf(b)
	if err != nil {
		return err
	}
	r, err := s.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	open, err := stateOf(r)
	if err != nil {
		return err
	}
	epochs, err := s.RootBoltSnapshotEpochs()
	if err != nil {
		return err
	}
	if len(epochs) > 0 { // the newest is the first
		snapshot, err := s.LoadSnapshot(epochs[0])
		if err != nil {
			return err
		}
		newest, err := stateOf(snapshot)
		err = errors.Join(err, snapshot.Close())
		if err != nil {
			return err
		}
		if newest.Generation > open.Generation {
			return fmt.Errorf("state %d cannot be read, only %d", newest.Generation, open.Generation)
		}
	}
	n, err := r.DocCount()
	if err == nil && n != uint64(open.Documents) {
		err = fmt.Errorf("%d documents of %d can be read", n, open.Documents)
	}
	return err
}

// scorchOf returns what Bleve keeps its data in.
func scorchOf(b bleve.Index) (*scorch.Scorch, error) {
	advanced, err := b.Advanced()
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	s, ok := advanced.(*scorch.Scorch)
	if !ok {
		return nil, fmt.Errorf("index: %T is not a scorch index", advanced)
	}
	return s, nil
}
