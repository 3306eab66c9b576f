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

// visit calls fn with every document that a query finds, in no order. A match is valid until fn
// returns; an error ends the visit. All documents count as equally long, since being on many pages
// must not lower a score: Bleve's own average changes when segments are merged, and scores with it,
// while somebody turns pages.
func (v *view) visit(
	ctx context.Context, q query.Query, o search.SearcherOptions, fn func(*search.DocumentMatch) error,
) error {
	stats := &search.BM25Stats{DocCount: float64(v.state.Documents), FieldCardinality: map[string]int{}}
	for _, field := range scored {
		stats.FieldCardinality[field] = v.state.Documents
	}
	model := func() string { return bleveindex.BM25Scoring }
	scoring := context.WithValue(ctx, search.BM25StatsKey, stats)
	scoring = context.WithValue(scoring, search.GetScoringModelCallbackKey, search.GetScoringModelCallbackFn(model))
	found, err := q.Searcher(scoring, v.IndexReader, mapping.NewIndexMapping(), o)
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
		if err := fn(d); err != nil {
			return err
		}
		pool.DocumentMatchPool.Put(d)
	}
}

// unscoredOnes are the options of a visit that needs no scores.
var unscoredOnes = search.SearcherOptions{Score: "none"}

// ids returns the IDs of all documents that fit, in order.
func (v *view) ids(ctx context.Context, fits query.Query) (ids []string, err error) {
	err = v.visit(ctx, fits, unscoredOnes, func(d *search.DocumentMatch) error {
		id, err := v.ExternalID(d.IndexInternalID)
		ids = append(ids, id)
		return err
	})
	slices.Sort(ids)
	return ids, err
}

// values returns a function that reads the value of a field of a document, of a number the exact
// one, which is the first; nil where it has none. It is valid until the next call.
func (v *view) values(field string) (func(bleveindex.IndexInternalID) ([]byte, error), error) {
	read, err := v.DocValueReader([]string{field})
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	var value []byte
	visit := func(_ string, term []byte) {
		if value == nil {
			value = term
		}
	}
	return func(n bleveindex.IndexInternalID) ([]byte, error) {
		value = nil
		err := read.VisitDocValues(n, visit)
		return value, err
	}, nil
}

// points returns a function that reads the coordinate of a document.
func (v *view) points() (func(bleveindex.IndexInternalID) (p orb.Point, located bool, err error), error) {
	value, err := v.values(fieldPoint)
	return func(n bleveindex.IndexInternalID) (orb.Point, bool, error) {
		term, err := value(n)
		if term == nil || err != nil {
			return orb.Point{}, false, err
		}
		hash, err := numeric.PrefixCoded(term).Int64()
		return orb.Point{geo.MortonUnhashLon(uint64(hash)), geo.MortonUnhashLat(uint64(hash))}, true, err
	}, err
}

// Walk calls fn with every address that matches q, in the order of their IDs, from one snapshot:
// later writes are not seen. Only the filters of q may be set: Box, Center with Radius, Street,
// Postcode, City, Host, Kind, Located, Month, Precision, Level, Since, Until, InOSM and SiteWide.
//
// Other than with Search its evidence are those pages that prove it best. Memory
// is that of one address, and of all IDs. The Hit is fn's to keep; an error of fn
// ends the walk and is returned.
func (x *Index) Walk(ctx context.Context, q Query, fn func(*Hit) error) error {
	if err := q.CheckFilters(); err != nil {
		return err
	}
	s, err := x.newSearch(ctx, q)
	if err != nil || s == nil {
		return err
	}
	defer s.view.Close()
	fits, _ := s.filter()
	ids, err := s.view.ids(ctx, fits)
	if err != nil {
		return err
	}
	k := whole(s.view, maxEvidence)
	k.fits = s.q.named()
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
	return v.visit(ctx, has(fieldType, kind), unscoredOnes, func(d *search.DocumentMatch) error {
		id, err := v.ExternalID(d.IndexInternalID)
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

// CheckFilters returns an error that wraps ErrQuery where Walk would not take
// q.
func (q Query) CheckFilters() error {
	if q.Text != "" || q.AddressOnly || q.Sort != "" || q.Cursor != "" || q.Limit != 0 ||
		len(q.Facets) > 0 || q.Explain || q.Center != nil && q.Radius == 0 {
		return fmt.Errorf("index: %w: a walk takes filters only: box, centre with radius, street, postcode, city, "+
			"host, located, precision, level, since, in OSM, site-wide", ErrQuery)
	}
	_, err := q.check()
	return err
}
