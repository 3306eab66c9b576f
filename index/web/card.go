package web

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gazehound/index"
	"gazehound/index/export"
	"gazehound/index/texts"
	"gazehound/internal/kind"

	"github.com/nyaruka/phonenumbers"
	"github.com/paulmach/orb"
)

// An OnMap is a house, street, town or object of the map.
type OnMap struct {
	Title string // the address in one line, or the name of a point of interest
	Place string // ID in the gazetteer
	Point orb.Point
	Hit   *index.Hit // what the map says of a point of interest; nil: it is none
}

// OSM returns the address of the place at openstreetmap.org.
func (o OnMap) OSM() string { return export.ObjectURL(o.Place, o.Point) }

// A card is a hit in the list, in the words of the page. What page.html shows of it are fields of the
// hit and the methods of the card.
type card struct {
	Number int
	*index.Hit
	Contact contact
	v       *view
}

// Link is the page that fits best, or "" where it is no http URL.
func (c card) Link() string { return safeLink(c.Evidence[0].URL) }

// Title is what the card is called.
func (c card) Title() string {
	side, ok := c.v.Sides[c.ID]
	if c.Name == "" && ok {
		return side.Title
	}
	return cmp.Or(c.Name, c.Site)
}

// Also lists the names of what else is there.
func (c card) Also() string {
	also := strings.Join(c.Names[:min(maxAlso, len(c.Names))], " · ")
	if len(c.Names) > maxAlso {
		also += " …"
	}
	return also
}

// Tenants are those of the building that fit as well.
func (c card) Tenants() (all []link) {
	for _, o := range c.Hit.Tenants {
		all = append(all, link{cmp.Or(joined(", ", o.Name, o.Unit), c.Address()), c.v.pageOf(o.ID)})
	}
	return all
}

// Address is the address in one line.
func (c card) Address() string { return c.Line() }

// Away says how far away it is.
func (c card) Away() string {
	if c.Distance < 0 {
		return ""
	}
	return c.v.distance(c.Distance)
}

// KindName is the kind of place in the reader's language.
func (c card) KindName() string {
	if c.Kind == "" {
		return ""
	}
	return c.v.kind(c.Kind)
}

// Lang is the language of the page that fits best.
func (c card) Lang() string { return c.Evidence[0].Lang }

// Snippet is text of that page.
func (c card) Snippet() []piece { return pieces(c.Evidence[0].Snippet) }

// Repeats reports whether the snippet has no word that the card lacks without it.
func (c card) Repeats() bool {
	return repeats(c.Evidence[0].Snippet, joined(" ", c.Title(), c.Address(), c.KindName(), c.Contact.Phone, c.City))
}

// Seen is when the address was first seen.
func (c card) Seen() string { return c.v.date(c.FirstSeen) }

// Last is when a page was read last that states it.
func (c card) Last() string { return c.v.date(c.Hit.LastSeen) }

// LastSeen is when a page stated it last; "" where one still does.
func (c card) LastSeen() string {
	if c.Gone.IsZero() {
		return ""
	}
	return c.Last()
}

// Missing reports whether OpenStreetMap has no such house, as far as is known.
func (c card) Missing() bool { return c.v.OSM && c.HouseNumber != "" && !c.InOSM() && c.Gone.IsZero() }

// Edit is the address of an editor of OpenStreetMap at the place of a house that it lacks, or "".
func (c card) Edit() string {
	if !c.HasPoint || !c.Missing() {
		return ""
	}
	return fmt.Sprintf("https://www.openstreetmap.org/edit?editor=id#map=19/%.5f/%.5f", c.Point[1], c.Point[0])
}

// JOSM is the address under which JOSM, where it runs on the reader's machine, offers to add the house
// as a node, or "". It carries facts, and no text of the page.
func (c card) JOSM() string {
	if !c.HasPoint || !c.Missing() {
		return ""
	}
	return addInJOSM(c.Point, [][2]string{{"addr:street", c.Street}, {"addr:housenumber", c.HouseNumber},
		{"addr:postcode", c.Postcode}, {"addr:city", c.City}})
}

// Nearby is the address of the search around it, or "".
func (c card) Nearby() string {
	if !c.HasPoint {
		return ""
	}
	return c.v.Around(c.Point)
}

// Route is a "geo:" address (RFC 5870), which opens the reader's map, or "".
func (c card) Route() template.URL {
	if !c.HasPoint {
		return ""
	}
	return route(c.Point, c.Title())
}

// Copy has its facts, one in a line.
func (c card) Copy() string {
	return joined("\n", c.Title(), c.Address(), c.Contact.Phone, c.Contact.Email, c.Contact.SiteURL)
}

// Other reports whether it is of another kind than was asked for: it only mentions the word.
func (c card) Other() bool { return c.v.isOther(c.Kind) }

// ByPerson says what of it a person has confirmed or corrected.
func (c card) ByPerson() string { return c.v.corrected(c.Hit) }

// OfSite is the address of the search on its site.
func (c card) OfSite() string { return c.v.with(Form{"q": c.v.Form["q"], "host": {c.Site}}) }

// Removal is the address of the form for its removal.
func (c card) Removal() string {
	about := c.Address()
	if from := c.Evidence[0].URL; len(from) <= maxReported {
		about = from + " · " + about
	}
	return "/bot?" + url.Values{"what": {about}, "lang": {c.v.Lang}}.Encode() + "#removal"
}

// Page is the address of the card's own page.
func (c card) Page() string { return c.v.pageOf(c.ID) }

// Pages are those that state the address.
func (c card) Pages() []evidence { return c.v.pages(c.Hit) }

// Reasons say how sure it is, and how exact.
func (c card) Reasons() []string { return Reasons(c.Hit, c.v.Lang) }

// Objects are those of the map that it was matched with.
func (c card) Objects() (all []OnMap) {
	if !c.HasPoint {
		return nil
	}
	if c.Place != "" {
		all = append(all, OnMap{Place: c.Place, Point: c.Point})
	}
	if c.Object != "" && c.Object != c.Place {
		all = append(all, OnMap{Title: strings.ReplaceAll(c.Tags, ";", ", "), Place: c.Object, Point: c.Point})
	}
	return all
}

// Side is the point of interest of the map that it is, or nil.
func (c card) Side() *onMapCard {
	side, ok := c.v.Sides[c.ID]
	if !ok {
		return nil
	}
	shown := c.v.onMapCard(side)
	return &shown
}

// A link leads to another address.
type link struct{ Label, Page string }

// A contact is how to reach a place, as its pages state it.
type contact struct {
	Phone         string
	Dial          template.URL // its "tel:" address
	Email         string
	Site, SiteURL string
	Hours         string
	State         string // whether it is open now, in words
	Open          bool
	Differs       string // which of these other sites state differently, in words
}

// With returns c with the words of the page, for a template that has nothing else.
func (c contact) With(t texts.Words) map[string]any { return map[string]any{"C": c, "T": t} }

// An evidence is a page that states an address.
type evidence struct {
	Link, Title, Show string
	Fetched           string
	Snippet           []piece // on the page of one address
}

// A piece is text of a snippet: of the address or beside it, and marked where it
// fits the query.
type piece struct {
	Text          string
	Mark, Address bool
}

const (
	maxReported = 700 // bytes of a page's address that the removal form is filled in with
	maxAlso     = 5   // other names that a card has room for
)

// card returns the card of a hit, which is number n of the list.
func (v *view) card(n int, h *index.Hit) card {
	return card{Number: n, Hit: h, Contact: v.contact(h), v: v}
}

// pageOf returns the address of the page of one address.
func (v *view) pageOf(id string) string { return v.to(AddressPath+id, v.Form.Get("lang")) }

// corrected says what of a card a person has confirmed or corrected.
func (v *view) corrected(h *index.Hit) string {
	var texts, fields []string
	for _, name := range h.Corrected() {
		if name == "confirm" {
			texts = append(texts, v.T["confirmed"])
		} else {
			fields = append(fields, v.T["field_"+name])
		}
	}
	if len(fields) > 0 {
		texts = append(texts, v.T["byperson"]+" "+strings.Join(fields, ", "))
	}
	return strings.Join(texts, " · ")
}

// An onMapCard is a place of the map, with what the map says of it.
type onMapCard struct {
	OnMap
	v                 *view
	ID                string // of its element
	Address, KindName string
	Contact           contact
	Route             template.URL
}

// T has the words of the page.
func (c onMapCard) T() texts.Words { return c.v.T }

// Around is the address of the search around the place.
func (c onMapCard) Around() string { return c.v.Around(c.Point) }

// An item of the list is a hit or a place that only the map knows.
type item struct {
	Hit   *card
	OnMap *onMapCard
}

// placeID returns the ID of the element of a place of the map, which are counted from 0.
func placeID(i int) string { return fmt.Sprintf("m%d", i+1) }

// Items returns the list: addresses of the map, the hits that are what is asked for, points of interest
// of the map, the other hits.
func (v *view) Items() (all []item) {
	var pois []item
	for i, o := range v.OnMap {
		one := v.onMapCard(o)
		one.ID = placeID(i)
		if o.Hit == nil {
			all = append(all, item{OnMap: &one})
		} else {
			pois = append(pois, item{OnMap: &one})
		}
	}
	for i := range v.Hits {
		if i == v.After {
			all, pois = append(all, pois...), nil
		}
		all = append(all, item{Hit: &v.Hits[i]})
	}
	return append(all, pois...)
}

func (v *view) onMapCard(o OnMap) onMapCard {
	card := onMapCard{OnMap: o, v: v, Route: route(o.Point, o.Title)}
	if o.Hit != nil {
		card.Address, card.Contact = o.Hit.Line(), v.contact(o.Hit)
		if o.Hit.Kind != "" {
			card.KindName = v.kind(o.Hit.Kind)
		}
	}
	return card
}

// MoreOnMap says how many further places the map knows, or "".
func (v *view) MoreOnMap() string {
	if v.MorePOIs == 0 {
		return ""
	}
	return v.T.Say("more_onmap", v.number(v.MorePOIs))
}

// isOther reports whether a place is of a kind that was not asked for, where kinds were.
func (v *view) isOther(of string) bool {
	return of != "" && v.Result != nil && len(v.Result.Kinds) > 0 &&
		!slices.ContainsFunc(v.Result.Kinds, func(k string) bool {
			return kind.Main(k) == kind.Main(of) || slices.Contains(kind.Alike(k), of)
		})
}

// joined joins the texts that are not empty.
func joined(between string, all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), between)
}

// repeats reports whether a snippet has no word beside those of shown.
func repeats(s index.Snippet, shown string) bool {
	known := kind.Words(shown)
	return !slices.ContainsFunc(kind.Words(s.Text), func(w string) bool { return !slices.Contains(known, w) })
}

// route returns the "geo:" address of a point with a name, as maps on telephones read it.
func route(p orb.Point, name string) template.URL {
	at := fmt.Sprintf("%.6f,%.6f", p[1], p[0])
	label := strings.Map(func(r rune) rune {
		if r == '(' || r == ')' {
			return ' '
		}
		return r
	}, name)
	return template.URL("geo:" + at + "?q=" + at + "(" + url.PathEscape(label) + ")") // digits, and a name that is escaped
}

// pages returns the pages that state an address.
func (v *view) pages(h *index.Hit) (all []evidence) {
	for i, e := range h.Evidence {
		show := e.URL
		if u, err := url.Parse(e.URL); err == nil {
			show = u.Host + u.Path
		}
		page := evidence{Link: safeLink(e.URL), Title: e.Title, Show: show, Fetched: v.date(e.Fetched)}
		if v.One && i > 0 { // that of the first stands above
			page.Snippet = pieces(e.Snippet)
		}
		all = append(all, page)
	}
	return all
}

// Stated says how many pages state an address.
func (v *view) Stated(c card) string { return v.count("n_pages", c.Mentions) }

// Around returns the address of the search around a point.
func (v *view) Around(p orb.Point) string {
	lat, lon := fmt.Sprintf("%.6f", p[1]), fmt.Sprintf("%.6f", p[0])
	return v.with(Form{"lat": {lat}, "lon": {lon}, "radius": {"500"}, "sort": {"distance"}})
}

var (
	dialled = regexp.MustCompile(`^\+[0-9]{5,15}$`)
	mailbox = regexp.MustCompile(`^[^\s@<>"'(),:;\\\[\]?&%]{1,64}@[^\s@<>"'(),:;\\\[\]?&%]{1,255}$`)
)

// contact returns the contact of h with safe links.
func (v *view) contact(h *index.Hit) contact {
	var c contact
	if dialled.MatchString(h.Phone) {
		c.Phone, c.Dial = h.Phone, template.URL("tel:"+h.Phone) // digits only
		if n, err := phonenumbers.Parse(h.Phone, "ZZ"); err == nil {
			c.Phone = phonenumbers.Format(n, phonenumbers.INTERNATIONAL)
		}
	}
	if mailbox.MatchString(h.Email) {
		c.Email = h.Email
	}
	if link := safeLink(h.Website); link != "" {
		if u, err := url.Parse(link); err == nil {
			c.Site, c.SiteURL = strings.TrimPrefix(u.Host, "www."), link
		}
	}
	c.Hours = openingHours(h.Hours, v.T)
	if h.Gone.IsZero() {
		c.State, c.Open = v.state(h)
	}
	var differs []string
	for _, name := range h.Differs {
		differs = append(differs, v.T["field_"+name])
	}
	c.Differs = strings.Join(differs, ", ")
	return c
}

// JOSM returns the address under which JOSM, where it runs on the reader's machine, loads the place,
// or "" where it is no object of OpenStreetMap.
func (o OnMap) JOSM() string { return loadInJOSM(o.Place, o.Point, nil) }

// loadInJOSM returns the address under which JOSM loads an object with its surroundings, selects it
// and, after a question, sets tags.
func loadInJOSM(id string, at orb.Point, tags [][2]string) string {
	m := export.OSMObject.FindStringSubmatch(id)
	if m == nil {
		return ""
	}
	const around = 0.0008 // degrees
	degrees := func(f float64) []string { return []string{strconv.FormatFloat(f, 'f', 6, 64)} }
	q := url.Values{"left": degrees(at[0] - around), "right": degrees(at[0] + around),
		"bottom": degrees(at[1] - around), "top": degrees(at[1] + around), "select": {m[1] + m[2]}}
	if len(tags) > 0 {
		q.Set("addtags", josmTags(tags))
	}
	return josmAddress + "load_and_zoom?" + q.Encode()
}

// josmAddress is that of JOSM's remote control on the reader's machine.
const josmAddress = "http://127.0.0.1:8111/"

// josmTags writes tags as the remote control reads them.
func josmTags(tags [][2]string) string {
	var all []string
	for _, t := range tags {
		if t[1] != "" {
			all = append(all, t[0]+"="+strings.NewReplacer("|", " ", "=", " ").Replace(t[1]))
		}
	}
	return strings.Join(all, "|")
}

// addInJOSM returns the address under which JOSM offers to add a node with tags.
func addInJOSM(at orb.Point, tags [][2]string) string {
	degrees := func(f float64) []string { return []string{strconv.FormatFloat(f, 'f', 6, 64)} }
	q := url.Values{"lat": degrees(at[1]), "lon": degrees(at[0]), "addtags": {josmTags(tags)}}
	return josmAddress + "add_node?" + q.Encode()
}

// safeLink returns an address only if it is one of the web: crawled text must
// not become a script.
func safeLink(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return raw
}

// pieces cuts a snippet at its marks and at the address.
func pieces(s index.Snippet) []piece {
	cuts := []int{0, s.Address[0], s.Address[1], len(s.Text)}
	for _, m := range s.Marks {
		cuts = append(cuts, m[0], m[1])
	}
	slices.Sort(cuts)
	var out []piece
	for i, to := range cuts[1:] {
		from := cuts[i]
		if from == to {
			continue
		}
		marked := slices.ContainsFunc(s.Marks, func(m [2]int) bool { return m[0] <= from && to <= m[1] })
		out = append(out, piece{s.Text[from:to], marked, s.Address[0] <= from && to <= s.Address[1]})
	}
	return out
}

// found names what was found of an address in the gazetteer: the precision of its place is the one
// check that is recorded with it. The level says what its text has, which is less.
func found(h *index.Hit) string {
	switch {
	case h.Precision == "house" && !h.InOSM():
		return "list"
	case h.Precision == "house" || h.Precision == "interpolated":
		return h.Precision
	case isStatedPoint(h):
		return "stated"
	case h.Precision == "street" && h.HouseNumber != "":
		return "number"
	case h.Precision == "street":
		return h.Precision
	case h.Precision != "postcode" && h.Precision != "city":
		return "none"
	case h.Street != "":
		return "only_" + h.Precision
	}
	return h.Precision
}

// isStatedPoint reports whether the position is the page's own: it is better than what was found in the
// gazetteer, nothing or a place of GeoNames, which has no streets.
func isStatedPoint(h *index.Hit) bool {
	return h.Precision == "street" && (h.Place == "" || strings.HasPrefix(h.Place, "geonames/"))
}

// Reasons describe how certain the address is, and how exact its position, in a language of the page.
func Reasons(h *index.Hit, lang string) []string {
	v := view{Page: Page{Lang: lang}, T: texts.Of("page", lang)}
	words := v.T
	sure := "sure_low"
	switch {
	case h.Confidence >= 0.9:
		sure = "sure_high"
	case h.Confidence >= 0.6:
		sure = "sure_middle"
	}
	all := []string{fmt.Sprintf("%s (%.0f %%): %s", words[sure], math.Floor(100*h.Confidence), words["found_"+found(h)])}
	if from := words["origin_"+h.Evidence[0].Origin]; from != "" {
		all = append(all, from)
	}
	if h.Hosts > 1 {
		all = append(all, v.count("agree", h.Hosts))
	}
	position := words["nopoint"]
	switch {
	case h.HasPoint && isStatedPoint(h):
		position = words["at_stated"]
	case h.HasPoint:
		position = words["at_"+h.Precision]
	}
	return append(all, words["by_precision"]+": "+position)
}
