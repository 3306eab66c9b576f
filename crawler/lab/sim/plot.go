package sim

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figures are the plots that the papers show, by name.
var figures = []struct {
	name, title, x, y string
	curve             func(r *Result, s Sample) (x, y float64)
	bars              func(r *Result) []int
	from              int // the first bar
	timed             bool
}{
	{name: "harvest", title: "Relevant against downloaded pages (Ahlers & Boll, figure 7)", x: "pages downloaded", y: "relevant pages",
		curve: func(_ *Result, s Sample) (float64, float64) { return float64(s.Pages), float64(s.Found) }},
	{name: "relative-harvest", title: "Harvest rate (Ahlers & Boll, figure 8; Somboonviwat, figures 3, 6, 7)", x: "pages downloaded", y: "harvest rate, %",
		curve: func(r *Result, s Sample) (float64, float64) { return float64(s.Pages), 100 * r.Harvest(s.Pages) }},
	{name: "coverage", title: "Coverage (Somboonviwat, figures 4, 6, 7)", x: "pages downloaded", y: "coverage, %",
		curve: func(r *Result, s Sample) (float64, float64) { return float64(s.Pages), 100 * r.Coverage(s.Pages) }},
	{name: "queue", title: "Size of the queue (Somboonviwat, figures 5, 6, 7)", x: "pages downloaded", y: "URLs waiting",
		curve: func(_ *Result, s Sample) (float64, float64) { return float64(s.Pages), float64(s.Queue) }},
	{name: "queue-time", title: "Size of the queue over virtual time", x: "minutes", y: "URLs waiting", timed: true,
		curve: func(_ *Result, s Sample) (float64, float64) { return s.Time.Minutes(), float64(s.Queue) }},
	{name: "coverage-time", title: "Coverage over virtual time", x: "minutes", y: "coverage, %", timed: true,
		curve: func(r *Result, s Sample) (float64, float64) { return s.Time.Minutes(), 100 * r.Coverage(s.Pages) }},
	{name: "bridges", title: "Bridge pages between relevant pages (Ahlers & Boll, figure 9)", x: "bridge pages", y: "relevant pages",
		bars: func(r *Result) []int { return r.Bridges }},
	{name: "tails", title: "Lengths of tails (Ahlers & Boll, figure 9)", x: "irrelevant pages behind the last relevant one", y: "ends of the crawl", from: 1,
		bars: func(r *Result) []int { return r.Tails }},
	{name: "seed-distances", title: "Distance of relevant pages from a seed (Ahlers & Boll, figure 10)", x: "links from a seed", y: "relevant pages",
		bars: func(r *Result) []int { return r.Depths }},
}

// maxBars bounds the classes of a histogram in a plot; the last one holds all
// beyond.
const maxBars = 40

// palette has colours that people with any colour vision tell apart (Okabe &
// Ito); further lines are dashed.
var palette = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255}, {0, 0, 0, 255},
}

// Plot draws the figures: to one sheet where name ends in .svg or .png, else
// to a folder, an SVG and a PNG file each. It returns the files that it wrote.
func (c *Comparison) Plot(name string) (files []string, err error) {
	var plots []*plot.Plot
	var names []string
	for i := range figures {
		if figures[i].timed && !c.timed() {
			continue
		}
		p, err := c.figure(i)
		if err != nil {
			return nil, fmt.Errorf("sim: plot %s: %w", figures[i].name, err)
		}
		plots, names = append(plots, p), append(names, figures[i].name)
	}
	return savePlots(name, plots, names)
}

// savePlots draws all plots into one .svg or .png file, or each as both into a
// folder under its own name, and returns the files.
func savePlots(name string, plots []*plot.Plot, names []string) (files []string, err error) {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".svg", ".png":
		return []string{name}, writePlots(name, plots)
	case "":
	default:
		return nil, fmt.Errorf("sim: plots are .svg or .png files, or a folder; %q is neither", name)
	}
	if err := os.MkdirAll(name, 0o755); err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	for i, p := range plots {
		for _, ext := range []string{".svg", ".png"} {
			file := filepath.Join(name, names[i]+ext)
			if err := writePlots(file, []*plot.Plot{p}); err != nil {
				return nil, err
			}
			files = append(files, file)
		}
	}
	return files, nil
}

// timed tells whether virtual time passed.
func (c *Comparison) timed() bool {
	for _, o := range c.Orders {
		for _, r := range o.Runs {
			if r.Time > 0 {
				return true
			}
		}
	}
	return false
}

// figure draws one figure. Curves show the first run of each order with full
// lines and the others thin; bars show the mean of the runs.
func (c *Comparison) figure(i int) (*plot.Plot, error) {
	f := &figures[i]
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.title, f.x, f.y
	// Curves of what was found rise, so that there is room below on the right.
	p.Legend.Top = f.name != "harvest" && f.name != "coverage" && f.name != "coverage-time"
	p.Legend.TextStyle.Font.Size = vg.Points(8)
	p.Add(plotter.NewGrid())
	for k, o := range c.Orders {
		style := draw.LineStyle{Color: palette[k%len(palette)], Width: vg.Points(1.6)}
		if k >= len(palette) {
			style.Dashes = []vg.Length{vg.Points(5), vg.Points(float64(2 + k/len(palette)))}
		}
		if f.bars != nil {
			line, err := c.bars(f.bars, f.from, &c.Orders[k])
			if err != nil {
				return nil, err
			}
			line.LineStyle = style
			line.StepStyle = plotter.MidStep
			p.Add(line)
			p.Legend.Add(o.Name, line)
			continue
		}
		for n, r := range o.Runs {
			if n > 0 && len(c.Orders)*len(o.Runs) > 60 {
				break
			}
			xys := plotter.XYs{{}}
			if f.name == "relative-harvest" {
				xys = xys[:0]
			}
			for _, s := range r.Samples {
				x, y := f.curve(r, s)
				xys = append(xys, plotter.XY{X: x, Y: y})
			}
			line, err := plotter.NewLine(xys)
			if err != nil {
				return nil, err
			}
			line.LineStyle = style
			if n > 0 {
				line.Width = vg.Points(0.4)
			} else {
				p.Legend.Add(o.Name, line)
			}
			p.Add(line)
		}
	}
	p.X.Min = 0
	p.Y.Min, p.Y.Max = 0, p.Y.Max*1.25 // room for the legend
	return p, nil
}

func (c *Comparison) bars(of func(r *Result) []int, from int, o *OrderResults) (*plotter.Line, error) {
	most := 1
	for i := range c.Orders {
		for _, r := range c.Orders[i].Runs {
			most = max(most, len(of(r)))
		}
	}
	var xys plotter.XYs
	for i, n := range o.histogram(of, min(most, maxBars)) {
		if i >= from {
			xys = append(xys, plotter.XY{X: float64(i), Y: n})
		}
	}
	return plotter.NewLine(xys)
}

// writePlots draws plots on one sheet, two beside one another.
func writePlots(file string, plots []*plot.Plot) error {
	columns := min(len(plots), 2)
	rows := (len(plots) + columns - 1) / columns
	width, height := vg.Length(columns)*16*vg.Centimeter, vg.Length(rows)*10*vg.Centimeter
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	if strings.EqualFold(filepath.Ext(file), ".svg") {
		canvas = vgsvg.New(width, height)
	} else {
		canvas = vgimg.PngCanvas{Canvas: vgimg.New(width, height)}
	}
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: vg.Centimeter / 2, PadY: vg.Centimeter / 2}
	sheet := draw.New(canvas)
	for i, p := range plots {
		p.Draw(tiles.At(sheet, i%columns, i/columns))
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return fmt.Errorf("sim: draw %s: %w", file, err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	return nil
}
