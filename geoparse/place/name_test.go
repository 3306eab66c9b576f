package place

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"gazehound/geoparse/markup"
)

func isTestCity(name string) bool {
	return name == "Danville" || name == "California" || name == "Chelsea" || name == "Essen" || name == "Oldenburg" || strings.EqualFold(name, "Deutschland")
}

// The name of what is at an address comes from all that the page says of it.
func TestName(t *testing.T) {
	for name, c := range map[string]struct {
		html, before, host string
		want, branch, path string
	}{
		"a branch": {`<title>Offices | BOND New York</title><meta property="og:site_name" content="BOND New York"><footer>© 2019 BOND New York</footer>`,
			"Our offices\nChelsea\n", "www.bondnewyork.example", "BOND New York", "Chelsea", ""},
		"a head office": {`<title>First California Mortgage</title><a href="/"><img src="logo.gif" alt="First California Mortgage"></a><p>Copyright © 2011 First California Mortgage Company. All rights reserved.</p>`,
			"Corporate Headquarters Address\n", "www.firstcal.example", "First California Mortgage Company", "Corporate Headquarters", ""},
		"an article in the title": {`<title>Impressum der Zahnarztpraxis Okken</title>`, "Anschrift\n",
			"www.zahnarztpraxis-okken.example", "Zahnarztpraxis Okken", "", ""},
		"at somebody's door": {`<title>Impressum</title><h1>Impressum</h1><p>office@reents.example</p>`,
			"Vereinsangaben\nJahr der Lunge e.V.\nc/o Reents GmbH\n", "jahrderlunge.example", "Jahr der Lunge e.V.", "", ""},
		"contacts between": {`<title>Contact | Reents Homes</title>`, "Brooks Funeral Home\nP. 701-555-0100 E. office@brooks.example\n",
			"", "Brooks Funeral Home", "", ""},
		"a title with the page's name": {`<title>SVC Okken Horaires</title>`, "Adresse\n", "svcokken.example", "SVC Okken", "", ""},
		"a place in French":            {`<title>Okkendipity</title>`, "Lieu : Centre Médical Reents\n", "okkendipity.example", "Centre Médical Reents", "", ""},
		"the site in the title": {`<title>Website der Realschule Okken</title>`, "Anschrift\n",
			"www.realschule-okken.example", "Realschule Okken", "", ""},
		"whose an office is": {`<title>Impressum der Zahnarztpraxis Okken</title><h1>Zahnarztpraxis Okken</h1>`,
			"Zuständige Bezirksregierung\nBezirksregierung Oldenburg\n", "www.zahnarztpraxis-okken.example",
			"Bezirksregierung Oldenburg", "", ""},
		"behind a dash": {`<title>Datenschutz – SV Okken</title>`,
			"Tickets (für Training und Wettkampf in der Halle) – reents heat GmbH, ",
			"www.sv-okken.example", "reents heat GmbH", "", "/datenschutz"},
		"before a bracket": {`<title>SV Okken</title>`, "Unser Lokal\nBar Reents [",
			"www.sv-okken.example", "Bar Reents", "", ""},
		"begins with a quotation mark": {`<title>Zimmer</title>`, "\"Gasthof Reents\" Hanna Okken\n",
			"www.zimmer.example", `"Gasthof Reents" Hanna Okken`, "", ""},
		"a host above its house": {`<title>Fest | Ruderclub Reents e.V.</title><footer>© Ruderclub Reents e.V.</footer>`,
			"Adresse\nJugendring Okken e.V.\nJugendhaus Aldorf\n", "ruderclub-reents.example", "Jugendring Okken e.V.", "", ""},
		"behind a stroke in the title": {`<title>Termine / Praxis Okken</title>`, "Ort: ",
			"praxis-okken.example", "Praxis Okken", "", ""},
		"a title with brackets": {`<title>Contact - Grote of Reents Church (Aldorf, Fife)</title>`, "Address\n",
			"grote-reents.example", "Grote of Reents Church", "", ""},
		"rooms in a public building": {`<title>Aktuelles | BSG Okken e.V.</title><footer>© BSG Okken e.V.</footer>`,
			"Training\nSporthalle Grundschule Okken\n", "bsg-okken.example", "Sporthalle Grundschule Okken", "", ""},
		"a house that is no unit": {`<title>Schachfreunde Reents e.V.</title><footer>© Schachfreunde Reents e.V.</footer>`,
			"Spiellokale:\nHaus des Gastes, ", "sf-reents.example", "Haus des Gastes", "", ""},
		"where a person works": {`<title>Imprint</title>`, "Hanna Okken\nTechnische Universität Reents\n",
			"hanna-okken.example", "Technische Universität Reents", "", ""},
		"a sports ground": {`<title>Spielorte – TSV 1861 Reents</title><footer>© TSV 1861 Reents</footer>`,
			"Sportplatz Okken\n", "tsv-reents.example", "Sportplatz Okken", "", ""},
		"rooms, behind a day": {`<title>Aquafitness | TV Reents e.V.</title><footer>© TV Reents e.V.</footer>`,
			"dienstags, Freibad Okken, ", "www.tv-reents.example", "Freibad Okken", "", ""},
		"a church in another": {`<title>Harms Mission Church</title><footer>© Harms Mission Church</footer>`,
			"Sundays\nOkken Memorial Chapel\n", "harms.example", "Okken Memorial Chapel", "", ""},
		"a school's own hall": {`<title>Realschule Okken</title><footer>© Realschule Okken</footer>`,
			"Realschule Okken\n", "realschule-okken.example", "Realschule Okken", "", ""},
		"stars between": {`<title>Alle Ballettschulen | Tanzführer</title><footer>© Tanzführer</footer>`,
			"🥇 Platz 1\nBallettstudio Okken\n★★★★★ 5.0 (82 Bewertungen)\n📍\n", "www.tanz.example", "Ballettstudio Okken", "", ""},
		"a name of two lines": {`<title>Kontakt</title>`, "Freunde der\nMusikschule Okken e.V.\n", "okken.example",
			"Freunde der Musikschule Okken e.V.", "", ""},
		"who represents it": {`<title>Impressum – Okken Hospiz</title><footer>© Okken Hospiz</footer>`,
			"Okken Hospiz wird vertreten durch\nHanna Harms, Geschäftsführerin, ", "okken-hospiz.example", "Okken Hospiz", "", ""},
		"a name that goes on": {`<title>Visit</title>`, "Okken Valley Church\nof the Nazarene\n", "okken.example",
			"Okken Valley Church of the Nazarene", "", ""},
		"a welcome above": {`<title>Kontakt</title>`, "Willkommen in der\nBäckerei Okken\n", "okken.example",
			"Bäckerei Okken", "", ""},
		"a pictogram": {`<title>Recycling</title>`, "Glas auch bei allen Verkaufsstellen\n🏢 Reents Entsorgung AG\n", "okken.example",
			"Reents Entsorgung AG", "", ""},
		"a button":              {`<title>Digitalcourage</title><h2>Impressum</h2><p>Digitalcourage e.V.</p>`, "Digitalcourage e.V.\nJetzt spenden\n", "digitalcourage.example", "Digitalcourage e.V.", "", ""},
		"a part of the address": {`<title>Welcome to H&amp;S Solicitors</title><p>© H&amp;S Solicitors</p>`, "H&S Solicitors\nUnit 3 Palace Court\n", "www.hs-solicitors.example", "H&S Solicitors", "", ""},
		"what is above":         {`<title>Blumen Meyer in Oldenburg</title>`, "Blumen Meyer GmbH\n", "www.blumen-meyer.example", "Blumen Meyer GmbH", "", ""},
		"an entry of a directory": {`<title>Tischlerei Reents – Stadtmagazin</title><a href="/">Stadtmagazin</a><h1>Tischlerei Reents</h1><p>© Stadtmagazin`,
			"Tischlerei Reents\n", "www.stadtmagazin.example", "Tischlerei Reents", "", ""},
		"a branch with a page of its own": {`<title>Chelsea – BOND New York</title><meta property="og:site_name" content="BOND New York"><h1>Chelsea</h1><footer>© 2019 BOND New York</footer>`,
			"Chelsea\n", "www.bondnewyork.example", "BOND New York", "Chelsea", ""},
		"what somebody does": {`<title>Résumé</title>`, "Graduate Student Researcher\n", "", "", "", ""},
		"a copyright line":   {`<title>UltraStar Cinemas</title><p>UltraStar Cinemas</p>`, "UltraStar Cinemas\nCopyright © 2010 Apycom Menus\n", "", "UltraStar Cinemas", "", ""},
		"a service mark":     {`<title>Tropical Web Works</title>`, "Tropical Web WorksSM\n", "www.tropicalwebworks.example", "Tropical Web Works", "", ""},
		"two in one line":    {`<title>CRADL</title><p>University of California</p>`, "Bren Hall 5042 | University of California\n", "", "University of California", "", ""},
		"a country":          {`<title>Anreise</title>`, "In Deutschland\n", "", "", "In Deutschland", ""},
		"a course":           {`<title>ICS 22 / CSE 22 Fall 2012, Project #2: You Won't Find Me There</title>`, "Test data\n", "www.ics.example", "", "", ""},
		"a room":             {`<title>Contact</title>`, "Donald Bren Hall 2068\n", "www.play.example", "", "", ""},
		"a floor and room":   {`<title>Contact</title>`, "Floor Two, Room B\n", "www.play.example", "", "", ""},
		"a doctor and titles": {`<title>Welcome</title>`, "Julie A. Harms MD, FAAP\nPediatrician, Educator, Advocate\n", "",
			"Julie A. Harms MD, FAAP", "", ""},
		"a form in quotes": {`<title>Satzung</title>`, "Nach der Eintragung führt der Verein den Zusatz „e.V.“\nSitz\n", "www.play.example",
			"", "Sitz", ""},
		"the end of a sentence": {`<title>Career conference</title>`, "Okken Innovation Center.\n", "", "Okken Innovation Center", "", ""},
		"a heading of contacts": {`<title>Contact</title>`, "Club Contact\n", "www.play.example", "", "", ""},
		"a unit of a house":     {`<title>Where we are</title>`, "Unit D Waldon House, ", "www.play.example", "", "", ""},
		"what a doctor does":    {`<title>Welcome</title>`, "Pediatrician, Educator, Advocate\n", "", "", "", ""},
		"a building behind it": {`<title>Motorcycle Training</title>`, "Harms Rider Training, Beech Works, Stubley Hollow, ",
			"harmsridertraining.example", "Harms Rider Training", "", ""},
		"a term of a contract": {`<title>Privacy</title>`, "Okken Drug Mart Pharmacy (“the Pharmacy”) is located at ",
			"okkendrugmart.example", "Okken Drug Mart Pharmacy", "", ""},
		"half of one bracket": {`<title>Course</title>`, "AI (e.g.\n", "", "", "", ""},
		"a professor":         {`<title>SISL</title><p>Eric Mjolsness</p>`, "Eric Mjolsness, Associate Professor of Information and Computer Science\n", "www.ics.example", "", "", ""},
		"a course's teacher":  {`<title>Schedule</title>`, "Project presentations and epilogue\nDavid G. Kay,\n", "www.ics.example", "", "", ""},
		"above a person":      {`<title>Göttingen</title>`, "Filmbüro Göttingen\nSven Schreivogel\n", "www.film.example", "Filmbüro Göttingen", "", ""},
		"a person's branch":   {`<title>Contact</title>`, "Okka J. Danville\n", "www.uni.example", "", "", ""},
		"bullet in the title": {`<title>Gasthof Okken • Anfahrt &amp; Kontakt</title>`, "So finden Sie uns:\n", "www.okken.example", "Gasthof Okken", "", ""},
		"behind a colon":      {`<title>Kontakt</title>`, "Verantwortlicher im Sinne der DSGVO: Reents e.V., Haus Okken, ", "www.reents.example", "Reents e.V., Haus Okken", "", ""},
		"partners and a page": {`<title>Katz, Marshall &amp; Banks, About the Firm</title>`, "", "www.katzmarshallbanks.example", "Katz, Marshall & Banks", "", ""},
		"partners":            {`<title>Contact Us | Katz, Marshall &amp; Banks, LLP</title><p>Katz, Marshall &amp; Banks</p>`, "Contact Us\n202.999.3975\n", "www.katzmarshallbanks.example", "Katz, Marshall & Banks, LLP", "", ""},
		"a number in front":   {`<title>News - 5 Minuten</title><footer>© 2019 5 Minuten. Alle Rechte vorbehalten</footer>`, "Kontakt\n", "www.5minuten.example", "5 Minuten", "", ""},
		"what a user's page is about": {`<title>Marine Optics</title><h1>Marine Optics</h1>`, "Office:\n",
			"www.marine.example", "", "", "/~okken/"},
		"a space and a comma": {`<title>Contact</title>`, "Reents , Okken & Harms Ltd\n",
			"www.contact.example", "Reents, Okken & Harms Ltd", "", ""},
		"rights behind": {`<title>Law</title>`, "The Reents Law Firm LLC. All Rights Reserved\n", "www.reentslaw.example", "The Reents Law Firm LLC.", "", ""},
		"a school that a church rents": {
			`<title>Church of the Lantern - Westbrook</title><h1>Church of the Lantern</h1>`,
			"Sundays\nWestbrook Elementary School\n", "www.lantern.example", "Westbrook Elementary School", "", "",
		},
		"a sentence of two lines": {`<title>Church of the Lantern - Downtown</title><h1>Church of the Lantern</h1>`,
			"Sunday 10:30 AM at Marlow Auditorium,\n", "www.lantern.example", "Marlow Auditorium", "", ""},
		"a place after an hour": {`<title>Church of the Lantern</title><h1>Church of the Lantern</h1>`,
			"Sundays at 10:00 AM\nSunday School 12:00 PM\n",
			"www.churchofthelantern.example", "Church of the Lantern", "", ""},
		"above a label": {`<title>Reents Book Club</title><p>© Reents Book Club</p>`,
			"Where: Okken Tavern\nAddress: ", "www.reentsbookclub.example", "Okken Tavern", "", ""},
		"outside of a place": {`<title>Reents Ramblers</title>`,
			"We meet every Wednesday outside the Okken Tea Rooms, ",
			"www.reentsramblers.example", "Okken Tea Rooms", "", ""},
		"a place in small letters": {`<title>Reents Divers</title>`,
			"In May we will meet at Old Quay Inn restaurant, ",
			"www.reentsdivers.example", "Old Quay Inn restaurant", "", ""},
		"a court that a law firm goes to": {`<title>Family law | Reents Law</title><p>© 2024 Reents Law LLC</p>`,
			"Most cases are heard here:\nAhlers County Combined Courts\n",
			"www.reentslaw.example", "Ahlers County Combined Courts", "", ""},
		"a number of its own": {`<title>Okken Amateur Radio</title>`,
			"We meet at:\nReents Fire Station #28\n", "www.oarc.example", "Reents Fire Station #28", "", ""},
		"its web address behind it": {`<title>Curriculum vitae</title>`,
			"Reents Data, Inc. ReentsData.com\n", "", "Reents Data, Inc.", "", ""},
		"a floor behind it": {`<title>Home</title>`,
			"Reents Private Homecare,\n5th Floor, The Grange\n", "www.reents.example", "Reents Private Homecare", "", ""},
		"a slogan": {`<title>Reents Family Dental</title><h2>Gentle care in Chelsea, GA.</h2>`,
			"Gentle care in Chelsea, GA.\n", "www.reentsdental.example", "Reents Family Dental", "", ""},
		"a logo with the town": {`<title>Reents Rowing Club - Otterham London</title>` +
			`<a href="/"><img src="logo.gif" alt="Reents Rowing Club - Otterham London"></a>` +
			`<h1>Reents Rowing Club - Otterham London</h1>`,
			"The boathouse is at\n", "www.okken.example", "Reents Rowing Club", "", ""},
		"a bracket behind it": {`<title>Reunion</title>`,
			"Where: Harbour Vale RSL [", "www.reunion.example", "Harbour Vale RSL", "", ""},
		"holder of a licence": {`<title>Licence</title>`,
			"Copyright (C) 1999 Ahlers Software Foundation, Inc., ", "", "Ahlers Software Foundation, Inc.", "", ""},
		"phone before the address": {`<title>K&amp;L Sailmakers</title><p>© K&amp;L Sailmakers</p>`,
			"Head Office:\nPhone: 415-555-0171\nAddress: ",
			"www.kl-sailmakers.example", "K&L Sailmakers", "Head Office", ""},
		"no branch": {`<title>Ahlers Dentistry</title><p>© Ahlers Dentistry</p>`,
			"Visit\nIn the centre of Chelsea.\n", "www.ahlersdentistry.example", "Ahlers Dentistry", "", ""},
		"the host as its owner": {
			`<title>Harbor Lights Chapel | harborlights.example</title><p>© 2022 harborlights.example</p>`,
			"Contact\n", "www.harborlights.example", "Harbor Lights Chapel", "", "",
		},
		"below a hosting service": {`<title>Hours | Ironworks Gym</title><h2>Hours</h2>`,
			"Address\n", "okkareents-ironworks-gym.github.io", "Ironworks Gym", "", ""},
		"small letters of the title": {
			`<title>kleines zelt</title>`, "Impressum\nkleines zelt\n", "", "kleines zelt", "", "",
		},
		"a hidden mail address": {`<title>Reents | Kontakt</title><p>© Reents Raum für Klang`,
			"Kontakt\nkontakt[at]reents.example\n", "reents.example", "Reents Raum für Klang", "", ""},
		"a picture of the name": {`<title>Home | Hanna Reents</title><a href="/"><img src=l.png alt="Hanna Reents Schmuck text"></a>`,
			"Kontakt\n", "schmuck-reents.example", "Hanna Reents Schmuck", "", ""},
		"a person with a trade": {`<title>Impressum</title>`,
			"Impressum\nDr. med. Hanna Okken\nÄrztin für Augenheilkunde\n", "seh-gut.example", "Dr. med. Hanna Okken", "", ""},
		"a trade under the name of who runs the site": {`<title>Kontakt | Hanna Harms</title><p>© 2022 Hanna Harms`,
			"Hanna Harms\nZupf- und Streichinstrumente\n", "saitenvogel.example", "Hanna Harms", "", ""},
		"a numbered branch": {`<title>Locations - Reents Fire-Rescue</title>`, "Our locations\nStation 2\n",
			"www.reentsfire.example", "Reents Fire-Rescue", "Station 2", ""},
		"small letters":       {`<title>Impressum</title>`, "Impressum\nunser zelt\n", "", "", "", ""},
		"nothing":             {`<title>Contact</title>`, "Site Map\nContact\n", "www.example.example", "", "", ""},
		"a course's schedule": {`<title>Computer Law</title><h1>Computer Law</h1>`, "Project presentations\nProject presentations and epilogue\nDavid G. Kay,\n", "www.uci.example", "", "", "/~kay/courses/264/s05.html"},
	} {
		t.Run(name, func(t *testing.T) {
			doc := markup.Parse([]byte(c.html))
			text := markup.Text(doc) + "\n" + c.before
			a := Around{Before: c.before}
			p := ReadPage(markup.Read(doc), text, "", c.host, c.path, isTestCity)
			p.ReadList([]Around{a}, 1)
			if got := p.Name(a); got.Text != c.want || got.Branch != c.branch {
				t.Errorf("name %q, branch %q (%.2f %v)\nwant %q, %q", got.Text, got.Branch, got.Score, got.Reasons, c.want, c.branch)
			}
		})
	}
}

// Plain text has a name if nothing but its mail and web addresses agree with it.
// The organisation that an address names is who is there where nothing else says so.
func TestNameInside(t *testing.T) {
	const street = "Grote Hall"
	for name, c := range map[string]struct{ above, address, want string }{
		"a line of its own": {"Office:", "12 Grote Hall\nReents University, Okken\nOkken, CA 92697",
			"Reents University, Okken"},
		"a part of it": {"Office:", "12 Grote Hall\nDepartment of Tides\nReents University, Okken\nOkken, CA 92697",
			"Department of Tides"},
		"between commas": {"Mail:", "12 Grote Hall, Reents University (RU), Okken, CA 92697", "Reents University"},
		"below its institute": {"Institute for Tides", "12 Grote Hall\nReents University\nOkken, CA 92697",
			"Institute for Tides"},
		"below a person": {"Okka Reents", "12 Grote Hall\nReents University\nOkken, CA 92697", "Reents University"},
		"a building":     {"Office:", "12 Grote Hall, Computer Science Building, Okken, CA 92697", ""},
		"its street":     {"Office:", "12 University of Grote Hall\nOkken, CA 92697", ""},
	} {
		t.Run(name, func(t *testing.T) {
			doc := markup.Parse([]byte("<title>" + c.above + "</title>"))
			p := ReadPage(markup.Read(doc), c.above+"\n"+c.address, "", "www.ru.example", "/~okka/", isTestCity)
			a := Around{Before: c.above + "\n", Inside: InstitutionsIn(c.address, street)}
			p.ReadList([]Around{a}, 1)
			if got := p.Name(a); got.Text != c.want {
				t.Errorf("name %q (%.2f %v), want %q", got.Text, got.Score, got.Reasons, c.want)
			}
		})
	}
}

func TestNameInPlainText(t *testing.T) {
	for text, want := range map[string]string{
		"Contact us\n\nHarms & Reents\n\nRoofs since 1910\nSite Map\n#info@harms-reents.example\n": "Harms & Reents",
		"Site Map\n#mail harms.reents@gmail.com\n":                                                 "",
	} {
		before, below, _ := strings.Cut(text, "#")
		p := ReadPage(nil, text, "", "", "", isTestCity)
		a := Around{Before: before, Below: below}
		p.ReadList([]Around{a}, 1)
		if got := p.Name(a); got.Text != want {
			t.Errorf("%q: %q (%.2f %v), want %q", text, got.Text, got.Score, got.Reasons, want)
		}
	}
}

// In a directory the entries have their own names, not that of the directory.
func TestNameInDirectory(t *testing.T) {
	doc := markup.Parse([]byte(`<title>Gaststätten – Stadtmagazin</title><meta property="og:site_name" content="Stadtmagazin"><h1>Gaststätten</h1><p>© Stadtmagazin`))
	p := ReadPage(markup.Read(doc), markup.Text(doc), "", "www.stadtmagazin.example", "", isTestCity)
	var all []Around
	for _, name := range []string{"Bäckerei Kruse", "Gasthof Krone", "Café Treffpunkt", "Museum am Damm"} {
		all = append(all, Around{Before: name + "\n", List: true})
	}
	all[0].Before = "Gaststätten\n" + all[0].Before // the heading of the list
	p.ReadList(all, len(all))
	for _, a := range all {
		if got := p.Name(a); !strings.HasSuffix(a.Before, got.Text+"\n") || got.Text == "" {
			t.Errorf("%q: %q (%.2f %v)", a.Before, got.Text, got.Score, got.Reasons)
		}
	}
}

// A page about parks is none of those that it lists, whose names end as those of estates do.
func TestNameOfPark(t *testing.T) {
	doc := markup.Parse([]byte(`<title>Camping near Okken Village | Okken Village</title>`))
	p := ReadPage(markup.Read(doc), markup.Text(doc), "", "okkenvillage.example", "", isTestCity)
	var all []Around
	for _, name := range []string{"Reents Manor Caravan Park", "Harms Holiday Park"} {
		all = append(all, Around{Before: name + "\nLocation: ", List: true})
	}
	p.ReadList(all, len(all))
	for _, a := range all {
		if got := p.Name(a); got.Text == "" || !strings.HasPrefix(a.Before, got.Text) {
			t.Errorf("%q: %q (%.2f %v)", a.Before, got.Text, got.Score, got.Reasons)
		}
	}
}

// A label leads to the name of a venue, with a colon or without.
func TestNameBehindLabel(t *testing.T) {
	for line, want := range map[string]string{
		"Treffpunkt: Okken ":                      "Okken",
		"Veranstaltungsort Theater am Kornmarkt ": "Theater am Kornmarkt",
		"Vereinslokal: Krone, ":                   "Krone",
		"Treffpunkt Kultur ":                      "",
		"📍 Where: Unity Valley Church, ":          "Unity Valley Church",
		"Ort : ..........im ZENtrum, ":            "ZENtrum",
	} {
		if got := (&Page{}).behindLeadIn("Konzert\n" + line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// A sentence names where people meet, in the line of the address or above it.
func TestVenueOfSentence(t *testing.T) {
	p := &Page{places: func(name string) bool { return name == "Nadorst" }}
	for before, want := range map[string]string{
		"We play in the Sports hall of Reents School in Nadorst: ": "Sports hall of Reents School",
		"We train in Grote School (":                               "Grote School",
		"Rehearsals are held in the Red Lion, ":                    "Red Lion",
		"Training takes place at Grote Leisure Centre\n":           "Grote Leisure Centre",
		"Wir trainieren in der Sporthalle am Deich\n":              "Sporthalle am Deich",
		"Die Proben finden im Gasthof Krone statt: ":               "Gasthof Krone",
		"Zahnarztpraxis im Ärztehaus\n":                            "",
		"We live in Nadorst, ":                                     "",
		"See our tree in Action: ":                                 "",
	} {
		if got := p.behindLeadIn(before); got != want {
			t.Errorf("%q: %q, want %q", before, got, want)
		}
	}
}

// Legal forms of six languages are known, of which some need dots or capitals.
func TestLegalForms(t *testing.T) {
	for text, want := range map[string]bool{
		"Okken SL": true, "Okken S.L.": true, "Okken S.A.": true, "Okken SLU": true, "Okken N.V.": true, "Okken VOF": true,
		"Okken S.n.c.": true, "Okken e.U.": true, "Okken APS": true, "Okken EURL": true, "Okken SE": true,
		"Okken sl": false, "Mo - SA": false, "Reno NV": false, "Okken se": false, "S.A.": false,
	} {
		if got := hasLegalForm(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// Who hosts, makes, insures or supervises a site stands in a section of their own.
func TestSections(t *testing.T) {
	p := ReadPage(nil, "Tischlerei Okken GmbH\n", "Tischlerei Okken", "tischlerei-okken.example", "/impressum", isTestCity)
	for _, label := range []string{
		"Technische Betreuung", "Bildnachweise", "Website erstellt von", "Berufsaufsicht", "Landesärztekammer",
		"Proveedor de alojamiento", "Diseño y desarrollo", "Délégué à la protection des données", "Site built by", "Licensed by",
	} {
		if got := p.Name(Around{Before: label + ":\nNordlicht\n"}); !got.Section {
			t.Errorf("%s: %+v", label, got)
		}
	}
	if got := p.Name(Around{Before: "Alojamiento\nNordlicht\n"}); got.Section { // lodging, too
		t.Errorf("%+v", got)
	}
}

// A name is one line of at most 80 characters, whatever a page holds.
func FuzzName(f *testing.F) {
	f.Add("<title>A | B</title>", "Harms GmbH\n", "harms.example", "Harms")
	f.Add(`<meta property="og:site_name" content="`+strings.Repeat("x", 9000)+`">`, strings.Repeat("Unit 3\n", 100), "xn--a.example", "")
	f.Add("© © copyright (c) 2010 by "+strings.Repeat("GmbH & Co. ", 90), "\u202eshop\u0000\n", "..", "\n")
	f.Fuzz(func(t *testing.T, html, before, host, stated string) {
		doc := markup.Parse([]byte(html))
		p := ReadPage(markup.Read(doc), markup.Text(doc), "", host, "", isTestCity)
		a := Around{Before: before, Stated: stated}
		p.ReadList([]Around{a, a}, 1)
		n := p.Name(a)
		for _, text := range []string{n.Text, n.Branch} {
			if utf8.RuneCountInString(text) > MaxName || strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("%q", text)
			}
		}
		if n.Score < 0 || n.Score > 1 {
			t.Errorf("score %v", n.Score)
		}
	})
}

// A copyright line has a holder, with the number of its branch and without years and addresses.
func TestOwner(t *testing.T) {
	for line, want := range map[string]string{
		"© 2025 Reents Veterans Post 28. All rights reserved.":   "Reents Veterans Post 28",
		"© Reents Ltd 2019–2024":                                 "Reents Ltd",
		"Copyright (C) 1999 Ahlers Foundation, Inc., 9 Long St":  "Ahlers Foundation, Inc.",
		"Copyright 2020 Reents & Söhne GmbH":                     "Reents & Söhne GmbH",
		"© Okken Camp ■ Kontakt ■ Impressum":                     "Okken Camp",
		"© 2019 Reents, Okken & Harms, LLP. All rights reserved": "Reents, Okken & Harms, LLP",
		"© 2020 Reents. Built using Some Theme":                  "Reents.",
		"© 2021":                                                 "",
	} {
		if got := owner(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestAgreement(t *testing.T) {
	for _, c := range []struct {
		name, host string
		least      float64
		most       float64
	}{
		{"Blumen Meyer", "www.blumen-meyer.example", 1, 1},
		{"Hayden Outdoors", "haydenoutdoors.example", 1, 1},
		{"First California Mortgage", "firstcal.example", .9, 1},
		{"Bäckerei Müller", "baeckerei-mueller.example", 1, 1},
		{"Contact", "haydenoutdoors.example", 0, 0},
		{"", "harms.example", 0, 0},
		{strings.Repeat("a ", 40), strings.Repeat("a", 60) + ".example", 0, 1},
	} {
		if got := agreement(nameWords(c.name), domainLabel(c.host)); got < c.least || got > c.most {
			t.Errorf("%q, %s: %v", c.name, c.host, got)
		}
	}
}

func TestFirmIn(t *testing.T) {
	for line, want := range map[string]string{
		"Ich bin damit einverstanden, dass mir die BurdaForward GmbH schreibt": "BurdaForward GmbH",
		"Harms und Söhne GmbH & Co. KG, Lange Straße 5":                        "Harms und Söhne GmbH & Co. KG",
		"spot on news GmbH": "spot on news GmbH", "comparis.ch AG": "comparis.ch AG", "Las Vegas NV": "", "GmbH": "",
		"Herausgeber: Verein für Heimatpflege e.V.":    "Verein für Heimatpflege e.V.",
		"Impressum: Radsportclub Bach a.d. Donau e.V.": "Radsportclub Bach a.d. Donau e.V.",
		"Lange Straße 4 (Hinterhof, EG links)":         "", "The use is not limited to persons": "", "Wohnbau eG": "Wohnbau eG",
	} {
		if got := firmIn(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestIsTrade(t *testing.T) {
	for text, want := range map[string]bool{
		"Staatlich anerkannte Physiotherapeutin": true, "Hans Schneider": false, "Musikverein Okken e.V.": false,
		"Hanna Harms Kosmetik": true, "Nelson Harms Funeral Home": true, "Hans Peter Schneider": false,
		"Musikfreunde Okken": false, "Tennisclub Okken": false, "Okken braucht einen Hackerspace": false,
	} {
		if isTrade(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestIsPerson(t *testing.T) {
	for name, want := range map[string]bool{
		"Hanna Harms": true, "Harms, Hanna": true, "Jeroen Boenders": true, "Reto Okken": true, "Piotr Okken": true,
		"Dipl.-Ing. Zaru Okken": true, "Dipl.-Ing. (FH) Hanna Harms": true, "Dipl.-Ing. Hanna Grete Harms FH": true,
		"Mevr. Boenders": true, "Mme Okken": true, "Signora Okken": true, "Zaru F. Okken": true, "Zaru Okken": false,
		"Hanna Harms Garten- und Landschaftsbau": false, "Rose Garden Hotel": false, "Paris Match": false,
		"Blue Door": false, "Hanna Harms-The Cello Studio": false,
	} {
		if IsPerson(name) != want {
			t.Errorf("%q: %v, want %v", name, !want, want)
		}
	}
}

func TestIsJob(t *testing.T) {
	for text, want := range map[string]bool{
		"Graduate Student Researcher": true, "Director of Research": true, "Associate Professor, Computer Science": true,
		"Geschäftsführerin": true, "Institute of the Director": false, "Harms GmbH": false, "": false,
		"Ärztin für Gynäkologie": true, "Staatlich anerkannte Physiotherapeutin": true, "Rechtsanwalt Okken": false,
	} {
		if isJob(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// A name is the site's by its domain or by a part of its title, which more than the town must be.
func TestIsNamed(t *testing.T) {
	for name, want := range map[string]bool{
		"Reents Rowing Club": true, "Okken Tennis": true, "Okken Tennis – outdoor": true,
		"Oldenburg Baths": false, "Ahlers Tearoom": false, "": false,
	} {
		p := ReadPage(nil, "", "Okken Tennis | Oldenburg", "www.reentsrowing.example", "/", isTestCity)
		if got := p.IsNamed(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

// What leads from a name to its address in contracts and notices is no part of the name.
func TestWithoutSeat(t *testing.T) {
	for line, want := range map[string]string{
		"Hexenkessel GmbH mit Sitz in der":                              "Hexenkessel GmbH",
		"Hexenkessel, ansässig in":                                      "Hexenkessel",
		"Hexenkessel befindet sich in der":                              "Hexenkessel",
		"Hexenkessel e.V., vertreten durch den Vorstand, Sitz:":         "Hexenkessel e.V.",
		"Hexenkessel (nachfolgend „Verein“":                             "Hexenkessel",
		"Hexenkessel Ltd, whose registered office is at":                "Hexenkessel Ltd",
		"Hexenkessel, registered in England and Wales":                  "Hexenkessel",
		"Hexenkessel, gevestigd aan de":                                 "Hexenkessel",
		"Hexenkessel, dont le siège social est situé":                   "Hexenkessel",
		"Hexenkessel S.r.l. con sede legale in":                         "Hexenkessel S.r.l.",
		"Hexenkessel con domicilio social en":                           "Hexenkessel",
		"Unser Büro befindet sich in der":                               "Unser Büro befindet sich in der",
		"Adresse:":                                                      "Adresse:",
		"Wir nutzen Tides (nachfolgend „Tides“), eine Messung der Ebbe": "Wir nutzen Tides (nachfolgend „Tides“), eine Messung der Ebbe",
		"Residential Care":                                              "Residential Care",
	} {
		if got := withoutSeat(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// A line of a list with the town in it names an entry if it says a trade, and else a branch.
func TestNamesEntry(t *testing.T) {
	p := ReadPage(nil, "", "", "", "", func(name string) bool {
		return strings.EqualFold(name, "Oldenburg") || strings.EqualFold(name, "Nadorst")
	})
	for text, want := range map[string]bool{
		"Optiker - Oldenburg": true, "Reisebüro Oldenburg Nadorst": true, "Okken & Harms": true, "Oldenburg Okken": false, "Oldenburg - Nadorst": false,
	} {
		if p.namesEntry(lineAbove{text: text}) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
