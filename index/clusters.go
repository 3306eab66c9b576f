package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/blevesearch/bleve/v2/search/query"
	bleveindex "github.com/blevesearch/bleve_index_api"
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
	s, err := x.newSearch(ctx, q)
	if err != nil || s == nil {
		return []Cluster{}, zoom, err
	}
	defer s.done()
	for s.stage = exact; s.stage < stages; s.stage++ {
		fits, err := s.query()
		if err != nil {
			return nil, 0, err
		}
		all, used, err := s.grid(fits, zoom)
		if err != nil || len(all) > 0 || len(s.words) == 0 {
			return all, used, err
		}
	}
	return []Cluster{}, zoom, nil
}

func compareClusters(a, b Cluster) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Point[0], b.Point[0]), cmp.Compare(a.Point[1], b.Point[1]))
}

// A cell of a grid.
type cell struct{ x, y uint32 }

// cellOf returns the cell that a point lies in, on the Mercator map of the world
// between 85 degrees south and north.
func cellOf(p orb.Point, zoom int) cell {
	lat := max(-85, min(85, p[1])) * math.Pi / 180
	east, south := (p[0]+180)/360, (1-math.Asinh(math.Tan(lat))/math.Pi)/2
	cells := float64(uint64(1) << (zoom + 2))
	return cell{uint32(max(0, min(cells-1, east*cells))), uint32(max(0, min(cells-1, south*cells)))}
}

// A heap is what lies in one cell.
type heap struct {
	Cluster
	sum  orb.Point
	only bleveindex.IndexInternalID // of the first
}

// grid counts what fits in cells, of a zoom that makes few enough of them.
func (s *searcher) grid(fits query.Query, zoom int) ([]Cluster, int, error) {
	heaps := map[cell]*heap{}
	err := visitPoints(s.ctx, s.reader, fits, func(n bleveindex.IndexInternalID, p orb.Point) error {
		h := heaps[cellOf(p, zoom)]
		if h == nil {
			h = &heap{Cluster: Cluster{Box: p.Bound()}, only: slices.Clone(n)}
			heaps[cellOf(p, zoom)] = h
		}
		h.Count++
		h.sum[0], h.sum[1], h.Box = h.sum[0]+p[0], h.sum[1]+p[1], h.Box.Extend(p)
		for len(heaps) > maxClusters && zoom > 0 {
			zoom--
			heaps = coarser(heaps, zoom)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	all := make([]Cluster, 0, len(heaps))
	for _, h := range heaps {
		if h.Point = h.middle(); h.Count == 1 {
			if h.ID, err = s.reader.ExternalID(h.only); err != nil {
				return nil, 0, fmt.Errorf("index: %w", err)
			}
		}
		all = append(all, h.Cluster)
	}
	slices.SortFunc(all, compareClusters)
	return all, zoom, nil
}

func (h *heap) middle() orb.Point {
	return orb.Point{h.sum[0] / float64(h.Count), h.sum[1] / float64(h.Count)}
}

// coarser puts heaps into the cells of a lower zoom.
func coarser(heaps map[cell]*heap, zoom int) map[cell]*heap {
	out := make(map[cell]*heap, len(heaps)/2)
	for _, h := range heaps {
		at := cellOf(h.middle(), zoom)
		o := out[at]
		if o == nil {
			out[at] = h
			continue
		}
		o.Count, o.Box = o.Count+h.Count, o.Box.Union(h.Box)
		o.sum[0], o.sum[1] = o.sum[0]+h.sum[0], o.sum[1]+h.sum[1]
	}
	return out
}
