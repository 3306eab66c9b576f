package index

import (
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"runtime/debug"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
)

// openChecked opens a Bleve index and reads all of it once where it may not be
// written: Bleve trusts its files, so that a damaged one would end the process or
// give other answers. Bleve and Bolt, which keeps its root file, panic where values
// of that file are damaged, and neither can check it beforehand.
func openChecked(path string, config map[string]any) (b bleve.Index, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of a file that is too short
	defer func() {
		if p := recover(); p != nil { // what Bleve has opened stays so until the process ends
			b, err = nil, fmt.Errorf("root.bolt: cannot be read: %.200v", p)
		}
	}()
	if b, err = bleve.OpenUsing(path, config); err != nil || config["read_only"] == false {
		return b, err
	}
	if err := check(b); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// check returns an error where the newest state of the data cannot be read: Bleve
// takes an older one or none then, and a writer removes the newer.
func check(b bleve.Index) error {
	s, err := scorchOf(b)
	if err != nil {
		return err
	}
	epochs, err := s.RootBoltSnapshotEpochs()
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
	for i, epoch := range epochs { // the newest first
		written, err := readState(s, epoch, i == 0)
		if err != nil && i == 0 { // files of an older one may be gone
			return err
		}
		if written.Generation > open.Generation {
			return fmt.Errorf("state %d cannot be read, only %d", written.Generation, open.Generation)
		}
	}
	n, err := r.DocCount()
	if err == nil && n != uint64(open.Documents) {
		err = fmt.Errorf("%d documents of %d can be read", n, open.Documents)
	}
	return err
}

// readState returns one of the states that the root file names, with or without a
// look at all of its files.
func readState(s *scorch.Scorch, epoch uint64, whole bool) (written state, err error) {
	snapshot, err := s.LoadSnapshot(epoch)
	if err != nil {
		return written, err
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	if written, err = stateOf(snapshot); err == nil && whole {
		err = checkSums(snapshot)
	}
	return written, err
}

// checkSums compares the files of a state with the sums that they end with.
func checkSums(snapshot *scorch.IndexSnapshot) error {
	for _, s := range snapshot.Segments() {
		file, ok := s.Segment().(interface {
			Path() string
			Data() []byte
			CRC() uint32
		})
		if !ok {
			return fmt.Errorf("a segment is %T", s.Segment())
		}
		const sum = 4 // bytes at the end
		if data := file.Data(); crc32.ChecksumIEEE(data[:len(data)-sum]) != file.CRC() {
			return fmt.Errorf("%s: the checksum is wrong", filepath.Base(file.Path()))
		}
	}
	return nil
}

// scorchOf returns what Bleve keeps its data in.
func scorchOf(b bleve.Index) (*scorch.Scorch, error) {
	advanced, err := b.Advanced()
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	s, ok := advanced.(*scorch.Scorch)
	if !ok {
		return nil, fmt.Errorf("index: %T is no scorch index", advanced)
	}
	return s, nil
}
