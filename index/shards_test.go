package index

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"gazehound/gazetteer"
	"gazehound/geoparse"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/paulmach/orb"
)

// Several indexes answer as one with all their pages would, page after page.
func TestMerge(t *testing.T) {
	t.Parallel()
	one := open(t)
	parts := []*Index{open(t), open(t), open(t)}
	docs := town()
	for i := range 60 {
		docs = append(docs, page(fmt.Sprintf("https://laden%d.example/", i), fmt.Sprintf("Laden %d", i), "de",
			fmt.Sprintf("Laden Nummer %d\n{%s %d, 26122 Oldenburg|%.4f %.4f}\nBrot und Rosen", i, []string{"Lange Straße", "Achternstraße", "Haarenstraße"}[i%3], i+1, 8.2+float64(i)/1000, 53.14+float64(i%7)/500)))
	}
	for i := range docs {
		docs[i].Importance = float64(i%5) / 5
	}
	put(t, one, docs...)
	var shares [3][]Document // a site lies in one index, as nodes have them
	for i, d := range docs {
		part := max(i-1, 0) % 3
		shares[part] = append(shares[part], d)
	}
	for i, x := range parts {
		put(t, x, shares[i]...)
	}
	all := shardsOf(parts...)
	centre := orb.Point{8.21, 53.14}
	for name, q := range map[string]Query{
		"all":          {},
		"by name":      {Sort: ByName},
		"newest":       {Sort: Newest},
		"important":    {Sort: Importance},
		"by distance":  {Filters: Filters{Center: &centre, Radius: 3000}, Sort: Distance, Facets: []Facet{ByStreet}},
		"street":       {Filters: Filters{Street: []string{"Lange Str."}}, Facets: []Facet{ByPostcode, ByCity}},
		"word":         {Text: "laden"},
		"typing error": {Text: "tischlerie"},
	} {
		t.Run(name, func(t *testing.T) {
			var want, got []string
			q.Limit = MaxLimit
			whole := find(t, one, q)
			for _, h := range whole.Hits {
				want = append(want, h.ID)
			}
			q.Limit = 7
			for offset := 0; ; {
				r, err := all.Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if r.Total != whole.Total {
					t.Errorf("%d in all, want %d", r.Total, whole.Total)
				}
				if r.Offset != offset {
					t.Errorf("offset %d, want %d", r.Offset, offset)
				}
				if offset == 0 {
					if d := cmp.Diff(whole.Facets, r.Facets, cmpopts.EquateEmpty(), cmp.Transformer("street", func(v Value) string { return fmt.Sprint(gazetteer.StreetKey(v.Value), v.Count) })); d != "" {
						t.Error(d)
					}
					if r.Relaxed != whole.Relaxed {
						t.Errorf("relaxed: %v, want %v", r.Relaxed, whole.Relaxed)
					}
				}
				for _, h := range r.Hits {
					got = append(got, h.ID)
				}
				offset += len(r.Hits)
				if q.Cursor = r.Next; q.Cursor == "" {
					break
				}
			}
			if q.Text != "" { // scores of different indexes differ a little
				slices.Sort(want)
				slices.Sort(got)
			}
			if len(want) == 0 || !slices.Equal(want, got) {
				t.Errorf("got %d hits %v, want %d %v", len(got), got, len(want), want)
			}
		})
	}

	got, zoom, err := all.Clusters(t.Context(), Query{}, 12)
	if err != nil || zoom != 12 {
		t.Fatal(zoom, err)
	}
	want, _, err := one.Clusters(t.Context(), Query{}, 12)
	if err != nil {
		t.Fatal(err)
	}
	count := func(all []Cluster) (n int) {
		for _, c := range all {
			n += c.Count
		}
		return n
	}
	if len(got) != len(want) || len(want) < 2 || count(got) != count(want) {
		t.Errorf("%d clusters of %d, want %d of %d", len(got), count(got), len(want), count(want))
	}

	suggested, err := all.Suggest("la", 10)
	if err != nil {
		t.Fatal(err)
	}
	text := func(all []Suggestion) (texts []string) {
		for _, s := range all {
			texts = append(texts, fmt.Sprint(s.Kind, s.Text, s.Count))
		}
		return texts[:min(3, len(texts))]
	}
	wanted, err := one.Suggest("la", 10)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text(wanted), text(suggested)); d != "" || len(wanted) == 0 {
		t.Error(d)
	}
}

// shardsOf returns indexes as one.
func shardsOf(parts ...*Index) *Shards {
	s := &Shards{Local: map[string]*Index{}, Limit: time.Minute}
	for i, x := range parts {
		s.Local[fmt.Sprint("part ", i)] = x
	}
	return s
}

// What indexes have of one address is one hit, as if one of them had all of its pages:
// the site of a place and a directory, and what is another's at the address.
func TestMergeUnites(t *testing.T) {
	t.Parallel()
	one := open(t)
	var parts []*Index
	for i, d := range []Document{
		at("https://verzeichnis.example/", "Liste", "Quathamer Apotheke", geoparse.ListedRole), at("https://quathamer.example/", "Start", "Quathamer Apotheke OHG", geoparse.OwnRole),
		at("https://brot.example/", "Brot", "Bäckerei Meyer", geoparse.OwnRole),
	} {
		x := open(t)
		d.Addresses[0].Phone, d.Addresses[0].Hours = []string{"", "", "+491"}[i], []string{"24/7", "", ""}[i]
		put(t, x, d)
		put(t, one, d)
		parts = append(parts, x)
	}
	all := shardsOf(parts...)
	for _, text := range []string{"", "apotheke", "meyer"} {
		q := Query{Text: text}
		r, err := all.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		want := find(t, one, q)
		if text == "meyer" { // of the pages of an index in which the address has no such word nothing is known
			if r.Total != 1 || r.Hits[0].Name != "Bäckerei Meyer" || r.Hits[0].Phone != "+491" {
				t.Errorf("%+v", r.Hits)
			}
			continue
		}
		if text == "apotheke" {
			want.Hits[0].Mentions, want.Hits[0].Hosts = 2, 2
			want.Hits[0].Evidence, want.Hits[0].Names = want.Hits[0].Evidence[:2], nil
		}
		if d := cmp.Diff(want.Hits, r.Hits, cmpopts.IgnoreFields(Hit{}, "After", "Score", "Phone"), cmpopts.EquateEmpty()); d != "" || len(r.Hits) != 1 || r.Total != 1 {
			t.Errorf("%q: %d of %d hits: %s", text, len(r.Hits), r.Total, d)
		}
	}
	id := find(t, one, Query{}).Hits[0].ID
	got, err := all.Address(id)
	if err != nil {
		t.Fatal(err)
	}
	want, err := one.Address(id)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" || want == nil {
		t.Error(d)
	}
	if h, err := all.Address("0123456789abcdef"); h != nil || err != nil {
		t.Errorf("no part has it, and it is %+v, %v", h, err)
	}
	n := 0
	if err := all.Walk(t.Context(), Filters{}, func(h *Hit) error { n += h.Mentions; return nil }); err != nil || n != 3 {
		t.Errorf("a walk meets %d pages, %v", n, err)
	}
}

// An address that several indexes have, each with another rank, is on one page
// only, with the pages of all, and counts once.
func TestMergeCountsOnce(t *testing.T) {
	t.Parallel()
	one := open(t)
	parts := []*Index{open(t), open(t), open(t)}
	var docs []Document
	var shares [3][]Document
	for i := range 90 {
		street := fmt.Sprintf("%s %d", []string{"Lange Straße", "Achternstraße", "Haarenstraße"}[i%3], i/3+1)
		for k := range 1 + i%4 { // up to four pages, on different sites
			d := page(fmt.Sprintf("https://seite%d-%d.example/", i, k), fmt.Sprintf("Laden %d", i), "de",
				fmt.Sprintf("Laden Nummer %d%s\n{%s, 26122 Oldenburg|%.4f %.4f}\nBrot und Rosen", i, []string{"", " Laden", " am Markt mit Kaffee und Kuchen", ""}[k], street, 8.2+float64(i)/1000, 53.14+float64(i%7)/500))
			docs = append(docs, d)
			shares[(i+k)%3] = append(shares[(i+k)%3], d)
		}
	}
	put(t, one, docs...)
	for i, x := range parts {
		put(t, x, shares[i]...)
	}
	centre := orb.Point{8.21, 53.14}
	for name, c := range map[string]struct {
		q      Query
		sample int
	}{
		"all":                   {Query{}, MaxSample},
		"word":                  {Query{Text: "laden"}, MaxSample},
		"two words":             {Query{Text: "laden kaffee", Facets: []Facet{ByStreet}}, MaxSample},
		"by distance":           {Query{Filters: Filters{Center: &centre}, Sort: Distance}, MaxSample},
		"by name":               {Query{Sort: ByName}, MaxSample},
		"more than a sample is": {Query{}, 30},
	} {
		t.Run(name, func(t *testing.T) {
			q := c.q
			all := find(t, one, q)
			q.Limit, q.Sample = 7, c.sample
			seen := map[string]bool{}
			for pages := 0; ; pages++ {
				r, err := shardsOf(parts...).Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				exact := c.sample == MaxSample
				if r.Approx == exact || exact && r.Total != all.Total || !exact && (r.Total < all.Total*2/3 || r.Total > all.Total*3/2) {
					t.Errorf("%d in all, an estimate: %v; want %d", r.Total, r.Approx, all.Total)
				}
				for _, h := range r.Hits {
					if seen[h.ID] {
						t.Errorf("%s twice", h.Line())
					}
					seen[h.ID] = true
					want, err := one.Address(h.ID)
					if err != nil || want == nil || h.Mentions != want.Mentions && name != "two words" { // of which a page of another index may have one
						t.Fatalf("%s on %d pages, want %d, %v", h.Line(), h.Mentions, want.Mentions, err)
					}
				}
				if q.Cursor = r.Next; q.Cursor == "" || pages > 100 {
					break
				}
			}
			if len(seen) != all.Total || all.Total < 20 {
				t.Errorf("%d addresses, want %d", len(seen), all.Total)
			}
		})
	}
	if _, err := one.Search(t.Context(), Query{Only: make([]string, MaxLimit+1)}); !errors.Is(err, ErrQuery) {
		t.Error(err)
	}
	if _, err := one.Search(t.Context(), Query{Sample: MaxSample + 1}); !errors.Is(err, ErrQuery) {
		t.Error(err)
	}
	if r := find(t, one, Query{Text: "laden", Only: []string{"none"}}); r.Total != 0 {
		t.Errorf("%d addresses of none", r.Total)
	}
}
