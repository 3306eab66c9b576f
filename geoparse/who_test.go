package geoparse

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"gazehound/geoparse/markup"
)

// A page of a site whose title is the site's name.
func sitePage(t *testing.T, p *Parser, host, path, title, body string) Verdict {
	t.Helper()
	doc := markup.Parse([]byte("<html><head><title>" + title + "</title></head><body>" + body + "</body></html>"))
	return parse(t, p, Input{Text: markup.Text(doc), Doc: doc, Title: title, Host: host, Path: path})
}

// The block of an address says whose it is; the site's name is for the site's own addresses.
func TestBlockBeforeSite(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const at = "Hauptstraße 7, 26123 Oldenburg"
	for _, c := range []struct {
		path, body string
		never      string // the name that it must not get
		want       string // one of these, divided by "|"
	}{
		{"/2024/feier", "<h2>Sommerfest</h2><p>Wir treffen uns ab 18 Uhr bei Weinhaus Okken, " + at + ".</p>", "Ruderclub", "Weinhaus Okken|"},
		{"/2024/wahl", "<p>Die Versammlung ist in der Gaststätte Reents, " + at + ", um 19 Uhr.</p>", "Ruderclub", "Gaststätte Reents|"},
		{"/2024/tanz", "<p>The dance takes place at Grote Hall, " + at + ".</p>", "Ruderclub", "Grote Hall|"},
		{"/2024/ahoi", "<p>Ort: Salonschiff Okken, " + at + "</p>", "Ruderclub", "Salonschiff Okken"},
		{"/flohmarkt", "<p>Sa. 16.9.2023<br>in der Okkenhalle<br>" + at + "</p>", "Ruderclub", "Okkenhalle"},
		{"/privacy.html", "<h3>Hosting</h3><p>The provider is Okken SE, " + at + ".</p>", "Ruderclub", "Okken SE"},
		{"/impressum.html", "<h2>Zuständige Aufsichtsbehörde</h2><p>Kammer der Ruderlehrer Weser-Ems<br>" + at + "</p>", "Ruderclub", "Kammer der Ruderlehrer Weser-Ems|"},
		{"/datenschutz.html", "<h3>Hosting</h3><p>Unsere Seiten liegen bei der Speicherwerk GmbH, " + at + ".</p>", "Ruderclub", "Speicherwerk GmbH|"},
		{"/mentions.html", "<h3>Hébergement</h3><p>Nuagerie SARL<br>" + at + "</p>", "Ruderclub", "Nuagerie SARL|"},
		{"/anfahrt", "<p>Ruderclub Hunte e.V.<br>" + at + "</p>", "-", "Ruderclub Hunte e.V.|Ruderclub Hunte"},
		{"/dues", "<ul><li>Make a payment</li></ul><p>Your provider of boats</p><p>Ruderclub Hunte e.V.<br>" + at + "</p>", "-",
			"Ruderclub Hunte e.V."},
	} {
		v := sitePage(t, p, "www.ruderclub-hunte.example", c.path, "Ruderclub Hunte", c.body+"<footer>© 2024 Ruderclub Hunte e.V.</footer>")
		if len(v.Addresses) != 1 {
			t.Errorf("%s: %d addresses", c.path, len(v.Addresses))
			continue
		}
		a := v.Addresses[0]
		if strings.Contains(a.Name, c.never) || !slices.Contains(strings.Split(c.want, "|"), a.Name) {
			t.Errorf("%s: name %q, role %s; want %q", c.path, a.Name, a.Role, c.want)
		}
		if own := a.Role == OwnRole; own && c.never != "-" && a.Name != "" || !own && c.never == "-" {
			t.Errorf("%s: role %s of %q", c.path, a.Role, a.Name)
		}
	}
}

// A site whose host names no country is at home where its imprint says; a sentence about another country is
// not about the site.
func TestHomeOfImprint(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	v := sitePage(t, p, "wiesengrund.example", "/impressum.html", "Nagelstudio Wiesengrund",
		"<p>Die Karten sind ein Dienst der Nordkarte, 77 Birch Avenue, Irvine, CA 92617, USA.</p>"+
			"<h1>Impressum</h1><p>Nagelstudio Wiesengrund<br>Hauptstraße 7<br>26123 Oldenburg</p>")
	if len(v.Addresses) != 2 {
		t.Fatalf("%d addresses, want 2", len(v.Addresses))
	}
	if a := v.Addresses[0]; a.Name != "" || a.Role != ListedRole {
		t.Errorf("%s: name %q, role %s; want none, listed", a.Text, a.Name, a.Role)
	}
	if a := v.Addresses[1]; a.Name != "Nagelstudio Wiesengrund" || a.Role != OwnRole {
		t.Errorf("%s: name %q, role %s; want the studio's own", a.Text, a.Name, a.Role)
	}
}

// Who has an office of a club is at home where the address is; who has a business there is not.
func TestHonoraryOffices(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const at = "<br>Hauptstraße 7<br>26123 Oldenburg"
	const letting = "<p>Umsatzsteuer-ID: entfällt</p><p>Wir freuen uns auf Sie.</p>" +
		"<p>Startseite Zimmer Preise Buchung Park Kontakt Impressum Datenschutz</p><h1>Impressum</h1><p>Hanna Harms"
	for _, c := range []struct {
		path, title, body string
		private           bool
	}{
		{"/impressum.html", "Impressum", "<h1>Impressum</h1><p>Gründer: Hanna Harms" + at + "</p>", true},
		{"/impressum.html", "Impressum", "<h1>Impressum</h1><p>1. Vorsitzender<br>Peter Reents" + at + "</p>", true},
		{"/impressum.html", "Impressum", "<p>Redaktion: Veyt Reents" + at + "</p>", true},
		{"/impressum.html", "Impressum", "<p>Okkener Dartclub e.V.<br>c/o Peter Reents 1. Vorstands" + at + "</p>", true},
		{"/kontakt.html", "Bauernhof Reents", "<p>Geschäftsleitung: Hanna Harms" + at + "<br>harms@web.de</p>", false},
		{"/impressum.html", "Impressum", "<p>Okkener Dartclub e.V.<br>Anschrift des 1. Vorsitzenden:" + at + "</p>", true},
		{"/impressum.html", "Impressum", "<p>Takemusu Aikido Okken<br>Peter Reents" + at + "<br>ZVR-Zahl: 1580789299</p>", true},
		{"/index.html", "Ferienwohnung Bremen", "<p>Kontakt" + at + "</p>", true},
		{"/index.html", "Ferienwohnung Bremen", "<p>Kontakt" + at + " OT Bremen</p>", false}, // a part of the town
		{"/index.html", "Einfamilienhaus in Bremen zu vermieten", "<p>Hanna Harms" + at + "</p>", true},
		{"/impressum.html", "Impressum", "<p>Verein Okkener Stollen e.V.<br>Peter Reents" + at + "</p>", true},
		{"/impressum.html", "Impressum", "<p>Hexenzunft Okken e.V.</p><p>Vereinsregister: VR 12</p>" +
			"<h2>Verantwortlich für den Inhalt nach § 55 Abs. 2 RStV</h2><p>Veyt Reents" + at + "</p>", true},
		{"/impressum.html", "Impressum", "<p>Redaktionell verantwortlich<br>Veyt Reents" + at + "</p>", true},
		{"/impressum.html", "Prüfung Elektrotechnik - Impressum", "<p>Angaben gemäß § 5 DDG</p><p>Hanna Harms" + at + "</p>", true},
		{"/kontakt.html", "Elektrotechnik Harms", "<p>Hanna Harms" + at + "</p>", false},
		{"/impressum.html", "Klassisches Yoga, Qi Gong Oldenburg", "<p>Hanna Harms" + at + "</p>", true},
		{"/praxis.html", "Praxis", "<p>Orthopädie Reents</p><p>Alle Kassen und privat" + at + "</p>", false},
		{"/impressum.html", "Impressum", "<h1>Impressum</h1><p>Webmaster: Peter Reents" + at + "</p>", true},
		{"/team.html", "Team", "<p>Kassenwartin<br>Hanna Harms" + at + "</p>", true},
		{"/equipe.html", "Équipe", "<p>Secrétaire<br>Hanna Harms" + at + "</p>", true},
		{"/bestuur.html", "Bestuur", "<p>Ledenadministratie<br>Hanna Harms" + at + "</p>", true},
		{"/kontakt.html", "Kontakt", "<p>Okka Grote<br>So erreichen Sie mich" + at + "</p>", true},
		{"/kontakt.html", "Kontakt", "<p>Okka Grote<br>You can find us here" + at + "</p>", true},
		{"/kontakt.html", "Kontakt", "<p>Hans Schneider" + at + "</p>", true}, // no tailor's
		{"/index.html", "A personal website", "<h4>Contact me:</h4><ul><li>Email: hanna@gmail.com" +
			"<li>Phone: 0172 1234567<li>Address: Hauptstraße 7, 26123 Oldenburg</ul>", true},
		{"/index.html", "Bautagebuch", "<p>Wir bauen in der Hauptstraße 7, 26123 Oldenburg, und freuen uns.</p>", true},
		{"/index.html", "Polizei", "<p>Aus einem Wohnhaus in der Hauptstraße 7, 26123 Oldenburg, fiel ein Blumentopf.</p>", true},
		{"/index.html", "Gasthof", "<p>Besuchen Sie unser Haus in der Hauptstraße 7, 26123 Oldenburg.</p>", false},
		{"/contact.html", "Okken Chess Club", "<p>Club Secretary: Hanna Harms" + at + "</p>", true},
		{"/contact.html", "Schaakclub Okken", "<p>Postadres: p/a Jan de Boer" + at + "</p>", true},
		{"/contact.html", "Schaakclub Okken", "<p>Redactie: Hanna Harms" + at + "</p>", true},
		{"/contact.html", "Chorale Okken", "<p>Siège social : chez M. Jean Dupont" + at + "</p>", true},
		{"/contact.html", "Chez Jean", "<p>Bistro chez Jean" + at + "</p>", false},
		{"/about.html", "About us", "<p>Treasurer: Peter Reents" + at + "</p>", true},
		{"/vorstand.html", "Vorstand", "<p>2. Vorsitzende<br>Hanna Harms<br>0172 1234567" + at + "</p>", true},
		{"/vorstand.html", "Vorstand", "<p>Präsident / Kontakt zur Gemeinde<br>Peter Reents<br>peter@reents.example" +
			at + "</p>", true},
		{"/verein.html", "Verein", "<p>Vertreten durch<br>Hanna Harms – Geschäftsführerin" + at + "</p>", true},
		{"/impressum.html", "Impressum", "<p>Peter Reents (Platzwart)" + at + "</p>", true},
		{"/impressum.html", "Impressum", "<p>Peter Reents<br>Frontend Developer" + at + "</p>", true},
		{"/impressum.html", "Impressum", "<p>Reents Bau GmbH<br>Peter Reents – Geschäftsführer" + at + "</p>", false},
		{"/kontakt.html", "Hanna Harms", "<p>Hanna Harms<br>Psychotherapeutin in eigener Praxis" + at + "</p>", false},
		{"/datenschutz.html", "Datenschutz", "<h2>Verantwortlich</h2><p>Raumausstattung Reents, Peter Reents" + at +
			"<p>reents@t-online.de", false},
		{"/kontakt.html", "Kontakt", "<p>Hanna Harms, Peter Reents" + at + "</p>", true},
		{"/kontakt.html", "Kontakt", "<p>Veyt Reents<br>Vorsitzender" + at + "</p>", true},
		{"/impressum.html", "Impressum – Ferienhaus Deichblick", letting + at + "</p>", true},
		{"/impressum.html", "Ferienwohnung Familie Harms - Impressum", "<p>Ferienwohnung Harms" + at +
			"</p><p>harms@web.de</p>", true},
		{"/impressum.html", "Impressum – Deichblick Lodge", letting + at +
			"</p><p>post@ferienwohnung-seeblick.example</p>", true},
		{"/impressum.html", "Impressum – Deichblick Lodge", letting + at +
			"</p><p>post@ferienwohnung-oldenburg.example</p>", false},
		{"/kontakt.html", "Ferienwohnung Harms in Oldenburg", "<p>Familie Harms" + at + "</p>", false},
		{"/index.html", "Bauernhof Harms", "<p>Bergbauernhof Harms · Fam. Harms" + at + "</p>", false},
		{"/impressum.html", "Impressum – Ferienhaus Oldenburg", letting + at + "</p>", false},
		{"/impressum.html", "Impressum", "<h1>Impressum</h1><p>Verantwortlich für den Inhalt nach § 18 MStV: Hanna Harms" + at + "</p>", true},
		{"/impressum.html", "Impressum", "<h1>Impressum</h1><p>Praxis für Innere Medizin<br>Dr. med. Hanna Harms" + at + "<br>Telefax 0441 12345</p>", false},
		{"/datenschutz.html", "Datenschutz | Praxis Dr. Harms", "<p>Verantwortlicher im Sinne der DSGVO:<br>Praxis Dr. med. Hanna Harms" + at + "</p>", false},
		{"/impressum.html", "Impressum", "<h1>Impressum</h1><p>Inhaber: Peter Reents, Tischlermeister" + at + "<br>USt-IdNr. DE123456789</p>", false},
		{"/impressum.html", "Impressum", "<h1>Impressum</h1><p>Rechtsanwältin Hanna Harms" + at + "</p>", false},
		{"/impressum.html", "Impressum", "<h1>Impressum</h1><p>Ergotherapie Reents" + at + "</p><p>Vertreten durch<br>" +
			"Hanna Harms</p><p>Verantwortlich für den Inhalt nach § 18 MStV:<br>Hanna Harms" + at + "</p>", false},
	} {
		v := sitePage(t, p, "www.hunte-freunde.example", c.path, c.title, c.body)
		if len(v.Addresses) != 1 || v.Addresses[0].Private != c.private {
			t.Errorf("%s: private is not %v: %+v", c.body, c.private, v.Addresses)
		}
	}
}

// Whom an imprint names at another address than that of its footer, or of the organisation above, lives there.
func TestHostLivesElsewhere(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const inn = "Gasthaus Okken<br>Hauptstraße 7, 26123 Oldenburg"
	const guests = "<p>" + inn + "</p><p>USt-IdNr. DE123456789</p>"
	for body, want := range map[string]bool{
		"<p>Hanna Harms<br>Hauptstraße 9<br>26123 Oldenburg</p><footer>" + inn + "</footer>":              true,
		"<p>Hanna Harms<br>Hauptstraße 7<br>26123 Oldenburg</p><footer>" + inn + "</footer>":              false,
		guests + "<p>Kontakt (Hanna Harms):<br>Anschrift: Hauptstraße 9, 26123 Oldenburg</p>":             true,
		guests + "<p>Unsere Datenschutzbeauftragte:<br>Hanna Harms<br>Hauptstraße 9, 26123 Oldenburg</p>": false,
		guests + "<p>Saalbau Okken<br>Hauptstraße 9, 26123 Oldenburg</p>":                                 false,
		guests + "<p>Rechtsanwältin Hanna Harms<br>Hauptstraße 9, 26123 Oldenburg</p>":                    false,
	} {
		v := sitePage(t, p, "okken.example", "/impressum.html", "Gasthaus Okken", "<h1>Impressum</h1>"+body)
		private := slices.ContainsFunc(v.Addresses, func(a Address) bool { return a.Private })
		if private != want {
			t.Errorf("%s: private is %v, want %v: %+v", body, private, want, v.Addresses)
		}
	}
}

// A trade in a domain of its own makes a person's address that of a business, another institution does not.
func TestTradeInHost(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{
		"tischlerei-reents.example": false, "zahnarzt-harms.example": false,
		"freie-schule.github.io": true, "okken-studio.example": true, "okken.example": true,
		"hanna-tischlerei.github.io": true,
	} {
		v := sitePage(t, p, host, "/impressum.html", "Impressum", "<h1>Impressum</h1><p>Angaben gemäß § 5 DDG</p>"+
			"<p>Hanna Harms<br>Hauptstraße 7<br>26123 Oldenburg</p><p>Redaktion<br>Hanna Harms</p>")
		if len(v.Addresses) != 1 || v.Addresses[0].Private != want {
			t.Errorf("%s: want private %v: %+v", host, want, v.Addresses)
		}
	}
}

// What stands below a word for a branch alone is a place of whoever is named above the other.
func TestBranchBelow(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]string{"Zweigstelle": "Tischlerei Reents", "Rathaus": "Rathaus"} {
		v := sitePage(t, p, "okken.example", "/kontakt.html", "Leistungen",
			"<p>Tischlerei Reents<br>Hauptsitz: Hauptstraße 7, 26123 Oldenburg<br>"+label+": Hauptstraße 9, 26123 Oldenburg</p>")
		if len(v.Addresses) != 2 || v.Addresses[1].Name != want {
			t.Errorf("%s: %+v, want the second called %q", label, v.Addresses, want)
		}
	}
}

// Where half of a list are homes, so are the others below a person's name, and nothing else.
func TestHomesOfList(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const board = "<h2>Vorstand</h2>" +
		"<p>Präsidentin<br>Hanna Harms<br>Hauptstraße 7, 26123 Oldenburg<br>T: 0441 123456</p>" +
		"<p>Kassier<br>Peter Reents<br>Hauptstraße 9, 26123 Oldenburg<br>T: 0441 123457</p>"
	for _, c := range []struct {
		name, entries string
		private       int
	}{
		{"departments", board + "<p>Schule<br>Frank Ahlers<br>Hauptstraße 11, 26123 Oldenburg</p>" +
			"<p>Personal<br>Angi Okken<br>Hauptstraße 13, 26123 Oldenburg</p>", 4},
		{"a hall", board + "<p>Turnhalle am Deich<br>Hauptstraße 11, 26123 Oldenburg</p>", 2},
		{"no homes", "<p>Malerbetrieb<br>Lotte Ahlers<br>Hauptstraße 7, 26123 Oldenburg</p>" +
			"<p>Praxis<br>Angi Okken<br>Hauptstraße 9, 26123 Oldenburg</p>", 0},
	} {
		v := sitePage(t, p, "www.elternrunde.example", "/verein.html", "Elternrunde Hunte", c.entries)
		private := 0
		for _, a := range v.Addresses {
			if a.Private {
				private++
			}
		}
		if private != c.private {
			t.Errorf("%s: %d are private, want %d", c.name, private, c.private)
		}
	}
}

// Names keep their parts and nothing else.
func TestPartsOfNames(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const at = "<br>Hauptstraße 7<br>26123 Oldenburg"
	for _, c := range []struct{ host, title, body, want string }{
		{"landhotel.example", "Landhotel", `<p>Landhotel "Zur Schleuse"` + at + "</p>", `Landhotel "Zur Schleuse"`},
		{"anwalt.example", "Kanzlei", `<p>Ahlers, Behn &amp; Partner mbB` + at + "</p>", "Ahlers, Behn & Partner mbB"},
		{"okken.example", "FAQ", "<p>Kontakt" + at + "</p><footer>© OKKEN — seit 1921</footer>", "OKKEN"},
		{"harms.example", "Kontakt", "<p>Kontakt" + at + "</p><p>© 2024 Zahnarztpraxis Dr. med. Hanna Harms</p>",
			"Zahnarztpraxis Dr. med. Hanna Harms"},
		{"deich.example", "Kontakt", "<p>Deichbund e.V. (gemeinnützig)" + at + "</p>", "Deichbund e.V."},
	} {
		v := sitePage(t, p, c.host, "/kontakt", c.title, c.body)
		if len(v.Addresses) != 1 || v.Addresses[0].Name != c.want {
			t.Errorf("%s: %+v, want %q", c.body, v.Addresses, c.want)
		}
	}
}

// Of a list of places each has a name of its own, whatever its words.
func TestEntriesOfList(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	v := sitePage(t, p, "behn-buch.example", "/laden", "Behn", "<p>Unsere Bücher gibt es hier:</p>"+
		"<p><a href=/1>Die Buchhandlung Okken</a>,<br>Hauptstraße 7, 26123 Oldenburg</p>"+
		"<p><a href=/2>Schreibwaren Reents</a>,<br>Hauptstraße 9, 26123 Oldenburg</p>"+
		"<p><a href=/3>Ahlers Lädchen</a>,<br>Hauptstraße 11, 26123 Oldenburg</p>")
	want := []string{"Die Buchhandlung Okken", "Schreibwaren Reents", "Ahlers Lädchen"}
	if len(v.Addresses) != len(want) {
		t.Fatalf("%d addresses", len(v.Addresses))
	}
	for i, a := range v.Addresses {
		if a.Name != want[i] {
			t.Errorf("name %q, want %q", a.Name, want[i])
		}
	}
}

// Wherever an entry of a list has its contacts, hours and the like, it keeps them and its name.
func TestLayoutsOfLists(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	entries := []struct{ name, street, phone, hours string }{
		{"Hexenkessel", "Hauptstraße 7", "0441 123451", "Mo-Fr 09:00-18:00"},
		{"Buntspecht GmbH", "Hauptstraße 9", "0441 123452", "Tu-Sa 10:00-17:00"},
		{"Tischlerei Okken", "Hauptstraße 11", "0441 123453", "Mo-Th 07:00-16:00"},
		{"Nordlicht", "Hauptstraße 13", "0441 123454", "We-Su 14:00-22:00"},
		{"Blumen Reents", "Hauptstraße 15", "0441 123455", "Mo-Sa 08:00-13:00"},
	}
	for _, layout := range []string{
		"{name}\n{at}\nTel. {phone}\n{hours}", "{name}\nTel. {phone}\nE-Mail: info@okken.example\nwww.okken.example\n{at}",
		"{name}\nWebsite: www.okken.example\n{at}\nTel. {phone}", "{name}\n{phone} · info@okken.example\n{at}",
		"{name}\n{at}\n{phone} · info@okken.example · www.okken.example", "{name}\nÖffnungszeiten: {hours}\n{at}\n{phone}",
		"{name}\n{hours}\n{at}", "{name}\nWir freuen uns auf dich.\n{at}\n{phone}", "{name}\n1,2 km entfernt\n{at}\n{phone}",
		"{name}\nJetzt geöffnet\n{at}\n{phone}", "{number}. {name}\n{at}\n{phone}", "{name}\nHandwerk\n{at}\n{phone}",
		"Name: {name}\nAdresse: {at}\nTelefon: {phone}\nÖffnungszeiten: {hours}",
	} {
		text := "Wer dabei ist\n"
		for i, e := range entries {
			text += strings.NewReplacer("{name}", e.name, "{at}", e.street+"\n26123 Oldenburg", "{phone}", e.phone,
				"{hours}", e.hours, "{number}", strconv.Itoa(i+1)).Replace(layout) + "\n\n"
		}
		v := parse(t, p, Input{Text: text, Title: "Wer dabei ist", Host: "behn.example", Path: "/liste"})
		if len(v.Addresses) != len(entries) {
			t.Errorf("%q: %d addresses", layout, len(v.Addresses))
			continue
		}
		for i, e := range entries {
			a := v.Addresses[i]
			phone, hours := "", ""
			if strings.Contains(layout, "{phone}") {
				phone = "+49" + strings.ReplaceAll(e.phone[1:], " ", "")
			}
			if strings.Contains(layout, "{hours}") {
				hours = e.hours
			}
			if a.Name != e.name || a.Phone != phone || a.Hours != hours {
				t.Errorf("%q: %q %q %q, want %+v", layout, a.Name, a.Phone, a.Hours, e)
			}
		}
	}
}

// A page whose every line is a name, and one that contradicts itself, take no longer than others.
func TestManyNames(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Repeat("Ahlers und Behn GmbH<br>Weinhaus Okken<br>bei Gaststätte Reents e.V.<br>", 3000)
	v := sitePage(t, p, "namen.example", "/", "Namen", names+"Hauptstraße 7<br>26123 Oldenburg<br>"+names)
	if len(v.Addresses) != 1 {
		t.Errorf("%d addresses", len(v.Addresses))
	}
	const schema = `<script type="application/ld+json">{"@type":"Store","name":"%","address":{"streetAddress":"Hauptstraße 7","postalCode":"26123","addressLocality":"Oldenburg"}}</script>`
	v = sitePage(t, p, "zwei.example", "/", "Zwei", strings.ReplaceAll(schema, "%", "Laden Ahlers")+strings.ReplaceAll(schema, "%", "Laden Behn")+"<p>Laden Okken<br>Hauptstraße 7<br>26123 Oldenburg</p>")
	if len(v.Addresses) != 1 || !strings.HasPrefix(v.Addresses[0].Name, "Laden ") {
		t.Errorf("%+v", v.Addresses)
	}
}

// Who has nothing but a town shares its address with others there, and none of what belongs to them.
func TestTownOfMany(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	v := sitePage(t, p, "www.bau-grote.example", "/partner", "Bau Grote", "<p>Tischlerei Okken<br>26123 Oldenburg<br>"+
		"E-Mail: hanna@okken.example</p><p>Elektro Reents<br>26123 Oldenburg<br>E-Mail: office@elektro-reents.example<br>"+
		"Tel.: 0441 123456</p>")
	if len(v.Addresses) != 1 {
		t.Fatalf("%d addresses", len(v.Addresses))
	}
	a := v.Addresses[0]
	if a.Name != "Tischlerei Okken" || a.Email != "" || a.Phone != "" {
		t.Errorf("%q has the mail address %q and the number %q of another", a.Name, a.Email, a.Phone)
	}
}

// The number of the only place of a page is not that of an insurer in another town.
func TestTownBesidePlace(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	v := sitePage(t, p, "www.kanzlei-okken.example", "/impressum", "Kanzlei Okken", "<p>Tel. 0441 123456</p>"+
		"<p>Kanzlei Okken<br>Hauptstraße 7<br>26123 Oldenburg</p><p>Wir sind Mitglied von</p><p>Grote AG<br>28195 Bremen</p>")
	if len(v.Addresses) != 2 {
		t.Fatalf("%d addresses", len(v.Addresses))
	}
	for _, a := range v.Addresses {
		if own := a.Street != ""; (a.Phone != "") != own {
			t.Errorf("%s has the number %q", a.Text, a.Phone)
		}
	}
}
