package markup

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"gazehound/internal/textutil"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of what Find returns.
const (
	MaxStatements = 1000
	MaxField      = 200 // characters of a field
	MaxRaw        = 500 // characters of Raw
)

// An Origin is where on a page an address is stated.
type Origin uint8

// The origins. Stored documents hold their numbers.
const (
	PlainText Origin = iota
	JSONLD
	Microdata
	RDFa
	HCard
	Element // <address>
	GeoMeta // meta elements
	MapLink
	InlineJSON // data for the page's own scripts
)

var originNames = [...]string{"text", "json-ld", "microdata", "rdfa", "hcard", "address", "geo-meta", "map-link",
	"inline-json"}

// String returns the name of o, such as "json-ld".
func (o Origin) String() string { return originNames[o] }

// MarshalText returns the name of o.
func (o Origin) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// A Statement is one address, or one point, as the markup of a page states it. It is unverified,
// except that the point is on the Earth.
type Statement struct {
	Origin Origin

	// The parts as written, on one line each. Street may hold the house number,
	// Country is a name or a code.
	Name, Street, Unit, POBox, Postcode, City, State, Country string

	Raw   string // an address not taken apart, as lines; it may hold other words too
	Phone string // as written
	Email string // as written
	URL   string // of what is at the address, as written
	Hours string // opening hours: "Mo-Fr 09:00-18:00", or days and times in words; several separated by "; "

	Person bool   // it is that of a person
	Type   string // schema.org's name of what is at the address, such as "Bakery"
	Scene  bool   // an event takes place there, whoever else is

	Lat, Lon float64 // degrees, WGS 84; only if HasPoint
	HasPoint bool
}

// A Page is what the markup of a page says.
type Page struct {
	Site
	// Statements are what it states about places, in document order and each thing
	// once, at most MaxStatements: JSON-LD, JSON for scripts, microdata, RDFa, hCard and h-card,
	// <address> elements, geo meta elements and links to maps.
	Statements []Statement
	// Footers are the texts of what is marked as the footer of the page, as they
	// stand in Text, at most four; of a long one the beginning. A footer of an
	// article or quotation is none.
	Footers []string
}

// Read reads the markup of a page, in time linear in it.
func Read(doc *html.Node) *Page {
	page := &goquery.Selection{Nodes: shown(doc)}
	f := finder{page: &Page{Site: Site{Links: map[string]bool{}, Headings: map[string]bool{}}}}
	f.page.Site.read(page)
	f.page.Footers = footers(page)
	f.read(page)
	f.page.Statements = distinct(f.found)
	return f.page
}

// A finder collects statements. Each is appended where its element starts, so an element without
// content leaves an empty one.
type finder struct {
	page   *Page
	found  []Statement
	scopes []*scopeOf // open items, outermost first
	meta   int        // 1 + place of the statement of the meta elements, or 0
	values int        // elements read as values so far
	inline int        // bytes of inline JSON read so far
}

// The work that one page may cause, above what any honest page has.
const (
	maxFound  = 4 * MaxStatements
	maxValues = 20000
)

func (f *finder) add(s Statement) int {
	f.found = append(f.found, s)
	return len(f.found) - 1
}

// shown returns the elements outside of drawings and templates.
func shown(doc *html.Node) (elements []*html.Node) {
	walk(doc, math.MaxInt, func(n *html.Node) bool {
		switch n.DataAtom {
		case atom.Style, atom.Template, atom.Svg:
			return false
		}
		if n.Type == html.ElementNode {
			elements = append(elements, n)
		}
		return true
	}, func(*html.Node) {})
	return elements
}

// stating selects the elements that may state an address, a point, or what is there.
var stating = cascadia.Selector(func(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Address, atom.Meta:
		return true
	case atom.A, atom.Area:
		return hasAny(n, "href") || hasAny(n, stated...)
	case atom.Iframe, atom.Img, atom.Embed:
		return hasAny(n, "src") || hasAny(n, stated...)
	}
	return hasAny(n, stated...)
})

// stated are the attributes of elements that may say what is there.
var stated = []string{"class", "itemprop", "itemscope", "property", "typeof"}

// read reads the statements of a page.
func (f *finder) read(page *goquery.Selection) {
	for _, n := range page.FilterMatcher(stating).Nodes {
		if len(f.found) >= maxFound || f.values >= maxValues {
			break
		}
		f.closeItems(n)
		switch n.DataAtom {
		case atom.Script:
			f.script(n)
			continue
		case atom.Address:
			f.values++
			f.add(Statement{Origin: Element, Raw: textUpTo(n, 4*MaxRaw)})
		case atom.Meta:
			f.metaElement(n)
		case atom.A, atom.Area:
			f.mapLink(attr(n, "href"))
		case atom.Iframe, atom.Img, atom.Embed:
			f.mapLink(attr(n, "src"))
		}
		f.items(n)
	}
	f.closeItems(nil)
}

// script reads the data in a script element.
func (f *finder) script(n *html.Node) {
	kind := strings.ToLower(attr(n, "type"))
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case strings.Contains(kind, "ld+json"):
			f.jsonLD(c.Data)
		case strings.HasSuffix(kind, "json"):
			f.jsonElement(c.Data, attr(n, "id"))
		case kind == "" || strings.Contains(kind, "javascript") || kind == "module":
			f.assignedJSON(c.Data)
		}
	}
}

func (f *finder) mapLink(href string) {
	if s, ok := parseMapLink(href); ok {
		f.add(s)
	}
}

// metaElement reads the meta elements that name the site, and those that describe the
// whole page: geo.position, ICBM, geo.placename, geo.region, and Open Graph's places.
func (f *finder) metaElement(n *html.Node) {
	name := strings.ToLower(cmp.Or(attr(n, "name"), attr(n, "property")))
	content := oneLine(attr(n, "content"))
	switch name {
	case "og:site_name", "application-name", "apple-mobile-web-app-title":
		addName(&f.page.Stated, content)
	case "description", "og:description":
		setOnce(&f.page.About, content[:min(len(content), 4*maxSiteText)])
	case "keywords":
		setOnce(&f.page.Terms, content[:min(len(content), 4*maxSiteText)])
	}
	for _, prefix := range []string{"business:contact_data:", "place:location:", "og:"} {
		name = strings.TrimPrefix(name, prefix)
	}
	var s Statement
	if f.meta > 0 {
		s = f.found[f.meta-1]
	}
	before := s
	switch name {
	case "geo.position", "icbm", "geo:position":
		if lat, lon, ok := pointIn(content); ok && !s.HasPoint {
			s.Lat, s.Lon, s.HasPoint = lat, lon, true
		}
	case "latitude":
		s.setLat(content)
	case "longitude":
		s.setLon(content)
	case "geo.placename", "locality":
		setOnce(&s.City, content)
	case "geo.region":
		country, state, _ := strings.Cut(content, "-")
		setOnce(&s.Country, country)
		setOnce(&s.State, state)
	case "geo.country", "country-name", "country_name":
		setOnce(&s.Country, content)
	case "region":
		setOnce(&s.State, content)
	case "street-address", "street_address":
		setOnce(&s.Street, content)
	case "postal-code", "postal_code":
		setOnce(&s.Postcode, content)
	case "phone_number":
		setOnce(&s.Phone, content)
	}
	if s == before {
		return
	}
	s.Origin = GeoMeta
	if f.meta == 0 {
		f.meta = 1 + f.add(s)
	} else {
		f.found[f.meta-1] = s
	}
}

func setOnce(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

// setLat and setLon set one half of a point; the halves may come in any order,
// and a half without the other is no point: see finish.
func (s *Statement) setLat(text string) {
	if v, ok := number(text); ok && s.Lat == 0 && !s.HasPoint {
		s.Lat = v
		s.HasPoint = s.Lon != 0
	}
}

func (s *Statement) setLon(text string) {
	if v, ok := number(text); ok && s.Lon == 0 && !s.HasPoint {
		s.Lon = v
		s.HasPoint = s.Lat != 0
	}
}

// says reports whether s has an address or a point.
func (s *Statement) says() bool {
	return s.HasPoint || s.Raw != "" || s.Street != "" || s.POBox != "" || s.Postcode != "" || s.City != ""
}

// finish brings s within its bounds.
func (s *Statement) finish() {
	if !s.HasPoint || !onEarth(s.Lat, s.Lon) {
		s.Lat, s.Lon, s.HasPoint = 0, 0, false
	}
	for _, field := range []*string{&s.Name, &s.Street, &s.Unit, &s.POBox, &s.Postcode, &s.City,
		&s.State, &s.Country, &s.Phone, &s.Email, &s.URL} {
		*field = oneLine(textutil.Clip(clean(*field), MaxField))
	}
	s.Raw, s.Hours = textutil.Clip(clean(s.Raw), MaxRaw), oneLine(textutil.Clip(clean(s.Hours), MaxRaw))
}

// distinct returns the statements that say something, each once. A repetition
// may add the name, telephone number or point that the first one lacks.
func distinct(found []Statement) []Statement {
	var out []Statement
	index := make(map[Statement]int)
	for _, s := range found {
		s.finish()
		if !s.says() {
			continue
		}
		key := Statement{
			Street: s.Street, Unit: s.Unit, POBox: s.POBox, Postcode: s.Postcode, City: s.City, State: s.State,
			Country: s.Country, Raw: s.Raw,
		}
		if !key.says() { // nothing but a point: that is what it is known by
			key = Statement{Lat: s.Lat, Lon: s.Lon, HasPoint: true}
		}
		i, seen := index[key]
		if seen && out[i].Person == s.Person && out[i].Scene == s.Scene && fits(out[i].Name, s.Name) && (!out[i].HasPoint || !s.HasPoint ||
			out[i].Lat == s.Lat && out[i].Lon == s.Lon) {
			setOnce(&out[i].Name, s.Name)
			out[i].takeOwner(&s)
			if !out[i].HasPoint {
				out[i].Lat, out[i].Lon, out[i].HasPoint = s.Lat, s.Lon, s.HasPoint
			}
			continue
		}
		if len(out) == MaxStatements {
			break
		}
		index[key] = len(out)
		out = append(out, s)
	}
	return out
}

// takeOwner copies what s lacks about the place from its owner o.
func (s *Statement) takeOwner(o *Statement) {
	setOnce(&s.Name, o.Name)
	setOnce(&s.Phone, o.Phone)
	setOnce(&s.Email, o.Email)
	setOnce(&s.URL, o.URL)
	setOnce(&s.Hours, o.Hours)
	setOnce(&s.Type, o.Type)
	s.Person, s.Scene = s.Person || o.Person, s.Scene || o.Scene
}

func fits(a, b string) bool { return a == "" || b == "" || a == b }

// clean returns the text of a value that may be a piece of HTML.
func clean(s string) string {
	if len(s) > 4*MaxRaw {
		s = s[:4*MaxRaw] // far above what is kept of it; half a character at the end is dropped with the rest
	}
	if plain(s) {
		return s
	}
	return Text(Parse([]byte("<pre>" + strings.ToValidUTF8(s, ""))))
}

// plain reports whether s is text in the form that Text returns, for sure.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' && (c != ' ' || i == 0 || i == len(s)-1 || s[i+1] == ' ') || c >= 0x7f ||
			c == '<' || c == '&' {
			return false
		}
	}
	return true
}

func oneLine(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	return textutil.Clip(strings.ReplaceAll(strings.ReplaceAll(s, ",\n", ", "), "\n", ", "), MaxField)
}

// number reads a coordinate in degrees, with a decimal point or comma.
func number(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 40 || strings.Trim(text, "+-0123456789.,eE") != "" {
		return 0, false
	}
	if strings.Count(text, ",") == 1 && !strings.Contains(text, ".") {
		text = strings.Replace(text, ",", ".", 1)
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// pointIn reads "53.14, 8.21", "53.14;8.21" or "53.14 8.21", latitude first;
// anything may follow in brackets.
func pointIn(text string) (lat, lon float64, ok bool) {
	text, _, _ = strings.Cut(text, "(")
	for _, separator := range []string{";", ", ", "~", ",", " "} {
		a, b, found := strings.Cut(strings.TrimSpace(text), separator)
		if !found {
			continue
		}
		lat, ok1 := number(a)
		lon, ok2 := number(b)
		if ok1 && ok2 && onEarth(lat, lon) {
			return lat, lon, true
		}
	}
	return 0, 0, false
}

// onEarth reports whether lat, lon is a place; 0, 0 is what programs write for none.
func onEarth(lat, lon float64) bool {
	return math.Abs(lat) <= 90 && math.Abs(lon) <= 180 && (lat != 0 || lon != 0)
}
