package warc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Ends say how the files of a folder end. Names are base names.
type Ends struct {
	Files int      // that are not open
	Open  []string // being written, or left by a program that was killed
	Torn  []string // end in the middle of a record
}

// CheckEnds looks at the last record of each *.warc.gz in a folder, without
// reading what comes before and without changing anything: where a write was
// torn, it shows there.
func CheckEnds(dir string) (e Ends, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return e, fmt.Errorf("warc: %w", err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, fileExt+openExt) {
			e.Open = append(e.Open, name)
			continue
		}
		if !strings.HasSuffix(name, fileExt) {
			continue
		}
		e.Files++
		whole, err := endsWhole(filepath.Join(dir, name))
		if err != nil {
			return e, fmt.Errorf("warc: %w", err)
		}
		if !whole {
			e.Torn = append(e.Torn, name)
		}
	}
	return e, nil
}

// gzipMagic begins a gzip member with deflate.
var gzipMagic = []byte{0x1f, 0x8b, 8}

// maxTail is how far before the end of a file its last record is looked for,
// in bytes.
const maxTail = 64 << 20

// endsWhole tells whether the last member of a gzip file is a whole record.
// Members are told by their first bytes; what only looks like one inside of
// compressed data cannot be read as a record.
func endsWhole(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	size := info.Size()
	from := max(0, size-maxTail)
	tail := make([]byte, size-from)
	if _, err := f.ReadAt(tail, from); err != nil {
		return false, err
	}
	r := newReader()
	for i := bytes.LastIndex(tail, gzipMagic); i >= 0; i = bytes.LastIndex(tail[:i], gzipMagic) {
		r.seek(f, from+int64(i))
		rec, err := r.next(true)
		if err == nil {
			err = r.finish(rec)
		}
		if err == nil {
			return r.file.n == size, nil
		}
	}
	return false, nil
}
