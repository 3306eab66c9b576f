package geoparse

import (
	"testing"

	"gazehound/geoparse/markup"
)

// Start pages and those of hours and contacts say them without the address; others may have those of a course.
func TestNotes(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const times = "<p>Öffnungszeiten<br>Mo-Fr 9-17 Uhr"
	for _, c := range []struct {
		title, host, path, body string
		want                    Notes
	}{
		{"Öffnungszeiten", "harms.example", "/zeiten", times, Notes{Hours: "Mo-Fr 09:00-17:00"}},
		{"Öffnungszeiten", "harms.example", "/zeiten", times + "<p>Tel. +49 441 123456",
			Notes{Hours: "Mo-Fr 09:00-17:00", Phone: "+49441123456"}},
		{"Trainingszeiten", "harms.example", "/zeiten", "<p>Trainer: Hanna Harms, Tel. +49 441 123456", Notes{}},
		{"Bäckerei Harms", "harms.example", "/", times,
			Notes{Hours: "Mo-Fr 09:00-17:00", Kind: "shop=bakery", Name: "Bäckerei Harms"}},
		{"Bäckerei Harms", "harms.example", "/index.php?lang=de", times,
			Notes{Hours: "Mo-Fr 09:00-17:00", Kind: "shop=bakery", Name: "Bäckerei Harms"}},
		{"Bäckerei Harms", "harms.example", "/index.php?id=7", times, Notes{}},
		{"Bäckerei Harms", "harms.example", "/kurse", times, Notes{}},
		{"Bäckerei Harms", "harms.example", "/", times + "<p>Nadorster Straße 12<br>26123 Oldenburg", Notes{}},
		{"Kontakt", "harms.example", "/kontakt", "<p>Tel. 0441 555012", Notes{Phone: "+49441555012"}},
		{"Kontakt", "harms.example", "/kontakt", times, Notes{Hours: "Mo-Fr 09:00-17:00"}},
		{"Harms", "harms.example", "/kontakt.html", "<p><a href='tel:0441555012'>Anruf</a><p>Tel. 0441 555013",
			Notes{Phone: "+49441555012"}},
		{"Kurse", "harms.example", "/kurse", "<p>Tel. 0441 555012", Notes{}},
		// Whose number it is is not known beside another address, a person's home among them.
		{"Impressum", "harms.example", "/impressum", "<p>Hanna Harms, privat<br>Nadorster Straße 12<br>26123 Oldenburg" +
			"<p>Tel. 0441 555012", Notes{}},
		// The domain says it, and so does each page of the site.
		{"Bäckerei Harms", "baeckerei-harms.example", "/", times,
			Notes{Hours: "Mo-Fr 09:00-17:00", Name: "Bäckerei Harms"}},
		{"Hanna Harms", "harms.example", "/", times, Notes{Hours: "Mo-Fr 09:00-17:00"}}, // a person's
	} {
		doc := markup.Parse([]byte("<title>" + c.title + "</title>" + c.body))
		in := Input{Doc: doc, Text: markup.Text(doc), Title: c.title, Host: c.host, Path: c.path, Country: "DE"}
		if got := parse(t, p, in).Notes; got != c.want {
			t.Errorf("%s on %s%s: %+v, want %+v", c.title, c.host, c.path, got, c.want)
		}
	}
}
