package order

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
)

// explained returns link number i of those that the tests explain.
func explained(t *testing.T, i int) frontier.Entry {
	t.Helper()
	u, err := weburl.Parse(fmt.Sprintf("http://www.h%d.example/betriebe/%d?seite=%d", i%5, i%11, i))
	if err != nil {
		t.Fatal(err)
	}
	return frontier.Entry{URL: u, Depth: i % 9, Distance: min(i%9, i%4),
		Anchor: []string{"Kontakt", "Oldenburg Anfahrt", "Warenkorb", ""}[i%4], Around: "Tischlerei Harms"}
}

// learnExplained teaches a strategy such links.
func learnExplained(t *testing.T, s Strategy) {
	t.Helper()
	repeated := frontier.Outcome{Addresses: []string{"the footer's"}}
	for i := range 500 {
		trail := []frontier.Node{
			{Entry: explained(t, i), Outcome: repeated}, {Entry: explained(t, i+1)}, {Entry: explained(t, i+7)},
		}
		if l, ok := s.(Learner); ok {
			l.Learn(trail, i%4 == 0)
		}
	}
}

// TestExplainAddsUp explains links under every strategy: the parts add up to the
// priority that the queue keeps.
func TestExplainAddsUp(t *testing.T) {
	model := predictor.NewModel(predictor.DefaultOptions())
	learnExplained(t, Lookahead{Model: model})
	repeats := 0
	for _, name := range Names() {
		for _, prioritised := range []bool{false, true} {
			o := Options{Model: model, Stay: func(u weburl.URL) float64 { return float64(len(u.Path())%3) / 2 }}
			o.Decay, o.News, o.LimitDistance, o.Prioritised = 0.5, true, 2, prioritised
			o.Places, o.Alpha, o.Beta, o.Emphasis = []string{"Oldenburg"}, 1, 1, 1
			s, err := New(name, o)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if name == "lookahead" {
				learnExplained(t, s)
			}
			for _, p := range partsAddUp(t, name, s) {
				if p.Name == "" {
					t.Fatalf("%s: a part without a name", name)
				}
				if strings.Contains(p.Name, "repeat addresses") {
					repeats++
				}
			}
		}
	}
	if repeats == 0 {
		t.Error("no part says that addresses are repeated")
	}
}

// partsAddUp holds that the parts of each of 100 links in a queue add up to its priority, and returns
// the parts of all.
func partsAddUp(t *testing.T, name string, s Strategy) (all []Part) {
	t.Helper()
	f, err := frontier.Open(frontier.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range 100 {
		e := explained(t, i)
		e.Priority, _ = s.Score(&e)
		if _, err := f.Push(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		stored, _, err := f.Get(frontier.KeyOf(e.URL))
		if err != nil {
			t.Fatal(err)
		}
		parts := Explain(s, &stored.Entry).Parts
		sum := 0.0
		for _, p := range parts {
			sum += p.Value
		}
		if math.Abs(sum-stored.Priority) > 1e-6 { // priorities are kept as float32
			t.Fatalf("%s: %v add up to %v, the queue has %v", name, parts, sum, stored.Priority)
		}
		all = append(all, parts...)
	}
	return all
}

// TestTermsAddUp holds that where terms have log-odds, those add up to what the part is made of.
func TestTermsAddUp(t *testing.T) {
	model := predictor.NewModel(predictor.DefaultOptions())
	learner := Lookahead{Model: model}
	learnExplained(t, learner)
	for i := range 100 {
		e := explained(t, i)
		if e.Depth == 0 {
			continue
		}
		x := learner.Explain(&e).Value
		sum := 0.0
		for _, term := range x.Terms {
			sum += term.LogOdds
		}
		priority, _ := learner.Score(&e)
		if math.Abs(sum-x.LogOdds) > 1e-9 || math.Abs(1/(1+math.Exp(-sum))-priority) > 1e-9 {
			t.Fatalf("lookahead: terms add up to %v, log-odds %v, priority %v", sum, x.LogOdds, priority)
		}
		for d, depth := range (Adaptive{Nearness{1, 0.5}, model}).Explain(&e).Depths {
			sum := depth.Prior
			for _, term := range depth.Terms {
				sum += term.LogOdds
			}
			if depth.Trained && math.Abs(sum-depth.LogOdds) > 1e-9 {
				t.Fatalf("adaptive, depth %d: terms add up to %v, log-odds %v", d+1, sum, depth.LogOdds)
			}
		}
	}
}
