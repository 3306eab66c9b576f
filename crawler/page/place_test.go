package page

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"gazehound/crawler/weburl"
)

func TestPlace(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"main menu", `<body class="has-sidebar"><nav class="top wide"><ul><li><a href=x>x</a></ul></nav>`,
			"menu html body.has-sidebar nav.top.wide ul li a"},
		{"menu by its classes", `<div id="main-menu"><a href=x>x</a></div>`, "menu html body div#main-menu a"},
		{"menu in a header", `<header><div class=nav><a href=x>x</a></div></header>`, "menu html body header div.nav a"},
		{"menu in a footer", `<footer><nav><a href=x>x</a></nav></footer>`, "footer html body footer nav a"},
		{"header of an article", `<main><article><header><h2><a href=x>x</a></h2></header></article></main>`,
			"heading html body main article header h2 a"},
		{"role", `<div role=contentinfo><p><a href=x>x</a></p></div>`, "footer html body div p a"},
		{"table", `<table><tr><td><a href=x>x</a></table>`, "table html body table tbody tr td a"},
		{"list in a table", `<table><tr><td><ul><li><a href=x>x</a></table>`,
			"list html body table tbody tr td ul li a"},
		{"text", `<div class=content><p>words <a href=x>x</a></p></div>`, "text html body div.content p a"},
		{"main part", `<main><a href=x>x</a></main>`, "main html body main a"},
		{"nothing said", `<div><a class=b href=x>x</a></div>`, "other html body div a.b"},
		{"pages of a list", `<div class="pagination"><a rel=next href=x>2</a></div>`,
			"pager html body div.pagination a"},
		{"numbers", `<li id=post-4711 class="a1b2 t3"><a href=x>x</a>`, "list html body li#post-0.a0b0.t0 a"},
		{"marks of tag paths", `<div class="a.b#c/d ü"><a href=x>x</a></div>`, "other html body div.a_b_c_d.__ a"},
		{"frame", `<iframe src=x></iframe>`, "frame html body iframe"},
		{"next page", `<head><link rel=next href=x></head>`, "head link"},
		{"the first link with words", `<nav><a href=x></a></nav><p><a href=x>x</a></p>`, "text html body p a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			links := linksOf(t, test.body)
			if len(links) != 1 || links[0].Place != test.want {
				t.Errorf("links of %s: %+v, want one in %q", test.body, links, test.want)
			}
		})
	}
}

// A tag path that is too long keeps the end, whole elements, and the zone that its beginning says.
func TestPlaceIsBounded(t *testing.T) {
	deep := "<footer>" + strings.Repeat(`<div class="elementor-element elementor-widget">`, 60) + `<a href=x>x</a>`
	place := linksOf(t, deep)[0].Place
	if !strings.HasPrefix(place, "footer div.elementor-element.elementor-widget ") ||
		!strings.HasSuffix(place, ".elementor-widget a") || len(place) > MaxPlace || len(place) < MaxPlace/2 {
		t.Errorf("place %q has %d bytes", place, len(place))
	}
}

func linksOf(t *testing.T, body string) []Link {
	t.Helper()
	u, err := weburl.Parse("http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse(&Response{URL: u, Status: 200, Header: http.Header{}, Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	return p.Links
}

// The laws of places: bounded, a zone that is known, one element after the other, the same whatever
// links were described before.
func FuzzPlace(f *testing.F) {
	files, err := filepath.Glob("testdata/*.html")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body))
	}
	f.Add(`<nav class="a  b"><a href=x>x</a><a href=y>y</a></nav><foo-bar id=" "><a href=z>z</a>`)
	zones := map[string]bool{}
	for _, zone := range []string{ZoneMenu, ZonePager, ZoneFooter, ZoneHeader, ZoneSide, ZoneHeading, ZoneText, ZoneList,
		ZoneTable, ZoneMain, ZoneHead, ZoneFrame, ZoneOther} {
		zones[zone] = true
	}
	u, err := weburl.Parse("http://a.example/")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		p, err := Parse(&Response{URL: u, Status: 200, Header: http.Header{}, Body: []byte(body)})
		if err != nil {
			return
		}
		for _, l := range p.Links {
			zone, path, ok := strings.Cut(l.Place, " ")
			switch {
			case !zones[zone] || !ok:
				t.Errorf("place %q starts with no zone", l.Place)
			case len(l.Place) > MaxPlace || !utf8.ValidString(l.Place):
				t.Errorf("place %q is too long or broken", l.Place)
			case strings.Join(strings.Fields(path), " ") != path:
				t.Errorf("place %q has an element without a name", l.Place)
			}
		}
		var all places
		for n := range p.Doc.Descendants() {
			if isLink(n) {
				var alone places
				if got, want := all.of(n), alone.of(n); got != want {
					t.Errorf("place %q after other links, %q alone", got, want)
				}
			}
		}
	})
}
