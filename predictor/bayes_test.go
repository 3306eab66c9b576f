package predictor

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func newModel(t testing.TB, change func(*Options)) *Model {
	t.Helper()
	o := DefaultOptions()
	if change != nil {
		change(&o)
	}
	m := NewModel(o)
	return m
}

// samples is a small crawl: a page's trail and what the page was.
type sample struct {
	trail    [][]string
	relevant bool
}

func drawSamples(t *rapid.T) []sample {
	terms := rapid.SliceOfNDistinct(rapid.SampledFrom(strings.Fields(
		"host:a host:b path:x path:y path:z anchor:one anchor:two anchor:three around:w around:v switch:yes switch:no")), 0, 6, rapid.ID)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sample {
		return sample{rapid.SliceOfN(terms, 0, 5).Draw(t, "trail"), rapid.Bool().Draw(t, "relevant")}
	}), 0, 30).Draw(t, "samples")
}

// reference is the posterior written down from the paper's equations, with the
// size of the vocabulary and one unseen term in the denominator.
func reference(samples []sample, terms []string, depth int, o Options) float64 {
	var documents, totals [2]float64
	counts := map[string]*[2]float64{}
	for _, l := range samples {
		if len(l.trail) < depth {
			continue
		}
		class := 1
		if l.relevant {
			class = 0
		}
		documents[class]++
		for _, term := range l.trail[depth-1] {
			if counts[term] == nil {
				counts[term] = new([2]float64)
			}
			counts[term][class]++
			totals[class]++
		}
	}
	if documents[0] == 0 && (depth > 1 || documents[1] == 0 || o.Posterior == Raw) {
		return 0
	}
	below := [2]float64{}
	prior := math.Log((documents[0] + 1) / (documents[1] + 1))
	for class := range below {
		below[class] = totals[class] + o.Smoothing*float64(len(counts)+1)
		if o.Laplace == LinkLaplace {
			below[class] = o.Smoothing
			for _, term := range terms {
				if n := counts[term]; n != nil {
					below[class] += n[class]
				}
			}
		}
	}
	if o.Prior == SharePrior {
		prior = math.Log(math.Max(documents[0], 1e-9) / math.Max(documents[1], 1e-9))
	}
	evidence := 0.0
	for _, term := range terms {
		n := counts[term]
		if n == nil {
			n = new([2]float64)
		}
		evidence += math.Log((n[0]+o.Smoothing)/below[0]) - math.Log((n[1]+o.Smoothing)/below[1])
	}
	if o.Posterior == Tempered && len(terms) > 0 {
		evidence /= math.Sqrt(float64(len(terms)))
	}
	return 1 / (1 + math.Exp(-prior-evidence))
}

func TestScoreIsTheEquation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := DefaultOptions()
		o.Posterior = rapid.SampledFrom([]string{Raw, Tempered}).Draw(t, "posterior")
		o.Laplace = rapid.SampledFrom([]string{VocabularyLaplace, LinkLaplace}).Draw(t, "laplace")
		o.Prior = rapid.SampledFrom([]string{SmoothedPrior, SharePrior}).Draw(t, "prior")
		o.Smoothing = rapid.Float64Range(0.01, 10).Draw(t, "smoothing")
		o.Depths = rapid.IntRange(1, MaxDepth).Draw(t, "depths")
		m := NewModel(o)
		samples := drawSamples(t)
		for _, l := range samples {
			m.Learn(l.trail, l.relevant)
		}
		terms := rapid.SliceOfNDistinct(rapid.SampledFrom(strings.Fields("host:a path:x path:q anchor:one around:w switch:yes")), 0, 6, rapid.ID).Draw(t, "terms")
		got := m.Score(terms)
		if len(got) != o.Depths {
			t.Fatalf("%d probabilities of %d depths", len(got), o.Depths)
		}
		for d := 1; d <= o.Depths; d++ {
			want := reference(samples, terms, d, o)
			if math.Abs(got[d-1]-want) > 1e-9 {
				t.Errorf("depth %d: Score(%q) = %v, want %v", d, terms, got[d-1], want)
			}
		}
	})
}

// TestCounts holds that a model knows what it learned: counts written down plainly.
func TestCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := DefaultOptions()
		o.Vocabulary = rapid.IntRange(1, 14).Draw(t, "vocabulary")
		asked := NewModel(o)
		var counts [DefaultDepths]map[string][2]float64
		for d := range counts {
			counts[d] = map[string][2]float64{}
		}
		known := func(d int, term string) string {
			if _, ok := counts[d][term]; !ok && len(counts[d]) >= o.Vocabulary {
				return unknown(familyOf(term))
			}
			return term
		}
		for _, l := range drawSamples(t) {
			asked.Learn(l.trail, l.relevant)
			for d := range min(len(l.trail), DefaultDepths) {
				for _, term := range l.trail[d] {
					term = known(d, term)
					n := counts[d][term]
					if l.relevant {
						n[0]++
					} else {
						n[1]++
					}
					counts[d][term] = n
				}
			}
		}
		for d, c := range asked.depths {
			terms := c.terms
			relevant, other := c.counts(terms)
			if len(terms) != len(counts[d]) {
				t.Errorf("depth %d: vocabulary %q, want that of %v", d+1, terms, counts[d])
			}
			for i, term := range terms {
				if got := [2]float64{relevant[i], other[i]}; got != counts[d][term] {
					t.Errorf("depth %d: %q was counted %v times, want %v", d+1, term, got, counts[d][term])
				}
			}
		}
	})
}

// TestAlwaysAProbability feeds a model terms that no Link gives.
func TestAlwaysAProbability(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := DefaultOptions()
		o.Posterior = rapid.SampledFrom([]string{Raw, Tempered}).Draw(t, "posterior")
		o.Combine = rapid.SampledFrom([]string{Mean, Max}).Draw(t, "combine")
		o.Vocabulary = rapid.IntRange(1, 5).Draw(t, "vocabulary")
		m := NewModel(o)
		terms := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "a:", "host:<unk>", strings.Repeat("x", 100)})), 0, 10)
		for range rapid.IntRange(0, 8).Draw(t, "n") {
			m.Learn(rapid.SliceOfN(terms, 0, 4).Draw(t, "trail"), rapid.Bool().Draw(t, "relevant"))
			link := terms.Draw(t, "link")
			p := m.Score(link)
			for d, pd := range p {
				if !(pd >= 0 && pd <= 1) {
					t.Fatalf("depth %d: Score(%q) = %v", d+1, link, pd)
				}
			}
			if p := m.Predict(link); !(p >= 0 && p <= 1) {
				t.Fatalf("Predict(%q) = %v", link, p)
			}
		}
		for d, s := range m.Stats().Depths {
			if s.Terms > o.Vocabulary+len(families)+1 { // unknown terms, one a family and one of no family
				t.Errorf("depth %d: %d terms", d+1, s.Terms)
			}
		}
	})
}

func TestLearn(t *testing.T) {
	m := newModel(t, nil)
	contact := Terms(Link{Host: "shop.example", Path: "/kontakt.html", Anchor: "Kontakt"})
	news := Terms(Link{Host: "shop.example", Path: "/news/1.html", Anchor: "Neues"})
	if p := m.Score(contact); !slices.Equal(p, []float64{0, 0, 0}) {
		t.Errorf("a new model gives %v, want zeros", p)
	}
	for range 10 {
		m.Learn([][]string{contact, news}, true)
		m.Learn([][]string{news, contact}, false)
	}
	c, n := m.Score(contact), m.Score(news)
	if c[0] <= 0.5 || n[0] >= 0.5 {
		t.Errorf("depth 1: contact %v, news %v; want contact to lead", c[0], n[0])
	}
	if c[1] >= 0.5 || n[1] <= 0.5 {
		t.Errorf("depth 2: contact %v, news %v; want news to lead", c[1], n[1])
	}
	if c[2] != 0 || n[2] != 0 {
		t.Errorf("depth 3 has learned nothing and gives %v, %v", c[2], n[2])
	}
	m.Learn(nil, true) // a seed
	if again := m.Score(contact); !slices.Equal(again, c) {
		t.Errorf("a page without a trail taught something: %v, then %v", c, again)
	}
}

func TestPredict(t *testing.T) {
	for _, test := range []struct {
		combine string
		want    func(p []float64) float64
	}{
		{Max, func(p []float64) float64 { return 0.7 * max(p[0], p[1]/2) }},
		{Mean, func(p []float64) float64 { return 0.7 * (p[0]/2 + p[1]/4) / (1.0/2 + 1.0/4) }},
	} {
		m := newModel(t, func(o *Options) { o.Combine, o.Depths, o.Weight = test.combine, 2, 0.7 })
		teach(m, 200)
		terms := Terms(Link{Host: "h1.example", Anchor: "kontakt"})
		if got, want := m.Predict(terms), test.want(m.Score(terms)); math.Abs(got-want) > 1e-12 || got == 0 {
			t.Errorf("%s: Predict = %v, want %v", test.combine, got, want)
		}
	}
}

// TestOnlyOtherPages: a crawl leaves an irrelevant part of the web because links unlike those that
// led nowhere come first.
func TestOnlyOtherPages(t *testing.T) {
	m := newModel(t, func(o *Options) { o.Posterior = Tempered })
	same := []string{"host:far.example", "anchor:docs"}
	for range 20 {
		m.Learn([][]string{same}, false)
	}
	if old, fresh := m.Predict(same), m.Predict([]string{"host:new.example", "anchor:town"}); old <= 0 || fresh <= old {
		t.Errorf("known %v, unlike it %v; want 0 < known < unlike", old, fresh)
	}
}

func TestVocabularyIsCapped(t *testing.T) {
	m := newModel(t, func(o *Options) { o.Vocabulary = 100 })
	for i := range 1000 {
		m.Learn([][]string{{fmt.Sprintf("anchor:w%d", i), fmt.Sprintf("path:p%d", i), "switch:no"}}, i%3 == 0)
	}
	s := m.Stats().Depths[0]
	if s.Terms != 102 { // and two unknown ones
		t.Errorf("%d terms, want 102", s.Terms)
	}
	if s.Relevant+s.Other != 1000 {
		t.Errorf("%d + %d links learned, want 1000", s.Relevant, s.Other)
	}
	e := m.Explain([]string{"anchor:never-seen"}, 1)
	if len(e.Terms) != 1 || e.Terms[0].Term != "anchor:<unk>" || e.Terms[0].Relevant+e.Terms[0].Other < 900 {
		t.Errorf("a term beyond the vocabulary is %+v", e.Terms)
	}
}

func TestExplainAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := DefaultOptions()
		o.Posterior = rapid.SampledFrom([]string{Raw, Tempered}).Draw(t, "posterior")
		o.Vocabulary = rapid.IntRange(3, 20).Draw(t, "vocabulary")
		m := NewModel(o)
		samples := drawSamples(t)
		for _, l := range samples {
			m.Learn(l.trail, l.relevant)
		}
		terms := strings.Fields("host:a path:x path:q anchor:one switch:yes")
		scores := m.Score(terms)
		for d := 1; d <= len(scores); d++ {
			e := m.Explain(terms, d)
			if e.Probability != scores[d-1] && math.Abs(e.Probability-scores[d-1]) > 1e-12 {
				t.Errorf("depth %d: explained %v, scored %v", d, e.Probability, scores[d-1])
			}
			if !e.Trained {
				continue
			}
			sum := e.Prior
			for _, w := range e.Terms {
				sum += w.LogOdds
			}
			if len(e.Terms) != len(terms) || math.Abs(sum-e.LogOdds) > 1e-9 || math.Abs(1/(1+math.Exp(-sum))-e.Probability) > 1e-9 {
				t.Errorf("depth %d: %+v adds up to %v", d, e, sum)
			}
		}
	})
	m := newModel(t, nil)
	for _, depth := range []int{-1, 0, MaxDepth + 1} {
		if e := m.Explain([]string{"a:b"}, depth); e.Trained || e.Terms != nil {
			t.Errorf("depth %d is explained: %+v", depth, e)
		}
	}
}

func TestTop(t *testing.T) {
	m := newModel(t, nil)
	for i := range 5000 {
		m.Learn([][]string{{"anchor:kontakt", fmt.Sprintf("path:p%d", i)}}, true)
		m.Learn([][]string{{"anchor:news", "switch:no"}}, false)
	}
	top := m.Top(1, "anchor", 10)
	if len(top) != 2 || top[0].Term != "anchor:news" && top[0].Term != "anchor:kontakt" {
		t.Fatalf("Top = %+v", top)
	}
	if top := m.Top(1, "", 3); len(top) != 3 || slices.ContainsFunc(top, func(w TermWeight) bool { return strings.HasPrefix(w.Term, "path:") }) {
		t.Errorf("Top of all families = %+v", top)
	}
	if top := m.Top(2, "", 3); len(top) != 0 {
		t.Errorf("Top of a depth that has learned nothing = %+v", top)
	}
}

func TestCombine(t *testing.T) {
	for _, test := range []struct {
		p          []float64
		decay      float64
		mean, best float64
	}{
		{[]float64{0, 0, 0}, 0.5, 0, 0},
		{[]float64{1, 1, 1}, 0.5, 1, 1},
		{[]float64{1, 0, 0}, 0.5, 4.0 / 7, 1},
		{[]float64{0, 0, 1}, 0.5, 1.0 / 7, 0.25},
		{[]float64{0.3, 0.6, 0.9}, 1, 0.6, 0.9},
	} {
		if got := Combine(test.p, test.decay); math.Abs(got-test.mean) > 1e-12 {
			t.Errorf("Combine(%v, %v) = %v, want %v", test.p, test.decay, got, test.mean)
		}
		if got := Best(test.p, test.decay); math.Abs(got-test.best) > 1e-12 {
			t.Errorf("Best(%v, %v) = %v, want %v", test.p, test.decay, got, test.best)
		}
	}
	if got := Combine([]float64{1, 1, 1}, 0); got != 0 {
		t.Errorf("Combine with decay 0 = %v, want 0", got)
	}
}

func TestPriority(t *testing.T) {
	for _, test := range [][3]float64{{0, 0, 0}, {0.5, 0, 0.5}, {0.5, 1, 1}, {0.5, 0.5, 0.75}, {1, 0.3, 1}} {
		if got := Priority(test[0], test[1]); got != test[2] {
			t.Errorf("Priority(%v, %v) = %v, want %v", test[0], test[1], got, test[2])
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	m := newModel(t, func(o *Options) { o.Vocabulary = 50 })
	path := t.TempDir() + "/model"
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := range 200 {
				link := Link{Host: "a.example", Path: fmt.Sprintf("/%d/%c", g, 'a'+i%26)}
				m.Learn([][]string{Terms(link)}, i%5 == 0)
				m.Predict(Terms(link))
				m.Explain(Terms(link), 1)
				if i%50 == 0 {
					m.Top(1, "", 5)
					if err := m.Save(path); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	if s := m.Stats().Depths[0]; s.Relevant != 160 || s.Other != 640 {
		t.Errorf("learned %+v, want 160 and 640", s)
	}
	if _, err := Load(path, DefaultOptions()); err != nil {
		t.Error(err)
	}
}

// Of two links learned, "a b" led to a relevant page and "c d" did not. Smoothed over the vocabulary
// of four words and one more, a word seen once in its class has 2/7 and an unseen one 1/7: "a b" is
// relevant at 4 : 1. As printed, the class that has seen neither a nor b gives each the probability
// 1/1 and the one that has seen both gives 2/3, so that "a b" is at 4 : 9, worse than unknown words.
func TestLaplaceAsPrinted(t *testing.T) {
	for _, tt := range []struct {
		laplace, terms string
		want           float64
	}{
		{VocabularyLaplace, "anchor:a anchor:b", 4.0 / 5}, {VocabularyLaplace, "anchor:x anchor:y", 1.0 / 2},
		{LinkLaplace, "anchor:a anchor:b", 4.0 / 13}, {LinkLaplace, "anchor:x anchor:y", 1.0 / 2},
		{LinkLaplace, "anchor:c anchor:d", 9.0 / 13},
	} {
		o := DefaultOptions()
		o.Depths, o.Laplace, o.Prior = 1, tt.laplace, SharePrior
		m := NewModel(o)
		m.Learn([][]string{{"anchor:a", "anchor:b"}}, true)
		m.Learn([][]string{{"anchor:c", "anchor:d"}}, false)
		if got := m.Score(strings.Fields(tt.terms))[0]; math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s, %s: %v, want %v", tt.laplace, tt.terms, got, tt.want)
		}
	}
}

// Of four links one was relevant: a link without words is so at 1 : 3, and with one more in each class
// at 2 : 4.
func TestPrior(t *testing.T) {
	for prior, want := range map[string]float64{SharePrior: 1.0 / 4, SmoothedPrior: 1.0 / 3} {
		o := DefaultOptions()
		o.Depths, o.Prior = 1, prior
		m := NewModel(o)
		for i := range 4 {
			m.Learn([][]string{{"anchor:a"}}, i == 0)
		}
		if got := m.Score(nil)[0]; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", prior, got, want)
		}
	}
}
