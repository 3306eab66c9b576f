package geoparse

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"gazehound/geoparse/markup"
	"gazehound/geoparse/place"
)

// Hostile names, numbers and markup: what is kept of them is short, on one line and
// without characters that turn or hide what stands beside it.
func TestBadNames(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const stated = `"address":{"@type":"PostalAddress","streetAddress":"Nadorster Str. 12","postalCode":"26123","addressLocality":"Oldenburg"}}</script>`
	long := strings.Repeat("Blumen ", 1500)
	for name, html := range map[string]string{
		"name of 10 kB":          "<h1>" + long + "</h1><p>" + long + "<br>Nadorster Straße 12<br>26123 Oldenburg</p>",
		"stated name of 10 kB":   `<script type="application/ld+json">{"@type":"Store","name":"` + long + `",` + stated,
		"title of 10 kB":         "<title>" + long + "</title><p>Nadorster Straße 12<br>26123 Oldenburg</p>",
		"right to left":          "<title>Blumen \u202eMeyer</title><p>Blumen \u202eMeyer\u202c GmbH<br>Nadorster Straße 12<br>26123 Oldenburg</p>",
		"stated right to left":   `<script type="application/ld+json">{"@type":"Store","name":"Blumen \u202eMeyer",` + stated,
		"control characters":     "<p>Blumen\x01\x1b[31m Meyer\x7f GmbH<br>Nadorster Straße 12<br>26123 Oldenburg</p>",
		"stated control":         `<script type="application/ld+json">{"@type":"Store","name":"Blumen\u0007\u001b Meyer\u0000\nGmbH",` + stated,
		"phone of 200 digits":    "<p>Blumen Meyer GmbH<br>Nadorster Straße 12<br>26123 Oldenburg<br>Tel. " + strings.Repeat("4", 200) + "</p>",
		"stated phone of digits": `<script type="application/ld+json">{"@type":"Store","name":"Blumen Meyer","telephone":"` + strings.Repeat("4", 200) + `",` + stated,
		"markup contradicts": "<p>Blumen Meyer GmbH<br>Nadorster Straße 12<br>26123 Oldenburg<br>Tel. 0441 123456</p>" +
			`<script type="application/ld+json">{"@type":"Store","name":"Casino","telephone":"0900 1 123456",` + stated +
			`<script type="application/ld+json">{"@type":"Person","name":"Hanna Harms",` + stated,
	} {
		in := Input{Doc: markup.Parse([]byte(html)), Host: "www.blumen-meyer.example"}
		in.Text, in.Title = markup.Text(in.Doc), markup.Read(in.Doc).Title
		v := parse(t, p, in)
		if len(v.Addresses) != 1 {
			t.Errorf("%s: %d addresses", name, len(v.Addresses))
			continue
		}
		a := v.Addresses[0]
		for _, text := range []string{a.Name, a.Branch, a.Phone, a.Hours, a.Website} {
			if utf8.RuneCountInString(text) > place.MaxName || strings.ContainsFunc(text, isUnfit) {
				t.Errorf("%s: %q", name, text)
			}
		}
		if strings.Contains(name, "phone") && a.Phone != "" {
			t.Errorf("%s: %s", name, a.Phone)
		}
	}
}

// isUnfit reports whether a character hides, turns or breaks what it stands in.
func isUnfit(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// A page of 10,000 blocks is read in bounded time.
func TestManyBlocks(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "<div><h3>Firma %d</h3><p>Nadorster Straße 12<br>26123 Oldenburg<br>Tel. 0441 %06d</p></div>", i, i)
	}
	in := Input{Doc: markup.Parse([]byte(b.String()))}
	in.Text = markup.Text(in.Doc)
	start := time.Now()
	v := parse(t, p, in)
	if len(v.Addresses) != 1 {
		t.Errorf("%d addresses", len(v.Addresses))
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}
