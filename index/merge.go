package index

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/geoparse"
)

// Merge makes one answer of those that several indexes gave to q, as one index
// with all their pages would. Hits of one address are one hit with
// all its pages. Where q asked for samples, an address that several indexes
// have counts once in Total: that is exact while none has more matches than a
// sample holds, and an estimate else. What each hit lacks of indexes that do not have
// it on this page is for Complete. A cursor of the answer is one for all of them. Scores of different
// indexes are compared as they are, which favours words that are rare in one of
// them; of a facet the counts are those of all indexes, and lower bounds where it has more values
// than an answer holds.
func Merge(q Query, parts ...*Result) *Result {
	if checked, err := q.check(); err == nil {
		q = checked
	}
	out := &Result{}
	type placed struct {
		Hit
		cursor cursor
	}
	var hits []placed
	best := stages // that any of them has a hit at
	for _, r := range parts {
		for _, h := range r.Hits {
			c, err := decodeCursor(h.After, q)
			if err != nil { // of another version: behind the others
				c = cursor{Stage: partial, Key: "0"}
			}
			best = min(best, c.Stage)
			hits = append(hits, placed{h, c})
		}
	}
	hits = slices.DeleteFunc(hits, func(h placed) bool { return h.cursor.Stage != best })
	slices.SortStableFunc(hits, func(a, b placed) int {
		return cmp.Or(a.cursor.compare(&b.cursor, q.Sort), strings.Compare(a.ID, b.ID))
	})
	var samples []*Result
	more := false
	for _, r := range parts {
		out.Took, out.Near = max(out.Took, r.Took), cmp.Or(out.Near, r.Near)
		if len(r.Hits) > 0 && !slices.ContainsFunc(hits, func(h placed) bool { return h.After == r.Hits[0].After }) {
			continue // another index has the words better
		}
		out.Total, out.Offset, out.Pages = out.Total+r.Total, r.Offset, out.Pages+r.Pages
		more = more || r.Next != ""
		samples = append(samples, r)
		out.Relaxed = out.Relaxed || r.Relaxed
		out.Points = append(out.Points, r.Points...)
		for _, c := range r.Facets {
			out.addFacet(c)
		}
	}
	at, twice := map[string]int{}, 0
	for _, h := range hits {
		if i, known := at[h.ID]; known {
			out.Hits[i] = united(out.Hits[i], h.Hit)
			twice++
			continue
		}
		at[h.ID] = len(out.Hits)
		h.cursor.Offset, h.cursor.Query = out.Offset+len(out.Hits)+1, q.digest()
		h.After = h.cursor.encode()
		out.Hits = append(out.Hits, h.Hit)
	}
	if share, exact := distinct(samples); share > 0 {
		out.Total, out.Approx = int(math.Round(float64(out.Total)*share)), !exact
		out.Total = max(out.Total, len(out.Hits))
		out.Offset = min(out.Offset, out.Total-min(q.Limit, len(out.Hits)))
	} else {
		out.Total -= twice
	}
	if len(out.Hits) > q.Limit {
		more = true
		for _, h := range out.Hits[q.Limit:] {
			if h.HasPoint {
				out.Points = append(out.Points, h.Point)
			}
		}
		out.Hits = out.Hits[:q.Limit]
	}
	if n := len(out.Hits); n > 0 && more {
		out.Next = out.Hits[n-1].After
	}
	if len(out.Points) > q.Points {
		out.Points = out.Points[:q.Points]
	}
	return out
}

// distinct returns how many different addresses there are to each match that
// parts count: 1 where none is in two of them. It looks at the IDs up to the
// last one that all samples reach to, and is exact where that is all of them.
// Without samples it is 0.
func distinct(parts []*Result) (share float64, exact bool) {
	reach, exact := uint64(math.MaxUint64), true
	for _, r := range parts {
		if n := len(r.Sample); n < r.Total {
			if exact = false; n == 0 {
				return 0, false
			}
			reach = min(reach, r.Sample[n-1])
		}
	}
	var ids []uint64
	for _, r := range parts {
		n, found := slices.BinarySearch(r.Sample, reach)
		if found {
			n++
		}
		ids = append(ids, r.Sample[:n]...)
	}
	if len(ids) == 0 {
		return 0, exact
	}
	all := len(ids)
	slices.Sort(ids)
	return float64(len(slices.Compact(ids))) / float64(all), exact
}

// Complete gives each hit of r, an answer of Merge to q, the pages of all
// indexes in which it fits the words: parts are their answers to q with Only, the IDs of
// r's hits, and without its cursor. Hits that one of them had on an earlier page
// are left out.
func Complete(q Query, r *Result, parts ...*Result) {
	if checked, err := q.check(); err == nil {
		q = checked
	}
	before, err := decodeCursor(q.Cursor, q) // the last hit of the page before
	first := err != nil
	all := map[string][]Hit{}
	shown := map[string]bool{}
	for _, part := range parts {
		for _, h := range part.Hits {
			all[h.ID] = append(all[h.ID], h)
			c, err := decodeCursor(h.After, q)
			if err == nil && !first && c.Stage == before.Stage {
				shown[h.ID] = shown[h.ID] || c.compare(&before, q.Sort) <= 0
			}
		}
	}
	var hits []Hit
	for _, h := range r.Hits {
		if shown[h.ID] {
			continue
		}
		if versions := all[h.ID]; len(versions) > 0 {
			whole := versions[0]
			for _, v := range versions[1:] {
				whole = united(whole, v)
			}
			whole.After = h.After
			h = whole
		}
		hits = append(hits, h)
	}
	r.Hits = hits
}

// MergeAddress makes one hit of those that several indexes have of one address;
// nil where none has it.
func MergeAddress(parts ...*Hit) *Hit {
	var out *Hit
	for _, h := range parts {
		switch {
		case h == nil:
		case out == nil:
			out = h
		default:
			both := united(*out, *h)
			out = &both
		}
	}
	return out
}

// MergeSuggestions makes one answer of those that several indexes gave to
// Suggest.
func MergeSuggestions(typed string, limit int, parts ...[]Suggestion) []Suggestion {
	all := []Suggestion{}
	for _, part := range parts {
		for _, s := range part {
			if i := slices.IndexFunc(all, func(o Suggestion) bool { return o.Kind == s.Kind && o.Text == s.Text }); i >= 0 {
				all[i].Count += s.Count
			} else {
				all = append(all, s)
			}
		}
	}
	start := foldPhrase(typed)
	head := func(s Suggestion) bool { return strings.HasPrefix(foldPhrase(s.Text), start) }
	slices.SortStableFunc(all, func(a, b Suggestion) int {
		return cmp.Or(compareBool(head(b), head(a)), cmp.Compare(b.Count, a.Count), cmp.Compare(len(a.Text), len(b.Text)), strings.Compare(a.Text, b.Text))
	})
	return all[:min(limit, len(all))]
}

// MergeClusters makes one answer of those that several indexes gave to Clusters
// at one zoom. Its cells are theirs; there may be more of them than one index
// gives.
func MergeClusters(zoom int, parts ...[]Cluster) []Cluster {
	cells := map[cell]*Cluster{}
	for _, part := range parts {
		for _, c := range part {
			addCluster(cells, zoom, c)
		}
	}
	return sortedClusters(cells)
}

// sharedHosts counts the hosts that have pages in both lists.
func sharedHosts(a, b []Evidence) (n int) {
	hosts := map[string]bool{}
	for _, e := range a {
		hosts[hostOf(e.URL)] = true
	}
	for _, e := range b {
		if host := hostOf(e.URL); hosts[host] {
			delete(hosts, host)
			n++
		}
	}
	return n
}

// united is one hit of two indexes.
func united(a, b Hit) Hit {
	if b.Score > a.Score || b.Score == a.Score && a.Role != b.Role && a.nearer(&b) == b.Role {
		a, b = b, a
	}
	a.Mentions += b.Mentions
	a.Hosts += b.Hosts - sharedHosts(a.Evidence, b.Evidence)
	a.Confidence = max(a.Confidence, b.Confidence)
	if a.Name == "" || b.Name == "" || sameName(a.Name, b.Name, a.City) {
		a.addContacts(&b)
		a.Kind, a.Name, a.Branch = cmp.Or(a.Kind, b.Kind), cmp.Or(a.Name, b.Name), cmp.Or(a.Branch, b.Branch)
		if role := a.nearer(&b); role != a.Role {
			a.Role, a.Site, a.Directory = role, b.Site, b.Directory
		}
	}
	a.Names = slices.Clone(a.Names)
	for _, n := range append([]string{b.Name}, b.Names...) {
		known := func(o string) bool { return sameName(o, n, a.City) }
		if n != "" && len(a.Names) < maxOthers && !known(a.Name) && !slices.ContainsFunc(a.Names, known) {
			a.Names = append(a.Names, n)
		}
	}
	if !a.HasPoint && b.HasPoint {
		a.HasPoint, a.Point, a.Precision, a.Level, a.Place, a.Distance = true, b.Point, b.Precision, b.Level, b.Place, b.Distance
	}
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
	most := max(maxEvidence, len(a.Evidence), len(b.Evidence))
	var evidence []Evidence // of each in turn
	for i := range most {
		evidence = append(evidence, a.Evidence[min(i, len(a.Evidence)):min(i+1, len(a.Evidence))]...)
		evidence = append(evidence, b.Evidence[min(i, len(b.Evidence)):min(i+1, len(b.Evidence))]...)
	}
	a.Evidence = evidence[:min(most, len(evidence))]
	return a
}

// nearer returns the role of a or b that is nearer to the address.
func (h *Hit) nearer(o *Hit) string {
	for role := geoparse.OwnRole; role <= geoparse.AuthorityRole; role++ {
		if name := role.String(); h.Role == name || o.Role == name {
			return name
		}
	}
	return h.Role
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
		like := func(o Value) bool { return o.Value == v.Value }
		if c.Facet == ByStreet { // indexes may show different spellings
			key := gazetteer.StreetKey(v.Value)
			like = func(o Value) bool { return gazetteer.StreetKey(o.Value) == key }
		}
		if j := slices.IndexFunc(f.Values, like); j >= 0 {
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
