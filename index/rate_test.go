package index

import (
	"slices"
	"strings"
	"testing"
)

// Importance is renewed where it is known, on disk and in the order of a search; a page of which
// nothing is known keeps its own.
func TestRate(t *testing.T) {
	dir := t.TempDir()
	x := openDir(t, dir)
	for street, importance := range map[string]float64{"Damm": 0.9, "Huntestraße": 0.5, "Lange Straße": 0.1} {
		d := page("https://a.example/"+strings.ToLower(street[:4]), street, "de", "{"+street+" 4, 26135 Oldenburg}")
		d.Importance = importance
		put(t, x, d)
	}
	const host = "https://a.example/"
	now := map[string]float64{host + "damm": 0.2, host + "hunt": 0.5002, host + "none": 1}
	err := x.Rate(t.Context(), func(url string) (float64, bool) {
		value, known := now[url]
		return value, known
	})
	if err != nil {
		t.Fatal(err)
	}
	check := func(x *Index) {
		t.Helper()
		var streets []string
		for _, h := range find(t, x, Query{Sort: Importance, Limit: 10}).Hits {
			streets = append(streets, h.Street)
		}
		if want := []string{"Huntestraße", "Damm", "Lange Straße"}; !slices.Equal(streets, want) {
			t.Errorf("by importance %q, want %q", streets, want)
		}
	}
	check(x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	check(openDir(t, dir))
}

// Importance that changes by less than a thousandth is not written.
func TestRateSame(t *testing.T) {
	r := &record{Mentions: []*mention{{Importance: 0.5}}}
	for _, c := range []struct {
		value float64
		known bool
		want  bool
	}{{0.5004, true, false}, {0.9, false, false}, {0.6, true, true}, {0.6, true, false}} {
		if got := r.rate(func(string) (float64, bool) { return c.value, c.known }); got != c.want {
			t.Errorf("%+v: changed %v", c, got)
		}
	}
}
