package osm

import (
	"math"
	"slices"
	"sort"

	"github.com/paulmach/orb"
)

// A nodeStore holds the coordinates of nodes in 16 bytes each.
type nodeStore struct {
	ids   []int64 // sorted once sort or want has run
	units [][2]int32
}

const noUnit = math.MinInt32 // a node that the extract does not hold

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

// want makes room for the given nodes, which set fills.
func (s *nodeStore) want(ids []int64) {
	s.ids = slices.Clone(ids)
	slices.Sort(s.ids)
	s.ids = slices.Clip(slices.Compact(s.ids))
	s.units = make([][2]int32, len(s.ids))
	for i := range s.units {
		s.units[i] = [2]int32{noUnit, noUnit}
	}
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
	return orb.Point{float64(s.units[i][0]) / 1e7, float64(s.units[i][1]) / 1e7}, true
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
