package index

import (
	"cmp"
	"slices"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

const (
	maxEvidence = 5  // pages that a hit shows
	maxRead     = 20 // pages that Address shows
)

// A hitMaker turns records into hits.
type hitMaker struct {
	view   *view             // nil: nothing is counted
	counts map[[2]string]int // of documents with a keyword, by field and value, that were read
	center *orb.Point        // that distances are measured from
	marks  marker
	fits   func(*mention) bool // see accountOf
	most   int                 // pages shown
	byName bool                // the hit has the name by which it is sorted, whatever the query
	others bool                // the hit has its Others
}

// count returns how many documents have a keyword.
func (k *hitMaker) count(field, value string) int {
	n, known := k.counts[[2]string{field, value}]
	if known || k.view == nil {
		return n
	}
	if k.counts == nil {
		k.counts = map[[2]string]int{}
	}
	n = k.view.count(field, value)
	k.counts[[2]string{field, value}] = n
	return n
}

// hitMaker returns one for the answers to q, whose words are looked for.
func (q *Query) hitMaker(words []word, center *orb.Point) *hitMaker {
	k := &hitMaker{center: center, marks: marker{words: words}, most: maxEvidence, byName: q.Sort == ByName}
	if !k.byName {
		k.fits = q.named()
	}
	return k
}

// whole returns a hitMaker for addresses shown in full, whatever the query.
func whole(v *view, most int) *hitMaker {
	return &hitMaker{view: v, marks: marker{all: true}, most: most}
}

// hit returns the hit of a match.
func (k *hitMaker) hit(m *match) (Hit, error) {
	r, err := decodeRecord(m.at.ID, m.record)
	if err != nil {
		return Hit{}, err
	}
	h := k.hitOf(r)
	h.After, h.Score, h.Parts = m.at.encode(), m.score, m.parts
	return h, nil
}

// hitOf makes the hit of an address.
func (k *hitMaker) hitOf(r *record) Hit {
	sites := r.sites()
	own := func(site string) float64 { // of an address on all pages of its site about 1
		others := max(0, k.count(fieldSite, site)-1)
		return float64(sites[site]) / float64(max(1, sites[site]+others))
	}
	best, beside := k.marks.best(r.Mentions)
	var preferred *mention
	if beside && !k.byName {
		preferred = best
	}
	a := accountOf(r, own, k.fits, preferred)
	site, directory := a.statements[0].site, a.statements[0].own < leastOwn
	shown := slices.Clone(a.statements)
	if i := slices.IndexFunc(shown, func(s statement) bool { return s.mention == best }); best != nil {
		shown = slices.Insert(slices.Delete(shown, i, i+1), 0, a.statements[i])
	}
	first, last := r.times()
	h := Hit{
		ID: r.id, Site: site, Name: a.name, Names: a.others, Distance: -1, Directory: directory,
		Mentions: r.count(), Hosts: r.hosts(),
		Street: shown[0].Street, HouseNumber: shown[0].Number, Postcode: shown[0].Code, City: shown[0].City,
		FirstSeen: timeOf(first), LastSeen: timeOf(last),
		Role: a.role.String(), Kind: a.kind, StatedKind: a.stated, Person: true, SiteWide: len(k.wideOn(r)) > 0,
	}
	for i, s := range shown {
		h.merge(s.mention)
		if s.fit != anothers {
			h.Person = h.Person && s.Person
		}
		if len(h.Evidence) < k.most {
			h.Evidence = append(h.Evidence, k.evidence(s.mention, i == 0))
		}
	}
	if h.isLoose(a.statements) {
		h.Name, h.Names, h.Kind, h.StatedKind = "", nil, "", ""
		a.statements = nil
	}
	h.contacts(a.statements, func(site string) bool { // of a site that states many addresses, and this one seldom
		return own(site) < leastOwn && k.count(fieldSite, site) >= int(1/leastOwn)
	})
	h.Gone = goneSince(r)
	if k.marks.all {
		h.StatusPage = k.statusPage(&h, a.statements)
	}
	k.place(&h, r.Mentions)
	h.correct(r)
	if k.others {
		h.Others = k.othersOf(r, &h)
	}
	return h
}

// othersOf returns the hits of what else is at the address of h.
func (k *hitMaker) othersOf(r *record, h *Hit) (all []Hit) {
	for _, name := range h.Names {
		one, key := *k, (&mention{Name: name}).nameKey()
		one.others, one.fits = false, func(m *mention) bool { return m.nameKey() == key }
		if o := one.hitOf(r); o.Name == name {
			all = append(all, o)
		}
	}
	return all
}

// statusPage returns the page that says what h has as its status; nil without one.
func (k *hitMaker) statusPage(h *Hit, all []statement) *Evidence {
	for _, s := range all {
		if h.Status != "" && s.fit != anothers && s.mention.Gone == 0 && s.status().String() == h.Status {
			e := k.evidence(s.mention, true)
			return &e
		}
	}
	return nil
}

// isLoose reports whether a card of no street collects pages of strangers, "Oldenburg, 26123": what
// each of them has there is not what the others have.
func (h *Hit) isLoose(all []statement) bool {
	return h.Street == "" && (len(h.Names) > 0 || h.Hosts > 1 &&
		slices.ContainsFunc(all, func(s statement) bool { return s.fit != namedSo }))
}

// place sets the coordinate of the hit.
func (k *hitMaker) place(h *Hit, all []*mention) {
	at := bestPlaced(all)
	if !at.located() {
		return
	}
	h.HasPoint, h.Point, h.Place = true, at.Point, at.Place
	h.Precision, h.Level = at.Precision.String(), at.Level.String()
	if k.center != nil {
		h.Distance = geo.DistanceHaversine(*k.center, at.Point)
	}
}

func (k *hitMaker) evidence(m *mention, first bool) Evidence {
	e := Evidence{
		URL: m.URL, Site: m.site, Title: m.Title, Lang: m.Lang, Fetched: timeOf(m.Fetched), Gone: timeOf(m.Gone),
		Confidence: m.Confidence, Origin: m.origin(),
	}
	if first || k.marks.all {
		e.Snippet = k.marks.snippet(m)
	}
	return e
}

// hosts counts the hosts of the pages.
func (r *record) hosts() int {
	hosts := map[string]bool{}
	for _, m := range r.Mentions {
		hosts[m.host] = true
	}
	for host := range r.More {
		hosts[host] = true
	}
	return len(hosts)
}

// goneSince returns since when no page states the address; zero: one does.
func goneSince(r *record) time.Time {
	gone := int64(0)
	for _, m := range r.Mentions {
		if m.Gone == 0 {
			return time.Time{}
		}
		gone = max(gone, m.Gone)
	}
	if len(r.More) > 0 {
		return time.Time{}
	}
	return timeOf(gone)
}

// timeOf returns the zero time for 0.
func timeOf(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0).UTC()
}

// merge copies fields that h lacks from m.
func (h *Hit) merge(m *mention) {
	h.Unit, h.State, h.Country = cmp.Or(h.Unit, m.Unit), cmp.Or(h.State, m.State), cmp.Or(h.Country, m.Land)
	h.Level = cmp.Or(h.Level, m.Level.String())
	h.Precision = cmp.Or(h.Precision, m.Precision.String())
	h.Confidence = max(h.Confidence, m.Confidence)
}
