package geoparse

import (
	"strings"
	"testing"
)

// A street without a postcode is the town's only if nothing beside it puts it
// in another place, which the gazetteer of one town cannot know.
func TestSecondChance(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const head = "Tischlerei in Oldenburg\n"
	for text, want := range map[string]bool{
		"Nadorster Straße 12":                           true,
		"Nadorster Straße 12, Tel. 0441 12345":          true,
		"Nadorster Straße 12\nÖffnungszeiten":           true,
		"Nadorster Straße 12 in Oldenburg":              true,
		"Nadorster Straße 12, Oldenburg":                true,
		"Nadorster Straße 12, Oldenburg-Nadorst":        true,
		"Nadorster Straße 12\n99999 Oldenburg":          true, // a misprint
		"Oldenburg, Nadorster Straße 12":                true,
		"Termin: 2024 in der Nadorster Straße 12":       true,
		"Nadorster Straße 12, 05866 Dreilinden":         false,
		"Nadorster Straße 12\n05866 Dreilinden":         false,
		"Nadorster Straße 12 in 05866 Dreilinden":       false,
		"Nadorster Straße 12 (Hof)\nD-05866 Dreilinden": false,
		"Nadorster Straße 12 · 05866 Dreilinden":        false,
		"Nadorster Straße 12\nMitte\n05866 Dreilinden":  false,
		"05866 Dreilinden, Nadorster Straße 12":         false,
		"05866 Bad Linden (Mitte)\nNadorster Straße 12": false,
		"Nadorster Straße 12, Dreilinden":               false,
		"Nadorster Straße 12 in Dreilinden":             false,
		"Nadorster Straße 12 - Dreilinden":              false,
		"Nadorster Straße 12, 1234 AB Almere":           false,
		"Nadorster Straße 12\nÖsterreich":               false,
	} {
		v := parse(t, p, Input{Text: head + text})
		if v.Relevant != want {
			t.Errorf("%q: relevant %v, want %v: %+v", text, v.Relevant, want, v.Addresses)
		}
	}
}

func TestOrders(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"Sie finden uns unter der Anschrift Nadorster Straße 12 in 26123 Oldenburg.",
		"26123 Oldenburg (Nadorst), Nadorster Straße 12",
		"26123 Oldenburg - Nadorster Straße 12",
		"26123 Oldenburg\nNadorster Straße 12",
		"Nadorster Straße 12 a 26123 Oldenburg",
	} {
		v := parse(t, p, Input{Text: text})
		if len(v.Addresses) != 1 || !strings.HasPrefix(v.Addresses[0].HouseNumber, "12") || strings.HasSuffix(text, "Oldenburg") && strings.Contains(text, " a ") != strings.HasSuffix(v.Addresses[0].HouseNumber, "a") || v.Addresses[0].Postcode != "26123" || v.Addresses[0].Level != VerifiedLevel {
			t.Errorf("%q: %+v", text, v.Addresses)
		}
	}
}
