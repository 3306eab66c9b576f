package index

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gazehound/geoparse"
)

// streetTown has two pages with two houses of one street, a house with its
// number on another street, and a number in a text that is no house.
func streetTown(t *testing.T) *Index {
	t.Helper()
	x, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	for i, p := range []struct {
		street, code, city, before string
		numbers                    []string
	}{
		{"Lange Straße", "26122", "Oldenburg", "Wir sind 99 Leute", []string{"5", "12a"}},
		{"Lange Straße", "26122", "Oldenburg", "Café", []string{"5"}},
		{"Lange Straße", "67655", "Kaiserslautern", "Laden", []string{"77"}},
		{"Stau", "26122", "Oldenburg", "Hafen", []string{"88"}},
		{"5th Ave", "26122", "Oldenburg", "Import", []string{"1"}},
	} {
		d := Document{URL: fmt.Sprintf("https://seite%d.example/", i), Title: "Seite", Text: p.before}
		for _, n := range p.numbers {
			text := fmt.Sprintf("%s %s, %s %s", p.street, n, p.code, p.city)
			start := len([]rune(d.Text)) + 1
			d.Text += "\n" + text
			d.Addresses = append(d.Addresses, geoparse.Address{Text: text, Start: start, End: start + len([]rune(text)), Street: p.street, HouseNumber: n, Postcode: p.code, City: p.city, Country: "DE", Level: geoparse.StreetLevel, Confidence: 0.9, InRegion: true})
		}
		if err := x.Put(context.Background(), d); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

func TestKnownStreet(t *testing.T) {
	t.Parallel()
	x := streetTown(t)
	for _, c := range []struct {
		text             string
		street, number   string // "": nothing is to be said
		rest             string
		pages, addresses int
	}{
		{text: "Lange Straße 99", street: "Lange Straße", number: "99", pages: 3, addresses: 3},
		{text: "langestr. 99", street: "Lange Straße", number: "99", pages: 3, addresses: 3},
		{text: "Lange Str. 12 b", street: "Lange Straße", number: "12b", pages: 3, addresses: 3},
		{text: "Lange Straße 99, 26122 Oldenburg", street: "Lange Straße", number: "99", rest: "Lange Straße 26122 Oldenburg", pages: 2, addresses: 2},
		{text: "Lange Straße 77, 26122 Oldenburg", street: "Lange Straße", number: "77", rest: "Lange Straße 26122 Oldenburg", pages: 2, addresses: 2},
		{text: "99 stau", street: "Stau", number: "99", pages: 1, addresses: 1},
		{text: "5th Ave 9", street: "5th Ave", number: "9", pages: 1, addresses: 1},
		{text: "Lange Straße 88", street: "Lange Straße", number: "88", pages: 3, addresses: 3},
		{text: "Lange Straße 5"},
		{text: "lange straße 12 A"},
		{text: "Lange Straße"},
		{text: "Lange Straße 26122"},
		{text: "26122 Oldenburg"},
		{text: "Neue Straße 99"},
		{text: "Oldenburg 99"},
		{text: "café 99"},
		{text: "Wir sind 99 Leute"},
		{text: "99"},
		{text: "1 2 3 4 5 6 7"},
		{text: ", ; \u00a0"},
		{text: ""},
	} {
		r, err := x.Search(context.Background(), Query{Text: c.text})
		if err != nil {
			t.Fatal(err)
		}
		got, err := KnownStreet(context.Background(), x.Search, c.text, r)
		if err != nil {
			t.Fatal(err)
		}
		want := StreetOnly{c.street, c.number, c.rest, c.pages, c.addresses}
		if c.street == "" {
			if got != nil {
				t.Errorf("%q: %v", c.text, got)
			}
			continue
		}
		if got == nil || *got != want {
			t.Errorf("%q: %+v instead of %+v", c.text, got, want)
			continue
		}
		if found, err := x.Search(context.Background(), Query{Filters: Filters{Street: []string{got.Street}}, Text: got.Text}); err != nil || found.Total < got.Addresses {
			t.Errorf("%q: the search for the street has %d of %d addresses: %v", c.text, found.Total, got.Addresses, err)
		}
	}
}

// What keeps a search from being answered is said, and a bounded number of
// searches is made.
func TestKnownStreetBounds(t *testing.T) {
	broken := errors.New("broken")
	if _, err := KnownStreet(context.Background(), func(context.Context, Query) (*Result, error) { return nil, broken }, "Stau 9", &Result{}); !errors.Is(err, broken) {
		t.Error(err)
	}
	asked := 0
	search := func(context.Context, Query) (*Result, error) { asked++; return &Result{}, nil }
	if o, err := KnownStreet(context.Background(), search, "1 2 3 4 5 6 7 8 9 10 11", &Result{}); o != nil || err != nil || asked > maxTried {
		t.Errorf("%v, %v after %d searches", o, err, asked)
	}
}
