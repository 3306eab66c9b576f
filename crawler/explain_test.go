package crawler_test

import (
	"fmt"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
)

// A page further from its seed than the model predicts is explained as far as that goes.
func TestExplainBeyondTheModel(t *testing.T) {
	f, err := frontier.Open(frontier.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := predictor.DefaultOptions()
	model := predictor.NewModel(o)
	var e frontier.Entry
	for depth := range o.Depths + 3 {
		u, err := weburl.Parse(fmt.Sprintf("http://a.example/%d", depth))
		if err != nil {
			t.Fatal(err)
		}
		parent := frontier.KeyOf(e.URL)
		e = frontier.Entry{URL: u, Depth: depth, Distance: depth, Anchor: "weiter"}
		if depth > 0 {
			e.Parent = parent
		}
		if _, err := f.Done(t.Context(), e, frontier.Outcome{Kind: "page", Status: 200}); err != nil {
			t.Fatal(err)
		}
	}
	n, _, err := f.Get(frontier.KeyOf(e.URL))
	if err != nil {
		t.Fatal(err)
	}
	x, err := (&crawler.Learned{Tree: f, Model: model, Traps: trap.New()}).Explain(n)
	if err != nil || len(x.Visited.Taught) != o.Depths {
		t.Errorf("%d links were taught, %v; the model has %d depths", len(x.Visited.Taught), err, o.Depths)
	}
}
