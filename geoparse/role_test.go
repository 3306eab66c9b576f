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
	for text, want := range map[string]bool{
		"Webdesign: Muster Medien, " + address:                                  true,
		"Technische Umsetzung\nMuster Medien\n" + address:                       true,
		"Website by Muster Medien, " + address:                                  true,
		"Aufsichtsbehörde: Landesbeauftragte für den Datenschutz\n" + address:   true,
		"Berufshaftpflichtversicherung\nMuster AG\n" + address:                  true,
		"Muster Webdesign GmbH\n" + address:                                     false,
		"Impressum\nDatenschutz\nKontakt\nMuster GmbH\n" + address:              false,
		"Webdesign: Muster\nWir\nüber\nuns\nund\nmehr\nMuster GmbH\n" + address: false,
		"Schlichtungsstelle, Am Markt 1, 28195 Bremen\nMuster GmbH\n" + address: false,
	} {
		v := parse(t, p, Input{Text: text})
		if len(v.Addresses) == 0 {
			t.Errorf("%q: nothing found", text)
			continue
		}
		a := v.Addresses[len(v.Addresses)-1]
		if a.ThirdParty != want || !v.Relevant || want != (v.Score <= confidenceWeak) {
			t.Errorf("%q: third party %v, want %v; score %v, relevant %v", text, a.ThirdParty, want, v.Score, v.Relevant)
		}
	}
}
