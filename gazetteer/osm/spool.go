package osm

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/paulmach/orb"
)

// A spool keeps features in a temporary file, in order, so that the memory for
// an extract does not grow with its addresses.
type spool struct {
	f   *os.File
	w   *s2.Writer
	buf []byte
	n   int
	err error // of the first add that failed
}

// tempFile makes a file in dir that is gone when it is closed.
func tempFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "osm-*")
	if err != nil {
		return nil, err
	}
	// The name goes at once where the system allows it, so that a crash leaves
	// nothing behind.
	os.Remove(f.Name())
	return f, nil
}

func closeTemp(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}

func newSpool(dir string) (*spool, error) {
	f, err := tempFile(dir)
	if err != nil {
		return nil, err
	}
	return &spool{f: f, w: s2.NewWriter(f, s2.WriterBlockSize(256<<10), s2.WriterConcurrency(1))}, nil
}

func (s *spool) close() { closeTemp(s.f) }

func (s *spool) add(f *feature) {
	if s.err != nil {
		return
	}
	s.buf = f.put(s.buf[:0])
	var head [binary.MaxVarintLen64]byte
	if _, s.err = s.w.Write(binary.AppendUvarint(head[:0], uint64(len(s.buf)))); s.err == nil {
		_, s.err = s.w.Write(s.buf)
	}
	s.n++
}

// flush ends the adding.
func (s *spool) flush() error {
	if s.err == nil {
		s.err = s.w.Close()
	}
	return s.err
}

// each calls fn for every feature in the order of add. The feature is valid
// until fn returns.
func (s *spool) each(fn func(f *feature) error) error {
	if _, err := s.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(s2.NewReader(s.f), 64<<10)
	for range s.n {
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
		s.buf = slices.Grow(s.buf[:0], int(n))[:n]
		if _, err := io.ReadFull(r, s.buf); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
		f, ok := getFeature(s.buf)
		if !ok {
			return errors.New("temporary file: it is damaged")
		}
		if err := fn(&f); err != nil {
			return err
		}
	}
	return nil
}

func (f *feature) texts() []*string {
	return []*string{&f.street, &f.number, &f.postcode, &f.city, &f.state, &f.country}
}

// put encodes what a house or a street needs.
func (f *feature) put(b []byte) []byte {
	b = binary.AppendVarint(append(b, f.kind), f.id)
	if f.has {
		u := units(f.point)
		b = binary.AppendVarint(binary.AppendVarint(append(b, 1), int64(u[0])), int64(u[1]))
	} else {
		b = append(b, 0)
	}
	b = binary.AppendVarint(b, f.way)
	for _, s := range f.texts() {
		b = append(binary.AppendUvarint(b, uint64(len(*s))), *s...)
	}
	b = binary.AppendUvarint(b, uint64(len(f.names)))
	for _, s := range f.names {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	b = binary.AppendUvarint(b, uint64(len(f.refs)))
	last := int64(0)
	for _, id := range f.refs {
		b = binary.AppendVarint(b, id-last)
		last = id
	}
	return b
}

// getFeature decodes what put wrote.
func getFeature(b []byte) (f feature, ok bool) {
	ok = true
	varint := func() int64 {
		v, n := binary.Varint(b)
		if n <= 0 {
			ok = false
			return 0
		}
		b = b[n:]
		return v
	}
	count := func() int {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > uint64(len(b)) {
			ok = false
			return 0
		}
		b = b[n:]
		return int(v)
	}
	text := func() string {
		n := min(count(), len(b))
		s := string(b[:n])
		b = b[n:]
		return s
	}
	if len(b) < 2 {
		return f, false
	}
	f.kind, b = b[0], b[1:]
	f.id = varint()
	if f.has = len(b) > 0 && b[0] == 1; len(b) > 0 {
		b = b[1:]
	}
	if f.has {
		x := varint()
		f.point = fromUnits([2]int32{int32(x), int32(varint())})
	}
	f.way = varint()
	for _, s := range f.texts() {
		*s = text()
	}
	for range count() {
		f.names = append(f.names, text())
	}
	last := int64(0)
	for range count() {
		last += varint()
		f.refs = append(f.refs, last)
	}
	return f, ok
}

func fromUnits(u [2]int32) orb.Point {
	return orb.Point{float64(u[0]) / 1e7, float64(u[1]) / 1e7}
}
