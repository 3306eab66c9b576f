package predictor

import (
	"slices"
	"strings"
	"testing"
)

// In another region the words of a model count a quarter, its hosts, rates and weights nothing.
func TestAbroad(t *testing.T) {
	t.Parallel()
	home := newModel(t, nil)
	good := Link{Host: "town.example", Path: "/club/imprint", Anchor: "legal notice"}
	bad := Link{Host: "news.example", Path: "/sport/match", Anchor: "our match"}
	for range 40 {
		for _, l := range []Link{good, bad} {
			terms := Terms(l)
			home.LearnValue(l, terms, map[string]float64{good.Host: 1}[l.Host])
			home.Learn([][]string{terms}, l == good)
		}
	}
	abroad := home.Abroad()
	terms := abroad.value.terms
	if i := slices.IndexFunc(terms.terms, ofHost); i >= 0 {
		t.Errorf("%s is known in another region", terms.terms[i])
	}
	known, relevant, other := terms.resolve([]string{"anchor:notice", "anchor:match"})
	if known[0] != "anchor:notice" || relevant[0] != 10*quanta || other[1] != 10*quanta {
		t.Errorf("%s: %v relevant, %v other quanta of 40 links; want %d", known, relevant, other, 10*quanta)
	}
	if abroad.value.weights != warm() || abroad.value.all.Pages != 0 || abroad.value.hosts.Len() != 0 || abroad.value.shapes.Len() != 0 {
		t.Error("weights or rates went along")
	}
	elsewhere := func(l Link) Link {
		l.Host = "elsewhere.example"
		return l
	}
	if a, b := abroad.Value(elsewhere(good)), abroad.Value(elsewhere(bad)); a < 2*b {
		t.Errorf("values %v and %v: the words did not go along", a, b)
	}
	if p := abroad.Score([]string{"anchor:notice"})[0]; p < 0.5 {
		t.Errorf("depth 1 predicts %v for a word of relevant pages only", p)
	}
	if home.Stats().Depths[0].Terms == 0 || len(home.value.terms.terms) <= len(terms.terms) {
		t.Error("the model at home has lost terms")
	}
}

func TestExampleAbroad(t *testing.T) {
	t.Parallel()
	l := Link{Host: "town.example", Path: "/club/imprint", Anchor: "notice"}
	e := Example{Link: l, Trail: [][]string{Terms(l)}, Relevant: true}
	got := e.Abroad()
	if text := strings.Join(got.Trail[0], " "); strings.Contains(text, "town.example") || !strings.Contains(text, "path:imprint") {
		t.Errorf("terms %s", text)
	}
	if got.Link.Host == l.Host || !got.Relevant || !slices.Contains(e.Trail[0], "host:town.example") {
		t.Errorf("example %+v of %+v", got, e)
	}
}
