package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gazehound/geoparse"

	"github.com/paulmach/orb"
)

// at is a page that states one address with a name.
func at(url, title, name string, role geoparse.Role) Document {
	d := page(url, title, "de", name+"\n{Lange Straße 5, 26122 Oldenburg|8.2140 53.1400}")
	d.Addresses[0].Name, d.Addresses[0].Role = name, role
	return d
}

func sameName(a, b string) bool {
	town := []string{"oldenburg"}
	return sameWords(nameWordsOf(foldPhrase(a), town), nameWordsOf(foldPhrase(b), town))
}

func TestSameName(t *testing.T) {
	for _, same := range [][2]string{
		{"Quathamer Apotheke", "Quathamer Apotheke OHG, Oldenburg"}, {"Löwen-Apotheke", "Löwenapotheke"}, {"Tischlerei Harms GmbH & Co. KG", "TISCHLEREI HARMS"},
		{"Bäckerei Müller", "Baeckerei Mueller e.K."}, {"Müller", "Bäckerei Müller"}, {"Dr. Anna Weber", "Zahnarztpraxis Dr. Anna Weber"}, {"Stadt Oldenburg", "Stadt"}, {"GmbH", "GmbH"},
	} {
		if !sameName(same[0], same[1]) || !sameName(same[1], same[0]) {
			t.Errorf("%q and %q differ", same[0], same[1])
		}
	}
	for _, other := range [][2]string{
		{"Löwen-Apotheke", "Rosen-Apotheke"}, {"Bäckerei Müller", "Bäckerei Meyer"}, {"Sparkasse", "Café in der Alten Sparkasse"}, {"Oldenburg", "Stadtmuseum"}, {"", "Stadtmuseum"}, {"", ""},
	} {
		if sameName(other[0], other[1]) {
			t.Errorf("%q and %q are one", other[0], other[1])
		}
	}
}

// A place on its own site and in two directories is one hit, which is its own.
func TestOneHit(t *testing.T) {
	x := open(t)
	own := at("https://quathamer.example/kontakt", "Kontakt", "Quathamer Apotheke OHG, Oldenburg", geoparse.OwnRole)
	list := at("https://verzeichnis.example/apotheken", "Apotheken", "Quathamer Apotheke", geoparse.ListedRole)
	list.Addresses[0].Phone = "+494411"
	put(t, x, list, own, at("https://quathamer.example/team", "Team der Apotheke", "", geoparse.OwnRole), at("https://blau.example/q", "Blau", "Quathamer Apotheke", geoparse.ListedRole),
		// other pages of the directories
		page("https://verzeichnis.example/b", "B", "de", "B\n{Lange Straße 6, 26122 Oldenburg}"), page("https://blau.example/b", "B", "de", "B\n{Lange Straße 7, 26122 Oldenburg}"))
	r := find(t, x, Query{Text: "quathamer apotheke"})
	if r.Total != 1 {
		t.Fatalf("%q", names(r))
	}
	check := func(h Hit) {
		t.Helper()
		if h.Site != "quathamer.example" || h.Role != "own" || h.Mentions != 4 || len(h.Evidence) != 4 || h.Phone != "+494411" || len(h.Names) != 0 || !strings.HasPrefix(h.Name, "Quathamer Apotheke") || h.Kind != "amenity=pharmacy" {
			t.Errorf("%+v", h)
		}
	}
	check(r.Hits[0])
	walked := walk(t, x, Query{Filters: Filters{Host: []string{"blau.example"}}})
	h := walked[slices.IndexFunc(walked, func(h Hit) bool { return h.HouseNumber == "5" })]
	check(h)
	if sites := []string{h.Evidence[0].Site, h.Evidence[1].Site, h.Evidence[2].Site}; !slices.Equal(sites, []string{"quathamer.example", "blau.example", "verzeichnis.example"}) {
		t.Errorf("evidence of %v; want one of each site first, its own before the directories", sites)
	}
	for _, site := range []string{"quathamer.example", "blau.example", "verzeichnis.example"} {
		i := slices.IndexFunc(find(t, x, Query{Facets: []Facet{BySite}}).Facets[0].Values, func(v Value) bool { return v.Value == site })
		if r := find(t, x, Query{Filters: Filters{Host: []string{site}}}); r.Total == 0 || i < 0 || find(t, x, Query{Facets: []Facet{BySite}}).Facets[0].Values[i].Count != r.Total {
			t.Errorf("%s: %d addresses, and the facet says otherwise", site, r.Total)
		}
	}
}

// The spelling that a hit shows is that of most pages, and does not depend on the order in which they were read.
func TestSpellingOfMostPages(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"LÜCK Steuerberatung", "Lück Steuerberatung", "Lück Steuerberatung"}, "Lück Steuerberatung"},
		{[]string{"Café ROSA", "Café ROSA", "Cafe Rosa"}, "Café ROSA"},
		{[]string{"LÜCK Steuerberatung", "Lück Steuerberatung", ""}, "Lück Steuerberatung"},
	} {
		for turned := range 2 {
			x := open(t)
			for i, name := range c.names {
				url := fmt.Sprintf("https://lueck.example/%d", i)
				put(t, x, at(url, "Kontakt", name, geoparse.OwnRole))
			}
			r := find(t, x, Query{Text: "lange straße"})
			if len(r.Hits) != 1 || r.Hits[0].Name != c.want {
				t.Errorf("%q, order %d: %q, want %q", c.names, turned, names(r), c.want)
			}
			slices.Reverse(c.names)
		}
	}
}

// Where several are at one address, the hit bears the name that was asked for
// and what belongs to it, and names the others.
func TestSeveralAtOneAddress(t *testing.T) {
	x := open(t)
	bakery, pharmacy, clinic := at("https://brot.example/", "Brot", "Bäckerei Meyer", geoparse.OwnRole), at("https://rosen.example/", "Rosen", "Rosen-Apotheke", geoparse.OwnRole), at("https://praxis.example/", "Praxis", "Zahnarztpraxis Weber", geoparse.OwnRole)
	bakery.Addresses[0].Phone, pharmacy.Addresses[0].Phone = "+491", "+492"
	put(t, x, bakery, pharmacy, clinic, at("https://liste.example/", "Liste", "Rosen-Apotheke", geoparse.ListedRole))
	for _, c := range []struct {
		q                 Query
		name, kind, phone string
		others            int
	}{
		{Query{}, "Rosen-Apotheke", "amenity=pharmacy", "+492", 2}, // two sites name it
		{Query{Text: "bäckerei"}, "Bäckerei Meyer", "shop=bakery", "+491", 2},
		{Query{Text: "lange straße 5"}, "Rosen-Apotheke", "amenity=pharmacy", "+492", 2},
		{Query{Text: "zahnarztpraxis oldenburg"}, "Zahnarztpraxis Weber", "amenity=dentist", "", 2},
		{Query{Filters: Filters{Kind: []string{"bakery"}}}, "Bäckerei Meyer", "shop=bakery", "+491", 2},
		{Query{Filters: Filters{Host: []string{"praxis.example"}}}, "Zahnarztpraxis Weber", "amenity=dentist", "", 2},
	} {
		r := find(t, x, c.q)
		if r.Total != 1 {
			t.Fatalf("%+v: %d hits", c.q, r.Total)
		}
		if h := r.Hits[0]; h.Name != c.name || h.Kind != c.kind || h.Phone != c.phone || len(h.Names) != c.others || h.Mentions != 4 || h.Role != "own" {
			t.Errorf("%+v: %+v", c.q, h)
		}
	}
	kinds := find(t, x, Query{Facets: []Facet{ByKind}}).Facets[0].Values
	if want := []Value{{"amenity=dentist", 1}, {"amenity=pharmacy", 1}, {"shop=bakery", 1}}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
}

// Of sites that state nothing else, the one that is called so is the place's own, not the blog that
// mentions it.
func TestOwnSiteBearsTheName(t *testing.T) {
	x := open(t)
	put(t, x, at("https://blog.example/", "Unterwegs", "Bäckerei Müller", geoparse.OwnRole),
		at("https://www.baeckerei-mueller.example/filialen/oldenburg/kontakt", "Kontakt", "Bäckerei Müller", geoparse.OwnRole))
	if r := find(t, x, Query{}); r.Total != 1 || r.Hits[0].Site != "baeckerei-mueller.example" {
		t.Errorf("%+v", r.Hits)
	}
}

// A page for each entry makes a directory look like the site of each; one that
// states many others is not.
func TestDirectorySite(t *testing.T) {
	x := open(t)
	var entries []Document
	for i := range 30 {
		entries = append(entries, page(fmt.Sprintf("https://verzeichnis.example/eintrag-%d", i), "Eintrag", "de",
			fmt.Sprintf("Firma Nummer %d\n{Lange Straße %d, 26122 Oldenburg}", i, i+1)))
	}
	put(t, x, entries...)
	put(t, x, page("https://firma.example/", "Firma", "de", "Firma Nummer 0\n{Lange Straße 1, 26122 Oldenburg}"))
	for _, h := range walk(t, x, Query{}) {
		if own := h.HouseNumber == "1"; h.Directory == own || (h.Site == "firma.example") != own {
			t.Errorf("%+v", h)
		}
	}
}

// Of pages that fit alike, the same one is shown first however the data lie on the
// disk.
func TestTiedMentions(t *testing.T) {
	t.Parallel()
	var pages []Document
	for i := range 9 {
		pages = append(pages, at(fmt.Sprintf("https://a%d.example/", i), "Bäcker", "Bäckerei Meyer", geoparse.ListedRole))
	}
	first := slices.MinFunc(pages, func(a, b Document) int { return strings.Compare(hashOf(a.URL), hashOf(b.URL)) }).URL
	for range 2 {
		x := open(t)
		for _, d := range pages {
			put(t, x, d)
		}
		for _, q := range []Query{{Text: "meyer"}, {Text: "bäckerei meyer"}, {Text: "meyer nirgends"}, {Filters: Filters{Center: &orb.Point{8.2, 53.1}, Radius: 5000}, Text: "meyer"}} {
			if r := find(t, x, q); r.Total != 1 || r.Hits[0].Evidence[0].URL != first {
				t.Errorf("%+v: %+v, want %s first", q, r.Hits, first)
			}
		}
		slices.Reverse(pages)
	}
}

// What is in one building is one hit with its tenants, on one page after another.
func TestGroup(t *testing.T) {
	t.Parallel()
	one := open(t)
	n := 0
	for house := range 6 {
		for unit := range 4 {
			d := page(fmt.Sprintf("https://firma%d-%d.example/", house, unit), "Start", "de",
				fmt.Sprintf("{Lange Straße %d, 26122 Oldenburg|8.2140 53.1400}", house+1))
			d.Addresses[0].Name = fmt.Sprintf("Firma %d-%d", house, unit)
			if house != 5 {
				d.Addresses[0].Unit = fmt.Sprint("Etage ", unit+1)
				n++
			}
			put(t, one, d)
		}
	}
	n++ // house 6 has no floors and is one address
	q, all, pages := Query{Group: true, Limit: 2, Sort: ByName}, map[string]bool{}, 0
	for {
		r, err := one.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Hits) > 2 || r.Total != n {
			t.Fatalf("%d hits of %d, want 2 of %d", len(r.Hits), r.Total, n)
		}
		for _, h := range r.Hits {
			if want := 3; h.HouseNumber != "6" && len(h.Tenants) != want {
				t.Errorf("%s has tenants %v", h.Line(), h.Tenants)
			}
			for _, other := range append(h.Tenants, Tenant{ID: h.ID}) {
				if all[other.ID] {
					t.Errorf("%v twice", other)
				}
				all[other.ID] = true
			}
		}
		pages++
		if r.Next == "" {
			break
		}
		q.Cursor = r.Next
	}
	if len(all) != n || pages != 3 {
		t.Errorf("%d addresses on %d pages, want %d on 3", len(all), pages, n)
	}
}

// Who is reached on the same line is the same, whatever a page of its site calls it there.
func TestSamePhone(t *testing.T) {
	x := open(t)
	named := at("https://backhaus.example/impressum", "Impressum", "Backhaus Reents", geoparse.OwnRole)
	listed := at("https://backhaus.example/filialen", "Filialen", "Filiale Lange Straße", geoparse.ListedRole)
	other := at("https://backhaus.example/nachbarn", "Nachbarn", "Eiscafé Venezia", geoparse.ListedRole)
	named.Addresses[0].Phone, listed.Addresses[0].Phone, other.Addresses[0].Phone = "+494411", "+494411", "+494412"
	listed.Addresses[0].Hours, other.Addresses[0].Hours = "Mo-Fr 06:00-18:00", "Mo-Su 10:00-22:00"
	put(t, x, named, listed, other)
	r := find(t, x, Query{Text: "backhaus reents"})
	if r.Total != 1 || r.Hits[0].Hours != "Mo-Fr 06:00-18:00" {
		t.Errorf("%+v", r.Hits)
	}
}

// A name that markup gives an address is stated, though the title of the page has it and no line beside the address.
// A branch is called as the page about it says right above its address, however much stands before that, and not as
// other pages of the site.
func TestNameOfBranch(t *testing.T) {
	t.Parallel()
	const address = "\n{Lange Straße 5, 26122 Oldenburg|8.2140 53.1400}"
	x := open(t)
	own := page("https://reents.example/oldenburg", "Oldenburg Café | Lange Straße 5", "de", strings.Repeat("Termine nach Absprache. ", 8)+"\nOldenburg Café"+address)
	own.Addresses[0].Name = "Oldenburg Café"
	put(t, x, own)
	for _, path := range []string{"a", "b", "c"} {
		d := page("https://reents.example/"+path, "Reents Café | "+path, "de", "Filialen"+address)
		d.Addresses[0].Name, d.Addresses[0].Role = "Reents Café", geoparse.ListedRole
		put(t, x, d)
	}
	_, hits := hitsOf(t, x)
	if len(hits) != 1 || hits[0].Name != "Oldenburg Café" {
		t.Errorf("got %+v", hits)
	}
}

// What says only what a place is gives way to its name, on however few pages that is.
func TestNamedByItsKind(t *testing.T) {
	x := open(t)
	put(t, x, at("https://reents.example/a", "A", "The Community Centre", geoparse.OwnRole), at("https://reents.example/b", "B", "The Community Centre", geoparse.OwnRole),
		at("https://reents.example/c", "C", "Reents Lodge Community Centre", geoparse.OwnRole))
	_, hits := hitsOf(t, x)
	if len(hits) != 1 || hits[0].Name != "Reents Lodge Community Centre" || len(hits[0].Names) != 0 {
		t.Errorf("got %+v", hits)
	}
}

// Hours of which another page says a part are those that count, whichever page was read first.
func TestCompleteHours(t *testing.T) {
	x := open(t)
	for path, said := range map[string]string{"a": "Sa-Su,PH 09:00-12:00", "b": "Sa-Su,PH 09:00-12:00", "kontakt-und-anfahrt": "Mo-Fr 09:00-19:00; Sa-Su 09:00-12:00"} {
		d := at("https://reents.example/"+path, path, "Café Reents", geoparse.OwnRole)
		d.Addresses[0].Hours = said
		put(t, x, d)
	}
	_, hits := hitsOf(t, x)
	if len(hits) != 1 || hits[0].Hours != "Mo-Fr 09:00-19:00; Sa-Su 09:00-12:00" {
		t.Errorf("got %+v", hits)
	}
}

func TestNameOfMarkup(t *testing.T) {
	t.Parallel()
	const host = "https://blau.example/"
	x := open(t)
	for path, name := range map[string]string{"a": "Café Blau", "b": "Café Blau", "c": "Café Blau", "torten": "Café Blau - Torten"} {
		d := page(host+path, path+" | Café Blau", "de", "Adresse\n{Achterdiek 5, 26131 Oldenburg|8.21 53.11}\n")
		d.Addresses[0].Name, d.Addresses[0].Type = name, "CafeOrCoffeeShop"
		put(t, x, d)
	}
	_, hits := hitsOf(t, x)
	if len(hits) != 1 || hits[0].Name != "Café Blau" {
		t.Errorf("got %+v", hits)
	}
}
