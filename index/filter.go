package index

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gazehound/gazetteer"
)

// A filter tells of single rows whether they fit a query; an address fits
// when one of its mentions does.
type filter struct {
	q                        Query
	streets, codes, cities   []uint32
	kinds                    []uint8
	hosts                    []uint32 // as hosts, or
	sites                    []uint32 // as sites
	west, east, south, north int32    // of the box
	wraps                    bool     // the box crosses the antimeridian
	centre                   *centre
	reach                    float64 // haversine of the radius
	none                     bool    // nothing can fit
	all                      bool    // everything fits
	boxOnly                  bool    // what is located in the window of the box fits
}

// filterOf looks up the texts of q in t.
func (t *table) filterOf(q Query) *filter {
	f := &filter{q: q}
	t.mu.RLock()
	defer t.mu.RUnlock()
	numbers := func(kind Facet, given []string, key func(string) string) (all []uint32) {
		for _, value := range given {
			if n, ok := t.numbers[t.hashOfText(kind, key(value))]; ok {
				all = append(all, n)
			}
		}
		return all
	}
	host := func(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }
	f.streets = numbers(ByStreet, q.Street, gazetteer.StreetKey)
	f.codes = numbers(ByPostcode, q.Postcode, gazetteer.Key)
	f.cities = numbers(ByCity, q.City, gazetteer.Key)
	f.hosts, f.sites = numbers(ByHost, q.Host, host), numbers(BySite, q.Host, host)
	for _, kind := range q.Kind {
		f.kinds = append(f.kinds, kindNumber(kind))
	}
	f.none = len(q.Street) > 0 && f.streets == nil || len(q.Postcode) > 0 && f.codes == nil || len(q.City) > 0 && f.cities == nil ||
		len(q.Host) > 0 && f.hosts == nil && f.sites == nil
	if b := q.Box; b != nil {
		f.west, f.east, f.south, f.north = ceil(b.Min[0]), floor(b.Max[0]), ceil(b.Min[1]), floor(b.Max[1])
		f.wraps = b.Min[0] > b.Max[0]
	}
	if q.Center != nil {
		f.centre = newCentre(*q.Center)
		f.reach = haversineOf(q.Radius)
	}
	others := len(q.Kind) > 0 || len(q.Street) > 0 || len(q.Postcode) > 0 || len(q.City) > 0 || len(q.Host) > 0 || len(q.Month) > 0 || q.Radius > 0 ||
		q.Precision > 0 || q.Level > 0 || !q.Since.IsZero() || !q.Until.IsZero() || q.InOSM != nil || q.SiteWide != nil
	f.all, f.boxOnly = !others && q.Box == nil && !q.Located, !others && q.Box != nil
	return f
}

// ceil and floor return degrees as rows have them.
func ceil(degrees float64) int32  { return int32(math.Ceil(degrees*1e7 - 1e-3)) }
func floor(degrees float64) int32 { return int32(math.Floor(degrees*1e7 + 1e-3)) }

func (f *filter) fits(r *row) bool {
	if f.all {
		return true
	}
	q := &f.q
	switch {
	case f.none,
		f.streets != nil && !slices.Contains(f.streets, r.street), f.codes != nil && !slices.Contains(f.codes, r.code),
		f.cities != nil && !slices.Contains(f.cities, r.city), f.kinds != nil && !slices.Contains(f.kinds, r.kind),
		len(q.Host) > 0 && !slices.Contains(f.hosts, r.host) && !slices.Contains(f.sites, r.site),
		(q.Located || q.Box != nil || q.Radius > 0) && !r.located(),
		r.precision < q.Precision, r.level < q.Level,
		!q.Since.IsZero() && int64(r.first) < q.Since.Unix():
		return false
	}
	if q.Box != nil {
		if r.lat < f.south || r.lat > f.north {
			return false
		}
		if f.wraps {
			if r.lon < f.west && r.lon > f.east {
				return false
			}
		} else if r.lon < f.west || r.lon > f.east {
			return false
		}
	}
	return q.Radius == 0 || f.centre.haversine(r.spot) <= f.reach
}

// browse finds all groups that fit the filter.
func (s *search) browse() error {
	if s.filter.all {
		for n, sum := range s.v.summaries() {
			if sum.mentions > 0 {
				s.groups[n].sum, s.groups[n].any = float32(sum.mentions), 1
				s.found = append(s.found, uint32(n))
			}
		}
		s.keepWhole(s.filter.q)
		return nil
	}
	window, ok := s.filter.window()
	for i := range s.v.parts {
		p := &s.v.parts[i]
		err := s.eachFit(p, window, ok, func(n uint32) {
			if !p.live(n) {
				return
			}
			g := &s.groups[p.groups[n]]
			if g.sum++; g.any == 0 {
				g.any = 1
				s.found = append(s.found, p.groups[n])
			}
		})
		if err != nil {
			return err
		}
	}
	s.keepWhole(s.filter.q)
	return nil
}

// eachFit calls fn with the number of each row of a part that fits the filter,
// which has a window or not.
func (s *search) eachFit(p *part, window window, windowed bool, fn func(n uint32)) error {
	if s.ctx.Err() != nil {
		return fmt.Errorf("index: %w", s.ctx.Err())
	}
	switch {
	case windowed && p.narrow(window) && s.filter.boxOnly:
		p.within(window, fn)
	case windowed && p.narrow(window):
		p.within(window, func(n uint32) {
			if s.filter.fits(&p.all[n]) {
				fn(n)
			}
		})
	default:
		for n := range p.all {
			if n%65536 == 0 && s.ctx.Err() != nil {
				return fmt.Errorf("index: %w", s.ctx.Err())
			}
			if s.filter.fits(&p.all[n]) {
				fn(uint32(n))
			}
		}
	}
	return nil
}

// fits tells whether a row fits the filter.
func (s *search) fits(part *part, n uint32) bool {
	if s.inArea != nil {
		at := part.base + n
		return s.inArea[at/64]>>(at%64)&1 != 0
	}
	return s.filter.fits(&part.all[n])
}

// lookAround notes which rows fit a filter by an area: a word that is read then
// costs one bit a row that has it, and not a look at the row.
func (s *search) lookAround() error {
	s.inArea = nil
	window, ok := s.filter.window()
	if !ok {
		return nil
	}
	each := 0 // rows at which all have to be looked
	for i := range s.v.parts {
		if p := &s.v.parts[i]; !p.narrow(window) {
			each += len(p.all)
		}
	}
	if each > s.v.rows/8 {
		return nil
	}
	n := s.v.rows/64 + 1
	if len(s.bits) < n {
		s.bits = make([]uint64, n+n/8)
	}
	clear(s.bits[:n])
	for i := range s.v.parts {
		p := &s.v.parts[i]
		err := s.eachFit(p, window, true, func(n uint32) {
			at := p.base + n
			s.bits[at/64] |= 1 << (at % 64)
		})
		if err != nil {
			return err
		}
	}
	s.inArea = s.bits[:n]
	return nil
}

// keepWhole drops the groups that do not fit q as a whole, whatever page of
// theirs does.
func (s *search) keepWhole(q Query) {
	if fits := s.v.whole(q); fits != nil {
		s.keep(func(n uint32, _ *group) bool { return fits(n) })
	}
}

// whole returns the test of what q asks of a group with all its pages: which
// one it is, when it was first seen, whether its house is in OpenStreetMap, and
// whether it is site-wide; nil where q asks nothing of that kind.
func (v *view) whole(q Query) func(group uint32) bool {
	if q.Since.IsZero() && q.Until.IsZero() && len(q.Month) == 0 && q.InOSM == nil && q.SiteWide == nil && q.Only == nil {
		return nil
	}
	var only map[uint64]bool
	if q.Only != nil {
		only = make(map[uint64]bool, len(q.Only))
		for _, id := range q.Only {
			if n, err := strconv.ParseUint(id, 16, 64); err == nil {
				only[n] = true
			}
		}
	}
	var months [][2]uint32 // from, to
	for _, month := range q.Month {
		n, _ := monthNumber(month) // check has read it
		months = append(months, [2]uint32{monthStart(n), monthStart(n + 1)})
	}
	sums := v.summaries()
	var wide map[uint32]bool
	if q.SiteWide != nil {
		wide = v.siteWides().groups
	}
	return func(n uint32) bool {
		first := int64(sums[n].first)
		return (only == nil || only[v.ids[n]]) && (q.InOSM == nil || sums[n].osm == *q.InOSM) && (q.SiteWide == nil || wide[n] == *q.SiteWide) &&
			(q.Since.IsZero() || first >= q.Since.Unix()) && (q.Until.IsZero() || first <= q.Until.Unix()) &&
			(months == nil || slices.ContainsFunc(months, func(m [2]uint32) bool { return m[0] <= sums[n].first && sums[n].first < m[1] }))
	}
}
