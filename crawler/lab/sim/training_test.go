package sim_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/order"
	"gazehound/predictor"
)

// signposts returns a web whose first page has so many links "contact" to relevant pages and "archive"
// to others.
func signposts(t *testing.T, host string, of int) *sim.Web {
	t.Helper()
	var links, pages []string
	for i := range of {
		for _, word := range []string{"archive", "contact"} {
			url := fmt.Sprintf("http://%s.example/%d%c", host, i, word[0])
			links = append(links, fmt.Sprintf(`["%s","%s"]`, url, word))
			pages = append(pages, fmt.Sprintf(`{"url":"%s","page":true,"relevant":%v}`, url, word == "contact"))
		}
	}
	first := fmt.Sprintf("http://%s.example/", host)
	return trace(t, append([]string{
		fmt.Sprintf(`{"gazehound_trace":1,"seeds":["%s"]}`, first),
		fmt.Sprintf(`{"url":"%s","page":true,"links":[%s]}`, first, strings.Join(links, ",")),
	}, pages...)...)
}

// Trained on another web, where "contact" led to the 4 relevant pages of 9, adaptive takes the three of
// this web first; without, it begins with any of six equal links.
func TestTrainOnAnotherWeb(t *testing.T) {
	model := predictor.NewModel(predictor.DefaultOptions())
	r, err := sim.Train(t.Context(), signposts(t, "a", 4), model, sim.Options{})
	if err != nil || r.Pages != 9 || r.Found(9) != 4 {
		t.Fatalf("trained on %+v, %v", r, err)
	}
	untrained := func(predictor.Parts) (*predictor.Model, error) {
		return predictor.NewModel(predictor.DefaultOptions()), nil
	}
	found := map[bool]int{}
	for _, trained := range []bool{true, false} {
		o := sim.OrderOptions{Settings: order.Settings{Decay: 0.5}, Model: untrained}
		if trained {
			o.Trained = model
		}
		orders, err := o.Orders([]string{"adaptive"})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(8) {
			s, err := orders[0].New(nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := sim.Run(t.Context(), signposts(t, "b", 3), s, sim.Options{Pages: 2, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			found[trained] += r.Found(2)
		}
	}
	if found[true] != 8 || found[false] == 8 {
		t.Errorf("of 8 first links %d led to a relevant page trained, and %d untrained", found[true], found[false])
	}
}

// The log of a crawl is a web of its own: of a chain of 20, in which only the second page is relevant,
// hard-focused visits 4, and they are the web of its log.
func TestLogOfACrawl(t *testing.T) {
	w := chain(t, 20, func(i int) bool { return i == 1 })
	o := sim.Options{Visited: map[frontier.Key]bool{}}
	r := run(t, w, "hard-focused", o)
	if r.Pages != 4 { // the seed, its two links, and of the relevant one's links one more
		t.Fatalf("%d pages", r.Pages)
	}
	var log bytes.Buffer
	if err := w.WriteTrace(t.Context(), &log, o.Visited); err != nil {
		t.Fatal(err)
	}
	logged, _, err := sim.ReadTrace(&log, "log", nil)
	if err != nil || logged.Pages() != 4 || logged.Relevant() != 1 || w.Pages() != 20 {
		t.Errorf("the log has %d pages and %d relevant ones of %d, %v", logged.Pages(), logged.Relevant(), w.Pages(), err)
	}
}

// Of six links between four pages the two on the relevant page lead to a relevant one once, the three
// on others once; a link out of the web counts nowhere. One of the two links to relevant pages stands on one.
func TestLocality(t *testing.T) {
	w := trace(t, head,
		`{"url":"http://a.example/0","page":true,"relevant":true,"links":[["http://a.example/1"],["http://a.example/2"]]}`,
		`{"url":"http://a.example/1","page":true,"relevant":true}`,
		`{"url":"http://a.example/2","page":true,"links":[["http://a.example/1"],["http://a.example/3"],["http://b.example/"]]}`,
		`{"url":"http://a.example/3","page":true,"links":[["http://a.example/2"]]}`)
	if got, want := w.Locality(), (sim.Locality{Relevant: 1.0 / 2, Others: 1.0 / 3, From: 1.0 / 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
