package index

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gazehound/geoparse"
)

// houseSite has a house, whose hours stand on a page of their own, and its founder's
// home, which two of three pages do not show to be one.
func houseSite() []Document {
	const host = "https://haus-hunte.example/"
	house := page(host+"anfahrt", "Anfahrt", "de", "Haus Hunte\n{Achterdiek 5, 26131 Oldenburg|8.21 53.11}\n")
	house.Addresses[0].Name = "Haus Hunte"
	imprint := page(host+"impressum", "Impressum", "de", "Gründer: Okka Grote\n{Lerchenweg 16, 26131 Oldenburg|8.22 53.12}\n")
	imprint.Addresses[0].Private, imprint.Addresses[0].Home = true, true
	board := page(host+"vorstand", "Vorstand", "de", "Haus Hunte\n{Lerchenweg 16, 26131 Oldenburg|8.22 53.12}\n"+
		"Haus am Deich\n{Achterdiek 5, 26131 Oldenburg|8.21 53.11}\n")
	board.Addresses[0].Name = "Haus Hunte"
	history := page(host+"chronik", "Chronik", "de", "Haus Hunte\n{Lerchenweg 16, 26131 Oldenburg|8.22 53.12}\n")
	times := Document{URL: host + "zeiten", Title: "Zeiten", Fetched: day, Notes: geoparse.Notes{Hours: "Tu 18:00-21:00", Phone: "+4944155501"}}
	start := Document{URL: host, Title: "Start", Fetched: day, Notes: geoparse.Notes{Kind: "tourism=hostel"}}
	return []Document{house, imprint, board, history, times, start}
}

// hitsOf returns all addresses as JSON.
func hitsOf(t testing.TB, x *Index) (all []string, hits []Hit) {
	t.Helper()
	if err := x.Walk(t.Context(), Filters{}, func(h *Hit) error {
		text, err := json.Marshal(h)
		all, hits = append(all, string(text)), append(hits, *h)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all, hits
}

// What the welcome page says is more than that an imprint ends in "e.V.".
func TestStartPageGoesBeforeAssociation(t *testing.T) {
	t.Parallel()
	for stated, want := range map[string]string{association: "tourism=hostel", "tourism=hotel": "tourism=hotel"} {
		pages := houseSite()
		pages[0].Addresses[0].Kind = stated
		x := open(t)
		put(t, x, pages...)
		_, hits := hitsOf(t, x)
		if len(hits) != 1 || hits[0].Kind != want {
			t.Errorf("%s: %+v, want %s", stated, hits, want)
		}
	}
}

// Who is at an address that no page of the host names is whom its start page names, if no other place of the host
// has a name.
func TestNameOfStartPage(t *testing.T) {
	t.Parallel()
	const host = "https://haus-hunte.example/"
	at := func(path, address, name string) Document {
		d := page(host+path, "Kontakt", "de", "Adresse:\n{"+address+"|8.21 53.11}\n")
		d.Addresses[0].Name = name
		return d
	}
	nameless, start := at("kontakt", "Achterdiek 5, 26131 Oldenburg", ""), Document{URL: host, Title: "Haus Hunte", Fetched: day,
		Notes: geoparse.Notes{Name: "Haus Hunte"}}
	other := at("anfahrt", "Lerchenweg 16, 26131 Oldenburg", "")
	sponsor := at("sponsoren", "Lerchenweg 16, 26131 Oldenburg", "")
	named := at("impressum", "Lerchenweg 16, 26131 Oldenburg", "Verein Hunte")
	for _, c := range []struct {
		pages []Document
		want  []string
	}{
		{[]Document{nameless, start}, []string{"Haus Hunte"}},
		{[]Document{start, nameless, other}, []string{"Haus Hunte", "Haus Hunte"}},
		{[]Document{nameless, start, named}, []string{"", "Verein Hunte"}},
		{[]Document{named, other, start}, []string{"Verein Hunte"}},
		{[]Document{sponsor, start}, []string{""}},
	} {
		x := open(t)
		for _, d := range c.pages {
			put(t, x, d)
		}
		_, hits := hitsOf(t, x)
		var got []string
		for _, h := range hits {
			got = append(got, h.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%d pages: %q, want %q", len(c.pages), got, c.want)
		}
		if c.want[0] != "" {
			if r := find(t, x, Query{Text: c.want[0]}); len(r.Hits) != len(c.want) {
				t.Errorf("%q finds %d addresses, want %d", c.want[0], len(r.Hits), len(c.want))
			}
		}
	}
}

// The pages of a host give one picture, in whatever order and in whatever batches they come.
func TestOnePictureOfASite(t *testing.T) {
	t.Parallel()
	var want string
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 12 {
		x := open(t)
		pages := houseSite()
		random.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
		pages = append(pages, pages[random.IntN(len(pages))]) // a repeated visit changes nothing
		for from := 0; from < len(pages); {
			to := min(len(pages), from+1+random.IntN(3))
			put(t, x, pages[from:to]...)
			from = to
		}
		all, hits := hitsOf(t, x)
		if len(hits) != 1 {
			t.Fatalf("round %d: %d addresses are left, want the house", round, len(hits))
		}
		h := hits[0]
		if h.Street != "Achterdiek" || h.Hours != "Tu 18:00-21:00" || h.Phone != "+4944155501" || h.Kind != "tourism=hostel" {
			t.Fatalf("round %d: %+v", round, h)
		}
		if want == "" {
			want = all[0]
		}
		if all[0] != want {
			t.Fatalf("round %d: %s; before: %s", round, all[0], want)
		}
		if s, err := x.Stats(t.Context()); err != nil || s != (Stats{Pages: 2, Addresses: 1, Mentions: 2}) {
			t.Fatalf("round %d: %+v, %v", round, s, err)
		}
		if r := find(t, x, Query{Filters: Filters{Kind: []string{"tourism=hostel"}}}); len(r.Hits) != 1 {
			t.Fatalf("round %d: the kind of the welcome page is not searched", round)
		}
	}
}

// Of many pages with notes those with the lowest IDs are read, and others are not written, in whatever order
// they come.
func TestManyNotes(t *testing.T) {
	t.Parallel()
	house := houseSite()[0]
	var noted []Document
	for i := range 3 * maxNotes {
		d := Document{URL: fmt.Sprintf("https://haus-hunte.example/%d", i), Title: "Haus Hunte", Fetched: day}
		d.Notes = geoparse.Notes{Phone: fmt.Sprintf("+494415550%d", i%3)}
		noted = append(noted, d)
	}
	slices.SortFunc(noted, func(a, b Document) int { return strings.Compare(pageID(a.URL), pageID(b.URL)) })
	phones := map[string]int{}
	for _, d := range noted[:maxNotes] {
		phones[d.Notes.Phone]++
	}
	want := mostStated(phones)
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 4 {
		x := open(t)
		pages := slices.Clone(noted)
		if round > 0 {
			random.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
		}
		put(t, x, house)
		for _, d := range pages {
			if err := x.Put(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		if _, hits := hitsOf(t, x); len(hits) != 1 || hits[0].Phone != want {
			t.Fatalf("round %d: %+v, want phone %s", round, hits, want)
		}
		state := newCommitOf(t, x).state
		if state.Bare < maxNotes || round == 0 && state.Bare != maxNotes || state.Bare >= len(noted) {
			t.Errorf("round %d: %d of %d pages with notes are kept, %d are read",
				round, state.Bare, len(noted), maxNotes)
		}
		renewed := noted[0] // a known page is written again
		renewed.Notes.Phone = "+49441999"
		if err := x.Put(t.Context(), renewed); err != nil {
			t.Fatal(err)
		}
		if p, err := pageOf(newCommitOf(t, x).reader, pageID(renewed.URL)); err != nil || p.Notes != renewed.Notes {
			t.Errorf("round %d: %+v, %v", round, p, err)
		}
	}
}

// What other pages say goes again: with its page, and where the host has a second place.
func TestNotesAreTakenBack(t *testing.T) {
	x := open(t)
	pages := houseSite()
	put(t, x, pages...)
	if err := x.Delete(t.Context(), "https://haus-hunte.example/zeiten"); err != nil {
		t.Fatal(err)
	}
	if _, hits := hitsOf(t, x); hits[0].Hours != "" || hits[0].Kind != "tourism=hostel" {
		t.Errorf("the page of the hours is gone: %+v", hits[0])
	}
	put(t, x, pages...)
	second := page("https://haus-hunte.example/standort-halle", "Winter", "de", "Halle\n{Am Ring 9, 26131 Oldenburg|8.23 53.13}\n")
	put(t, x, second)
	_, hits := hitsOf(t, x)
	if len(hits) != 2 || hits[0].Hours+hits[1].Hours != "" || hits[0].Kind != "tourism=hostel" || hits[1].Kind != "tourism=hostel" {
		t.Errorf("whose hours are they? %+v", hits)
	}
	var many []Document
	for i := range maxSeats {
		many = append(many, page(fmt.Sprintf("https://haus-hunte.example/halle%d", i), "Halle", "de",
			fmt.Sprintf("Halle\n{Am Ring %d, 26131 Oldenburg|8.23 53.13}\n", 20+i)))
	}
	put(t, x, many...)
	if _, hits = hitsOf(t, x); len(hits) != 2+maxSeats || slices.ContainsFunc(hits, func(h Hit) bool { return h.Kind != "" }) {
		t.Errorf("of many places none has the kind of the site: %+v", hits)
	}
	for _, d := range many {
		if err := x.Delete(t.Context(), d.URL); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Delete(t.Context(), second.URL); err != nil {
		t.Fatal(err)
	}
	if _, hits = hitsOf(t, x); len(hits) != 1 || hits[0].Hours != "Tu 18:00-21:00" {
		t.Errorf("one place again: %+v", hits)
	}
	forgotten, err := x.Forget(t.Context(), func(string) bool { return true }, nil, nil)
	if err != nil || len(forgotten.Pages) != 6 {
		t.Errorf("%+v, %v", forgotten, err)
	}
	if s, err := x.Stats(t.Context()); err != nil || s != (Stats{}) {
		t.Errorf("after Forget: %+v, %v", s, err)
	}
}

// Of some places of a host, the only one with a name on a page about the place, which a list of events is not, is
// the one of its contacts; of a note's numbers, which are of several countries, the one of the place's counts.
func TestNotesOfTheNamedPlace(t *testing.T) {
	t.Parallel()
	x := open(t)
	pages := houseSite()
	pages[4].Notes.Phone = "+434415550199 +4944155501"
	second := page("https://haus-hunte.example/winter", "Winter", "de", "\n{Am Ring 9, 26131 Oldenburg|8.23 53.13}\n")
	second.Addresses[0].Name = ""
	third := page("https://haus-hunte.example/termine", "Termine", "de", "Halle\n{Am Wall 3, 26131 Oldenburg|8.24 53.14}\n")
	put(t, x, append(pages, second, third)...)
	_, hits := hitsOf(t, x)
	got := map[string]string{}
	for _, h := range hits {
		got[h.Street] = h.Phone + " " + h.Hours
	}
	want := map[string]string{"Achterdiek": "+4944155501 Tu 18:00-21:00", "Am Ring": " ", "Am Wall": " "}
	if !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Where no page of a site says who is at its address, what the titles of three and more pages share is the name.
func TestNameOfTitles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path   string
		titles []string
		want   string
	}{
		{"termine", []string{"Kontakt | Haus Hunte", "Haus Hunte – Anfahrt", "Haus Hunte"}, ""}, // a venue's?
		{"kontakt", []string{"Kontakt | Haus Hunte", "Haus Hunte – Anfahrt", "Haus Hunte"}, "Haus Hunte"},
		{"kontakt", []string{"Kontakt | Haus Hunte", "Haus Hunte"}, ""},                            // too few
		{"kontakt", []string{"Kontakt | Haus Hunte", "Haus Hunte – Anfahrt", "Willkommen"}, ""},    // not all
		{"kontakt", []string{"Kontakt | Start", "Start – Anfahrt", "Start"}, ""},                   // one word
		{"kontakt", []string{"Kontakt | Hanna Harms", "Hanna Harms – Anfahrt", "Hanna Harms"}, ""}, // a person
	} {
		x := open(t)
		for i, title := range c.titles {
			d := page(fmt.Sprintf("https://hh.example/%s%d", c.path, i), title, "de", "\n{Am Ring 9, 26131 Oldenburg|8.23 53.13}\n")
			d.Addresses[0].Name = ""
			put(t, x, d)
		}
		if _, hits := hitsOf(t, x); len(hits) != 1 || hits[0].Name != c.want {
			t.Errorf("%q: %+v, want %q", c.titles, hits, c.want)
		}
	}
}

// The number that most pages of a site state is its number; a post box beside the street makes no second card.
func TestPhoneOfMostPages(t *testing.T) {
	t.Parallel()
	x := open(t)
	var pages []Document
	for i, phone := range []string{"+4944155501", "+4944155502", "+4944155502"} {
		d := page(fmt.Sprintf("https://haus-hunte.example/%d", i), "Haus Hunte", "de",
			"Haus Hunte\n{Achterdiek 5, 26131 Oldenburg|8.21 53.11}\n")
		d.Addresses[0].Belongings = geoparse.Belongings{Name: "Haus Hunte", Phone: phone}
		pages = append(pages, d)
	}
	pages[2].Addresses[0].POBox = "149"
	put(t, x, pages...)
	_, hits := hitsOf(t, x)
	if len(hits) != 1 || hits[0].Phone != "+4944155502" {
		t.Errorf("%+v, want one card with the second number", hits)
	}
}

// Another site may state an address that a host shows to be a home.
func TestHomesOfOneHost(t *testing.T) {
	x := open(t)
	put(t, x, houseSite()...)
	shop := page("https://naeherei.example/", "Näherei Grote", "de", "Näherei Grote\n{Lerchenweg 16, 26131 Oldenburg|8.22 53.12}\n")
	put(t, x, shop)
	if _, hits := hitsOf(t, x); len(hits) != 2 {
		t.Errorf("%d addresses, want the house and the sewing shop", len(hits))
	}
}

// A site of thousands of pages with an address each costs no more for each page than a small one.
func TestSiteOfManyAddresses(t *testing.T) {
	t.Parallel()
	x := open(t)
	const pages = 5000
	var docs []Document
	for i := range pages {
		d := page(fmt.Sprintf("https://filialen.example/%d", i), "Filiale", "de",
			fmt.Sprintf("Filiale\n{Weg %d, 26122 Oldenburg|8.21 53.1}\n", i+1))
		if i%7 == 0 {
			d.Addresses[0].Private, d.Addresses[0].Home = true, true
		}
		d.Notes = geoparse.Notes{Hours: fmt.Sprintf("Mo %02d:00-%02d:30", i%24, i%24)}
		docs = append(docs, d)
	}
	for from := 0; from < pages; from += maxBatch {
		put(t, x, docs[from:from+maxBatch]...)
	}
	put(t, x, docs[1]) // alone
	c := newCommitOf(t, x)
	c.host("filialen.example")
	seats, err := c.seats("filialen.example")
	if err != nil || len(seats) != maxSeats || len(c.addresses) != maxSeats {
		t.Errorf("%d seats, %d records read, %v", len(seats), len(c.addresses), err)
	}
	if _, err := c.notes("filialen.example"); err != nil {
		t.Error(err)
	}
	if s, err := x.Stats(t.Context()); err != nil || s.Addresses != pages-(pages+6)/7 {
		t.Errorf("%+v, %v", s, err)
	}
}

func newCommitOf(t *testing.T, x *Index) *commit {
	t.Helper()
	v, err := x.latest()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return newCommit(v)
}

// One page of a site says that the place is closed for good, or was there once, and the others still have
// its address: the card says so and has no hours.
func TestStatusOfACard(t *testing.T) {
	t.Parallel()
	x := open(t)
	const host = "https://haus-hunte.example/"
	start := page(host, "Haus Hunte", "de", "Haus Hunte\n{Achterdiek 5, 26131 Oldenburg|8.21 53.11}\n")
	contact := page(host+"kontakt", "Kontakt", "de", "Haus Hunte\n{Achterdiek 5, 26131 Oldenburg|8.21 53.11}\n")
	history := page(host+"chronik", "Chronik", "de", "früher:\n{Lerchenweg 16, 26131 Oldenburg|8.22 53.12}\n")
	start.Addresses[0].Belongings = geoparse.Belongings{Name: "Haus Hunte", Status: geoparse.ClosedStatus,
		StatusWords: "endgültig geschlossen"}
	contact.Addresses[0].Belongings = geoparse.Belongings{Name: "Haus Hunte", Hours: "Mo-Fr 08:00-18:00"}
	history.Addresses[0].Belongings = geoparse.Belongings{Name: "Haus Hunte", Status: geoparse.FormerStatus,
		StatusWords: "früher"}
	put(t, x, contact, start, history)
	_, hits := hitsOf(t, x)
	got := map[string]string{}
	for _, h := range hits {
		got[h.Street] = h.Status + " " + h.StatusWords + " " + h.Hours
	}
	want := map[string]string{"Achterdiek": "closed endgültig geschlossen ", "Lerchenweg": "former früher "}
	if !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	put(t, x, page(host, "Haus Hunte", "de", "Haus Hunte\n{Achterdiek 5, 26131 Oldenburg|8.21 53.11}\n"))
	_, hits = hitsOf(t, x)
	if i := slices.IndexFunc(hits, func(h Hit) bool { return h.Street == "Achterdiek" }); hits[i].Status != "" ||
		hits[i].Hours == "" {
		t.Errorf("a page read again does not say so any more, and the card is %q, open %q", hits[i].Status, hits[i].Hours)
	}
}
