package order_test

import (
	"math"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
	"gazehound/predictor/topic"

	"pgregory.net/rapid"
)

// newTrend makes a strategy for the topic "bread" in which people stay on
// /read half as long as on any page.
func newTrend(t testing.TB, alpha, beta, emphasis float64, withTopic bool) order.Trend {
	t.Helper()
	model := predictor.NewModel(predictor.DefaultOptions())
	o := order.Options{Model: model, Stay: func(u weburl.URL) float64 {
		if u.Path() == "/read" {
			return 0.5
		}
		return 0
	}}
	o.Decay, o.Alpha, o.Beta, o.Emphasis = 0.5, alpha, beta, emphasis
	if withTopic {
		okapi, err := topic.NewOkapi([]string{"bread"}, topic.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		o.Topic = okapi
	}
	s, err := order.New("trend", o)
	if err != nil {
		t.Fatal(err)
	}
	return s.(order.Trend)
}

func link(t testing.TB, url, anchor string, distance int) *frontier.Entry {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return &frontier.Entry{URL: u, Anchor: anchor, Depth: 5, Distance: distance}
}

// Equation 5 by hand. One word that is the whole topic has Okapi equal to its
// mean weight, so that its scaled value is ½.
func TestTrendEquation(t *testing.T) {
	const far = 40 // links from a relevant page: the distance says nothing
	for _, c := range []struct {
		alpha, beta, emphasis float64
		url, anchor           string
		distance              int
		want                  float64
	}{
		{0.5, 0.5, 1, "http://a.example/x", "nothing", far, 0},
		{0.5, 0.5, 1, "http://a.example/x", "our bread", far, 0.25},
		{0.5, 0.5, 1, "http://a.example/bread", "x", far, 0.25},
		{0.5, 0.5, 1, "http://a.example/read", "nothing", far, 0.25},
		{0.5, 0.5, 1, "http://a.example/read", "our bread", far, 0.5},
		{0.5, 0.5, 3, "http://a.example/x", "our bread", far, 0.375},
		{0.5, 0.5, 3, "http://a.example/read", "nothing", far, 0.125},
		{1, 0, 1, "http://a.example/read", "our bread", far, 0.5},
		{0, 1, 1, "http://a.example/read", "our bread", 1, 0.5},
		{1, 0, 1, "http://a.example/x", "nothing", 1, 0.5},
		{1, 0, 1, "http://a.example/x", "our bread", 1, 0.75},
		{1, 0, 1, "http://a.example/x", "our bread", 2, 0.625},
	} {
		s := newTrend(t, c.alpha, c.beta, c.emphasis, true)
		got, keep := s.Score(link(t, c.url, c.anchor, c.distance))
		if !keep || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: got %v", c, got)
		}
	}
	s := newTrend(t, 0.5, 0.5, 1, true)
	for text, want := range map[string]float64{"bread": 0.5, "nothing": 0.25} {
		var o frontier.Outcome
		s.Read(&o, text)
		if got := s.Importance(link(t, "http://a.example/read", "", 0).URL, &o); math.Abs(got-want) > 1e-9 {
			t.Errorf("importance of a page with %q %v, want %v", text, got, want)
		}
	}
}

// Equation 5 as printed: the order is that of α·E·Okapi + β·LR with Okapi of equation 7 and
// LR in seconds, whatever their sizes and the distance; the priority is on the scale 0 to 1.
func TestTrendAsPublished(t *testing.T) {
	okapi, err := topic.NewOkapi([]string{"bread", "cake"}, topic.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	model := predictor.NewModel(predictor.DefaultOptions())
	seconds := map[string]float64{"/short": 1, "/long": 86400}
	o := order.Options{Model: model, Topic: okapi, Stay: func(u weburl.URL) float64 { return seconds[u.Path()] }}
	o.Decay, o.Alpha, o.Beta, o.Emphasis, o.Importance = 0.5, 2, 0.25, 3, "published"
	s, err := order.New("trend", o)
	if err != nil {
		t.Fatal(err)
	}
	last := -1.0
	for _, tt := range []struct {
		path, anchor string
		distance     int
	}{{"/x", "shop", 1}, {"/short", "shop", 9}, {"/x", "bread", 9}, {"/x", "bread cake", 9}, {"/long", "", 9}, {"/long", "cake", 9}} {
		e := link(t, "http://a.example"+tt.path, tt.anchor, tt.distance)
		i := 2*3*okapi.Score(okapi.Read(tt.anchor)) + 0.25*seconds[tt.path]
		x := math.Log1p(i)
		got, keep := s.Score(e)
		if want := 0.5 + 0.5*x/(1+x); !keep || math.Abs(got-want) > 1e-12 || got <= last || got > 1 {
			t.Errorf("%v: I = %v gives %v, want %v, after %v", tt, i, got, want, last)
		}
		last = got
	}
	if o.Topic = nil; true {
		if _, err := order.New("trend", o); err == nil {
			t.Error("without a topic there is no Okapi, but no error")
		}
	}
}

// More of the topic, more time of people and a nearer relevant page never
// lower a priority; without logs and topic's words, the order is that of the
// distance.
func TestTrendLaws(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		weight := rapid.Float64Range(0.01, 100)
		s := newTrend(t, weight.Draw(r, "alpha"), weight.Draw(r, "beta"), weight.Draw(r, "emphasis"), true)
		distance := rapid.IntRange(1, 30).Draw(r, "distance")
		base, _ := s.Score(link(t, "http://a.example/x", "shop", distance))
		for name, better := range map[string]*frontier.Entry{
			"word":     link(t, "http://a.example/x", "bread shop", distance),
			"stay":     link(t, "http://a.example/read", "shop", distance),
			"distance": link(t, "http://a.example/x", "shop", max(distance-1, 1)),
		} {
			got, keep := s.Score(better)
			if !keep || got < base || got > 1 || base < 0 {
				r.Errorf("%s: %v after %v", name, got, base)
			}
		}
	})
}

// Without a topic the order is that of lookahead, raised by the logs.
func TestTrendWithoutTopic(t *testing.T) {
	s := newTrend(t, 1, 0, 1, false)
	e := link(t, "http://a.example/read", "shop", 2)
	want, _ := s.Lookahead.Score(e)
	if got, _ := s.Score(e); got != want {
		t.Errorf("priority %v, lookahead has %v", got, want)
	}
	if !s.Rescores() || newTrend(t, 1, 0, 1, true).Rescores() {
		t.Error("priorities change while the model learns, and only then")
	}
	best := []frontier.Entry{*e, *e, *e}
	for i := range best {
		best[i].Priority = want
	}
	with := s.Lookahead.LinkValue(best)
	best[0].Priority = 1 // as the logs would raise it
	if got := s.LinkValue(best); got != with {
		t.Errorf("promise %v, of the content alone it is %v", got, with)
	}
}
