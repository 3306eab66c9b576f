package sim

import (
	"fmt"
	"io"
	"slices"
)

// An Ablation is what a part of an order gives: the relative change of the area under the coverage
// curve when the part is left out, on the same webs with the same random seeds.
type Ablation struct {
	Order, Without string
	Webs           []AblationWeb
	// Change is that of the mean area of the webs; its interval is that over the webs, or over the
	// random seeds if there is one web only.
	Change Estimate
}

// AblationWeb is an Ablation on one web.
type AblationWeb struct {
	Web    string
	Whole  float64  // area of the whole order, mean of the random seeds
	Change Estimate // -0.1: the area is a tenth smaller without the part
}

// Ablations returns what the parts left out give after n pages, in the order of Orders.
func (c *Comparison) Ablations(n int) (list []Ablation) {
	for _, o := range c.Orders {
		at := slices.IndexFunc(c.Orders, func(whole OrderResults) bool { return whole.Name == o.Whole })
		if at < 0 {
			continue
		}
		a := Ablation{Order: o.Whole, Without: o.Without}
		var changes []float64 // of areas, web by web
		mean := 0.0
		for first := 0; first < len(o.Runs); first += c.Runs {
			web := ablate(c.Orders[at].Runs[first:first+c.Runs], o.Runs[first:first+c.Runs], n)
			a.Webs = append(a.Webs, web)
			changes = append(changes, web.Change.Mean*web.Whole)
			mean += web.Whole / float64(len(o.Runs)/c.Runs)
		}
		for i := range changes {
			changes[i] = part(changes[i], mean)
		}
		a.Change = estimate(changes)
		if len(a.Webs) == 1 {
			a.Change = a.Webs[0].Change
		}
		list = append(list, a)
	}
	return list
}

// ablate compares the runs on one web, seed by seed.
func ablate(whole, without []*Result, n int) AblationWeb {
	web := AblationWeb{Web: whole[0].Web}
	for _, r := range whole {
		web.Whole += r.Area(n) / float64(len(whole))
	}
	var changes []float64
	for i := range whole {
		changes = append(changes, part(without[i].Area(n)-whole[i].Area(n), web.Whole))
	}
	web.Change = estimate(changes)
	return web
}

// part returns x as a part of whole, 0 of nothing.
func part(x, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return x / whole
}

// writeAblations writes what the parts give after n pages, if some were left out.
func (c *Comparison) writeAblations(w io.Writer, n int, write func(io.Writer, [][]string) error) {
	list := c.Ablations(n)
	if len(list) == 0 {
		return
	}
	over := fmt.Sprintf("the %d webs", len(list[0].Webs))
	if len(list[0].Webs) == 1 {
		over = fmt.Sprintf("the %d random seeds of the only web: it says nothing of others", c.Runs)
	}
	fmt.Fprintf(w, "\nchange of the area after %d pages without a part, by web and seed; interval over %s\n\n", n, over)
	rows := [][]string{{"web", "area"}}
	for _, web := range list[0].Webs {
		rows = append(rows, []string{web.Web, fmt.Sprintf("%.3f", web.Whole)})
	}
	rows = append(rows, []string{"all", ""})
	for _, a := range list {
		rows[0] = append(rows[0], "without "+a.Without)
		for i, web := range a.Webs {
			rows[i+1] = append(rows[i+1], percent(web.Change))
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], percent(a.Change))
	}
	write(w, rows)
}
