package predictor

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Weights yields the whole vocabulary once, with the counts that were learned.
func TestWeights(t *testing.T) {
	m := newModel(t, nil)
	for i := range 3 * 1024 {
		m.Learn([][]string{{fmt.Sprintf("path:p%d", i), "anchor:news"}}, i%3 == 0)
	}
	n := 0
	for w := range m.Weights(1, "") {
		if n++; w.Term == "anchor:news" && (w.Relevant != 1024 || w.Other != 2*1024) {
			t.Errorf("%+v", w)
		}
	}
	if want := 3*1024 + 1; n != want {
		t.Errorf("%d terms; want %d", n, want)
	}
	for range m.Weights(1, "") {
		break // ends early without harm
	}
	for _, depth := range []int{-1, 0, 2, MaxDepth + 1} {
		for w := range m.Weights(depth, "") {
			t.Errorf("depth %d knows %+v", depth, w)
		}
	}
	if got := slices.Collect(m.Weights(1, "anchor")); len(got) != 1 {
		t.Errorf("anchors = %+v", got)
	}
}

// A model does not differ from itself, the other way round the changes have
// the other sign, and every term of either model is there with its counts.
func TestDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		models := [2]*Model{}
		for i := range models {
			models[i] = NewModel(DefaultOptions())
			for _, l := range drawSamples(t) {
				models[i].Learn(l.trail, l.relevant)
			}
		}
		here, there := models[0], models[1]
		for depth := 1; depth <= MaxDepth; depth++ {
			for _, d := range Diff(here, here, depth, "", 1000) {
				if d.Change() != 0 || d.Here != d.There {
					t.Fatalf("a model differs from itself: %+v", d)
				}
			}
			terms := map[string]bool{}
			for _, m := range models {
				for w := range m.Weights(depth, "") {
					terms[w.Term] = true
				}
			}
			diff, back := Diff(here, there, depth, "", 1000), Diff(there, here, depth, "", 1000)
			if len(diff) != len(terms) || len(back) != len(diff) {
				t.Fatalf("%d and %d differences; want %d", len(diff), len(back), len(terms))
			}
			for i, d := range diff {
				if d.Here != back[i].There || d.There != back[i].Here || d.Change() != -back[i].Change() {
					t.Fatalf("%+v, and the other way round %+v", d, back[i])
				}
				if i > 0 && math.Abs(d.Change()) > math.Abs(diff[i-1].Change()) {
					t.Fatalf("%+v comes after %+v", d, diff[i-1])
				}
			}
			if len(diff) > 2 && !slices.Equal(Diff(here, there, depth, "", 2), diff[:2]) {
				t.Fatal("the first two are not the first of all")
			}
		}
	})
}
