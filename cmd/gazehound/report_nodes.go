package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/monitor/report"
	"gazehound/gazetteer"
)

// reportNodes reports on the data directories of the nodes of one crawl with
// the metrics of Gao, Lee & Miao.
func (a *app) reportNodes(ctx context.Context, dirs []string, places, format, output string) error {
	if !slices.Contains(report.NodesFormats, format) {
		return fail(exitUsage, "--format: %.40q is not one of %s with --nodes.%s", format, strings.Join(report.NodesFormats, ", "), didYouMean(format, report.NodesFormats))
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if len(dirs) == 0 {
		dirs = []string{a.data}
	}
	var names []string
	var projects []project
	for _, dir := range dirs {
		name, path, named := strings.Cut(dir, "=")
		if !named {
			name, path = filepath.Base(filepath.Clean(dir)), dir
		}
		if slices.Contains(names, name) {
			return fail(exitUsage, "two nodes are called %s; write NAME=DIR", name)
		}
		names, projects = append(names, name), append(projects, project{path})
	}
	// Without --places no node is geographic, and every address counts.
	general := slices.Repeat([]bool{true}, len(names))
	reader := report.NodesReader{Owner: report.Cities}
	if places != "" {
		nodes, known, err := partition.ReadNodes(places)
		if err != nil {
			return fail(exitInvalidInput, "%w", err)
		}
		g := firstGazetteer(projects)
		if g != nil {
			defer g.Close() // read only
		}
		var unknown report.UnknownNodeError
		reader.Owner, general, err = report.PlaceOwner(names, nodes, known, g)
		if errors.As(err, &unknown) {
			return fail(exitUsage, "%s has no node %q; write NAME=DIR", places, string(unknown))
		} else if err != nil {
			return fail(exitInvalidInput, "%s: %w", places, err)
		}
	}
	for i, p := range projects {
		if err := readNode(ctx, &reader, i, p, int64(cfg.Storage.Memory)); err != nil {
			if ctx.Err() != nil {
				return fail(exitStopped, "stopped")
			}
			return err
		}
	}
	r := &report.NodesResult{Partition: "crawl", Nodes: names}
	if r.Metrics, err = reader.Nodes(general).Metrics(report.CentralityLinks, report.CentralityBase); err != nil {
		return err
	}
	var traffic cluster.Traffic
	for _, p := range projects {
		t, err := cluster.ReadTraffic(p.cluster())
		if err != nil {
			return err
		}
		traffic.Sent, traffic.URLBytes, traffic.SentBytes = traffic.Sent+t.Sent, traffic.URLBytes+t.URLBytes, traffic.SentBytes+t.SentBytes
	}
	web := "crawl of " + strings.Join(names, ", ") + "; links are those by which pages were found"
	if traffic.Sent > 0 {
		web += fmt.Sprintf("; %d links travelled at %.2f bytes for each byte of their URLs", traffic.Sent, traffic.PerURL())
	}
	c := &report.NodesComparison{Web: web, Results: []*report.NodesResult{r}}
	if c.Orders, err = nodeOrders(names, projects); err != nil {
		return fail(exitInvalidInput, "%w", err)
	}
	return a.writeReport(output, func(w io.Writer) error { return c.Write(w, format) })
}

// nodeOrders returns what it took the nodes to keep one order; nil: they did not.
func nodeOrders(names []string, projects []project) (orders []report.NodeOrder, err error) {
	for i, p := range projects {
		c, err := cluster.ReadOrder(p.cluster())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.dir, err)
		}
		if c != (cluster.OrderCount{}) {
			orders = append(orders, report.NodeOrder{Node: names[i], Rounds: c.Rounds, Nuggets: c.Nuggets, Bits: c.Bits, Formula: c.Formula, Bytes: c.Bytes, Turns: c.Turns, Impatient: c.Impatient})
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

// firstGazetteer opens that of the first node that has one; nil where none has.
func firstGazetteer(projects []project) *gazetteer.Gazetteer {
	for _, p := range projects {
		if g, err := gazetteer.Open(p.gazetteer()); err == nil {
			return g
		}
	}
	return nil
}
