package index

import (
	"fmt"
	"slices"
	"time"

	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/index/texts"
	"gazehound/internal/kind"

	"github.com/blevesearch/bleve/v2/search/query"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// Filters narrow a search or a walk. All that are given must fit; of several values of one filter
// one must fit, and there are at most MaxValues. The zero Filters narrow nothing.
//
// A new filter is a field here and its declaration, named in allFilters: documents, queries, the API, its
// description, the command line and the page follow. Where documents get a new keyword for it, Format
// rises.
type Filters struct {
	Box    *orb.Bound // lon, lat; Min lon > Max lon crosses the antimeridian
	Center *orb.Point // lon, lat; narrows nothing without Radius
	Radius float64    // metres around Center, up to MaxRadius

	Street   []string // any usual spelling of the whole name
	Postcode []string
	City     []string
	Host     []string // host or site
	Kind     []string // tags or names that kind.Find knows
	Month    []string // first seen, as ByMonth counts them

	Open      string              // only places that are open then, as ReadOpen reads it; "": whenever
	Located   bool                // only addresses with a coordinate
	Precision gazetteer.Precision // of the coordinate, at least
	Level     geoparse.Level      // at least
	Since     time.Time           // only addresses that were seen for the first time then or later
	Until     time.Time           // only addresses that were seen for the first time then or earlier
	InOSM     *bool               // whether the gazetteer has the house, and has it from OpenStreetMap
	SiteWide  *bool               // whether the address stands on most pages of a site
}

// AllFilters returns the declarations of all filters.
func AllFilters() []Filter { return allFilters }

// allFilters are the filters in the order in which they are offered.
var allFilters = []Filter{
	filterBox, filterRadius, filterStreet, filterPostcode, filterCity, filterHost, filterKind, filterMonth, filterOpen,
	filterPrecision, filterLevel, filterSince, filterOsm, filterSiteWide,
}

var filterBox = Filter{
	Name: "bbox", Kind: Special, Area: true, Example: "8.1,53.1,8.3,53.2",
	Flag: "only in this box: `minLon,minLat,maxLon,maxLat`",
	Want: texts.Phrase{"en": "minLon,minLat,maxLon,maxLat", "de": "minLon,minLat,maxLon,maxLat"},
	Chip: texts.Phrase{"en": "in a chosen area", "de": "in einem Ausschnitt"},
	read: func(q *Filters, value string, _ time.Time) (wrong string, ok bool) {
		b, ok, ordered := ReadBox(value)
		q.Box = &b
		if ok && !ordered {
			wrong = "has latitudes out of order"
		}
		return wrong, ok && ordered
	},
	check: func(q *Filters) error {
		if b := q.Box; b != nil && (!onEarth(b.Min) || !onEarth(b.Max) || b.Min[1] > b.Max[1]) {
			return fmt.Errorf("box %v is not min lon, min lat, max lon, max lat in degrees", *b)
		}
		return nil
	},
	narrow: func(s *searcher, n *narrowing) {
		if s.q.Box != nil {
			n.must = append(n.must, boxArea(*s.q.Box))
		}
	},
	fits: func(q *Filters, h *Hit) bool { return q.Box == nil || h.HasPoint && boxHas(*q.Box, h.Point) },
}

var filterRadius = Filter{
	Name: "radius", Kind: Special, Area: true,
	Chip: texts.Phrase{"en": "around %s", "de": "um %s"},
	check: func(q *Filters) error {
		switch {
		case q.Center != nil && !onEarth(*q.Center):
			return fmt.Errorf("centre %v is not lon, lat in degrees", *q.Center)
		case !(q.Radius >= 0 && q.Radius <= MaxRadius):
			return fmt.Errorf("radius %v is not 0 to %d metres", q.Radius, MaxRadius)
		case q.Radius > 0 && q.Center == nil:
			return fmt.Errorf("a radius needs a centre")
		}
		return nil
	},
	narrow: func(s *searcher, n *narrowing) {
		if s.q.Radius > 0 {
			n.must = append(n.must, circleArea(*s.q.Center, s.q.Radius))
		}
	},
	fits: func(q *Filters, h *Hit) bool {
		return q.Radius == 0 || h.HasPoint && geo.Distance(*q.Center, h.Point) <= q.Radius
	},
}

var filterStreet = Filter{
	Name: "street", Kind: Text, Facets: []Facet{ByStreet}, Example: "Lange Straße",
	Flag: "only this `STREET`, in any usual spelling (repeatable: one of them)",
	Want: texts.Phrase{"en": "the name of a street", "de": "den Namen einer Straße"},
	Chip: texts.Phrase{"en": "street %s", "de": "Straße %s"},
	Key:  gazetteer.StreetKey,
	fits: func(q *Filters, h *Hit) bool { return among(q.Street, h.Street, gazetteer.StreetKey) },
	add:  eachMention(func(m *mention, d *builder) { d.keyword(fieldStreet, gazetteer.StreetKey(m.Street)) }),
}.keywords(func(q *Filters) *[]string { return &q.Street }, fieldStreet)

var filterPostcode = Filter{
	Name: "postcode", Kind: Text, Facets: []Facet{ByPostcode}, Example: "26122",
	Flag: "only this `POSTCODE` (repeatable)",
	Want: texts.Phrase{"en": "a whole postcode", "de": "eine ganze Postleitzahl"},
	Chip: texts.Phrase{"en": "postcode %s", "de": "Postleitzahl %s"},
	Key:  gazetteer.Key,
	fits: func(q *Filters, h *Hit) bool { return among(q.Postcode, h.Postcode, gazetteer.Key) },
	add:  eachMention(func(m *mention, d *builder) { d.keyword(fieldCode, gazetteer.Key(m.Code)) }),
}.keywords(func(q *Filters) *[]string { return &q.Postcode }, fieldCode)

var filterCity = Filter{
	Name: "city", Kind: Text, Facets: []Facet{ByCity}, Example: "Oldenburg",
	Flag: "only in this `TOWN` (repeatable)",
	Want: texts.Phrase{"en": "the name of a city", "de": "den Namen eines Ortes"},
	Chip: texts.Phrase{"en": "town %s", "de": "Ort %s"},
	Key:  gazetteer.Key,
	fits: func(q *Filters, h *Hit) bool { return among(q.City, h.City, gazetteer.Key) },
	add:  eachMention(func(m *mention, d *builder) { d.keyword(fieldCity, gazetteer.Key(m.City)) }),
}.keywords(func(q *Filters) *[]string { return &q.City }, fieldCity)

var filterHost = Filter{
	Name: "host", Kind: Text, Facets: []Facet{BySite, ByHost}, Example: "example.org",
	Flag:  "only this `HOST` or site (repeatable)",
	Want:  texts.Phrase{"en": "a host or site such as www.example.org", "de": "eine Website wie www.example.org"},
	Chip:  texts.Phrase{"en": "site %s", "de": "Website %s"},
	Key:   hostKey,
	fits:  func(q *Filters, h *Hit) bool { return len(q.Host) == 0 || h.isOn(q.hosts()) },
	names: func(q *Filters, m *mention) bool { return oneOf(q.hosts(), m.host, m.site) },
	add: func(r *record, d *builder) {
		for _, m := range r.Mentions {
			d.keyword(fieldHost, m.host)
		}
		for host := range r.More {
			d.keyword(fieldHost, host)
		}
		for site := range r.sites() {
			d.keyword(fieldSite, site)
		}
	},
}.keywords(func(q *Filters) *[]string { return &q.Host }, fieldHost, fieldSite)

var filterKind = Filter{
	Name: "kind", Kind: Special, Facets: []Facet{ByKind}, Example: "amenity=dentist",
	Flag: "only this `KIND` of place (repeatable): amenity=dentist, shop for all shops, or a name such as Zahnarzt",
	Want: texts.Phrase{
		"en": "a kind of place: a tag of OpenStreetMap such as amenity=dentist, a key such as shop for all of " +
			"its kinds, or a name in English, German, French, Spanish, Italian or Dutch",
		"de": "eine Art von Ort: ein Tag von OpenStreetMap wie amenity=dentist, ein Schlüssel wie shop für alle " +
			"seine Arten, oder ein Name auf Deutsch, Englisch, Französisch, Spanisch, Italienisch oder Niederländisch"},
	Chip:  texts.Phrase{"en": "%s", "de": "%s"},
	Known: func() []string { return kind.Names("en") },
	Key:   func(value string) string { return fmt.Sprint(kind.Find(value)) },
	valid: func(value string) bool { return kind.Find(value) != nil },
	check: func(q *Filters) error {
		var kinds []string
		for _, name := range q.Kind {
			ids := kind.Find(name)
			if ids == nil {
				return fmt.Errorf("kind %q is neither a tag of OpenStreetMap such as amenity=dentist nor the name "+
					"of one", name)
			}
			kinds = append(kinds, ids...)
		}
		q.Kind = kinds
		return nil
	},
	fits:  func(q *Filters, h *Hit) bool { return len(q.Kind) == 0 || h.isOf(q.Kind) },
	names: func(q *Filters, m *mention) bool { return oneOf(q.Kind, m.Kind, kind.Main(m.Kind)) },
	add: eachMention(func(m *mention, d *builder) {
		d.keyword(fieldKind, m.kind())
		d.keyword(fieldKind, kind.Main(m.kind()))
	}),
}.keywords(func(q *Filters) *[]string { return &q.Kind }, fieldKind)

var filterMonth = Filter{
	Name: "month", Kind: Special, Facets: []Facet{ByMonth}, Example: "2026-11",
	Flag: "only what was first seen in this `MONTH` such as 2026-11 (repeatable)",
	Want: texts.Phrase{"en": "the month when something was first seen, such as 2026-11",
		"de": "den Monat, in dem etwas zuerst gesehen wurde, etwa 2026-11"},
	Chip:  texts.Phrase{"en": "First seen: %s", "de": "Zuerst gesehen: %s"},
	valid: isMonth,
	check: func(q *Filters) error {
		for _, month := range q.Month {
			if !isMonth(month) {
				return fmt.Errorf("month %q is not of the form 2026-11", month)
			}
		}
		return nil
	},
	fits: func(q *Filters, h *Hit) bool {
		return len(q.Month) == 0 || !h.FirstSeen.IsZero() && slices.Contains(q.Month, h.FirstSeen.UTC().Format(monthForm))
	},
	add: func(r *record, d *builder) {
		first, _ := r.times()
		d.keyword(fieldMonth, time.Unix(first, 0).UTC().Format(monthForm))
	},
}.keywords(func(q *Filters) *[]string { return &q.Month }, fieldMonth)

var filterOpen = Filter{
	Name: "open", Kind: Special, OfSearches: true, Example: "monday 10:00",
	Flag: "only what is open `WHEN`: now, monday, 18:30, \"monday 10:00\"",
	Want: texts.Phrase{
		"en": "a time at which places are open: now, a day such as monday, a time such as 18:30, or both: monday 10:00",
		"de": "eine Zeit, zu der Orte geöffnet sind: now, ein Tag wie montag, eine Uhrzeit wie 18:30, oder beides: " +
			"montag 10:00"},
	Chip: texts.Phrase{"en": "%s", "de": "%s"},
	read: func(q *Filters, value string, _ time.Time) (wrong string, ok bool) {
		q.Open = value
		return "", IsOpen(value)
	},
	check: func(q *Filters) error {
		if q.Open != "" && !IsOpen(q.Open) {
			return fmt.Errorf("open %q is not a time such as now, monday or monday 10:00", q.Open)
		}
		return nil
	},
	narrow: func(s *searcher, n *narrowing) { // by words of the query as well
		if s.open != nil && !s.q.AnyTime {
			n.must = append(n.must, has(fieldOpen, s.open.key()))
		}
	},
	add: eachMention(func(m *mention, d *builder) {
		for _, key := range openKeys(m.hours()) {
			d.keyword(fieldOpen, key)
		}
	}),
}

var filterPrecision = Filter{
	Name: "precision", Kind: Choice, Facets: []Facet{ByPrecision}, Example: "street",
	Values: namesOfRange(gazetteer.CityPrecision, gazetteer.HousePrecision),
	Flag: "only coordinates at least this precise: house, interpolated, street, postcode, city " +
		"(`LEAST`)",
	Want: texts.Phrase{"en": "the least precision of the coordinate", "de": "wie genau die Lage mindestens ist"},
	Chip: texts.Phrase{"en": "%s", "de": "%s"},
	read: func(q *Filters, value string, _ time.Time) (wrong string, ok bool) {
		return "", q.Precision.UnmarshalText([]byte(value)) == nil && q.Precision > 0
	},
	clear: func(q *Filters) bool {
		given := q.Precision > 0
		q.Precision = 0
		return given
	},
	check: func(q *Filters) error {
		if q.Precision > gazetteer.HousePrecision {
			return fmt.Errorf("precision %d is not one", q.Precision)
		}
		return nil
	},
	narrow: func(s *searcher, n *narrowing) {
		if least := max(s.q.Precision, gazetteer.CityPrecision); s.q.Located || s.q.Precision > 0 {
			n.must = append(n.must, has(fieldPrecision, namesOfRange(least, gazetteer.HousePrecision)...))
		}
	},
	fits: func(q *Filters, h *Hit) bool {
		return (h.HasPoint || !q.Located && q.Precision == 0) && (q.Precision == 0 ||
			slices.Contains(namesOfRange(q.Precision, gazetteer.HousePrecision), h.Precision))
	},
	add: func(r *record, d *builder) {
		if at := bestPlaced(r.Mentions); at.located() {
			d.keyword(fieldPrecision, at.Precision.String())
		}
	},
}

var filterLevel = Filter{
	Name: "level", Kind: Choice, Example: "street", Values: namesOfRange(geoparse.CityLevel, geoparse.VerifiedLevel),
	Flag: "only what the gazetteer confirms at least so far: verified, street, city (`LEAST`)",
	Want: texts.Phrase{"en": "how much the gazetteer must confirm at least",
		"de": "wie viel das Ortsverzeichnis mindestens bestätigt"},
	Chip: texts.Phrase{"en": "confirmed at least: %s", "de": "bestätigt mindestens: %s"},
	read: func(q *Filters, value string, _ time.Time) (wrong string, ok bool) {
		return "", q.Level.UnmarshalText([]byte(value)) == nil && q.Level > 0
	},
	check: func(q *Filters) error {
		if q.Level > geoparse.VerifiedLevel {
			return fmt.Errorf("level %d is not one", q.Level)
		}
		return nil
	},
	narrow: func(s *searcher, n *narrowing) {
		if s.q.Level > 0 {
			n.must = append(n.must, has(fieldLevel, namesOfRange(s.q.Level, geoparse.VerifiedLevel)...))
		}
	},
	fits: func(q *Filters, h *Hit) bool {
		return q.Level == 0 || slices.Contains(namesOfRange(q.Level, geoparse.VerifiedLevel), h.Level)
	},
	add: func(r *record, d *builder) { d.keyword(fieldLevel, bestPlaced(r.Mentions).Level.String()) },
}

var filterSince = Filter{
	Name: "since", Kind: Special, Example: "7d",
	Flag: "only what was first seen since `WHEN`: 2026-11-21, or 7d for the last seven days",
	Want: texts.Phrase{"en": "2026-11-21 or 7d", "de": "einen Tag wie 2026-11-21 oder eine Dauer wie 7d"},
	Chip: texts.Phrase{"en": "new since %s", "de": "neu seit %s"},
	read: func(q *Filters, value string, now time.Time) (wrong string, ok bool) {
		q.Since, _, ok = ReadSince(value, now)
		return "", ok
	},
	narrow: func(s *searcher, n *narrowing) {
		if !s.q.Since.IsZero() || !s.q.Until.IsZero() {
			n.must = append(n.must, seen(s.q.Since, s.q.Until))
		}
	},
	fits: func(q *Filters, h *Hit) bool {
		early := !q.Until.IsZero() && (h.FirstSeen.IsZero() || h.FirstSeen.After(q.Until))
		return !h.FirstSeen.Before(q.Since) && !early
	},
	add: func(r *record, d *builder) {
		first, _ := r.times()
		d.number(fieldFirst, float64(first))
	},
}

var filterOsm = Filter{
	Name: "in_osm", Kind: Truth, Example: false,
	Flag: "only houses that OpenStreetMap has; --in-osm=false: only what it lacks",
	Want: texts.Phrase{"en": "true or false", "de": "true oder false"},
	Chip: texts.Phrase{"en": "house number in OpenStreetMap", "de": "Hausnummer in OpenStreetMap"},
	ChipFalse: texts.Phrase{"en": "house number not in OpenStreetMap",
		"de": "Hausnummer nicht in OpenStreetMap"},
	truth: func(q *Filters) **bool { return &q.InOSM },
	narrow: func(s *searcher, n *narrowing) {
		n.haveOrNot(s.q.InOSM, fieldOSM)
	},
	fits: func(q *Filters, h *Hit) bool { return q.InOSM == nil || *q.InOSM == h.InOSM() },
	add: eachMention(func(m *mention, d *builder) {
		if m.osm() {
			d.keyword(fieldOSM, yes)
		}
	}),
}

var filterSiteWide = Filter{
	Name: "site_wide", Kind: Truth, Example: false,
	Flag: "only what stands on most pages of its site; --site-wide=false: only the rest",
	Want: texts.Phrase{"en": "true for addresses on most pages of a site, such as in its footer, or false",
		"de": "true für das, was auf den meisten Seiten einer Website steht, oder false"},
	Chip: texts.Phrase{"en": "on most pages of its website", "de": "auf den meisten Seiten der Website"},
	ChipFalse: texts.Phrase{"en": "not on most pages of its website",
		"de": "nicht auf den meisten Seiten der Website"},
	truth: func(q *Filters) **bool { return &q.SiteWide },
	narrow: func(s *searcher, n *narrowing) {
		if wanted := s.q.SiteWide; wanted != nil {
			n.sift = append(n.sift, func(fits query.Query) query.Query { return s.siteWide(fits, *wanted) })
		}
	},
	fits: func(q *Filters, h *Hit) bool { return q.SiteWide == nil || *q.SiteWide == h.SiteWide },
	add: func(r *record, d *builder) {
		for site, n := range r.sites() {
			if n > 1 {
				d.keyword(fieldOften, oftenKey(site, n))
			}
		}
	},
}
