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
	add := func(name, kind string) {
		n++
		d := page(fmt.Sprintf("https://%c.example/", 'a'+n), "Kontakt", "de", fmt.Sprintf("{Lange Straße %d, 26122 Oldenburg|8.2140 53.1400}", n))
		d.Addresses[0].Name, d.Addresses[0].Kind = name, kind
		put(t, x, d)
	}
	add("Zum Anker", "amenity=restaurant cuisine=italian")
	add("Krone", "amenity=restaurant")
	add("Meyer GmbH", "shop=bakery")
	add("Dr. Harms", "amenity=dentist")
	add("Museum für Zahnärzte", "tourism=museum")
	r := find(t, x, Query{Facets: []Facet{ByKind}})
	want := []Value{{"amenity=restaurant", 2}, {"amenity=dentist", 1}, {"amenity=restaurant cuisine=italian", 1}, {"shop=bakery", 1}, {"tourism=museum", 1}}
	if !slices.Equal(r.Facets[0].Values, want) {
		t.Errorf("facet %v, want %v", r.Facets[0].Values, want)
	}
	for filter, want := range map[string]int{"amenity=restaurant": 2, "Restaurant": 2, "italienisches Restaurant": 1, "shop": 1, "boulangerie": 1} {
		if r := find(t, x, Query{Filters: Filters{Kind: []string{filter}}}); r.Total != want {
			t.Errorf("kind %q: %d hits, want %d", filter, r.Total, want)
		}
	}
	for _, text := range []string{"dentist", "Zahnarzt", "dentiste", "Zahnärzte", "tandarts", "dentist Oldenburg"} {
		if r := find(t, x, Query{Text: text}); r.Total == 0 || r.Hits[0].Name != "Dr. Harms" || r.Relaxed {
			t.Errorf("%q: %+v", text, r.Hits)
		}
	}
	n = 0
	if err := x.Walk(t.Context(), Filters{Kind: []string{"bakery"}}, func(h *Hit) error {
		if n++; h.Kind != "shop=bakery" || h.Name != "Meyer GmbH" {
			t.Errorf("%+v", h)
		}
		return nil
	}); err != nil || n != 1 {
		t.Errorf("%d bakeries, %v", n, err)
	}
	if _, err := x.Search(t.Context(), Query{Filters: Filters{Kind: []string{"palace"}}}); err == nil {
		t.Error("a kind that there is not")
	}
}

// One page of a club shows an association, another says of what.
func TestAssociationSaysLess(t *testing.T) {
	x := open(t)
	start := at("https://luftsport.example/", "Start", "Nordlichter Okken", geoparse.OwnRole)
	imprint := at("https://luftsport.example/impressum", "Impressum", "Nordlichter Okken", geoparse.OwnRole)
	start.Addresses[0].Kind, imprint.Addresses[0].Kind = "office=association", "club=sport"
	put(t, x, start, imprint)
	other := at("https://luftsport.example/aufsicht", "Aufsicht", "Luftamt Reents", geoparse.OwnRole) // says nothing of it
	other.Addresses[0].Kind = "office=government"
	put(t, x, other)
	if r := find(t, x, Query{}); r.Total != 1 || r.Hits[0].Kind != "club=sport" {
		t.Errorf("%+v", r.Hits)
	}
	imprint.Addresses[0].Kind = "office=association"
	put(t, x, imprint)
	if r := find(t, x, Query{}); r.Total != 1 || r.Hits[0].Kind != "office=association" {
		t.Errorf("%+v", r.Hits)
	}
}
