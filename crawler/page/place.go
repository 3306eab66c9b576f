package page

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Zones of a page, the first word of Link.Place.
const (
	ZoneMenu    = "menu"
	ZonePager   = "pager" // links to the next and previous parts
	ZoneFooter  = "footer"
	ZoneHeader  = "header"
	ZoneSide    = "side"
	ZoneHeading = "heading"
	ZoneText    = "text" // a paragraph
	ZoneList    = "list"
	ZoneTable   = "table"
	ZoneMain    = "main"  // the main part, and in none of the four before
	ZoneHead    = "head"  // link and meta elements
	ZoneFrame   = "frame" // frame and iframe
	ZoneOther   = "other"
)

// Bounds of a tag path.
const (
	maxNames = 3  // id and classes of an element
	maxName  = 24 // bytes of one of them
)

// A level is an element on the way from the root to a link.
type level struct {
	node     *html.Node
	tag      string // with id and classes
	landmark string // ZoneMenu to ZoneSide, or ""
	block    string // ZoneHeading to ZoneTable of the innermost block so far, or ""
	main     bool   // in the main part
	place    string // of links right below it; "": not made yet
}

// places describes where links stand. Links in document order share most of their ancestors, so
// each ancestor is described once.
type places struct {
	path  []level // of the last link, from the root
	chain []*html.Node
	b     strings.Builder
}

// of returns the place of the link element n; see Link.Place.
func (p *places) of(n *html.Node) string {
	p.chain = p.chain[:0]
	for up := n.Parent; up != nil && up.Type == html.ElementNode; up = up.Parent {
		p.chain = append(p.chain, up)
	}
	slices.Reverse(p.chain)
	same := 0
	for same < min(len(p.path), len(p.chain)) && p.path[same].node == p.chain[same] {
		same++
	}
	p.path = p.path[:same]
	for _, up := range p.chain[same:] {
		var above level
		if len(p.path) > 0 {
			above = p.path[len(p.path)-1]
		}
		p.path = append(p.path, above.below(up))
	}
	if tag := describe(n); tag != "a" || len(p.path) == 0 {
		return p.spell(n, tag)
	}
	last := &p.path[len(p.path)-1]
	if last.place == "" {
		last.place = p.spell(n, "a")
	}
	return last.place
}

// spell returns the zone and as many elements, counted from the link, as fit into MaxPlace.
func (p *places) spell(n *html.Node, tag string) string {
	var last level
	if len(p.path) > 0 {
		last = p.path[len(p.path)-1]
	}
	zone := last.zone()
	if n.DataAtom == atom.Frame || n.DataAtom == atom.Iframe {
		zone = ZoneFrame
	}
	left := MaxPlace - len(zone) - 1 - len(tag)
	first := len(p.path)
	for first > 0 && left > len(p.path[first-1].tag) {
		first--
		left -= len(p.path[first].tag) + 1
	}
	p.b.Reset()
	p.b.WriteString(zone)
	for _, l := range p.path[first:] {
		p.b.WriteByte(' ')
		p.b.WriteString(l.tag)
	}
	p.b.WriteByte(' ')
	p.b.WriteString(tag)
	return p.b.String()
}

// zone returns the zone of links below l.
func (l level) zone() string {
	switch {
	case l.landmark != "":
		return l.landmark
	case l.block != "":
		return l.block
	case l.main:
		return ZoneMain
	}
	return ZoneOther
}

// below returns the level of n, an element below l.
func (l level) below(n *html.Node) level {
	l.node, l.tag, l.place = n, describe(n), ""
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		l.block = ZoneHeading
	case atom.P, atom.Blockquote:
		l.block = ZoneText
	case atom.Li, atom.Dt, atom.Dd, atom.Menu:
		l.block = ZoneList
	case atom.Td, atom.Th:
		l.block = ZoneTable
	}
	landmark := landmarkOf(n)
	switch {
	case landmark == ZoneMain:
		l.main = true
	case landmark == "", l.landmark == ZoneFooter: // whatever is in a footer
	case landmark == ZoneHeader && l.main, landmark == ZoneFooter && l.main: // of an article
	case l.landmark == ZoneMenu && landmark == ZoneHeader:
	default:
		l.landmark = landmark
	}
	return l
}

// landmarkOf returns ZoneMenu to ZoneSide or ZoneMain if n is such a part of the page, by its name,
// its role, or a word of its id and classes.
func landmarkOf(n *html.Node) string {
	switch n.DataAtom {
	case atom.Html, atom.Body:
		return "" // their classes speak of the whole page: has-sidebar
	case atom.Nav:
		return ZoneMenu
	case atom.Footer:
		return ZoneFooter
	case atom.Header:
		return ZoneHeader
	case atom.Aside:
		return ZoneSide
	case atom.Main, atom.Article:
		return ZoneMain
	}
	for _, key := range [...]string{"role", "id", "class"} {
		value, ok := attr(n, key)
		if !ok {
			continue
		}
		if zone := zoneOfWords(value); zone != "" {
			return zone
		}
	}
	return ""
}

// landmarkWords are words in roles, ids and classes of the parts of pages.
var landmarkWords = map[string]string{
	"nav": ZoneMenu, "navi": ZoneMenu, "navbar": ZoneMenu, "navigation": ZoneMenu, "menu": ZoneMenu,
	"menubar": ZoneMenu, "submenu": ZoneMenu, "topnav": ZoneMenu, "mainnav": ZoneMenu, "sidenav": ZoneMenu,
	"breadcrumb": ZoneMenu, "breadcrumbs": ZoneMenu, "tabs": ZoneMenu, "dropdown": ZoneMenu,
	"pagination": ZonePager, "pager": ZonePager, "paging": ZonePager,
	"footer": ZoneFooter, "foot": ZoneFooter, "fuss": ZoneFooter, "contentinfo": ZoneFooter,
	"copyright": ZoneFooter, "colophon": ZoneFooter,
	"header": ZoneHeader, "masthead": ZoneHeader, "banner": ZoneHeader, "topbar": ZoneHeader, "kopf": ZoneHeader,
	"sidebar": ZoneSide, "aside": ZoneSide, "widget": ZoneSide, "complementary": ZoneSide, "marginal": ZoneSide,
	"main": ZoneMain, "content": ZoneMain, "inhalt": ZoneMain, "article": ZoneMain, "post": ZoneMain,
}

// zoneOfWords returns the zone that the last word with one names, as in "main-menu".
func zoneOfWords(value string) string {
	value = value[:min(len(value), 200)]
	zone := ""
	for word := range strings.FieldsFuncSeq(value, func(r rune) bool {
		return r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < 0x80
	}) {
		if len(word) <= len("complementary") {
			if a, ok := landmarkWords[strings.ToLower(word)]; ok {
				zone = a
			}
		}
	}
	return zone
}

// describe returns an element as in a selector of CSS, without characters that have a meaning in a
// tag path: "div#page.wide". Every number is written as 0, so that the posts of a list are equal.
func describe(n *html.Node) string {
	id, _ := attr(n, "id")
	id = strings.TrimSpace(id)
	class, _ := attr(n, "class")
	if id == "" && class == "" {
		return clipName(n.Data)
	}
	tag := make([]byte, 0, 64)
	tag = append(tag, clipName(n.Data)...)
	names := 0
	if id != "" {
		tag = appendName(append(tag, '#'), id)
		names++
	}
	for name := range strings.FieldsSeq(class[:min(len(class), 200)]) {
		if names == maxNames {
			break
		}
		tag = appendName(append(tag, '.'), name)
		names++
	}
	return string(tag)
}

// appendName appends a name of at most maxName bytes: every number as 0, and "_" for what is neither
// a letter, "-" nor "_".
func appendName(tag []byte, name string) []byte {
	start := len(tag)
	for i := 0; i < len(name) && len(tag)-start < maxName; i++ {
		switch c := name[i]; {
		case c >= '0' && c <= '9':
			if len(tag) == start || tag[len(tag)-1] != '0' {
				tag = append(tag, '0')
			}
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_':
			tag = append(tag, c)
		default:
			tag = append(tag, '_')
		}
	}
	return tag
}

// clipName returns the name of an element, which a page may make up.
func clipName(tag string) string {
	if len(tag) <= maxName && strings.IndexFunc(tag, func(r rune) bool {
		return r < '0' || r > '9' && r < 'a' || r > 'z'
	}) < 0 {
		return tag
	}
	return string(appendName(nil, tag))
}
