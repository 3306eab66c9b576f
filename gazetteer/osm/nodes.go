package osm

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"sort"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
)

// A nodeStore holds the coordinates of nodes in 16 bytes each: those of a
// small extract on the heap, of a large one in temporary files that are mapped.
type nodeStore struct {
	ids   []int64 // sorted once sort or ready has run
	units [][2]int32

	dir    string      // of the temporary files
	limit  int         // ids in memory before a run is written; 0 is maxIDs
	wanted []int64     // since the last run
	runs   []disk.Temp // sorted ids, as differences
	unmap  []func() error
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
	f, err := disk.NewTemp(s.dir)
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

// readRun returns a source of the ids of a run.
func readRun(run disk.Temp) (next func() (int64, error), err error) {
	if _, err := run.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	r, id := bufio.NewReaderSize(run, 64<<10), int64(0)
	return func() (int64, error) {
		d, err := binary.ReadVarint(r)
		id += d
		return id, err
	}, nil
}

// ready ends the asking and makes room for the coordinates.
func (s *nodeStore) ready() error {
	slices.Sort(s.wanted)
	s.wanted = slices.Compact(s.wanted)
	if len(s.runs) > 0 {
		return s.merge()
	}
	s.ids, s.wanted = s.wanted, nil
	s.units = make([][2]int32, len(s.ids))
	for i := range s.units {
		s.units[i] = [2]int32{noUnit, noUnit}
	}
	return nil
}

// merge makes two mapped files of the runs: the ids, and room for their
// coordinates.
func (s *nodeStore) merge() error {
	if err := s.spill(); err != nil {
		return err
	}
	s.wanted = nil
	ids, err := disk.NewTemp(s.dir)
	if err != nil {
		return err
	}
	defer ids.Close()
	units, err := disk.NewTemp(s.dir)
	if err != nil {
		return err
	}
	defer units.Close()
	sources := make([]func() (int64, error), len(s.runs))
	for i, run := range s.runs {
		if sources[i], err = readRun(run); err != nil {
			return err
		}
	}
	idWriter, unitWriter := bufio.NewWriterSize(ids, 256<<10), bufio.NewWriterSize(units, 256<<10)
	var number, none [8]byte
	unknown := int32(noUnit)
	binary.NativeEndian.PutUint32(none[:], uint32(unknown))
	binary.NativeEndian.PutUint32(none[4:], uint32(unknown))
	last := int64(math.MinInt64)
	err = disk.Merge(cmp.Compare[int64], sources, func(id int64) error {
		if id == last {
			return nil
		}
		last = id
		binary.NativeEndian.PutUint64(number[:], uint64(id))
		if _, err := idWriter.Write(number[:]); err != nil {
			return err
		}
		// Written, not only made longer: a full disk is an error here and would
		// end the program later.
		_, err := unitWriter.Write(none[:])
		return err
	})
	if err = errors.Join(err, idWriter.Flush(), unitWriter.Flush()); err != nil {
		return err
	}
	s.closeRuns()
	var unmap func() error
	if s.ids, unmap, err = disk.MapArray[int64](ids.File); err != nil {
		return err
	}
	s.unmap = append(s.unmap, unmap)
	if s.units, unmap, err = disk.MapArray[[2]int32](units.File); err != nil {
		return err
	}
	s.unmap = append(s.unmap, unmap)
	return nil
}

func (s *nodeStore) closeRuns() {
	for _, run := range s.runs {
		run.Close()
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
