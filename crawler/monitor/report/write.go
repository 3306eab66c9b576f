package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gazehound/internal/textutil"

	"gonum.org/v1/plot/plotter"
)

// Formats are those of Write.
var Formats = []string{"text", "md", "csv", "json", "svg"}

// A Report is a crawl, earlier ones beside it, and the gates it has to pass.
type Report struct {
	Crawls     []*Crawl // the first one is what the report is about
	Thresholds []ThresholdResult
}

// Write writes r in one of Formats. csv has the curves, svg draws them.
func (r *Report) Write(w io.Writer, format string) error {
	write := map[string]func(b *bytes.Buffer) error{"text": r.text, "md": r.markdown, "csv": r.csv, "json": r.json,
		"svg": r.svg}[format]
	if write == nil {
		return fmt.Errorf("report: format %q is not one of %s", format, strings.Join(Formats, ", "))
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("report: %s: %w", format, err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// table returns a row for each metric that some crawl has: its name and what
// the crawls say, their names first.
func (r *Report) table() [][]string {
	rows := [][]string{{""}}
	for _, c := range r.Crawls {
		rows[0] = append(rows[0], textutil.OneLine(c.Name))
	}
	for _, m := range metrics {
		row, some := []string{m.words}, false
		for _, c := range r.Crawls {
			x := m.of(c)
			if math.IsNaN(x) {
				row = append(row, "–")
				continue
			}
			some = true
			row = append(row, m.form(x))
		}
		if some {
			rows = append(rows, row)
		}
	}
	return rows
}

func (r *Report) text(b *bytes.Buffer) error {
	textutil.WriteTable(b, r.table()) // a buffer takes everything
	for _, s := range r.sentences() {
		fmt.Fprintf(b, "%-9s %s\n", s[0], s[1])
	}
	most := 0.0
	curves := r.curves()
	for _, c := range curves {
		for _, p := range c.points {
			most = max(most, p.Y)
		}
	}
	if most > 0 {
		fmt.Fprintf(b, "\nharvest over %s pages, 0 to %.1f %%\n", textutil.Count(r.Crawls[0].Pages), 100*most)
		for _, c := range curves {
			fmt.Fprintf(b, "%s\n  %s\n", c.name, c.sparks(most))
		}
	}
	r.distances(b)
	if len(r.Thresholds) > 0 {
		fmt.Fprintln(b)
	}
	for _, g := range r.Thresholds {
		fmt.Fprintf(b, "%-9s %s\n", "gate", g)
	}
	return nil
}

// sentences are further results, each with a title.
func (r *Report) sentences() [][2]string {
	c := r.Crawls[0]
	var all [][2]string
	say := func(word, format string, args ...any) {
		all = append(all, [2]string{word, fmt.Sprintf(format, args...)})
	}
	for _, earlier := range r.Crawls[1:] {
		added, gone := c.Against(earlier)
		say("against", "%s: %d addresses are new, %d are gone", textutil.OneLine(earlier.Name), added, gone)
	}
	if b := c.Biggest; b.Relevant > 0 {
		say("biggest", "%s has %d of %d relevant pages, and %d addresses", textutil.OneLine(b.Host),
			b.Relevant, c.Relevant, b.Addresses)
	}
	for _, h := range c.Rendered {
		say("rendered", "%s  %s, %d of them relevant", textutil.OneLine(h.Host), textutil.Several(h.Pages, "page"),
			h.Relevant)
	}
	for _, h := range c.Silent {
		say("silent", "%s", textutil.OneLine(h.String()))
	}
	if m := c.Streets; m != nil {
		say("streets", "%d of %d found (%.1f %%); that is %.0f %% of those that sites like these mention, "+
			"estimated as %.0f in all (Chao2, 95 %%: %.0f to %.0f)",
			m.Mentioned, m.Gazetteer, 100*m.Share, 100*m.Found, m.Estimate, m.Low, m.High)
		say("sites", "%d mention streets; streets on a single one of them: %d, on two: %d; "+
			"a mention on a further site is of a known street in %.0f %% (Good–Turing)",
			m.Sites, m.Once, m.Twice, 100*m.Seen)
		say("go on?", "%s", m.Advice)
	}
	return all
}

// distances prints the histograms.
func (r *Report) distances(b *bytes.Buffer) {
	for _, h := range Histograms {
		counts := h.Of(&r.Crawls[0].Branches)
		if len(counts) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s\n", h.Title)
		rows := folded(counts)
		most := slices.Max(rows)
		for i, n := range rows[h.First:] {
			i += h.First
			label := fmt.Sprint(i)
			if i == maxRows-1 && len(counts) > maxRows {
				label += "+"
			}
			fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("  %3s  %7d  %s", label, n,
				strings.Repeat("█", n*40/max(most, 1))), " "))
		}
	}
}

// maxRows bounds a printed histogram; its last row holds all beyond.
const maxRows = 12

func folded(n []int) []int {
	if len(n) <= maxRows {
		return n
	}
	rows := slices.Clone(n[:maxRows])
	for _, more := range n[maxRows:] {
		rows[maxRows-1] += more
	}
	return rows
}

// A curve is the harvest of a crawl for drawing.
type curve struct {
	name   string
	points plotter.XYs // pages at the end of a stretch, harvest in it
}

func (r *Report) curves() (all []curve) {
	last := float64(r.Crawls[0].Pages)
	for _, c := range r.Crawls {
		all = append(all, curve{textutil.OneLine(c.Name), stretched(c.Curve, last)})
	}
	return all
}

// stretches is how many points a curve has at most.
const stretches = 60

// stretched returns the harvest of what was found, in equal stretches of the first last pages.
func stretched(found []Point, last float64) (points plotter.XYs) {
	found = append([]Point{{}}, found...)
	before, n := 0.0, float64(min(stretches, len(found)-1))
	for i := 1.0; i <= n && last > 0; i++ {
		x := last * i / n
		k, _ := slices.BinarySearchFunc(found, x, func(p Point, x float64) int {
			return cmp.Compare(float64(p.Pages), x)
		})
		if k == len(found) {
			break // the curve ends here
		}
		from, to := found[k-1], found[k]
		rate := float64(to.Relevant-from.Relevant) / float64(to.Pages-from.Pages)
		at := float64(from.Relevant) + rate*(x-float64(from.Pages))
		points = append(points, plotter.XY{X: x, Y: (at - before) / (last / n)})
		before = at
	}
	return points
}

var bars = []rune("▁▂▃▄▅▆▇█")

// sparks draws the points of a curve from 0 to most.
func (c *curve) sparks(most float64) string {
	var b strings.Builder
	for _, p := range c.points {
		b.WriteRune(bars[min(int(p.Y/most*float64(len(bars))), len(bars)-1)])
	}
	return b.String() + strings.Repeat(" ", stretches-len(c.points))
}

func (r *Report) markdown(b *bytes.Buffer) error {
	textutil.WriteMarkdown(b, r.table())
	fmt.Fprintln(b)
	for _, s := range r.sentences() {
		fmt.Fprintf(b, "- **%s** %s\n", s[0], textutil.MarkdownCell(s[1]))
	}
	for _, g := range r.Thresholds {
		fmt.Fprintf(b, "- **gate** %s\n", g)
	}
	return nil
}

func (r *Report) csv(b *bytes.Buffer) error {
	w := csv.NewWriter(b)
	w.Write([]string{"crawl", "pages", "relevant", "addresses", "streets"})
	for _, c := range r.Crawls {
		name := textutil.OneLine(c.Name)
		for _, p := range c.Curve {
			w.Write([]string{name, fmt.Sprint(p.Pages), fmt.Sprint(p.Relevant), fmt.Sprint(p.Addresses),
				fmt.Sprint(p.Streets)})
		}
	}
	w.Flush()
	return nil
}

func (r *Report) json(b *bytes.Buffer) error {
	type against struct {
		Name string `json:"name"`
		New  int    `json:"new_addresses"`
		Gone int    `json:"gone_addresses"`
	}
	out := struct {
		Type string `json:"type"`
		*Crawl
		Earlier    []*Crawl          `json:"earlier,omitempty"`
		Against    []against         `json:"against,omitempty"`
		Thresholds []ThresholdResult `json:"gates,omitempty"`
	}{Type: "report", Crawl: r.Crawls[0], Earlier: r.Crawls[1:], Thresholds: r.Thresholds}
	for _, earlier := range r.Crawls[1:] {
		added, gone := r.Crawls[0].Against(earlier)
		out.Against = append(out.Against, against{earlier.Name, added, gone})
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

func (r *Report) svg(b *bytes.Buffer) error {
	f := Figure{Title: "Harvest rate", X: "pages downloaded", Y: "relevant, %"}
	for _, c := range r.curves() {
		if len(c.points) == 0 {
			continue
		}
		for i := range c.points {
			c.points[i].Y *= 100
		}
		f.Lines = append(f.Lines, Line{Name: c.name, Points: c.points, Number: len(f.Lines)})
	}
	return writeSheet(b, "svg", []Figure{f})
}
