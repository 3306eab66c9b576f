package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor/report"
	"gazehound/gazetteer"
	"gazehound/internal/config"

	"github.com/spf13/cobra"
)

func newReportCommand(a *app) *cobra.Command {
	var gates, format, output, places string
	var nodes, bridges, questions bool
	most := 20
	cmd := command("report [DIR…]", "Report what a crawl achieved, beside earlier ones", nil,
		stoppable(func(ctx context.Context, args []string) error {
			if nodes && gates != "" || !nodes && places != "" {
				return fail(badUsage, "--fail-under is for one crawl, --places for --nodes")
			}
			if a.json {
				format = "json"
			}
			if questions {
				return a.reportQuestions(args, nodes || bridges || gates != "", most)
			}
			if bridges {
				return a.reportBridges(ctx, args, nodes || gates != "", most, format, output)
			}
			if a.flags.Changed("limit") {
				return fail(badUsage, "--limit is for --top-bridges and --questions")
			}
			if nodes {
				return a.reportNodes(ctx, args, places, format, output)
			}
			return a.report(ctx, args, gates, format, output)
		}))
	f := cmd.Flags()
	f.BoolVar(&nodes, "nodes", false, "each DIR is a node of one crawl: metrics over all of them")
	f.StringVar(&places, "places", "", "`FILE` with the nodes and their cities, for --nodes")
	config.All().AddFlags(f, "cluster.centrality_links", "cluster.centrality_base")
	f.BoolVar(&bridges, "top-bridges", false, "list the pages that led to the most, as "+
		strings.Join(report.BridgeFormats, ", "))
	f.BoolVar(&questions, "questions", false, "list what is looked for in vain, by the log of serve.questions")
	f.IntVar(&most, "limit", most, "`NUMBER` of these, 1 to 100,000")
	between(f, "limit", 1, 100_000)
	f.StringVar(&gates, "fail-under", "", "`NAME=NUMBER,…` that the crawl has to reach, such as "+
		"harvest=0.1,streets=200")
	f.StringVar(&format, "format", "text", strings.Join(report.Formats,
		" | ")+"; csv has the curves, svg draws them; seeds with --top-bridges")
	f.StringVarP(&output, "output", "o", "", "`FILE` for that; standard output otherwise")
	return cmd
}

func (a *app) report(ctx context.Context, dirs []string, gateText, format, output string) error {
	if format == "seeds" {
		return fail(badUsage, "--format seeds is for --top-bridges; \"gazehound export seeds\" writes a relevant "+
			"page of each site")
	}
	if err := checkOneOf("format", format, report.Formats); err != nil {
		return err
	}
	var gates []report.Threshold
	if gateText != "" {
		var err error
		if gates, err = report.ParseThresholds(gateText); err != nil {
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
	err = a.writeReport(output, format, func(w io.Writer) error { return r.Write(w, format) })
	if err == nil && len(failed) > 0 {
		return fail(answerNo, "%s", strings.Join(failed, "; "))
	}
	return err
}

// reportBridges lists the pages that led to the most relevant ones; more means that flags of other
// reports were given.
func (a *app) reportBridges(ctx context.Context, dirs []string, more bool, most int, format, output string) error {
	if len(dirs) > 0 || more {
		return fail(badUsage, "--top-bridges is of the crawl of --data alone, without --nodes, --fail-under and "+
			"further directories")
	}
	if err := checkOneOf("format", format, report.BridgeFormats); err != nil {
		return err
	}
	return a.readCrawl(func(p project, _ *Config, f *frontier.Frontier) error {
		top, err := report.TopBridges(ctx, f, most)
		if err != nil {
			return err
		}
		return a.writeReport(output, format, func(w io.Writer) error { return report.WriteBridges(w, p.dir, top, format) })
	})
}

// readReport reads the crawl of a project.
func (a *app) readReport(ctx context.Context, p project, boundary string, memory int64) (c *report.Crawl, err error) {
	f, done, err := a.treeToRead(p, memory)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	var o report.Options
	if g, err := gazetteer.Open(p.gazetteer()); err == nil {
		defer g.Close()
		if region, err := p.openRegion(g, boundary); err != nil {
			a.warn("%s: no report on streets: %s", p.dir, oneLine(err.Error()))
		} else {
			o = report.StreetOptions(g, region)
		}
	} else if fileExists(p.gazetteer()) {
		a.warn("no report on streets: %s", oneLine(err.Error()))
	}
	return report.Read(ctx, p.dir, f, o)
}

// reportNodes reports on the data directories of the nodes of one crawl with
// the metrics of Gao, Lee & Miao.
func (a *app) reportNodes(ctx context.Context, dirs []string, places, format, output string) error {
	if err := checkOneOf("format", format, report.NodesFormats); err != nil {
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
	if places != "" {
		nodes, known, err := partition.ReadNodes(places)
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
			return fail(badUsage, "%s has no node %q; write NAME=DIR", places, string(unknown))
		} else if err != nil {
			return fail(badInput, "%s: %w", places, err)
		}
	}
	for i, p := range projects {
		if err := readNode(ctx, &reader, i, p, int64(cfg.Storage.Memory)); err != nil {
			return err
		}
	}
	r := &report.NodesResult{Partition: "crawl", Nodes: names}
	if r.Metrics, err = reader.Nodes(general).Metrics(cfg.Cluster.CentralityLinks,
		cfg.Cluster.CentralityBase); err != nil {
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
	if c.Orders, err = nodeOrders(names, projects); err != nil {
		return invalid(err)
	}
	return a.writeReport(output, format, func(w io.Writer) error { return c.Write(w, format) })
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
