package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/order"
	"gazehound/predictor"
)

// simulateNodes crawls a made-up web of many cities with several nodes, once
// for each partition, policy and strategy.
func (a *app) simulateNodes(ctx context.Context, o simulateOptions, cfg *Config, model predictor.Options) error {
	if o.trace != "" || len(o.warc) > 0 || o.demo != "" {
		return fail(exitUsage, "--nodes brings its own web: leave out --trace, --warc and --demo")
	}
	if !slices.Contains(sim.NodesFormats, o.format) {
		return fail(exitUsage, "--format: %q is not one of %s with --nodes.%s", o.format, strings.Join(sim.NodesFormats, ", "), didYouMean(o.format, sim.NodesFormats))
	}
	web, err := parseCities(o.nodes)
	if err != nil {
		return fail(exitUsage, "--nodes: %w", err)
	}
	if o.places != "" {
		if web.Nodes, web.Known, err = a.places(ctx, o.places, o.placesOptions); err != nil {
			return err
		}
	}
	methods, policies, err := sharedBy(o)
	if err != nil {
		return err
	}
	orders, err := a.simulatedOrders(o, cfg, model)
	if err != nil {
		return err
	}
	w, err := sim.NewCities(web)
	if err != nil {
		return fail(exitInvalidInput, "%w", err)
	}
	cities := 0
	for _, n := range w.Options.Nodes {
		cities += len(n.Cities)
	}
	c := &sim.NodesComparison{Web: fmt.Sprintf("made-up web %d of %d sites about %d cities, %d nodes, %d pages", web.Seed, web.Sites, cities, len(w.Options.Nodes), o.sim.Pages)}
	var names []string
	type run struct {
		sim.NodesOptions
		strategy string
	}
	var runs []run
	for _, strategy := range orders {
		if strings.HasPrefix(strategy.Name, "oracle-") {
			return fail(exitUsage, "--strategy %s knows one web only: it cannot be used with --nodes", strategy.Name)
		}
		for _, policy := range policies {
			for _, method := range methods {
				share := partition.DefaultOptions()
				share.Method, share.Policy = method, policy
				runs = append(runs, run{sim.NodesOptions{Partition: share, Pages: o.sim.Pages, Seed: o.sim.Seed, New: func() (order.Strategy, error) { return strategy.New(nil) }}, strategy.Name})
				r := sim.NodesResult{Partition: method, Policy: policy, Strategy: strategy.Name}
				names = append(names, r.Name())
			}
		}
	}
	var expectations []*sim.Expectation
	for _, text := range o.expect {
		e, err := sim.ParseNodesExpectation(text, names)
		if err != nil {
			return fail(exitUsage, "--expect %q: %w", oneLine(text), err)
		}
		expectations = append(expectations, e)
	}
	for i, run := range runs {
		began := time.Now()
		r, err := sim.RunNodes(ctx, w, run.NodesOptions)
		switch {
		case ctx.Err() != nil:
			return fail(exitStopped, "stopped")
		case err != nil:
			return fail(exitInvalidInput, "%w", err)
		}
		r.Strategy = run.strategy
		c.Results = append(c.Results, r)
		a.say("%d of %d, %s: %d pages, %.2f %% with an address, in %.1f s", i+1, len(runs), names[i], r.Fetches, 100*r.GeoCoverage, time.Since(began).Seconds())
	}
	write := func(out io.Writer) error { return c.Write(out, o.format) }
	if o.output == "" {
		err = write(a.stdout)
	} else {
		err = writeFile(o.output, write)
	}
	if err != nil {
		return err
	}
	return a.checkExpectations(c, expectations)
}

// parseCities reads a made-up web of cities such as "sites=20000,seed=2".
func parseCities(spec string) (sim.CitiesOptions, error) {
	o := sim.DefaultCitiesOptions()
	if spec == "default" {
		return o, nil
	}
	for part := range strings.SplitSeq(spec, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(part), "=")
		var err error
		switch name {
		case "sites":
			o.Sites, err = strconv.Atoi(text)
		case "seed":
			o.Seed, err = strconv.ParseUint(text, 10, 64)
		default:
			return o, fmt.Errorf("%q is neither sites nor seed; \"default\" takes both as they are", name)
		}
		if err != nil {
			return o, fmt.Errorf("%s wants a number, got %q", name, text)
		}
	}
	return o, nil
}

// sharedBy returns the methods and policies of --partition and --policy.
func sharedBy(o simulateOptions) (methods []partition.Method, policies []partition.Policy, err error) {
	for _, name := range o.partitions {
		switch m := partition.Method(strings.TrimSpace(name)); {
		case m == "all":
			methods = append(methods, partition.Methods()...)
		case slices.Contains(partition.Methods(), m):
			methods = append(methods, m)
		default:
			var known []string
			for _, m := range partition.Methods() {
				known = append(known, string(m))
			}
			return nil, nil, fail(exitUsage, "--partition: %q is not one of all, %s.%s", name, strings.Join(known, ", "), didYouMean(name, known))
		}
	}
	for _, name := range o.policies {
		p := partition.Policy(strings.ToUpper(strings.TrimSpace(name)))
		if p != partition.PolicyA && p != partition.PolicyB {
			return nil, nil, fail(exitUsage, "--policy: %q is neither A nor B", name)
		}
		policies = append(policies, p)
	}
	if len(methods) == 0 || len(policies) == 0 {
		return nil, nil, fail(exitUsage, "--partition and --policy want a name each")
	}
	return methods, policies, nil
}
