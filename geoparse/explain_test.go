package geoparse

import (
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Mühlenweg 5, 26123 Bremen":               "the city disagrees: 26123 is Oldenburg",
		"Mühlenweg 5, 99999 Nirgendwo":            "the gazetteer has no postcode 99999",
		"Tel. 0441 10115 Berlin":                  "another number stands right before it",
		"5 Main St, Nowhere, CA 78701":            "78701 is in TX, not in CA",
		"Oldenburg\nNadorster Straße 12 in Jever": "exists in the region, but the page puts it in another place",
		"Nadorster Straße 12":                     "exists in the region, but the page does not name the place near it",
	} {
		v, rejected, err := p.Explain(t.Context(), Input{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if len(v.Addresses) != 0 || len(rejected) != 1 || rejected[0].Reason != want {
			t.Errorf("%q: addresses %v, rejected %+v; want %q", text, v.Addresses, rejected, want)
			continue
		}
		if c := rejected[0]; fold(string([]rune(text)[c.Start:c.End])) != fold(c.Text) && !strings.Contains(c.Text, ", ") {
			t.Errorf("%q: span of %+v", text, c)
		}
	}
	v := parse(t, p, Input{Text: "Nadorster Straße 12, Oldenburg\nNadorster Straße 12"})
	if len(v.Addresses) != 1 || v.Addresses[0].Name != "" {
		t.Errorf("a city is no name: %+v", v.Addresses)
	}
	for text, want := range map[string]string{
		"Nadorster Straße 12, 26123 Oldenburg": "",
		"Am Markt 5, 28195 Bremen":             "outside the region",
		"Postfach 5, 26123 Oldenburg":          "names no street",
		"Erfundener Weg 7, 26123 Oldenburg":    "the gazetteer has no street Erfundener Weg",
	} {
		v := parse(t, p, Input{Text: text})
		if len(v.Addresses) != 1 {
			t.Errorf("%q: %+v", text, v.Addresses)
			continue
		}
		if got := p.Doubt(v.Addresses[0]); got != want || (got == "") != v.Relevant {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
