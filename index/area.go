package index

import (
	"context"
	"fmt"
	"math"

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
// one looks at no more cells than hold an address: those that lie in the area whole are taken
// unseen, of the others each address is looked at.
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

// cellShift is the precision of the cells in bits: the third of the steps in which Bleve keeps the
// 64 bits of a coordinate. A cell has 0.022° × 0.011°.
var cellShift = 4 * document.GeoPrecisionStep

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

// cells returns the terms of cells within the area, and of those across its border.
func (a area) cells(r bleveindex.IndexReader) (within, across [][]byte, err error) {
	terms, err := a.candidates(r)
	for _, term := range terms {
		first, err := term.Int64()
		if err != nil {
			return nil, nil, fmt.Errorf("index: cell %q: %w", term, err)
		}
		from, to := uint64(first), uint64(first)|(1<<cellShift-1)
		cell := orb.Bound{
			Min: orb.Point{geo.MortonUnhashLon(from), geo.MortonUnhashLat(from)},
			Max: orb.Point{geo.MortonUnhashLon(to), geo.MortonUnhashLat(to)},
		}
		for _, box := range a.boxes {
			switch {
			case !box.Intersects(cell):
				continue
			case a.outside == nil && box.Contains(cell.Min) && box.Contains(cell.Max):
				within = append(within, term)
			default:
				across = append(across, term)
			}
			break
		}
	}
	return within, across, err
}

// fewCells is the number of cells up to which those of an area are tried, and not those of the index.
const fewCells = 256

// candidates returns the terms of all cells in the boxes if they are few, else those of all cells
// that hold an address.
func (a area) candidates(r bleveindex.IndexReader) (terms []numeric.PrefixCoded, err error) {
	width, height := 360/math.Exp2(14), 180/math.Exp2(14) // 14 of 32 bits each
	n := 0.0
	for _, b := range a.boxes {
		n += ((b.Max[0]-b.Min[0])/width + 2) * ((b.Max[1]-b.Min[1])/height + 2)
	}
	if n > fewCells {
		return cellsOf(r)
	}
	seen := map[uint64]bool{}
	for _, b := range a.boxes {
		for lat := b.Min[1]; ; lat += height {
			for lon := b.Min[0]; ; lon += width {
				hash := geo.MortonHash(min(lon, b.Max[0]), min(lat, b.Max[1])) >> cellShift << cellShift
				if !seen[hash] {
					seen[hash] = true
					terms = append(terms, numeric.MustNewPrefixCodedInt64(int64(hash), cellShift))
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
	return terms, nil
}

// cellsOf returns the terms of all cells that hold an address.
func cellsOf(r bleveindex.IndexReader) (terms []numeric.PrefixCoded, err error) {
	prefix := numeric.MustNewPrefixCodedInt64(0, cellShift)[:1]
	dict, err := r.FieldDictPrefix(fieldPoint, prefix)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	defer dict.Close()
	for {
		entry, err := dict.Next()
		if err != nil || entry == nil {
			return terms, err
		}
		terms = append(terms, numeric.PrefixCoded(entry.Term))
	}
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
