package osm

import (
	"bufio"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
)

// A nodeStore holds the coordinates of nodes in 16 bytes each, in temporary files that
// are mapped.
type nodeStore struct {
	asked disk.Sorter // ids, with the coordinates that are known already
	ids   []int64     // sorted; from ready on
	units [][2]int32
	unmap []func() error
}

const noUnit = math.MinInt32 // a node that the extract does not hold

func units(p orb.Point) [2]int32 {
	return [2]int32{int32(math.Round(p[0] * 1e7)), int32(math.Round(p[1] * 1e7))}
}

func fromUnits(u [2]int32) orb.Point {
	return orb.Point{float64(u[0]) / 1e7, float64(u[1]) / 1e7}
}

// add asks for a node whose coordinate is u, or is noUnit until set brings it.
func (s *nodeStore) add(id int64, u [2]int32) error {
	var key, value [8]byte
	binary.BigEndian.PutUint64(key[:], uint64(id)^1<<63) // negative ids first
	binary.NativeEndian.PutUint32(value[:], uint32(u[0]))
	binary.NativeEndian.PutUint32(value[4:], uint32(u[1]))
	return s.asked.Add(key[:], value[:])
}

// want asks for nodes, whose coordinates set brings after ready.
func (s *nodeStore) want(ids []int64) error {
	for _, id := range ids {
		if err := s.add(id, [2]int32{noUnit, noUnit}); err != nil {
			return err
		}
	}
	return nil
}

// ready ends the asking and makes room for the coordinates.
func (s *nodeStore) ready() error {
	ids, err := disk.NewTemp(s.asked.Dir)
	if err != nil {
		return err
	}
	defer ids.Close()
	units, err := disk.NewTemp(s.asked.Dir)
	if err != nil {
		return err
	}
	defer units.Close()
	idWriter, unitWriter := bufio.NewWriterSize(ids, 256<<10), bufio.NewWriterSize(units, 256<<10)
	var number [8]byte
	last, first := int64(0), true
	err = s.asked.Each(func(key, value []byte) error {
		id := int64(binary.BigEndian.Uint64(key) ^ 1<<63)
		if id == last && !first {
			return nil
		}
		last, first = id, false
		binary.NativeEndian.PutUint64(number[:], uint64(id))
		_, err := idWriter.Write(number[:])
		// Written, not only made longer: a full disk is an error here and would
		// end the program later.
		_, err2 := unitWriter.Write(value)
		return errors.Join(err, err2)
	})
	if err = errors.Join(err, idWriter.Flush(), unitWriter.Flush()); err != nil {
		return err
	}
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

// close removes the files; the store is empty afterwards.
func (s *nodeStore) close() {
	s.asked.Close()
	s.ids, s.units = nil, nil
	for _, unmap := range s.unmap {
		unmap()
	}
	s.unmap = nil
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
