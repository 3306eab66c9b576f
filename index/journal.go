package index

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// A journal keeps writes on the disk until Bleve has them. Bleve is slow with
// small batches, for each makes a segment that is merged again and again; so
// writes are acknowledged once they are here, and reach Bleve many at a time.
//
// There are two files. Writes go to one of them while those of the other are
// committed, after which it begins again from the front: to bring what is
// written over old bytes to the disk takes a fifth of the time of a file that
// grows. A record is its length and the CRC-32C of its payload, four big-endian
// bytes each, and the payload: the number of the write, eight bytes, and an entry
// as gob. What follows a record that is not whole was never acknowledged; one
// with another number than the next is left of the turns before.
type journal struct {
	files  [2]*os.File
	ends   [2]int64 // where the next record goes
	active int      // that writes go to
	number uint64
	room   []byte // in which the records of a write are put together
}

// An entry is a write in the journal.
type entry struct {
	URL      string
	Document *Document // nil: the page is forgotten
	Without  string    // without a Document: only the mentions of this place are
	Renewed  bool      // what it does not state any more is marked as gone
}

const (
	maxRecord = 64 << 20  // bytes
	keptRoom  = 256 << 10 // likewise, between two writes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func journalNames(dir string) []string {
	return []string{filepath.Join(dir, "journal.0"), filepath.Join(dir, "journal.1")}
}

// journalHolds tells whether writes wait in the journal of dir.
func journalHolds(dir string) bool {
	return slices.ContainsFunc(journalNames(dir), func(name string) bool {
		f, err := os.Open(name)
		if err != nil {
			return false
		}
		defer f.Close()
		var length [4]byte
		_, err = io.ReadFull(f, length[:])
		return err == nil && length != [4]byte{}
	})
}

// openJournal opens or makes the journal of dir and returns what waits in it,
// in the order of the writes.
func openJournal(dir string) (j *journal, waiting []entry, err error) {
	j = &journal{}
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	type numbered struct {
		number uint64
		entry
	}
	var found []numbered
	for i, name := range journalNames(dir) {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return j, nil, fmt.Errorf("index: %w", err)
		}
		j.files[i] = f
		err = readRecords(f, func(number uint64, e entry) {
			found = append(found, numbered{number, e})
			j.number = max(j.number, number)
		})
		if err != nil {
			return j, nil, fmt.Errorf("index: %s: %w", name, err)
		}
	}
	slices.SortFunc(found, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	for _, n := range found {
		waiting = append(waiting, n.entry)
	}
	return j, waiting, nil
}

// readRecords calls fn with every whole record. Errors are those of the disk.
func readRecords(r io.Reader, fn func(number uint64, e entry)) error {
	in := bufio.NewReader(r)
	for last := uint64(0); ; {
		var head [8]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return endOf(err)
		}
		length := binary.BigEndian.Uint32(head[:])
		if length < 8 || length > maxRecord {
			return nil
		}
		payload, err := io.ReadAll(io.LimitReader(in, int64(length)))
		if err != nil {
			return err
		}
		if len(payload) != int(length) || crc32.Checksum(payload, castagnoli) != binary.BigEndian.Uint32(head[4:]) {
			return nil
		}
		number := binary.BigEndian.Uint64(payload)
		if last > 0 && number != last+1 {
			return nil
		}
		last = number
		var e entry
		if err := gob.NewDecoder(bytes.NewReader(payload[8:])).Decode(&e); err != nil {
			return fmt.Errorf("%w: a whole record cannot be read: %w", ErrDamaged, err)
		}
		fn(number, e)
	}
}

func endOf(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// aroundText is room for what most records have beside the text of the page:
// the description of gob's types, and a few addresses.
const aroundText = 2 << 10

// record returns the bytes of a write but for its number.
func record(e entry) ([]byte, error) {
	var b bytes.Buffer
	if e.Document != nil {
		b.Grow(len(e.Document.Text) + aroundText)
	}
	b.Write(make([]byte, 16)) // the head and the number
	if err := gob.NewEncoder(&b).Encode(e); err != nil {
		return nil, fmt.Errorf("index: %.200q: %w", e.URL, err)
	}
	if b.Len()-8 > maxRecord {
		return nil, fmt.Errorf("index: %.200q: %d bytes are too much for one page", e.URL, b.Len())
	}
	return b.Bytes(), nil
}

// add appends records and brings them to the disk.
func (j *journal) add(records [][]byte) error {
	all := j.room[:0]
	for _, r := range records {
		j.number++
		binary.BigEndian.PutUint64(r[8:], j.number)
		binary.BigEndian.PutUint32(r, uint32(len(r)-8))
		binary.BigEndian.PutUint32(r[4:], crc32.Checksum(r[8:], castagnoli))
		all = append(all, r...)
	}
	if cap(all) <= keptRoom {
		j.room = all
	}
	if err := j.write(j.active, all); err != nil {
		return err
	}
	j.ends[j.active] += int64(len(all))
	return nil
}

// write brings b to the end of a file and to the disk.
func (j *journal) write(file int, b []byte) error {
	_, err := j.files[file].WriteAt(b, j.ends[file])
	if err == nil {
		err = j.files[file].Sync()
	}
	if err != nil {
		return fmt.Errorf("index: journal: %w", err)
	}
	return nil
}

// turn makes further writes go to the other file and returns the one that has
// those before.
func (j *journal) turn() (full int) {
	full = j.active
	j.active = 1 - full
	return full
}

// empty forgets the writes of one file. That is on the disk before the next
// turn, lest old writes come back over newer ones.
func (j *journal) empty(file int) error {
	j.ends[file] = 0
	return j.write(file, make([]byte, 8)) // no record is so short
}

// clear empties both files and takes the bytes of what they held from the disk,
// before numbers begin anew and so that nothing is left of what was forgotten.
func (j *journal) clear() error {
	for i, f := range j.files {
		err := f.Truncate(0)
		if err == nil {
			err = f.Sync()
		}
		if err != nil {
			return fmt.Errorf("index: journal: %w", err)
		}
		j.ends[i] = 0
	}
	return nil
}

func (j *journal) close() error {
	var errs []error
	for _, f := range j.files {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// cannotWrite tells the errors of a folder that may only be read.
func cannotWrite(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}
