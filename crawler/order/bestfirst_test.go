package order_test

import (
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
)

// A link that names the place comes before any that does not.
func TestBestFirst(t *testing.T) {
	for _, c := range []struct {
		url, anchor string
		places      []string
		byURL, by   bool // named in the URL, in the words
	}{
		{"http://www.stadt-oldenburg.example/", "Rathaus", []string{"Oldenburg"}, true, false},
		{"http://a.example/", "Firmen in OLDENBURG (Oldb)", []string{"Oldenburg"}, false, true},
		{"http://losangelesguide.example/x", "guide", []string{"Los Angeles"}, true, false},
		{"http://a.example/los/angeles", "in Los Angeles, CA", []string{"Los Angeles"}, true, true},
		{"http://a.example/salem-massachusetts?q=ulm", "Jerusalem", []string{"Ulm"}, true, false},
		{"http://a.example/resultulmx", "Jerusalem", []string{"Ulm"}, false, false},
		{"http://a.example/", "", []string{"", "!"}, false, false},
	} {
		u, err := weburl.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		for _, anchor := range []bool{false, true} {
			s := order.BestFirst{Near: order.Nearness{Weight: 0.5, Decay: 0.5}, Places: c.places, Anchor: anchor}
			priority, keep := s.Score(&frontier.Entry{URL: u, Anchor: c.anchor, Depth: 3, Distance: 2})
			want := 0.125
			if !anchor && c.byURL || anchor && c.by {
				want = 0.625
			}
			if priority != want || !keep {
				t.Errorf("%s %q, anchor %v: %v, %v; want %v", c.url, c.anchor, anchor, priority, keep, want)
			}
		}
	}
}
