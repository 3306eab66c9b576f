package geoparse

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gazehound/gazetteer"
	"gazehound/geoparse/markup"
	"gazehound/geoparse/place"

	"github.com/paulmach/orb"
)

const street12 = "Nadorster Straße 12, 26123 Oldenburg"

// The number of a page is that of its only place, unless it stands beside somebody whom the page must name;
// contacts under a heading of their own are the site's, even behind such an address.
func TestPhoneBesideThirdParty(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const authority = "Aufsichtsbehörde:\nGewerbeamt\nLange Straße 5, 26122 Oldenburg\n"
	for behind, want := range map[string]string{
		"Telefon: 0441 555012":            "",
		"Kontakt\nTelefon: 0441 555012\n": "+49441555012",
	} {
		text := "Blumen Meyer\n" + street12 + "\n" + authority + behind
		v := parse(t, p, Input{Text: text, Title: "Blumen Meyer", Host: "blumen-meyer.example"})
		if len(v.Addresses) != 2 || v.Addresses[0].Phone != want {
			t.Errorf("%q: %+v, want %q", text, v.Addresses, want)
		}
	}
}

// TestPhonesInRooms: the numbers of a club are not those of the buildings in which it meets.
func TestPhonesInRooms(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const at = "Oberschule Reents<br>Hauptstraße 7<br>26123 Oldenburg<br>"
	for body, want := range map[string]string{
		at + "dienstags 19 Uhr<br>Ansprechpartner:<br>Hanna Harms<br>0441 / 555012":                         "",
		at + strings.Repeat("<p>Wir tanzen, auch im Sommer.</p>", 30) + "<footer>Tel. 0441 555012</footer>": "",
		at + "Tel. 0441 555012": "+49441555012",
	} {
		doc := markup.Parse([]byte("<title>Tanzverein Okken</title><h2>Orte</h2><h3>Mitte</h3><p>" + body))
		in := Input{Doc: doc, Text: markup.Text(doc), Host: "tanzverein-okken.example", Path: "/orte.html"}
		v, err := p.Parse(t.Context(), in)
		if err != nil || len(v.Addresses) != 1 {
			t.Fatalf("%q: %v %v", body, v.Addresses, err)
		}
		if a := v.Addresses[0]; a.Name != "Oberschule Reents" || a.Phone != want {
			t.Errorf("%q: name %q, phone %q, want %q", body, a.Name, a.Phone, want)
		}
	}
}

// Whom a sentence says to call is not at the place where a club meets, nor is a number above.
func TestPhoneOfWhomToCall(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const at = "<p>Karten: 0441 555019</p><p>Wir treffen uns in der Bücherei Reents, Hauptstraße 7, 26123 Oldenburg, im Saal.</p>"
	for below, want := range map[string]string{
		"<p>Anmeldung bei Hanna Harms, Tel. 0441 555012.</p>": "", "<p>Bücherei: Tel. 0441 555012</p>": "+49441555012",
	} {
		v := sitePage(t, p, "operfreunde.example", "/termine.html", "Opernfreunde Okken e.V.", at+below+"<footer>© Opernfreunde Okken e.V.</footer>")
		if len(v.Addresses) != 1 || v.Addresses[0].Name != "Bücherei Reents" || v.Addresses[0].Phone != want {
			t.Errorf("%q: %+v, want %q", below, v.Addresses, want)
		}
	}
}

// The number right above an address goes before one that follows something else below it.
func TestPhoneRightAbove(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const other = "<p>Kinderarzt<br>Dr. Reents<br>0441 555019</p>"
	const list = "<p>Praxis Grote<br>0441 555018</p>"
	for body, want := range map[string]string{
		"<p>Praxis Harms<br>0441 555012<br>Hauptstraße 7<br>26123 Oldenburg</p>" + other:                   "+49441555012",
		list + "<p>Praxis Harms<br>0441 555012<br>Hauptstraße 7<br>26123 Oldenburg</p>" + other:            "+49441555012",
		other + "<p>Praxis Harms<br>Hauptstraße 7<br>26123 Oldenburg<br>0441 555012</p>":                   "+49441555012",
		"<p>0441 555019</p><p>Hauptstraße 7<br>26123 Oldenburg<br>Tel. 0441 555012<br>Fax 0441 555013</p>": "+49441555012",
	} {
		v := sitePage(t, p, "okken.example", "/versorgung.html", "Versorgung", body)
		if len(v.Addresses) != 1 || v.Addresses[0].Phone != want {
			t.Errorf("%q: %+v, want %q", body, v.Addresses, want)
		}
	}
}

// In a section about an authority the line above the address names it, and nobody's branch.
func TestAuthorityUnderItsHeading(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	doc := markup.Parse([]byte("<title>Impressum</title><h1>Impressum</h1><h2>Zuständige Ärztekammer</h2>" +
		"<p>Ärztekammer Hunte<br>Nadorster Straße 12<br>26123 Oldenburg</p><p>© Dr. med. Uta Reents, 2026</p>"))
	in := Input{Doc: doc, Text: markup.Text(doc), Title: "Impressum", Host: "auge-reents.example", Path: "/impressum"}
	v := parse(t, p, in)
	if len(v.Addresses) != 1 || v.Addresses[0].Role != AuthorityRole || v.Addresses[0].Name != "Ärztekammer Hunte" {
		t.Errorf("%+v", v.Addresses)
	}
}

// What belongs to the last address of a text.
func TestBelongings(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, title string
		want        Belongings
		role        Role
	}{
		{"Tischlerei Harms, Nadorster Straße 12\n26123 Oldenburg\nTel. 0441 / 123 45-0\nFax: 0441 12345-99\ninfo@tischlerei-harms.example\nwww.tischlerei-harms.example\nÖffnungszeiten: Mo–Fr 8–18 Uhr, Sa 9–13 Uhr", "",
			Belongings{Name: "Tischlerei Harms", Kind: "craft=joiner", Phone: "+49441123450", Fax: "+494411234599", Email: "info@tischlerei-harms.example", Website: "https://www.tischlerei-harms.example/", Hours: "Mo-Fr 08:00-18:00; Sa 09:00-13:00"}, OwnRole},
		{"Tischlerei Harms\nInhaber: Hanna Harms\n" + street12 + "\nhanna.harms@mail.example\nRufen Sie uns an: +49 441 12345", "", Belongings{Name: "Tischlerei Harms", Kind: "craft=joiner", Phone: "+4944112345"}, OwnRole},
		{"Kontakt\nAdresse:\n" + street12 + "\nUSt-IdNr. DE123456789, HRB 204711, IBAN DE02 2805 0100 0012 3456 78", "Kontakt | Blumen Meyer", Belongings{Name: "Blumen Meyer", Kind: "shop=florist"}, OwnRole},
		{"Fax 0441 123456\nBlumen Meyer\n" + street12 + "\nFax 0441 123456", "", Belongings{Name: "Blumen Meyer", Fax: "+49441123456", Kind: "shop=florist"}, OwnRole},
		{"Blumen Meyer\n" + street12 + "\nMontag\n9:00 – 18:00\nDienstag\ngeschlossen\nTelefon\n0441 123456", "", Belongings{Name: "Blumen Meyer", Kind: "shop=florist", Phone: "+49441123456", Hours: "Mo 09:00-18:00; Tu off"}, OwnRole},
		{"Blumen Meyer\n" + street12 + "\nPartner: www.stadtplan.example", "Blumen Meyer", Belongings{Name: "Blumen Meyer", Kind: "shop=florist"}, OwnRole},
		{"Blumen Meyer\n" + street12 + "\nwww.meyerblumen.example", "Blumen Meyer", Belongings{Name: "Blumen Meyer", Kind: "shop=florist", Website: "https://www.meyerblumen.example/"}, OwnRole},
		{"Blumen Meyer\n" + street12 + "\nhttp://www.blumen-meyer.example/~harms/", "Blumen Meyer", Belongings{Name: "Blumen Meyer", Kind: "shop=florist"}, OwnRole},
		{"Unsere Adresse lautet " + street12, "Anfahrt | Blumen Meyer", Belongings{Name: "Blumen Meyer", Kind: "shop=florist"}, OwnRole},
		{"We are located at " + street12, "Blumen Meyer", Belongings{Name: "Blumen Meyer", Kind: "shop=florist"}, OwnRole},
		{"Unsere Adresse lautet " + street12, "Blumen Meyer, Oldenburg", Belongings{Name: "Blumen Meyer", Kind: "shop=florist"}, OwnRole},
		{"Unsere Adresse lautet " + street12, "Blumen Meyer in Oldenburg Mitte", Belongings{Name: "Blumen Meyer", Kind: "shop=florist"}, OwnRole},
		{"Nadorster Straße 12\n" + street12, "Anfahrt | Blumen Meyer", Belongings{Name: "Blumen Meyer", Kind: "shop=florist"}, OwnRole},
		{"Webdesign: Muster Medien, " + street12, "Impressum | Blumen Meyer", Belongings{Name: "Muster Medien"}, AgencyRole},
	} {
		host := ""
		if strings.Contains(c.title, "Blumen Meyer") {
			host = "www.blumen-meyer.example"
		}
		v := parse(t, p, Input{Text: c.text, Title: c.title, Host: host})
		if len(v.Addresses) != 1 {
			t.Errorf("%q: %d addresses", c.text, len(v.Addresses))
			continue
		}
		a := v.Addresses[0]
		if a.Belongings != c.want || a.Role != c.role || a.Private {
			t.Errorf("%q:\n got %+v %v\nwant %+v %v", c.text, a.Belongings, a.Role, c.want, c.role)
		}
	}
}

// In a list each address has what is its own.
func TestBelongingsOfList(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	text := "Vereine und Firmen\n" +
		"Blumen Meyer\nHauptstraße 1\n26123 Oldenburg\nTel. 0441 100001\nMo-Fr 9-18 Uhr\n" +
		"Bäckerei Kruse\nHauptstraße 2\n26123 Oldenburg\nTel. 0441 100002\n" +
		"Gasthof Krone\nHauptstraße 3\n26123 Oldenburg\n" +
		"Hanna Harms\nHauptstraße 4\n26123 Oldenburg\nTel. 0441 100004\n" +
		"Salon Eva\nHauptstraße 5\n26123 Oldenburg\nwww.salon.example"
	want := []Belongings{
		{Name: "Blumen Meyer", Kind: "shop=florist", Phone: "+49441100001", Hours: "Mo-Fr 09:00-18:00"},
		{Name: "Bäckerei Kruse", Kind: "shop=bakery", Phone: "+49441100002"},
		{Name: "Gasthof Krone", Kind: "amenity=restaurant"},
		{},
		{Name: "Salon Eva", Kind: "shop=hairdresser", Website: "https://www.salon.example/"},
	}
	v := parse(t, p, Input{Text: text})
	if len(v.Addresses) != len(want) {
		t.Fatalf("%d addresses", len(v.Addresses))
	}
	for i, a := range v.Addresses {
		if a.Belongings != want[i] || a.Role != ListedRole || a.Private != (i == 3) {
			t.Errorf("%d: %+v %v private %v; want %+v", i, a.Belongings, a.Role, a.Private, want[i])
		}
	}
}

// Where the numbers of a list stand before their addresses, each goes with the address that follows.
func TestPhonesBeforeAddresses(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		"Blumen Meyer\nTel. 0441 100001\nAdresse: Hauptstraße 1, 26123 Oldenburg\nMo-Fr 9-18 Uhr\n" +
			"Bäckerei Kruse\nTel. 0441 100002\nAdresse: Hauptstraße 2, 26123 Oldenburg\nMo-Sa 6-12 Uhr": {
			"+49441100001", "+49441100002"},
		"Tel. 0441 100001\nBlumen Meyer\nHauptstraße 1\n26123 Oldenburg\nTel. 0441 100001\n" +
			"Bäckerei Kruse\nHauptstraße 2\n26123 Oldenburg\nTel. 0441 100002": {"+49441100001", "+49441100002"},
	} {
		v := parse(t, p, Input{Text: text})
		if len(v.Addresses) != len(want) {
			t.Fatalf("%q: %d addresses", text, len(v.Addresses))
		}
		for i, a := range v.Addresses {
			if a.Phone != want[i] {
				t.Errorf("%q: %q, want %q", text, a.Phone, want[i])
			}
		}
	}
}

// An institution inside of an address says the kind where the name does not, and an entry of a directory
// without a name is not who runs the site.
func TestKindInsideAndNamelessEntry(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	v := parse(t, p, Input{Text: "Zentrum für Gezeiten\nHauptstraße 1\nUniversität Hunte\n26123 Oldenburg"})
	if len(v.Addresses) != 1 || v.Addresses[0].Kind != "amenity=university" {
		t.Errorf("%+v, want a university", v.Addresses)
	}
	v = sitePage(t, p, "hunte-freunde.example", "/partner", "Hunte-Freunde",
		"<p>Blumen Meyer<br>Hauptstraße 1<br>26123 Oldenburg</p>"+
			"<p>Bäckerei Kruse<br>Hauptstraße 2<br>26123 Oldenburg</p>"+
			"<p>Nach Absprache auch hier vor Ort möglich<br>Hauptstraße 3<br>26123 Oldenburg</p>")
	if n := len(v.Addresses); n != 3 || v.Addresses[2].Role != ListedRole || v.Addresses[2].Name != "" {
		t.Errorf("%+v", v.Addresses)
	}
}

// The branches of a place have the kind that its domain says, whatever their names are.
func TestKindOfDomain(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	v := sitePage(t, p, "baeckerei-harms.example", "/kontakt", "Kontakt",
		"<h2>Kontakt</h2><p>Büro Hafen<br>Hauptstraße 1<br>26123 Oldenburg</p><p>Hauptstraße 2<br>26123 Oldenburg</p>")
	if len(v.Addresses) != 2 {
		t.Fatalf("%+v, want 2 addresses", v.Addresses)
	}
	for _, a := range v.Addresses {
		if a.Kind != "shop=bakery" {
			t.Errorf("%s: kind %q, want a bakery", a.Street, a.Kind)
		}
	}
}

// Who is private, in German and in English.
func TestPrivatePersons(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	keep, err := New(g, r, Options{Persons: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, title, host string
		person, private   bool
	}{
		{text: "Hanna Harms\n" + street12, person: true, private: true},
		{text: "Frau Dr. Harms\n" + street12, person: true, private: true},
		{text: "Familie Kruse, " + street12, person: true, private: true},
		{text: "Kruse, Jan-Peter, " + street12 + ", Tel. 0441 123456", person: true, private: true},
		{text: "1. Vorsitzender: Karl-Heinz von der Heide\n" + street12, title: "Vorstand | Schützenverein Oldenburg", person: true, private: true},
		{text: "Trauerfeier für\nHANNA Harms\n" + street12, person: true, private: true},
		{text: "John Q. Public\n" + street12, person: true, private: true},
		{text: "Impressum\nAngaben gemäß § 5 DDG\nHanna Harms\n" + street12, host: "blog-harms.example", person: true, private: true},
		{text: "Impressum\nAngaben gemäß § 5 DDG\nHanna Harms\n" + street12 + "\nUmsatzsteuer-ID: DE 123456789", person: true},
		{text: "Impressum\nHanna Harms\n" + street12, host: "tischlerei-harms.example", person: true},
		{text: "Imprint\nHanna Harms\n" + street12 + "\nRepresented by:\nHanna Harms", person: true, private: true},
		{text: "Impressum\nHanna Harms\n" + street12 + "\nEs wird keine Umsatzsteuer ausgewiesen.",
			person: true, private: true},
		{text: "Impressum\nHanna Harms\n" + street12 + "\nErstellt mit dem Generator der Rechtsanwälte Okken",
			person: true, private: true},
		{text: "Impressum\nHanna Harms\n" + street12 + "\nRechtsanwältin in Oldenburg", person: true},
		{text: "Impressum\nHanna Harms\n" + street12 + "\nUmsatzsteuer-ID:\nUmsatzsteuer-Identifikationsnummer " +
			"gemäß §27a Umsatzsteuergesetz: -\nVerantwortlich", person: true, private: true},
		{text: "Impressum\nHanna Harms\n" + street12 + "\nUmsatzsteuer\nEs wird keine Umsatzsteuer ausgewiesen.",
			person: true, private: true},
		{text: "Impressum\nHanna Harms\n" + street12 + "\nUmsatzsteuer-ID:\n\nDE 123 456 789", person: true},
		{text: "Impressum\nHanna Harms\n" + street12 + "\nAlle Preise mit Umsatzsteuer", person: true},
		{text: "Imprint\nInformation according to § 5 DDG\nHanna Harms\nPostal address:\n" + street12,
			person: true, private: true},
		{text: "Imprint\nTischlerei Harms\nPostal address:\n" + street12},
		{text: "Impressum\nAngaben gemäß § 5 DDG Hanna Harms\n" + street12, person: true, private: true},
		{text: "Impressum\nYaro Al Shraib\n" + street12 + "\nyaroalshraib7@mail.example", host: "yaroalshraib.example",
			person: true, private: true},
		{text: "Imprint\nName: Yaro Shraib\nAddress: " + street12 + "\nRepresented by:\nYaro Shraib",
			host: "yaroshraib.example", person: true, private: true},
		{text: "Imprint\nResponsible for the content of these pages according to § 18 para. 2 of the State " +
			"Treaty (MStV):\nYaro Shraib\n" + street12, host: "yaroshraib.example", person: true, private: true},
		{text: "Impressum\nVerantwortlich für den Inhalt:\nYaro Nord\n" + street12, host: "yaronord.example"},
		{text: "Impressum\nDienstanbieter: Okkenkarte Europe SA\n" + street12},
		{text: "Impressum\nFachgebiet Wasserchemie\n" + street12},
		{text: "Impressum\nTischlerei Harms\nMail: hanna@harms.example\nTelefon: 0172 1234567\nAdresse: " + street12},
		{text: "Contact\nDr. Hanna Harms\nRIZIV 136912-52\n•\nKBO 0682.565.937\n" + street12},
		{text: "Impressum\nHanna Harms\nPrivatperson\n" + street12, person: true, private: true},
		{text: "Impressum\nHanna Harms M.Sc.\n" + street12, person: true, private: true},
		{text: "Impressum\nHanna Harms\nFull-Stack-Developer\n" + street12, person: true, private: true},
		{text: "Impressum\nTischlerei Zeitblitz (Hanna Harms)\n" + street12},
		{text: "Contatti\nMarco Okken\nIndirizzo:\n" + street12, person: true, private: true},
		{text: "Antica Trattoria Okken\n" + street12},
		{text: "Bar Al Shraib\n" + street12 + "\nbaralshraib@mail.example", host: "shraib.example"},
		{text: "Impressum\nAngaben gemäß § 5 DDG\nAmuro Shraib\n" + street12, title: "Impressum – Zeitblitz",
			person: true, private: true},
		{text: "Impressum\nAngaben gemäß § 5 DDG\nMole Nord\n" + street12, title: "Impressum – Mole Nord"},
		{text: "Impressum\nAngaben gemäß § 5 DDG\nZeitblitz Software\n" + street12, title: "Impressum"},
		{text: "Amuro Shraib\n" + street12, title: "Zeitblitz"},
		{text: "Dhr. Boenders\n" + street12, person: true, private: true},
		{text: "Jeroen Boenders\n" + street12, person: true, private: true},
		{text: "Hanna Harms Garten- und Landschaftsbau\n" + street12},
		{text: "Hanna Harms\n" + street12 + "\nOrari di apertura: 9-12", title: "Contatti", person: true},
		{text: "Hanna Harms\n" + street12, title: "Kontakt | Samariterverein Oldenburg", person: true, private: true},
		{text: "Hanna Harms, " + street12 + " spoke against it.", title: "Notary office | News",
			person: true, private: true},
		{text: "Inhaberin Hanna Harms\n" + street12, person: true},
		{text: "Hanna Harms, Rechtsanwältin\n" + street12},
		{text: "Tischlerei Hanna Harms\n" + street12},
		{text: "Muster GmbH\nGeschäftsführerin Hanna Harms\n" + street12},
		{text: "Muster GmbH\nHanna Harms\n" + street12},
		{text: "Dr. med. Hanna Harms\n" + street12},
		{text: "Hanna Harms\nNadorster Straße 12\nInstitut für Informatik\n26123 Oldenburg", person: true},
		{text: "Café Central\n" + street12},
		{text: "Alte Post\n" + street12},
		{text: "Anne-Frank-Schule\n" + street12},
		{text: "Max Planck Institut\n" + street12},
		{text: "Der Vorstand dankte allen.\nBestattungen Harms\n" + street12},
		{text: "Der Vorstand dankte allen.\nBlumenhaus Harms\n" + street12},
		{text: "Der Vorstand dankte allen.\nOptik Harms\n" + street12},
		{text: street12},
	} {
		in := Input{Text: c.text, Title: c.title, Host: c.host}
		v := parse(t, p, in)
		if len(v.Addresses) != 1 {
			t.Errorf("%q: %d addresses", c.text, len(v.Addresses))
			continue
		}
		a := v.Addresses[0]
		if a.Person != c.person || a.Private != c.private || v.Relevant == c.private {
			t.Errorf("%q: person %v, private %v, relevant %v; want %v, %v", c.text, a.Person, a.Private, v.Relevant, c.person, c.private)
		}
		if a.Private && a.Belongings != (Belongings{}) {
			t.Errorf("%q: %+v of a private person", c.text, a.Belongings)
		}
		if v := parse(t, keep, in); !v.Relevant || v.Addresses[0].Private {
			t.Errorf("%q: not relevant with Options.Persons", c.text)
		}
	}
}

// The firm's own address is kept, that of the person who answers for its texts
// is not, unless both are one.
func TestResponsiblePerson(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const firm = "Impressum\nTischlerei Harms GmbH\nHauptstraße 1\n26123 Oldenburg\nHandelsregister HRB 1\n"
	v := parse(t, p, Input{Text: firm + "Verantwortlich für den Inhalt: Hanna Harms, Gartenweg 2, 26123 Oldenburg"})
	if len(v.Addresses) != 2 || v.Addresses[0].Private || !v.Addresses[1].Private {
		t.Errorf("got %+v", v.Addresses)
	}
	v = parse(t, p, Input{Text: "Impressum\nHexenkessel GmbH\nHauptstraße 1\n26123 Oldenburg\nVertreten durch: Hanna Harms\n" +
		"Verantwortlich nach § 18 Abs. 2 MStV:\nHanna Harms\nHauptstraße 1\n26123 Oldenburg", Title: "Impressum"})
	if len(v.Addresses) != 1 || v.Addresses[0].Private {
		t.Errorf("who edits the site of a firm at the firm: %+v", v.Addresses)
	}
	v = parse(t, p, Input{Text: firm + "Verantwortlich für den Inhalt: Hanna Harms, Hauptstraße 1, 26123 Oldenburg"})
	if len(v.Addresses) != 1 || v.Addresses[0].Private || v.Addresses[0].Person || v.Addresses[0].Name != "Tischlerei Harms GmbH" {
		t.Errorf("got %+v", v.Addresses)
	}
}

// Where markup says that an event takes place is nobody's of the site, unless it is called so.
func TestPlaceOfEvent(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const event = `<script type="application/ld+json">{"@type":"MusicEvent","name":"Konzert","location":{"@type":"Place","name":"%s",` +
		`"address":{"streetAddress":"Nadorster Str. 12","postalCode":"26123","addressLocality":"Oldenburg"}}}</script>`
	const title = `<title>Termine | Kammerchor Nadorst</title><meta property="og:site_name" content="Kammerchor Nadorst">`
	const text = `<footer>Kammerchor Nadorst<br>Nadorster Straße 12<br>26123 Oldenburg</footer>`
	for _, c := range []struct {
		body, name string
		role       Role
	}{
		{fmt.Sprintf(event, "Großer Saal der Lambertihalle"), "Großer Saal der Lambertihalle", ListedRole},
		{fmt.Sprintf(event, "Kammerchor Nadorst"), "Kammerchor Nadorst", OwnRole},
		{fmt.Sprintf(event, "Probenraum") + text, "Kammerchor Nadorst", OwnRole},
	} {
		in := Input{Doc: markup.Parse([]byte(title + c.body)), Host: "kammerchor-nadorst.example", Path: "/termine"}
		in.Text, in.Title = markup.Text(in.Doc), "Termine | Kammerchor Nadorst"
		v := parse(t, p, in)
		if len(v.Addresses) != 1 || v.Addresses[0].Name != c.name || v.Addresses[0].Role != c.role {
			t.Errorf("%s: %+v, want %s, %v", c.body, v.Addresses, c.name, c.role)
		}
	}
}

func TestBelongingsOfMarkup(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const address = `"address":{"@type":"PostalAddress","streetAddress":"Nadorster Str. 12","postalCode":"26123","addressLocality":"Oldenburg"}`
	for html, want := range map[string]Belongings{
		`<script type="application/ld+json">{"@type":"Florist","name":"Blumen Meyer","telephone":"0441 123456","email":"mailto:info@blumen.example","url":"https://blumen.example",
			"openingHoursSpecification":[{"dayOfWeek":["Monday","https://schema.org/Tuesday"],"opens":"09:00","closes":"18:00"},{"dayOfWeek":"Sunday","opens":"00:00","closes":"00:00"},
			{"dayOfWeek":"Monday","opens":"10:00","closes":"12:00","validFrom":"2026-12-24","validThrough":"2026-12-24"}],` + address + `}</script><p>Nadorster Straße 12<br>26123 Oldenburg</p>`: {
			Name: "Blumen Meyer", Phone: "+49441123456", Email: "info@blumen.example", Website: "https://blumen.example/", Hours: "Mo-Tu 09:00-18:00; Su off", Type: "Florist", Kind: "shop=florist"},
		`<script type="application/ld+json">{"@type":"Florist","name":"Blumen Meyer","openingHours":["Mo-Fr 09:00-18:00","Sa 09:00-13:00"],"email":"hanna.harms@blumen.example","url":"javascript:alert(1)",` + address + `}</script>`: {
			Name: "Blumen Meyer", Hours: "Mo-Fr 09:00-18:00; Sa 09:00-13:00", Type: "Florist", Kind: "shop=florist"},
		`<div itemscope itemtype="https://schema.org/Florist"><b itemprop="name">Blumen Meyer</b> <a itemprop="url" href="https://blumen.example/">hier</a>
			<time itemprop="openingHours" datetime="Mo-Fr 09:00-18:00">werktags</time><meta itemprop="openingHours" content="Sa 09:00-13:00">
			<div itemprop="address" itemscope itemtype="https://schema.org/PostalAddress"><span itemprop="streetAddress">Nadorster Straße 12</span> <span itemprop="postalCode">26123</span> <span itemprop="addressLocality">Oldenburg</span></div>
			<span itemprop="telephone">0441 123456</span></div>`: {
			Name: "Blumen Meyer", Phone: "+49441123456", Website: "https://blumen.example/", Hours: "Mo-Fr 09:00-18:00; Sa 09:00-13:00", Type: "Florist", Kind: "shop=florist"},
		`<script type="application/ld+json">{"@type":"Restaurant","name":"Café Meyer",` + address + `}</script>`: {
			Name: "Café Meyer", Type: "Restaurant", Kind: "amenity=cafe"},
		`<script type="application/ld+json">{"@type":"AccountingService","name":"Steuerberatung Meyer",` + address + `}</script>`: {
			Name: "Steuerberatung Meyer", Type: "AccountingService", Kind: "office=tax_advisor"},
		`<script type="application/ld+json">{"@type":"MedicalClinic","name":"Meyer Physical Therapy",` + address + `}</script>`: {
			Name: "Meyer Physical Therapy", Type: "MedicalClinic", Kind: "healthcare=physiotherapist"},
		`<script type="application/ld+json">{"@type":"Restaurant","name":"Meyer",` + address + `}</script>`: {
			Name: "Meyer", Type: "Restaurant", Kind: "amenity=restaurant"},
		`<script type="application/ld+json">{"@type":"Person","name":"Hanna Harms","telephone":"0441 123456",` + address + `}</script>`: {},
	} {
		in := Input{Doc: markup.Parse([]byte(html))}
		in.Text = markup.Text(in.Doc)
		v := parse(t, p, in)
		if len(v.Addresses) != 1 || v.Addresses[0].Belongings != want || v.Addresses[0].Private != (want == Belongings{}) {
			t.Errorf("%s:\n got %+v\nwant %+v", html, v.Addresses, want)
		}
	}
}

var (
	e164    = regexp.MustCompile(`^\+[1-9]\d{6,14}$`)
	website = regexp.MustCompile(`^https?://[^/\s<>"]+\.[^/\s<>"]+/[^\s<>"]*$`)
	mail    = regexp.MustCompile(`^[a-z0-9._+-]+@[a-z0-9._+-]+\.[a-z0-9_+-]+$`)
)

// What is found beside an address has the form of its tag, whatever the page
// wrote; of a private person nothing is kept.
func FuzzBelongings(f *testing.F) {
	for _, s := range []string{"Tel. 0441 / 123 45-0\ninfo@a.example\nwww.a.example\nMo–Fr 8–18 Uhr", "Hanna Harms", "Fax +49 441 1", "http://a@b.example/\x00", "info@-.example", "Telefon: ٠١٢٣٤٥٦", "www.\xff.example/\"'<", "+1 (949) 555-0100", "mail@a..b", "A\nA"} {
		f.Add(s, s)
	}
	g, r := town(f)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, above, below string) {
		v := parse(t, p, Input{Text: above + "\n" + street12 + "\n" + below, Title: above})
		for _, a := range v.Addresses {
			for value, form := range map[string]*regexp.Regexp{a.Phone: e164, a.Website: website, a.Email: mail, a.Hours: legalHours} {
				if value != "" && (!form.MatchString(value) || len(value) > 255) {
					t.Errorf("%q, %q: %q", above, below, value)
				}
			}
			if len([]rune(a.Name)) > place.MaxName || strings.ContainsAny(a.Name, "\n\r") || a.Private && (a.Belongings != Belongings{} || !a.Person) || a.Person && a.Email != "" {
				t.Errorf("%q, %q: %+v", above, below, a)
			}
		}
	})
}

// legalHours is what OpenStreetMap's evaluation tool accepts of what is written
// here.
var legalHours = regexp.MustCompile(`^(((Mo|Tu|We|Th|Fr|Sa|Su|PH)(-(Tu|We|Th|Fr|Sa|Su))?,?)+ (off|([0-2]\d:[0-5]\d-[0-2]\d:[0-5]\d,?)+)(; |$))+$`)

// Whoever answers for the content of a site is a private person, also where a
// sentence stands between the name and the address.
func TestResponsibleSentence(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, private := range map[string]bool{
		"Impressum\nVerantwortlich für den Inhalt: Hanna Harms. Sie finden uns unter der Anschrift " + street12:  true,
		"Impressum\nVerantwortlich für den Inhalt: Hanna Harms\n" + street12:                                     true,
		"Impressum\nFür den Inhalt verantwortlich:\nHanna Harms\n" + street12:                                    true,
		"Impressum\nVerantwortlich für den Inhalt: Hanna Harms. Tischlerei Harms GmbH, " + street12:              false,
		"Impressum\nTischlerei Harms GmbH. Sie finden uns unter der Anschrift " + street12 + "\nUSt-IdNr. DE123": false,
	} {
		v := parse(t, p, Input{Text: text, Title: "Impressum"})
		if len(v.Addresses) != 1 || v.Addresses[0].Private != private {
			t.Errorf("%q: %+v, want private %v", text, v.Addresses, private)
		}
	}
}

// Who represents a club and lives elsewhere has a home; the manager named above the firm's address has none.
func TestRepresentative(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const other = "Lange Straße 5, 26122 Oldenburg"
	for text, want := range map[string]bool{
		"Tennisverein Harms e.V.\n" + other + "\nVertreten durch\nHanna Harms\n" + street12:               true,
		"Tischlerei Harms\nGeschäftsführer\nHanna Harms\n" + street12:                                     false,
		"Tischlerei Harms\n" + other + "\nVertreten durch Hanna Harms\nTischlerei Harms Süd\n" + street12: false,
	} {
		v := parse(t, p, Input{Text: "Impressum\n" + text, Title: "Impressum"})
		if len(v.Addresses) == 0 || v.Addresses[len(v.Addresses)-1].Private != want {
			t.Errorf("%q: %+v, want private %v", text, v.Addresses, want)
		}
	}
}

// A home is none of a map's business, wherever a page says that it is one; an
// office of a person at an institution is.
func TestHomes(t *testing.T) {
	const at, hall = "3543 Greystone Dr. #1012\nIrvine, CA 92617", "2091 Bren Hall\nIrvine, CA 92697"
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, title, host, path string
		private                 bool
	}{
		{"Home address:\nFaith Shurin\n" + at, "Harbor", "harbor.example", "/", true},
		{"Liaison: Faith Shurin\n" + at, "Harbor Rowing Club", "harbor.example", "/clubs.html", true},
		{"Location: Faith Lake\n" + at, "Harbor Rowing Club", "harbor.example", "/clubs.html", false},
		{"Hanna Harms, StD i. R.\n" + at, "Harbor", "harbor.example", "/about.html", true},
		{"Venue Postal Address:\nHarbor Village Hall,\nOak Cottage\n" + at, "Harbor Village Hall", "harbor.example", "/hall.html", false},
		{"Hanna Harms, D.D.S.\n" + at, "Harbor", "harbor.example", "/about.html", false},
		{"Hanna Harms\nc/o " + at, "Harbor Rowing Club", "harbor.example", "/contact.html", true},
		{"Home Address:\n" + at + "\nHome: (949) 555-0100", "Xu Wei's Home Page", "www.cs.uci.example", "/users/xuwei/", true},
		{"Here is how to reach me.\nSnail mail:\n" + at, "Xu Wei", "www.cs.uci.example", "/~xuwei/", true},
		{"XU WEI\n" + at + "\nxuwei@gmail.com\nEDUCATION", "Resume of Xu Wei", "xuwei.example", "/", true},
		{"Permanent address\n" + at, "Wei's homepage", "people.uci.example", "/wei.html", true},
		{"Our reunion: write to cousin Ella at\n1374 East 28th Street\nIrvine, CA 92617", "The Miller Family", "www.miller.example", "/members/ella.html", true},
		{"Address:\n" + at, "Wei's homepage", "wei.example", "/", true},
		{"Gut Okken\n" + at, "Blog | Harbor Barn", "harbor.example", "/blog.html", false},
		{"Staff\n" + at, "Personal Training", "harbor.example", "/training.html", false},
		{"Address:\n" + at, "Home Page", "harbor.example", "/", false},
		{"P J Miller\n1374 Greystone Dr.\nIrvine, CA 92617\nPhone: 949-555-0100", "Lookup", "www.uci.example", "/~dan/miller.html", true},
		{"Xu Wei\nDepartment of Computer Science\nUniversity of California, Irvine\n" + hall, "Xu Wei's Home Page", "www.cs.uci.example", "/~xuwei/", false},
		{"Xu Wei\nDepartment of Computer Science\nUniversity of California\nHome:\n" + at, "Xu Wei", "www.cs.uci.example", "/~xuwei/", true},
		{"Michael J. Public\n2091 Bren Hall\nDepartment of Computer Science\nIrvine, CA 92697", "Home : Contact", "www.uci.example", "/~mjpublic/", false},
		{"Office:\n" + hall + "\nFax: (949) 555-0100", "Xu Wei", "www.cs.uci.example", "/~xuwei/", false},
		{"Director, Botanical Gardens\n1151 Oxford Road\nIrvine, CA 92617", "People", "www.plants.example", "/people.html", false},
		{"Wei Ro\nSoftware Engineer Consultant\n1374 Greystone Dr.\nIrvine, CA 92617\nweiro@gmail.com\nHarbor Inc.",
			"Resume", "weiro.example", "/resume_doc.htm", true},
		{"Software Engineer Consultant\n1374 Greystone Dr.\nIrvine, CA 92617", "Harbor", "harbor.example", "/", false},
		{"1151 Oxford Road, Apt. 21\nIrvine, CA 92617\n(949) 555-0100\nObjective", "", "weiro.example", "/resume/index.htm", true},
		{"The Blue Door\n1151 Oxford Road\nIrvine, CA 92617", "The Blue Door", "www.bluedoor.example", "/contact", false},
		{"Smith Family Dental\n1151 Oxford Road\nIrvine, CA 92617\nFax 949-555-0101", "Home", "www.smithdental.example", "/home/contact", false},
		{"Services at Miller Funeral Home, 1151 Oxford Road\nIrvine, CA 92617", "Obituary of Wei Miller", "www.miller.example", "/obituary/wei", false},
		{"Xu Wei\nDepartment of Computer Science\nNew Harbor University\nCurrent Address\n" + at +
			"\nPhones\n949-555-0100 (voice) 949-555-0101 (fax)",
			"Xu Wei", "www.uci.example", "/faculty/xuwei/index.html", true},
		{"(949) 555-0100 (office)\n" + at, "Lily Miller", "www.uci.example", "/grads/lily/", true},
		{"We ask for information, including but not limited to Lily Miller, 1374 Greystone Drive, Irvine, CA 92617",
			"Privacy policy", "www.guess.example", "/privacy", true},
		{"Our next meeting is at Harbor Loft\nThe address is\n1374 Greystone Dr.\nIrvine, CA 92617\nblue@gmail.com",
			"Blue Harbor", "harbor.example", "/venue", false},
		{"Alexandra Palace, 1374 Greystone Dr.\nIrvine, CA 92617", "The Gull Café", "gull.example", "/functions", false},
		{"Harbor Fire Department, Inc.\nHanna Harms, Chairwoman\n1374 Greystone Dr.\nIrvine, CA 92617", "Privacy",
			"harbor.example", "/privacy", true},
		{"Harbor Rowing Club\nc/o Hanna Harms\n" + at, "Imprint", "harbor.example", "/imprint", true},
		{"Harbor Rowing Club\nc/o Harbor Trust\n1151 Oxford Road\nIrvine, CA 92617", "Imprint", "harbor.example",
			"/imprint", false},
		{"Jorne Boonders\nChief archer\n" + at + "\nE-mail: jorne.boonders@mail.example", "Contact",
			"archers.example", "/contact", true},
		{"J. Boonders\nChief archer\n1151 Oxford Road\nIrvine, CA 92617\nE-mail: boonders@archers.example",
			"Arrows", "archers.example", "/", false},
		{"Sewing by Boonders\n" + at + "\nE-mail: sewing.boonders@mail.example", "Contact",
			"sewing.example", "/contact", false},
		{"Police blotter\nA burglary was reported by Linda Miller of 1374 Greystone Dr.\nIrvine, CA 92617", "Police blotter",
			"herald.example", "/blotter", true},
		{"Police log\nLinda Miller, 1374 Greystone Dr., Irvine, CA 92617, was robbed on Tuesday", "Police log",
			"herald.example", "/log", true},
		{"Linda Miller\nVenue:\n1151 Oxford Road\nIrvine, CA 92617", "Harbor Book Club", "harbor.example", "/", false},
		{"Linda Miller\nMeeting place: 1151 Oxford Road\nIrvine, CA 92617", "Harbor Book Club", "harbor.example", "/", false},
		{"Linda Miller\nMailing address:\n1374 Greystone Dr.\nIrvine, CA 92617", "Harbor Book Club", "harbor.example", "/", true},
		{"Linda Miller, LMT\n1151 Oxford Road\nIrvine, CA 92617", "Harbor Massage Therapy", "harbor.example", "/", false},
		{"Bob Miller, owner\n1151 Oxford Road\nIrvine, CA 92617", "Miller Plumbing | Contact", "miller.example", "/contact", false},
		{"Linda Miller\n1374 Greystone Dr.\nIrvine, CA 92617", "Harbor Book Club", "harbor.example", "/contact", true},
		{"© 2024 Linda Miller · 1374 Greystone Dr., Irvine, CA 92617", "My garden diary", "leek.example", "/", true},
		{"Linda Miller\n1151 Oxford Road\nIrvine, CA 92617", "Harbor Dance Studio", "harbor.example", "/", false},
		{"Address:\n" + at + "\nlinda@gmail.com", "Linda Miller | Contact", "miller.example", "/contact", true},
		{"Hanna Harms, Attorney at Law\n1151 Oxford Road, Suite 5\nIrvine, CA 92617", "Hanna Harms", "www.harms.example", "/", false},
		{"Harbor Gliders\nLinda Miller, Owner\n1151 Oxford Road\nIrvine, CA 92617", "Contact | Harbor Gliders", "gliders.example", "/contact", false},
		{"Harbor Spitz\nOwner: Linda Miller\n1374 Greystone Dr.\nIrvine, CA 92617", "Harbor Spitz Club", "spitz.example", "/dogs", true},
		{"Secretary's Postal Address:\nLinda Miller,\nHarbor Village Hall,\nOak Cottage\n" + at, "Harbor Village Hall", "harbor.example",
			"/hall.html", true},
		{"Impressum\nHanna Harms\nc/o Okken Immobilien AG\n" + at, "Impressum | Hanna Harms", "harms.example", "/impressum", false},
		{"Impressum\nHanna Harms\n" + at + "\nKleinunternehmerregelung\nEs wird keine Umsatzsteuer berechnet.",
			"Impressum | Hanna Harms", "harms.example", "/impressum", false},
		{"Impressum\nReents, Harms Gleiter GbR\nVertreten durch\nHanna Harms & Uwe Reents\nAdresse\n" + at, "Impressum",
			"gleiter.example", "/impressum", false},
		{"Impressum\nNeues Leben Reents e.V.\nVertreten durch:\nIsaac Harms (Vorstand)\nHanna Harms (Vorstand)\nAnschrift\n" + at,
			"Impressum", "neues-leben.example", "/impressum", false},
	} {
		v := parse(t, p, Input{Text: c.text, Title: c.title, Host: c.host, Path: c.path})
		if len(v.Addresses) != 1 || v.Addresses[0].Private != c.private {
			t.Errorf("%q of %s%s: %+v, want private %v", c.text, c.host, c.path, v.Addresses, c.private)
		}
	}
}

// What a page is called takes its address off that page at most, never off all pages of the host: a firm has
// pages called "Vita" and "About me", too.
func TestTitlesAreNotSure(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const at = "1374 Greystone Dr.\nIrvine, CA 92617\n\n"
	for _, title := range []string{"About me", "Vita", "CV", "Our family", "Familie & Kinder", "Wedding", "Lebenslauf"} {
		for who, sure := range map[string]bool{"Find me:\n": false, "Linda Miller\n": true} {
			v := parse(t, p, Input{Text: who + at + "Some words of ours here.\n" + who + at, Title: title, Host: "barn.example", Path: "/a.html"})
			if len(v.Addresses) != 1 || v.Addresses[0].Home != sure {
				t.Errorf("%s, %q: %+v, want sure %v", title, who, v.Addresses, sure)
			}
		}
	}
}

// A person on a page of a club is at home, however the page says what they do there; one on that of a
// business is not.
func TestMembersOfClubs(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const at = "1374 Greystone Dr.\nIrvine, CA 92617"
	layouts := []string{
		"{role}:\n{who}\n" + at, "{role}: {who}\n" + at, "{who} ({role})\n" + at, "{role}\n{who}\n" + at,
		"{who}\n{role}\n" + at, "{role}: {who}, " + at, "Harbor Rowing\n{role}: {who}\n" + at,
	}
	for _, role := range []string{"Trainerin", "Stroke rower", "Contactpersoon", "Correspondant", "Referente", "Kontakt"} {
		for _, layout := range layouts {
			for title, want := range map[string]bool{"Harbor Rowing Club": true, "Harbor Plumbing Inc.": false} {
				text := strings.NewReplacer("{role}", role, "{who}", "Hanna Harms").Replace(layout)
				v := parse(t, p, Input{Text: title + "\n\n" + text, Title: title, Host: "harbor.example", Path: "/contact"})
				if len(v.Addresses) != 1 || v.Addresses[0].Private != want {
					t.Errorf("%q of %s: %+v, want private %v", text, title, v.Addresses, want)
				}
			}
		}
	}
}

// On the page of a committee, or of the members of a club, names above addresses are of persons.
func TestOfficersPages(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const at = "1374 Greystone Dr.\nIrvine, CA 92617"
	for text, want := range map[string]bool{
		"Riand Jiao\n" + at:                                        true,
		"Riand Jiao\nCaptain, since 2019\n" + at:                   true,
		"Riand\nJiao\n027 322 78 12\n1981\n" + at:                  true,
		"Harbor Plumbing Inc.\n" + at:                              false,
		"Riand Jiao\nHarbor Plumbing Inc.\n" + at:                  false,
		"Venue: Harbor House\n" + at:                               false,
		"The board meets on Mondays, all members may join:\n" + at: false,
	} {
		for path, officers := range map[string]bool{"/comitato.html": true, "/contact": false} {
			v := parse(t, p, Input{Text: "Harbor\n\n" + text, Title: "Harbor", Host: "harbor.example", Path: path})
			if len(v.Addresses) != 1 || v.Addresses[0].Private != (want && officers) {
				t.Errorf("%q at %s: %+v, want private %v", text, path, v.Addresses, want && officers)
			}
		}
	}
}

// A page that links its author's résumé is a person's.
func TestHomeBesideResume(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const at = `<p>1374 Greystone Dr.<br>Irvine, CA 92617</p><p>weiro@gmail.com</p>`
	for html, want := range map[string]bool{
		`<title>Wei's site</title><a href="cv.pdf">Download CV</a>` + at: true,

		`<title>Blue Door</title><a href="/jobs">Send us your resume</a>` + at: false,

		`<title>Blue Door Clinic</title><a href="/wei">CV</a><p>Blue Door Clinic</p>` + at: false,
	} {
		in := Input{Doc: markup.Parse([]byte(html)), Host: "weiro.example", Path: "/"}
		in.Text = markup.Text(in.Doc)
		v := parse(t, p, in)
		if len(v.Addresses) != 1 || v.Addresses[0].Private != want {
			t.Errorf("%s: %+v, want private %v", html, v.Addresses, want)
		}
	}
}

// TestHomesInProse holds how often running texts, obituaries, reports of the police, minutes, lists
// of candidates, are read right: whose address they name.
func TestHomesInProse(t *testing.T) {
	const us, de = "1374 Greystone Drive, Irvine, CA 92617", "Nadorster Straße 12, 26123 Oldenburg"
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/prose.tsv")
	if err != nil {
		t.Fatal(err)
	}
	homes, served, offices, kept := 0, 0, 0, 0
	var seen []string
	p.onDoor = func(_ *Address, d *place.Door) {
		seen = nil
		for i, v := range d.Values() {
			if v != 0 {
				seen = append(seen, place.Cues()[i])
			}
		}
	}
	for i, line := range slices.Collect(strings.Lines(string(text))) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			continue
		}
		home := fields[0] == "home"
		in := Input{
			Text:  strings.NewReplacer("{us}", us, "{de}", de).Replace(fields[2]),
			Title: fields[1], Host: "www.herald.example", Path: "/news/12.html",
		}
		v := parse(t, p, in)
		if len(v.Addresses) != 1 {
			t.Errorf("line %d, %q: %d addresses", i+1, in.Text, len(v.Addresses))
			continue
		}
		private := v.Addresses[0].Private
		if private != home {
			t.Logf("line %d: %s, private %v, %v: %s", i+1, fields[0], private, seen, fields[2])
		}
		switch {
		case home && private:
			homes++
		case home:
			homes, served = homes+1, served+1
		case private:
			offices++
		default:
			offices, kept = offices+1, kept+1
		}
	}
	t.Logf("of %d homes %d are served, of %d offices %d are kept", homes, served, offices, kept)
	if homes < 70 || served > homes/8 || kept < offices-1 {
		t.Error("at most an eighth of the homes may be served, and at most one office be taken for a home")
	}
}

// A name that the map has at the house settles it, and brings its object, what that
// is, and its hours; one that only the map knows does not.
func TestObjectOfTheMap(t *testing.T) {
	at := func(number string, o *gazetteer.Object) gazetteer.Place {
		return gazetteer.Place{
			ID: o.ID, Kind: gazetteer.House, Names: []string{"Nadorster Straße"}, HouseNumber: number, Postcode: "26123", City: "Oldenburg",
			Country: "DE", Point: orb.Point{8.22, 53.15}, HasPoint: true, Object: o,
		}
	}
	p, err := New(testGazetteer(t,
		at("12", &gazetteer.Object{ID: "node/7", Names: []string{"Krone"}, Tags: []string{"amenity=pub", "opening_hours=Mo-Fr 17:00-23:00"}}),
		at("14", &gazetteer.Object{ID: "node/8", Names: []string{"Salon Eva"}, Tags: []string{"shop=hairdresser"}}),
	), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	v := parse(t, p, Input{Text: "KRONE\n" + street12, Title: "Willkommen"})
	want := Belongings{Name: "Krone", Hours: "Mo-Fr 17:00-23:00", Object: "node/7", Tags: "amenity=pub", Kind: "amenity=pub"}
	if len(v.Addresses) != 1 || v.Addresses[0].Belongings != want {
		t.Errorf("%+v, want %+v", v.Addresses, want)
	}
	v = parse(t, p, Input{Text: "Blumen Meyer GmbH\nNadorster Straße 14, 26123 Oldenburg"})
	if want := (Belongings{Name: "Blumen Meyer GmbH", Kind: "shop=florist"}); len(v.Addresses) != 1 || v.Addresses[0].Belongings != want {
		t.Errorf("%+v, want %+v", v.Addresses, want)
	}
}

// A page that is not relevant keeps its verdict and who is private, but not what is at its addresses.
func TestOnlyRelevantIsDescribed(t *testing.T) {
	g, r := town(t)
	all, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	some, err := New(g, r, Options{OnlyRelevant: true})
	if err != nil {
		t.Fatal(err)
	}
	relevant := "Café Central\n" + street12 + "\nTel. 0441 123456"
	town := "Café Central\n26123 Oldenburg\nTel. 0441 123456"
	for _, c := range []struct {
		name      string
		in        Input
		described bool
	}{
		{"in the region", Input{Text: relevant}, true},
		{"only the town", Input{Text: town}, false},
		{"only the town, labelled relevant", Input{Text: town, Relevant: true}, true},
		{"a home", Input{Text: "Familie Kruse, " + street12 + ", Tel. 0441 123456"}, false},
		{"nothing", Input{Text: "Café Central"}, false},
	} {
		whole, got := parse(t, all, c.in), parse(t, some, c.in)
		if got.Relevant != whole.Relevant || got.Score != whole.Score || len(got.Addresses) != len(whole.Addresses) {
			t.Fatalf("%s: verdict %+v; want that of a parser of all pages, %+v", c.name, got, whole)
		}
		for i, a := range got.Addresses {
			want := whole.Addresses[i]
			if want.Private != (c.name == "a home") || (want.Phone != "") == want.Private {
				t.Errorf("%s: a parser of all pages says %+v", c.name, want)
			}
			if !c.described {
				want.Belongings = Belongings{}
			}
			if !reflect.DeepEqual(a, want) {
				t.Errorf("%s:\n got %+v\nwant %+v", c.name, a, want)
			}
		}
	}
}
