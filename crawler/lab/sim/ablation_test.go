package sim_test

import (
	"math"
	"strings"
	"testing"

	"gazehound/crawler/lab/sim"
	"gazehound/crawler/order"
	"gazehound/predictor"
)

// A part that is left out changes nothing if it gives nothing, and the change of several webs is that
// of their mean area.
func TestAblations(t *testing.T) {
	options := sim.OrderOptions{
		Settings: order.Settings{Decay: 0.5}, Without: []string{"novelty", "bayes+bridge+rates"},
		Model: func(without predictor.Parts) (*predictor.Model, error) {
			o := predictor.DefaultOptions()
			o.Without = without
			return predictor.NewModel(o), nil
		},
	}
	orders, err := options.Orders([]string{"lookahead", "breadth-first"})
	if err != nil {
		t.Fatal(err)
	}
	open := func(i int) (*sim.Web, error) { return town(t, 40, uint64(i+1)), nil }
	c, err := sim.Compare(t.Context(), 2, open, orders, sim.Options{Pages: 200}, 2)
	if err != nil {
		t.Fatal(err)
	}
	list := c.Ablations(200)
	if len(list) != 2 || len(list[0].Webs) != 2 {
		t.Fatalf("%d ablations", len(list))
	}
	if news := list[0]; news.Without != "novelty" || news.Change.Mean != 0 { // News is off here
		t.Errorf("without what was off: %+v", news.Change)
	}
	all, lost := 0.0, 0.0
	for _, web := range list[1].Webs {
		all, lost = all+web.Whole, lost+web.Whole*web.Change.Mean
	}
	if got := list[1].Change.Mean; math.Abs(got-lost/all) > 1e-9 || got > -0.05 {
		t.Errorf("without nearly everything the area changes by %v of the mean, want %v, a loss", got, lost/all)
	}
	for _, parts := range []string{"", "words", "bayes+"} {
		if _, err := order.ParseParts(parts); err == nil || !strings.Contains(err.Error(), "bayes, bridge, novelty, rates") {
			t.Errorf("parts %q: %v", parts, err)
		}
	}
}
