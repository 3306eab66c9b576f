package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/monitor/report"
)

// simulateNodes crawls a made-up web of many cities with several nodes, once
// for each partition, policy and strategy.
func (a *app) simulateNodes(ctx context.Context, o simulateOptions, orders []sim.Order) error {
	web, err := sim.ParseCities(o.nodes)
	if err != nil {
		return fail(exitUsage, "--nodes: %w", err)
	}
	if o.places != "" {
		if web.Nodes, web.Known, err = a.places(ctx, o.places, o.placesOptions); err != nil {
			return err
		}
	}
	plan := sim.NodesPlan{Orders: orders, Pages: o.sim.Pages, Seed: o.sim.Seed}
	if plan.Methods, plan.Policies, err = sim.ParsePartitions(o.partitions, o.policies); err != nil {
		return fail(exitUsage, "%w", err)
	}
	for _, strategy := range orders {
		if strings.HasPrefix(strategy.Name, "oracle-") {
			return fail(exitUsage, "--strategy %s knows one web only: it cannot be used with --nodes", strategy.Name)
		}
	}
	names := plan.Names()
	expectations, err := parseExpectations(o.expect, names, report.NodesMetricNames())
	if err != nil {
		return err
	}
	w, err := sim.NewCities(web)
	if err != nil {
		return fail(exitInvalidInput, "%w", err)
	}
	done, began := 0, time.Now()
	c, err := plan.Run(ctx, w, func(r *report.NodesResult) {
		done++
		a.say("%d of %d, %s: %d pages, %.2f %% with an address, in %.1f s", done, len(names), r.Name(), r.Fetches, 100*r.GeoCoverage, time.Since(began).Seconds())
		began = time.Now()
	})
	if err != nil {
		return simulationError(ctx, err)
	}
	if err := a.writeReport(o.output, func(out io.Writer) error { return c.Write(out, o.format) }); err != nil {
		return err
	}
	return a.checkExpectations(c, expectations)
}

// simulateNuggets prints and draws figures 5 and 6 of Ahmadi-Abkenari & Selamat,
// measured by agents that talk over a JetStream server in this process.
func (a *app) simulateNuggets(ctx context.Context, o simulateOptions) (err error) {
	if o.trace != "" || len(o.warc) > 0 || o.demo != "" || o.nodes != "" {
		return fail(exitUsage, "--nuggets needs no web: leave out --trace, --warc, --demo and --nodes")
	}
	if o.format != "text" && o.format != "json" {
		return fail(exitUsage, "--nuggets writes text or json, got --format %q", o.format)
	}
	dir, err := os.MkdirTemp("", "gazehound-nuggets-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := cluster.Serve(cluster.ServerOptions{Name: "nuggets", Dir: dir, MaxBytes: 256e6})
	if err != nil {
		return err
	}
	defer server.Close()
	figures, err := sim.Nuggets(o.sim.Seed, func(f nugget.Format, queues [][]float64) ([]nugget.Nugget, int, int, error) {
		turns, heard, err := cluster.Agree(ctx, server, cluster.Order{URLs: len(queues[0]), Parts: f.Parts, Lambda: f.Lambda}, queues)
		return turns, int(heard.Bits), int(heard.Bytes), err
	})
	switch {
	case ctx.Err() != nil:
		return fail(exitStopped, "stopped")
	case err != nil:
		return err
	}
	if o.format == "json" {
		err = a.printJSON(map[string]any{"type": "nuggets", "agents": figures[0], "parts": figures[1]})
	} else {
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
		for i, rows := range figures {
			fmt.Fprintf(w, "figure %d\tagents\tparts\tbits of a nugget\tequation 8\tmeasured\tbytes on the wire\tprecision\t\n", 5+i)
			for _, r := range rows {
				fmt.Fprintf(w, "\t%d\t%d\t%d\t%d\t%d\t%d\t%.3f\t\n", r.Agents, r.Parts, r.Bits, r.Formula, r.Measured, r.Bytes, r.Precision)
			}
		}
		err = w.Flush()
	}
	if err != nil || o.plot == "" {
		return err
	}
	files, err := sim.PlotNuggets(o.plot, figures)
	if err != nil {
		return fail(exitInvalidInput, "%w", err)
	}
	a.say("drawn: %s", strings.Join(files, ", "))
	return nil
}
