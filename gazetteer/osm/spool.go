package osm

import (
	"context"
	"fmt"
	"io"

	"gazehound/internal/disk"
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
	if s.err != nil {
		return
	}
	record := disk.Append(s.buf[:0])
	f.code(&record)
	s.buf = record.Bytes()
	s.err = s.w.Write(s.buf)
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
func (s *spool) each(ctx context.Context, fn func(f *feature) error) error {
	_, err := s.f.Seek(0, io.SeekStart)
	if err != nil {
		return err
	}
	r := disk.NewReader(s.f)
	for n := 1; ; n++ {
		b, err := r.Next()
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err == io.EOF {
			return nil
		}
		record, f := disk.Read(b), feature{}
		f.code(&record)
		if err == nil && record.Failed() {
			err = disk.ErrDamaged
		}
		if err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
		if err := fn(&f); err != nil {
			return err
		}
	}
}

// code codes what a house, a street or a shape needs.
func (f *feature) code(c *disk.Codec) {
	disk.Unsigned(c, &f.kind)
	disk.Signed(c, &f.id)
	c.Flag(&f.has)
	if f.has {
		u := units(f.point)
		disk.Signed(c, &u[0])
		disk.Signed(c, &u[1])
		f.point = fromUnits(u)
	}
	disk.Signed(c, &f.way)
	for _, s := range []*string{&f.street, &f.number, &f.postcode, &f.city, &f.state, &f.country} {
		c.Text(s)
	}
	c.Texts(&f.names)
	c.Texts(&f.tags)
	last := int64(0)
	disk.List(c, &f.refs, func(id *int64) { c.Difference(id, &last) })
}
