package osm

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"io"
	"math"
	"os"
	"slices"
	"sort"
	"unsafe"

	"github.com/paulmach/orb"
)

// A nodeStore holds the coordinates of nodes in 16 bytes each: those of a
// small extract on the heap, of a large one in temporary files that are mapped.
type nodeStore struct {
	ids   []int64 // sorted once sort or ready has run
	units [][2]int32

	dir    string // of the temporary files
	limit  int    // ids in memory before a run is written; 0 is maxIDs
	runs   []*os.File
	wanted []int64 // since the last run
	unmap  []func()
}

const (
	noUnit = math.MinInt32 // a node that the extract does not hold
	maxIDs = 4 << 20       // ids in memory, 32 MB
)

func units(p orb.Point) [2]int32 {
	return [2]int32{int32(math.Round(p[0] * 1e7)), int32(math.Round(p[1] * 1e7))}
}

// add appends a node; sort must follow before get.
func (s *nodeStore) add(id int64, p orb.Point) {
	s.ids = append(s.ids, id)
	s.units = append(s.units, units(p))
}

func (s *nodeStore) sort() {
	if !slices.IsSorted(s.ids) {
		sort.Sort(s)
	}
}

func (s *nodeStore) Len() int           { return len(s.ids) }
func (s *nodeStore) Less(i, j int) bool { return s.ids[i] < s.ids[j] }
func (s *nodeStore) Swap(i, j int) {
	s.ids[i], s.ids[j] = s.ids[j], s.ids[i]
	s.units[i], s.units[j] = s.units[j], s.units[i]
}

// want asks for nodes, whose coordinates set brings after ready.
func (s *nodeStore) want(ids []int64) error {
	s.wanted = append(s.wanted, ids...)
	limit := cmp.Or(s.limit, maxIDs)
	if len(s.wanted) < limit {
		return nil
	}
	slices.Sort(s.wanted)
	s.wanted = slices.Compact(s.wanted)
	if len(s.wanted) < limit/2 {
		return nil // most were there already
	}
	return s.spill()
}

// spill writes the wanted ids, which are sorted, as one run.
func (s *nodeStore) spill() error {
	f, err := tempFile(s.dir)
	if err != nil {
		return err
	}
	s.runs = append(s.runs, f)
	w := bufio.NewWriterSize(f, 256<<10)
	var b [binary.MaxVarintLen64]byte
	last := int64(0)
	for _, id := range s.wanted {
		if _, err := w.Write(binary.AppendVarint(b[:0], id-last)); err != nil {
			return err
		}
		last = id
	}
	s.wanted = s.wanted[:0]
	return w.Flush()
}

// ready ends the asking and makes room for the coordinates.
func (s *nodeStore) ready() error {
	slices.Sort(s.wanted)
	s.wanted = slices.Compact(s.wanted)
	if len(s.runs) == 0 {
		s.ids, s.wanted = s.wanted, nil
		s.units = make([][2]int32, len(s.ids))
		for i := range s.units {
			s.units[i] = [2]int32{noUnit, noUnit}
		}
		return nil
	}
	return s.merge()
}

// merge makes two mapped files of the runs: the ids, and their coordinates.
func (s *nodeStore) merge() error {
	if err := s.spill(); err != nil {
		return err
	}
	s.wanted = nil
	var merge runHeap
	for _, f := range s.runs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		r := &idRun{r: bufio.NewReaderSize(f, 64<<10)}
		if err := r.next(); err == nil {
			merge = append(merge, r)
		} else if err != io.EOF {
			return err
		}
	}
	heap.Init(&merge)
	f, err := tempFile(s.dir)
	if err != nil {
		return err
	}
	defer closeTemp(f)
	w := bufio.NewWriterSize(f, 256<<10)
	var b [8]byte
	n, last := 0, int64(math.MinInt64)
	for len(merge) > 0 {
		r := merge[0]
		if r.id != last {
			last = r.id
			n++
			binary.NativeEndian.PutUint64(b[:], uint64(last))
			if _, err := w.Write(b[:]); err != nil {
				return err
			}
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
	if err := w.Flush(); err != nil {
		return err
	}
	s.closeRuns()
	coordinates, err := tempFile(s.dir)
	if err != nil {
		return err
	}
	defer closeTemp(coordinates)
	// Written, not only made longer: a full disk is an error here and would end
	// the program later.
	w.Reset(coordinates)
	unknown := int32(noUnit)
	binary.NativeEndian.PutUint32(b[:], uint32(unknown))
	binary.NativeEndian.PutUint32(b[4:], uint32(unknown))
	for range n {
		if _, err := w.Write(b[:]); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	ids, unmapIDs, err := mapFile(f, n*8)
	if err != nil {
		return err
	}
	s.unmap = append(s.unmap, unmapIDs)
	units, unmapUnits, err := mapFile(coordinates, n*8)
	if err != nil {
		return err
	}
	s.unmap = append(s.unmap, unmapUnits)
	// Mapped memory begins at a page, so that numbers in it are aligned.
	s.ids = unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(ids))), n)
	s.units = unsafe.Slice((*[2]int32)(unsafe.Pointer(unsafe.SliceData(units))), n)
	return nil
}

func (s *nodeStore) closeRuns() {
	for _, f := range s.runs {
		closeTemp(f)
	}
	s.runs = nil
}

// close gives the files up; nothing may be asked afterwards.
func (s *nodeStore) close() {
	s.closeRuns()
	s.ids, s.units = nil, nil
	for _, unmap := range s.unmap {
		unmap()
	}
	s.unmap = nil
}

// An idRun reads one sorted run; id is the one that it stands at.
type idRun struct {
	r  *bufio.Reader
	id int64
}

func (r *idRun) next() error {
	d, err := binary.ReadVarint(r.r)
	r.id += d
	return err
}

type runHeap []*idRun

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return h[i].id < h[j].id }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)        { *h = append(*h, x.(*idRun)) }
func (h *runHeap) Pop() any {
	old := *h
	r := old[len(old)-1]
	*h = old[:len(old)-1]
	return r
}

func (s *nodeStore) wants(id int64) bool {
	_, ok := slices.BinarySearch(s.ids, id)
	return ok
}

func (s *nodeStore) set(id int64, p orb.Point) {
	if i, ok := slices.BinarySearch(s.ids, id); ok {
		s.units[i] = units(p)
	}
}

func (s *nodeStore) get(id int64) (orb.Point, bool) {
	i, ok := slices.BinarySearch(s.ids, id)
	if !ok || s.units[i][0] == noUnit {
		return orb.Point{}, false
	}
	return fromUnits(s.units[i]), true
}

// line returns the coordinates of the nodes that are known.
func (s *nodeStore) line(refs []int64) orb.LineString {
	line := make(orb.LineString, 0, len(refs))
	for _, id := range refs {
		if p, ok := s.get(id); ok {
			line = append(line, p)
		}
	}
	return line
}
