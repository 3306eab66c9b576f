package sim

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gazehound/crawler/monitor/report"
	"gazehound/internal/textutil"
)

// Formats are the formats of Comparison.Write: a table for people, the same in Markdown and as CSV,
// the curves as CSV, and all of it as JSON.
var Formats = []string{"text", "md", "csv", "csv-summary", "json"}

// Write writes the comparison in one of Formats. The same results give the
// same bytes.
func (c *Comparison) Write(w io.Writer, format string) error {
	write := map[string]func(io.Writer) error{
		"text": c.writeText, "md": c.writeMarkdown, "csv": c.writeCurves,
		"csv-summary": c.writeSummary, "json": c.writeJSON,
	}[format]
	if write == nil {
		return fmt.Errorf("sim: format %q is not one of %s", format, strings.Join(Formats, ", "))
	}
	b := bufio.NewWriter(w)
	err := errors.Join(write(b), b.Flush())
	if err != nil {
		return fmt.Errorf("sim: write %s: %w", format, err)
	}
	return nil
}

func whole(e Estimate) string    { return withMargin(e, 1, "%.0f", "") }
func percent(e Estimate) string  { return withMargin(e, 100, "%.1f", " %") }
func fraction(e Estimate) string { return withMargin(e, 1, "%.3f", "") }

func withMargin(e Estimate, factor float64, format, unit string) string {
	text := fmt.Sprintf(format, e.Mean*factor)
	if !math.IsNaN(e.Margin) && e.Margin > 0 {
		text += " ± " + fmt.Sprintf(format, e.Margin*factor)
	}
	return text + unit
}

func hours(e Estimate) string {
	switch {
	case e.Mean >= 3600:
		return withMargin(Estimate{Mean: e.Mean / 3600, Margin: e.Margin / 3600}, 1, "%.1f", " h")
	case e.Mean >= 60:
		return withMargin(Estimate{Mean: e.Mean / 60, Margin: e.Margin / 60}, 1, "%.1f", " min")
	}
	return withMargin(e, 1, "%.1f", " s")
}

// rows returns the table for people after n pages, the titles first. Columns in
// which all is 0 are left out.
func (c *Comparison) rows(n int) [][]string {
	rows := [][]string{{"strategy"}}
	for _, o := range c.Orders {
		rows = append(rows, []string{o.Name})
	}
	for _, column := range metrics {
		some := column.name == "found"
		cells := []string{column.title}
		for _, o := range c.Orders {
			e := o.estimate(column.of, n)
			some = some || e.Mean > 0
			cells = append(cells, column.format(e))
		}
		if some {
			for i := range rows {
				rows[i] = append(rows[i], cells[i])
			}
		}
	}
	return rows
}

// marks returns the numbers of pages after which tables are wanted.
func (c *Comparison) marks() []int {
	return append(slices.Clone(c.Marks), c.Budget)
}

// caption says what was compared.
func (c *Comparison) caption() string {
	first := c.Orders[0].Runs
	webs, relevant := map[string]bool{}, 0
	for _, r := range first {
		webs[r.Web] = true
		relevant += r.Relevant
	}
	text := fmt.Sprintf("%s: %d relevant pages, budget %d pages", first[0].Web, first[0].Relevant, c.Budget)
	if len(webs) > 1 {
		text = fmt.Sprintf("%d webs: %d relevant pages in the mean, budget %d pages",
			len(webs), relevant/len(first), c.Budget)
	}
	if len(first) > 1 {
		text += fmt.Sprintf("; mean of %d runs ± 95 %% confidence interval", len(first))
	}
	return text
}

func (c *Comparison) writeText(w io.Writer) error {
	c.writeTables(w, "after %d pages\n", textutil.WriteTable)
	for _, h := range report.Histograms {
		fmt.Fprintf(w, "\n%s (mean of the runs)\n", h.Title)
		titles := []string{h.Axis}
		for i := h.First; i < shown; i++ {
			titles = append(titles, strconv.Itoa(i))
		}
		rows := [][]string{append(titles, strconv.Itoa(shown)+"+")}
		for _, o := range c.Orders {
			row := []string{o.Name}
			for _, n := range o.histogram(h.Of, shown)[h.First:] {
				row = append(row, strconv.FormatFloat(n, 'f', 1, 64))
			}
			rows = append(rows, row)
		}
		textutil.WriteTable(w, rows)
	}
	return nil // errors stay with the buffer until Flush
}

func (c *Comparison) writeMarkdown(w io.Writer) error {
	c.writeTables(w, "After %d pages:\n\n", textutil.WriteMarkdown)
	return nil
}

// writeTables writes the tables for people after each of the marks.
func (c *Comparison) writeTables(w io.Writer, heading string, write func(io.Writer, [][]string) error) {
	fmt.Fprintln(w, c.caption())
	for _, n := range c.marks() {
		fmt.Fprintln(w)
		if len(c.Marks) > 0 {
			fmt.Fprintf(w, heading, n)
		}
		write(w, c.rows(n))
		c.writeAblations(w, n, write)
	}
}

// shown is the number of classes of a histogram in the tables, besides the rest.
const shown = 10

// histogram returns the mean counts of n classes and, last, of all beyond.
func (o *OrderResults) histogram(of func(b *report.Branches) []int, n int) []float64 {
	means := make([]float64, n+1)
	for _, r := range o.Runs {
		for i, count := range of(&r.Branches) {
			means[min(i, n)] += float64(count) / float64(len(o.Runs))
		}
	}
	return means
}

func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func (c *Comparison) writeSummary(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"strategy", "metric", "runs", "mean", "margin95", "median", "pages"})
	for _, o := range c.Orders {
		for _, n := range c.marks() {
			for _, m := range metrics {
				e := o.estimate(m.of, n)
				out.Write([]string{o.Name, m.name, strconv.Itoa(e.Runs),
					number(e.Mean), number(e.Margin), number(e.Median), strconv.Itoa(n)})
			}
		}
	}
	out.Flush() // errors stay with the buffer until Flush
	return nil
}

func (c *Comparison) writeCurves(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"strategy", "web", "seed", "pages", "found", "harvest", "coverage",
		"addresses", "streets", "queue", "seconds"})
	for _, o := range c.Orders {
		for _, r := range o.Runs {
			for _, s := range r.Samples {
				out.Write([]string{
					o.Name, r.Web, strconv.FormatUint(r.Seed, 10), strconv.Itoa(s.Pages), strconv.Itoa(s.Found),
					number(r.Harvest(s.Pages)), number(r.Coverage(s.Pages)),
					strconv.Itoa(r.Addresses.At(s.Pages)), strconv.Itoa(r.Streets.At(s.Pages)),
					strconv.FormatInt(s.Queue, 10), number(s.Time.Seconds()),
				})
			}
		}
	}
	out.Flush()
	return out.Error()
}

// An object is one of JSON.
type object map[string]any

// object returns what is written of e; it has a margin with two runs or more.
func (e Estimate) object() object {
	o := object{"mean": e.Mean, "median": e.Median, "margin95": nil}
	if !math.IsNaN(e.Margin) {
		o["margin95"] = e.Margin
	}
	return o
}

func (c *Comparison) writeJSON(w io.Writer) error {
	orders := []object{}
	for _, o := range c.Orders {
		summary := object{}
		for _, m := range metrics {
			summary[m.name] = o.estimate(m.of, c.Budget).object()
		}
		runs := []object{}
		for _, r := range o.Runs {
			curve := []object{}
			for _, s := range r.Samples {
				curve = append(curve, object{
					"pages": s.Pages, "found": s.Found, "harvest": r.Harvest(s.Pages), "coverage": r.Coverage(s.Pages),
					"queue": s.Queue, "seconds": s.Time.Seconds(),
				})
			}
			runs = append(runs, object{
				"web": r.Web, "seed": r.Seed, "pages": r.Pages, "visits": r.Visits, "relevant": r.Relevant, "locality": r.Locality,
				"bridges": r.Bridges, "tails": r.Tails, "seed_distances": r.SeedDistances, "curve": curve,
			})
		}
		orders = append(orders, object{"strategy": o.Name, "summary": summary, "runs": runs})
	}
	line := object{"type": "simulation", "budget": c.Budget, "strategies": orders}
	if list := c.Ablations(c.Budget); len(list) > 0 {
		ablations := []object{}
		for _, a := range list {
			webs := []object{}
			for _, web := range a.Webs {
				webs = append(webs, object{"web": web.Web, "area": web.Whole, "change": web.Change.object()})
			}
			ablations = append(ablations, object{"strategy": a.Order, "without": a.Without, "webs": webs,
				"change": a.Change.object()})
		}
		line["ablations"] = ablations
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(line)
}
