// Package web renders the search page: a list that works without scripts and
// makes no request to anybody else, and beside it a map, drawn by the server or
// moving where "make ui" has built it in. Everything on it that comes from
// crawled pages is hostile and escaped.
package web

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/internal/kind"

	"github.com/nyaruka/phonenumbers"
	"github.com/paulmach/orb"
	"golang.org/x/text/language"
)

//go:embed page.html
var pageSource string

// A Form holds the fields as the reader filled them in.
type Form struct {
	Text, Box, Lat, Lon, Radius, Precision, Since, InOSM, SiteWide, Sort, Lang, Cursor string

	Street, Postcode, City, Host, Kind, Month []string // of several values one must fit
}

// A field is one of a Form by its parameter: of one value or of many.
type field struct {
	Name string
	one  *string
	many *[]string
}

// fields returns all but the cursor, in the order in which addresses have them.
func (f *Form) fields() []field {
	return []field{{"q", &f.Text, nil}, {"bbox", &f.Box, nil}, {"lat", &f.Lat, nil}, {"lon", &f.Lon, nil}, {"radius", &f.Radius, nil},
		{"street", nil, &f.Street}, {"postcode", nil, &f.Postcode}, {"city", nil, &f.City}, {"host", nil, &f.Host}, {"kind", nil, &f.Kind}, {"month", nil, &f.Month},
		{"precision", &f.Precision, nil}, {"since", &f.Since, nil}, {"in_osm", &f.InOSM, nil}, {"site_wide", &f.SiteWide, nil}, {"sort", &f.Sort, nil}, {"lang", &f.Lang, nil}}
}

// Values returns what the field holds; nothing where it is empty.
func (f field) Values() []string {
	switch {
	case f.many != nil:
		return *f.many
	case *f.one == "":
		return nil
	}
	return []string{*f.one}
}

// Set fills the field of a parameter in. Empty values count for nothing, and of
// several a field that takes one keeps the first.
func (f *Form) Set(name string, values ...string) {
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
	for _, d := range f.fields() {
		switch {
		case d.Name != name:
		case d.many != nil:
			*d.many = values
		default:
			*d.one = strings.Join(values[:min(1, len(values))], "")
		}
	}
}

// values returns what the field of a parameter holds.
func (f *Form) values(name string) []string {
	for _, d := range f.fields() {
		if d.Name == name {
			return d.Values()
		}
	}
	return nil
}

// query returns the form as a query string, with the names but those of skip.
func (f Form) query(skip ...string) string {
	q := url.Values{}
	for _, d := range f.fields() {
		if values := d.Values(); len(values) > 0 && !slices.Contains(skip, d.Name) {
			q[d.Name] = values
		}
	}
	return q.Encode()
}

// A Page is what one request gets to see.
type Page struct {
	Lang        string // a language of Language
	Region      string
	Outline     orb.MultiPolygon // as Coarse returns it
	Attribution string
	Licence     string
	Version     string
	Stats       index.Stats
	Known       []orb.Point // some of all addresses, the background of the map

	// OSM says that the gazetteer knows OpenStreetMap, Missing how many of the
	// matches it does not have as houses.
	OSM     bool
	Missing int

	// Basemap is the path before LEVEL/X/Y of the tiles of the base map, Tiles
	// the address of a tile server that takes its place ("https://…/{z}/…").
	// Both may be empty.
	Basemap, Tiles, TilesAttribution string
	Levels                           []int // at which Basemap has tiles

	// Shapes returns what the base map has in a box, for the map that the
	// server draws; nil: there is no base map.
	Shapes func(orb.Bound) []gazetteer.Shape

	One  bool // the page of one address, the only hit
	Lost Lost // the page says that what was asked for is not there

	Form    Form
	Asked   bool          // something narrows the result
	Result  *index.Result // nil with a Problem
	Problem string
	Hint    string
	Next    string // address of the next page of hits, or ""

	Similar []string // texts to search for, where nothing was found

	OnMap   []OnMap // what the map has at an address that was asked for, and no page states
	NoHouse string  // the house number that was asked for and that OnMap's street does not have

	StreetOnly *index.StreetOnly // where a house is not known and its street is

	// Found is how many of the region's Streets have an address; of no streets
	// nothing is known.
	Found, Streets int

	Crawling bool // a crawl is adding to the index

	MissingNodes []string // of several, whose part of the index did not answer
}

// An OnMap is a house, street or town that the gazetteer knows and no page states.
type OnMap struct {
	Title string // the address in one line
	Place string // ID in the gazetteer
	Point orb.Point
}

// Lost says what is not there: the name of its text, or "".
type Lost string

// What may be lost.
const (
	LostPage    Lost = "lost_page"
	LostAddress Lost = "lost_address"
)

// AddressPath is what stands before the ID of an address in the path of its
// page.
const AddressPath = "/addresses/"

// Language returns the language of the page's own words: what was asked for,
// else what the browser prefers, else English.
func Language(asked, accept string) string {
	matcher := language.NewMatcher([]language.Tag{language.English, language.German})
	if asked != "" {
		if tag, err := language.Parse(asked); err == nil {
			if _, i, c := matcher.Match(tag); c > language.No {
				return []string{"en", "de"}[i]
			}
		}
	}
	if len(accept) > 200 {
		accept = ""
	}
	tags, _, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return "en"
	}
	if _, i, c := matcher.Match(tags...); c > language.No {
		return []string{"en", "de"}[i]
	}
	return "en"
}

// Render writes the page.
func Render(w io.Writer, p Page) error {
	v := view{Page: p, T: texts[p.Lang]}
	if v.T == nil {
		v.Lang, v.T = "en", texts["en"]
	}
	if p.Result != nil {
		for i := range p.Result.Hits {
			v.Hits = append(v.Hits, v.hit(p.Result.Offset+i+1, &p.Result.Hits[i]))
		}
		shapes := p.Shapes
		if HasMap() {
			shapes = nil // drawn by the script
		}
		v.Map = draw(p.Outline, v.Hits, p.OnMap, p.Result.Points, p.Known, p.Asked, shapes)
	}
	if HasMap() {
		v.Data = v.data()
	}
	return page().Execute(w, v)
}

// page is parsed on first use; a test executes it.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageSource))
})

// A view is a Page with all that its template shows.
type view struct {
	Page
	T    map[string]string
	Hits []hit
	Map  *plan
	Data *data // for the script; nil without one
}

// A hit is one line of the list.
type hit struct {
	Number int
	*index.Hit
	Link     string // page that fits best, or "" where it is no http URL
	Title    string
	Also     string // names of what else is there
	Address  string
	Distance string
	KindName string // of place, in the reader's language
	Lang     string
	Snippet  []piece
	Seen     string
	Contact  contact
	LastSeen string // when a page stated it last; "" where one still does
	Missing  bool   // OpenStreetMap has no such house, as far as is known
	Edit     string // address of an editor of OpenStreetMap at its place
	JOSM     string // the same in JOSM, if it runs on the reader's machine
	Nearby   string // address of the search around it
	OfSite   string // address of the search on its site
	Removal  string // address of the form that asks for it
	Page     string // address of the hit's own page
	Pages    []evidence
	Reasons  []string // how sure it is, and how exact
	Object   *OnMap   // the object of the map that it was matched with, or nil
	Last     string   // when a page was read last that states it
}

// A contact is how to reach who is at an address, as its pages state it.
type contact struct {
	Phone         string
	Dial          template.URL // its "tel:" address
	Email         string
	Site, SiteURL string
	Hours         string
	Differs       string // which of these other sites state differently, in words
}

type evidence struct {
	Link, Title, Show string
	Fetched           string
	Snippet           []piece // of one address's own page
}

// A piece is text of a snippet: of the address or beside it, and marked where it
// fits the query.
type piece struct {
	Text          string
	Mark, Address bool
}

func (v *view) hit(n int, h *index.Hit) hit {
	e := h.Evidence[0]
	out := hit{Number: n, Hit: h, Link: safeLink(e.URL), Title: h.Name, Address: h.Line(), Lang: e.Lang,
		Snippet: pieces(e.Snippet), Seen: v.date(h.FirstSeen), OfSite: v.with(Form{Text: v.Form.Text, Host: []string{h.Site}})}
	if out.Title == "" {
		out.Title = h.Site
	}
	if h.Distance >= 0 {
		out.Distance = length(h.Distance, v.Lang)
	}
	if !h.Gone.IsZero() {
		out.LastSeen = v.date(h.LastSeen)
	}
	out.Also = strings.Join(h.Names[:min(maxAlso, len(h.Names))], " · ")
	if len(h.Names) > maxAlso {
		out.Also += " …"
	}
	if h.Kind != "" {
		out.KindName = v.kind(h.Kind)
	}
	what := out.Address
	if len(e.URL) <= maxReported {
		what = e.URL + " · " + what
	}
	out.Removal = "/bot?" + url.Values{"what": {what}, "lang": {v.Lang}}.Encode() + "#removal"
	out.Contact = v.contact(h)
	out.Missing = v.OSM && h.HouseNumber != "" && !h.InOSM() && h.Gone.IsZero()
	if out.Missing && h.HasPoint {
		out.Edit = fmt.Sprintf("https://www.openstreetmap.org/edit?editor=id#map=19/%.5f/%.5f", h.Point[1], h.Point[0])
		out.JOSM = josm(h)
	}
	out.Page = v.to(AddressPath + h.ID)
	if h.HasPoint {
		out.Nearby = v.with(Form{Lat: fmt.Sprintf("%.6f", h.Point[1]), Lon: fmt.Sprintf("%.6f", h.Point[0]), Radius: "500", Sort: "distance"})
	}
	for _, e := range h.Evidence {
		show := e.URL
		if u, err := url.Parse(e.URL); err == nil {
			show = u.Host + u.Path
		}
		page := evidence{Link: safeLink(e.URL), Title: e.Title, Show: show, Fetched: v.date(e.Fetched)}
		if v.One && len(out.Pages) > 0 { // that of the first stands above
			page.Snippet = pieces(e.Snippet)
		}
		out.Pages = append(out.Pages, page)
	}
	out.Reasons, out.Last = v.reasons(h), v.date(h.LastSeen)
	if h.Place != "" && h.HasPoint {
		out.Object = &OnMap{Place: h.Place, Point: h.Point}
	}
	return out
}

// maxReported bounds the address of a page that the removal form is filled in
// with, in bytes.
const maxReported = 700

// maxAlso is how many other names a line of the list has room for.
const maxAlso = 5

var (
	dialled = regexp.MustCompile(`^\+[0-9]{5,15}$`)
	mailbox = regexp.MustCompile(`^[^\s@<>"'(),:;\\\[\]?&%]{1,64}@[^\s@<>"'(),:;\\\[\]?&%]{1,255}$`)
)

// contact returns what of a contact is fit to be shown and followed.
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
	c.Hours = openingHours(h.Hours, v.Lang)
	var differs []string
	for _, name := range h.Differs {
		differs = append(differs, v.T[name])
	}
	c.Differs = strings.Join(differs, ", ")
	return c
}

// hoursWords are the words of opening hours as OpenStreetMap writes them, by
// language.
var hoursWords = map[string]map[string]string{
	"en": {"PH": "public holidays", "SH": "school holidays", "off": "closed", "closed": "closed"},
	"de": {"Tu": "Di", "We": "Mi", "Th": "Do", "Su": "So", "PH": "Feiertage", "SH": "Schulferien", "off": "geschlossen", "closed": "geschlossen", "May": "Mai", "Mar": "März", "Oct": "Okt", "Dec": "Dez"},
}

var (
	hoursWord  = regexp.MustCompile(`[A-Za-z]+`)
	hoursRange = regexp.MustCompile(`(\w)-(\w)`)
	hoursRule  = regexp.MustCompile(`\s*;\s*`)
)

// openingHours writes opening hours for people: "Mo–Fr 08:00–18:00 · Sa closed".
func openingHours(osm, lang string) string {
	text := hoursWord.ReplaceAllStringFunc(osm, func(w string) string { return cmp.Or(hoursWords[lang][w], w) })
	text = hoursRange.ReplaceAllString(text, "$1–$2")
	return hoursRule.ReplaceAllString(strings.Trim(text, " ;"), " · ")
}

// josm returns the address under which JOSM, where it runs, offers to add the
// address as a node. It carries facts, and no text of the page.
func josm(h *index.Hit) string {
	var tags []string
	for _, t := range []struct{ key, value string }{{"addr:street", h.Street}, {"addr:housenumber", h.HouseNumber}, {"addr:postcode", h.Postcode}, {"addr:city", h.City}} {
		if t.value != "" {
			tags = append(tags, t.key+"="+strings.NewReplacer("|", " ", "=", " ").Replace(t.value))
		}
	}
	q := url.Values{"lat": {strconv.FormatFloat(h.Point[1], 'f', 6, 64)}, "lon": {strconv.FormatFloat(h.Point[0], 'f', 6, 64)}, "addtags": {strings.Join(tags, "|")}}
	return "http://127.0.0.1:8111/add_node?" + q.Encode()
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

// reasons say in words how sure the address is, and how exact its position.
func (v *view) reasons(h *index.Hit) []string {
	sure := "sure_low"
	switch {
	case h.Confidence >= 0.9:
		sure = "sure_high"
	case h.Confidence >= 0.6:
		sure = "sure_middle"
	}
	all := []string{fmt.Sprintf("%s (%.0f %%): %s", v.T[sure], math.Floor(100*h.Confidence), v.T["level_"+h.Level])}
	if from := v.T["origin_"+h.Evidence[0].Origin]; from != "" {
		all = append(all, from)
	}
	if h.Hosts > 1 {
		all = append(all, fmt.Sprintf(v.T["agree"], group(h.Hosts, v.Lang)))
	}
	position := v.T["nopoint"]
	if h.HasPoint {
		position = v.T["at_"+h.Precision]
	}
	return append(all, v.T["by_precision"]+": "+position)
}

// Around returns the address of the search around p.
func (v view) Around(p orb.Point) string {
	lat, lon := fmt.Sprintf("%.6f", p[1]), fmt.Sprintf("%.6f", p[0])
	return v.with(Form{Lat: lat, Lon: lon, Radius: "500", Sort: "distance"})
}

// OSM returns the address of the place at openstreetmap.org.
func (o OnMap) OSM() string {
	if osmID.MatchString(o.Place) {
		return "https://www.openstreetmap.org/" + o.Place
	}
	return fmt.Sprintf("https://www.openstreetmap.org/?mlat=%.6f&mlon=%.6f#map=18/%.6f/%.6f", o.Point[1], o.Point[0], o.Point[1], o.Point[0])
}

var osmID = regexp.MustCompile(`^(node|way|relation)/[0-9]{1,18}$`)

// Lacking says that the map does not have a house number, and what it has.
func (v view) Lacking() string {
	if v.NoHouse == "" {
		return ""
	}
	return fmt.Sprintf(v.T["nohouse"], v.NoHouse)
}

// Understood says what the words were taken for.
func (v view) Understood() string {
	r := v.Result
	var said []string
	if len(r.Kinds) > 0 {
		var names []string
		for _, k := range r.Kinds[:min(3, len(r.Kinds))] {
			names = append(names, v.kind(k))
		}
		said = append(said, strings.Join(names, ", "))
	}
	if day, ok := index.OpenDay(r.Open); ok {
		said = append(said, v.T["openon"]+" "+strings.Fields(v.T["days"])[day])
	} else if r.Open != "" {
		said = append(said, v.T["opennow"])
	}
	switch {
	case r.Near != "":
		said = append(said, v.T["near"]+" "+r.Near)
	case r.Me:
		said = append(said, v.T["nearyou"])
	}
	return strings.Join(said, " · ")
}

// Literal returns the address of the search for the words as they are.
func (v view) Literal() string {
	to := v.Form
	to.Text = `"` + strings.ReplaceAll(to.Text, `"`, "") + `"`
	return v.with(to)
}

// A chip is a filter that the reader can take away.
type chip struct {
	Text   string
	Remove string
}

// Chips returns the filters beside the words.
func (v view) Chips() []chip {
	var chips []chip
	add := func(text string, names ...string) {
		without := v.Form
		for _, name := range names {
			without.Set(name, "")
		}
		chips = append(chips, chip{strings.TrimSpace(text), v.with(without)})
	}
	f := v.Form
	for _, name := range []string{"street", "postcode", "city", "host", "kind", "month"} {
		for _, value := range f.values(name) {
			text := v.T[name] + " " + value
			switch name {
			case "kind":
				text = v.kind(value)
			case "month":
				text = v.T["by_month"] + ": " + v.month(value)
			}
			chips = append(chips, chip{strings.TrimSpace(text), v.with(v.toggled(name, value))})
		}
	}
	if f.Precision != "" {
		add(cmp.Or(v.T["least_"+f.Precision], f.Precision), "precision")
	}
	if f.Since != "" {
		add(v.T["newsince"]+" "+f.Since, "since")
	}
	switch f.InOSM {
	case "false":
		add(v.T["notinosm"], "in_osm")
	case "true":
		add(v.T["inosm"], "in_osm")
	}
	switch f.SiteWide {
	case "false":
		add(v.T["notsitewide"], "site_wide")
	case "true":
		add(v.T["sitewide"], "site_wide")
	}
	if f.Radius != "" {
		add(v.T["around"]+" "+f.Lat+", "+f.Lon+" · "+f.Radius+" m", "lat", "lon", "radius", "sort")
	}
	if f.Box != "" {
		add(v.T["area"], "bbox")
	}
	return chips
}

// toggled returns the form with a value of a filter taken away where it was
// chosen, and added where it was not.
func (v view) toggled(name, value string) Form {
	to := v.Form
	chosen := v.Form.values(name)
	if i := slices.IndexFunc(chosen, func(c string) bool { return alike(name, c, value) }); i >= 0 {
		to.Set(name, slices.Delete(slices.Clone(chosen), i, i+1)...)
	} else {
		to.Set(name, append(slices.Clone(chosen), value)...)
	}
	return to
}

// alike tells whether two values of a filter ask for the same.
func alike(name, a, b string) bool {
	switch name {
	case "street":
		return gazetteer.StreetKey(a) == gazetteer.StreetKey(b)
	case "host":
		return strings.EqualFold(a, b)
	case "kind":
		return slices.Equal(kind.Find(a), kind.Find(b))
	}
	return gazetteer.Key(a) == gazetteer.Key(b)
}

// kind returns the word for a sort of place.
func (v view) kind(name string) string {
	if ids := kind.Find(name); len(ids) == 1 {
		return kind.Title(ids[0], v.Lang)
	}
	return name
}

// month writes a month such as "2026-11" for people.
func (v view) month(text string) string {
	t, err := time.Parse("2006-01", text)
	if err != nil {
		return text
	}
	return strings.Fields(v.T["months"])[t.Month()-1] + t.Format(" 2006")
}

// A menu is a facet: values that narrow the result.
type menu struct {
	Name   string
	Values []choice
	Many   bool // several values may be chosen
}

// Chosen returns how many values of a menu that takes several are chosen.
func (m menu) Chosen() (n int) {
	for _, c := range m.Values {
		if m.Many && c.Chosen {
			n++
		}
	}
	return n
}

// parameterOf names the parameter that narrows by a facet.
var parameterOf = map[index.Facet]string{index.ByStreet: "street", index.ByPostcode: "postcode", index.ByCity: "city", index.BySite: "host", index.ByKind: "kind", index.ByMonth: "month"}

type choice struct {
	Text, Link string
	Count      int // 0: not known
	Chosen     bool
}

// Menus returns the facets that would narrow the result, and the orders.
func (v view) Menus() []menu {
	var menus []menu
	if v.Result == nil {
		return nil
	}
	for _, c := range v.Result.Facets {
		m := menu{Name: v.T["by_"+string(c.Facet)]}
		if c.Facet == index.ByPrecision {
			menus = v.precisions(menus, c)
			continue
		}
		m.Many = true
		parameter := parameterOf[c.Facet]
		if c.Facet == index.ByMonth {
			slices.SortFunc(c.Values, func(a, b index.Value) int { return strings.Compare(b.Value, a.Value) })
		}
		for _, value := range c.Values {
			if parameter != "" && value.Value != "" {
				text := value.Value
				switch c.Facet {
				case index.ByKind:
					text = v.kind(text)
				case index.ByMonth:
					text = v.month(text)
				}
				chosen := slices.ContainsFunc(v.Form.values(parameter), func(o string) bool { return alike(parameter, o, value.Value) })
				m.Values = append(m.Values, choice{Text: text, Link: v.with(v.toggled(parameter, value.Value)), Count: value.Count, Chosen: chosen})
			}
		}
		if len(m.Values) > 1 {
			menus = append(menus, m)
		}
	}
	since := menu{Name: v.T["by_since"]}
	for _, s := range []string{"1d", "7d", "30d"} {
		to := v.Form
		to.Since = s
		since.Values = append(since.Values, choice{Text: v.T["since_"+s], Link: v.with(to), Chosen: v.Form.Since == s})
	}
	order := menu{Name: v.T["by_sort"]}
	for _, s := range []string{"relevance", "newest", "name", "distance"} {
		if s == "distance" && v.Form.Lat == "" {
			continue
		}
		to := v.Form
		to.Sort = s
		order.Values = append(order.Values, choice{Text: v.T["sort_"+s], Link: v.with(to), Chosen: v.Form.Sort == s || v.Form.Sort == "" && s == "relevance"})
	}
	return append(menus, since, order)
}

// precisions adds the menu of how exact a position is at least, where that
// makes a difference.
func (v view) precisions(menus []menu, c index.Count) []menu {
	m := menu{Name: v.T["by_precision"]}
	sum := 0
	for p := gazetteer.HousePrecision; p >= gazetteer.CityPrecision; p-- {
		i := slices.IndexFunc(c.Values, func(o index.Value) bool { return o.Value == p.String() })
		if i < 0 {
			continue
		}
		sum += c.Values[i].Count
		to := v.Form
		to.Set("precision", p.String())
		if v.Form.Precision == p.String() {
			to.Set("precision")
		}
		m.Values = append(m.Values, choice{Text: v.T["least_"+p.String()], Link: v.with(to), Count: sum, Chosen: v.Form.Precision == p.String()})
	}
	if len(m.Values) < 2 {
		return menus
	}
	return append(menus, m)
}

// NotInOSM returns the address of the layer "not in OpenStreetMap", or "".
func (v view) NotInOSM() string {
	if !v.OSM || v.Missing == 0 || v.Form.InOSM != "" {
		return ""
	}
	to := v.Form
	to.InOSM = "false"
	return v.with(to)
}

// MissingCount writes how many matches OpenStreetMap lacks.
func (v view) MissingCount() string { return group(v.Missing, v.Lang) }

// A kept is a value of a field that a search for other words keeps.
type kept struct{ Name, Value string }

// Hidden returns what a search for other words keeps.
func (v view) Hidden() (all []kept) {
	for _, f := range v.Form.fields() {
		for _, value := range f.Values() {
			if f.Name != "q" {
				all = append(all, kept{f.Name, value})
			}
		}
	}
	return all
}

// Download returns the address of the result in a format.
func (v view) Download(format string) string {
	return "/v1/search." + format + "?" + strings.TrimPrefix(v.Form.query("lang")+"&limit=500", "&")
}

// wholeList is how many hits a page for printing has at most.
const wholeList = index.MaxLimit

// Whole returns the address of the page with the whole list.
func (v view) Whole() string {
	link, limit := v.with(v.Form), fmt.Sprintf("limit=%d", wholeList)
	if strings.Contains(link, "?") {
		return link + "&" + limit
	}
	return link + "?" + limit
}

// Feed returns the address of the feed of this search.
func (v view) Feed() string {
	return strings.TrimSuffix("/feed.atom?"+v.Form.query("lang", "sort"), "?")
}

// HasMap tells whether the page has the moving map.
func (v view) HasMap() bool { return HasMap() }

// Script and MapStyle return the paths of the moving map.
func (v view) Script() string   { return Assets()[1].Path }
func (v view) MapStyle() string { return Assets()[2].Path }

// with returns the address of the page with this form, in the language chosen.
func (v *view) with(f Form) string {
	f.Lang = v.Form.Lang
	if q := f.query(); q != "" {
		return "/?" + q
	}
	return "/"
}

// First returns the address of the first page of hits.
func (v view) First() string { return v.with(v.Form) }

// Alike returns the addresses of searches for what is similar, with what they
// look for.
func (v view) Alike() []choice {
	var all []choice
	for _, text := range v.Similar {
		all = append(all, choice{Text: text, Link: v.with(Form{Text: text})})
	}
	return all
}

// Maybe says how much the crawl has found so far, to a reader for whom there is
// nothing.
func (v view) Maybe() string {
	share := fmt.Sprintf("%d %%", 100*v.Found/max(1, v.Streets)) // never more than is true
	switch {
	case v.Streets == 0:
		return v.T["maybe"]
	case v.Found >= v.Streets:
		return v.T["coverage_all"]
	case v.Found > 0 && 100*v.Found < v.Streets:
		share = v.T["coverage_little"]
	}
	return fmt.Sprintf(v.T["coverage"], share)
}

// Street says what is known of the street of a house that nobody states, and
// has the address of the search for it; nil where that is not so.
func (v view) Street() *choice {
	o := v.StreetOnly
	if o == nil {
		return nil
	}
	format := v.T["streetonly"]
	if o.Pages == 1 {
		format = v.T["streetonly_one"]
	}
	return &choice{Text: fmt.Sprintf(format, group(o.Pages, v.Lang), o.Street, o.HouseNumber), Link: v.with(Form{Text: o.Text, Street: []string{o.Street}})}
}

// TextOnly returns the address of the search for the words alone.
func (v view) TextOnly() string { return v.with(Form{Text: v.Form.Text}) }

// InLang returns the address of this page in another language.
func (v view) InLang(lang string) string {
	other := v
	other.Form.Lang = lang
	if v.One {
		return other.to(v.Hits[0].Page)
	}
	return other.with(v.Form)
}

// to returns the address of another page in the language chosen.
func (v view) to(path string) string {
	path, _, _ = strings.Cut(path, "?")
	if v.Form.Lang == "" {
		return path
	}
	return path + "?" + url.Values{"lang": {v.Form.Lang}}.Encode()
}

// Home returns the address of the page with everything.
func (v view) Home() string { return v.to("/") }

// Count says how many addresses there are.
func (v view) Count() string {
	n := v.Result.Total
	word := v.T["addresses"]
	if n == 1 {
		word = v.T["address"]
	}
	text := group(n, v.Lang) + " " + word
	if v.Result.Approx {
		text = v.T["about"] + " " + text
	}
	return text
}

// Pages says how many pages state an address.
func (h hit) PagesOf(v view) string {
	if h.Mentions == 1 {
		return "1 " + v.T["page"]
	}
	return group(h.Mentions, v.Lang) + " " + v.T["pages"]
}

// StyleSheet returns the path of the style sheet.
func (v view) StyleSheet() string { return Assets()[0].Path }

// Heading is the name of the page.
func (v view) Heading() string {
	switch {
	case v.Lost != "":
		return v.T[string(v.Lost)]
	case v.One:
		return v.Hits[0].Title + ", " + v.Hits[0].Address
	case v.Form.Text != "":
		return v.Form.Text
	}
	if v.Region != "" {
		return v.Region
	}
	return v.T["tagline"]
}

func (v *view) date(t time.Time) string {
	if v.Lang == "de" {
		return fmt.Sprintf("%d. %s %d", t.Day(), []string{"Jan.", "Feb.", "März", "April", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."}[t.Month()-1], t.Year())
	}
	return t.Format("2 Jan 2006")
}

// length writes metres for people.
func length(m float64, lang string) string {
	text := ""
	switch {
	case m < 995:
		return fmt.Sprintf("%.0f m", math.Round(m/10)*10)
	case m < 9950:
		text = fmt.Sprintf("%.1f km", m/1000)
	default:
		return fmt.Sprintf("%.0f km", m/1000)
	}
	if lang == "de" {
		text = strings.Replace(text, ".", ",", 1)
	}
	return text
}

// group writes a number with a mark at the thousands.
func group(n int, lang string) string {
	text := fmt.Sprint(n)
	mark := ","
	if lang == "de" {
		mark = "."
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + mark + text[i:]
	}
	return text
}
