package disk

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// A Sorter sorts any number of records in bounded memory: what does not fit
// goes to temporary files as sorted runs, which Each merges. Records with equal
// keys come in the order in which they were added. Close must be called.
type Sorter struct {
	Dir    string // of the temporary files; empty: os.TempDir
	Memory int    // bytes; 0 is 64 MiB, and at most 4 GiB are used

	arena   []byte
	records []sortRecord
	runs    []Temp
}

// A sortRecord is a key and a value in the arena.
type sortRecord struct{ start, key, end uint32 }

// recordCost is what a record takes beside its bytes.
const recordCost = 12

// Add adds a record of a key and a value, both copied.
func (s *Sorter) Add(key, value []byte) error {
	limit := min(cmp.Or(s.Memory, 64<<20), 1<<32-1)
	size := len(s.arena) + len(s.records)*recordCost
	if size+len(key)+len(value) > limit && len(s.records) > 0 {
		err := s.spill()
		if err != nil {
			return err
		}
	}
	start := len(s.arena)
	s.arena = append(append(s.arena, key...), value...)
	s.records = append(s.records, sortRecord{uint32(start), uint32(start + len(key)), uint32(len(s.arena))})
	return nil
}

func (s *Sorter) key(r sortRecord) []byte   { return s.arena[r.start:r.key] }
func (s *Sorter) value(r sortRecord) []byte { return s.arena[r.key:r.end] }

func (s *Sorter) sort() {
	slices.SortFunc(s.records, func(a, b sortRecord) int {
		return cmp.Or(bytes.Compare(s.key(a), s.key(b)), cmp.Compare(a.start, b.start))
	})
}

// spill writes the records in memory as one sorted run.
func (s *Sorter) spill() error {
	s.sort()
	f, err := NewTemp(s.Dir)
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	w := NewWriter(f)
	var b []byte
	for _, r := range s.records {
		b = binary.AppendUvarint(b[:0], uint64(r.key-r.start))
		b = append(b, s.arena[r.start:r.end]...)
		err := w.Write(b)
		if err != nil {
			return err
		}
	}
	s.arena, s.records = s.arena[:0], s.records[:0]
	return w.Close()
}

// Each calls fn with every record in the order of the keys' bytes. Key and value
// are valid until fn returns. The Sorter is empty afterwards.
func (s *Sorter) Each(fn func(key, value []byte) error) error {
	defer s.Close()
	if len(s.runs) == 0 {
		s.sort()
		for _, r := range s.records {
			if err := fn(s.key(r), s.value(r)); err != nil {
				return err
			}
		}
		return nil
	}
	err := s.spill()
	if err != nil {
		return err
	}
	s.arena, s.records = nil, nil
	heads := make([]*run, 0, len(s.runs)) // that are not at their end
	for _, f := range s.runs {
		_, err := f.Seek(0, io.SeekStart)
		if err != nil {
			return err
		}
		heads = append(heads, &run{reader: NewReader(f)})
	}
	advance := func(i int) error {
		err := heads[i].next()
		if err == io.EOF {
			heads, err = slices.Delete(heads, i, i+1), nil
		}
		return err
	}
	for i := range slices.Backward(heads) {
		if err := advance(i); err != nil {
			return err
		}
	}
	for len(heads) > 0 {
		first := 0
		for i, h := range heads {
			if bytes.Compare(h.key, heads[first].key) < 0 {
				first = i
			}
		}
		if err := fn(heads[first].key, heads[first].value); err != nil {
			return err
		}
		if err := advance(first); err != nil {
			return err
		}
	}
	return nil
}

// A run is the file of a sorted run, at one of its records.
type run struct {
	reader     *Reader
	key, value []byte
}

// next goes to the next record; io.EOF behind the last one.
func (r *run) next() error {
	b, err := r.reader.Next()
	if err == nil {
		d := Decode(b)
		r.key, r.value = d.Bytes(), d.Rest()
	}
	return err
}

// Close removes the temporary files. A second call does nothing.
func (s *Sorter) Close() error {
	var err error
	for _, f := range s.runs {
		err = errors.Join(err, f.Close())
	}
	s.arena, s.records, s.runs = nil, nil, nil
	return err
}
