package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/gazetteer"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
	"pgregory.net/rapid"
)

func walk(t testing.TB, x *Index, q Query) []Hit {
	t.Helper()
	var all []Hit
	if err := x.Walk(t.Context(), q.Filters, func(h *Hit) error { all = append(all, *h); return nil }); err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return all
}

// hostsOf counts the hosts of a hit all of whose pages are shown.
func hostsOf(h *Hit) int {
	hosts := map[string]bool{}
	for _, e := range h.Evidence {
		hosts[hostOf(e.URL)] = true
	}
	return len(hosts)
}

func TestWalk(t *testing.T) {
	x := open(t)
	if got := walk(t, x, Query{}); got != nil {
		t.Errorf("an empty index has %d addresses", len(got))
	}
	put(t, x, town()...)
	later := page("https://www.harms.example/neu", "Neu", "de", "Tischlerei Harms\n{Nadorster Straße 12a, 26123 Oldenburg|8.2187 53.1526}")
	later.Fetched = day.Add(time.Hour)
	put(t, x, later)

	all := walk(t, x, Query{})
	if len(all) != 8 || !slices.IsSortedFunc(all, func(a, b Hit) int { return strings.Compare(a.ID, b.ID) }) {
		t.Errorf("%d addresses, sorted: want 8 in the order of their IDs", len(all))
	}
	i := slices.IndexFunc(all, func(h Hit) bool { return h.Site == "harms.example" })
	h := all[i]
	if h.Mentions != 4 || len(h.Evidence) != 4 || h.Evidence[0].URL != "https://www.harms.example/neu" || !h.FirstSeen.Equal(day) || !h.LastSeen.Equal(later.Fetched) {
		t.Errorf("%+v", h)
	}
	several := 0
	for _, h := range all {
		if want := hostsOf(&h); h.Hosts != want {
			t.Errorf("%s is on %d hosts, want %d", h.Line(), h.Hosts, want)
		} else if want > 1 {
			several++
		}
	}
	if several == 0 {
		t.Error("no address is on several hosts")
	}
	one, err := x.Address(h.ID)
	if err != nil || one == nil || !cmp.Equal(*one, h) {
		t.Errorf("%+v, %v; want the one of the walk", one, err)
	}
	if none, err := x.Address("0123456789abcdef"); none != nil || err != nil {
		t.Errorf("an unknown ID has %+v, %v", none, err)
	}

	// What was deleted is gone, although its ID may still be on the disk.
	for _, url := range []string{"https://www.harms.example/neu", "https://www.harms.example/kontakt", "https://www.harms.example/impressum"} {
		if err := x.Delete(t.Context(), url); err != nil {
			t.Fatal(err)
		}
	}
	if got := walk(t, x, Query{}); len(got) != 8 {
		t.Errorf("%d addresses after the removal of one", len(got))
	}
	stop := errors.New("enough")
	if err := x.Walk(t.Context(), Filters{}, func(*Hit) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error of the callback: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.Walk(ctx, Filters{}, func(*Hit) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, q := range []Filters{{Center: &orb.Point{8, 530}}, {Radius: 3}, {Street: []string{"\xff"}}, {Month: []string{"May"}}} {
		if err := x.Walk(t.Context(), q, nil); !errors.Is(err, ErrQuery) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	x.Close()
	if err := x.Walk(t.Context(), Filters{}, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// The way the data came to lie on the disk does not show.
func TestWalkOrder(t *testing.T) {
	t.Parallel()
	x, y := open(t), open(t)
	put(t, x, town()...)
	back := town()
	slices.Reverse(back)
	for _, d := range back {
		old := d
		old.Addresses = old.Addresses[:1]
		put(t, y, old, d)
	}
	if diff := cmp.Diff(walk(t, x, Query{}), walk(t, y, Query{})); diff != "" {
		t.Error(diff)
	}
}

// A walk and a search with the same filters find the same addresses.
func TestWalkFilters(t *testing.T) {
	t.Parallel()
	x := open(t)
	put(t, x, town()...)
	lon, lat := rapid.Float64Range(8.17, 8.24), rapid.Float64Range(53.13, 53.16)
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		maybe := func(of ...string) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(of), 0, 2, rapid.ID[string]).Draw(t, "filter")
		}
		q := Query{Filters: Filters{
			Street:   maybe("Lange Str.", "nadorster strasse", "Kein Weg"),
			Postcode: maybe("26122", "26 123", "26999"),
			Host:     maybe("harms.example", "www.Harms.example.", "verzeichnis.example", "a.example"),
			Located:  rapid.Bool().Draw(t, "located"),
		}}
		if rapid.Bool().Draw(t, "box") {
			q.Box = &orb.Bound{Min: orb.Point{lon.Draw(t, "x"), lat.Draw(t, "y")}, Max: orb.Point{lon.Draw(t, "x"), 53.16}}
			if rapid.IntRange(0, 9).Draw(t, "wide") == 9 {
				q.Box.Min, q.Box.Max = orb.Point{8.2, 53.1}, orb.Point{8.17, 53.2} // around the earth, but for a gap
			}
		}
		if rapid.Bool().Draw(t, "circle") {
			q.Center, q.Radius = &orb.Point{lon.Draw(t, "x"), lat.Draw(t, "y")}, rapid.Float64Range(1, 3000).Draw(t, "r")
		}
		var want, got []string
		search := q
		search.Limit = 100
		r, err := x.Search(context.Background(), search)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range r.Hits {
			want = append(want, h.ID)
		}
		slices.Sort(want)
		if err := x.Walk(context.Background(), q.Filters, func(h *Hit) error { got = append(got, h.ID); return nil }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("walk finds %v, search %v", got, want)
		}
		found += len(got)
	})
	if found == 0 {
		t.Error("no query found anything")
	}
}

// An address on more pages than a hit shows still has its whole history.
func TestWalkManyMentions(t *testing.T) {
	x := open(t)
	var docs []Document
	for i := range 3 * maxRead {
		d := page(fmt.Sprintf("https://a.example/seite-%03d", 3*maxRead-i), "Seite", "de", "Laden\n{Lange Straße 5, 26122 Oldenburg|8.214 53.14}")
		d.Fetched = day.Add(time.Duration(i) * time.Hour)
		d.Addresses[0].Precision = gazetteer.StreetPrecision
		docs = append(docs, d)
	}
	put(t, x, docs...)
	h := walk(t, x, Query{})[0]
	if h.Mentions != 3*maxRead || !h.FirstSeen.Equal(day) || !h.LastSeen.Equal(day.Add(time.Duration(3*maxRead-1)*time.Hour)) || h.Evidence[0].URL != "https://a.example/seite-001" || len(h.Evidence) != maxEvidence {
		t.Errorf("%+v", h)
	}
}

// Every page that states an address is walked, however many do.
func TestPages(t *testing.T) {
	x := open(t)
	want := map[string]bool{}
	var docs []Document
	for n := range 3 * maxRead {
		d := page(fmt.Sprintf("https://www.harms.example/%d", n), "Harms", "de", "Tischlerei Harms\n{Nadorster Straße 12a, 26123 Oldenburg|8.2187 53.1526}")
		want[d.URL] = true
		docs = append(docs, d)
	}
	put(t, x, docs...)
	got := map[string]bool{}
	if err := x.Pages(t.Context(), func(url string) { got[url] = true }); err != nil || !maps.Equal(got, want) {
		t.Errorf("%d of %d pages, %v", len(got), len(want), err)
	}
}

// Pages of an answer by distance go on behind the addresses that have no coordinate.
func TestByDistanceToTheEnd(t *testing.T) {
	x := open(t)
	put(t, x, town()...)
	for i := range 5 {
		put(t, x, page(fmt.Sprintf("https://ohne%d.example/", i), "Ohne", "de", fmt.Sprintf("Verein\n{Hauptstraße %d, 26131 Oldenburg}", i+10)))
	}
	q := Query{Filters: Filters{Center: &orb.Point{8.2, 53.14}}, Sort: Distance, Limit: 3}
	seen := map[string]bool{}
	last := 0.0
	for {
		r := find(t, x, q)
		for _, h := range r.Hits {
			if h.HasPoint && (h.Distance < last || len(seen) >= 7) {
				t.Errorf("%s is %v metres away, after one at %v", h.Line(), h.Distance, last)
			}
			seen[h.ID], last = true, h.Distance
		}
		if q.Cursor = r.Next; q.Cursor == "" {
			if len(seen) != r.Total || r.Total != 13 || r.Offset != 12 {
				t.Errorf("%d of %d addresses, the last page begins at %d", len(seen), r.Total, r.Offset)
			}
			return
		}
	}
}
