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
		if at := s.v.spots()[n]; at.located() {
			return -c.haversine(at)
		}
		return math.Inf(-1)
	case !s.ranked:
		return float64(s.groups[n].sum)
	}
	value := float64(s.groups[n].sum)
	if c != nil && q.Radius == 0 {
		if at := s.v.spots()[n]; at.located() {
			value *= 1 + lift*q.Bias/(1+metres(c.haversine(at))/q.Scale)
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
	found := s.found
	if c != nil && last == nil && (q.Sort == Distance || q.Sort == Relevance && !s.ranked) {
		found = s.nearest(c, q.Limit)
	}
	relevance := s.ranked && q.Sort == Relevance && last == nil
	most := 1.0 // by how much its place may lift a group
	if c != nil && q.Radius == 0 {
		most += lift * q.Bias
	}
	least := float32(0) // what no page can do without once it is full
	for i, n := range found {
		if i%4096 == 0 && s.ctx.Err() != nil {
			return nil, 0, fmt.Errorf("index: %w", s.ctx.Err())
		}
		if relevance && s.groups[n].sum < least {
			continue
		}
		full := len(page) == q.Limit
		value := s.value(q, c, n, lift)
		if full && last == nil && value < page[q.Limit-1].value {
			continue
		}
		r := ranked{group: n, id: s.v.ids[n], value: value}
		if q.Sort == ByName {
			r.name = s.v.known(n).keyOf()
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
		if len(page) == q.Limit {
			const slack = 1e-4 // more than rounding does
			least = float32((page[q.Limit-1].value - slack) / most)
		}
	}
	return page, before, nil
}

// nearest returns those of what was found among which the n nearest are: what
// lies in a circle that has so many, or everything.
func (s *search) nearest(c *centre, n int) []uint32 {
	const leastLooked = 256 // rows, so that of a thousand addresses all are looked at at once
	sums, spots := s.v.summaries(), s.v.spots()
	looked := leastLooked
	for metres := 250.0; metres <= MaxRadius && looked < len(s.found)/4; metres *= 2 {
		reach := haversineOf(metres)
		near := s.near[:0]
		for i, w := 0, c.window(reach); i < len(s.v.parts); i++ {
			p := &s.v.parts[i]
			p.within(w, func(row uint32) {
				looked++
				g := p.groups[row]
				if s.groups[g].any > 0 && sums[g].number == p.base+row && c.haversine(spots[g]) <= reach {
					near = append(near, g)
				}
			})
		}
		if s.near = near; len(near) >= n {
			return near
		}
	}
	return s.found
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
		if at := s.v.spots()[g]; at.located() && !shown[g] {
			if points = append(points, at.point()); len(points) == n {
				break
			}
		}
	}
	return points
}

// sample returns the n smallest IDs of what was found, in order.
func (s *search) sample(n int) []uint64 {
	if n == 0 {
		return nil
	}
	var ids []uint64
	for _, g := range s.found {
		id := s.v.ids[g]
		if len(ids) == n && id >= ids[n-1] {
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
