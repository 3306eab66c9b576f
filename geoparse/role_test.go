package geoparse

import "testing"

// Addresses of others are found and count, but with little confidence.
func TestThirdParty(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const address = "Nadorster Straße 12, 26123 Oldenburg"
	for text, want := range map[string]Role{
		"Webdesign: Muster Medien, " + address:                                   AgencyRole,
		"Technische Umsetzung\nMuster Medien\n" + address:                        AgencyRole,
		"Design und technische Umsetzung\nMuster Medien\n" + address:             AgencyRole,
		"Texte, Design & Hosting\nMuster Medien\n" + address:                     AgencyRole,
		"Möbel und Design\nMuster GmbH\n" + address:                              OwnRole,
		"Websiteanpassungen:\nMuster Medien\n" + address:                         AgencyRole,
		"Website by Muster Medien, " + address:                                   AgencyRole,
		"Aufsichtsbehörde: Landesbeauftragte für den Datenschutz\n" + address:    AuthorityRole,
		"Zuständige Aufsicht: Rechtsanwaltskammer Okken\n" + address:             AuthorityRole,
		"Firmenbuchgericht: Landesgericht Krems, " + address:                     AuthorityRole,
		"Hébergeur : Muster Medien, " + address:                                  AgencyRole,
		"Der Präsident des Landgerichts Oldenburg\n" + address:                   AuthorityRole,
		"Ausstellende Behörde: Stadt Oldenburg\nOrdnungsamt " + address:          AuthorityRole,
		"Umgesetzt von Muster Medien, " + address:                                AgencyRole,
		"De toezichthoudende instantie is de Commissie, " + address:              AuthorityRole,
		"Autorità di controllo: Garante, " + address:                             AuthorityRole,
		"rivolgersi al Garante per la protezione dei dati personali, " + address: AuthorityRole,
		"auprès de l’Autorité de protection des données, " + address:             AuthorityRole,
		"Erstellt mit MUSTER 3.1 -- Muster-Software,\n" + address:                AgencyRole,
		"Built with care\nMuster Boats\n" + address:                              OwnRole,
		"Site designed by\nMuster Medien\n" + address:                            AgencyRole,
		"Registergericht: Amtsgericht Oldenburg, " + address:                     AuthorityRole,
		"Registergericht: Amtsgericht Oldenburg, HRB 1\nMuster GmbH\n" + address: OwnRole,
		"Berufshaftpflichtversicherung\nMuster AG\n" + address:                   AuthorityRole,
		"Muster Webdesign GmbH\n" + address:                                      OwnRole,
		"Website: harms.example\nMuster GmbH\n" + address:                        OwnRole,
		"Website:\nhttps://www.harms.example/\nMuster GmbH\n" + address:          OwnRole,
		"Website: Muster Medien, " + address:                                     AgencyRole,
		"Webdesign: muster.example\nMuster Medien\n" + address:                   AgencyRole,
		"Verantwortlich für den Inhalt dieser Website:\nMuster AG\n" + address:   OwnRole,
		"Impressum\nDatenschutz\nKontakt\nMuster GmbH\n" + address:               OwnRole,
		"Webdesign: Muster\nWir\nüber\nuns\nund\nmehr\nMuster GmbH\n" + address:  OwnRole,
		"Schlichtungsstelle, Am Markt 1, 28195 Bremen\nMuster GmbH\n" + address:  OwnRole,
	} {
		v := parse(t, p, Input{Text: text})
		if len(v.Addresses) == 0 {
			t.Errorf("%q: nothing found", text)
			continue
		}
		a := v.Addresses[len(v.Addresses)-1]
		if a.Role != want || !v.Relevant || want.ThirdParty() != (v.Score <= confidenceWeak) {
			t.Errorf("%q: role %v, want %v; score %v, relevant %v", text, a.Role, want, v.Score, v.Relevant)
		}
	}
}
