package geoparse

import (
	"slices"
	"strings"
	"testing"

	"gazehound/gazetteer"

	"github.com/paulmach/orb"
)

// twins returns a gazetteer of places that share their names, codes or streets.
func twins(t testing.TB) *gazetteer.Gazetteer {
	t.Helper()
	code := func(country, code, city, state string, lon, lat float64) gazetteer.Place {
		return gazetteer.Place{Kind: gazetteer.Postcode, Names: []string{city}, City: city, Postcode: code, State: state, Country: country, Point: orb.Point{lon, lat}, HasPoint: true}
	}
	street := func(country, name, code, city, state string, lon, lat float64) gazetteer.Place {
		return gazetteer.Place{Kind: gazetteer.Street, Names: []string{name}, Street: name, Postcode: code, City: city, State: state, Country: country, Point: orb.Point{lon, lat}, HasPoint: true, MaxNumber: 900}
	}
	g := gazetteer.Of(
		code("DE", "12345", "Neustadt", "", 10, 50), code("IT", "12345", "Neustadt", "", 11, 46),
		code("AT", "4711", "Zwillingen", "", 14, 48), code("CH", "4711", "Zwillingen", "", 8, 47), code("DK", "4711", "Zwillingen", "", 10, 56),
		code("US", "91201", "Glendale", "CA", -118.2, 34.1), code("US", "85301", "Glendale", "AZ", -112.2, 33.5),
		street("US", "Brand Boulevard", "91201", "Glendale", "CA", -118.25, 34.15), street("US", "Brand Boulevard", "85301", "Glendale", "AZ", -112.18, 33.54),
		street("DE", "Zwillingsgasse", "12345", "Neustadt", "", 10.01, 50.01),
	)
	t.Cleanup(func() { g.Close() })
	return g
}

func TestChoice(t *testing.T) {
	p, err := New(twins(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const twin = "Mühlenweg 5, 4711 Zwillingen"
	for _, c := range []struct {
		in            Input
		country, want string // a part of the State, Point or place
	}{
		{Input{Text: twin, Host: "www.muster.example.ch"}, "CH", ""},
		{Input{Text: twin, Host: "muster.at"}, "AT", ""},
		{Input{Text: twin, Lang: "da"}, "DK", ""},
		{Input{Text: twin, Host: "muster.at", Lang: "da"}, "AT", ""}, // the host before the language
		{Input{Text: twin + "\nTel. +45 12 34 56 78"}, "DK", ""},
		{Input{Text: twin + "\nTel. +45 12 34 56 78", Lang: "de", Host: "muster.ch"}, "CH", ""},
		{Input{Text: "Mühlenweg 5, CH-4711 Zwillingen", Host: "muster.at"}, "CH", ""}, // what is written before all
		{Input{Text: "Via Roma 5, 12345 Neustadt", Lang: "it"}, "IT", ""},
		{Input{Text: "Via Roma 5, 12345 Neustadt", Host: "muster.de", Lang: "it"}, "DE", ""},
		{Input{Text: "200 Brand Boulevard, Glendale, CA"}, "US", "91201"},
		{Input{Text: "200 Brand Boulevard, Glendale, AZ"}, "US", "85301"},
		{Input{Text: "200 Brand Boulevard, Glendale, Arizona 85301"}, "US", "85301"},
	} {
		v := parse(t, p, c.in)
		if len(v.Addresses) != 1 || v.Addresses[0].Country != c.country || c.want != "" && v.Addresses[0].Place.Postcode != c.want {
			t.Errorf("%+v: %+v; want %s %s", c.in, v.Addresses, c.country, c.want)
		}
	}
}

// TestChoiceOfRegion puts the region of the crawl before the host.
func TestChoiceOfRegion(t *testing.T) {
	g := twins(t)
	r, err := g.Region("4711")
	if err != nil {
		t.Skip("no region of one postcode: ", err)
	}
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	v := parse(t, p, Input{Text: "Mühlenweg 5, 4711 Zwillingen"})
	if len(v.Addresses) != 1 || !v.Addresses[0].InRegion {
		t.Errorf("%+v", v.Addresses)
	}
}

func TestExplainOthers(t *testing.T) {
	p, err := New(twins(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   Input
		want string // of a reason
	}{
		{Input{Text: "Mühlenweg 5, 4711 Zwillingen", Host: "muster.at"}, "fits as well, but Zwillingen, AT is in the country of the host or caller"},
		{Input{Text: "Mühlenweg 5, 4711 Zwillingen", Lang: "da"}, "speaks the language of the page"},
		{Input{Text: "Mühlenweg 5, 4711 Zwillingen\n+43 1 234567"}, "has the telephone prefix on the page"},
		{Input{Text: "200 Brand Boulevard, Glendale, CA"}, "another Glendale; the page names CA"},
		{Input{Text: "200 Brand Boulevard, Glendale, CA"}, "a street of the same name; the page names Glendale"},
	} {
		v, others, err := p.Explain(t.Context(), c.in)
		if err != nil || len(v.Addresses) != 1 {
			t.Fatalf("%+v: %+v, %v", c.in, v.Addresses, err)
		}
		if !slices.ContainsFunc(others, func(o Candidate) bool { return o.Other && o.Text != "" && strings.Contains(o.Reason, c.want) }) {
			t.Errorf("%+v: %+v; want %q", c.in, others, c.want)
		}
	}
}

// A line that neither a postcode nor a state proves is listed with the cities
// that could be meant.
func TestExplainWithoutCode(t *testing.T) {
	p, err := New(twins(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Office\n200 Brand Boulevard, Glendale\nTel. 5": "no postcode or state beside the city; there is a Glendale in CA US, AZ US",
		"Mühlenweg 5, Zwillingen":                       "no postcode or state beside the city; there is a Zwillingen in ",
	} {
		v, rejected, err := p.Explain(t.Context(), Input{Text: text})
		if err != nil || len(v.Addresses) != 0 || len(rejected) != 1 || !strings.HasPrefix(rejected[0].Reason, want) || !strings.Contains(text, rejected[0].Text) {
			t.Errorf("%q: %+v, %+v, %v; want %q", text, v.Addresses, rejected, err, want)
		}
	}
}

// TestMisspelt proves a street that is one letter off, where postcode and city
// agree, with less confidence.
func TestMisspelt(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	right := parse(t, p, Input{Text: "Nadorster Straße 12, 26123 Oldenburg"}).Addresses[0]
	for _, text := range []string{"Nadortser Straße 12, 26123 Oldenburg", "Nadorstr Str. 12, 26123 Oldenburg", "Nadorrster Straße 12, 26123 Oldenburg"} {
		v := parse(t, p, Input{Text: text})
		if len(v.Addresses) != 1 || v.Addresses[0].Place.ID != right.Place.ID || v.Addresses[0].Confidence >= right.Confidence || v.Addresses[0].Confidence < 0.5 || !v.Relevant {
			t.Errorf("%q: %+v", text, v.Addresses)
		}
	}
	for _, text := range []string{"Nadortsre Straße 12, 26123 Oldenburg", "Nadortser Straße 12, 26121 Oldenburg", "Nadortser Straße 12, 28195 Bremen", "Nadortser Straße, 26123 Oldenburg"} {
		if v := parse(t, p, Input{Text: text}); v.Relevant || len(v.Addresses) == 1 && v.Addresses[0].Level == VerifiedLevel {
			t.Errorf("%q: %+v", text, v.Addresses)
		}
	}
}
