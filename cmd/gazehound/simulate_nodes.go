package main

import (
	"context"
	"io"
	"strings"
	"time"

	"gazehound/cmd/gazehound/config"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/monitor/report"

	"github.com/spf13/cobra"
)

func simulateNodesHelp() string {
	return `Crawls a made-up web about 100 cities with several nodes, once for each partition, which
says how they share links. The metrics and tables are those of Gao, Lee & Miao 2006,
published numbers beside them; --domain-levels 5 follows links five deep in each domain, as
they did. --pages counts the pages of all nodes.

--web is "default" or, separated by commas, of: sites, seed, world (a number by which all
shares of that web are drawn, from half to twice what they are), free (1: from 1 to 95 %
instead, whatever they are), examples (2000: pages of no city, and at most of each city,
that classification learns from). --places says with which cities, see "gazehound places".

--expect compares numbers PARTITION.METRIC, also PARTITION-b for policy B and
PARTITION-STRATEGY, by <, <=, >, >= or == and calculates with + - * / and parentheses.
Metrics: ` + strings.Join(report.NodesMetricNames(), ", ") + `.

Exit status: 0 done, 2 unusable flag, 4 unusable places, 6 an expectation is false.

Examples:
  gazehound simulate nodes --partition url-hash,url --pages 50000 --format md
  gazehound simulate nodes --web sites=40000,world=3 --pages 15000
  gazehound simulate nodes --web sites=2000 --partition url --policy A,B --pages 400 --expect 'url.overlap == 0'
`
}

// simulateNodesOptions are the flags of "simulate nodes".
type simulateNodesOptions struct {
	web        string
	partitions []string
	policies   []string
	levels     int
	places     string
	placesOptions
	simulatedStrategies
	strategies []string
	pages      int
	seed       uint64
	expect     []string
	format     string
	output     string
}

func newSimulateNodesCommand(a *app) *cobra.Command {
	var o simulateNodesOptions
	cmd := command("nodes", "Compare the ways in which several nodes share a crawl", simulateNodesHelp(), noArgs,
		stoppable(func(ctx context.Context, args []string) error {
			if a.json {
				o.format = "json"
			}
			return a.simulateNodes(ctx, o)
		}))
	f := cmd.Flags()
	f.StringVar(&o.web, "web", "default", "the made-up web of cities: `SPEC`")
	f.StringSliceVar(&o.partitions, "partition", []string{"all"}, "`NAMES` of partitions, or all")
	f.StringSliceVar(&o.policies, "policy", []string{"A"}, "`NAMES`, A or B or both")
	f.IntVar(&o.pages, "pages", 300_000, "pages of all nodes")
	f.Uint64Var(&o.seed, "seed", 1, "random seed: order among equal priorities")
	f.IntVar(&o.levels, "domain-levels", 0, "links within a domain that are followed, from its first page; 0 is no "+
		"limit (as published: 5)")
	f.StringVar(&o.places, "places", "", "the nodes and their cities: `FILE|us-top-100`, see \"gazehound places\"")
	o.placesOptions.flags(f)
	config.All().AddFlags(f, "cluster.alpha", "cluster.beta", "cluster.most_populous", "cluster.centrality_links",
		"cluster.centrality_base")
	f.StringSliceVar(&o.strategies, "strategy", []string{"breadth-first"}, "`NAMES`, or all")
	o.limitFlag(f)
	o.simulatedStrategies.flags(f)
	expectFlag(f, &o.expect)
	f.StringVar(&o.format, "format", "text", strings.Join(report.NodesFormats, " | "))
	oneOf(f, "format", report.NodesFormats)
	f.StringVarP(&o.output, "output", "o", "", "`FILE` for that; standard output otherwise")
	return cmd
}

// simulateNodes crawls a made-up web of many cities with several nodes, once
// for each partition, policy and strategy.
func (a *app) simulateNodes(ctx context.Context, o simulateNodesOptions) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	orders, err := a.parseOrders(a.orderOptions(o.simulatedStrategies, cfg), o.strategies, o.limits, cfg)
	if err != nil {
		return err
	}
	k := cfg.Cluster
	web, err := sim.ParseCities(o.web)
	if err != nil {
		return fail(badUsage, "--web: %w", err)
	}
	if o.places != "" {
		web.Nodes, web.Known, err = a.places(ctx, o.places, o.placesOptions)
		if err != nil {
			return err
		}
	}
	plan := sim.NodesPlan{Orders: orders, NodesOptions: sim.NodesOptions{
		Partition: partition.Options{Alpha: k.Alpha, Beta: k.Beta, MostPopulous: k.MostPopulous},
		Pages:     o.pages, Seed: o.seed,
		Levels: o.levels, Centrality: sim.Centrality{Links: k.CentralityLinks, Base: k.CentralityBase}}}
	plan.Methods, plan.Policies, err = sim.ParsePartitions(o.partitions, o.policies)
	if err != nil {
		return fail(badUsage, "%w", err)
	}
	for _, strategy := range orders {
		if strings.HasPrefix(strategy.Name, "oracle-") {
			return fail(badUsage, "--strategy %s knows one web only: it cannot be used with nodes", strategy.Name)
		}
	}
	names := plan.Names()
	expectations, err := parseExpectations(o.expect, names, report.NodesMetricNames())
	if err != nil {
		return err
	}
	w, err := sim.NewCities(web)
	if err != nil {
		return invalid(err)
	}
	done, began := 0, time.Now()
	c, err := plan.Run(ctx, w, func(r *report.NodesResult) {
		done++
		a.say("%d of %d, %s: %d pages, %.2f %% with an address, in %.1f s", done, len(names), r.Name(), r.Fetches,
			100*r.GeoCoverage, time.Since(began).Seconds())
		began = time.Now()
	})
	if err != nil {
		return invalid(err)
	}
	err = a.writeReport(o.output, o.format, func(out io.Writer) error { return c.Write(out, o.format) })
	if err != nil {
		return err
	}
	return a.check(c, expectations)
}
