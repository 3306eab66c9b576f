package report

import (
	"bytes"
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
	var b bytes.Buffer
	switch format {
	case "text":
		r.text(&b)
	case "md":
		r.markdown(&b)
	case "csv":
		r.csv(&b)
	case "json":
		if err := r.json(&b); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	case "svg":
		if err := r.svg(&b); err != nil {
			return fmt.Errorf("report: svg: %w", err)
		}
	default:
		return fmt.Errorf("report: format %q is not one of %s", format, strings.Join(Formats, ", "))
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

func (r *Report) text(b *bytes.Buffer) {
	WriteTable(b, r.table()) // a buffer takes everything
	for _, s := range r.sentences() {
		fmt.Fprintf(b, "%-9s %s\n", s[0], s[1])
	}
	most := 0.0
	lines := r.lines()
	for _, l := range lines {
		most = max(most, slices.Max(append(l.y, 0)))
	}
	if most > 0 {
		fmt.Fprintf(b, "\nharvest over %d pages, 0 to %.1f %%\n", r.Crawls[0].Pages, 100*most)
		for _, l := range lines {
			fmt.Fprintf(b, "  %s  %s\n", sparks(l.y, most), l.name)
		}
	}
	r.distances(b)
	if len(r.Thresholds) > 0 {
		fmt.Fprintln(b)
	}
	for _, g := range r.Thresholds {
		fmt.Fprintf(b, "%-9s %s\n", "gate", g)
	}
}

// sentences are further results, each with a title.
func (r *Report) sentences() [][2]string {
	c := r.Crawls[0]
	var all [][2]string
	say := func(word, format string, args ...any) {
		all = append(all, [2]string{word, fmt.Sprintf(format, args...)})
	}
	for _, earlier := range r.Crawls[1:] {
		new, gone := c.Against(earlier)
		say("against", "%s: %d addresses are new, %d are gone", textutil.OneLine(earlier.Name), new, gone)
	}
	if b := c.Biggest; b.Relevant > 0 {
		say("biggest", "%s has %d of %d relevant pages, and %d addresses", textutil.OneLine(b.Host),
			b.Relevant, c.Relevant, b.Addresses)
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

// A line is a harvest curve for drawing: of equal stretches of pages.
type line struct {
	name      string
	x, y      []float64 // pages at the end of a stretch, harvest in it
	estimated bool
}

// stretches is how many a line has at most.
const stretches = 60

func (r *Report) lines() []line {
	var lines []line
	last := r.Crawls[0].Pages
	for i, c := range r.Crawls {
		pages, found := []float64{0}, []float64{0}
		for _, p := range c.Curve {
			if p.Pages > 0 {
				pages, found = append(pages, float64(p.Pages)), append(found, float64(p.Relevant))
			}
		}
		lines = append(lines, lineOf(textutil.OneLine(c.Name), pages, found, last))
		if i > 0 {
			continue
		}
		pages, found = []float64{0}, []float64{0}
		for _, p := range c.BreadthFirst.Curve {
			if p.Pages > 0 {
				pages, found = append(pages, float64(p.Pages)), append(found, p.Relevant)
			}
		}
		if len(pages) > 1 {
			l := lineOf("breadth-first, at most (estimated)", pages, found, last)
			l.estimated = true
			lines = append(lines, l)
		}
	}
	return lines
}

// lineOf returns the harvest of found, as it was after pages, in equal stretches
// of the first last pages.
func lineOf(name string, pages, found []float64, last int) line {
	l := line{name: name}
	n := min(stretches, len(pages)-1)
	before := 0.0
	for i := range n {
		x := float64(last) * float64(i+1) / float64(n)
		k, _ := slices.BinarySearch(pages, x)
		if k == len(pages) {
			break // the curve ends here
		}
		at := found[k]
		if k > 0 && pages[k] > x {
			at = found[k-1] + (found[k]-found[k-1])*(x-pages[k-1])/(pages[k]-pages[k-1])
		}
		l.x, l.y = append(l.x, x), append(l.y, (at-before)/(float64(last)/float64(n)))
		before = at
	}
	return l
}

var bars = []rune("▁▂▃▄▅▆▇█")

// sparks draws numbers from 0 to most.
func sparks(y []float64, most float64) string {
	var b strings.Builder
	for _, v := range y {
		b.WriteRune(bars[min(int(v/most*float64(len(bars))), len(bars)-1)])
	}
	return b.String() + strings.Repeat(" ", stretches-len(y))
}

func (r *Report) markdown(b *bytes.Buffer) {
	WriteMarkdown(b, r.table())
	fmt.Fprintln(b)
	for _, s := range r.sentences() {
		fmt.Fprintf(b, "- **%s** %s\n", s[0], markdownCell.Replace(s[1]))
	}
	for _, g := range r.Thresholds {
		fmt.Fprintf(b, "- **gate** %s\n", g)
	}
}

func (r *Report) csv(b *bytes.Buffer) {
	w := csv.NewWriter(b)
	w.Write([]string{"crawl", "pages", "relevant", "addresses", "streets"})
	for i, c := range r.Crawls {
		name := textutil.OneLine(c.Name)
		for _, p := range c.Curve {
			w.Write([]string{name, fmt.Sprint(p.Pages), fmt.Sprint(p.Relevant), fmt.Sprint(p.Addresses),
				fmt.Sprint(p.Streets)})
		}
		if i == 0 {
			for _, p := range c.BreadthFirst.Curve {
				w.Write([]string{"breadth-first, at most (estimated)", fmt.Sprint(p.Pages),
					fmt.Sprintf("%.1f", p.Relevant), "", ""})
			}
		}
	}
	w.Flush()
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
		new, gone := r.Crawls[0].Against(earlier)
		out.Against = append(out.Against, against{earlier.Name, new, gone})
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

func (r *Report) svg(b *bytes.Buffer) error {
	f := Figure{Title: "Harvest rate", X: "pages downloaded", Y: "relevant, %"}
	colours := 0
	for _, l := range r.lines() {
		drawn := Line{Name: l.name, Number: colours, Dashed: l.estimated}
		for i := range l.x {
			drawn.Points = append(drawn.Points, plotter.XY{X: l.x[i], Y: 100 * l.y[i]})
		}
		if len(drawn.Points) == 0 {
			continue
		}
		if !l.estimated {
			colours++
		}
		f.Lines = append(f.Lines, drawn)
	}
	return writeSheet(b, "svg", []Figure{f})
}
