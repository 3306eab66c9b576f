package index

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse"

	"github.com/paulmach/orb"
	"golang.org/x/net/publicsuffix"
)

// A Document is one relevant page as the index keeps it.
type Document struct {
	URL   string // absolute, canonical: it is the page's identity
	Title string
	// visible text, one line per block; the spans of Addresses count its characters
	Text    string
	Links   []string // texts of its links; lines of nothing else are menus, which are not searched
	Lang    string   // ISO 639-1 or ""
	Fetched time.Time
	// Addresses that count are kept; homes are left out on all pages of the host; others only bound
	// their neighbours' text.
	Addresses []geoparse.Address
	Notes     geoparse.Notes // what the page says of the host's place without stating its address

	Importance float64 // of the page, 0 to 1, where the crawl rates pages (strategy trend)
}

// Bounds of what is kept of a page.
const (
	maxMentions   = 1000   // addresses of one page
	maxTitle      = 300    // characters
	maxText       = 20_000 // characters of page text that are searched
	maxTextShared = 3      // with more addresses the page's text says nothing about each of them, and is left out
	maxShown      = 255    // characters of each thing that belongs to an address: what a tag of OpenStreetMap holds
	maxNear       = 250    // characters before, and after an address that belong to it
)

// A mention is one address on one page, as it is stored.
type mention struct {
	URL     string `json:"u"`
	Title   string `json:"t,omitempty"`
	Lang    string `json:"l,omitempty"`
	Fetched int64  `json:"f,omitempty"` // Unix seconds
	First   int64  `json:"i,omitempty"` // first time that the page was seen with this address
	Gone    int64  `json:"g,omitempty"` // since when the page, or the address on it, is gone

	Importance float64 `json:"im,omitempty"` // of the page, 0 to 1

	Street string `json:"st,omitempty"`
	Number string `json:"nr,omitempty"`
	Unit   string `json:"un,omitempty"`
	Code   string `json:"pc,omitempty"`
	City   string `json:"ct,omitempty"`
	State  string `json:"sa,omitempty"`
	Land   string `json:"cc,omitempty"`

	Place      string              `json:"id,omitempty"` // ID of the gazetteer's entry
	Precision  gazetteer.Precision `json:"pr,omitempty"`
	Level      geoparse.Level      `json:"lv,omitempty"`
	Origin     uint8               `json:"or,omitempty"` // a geoparse.Origin
	Role       uint8               `json:"ro,omitempty"` // a geoparse.Role
	Confidence float64             `json:"co,omitempty"`
	Point      orb.Point           `json:"pt,omitzero"` // lon, lat; only with a Precision

	Name   string `json:"n,omitempty"`
	Branch string `json:"br,omitempty"` // which one of several places of that name it is
	Object string `json:"ob,omitempty"` // what the map has of that name there: "node/240036"
	Tags   string `json:"tg,omitempty"` // of Object: "amenity=restaurant;cuisine=thai"
	Guess  bool   `json:"gu,omitempty"` // Name is that of the page
	Kind   string `json:"k,omitempty"`  // see package kind
	Stated string `json:"ks,omitempty"` // the page's own kind where Kind is another one, of Object
	Person bool   `json:"pe,omitempty"`
	Phone  string `json:"ph,omitempty"`
	Fax    string `json:"fx,omitempty"`
	Email  string `json:"em,omitempty"`
	Home   string `json:"ho,omitempty"` // web site that the page states beside the address
	Hours  string `json:"oh,omitempty"`

	Status      uint8  `json:"su,omitempty"` // a geoparse.Status
	StatusWords string `json:"sw,omitempty"`

	Near  string `json:"x,omitempty"` // words around the address, which itself is Near[Start:End]
	Start int    `json:"xs,omitempty"`
	End   int    `json:"xe,omitempty"`
	Words string `json:"-"` // distinct words of a page with few addresses; see fieldPageWords

	id    string // of the address
	host  string
	site  string
	notes geoparse.Notes // what other pages of the host say in addition
}

// locate sets the fields derived from the URL.
func (m *mention) locate() {
	m.host = hostOf(m.URL)
	m.site = siteOf(m.host)
}

func (m *mention) role() geoparse.Role { return geoparse.Role(m.Role) }

func (m *mention) status() geoparse.Status { return geoparse.Status(m.Status) }

func (m *mention) origin() string { return geoparse.Origin(m.Origin).String() }

// AddressID returns the stable identity of an address: 16 hexadecimal digits.
// Spellings of one address, as geoparse.Parts folds them, have one ID, on
// whatever site they stand. Without house number and post box an address is no
// single place, and each site (registrable domain, or host where it has none)
// has its own. It survives recrawls.
func AddressID(site string, a geoparse.Address) string {
	p := a.Parts().Folded()
	if p.Number != "" && p.Street != "" || p.POBox != "" {
		site = ""
	}
	parts := []string{strings.ToLower(site), p.Street, p.Number, p.Unit, p.POBox, where(p)}
	return hashOf(strings.Join(parts, "\x1f"))
}

// where returns the place of folded parts: the postcode, else city, state and
// country.
func where(p geoparse.Parts) string {
	if p.Postcode != "" {
		return strings.ToLower(p.Postcode)
	}
	return p.City + "\x1f" + p.State + "\x1f" + p.Country
}

// hashOf returns 64 bits of the SHA-256 of s as 16 hexadecimal digits.
func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// mentionsOf returns the mentions of a page, one for each distinct address.
func mentionsOf(d Document) (found []*mention, err error) {
	host := hostOf(d.URL)
	if host == "" {
		return nil, fmt.Errorf("index: %.200q is not an absolute URL", d.URL)
	}
	if !slices.ContainsFunc(d.Addresses, func(a geoparse.Address) bool { return a.Counts() }) {
		return nil, nil
	}
	site := siteOf(host)
	title := clip(strings.Join(strings.Fields(d.Title), " "), maxTitle)

	last := 0 // text far after the last address is not used
	for _, a := range d.Addresses {
		last = max(last, a.End)
	}
	near := clip(d.Text, last+maxNear+1)
	spans := spansOf(d.Addresses, utf8.RuneCountInString(near))
	menus := menusOf(d.Links)
	text := []rune(menus.without(near, spans))
	byID := map[string]*mention{}
	for _, a := range d.Addresses {
		if !a.Counts() {
			continue
		}
		aid := AddressID(site, a)
		if old, ok := byID[aid]; ok {
			old.merge(a)
			continue
		}
		if len(byID) == maxMentions {
			break
		}
		p := a.Parts()
		m := &mention{
			id: aid, host: host, site: site,
			URL: d.URL, Title: title, Lang: d.Lang, Fetched: d.Fetched.Unix(), First: d.Fetched.Unix(),
			Importance: max(0, min(1, d.Importance)),
			Street:     p.Street, Number: p.Number, Unit: p.Unit,
			Code: p.Postcode, City: p.City, Land: p.Country,
			Place: a.Place.ID, Level: a.Level, Origin: uint8(a.Origin), Role: uint8(a.Role), Person: a.Person,
			Object: clip(a.Object, maxShown), Tags: clip(a.Tags, maxShown),
		}
		before, at, after := around(text, spans, a)
		m.Near = before + at + after
		m.Start, m.End = len(before), len(before)+len(at)
		m.merge(a)
		m.Guess = a.Type == "" && ofTitle(a.Name, title, m.Near) // markup that names an address means it
		byID[aid] = m
		found = append(found, m)
	}
	if len(found) > 0 && len(spans.distinct) <= maxTextShared && len(spans.private) == 0 {
		words := distinctWords(menus.without(clip(d.Text, maxText), spans))
		for _, m := range found {
			m.Words = words
		}
	}
	return found, nil
}

// merge takes what a statement of the address on the page says better, or in addition.
func (m *mention) merge(a geoparse.Address) {
	m.Confidence = max(m.Confidence, min(1, a.Confidence))
	m.Name, m.Unit = cmp.Or(m.Name, clip(a.Name, maxShown)), cmp.Or(m.Unit, a.Unit)
	m.Kind, m.Stated = cmp.Or(m.Kind, clip(a.Kind, maxShown)), cmp.Or(m.Stated, clip(a.StatedKind, maxShown))
	m.Role, m.Person = min(m.Role, uint8(a.Role)), m.Person && a.Person
	m.Phone, m.Email = cmp.Or(m.Phone, clip(a.Phone, maxShown)), cmp.Or(m.Email, clip(a.Email, maxShown))
	m.Fax = cmp.Or(m.Fax, clip(a.Fax, maxShown))
	m.Home, m.Hours = cmp.Or(m.Home, clip(a.Website, maxShown)), cmp.Or(m.Hours, clip(a.Hours, maxShown))
	m.State, m.Land = cmp.Or(m.State, a.State), cmp.Or(m.Land, a.Country)
	m.Branch = cmp.Or(m.Branch, clip(a.Branch, maxShown))
	if m.Status == 0 {
		m.Status, m.StatusWords = uint8(a.Status), clip(a.StatusWords, maxShown)
	}
	if a.Precision > m.Precision && (m.Precision == gazetteer.NoPrecision || a.Precision == gazetteer.HousePrecision) {
		m.Point, m.Precision, m.Place = a.Point, a.Precision, a.Place.ID
	}
}

// hostOf returns the host of an absolute URL in lower case without port, or "".
func hostOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// siteOf returns the registrable domain of a host, or the host.
func siteOf(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return site
	}
	return host
}

// spans are the places of all addresses in a page's text, in order.
type spans struct {
	list     [][2]int
	distinct map[string]bool
	private  map[int]bool // ends of those of private persons
}

func spansOf(as []geoparse.Address, length int) spans {
	s := spans{distinct: map[string]bool{}, private: map[int]bool{}}
	for _, a := range as {
		whole := a
		whole.Unit = ""
		s.distinct[AddressID("", whole)] = true
		if a.Private {
			s.private[a.End] = true
		}
		if 0 <= a.Start && a.Start < a.End && a.End <= length {
			s.list = append(s.list, [2]int{a.Start, a.End})
		}
	}
	slices.SortFunc(s.list, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return s
}

// around returns the text before, of and after an address: at most maxNear
// characters each way, whole words. What stands between two addresses, as in a
// directory, is shared out line by line, so that an entry does not carry the
// words of its neighbours: one line belongs to the address after it.
func around(text []rune, s spans, a geoparse.Address) (before, at, after string) {
	if a.Start < 0 || a.Start >= a.End || a.End > len(text) {
		return "", strings.Join(strings.Fields(a.Text), " "), ""
	}
	from, to := max(0, a.Start-maxNear), min(len(text), a.End+maxNear)
	last, next, ends := 0, len(text), -1
	for _, other := range s.list {
		if other[1] <= a.Start {
			last = max(last, other[1])
		}
		if other[0] >= a.End {
			next, ends = other[0], other[1]
			break
		}
	}
	if last > 0 {
		if s.private[last] { // text of a private person is shown with no other address
			from = max(from, lineStart(text, last, a.Start))
		} else {
			from = max(from, divide(text, last, a.Start))
		}
	}
	if next < len(text) {
		to = min(to, divide(text, a.End, next))
		if s.private[ends] {
			to = min(to, lineStart(text, a.End, next))
		}
	}
	for 0 < from && from < a.Start && !unicode.IsSpace(text[from]) && !unicode.IsSpace(text[from-1]) {
		from++
	}
	for a.End < to && to < len(text) && !unicode.IsSpace(text[to]) && !unicode.IsSpace(text[to-1]) {
		to--
	}
	folded := func(from, to int) string { return foldLines(string(text[from:to])) }
	return folded(from, a.Start), folded(a.Start, a.End), folded(a.End, to)
}

// divide returns the position in text[from:to], which lies between two
// addresses, where the second one's words begin. Far from both, it does not
// matter where it is.
func divide(text []rune, from, to int) int {
	if to-from > 4*maxNear {
		return from + (to-from)/2
	}
	var starts []int // of lines that are not empty, without the rest of the first address's line
	for i := from + 1; i < to; i++ {
		if text[i-1] == '\n' && strings.TrimSpace(string(text[i:lineEnd(text, i, to)])) != "" {
			starts = append(starts, i)
		}
	}
	if len(starts) == 0 {
		return from
	}
	return starts[len(starts)/2]
}

// lineStart returns where the last line in text[from:to] begins that is not
// empty: the name of what stands at to; to where there is none.
func lineStart(text []rune, from, to int) int {
	words := false
	for i := to - 1; i >= from; i-- {
		switch {
		case text[i] == '\n' && words:
			return i + 1
		case !unicode.IsSpace(text[i]):
			words = true
		}
	}
	return to
}

func lineEnd(text []rune, from, to int) int {
	for i := from; i < to; i++ {
		if text[i] == '\n' {
			return i
		}
	}
	return to
}

var (
	lineBreaks = regexp.MustCompile(`[\s\pZ\x{85}]*\n[\s\pZ\x{85}]*`)
	blanks     = regexp.MustCompile(`[\t\v\f\r\pZ\x{85}]+`)
	controls   = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f-\x9f]+`)
)

// foldLines folds white space; a line break stays one, and white space at the
// ends stays.
func foldLines(s string) string {
	return controls.ReplaceAllString(blanks.ReplaceAllString(lineBreaks.ReplaceAllString(s, "\n"), " "), "")
}

// clip returns at most n characters of s.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		n--
		if n < 0 {
			return s[:i]
		}
	}
	return s
}

// isOSM reports whether a place is an object of OpenStreetMap.
func isOSM(place string) bool {
	kind, _, found := strings.Cut(place, "/")
	return found && slices.Contains([]string{"node", "way", "relation"}, kind)
}

// hostWords returns the words of a host's name without its public suffix.
func hostWords(host string) string {
	if suffix, _ := publicsuffix.PublicSuffix(host); suffix != host {
		host = strings.TrimSuffix(host, "."+suffix)
	}
	return strings.NewReplacer(".", " ", "-", " ").Replace(strings.TrimPrefix(host, "www."))
}

// ofTitle reports whether a name stands in the title of a page and not beside the
// address.
func ofTitle(name, title, near string) bool {
	if name == "" {
		return false
	}
	name = foldPhrase(name)
	return strings.Contains(foldPhrase(title), name) && !strings.Contains(foldPhrase(near), name)
}
