package osm

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"github.com/paulmach/osm"

	"gazehound/gazetteer"
	"gazehound/internal/disk"
)

// A collector gathers the objects of an extract that matter; finish (emit.go) turns them
// into places.
type collector struct {
	options Options
	extract Extract
	dated   bool // the file's header says the date
	all     bool // keep every way: relations come after them

	nodes   nodeStore
	refs    []int64           // of all kept ways, one after the other
	ways    map[int64][2]int  // kept ways → their part of refs
	members map[member]string // of relations: outlineMember, or the name of the street of a house
	areas   []*area

	houses *spool    // objects with an address
	pois   *spool    // named objects that are something
	lines  *spool    // named highways
	shapes *spool    // ways that a map shows, with Options.Shape; street is their kind
	waters []*area   // relations that a map shows
	places []feature // nodes
	sites  []feature

	interpolations []interpolation
	numbered       map[int64]*feature // nodes with a house number that end interpolations; all of an XML extract

	unchecked int   // since the last call of Options.Room
	err       error // of what cannot return one
}

// An interpolation is a way along which house numbers run.
type interpolation struct {
	feature
	step int
}

type member struct {
	kind byte // 'n' or 'w'
	id   int64
}

// A feature is one object. Its coordinate comes from its nodes once they are
// known.
type feature struct {
	id    int64
	kind  byte // 'n', 'w' or 'r'
	has   bool // point is set
	point orb.Point
	names []string // of a place, a street or what is at a house; the web site
	tags  []string // of what is at a house

	street, number, postcode, city, state, country string
	place                                          string  // the value of place=*
	way                                            int64   // that stands for the place of a relation
	refs                                           []int64 // nodes of a way
	population                                     int
}

// An area is a boundary in the making.
type area struct {
	feature
	postal  bool
	level   int
	outer   []int64 // ways
	inner   []int64
	isoCode string // "DE" of level 2, "DE-RP" of the states
	isCity  bool   // of a city or a part of one, once the surroundings are known
	shape   orb.MultiPolygon
	bound   orb.Bound
}

func newCollector(o Options) (*collector, error) {
	c := &collector{options: o, ways: map[int64][2]int{}, members: map[member]string{}, numbered: map[int64]*feature{}}
	c.nodes.wanted = disk.Sorter{Dir: o.TempDir, Memory: 32 << 20}
	for _, s := range []**spool{&c.houses, &c.pois, &c.lines, &c.shapes} {
		var err error
		*s, err = newSpool(o.TempDir)
		if err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// close deletes the temporary files.
func (c *collector) close() {
	for _, s := range []*spool{c.houses, c.pois, c.lines, c.shapes} {
		if s != nil {
			s.close()
		}
	}
	c.nodes.close()
}

var placeKinds = map[string]bool{
	"city": true, "town": true, "village": true, "hamlet": true, "suburb": true, "borough": true,
	"quarter": true, "municipality": true,
}

// interesting reports whether an object with these tags becomes a place, gives
// evidence for the addresses of its neighbours, or has a web site.
func interesting(tags osm.Tags) bool {
	for _, t := range tags {
		switch t.Key {
		case "addr:housenumber", "addr:postcode", "addr:city", "addr:street", "addr:place",
			"addr:interpolation", "website", "contact:website", "url":
			return true
		case "place":
			if placeKinds[t.Value] {
				return true
			}
		case "name":
			if isPOI(tags) {
				return true
			}
		}
	}
	return false
}

// isPOI reports whether a named object is something that people look for. The garden or pool of a
// private home is not, nor is a house with a name.
func isPOI(tags osm.Tags) bool {
	if tags.Find("name") == "" || tags.Find("leisure") != "" && tags.Find("access") == "private" {
		return false
	}
	return slices.ContainsFunc(tags, func(t osm.Tag) bool {
		switch t.Key {
		case "railway", "public_transport": // not tracks and platforms
			return t.Value == "station" || t.Value == "halt"
		}
		return gazetteer.IsPOIKey(t.Key) && t.Value != "no"
	})
}

func isStreet(tags osm.Tags) bool {
	switch tags.Find("highway") {
	case "", "bus_stop", "platform", "street_lamp", "traffic_signals", "crossing", "stop", "motorway_junction",
		"services", "rest_area", "elevator", "proposed", "corridor":
		return false
	}
	return tags.Find("name") != ""
}

func isBoundary(tags osm.Tags) bool {
	switch tags.Find("boundary") {
	case "administrative", "postal_code":
		return true
	}
	return placeKinds[tags.Find("place")]
}

func (c *collector) seen(t time.Time) {
	if !c.dated && t.Year() > 2004 && t.After(c.extract.Date) {
		c.extract.Date = t
	}
}

func (c *collector) node(n *osm.Node) {
	c.seen(n.Timestamp)
	if interesting(n.Tags) {
		f := feature{id: int64(n.ID), kind: 'n', has: true, point: n.Point()}
		if _, ends := c.numbered[f.id]; (ends || c.all) && n.Tags.Find("addr:housenumber") != "" {
			end := f
			end.setAddress(n.Tags)
			c.numbered[f.id] = &end
		}
		c.feature(f, n.Tags)
	}
}

func (c *collector) way(w *osm.Way) {
	wanted := interesting(w.Tags) || isStreet(w.Tags) || isBoundary(w.Tags)
	outline := c.all || isBoundary(w.Tags) || c.members[member{'w', int64(w.ID)}] == outlineMember
	shape := c.wantsShape(w)
	if !wanted && !outline && !shape {
		return
	}
	c.seen(w.Timestamp)
	f := feature{id: int64(w.ID), kind: 'w', refs: make([]int64, len(w.Nodes))}
	for i, n := range w.Nodes {
		f.refs[i] = int64(n.ID)
	}
	if !c.all && c.err == nil {
		c.err = c.nodes.want(f.refs)
	}
	if outline {
		from := len(c.refs)
		c.refs = append(c.refs, f.refs...)
		c.ways[f.id] = [2]int{from, len(c.refs)}
	}
	if shape {
		c.keepShape(f, w.Tags)
	}
	if !wanted {
		return
	}
	if step := interpolationStep(w.Tags.Find("addr:interpolation")); step > 0 && len(f.refs) > 1 {
		c.interpolations = append(c.interpolations, c.interpolation(f, w.Tags, step))
		return
	}
	if isBoundary(w.Tags) && len(w.Nodes) > 3 && w.Nodes[0].ID == w.Nodes[len(w.Nodes)-1].ID {
		a := c.newArea(f, w.Tags)
		a.outer = []int64{int64(w.ID)}
	}
	c.feature(f, w.Tags)
	if isStreet(w.Tags) {
		c.extract.Highways++
		f.names = namesOf(w.Tags)
		f.postcode = w.Tags.Find("postal_code")
		c.lines.add(&f)
	}
}

// interpolationStep returns the step between house numbers for a value of addr:interpolation, or
// 0 if it does not define one.
func interpolationStep(value string) int {
	switch value {
	case "odd", "even", "2":
		return 2
	case "all", "1":
		return 1
	}
	return 0
}

func (c *collector) interpolation(f feature, tags osm.Tags, step int) interpolation {
	f.setAddress(tags)
	if f.street == "" {
		f.street = tags.Find("name")
	}
	if !c.all {
		for _, id := range f.refs {
			c.numbered[id] = nil
		}
	}
	return interpolation{f, step}
}

func (c *collector) relation(r *osm.Relation) {
	c.seen(r.Timestamp)
	f := feature{id: int64(r.ID), kind: 'r'}
	if c.options.Shape != nil && r.Tags.Find("type") == "multipolygon" && shapeKind(r.Tags, true) == gazetteer.Water {
		c.water(r)
	}
	switch kind := r.Tags.Find("type"); {
	case kind == "associatedStreet" || kind == "street":
		name := firstOf(r.Tags, "name", "addr:street")
		for _, m := range r.Members {
			if m.Role != "street" && name != "" {
				c.member(m, name)
			}
		}
	case isBoundary(r.Tags):
		c.outline(c.newArea(f, r.Tags), r)
	case interesting(r.Tags):
		// A building or a park of several parts: its first outer way stands for it.
		for _, m := range r.Members {
			if m.Type == osm.TypeWay && m.Role != "inner" {
				c.member(m, outlineMember)
				f.way = m.Ref
				c.feature(f, r.Tags)
				break
			}
		}
	}
}

// outline notes the ways that a is made of.
func (c *collector) outline(a *area, r *osm.Relation) {
	for _, m := range r.Members {
		if m.Type != osm.TypeWay {
			continue
		}
		c.member(m, outlineMember)
		switch m.Role {
		case "inner":
			a.inner = append(a.inner, m.Ref)
		case "outer", "":
			a.outer = append(a.outer, m.Ref)
		}
	}
}

// outlineMember marks the ways of outlines in members; no street has this name.
const outlineMember = "\x00"

func (c *collector) member(m osm.Member, as string) {
	key := member{'w', m.Ref}
	if m.Type == osm.TypeNode {
		key.kind = 'n'
	}
	if old := c.members[key]; old == "" || old == outlineMember {
		c.members[key] = as
	}
}

func (c *collector) newArea(f feature, tags osm.Tags) *area {
	f.names = namesOf(tags)
	f.place = tags.Find("place")
	f.population = number(tags.Find("population"))
	a := &area{feature: f, postal: tags.Find("boundary") == "postal_code"}
	a.level = number(tags.Find("admin_level"))
	if a.level > 12 {
		a.level = 0
	}
	a.isoCode = firstOf(tags, "ISO3166-2", "ISO3166-1:alpha2", "ISO3166-1", "country_code_iso3166_1_alpha_2")
	if a.postal {
		a.postcode = firstOf(tags, "postal_code", "addr:postcode")
		if a.postcode == "" {
			if name, _, _ := strings.Cut(tags.Find("name"), " "); strings.ContainsAny(name, "0123456789") {
				a.postcode = name
			}
		}
		a.names = nil
		if note := tags.Find("note"); a.postcode != "" && strings.HasPrefix(note, a.postcode+" ") {
			// as German postal areas are noted: "67655 Kaiserslautern"
			a.city = strings.TrimSpace(note[len(a.postcode):])
		}
	}
	c.areas = append(c.areas, a)
	return a
}

func firstOf(tags osm.Tags, keys ...string) string {
	for _, k := range keys {
		if v := tags.Find(k); v != "" {
			return v
		}
	}
	return ""
}

func number(s string) int {
	n, err := strconv.Atoi(strings.NewReplacer(" ", "", ",", "", ".", "", "'", "").Replace(strings.TrimSpace(s)))
	if err != nil || n < 0 || n > 1e10 {
		return 0
	}
	return n
}

// namesOf returns the usual name and the others that people write.
func namesOf(tags osm.Tags) []string {
	var all []string
	for _, key := range []string{"name", "official_name", "alt_name", "short_name", "loc_name", "old_name",
		"int_name", "name:de", "name:en", "name:fr", "name:it", "name:es", "name:nl", "name:ca"} {
		for name := range strings.SplitSeq(tags.Find(key), ";") {
			name = strings.TrimSpace(name)
			if name != "" && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// setAddress sets the address of f from its tags.
func (f *feature) setAddress(tags osm.Tags) {
	f.street = firstOf(tags, "addr:street", "addr:place", "addr:hamlet")
	f.number = tags.Find("addr:housenumber")
	f.postcode = firstOf(tags, "addr:postcode", "postal_code")
	f.city = tags.Find("addr:city")
	f.state = tags.Find("addr:state")
	f.country = strings.ToUpper(firstOf(tags, "addr:country", "is_in:country_code"))
	if len(f.country) != 2 {
		f.country = countryOfPhone(firstOf(tags, "phone", "contact:phone"))
	}
}

// objectKeys are the keys of tags that say what is at a house.
var objectKeys = []string{"amenity", "shop", "tourism", "office", "craft", "healthcare", "leisure", "historic",
	"cuisine", "healthcare:speciality", "religion", "brand"}

// objectTags returns the tags for what an object is and when it is open, opening_hours last; none
// if no tag says what it is.
func objectTags(tags osm.Tags) (all []string) {
	for _, key := range objectKeys {
		if value := tags.Find(key); value != "" && value != "no" {
			all = append(all, key+"="+value)
		}
	}
	if hours := tags.Find("opening_hours"); hours != "" && len(all) > 0 {
		all = append(all, "opening_hours="+hours)
	}
	return all
}

// contactKeys are the keys of further tags of points of interest.
var contactKeys = []string{"club", "railway", "public_transport", "wheelchair", "phone", "contact:phone",
	"website", "contact:website"}

// addPOI keeps a named object with what it is, when it is open and how it is reached.
func (c *collector) addPOI(f feature, tags osm.Tags) {
	if !isPOI(tags) {
		return
	}
	f.names, f.tags = namesOf(tags), objectTags(tags)
	for _, key := range contactKeys {
		if value := tags.Find(key); value != "" {
			f.tags = append(f.tags, key+"="+value)
		}
	}
	c.pois.add(&f)
}

// feature adds one object to the collections that its tags call for.
func (c *collector) feature(f feature, tags osm.Tags) {
	f.setAddress(tags)
	if f.number != "" {
		c.extract.HouseNumbers++
	}
	if f.number != "" && tags.Find("name") != "" {
		f.tags = objectTags(tags)
		if len(f.tags) > 0 {
			f.names = namesOf(tags)
		}
	}
	if f.number != "" || f.street != "" || f.postcode != "" || f.city != "" || f.country != "" {
		c.houses.add(&f)
	}
	c.addPOI(f, tags)
	if kind := tags.Find("place"); f.kind == 'n' && placeKinds[kind] && tags.Find("name") != "" {
		p := f
		p.place, p.names, p.population = kind, namesOf(tags), number(tags.Find("population"))
		p.postcode = firstOf(tags, "postal_code", "openGeoDB:postal_codes", "addr:postcode")
		c.places = append(c.places, p)
	}
	objects := false
	for _, key := range []string{"website", "contact:website", "url"} {
		for value := range strings.SplitSeq(tags.Find(key), ";") {
			if strings.TrimSpace(value) == "" {
				continue
			}
			if !objects {
				objects = true
				c.extract.Websites++
			}
			site, social := CleanURL(value)
			if social {
				c.extract.SocialMedia++
			}
			if site != "" {
				s := feature{id: f.id, kind: f.kind, has: f.has, point: f.point, way: f.way, refs: f.refs,
					names: []string{site}}
				c.sites = append(c.sites, s)
			}
		}
	}
}

// countryOfPhone returns the country of an international phone number, for calling codes of one
// country only.
func countryOfPhone(phone string) string {
	phone = strings.NewReplacer(" ", "", "(", "", ")", "", "-", "").Replace(phone)
	if rest, ok := strings.CutPrefix(phone, "00"); ok {
		phone = "+" + rest
	}
	for n := min(4, len(phone)); n >= 3; n-- {
		if country, ok := callingCodes[phone[:n]]; ok {
			return country
		}
	}
	return ""
}

var callingCodes = map[string]string{
	"+49": "DE", "+43": "AT", "+41": "CH", "+423": "LI", "+31": "NL", "+32": "BE", "+33": "FR", "+34": "ES",
	"+352": "LU", "+376": "AD", "+377": "MC",
	"+45": "DK", "+46": "SE", "+48": "PL", "+420": "CZ", "+61": "AU", "+36": "HU", "+30": "GR", "+351": "PT",
	"+353": "IE", "+386": "SI", "+421": "SK",
}

// locate sets the coordinate of a feature that is a way or relation: the
// centroid of a closed way, the middle of a line.
func (c *collector) locate(f *feature) {
	if f.has {
		return
	}
	refs := f.refs
	if len(refs) == 0 {
		span, ok := c.ways[f.way]
		if !ok {
			return
		}
		refs = c.refs[span[0]:span[1]]
	}
	f.point, f.has = centre(c.nodes.line(refs))
}

// centre returns the centroid of a closed line, or the point half-way along
// an open one.
func centre(line orb.LineString) (orb.Point, bool) {
	switch {
	case len(line) == 0:
		return orb.Point{}, false
	case len(line) > 3 && line[0] == line[len(line)-1]:
		p, size := planar.CentroidArea(orb.Ring(line))
		if size != 0 && !math.IsNaN(p[0]) {
			return p, true
		}
	}
	return (&gazetteer.Range{Line: line}).At(0.5), true
}
