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
	if _, err := q.check(); err != nil {
		return nil, 0, err
	}
	s, err := x.newSearch(ctx, q)
	if err != nil || s == nil {
		return []Cluster{}, zoom, err
	}
	defer s.view.Close()
	all, used := []Cluster{}, zoom
	err = s.eachStage(direct, partial, func() (n int, err error) {
		fits, err := s.query()
		if err == nil {
			all, used, err = s.grid(fits, zoom)
		}
		for _, c := range all {
			n += c.Count
		}
		return n, err
	})
	return all, used, err
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

// addCluster puts c into its cell of a grid.
func addCluster(cells map[cell]*Cluster, zoom int, c Cluster) {
	at := cellOf(c.Point, zoom)
	o := cells[at]
	if o == nil {
		cells[at] = &c
		return
	}
	both := float64(o.Count + c.Count)
	for d := range o.Point {
		o.Point[d] = (o.Point[d]*float64(o.Count) + c.Point[d]*float64(c.Count)) / both
	}
	o.Box, o.Count, o.ID = o.Box.Union(c.Box), o.Count+c.Count, ""
}

// sortedClusters returns the largest first.
func sortedClusters(cells map[cell]*Cluster) []Cluster {
	all := make([]Cluster, 0, len(cells))
	for _, c := range cells {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), slices.Compare(a.Point[:], b.Point[:]))
	})
	return all
}

// grid counts what fits in cells, of a zoom that makes few enough of them.
func (s *searcher) grid(fits query.Query, zoom int) ([]Cluster, int, error) {
	at, err := pointsOf(s.view)
	if err != nil {
		return nil, 0, err
	}
	cells := map[cell]*Cluster{}
	err = visit(s.ctx, s.view, fits, func(n bleveindex.IndexInternalID) error {
		p, located, err := at(n)
		if !located || err != nil {
			return err
		}
		addCluster(cells, zoom, Cluster{Point: p, Box: p.Bound(), Count: 1, ID: string(n)})
		for len(cells) > maxClusters && zoom > 0 {
			zoom--
			finer := cells
			cells = make(map[cell]*Cluster, len(finer)/2)
			for _, c := range finer {
				addCluster(cells, zoom, *c)
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	all := sortedClusters(cells)
	for i := range all {
		if all[i].ID == "" {
			continue
		}
		all[i].ID, err = s.view.ExternalID(bleveindex.IndexInternalID(all[i].ID))
		if err != nil {
			return nil, 0, fmt.Errorf("index: %w", err)
		}
	}
	return all, zoom, nil
}
