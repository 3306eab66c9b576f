package main

import (
	"errors"
	"fmt"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/strategy"
	"gazehound/predictor"
)

// A crawl that was killed knows the addresses again that it had found, those
// that were kept and those of the visits after that, and counts no visit twice.
func TestRecallNews(t *testing.T) {
	model, err := predictor.NewModel(predictor.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	f, err := frontier.Open(frontier.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lookahead := func() strategy.Lookahead { return strategy.Lookahead{Model: model, News: strategy.NewNews()} }
	running := lookahead()
	visit := func(i int) {
		t.Helper()
		e := frontier.Entry{URL: mustParse(t, fmt.Sprintf("http://a.example/%d/%d", i%3, i))}
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
		running.News.Saw(e.URL, o.Addresses)
	}
	check := func(when string) {
		t.Helper()
		again := lookahead()
		again.News.Saw(mustParse(t, "http://a.example/1/"), []string{"learned with the model, after it was saved"})
		if err := recallNews(t.Context(), f, again); err != nil {
			t.Fatal(err)
		}
		for section := range 4 {
			u := mustParse(t, fmt.Sprintf("http://a.example/%d/new", section))
			if got, want := again.News.Fresh(u), running.News.Fresh(u); got != want {
				t.Errorf("%s: %s is fresh by %v, before by %v", when, u, got, want)
			}
		}
	}
	check("nothing visited")
	for i := range 50 {
		visit(i)
	}
	check("nothing kept")
	if err := keepNews(f, running); err != nil {
		t.Fatal(err)
	}
	check("all kept")
	for i := range 25 {
		visit(50 + i)
	}
	check("visits since")
	if err := errors.Join(keepNews(f, strategy.BreadthFirst{}), recallNews(t.Context(), f, strategy.BreadthFirst{})); err != nil {
		t.Errorf("an order without news: %v", err)
	}
	if err := f.PutMeta(newsKey, []byte("{")); err != nil {
		t.Fatal(err)
	}
	if err := recallNews(t.Context(), f, lookahead()); err == nil {
		t.Error("what is damaged was taken")
	}
}
