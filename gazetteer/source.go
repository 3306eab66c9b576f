package gazetteer

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// OpenSource opens a source file as text in UTF-8. It unpacks gzip, bzip2 and the largest member of
// a zip, and decodes UTF-16, all recognised by content, not by name. Head is the start of the text,
// at most 4 KB. A packed file may unpack to 200 times its size plus free bytes; 0 means 100 MB.
func OpenSource(path string, free int64) (r io.ReadCloser, head []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.IsDir() {
		return nil, nil, fmt.Errorf("%s is a folder; name its files", path)
	}
	b := bufio.NewReaderSize(f, 64<<10)
	start, err := b.Peek(4)
	if err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	switch {
	case bytes.HasPrefix(start, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: gzip: %w", path, err)
		}
		b = bufio.NewReaderSize(Unpacked(z, info.Size(), free), 64<<10)
	case bytes.HasPrefix(start, []byte("BZh")):
		b = bufio.NewReaderSize(Unpacked(bzip2.NewReader(b), info.Size(), free), 64<<10)
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		m, err := member(f, info.Size())
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		b = bufio.NewReaderSize(Unpacked(m, info.Size(), free), 64<<10)
	}
	start, err = b.Peek(2)
	if err == nil && (start[0] == 0xff && start[1] == 0xfe || start[0] == 0xfe && start[1] == 0xff) {
		b = bufio.NewReaderSize(transform.NewReader(b, unicode.UTF16(unicode.BigEndian,
			unicode.ExpectBOM).NewDecoder()), 64<<10)
	}
	if start, _ := b.Peek(3); string(start) == "\xef\xbb\xbf" {
		b.Discard(3)
	}
	head, err = b.Peek(4096)
	if err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("%s: cannot be unpacked: %w", path, err)
	}
	return &sourceFile{b, f}, bytes.Clone(head), nil
}

// ErrGrowth means that a packed file is made to fill the machine that unpacks it.
var ErrGrowth = fmt.Errorf("it unpacks to more than %d times its size", mostGrowth)

// Real extracts and tables unpack to 3 to 40 times their size. Short ones may be
// more even.
const (
	mostGrowth = 200
	freeGrowth = 100 << 20 // bytes
)

// Unpacked bounds r, which unpacks a file of size bytes, as OpenSource does.
func Unpacked(r io.Reader, size, free int64) io.Reader {
	return &unpacked{r, cmp.Or(free, freeGrowth) + mostGrowth*size}
}

type unpacked struct {
	r    io.Reader
	left int64
}

func (u *unpacked) Read(b []byte) (int, error) {
	if u.left <= 0 {
		return 0, ErrGrowth
	}
	n, err := u.r.Read(b[:min(int64(len(b)), u.left)])
	u.left -= int64(n)
	return n, err
}

// member returns the largest file of a zip.
func member(f *os.File, size int64) (io.Reader, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, fmt.Errorf("it begins like a zip and cannot be read: %w. Download it again", err)
	}
	var largest *zip.File
	for _, m := range z.File {
		if !m.FileInfo().IsDir() && (largest == nil || m.UncompressedSize64 > largest.UncompressedSize64) {
			largest = m
		}
	}
	if largest == nil {
		return nil, errors.New("the zip is empty")
	}
	return largest.Open()
}

type sourceFile struct {
	r io.Reader
	f *os.File
}

// Read adds advice to the error of a damaged archive.
func (s *sourceFile) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && err != io.EOF && !errors.Is(err, ErrGrowth) {
		err = fmt.Errorf("it cannot be unpacked to its end: %w. Download it again", err)
	}
	return n, err
}

func (s *sourceFile) Close() error { return s.f.Close() }

// ErrFormat is the error of a reader that is given another format than its own.
var ErrFormat = errors.New("wrong format")

// Refuse gets every row that a reader leaves out: its number in the
// file, its text, cut to 1 KB, and why. It may be nil.
type Refuse func(row int, text string, why error)

// ErrTooLong is the reason for refusing a line above the limit of ReadLine.
var ErrTooLong = errors.New("the line is too long")

// ReadLine reads the next line without its end. Of a line longer than limit
// bytes it returns the beginning and ErrTooLong, and skips the rest without
// keeping it.
func ReadLine(r *bufio.Reader, limit int) ([]byte, error) {
	part, err := r.ReadSlice('\n')
	if err == nil {
		return bytes.TrimRight(part, "\r\n"), nil
	}
	line := bytes.Clone(part)
	for err == bufio.ErrBufferFull {
		part, err = r.ReadSlice('\n')
		if len(line) <= limit {
			line = append(line, part...)
		}
	}
	if err != nil && (err != io.EOF || len(line) == 0) {
		return nil, err
	}
	line = bytes.TrimRight(line, "\r\n")
	if len(line) > limit {
		return line[:limit], ErrTooLong
	}
	return line, nil
}

// Rows reads the lines of a table.
type Rows struct {
	What    string // that the rows are of, for messages
	MaxLine int    // bytes
	// Probe is the number of rows after which a table without a good one is taken for
	// another format; 0 is the end of the file.
	Probe  int
	Refuse Refuse
	// Row emits the places of a line. Its error is why the row is refused.
	Row func(line string, emit func(Place) error) error
}

// Read emits the places of the lines of r, the first of which has this number. Empty lines
// and those that begin with # are passed over.
func (t Rows) Read(ctx context.Context, r *bufio.Reader, number int, emit func(Place) error) error {
	var broken, first error
	guarded := func(p Place) error {
		err := emit(p)
		if err != nil && !errors.Is(err, ErrBadPlace) {
			broken = err
		}
		return err
	}
	good, bad := 0, 0
	for ; good > 0 || t.Probe == 0 || bad < t.Probe; number++ {
		line, err := ReadLine(r, t.MaxLine)
		if err == io.EOF {
			break
		}
		if err != nil && !errors.Is(err, ErrTooLong) {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if number%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && (len(line) == 0 || line[0] == '#') {
			continue
		}
		if err == nil {
			err = t.Row(string(line), guarded)
		}
		if broken != nil {
			return broken
		}
		if err == nil {
			good++
			continue
		}
		bad++
		if first == nil {
			first = fmt.Errorf("line %d: %w", number, err)
		}
		if t.Refuse != nil {
			t.Refuse(number, string(line[:min(len(line), 1024)]), err)
		}
	}
	switch {
	case good > 0:
		return nil
	case first == nil:
		return fmt.Errorf("%w: the file holds no row of %s", ErrFormat, t.What)
	}
	return fmt.Errorf("%w: none of the first %d rows is one of %s: %w", ErrFormat, bad, t.What, first)
}
