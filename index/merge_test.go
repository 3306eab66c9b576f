package index

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"gazehound/gazetteer"
	"gazehound/geoparse"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/paulmach/orb"
)

// Several indexes answer as one with all their pages would, page after page.
func TestMerge(t *testing.T) {
	one := open(t)
	parts := []*Index{open(t), open(t), open(t)}
	docs := town()
	for i := range 60 {
		docs = append(docs, page(fmt.Sprintf("https://laden%d.example/", i), fmt.Sprintf("Laden %d", i), "de",
			fmt.Sprintf("Laden Nummer %d\n{%s %d, 26122 Oldenburg|%.4f %.4f}\nBrot und Rosen", i, []string{"Lange Straße", "Achternstraße", "Haarenstraße"}[i%3], i+1, 8.2+float64(i)/1000, 53.14+float64(i%7)/500)))
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
	search := func(q Query) *Result {
		var results []*Result
		for _, x := range parts {
			r, err := x.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		return Merge(q, results...)
	}
	centre := orb.Point{8.21, 53.14}
	for name, q := range map[string]Query{
		"all":          {},
		"by name":      {Sort: ByName},
		"newest":       {Sort: Newest},
		"by distance":  {Center: &centre, Radius: 3000, Sort: Distance, Facets: []Facet{ByStreet}},
		"street":       {Street: []string{"Lange Str."}, Facets: []Facet{ByPostcode, ByCity}},
		"word":         {Text: "laden"},
		"typing error": {Text: "tischlerie"},
	} {
		t.Run(name, func(t *testing.T) {
			var want, got []string
			q.Limit = MaxLimit
			all, err := one.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range all.Hits {
				want = append(want, h.ID)
			}
			q.Limit = 7
			for offset := 0; ; {
				r := search(q)
				if r.Total != all.Total {
					t.Errorf("%d in all, want %d", r.Total, all.Total)
				}
				if r.Offset != offset {
					t.Errorf("offset %d, want %d", r.Offset, offset)
				}
				if offset == 0 {
					if d := cmp.Diff(all.Facets, r.Facets, cmpopts.EquateEmpty(), cmp.Transformer("street", func(v Value) string { return fmt.Sprint(gazetteer.StreetKey(v.Value), v.Count) })); d != "" {
						t.Error(d)
					}
					if r.Relaxed != all.Relaxed {
						t.Errorf("relaxed: %v, want %v", r.Relaxed, all.Relaxed)
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

	var clusters [][]Cluster
	for _, x := range parts {
		c, zoom, err := x.Clusters(t.Context(), Query{}, 12)
		if err != nil || zoom != 12 {
			t.Fatal(zoom, err)
		}
		clusters = append(clusters, c)
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
	if got := MergeClusters(12, clusters...); len(got) != len(want) || len(want) < 2 || count(got) != count(want) {
		t.Errorf("%d clusters of %d, want %d of %d", len(got), count(got), len(want), count(want))
	}

	var suggestions [][]Suggestion
	for _, x := range parts {
		s, err := x.Suggest("la", 10)
		if err != nil {
			t.Fatal(err)
		}
		suggestions = append(suggestions, s)
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
	if d := cmp.Diff(text(wanted), text(MergeSuggestions("la", 10, suggestions...))); d != "" || len(wanted) == 0 {
		t.Error(d)
	}
}

// An address of one site that two indexes have is one hit with the pages of
// both.
func TestMergeUnites(t *testing.T) {
	var results []*Result
	var addresses []*Hit
	for _, d := range town()[:2] {
		x := open(t)
		put(t, x, d)
		r, err := x.Search(t.Context(), Query{})
		if err != nil || len(r.Hits) != 1 {
			t.Fatal(r, err)
		}
		h, err := x.Address(r.Hits[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		results, addresses = append(results, r), append(addresses, h)
	}
	r := Merge(Query{}, results...)
	if len(r.Hits) != 1 || r.Total != 1 || r.Hits[0].Mentions != 2 || len(r.Hits[0].Evidence) != 2 || r.Hits[0].Hosts != hostsOf(&r.Hits[0]) {
		t.Errorf("%+v", r)
	}
	if h := MergeAddress(nil, addresses[0], addresses[1]); h == nil || h.Mentions != 2 || h.Hosts != hostsOf(h) {
		t.Errorf("%+v", h)
	}
	if h := MergeAddress(nil, nil); h != nil {
		t.Errorf("nobody has it, and it is %+v", h)
	}
}

// The site of a place and a directory that lie in two indexes are one hit: its
// own, with the pages of both; what is another's at the address stays apart.
func TestMergeNames(t *testing.T) {
	var parts []*Result
	for i, d := range []Document{
		at("https://verzeichnis.example/", "Liste", "Quathamer Apotheke", geoparse.ListedRole), at("https://quathamer.example/", "Start", "Quathamer Apotheke OHG", geoparse.OwnRole),
		at("https://brot.example/", "Brot", "Bäckerei Meyer", geoparse.OwnRole),
	} {
		x := open(t)
		d.Addresses[0].Phone, d.Addresses[0].Hours = []string{"", "", "+491"}[i], []string{"24/7", "", ""}[i]
		put(t, x, d)
		parts = append(parts, find(t, x, Query{}))
	}
	r := Merge(Query{}, parts...)
	if len(r.Hits) != 1 || r.Total != 1 {
		t.Fatalf("%q", names(r))
	}
	h := r.Hits[0]
	bakery := h.Name == "Bäckerei Meyer"
	if h.Role != "own" || h.Mentions != 3 || len(h.Evidence) != 3 || len(h.Names) != 1 || (h.Phone == "+491") != bakery || (h.Hours == "24/7") == bakery {
		t.Errorf("%+v", h)
	}
}

// An address that several indexes have, each with another rank, is on one page
// only, with the pages of all, and counts once.
func TestMergeCountsOnce(t *testing.T) {
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
		"by distance":           {Query{Center: &centre, Sort: Distance}, MaxSample},
		"by name":               {Query{Sort: ByName}, MaxSample},
		"more than a sample is": {Query{}, 30},
	} {
		t.Run(name, func(t *testing.T) {
			q := c.q
			all := find(t, one, q)
			ask := func(q Query) (results []*Result) {
				for _, x := range parts {
					results = append(results, find(t, x, q))
				}
				return results
			}
			q.Limit, q.Sample = 7, c.sample
			seen := map[string]bool{}
			for pages := 0; ; pages++ {
				r := Merge(q, ask(q)...)
				exact := c.sample == MaxSample
				if r.Approx == exact || exact && r.Total != all.Total || !exact && (r.Total < all.Total*2/3 || r.Total > all.Total*3/2) {
					t.Errorf("%d in all, an estimate: %v; want %d", r.Total, r.Approx, all.Total)
				}
				if len(r.Hits) > 0 {
					whole := q
					whole.Cursor, whole.Facets, whole.Sample, whole.Limit = "", nil, 0, len(r.Hits)
					for _, h := range r.Hits {
						whole.Only = append(whole.Only, h.ID)
					}
					Complete(q, r, ask(whole)...)
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
