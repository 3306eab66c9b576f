package crawler_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/predictor"
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
