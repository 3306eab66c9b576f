// Package geoparse finds postal addresses in pages and verifies them against a gazetteer. Its
// verdict decides whether a page is relevant, and trains the link predictor. Start with
// [Parser.Parse]; scan.go finds anchors (postcodes, states), the files anchor_*.go read the address
// before or after one, package grammar reads its street, and resolve.go verifies it.
package geoparse

import (
	"cmp"
	"fmt"

	"gazehound/gazetteer"
	"gazehound/geoparse/markup"
	"gazehound/geoparse/place"

	"github.com/paulmach/orb"
	"golang.org/x/net/html"
)

// An Input is one page, or one plain text, to be searched for addresses.
type Input struct {
	Text string     // visible text, one line per block
	Doc  *html.Node // the tree that Text was made from, or nil for plain text
	// Title of the page, or "", a candidate for names.
	Title string
	// Hints, each optional, decide between countries where the text does not.
	// With a Country only addresses of its format are found: those of
	// Germany, its neighbours and Italy; of the United States, Canada and
	// Australia; of Great Britain. A short text is then read as one address,
	// which may lack its postcode. A country that the gazetteer has nothing of is
	// read by its form alone, with a street word and a number on a page.
	Host    string // "www.oldenburg.example"
	Path    string // of the page on its host, and its query: "/~harms/", "/index.php?id=7"
	Lang    string // ISO 639-1
	Country string // ISO 3166-1 alpha-2

	Relevant bool // the page is relevant whatever it states, so that OnlyRelevant keeps all
}

// A Level is how much of an address the gazetteer confirms.
type Level uint8

// The levels. Postcode and city agree with the gazetteer at each of them.
const (
	CityLevel     Level = iota + 1 // postcode and city, no street
	StreetLevel                    // with a street in the text, not confirmed to the house
	VerifiedLevel                  // street in the city, house number known or interpolated
)

var levelNames = [...]string{"", "city", "street", "verified"}

// String returns "city", "street" or "verified".
func (l Level) String() string { return levelNames[l] }

// MarshalText returns the name of l.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the name of a level; "" is none.
func (l *Level) UnmarshalText(text []byte) error {
	for i, name := range levelNames {
		if name == string(text) {
			*l = Level(i)
			return nil
		}
	}
	return fmt.Errorf("geoparse: %.40q is not a level", text)
}

// An Origin is where on a page an address was stated.
type Origin = markup.Origin

// An Address is one address as the page wrote it, with the place it matched.
type Address struct {
	Text       string // as written, line breaks as ", "; at most 300 characters
	Start, End int    // span in Input.Text, in Unicode characters; both -1 if only markup states it

	// The parts as the page wrote them, white space folded; State and Country
	// also where only the gazetteer knows them.
	Street, HouseNumber, Unit, POBox, Postcode, City, State, Country string

	Level      Level
	Origin     Origin
	Confidence float64             // 0 to 1
	Precision  gazetteer.Precision // of Point
	Point      orb.Point           // lon, lat in degrees, WGS 84; only with a Precision
	Place      gazetteer.Place     // the entry matched: house, street or postcode; ID "" if none
	InRegion   bool                // lies in the region of the crawl
	Role       Role                // whose address it is, seen from the page
	Footer     bool                // only in the footer of the page

	// SiteWide: most pages of the host state the address, as in a footer. A crawl sets it.
	SiteWide bool

	// Person: the address is stated as that of a person. Private: nothing shows it to be a place of
	// business, either. A private address does not make a page relevant and must not be kept; its
	// belongings are left out.
	Person, Private bool
	// Home: so clearly a private person's that it is one on every page of the host.
	Home bool
	Belongings

	scene    bool           // markup alone states it, as the named place of an event
	evidence place.Evidence // that it is a home
}

// Counts reports whether the address lies in the region of the crawl and may be
// kept.
func (a *Address) Counts() bool { return a.InRegion && !a.Private }

// Belongings are what a page states beside an address. Each is "" if nothing usable is stated.
type Belongings struct {
	Name    string // of the business, institution or person; at most 80 characters in one line
	Branch  string // branch, such as "Head Office"; at most 80 characters
	Phone   string // E.164: "+4944112345"
	Fax     string // E.164
	Email   string // of a role such as info@, never of a person
	Website string // http or https URL that is stated beside the address
	Hours   string // opening hours as OpenStreetMap writes them: "Mo-Fr 08:00-18:00; Sa 09:00-13:00"
	Object  string // object of the gazetteer with that name at the address: "node/240036"
	Tags    string // of Object: "amenity=restaurant;cuisine=thai"
	Type    string // schema.org's type of it, such as "Bakery"; only where markup states it
	Kind    string // of place, as package kind has it: "shop=bakery"
	// StatedKind is that of the page's own markup where Kind is another one, of Object.
	StatedKind string

	// Status says whether what is named is still there, and StatusWords are the page's words for it, in
	// small letters: "permanently closed". Without CurrentStatus there are no Hours.
	Status      Status
	StatusWords string
}

// fill copies fields that b lacks from o.
func (b *Belongings) fill(o Belongings) {
	b.Name, b.Phone, b.Email = cmp.Or(b.Name, o.Name), cmp.Or(b.Phone, o.Phone), cmp.Or(b.Email, o.Email)
	b.Fax = cmp.Or(b.Fax, o.Fax)
	b.Website, b.Hours = cmp.Or(b.Website, o.Website), cmp.Or(b.Hours, o.Hours)
	b.Type, b.Branch = cmp.Or(b.Type, o.Type), cmp.Or(b.Branch, o.Branch)
	if b.Object == "" {
		b.Object, b.Tags = o.Object, o.Tags
	}
	b.Kind, b.StatedKind = cmp.Or(b.Kind, o.Kind), cmp.Or(b.StatedKind, o.StatedKind)
	if b.Status == CurrentStatus {
		b.Status, b.StatusWords = o.Status, o.StatusWords
	}
	if b.Status != CurrentStatus {
		b.Hours = ""
	}
}

// Notes are what a page that does not state the address of its host's place says of that place: a
// page of opening hours, a welcome page. Each is "" if nothing usable is stated.
type Notes struct {
	Phone string `json:"p,omitempty"` // E.164; several, apart by spaces, where the page may be of some countries
	Hours string `json:"h,omitempty"`
	Kind  string `json:"k,omitempty"`
	Name  string `json:"w,omitempty"` // who runs the site, by its start page
}

// Clipped returns n without texts of more than most bytes.
func (n Notes) Clipped(most int) Notes {
	for _, text := range []*string{&n.Phone, &n.Hours, &n.Kind, &n.Name} {
		if len(*text) > most {
			*text = ""
		}
	}
	return n
}

// Has reports whether a text of n matches.
func (n Notes) Has(text func(string) bool) bool {
	return text(n.Phone) || text(n.Hours) || text(n.Kind) || text(n.Name)
}

// A Verdict is the judgement of one page against the region of the crawl.
type Verdict struct {
	Relevant  bool    // at least one address of the wanted precision lies in the region
	Score     float64 // best confidence among those addresses, 0 to 1
	Addresses []Address
	Evidence  string // what makes the page relevant, for judges other than by addresses
	Notes     Notes

	// SiteWide: the page is relevant, and all of its addresses in the region are site-wide.
	SiteWide bool
}
