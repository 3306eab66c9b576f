package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
)

// MaxZoom is the finest grid of Clusters.
const MaxZoom = 22

// maxClusters bounds an answer; a grid with more is made coarser.
const maxClusters = 5000

// A Cluster is the addresses in one cell of a grid.
type Cluster struct {
	Point orb.Point // the middle of its addresses
	Box   orb.Bound // around them
	Count int
	ID    string // of the address, where it is only one
}

// Clusters counts the addresses that match q, as Search does, in the cells of
// a grid: a quarter of a map tile wide at a zoom of 0 to MaxZoom. It returns
// the zoom that was used, which is less where there are too many cells. Limit,
// Sort and Cursor mean nothing. Addresses without coordinate are left out.
func (x *Index) Clusters(ctx context.Context, q Query, zoom int) ([]Cluster, int, error) {
	if zoom < 0 || zoom > MaxZoom {
		return nil, 0, fmt.Errorf("index: %w: zoom %d is not 0 to %d", ErrQuery, zoom, MaxZoom)
	}
	q.Located = true
	q, err := q.check()
	if err != nil {
		return nil, 0, err
	}
	words := x.words.splitQuery(q.Text)
	if len(words) == 0 && strings.TrimSpace(q.Text) != "" {
		return []Cluster{}, zoom, nil
	}
	v, err := x.see()
	if err != nil {
		return nil, 0, err
	}
	defer v.release()
	of := q.shape(len(words))
	of.grid = true
	s, err := x.newSearch(ctx, v, of)
	if err != nil {
		return nil, 0, err
	}
	defer s.done()
	for at := exact; at < stages; at++ {
		if err := s.run(q, words, at); err != nil {
			return nil, 0, err
		}
		if len(s.found) > 0 || len(words) == 0 {
			break
		}
	}
	for ; ; zoom-- {
		if all := s.grid(zoom); len(all) <= maxClusters || zoom == 0 {
			slices.SortFunc(all, compareClusters)
			return all, zoom, nil
		}
	}
}

func compareClusters(a, b Cluster) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Point[0], b.Point[0]), cmp.Compare(a.Point[1], b.Point[1]))
}

// A cell of a grid.
type cell struct{ x, y int32 }

func cellOf(p orb.Point, zoom int) cell {
	return spot{lon: int32(math.Round(p[0] * 1e7)), south: southOf(p[1])}.cell(zoom)
}

// cell returns the cell that s lies in.
func (s spot) cell(zoom int) cell {
	east := min(math.MaxUint32, (uint64(int64(s.lon)+180e7)<<32)/360e7)
	finer := 32 - (zoom + 2)
	return cell{int32(east >> finer), int32(s.south >> finer)}
}

// southOf returns how far south a latitude lies on the Mercator map of the
// world: 0 at 85 degrees north, nearly 1<<32 at 85 degrees south.
func southOf(lat float64) uint32 {
	lat = max(-85, min(85, lat)) * math.Pi / 180
	return uint32((1 - math.Asinh(math.Tan(lat))/math.Pi) / 2 * (1 << 32))
}

// A heap is what lies in one cell.
type heap struct {
	cell
	lon, lat     int64 // sums of all, as a spot has them
	west, east   int32
	south, north int32
	group        uint32 // the first
	count        int
}

// grid counts what was found in cells.
func (s *search) grid(zoom int) []Cluster {
	spots := s.v.spots()
	if s.cells == nil {
		s.cells = map[cell]int{}
	}
	clear(s.cells)
	heaps := s.heaps[:0]
	last := -1 // most lie where the one before does
	for _, n := range s.found {
		p := &spots[n]
		if !p.located() {
			continue
		}
		if at := p.cell(zoom); last < 0 || heaps[last].cell != at {
			i, known := s.cells[at]
			if !known {
				i = len(heaps)
				s.cells[at] = i
				heaps = append(heaps, heap{cell: at, group: n, west: p.lon, east: p.lon, south: p.lat, north: p.lat})
			}
			last = i
		}
		h := &heaps[last]
		h.lon, h.lat, h.count = h.lon+int64(p.lon), h.lat+int64(p.lat), h.count+1
		h.west, h.east = min(h.west, p.lon), max(h.east, p.lon)
		h.south, h.north = min(h.south, p.lat), max(h.north, p.lat)
	}
	s.heaps = heaps
	all := make([]Cluster, len(heaps))
	for i, h := range heaps {
		degrees := float64(h.count) * 1e7
		all[i] = Cluster{
			Point: orb.Point{float64(h.lon) / degrees, float64(h.lat) / degrees},
			Box:   orb.Bound{Min: spot{lon: h.west, lat: h.south}.point(), Max: spot{lon: h.east, lat: h.north}.point()},
			Count: h.count,
		}
		if h.count == 1 {
			all[i].ID = addressID(s.v.ids[h.group])
		}
	}
	return all
}

// addressID writes the number of an address as AddressID does.
func addressID(n uint64) string {
	const digits = 16
	text := strconv.FormatUint(n, 16)
	return strings.Repeat("0", digits-len(text)) + text
}
