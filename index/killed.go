package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"go.etcd.io/bbolt"
)

// checkKilled reads the Bleve index at path once, whose writer was killed before it noted the sums of
// its files: Bleve takes an older state in silence where it cannot read the newest. Bleve and Bolt,
// which keeps the root file, panic where values of that file are damaged, and fault where it is cut
// short; neither can check it beforehand.
func checkKilled(path string) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil { // what Bleve has opened stays so until the process ends
			err = fmt.Errorf("root.bolt: cannot be read: %.200v", p)
		}
	}()
	if err := checkSegments(filepath.Join(path, "store")); err != nil {
		return err
	}
	b, err := bleve.OpenUsing(path, map[string]any{"read_only": true, "bolt_timeout": "1s"})
	if err != nil {
		return err
	}
	return errors.Join(checkStates(b), b.Close())
}

// segmentName is how Bleve names its files, in the root file as well.
var segmentName = regexp.MustCompile(`[0-9a-f]{12}\.zap`)

// checkSegments compares the segments that the root file names with the sums that they end with, and
// the root file's size with the one that it says it has.
func checkSegments(store string) error {
	name := filepath.Join(store, "root.bolt")
	db, err := bbolt.Open(name, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	root, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	err = db.View(func(tx *bbolt.Tx) error {
		if tx.Size() > int64(len(root)) {
			return fmt.Errorf("root.bolt: %d bytes of %d", len(root), tx.Size())
		}
		return nil
	})
	for _, segment := range segmentName.FindAll(root, -1) {
		if err != nil {
			return err
		}
		text, failed := os.ReadFile(filepath.Join(store, string(segment)))
		switch {
		case errors.Is(failed, fs.ErrNotExist): // of an older state
		case failed != nil:
			err = failed
		case len(text) < crc32.Size || !endsWithSum(text):
			err = fmt.Errorf("%s: the checksum is wrong", segment)
		}
	}
	return err
}

// endsWithSum reports whether the last four bytes of a file are the CRC-32 of those before.
func endsWithSum(text []byte) bool {
	end := len(text) - crc32.Size
	return crc32.ChecksumIEEE(text[:end]) == binary.BigEndian.Uint32(text[end:])
}

// checkStates returns an error where the newest state of the data cannot be read as it was written.
func checkStates(b bleve.Index) error {
	advanced, err := b.Advanced()
	if err != nil {
		return err
	}
	s := advanced.(*scorch.Scorch) // newBleve makes no other
	epochs, err := s.RootBoltSnapshotEpochs()
	if err != nil {
		return err
	}
	if len(epochs) == 0 {
		return errors.New("root.bolt: it names no state")
	}
	newest, err := s.LoadSnapshot(epochs[0])
	if err != nil {
		return err
	}
	defer newest.Close()
	written, err := stateOf(newest)
	if err != nil {
		return err
	}
	r, err := s.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	if open, err := stateOf(r); err != nil || open != written {
		return cmp.Or(err, fmt.Errorf("state %d cannot be read, only %d", written.Generation, open.Generation))
	}
	n, err := r.DocCount()
	if err == nil && n != uint64(written.Documents) {
		err = fmt.Errorf("%d documents of %d can be read", n, written.Documents)
	}
	return err
}
