package index

import (
	"fmt"
	"slices"
	"testing"

	"gazehound/geoparse"
)

func TestKinds(t *testing.T) {
	x := open(t)
	n := 0
	add := func(url, title, name, schema string, role geoparse.Role) {
		n++
		d := page(url, title, "de", fmt.Sprintf("{Lange Straße %d, 26122 Oldenburg|8.2140 53.1400}", n))
		d.Addresses[0].Name, d.Addresses[0].Type, d.Addresses[0].Role = name, schema, role
		put(t, x, d)
	}
	add("https://a.example/", "Kontakt", "Löwen-Apotheke", "", geoparse.OwnRole)
	add("https://b.example/", "Kontakt", "Zum Anker", "Restaurant", geoparse.OwnRole)
	add("https://c.example/", "Bäckerei Meyer in Oldenburg", "Meyer GmbH", "", geoparse.OwnRole)
	add("https://d.example/", "Restaurant Adler: Impressum", "Webmacher", "", geoparse.AgencyRole) // the title is not about the agency
	add("https://e.example/", "Grundschule", "Hotel und Restaurant Krone", "Thing", geoparse.OwnRole)
	add("https://f.example/", "Kontakt", "Stadtsparkasse", "", geoparse.OwnRole)
	r := find(t, x, Query{Facets: []Facet{ByKind}})
	want := []Value{{"restaurant", 2}, {"bakery", 1}, {"bank", 1}, {"pharmacy", 1}}
	if !slices.Equal(r.Facets[0].Values, want) {
		t.Errorf("facet %v, want %v", r.Facets[0].Values, want)
	}
	r = find(t, x, Query{Kind: []string{"restaurant"}})
	if r.Total != 2 || r.Hits[0].Kind != "restaurant" || r.Hits[1].Kind != "restaurant" {
		t.Errorf("%d restaurants: %+v", r.Total, r.Hits)
	}
	n = 0
	if err := x.Walk(t.Context(), Query{Kind: []string{"bakery"}}, func(h *Hit) error {
		if n++; h.Kind != "bakery" || h.Name != "Meyer GmbH" {
			t.Errorf("%+v", h)
		}
		return nil
	}); err != nil || n != 1 {
		t.Errorf("%d bakeries, %v", n, err)
	}
	if _, err := x.Search(t.Context(), Query{Kind: []string{"palace"}}); err == nil {
		t.Error("a kind that there is not")
	}
}

// A word that is marked begins as a word of the query does, which marks rely on.
func TestStreetWordsKeepTheirBeginning(t *testing.T) {
	if len(streetWord) == 0 {
		t.Fatal("no street words")
	}
	for word, short := range streetWord {
		if word[0] != short[0] {
			t.Errorf("%q is short for %q", short, word)
		}
	}
}
