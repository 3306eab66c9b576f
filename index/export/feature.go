package export

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strings"
	"time"

	"gazehound/gazetteer/osm"
	"gazehound/index"
	"gazehound/internal/kind"

	"github.com/nyaruka/phonenumbers"
	"github.com/paulmach/orb"
)

// A Feature is an address as GeoJSON (RFC 7946) has it.
type Feature struct {
	Type       string    `json:"type"` // "Feature"
	ID         string    `json:"id,omitempty"`
	Geometry   *Geometry `json:"geometry"` // nil without a coordinate
	Properties any       `json:"properties"`
}

// A Geometry is a point with 6 decimals, a tenth of a metre.
type Geometry struct {
	Type        string     `json:"type"`        // "Point"
	Coordinates [2]float64 `json:"coordinates"` // lon, lat
}

// Properties are what is known of an address, in the words of OpenStreetMap
// and All the Places. Every answer and every export uses these names.
type Properties struct {
	Ref         string   `json:"ref" cell:"number"`
	Name        string   `json:"name,omitempty"`
	Branch      string   `json:"branch,omitempty"` // which one of several places of that name it is
	Names       []string `json:"@names,omitempty"` // of what else is there
	Label       string   `json:"label"`
	Street      string   `json:"addr:street,omitempty"`
	HouseNumber string   `json:"addr:housenumber,omitempty" cell:"number"`
	Unit        string   `json:"addr:unit,omitempty" cell:"number"`
	Postcode    string   `json:"addr:postcode,omitempty" cell:"number"`
	City        string   `json:"addr:city,omitempty"`
	State       string   `json:"addr:state,omitempty"`
	Country     string   `json:"addr:country,omitempty"`
	Full        string   `json:"addr:full"`
	Phone       string   `json:"phone,omitempty"`         // E.164
	Fax         string   `json:"fax,omitempty"`           // E.164
	Email       string   `json:"email,omitempty"`         // of a role such as info@
	Website     string   `json:"website,omitempty"`       // see Website
	Hours       string   `json:"opening_hours,omitempty"` // as OpenStreetMap writes them
	Differs     []string `json:"@differs,omitempty"`      // those of the four above that differ on another site
	Kind        string   `json:"@kind,omitempty"`         // of place, see package kind
	KindTag
	Role        string    `json:"@role"`                   // "own", "listed", "agency" or "authority"
	Status      string    `json:"@status,omitempty"`       // "closed" for good, "moved" away or "former", as a page says
	StatusWords string    `json:"@status_words,omitempty"` // of the page, that say so
	Person      bool      `json:"@person,omitempty"`       // stated as that of a person in business
	SiteWide    bool      `json:"@site_wide,omitempty"`    // on most pages of a site
	Corrected   []string  `json:"@corrected,omitempty"`    // what of it a person says, see index.Hit.Corrected
	Source      string    `json:"@source_uri"`
	Title       string    `json:"@title,omitempty"`
	Precision   string    `json:"@precision"`
	Level       string    `json:"@level"`
	Confidence  float64   `json:"@confidence"`
	Evidence    string    `json:"@evidence,omitempty"`
	FirstSeen   time.Time `json:"@first_seen"`
	LastSeen    time.Time `json:"@last_seen"`
	Gone        time.Time `json:"@gone,omitzero"` // since then no page states it any more
	Mentions    int       `json:"@mentions"`      // pages that state it
	Hosts       int       `json:"@hosts"`         // of these pages
	Pages       []string  `json:"@pages"`
	Gazetteer   string    `json:"@gazetteer,omitempty"`
	OSM         *string   `json:"@osm"`                  // the matching OSM object, or null
	Object      string    `json:"@osm_object,omitempty"` // the OSM object of that name at the address
	Tags        string    `json:"@osm_tags,omitempty"`   // what it is there: "amenity=restaurant;cuisine=thai"
}

// A KindTag is the main tag of a kind.
type KindTag struct {
	Amenity    string `json:"amenity,omitempty"`
	Shop       string `json:"shop,omitempty"`
	Office     string `json:"office,omitempty"`
	Craft      string `json:"craft,omitempty"`
	Healthcare string `json:"healthcare,omitempty"`
	Tourism    string `json:"tourism,omitempty"`
	Leisure    string `json:"leisure,omitempty"`
	Club       string `json:"club,omitempty"`
}

func kindTag(id string) (t KindTag) {
	key, value, _ := strings.Cut(kind.Main(id), "=")
	if field := map[string]*string{
		"amenity": &t.Amenity, "shop": &t.Shop, "office": &t.Office, "craft": &t.Craft, "healthcare": &t.Healthcare,
		"tourism": &t.Tourism, "leisure": &t.Leisure, "club": &t.Club,
	}[key]; field != nil {
		*field = value
	}
	return t
}

// PropertiesOf returns those of h. Title and Evidence are words of a stranger's
// page.
func PropertiesOf(h *index.Hit) Properties {
	e := h.Evidence[0]
	p := Properties{
		Ref: h.ID, Name: h.Name, Branch: h.Branch, Names: h.Names, Label: h.Label(), Full: h.Line(),
		Street: h.Street, HouseNumber: h.HouseNumber, Unit: h.Unit,
		Postcode: h.Postcode, City: h.City, State: h.State, Country: h.Country,
		Phone: h.Phone, Fax: h.Fax, Email: h.Email, Website: Website(h), Hours: h.Hours, Differs: h.Differs,
		Kind: h.Kind, KindTag: kindTag(h.Kind), Role: h.Role, Status: h.Status, StatusWords: h.StatusWords, Person: h.Person, SiteWide: h.SiteWide,
		Corrected: h.Corrected(),
		Source:    e.URL, Title: e.Title, Evidence: strings.TrimSpace(e.Snippet.Text),
		Precision: h.Precision, Level: h.Level, Confidence: Round(h.Confidence, 2),
		FirstSeen: h.FirstSeen, LastSeen: h.LastSeen, Gone: h.Gone, Mentions: h.Mentions, Hosts: h.Hosts,
		Gazetteer: h.Place, Object: h.Object, Tags: h.Tags,
	}
	for _, e := range h.Evidence {
		p.Pages = append(p.Pages, e.URL)
	}
	if OSMObject.MatchString(h.Place) {
		p.OSM = &h.Place
	}
	return p
}

// OSMObject matches the ID of a place that is an OpenStreetMap object, and
// parts it into type and number.
var OSMObject = regexp.MustCompile(`^(node|way|relation)/(\d{1,18})$`)

// GeometryOf returns the coordinate of h, or nil.
func GeometryOf(h *index.Hit) *Geometry {
	if !h.HasPoint {
		return nil
	}
	return PointAt(h.Point)
}

// PointAt returns a point as a Geometry.
func PointAt(p orb.Point) *Geometry {
	return &Geometry{"Point", [2]float64{Round(p[0], 6), Round(p[1], 6)}}
}

// Website returns the web site of what is at h: what its pages state beside it,
// else, for a site's own address, the root of that site's page that proves h
// best. That of a directory is none of its entries', whose pages may look like
// those of a place's own site.
func Website(h *index.Hit) string {
	if h.Website != "" || !h.Own() || h.Directory {
		return h.Website
	}
	for _, e := range h.Evidence {
		if e.Site == h.Site {
			return rootOf.FindString(e.URL) + "/"
		}
	}
	return ""
}

// OwnWebsite returns the web site of what is at h if it is its own, or "": not that of a directory or
// a newspaper that mentions it, nor a page at a social network.
func OwnWebsite(h *index.Hit) string {
	site, _ := osm.CleanURL(Website(h))
	u, err := url.Parse(site)
	if err != nil {
		return ""
	}
	host := u.Hostname()
	for _, e := range h.Evidence {
		on := e.Site != "" && (host == e.Site || strings.HasSuffix(host, "."+e.Site))
		if on && !(h.Own() && !h.Directory && h.Site == e.Site) {
			return ""
		}
	}
	return site
}

// OSMPhone returns a telephone number of E.164 as OpenStreetMap writes it, "+49 631 3104477".
func OSMPhone(e164 string) string {
	n, err := phonenumbers.Parse(e164, "ZZ")
	if err != nil {
		return e164
	}
	return phonenumbers.Format(n, phonenumbers.INTERNATIONAL)
}

// ObjectURL returns the address of a place at openstreetmap.org.
func ObjectURL(id string, at orb.Point) string {
	const site = "https://www.openstreetmap.org/"
	if OSMObject.MatchString(id) {
		return site + id
	}
	return fmt.Sprintf(site+"?mlat=%.6[1]f&mlon=%.6[2]f#map=18/%.6[1]f/%.6[2]f", at[1], at[0])
}

var rootOf = regexp.MustCompile(`^[a-zA-Z]+://[^/?#]+`)

// Round returns f with so many decimals, and 0 for what would be -0.
func Round(f float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(f*p)/p + 0
}
