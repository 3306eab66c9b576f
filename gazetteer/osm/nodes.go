package osm

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
)

// A nodeStore holds the coordinates of nodes in 16 bytes each, in a temporary file that
// is mapped.
type nodeStore struct {
	wanted disk.Sorter // ids, with the coordinates that are known already
	nodes  []node      // by id; from ready on
	unmap  func() error
}

type node struct {
	id    int64
	units [2]int32
}

const noUnit = math.MinInt32 // a node that the extract does not hold

func units(p orb.Point) [2]int32 {
	return [2]int32{int32(math.Round(p[0] * 1e7)), int32(math.Round(p[1] * 1e7))}
}

func fromUnits(u [2]int32) orb.Point {
	return orb.Point{float64(u[0]) / 1e7, float64(u[1]) / 1e7}
}

// add registers a node with the coordinate u, or with noUnit until set provides it.
func (s *nodeStore) add(id int64, u [2]int32) error {
	var key, value [8]byte
	binary.BigEndian.PutUint64(key[:], uint64(id)^1<<63) // negative ids first
	binary.NativeEndian.PutUint32(value[:], uint32(u[0]))
	binary.NativeEndian.PutUint32(value[4:], uint32(u[1]))
	return s.wanted.Add(key[:], value[:])
}

// want registers nodes whose coordinates set provides after ready.
func (s *nodeStore) want(ids []int64) error {
	for _, id := range ids {
		err := s.add(id, [2]int32{noUnit, noUnit})
		if err != nil {
			return err
		}
	}
	return nil
}

// ready ends the asking and makes room for the coordinates.
func (s *nodeStore) ready() error {
	f, err := disk.NewTemp(s.wanted.Dir)
	if err != nil {
		return err
	}
	defer f.Close()
	// Written, not only made longer: a full disk is an error here and would end the
	// program later.
	w := bufio.NewWriterSize(f, 256<<10)
	var last []byte
	err = s.wanted.Each(func(key, value []byte) error {
		if bytes.Equal(key, last) {
			return nil
		}
		last = append(last[:0], key...)
		w.Write(binary.NativeEndian.AppendUint64(nil, binary.BigEndian.Uint64(key)^1<<63))
		_, err := w.Write(value)
		return err
	})
	err = errors.Join(err, w.Flush())
	if err != nil {
		return err
	}
	s.nodes, s.unmap, err = disk.MapArray[node](f.File)
	return err
}

// close removes the file; the store is empty afterwards.
func (s *nodeStore) close() {
	s.wanted.Close()
	s.nodes = nil
	if s.unmap != nil {
		s.unmap()
	}
	s.unmap = nil
}

// find returns the entry of a node, or nil.
func (s *nodeStore) find(id int64) *node {
	i, ok := slices.BinarySearchFunc(s.nodes, id, func(n node, id int64) int { return cmp.Compare(n.id, id) })
	if !ok {
		return nil
	}
	return &s.nodes[i]
}

func (s *nodeStore) set(id int64, p orb.Point) {
	if n := s.find(id); n != nil {
		n.units = units(p)
	}
}

func (s *nodeStore) get(id int64) (orb.Point, bool) {
	n := s.find(id)
	if n == nil || n.units[0] == noUnit {
		return orb.Point{}, false
	}
	return fromUnits(n.units), true
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
