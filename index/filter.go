package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/internal/kind"

	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// unscored is a query that has no share in a score. Without scores Bleve unites and intersects
// sets of documents.
type unscored struct{ query.Query }

// Searcher returns what finds the documents.
func (q unscored) Searcher(
	ctx context.Context, r bleveindex.IndexReader, m mapping.IndexMapping, o search.SearcherOptions,
) (search.Searcher, error) {
	return q.Query.Searcher(ctx, r, m, search.SearcherOptions{Score: "none"})
}

// has is the query for documents with one of some keywords.
func has(field string, values ...string) query.Query {
	var all alternatives
	for _, value := range values {
		all.add(field, 0, clipBytes(value, maxKey))
	}
	return unscored{&all}
}

// these is the query for documents with these IDs. It does not weigh, so that scores are those
// without it.
func these(ids []string) query.Query {
	q := query.NewDocIDQuery(ids)
	q.SetBoost(0)
	return unscored{q}
}

// filter returns the query for the addresses that fit everything but the words,
// and whether it asks for anything.
func (s *searcher) filter() (fits query.Query, narrows bool) {
	q := s.q
	var all []query.Query
	keywords := func(field string, values []string, key func(string) string) {
		if len(values) > 0 {
			keys := make([]string, len(values))
			for i, v := range values {
				keys[i] = key(v)
			}
			all = append(all, has(field, keys...))
		}
	}
	same := func(value string) string { return value }
	keywords(fieldStreet, q.Street, gazetteer.StreetKey)
	keywords(fieldCode, q.Postcode, gazetteer.Key)
	keywords(fieldCity, q.City, gazetteer.Key)
	keywords(fieldKind, q.Kind, same)
	keywords(fieldMonth, q.Month, same)
	if hosts := q.hosts(); len(hosts) > 0 {
		all = append(all, query.NewDisjunctionQuery([]query.Query{has(fieldHost, hosts...), has(fieldSite, hosts...)}))
	}
	if least := max(q.Precision, gazetteer.CityPrecision); q.Located || q.Precision > 0 {
		all = append(all, has(fieldPrecision, namesOfRange(least, gazetteer.HousePrecision)...))
	}
	if q.Level > 0 {
		all = append(all, has(fieldLevel, namesOfRange(q.Level, geoparse.VerifiedLevel)...))
	}
	if q.Only != nil {
		all = append(all, these(q.Only))
	}
	if s.open != nil && !q.AnyTime {
		all = append(all, has(fieldOpen, s.open.key()))
	}
	if q.Box != nil {
		all = append(all, boxArea(*q.Box))
	}
	if q.Radius > 0 {
		all = append(all, circleArea(*q.Center, q.Radius))
	}
	if !q.Since.IsZero() || !q.Until.IsZero() {
		all = append(all, seen(q.Since, q.Until))
	}
	narrows = len(all) > 0
	if !narrows || q.Only != nil { // pages have none of the other fields
		all = append(all, has(fieldType, typeAddress))
	}
	fits = all[0]
	if len(all) > 1 {
		fits = query.NewConjunctionQuery(all)
	}
	return s.whole(fits, narrows)
}

// whole adds the filters on an address with all its pages.
func (s *searcher) whole(fits query.Query, narrows bool) (query.Query, bool) {
	if s.q.InOSM != nil {
		in := []query.Query{has(fieldOSM, yes)}
		if all := []query.Query{fits}; *s.q.InOSM {
			fits = query.NewConjunctionQuery(append(all, in...))
		} else {
			fits = query.NewBooleanQuery(all, nil, in)
		}
	}
	if s.q.SiteWide != nil {
		fits = s.siteWide(fits, *s.q.SiteWide)
	}
	return fits, narrows || s.q.InOSM != nil || s.q.SiteWide != nil
}

// namesOfRange returns the names of a range of numbers that have some.
func namesOfRange[T interface {
	~uint8
	fmt.Stringer
}](from, to T) (all []string) {
	for n := from; n <= to; n++ {
		all = append(all, n.String())
	}
	return all
}

// hosts returns the hosts or sites of the filter.
func (q *Query) hosts() []string {
	all := make([]string, len(q.Host))
	for i, h := range q.Host {
		all[i] = strings.TrimSuffix(strings.ToLower(h), ".")
	}
	return all
}

// seen is the query for addresses that were seen first in a time, both ends
// included; a zero end is open.
func seen(since, until time.Time) query.Query {
	var from, to *float64
	if !since.IsZero() {
		v := float64(since.Unix())
		from = &v
	}
	if !until.IsZero() {
		v := float64(until.Unix())
		to = &v
	}
	included := true
	r := query.NewNumericRangeInclusiveQuery(from, to, &included, &included)
	r.SetField(fieldFirst)
	return r
}

// named returns a function that reports which mentions may give a hit its name, for filters that
// differ between the pages of one address; nil: any.
func (q *Query) named() func(*mention) bool {
	hosts := q.hosts()
	if len(hosts) == 0 && len(q.Kind) == 0 {
		return nil
	}
	return func(m *mention) bool {
		return (len(hosts) == 0 || slices.Contains(hosts, m.host) || slices.Contains(hosts, m.site)) &&
			(len(q.Kind) == 0 || slices.Contains(q.Kind, m.Kind) || slices.Contains(q.Kind, kind.Main(m.Kind)))
	}
}

// Filter returns a function that reports whether a hit fits the filters of q, as Walk would find it;
// its hosts are those of its evidence. The error wraps ErrQuery.
func (q Query) Filter() (func(*Hit) bool, error) {
	if err := q.CheckFilters(); err != nil {
		return nil, err
	}
	q, err := q.check()
	if err != nil {
		return nil, err
	}
	among := func(key func(string) string, wanted []string, value string) bool {
		return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w string) bool { return key(w) == key(value) })
	}
	hosts := q.hosts()
	return func(h *Hit) bool {
		switch {
		case !among(gazetteer.StreetKey, q.Street, h.Street), !among(gazetteer.Key, q.Postcode, h.Postcode),
			!among(gazetteer.Key, q.City, h.City), len(hosts) > 0 && !h.isOn(hosts), len(q.Kind) > 0 && !h.isOf(q.Kind):
			return false
		case !h.HasPoint && (q.Located || q.Precision > 0 || q.Box != nil || q.Radius > 0):
			return false
		case q.Box != nil && !boxHas(*q.Box, h.Point), q.Radius > 0 && geo.Distance(*q.Center, h.Point) > q.Radius:
			return false
		case q.Precision > 0 && !slices.Contains(namesOfRange(q.Precision, gazetteer.HousePrecision), h.Precision),
			q.Level > 0 && !slices.Contains(namesOfRange(q.Level, geoparse.VerifiedLevel), h.Level):
			return false
		case h.FirstSeen.Before(q.Since), !q.Until.IsZero() && (h.FirstSeen.IsZero() || h.FirstSeen.After(q.Until)):
			return false
		case len(q.Month) > 0 && (h.FirstSeen.IsZero() || !slices.Contains(q.Month, h.FirstSeen.UTC().Format("2006-01"))):
			return false
		}
		return (q.InOSM == nil || *q.InOSM == h.InOSM()) && (q.SiteWide == nil || *q.SiteWide == h.SiteWide)
	}, nil
}

// isOn reports whether one of some hosts or sites states h.
func (h *Hit) isOn(hosts []string) bool {
	return slices.ContainsFunc(h.Evidence, func(e Evidence) bool {
		return slices.Contains(hosts, e.Site) || slices.Contains(hosts, hostOf(e.URL))
	})
}

// isOf reports whether h is of one of some kinds, by Kind or by what the map has there.
func (h *Hit) isOf(kinds []string) bool {
	tags := strings.Split(h.Tags, ";")
	return slices.ContainsFunc(kinds, func(id string) bool {
		if id == h.Kind || id == kind.Main(h.Kind) {
			return true
		}
		for tag := range strings.FieldsSeq(id) {
			if !slices.Contains(tags, tag) {
				return false
			}
		}
		return true
	})
}

// boxHas reports whether a point lies in a box, which may cross the antimeridian.
func boxHas(b orb.Bound, p orb.Point) bool {
	inside := b.Min[0] <= p[0] && p[0] <= b.Max[0]
	if b.Min[0] > b.Max[0] {
		inside = p[0] >= b.Min[0] || p[0] <= b.Max[0]
	}
	return inside && b.Min[1] <= p[1] && p[1] <= b.Max[1]
}
