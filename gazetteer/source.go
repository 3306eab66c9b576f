package gazetteer

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// OpenSource opens a source file and unpacks gzip and bzip2, which it tells by
// content, not by name. Head is the start of the unpacked text, at most 4 KB.
func OpenSource(path string) (r io.ReadCloser, head []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if info, err := f.Stat(); err == nil && info.IsDir() {
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
		b = bufio.NewReaderSize(z, 64<<10)
	case bytes.HasPrefix(start, []byte("BZh")):
		b = bufio.NewReaderSize(bzip2.NewReader(b), 64<<10)
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return nil, nil, fmt.Errorf("%s is a zip; unpack it first", path)
	}
	head, err = b.Peek(4096)
	if err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("%s: cannot be unpacked: %w", path, err)
	}
	return &sourceFile{b, f}, bytes.Clone(head), nil
}

type sourceFile struct {
	io.Reader
	f *os.File
}

func (s *sourceFile) Close() error { return s.f.Close() }

// ErrFormat is the error of a reader that is given another format than its own.
var ErrFormat = errors.New("wrong format")

// Refuse is told of every row that a reader leaves out: its number in the
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
	if line = bytes.TrimRight(line, "\r\n"); len(line) > limit {
		return line[:limit], ErrTooLong
	}
	return line, nil
}
