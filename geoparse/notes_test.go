package geoparse

import (
	"testing"

	"gazehound/geoparse/markup"
)

// Pages of hours and start pages say them without the address; other pages may have those of a course.
func TestNotes(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const times = "<p>Öffnungszeiten<br>Mo-Fr 9-17 Uhr"
	for _, c := range []struct {
		title, path, body string
		want              Notes
	}{
		{"Öffnungszeiten", "/zeiten", times, Notes{Hours: "Mo-Fr 09:00-17:00"}},
		{"Bäckerei Harms", "/", times, Notes{Hours: "Mo-Fr 09:00-17:00", Kind: "shop=bakery"}},
		{"Bäckerei Harms", "/kurse", times, Notes{}},
		{"Bäckerei Harms", "/", times + "<p>Nadorster Straße 12<br>26123 Oldenburg", Notes{}},
	} {
		doc := markup.Parse([]byte("<title>" + c.title + "</title>" + c.body))
		in := Input{Doc: doc, Text: markup.Text(doc), Title: c.title, Host: "harms.example", Path: c.path}
		if got := parse(t, p, in).Notes; got != c.want {
			t.Errorf("%s %s: %+v, want %+v", c.title, c.path, got, c.want)
		}
	}
}
