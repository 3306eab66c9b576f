package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/collector"
	"github.com/blevesearch/bleve/v2/search/query"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// An order sorts hits by a key, which is the score or a field, and those of one key by ID.
type order struct{ search.SearchSort }

// order returns the order of the hits.
func (s *searcher) order() order {
	switch {
	case s.q.Sort == Newest:
		return order{&search.SortField{Field: fieldFirst, Type: search.SortFieldAsNumber, Desc: true}}
	case s.q.Sort == Importance:
		return order{&search.SortField{Field: fieldRank, Type: search.SortFieldAsString, Desc: true}}
	case s.q.Sort == ByName:
		const missing = search.SortFieldMissingFirst
		return order{&search.SortField{Field: fieldKey, Type: search.SortFieldAsString, Missing: missing}}
	case len(s.words) == 0 && !s.byDistance():
		return order{&search.SortField{Field: fieldCount, Type: search.SortFieldAsString, Desc: true}}
	}
	return order{&search.SortScore{Desc: true}}
}

func (s *searcher) byScore() bool { return s.q.Sort == Relevance && len(s.words) > 0 }

func (s *searcher) byDistance() bool {
	return s.q.Center != nil && (s.q.Sort == Distance || s.q.Sort == Relevance && len(s.words) == 0)
}

// farthest is more than the distance in metres of any two places.
const farthest = 1e8

// ranked returns a query for what q finds with the scores that an order needs: the nearness, or
// those of q with a lift of what is near the centre.
func (s *searcher) ranked(q query.Query, by order) query.Query {
	switch {
	case s.byDistance():
		return located{unscored{q}, func(_, distance float64) float64 { return farthest - distance }, *s.q.Center}
	case !by.RequiresScoring():
		return q
	case s.q.Center != nil && s.q.Radius == 0 && s.q.Bias > 0:
		return located{q, func(score, distance float64) float64 {
			return score * (1 + s.lift*s.q.Bias/(1+distance/s.q.Scale))
		}, *s.q.Center}
	}
	return q
}

// A located query scores what another finds by its score and its distance from a centre in metres.
// What has no coordinate is far away.
type located struct {
	query.Query
	score  func(score, distance float64) float64
	center orb.Point
}

// Searcher returns what finds the documents.
func (q located) Searcher(
	ctx context.Context, r bleveindex.IndexReader, m mapping.IndexMapping, o search.SearcherOptions,
) (search.Searcher, error) {
	at, err := pointsOf(r)
	if err != nil {
		return nil, err
	}
	found, err := q.Query.Searcher(ctx, r, m, o)
	return rescored{found, func(d *search.DocumentMatch) error {
		distance := farthest
		p, known, err := at(d.IndexInternalID)
		if known {
			distance = geo.DistanceHaversine(q.center, p)
		}
		d.Score = q.score(d.Score, distance)
		return err
	}}, err
}

// A rescored searcher changes the scores of what another finds.
type rescored struct {
	search.Searcher
	change func(*search.DocumentMatch) error
}

// Next returns the next document.
func (s rescored) Next(c *search.SearchContext) (*search.DocumentMatch, error) {
	return s.changed(s.Searcher.Next(c))
}

// Advance returns the next document from id on.
func (s rescored) Advance(c *search.SearchContext, id bleveindex.IndexInternalID) (*search.DocumentMatch, error) {
	return s.changed(s.Searcher.Advance(c, id))
}

func (s rescored) changed(d *search.DocumentMatch, err error) (*search.DocumentMatch, error) {
	if d == nil || err != nil {
		return nil, err
	}
	return d, s.change(d)
}

// compare orders matches by their keys.
func (o order) compare(a, b *search.DocumentMatch) int {
	switch {
	case o.RequiresScoring():
		return cmp.Compare(b.Score, a.Score)
	case o.Descending():
		return strings.Compare(b.Sort[0], a.Sort[0])
	}
	return strings.Compare(a.Sort[0], b.Sort[0])
}

// key returns the key of a match as a text that ascends in this order.
func (o order) key(d *search.DocumentMatch) string {
	key := []byte(d.Sort[0])
	if o.RequiresScoring() {
		key = binary.BigEndian.AppendUint64(nil, math.Float64bits(d.Score))
	}
	for i := range key {
		if o.Descending() {
			key[i] = ^key[i]
		}
	}
	return hex.EncodeToString(key)
}

// first collects the first n matches behind a cursor. Bleve's own order by ID reads the ID of
// every match; this one only of those that may be among the first.
func (o order) first(n int, after *cursor) search.MakeDocumentMatchHandler {
	return func(c *search.SearchContext) (search.DocumentMatchHandler, bool, error) {
		collect, _, err := collector.MakeTopNDocumentMatchHandler(c)
		var kept []*search.DocumentMatch
		byID := func(a, b *search.DocumentMatch) int { return cmp.Or(o.compare(a, b), strings.Compare(a.ID, b.ID)) }
		return func(d *search.DocumentMatch) (err error) {
			if d == nil {
				for i, one := range kept {
					one.HitNumber = uint64(i) // Bleve orders by it what is equal
					if err := collect(one); err != nil {
						return err
					}
				}
				return collect(nil)
			}
			fits := len(kept) < n || o.compare(d, kept[n-1]) <= 0
			if fits {
				d.ID, err = c.IndexReader.ExternalID(d.IndexInternalID)
				if err != nil {
					return err
				}
			}
			if !fits || after != nil && (&cursor{Key: o.key(d), ID: d.ID}).compare(after) <= 0 {
				c.DocumentMatchPool.Put(d)
				return nil
			}
			at, _ := slices.BinarySearchFunc(kept, d, byID)
			kept = slices.Insert(kept, at, d)
			if len(kept) > n {
				c.DocumentMatchPool.Put(kept[n])
				kept = kept[:n]
			}
			return nil
		}, false, err
	}
}
