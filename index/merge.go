package index

import (
	"cmp"
	"math"
	"slices"
)

// Merge makes one answer of those that several indexes gave to q, each asked
// for its first q.Limit hits. Hits of one address of one site are one hit with
// all its pages. It has no next page: ask for up to MaxLimit hits at once.
// Scores of different indexes are compared as they are, which favours words
// that are rare in one of them.
func Merge(q Query, parts ...*Result) *Result {
	if q.Limit == 0 {
		q.Limit = 10
	}
	out := &Result{Relaxed: true}
	for _, r := range parts {
		out.Relaxed = out.Relaxed && r.Relaxed
	}
	at := map[string]int{}
	for _, r := range parts {
		if r.Relaxed && !out.Relaxed {
			continue // another index has all the words
		}
		out.Total += r.Total
		out.Points = append(out.Points, r.Points...)
		out.Near = cmp.Or(out.Near, r.Near)
		out.Took = max(out.Took, r.Took)
		for _, h := range r.Hits {
			i, known := at[h.ID]
			if !known {
				at[h.ID] = len(out.Hits)
				out.Hits = append(out.Hits, h)
				continue
			}
			out.Hits[i] = united(out.Hits[i], h)
			out.Total--
		}
		for _, c := range r.Facets {
			out.addFacet(c)
		}
	}
	slices.SortStableFunc(out.Hits, order(q.Sort))
	if len(out.Hits) > q.Limit {
		out.Hits = out.Hits[:q.Limit]
	}
	if len(out.Points) > q.Points {
		out.Points = out.Points[:q.Points]
	}
	return out
}

// united is one hit of two indexes.
func united(a, b Hit) Hit {
	if b.Score > a.Score {
		a, b = b, a
	}
	a.Mentions += b.Mentions
	a.Confidence = max(a.Confidence, b.Confidence)
	a.Phone, a.Email, a.Website, a.Hours = cmp.Or(a.Phone, b.Phone), cmp.Or(a.Email, b.Email), cmp.Or(a.Website, b.Website), cmp.Or(a.Hours, b.Hours)
	a.SiteWide = a.SiteWide || b.SiteWide
	if b.FirstSeen.Before(a.FirstSeen) {
		a.FirstSeen = b.FirstSeen
	}
	if b.LastSeen.After(a.LastSeen) {
		a.LastSeen = b.LastSeen
	}
	if b.Gone.IsZero() {
		a.Gone = b.Gone
	}
	a.Evidence = append(slices.Clone(a.Evidence), b.Evidence...)
	if len(a.Evidence) > 5 {
		a.Evidence = a.Evidence[:5]
	}
	return a
}

// addFacet adds the counts of one facet of another index.
func (r *Result) addFacet(c Count) {
	i := slices.IndexFunc(r.Facets, func(o Count) bool { return o.Facet == c.Facet })
	if i < 0 {
		r.Facets = append(r.Facets, Count{c.Facet, slices.Clone(c.Values)})
		return
	}
	f := &r.Facets[i]
	for _, v := range c.Values {
		if j := slices.IndexFunc(f.Values, func(o Value) bool { return o.Value == v.Value }); j >= 0 {
			f.Values[j].Count += v.Count
		} else {
			f.Values = append(f.Values, v)
		}
	}
	slices.SortStableFunc(f.Values, func(a, b Value) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value)) })
	if len(f.Values) > maxFacetValues {
		f.Values = f.Values[:maxFacetValues]
	}
}

// order is how hits of several indexes are put in line.
func order(by Sort) func(a, b Hit) int {
	return func(a, b Hit) int {
		var c int
		switch by {
		case Distance:
			far := func(h Hit) float64 {
				if h.Distance < 0 {
					return math.Inf(1)
				}
				return h.Distance
			}
			c = cmp.Compare(far(a), far(b))
		case Newest:
			c = b.FirstSeen.Compare(a.FirstSeen)
		case ByName:
			c = cmp.Compare(foldWord(a.Label()), foldWord(b.Label()))
		default:
			c = cmp.Compare(b.Score, a.Score)
		}
		return cmp.Or(c, cmp.Compare(a.ID, b.ID))
	}
}
