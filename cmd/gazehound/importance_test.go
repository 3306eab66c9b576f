package main

import (
	"path/filepath"
	"slices"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/index"
	"gazehound/predictor"
	"gazehound/predictor/topic"
)

// The importance of a fetched page, equation 5 of Ahmadi-Abkenari & Selamat with the text of
// the page, goes to the index with it, and a search can order by it (figure 7, line 37).
func TestImportanceOrdersSearch(t *testing.T) {
	okapi, err := topic.NewOkapi([]string{"bread"}, topic.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	model := predictor.NewModel(predictor.DefaultOptions())
	stay := map[string]float64{"/read": 0.9, "/bread-and-read": 0.9}
	o := order.Options{Model: model, Topic: okapi, Stay: func(u weburl.URL) float64 { return stay[u.Path()] }}
	o.Decay, o.Alpha, o.Beta, o.Emphasis = 0.5, 0.5, 0.5, 1
	trend, err := order.New("trend", o)
	if err != nil {
		t.Fatal(err)
	}
	x, err := index.Open(filepath.Join(t.TempDir(), "index"))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	sink := newIndexSink(x, trend)
	// One word that is the whole topic has a scaled Okapi of 1/2: I is 0, 0.25, 0.45 and 0.7.
	for i, p := range []struct{ path, text string }{
		{"/read", "nothing"}, {"/dull", "nothing"}, {"/bread-and-read", "bread"}, {"/bread", "bread"},
	} {
		u, err := weburl.Parse("http://a.example" + p.path)
		if err != nil {
			t.Fatal(err)
		}
		v := &crawler.Visit{Entry: frontier.Entry{URL: u}, Page: &page.Page{URL: u, Text: p.text},
			Response: &page.Response{URL: u, Status: 200}}
		v.Verdict = geoparse.Verdict{Relevant: true, Addresses: []geoparse.Address{{Street: p.path[1:], HouseNumber: "1",
			Postcode: "43101", City: "Demostadt", Country: "DE", InRegion: true, Confidence: float64(i) / 10}}}
		trend.(order.PageRater).Read(&v.Outcome, p.text)
		if err := sink.Visit(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	r, err := x.Search(t.Context(), index.Query{Sort: index.Importance})
	if err != nil {
		t.Fatal(err)
	}
	var streets []string
	for _, h := range r.Hits {
		streets = append(streets, h.Street)
	}
	if want := []string{"bread-and-read", "read", "bread", "dull"}; !slices.Equal(streets, want) {
		t.Errorf("by importance %q, want %q", streets, want)
	}
}
