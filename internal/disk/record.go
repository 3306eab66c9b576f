package disk

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/s2"
)

// ErrDamaged is the error of bytes that no Writer or Append function wrote.
var ErrDamaged = errors.New("damaged")

// maxRecord bounds what a Reader allocates for the record of a damaged file.
const maxRecord = 64 << 20

// A Writer writes a file of records: the length of each as uvarint and its
// bytes, all of it compressed with S2, which adds check sums. Such files are
// written once.
type Writer struct {
	w    *s2.Writer
	head [binary.MaxVarintLen64]byte
}

// blockSize is how much S2 compresses at a time, and a Reader keeps in memory.
const blockSize = 64 << 10

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: s2.NewWriter(w, s2.WriterBlockSize(blockSize), s2.WriterConcurrency(1))}
}

// Write adds a record of at most 64 MiB.
func (w *Writer) Write(record []byte) error {
	if len(record) > maxRecord {
		return fmt.Errorf("record of %d bytes is too large", len(record))
	}
	_, err := w.w.Write(binary.AppendUvarint(w.head[:0], uint64(len(record))))
	if err != nil {
		return err
	}
	_, err = w.w.Write(record)
	return err
}

// Close writes what is still in memory. It does not close the file.
func (w *Writer) Close() error { return w.w.Close() }

// A Reader reads the records of a Writer.
type Reader struct {
	r   *bufio.Reader
	buf []byte
}

// NewReader returns a Reader of the file in r.
func NewReader(r io.Reader) *Reader {
	unpacked := s2.NewReader(r, s2.ReaderAllocBlock(blockSize))
	return &Reader{r: bufio.NewReaderSize(unpacked, 32<<10)}
}

// Next returns the next record, which is valid until the following call. The
// error is io.EOF behind the last one, and wraps ErrDamaged where the file is
// torn or its bytes have changed.
func (r *Reader) Next() ([]byte, error) {
	n, err := binary.ReadUvarint(r.r)
	if err == io.EOF {
		return nil, err
	}
	if err == nil && n > maxRecord {
		err = fmt.Errorf("record of %d bytes is too large", n)
	}
	if err == nil {
		r.buf = slices.Grow(r.buf[:0], int(n))[:n]
		_, err = io.ReadFull(r.r, r.buf)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return r.buf, nil
}

// AppendString appends the length of s as uvarint, and s.
func AppendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// A Decoder takes values off the front of bytes. It never panics: from the
// first value that cannot be read it has failed, and returns zeros. The zero
// Decoder has no bytes.
type Decoder struct {
	rest   []byte
	failed bool
}

// Decode returns a Decoder of b, which it does not copy.
func Decode(b []byte) Decoder { return Decoder{rest: b} }

// Failed reports whether a value could not be read, or Fail was called.
func (d *Decoder) Failed() bool { return d.failed }

// Fail makes d fail, such as for a value that is not allowed.
func (d *Decoder) Fail() { d.rest, d.failed = nil, true }

// Rest returns the bytes that are left, not copied.
func (d *Decoder) Rest() []byte { return d.rest }

// Len is the number of bytes that are left.
func (d *Decoder) Len() int { return len(d.rest) }

// Err returns ErrDamaged unless all bytes were read without failing.
func (d *Decoder) Err() error {
	if d.failed || len(d.rest) > 0 {
		return ErrDamaged
	}
	return nil
}

// Uvarint reads what binary.AppendUvarint wrote.
func (d *Decoder) Uvarint() uint64 { return varint(d, binary.Uvarint) }

// Varint reads what binary.AppendVarint wrote.
func (d *Decoder) Varint() int64 { return varint(d, binary.Varint) }

func varint[T any](d *Decoder, decode func([]byte) (T, int)) (v T) {
	v, n := decode(d.rest)
	if n <= 0 {
		d.Fail()
		return *new(T)
	}
	d.rest = d.rest[n:]
	return v
}

// Int reads a uvarint that is at most most.
func (d *Decoder) Int(most int) int {
	v := d.Uvarint()
	if v > uint64(most) {
		d.Fail()
		return 0
	}
	return int(v)
}

// Count reads the number of values that follow, each of at least one byte, so
// that damaged bytes cannot ask for more memory than they have themselves.
func (d *Decoder) Count() int { return d.Int(len(d.rest)) }

// Byte reads one byte.
func (d *Decoder) Byte() byte { return fixed(d, 1, func(b []byte) byte { return b[0] }) }

// Next returns the next n bytes, not copied.
func (d *Decoder) Next(n int) []byte {
	if n < 0 || n > len(d.rest) {
		d.Fail()
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

// Bytes reads bytes with their length before them, not copied.
func (d *Decoder) Bytes() []byte { return d.Next(d.Count()) }

// String reads what AppendString wrote.
func (d *Decoder) String() string { return string(d.Bytes()) }

// Uint64 reads 8 bytes, big-endian.
func (d *Decoder) Uint64() uint64 { return fixed(d, 8, binary.BigEndian.Uint64) }

// fixed reads the number that the next size bytes are.
func fixed[T any](d *Decoder, size int, number func([]byte) T) (n T) {
	b := d.Next(size)
	if b != nil {
		n = number(b)
	}
	return n
}
