package demo

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// path returns the path and query of a page.
func (t *Town) path(r ref) string {
	s := &t.sites[r.site]
	if r.page == homePage {
		return "/"
	}
	if s.kind == organisation {
		return t.orgPath(r)
	}
	section, list, isList := s.list(r.page)
	item, isItem := s.item(r.page)
	id := strconv.Itoa(int(item) + 1000)
	switch {
	case isItem && s.opaque:
		return "/index.php?id=" + id
	case isItem && s.style%2 == 0:
		return "/" + s.kind.words().Paths[1] + "/" + id + "-" + slug(t.itemOf(r.site, item).Title) + ".html"
	case isItem:
		return "/" + s.kind.words().Paths[1] + "/" + slug(t.itemOf(r.site, item).Title) + "-" + id
	case isList && s.opaque:
		p := "/index.php?cat=" + strconv.Itoa(int(section)+1)
		if list > 0 {
			p += "&page=" + strconv.Itoa(int(list)+1)
		}
		return p
	case isList:
		p := "/" + s.kind.words().Paths[0] + "/" + slug(t.sectionName(s, section)) + "/"
		if list > 0 {
			p += "seite-" + strconv.Itoa(int(list)+1) + ".html"
		}
		return p
	case s.opaque && r.page != internPage:
		return "/index.php?seite=" + strconv.Itoa(int(r.page))
	}
	return "/" + words().FixedPages[r.page].Path + [...]string{"/", ".html", ".html", ".php", "/", ".htm"}[s.style]
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

// standing are paths that every site has.
var standing = map[string]whatKind{"/": aPage, "/robots.txt": robotsTxt, "/sitemap.xml": sitemapXML,
	"/index.html": moved, "/index.htm": moved, "/start": moved, "/favicon.ico": image}

// lookup finds what lies at a path with its query on a site.
func (t *Town) lookup(s int32, path string) target {
	bare, _, _ := strings.Cut(path, "?")
	home := target{ref: ref{s, homePage}}
	home.what = standing[bare]
	switch {
	case home.what == aPage && path != "/": // of the calendar, or none
	case home.what != missing:
		return home
	case strings.HasSuffix(bare, ".pdf"):
		return target{what: document}
	case strings.HasSuffix(bare, ".png"):
		return target{what: image}
	case strings.HasPrefix(bare, "/geloescht/"):
		return target{what: deadLink}
	case strings.HasPrefix(bare, "/alt/"): // the address before the relaunch
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(bare, "/alt/"), ".htm"), 10, 32)
		if err == nil && n > 0 && int32(n) < t.sites[s].pages && bare == oldPath(int32(n)) {
			return target{what: moved, ref: ref{s, int32(n)}}
		}
		return target{}
	}
	if t.sites[s].kind == calendar {
		for _, form := range []string{monthForm, dayForm} {
			if _, err := time.Parse(form, path); err == nil {
				return target{what: aTrap, ref: home.ref, trap: path}
			}
		}
	}
	if cut := trapForm.FindStringIndex(path); cut != nil && t.traps(s) {
		in := t.lookup(s, path[:cut[0]])
		if in.what == aPage {
			return target{what: aTrap, ref: in.ref, trap: path[cut[0]:]}
		}
		return target{}
	}
	if n, ok := t.pageAt(s, path); ok {
		return target{what: aPage, ref: ref{s, n}}
	}
	return target{}
}

func oldPath(n int32) string { return "/alt/" + strconv.Itoa(int(n)) + ".htm" }

// itemForm has the number of an item in its path: /index.php?id=1000,
// /artikel/1000-titel.html or /artikel/titel-1000.
var itemForm = regexp.MustCompile(`^/(?:index\.php\?id=(\d{4,9})$|[^/?]+/(\d{4,9})-|[^/?]+/[^/?]*-(\d{4,9})$)`)

// pageAt returns the page at a path, which must be just as path returns it.
func (t *Town) pageAt(site int32, path string) (int32, bool) {
	s := &t.sites[site]
	named := s.pages // pages without a number in their path come first
	if s.kind != organisation {
		named = s.itemPage(0)
		if m := itemForm.FindStringSubmatch(path); m != nil {
			id, err := strconv.Atoi(m[1] + m[2] + m[3])
			n := s.itemPage(int32(id - 1000))
			if err == nil && id >= 1000 && n < s.pages && t.path(ref{site, n}) == path {
				return n, true
			}
		}
	}
	for n := int32(1); n < named; n++ {
		if t.path(ref{site, n}) == path {
			return n, true
		}
	}
	return 0, false
}
