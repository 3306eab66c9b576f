package index

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gazehound/gazetteer"
	"gazehound/geoparse"
)

// A Count says how many of the addresses that match have a value.
type Count struct {
	Facet  Facet
	Values []Value
}

// A Value of a facet.
type Value struct {
	Value string
	Count int
}

// maxFacetValues bounds the values of one facet in an answer.
const maxFacetValues = 20

// maxMonths is more than the number of any month.
const maxMonths = 2048

// facet counts the values of what was found, and returns the most frequent.
// Those of everything are kept with the view, since each visit begins with them.
func (s *search) facet(f Facet) Count {
	if s.ranked || !s.filter.all || s.filter.q.Only != nil {
		return s.count(f)
	}
	s.v.facets.Lock()
	defer s.v.facets.Unlock()
	c, known := s.v.facets.ofAll[f]
	if !known {
		if s.v.facets.ofAll == nil {
			s.v.facets.ofAll = map[Facet]Count{}
		}
		c = s.count(f)
		s.v.facets.ofAll[f] = c
	}
	return Count{f, slices.Clone(c.Values)}
}

func (s *search) count(f Facet) Count {
	if n := max(maxMonths, len(s.v.texts)); len(s.counts) < n { // precisions, levels, kinds and months are no texts
		s.counts = make([]uint32, n+n/8)
	}
	sums := s.v.summaries()
	there, values := s.there[:0], []uint32(nil)
	add := func(value uint32) {
		if s.counts[value]++; s.counts[value] == 1 {
			there = append(there, value)
		}
	}
	var month, from, to uint32 // of the address before: most have been seen in the same month
	for _, n := range s.found {
		if f == ByMonth {
			if first := sums[n].first; first < from || first >= to {
				month = monthOf(first)
				from, to = monthStart(month), monthStart(month+1)
			}
			add(month)
			continue
		}
		if !sums[n].mixed || f != ByHost && f != BySite && f != ByKind {
			add(sums[n].row.value(f))
			continue
		}
		values = s.values(values[:0], n, f)
		for _, value := range values {
			add(value)
		}
	}
	c := Count{Facet: f, Values: []Value{}}
	order := func(a, b Value) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value)) }
	for _, n := range there {
		count := int(s.counts[n])
		s.counts[n] = 0
		full := len(c.Values) == maxFacetValues
		if full && count < c.Values[maxFacetValues-1].Count {
			continue
		}
		v := Value{s.v.shown(f, n), count}
		if v.Value == "" || full && order(c.Values[maxFacetValues-1], v) <= 0 {
			continue
		}
		if full {
			c.Values = c.Values[:maxFacetValues-1]
		}
		at, _ := slices.BinarySearchFunc(c.Values, v, order)
		c.Values = slices.Insert(c.Values, at, v)
	}
	s.there = there
	return c
}

// values adds to values all that the mentions of a group have which fit the
// filter.
func (s *search) values(values []uint32, group uint32, f Facet) []uint32 {
	for _, number := range s.v.of(group) {
		p, n := s.v.at(number)
		r := &p.all[n]
		if value := r.value(f); !slices.Contains(values, value) && s.filter.fits(r) {
			values = append(values, value)
		}
	}
	return values
}

// value returns a property of r as a number, which shown turns into words.
func (r *row) value(f Facet) uint32 {
	switch f {
	case ByStreet:
		return r.street
	case ByPostcode:
		return r.code
	case ByCity:
		return r.city
	case ByHost:
		return r.host
	case BySite:
		return r.site
	case ByKind:
		return uint32(r.kind)
	case ByPrecision:
		return uint32(r.precision)
	}
	return uint32(r.level)
}

func (v *view) shown(f Facet, n uint32) string {
	switch f {
	case ByPrecision:
		return gazetteer.Precision(n).String()
	case ByLevel:
		return geoparse.Level(n).String()
	case ByKind:
		return kindName(uint8(n))
	case ByMonth:
		return monthName(n)
	}
	return v.texts[n].shownAs()
}

// monthNumber returns how many months after January 1970 a month such as
// "2026-11" is, and whether it is one in which something may have been seen.
func monthNumber(month string) (n uint32, ok bool) {
	t, err := time.Parse("2006-01", month)
	if err != nil || t.Year() < 1970 || t.Year() >= 2100 {
		return 0, false
	}
	return monthOf(uint32(t.Unix())), true
}

// monthOf returns the number of the month of a time in Unix seconds.
func monthOf(unix uint32) uint32 {
	t := time.Unix(int64(unix), 0).UTC()
	return uint32(12*(t.Year()-1970) + int(t.Month()) - 1)
}

// monthStart returns when the month with this number began, in Unix seconds.
func monthStart(n uint32) uint32 {
	return seconds(time.Date(1970, time.Month(n+1), 1, 0, 0, 0, 0, time.UTC).Unix())
}

// monthName returns the month with this number.
func monthName(n uint32) string { return fmt.Sprintf("%d-%02d", 1970+n/12, 1+n%12) }
