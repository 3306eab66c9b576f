package geoparse

import "testing"

func TestStatus(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, Options{Persons: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		before, below, name string
		want                Status
	}{
		// closed for good
		{"Café Wübben (dauerhaft geschlossen)\n", "", "Café Wübben", ClosedStatus},
		{"Café Wübben\n", "\nWir haben seit dem 1.3.2024 dauerhaft geschlossen.", "Café Wübben", ClosedStatus},
		{"Unser Restaurant ist endgültig geschlossen.\n", "", "Wübben", ClosedStatus},
		{"Bäckerei Reents\n", "\nDauerhaft geschlossen", "Bäckerei Reents", ClosedStatus},
		{"Bäckerei Reents\n", "\nWir haben für immer geschlossen.", "Bäckerei Reents", ClosedStatus},
		{"Reents Books\n", "\nPermanently closed", "Reents Books", ClosedStatus},
		{"Reents Books\n", "\nWe have closed our doors after 40 years.", "Reents Books", ClosedStatus},
		{"Reents Books has closed for good.\n", "", "Reents Books", ClosedStatus},
		{"Boulangerie Reents\n", "\nNotre magasin est définitivement fermé.", "Boulangerie Reents", ClosedStatus},
		{"Trattoria Reents\n", " - chiuso definitivamente", "Trattoria Reents", ClosedStatus},
		{"Bar Reents\n", "\nCerrado permanentemente", "Bar Reents", ClosedStatus},
		{"Bakkerij Reents\n", "\nDeze winkel is definitief gesloten.", "Bakkerij Reents", ClosedStatus},
		// closed for a time, or something else is
		{"Reents Books\n", "\nClosed on Mondays", "Reents Books", CurrentStatus},
		{"Reents Books\n", "\nWe are closed on 24 December.", "Reents Books", CurrentStatus},
		{"Saal für geschlossene Gesellschaft\n", "", "", CurrentStatus},
		{"Bäckerei Reents\n", "\nMontag geschlossen", "Bäckerei Reents", CurrentStatus},
		{"Bäckerei Reents\n", "\nWir sind nicht dauerhaft geschlossen.", "Bäckerei Reents", CurrentStatus},
		{"Reents Books\n", "\nOur north entrance is permanently closed.", "Reents Books", CurrentStatus},
		{"Reents Books\n", "\nThe road from the harbour is permanently closed to cars.", "Reents Books", CurrentStatus},
		{"Rathaus\n", "\nDas Freibad ist dauerhaft geschlossen.", "Rathaus", CurrentStatus},
		{"Hotel Reents\n", "\nWir haben unsere Sauna endgültig geschlossen.", "Hotel Reents", CurrentStatus},
		{"Boulangerie Reents\n", "\nFermé le lundi", "Boulangerie Reents", CurrentStatus},
		{"Trattoria Reents\n", "\nChiuso il lunedì", "Trattoria Reents", CurrentStatus},
		{"Bakkerij Reents\n", "\nMaandag gesloten", "Bakkerij Reents", CurrentStatus},
		// was there once
		{"früher: ", "", "", FormerStatus}, {"Früher: Gasthof Reents, ", "", "", FormerStatus},
		{"Ehemals: Gasthof Reents\n", "", "", FormerStatus},
		{"Reents GmbH\nAlte Adresse:\n", "", "", FormerStatus},
		{"Reents GmbH, ehemals ", "", "", FormerStatus},
		{"Unsere frühere Anschrift: ", "", "", FormerStatus},
		{"Reents Books (formerly at ", ")", "", FormerStatus},
		{"Previous location:\n", "", "", FormerStatus},
		{"In May we moved from ", " to Broad Street.", "", FormerStatus},
		{"Ancienne adresse : ", "", "", FormerStatus},
		{"Vecchio indirizzo: ", "", "", FormerStatus},
		{"Antigua dirección: ", "", "", FormerStatus},
		{"Oud adres: ", "", "", FormerStatus},
		// is there now, whatever was there
		{"Alte Schule\n", "", "", CurrentStatus},
		{"Old Post Office, ", "", "", CurrentStatus},
		{"Früher war hier die Post. Heute: ", "", "", CurrentStatus}, {"Früher: Post. Heute: Bar, ", "", "", CurrentStatus},
		{"Reents GmbH, vormals Harms KG, ", "", "", CurrentStatus},
		{"Wir sind umgezogen! Neue Adresse: ", "", "", CurrentStatus},
		{"We have moved to ", "", "", CurrentStatus},
		{"Ex libris\n", "", "", CurrentStatus},
		// has moved
		{"Reents Books\n", " (moved to Broad Street)", "", MovedStatus},
		{"Praxis Reents\n", "\nWir sind umgezogen nach Jever.", "", MovedStatus},
		{"Reents\n", "\nNous avons déménagé à Lyon.", "", MovedStatus},
		{"Reents\n", "\nWij zijn verhuisd naar Breda.", "", MovedStatus},
		{"Reents Books\n", "\nWe moved here in 1990.", "", CurrentStatus},
		{"Reents Books\n", "\nWe moved to this address in 1990.", "", CurrentStatus},
		{"Reents Books\n", "\nOpen daily. The museum moved to Jever.", "", CurrentStatus},
	} {
		v := parse(t, p, Input{Text: test.before + street12 + test.below, Title: test.name})
		if len(v.Addresses) == 0 {
			t.Errorf("%q: no address", test.before)
			continue
		}
		a := v.Addresses[0]
		if a.Status != test.want || (a.StatusWords != "") != (a.Status != CurrentStatus) {
			t.Errorf("%q [address] %q: %v by %q, want %v (name %q, kind %q)",
				test.before, test.below, a.Status, a.StatusWords, test.want, a.Name, a.Kind)
		}
	}
}
