package index

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2/geo"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/numeric"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/paulmach/orb"
)

// visit calls fn with the number of every document that fits, in no order, until it returns an
// error.
func visit(
	ctx context.Context, r bleveindex.IndexReader, fits query.Query, fn func(bleveindex.IndexInternalID) error,
) error {
	found, err := fits.Searcher(ctx, r, mapping.NewIndexMapping(), search.SearcherOptions{Score: "none"})
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	defer found.Close()
	pool := &search.SearchContext{DocumentMatchPool: search.NewDocumentMatchPool(found.DocumentMatchPoolSize()+1, 0)}
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return fmt.Errorf("index: %w", ctx.Err())
		}
		d, err := found.Next(pool)
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
		if d == nil {
			return nil
		}
		if err := fn(d.IndexInternalID); err != nil {
			return err
		}
		pool.DocumentMatchPool.Put(d)
	}
}

// idsOf returns the IDs of all documents that fit, in order.
func idsOf(ctx context.Context, r bleveindex.IndexReader, fits query.Query) ([]string, error) {
	var ids []string
	err := visit(ctx, r, fits, func(n bleveindex.IndexInternalID) error {
		id, err := r.ExternalID(n)
		ids = append(ids, id)
		return err
	})
	slices.Sort(ids)
	return ids, err
}

// pointsOf returns a function that reads the coordinate of a document.
func pointsOf(r bleveindex.IndexReader) (func(bleveindex.IndexInternalID) (orb.Point, bool, error), error) {
	values, err := r.DocValueReader([]string{fieldPoint})
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	var at orb.Point
	var located bool
	read := func(_ string, term []byte) {
		if located { // the other terms are less precise
			return
		}
		code := numeric.PrefixCoded(term)
		if shift, err := code.Shift(); err == nil && shift == 0 {
			if hash, err := code.Int64(); err == nil {
				at, located = orb.Point{geo.MortonUnhashLon(uint64(hash)), geo.MortonUnhashLat(uint64(hash))}, true
			}
		}
	}
	return func(n bleveindex.IndexInternalID) (orb.Point, bool, error) {
		located = false
		err := values.VisitDocValues(n, read)
		return at, located, err
	}, nil
}

// Walk calls fn with every address that fits, in the order of their IDs, from one snapshot: later
// writes are not seen.
//
// Other than with Search its evidence are those pages that prove it best. Memory
// is that of one address, and of all IDs. The Hit is fn's to keep; an error of fn
// ends the walk and is returned.
func (x *Index) Walk(ctx context.Context, f Filters, fn func(*Hit) error) error {
	return x.walk(ctx, f, false, fn)
}

// WalkNames is Walk over all addresses, whose Others have what else is at each.
func (x *Index) WalkNames(ctx context.Context, fn func(*Hit) error) error {
	return x.walk(ctx, Filters{}, true, fn)
}

func (x *Index) walk(ctx context.Context, f Filters, others bool, fn func(*Hit) error) error {
	s, err := x.newSearch(ctx, Query{Filters: f})
	if err != nil || s == nil {
		return err
	}
	defer s.view.Close()
	fits, _ := s.filter()
	ids, err := idsOf(ctx, s.view, fits)
	if err != nil {
		return err
	}
	k := whole(s.view, maxEvidence)
	k.fits, k.others = s.q.named(), others
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("index: %w", err)
		}
		r, err := recordOf(s.view, id)
		if err != nil {
			return err
		}
		h := k.hitOf(r)
		if err := fn(&h); err != nil {
			return err
		}
	}
	return nil
}

// Address returns the address with this ID as Walk does, with more of its
// evidence; nil where there is none.
func (x *Index) Address(id string) (*Hit, error) {
	if strings.HasPrefix(id, pagePrefix) {
		return nil, nil
	}
	v, err := x.view()
	if v == nil {
		return nil, err
	}
	defer v.Close()
	r, err := recordOf(v, id)
	if err != nil || r == nil {
		return nil, err
	}
	if r.isHidden() {
		return nil, nil
	}
	h := whole(v, maxRead).hitOf(r)
	return &h, nil
}

// Pages hands the URL of every page that states an address to fn, out of one
// state of the data, once and in no order.
func (x *Index) Pages(ctx context.Context, fn func(url string)) error {
	return each(ctx, x, typePage, pageOf, func(p *pageRecord) { fn(p.URL) })
}

// each calls fn with what read returns of every document of a type, out of one state of the data.
func each[T any](
	ctx context.Context, x *Index, kind string, read func(r bleveindex.IndexReader, id string) (T, error), fn func(T),
) error {
	v, err := x.view()
	if v == nil {
		return err
	}
	defer v.Close()
	return visit(ctx, v, has(fieldType, kind), func(n bleveindex.IndexInternalID) error {
		id, err := v.ExternalID(n)
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
		one, err := read(v, id)
		if err == nil {
			fn(one)
		}
		return err
	})
}
