package place

import "testing"

// Headings, menus and sentences that lead to an address are no names; what has
// such a word beside others may be one.
func TestNoNames(t *testing.T) {
	for _, line := range []string{
		"Sie finden uns unter der Anschrift", "So finden Sie uns", "Hier finden Sie uns", "So erreichen Sie uns",
		"Besuchen Sie uns in Oldenburg", "Wir freuen uns auf Ihren Besuch", "Ihr Weg zu uns",
		"Unter folgender Adresse", "Schreiben Sie uns", "Unsere Praxis befindet sich hier", "How to find us",
		"Visit us", "Find us here", "You can reach us at the following address", "We are located here",
		"Ansprechpartner", "Ihre Ansprechpartnerin", "Stellenmarkt", "Kontakt", "Kontakt & Anfahrt", "Impressum", "Aktuelles", "Termine und Veranstaltungen", "Alle Ergebnisse", "Unsere Leistungen", "Öffnungszeiten und Anfahrt",
		"Jobs & Karriere", "Team", "Careers", "Contact Us", "News", "Suchergebnisse", "Impressum/Kontakt", "Partner", "Weiteres",
		"Routebeschrijving", "Onze locaties", "Nos tarifs", "Horaires d'accès", "I nostri servizi", "Nuestros horarios", "Membership",
		"Trainingsort", "Treffpunkt", "Bankverbindung",
		"Startseite Zimmer Preise Buchung Park Kontakt Impressum Datenschutz", "Ordination",
		"Sundays at 10:00 AM", "Sonntagsschule 11:30", "Sunday School 12 p.m.",
		"www.okken-vermessung.example", "WWW.OKKEN.EXAMPLE", "okken.example/haus/#keller", "https://okken.example",
		"Okkencraft Management represented by:", "e. V.", "GmbH",
		"Harms\x1b[1m Bau", "Harms\x7fBau",
	} {
		if IsName(line) {
			t.Errorf("%q is a name", line)
		}
		if got := NameAbove("Bäckerei Harms\n" + line + "\n"); got != "Bäckerei Harms" && got != "" {
			t.Errorf("above %q: %q", line, got)
		}
	}
	for _, line := range []string{
		"Bäckerei Harms", "Kontakt Oldenburg e.V.", "Wir für Oldenburg e.V.", "Café Treffpunkt", "Gasthaus zum Anker", "Stadt Oldenburg", "Unter den Linden Apotheke", "Hotel zur Post", "Toys R Us", "Job Center Oldenburg",
		"Team Harms Elektrotechnik", "News Café", "Contact Lens Center", "Finden und Binden Buchladen", "Service Harms GmbH", "Haus der Begegnung", "The Meeting Point", "Reach US Inc", "Wübben und Partner", "Bäckerei Ihnen",
		"Verein für die Förderung der Kunst in Oldenburg", "Ordination Dr. Harms",
		"Freunde und Förderer des Museums der Stadt Oldenburg e.V.", "Ski- und Radsportclub Bach a.d. Donau e.V.",
		"Okken.example", "Okken.example GmbH", "Garage Okken/Reents",
	} {
		if !IsName(line) {
			t.Errorf("%q is no name", line)
		}
	}
}

// A menu is no firm, whatever "&" joins.
func TestMenuIsNoFirm(t *testing.T) {
	for text, want := range map[string]bool{"Datenschutz & Cookies": false, "Harms & Co": true, "Harms & Co. KG": true} {
		if got := IsFirm(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
