package report

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gazehound/crawler/cluster/partition"
)

// NodesFormats lists what NodesComparison.Write knows: tables for people, the
// same in Markdown, one number a line as CSV, and all of it as JSON.
var NodesFormats = []string{"text", "md", "csv", "json"}

// paperCities are the cities of the paper's nodes, the general one first (table 1).
var paperCities = []int{0, 33, 22, 10, 33, 2}

// NodesResult is what several nodes fetched of one web.
type NodesResult struct {
	Partition partition.Method
	Policy    partition.Policy
	Strategy  string // as the caller calls it
	Nodes     []string
	Cities    []int // of each node; what was published stands beside those of the paper only
	Metrics
}

// A NodesComparison holds crawls of one web by several nodes, to be printed
// beside what Gao, Lee & Miao published.
type NodesComparison struct {
	Web     string // what was crawled, in words
	Results []*NodesResult
	Orders  []NodeOrder // of the nodes of a crawl that kept one order; else nil
}

// A NodeOrder is what it took one node to agree on orders with the others
// (Ahmadi-Abkenari & Selamat 2010, section 8).
type NodeOrder struct {
	Node      string `json:"node"`
	Rounds    int64  `json:"rounds"`    // orders that were agreed on
	Nuggets   int64  `json:"nuggets"`   // heard from others
	Bits      int64  `json:"bits"`      // of these
	Formula   int64  `json:"formula"`   // this node's share of equation 8
	Bytes     int64  `json:"bytes"`     // on the wire
	Turns     int64  `json:"turns"`     // parts of its queue whose turn came
	Impatient int64  `json:"impatient"` // parts that were fetched without one
}

// orderRows is the table of Orders.
func (c *NodesComparison) orderRows() [][]string {
	rows := [][]string{{"node", "rounds", "nuggets heard", "bits", "equation 8", "bytes on the wire", "parts in turn", "out of turn"}}
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

// nodesMetrics are what a NodesComparison can be asked for.
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

// NodesMetricNames returns the names that NodesComparison.Value knows.
func NodesMetricNames() []string {
	var names []string
	for _, m := range nodesMetrics {
		names = append(names, m.name)
	}
	return names
}

// Value returns one number of the result of a name, at the end of the crawl;
// pages must be 0. ok is false where there is none.
func (c *NodesComparison) Value(name, metric string, pages int) (v float64, ok bool) {
	for _, r := range c.Results {
		for _, m := range nodesMetrics {
			if pages == 0 && r.Name() == name && m.name == metric {
				return m.of(r), true
			}
		}
	}
	return 0, false
}

// A nodesTable is one of the paper's tables: numbers of a result, and those
// that were published for a partition under policy A.
type nodesTable struct {
	number    int
	title     string
	percent   bool
	digits    int
	perNode   bool     // a column for each node comes first
	columns   []string // those behind
	of        func(r *NodesResult) []float64
	published map[partition.Method][]float64 // with perNode: 6 nodes, general first
}

var none = math.NaN()

// The numbers are those of tables 2 to 9 and 11.
var nodesTables = []nodesTable{
	{number: 2, title: "pages downloaded", columns: []string{"pages"}, of: func(r *NodesResult) []float64 { return []float64{float64(r.Fetches)} },
		published: map[partition.Method][]float64{
			partition.URLHash: {12_872_000}, partition.URLBased: {12_872_000}, partition.ExtendedAnchor: {12_820_000},
			partition.FullContent: {12_878_000}, partition.Classification: {12_874_000}, partition.PageIP: {12_874_000}}},
	{number: 3, title: "geo-coverage", percent: true, digits: 2, perNode: true, columns: []string{"all", "geographic nodes"},
		of: func(r *NodesResult) []float64 {
			each := perNode(r, func(n *NodeMetric) float64 { return n.GeoCoverage })
			return append(each, r.GeoCoverage, r.GeographicCoverage)
		},
		published: map[partition.Method][]float64{
			partition.URLHash:        {.0086, .0115, .0080, .0077, .0075, .0082, .0086, .0086},
			partition.URLBased:       {.0304, .0739, .0989, .0937, .0730, .1310, .0725, .0863},
			partition.ExtendedAnchor: {.0529, .0673, .0978, .0999, .0601, .1224, .0788, .0858},
			partition.FullContent:    {.0111, .0392, .0579, .0687, .0324, .0851, .0489, .0571},
			partition.Classification: {.0049, .0123, .0120, .0127, .0122, .0110, .0109, .0121},
			partition.PageIP:         {.0081, .0202, .0143, .0259, .0274, 0, .0171, .0220}}},
	{number: 4, title: "geo-focus", percent: true, digits: 1, perNode: true, columns: []string{"mean"},
		of: func(r *NodesResult) []float64 {
			return append(perNode(r, func(n *NodeMetric) float64 { return n.GeoFocus }), r.GeoFocus)
		},
		published: map[partition.Method][]float64{
			partition.URLBased:       {none, .917, .890, .828, .943, .976, .911},
			partition.ExtendedAnchor: {none, .820, .905, .796, .768, .923, .842},
			partition.FullContent:    {none, .752, .774, .751, .635, .849, .752},
			partition.Classification: {none, .435, .326, .055, .258, .029, .221},
			partition.PageIP:         {none, .596, .636, .556, .800, 0, .518}}},
	{number: 5, title: "unique geographic entities ÷ all", digits: 2, perNode: true, columns: []string{"all"},
		of: func(r *NodesResult) []float64 {
			return append(perNode(r, func(n *NodeMetric) float64 { return n.Unique }), r.Unique)
		},
		published: map[partition.Method][]float64{
			partition.URLHash:        {.45, .47, .46, .49, .49, .49, .35},
			partition.URLBased:       {.39, .20, .18, .16, .24, .07, .18},
			partition.ExtendedAnchor: {.39, .31, .22, .13, .32, .05, .16},
			partition.FullContent:    {.49, .35, .31, .29, .39, .14, .19},
			partition.Classification: {.52, .45, .45, .46, .46, .45, .26},
			partition.PageIP:         {.46, .25, .31, .19, .32, .00, .27}}},
	{number: 6, title: "geo-centrality", digits: 4, columns: []string{"mean"}, of: func(r *NodesResult) []float64 { return []float64{r.Centrality} },
		published: single(.0222, .1754, .1519, .0994, .0273, .0380)},
	{number: 7, title: "overlap", digits: 4, columns: []string{"all"}, of: func(r *NodesResult) []float64 { return []float64{r.Overlap} },
		published: single(0, 0, .08461, .173239, .34599, 0)},
	{number: 8, title: "diversity", digits: 4, columns: []string{"all"}, of: func(r *NodesResult) []float64 { return []float64{r.Diversity} },
		published: single(.0814, .0405, .0674, .0688, .0564, .3887)},
	{number: 9, title: "communication: URLs exchanged for each page", digits: 2, columns: []string{"all"}, of: func(r *NodesResult) []float64 { return []float64{r.Communication} },
		published: single(13.89, 25.72, 61.87, 46.69, 58.38, .15)},
	{number: 11, title: "geographic locality: pairs of pages about the same place", digits: 4, columns: []string{"δ, linked", "δ~, not linked"},
		of: func(r *NodesResult) []float64 { return []float64{r.Linked, r.Unlinked} },
		published: map[partition.Method][]float64{
			partition.URLBased: {.41559, .02582}, partition.Classification: {.044495, .008923}, partition.FullContent: {.26325, .01157}}},
}

// perNode returns one number of each node.
func perNode(r *NodesResult, of func(n *NodeMetric) float64) (row []float64) {
	for i := range r.Metrics.Nodes {
		row = append(row, of(&r.Metrics.Nodes[i]))
	}
	return row
}

// single has one number for each method, in the order of the paper.
func single(urlHash, url, anchor, content, classification, ip float64) map[partition.Method][]float64 {
	return map[partition.Method][]float64{
		partition.URLHash: {urlHash}, partition.URLBased: {url}, partition.ExtendedAnchor: {anchor},
		partition.FullContent: {content}, partition.Classification: {classification}, partition.PageIP: {ip},
	}
}

// beside returns what was published for the row of a result, in its columns; nil where
// nothing was, or the nodes share out other numbers of cities than the paper's. Where only
// the order of the nodes differs, tables without a column for each node still compare.
func (t *nodesTable) beside(r *NodesResult) []float64 {
	cities := slices.Clone(r.Cities)
	paper := slices.Clone(paperCities)
	if !t.perNode {
		slices.Sort(cities)
		slices.Sort(paper)
	}
	if r.Name() != string(r.Partition) || !slices.Equal(cities, paper) {
		return nil
	}
	return t.published[r.Partition]
}

func (t *nodesTable) titles(r *NodesResult) []string {
	if t.perNode {
		return slices.Concat(r.Nodes, t.columns)
	}
	return t.columns
}

func (t *nodesTable) cell(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case t.percent:
		return strconv.FormatFloat(100*v, 'f', t.digits, 64) + " %"
	}
	return strconv.FormatFloat(v, 'f', t.digits, 64)
}

// rows returns the table for people, the titles first.
func (t *nodesTable) rows(c *NodesComparison) [][]string {
	rows := [][]string{append([]string{"partition"}, t.titles(c.Results[0])...)}
	add := func(name string, values []float64) {
		row := []string{name}
		for _, v := range values {
			row = append(row, t.cell(v))
		}
		rows = append(rows, row)
	}
	for _, r := range c.Results {
		add(r.Name(), t.of(r))
		if p := t.beside(r); p != nil {
			add("  published", p)
		}
	}
	return rows
}

// Write writes all tables in one of NodesFormats. The same results give the
// same bytes.
func (c *NodesComparison) Write(w io.Writer, format string) error {
	if len(c.Results) == 0 {
		return fmt.Errorf("report: write %s: no result", format)
	}
	b := bufio.NewWriter(w)
	var err error
	switch format {
	case "text":
		err = c.writeTables(b, func(title string) string { return title + "\n" }, writeAligned)
	case "md":
		err = c.writeTables(b, func(title string) string {
			return "**" + strings.ToUpper(title[:1]) + title[1:] + "**\n\n"
		}, writeMarkdown)
	case "csv":
		err = c.writeCSV(b)
	case "json":
		err = c.writeJSON(b)
	default:
		err = fmt.Errorf("it is not one of %s", strings.Join(NodesFormats, ", "))
	}
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return fmt.Errorf("report: write %s: %w", format, err)
	}
	return nil
}

// writeTables writes the tables for people, each under its title.
func (c *NodesComparison) writeTables(w io.Writer, heading func(title string) string, write func(io.Writer, [][]string) error) error {
	fmt.Fprintln(w, c.Web)
	for _, t := range nodesTables {
		fmt.Fprint(w, "\n", heading(fmt.Sprintf("table %d: %s", t.number, t.title)))
		if err := write(w, t.rows(c)); err != nil {
			return err
		}
	}
	if len(c.Orders) == 0 {
		return nil
	}
	fmt.Fprint(w, "\n", heading("one order of all nodes"))
	return write(w, c.orderRows())
}

func writeAligned(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

func writeMarkdown(w io.Writer, rows [][]string) (err error) {
	for i, row := range rows {
		row[0] = strings.TrimSpace(row[0])
		_, err = fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintln(w, strings.Repeat("|---", len(row))+"|")
		}
	}
	return err
}

// A nodesCell is one number of a table.
type nodesCell struct {
	Table     int    `json:"table"`
	What      string `json:"what"`
	Column    string `json:"column"`
	Value     figure `json:"value"`               // null: not defined
	Published any    `json:"published,omitempty"` // a figure, or nil
}

// A figure is a number that may not be defined: NaN, which JSON has not.
type figure float64

func (f figure) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

func (f figure) String() string {
	if math.IsNaN(float64(f)) {
		return ""
	}
	return strconv.FormatFloat(float64(f), 'g', -1, 64)
}

// cells returns the numbers of a result in a table.
func (t *nodesTable) cells(r *NodesResult) (cells []nodesCell) {
	titles, published := t.titles(r), t.beside(r)
	for i, v := range t.of(r) {
		cell := nodesCell{Table: t.number, What: t.title, Column: titles[i], Value: figure(v)}
		if published != nil && !math.IsNaN(published[i]) {
			cell.Published = figure(published[i])
		}
		cells = append(cells, cell)
	}
	return cells
}

func (c *NodesComparison) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"table", "what", "partition", "policy", "strategy", "column", "value", "published"})
	for _, t := range nodesTables {
		for _, r := range c.Results {
			for _, cell := range t.cells(r) {
				published := ""
				if cell.Published != nil {
					published = fmt.Sprint(cell.Published)
				}
				out.Write([]string{strconv.Itoa(t.number), t.title, string(r.Partition), string(r.Policy), r.Strategy, cell.Column, cell.Value.String(), published})
			}
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
		one := result{Partition: r.Partition, Policy: r.Policy, Strategy: r.Strategy, Nodes: r.Nodes}
		for _, t := range nodesTables {
			one.Numbers = append(one.Numbers, t.cells(r)...)
		}
		all = append(all, one)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Web     string      `json:"web"`
		Results []result    `json:"results"`
		Orders  []NodeOrder `json:"orders,omitempty"`
	}{c.Web, all, c.Orders})
}
