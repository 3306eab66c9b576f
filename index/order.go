package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/paulmach/orb/geo"
)

func (s *searcher) byScore() bool { return s.q.Sort == Relevance && len(s.words) > 0 }

func (s *searcher) byDistance() bool {
	return s.q.Center != nil && (s.q.Sort == Distance || s.q.Sort == Relevance && len(s.words) == 0)
}

// farthest is more than the distance in metres of any two places.
const farthest = 1e8

// order returns a function that returns the key by which a match is ordered, as bytes that ascend.
// They are valid until the next call. It lifts scores of what is near the centre.
func (s *searcher) order() (key func(*search.DocumentMatch) ([]byte, error), err error) {
	var buffer []byte
	number := func(n float64) []byte { // n >= 0
		buffer = binary.BigEndian.AppendUint64(buffer[:0], math.Float64bits(n))
		return buffer
	}
	var distance func(bleveindex.IndexInternalID) (float64, error)
	if s.q.Center != nil {
		if distance, err = s.distances(); err != nil {
			return nil, err
		}
	}
	switch {
	case s.byDistance():
		return func(d *search.DocumentMatch) ([]byte, error) {
			away, err := distance(d.IndexInternalID)
			return number(away), err
		}, nil
	case s.byScore():
		lifted := s.q.Center != nil && s.q.Radius == 0 && s.q.Bias > 0
		return func(d *search.DocumentMatch) ([]byte, error) {
			if lifted {
				away, err := distance(d.IndexInternalID)
				if err != nil {
					return nil, err
				}
				d.Score *= 1 + s.lift*s.q.Bias/(1+away/s.q.Scale)
			}
			return inverted(number(d.Score)), nil
		}, nil
	case s.q.Sort == byID:
		return func(*search.DocumentMatch) ([]byte, error) { return nil, nil }, nil
	}
	field := map[Sort]string{Newest: fieldFirst, Importance: fieldRank, ByName: fieldKey, Relevance: fieldCount}[s.q.Sort]
	value, err := s.view.values(field)
	return func(d *search.DocumentMatch) ([]byte, error) {
		v, err := value(d.IndexInternalID)
		if buffer = append(buffer[:0], v...); field != fieldKey {
			inverted(buffer)
		}
		return buffer, err
	}, err
}

// inverted makes a key of fixed length descend.
func inverted(key []byte) []byte {
	for i := range key {
		key[i] = ^key[i]
	}
	return key
}

// distances returns a function that returns how far a document is from the centre, in metres. What
// has no coordinate is far away.
func (s *searcher) distances() (func(bleveindex.IndexInternalID) (float64, error), error) {
	at, err := s.view.points()
	return func(n bleveindex.IndexInternalID) (float64, error) {
		p, known, err := at(n)
		if !known || err != nil {
			return farthest, err
		}
		return geo.DistanceHaversine(*s.q.Center, p), nil
	}, err
}

// A match is a document that fits, where it is ordered.
type match struct {
	key   []byte // see searcher.order
	id    string // orders those of one key
	score float64
}

func (m match) compare(o match) int {
	return cmp.Or(bytes.Compare(m.key, o.key), strings.Compare(m.id, o.id))
}

// first returns the first n documents behind a match, if that is not nil, and how many a query
// finds in all. It calls each with all of them. Only IDs of what may be among the first are read.
func (s *searcher) first(q query.Query, n int, after *match, each func(bleveindex.IndexInternalID) error) (
	found []match, total int, err error,
) {
	key, err := s.order()
	if err != nil {
		return nil, 0, err
	}
	o := search.SearcherOptions{Score: "none"}
	if s.byScore() {
		o.Score = ""
	}
	err = s.view.visit(s.ctx, q, o, func(d *search.DocumentMatch) error {
		total++
		if err := each(d.IndexInternalID); err != nil {
			return err
		}
		k, err := key(d)
		if err != nil || len(found) == n && bytes.Compare(k, found[n-1].key) > 0 {
			return err
		}
		m := match{slices.Clone(k), "", d.Score}
		if m.id, err = s.view.ExternalID(d.IndexInternalID); err != nil {
			return err
		}
		if after == nil || m.compare(*after) > 0 {
			found = insert(found, n, m, match.compare)
		}
		return nil
	})
	return found, total, err
}

// insert puts v among the first n values of an order.
func insert[T any](first []T, n int, v T, compare func(a, b T) int) []T {
	if len(first) == n && compare(first[n-1], v) <= 0 {
		return first
	}
	at, _ := slices.BinarySearchFunc(first, v, compare)
	first = slices.Insert(first, at, v)
	return first[:min(n, len(first))]
}
