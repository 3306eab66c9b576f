package sim

import (
	"bytes"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	_ "gonum.org/v1/plot/vg/vgimg"
	_ "gonum.org/v1/plot/vg/vgsvg"
)

// Figures are the plots that the papers show, by name.
var figures = []struct {
	name, title, x, y string
	curve             func(r *Result, s Sample) (x, y float64)
	bars              func(r *Result) []int
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
		bars: func(r *Result) []int { return r.Bridges }},
	{name: "tails", title: "Lengths of tails (Ahlers & Boll, figure 9)",
		x: "irrelevant pages behind the last relevant one", y: "ends of the crawl", from: 1,
		bars: func(r *Result) []int { return r.Tails }},
	{name: "seed-distances", title: "Distance of relevant pages from a seed (Ahlers & Boll, figure 10)",
		x: "links from a seed", y: "relevant pages",
		bars: func(r *Result) []int { return r.SeedDistances }},
}

// maxBars bounds the classes of a histogram in a plot; the last one holds all
// beyond.
const maxBars = 40

// palette has colours that people with any colour vision tell apart (Okabe &
// Ito); further lines are dashed.
var palette = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255},
}

// A Figure is a plot of lines.
type Figure struct {
	Name, Title, X, Y string
	Lines             []Line
	LegendBelow       bool // curves rise, so that there is room below on the right
}

// A Line is one of a Figure.
type Line struct {
	Name   string // in the legend; "" is not there
	Points plotter.XYs
	Number int  // which colour
	Thin   bool // one of several runs
	Steps  bool // a histogram
	Dots   bool // points in place of a line
}

// Plot draws the figures of the papers: curves show the first run of each order with
// full lines and the others thin; histograms show the mean of the runs. See DrawFigures.
func (c *Comparison) Plot(name string) (files []string, err error) {
	var drawn []Figure
	for _, f := range figures {
		if f.timed && !c.timed() {
			continue
		}
		g := Figure{Name: f.name, Title: f.title, X: f.x, Y: f.y, LegendBelow: f.rises}
		for k, o := range c.Orders {
			if f.bars != nil {
				g.Lines = append(g.Lines, Line{Name: o.Name, Points: c.bars(f.bars, f.from, &o), Number: k,
					Steps: true})
				continue
			}
			for n, r := range o.Runs {
				if n > 0 && len(c.Orders)*len(o.Runs) > 60 {
					break
				}
				line := Line{Number: k, Thin: n > 0}
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
	return DrawFigures(name, drawn)
}

// timed reports whether virtual time passed.
func (c *Comparison) timed() bool {
	return slices.ContainsFunc(c.Orders, func(o OrderResults) bool {
		return slices.ContainsFunc(o.Runs, func(r *Result) bool { return r.Time > 0 })
	})
}

func (c *Comparison) bars(of func(r *Result) []int, from int, o *OrderResults) (points plotter.XYs) {
	most := 1
	for i := range c.Orders {
		for _, r := range c.Orders[i].Runs {
			most = max(most, len(of(r)))
		}
	}
	for i, n := range o.histogram(of, min(most, maxBars)) {
		if i >= from {
			points = append(points, plotter.XY{X: float64(i), Y: n})
		}
	}
	return points
}

// DrawFigures draws figures to one sheet where name ends in .svg or .png, else
// to a folder, an SVG and a PNG file each. It returns the files that it wrote.
func DrawFigures(name string, figures []Figure) (files []string, err error) {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".svg", ".png":
		return []string{name}, drawSheet(name, figures)
	case "":
	default:
		return nil, fmt.Errorf("sim: plots are .svg or .png files, or a folder; %q is neither", name)
	}
	if err := os.MkdirAll(name, 0o755); err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	for i, f := range figures {
		for _, ext := range []string{".svg", ".png"} {
			file := filepath.Join(name, f.Name+ext)
			if err := drawSheet(file, figures[i:i+1]); err != nil {
				return nil, err
			}
			files = append(files, file)
		}
	}
	return files, nil
}

// plot makes one figure.
func (f *Figure) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.X, f.Y
	p.Legend.Top = !f.LegendBelow
	p.Legend.TextStyle.Font.Size = vg.Points(8)
	p.Add(plotter.NewGrid())
	for _, l := range f.Lines {
		line, dots, err := plotter.NewLinePoints(l.Points)
		if err != nil {
			return nil, fmt.Errorf("sim: plot %s: %w", f.Name, err)
		}
		k := l.Number
		line.LineStyle = draw.LineStyle{Color: palette[k%len(palette)], Width: vg.Points(1.6)}
		if k >= len(palette) {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(float64(2 + k/len(palette)))}
		}
		if l.Thin {
			line.Width = vg.Points(0.4)
		}
		if l.Steps {
			line.StepStyle = plotter.MidStep
		}
		dots.Color, dots.Radius = palette[k%len(palette)], vg.Points(3)
		switch {
		case l.Dots:
			p.Add(dots)
			p.Legend.Add(l.Name, dots)
		case l.Name != "":
			p.Legend.Add(l.Name, line)
			fallthrough
		default:
			p.Add(line)
		}
	}
	p.X.Min = 0
	p.Y.Min, p.Y.Max = 0, p.Y.Max*1.25 // room for the legend
	return p, nil
}

// drawSheet draws figures on one sheet, two beside one another.
func drawSheet(file string, figures []Figure) error {
	columns := min(len(figures), 2)
	rows := (len(figures) + columns - 1) / columns
	width, height := vg.Length(columns)*16*vg.Centimeter, vg.Length(rows)*10*vg.Centimeter
	canvas, err := draw.NewFormattedCanvas(width, height, strings.ToLower(filepath.Ext(file)[1:]))
	if err != nil {
		return fmt.Errorf("sim: draw %s: %w", file, err)
	}
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: vg.Centimeter / 2, PadY: vg.Centimeter / 2}
	sheet := draw.New(canvas)
	for i := range figures {
		p, err := figures[i].plot()
		if err != nil {
			return err
		}
		p.Draw(tiles.At(sheet, i%columns, i/columns))
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return fmt.Errorf("sim: draw %s: %w", file, err)
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}
