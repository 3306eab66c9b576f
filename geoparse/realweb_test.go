package geoparse

import (
	"strings"
	"testing"

	"gazehound/geoparse/markup"
)

// TestWhoIsThere has one small page for each kind of mistake that pages of small sites led to.
func TestWhoIsThere(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const at = "Lange Straße 4<br>26123 Oldenburg"
	const irvine = "(77 Birch Avenue, Irvine, CA 92617, USA)"
	for _, c := range []struct {
		what, host, path, html string
		check                  func(Address) bool // of the first address
	}{
		{"a club's post names its venue", "", "", `<title>Herbstfest – SV Wiesengrund</title><meta property="og:site_name" content="SV Wiesengrund">` +
			`<p>SV Wiesengrund</p><h1>Herbstfest</h1><p>Wie jedes Jahr.</p><p>Wir treffen uns bei Gasthof Peters, Lange Straße 4, 26123 Oldenburg.</p>`,
			func(a Address) bool { return a.Name == "Gasthof Peters" }},
		{"a hoster in a notice of privacy", "sv-wiesengrund.de", "/datenschutz.html", `<title>Datenschutz – SV Wiesengrund</title><h2>5. Hosting</h2>` +
			`<p>Wir nutzen Dienste von Nordhost SE ` + irvine + `.</p><p>© SV Wiesengrund</p>`,
			func(a Address) bool { return a.Name == "Nordhost SE" && a.Role != OwnRole }},
		{"a sentence about a service of others", "sv-wiesengrund.de", "/impressum.html", `<title>SV Wiesengrund</title><h1>Impressum</h1><p>© SV Wiesengrund</p>` +
			`<h2>Nutzung von Karten</h2><p>In diesen Seiten sind Karten des Dienstes Nordkarte, 77 Birch Avenue, Irvine, CA 92617, USA enthalten.</p>`,
			func(a Address) bool { return a.Name == "" }},
		{"a firm that belongs to another", "sv-wiesengrund.de", "/datenschutz.html", `<title>Datenschutz – SV Wiesengrund</title><p>© SV Wiesengrund</p>` +
			`<p>Anbieter ist die Nordkarte Ireland Limited, Dublin, ein Tochterunternehmen der Nordkarte Inc., 77 Birch Avenue, Irvine, CA 92617, USA.</p>`,
			func(a Address) bool { return a.Name == "Nordkarte Inc." && a.Role == ListedRole }},
		{"whose service it is", "anke-wiesengrund.de", "/datenschutz.html", "<title>Anke Wiesengrund – Datenschutz</title>" +
			`<p>Briefe versendet die Plattform des US-Anbieters Nordbrief, Inc., 77 Birch Avenue, Irvine, CA 92617, USA.</p>`,
			func(a Address) bool { return a.Name == "Nordbrief, Inc." && a.Role == ListedRole }},
		{"a place in a sentence of a notice of privacy", "sv-wiesengrund.de", "/datenschutz.html", `<title>Datenschutz – SV Wiesengrund</title><p>© SV Wiesengrund</p>` +
			`<p>Die Karte wird betrieben von der Kartenstiftung (KS), Haus am Wall, Lange Straße 4, 26123 Oldenburg.</p>`,
			func(a Address) bool { return !strings.Contains(a.Name, "Wiesengrund") && a.Role != OwnRole }},
		{"a hoster named above the controller", "svw-ol.de", "/datenschutz.html", `<title>Datenschutz – SV Wiesengrund</title><p>© SV Wiesengrund e.V.</p>` +
			`<p>Hosting bei Nordhost.</p><p>Verantwortlicher</p><p>SV Wiesengrund e.V.<br>` + at + `</p>`,
			func(a Address) bool { return a.Name == "SV Wiesengrund e.V." && a.Role == OwnRole }},
		{"the text of a logo's picture", "sv-wiesengrund.de", "/", `<a href="/"><img src="logo.png" alt="sv-wiesengrund-logo gruen"></a><p>` + at + "</p>",
			func(a Address) bool { return a.Name == "" }},
		{"since when there is a club", "", "", "<p>Schützenverein Wiesengrund e.V. gegründet 1963<br>" + at + "</p>",
			func(a Address) bool { return a.Name == "Schützenverein Wiesengrund e.V." }},
		{"who has an office of a club", "sv-wiesengrund.de", "/vorstand.html", "<h1>SV Wiesengrund</h1><p>Anke Peters<br>1. Kassiererin<br>" + at + "</p>",
			func(a Address) bool { return a.Private }},
		{"a name that is not on the list below an office", "sv-wiesengrund.de", "/vorstand.html", "<h1>SV Wiesengrund</h1><h3>2. Vorsitzender#</h3><p>Yorick Wyb<br>" + at + "</p>",
			func(a Address) bool { return a.Private }},
		{"and behind one", "sv-wiesengrund.de", "/vorstand.html", "<h1>SV Wiesengrund</h1>" +
			"<p>2. Vorsitzender Yorick Wyb<br>" + at + "</p>",
			func(a Address) bool { return a.Private }},
		{"an office before a name", "sv-wiesengrund.de", "/lehrgang.html", "<h1>SV Wiesengrund</h1><p>Lehrgangsleiter Karsten Peters<br>" + at + "</p>",
			func(a Address) bool { return a.Private }},
		{"a word of the street behind a name", "sv-wiesengrund.de", "/impressum.html", "<h1>SV Wiesengrund</h1><p>Ehemaliger Webmaster:<br>" +
			"Karsten Peters, Zeche Eiberg 7, 26123 Oldenburg</p>",
			func(a Address) bool { return a.Private }},
		{"a heading that the law wants", "sv-wiesengrund.de", "/impressum.html", "<h1>Impressum</h1><h4>Gesetzliche Anbieterkennung :</h4><p>Inh. Anke Peters<br>" + at + "</p>",
			func(a Address) bool { return a.Name == "" }},
		{"a sentence is no name", "", "", "<p>Die Bücherei Peters ist seit Mai im Haus Nordlicht</p><p>" + at + "</p>",
			func(a Address) bool { return a.Name == "" }},
		{"a name of two lines", "", "", "<p>Freundeskreis Nordsee,<br>Landesverband Niedersachsen e.V.<br>" + at + "</p>",
			func(a Address) bool { return a.Name == "Freundeskreis Nordsee, Landesverband Niedersachsen e.V." }},
		{"quotation marks at the end", "", "", "<p>Pension \"Zum Anker\"<br>" + at + "</p>",
			func(a Address) bool { return a.Name == `Pension "Zum Anker"` }},
		{"a former webmaster", "sv-wiesengrund.de", "/impressum.html", "<h1>SV Wiesengrund</h1><p>Ehemaliger Webmaster:<br>Karsten Peters<br>" + at + "</p>",
			func(a Address) bool { return a.Private }},
		{"a founder with a degree", "sv-wiesengrund.de", "/impressum.html", "<h1>Impressum</h1><p>Gründerin:<br>Anke Peters, MSc<br>" + at + "</p>",
			func(a Address) bool { return a.Private }},
		{"who lets a flat elsewhere", "ferienwohnung-seeblick.de", "/impressum.html", "<title>Ferienwohnung Seeblick, Bremen</title><h1>Impressum</h1><p>K. Peters<br>" + at + "</p>",
			func(a Address) bool { return a.Private }},
		{"a physiotherapist by name", "praxis-peters.de", "/impressum.html", "<h1>Impressum</h1><p>Anke Peters<br>Physiotherapeutin<br>" + at + "</p>",
			func(a Address) bool { return !a.Private }},
		{"a surname that ends like a firm", "anke-baumgarten.de", "/impressum.html", "<h1>Impressum</h1><p>Angaben gemäß § 5 DDG</p><p>Anke Baumgarten<br>" + at + "</p>",
			func(a Address) bool { return a.Private }},
		{"access is not opening", "", "", "<h1>Speicherhaus Nord</h1><p>" + at + "</p><p>Access</p><p>24/7</p>",
			func(a Address) bool { return a.Hours == "" }},
		{"versions are no telephone number", "", "", "<p>Erstellt mit TURNIER 4.2.8.1 / 3.1.8.1 -- Domhof<br>" + at + "</p>",
			func(a Address) bool { return a.Phone == "" }},
		{"a fax is one", "", "", "<p>Uhren Peters<br>" + at + "<br>Tel: 0441 – 4 52 89 11<br>Fax: 0441 – 4 52 89 12</p>",
			func(a Address) bool { return a.Phone == "+494414528911" && a.Fax == "+494414528912" }},
		{"a post box has no point", "", "", "<p>Uhren Peters<br>Postfach 1204<br>26123 Oldenburg</p>",
			func(a Address) bool { return a.POBox != "" && a.Precision == 0 }},
	} {
		html := "<html><body>" + c.html + "</body></html>"
		doc := markup.Parse([]byte(strings.Replace(html, "<body><title>", "<title>", 1)))
		v := parse(t, p, Input{Text: markup.Text(doc), Doc: doc, Title: markup.Read(doc).Title, Host: c.host, Path: c.path})
		if len(v.Addresses) != 1 || !c.check(v.Addresses[0]) {
			t.Errorf("%s: %+v", c.what, v.Addresses)
		}
	}
}
