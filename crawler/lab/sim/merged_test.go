package sim_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gazehound/crawler/lab/sim"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
	"gazehound/predictor/topic"
)

// breadWeb records four pages, of which three have bread and one has cake, and returns two as seeds.
func breadWeb(t *testing.T) (archive *warc.Archive, seeds []weburl.URL) {
	t.Helper()
	var recorded strings.Builder
	for _, p := range [][2]string{
		{"/a", "bread <a href=/c>x</a> <a href=/d>y</a>"}, {"/b", "bread cake"}, {"/c", "bread bread"}, {"/d", "stone"},
	} {
		body := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>" + p[1]
		fmt.Fprintf(&recorded, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example%s\r\n"+
			"WARC-Date: 2026-11-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:6a1b3c0%s-0000-4000-8000-000000000000>\r\n"+
			"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", p[0], p[0][1:], len(body), body)
	}
	file := filepath.Join(t.TempDir(), "web.warc")
	if err := os.WriteFile(file, []byte(recorded.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	archive, err := warc.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { archive.Close() })
	for _, path := range []string{"/a", "/b"} {
		u, err := weburl.Parse("http://a.example" + path)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, u)
	}
	return archive, seeds
}

// With the collection as published, Okapi counts the pages of the run: after all four, of which one
// has cake, a text with it has ln((4 − 1 + ½)/(1 + ½)) = ln(7/3) where k1 = 2, b = 0 and k2 = 1; with
// no page counted it has 1.
func TestCrawledCollection(t *testing.T) {
	archive, seeds := breadWeb(t)
	for collection, want := range map[string]float64{"crawled": math.Log(7.0 / 3), "topics": 1} {
		label := sim.WithText(func(*page.Page) (sim.Page, error) { return sim.Page{Relevant: true}, nil })
		w, err := sim.FromWARC(t.Context(), "web", archive, seeds, label)
		if err != nil {
			t.Fatal(err)
		}
		okapi, err := topic.NewOkapi([]string{"bread", "cake"}, topic.Options{K1: 2, K2: 1})
		if err != nil {
			t.Fatal(err)
		}
		o := order.Options{Settings: order.Settings{Decay: 0.5, TrendSettings: order.TrendSettings{Alpha: 1, Emphasis: 1}},
			Model: predictor.NewModel(predictor.DefaultOptions()), Topic: okapi}
		o.Collection = collection
		trend, err := order.New("trend", o)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := sim.Run(t.Context(), w, trend, sim.Options{}); err != nil || r.Pages != 4 {
			t.Fatalf("%d pages, %v", r.Pages, err)
		}
		if got := okapi.Score(okapi.Read("cake")); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: cake has %v, want %v", collection, got, want)
		}
	}
}

// Equation 7 by hand: the pages of two seeds are one document with f = 2 for bread and 1 for cake;
// of the four pages three have bread and one has cake.
func TestMergeSeeds(t *testing.T) {
	archive, seeds := breadWeb(t)
	o := topic.Options{K1: 2, B: 0, K2: 1, NegativeIDF: true}
	okapi, err := sim.MergeSeeds(t.Context(), archive, seeds, o)
	if err != nil {
		t.Fatal(err)
	}
	label := sim.Rated(func(*page.Page) (sim.Page, error) { return sim.Page{Relevant: true}, nil }, okapi)
	w, err := sim.FromWARC(t.Context(), "web", archive, seeds, label)
	if err != nil {
		t.Fatal(err)
	}
	part := func(df, inPage, inSeeds float64) float64 {
		return math.Log((4-df+0.5)/(df+0.5)) * 3 * inPage / (2 + inPage) * 2 * inSeeds / (1 + inSeeds)
	}
	want := map[string]float64{"/a": part(3, 1, 2), "/b": part(3, 1, 2) + part(1, 1, 1), "/c": part(3, 2, 2), "/d": 0}
	// A trace of the web keeps it.
	var kept bytes.Buffer
	if err := w.WriteTrace(t.Context(), &kept, nil); err != nil {
		t.Fatal(err)
	}
	traced, _, err := sim.ReadTrace(&kept, "trace", nil)
	if err != nil {
		t.Fatal(err)
	}
	traced.Each(func(_ int32, p sim.Page) {
		if math.Abs(p.Relevancy-want[p.URL.Path()]) > 1e-12 {
			t.Errorf("in a trace %s: %v, want %v", p.URL, p.Relevancy, want[p.URL.Path()])
		}
	})
	mean, pages := 0.0, 0
	w.Each(func(_ int32, p sim.Page) {
		if pages++; math.Abs(p.Relevancy-want[p.URL.Path()]) > 1e-12 {
			t.Errorf("%s: %v, want %v", p.URL, p.Relevancy, want[p.URL.Path()])
		}
		mean += want[p.URL.Path()] / 4
	})
	r, err := sim.Run(t.Context(), w, order.BreadthFirst{}, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Relevancy(4); pages != 4 || math.Abs(got-mean) > 1e-12 {
		t.Errorf("mean of %d pages %v, want %v", pages, got, mean)
	}
}
