package index

import (
	"fmt"
	"strings"
	"testing"

	"gazehound/geoparse"
)

// What belongs to an address is kept with it, and pages of a site add up.
func TestBelongings(t *testing.T) {
	x := open(t)
	d := page("https://harms.example/kontakt", "Kontakt", "de", "Tischlerei Harms\n{Nadorster Straße 12, 26123 Oldenburg|8.2 53.1}\n")
	d.Addresses[0].Belongings = geoparse.Belongings{Name: "Tischlerei Harms", Phone: "+4944112345", Hours: "Mo-Fr 08:00-18:00"}
	e := page("https://harms.example/impressum", "Impressum", "de", "Harms\n{Nadorster Straße 12, 26123 Oldenburg|8.2 53.1}\n")
	e.Addresses[0].Belongings = geoparse.Belongings{Email: "info@harms.example", Website: "https://www.harms.example/"}
	e.Addresses[0].Role = geoparse.ListedRole
	put(t, x, d, e)
	r := find(t, x, Query{Text: "Nadorster"})
	if len(r.Hits) != 1 {
		t.Fatalf("%d hits", len(r.Hits))
	}
	for _, h := range []*Hit{&r.Hits[0], address(t, x, r.Hits[0].ID)} {
		if h.Phone != "+4944112345" || h.Hours != "Mo-Fr 08:00-18:00" || h.Email != "info@harms.example" || h.Website != "https://www.harms.example/" || !h.Own() || h.Person || h.SiteWide {
			t.Errorf("got %+v", h)
		}
	}
}

// One place has one set of contacts, whatever is asked: those of its own site; what
// others state differently is said. Its web site is never a directory.
func TestContactsOfOnePlace(t *testing.T) {
	t.Parallel()
	x := open(t)
	const at = "Tischlerei Harms\n{Nadorster Straße 12, 26123 Oldenburg|8.2 53.1}\n"
	own := page("https://harms.example/kontakt", "Kontakt", "de", at)
	own.Addresses[0].Belongings = geoparse.Belongings{Name: "Tischlerei Harms", Phone: "+4944112345", Branch: "Werkstatt"}
	put(t, x, own)
	for i := range 30 {
		text := fmt.Sprintf("Firma %d\n{Weg %d, 26122 Oldenburg|8.21 53.1}\n", i, i+1)
		if i == 0 {
			text = "Möbel Treppen Fenster\n" + at
		}
		d := page(fmt.Sprintf("https://branchen.example/%d", i), "Branchen", "de", text)
		d.Addresses[0].Role = geoparse.ListedRole
		if i == 0 {
			d.Addresses[0].Belongings = geoparse.Belongings{
				Name: "Tischlerei Harms", Phone: "+49441999", Hours: "Mo-Fr 08:00-18:00", Website: "https://www.branchen.example/0",
			}
		}
		put(t, x, d)
	}
	for _, words := range []string{"Nadorster", "Harms", "Treppen", "branchen.example"} {
		r := find(t, x, Query{Filters: Filters{Street: []string{"Nadorster Straße"}}, Text: words})
		if len(r.Hits) != 1 {
			t.Fatalf("%q: %d hits", words, len(r.Hits))
		}
		h := r.Hits[0]
		if h.Phone != "+4944112345" || h.Hours != "Mo-Fr 08:00-18:00" || h.Website != "" || h.Branch != "Werkstatt" {
			t.Errorf("%q: phone %s, hours %s, website %s, branch %s", words, h.Phone, h.Hours, h.Website, h.Branch)
		}
		if len(h.Differs) != 1 || h.Differs[0] != "phone" {
			t.Errorf("%q: differs %q", words, h.Differs)
		}
	}
}

// The address of whoever made a site is not found by the site's own words.
func TestThirdPartyIsNotThePlace(t *testing.T) {
	x := open(t)
	d := page("https://blumen.example/impressum", "Blumen Meyer", "de", "Blumen Meyer\n{Lange Straße 5, 26122 Oldenburg|8.2 53.1}\nWebdesign: Pixel\n{Neue Straße 1, 26122 Oldenburg|8.21 53.1}\n")
	d.Addresses[1].Role = geoparse.AgencyRole
	d.Addresses[1].Name = "Pixel"
	put(t, x, d)
	r := find(t, x, Query{Text: "Blumen Meyer"})
	if len(r.Hits) == 0 || r.Hits[0].Street != "Lange Straße" {
		t.Fatalf("got %+v", r.Hits)
	}
	if r := find(t, x, Query{Text: "Pixel"}); len(r.Hits) == 0 || r.Hits[0].Name != "Pixel" || r.Hits[0].Role != "agency" {
		t.Errorf("got %+v", r.Hits)
	}
}

// Nothing that a page says of a private person is kept or shown.
func TestPrivateAddresses(t *testing.T) {
	x := open(t)
	d := page("https://verein.example/vorstand", "Verein", "de", "Blumen Meyer\n{Lange Straße 5, 26122 Oldenburg|8.2 53.1}\nTel. 1\nHanna Harms\n{Neue Straße 1, 26122 Oldenburg|8.21 53.1}\nTel. 0441 999\nhanna@mail.example\nSalon Eva\n{Alte Straße 1, 26122 Oldenburg|8.22 53.1}\n")
	d.Addresses[1].Person, d.Addresses[1].Private = true, true
	put(t, x, d)
	for _, words := range []string{"Hanna", "Harms", "hanna@mail.example", "Neue Straße"} {
		if r := find(t, x, Query{Text: words}); r.Total > 0 && !r.Relaxed {
			t.Errorf("%q finds %+v", words, r.Hits)
		}
	}
	n := 0
	if err := x.Walk(t.Context(), Filters{}, func(h *Hit) error {
		n++
		for _, e := range h.Evidence {
			if strings.Contains(e.Snippet.Text, "anna") || strings.Contains(e.Snippet.Text, "999") || strings.Contains(e.Snippet.Text, "Neue") {
				t.Errorf("snippet %q", e.Snippet.Text)
			}
		}
		return nil
	}); err != nil || n != 2 {
		t.Errorf("%d addresses, %v", n, err)
	}
}

// A footer is the address on most pages of a site, and none of a directory's
// entries; what is written again or forgotten counts once, or not at all.
func TestSiteWide(t *testing.T) {
	t.Parallel()
	x := open(t)
	const footer = "Verlag\n{Lange Straße 5, 26122 Oldenburg|8.2 53.1}\n"
	for i := range 6 {
		text := footer
		if i < 4 {
			text = fmt.Sprintf("Laden\n{Weg %d, 26122 Oldenburg|8.21 53.1}\n%s", i+1, footer)
		}
		for range 2 {
			put(t, x, page(fmt.Sprintf("https://stadt.example/%d", i), "Stadt", "de", text))
		}
	}
	put(t, x, page("https://klein.example/", "Klein", "de", "Klein\n{Gasse 1, 26122 Oldenburg|8.2 53.1}\n"))
	check := func(wide, pages int) {
		t.Helper()
		s, err := x.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if a, p, err := x.SiteWide(t.Context()); err != nil || a != wide || p != pages {
			t.Errorf("%d site-wide on %d pages, %v; want %d on %d", a, p, err, wide, pages)
		}
		n := 0
		if err := x.Walk(t.Context(), Filters{}, func(h *Hit) error {
			if h.SiteWide {
				n++
			}
			if h.SiteWide && h.Street != "Lange Straße" {
				t.Errorf("%s is site-wide", h.Line())
			}
			return nil
		}); err != nil || n != wide {
			t.Errorf("%d site-wide, %v; want %d", n, err, wide)
		}
		for _, yes := range []bool{true, false} {
			q := Query{Filters: Filters{SiteWide: &yes}}
			r, err := x.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			want := wide
			if !yes {
				want = s.Addresses - wide
			}
			walked := 0
			if err := x.Walk(t.Context(), q.Filters, func(h *Hit) error {
				walked++
				return nil
			}); err != nil || walked != want || r.Total != want {
				t.Errorf("site-wide %v: %d by search, %d by walk, %v; want %d", yes, r.Total, walked, err, want)
			}
			for _, h := range r.Hits {
				if h.SiteWide != yes {
					t.Errorf("asked for site-wide %v: %s", yes, h.Line())
				}
			}
		}
	}
	check(1, 2)
	for i := range 4 {
		if err := x.Delete(t.Context(), fmt.Sprintf("https://stadt.example/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	check(0, 0) // two pages are too few to say
}

func address(t *testing.T, x *Index, id string) *Hit {
	t.Helper()
	h, err := x.Address(id)
	if err != nil || h == nil {
		t.Fatal(h, err)
	}
	return h
}
