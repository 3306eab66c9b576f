package predictor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// recorded is a crawl of a made-up town: imprints are relevant, and the links
// to them often say so.
func recorded(pages int, seed uint64) []Example {
	random := rand.New(rand.NewPCG(seed, 3))
	examples := make([]Example, pages)
	for i := range examples {
		relevant := random.IntN(8) == 0
		word := "news"
		if relevant != (random.IntN(5) == 0) {
			word = "impressum"
		}
		link := func(anchor string) []string {
			return Terms(Link{Host: fmt.Sprintf("h%d.example", random.IntN(50)), Path: "/" + anchor, Anchor: anchor})
		}
		examples[i] = Example{Trail: [][]string{link(word), link("portal")}[:random.IntN(3)], Relevant: relevant}
	}
	return examples
}

func sequence(examples []Example) iter.Seq2[Example, error] {
	return func(yield func(Example, error) bool) {
		for _, e := range examples {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func learnAll(t *testing.T, examples []Example) *Model {
	m := newModel(t, nil)
	for _, e := range examples {
		m.Learn(e.Trail, e.Relevant)
	}
	return m
}

func TestRetrainReplacesABadModel(t *testing.T) {
	examples := recorded(2000, 1)
	bad := newModel(t, nil) // has learned the opposite
	for _, e := range examples {
		bad.Learn(e.Trail, !e.Relevant)
	}
	before := bad.Stats()
	m, r, err := Retrain(t.Context(), sequence(examples), bad, DefaultOptions(), ByDepths)
	if err != nil {
		t.Fatal(err)
	}
	same(t, m, learnAll(t, examples)) // also the part that was held out
	if !slices.Equal(bad.Stats().Depths, before.Depths) {
		t.Errorf("the old model changed from %+v to %+v", before, bad.Stats())
	}
	c := r.Depths[0]
	if !r.Better || !c.Ranked || c.New.AUC < 0.7 || c.Old.AUC > 0.3 || c.New.LogLoss >= c.BaseLoss || c.New.LogLoss >= c.Old.LogLoss {
		t.Errorf("report\n%v", r)
	}
	if r.Pages != 2000 || r.HeldOut != 400 || len(r.Depths) != DefaultDepths || r.Depths[2].Ranked {
		t.Errorf("report %+v", r)
	}
	if text := r.String(); !strings.Contains(text, "of which the last 400 (") || !strings.HasPrefix(r.Reason, "it orders held-out links better") {
		t.Errorf("report reads, because %q\n%s", r.Reason, text)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// TestRetrainIsFair retrains on the very crawl that taught the old model: the
// pages that it has already seen give it no lead, and the new one is the same.
func TestRetrainIsFair(t *testing.T) {
	examples := recorded(2000, 2)
	old := learnAll(t, examples)
	_, r, err := Retrain(t.Context(), sequence(examples), old, DefaultOptions(), ByDepths)
	if err != nil {
		t.Fatal(err)
	}
	for d, c := range r.Depths {
		if c.New != c.Old {
			t.Errorf("depth %d: new %+v, old %+v; want equals", d+1, c.New, c.Old)
		}
	}
	if r.Better || !strings.HasSuffix(r.Reason, "; 0.001 more AUC is required") {
		t.Errorf("a model like the old one is called better: %v, %s", r.Better, r.Reason)
	}
}

// TestRetrainForgetsAll holds out every link of a kind that the old model knows: it is left with
// words that it has seen, and no word in all.
func TestRetrainForgetsAll(t *testing.T) {
	for pages := range 60 {
		examples := recorded(pages+2, 5)
		for i := range examples {
			examples[i].Relevant = examples[i].Relevant || i < len(examples)/2
		}
		_, r, err := Retrain(t.Context(), sequence(examples), learnAll(t, examples), DefaultOptions(), ByDepths)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(r); err != nil { // it refuses NaN
			t.Errorf("%d pages: %v", pages+2, err)
		}
	}
}

func TestRetrainWithoutOldModel(t *testing.T) {
	_, r, err := Retrain(t.Context(), sequence(recorded(500, 3)), nil, DefaultOptions(), ByDepths)
	if err != nil || !r.Better || r.HasOld {
		t.Errorf("report %v, error %v; want better than none", r, err)
	}
}

func TestRetrainCannotTell(t *testing.T) {
	for _, test := range []struct {
		name     string
		relevant bool
		pages    int
	}{{"no relevant page", false, 100}, {"only relevant pages", true, 100}, {"one page", true, 1}} {
		t.Run(test.name, func(t *testing.T) {
			examples := recorded(test.pages, 4)
			for i := range examples {
				examples[i].Relevant = test.relevant
			}
			m, r, err := Retrain(t.Context(), sequence(examples), learnAll(t, nil), DefaultOptions(), ByDepths)
			if err != nil || m == nil || r.Better || !strings.Contains(r.Reason, "cannot be compared") {
				t.Errorf("report %v, error %v", r, err)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
			if table := r.String(); regexp.MustCompile(`value +0\.0000 +0\.0000`).MatchString(table) {
				t.Errorf("one kind alone is ranked:\n%s", table)
			}
		})
	}
}

func TestFirstHeldOut(t *testing.T) {
	verdicts := func(pages int, relevant ...int) []bool {
		vs := make([]bool, pages)
		for _, i := range relevant {
			vs[i] = true
		}
		return vs
	}
	ten := []int{70, 71, 72, 73, 74, 75, 76, 77, 78, 79}
	for _, c := range []struct {
		name     string
		verdicts []bool
		want     int
	}{
		{"no page", nil, 0},
		{"one page", verdicts(1, 0), 1},
		{"the last fifth has ten of each kind", verdicts(100, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89), 80},
		{"the relevant ones came before", verdicts(100, ten...), 70},
		{"they came in the first half", verdicts(200, ten...), 100},
		{"there is none", verdicts(100), 50},
	} {
		if got := firstHeldOut(c.verdicts); got != c.want {
			t.Errorf("%s: %d; want %d", c.name, got, c.want)
		}
	}
}

func TestRetrainErrors(t *testing.T) {
	if _, _, err := Retrain(t.Context(), sequence(nil), nil, DefaultOptions(), ByDepths); !errors.Is(err, ErrNoExamples) {
		t.Errorf("no examples: %v", err)
	}
	broken := errors.New("tree is broken")
	_, _, err := Retrain(t.Context(), func(yield func(Example, error) bool) {
		_ = yield(Example{}, nil) && yield(Example{}, broken)
	}, nil, DefaultOptions(), ByDepths)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "page 2") {
		t.Errorf("broken sequence: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Retrain(ctx, sequence(recorded(10, 5)), nil, DefaultOptions(), ByDepths); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A model that never learned, as after a crawl by another order, gives way to one that did: what
// orders the queue decides.
func TestRetrainByValue(t *testing.T) {
	examples := recorded(2000, 6)
	for i := range examples {
		if len(examples[i].Trail) > 0 {
			anchor := "news"
			if strings.Contains(strings.Join(examples[i].Trail[0], " "), "anchor:impressum") {
				anchor = "ovens" // no word that a model knows from the beginning
			}
			l := Link{Host: "h.example", Path: "/" + anchor, Anchor: anchor, Distance: 1}
			examples[i].Link, examples[i].Trail[0] = l, Terms(l)
		}
	}
	o := DefaultOptions()
	_, r, err := Retrain(t.Context(), sequence(examples), newModel(t, nil), o, ByValue)
	if err != nil || !r.Better || !strings.Contains(r.Reason, "by their value") {
		t.Errorf("%v, better %v: %s", err, r.Better, r.Reason)
	}
	if r.Value.New.AUC <= r.Value.Old.AUC || r.Value.Links == 0 {
		t.Errorf("value: %+v", r.Value)
	}
}
