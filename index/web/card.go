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

// A hit is one card of the list. To add a field, set it in view.hit and show it in page.html.
type hit struct {
	Number int
	*index.Hit
	Link     string // page that fits best, or "" where it is no http URL
	Title    string
	Also     string // names of what else is there
	Tenants  []link // of the building, that fit as well
	Address  string
	Away     string // how far away it is
	KindName string // of place, in the reader's language
	Lang     string
	Snippet  []piece
	Seen     string
	Contact  contact
	LastSeen string       // when a page stated it last; "" where one still does
	Missing  bool         // OpenStreetMap has no such house, as far as is known
	Edit     string       // address of an editor of OpenStreetMap at its place
	JOSM     string       // the same in JOSM, if it runs on the reader's machine
	Nearby   string       // address of the search around it
	Route    template.URL // "geo:" address (RFC 5870), which opens the reader's map
	Copy     string       // its facts, one in a line
	Other    bool         // of another kind than was asked for: it only mentions the word
	ByPerson string       // what of it a person has confirmed or corrected, in words
	Repeats  bool         // its snippet has no word that the card lacks without it
	OfSite   string       // address of the search on its site
	Removal  string       // address of the form for its removal
	Page     string       // address of the hit's own page
	Pages    []evidence
	Reasons  []string   // how sure it is, and how exact
	Objects  []OnMap    // of the map, that it was matched with
	Side     *onMapCard // the point of interest of the map that it is, or nil
	Last     string     // when a page was read last that states it
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

func (v *view) hit(n int, h *index.Hit) hit {
	e := h.Evidence[0]
	out := hit{Number: n, Hit: h, Link: safeLink(e.URL), Title: h.Name, Address: h.Line(), Lang: e.Lang,
		Snippet: pieces(e.Snippet), Seen: v.date(h.FirstSeen), Last: v.date(h.LastSeen),
		OfSite:  v.with(Form{"q": v.Form["q"], "host": {h.Site}}),
		Contact: v.contact(h), Reasons: Reasons(h, v.Lang), Pages: v.pages(h),
		Page: v.to(AddressPath+h.ID, v.Form.Get("lang"))}
	if out.Title == "" {
		out.Title = h.Site
	}
	if h.Distance >= 0 {
		out.Away = v.distance(h.Distance)
	}
	if !h.Gone.IsZero() {
		out.LastSeen = out.Last
	}
	out.Also = strings.Join(h.Names[:min(maxAlso, len(h.Names))], " · ")
	if len(h.Names) > maxAlso {
		out.Also += " …"
	}
	for _, o := range h.Tenants {
		out.Tenants = append(out.Tenants, link{cmp.Or(joined(", ", o.Name, o.Unit), out.Address),
			v.to(AddressPath+o.ID, v.Form.Get("lang"))})
	}
	if side, ok := v.Sides[h.ID]; ok {
		card := v.onMapCard(side)
		out.Side = &card
		if h.Name == "" {
			out.Title = side.Title
		}
	}
	out.Other, out.ByPerson = v.isOther(h.Kind), v.corrected(h)
	if h.Kind != "" {
		out.KindName = v.kind(h.Kind)
	}
	about := out.Address
	if len(e.URL) <= maxReported {
		about = e.URL + " · " + about
	}
	out.Copy = joined("\n", out.Title, out.Address, out.Contact.Phone, out.Contact.Email, out.Contact.SiteURL)
	out.Repeats = repeats(e.Snippet, joined(" ", out.Title, out.Address, out.KindName, out.Contact.Phone, h.City))
	out.Removal = "/bot?" + url.Values{"what": {about}, "lang": {v.Lang}}.Encode() + "#removal"
	out.Missing = v.OSM && h.HouseNumber != "" && !h.InOSM() && h.Gone.IsZero()
	if !h.HasPoint {
		return out
	}
	out.Nearby = v.Around(h.Point)
	out.Route = route(h.Point, out.Title)
	if out.Missing {
		out.Edit = fmt.Sprintf("https://www.openstreetmap.org/edit?editor=id#map=19/%.5f/%.5f", h.Point[1], h.Point[0])
		out.JOSM = josm(h)
	}
	if h.Place != "" {
		out.Objects = append(out.Objects, OnMap{Place: h.Place, Point: h.Point})
	}
	if h.Object != "" && h.Object != h.Place {
		tags := strings.ReplaceAll(h.Tags, ";", ", ")
		out.Objects = append(out.Objects, OnMap{Title: tags, Place: h.Object, Point: h.Point})
	}
	return out
}

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
	Address, KindName string
	Contact           contact
	Route             template.URL
}

// OnMapCards returns the places that only the map knows.
func (v *view) OnMapCards() (all []onMapCard) {
	for _, o := range v.OnMap {
		all = append(all, v.onMapCard(o))
	}
	return all
}

func (v *view) onMapCard(o OnMap) onMapCard {
	card := onMapCard{OnMap: o, Route: route(o.Point, o.Title)}
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
func (v *view) Stated(h hit) string { return v.count("n_pages", h.Mentions) }

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

// josm returns the address under which JOSM, where it runs, offers to add the
// address as a node. It carries facts, and no text of the page.
func josm(h *index.Hit) string {
	return addInJOSM(h.Point, [][2]string{{"addr:street", h.Street}, {"addr:housenumber", h.HouseNumber},
		{"addr:postcode", h.Postcode}, {"addr:city", h.City}})
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
	if h.HasPoint {
		position = words["at_"+h.Precision]
	}
	return append(all, words["by_precision"]+": "+position)
}
