package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gazehound/cmd/gazehound/config"
	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor/report"
	"gazehound/gazetteer"
	"gazehound/internal/textutil"

	"github.com/spf13/cobra"
)

func reportHelp() string {
	return `Reports what the crawl of the data directory achieved, beside the crawls of other data
directories DIR: harvest rate, also with each text counted once, without pages relevant
only by their footer, and without the biggest host; distinct addresses, hosts, distances.
What another order would have found cannot be told from one crawl, whose links were
chosen: crawl with --strategy breadth-first, too, and report both side by side, or try
orders on a recorded web with "gazehound simulate orders".

With a gazetteer, the report has the share of the region's streets with an address
found, how many streets sites like these mention in all (capture–recapture between
sites, Chao 1987: a lower bound), and whether to go on.

All figures come from the crawl tree, which has each URL once: revisits count nothing
twice.

--nodes reports on the nodes of one crawl instead, each DIR (or NAME=DIR) being the
data directory of one: geo-coverage, geo-focus, unique entities, geo-centrality,
overlap, diversity, communication and geographic locality as in Gao, Lee & Miao 2006.
--places FILE assigns cities to nodes, see "gazehound places"; without it every address
counts and no node has a focus.

--top-bridges lists instead which pages led to relevant pages of the most hosts: over
at most ` + fmt.Sprint(report.BridgeReach) + ` links, with no relevant page between. With --format seeds it is a
file from which another crawl can start. (A relevant page of each site: "export seeds".)

--questions lists what readers look for in vain, most often first, with the day of the
last time: searches without a result, or with some of the words only. The server writes
them to the file of serve.questions, which is off by default: words, hits and the minute,
never who asked. Words can say who asked, such as somebody's own name, so the file is
readable by its owner only, and it has 20 MB at most; then the oldest half goes.

--fail-under requires at least these values, else the exit status is 6:
` + textutil.Fit("  "+strings.Join(report.MetricNames(), ", "), 78) + `

Exit status: 0 done, 2 unusable flag, 4 damaged data, 5 a crawl runs with
--admin off, 6 a value of --fail-under was missed, 10 no crawl.

Examples:
  gazehound report
  gazehound report ../crawl-may --fail-under harvest=0.08,streets=200
  gazehound report --format svg -o harvest.svg
  gazehound report --nodes --places nodes.yaml west east general=.
  gazehound report --questions --limit 50
  gazehound report --top-bridges --format seeds --limit 100 -o hubs.txt
  gazehound report --json | jq -r .streets.advice
`
}

// reportOptions are the flags of report.
type reportOptions struct {
	gates                     string
	nodes, bridges, questions bool
	places                    string // with nodes
	limit                     int    // of bridges and questions
	format, output            string
}

func newReportCommand(a *app) *cobra.Command {
	var o reportOptions
	cmd := command("report [DIR…]", "Report what a crawl achieved, beside earlier ones", reportHelp(), nil,
		stoppable(func(ctx context.Context, args []string) error {
			if a.json {
				o.format = "json"
			}
			switch {
			case o.nodes && o.gates != "" || !o.nodes && o.places != "":
				return fail(badUsage, "--fail-under is for one crawl, --places for --nodes")
			case o.questions:
				return a.reportQuestions(args, o)
			case o.bridges:
				return a.reportBridges(ctx, args, o)
			case a.flags.Changed("limit"):
				return fail(badUsage, "--limit is for --top-bridges and --questions")
			case o.nodes:
				return a.reportNodes(ctx, args, o)
			}
			return a.report(ctx, args, o)
		}))
	f := cmd.Flags()
	f.BoolVar(&o.nodes, "nodes", false, "each DIR is a node of one crawl: metrics over all of them")
	f.StringVar(&o.places, "places", "", "`FILE` with the nodes and their cities, for --nodes")
	config.All().AddFlags(f, "cluster.centrality_links", "cluster.centrality_base")
	f.BoolVar(&o.bridges, "top-bridges", false, "list the pages that led to the most, as "+
		strings.Join(report.BridgeFormats, ", "))
	f.BoolVar(&o.questions, "questions", false, "list what is looked for in vain, by the log of serve.questions")
	f.IntVar(&o.limit, "limit", 20, "`NUMBER` of these, 1 to 100,000")
	between(f, "limit", 1, 100_000)
	f.StringVar(&o.gates, "fail-under", "", "`VALUES` that the crawl has to reach, such as harvest=0.1,streets=200")
	f.StringVar(&o.format, "format", "text", strings.Join(report.Formats,
		" | ")+"; csv has the curves, svg draws them; seeds with --top-bridges")
	f.StringVarP(&o.output, "output", "o", "", "`FILE` for that; standard output otherwise")
	return cmd
}

func (a *app) report(ctx context.Context, dirs []string, o reportOptions) error {
	if o.format == "seeds" {
		return fail(badUsage, "--format seeds is for --top-bridges; \"gazehound export seeds\" writes a relevant "+
			"page of each site")
	}
	if err := checkOneOf("format", o.format, report.Formats); err != nil {
		return err
	}
	var gates []report.Threshold
	if o.gates != "" {
		var err error
		gates, err = report.ParseThresholds(o.gates)
		if err != nil {
			return fail(badUsage, "--fail-under: %w", err)
		}
	}
	_, cfg, err := a.project()
	if err != nil {
		return err
	}
	var r report.Report
	for i, dir := range append([]string{a.data}, dirs...) {
		boundary := ""
		if i == 0 {
			boundary = cfg.Region.Boundary
		} else {
			dir = a.path(dir)
		}
		c, err := a.readReport(ctx, project{dir}, boundary, int64(cfg.Storage.Memory))
		if err != nil {
			return err
		}
		r.Crawls = append(r.Crawls, c)
	}
	var failed []string
	for _, g := range gates {
		result := g.Check(r.Crawls[0])
		r.Thresholds = append(r.Thresholds, result)
		if !result.Passed {
			failed = append(failed, result.String())
		}
	}
	err = a.writeReport(o.output, o.format, func(w io.Writer) error { return r.Write(w, o.format) })
	if err == nil && len(failed) > 0 {
		return fail(answerNo, "%s", strings.Join(failed, "; "))
	}
	return err
}

// reportBridges lists the pages that led to the most relevant ones.
func (a *app) reportBridges(ctx context.Context, dirs []string, o reportOptions) error {
	if len(dirs) > 0 || o.nodes || o.gates != "" {
		return fail(badUsage, "--top-bridges is of the crawl of --data alone, without --nodes, --fail-under and "+
			"further directories")
	}
	if err := checkOneOf("format", o.format, report.BridgeFormats); err != nil {
		return err
	}
	return a.readCrawl(func(p project, _ *Config, f *frontier.Frontier) error {
		top, err := report.TopBridges(ctx, f, o.limit)
		if err != nil {
			return err
		}
		return a.writeReport(o.output, o.format, func(w io.Writer) error {
			return report.WriteBridges(w, p.dir, top, o.format)
		})
	})
}

// readReport reads the crawl of a project.
func (a *app) readReport(ctx context.Context, p project, boundary string, memory int64) (c *report.Crawl, err error) {
	f, done, err := a.treeToRead(p, memory)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	var streets report.Options
	if g, err := gazetteer.Open(p.gazetteer()); err == nil {
		defer g.Close()
		if region, err := p.openRegion(g, boundary); err != nil {
			a.warn("%s: no report on streets: %s", p.dir, oneLine(err.Error()))
		} else {
			streets = report.StreetOptions(g, region)
		}
	} else if fileExists(p.gazetteer()) {
		a.warn("no report on streets: %s", oneLine(err.Error()))
	}
	return report.Read(ctx, p.dir, f, streets)
}

// reportNodes reports on the data directories of the nodes of one crawl with
// the metrics of Gao, Lee & Miao.
func (a *app) reportNodes(ctx context.Context, dirs []string, o reportOptions) error {
	if err := checkOneOf("format", o.format, report.NodesFormats); err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if len(dirs) == 0 {
		dirs = []string{a.data}
	}
	names, projects, err := namedDirs("nodes", dirs)
	if err != nil {
		return err
	}
	// Without --places no node is geographic, so every address counts.
	general := slices.Repeat([]bool{true}, len(names))
	reader := report.NodesReader{Owner: report.Cities}
	if o.places != "" {
		nodes, known, err := partition.ReadNodes(o.places)
		if err != nil {
			return invalid(err)
		}
		g := firstGazetteer(projects)
		if g != nil {
			defer g.Close() // read only
		}
		var unknown report.UnknownNodeError
		reader.Owner, general, err = report.PlaceOwner(names, nodes, known, g)
		if errors.As(err, &unknown) {
			return fail(badUsage, "%s has no node %q; write NAME=DIR", o.places, string(unknown))
		} else if err != nil {
			return fail(badInput, "%s: %w", o.places, err)
		}
	}
	for i, p := range projects {
		err := readNode(ctx, &reader, i, p, int64(cfg.Storage.Memory))
		if err != nil {
			return err
		}
	}
	r := &report.NodesResult{Partition: "crawl", Nodes: names}
	r.Metrics, err = reader.Nodes(general).Metrics(cfg.Cluster.CentralityLinks,
		cfg.Cluster.CentralityBase)
	if err != nil {
		return err
	}
	var folders []string
	for _, p := range projects {
		folders = append(folders, p.cluster())
	}
	traffic, err := cluster.ReadTraffic(folders...)
	if err != nil {
		return err
	}
	web := "crawl of " + strings.Join(names, ", ") + "; links are those by which pages were found"
	if traffic.Sent > 0 {
		web += fmt.Sprintf("; %d links were sent, with %.2f bytes for each byte of their URLs", traffic.Sent,
			traffic.PerURL())
	}
	c := &report.NodesComparison{Web: web, Results: []*report.NodesResult{r}}
	c.Orders, err = nodeOrders(names, projects)
	if err != nil {
		return invalid(err)
	}
	return a.writeReport(o.output, o.format, func(w io.Writer) error { return c.Write(w, o.format) })
}

// nodeOrders returns the cost of one order for each node; nil if the nodes kept none.
func nodeOrders(names []string, projects []project) (orders []report.NodeOrder, err error) {
	for i, p := range projects {
		c, err := cluster.ReadOrder(p.cluster())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.dir, err)
		}
		if c != (nugget.Count{}) {
			orders = append(orders, report.NodeOrder{Node: names[i], Count: c})
		}
	}
	return orders, nil
}

func readNode(ctx context.Context, r *report.NodesReader, node int, p project, memory int64) (err error) {
	f, err := p.crawlToRead(memory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return r.Read(ctx, node, f)
}

// firstGazetteer opens the gazetteer of the first node that has one; nil if none has.
func firstGazetteer(projects []project) *gazetteer.Gazetteer {
	for _, p := range projects {
		if g, err := gazetteer.Open(p.gazetteer()); err == nil {
			return g
		}
	}
	return nil
}
