package place

import (
	"cmp"
	"strings"
	"testing"

	"gazehound/geoparse/markup"

	"golang.org/x/net/html"
)

// A title says the kind of the place where something else says it, too; alone it
// is what the page is about.
func TestKindOfPage(t *testing.T) {
	isPlace := func(name string) bool { return strings.EqualFold(name, "Oldenburg") }
	for _, c := range []struct {
		what, name, title, heading, host, want string
		path, head, lang                       string
	}{
		{"the name", "Bäckerei Harms", "Impressum", "", "harms.example", "shop=bakery", "", "", ""},
		{"a title with the name", "Harms GmbH", "Bäckerei Harms", "", "backwerk.example", "shop=bakery", "", "", ""},
		{"a title and another heading", "Harms GmbH", "Bäckerei in dritter Hand", "Unsere Bäckerei", "harms.example", "shop=bakery", "", "", ""},
		{"a title and the domain", "Harms GmbH", "Bäckerei im Norden", "", "baeckerei-harms.example", "shop=bakery", "", "", ""},
		{"an article", "Oldenburger Bote", "Theater lockt viele an | Oldenburger Bote", "Theater lockt viele an", "bote.example", "", "", "", ""},
		{"an article with the town", "Bote Oldenburg", "Theater lockt Oldenburg an | Bote", "Theater lockt Oldenburg an", "bote.example", "", "", "", ""},
		{what: "the title of a start page", name: "Harms GmbH", title: "Bäckerei im Norden", host: "nord.example", path: "/", want: "shop=bakery"},
		{what: "the description of a start page", name: "Harms GmbH", title: "Harms", host: "nord.example", path: "/index.html",
			head: `<meta name="description" content="Bäckerei in Oldenburg: Brot, Kuchen, Café">`, want: "shop=bakery"},
		{what: "a trade that is a surname", name: "Harms GmbH", title: "Kontakt", host: "okkazimmermann.example"},
		{what: "a greeting of another page", name: "Harms GmbH", title: "Ausflug", heading: "Willkommen im Café Nordlicht!", host: "elster.example"},
		{what: "the description of another page", name: "Harms GmbH", title: "Harms", host: "nord.example",
			head: `<meta name="description" content="Bäckerei in Oldenburg: Brot, Kuchen, Café">`},
		{what: "a type of schema.org", name: "Harms GmbH", title: "Kontakt", host: "nord.example", want: "shop=bakery",
			head: `<script type="application/ld+json">{"@type": "Bakery", "name": "Harms"}</script>`},
		{what: "a title and a type against a description", name: "Harms", title: "Harms Nightclub",
			host: "nord.example", path: "/", want: "amenity=nightclub",
			head: `<meta name="description" content="Bar in Oldenburg">` +
				`<script type="application/ld+json">{"@type": "NightClub"}</script>`},
		{what: "two kinds of one key, either of which may be right", name: "Harms", title: "Kontakt", host: "nord.example",
			head: `<h1>Pension</h1><h2>Ferienwohnung</h2>`, want: "tourism=apartment"},
		{what: "two kinds of two keys", name: "Harms", title: "Kontakt", host: "nord.example",
			head: `<h1>Pension</h1><h2>Bäckerei</h2>`},
		{what: "a template's language", name: "Bäckerei Harms", title: "Kontakt", host: "nord.example", lang: "en", want: "shop=bakery"},
		{what: "an association by its legal form", name: "Harms e. V.", title: "Kontakt", host: "nord.example", want: "office=association"},
		{what: "a department", name: "College of Computing", title: "Directions",
			host: "cc.reents.edu", lang: "en", want: "amenity=university"},
		{what: "a department with a page for architects", name: "Reents School of Computing", title: "Architects",
			host: "cc.reents.edu", lang: "en", want: "amenity=university",
			head: `<h1>Architect</h1><h2>Architect</h2><a href="/a">Architect</a>`},
		{what: "a German department", name: "Fakultät Harms", title: "Architekt",
			host: "ai.uni-okken.de", want: "amenity=university", head: `<h1>Architekt</h1><h2>Architekt</h2>`},
		{what: "a department elsewhere", name: "Department of Fun", title: "Directions", host: "fun.example", lang: "en"},
		{what: "a later clause of the description of a start page", name: "Harms", title: "Harms", host: "nord.example",
			path: "/", want: "shop=bakery",
			head: `<meta name="description" content="Seit 1920 in Oldenburg: Bäckerei am Markt">`},
		{what: "keywords of a start page", name: "Harms", title: "Harms", host: "nord.example", path: "/",
			head: `<meta name="keywords" content="Harms, Bäckerei, Oldenburg">`, want: "shop=bakery"},
		{what: "keywords of two kinds", name: "Harms", title: "Harms", host: "nord.example", path: "/",
			head: `<meta name="keywords" content="Bäckerei, Zahnarzt">`},
		{what: "an entry of the menu", name: "Nordlichter", title: "Kontakt", host: "nord.example",
			head: `<a href="/m">Mitglied werden</a>`, want: "office=association"},
		{what: "a menu of a sports club", name: "Nordlichter", title: "Kontakt", host: "nord.example",
			heading: "Volleyball", head: `<a href="/m">Mitglied werden</a>`, want: "club=sport"},
		{what: "a menu of a church with members", name: "Nordlichter", title: "Kontakt", host: "nord.example",
			head: `<a href="/m">Mitgliedschaft</a><a href="/g">Gottesdienste</a>`, want: "amenity=place_of_worship"},
		{what: "a menu of anybody", name: "Nordlichter", title: "Kontakt", host: "nord.example",
			head: `<a href="/m">Join us</a><a href="/k">Kontakt</a>`},
		{what: "a sentence about ourselves", name: "Harms", title: "Kontakt", host: "nord.example", want: "shop=bakery",
			heading: "Guten Tag! Wir sind eine kleine Bäckerei, die seit 1920 für Okken backt."},
		{what: "a sentence about the place", name: "Harms & Grote", title: "Kontakt", host: "nord.example", lang: "en",
			heading: "Harms & Grote is a family-run bakery serving coffee", want: "shop=bakery"},
		{what: "a sentence about somebody else", name: "Harms", title: "Kontakt", host: "nord.example",
			heading: "Meyer ist eine kleine Bäckerei."},
		{what: "a sentence about where we are", name: "Harms", title: "Kontakt", host: "nord.example",
			heading: "Wir sind im Hotel Krone zu Gast."},
		{what: "a sentence that says no more than that it is a firm", name: "Harms", title: "Kontakt", host: "nord.example",
			heading: "Wir sind ein Unternehmen, das Ideen hat."},
		{what: "a label of what somebody does", name: "Hanna Harms", title: "Impressum", host: "nord.example",
			heading: "Berufsbezeichnung (verliehen in Deutschland): Rechtsanwältin", want: "office=lawyer"},
		{what: "an association that is being founded", name: "Harms e.V. i.G.", title: "Kontakt", host: "nord.example",
			want: "office=association"},
		{what: "an association by a legal form that is cut", name: "Harms e.V", title: "Kontakt", host: "nord.example",
			want: "office=association"},
		{what: "the type of an offer", name: "Harms GmbH", title: "Kontakt", host: "nord.example",
			head: `<script type="application/ld+json">{"@type": "Service", "name": "Brot"}</script>`},
	} {
		t.Run(c.what, func(t *testing.T) {
			doc, err := html.Parse(strings.NewReader(c.head + "<title>" + c.title + "</title><h1>" + c.heading + "</h1>"))
			if err != nil {
				t.Fatal(err)
			}
			p := ReadPage(markup.Read(doc), c.heading, c.title, c.host, cmp.Or(c.path, "/seite"), isPlace)
			if got := p.Kind(c.name, []string{cmp.Or(c.lang, "de"), "de"}, "DE", true); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestKindOfPerson(t *testing.T) {
	for _, c := range []struct{ name, before, want string }{
		{"Hanna Harms", "Kontakt\nHanna Harms\nDiplom-Fotografin", "craft=photographer"},
		{"Hanna Harms", "Hanna Harms, Fotografin", "craft=photographer"},
		{"Hanna Harms", "Hotel Krone\nHanna Harms", ""},
		{"Hanna Harms", "Hanna Harms\nOkkener Freunde e.V.", ""},
		{"Harms GmbH", "Harms GmbH\nFotografie", ""}, // may be that of a tenant
	} {
		got := KindOfPerson(c.name, c.before, []string{"de"}, "DE")
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.before, got, c.want)
		}
	}
}
