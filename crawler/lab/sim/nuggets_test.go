package sim_test

import (
	"testing"

	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/lab/sim"
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
