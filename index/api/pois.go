package api

import (
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/export"
	"gazehound/index/web"
	"gazehound/internal/kind"

	"github.com/nyaruka/phonenumbers"
	"github.com/paulmach/orb/geo"
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
	q := gazetteer.POIQuery{Near: a.Center, Limit: maxPOIs, Fits: func(p *gazetteer.Place) bool {
		return s.mayShow(a, &about, p)
	}}
	if about.Where != "" && q.Near == nil {
		if at, _, ok := s.locate(about.Where); ok {
			q.Near = &at
		}
	}
	same = map[string]gazetteer.Place{}
	for _, p := range s.findPOIs(q, about) {
		i := slices.IndexFunc(hits, func(h index.Hit) bool { return isSame(&p, &h) })
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
	if len(about.Words) == 0 {
		return nil
	}
	ofKind := q
	q.Words = about.Words
	named := s.Gazetteer.POIs(q)
	if len(about.Kinds) == 0 {
		return named
	}
	ofKind.Tags = about.Kinds
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

// mayShow reports whether a point of interest fits the filters of a request.
func (s *server) mayShow(a *params, about *index.Subject, p *gazetteer.Place) bool {
	among := func(key func(string) string, wanted []string, value string) bool {
		return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w string) bool { return key(w) == key(value) })
	}
	switch {
	case !s.serves(p), a.Box != nil && !a.Box.Contains(p.Point),
		a.Radius > 0 && geo.Distance(*a.Center, p.Point) > a.Radius,
		!among(gazetteer.StreetKey, a.Street, p.Street), !among(gazetteer.Key, a.Postcode, p.Postcode),
		!among(gazetteer.Key, a.City, p.City):
		return false
	case about.Open != nil && !hitOf(p).OpenThen(*about.Open):
		return false
	}
	return len(a.Kind) == 0 || slices.ContainsFunc(a.Kind, func(name string) bool {
		return slices.ContainsFunc(kind.Find(name), p.Object.Is)
	})
}

// hitOf returns a point of interest as a hit without pages.
func hitOf(p *gazetteer.Place) *index.Hit {
	h := &index.Hit{Name: p.Names[0], Street: p.Street, HouseNumber: p.HouseNumber, Postcode: p.Postcode, City: p.City,
		State: p.State, Country: p.Country, Kind: kindOf(p.Object), HasPoint: true, Point: p.Point, Place: p.ID, Distance: -1,
		Evidence: []index.Evidence{{URL: web.OnMap{Place: p.ID, Point: p.Point}.OSM()}},
		Hours:    index.ReadHours(p.Object.Tag("opening_hours"))}
	for _, key := range []string{"website", "contact:website"} {
		if site := p.Object.Tag(key); h.Website == "" {
			h.Website = site
		}
	}
	for _, key := range []string{"phone", "contact:phone"} {
		first, _, _ := strings.Cut(p.Object.Tag(key), ";")
		if n, err := phonenumbers.Parse(first, p.Country); err == nil && h.Phone == "" && phonenumbers.IsValidNumber(n) {
			h.Phone = phonenumbers.Format(n, phonenumbers.E164)
		}
	}
	return h
}

// kindOf returns the kind of an object with the most tags, or "".
func kindOf(o *gazetteer.Object) (best string) {
	for _, tag := range o.Tags {
		if key, _, _ := strings.Cut(tag, "="); !gazetteer.IsPOIKey(key) || kind.Find(tag) == nil {
			continue
		}
		if best = tag; strings.Contains(best, "=") {
			break
		}
	}
	if cuisine := o.Tag("cuisine"); best != "" && cuisine != "" {
		if narrow := best + " cuisine=" + cuisine; kind.Find(narrow) != nil {
			return narrow
		}
	}
	return best
}

// sameDoor is how far a point of interest and a hit of one name may be apart, in metres.
const sameDoor = 40

// isSame reports whether a hit is a point of interest: at the same door, with the same name or kind.
func isSame(p *gazetteer.Place, h *index.Hit) bool {
	if h.Object == p.ID || h.Place == p.ID && h.Name == "" {
		return true
	}
	near := h.HasPoint && h.Precision == "house" && geo.Distance(h.Point, p.Point) < sameDoor
	if !covers(p, h) && !near {
		return false
	}
	alike := func(a, b string) bool {
		a, b = gazetteer.Key(a), gazetteer.Key(b)
		return a != "" && b != "" && (strings.Contains(a, b) || strings.Contains(b, a))
	}
	for _, name := range p.Names {
		if alike(name, h.Name) || slices.ContainsFunc(h.Names, func(n string) bool { return alike(name, n) }) {
			return true
		}
	}
	return h.Kind != "" && covers(p, h) && p.Object.Is(kind.Main(h.Kind))
}

// onMapOf returns a point of interest for the page.
func onMapOf(p *gazetteer.Place) web.OnMap {
	h := hitOf(p)
	return web.OnMap{Title: h.Name, Place: p.ID, Point: p.Point, Hit: h}
}

// photonPOI returns a point of interest as a feature for Photon's clients.
func photonPOI(place *gazetteer.Place, a *params) export.Feature {
	h := hitOf(place)
	f := photonHit(h, a.Center)
	p := f.Properties.(*photonProperties)
	p.Known = "map"
	p.OSMType, p.OSMID = osmObject(place.ID)
	return f
}
