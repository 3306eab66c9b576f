package report

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
	_ "gonum.org/v1/plot/vg/vgimg"
	_ "gonum.org/v1/plot/vg/vgsvg"
)

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

// DrawFigures draws figures to one sheet where name ends in .svg or .png, else
// to a folder, an SVG and a PNG file each. It returns the files that it wrote.
func DrawFigures(name string, figures []Figure) (files []string, err error) {
	switch ext := strings.ToLower(filepath.Ext(name)); ext {
	case ".svg", ".png":
		return []string{name}, drawSheet(name, figures)
	case "":
	default:
		return nil, fmt.Errorf("report: plots are .svg or .png files, or a folder; %q is neither", name)
	}
	err = os.MkdirAll(name, 0o755)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	for i, f := range figures {
		for _, ext := range []string{".svg", ".png"} {
			file := filepath.Join(name, f.Name+ext)
			err := drawSheet(file, figures[i:i+1])
			if err != nil {
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
			return nil, fmt.Errorf("report: plot %s: %w", f.Name, err)
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
	p.X.Min, p.Y.Min = 0, 0
	p.Y.Max *= 1.25 // room for the legend
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		if !(axis.Max > 0) {
			axis.Max = 1
		}
	}
	return p, nil
}

// drawSheet draws figures on one sheet, two beside one another, to a file.
func drawSheet(file string, figures []Figure) error {
	var b bytes.Buffer
	err := writeSheet(&b, strings.ToLower(filepath.Ext(file)[1:]), figures)
	if err != nil {
		return fmt.Errorf("report: draw %s: %w", file, err)
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// writeSheet writes them in a format of gonum's, such as svg.
func writeSheet(w io.Writer, format string, figures []Figure) error {
	columns := min(len(figures), 2)
	rows := (len(figures) + columns - 1) / columns
	width, height := vg.Length(columns)*16*vg.Centimeter, vg.Length(rows)*10*vg.Centimeter
	canvas, err := draw.NewFormattedCanvas(width, height, format)
	if err != nil {
		return err
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
	_, err = canvas.WriteTo(w)
	return err
}
