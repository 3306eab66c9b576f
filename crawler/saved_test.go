package crawler_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
	"gazehound/predictor/topic"
)

// A crawl that was killed knows the addresses again that it had found, and has
// learned every visit once: with what was kept, with none, and with what was
// kept for another position than the model's.
func TestRestore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "model.gob")
	f, err := frontier.Open(frontier.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lookahead := func() order.Lookahead {
		model := predictor.NewModel(predictor.DefaultOptions())
		return order.Lookahead{Model: model, News: order.NewNews()}
	}
	running := lookahead()
	visit := func(i int) {
		t.Helper()
		e := frontier.Entry{URL: mustURL(fmt.Sprintf("http://a.example/%d/%d", i%3, i)), Depth: 1}
		if _, err := f.Push(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		o := frontier.Outcome{Kind: "page", Relevant: true, Addresses: []string{"footer"}}
		if i%3 == 0 {
			o.Addresses = append(o.Addresses, fmt.Sprint("shop ", i))
		}
		if _, err := f.Done(t.Context(), e, o); err != nil {
			t.Fatal(err)
		}
		running.Learn([]frontier.Node{{Entry: e, Outcome: o}}, true)
	}
	check := func(when string, learned int) {
		t.Helper()
		again := lookahead()
		if err := (&crawler.Learned{Tree: f, Strategy: again}).Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		for section := range 4 {
			u := mustURL(fmt.Sprintf("http://a.example/%d/new", section))
			if got, want := again.News.Fresh(u), running.News.Fresh(u); got != want {
				t.Errorf("%s: %s is fresh by %v, before by %v", when, u, got, want)
			}
		}
		if got := again.Model.Stats().Depths[0].Relevant; got != learned {
			t.Errorf("%s: %d visits learned, want %d", when, got, learned)
		}
	}
	check("nothing visited", 0)
	for i := range 50 {
		visit(i)
	}
	check("nothing kept", 50)
	if err := (&crawler.Learned{Tree: f, Model: running.Model, File: file, Strategy: running}).Save(); err != nil {
		t.Fatal(err)
	}
	check("all kept", 0)
	for i := range 25 {
		visit(50 + i)
	}
	check("visits since", 25)
	if err := (&crawler.Learned{Tree: f, Model: running.Model, File: file}).Save(); err != nil {
		t.Fatal(err)
	}
	visit(75)
	check("the model alone saved since", 1)
	if err := (&crawler.Learned{Tree: f, Strategy: order.BreadthFirst{}}).Restore(t.Context()); err != nil {
		t.Errorf("an order without news: %v", err)
	}
	bandit := order.NewTagPathBandit(order.TagPathSettings{Exploration: 1})
	if err := (&crawler.Learned{Tree: f, Strategy: bandit}).Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if x := bandit.Explain(&frontier.Entry{Depth: 1}); !strings.Contains(x.Parts[0].Name, "of 76 visits") {
		t.Errorf("a strategy that is not saved learns %+v of 76 visits", x)
	}
	if err := f.PutMeta("news", []byte("{")); err != nil {
		t.Fatal(err)
	}
	if err := (&crawler.Learned{Tree: f, Strategy: lookahead()}).Restore(t.Context()); err == nil {
		t.Error("what is damaged was taken")
	}
}

// A pattern stays proven over a restart, unless a page of it mattered after the last save: then what is
// parked under it is queued, and nothing is parked again.
func TestRestoreParked(t *testing.T) {
	t.Parallel()
	for _, matters := range []bool{false, true} {
		f, err := frontier.Open(frontier.Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		model := predictor.NewModel(predictor.DefaultOptions())
		learned := func(d *trap.Detector) *crawler.Learned {
			return &crawler.Learned{Tree: f, Model: model, Strategy: order.Lookahead{Model: model},
				File: filepath.Join(t.TempDir(), "model.gob"), Traps: d}
		}
		page := func(i int) weburl.URL { return mustURL(fmt.Sprintf("http://cal.example/termine/%d", i)) }
		before := trap.New()
		for i := range 20 {
			before.Observe(trap.Page{URL: page(i), Text: 7})
		}
		if err := learned(before).Save(); err != nil {
			t.Fatal(err)
		}
		const pattern, parked = "cal.example/termine/#", 5
		for i := range parked {
			if _, err := f.Push(t.Context(), frontier.Entry{URL: page(100 + i), Depth: 1, Parked: pattern}); err != nil {
				t.Fatal(err)
			}
		}
		e := frontier.Entry{URL: page(50), Depth: 1}
		if _, err := f.Done(t.Context(), e, frontier.Outcome{Kind: "page", Relevant: matters}); err != nil {
			t.Fatal(err)
		}
		after := trap.New()
		if err := learned(after).Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		c := &crawler.Crawler{Frontier: f, Traps: after, Strategy: order.Lookahead{Model: model}}
		released, err := c.ReleaseParked(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := map[bool]int{true: parked}[matters]
		if n := f.Totals(); released != want || n.Parked != int64(parked-want) || n.Queued != int64(want) || after.Proven("cal.example", pattern) == matters {
			t.Errorf("a relevant page %v: %d released, want %d; %d parked, %d queued", matters, released, want, n.Parked, n.Queued)
		}
	}
}

// A meanwhile is a Sink that does what another worker might do at that moment.
type meanwhile func()

func (do meanwhile) Visit(context.Context, *crawler.Visit) error {
	do()
	return nil
}

// A link that was judged before its pattern was released, and stored afterwards, is not left parked.
func TestParkedBesideARelease(t *testing.T) {
	t.Parallel()
	f, err := frontier.Open(frontier.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := trap.New()
	for i := range 20 {
		d.Observe(trap.Page{URL: mustURL(fmt.Sprintf("http://cal.example/%d", 100+i)), Text: 7})
	}
	c := &crawler.Crawler{
		Frontier: f, Traps: d, Strategy: order.BreadthFirst{}, Gate: crawler.Open{}, Judge: judge{},
		Scope: func(weburl.URL) string { return "" }, Options: crawler.Options{Workers: 1},
		Fetcher: endless{},
		Sinks: []crawler.Sink{meanwhile(func() { // between judging the links and storing them
			d.Observe(trap.Page{URL: mustURL("http://cal.example/50"), Text: 8, Relevant: true})
		})},
	}
	seed(t, c, "http://cal.example/1")
	e, err := f.Next(t.Context(), c.Gate.Claim)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Visit(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if n := f.Totals(); n.Parked != 0 || n.Queued == 0 {
		t.Errorf("%d parked, %d queued", n.Parked, n.Queued)
	}
}

// The collection of Okapi is as before a kill: what was saved, and the words of the pages since then,
// which the tree holds.
func TestRestoreCollection(t *testing.T) {
	t.Parallel()
	f, err := frontier.Open(frontier.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	trend := func() order.Trend {
		okapi, err := topic.NewOkapi([]string{"bread", "cake"}, topic.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		model := predictor.NewModel(predictor.DefaultOptions())
		return order.Trend{Lookahead: order.Lookahead{Model: model}, Topic: okapi, TopicGrows: true}
	}
	running := trend()
	visit := func(path, text string) {
		o := frontier.Outcome{Kind: frontier.KindPage}
		running.Read(&o, text)
		e := frontier.Entry{URL: mustURL("http://a.example/" + path), Depth: 1}
		err := crawler.TopicSink{Okapi: running.Topic}.Visit(t.Context(), &crawler.Visit{Entry: e, Outcome: o})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Done(t.Context(), e, o); err != nil {
			t.Fatal(err)
		}
	}
	visit("1", "bread and cake, bread")
	learned := crawler.Learned{Tree: f, Model: running.Model, Strategy: running,
		File: filepath.Join(t.TempDir(), "model.gob")}
	if err := learned.Save(); err != nil {
		t.Fatal(err)
	}
	visit("2", "cake in the evening")
	visit("3", "nothing")
	want, err := running.Topic.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again := trend()
	if err := (&crawler.Learned{Tree: f, Strategy: again}).Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := again.Topic.Snapshot(); err != nil || string(got) != string(want) {
		t.Errorf("restored %s, %v, want %s", got, err, want)
	}
}
