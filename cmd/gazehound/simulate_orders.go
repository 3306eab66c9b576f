package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gazehound/cmd/gazehound/config"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/order"
	"gazehound/predictor"
	"gazehound/predictor/topic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func simulateOrdersHelp() string {
	return `Crawls the webs once for each strategy and random seed, and compares the results:
harvest rate, coverage, area under the coverage curve, distinct addresses, queue, bridge
pages.

` + simulatedWebsHelp + simulatedSeveralHelp + `
--strategy takes "all", or names; limited-distance comes once for each
--limit-distance, and limited-distance-N and limited-distance-N-prioritised are
names, too. oracle-next is an upper bound: it knows the label of every queued link.
--ties first-in serves links of equal priority in the order in which they were found.

--agents lets each strategy crawl once more by so many agents, which share the web, for each
of --turns: own (each fetches its own best), nuggets (the better half of all queues at once,
as nodes do) and turns (one part after the other, as Ahmadi-Abkenari & Selamat 2010 published
it). They are called STRATEGY-AGENTS-TURNS. --pages is the budget of all, --fetchers are those
of one agent; with --latency the column time says what waiting costs. --order-every exchanges
nuggets at intervals of virtual time.

--train-demo or --train-trace give adaptive the training phase of Ahlers & Boll: it begins with what
it learns from --train-pages of a breadth-first crawl of that other web.

` + simulatedExpectHelp() + `
Examples:
  gazehound simulate orders --demo default --strategy all --pages 5000
  gazehound simulate orders --demo sites=2000,pages=245,hints=0.4 --webs 3 --strategy adaptive,breadth-first,oracle-next
  gazehound simulate orders --demo sites=1300,finite=1,language=th --judge language --language th \
    --strategy soft-focused,hard-focused --pages 0
  gazehound simulate orders --trace web.trace --strategy all --pages 5000 --runs 5 --seed 1 --format csv > curves.csv
  gazehound simulate orders --trace web.trace --strategy lookahead,adaptive --pages 2500 --at 500,1000
  gazehound simulate orders --demo default --strategy lookahead --agents 4 --latency 1s --pages 2000
  gazehound simulate orders --trace web.trace --strategy lookahead --model ../other-data --pages 2500 --at 100,500
  gazehound simulate orders --trace web.trace --pages 5000 --expect 'adaptive.harvest > 1.5*breadth-first.harvest'
`
}

func simulateAblationHelp() string {
	return `Measures what each part of the default order gives: lookahead runs once whole and once
without naive Bayes (bayes), without the distance from the last relevant page and the values
of bridge pages (bridge), without the rates of hosts and shapes of URLs (rates), or without
News (novelty). The change of the area is given web by web, on the same random seeds, with
the interval over the webs.

` + simulatedWebsHelp + simulatedSeveralHelp + `
` + simulatedExpectHelp() + `
Examples:
  gazehound simulate ablation --demo default --webs 12 --varied --pages 2000
  gazehound simulate ablation --trace web.trace --without bayes --without bayes+bridge --pages 2500
`
}

func simulatedExpectHelp() string {
	return `--expect compares numbers STRATEGY.METRIC, or STRATEGY.METRIC@PAGES, by <, <=, >,
>= or == and calculates with + - * / and parentheses. Metrics are means over the
runs: ` + strings.Join(sim.MetricNames(), ", ") + `.

Exit status: 0 done, 2 unusable flag, 4 unusable web, 6 an expectation is false.
`
}

// simulatedStrategies says what strategies are made from.
type simulatedStrategies struct {
	limits []int
	model  string
}

// flags adds those of all strategies.
func (o *simulatedStrategies) flags(f *pflag.FlagSet) {
	o.defaultFlags(f)
	config.All().AddFlags(f, "crawl.places", "crawl.alpha", "crawl.beta", "crawl.emphasis", "crawl.importance",
		"crawl.okapi_collection", "crawl.exploration", "crawl.path_similarity")
}

// defaultFlags adds those of the default order.
func (o *simulatedStrategies) defaultFlags(f *pflag.FlagSet) {
	config.All().AddFlags(f, "crawl.decay", "crawl.bridge_weight", "predictor.depths", "predictor.laplace",
		"predictor.prior", "crawl.news")
	f.StringVar(&o.model, "model", "", "adaptive and lookahead start with the words of this trained model: "+
		"`FILE|DIR`")
}

// limitFlag adds the flag of what compares several strategies.
func (o *simulatedStrategies) limitFlag(f *pflag.FlagSet) {
	f.IntSliceVar(&o.limits, "limit-distance", []int{1, 2, 3, 4},
		"`NUMBERS` of irrelevant pages in a row that limited-distance crosses")
}

// simulatedTraining says what adaptive learns before.
type simulatedTraining struct {
	trace, demo string
	pages       int
}

func (o *simulatedTraining) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.trace, "train-trace", "", "adaptive has learned from a breadth-first crawl of this trace "+
		"`FILE`")
	f.StringVar(&o.demo, "train-demo", "", "… of this made-up town: `SPEC`")
	f.IntVar(&o.pages, "train-pages", 30_000, "pages of that crawl (as published: 30,000 to 100,000)")
	between(f, "train-pages", 1, 1e9)
	needs(f, "train-pages", "train-trace", "train-demo")
	cmd.MarkFlagsMutuallyExclusive("train-trace", "train-demo", "model")
}

// simulateOrdersOptions are the flags of "simulate orders" and "simulate ablation".
type simulateOrdersOptions struct {
	simulatedWebs
	simulatedCrawl
	simulatedStrategies
	strategies []string
	without    []string // parts of lookahead, left out of one more order each
	train      simulatedTraining
	agents     int
	turns      []string
	partition  string
	runs       int
	at         []int
	expect     []string
	format     string
	plot       string
	output     string
}

func newSimulateOrdersCommand(a *app) *cobra.Command {
	var o simulateOrdersOptions
	cmd := command("orders", "Compare strategies on recorded or made-up webs", simulateOrdersHelp(), noArgs,
		stoppable(func(ctx context.Context, args []string) error { return a.simulateOrders(ctx, o) }))
	o.simulatedWebs.flags(cmd, true)
	f := cmd.Flags()
	f.StringSliceVar(&o.strategies, "strategy", []string{"all"}, "`NAMES`, or all")
	o.limitFlag(f)
	o.simulatedStrategies.flags(f)
	o.train.flags(cmd)
	o.agentFlags(f)
	o.resultFlags(f)
	return cmd
}

func newSimulateAblationCommand(a *app) *cobra.Command {
	o := simulateOrdersOptions{strategies: []string{order.Kinds[0].Name}}
	cmd := command("ablation", "Measure what each part of the default order gives", simulateAblationHelp(), noArgs,
		stoppable(func(ctx context.Context, args []string) error { return a.simulateOrders(ctx, o) }))
	o.simulatedWebs.flags(cmd, true)
	f := cmd.Flags()
	f.StringArrayVar(&o.without, "without", []string{"bayes", "bridge", "rates", "novelty"}, "leave out these "+
		"`PARTS`, one or several joined by + (repeatable)")
	restrict(f, "without", func(text string) error {
		if _, err := order.ParseParts(text); err != nil {
			return fmt.Errorf("--without: %w", err)
		}
		return nil
	})
	o.defaultFlags(f)
	o.resultFlags(f)
	return cmd
}

// agentFlags say how several agents share a web.
func (o *simulateOrdersOptions) agentFlags(f *pflag.FlagSet) {
	f.IntVar(&o.agents, "agents", 1, "crawl once more by so many agents, which share the web")
	between(f, "agents", 1, 1000)
	f.StringSliceVar(&o.turns, "turns", sim.Turns, "whose links of these agents are next: `NAMES`")
	oneOf(f, "turns", sim.Turns)
	f.StringVar(&o.partition, "partition", string(partition.SiteHash),
		"which of them owns a link: site-hash | url-hash")
	oneOf(f, "partition", []string{string(partition.SiteHash), string(partition.URLHash)})
	config.All().AddFlags(f, "cluster.order_urls", "cluster.order_parts", "cluster.order_lambda", "cluster.order_every")
	for _, name := range []string{"turns", "partition", "order-urls", "order-parts", "order-lambda", "order-every"} {
		needs(f, name, "agents")
	}
}

// resultFlags say how often is crawled, and what is written of it.
func (o *simulateOrdersOptions) resultFlags(f *pflag.FlagSet) {
	f.IntVar(&o.runs, "runs", 3, "random seeds for each strategy")
	between(f, "runs", 1, 1e9)
	o.simulatedCrawl.flags(f)
	f.IntSliceVar(&o.at, "at", nil, "tables after so many pages, too: `NUMBERS`")
	expectFlag(f, &o.expect)
	f.StringVar(&o.format, "format", "text", strings.Join(sim.Formats, " | ")+"; csv has the curves")
	oneOf(f, "format", sim.Formats)
	f.StringVarP(&o.output, "output", "o", "", "`FILE` for that; standard output otherwise")
	f.StringVar(&o.plot, "plot", "", "draw the figures of the papers: `FILE.svg|FILE.png|DIR`")
}

// simulateOrders crawls the webs with all strategies.
func (a *app) simulateOrders(ctx context.Context, o simulateOrdersOptions) error {
	if len(o.at) > 0 && slices.Min(o.at) < 1 {
		return fail(badUsage, "--at must be numbers of pages from 1 on, got %d", slices.Min(o.at))
	}
	if a.json {
		o.format = "json"
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	options, err := o.options(cfg)
	if err != nil {
		return err
	}
	orders, err := a.comparedOrders(ctx, o, options, cfg)
	if err != nil {
		return err
	}
	var names []string
	for _, strategy := range orders {
		names = append(names, strategy.Name)
	}
	expectations, err := parseExpectations(o.expect, names, sim.MetricNames())
	if err != nil {
		return err
	}
	webs, open, err := a.webOpener(ctx, o.simulatedWebs, o.Pages, cfg)
	if err != nil {
		return err
	}
	began := time.Now()
	c, err := sim.Compare(ctx, webs, func(i int) (*sim.Web, error) {
		w, err := open(i)
		if err == nil {
			a.describeWeb(w)
		}
		return w, err
	}, orders, options, o.runs)
	if err != nil {
		return invalid(err)
	}
	c.Marks = o.at
	a.say("%s crawled in %.1f s", several(c.Pages(), "page"), time.Since(began).Seconds())
	err = a.writeReport(o.output, o.format, func(w io.Writer) error { return c.Write(w, o.format) })
	if err != nil {
		return err
	}
	if o.plot != "" {
		files, err := c.Plot(o.plot)
		if err != nil {
			return invalid(err)
		}
		a.say("drawn: %s", strings.Join(files, ", "))
	}
	return a.check(c, expectations)
}

// comparedOrders returns the strategies that o compares.
func (a *app) comparedOrders(ctx context.Context, o simulateOrdersOptions, options sim.Options,
	cfg *Config) ([]sim.Order, error) {
	trained, err := a.trainedModel(ctx, o.train, options, cfg)
	if err != nil {
		return nil, err
	}
	made := a.orderOptions(o.simulatedStrategies, cfg)
	made.Readers, made.Trained, made.Without = o.readers != "", trained, o.without
	if o.agents > 1 {
		of := cfg.OneOrder()
		if err := of.Validate(); err != nil {
			return nil, fail(badUsage, "%w", err)
		}
		made.Turns = o.turns
		made.Sharing = sim.Sharing{Agents: o.agents, Partition: partition.Method(o.partition), OneOrder: &of}
	}
	return a.parseOrders(made, o.strategies, o.limits, cfg)
}

// orderOptions says what orders are made from: each run has a fresh model.
func (a *app) orderOptions(o simulatedStrategies, cfg *Config) sim.OrderOptions {
	model := cfg.ModelOptions()
	options := sim.OrderOptions{Settings: cfg.Crawl.Settings,
		Model: func(without predictor.Parts) (*predictor.Model, error) {
			model := model
			model.Without = without
			return startModel(o.model, model)
		}}
	if cfg.Crawl.Topics != "" {
		options.Topic = func() (*topic.Okapi, error) { return openOkapi(project{a.data}, cfg) }
	}
	return options
}

// parseOrders makes the orders of these names.
func (a *app) parseOrders(options sim.OrderOptions, given []string, limits []int, cfg *Config) ([]sim.Order, error) {
	names, err := sim.ParseStrategies(given, options.Possible(), limits)
	if err != nil {
		return nil, fail(badUsage, "--strategy: %w", err)
	}
	if slices.Contains(names, "trend") {
		a.warnOfScales(cfg)
	}
	orders, err := options.Orders(names)
	var failed *kindError
	if err != nil && !errors.As(err, &failed) {
		return nil, fail(badUsage, "%w", err)
	}
	return orders, err
}

// oneStrategy makes the strategy of this name for a crawl of w.
func (a *app) oneStrategy(name string, o simulatedStrategies, w *sim.Web, cfg *Config) (order.Strategy, error) {
	orders, err := a.parseOrders(a.orderOptions(o, cfg), []string{name}, []int{1}, cfg)
	if err != nil {
		return nil, err
	}
	if len(orders) != 1 || name == "all" {
		return nil, fail(badUsage, "--strategy takes one name here, got %q", name)
	}
	return orders[0].New(w)
}

// trainedModel returns a model for adaptive that has learned from another crawl; nil: none was asked for.
func (a *app) trainedModel(ctx context.Context, o simulatedTraining, options sim.Options,
	cfg *Config) (*predictor.Model, error) {
	if o.trace == "" && o.demo == "" {
		return nil, nil
	}
	webs := simulatedWebs{demo: o.demo, webs: 1}
	if o.trace != "" {
		webs.traces = []string{o.trace}
	}
	w, err := a.oneWeb(ctx, webs, o.pages, cfg)
	if err != nil {
		return nil, err
	}
	options.Pages, options.Scope = o.pages, nil
	model := predictor.NewModel(cfg.ModelOptions())
	r, err := sim.Train(ctx, w, model, options)
	if err != nil {
		return nil, err
	}
	a.say("trained with %s of %s, %s of them relevant", several(r.Pages, "page"), oneLine(w.Name),
		count(r.Found(r.Pages)))
	if r.Found(r.Pages) == 0 {
		a.warn("no page of the training crawl was relevant: adaptive begins without having learned what is")
	}
	return model, nil
}
