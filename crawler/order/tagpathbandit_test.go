package order_test

import (
	"fmt"
	"math"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
)

func linkIn(place string) frontier.Entry {
	return frontier.Entry{Depth: 2, Distance: 2, Place: place}
}

// Links with similar tag paths share what one of them earned; the group that was never tried comes
// first, then that with the higher reward.
func TestTagPathBandit(t *testing.T) {
	b := order.NewTagPathBandit(order.TagPathSettings{Exploration: 0.1, PathSimilarity: 0.75})
	menu := linkIn("menu html body div#page.wide nav.top ul.menu li.item a")
	list := linkIn("list html body div#page.wide main div.list ul.items li a")
	twin := linkIn("list html body div#page.wide main div.list ul.items li.odd a")
	footer := linkIn("footer html body div#page.wide footer.foot div.col p a")
	score := func(e frontier.Entry) float64 {
		p, keep := b.Score(&e)
		if !keep {
			t.Fatalf("%q is dropped", e.Place)
		}
		return p
	}
	learn := func(e frontier.Entry, relevant bool) {
		b.Learn([]frontier.Node{{Entry: e}, {Entry: frontier.Entry{}}}, relevant)
	}
	for range 5 {
		learn(menu, false)
		learn(list, true)
	}
	if !(score(footer) > score(list) && score(list) > score(menu)) {
		t.Errorf("footer %v, list %v, menu %v; want them in this order", score(footer), score(list), score(menu))
	}
	if score(twin) != score(list) {
		t.Errorf("a similar tag path has %v, its group %v", score(twin), score(list))
	}
	// x = mean reward + α √(ln t / n), as published
	x := 1 + 0.1*math.Sqrt(math.Log(10)/(5+1e-6))
	if got := score(list); math.Abs(got-x/(1+x)) > 1e-9 {
		t.Errorf("score %v, want %v", got, x/(1+x))
	}
	before := score(list)
	b.Retract([]frontier.Node{{Entry: list}}, false)
	if score(list) >= before {
		t.Error("a page that was not relevant after all keeps its reward")
	}
	// A relevant page is a reward for the link to the page that links to it, too.
	before = score(menu)
	b.Learn([]frontier.Node{{Entry: list}, {Entry: menu}}, true)
	if score(menu) <= before {
		t.Error("the link to the page with the link has no reward")
	}
	if x := b.Explain(&list); len(x.Parts) != 1 || x.Parts[0].Value != score(list) {
		t.Errorf("explained as %+v", x)
	}
}

// However many tag paths hostile pages have, groups stay bounded and every link has a priority.
func TestTagPathBanditIsBounded(t *testing.T) {
	b := order.NewTagPathBandit(order.TagPathSettings{Exploration: 1, PathSimilarity: 1})
	for i := range 3000 {
		e := linkIn(fmt.Sprintf("other x%d y%d a", i, i))
		if p, keep := b.Score(&e); !keep || !(p > 0 && p < 1) {
			t.Fatalf("priority %v of tag path %d", p, i)
		}
	}
	if n := b.Groups(); n != 1000 {
		t.Errorf("%d groups, want 1000", n)
	}
	empty := frontier.Entry{Depth: 1}
	if p, _ := b.Score(&empty); !(p > 0 && p < 1) {
		t.Errorf("priority %v of a link without a place", p)
	}
}
