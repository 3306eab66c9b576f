package index

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/geo"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/numeric"
	"github.com/blevesearch/bleve/v2/search"
	bleve "github.com/blevesearch/bleve/v2/search/searcher"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/paulmach/orb"
	orbgeo "github.com/paulmach/orb/geo"
)

// An area query finds the addresses whose coordinate lies in a box or circle.
//
// Bleve's own queries divide the area into cells, of which a box around the world has millions. This
// one looks at no more cells than hold an address, large ones first: those that lie in the area whole
// are taken unseen, the others are divided, and of the finest each address is looked at.
type area struct {
	boxes   []orb.Bound            // around the area: two if it crosses the antimeridian
	outside func(p orb.Point) bool // of the area, though in a box; nil: no point is
}

// boxArea is the area of a box. Min lon > Max lon crosses the antimeridian.
func boxArea(b orb.Bound) area {
	boxes := []orb.Bound{b}
	if b.Min[0] > b.Max[0] {
		boxes = []orb.Bound{
			{Min: b.Min, Max: orb.Point{180, b.Max[1]}}, {Min: orb.Point{-180, b.Min[1]}, Max: b.Max},
		}
	}
	return area{boxes: boxes}
}

// circleArea is the area of a circle with a radius in metres.
func circleArea(center orb.Point, radius float64) area {
	west, north, east, south, err := geo.RectFromPointDistance(center[0], center[1], radius)
	box := orb.Bound{Min: orb.Point{west, south}, Max: orb.Point{east, north}}
	if err != nil { // a pole is in the circle
		box = orb.Bound{Min: orb.Point{-180, -90}, Max: orb.Point{180, 90}}
	}
	a := boxArea(box)
	a.outside = func(p orb.Point) bool { return orbgeo.DistanceHaversine(center, p) > radius }
	return a
}

// Precisions of cells in bits: some of the steps in which Bleve keeps the 64 bits of a coordinate.
var (
	cellStep    = document.GeoPrecisionStep
	finestCells = 4 * cellStep // of 0.022° × 0.011°
	largeCells  = 6 * cellStep // of 11.25° × 5.6°
)

// Searcher returns what finds the documents, without scores.
func (a area) Searcher(
	ctx context.Context, r bleveindex.IndexReader, _ mapping.IndexMapping, _ search.SearcherOptions,
) (search.Searcher, error) {
	within, across, err := a.cells(r)
	if err != nil {
		return nil, err
	}
	unscored := search.SearcherOptions{Score: "none"}
	whole, err := bleve.NewMultiTermSearcherBytes(ctx, r, within, fieldPoint, 0, unscored, false)
	if err != nil || len(across) == 0 {
		return whole, err
	}
	part, err := bleve.NewMultiTermSearcherBytes(ctx, r, across, fieldPoint, 0, unscored, false)
	if err != nil {
		return nil, err
	}
	at, err := pointsOf(r)
	if err != nil {
		return nil, err
	}
	part = bleve.NewFilteringSearcher(ctx, part, func(_ *search.SearchContext, d *search.DocumentMatch) bool {
		p, known, err := at(d.IndexInternalID)
		return err == nil && known && a.contains(p)
	})
	return bleve.NewDisjunctionSearcher(ctx, r, []search.Searcher{whole, part}, 0, unscored)
}

// cells returns the terms of cells within the area, and of the finest ones across its border. A larger
// cell within the area stands for all in it.
func (a area) cells(r bleveindex.IndexReader) (within, across [][]byte, err error) {
	cells, shift := a.few(), finestCells
	if cells == nil {
		shift = largeCells
		cells, err = cellsOf(r, shift)
	}
	for err == nil {
		inside, border := a.divide(cells, shift)
		within = append(within, cellTerms(inside, shift)...)
		if shift == finestCells || len(border) == 0 {
			return within, cellTerms(border, shift), nil
		}
		divided := map[uint64]bool{}
		for _, cell := range border {
			divided[cell] = true
		}
		cells, err = cellsOf(r, shift-cellStep)
		cells = slices.DeleteFunc(cells, func(cell uint64) bool { return !divided[cell>>shift<<shift] })
		shift -= cellStep
	}
	return nil, nil, err
}

// divide returns those of some cells that lie within the area, and those across its border.
func (a area) divide(cells []uint64, shift uint) (inside, border []uint64) {
	for _, from := range cells {
		to := from | (1<<shift - 1)
		cell := orb.Bound{
			Min: orb.Point{geo.MortonUnhashLon(from), geo.MortonUnhashLat(from)},
			Max: orb.Point{geo.MortonUnhashLon(to), geo.MortonUnhashLat(to)},
		}
		i := slices.IndexFunc(a.boxes, func(box orb.Bound) bool { return box.Intersects(cell) })
		switch {
		case i < 0:
		case a.outside == nil && a.boxes[i].Contains(cell.Min) && a.boxes[i].Contains(cell.Max):
			inside = append(inside, from)
		default:
			border = append(border, from)
		}
	}
	return inside, border
}

// fewCells is the number of cells up to which those of an area are tried, and not those of the index.
const fewCells = 256

// few returns all of the finest cells in the boxes, or nil if they are many.
func (a area) few() (cells []uint64) {
	width, height := 360/math.Exp2(14), 180/math.Exp2(14) // 14 of 32 bits each
	n := 0.0
	for _, b := range a.boxes {
		n += ((b.Max[0]-b.Min[0])/width + 2) * ((b.Max[1]-b.Min[1])/height + 2)
	}
	if n > fewCells {
		return nil
	}
	seen := map[uint64]bool{}
	for _, b := range a.boxes {
		for lat := b.Min[1]; ; lat += height {
			for lon := b.Min[0]; ; lon += width {
				cell := geo.MortonHash(min(lon, b.Max[0]), min(lat, b.Max[1])) >> finestCells << finestCells
				if !seen[cell] {
					seen[cell] = true
					cells = append(cells, cell)
				}
				if lon >= b.Max[0] {
					break
				}
			}
			if lat >= b.Max[1] {
				break
			}
		}
	}
	return cells
}

// cellsOf returns the first coordinates of all cells of a precision that hold an address.
func cellsOf(r bleveindex.IndexReader, shift uint) (cells []uint64, err error) {
	prefix := numeric.MustNewPrefixCodedInt64(0, shift)[:1]
	dict, err := r.FieldDictPrefix(fieldPoint, prefix)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	defer dict.Close()
	for {
		entry, err := dict.Next()
		if err != nil || entry == nil {
			return cells, err
		}
		first, err := numeric.PrefixCoded(entry.Term).Int64()
		if err != nil {
			return nil, fmt.Errorf("index: cell %q: %w", entry.Term, err)
		}
		cells = append(cells, uint64(first))
	}
}

// cellTerms returns the terms under which Bleve keeps cells.
func cellTerms(cells []uint64, shift uint) (terms [][]byte) {
	for _, cell := range cells {
		terms = append(terms, numeric.MustNewPrefixCodedInt64(int64(cell), shift))
	}
	return terms
}

// contains reports whether a point lies in the area.
func (a area) contains(p orb.Point) bool {
	for _, box := range a.boxes {
		if box.Contains(p) {
			return a.outside == nil || !a.outside(p)
		}
	}
	return false
}
