package report

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/cluster/partition"
	"gazehound/internal/textutil"
)

// NodesFormats are the formats of NodesComparison.Write: tables for people, the same in Markdown,
// one number per line as CSV, and all of it as JSON.
var NodesFormats = []string{"text", "md", "csv", "json"}

// NodesResult is what several nodes fetched of one web.
type NodesResult struct {
	Partition partition.Method
	Policy    partition.Policy
	Strategy  string // as the caller calls it
	Nodes     []string
	Cities    []int // of each node; published numbers are shown beside the paper's cities only
	Metrics
}

// A NodesComparison holds crawls of one web by several nodes, to be printed
// beside what Gao, Lee & Miao published.
type NodesComparison struct {
	Web     string // what was crawled, in words
	Results []*NodesResult
	Orders  []NodeOrder // of the nodes of a crawl that kept one order; else nil
}

// A NodeOrder is a node's cost of agreeing on orders with the others (Ahmadi-Abkenari & Selamat
// 2010, section 8).
type NodeOrder struct {
	Node string `json:"node"`
	nugget.Count
}

// orderRows is the table of Orders.
func (c *NodesComparison) orderRows() [][]string {
	rows := [][]string{{"node", "rounds", "nuggets heard", "bits", "equation 8", "bytes on the wire",
		"parts in turn", "out of turn"}}
	for _, o := range c.Orders {
		row := []string{o.Node}
		for _, n := range []int64{o.Rounds, o.Nuggets, o.Bits, o.Formula, o.Bytes, o.Turns, o.Impatient} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		rows = append(rows, row)
	}
	return rows
}

// Name returns what tables and expectations call a result: the partition,
// "-b" for policy B, and the strategy where it is not breadth-first.
func (r *NodesResult) Name() string {
	name := string(r.Partition)
	if r.Policy == partition.PolicyB {
		name += "-b"
	}
	if r.Strategy != "" && r.Strategy != "breadth-first" {
		name += "-" + r.Strategy
	}
	return name
}

// nodesMetrics are the metrics of a NodesComparison.
var nodesMetrics = []struct {
	name string
	of   func(r *NodesResult) float64
}{
	{"pages", func(r *NodesResult) float64 { return float64(r.Fetches) }},
	{"coverage", func(r *NodesResult) float64 { return r.GeoCoverage }},
	{"geographic-coverage", func(r *NodesResult) float64 { return r.GeographicCoverage }},
	{"focus", func(r *NodesResult) float64 { return r.GeoFocus }},
	{"unique", func(r *NodesResult) float64 { return r.Unique }},
	{"centrality", func(r *NodesResult) float64 { return r.Centrality }},
	{"overlap", func(r *NodesResult) float64 { return r.Overlap }},
	{"diversity", func(r *NodesResult) float64 { return r.Diversity }},
	{"communication", func(r *NodesResult) float64 { return r.Communication }},
	{"linked", func(r *NodesResult) float64 { return r.Linked }},
	{"unlinked", func(r *NodesResult) float64 { return r.Unlinked }},
}

// NodesMetricNames returns the names of metrics for NodesComparison.Value.
func NodesMetricNames() []string {
	var names []string
	for _, m := range nodesMetrics {
		names = append(names, m.name)
	}
	return names
}

// Value returns one metric of a result by name, at the end of the crawl; pages must be 0. ok is
// false if it is unknown.
func (c *NodesComparison) Value(name, metric string, pages int) (v float64, ok bool) {
	for _, r := range c.Results {
		if v, ok := r.value(metric); ok && pages == 0 && r.Name() == name {
			return v, true
		}
	}
	return 0, false
}

// value returns a number of nodesMetrics.
func (r *NodesResult) value(metric string) (v float64, ok bool) {
	for _, m := range nodesMetrics {
		if m.name == metric {
			return m.of(r), true
		}
	}
	return 0, false
}

// A nodesTable is one of the paper's tables, and what was published there for
// partitions under policy A. Values of columns are those of Metrics; with PerNode
// a column for each node comes first, the general one before the others.
type nodesTable struct {
	Number    int                           `json:"number"`
	Title     string                        `json:"title"`
	Percent   bool                          `json:"percent"`
	Digits    int                           `json:"digits"`
	PerNode   bool                          `json:"per_node"`
	Columns   []string                      `json:"columns"`
	Metrics   []string                      `json:"metrics"`
	Published map[partition.Method][]figure `json:"published"`
}

//go:embed gao2006.json
var gao2006JSON []byte

// gao2006 is what Gao, Lee & Miao published.
var gao2006 = sync.OnceValue(func() (p struct {
	Cities []int                       // of the nodes, the general one first (table 1)
	Tables []nodesTable                // 2 to 9 and 11
	Merits map[partition.Method]string // the rows of table 10
}) {
	if err := json.Unmarshal(gao2006JSON, &p); err != nil {
		panic("gao2006.json: " + err.Error()) // it is part of the program
	}
	return p
})

// values returns the row of a result.
func (t *nodesTable) values(r *NodesResult) (row []figure) {
	if t.PerNode {
		for _, n := range r.Metrics.Nodes {
			row = append(row, figureOf(map[int]float64{3: n.GeoCoverage, 4: n.GeoFocus, 5: n.Unique}[t.Number]))
		}
	}
	for _, name := range t.Metrics {
		v, _ := r.value(name)
		row = append(row, figureOf(v))
	}
	return row
}

// beside returns what was published for the row of a result, in its columns; nil where
// nothing was, or the result does not compare with the paper's.
func (t *nodesTable) beside(r *NodesResult) []figure {
	if !r.likePaper(t.PerNode) {
		return nil
	}
	return t.Published[r.Partition]
}

// likePaper reports whether a result compares with the paper's: the strategy and policy are the
// paper's, and the nodes share out the same numbers of cities, with perNode in the same order.
func (r *NodesResult) likePaper(perNode bool) bool {
	cities, paper := slices.Clone(r.Cities), slices.Clone(gao2006().Cities)
	if !perNode {
		slices.Sort(cities)
		slices.Sort(paper)
	}
	return r.Name() == string(r.Partition) && slices.Equal(cities, paper)
}

func (t *nodesTable) titles(r *NodesResult) []string {
	if t.PerNode {
		return slices.Concat(r.Nodes, t.Columns)
	}
	return t.Columns
}

func (t *nodesTable) cell(f figure) string {
	switch {
	case f == nil:
		return "–"
	case t.Percent:
		return strconv.FormatFloat(100**f, 'f', t.Digits, 64) + " %"
	}
	return strconv.FormatFloat(*f, 'f', t.Digits, 64)
}

// rows returns the table for people, the titles first.
func (t *nodesTable) rows(c *NodesComparison) [][]string {
	rows := [][]string{append([]string{"partition"}, t.titles(c.Results[0])...)}
	add := func(name string, values []figure) {
		row := []string{name}
		for _, v := range values {
			row = append(row, t.cell(v))
		}
		rows = append(rows, row)
	}
	for _, r := range c.Results {
		add(r.Name(), t.values(r))
		if p := t.beside(r); p != nil {
			add("  published", p)
		}
	}
	return rows
}

// merits are the columns of table 10, and whether more is better.
var merits = []struct {
	title, metric string
	more          bool
}{
	{"geo-coverage", "coverage", true}, {"geo-focus", "focus", true}, {"geo-connectivity", "centrality", true},
	{"overlap", "overlap", false}, {"diversity", "diversity", true}, {"communication", "communication", false},
}

// meritRows is table 10. The paper judges by eye; here the third of the way from the worst to the
// best result decides, and there is none where all are equal.
func (c *NodesComparison) meritRows() [][]string {
	rows := [][]string{{"partition"}}
	words := make([][]string, len(c.Results))
	for _, m := range merits {
		rows[0] = append(rows[0], m.title)
		worst, best := math.Inf(1), math.Inf(-1)
		values := make([]float64, len(c.Results))
		for i, r := range c.Results {
			values[i], _ = r.value(m.metric)
			if !m.more {
				values[i] = -values[i]
			}
			if !math.IsNaN(values[i]) {
				worst, best = min(worst, values[i]), max(best, values[i])
			}
		}
		for i, v := range values {
			word := "–"
			switch part := (v - worst) / (best - worst); {
			case v == best && v == worst:
				word = "Equal"
			case part >= 2.0/3:
				word = "Good"
			case part >= 1.0/3:
				word = "Not Bad"
			case part >= 0:
				word = "Bad"
			}
			words[i] = append(words[i], word)
		}
	}
	for i, r := range c.Results {
		rows = append(rows, append([]string{r.Name()}, words[i]...))
		if published := gao2006().Merits[r.Partition]; published != "" && r.likePaper(false) {
			rows = append(rows, append([]string{"  published"}, strings.Split(published, ", ")...))
		}
	}
	return rows
}

// Write writes all tables in one of NodesFormats. The same results give the
// same bytes.
func (c *NodesComparison) Write(w io.Writer, format string) error {
	write := map[string]func(io.Writer) error{
		"text": func(w io.Writer) error { return c.writeTables(w, "%s\n", textutil.WriteTable) },
		"md":   func(w io.Writer) error { return c.writeTables(w, "**%s**\n\n", textutil.WriteMarkdown) },
		"csv":  c.writeCSV,
		"json": c.writeJSON,
	}[format]
	if write == nil || len(c.Results) == 0 {
		return fmt.Errorf("report: no result, or format %q is not one of %s", format, strings.Join(NodesFormats, ", "))
	}
	if err := write(w); err != nil {
		return fmt.Errorf("report: write %s: %w", format, err)
	}
	return nil
}

// writeTables writes the tables for people, each under its title.
func (c *NodesComparison) writeTables(w io.Writer, heading string, write func(io.Writer, [][]string) error) error {
	_, err := fmt.Fprintln(w, c.Web)
	add := func(title string, rows [][]string) {
		fmt.Fprintf(w, "\n"+heading, title)
		err = cmp.Or(err, write(w, rows))
	}
	for _, t := range gao2006().Tables {
		add(fmt.Sprintf("Table %d: %s", t.Number, t.Title), t.rows(c))
	}
	if len(c.Results) > 1 {
		add("Table 10: merits, by thirds between the worst and the best result", c.meritRows())
	}
	if len(c.Orders) > 0 {
		add("One order of all nodes", c.orderRows())
	}
	return err
}

// A nodesCell is one number of a table.
type nodesCell struct {
	Table     int    `json:"table"`
	What      string `json:"what"`
	Column    string `json:"column"`
	Value     figure `json:"value"`
	Published figure `json:"published,omitempty"`
}

// A figure is a number; nil: it is not defined.
type figure = *float64

// figureOf returns v, or nil for NaN.
func figureOf(v float64) figure {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// exact returns all digits of a figure, "" where it is not defined.
func exact(f figure) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'g', -1, 64)
}

// cells returns the numbers of a result in all tables.
func (r *NodesResult) cells() (cells []nodesCell) {
	for _, t := range gao2006().Tables {
		titles, published := t.titles(r), t.beside(r)
		for i, v := range t.values(r) {
			cell := nodesCell{Table: t.Number, What: t.Title, Column: titles[i], Value: v}
			if published != nil {
				cell.Published = published[i]
			}
			cells = append(cells, cell)
		}
	}
	return cells
}

func (c *NodesComparison) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"table", "what", "partition", "policy", "strategy", "column", "value", "published"})
	for _, r := range c.Results {
		for _, cell := range r.cells() {
			out.Write([]string{strconv.Itoa(cell.Table), cell.What, string(r.Partition), string(r.Policy), r.Strategy,
				cell.Column, exact(cell.Value), exact(cell.Published)})
		}
	}
	out.Flush()
	return out.Error()
}

func (c *NodesComparison) writeJSON(w io.Writer) error {
	type result struct {
		Partition partition.Method `json:"partition"`
		Policy    partition.Policy `json:"policy"`
		Strategy  string           `json:"strategy"`
		Nodes     []string         `json:"nodes"`
		Numbers   []nodesCell      `json:"numbers"`
	}
	var all []result
	for _, r := range c.Results {
		all = append(all, result{r.Partition, r.Policy, r.Strategy, r.Nodes, r.cells()})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Web     string      `json:"web"`
		Results []result    `json:"results"`
		Orders  []NodeOrder `json:"orders,omitempty"`
	}{c.Web, all, c.Orders})
}
