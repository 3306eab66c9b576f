package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/paulmach/orb"
)

// A ranked is a group with the value that it is ordered by.
type ranked struct {
	group uint32
	value float64 // descending
	name  string  // ascending, where hits are ordered by it
	id    uint64  // ascending
}

func (a *ranked) compare(b *ranked) int {
	return cmp.Or(cmp.Compare(b.value, a.value), strings.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
}

// value returns by what a group is ordered as q asks for, descending; 0 where
// names order.
func (s *search) value(q *Query, c *centre, n uint32, lift float64) float64 {
	switch {
	case q.Sort == Newest:
		return float64(s.v.summaries()[n].first)
	case q.Sort == ByName:
		return 0
	case c != nil && (q.Sort == Distance || !s.ranked):
		if at := &s.v.summaries()[n]; at.located {
			return -c.haversine(at.spot)
		}
		return math.Inf(-1)
	case !s.ranked:
		return float64(s.groups[n].mentions)
	}
	value := float64(s.groups[n].sum)
	if c != nil && q.Radius == 0 {
		if at := &s.v.summaries()[n]; at.located {
			value *= 1 + lift*q.Bias/(1+metres(c.haversine(at.spot))/q.Scale)
		}
	}
	return math.Round(value*1e5) / 1e5
}

// How much more an address at the centre counts than one far away: by the
// reader's position, and near the address that the query names.
const (
	usualLift = 2.0
	nearLift  = 12.0
)

// result orders what was found, takes the page asked for and reads its
// evidence. The cursor belongs to the query as it was asked.
func (s *search) result(q, asked Query, words []word, at stage, after *cursor) (*Result, error) {
	result := &Result{Total: len(s.found)}
	var c *centre
	if q.Center != nil {
		c = newCentre(*q.Center)
	}
	lift := usualLift
	if asked.Center == nil {
		lift = nearLift
	}
	var last *ranked
	if after != nil {
		last = &ranked{value: after.value, id: after.id, name: after.name}
	}
	page, before, err := s.best(&q, c, lift, last)
	if err != nil {
		return nil, err
	}
	result.Offset = before
	result.Hits = slices.Grow(result.Hits, len(page))
	marks, digest := s.x.words.newMarker(words), asked.digest()
	for i := range page {
		h, err := s.hit(&q, c, &page[i], marks)
		if err != nil {
			return nil, err
		}
		h.After = cursor{at, page[i].value, page[i].id, page[i].name}.encode(digest)
		result.Hits = append(result.Hits, h)
	}
	if n := len(page); n > 0 && result.Offset+n < len(s.found) {
		result.Next = result.Hits[n-1].After
	}
	result.Points = s.points(q.Points, page)
	result.Sample = s.sample(q.Sample)
	for _, f := range q.Facets {
		result.Facets = append(result.Facets, s.facet(f))
	}
	if q.CountPages {
		result.Pages = s.pages()
	}
	if q.Explain && s.ranked {
		if err := s.explain(q, words, at, page, result.Hits); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// best returns the first q.Limit groups after last, in their order, and how many
// there are up to last; nil: none.
func (s *search) best(q *Query, c *centre, lift float64, last *ranked) (page []ranked, before int, err error) {
	nearest := c != nil && (q.Sort == Distance || q.Sort == Relevance && !s.ranked) && last == nil
	south, north := int32(math.MinInt32), int32(math.MaxInt32) // what lies beyond is farther than all of a full page
	for i, n := range s.found {
		if i%4096 == 0 && s.ctx.Err() != nil {
			return nil, 0, fmt.Errorf("index: %w", s.ctx.Err())
		}
		full := len(page) == q.Limit
		if full && nearest {
			if at := &s.v.summaries()[n]; at.located && (at.lat < south || at.lat > north) {
				continue
			}
		}
		value := s.value(q, c, n, lift)
		if full && last == nil && value < page[q.Limit-1].value {
			continue
		}
		r := ranked{group: n, id: s.v.ids[n], value: value}
		if q.Sort == ByName {
			r.name = s.v.known(n).key
		}
		if last != nil && r.compare(last) <= 0 {
			before++
			continue
		}
		if full {
			if page[q.Limit-1].compare(&r) < 0 {
				continue
			}
			page = page[:q.Limit-1]
		}
		at, _ := slices.BinarySearchFunc(page, r, func(a, b ranked) int { return a.compare(&b) })
		page = slices.Insert(page, at, r)
		if worst := &page[len(page)-1]; nearest && len(page) == q.Limit && !math.IsInf(worst.value, -1) {
			south, north = c.latitudes(-worst.value)
		}
	}
	return page, before, nil
}

// points returns the coordinates of the first n of what was found that are not on
// the page.
func (s *search) points(n int, page []ranked) (points []orb.Point) {
	if n == 0 {
		return nil
	}
	shown := make(map[uint32]bool, len(page))
	for _, r := range page {
		shown[r.group] = true
	}
	for _, g := range s.found {
		if at := &s.v.summaries()[g]; at.located && !shown[g] {
			if points = append(points, at.point()); len(points) == n {
				break
			}
		}
	}
	return points
}

// sample returns the n smallest IDs of what was found, in order.
func (s *search) sample(n int) []uint64 {
	var ids []uint64
	for _, g := range s.found {
		id := s.v.ids[g]
		if n == 0 || len(ids) == n && id >= ids[n-1] {
			continue
		}
		if len(ids) == n {
			ids = ids[:n-1]
		}
		at, _ := slices.BinarySearch(ids, id)
		ids = slices.Insert(ids, at, id)
	}
	return ids
}

// pages counts the pages that state what was found and fit the filter.
func (s *search) pages() int {
	all := map[uint64]bool{}
	for _, group := range s.found {
		for _, number := range s.v.of(group) {
			if r := s.v.row(number); s.filter.fits(r) {
				all[r.page] = true
			}
		}
	}
	return len(all)
}
