package frontier

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gazehound/internal/disk"
)

// sumsFile lists the files of a store that was closed, one per line: CRC-32C, size, name. Its last
// line is the CRC-32C of the lines before. An open store has none, nor has one that was killed.
const sumsFile = "SUMS"

// openFile is there while a store is open to be written to, from when its first log was made.
const openFile = "OPEN"

// A sum is what is known of the bytes of a file.
type sum struct {
	crc  uint32
	size int64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOf reads a file.
func sumOf(name string) (s sum, err error) {
	f, err := os.Open(name)
	if err != nil {
		return s, err
	}
	defer f.Close()
	h := crc32.New(castagnoli)
	s.size, err = io.Copy(h, f)
	s.crc = h.Sum32()
	return s, err
}

// isTable tells whether a file is a table, which Badger writes once.
func isTable(name string) bool { return strings.HasSuffix(name, ".sst") }

// isSummed tells whether a file belongs into sumsFile: all but those that locks and killed programs
// leave.
func isSummed(e fs.DirEntry) bool {
	name := e.Name()
	return e.Type().IsRegular() && name != sumsFile && name != openFile && name != lockFile && name[0] != '.'
}

// writeSums writes the sums of all files in dir; those of tables that are known are not read again,
// so that a table that has changed since is still found out.
func writeSums(dir string, known map[string]sum) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, e := range entries {
		if !isSummed(e) {
			continue
		}
		s, ok := known[e.Name()]
		if !ok || !isTable(e.Name()) {
			if s, err = sumOf(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
		fmt.Fprintf(&text, "%08x %d %s\n", s.crc, s.size, e.Name())
	}
	fmt.Fprintf(&text, "%08x\n", crc32.Checksum(text.Bytes(), castagnoli))
	return disk.ReplaceBytes(filepath.Join(dir, sumsFile), 0o666, text.Bytes())
}

// readSums returns the sums of a store that was closed; nil if it was not.
func readSums(dir string) (map[string]sum, error) {
	text, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	const last = 9 // bytes of the last line
	lines := text[:max(0, len(text)-last)]
	if string(text[len(lines):]) != fmt.Sprintf("%08x\n", crc32.Checksum(lines, castagnoli)) {
		return nil, damaged(sumsFile, "its checksum is wrong")
	}
	all := map[string]sum{}
	for line := range strings.Lines(string(lines)) {
		var s sum
		var name string
		if n, err := fmt.Sscanf(line, "%x %d %s\n", &s.crc, &s.size, &name); n < 3 {
			return nil, damaged(sumsFile, "%v", err)
		}
		all[name] = s
	}
	return all, nil
}

// checkSums compares the files of a store with the sums of when it was closed.
func checkSums(dir string, all map[string]sum) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s, err := sumOf(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return damaged(name, "it is missing")
		case err != nil:
			return err
		case s.size != all[name].size:
			return damaged(name, "it has %d bytes of %d", s.size, all[name].size)
		case s != all[name]:
			return damaged(name, "its checksum is wrong")
		}
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if _, known := all[e.Name()]; !known && isSummed(e) {
			err = cmp.Or(err, damaged(e.Name(), "it is not one of this store's files"))
		}
	}
	return err
}

// damaged returns an ErrDamaged that names a file.
func damaged(name, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %w", ErrDamaged, name, fmt.Errorf(format, args...))
}
