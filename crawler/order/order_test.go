package order_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
	"gazehound/predictor"

	"pgregory.net/rapid"
)

func newStrategy(t interface{ Fatal(...any) }, name string, limit int, prioritised bool) order.Strategy {
	model := predictor.NewModel(predictor.DefaultOptions())
	o := order.Options{Model: model, Stay: func(weburl.URL) float64 { return 0.25 }}
	o.Decay, o.News, o.LimitDistance, o.Prioritised = 0.5, true, limit, prioritised
	o.Places, o.Alpha, o.Beta, o.Emphasis = []string{"Oldenburg"}, 0.5, 0.5, 1
	s, err := order.New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Distance 0 is a seed, 1 a link of a relevant page or seed, d a link behind
// d-1 irrelevant pages. A negative priority below stands for a dropped link.
func TestByDistance(t *testing.T) {
	const gone = -1
	for _, c := range []struct {
		name        string
		limit       int
		prioritised bool
		want        []float64 // at distance 0, 1, 2, …
	}{
		{"link-distance", 0, false, []float64{1, 0.5, 0.25, 0.125, 0.0625}},
		{"hard-focused", 0, false, []float64{1, 1, gone, gone, gone}},
		{"hard-focused", 3, true, []float64{1, 1, gone, gone, gone}},
		{"soft-focused", 0, false, []float64{1, 1, 0.5, 0.5, 0.5}},
		{"limited-distance", 1, false, []float64{1, 1, 1, gone, gone}},
		{"limited-distance", 2, false, []float64{1, 1, 1, 1, gone}},
		{"limited-distance", 1, true, []float64{1, 1. / 2, 1. / 3, gone, gone}},
		{"limited-distance", 2, true, []float64{1, 1. / 2, 1. / 3, 1. / 4, gone}},
	} {
		s := newStrategy(t, c.name, c.limit, c.prioritised)
		for distance, want := range c.want {
			got, keep := s.Score(&frontier.Entry{Depth: distance + 2, Distance: distance})
			if keep != (want != gone) || keep && got != want || !keep && got != 0 {
				t.Errorf("%s %d %v at distance %d = %v, keep %v; want %v", c.name, c.limit, c.prioritised, distance, got, keep, want)
			}
		}
	}
}

func TestNewErrors(t *testing.T) {
	stay := func(weburl.URL) float64 { return 0 }
	limit := func(n int) order.Settings {
		return order.Settings{LimitedSettings: order.LimitedSettings{LimitDistance: n}}
	}
	weights := func(w order.TrendSettings) order.Settings { return order.Settings{TrendSettings: w} }
	for _, c := range []struct {
		name string
		o    order.Options
		want string
	}{
		{"adaptive", order.Options{}, "needs a model"},
		{"limited-distance", order.Options{}, "needs crawl.limit_distance of at least 1"},
		{"limited-distance", order.Options{Settings: limit(-2)}, "of at least 1"},
		{"limited-distance-0", order.Options{Settings: limit(2)}, "of at least 1"},
		{"limited-distance-x", order.Options{Settings: limit(2)}, "is not known"},
		{"best-first-url", order.Options{}, "needs crawl.places (--place NAME)"},
		{"trend", order.Options{Model: new(predictor.Model), Settings: weights(order.TrendSettings{Alpha: 1, Beta: 1, Emphasis: 1})}, "needs a topic or access logs"},
		{"trend", order.Options{Model: new(predictor.Model), Stay: stay, Settings: weights(order.TrendSettings{Alpha: 1})}, "nothing would be important"},
		{"hard", order.Options{}, `"hard" is not known`},
	} {
		if s, err := order.New(c.name, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New(%q, %+v) = %v, %v; want an error with %q", c.name, c.o, s, err, c.want)
		}
	}
}

// The name of a variant stands for its settings.
func TestVariants(t *testing.T) {
	for name, want := range map[string]order.LimitedDistance{
		"limited-distance-2":             {Limit: 2},
		"limited-distance-3-prioritised": {Limit: 3, Prioritised: true},
	} {
		if s, err := order.New(name, order.Options{}); err != nil || s != want {
			t.Errorf("%s = %+v, %v; want %+v", name, s, err, want)
		}
	}
}

// Every strategy says what it is, the glossary explains it, and config.yaml
// names them all in their order.
func TestKinds(t *testing.T) {
	glossary, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile("../../config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if list := strings.Join(order.Names(), " | "); !strings.Contains(string(config), "# "+list+"\n") {
		t.Errorf("the comment of crawl.strategy in config.yaml is not %q", list)
	}
	seen := map[string]bool{}
	for _, k := range order.Kinds {
		if k.Name == "" || k.Help == "" || k.New == nil || seen[k.Name] {
			t.Errorf("%+v is not complete, or there are two", k)
		}
		seen[k.Name] = true
		if !strings.Contains(string(glossary), "\n| "+k.Name+" | ") {
			t.Errorf("docs/glossary.md does not explain %s", k.Name)
		}
		for line := range strings.SplitSeq(k.Help, "\n") {
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf("%s: the line %q is too long", k.Name, line)
			}
		}
	}
}

// Every strategy keeps seeds and links of relevant pages, gives priorities in
// [0, 1], and nowhere a higher one behind more irrelevant pages.
func TestLaws(t *testing.T) {
	u, err := weburl.Parse("http://www.a.example/kontakt")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(order.Names()).Draw(t, "name")
		s := newStrategy(t, name, rapid.IntRange(1, 5).Draw(t, "limit"), rapid.Bool().Draw(t, "prioritised"))
		e := frontier.Entry{URL: u, Depth: rapid.IntRange(0, 1000).Draw(t, "depth"), Anchor: rapid.String().Draw(t, "anchor")}
		e.Distance = min(e.Depth, rapid.IntRange(0, 1000).Draw(t, "distance"))
		near, kept := s.Score(&e)
		if !(near >= 0 && near <= 1) || math.IsNaN(near) {
			t.Fatalf("%s: priority %v of %+v", name, near, e)
		}
		if e.Distance <= 1 && !kept {
			t.Fatalf("%s drops a link of a relevant page", name)
		}
		e.Depth, e.Distance = e.Depth+1, e.Distance+1
		far, keptFar := s.Score(&e)
		if far > near || keptFar && !kept {
			t.Fatalf("%s: %v (kept %v) at distance %d, %v (%v) before it", name, far, keptFar, e.Distance, near, kept)
		}
	})
}

// The words of the links on a trail end at the seed and at MaxDepth.
func TestTrailTerms(t *testing.T) {
	for depth, want := range map[int]int{0: 0, 1: 1, 2: 2, 3: 3, 9: predictor.MaxDepth} {
		var trail []frontier.Node
		for d := depth; d >= 0; d-- {
			trail = append(trail, frontier.Node{Entry: frontier.Entry{Depth: d, Anchor: strings.Repeat("x", d+1)}})
		}
		links := order.TrailTerms(trail)
		if len(links) != want {
			t.Errorf("a trail of depth %d has %d links; want %d", depth, len(links), want)
		}
		for i, terms := range links {
			if anchor := "anchor:" + strings.Repeat("x", depth-i+1); !slices.Contains(terms, anchor) {
				t.Errorf("link %d of a trail of depth %d = %q; want %q in it", i, depth, terms, anchor)
			}
		}
	}
}

// An explanation adds up to the priority, and each depth's terms to the
// log-odds of its probability, in every mode of the model.
func TestExplainDepths(t *testing.T) {
	u, err := weburl.Parse("http://www.a.example/betriebe/kontakt?id=3")
	if err != nil {
		t.Fatal(err)
	}
	explained := 0
	for _, posterior := range []string{predictor.Raw, predictor.Tempered} {
		for _, combine := range []string{predictor.Mean, predictor.Max} {
			o := predictor.DefaultOptions()
			o.Posterior, o.Combine = posterior, combine
			if combine == predictor.Max { // with either, to see both
				o.Laplace = predictor.LinkLaplace
			}
			model := predictor.NewModel(o)
			s := order.Adaptive{Near: order.Nearness{Weight: 1, Decay: 0.5}, Model: model}
			e := frontier.Entry{URL: u, Depth: 4, Distance: 2, Anchor: "Kontakt und Anfahrt"}
			for i := range 20 {
				trail := []frontier.Node{{Entry: e}, {Entry: e}, {Entry: e}}
				trail[1].Anchor, trail[2].Anchor = "Branchen", "Stadtplan"
				if i%2 == 1 {
					trail[0].Anchor = "Warenkorb"
				}
				s.Learn(trail, i%2 == 0)
			}
			for _, e := range []frontier.Entry{e, {URL: u, Depth: 1, Distance: 1}} {
				x := s.Explain(&e)
				priority, _ := s.Score(&e)
				if math.Abs(*x.Decayed+*x.Boost-priority) > 1e-12 || math.Abs(*x.Prediction*(1-*x.Decayed)-*x.Boost) > 1e-12 {
					t.Errorf("%s %s: %+v does not add up to %v", posterior, combine, x, priority)
				}
				scores := model.Score(order.LinkTerms(&e))
				for d, depth := range x.Depths {
					if !depth.Trained {
						continue
					}
					explained++
					sum := depth.Prior
					for _, w := range depth.Terms {
						sum += w.LogOdds
					}
					if math.Abs(sum-depth.LogOdds) > 1e-9 || math.Abs(1/(1+math.Exp(-sum))-scores[d]) > 1e-9 {
						t.Errorf("%s: depth %d adds up to %v (P %v); want %v (P %v)", posterior, d+1, sum, 1/(1+math.Exp(-sum)), depth.LogOdds, scores[d])
					}
				}
			}
		}
	}
	if explained < 12 {
		t.Errorf("only %d depths were explained", explained)
	}
}
