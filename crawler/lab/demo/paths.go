package demo

import (
	"fmt"
	"strconv"
	"strings"
)

// The pages of a catalogue: some fixed ones, the list pages of its sections,
// then its items.
const (
	homePage = iota
	contactPage
	imprintPage
	aboutPage
	privacyPage
	internPage // forbidden by robots.txt
	fixedPages
)

// list returns the section and the list page (from 0) of page n, if it is one.
func (s *site) list(n int32) (section, list int32, ok bool) {
	n -= fixedPages
	if n < 0 || n >= s.sections*s.lists() {
		return 0, 0, false
	}
	return n / s.lists(), n % s.lists(), true
}

func (s *site) listPage(section, list int32) int32 { return fixedPages + section*s.lists() + list }

// item returns the number of the item on page n, if it is one.
func (s *site) item(n int32) (item int32, ok bool) {
	n -= fixedPages + s.sections*s.lists()
	return n, n >= 0 && n < s.items
}

func (s *site) itemPage(item int32) int32 { return fixedPages + s.sections*s.lists() + item }

// The words of paths, by kind: of a section and of an item.
var pathWords = [...][2]string{
	portal:        {"bereich", "seite"},
	newspaper:     {"ressort", "artikel"},
	directory:     {"branche", "eintrag"},
	yellowPages:   {"ort", "firma"},
	chain:         {"filialen", "filiale"},
	linkCatalogue: {"kategorie", "site"},
	jobs:          {"jobs", "stelle"},
	property:      {"angebote", "expose"},
	magazine:      {"thema", "meldung"},
	shop:          {"shop", "produkt"},
	forum:         {"board", "thread"},
	wiki:          {"kategorie", "wiki"},
	localBlog:     {"thema", "beitrag"},
	blog:          {"thema", "beitrag"},
	linkFarm:      {"liste", "link"},
	calendar:      {"termine", "termin"},
}

var fixedWords = [...]string{contactPage: "kontakt", imprintPage: "impressum", aboutPage: "ueber-uns", privacyPage: "datenschutz", internPage: "intern/notizen"}

// path returns the path and query of a page.
func (t *Town) path(r ref) string {
	s := &t.sites[r.site]
	if r.page == homePage {
		return "/"
	}
	if s.kind == organisation {
		return t.orgPath(r)
	}
	if r.page < fixedPages {
		if s.opaque && r.page != internPage {
			return "/index.php?seite=" + strconv.Itoa(int(r.page))
		}
		return "/" + fixedWords[r.page] + [...]string{"/", ".html", ".html", ".php", "/", ".htm"}[s.style]
	}
	words := pathWords[s.kind]
	if section, list, ok := s.list(r.page); ok {
		if s.opaque {
			p := "/index.php?cat=" + strconv.Itoa(int(section)+1)
			if list > 0 {
				p += "&page=" + strconv.Itoa(int(list)+1)
			}
			return p
		}
		p := "/" + words[0] + "/" + slug(t.sectionName(s, section)) + "/"
		if list > 0 {
			p += "seite-" + strconv.Itoa(int(list)+1) + ".html"
		}
		return p
	}
	item, _ := s.item(r.page)
	if s.opaque {
		return "/index.php?id=" + strconv.Itoa(int(item)+1000)
	}
	id := strconv.Itoa(int(item) + 1000)
	if s.style%2 == 0 {
		return "/" + words[1] + "/" + id + "-" + slug(t.itemTitle(int(r.site), item)) + ".html"
	}
	return "/" + words[1] + "/" + slug(t.itemTitle(int(r.site), item)) + "-" + id
}

// A target is what a request is answered with.
type target struct {
	what whatKind
	ref  ref    // of a page, also behind its trap or its old address
	trap string // what makes a trap's page differ from its neighbours
}

type whatKind uint8

const (
	missing whatKind = iota
	aPage
	aTrap // a page without end: same content, ever new links
	moved // redirect to ref
	robotsTxt
	sitemapXML
	document // a PDF
	image
	deadLink // was there once
)

// lookup finds what lies at a path with its query on a site.
func (t *Town) lookup(s int, path string) target {
	at := &t.sites[s]
	here := ref{int32(s), homePage}
	bare, query, _ := strings.Cut(path, "?")
	switch {
	case path == "/":
		return target{what: aPage, ref: here}
	case bare == "/robots.txt":
		return target{what: robotsTxt, ref: here}
	case bare == "/sitemap.xml":
		return target{what: sitemapXML, ref: here}
	case bare == "/index.html" || bare == "/index.htm" || bare == "/start":
		return target{what: moved, ref: here}
	case strings.HasSuffix(bare, ".pdf"):
		return target{what: document, ref: here}
	case strings.HasSuffix(bare, ".png") || bare == "/favicon.ico":
		return target{what: image, ref: here}
	case strings.HasPrefix(bare, "/geloescht/"):
		return target{what: deadLink, ref: here}
	case strings.HasPrefix(bare, "/alt/"): // the address before the relaunch
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(bare, "/alt/"), ".htm"))
		if err == nil && n > 0 && n < int(at.pages) && bare == oldPath(int32(n)) {
			return target{what: moved, ref: ref{here.site, int32(n)}}
		}
		return target{}
	}
	if at.kind == calendar {
		if year, month, day, ok := calendarDate(bare, query); ok {
			return target{what: aTrap, ref: here, trap: fmt.Sprintf("%04d-%02d-%02d", year, month, day)}
		}
	}
	// Session ids and facets stand behind a page's own query.
	if head, tail, ok := cutTrap(path); ok && t.traps(s) {
		in := t.lookup(s, head)
		if in.what == aPage {
			return target{what: aTrap, ref: in.ref, trap: tail}
		}
		return target{}
	}
	if n, ok := t.pageAt(s, path); ok {
		return target{what: aPage, ref: ref{here.site, n}}
	}
	return target{}
}

func oldPath(n int32) string { return "/alt/" + strconv.Itoa(int(n)) + ".htm" }

// cutTrap splits the part off a path that a trap added to a page's own.
func cutTrap(path string) (head, tail string, ok bool) {
	for _, word := range []string{"sid=", "farbe="} {
		if i := strings.Index(path, word); i > 0 && (path[i-1] == '?' || path[i-1] == '&') {
			return path[:i-1], path[i:], validTrap(path[i:])
		}
	}
	return "", "", false
}

// pageAt returns the page at a path, which must be just as path returns it.
func (t *Town) pageAt(site int, path string) (int32, bool) {
	s := &t.sites[site]
	if s.kind == organisation {
		for n := int32(1); n < s.pages; n++ {
			if t.orgPath(ref{int32(site), n}) == path {
				return n, true
			}
		}
		return 0, false
	}
	n := int32(-1)
	number := func(text string) int32 {
		v, err := strconv.Atoi(text)
		if err != nil || v < 0 || v > 1<<30 {
			return -1
		}
		return int32(v)
	}
	bare, query, _ := strings.Cut(path, "?")
	words := pathWords[s.kind]
	switch dir, file, _ := strings.Cut(strings.TrimPrefix(bare, "/"), "/"); {
	case bare == "/index.php":
		name, value, _ := strings.Cut(query, "=")
		switch name {
		case "seite":
			n = number(value)
		case "cat":
			value, list, more := strings.Cut(value, "&page=")
			if section := number(value) - 1; section >= 0 && section < s.sections {
				l := int32(0)
				if more {
					l = number(list) - 1
				}
				if l >= 0 && l < s.lists() {
					n = s.listPage(section, l)
				}
			}
		case "id":
			if item := number(value) - 1000; item >= 0 && item < s.items {
				n = s.itemPage(item)
			}
		}
	case dir == words[0] && file != "":
		name, file, _ := strings.Cut(file, "/")
		list := int32(0)
		if file != "" {
			list = number(strings.TrimSuffix(strings.TrimPrefix(file, "seite-"), ".html")) - 1
		}
		for section := range s.sections {
			if list >= 0 && list < s.lists() && slug(t.sectionName(s, section)) == name {
				n = s.listPage(section, list)
				break
			}
		}
	case dir == words[1] && file != "":
		id := file
		if s.style%2 == 0 {
			id, _, _ = strings.Cut(file, "-")
		} else {
			id = file[strings.LastIndexByte(file, '-')+1:]
		}
		if item := number(id) - 1000; item >= 0 && item < s.items {
			n = s.itemPage(item)
		}
	default:
		for fixed := int32(1); fixed < fixedPages; fixed++ {
			if t.path(ref{int32(site), fixed}) == path {
				return fixed, true
			}
		}
	}
	if n <= 0 || n >= s.pages || t.path(ref{int32(site), n}) != path {
		return 0, false
	}
	return n, true
}
