package gazetteer

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/s2"
)

// A sorter sorts any number of records in bounded memory: sorted runs go to
// temporary files in dir, and each merges them. Records with equal keys come
// in the order in which they were added.
type sorter struct {
	dir   string // of the runs
	limit int    // bytes kept in memory before a run is written

	arena []byte
	recs  []sortRecord
	runs  []*os.File
}

// A sortRecord is a key of klen bytes and a value of vlen bytes in the arena.
type sortRecord struct{ off, klen, vlen uint32 }

// sortRecordCost is what a record takes beside its bytes.
const sortRecordCost = 12

func (s *sorter) add(key, value []byte) error {
	if len(s.arena)+len(s.recs)*sortRecordCost+len(key)+len(value) > s.limit && len(s.recs) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.recs = append(s.recs, sortRecord{uint32(len(s.arena)), uint32(len(key)), uint32(len(value))})
	s.arena = append(append(s.arena, key...), value...)
	return nil
}

func (s *sorter) key(r sortRecord) []byte   { return s.arena[r.off : r.off+r.klen] }
func (s *sorter) value(r sortRecord) []byte { return s.arena[r.off+r.klen : r.off+r.klen+r.vlen] }

func (s *sorter) sort() {
	slices.SortFunc(s.recs, func(a, b sortRecord) int {
		if c := bytes.Compare(s.key(a), s.key(b)); c != 0 {
			return c
		}
		return int(a.off) - int(b.off)
	})
}

// spill writes the records in memory as one sorted run. The file has no name
// any more when spill returns, so that nothing is left behind by a crash.
func (s *sorter) spill() error {
	s.sort()
	f, err := os.CreateTemp(s.dir, "run-*")
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	w := s2.NewWriter(f, s2.WriterBlockSize(64<<10), s2.WriterConcurrency(1))
	var head [2 * binary.MaxVarintLen32]byte
	for _, r := range s.recs {
		h := binary.AppendUvarint(binary.AppendUvarint(head[:0], uint64(r.klen)), uint64(r.vlen))
		if _, err := w.Write(h); err != nil {
			return err
		}
		if _, err := w.Write(s.arena[r.off : r.off+r.klen+r.vlen]); err != nil {
			return err
		}
	}
	s.arena, s.recs = s.arena[:0], s.recs[:0]
	return w.Close()
}

// each calls fn with every record in order. Key and value are valid until fn
// returns. The sorter is empty afterwards.
func (s *sorter) each(fn func(key, value []byte) error) error {
	defer s.close()
	s.sort()
	if len(s.runs) == 0 {
		for _, r := range s.recs {
			if err := fn(s.key(r), s.value(r)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	s.arena, s.recs = nil, nil
	var merge runHeap
	for i, f := range s.runs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		r := &runReader{order: i, r: bufio.NewReaderSize(s2.NewReader(f, s2.ReaderMaxBlockSize(64<<10)), 32<<10)}
		if err := r.next(); err == io.EOF {
			continue
		} else if err != nil {
			return err
		}
		merge = append(merge, r)
	}
	heap.Init(&merge)
	for len(merge) > 0 {
		r := merge[0]
		if err := fn(r.key, r.value); err != nil {
			return err
		}
		switch err := r.next(); err {
		case nil:
			heap.Fix(&merge, 0)
		case io.EOF:
			heap.Pop(&merge)
		default:
			return err
		}
	}
	return nil
}

func (s *sorter) close() {
	for _, f := range s.runs {
		f.Close()
	}
	s.arena, s.recs, s.runs = nil, nil, nil
}

// A runReader reads one run; key and value are the record that it stands at.
type runReader struct {
	order      int
	r          *bufio.Reader
	key, value []byte
}

func (r *runReader) next() error {
	klen, err := binary.ReadUvarint(r.r)
	if err != nil {
		return err // io.EOF: the end of the run
	}
	vlen, err := binary.ReadUvarint(r.r)
	if err != nil {
		return noEOF(err)
	}
	r.key = slices.Grow(r.key[:0], int(klen))[:klen]
	r.value = slices.Grow(r.value[:0], int(vlen))[:vlen]
	if _, err := io.ReadFull(r.r, r.key); err != nil {
		return noEOF(err)
	}
	_, err = io.ReadFull(r.r, r.value)
	return noEOF(err)
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("gazetteer: temporary file: %w", io.ErrUnexpectedEOF)
	}
	return err
}

type runHeap []*runReader

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	if c := bytes.Compare(h[i].key, h[j].key); c != 0 {
		return c < 0
	}
	return h[i].order < h[j].order
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(*runReader)) }
func (h *runHeap) Pop() any {
	old := *h
	r := old[len(old)-1]
	*h = old[:len(old)-1]
	return r
}
