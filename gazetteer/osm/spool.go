package osm

import (
	"encoding/binary"
	"fmt"
	"io"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
)

// A spool keeps features in a temporary file, in order, so that the memory for
// an extract does not grow with its addresses.
type spool struct {
	f   disk.Temp
	w   *disk.Writer
	buf []byte
	err error // of the first add that failed
}

func newSpool(dir string) (*spool, error) {
	f, err := disk.NewTemp(dir)
	if err != nil {
		return nil, err
	}
	return &spool{f: f, w: disk.NewWriter(f)}, nil
}

func (s *spool) close() { s.f.Close() }

func (s *spool) add(f *feature) {
	if s.err == nil {
		s.buf = f.put(s.buf[:0])
		s.err = s.w.Write(s.buf)
	}
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
	r := disk.NewReader(s.f)
	for {
		b, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
		f, ok := getFeature(b)
		if !ok {
			return fmt.Errorf("temporary file: %w", disk.ErrDamaged)
		}
		if err := fn(&f); err != nil {
			return err
		}
	}
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
		b = disk.AppendString(b, *s)
	}
	b = disk.AppendStrings(disk.AppendStrings(b, f.names), f.tags)
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
	d := disk.Decode(b)
	f.kind = d.Byte()
	f.id = d.Varint()
	if f.has = d.Byte() == 1; f.has {
		f.point = fromUnits([2]int32{int32(d.Varint()), int32(d.Varint())})
	}
	f.way = d.Varint()
	for _, s := range f.texts() {
		*s = d.String()
	}
	f.names, f.tags = d.Strings(), d.Strings()
	last := int64(0)
	for range d.Count() {
		last += d.Varint()
		f.refs = append(f.refs, last)
	}
	return f, d.Err() == nil
}

func fromUnits(u [2]int32) orb.Point {
	return orb.Point{float64(u[0]) / 1e7, float64(u[1]) / 1e7}
}
