package api

import (
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/differences"
	"gazehound/index/export"
	"gazehound/index/web"
	"gazehound/internal/kind"
)

// maxPOIs is how many points of interest are compared with the hits of an answer.
const maxPOIs = 60

// pois returns the points of interest of the map that fit a request, best first, and those of them
// that a hit is, by its ID.
func (s *server) pois(a *params, hits []index.Hit) (others []gazetteer.Place, same map[string]gazetteer.Place) {
	if s.Gazetteer == nil || a.Cursor != "" || a.Text == "" && len(a.Kind) == 0 || a.onlyPages() {
		return nil, nil
	}
	about := index.SubjectOf(a.Query)
	if len(about.Words) == 0 {
		for _, name := range a.Kind {
			about.Kinds = append(about.Kinds, kind.Find(name)...)
		}
	}
	mayShow, err := s.mayShow(a, &about)
	if err != nil {
		return nil, nil // the search has reported it
	}
	q := gazetteer.POIQuery{Near: a.Center, Limit: maxPOIs, Fits: mayShow}
	if about.Where != "" && q.Near == nil {
		if at, _, ok := s.locate(about.Where); ok {
			q.Near = &at
		}
	}
	same = map[string]gazetteer.Place{}
	for _, p := range s.findPOIs(q, about) {
		i := slices.IndexFunc(hits, func(h index.Hit) bool { return differences.Same(&p, &h) })
		if i < 0 {
			others = append(others, p)
		} else if same[hits[i].ID].Object == nil {
			same[hits[i].ID] = p
		}
	}
	return others, same
}

// findPOIs looks for what is called so ("Irish Pub"), then for the kinds that the words mean; where
// there are none, for the words in names.
func (s *server) findPOIs(q gazetteer.POIQuery, about index.Subject) (found []gazetteer.Place) {
	ofKind := q
	ofKind.Tags = about.Kinds
	if len(about.Words) == 0 {
		if len(about.Kinds) == 0 {
			return nil
		}
		return s.Gazetteer.POIs(ofKind)
	}
	q.Words = about.Words
	named := s.Gazetteer.POIs(q)
	if len(about.Kinds) == 0 {
		return named
	}
	whole := gazetteer.Key(strings.Join(about.Words, ""))
	for _, p := range named {
		if slices.ContainsFunc(p.Names, func(name string) bool { return gazetteer.Key(name) == whole }) {
			found = append(found, p)
		}
	}
	for _, p := range s.Gazetteer.POIs(ofKind) {
		if len(found) < q.Limit && !slices.ContainsFunc(found, func(o gazetteer.Place) bool { return o.ID == p.ID }) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return named
	}
	return found
}

// onlyPages reports whether a filter asks for what only pages have.
func (a *params) onlyPages() bool {
	return len(a.Host) > 0 || len(a.Month) > 0 || !a.Since.IsZero() || !a.Until.IsZero() || a.SiteWide != nil ||
		a.InOSM != nil && !*a.InOSM || a.AddressOnly || a.parts != [4]string{}
}

// mayShow returns whether a point of interest fits the filters of a request.
func (s *server) mayShow(a *params, about *index.Subject) (func(*gazetteer.Place) bool, error) {
	fits, err := a.Fits()
	return func(p *gazetteer.Place) bool {
		h := differences.HitOf(p)
		return s.serves(p) && fits(h) && (about.Open == nil || h.OpenThen(*about.Open))
	}, err
}

// onMapOf returns a point of interest for the page.
func onMapOf(p *gazetteer.Place) web.OnMap {
	h := differences.HitOf(p)
	return web.OnMap{Title: h.Name, Place: p.ID, Point: p.Point, Hit: h}
}

// photonPOI returns a point of interest as a feature for Photon's clients.
func photonPOI(place *gazetteer.Place, a *params) export.Feature {
	h := differences.HitOf(place)
	f := photonHit(h, a.Center)
	p := f.Properties.(*photonProperties)
	p.Known = "map"
	p.OSMType, p.OSMID = osmObject(place.ID)
	return f
}
