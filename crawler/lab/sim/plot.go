package sim

import (
	"slices"

	"gazehound/crawler/monitor/report"

	"gonum.org/v1/plot/plotter"
)

// Figures are the plots that the papers show, by name.
var figures = []struct {
	name, title, x, y string
	curve             func(r *Result, s Sample) (x, y float64)
	bars              func(b *report.Branches) []int
	from              int // the first bar
	timed, rises      bool
}{
	{name: "harvest", rises: true, title: "Relevant against downloaded pages (Ahlers & Boll, figure 7)",
		x: "pages downloaded", y: "relevant pages",
		curve: func(_ *Result, s Sample) (float64, float64) { return float64(s.Pages), float64(s.Found) }},
	{name: "relative-harvest", title: "Harvest rate (Ahlers & Boll, figure 8; Somboonviwat, figures 3, 6, 7)",
		x: "pages downloaded", y: "harvest rate, %",
		curve: func(r *Result, s Sample) (float64, float64) { return float64(s.Pages), 100 * r.Harvest(s.Pages) }},
	{name: "coverage", rises: true, title: "Coverage (Somboonviwat, figures 4, 6, 7)", x: "pages downloaded",
		y:     "coverage, %",
		curve: func(r *Result, s Sample) (float64, float64) { return float64(s.Pages), 100 * r.Coverage(s.Pages) }},
	{name: "queue", title: "Size of the queue (Somboonviwat, figures 5, 6, 7)", x: "pages downloaded",
		y:     "URLs waiting",
		curve: func(_ *Result, s Sample) (float64, float64) { return float64(s.Pages), float64(s.Queue) }},
	{name: "queue-time", title: "Size of the queue over virtual time", x: "minutes", y: "URLs waiting", timed: true,
		curve: func(_ *Result, s Sample) (float64, float64) { return s.Time.Minutes(), float64(s.Queue) }},
	{name: "coverage-time", title: "Coverage over virtual time", x: "minutes", y: "coverage, %", timed: true,
		rises: true,
		curve: func(r *Result, s Sample) (float64, float64) { return s.Time.Minutes(), 100 * r.Coverage(s.Pages) }},
	{name: "bridges", title: "Bridge pages between relevant pages (Ahlers & Boll, figure 9)", x: "bridge pages",
		y:    "relevant pages",
		bars: func(b *report.Branches) []int { return b.Bridges }},
	{name: "tails", title: "Lengths of tails (Ahlers & Boll, figure 9)",
		x: "irrelevant pages behind the last relevant one", y: "ends of the crawl", from: 1,
		bars: func(b *report.Branches) []int { return b.Tails }},
	{name: "seed-distances", title: "Distance of relevant pages from a seed (Ahlers & Boll, figure 10)",
		x: "links from a seed", y: "relevant pages",
		bars: func(b *report.Branches) []int { return b.SeedDistances }},
}

// maxBars bounds the classes of a histogram in a plot; the last one holds all
// beyond.
const maxBars = 40

// Plot draws the figures of the papers: curves show the first run of each order with
// full lines and the others thin; histograms show the mean of the runs. See DrawFigures.
func (c *Comparison) Plot(name string) (files []string, err error) {
	var drawn []report.Figure
	for _, f := range figures {
		if f.timed && !c.timed() {
			continue
		}
		g := report.Figure{Name: f.name, Title: f.title, X: f.x, Y: f.y, LegendBelow: f.rises}
		for k, o := range c.Orders {
			if f.bars != nil {
				g.Lines = append(g.Lines, report.Line{Name: o.Name, Points: c.bars(f.bars, f.from, &o), Number: k,
					Steps: true})
				continue
			}
			for n, r := range o.Runs {
				if n > 0 && len(c.Orders)*len(o.Runs) > 60 {
					break
				}
				line := report.Line{Number: k, Thin: n > 0}
				if n == 0 {
					line.Name = o.Name
				}
				for _, s := range r.Samples {
					x, y := f.curve(r, s)
					line.Points = append(line.Points, plotter.XY{X: x, Y: y})
				}
				g.Lines = append(g.Lines, line)
			}
		}
		drawn = append(drawn, g)
	}
	return report.DrawFigures(name, drawn)
}

// timed reports whether virtual time passed.
func (c *Comparison) timed() bool {
	return slices.ContainsFunc(c.Orders, func(o OrderResults) bool {
		return slices.ContainsFunc(o.Runs, func(r *Result) bool { return r.Time > 0 })
	})
}

func (c *Comparison) bars(of func(b *report.Branches) []int, from int, o *OrderResults) (points plotter.XYs) {
	most := 1
	for i := range c.Orders {
		for _, r := range c.Orders[i].Runs {
			most = max(most, len(of(&r.Branches)))
		}
	}
	for i, n := range o.histogram(of, min(most, maxBars)) {
		if i >= from {
			points = append(points, plotter.XY{X: float64(i), Y: n})
		}
	}
	return points
}
