package sim_test

import (
	"fmt"
	"slices"
	"testing"

	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/weburl"
)

// The nuggets that agents send take as many bits as equation 8 says, at every
// point of figures 5 and 6, and more parts make the order better.
func TestNuggetsEqualTheFormula(t *testing.T) {
	figures, err := sim.Nuggets(sim.NuggetOptions{URLs: 1000, Parts: 4, Lambda: 4, Seed: 1}, func(f nugget.Format, queues [][]float64) ([]nugget.Nugget, int, int, error) {
		turns, sent, err := nugget.Order(f, queues)
		return turns, sent, 0, err
	})
	if err != nil {
		t.Fatal(err)
	}
	points := 0
	for _, rows := range figures {
		for _, r := range rows {
			points++
			if r.Heard != r.Formula || r.Agents > 1 && r.Heard == 0 {
				t.Errorf("m = %d, L = %d: %d bits sent, equation 8 says %d", r.Agents, r.Parts, r.Heard, r.Formula)
			}
			if r.Precision < 0 || r.Precision > 1 {
				t.Errorf("m = %d, L = %d: precision %v", r.Agents, r.Parts, r.Precision)
			}
		}
	}
	parts := figures[1]
	if points != 14 || !(parts[len(parts)-1].Precision > parts[0].Precision) {
		t.Errorf("%d points; precision %v with one part, %v with 256", points, parts[0].Precision, parts[len(parts)-1].Precision)
	}
}

// Of a crawl's queue agents have the URLs of their own sites, and where a part is one URL, nuggets of
// many bits give the order of all: of 40 URLs the best 4 come first.
func TestNuggetsOfACrawl(t *testing.T) {
	var queue []frontier.Entry
	for i := range 40 {
		u, err := weburl.Parse(fmt.Sprintf("http://h%d.example/", i))
		if err != nil {
			t.Fatal(err)
		}
		queue = append(queue, frontier.Entry{URL: u, Priority: 1 - float64(i)/40})
	}
	o := sim.NuggetOptions{URLs: 256, Parts: 4, Lambda: 16, Queue: queue}
	figures, err := sim.Nuggets(o, func(f nugget.Format, queues [][]float64) ([]nugget.Nugget, int, int, error) {
		if n := len(slices.Concat(queues...)); n != 40 || len(queues) != f.Agents {
			t.Errorf("%d agents have %d URLs", len(queues), n)
		}
		turns, sent, err := nugget.Order(f, queues)
		return turns, sent, 0, err
	})
	if err != nil {
		t.Fatal(err)
	}
	parts := figures[1]
	if last := parts[len(parts)-1]; last.Parts != 256 || last.Precision != 1 {
		t.Errorf("%d parts: precision %v, want 1", last.Parts, last.Precision)
	}
	if _, err := sim.Queue(t.Context(), chain(t, 3, func(int) bool { return true }), newStrategy(t, "breadth-first"), sim.Options{}); err == nil {
		t.Error("nothing waits after a whole crawl: no error")
	}
}
