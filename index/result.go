package index

import (
	"slices"
	"strings"
	"time"

	"gazehound/gazetteer"
	"gazehound/geoparse"

	"github.com/paulmach/orb"
)

// A Result is a page of hits.
type Result struct {
	Hits    []Hit
	Total   int       // addresses that match
	Relaxed bool      // no address has all the words: some have typing errors, or only some of the words
	Offset  int       // matches before the first hit
	Next    string    // cursor of the next page, "" at the end
	Facets  []Count   // of each facet asked for, in its order
	Pages   int       // that state the matches, where Query.CountPages asked for it
	Near    string    // the address that a query such as "bakery near Main St" took for its centre, or ""
	Kinds   []string  // of places that the words were understood to ask for: the first hits are of them
	Open    *OpenTime // when the hits are open, where that is asked for
	Absent  []string  // kinds that the words ask for and of which the index has no place: the hits mention the words
	Me      bool      // the words ask for what is near the reader: with a Center, the nearest come first
	Took    time.Duration
}

// A Part of a score: a word of the query as it was found, how rare it is, and
// how much it weighs at the address.
type Part struct {
	Word   string  `json:"word"`
	Rarity float64 `json:"rarity"`
	Weight float64 `json:"weight"` // 0 to 1
}

// A Hit is one address, with the pages of all sites that state it.
type Hit struct {
	ID      string   // AddressID
	Site    string   // registrable domain that says most of it: its own rather than a directory
	Name    string   // best guess of what is there; of several, of what was asked for
	Object  string   // what the map has of that name at the address: "node/240036"; "": nothing known
	Tags    string   // of Object, what it is: "amenity=restaurant;cuisine=thai"
	Branch  string   // which one of several places of that name it is: "Head Office"; "": none is known
	Tenants []Tenant // of what else fits in the same building, where Query.Group asked for it

	Names  []string // of what else is there, the best known first; at most 20
	Others []Hit    // of WalkNames: what pages state of each of Names

	Street, HouseNumber, Unit, Postcode, City, State, Country string

	Kind       string // of what bears Name, see package kind; "": not known
	StatedKind string // by a page that does not agree with the map, which Kind follows; "": none

	HasPoint   bool
	Point      orb.Point // lon, lat
	Precision  string    // of Point: "house", "interpolated", "street", "postcode", "city"
	Level      string    // "verified", "street" or "city"
	Place      string    // ID of the gazetteer's entry, or ""
	Confidence float64   // 0 to 1, of the best evidence

	// Directory: Site states many other addresses, so it is not the place's own site.
	Directory bool

	// Role is whose address it is, seen from the page that is nearest to it: "own", "listed",
	// "agency" or "authority".
	Role     string
	Person   bool // stated as that of a person in business
	SiteWide bool // stands on most pages of a site, such as in a footer; they are pages in the index

	// What pages that mean Name state beside it, each "" where they state nothing.
	Phone   string // E.164
	Fax     string // E.164
	Email   string // of a role such as info@
	Website string
	Hours   string // as OpenStreetMap writes opening_hours

	// Status is "closed" where a page that means Name says that it is closed for good, "moved" where it has
	// left for another address, "former" where it was here once; else "". StatusWords are the page's words
	// for it. With a Status there are no Hours.
	Status, StatusWords string
	StatusPage          *Evidence // the page that says so; of Walk and Address only

	// Differs names those of "phone", "email", "website" and "opening_hours", that
	// another site states differently. The place's own site is trusted first.
	Differs []string

	Facts []Fact // what a person says of it, in place of pages; see Corrected

	Distance  float64 // metres from the query's Center, or -1
	Score     float64 // how well it fits the words, 0 without; only its order means something, within one answer
	Parts     []Part  // of Score, where they were asked for
	Mentions  int     // pages that state it
	Hosts     int     // of these pages
	FirstSeen time.Time
	LastSeen  time.Time
	Gone      time.Time  // since then no page states it any more; zero: one does, as far as is known
	Evidence  []Evidence // the page that fits the query best first, then one of each site; at most 5, of Address 20
	After     string     // cursor of what comes after it, see Query.Cursor; of Search only
}

// A Tenant is a hit in the building of a better one.
type Tenant struct{ ID, Name, Unit string }

// grouped is how many addresses a page may have for each hit, where those of one
// building are one hit.
const grouped = 5

// group makes one hit of those in one building: the best, with the others as its
// tenants. It keeps limit hits and moves Next to what comes after them.
func (r *Result) group(limit int) {
	var hits []Hit
	at := map[string]int{} // of each building
	for i, h := range r.Hits {
		building := PlaceOf(h.Street, h.HouseNumber, h.Postcode, h.City)
		j, known := at[building]
		switch {
		case known && h.HouseNumber != "" && building != "":
			hits[j].Tenants = append(hits[j].Tenants, Tenant{h.ID, h.Name, h.Unit})
		case len(hits) == limit:
			r.Hits, r.Next = hits, r.Hits[i-1].After
			return
		default:
			at[building] = len(hits)
			hits = append(hits, h)
		}
	}
	r.Hits = hits
}

// Evidence is a page that states the address. Its texts are untrusted.
type Evidence struct {
	URL, Title string
	Site       string  // registrable domain
	Lang       string  // ISO 639-1 or ""
	Snippet    Snippet // of the text around the address; of Search only that of the first page
	Fetched    time.Time
	Gone       time.Time // since when the page, or the address on it, is gone; zero: present
	Confidence float64
	Origin     string // "text", "json-ld", …
}

// InOSM reports whether the gazetteer has the house, and has it from
// OpenStreetMap.
func (h *Hit) InOSM() bool {
	return h.Precision == gazetteer.HousePrecision.String() && isOSM(h.Place)
}

// Line returns the address in one line, as it is written where it lies.
func (h *Hit) Line() string {
	switch h.Country {
	case "US", "CA", "AU":
		return join(", ", join(" ", h.HouseNumber, h.Street), h.Unit, h.City, join(" ", h.State, h.Postcode))
	case "GB", "IE", "FR":
		return join(", ", join(" ", h.HouseNumber, h.Street), h.Unit, join(" ", h.City, h.Postcode))
	}
	return join(", ", join(" ", h.Street, h.HouseNumber), h.Unit, join(" ", h.Postcode, h.City))
}

// Own reports whether h is the address of its pages' subject, or of who runs their site.
func (h *Hit) Own() bool { return h.Role == geoparse.OwnRole.String() }

// Label returns name and address in one line.
func (h *Hit) Label() string { return join(", ", h.Name, h.Line()) }

func join(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}
