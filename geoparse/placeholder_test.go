package geoparse

import "testing"

// What a template leaves to its user is no address; nor is a town above its postcode a street.
func TestPlaceholders(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Firma Meyer\nMusterstraße 1\n26123 Oldenburg":              "none",
		"Firma Meyer\nMusterstr. 12a, 26123 Oldenburg":              "none",
		"Ihre Straße 5\n26123 Oldenburg":                            "none",
		"Acme Shop\n123 Main Street\nIrvine, CA 92617":              "none",
		"Acme Shop\n1 Example Road\nIrvine, CA 92617":               "none",
		"Acme Shop\n125 Main Street\nIrvine, CA 92617":              "Main Street",
		"Standorte\nOldenburg\n26123 Oldenburg\nWir gründen gerade": "",
		"Hofladen\nOldenburg 7\n26123 Oldenburg":                    "Oldenburg",
		"Firma Meyer\nMustermannstraße 1\n26123 Oldenburg":          "Mustermannstraße",
	} {
		got := "none"
		if v := parse(t, p, Input{Text: text}); len(v.Addresses) == 1 {
			got = v.Addresses[0].Street
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if v := parse(t, p, Input{Text: "123 Main Street, Irvine, CA 92617", Country: "US"}); len(v.Addresses) != 1 {
		t.Errorf("a line of a list: %+v", v.Addresses)
	}
}
