package index

import (
	"cmp"
	"slices"
	"time"

	"gazehound/gazetteer"
)

// maxEvidence bounds the pages that a hit shows.
const maxEvidence = 5

// hit reads some mentions of an address: the one that fits best, and those of
// the others that prove it best.
func (s *search) hit(q *Query, c *centre, r *ranked, marks *marker) (Hit, error) {
	g := s.groups[r.group]
	var wish *row
	var best *mention
	var bestRow uint32
	if s.ranked {
		bestRow = s.bestRow(r.group)
		p, n := s.v.at(bestRow)
		var err error
		if best, err = p.mention(n); err != nil {
			return Hit{}, err
		}
		if marks.beside(best) {
			wish = &p.all[n]
		}
	}
	var fits func(*row) bool
	if !s.filter.all {
		fits = s.filter.fits
	}
	a := s.v.account(r.group, fits, wish)
	all := make([]evident, 0, maxEvidence)
	for _, o := range a.statements {
		if len(all) == maxEvidence {
			break
		}
		if best != nil && o.number() == bestRow {
			all = slices.Insert(all, 0, evident{best, o})
			best = nil
			continue
		}
		if best != nil && len(all) == maxEvidence-1 {
			continue // room for the one that fits best
		}
		m, err := o.part.mention(o.n)
		if err != nil {
			return Hit{}, err
		}
		all = append(all, evident{m, o})
	}
	h := s.x.assemble(addressID(r.id), all, &a, s.v, marks)
	if at := s.v.spots()[r.group]; at.located() {
		row := s.v.place(r.group)
		h.HasPoint, h.Point, h.Precision, h.Level = true, at.point(), row.precision.String(), row.level.String()
		if c != nil {
			h.Distance = metres(c.haversine(at))
		}
	}
	if q.Sort == ByName {
		h.Name = s.v.known(r.group).shownAs()
	}
	if s.ranked {
		h.Score = float64(g.sum)
	}
	return h, nil
}

// An evident is a statement with what is stored of it.
type evident struct {
	*mention
	statement
}

// assemble makes a hit of an account and of some of its statements, the best
// one first.
func (x *Index) assemble(id string, all []evident, a *account, v *view, marks *marker) Hit {
	first := all[0]
	h := Hit{
		ID: id, Site: v.texts[a.statements[0].row().site].shownAs(), Name: a.name, Names: a.others, Distance: -1, Mentions: len(a.statements), Hosts: a.hosts,
		Street: first.Street, HouseNumber: first.Number, Postcode: first.Code, City: first.City, State: first.State, Country: first.Land,
		FirstSeen: time.Unix(a.first, 0).UTC(), LastSeen: time.Unix(a.last, 0).UTC(),
		Directory: a.statements[0].own < leastOwn, Role: a.role.String(), SiteWide: a.siteWide, Kind: kindName(a.kind), Person: true,
	}
	h.Evidence = make([]Evidence, 0, len(all))
	gone, left := int64(0), len(a.statements)
	for i, e := range all {
		m := e.mention
		var snippet Snippet
		if i == 0 || marks.all {
			snippet = marks.snippet(m)
		}
		if m.Gone != 0 {
			gone, left = max(gone, m.Gone), left-1
		}
		h.merge(m)
		if e.fit != anothers {
			h.Person = h.Person && m.Person
		}
		h.Evidence = append(h.Evidence, Evidence{
			URL: m.URL, Site: v.texts[e.row().site].shownAs(), Title: m.Title, Lang: m.Lang, Snippet: snippet,
			Fetched: time.Unix(m.Fetched, 0).UTC(), Gone: timeOf(m.Gone), Confidence: m.Confidence, Origin: m.Origin.String(),
		})
	}
	// What belongs to the name comes from those who use it first.
	for _, fit := range [...]uint8{namedSo, meant} {
		for _, e := range all {
			if e.fit == fit {
				h.belong(e.mention)
			}
		}
	}
	if left == 0 {
		h.Gone = timeOf(gone)
	}
	return h
}

// timeOf returns the zero time for 0.
func timeOf(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0).UTC()
}

// merge takes from m what h has not got yet.
func (h *Hit) merge(m *mention) {
	h.Unit, h.State, h.Country = cmp.Or(h.Unit, m.Unit), cmp.Or(h.State, m.State), cmp.Or(h.Country, m.Land)
	precision := m.Precision.String()
	if m.Precision > gazetteer.NoPrecision && (!h.HasPoint || m.Precision == gazetteer.HousePrecision && h.Precision != precision) {
		h.HasPoint, h.Point, h.Precision, h.Level, h.Place = true, m.Point, precision, m.Level.String(), m.Place
	}
	h.Level = cmp.Or(h.Level, m.Level.String())
	h.Precision = cmp.Or(h.Precision, precision)
	h.Confidence = max(h.Confidence, m.Confidence)
}

// belong takes from m what h has not got yet of what belongs to its name.
func (h *Hit) belong(m *mention) {
	h.Phone, h.Email, h.Website, h.Hours = cmp.Or(h.Phone, m.Phone), cmp.Or(h.Email, m.Email), cmp.Or(h.Website, m.Home), cmp.Or(h.Hours, m.Hours)
}
