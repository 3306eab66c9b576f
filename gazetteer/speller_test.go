package gazetteer

import (
	"fmt"
	"testing"
)

func TestSpeller(t *testing.T) {
	street := func(name, code, city string) Place {
		return Place{Kind: Street, Names: []string{name}, Street: name, Postcode: code, City: city, Country: "DE"}
	}
	g := Of(
		street("Mozartstraße", "26121", "Oldenburg"), street("Mozartstraße", "26131", "Oldenburg"), street("Ziegelhofstraße", "26121", "Oldenburg"),
		street("Bachstraße", "26121", "Oldenburg"), street("Lindenallee", "26121", "Oldenburg"), street("Lindenhofallee", "28195", "Bremen"),
		street("Rosenbergweg", "26121", "Oldenburg"), street("Rosenburgweg", "26121", "Oldenburg"), street("12. Querstraße", "26121", "Oldenburg"),
	)
	defer g.Close()
	s, err := NewSpeller(g)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ street, code, city, want string }{
		{"Mosartstr.", "26121", "Oldenburg", "Mozartstraße"},         // another letter
		{"Mozarstraße", "26121", "Oldenburg", "Mozartstraße"},        // one missing
		{"Moozartstraße", "26121", "Oldenburg", "Mozartstraße"},      // one too many
		{"Ziegelhfostraße", "26121", "Oldenburg", "Ziegelhofstraße"}, // two changed places
		{"Mosardstraße", "26121", "Oldenburg", ""},                   // two edits
		{"Buchstraße", "26121", "Oldenburg", ""},                     // too short
		{"Lindenhofalee", "26121", "Oldenburg", ""},                  // a street of another city
		{"Rosenbargweg", "26121", "Oldenburg", ""},                   // two fit
		{"13. Querstraße", "26121", "Oldenburg", ""},                 // a digit
		{"Mosartstraße", "26121", "", ""},                            // no city
		{"Mosartstraße", "", "Oldenburg", ""},                        // no postcode
		{"Mozartstraße", "26121", "Oldenburg", ""},                   // no misspelling
		{"", "26121", "Oldenburg", ""},
	} {
		got := ""
		if found := s.Similar(Query{Street: c.street, Postcode: c.code, City: c.city, Country: "DE"}); len(found) > 0 {
			got = found[0].Street
			if found[0].Postcode != c.code {
				t.Errorf("%s %s: street of %s", c.street, c.code, found[0].Postcode)
			}
		}
		if got != c.want {
			t.Errorf("%s, %s %s: %q, want %q", c.street, c.code, c.city, got, c.want)
		}
	}
}

func BenchmarkSimilar(b *testing.B) {
	var places []Place
	for i := range 20000 {
		name := fmt.Sprintf("%c%c%cenbergstraße %s", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26, []string{"Nord", "Süd"}[i%2])
		places = append(places, Place{Kind: Street, Names: []string{name}, Street: name, Postcode: "26121", City: "Oldenburg", Country: "DE"})
	}
	g := Of(places...)
	defer g.Close()
	s, err := NewSpeller(g)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s.Similar(Query{Street: "abzenbergstrase Süd", Postcode: "26121", City: "Oldenburg", Country: "DE"})
	}
}
