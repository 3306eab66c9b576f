package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gazehound/cmd/gazehound/config"
	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/monitor/report"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
	"gazehound/predictor/topic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// simulateOptions are the flags of simulate.
type simulateOptions struct {
	traces    []string
	warc      []string
	seeds     []string
	labels    string
	merged    bool
	demo      string
	webs      int
	varied    bool
	saveTrace string
	saveLog   string

	nodes      string
	partitions []string
	policies   []string
	levels     int
	places     string
	placesOptions

	nuggets bool
	order   sim.NuggetOptions
	readers string

	strategies []string
	without    []string
	limits     []int
	train      int
	trainTrace string
	trainDemo  string
	model      string

	sim    sim.Options
	rate   string
	ties   string
	runs   int
	at     []int
	expect []string
	format string
	plot   string
	output string
}

func simulateHelp() string {
	return `Runs the crawler on a fully known web, once for each strategy and random seed, and
compares the results: harvest rate, coverage, area under the coverage curve, distinct
addresses, queue, bridge pages. Nothing is fetched, time is virtual, and the same seed
gives the same bytes.

The webs are one or more of
  --trace FILE  what "crawl --record-trace FILE" wrote: pages, labels, all links
  --warc FILE   recorded pages, with --seeds; --labels says which are relevant, or else
                the geoparser does, with the data directory's gazetteer and region;
                --merged-seeds rates each page by Okapi for the pages of all seeds, merged
                into one document, and "relevancy" is the mean of the pages that were fetched
                (Ahmadi-Abkenari & Selamat 2010, section 9)
  --demo SPEC   a made-up town; "default" or, separated by commas, of: sites, pages (of
                a site), seed, hints, locality, bridges, bridge-length, far-seeds, near-seeds,
                finite (1: no traps, so that --pages 0 ends),
                language (th or ja, of a share of sites beside German), foreign (that share),
                language-locality (share of links between sites that stay in their language);
                with --judge language its pages are what is relevant; --webs makes several, with
                --varied of twelve kinds in turn: far seeds, few hints, long bridges, wrong labels …
  --nodes SPEC  not one crawler but several on a made-up web about 100 cities; "default"
                or, separated by commas, of: sites, seed, world (a number by which all
                shares of that web are drawn, from half to twice what they are), free (1: from
                1 to 95 % instead, whatever they are), examples (2000: pages of no city, and
                at most of each city, that classification learns from). --partition says how
                they share links, --places with which cities; the metrics and tables are those of
                Gao, Lee & Miao 2006, published numbers beside them; --domain-levels 5 follows
                links five deep in each domain, as they did. Here --pages counts
                the pages of all nodes (300,000) and --strategy is breadth-first

--strategy takes "all", or names; limited-distance comes once for each
--limit-distance, and limited-distance-N and limited-distance-N-prioritised are
names, too. oracle-next is an upper bound: it knows the label of every queued link.

--without measures what a part of the default order gives: lookahead runs once more without
naive Bayes (bayes), without the distance from the last relevant page and the values of bridge
pages (bridge), without the rates of hosts and shapes of URLs (rates), or without News
(novelty). The change of the area is given web by web, on the same random seeds, with the
interval over the webs.

--train-demo or --train-trace give adaptive the training phase of Ahlers & Boll: it begins with what
it learns from --train-pages of a breadth-first crawl of that other web. --save-log keeps what one
strategy has visited as a trace, as Somboonviwat et al. made their data sets: another crawl by
limited distance, say, is simulated on it. --ties first-in serves links of equal priority in the
order in which they were found.

--readers "default" simulates people who read the made-up town: links to some pages are
removed, some hosts keep access logs, which trend reads, and all strategies get the home
pages of these hosts as further seeds. Or, separated by commas: visits (sessions per page),
logs (share of hosts with logs), unlinked (share of pages that nothing links to), bias (how
many times more people look at relevant pages), important (share of relevant pages that
are important), taste (0 to 1: how far the readers who decide what is important differ
from those in the logs), seed. Important pages are those on which people stay longest
after the logs end.

--nuggets measures what it costs parallel agents to agree on one order of their queues over
JetStream, and how good that order is, for several numbers of agents and of parts of a queue
(Ahmadi-Abkenari & Selamat 2010, figures 5 and 6). It needs no web; with --trace, --warc or
--demo the queues are what a crawl by --strategy leaves after --pages, shared out by site. --order-urls,
--order-parts and --order-lambda are K, L and λ of the paper.

--expect compares numbers STRATEGY.METRIC, or STRATEGY.METRIC@PAGES, by <, <=, >,
>= or == and calculates with + - * / and parentheses. Metrics are means over the
runs: ` + simulationMetrics() + `.
With --nodes it compares PARTITION.METRIC, also PARTITION-b for policy B and
PARTITION-STRATEGY; metrics: ` + strings.Join(report.NodesMetricNames(), ", ") + `.

Exit status: 0 done, 2 unusable flag, 4 unusable web, 6 an expectation is false.

Examples:
  gazehound simulate --demo default --strategy all --pages 5000
  gazehound simulate --demo sites=2000,pages=245,hints=0.4 --webs 3 --strategy adaptive,breadth-first,oracle-next
  gazehound simulate --demo sites=1300,finite=1,language=th --judge language --language th --strategy soft-focused,hard-focused --pages 0
  gazehound simulate --trace web.trace --strategy all --pages 5000 --runs 5 --seed 1 --format csv > curves.csv
  gazehound simulate --nodes default --partition url-hash,url --pages 50000 --format md
  gazehound simulate --trace web.trace --strategy lookahead,adaptive --pages 2500 --at 500,1000
  gazehound simulate --trace web.trace --strategy lookahead --model ../other-data --pages 2500 --at 100,500
  gazehound simulate --trace web.trace --pages 5000 --expect 'adaptive.harvest > 1.5*breadth-first.harvest'
`
}

func newSimulateCommand(a *app) *cobra.Command {
	o := simulateOptions{}
	cmd := command("simulate", "Compare strategies on a recorded or made-up web", simulateHelp(), noArgs,
		stoppable(func(ctx context.Context, args []string) error {
			if o.nodes != "" && !a.flags.Changed("strategy") {
				o.strategies = []string{"breadth-first"}
			}
			if o.nodes != "" && !a.flags.Changed("pages") {
				o.sim.Pages = 300_000
			}
			return a.simulate(ctx, o)
		}))
	o.flags(cmd.Flags())
	for _, web := range []string{"trace", "warc", "demo", "nuggets"} {
		cmd.MarkFlagsMutuallyExclusive(web, "nodes")
	}
	cmd.MarkFlagsMutuallyExclusive("train-trace", "train-demo")
	cmd.MarkFlagsOneRequired("trace", "warc", "demo", "nodes", "nuggets")
	return cmd
}

// ties are the values of --ties, the default first.
var ties = []string{"random", "first-in"}

func simulationMetrics() string { return strings.Join(sim.MetricNames(), ", ") }

func (o *simulateOptions) flags(f *pflag.FlagSet) {
	o.webFlags(f)
	o.nodeFlags(f)
	o.strategyFlags(f)
	o.crawlFlags(f)
	f.StringArrayVar(&o.expect, "expect", nil, "`COMPARISON` that must hold, or the exit status is 6 (repeatable)")
	f.StringVar(&o.format, "format", "text", strings.Join(sim.Formats, " | ")+"; csv has the curves")
	f.StringVarP(&o.output, "output", "o", "", "`FILE` for that; standard output otherwise")
	f.StringVar(&o.plot, "plot", "", "draw the figures of the papers: `FILE.svg|FILE.png|DIR`")
}

// webFlags say which webs are crawled.
func (o *simulateOptions) webFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.traces, "trace", nil, "the web of this trace `FILE` (repeatable)")
	f.StringArrayVar(&o.warc, "warc", nil, "the web of this WARC `FILE|DIR` (repeatable)")
	f.StringArrayVar(&o.seeds, "seeds", nil, "`FILE` with seed URLs, one per line; also in place of a trace's own "+
		"(repeatable)")
	f.StringVar(&o.labels, "labels", "", "`FILE` of lines URL, tab, 1 or 0; FILE:COLUMN names a column of its first "+
		"line")
	addJudgeFlags(f)
	f.BoolVar(&o.merged, "merged-seeds", false,
		"with --warc: how well fetched pages fit the seeds' pages, merged into one document")
	f.StringVar(&o.demo, "demo", "", "a made-up town: `SPEC`")
	f.IntVar(&o.webs, "webs", 1, "number of made-up towns, each with another seed")
	f.BoolVar(&o.varied, "varied", false, "with --demo: each town has other settings, twelve kinds in turn")
	f.StringVar(&o.readers, "readers", "", "people read the made-up town, and strategy trend knows their access "+
		"logs: `SPEC`")
	f.StringVar(&o.saveLog, "save-log", "", "write what the one strategy has visited to this trace `FILE`")
	f.StringVar(&o.saveTrace, "save-trace", "", "write the web to this trace `FILE`, which is read faster than WARC "+
		"files")
}

// nodeFlags say which nodes share a crawl, or which agents an order.
func (o *simulateOptions) nodeFlags(f *pflag.FlagSet) {
	f.StringVar(&o.nodes, "nodes", "", "several nodes on a made-up web of cities: `SPEC`")
	f.StringSliceVar(&o.partitions, "partition", []string{"all"}, "`NAMES` of partitions with --nodes, or all")
	f.StringSliceVar(&o.policies, "policy", []string{"A"}, "`NAMES`, A or B or both, with --nodes")
	f.IntVar(&o.levels, "domain-levels", 0, "links within a domain that --nodes follow, from its first page; 0 is no "+
		"limit (as published: 5)")
	f.StringVar(&o.places, "places", "", "the nodes and their cities: `FILE|us-top-100`, see \"gazehound places\"")
	o.placesOptions.flags(f)
	config.All().AddFlags(f, "cluster.alpha", "cluster.beta", "cluster.most_populous", "cluster.centrality_links",
		"cluster.centrality_base")
	f.BoolVar(&o.nuggets, "nuggets", false, "agents agree on the order of their queues without a coordinator; with a "+
		"web, of those that a crawl of it leaves")
	o.order = sim.DefaultNuggetOptions()
	f.IntVar(&o.order.URLs, "order-urls", o.order.URLs, "with --nuggets: URLs of each agent (K), 256 to 10,000")
	f.IntVar(&o.order.Parts, "order-parts", o.order.Parts, "with --nuggets: parts of a queue in figure 5 (L)")
	f.IntVar(&o.order.Lambda, "order-lambda", o.order.Lambda, "with --nuggets: bits of a mean (λ), 1 to 40")
	between(f, "order-urls", 256, 10_000)
	between(f, "order-parts", 1, 10_000)
	between(f, "order-lambda", 1, 40)
}

// strategyFlags say which strategies are compared, and what they have learned before.
func (o *simulateOptions) strategyFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.strategies, "strategy", []string{"all"}, "`NAMES`, or all")
	f.IntSliceVar(&o.limits, "limit-distance", []int{1, 2, 3, 4},
		"`NUMBERS` of irrelevant pages in a row that limited-distance crosses")
	config.All().AddFlags(f, "crawl.decay", "crawl.bridge_weight", "predictor.depths", "predictor.laplace",
		"predictor.prior", "crawl.news", "crawl.places", "crawl.alpha", "crawl.beta", "crawl.emphasis",
		"crawl.importance", "crawl.okapi_collection", "crawl.exploration", "crawl.path_similarity")
	f.StringVar(&o.model, "model", "", "adaptive and lookahead start with the words of this trained model: "+
		"`FILE|DIR`")
	f.StringArrayVar(&o.without, "without", nil, "compare lookahead with itself without these `PARTS`: bayes, "+
		"bridge, rates, novelty, or several, joined by + (repeatable)")
	f.StringVar(&o.trainTrace, "train-trace", "", "adaptive has learned from a breadth-first crawl of this trace "+
		"`FILE`")
	f.StringVar(&o.trainDemo, "train-demo", "", "… of this made-up town: `SPEC`")
	f.IntVar(&o.train, "train-pages", 30_000, "pages of that crawl (as published: 30,000 to 100,000)")
}

// crawlFlags say how each of them crawls.
func (o *simulateOptions) crawlFlags(f *pflag.FlagSet) {
	f.IntVar(&o.sim.Pages, "pages", 20_000, "HTML pages for each strategy; 0 is all")
	f.IntSliceVar(&o.at, "at", nil, "tables after so many pages, too: `NUMBERS`")
	f.IntVar(&o.runs, "runs", 3, "random seeds for each strategy")
	f.Uint64Var(&o.sim.Seed, "seed", 1, "the first of them: order among equal priorities")
	f.StringVar(&o.ties, "ties", ties[0], "order among equal priorities: random | first-in (the link that was found "+
		"first)")
	oneOf(f, "ties", ties)
	f.IntVar(&o.sim.Fetchers, "fetchers", 1, "pages at a time")
	f.IntVar(&o.sim.PerHost, "per-host", 0, "of these from one host; 0 is no limit (one, if there is a --delay)")
	f.DurationVar(&o.sim.Delay, "delay", 0, "between requests to one host, in virtual time")
	crawl := DefaultConfig().Crawl
	f.Float64Var(&o.sim.Selectivity, "selectivity", crawl.Selectivity,
		"hold back a link that scores less than this share of one whose host is waiting; 0 fetches it meanwhile")
	f.Float64Var(&o.sim.Patience, "crawl-patience", crawl.Patience,
		"largest share of the fetchers' time that may be lost by that; 1 is no bound")
	f.DurationVar(&o.sim.Latency, "latency", 0, "before each answer, in virtual time")
	f.StringVar(&o.rate, "rate", "", "bytes a second of each transfer, such as `1MB`; none is no limit")
	f.Float64Var(&o.sim.Noise, "noise", 0, "share of pages whose relevance is judged wrong")
	for name, least := range map[string]float64{"runs": 1, "webs": 1, "train-pages": 1} {
		between(f, name, least, 1e9)
	}
}

func (a *app) simulate(ctx context.Context, o simulateOptions) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if a.json {
		o.format = "json"
	}
	if o.nuggets {
		return a.simulateNuggets(ctx, o, cfg)
	}
	if err := a.checkSimulation(&o, cfg); err != nil {
		return err
	}
	orders, err := a.simulatedOrders(ctx, o, cfg)
	if err != nil {
		return err
	}
	if o.saveLog != "" && len(orders) > 1 {
		return fail(badUsage, "--save-log is the log of one strategy, and there are %d", len(orders))
	}
	if o.nodes != "" {
		return a.simulateNodes(ctx, o, cfg.Cluster, orders)
	}
	var names []string
	for _, strategy := range orders {
		names = append(names, strategy.Name)
	}
	expectations, err := o.expectations(names, sim.MetricNames())
	if err != nil {
		return err
	}
	webs, open, err := a.webOpener(ctx, o, cfg)
	if err != nil {
		return err
	}
	scope, err := newScope(cfg, crawlOptions{replay: []string{"recorded"}})
	if err != nil {
		return err
	}
	o.sim.Scope = scope.Check
	if o.saveLog != "" {
		o.sim.Visited = map[frontier.Key]bool{}
	}
	var last *sim.Web
	began := time.Now()
	c, err := sim.Compare(ctx, webs, func(i int) (*sim.Web, error) {
		w, err := open(i)
		if err != nil {
			return nil, err
		}
		a.describeWeb(w)
		last = w
		if o.saveTrace == "" {
			return w, nil
		}
		return w, writeFile(o.saveTrace, func(out io.Writer) error { return w.WriteTrace(ctx, out, nil) })
	}, orders, o.sim, o.runs)
	if err != nil {
		return invalid(err)
	}
	if o.saveLog != "" {
		err := writeFile(o.saveLog, func(out io.Writer) error { return last.WriteTrace(ctx, out, o.sim.Visited) })
		if err != nil {
			return err
		}
	}
	c.Marks = o.at
	a.say("%s crawled in %.1f s", several(c.Pages(), "page"), time.Since(began).Seconds())
	if err := a.writeComparison(c, o); err != nil {
		return err
	}
	return a.check(c, expectations)
}

// describeWeb says how large a web is, and how its relevant pages are linked.
func (a *app) describeWeb(w *sim.Web) {
	a.say("%s: %s and %s relevant ones can be reached from %s, the first of them %s away", oneLine(w.Name),
		several(w.Pages(), "page"), count(w.Relevant()), several(len(w.Seeds), "seed"), several(w.Nearest(), "link"))
	l := w.Locality()
	a.say("  %.1f %% of the links on relevant pages lead to relevant ones, %.1f %% of those on others; %.1f %% of "+
		"the links to relevant pages come from relevant ones", 100*l.Relevant, 100*l.Others, 100*l.From)
}

// writeComparison writes the tables, and draws the curves where that is asked for.
func (a *app) writeComparison(c *sim.Comparison, o simulateOptions) error {
	if err := a.writeReport(o.output, o.format, func(w io.Writer) error { return c.Write(w, o.format) }); err != nil {
		return err
	}
	if o.plot != "" {
		files, err := c.Plot(o.plot)
		if err != nil {
			return invalid(err)
		}
		a.say("drawn: %s", strings.Join(files, ", "))
	}
	return nil
}

// checkSimulation refuses flags that are wrong or do not go together.
func (a *app) checkSimulation(o *simulateOptions, cfg *Config) error {
	formats := sim.Formats
	if o.nodes != "" {
		formats = report.NodesFormats
	}
	for _, parts := range o.without {
		if _, err := order.ParseParts(parts); err != nil {
			return fail(badUsage, "--without: %w", err)
		}
	}
	if o.rate != "" {
		var rate config.Size
		if err := rate.UnmarshalText([]byte(o.rate)); err != nil {
			return fail(badUsage, "--rate: %w", err)
		}
		o.sim.Rate = float64(rate)
	}
	o.sim.FirstIn = o.ties == "first-in"
	if o.sim.Delay > 0 && o.sim.PerHost == 0 {
		o.sim.PerHost = 1
	}
	judged := a.judgeGiven()
	switch {
	case len(o.at) > 0 && slices.Min(o.at) < 1:
		return fail(badUsage, "--at must be numbers of pages from 1 on, got %d", slices.Min(o.at))
	case o.demo != "" && a.flags.Changed("language") && cfg.Crawl.Judge != "language":
		return fail(badUsage, "--language belongs to --judge language, and the judge is %s; the languages of a "+
			"made-up web say --demo language=th", cfg.Crawl.Judge)
	case o.demo != "" && a.flags.Changed("judge") && cfg.Crawl.Judge == "topic":
		return fail(badUsage, "--judge topic does not fit a made-up web: its pages are about addresses or in a "+
			"language")
	case judged && len(o.traces) > 0 && cfg.Crawl.Judge != "language":
		return fail(badUsage, "--judge %s does not work on a trace, which has no texts: only --judge language does",
			cfg.Crawl.Judge)
	case judged && len(o.traces) == 0 && o.demo == "" && (len(o.warc) == 0 || o.labels != ""):
		return fail(badUsage, "--judge belongs to --demo, --trace and to --warc without --labels: other webs have "+
			"labels of their own")
	case o.readers != "" && o.demo == "":
		return fail(badUsage, "--readers belongs to --demo: it simulates readers of a made-up town")
	case (o.webs > 1 || o.varied) && o.demo == "":
		return fail(badUsage, "--webs and --varied belong to --demo: a recorded web is one")
	case o.saveLog != "" && (len(o.traces)+min(len(o.warc), 1)+min(len(o.demo), 1)*o.webs != 1 || o.runs > 1):
		return fail(badUsage, "--save-log is the log of one crawl of one web: --runs 1")
	case o.trainTrace != "" && o.model != "", o.trainDemo != "" && o.model != "":
		return fail(badUsage, "--model and a training crawl both say what adaptive has learned")
	case a.flags.Changed("train-pages") && o.trainTrace == "" && o.trainDemo == "":
		return fail(badUsage, "--train-pages are pages of another crawl: --train-trace FILE or --train-demo SPEC")
	case o.saveTrace != "" && len(o.traces)+min(len(o.warc), 1)+min(len(o.demo), 1)*o.webs > 1:
		return fail(badUsage, "--save-trace writes one web, and there are several")
	case o.merged && len(o.warc) == 0:
		return fail(badUsage, "--merged-seeds belongs to --warc: other webs have no texts. A trace that --save-trace "+
			"writes of such a web keeps what it says")
	case cfg.Crawl.Topics != "" && cfg.Crawl.Collection == "crawled" && len(o.traces) > 0:
		return fail(badUsage, "okapi_collection crawled does not work on a trace, which has no texts")
	}
	if err := o.sim.Validate(); err != nil {
		return fail(badUsage, "%w", err)
	}
	return checkOneOf("format", o.format, formats)
}

// judgeGiven reports whether a flag names the judge.
func (a *app) judgeGiven() bool {
	return a.flags.Changed("judge") || a.flags.Changed("language") || a.flags.Changed("language-by")
}

// expectations parses the flags --expect.
func (o *simulateOptions) expectations(names, metrics []string) (sim.Expectations, error) {
	list, err := sim.ParseExpectations(o.expect, names, metrics)
	if err != nil {
		return nil, fail(badUsage, "--expect %w", err)
	}
	return list, nil
}

// check returns an error if an expectation does not hold.
func (a *app) check(c sim.Measured, list sim.Expectations) error {
	hold, broken := list.Check(c)
	for _, text := range hold {
		a.say("expected and true: %s", text)
	}
	if len(broken) > 0 {
		return fail(answerNo, "%s", strings.Join(broken, "; "))
	}
	return nil
}

// simulatedOrders returns the strategies to compare, each with a fresh model
// for every run.
func (a *app) simulatedOrders(ctx context.Context, o simulateOptions, cfg *Config) ([]sim.Order, error) {
	model := cfg.ModelOptions()
	trained, err := a.trainedModel(ctx, o, cfg)
	if err != nil {
		return nil, err
	}
	options := sim.OrderOptions{Settings: cfg.Crawl.Settings, Readers: o.readers != "", Trained: trained,
		Without: o.without,
		Model: func(without predictor.Parts) (*predictor.Model, error) {
			model := model
			model.Without = without
			return startModel(o.model, model)
		}}
	if cfg.Crawl.Topics != "" {
		options.Topic = func() (*topic.Okapi, error) { return openOkapi(project{a.data}, cfg) }
	}
	names, err := sim.ParseStrategies(o.strategies, options.Possible(), o.limits)
	if err != nil {
		return nil, fail(badUsage, "--strategy: %w", err)
	}
	if len(o.without) > 0 && !slices.Contains(names, order.Kinds[0].Name) {
		return nil, fail(badUsage, "--without leaves out parts of lookahead, and --strategy does not name it")
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

// trainedModel returns a model for adaptive that has learned from another crawl; nil: none was asked for.
func (a *app) trainedModel(ctx context.Context, o simulateOptions, cfg *Config) (*predictor.Model, error) {
	if o.trainTrace == "" && o.trainDemo == "" {
		return nil, nil
	}
	o.seeds, o.demo, o.readers, o.sim.Pages = nil, o.trainDemo, "", o.train
	open := func(int) (*sim.Web, error) { return a.traceWeb(ctx, o.trainTrace, o, cfg) }
	if o.trainDemo != "" {
		var err error
		if open, err = a.townOpener(ctx, o, cfg); err != nil {
			return nil, err
		}
	}
	w, err := open(0)
	if err != nil {
		return nil, err
	}
	model := predictor.NewModel(cfg.ModelOptions())
	r, err := sim.Train(ctx, w, model, o.sim)
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

// webOpener returns how many webs there are, and what opens them by their numbers: traces, then
// recorded pages, then made-up towns.
func (a *app) webOpener(ctx context.Context, o simulateOptions, cfg *Config) (webs int,
	open func(i int) (*sim.Web, error), err error) {
	var openers []func() (*sim.Web, error)
	for _, file := range o.traces {
		openers = append(openers, func() (*sim.Web, error) { return a.traceWeb(ctx, file, o, cfg) })
	}
	if len(o.warc) > 0 {
		openers = append(openers, func() (*sim.Web, error) { return a.warcWeb(ctx, o, cfg) })
	}
	if o.demo != "" {
		town, err := a.townOpener(ctx, o, cfg)
		if err != nil {
			return 0, nil, err
		}
		for i := range o.webs {
			openers = append(openers, func() (*sim.Web, error) { return town(i) })
		}
	}
	return len(openers), func(i int) (*sim.Web, error) { return openers[i]() }, nil
}

// townOpener returns what opens the made-up towns by their numbers.
func (a *app) townOpener(ctx context.Context, o simulateOptions, cfg *Config) (open func(i int) (*sim.Web, error),
	err error) {
	towns := sim.Towns{Varied: o.varied}
	if cfg.Crawl.Judge == "language" {
		if towns.Language, err = languageOf(cfg.Crawl.Language); err != nil {
			return nil, err
		}
	}
	if err := towns.Parse(o.demo, o.readers, o.sim.Pages); err != nil {
		return nil, fail(badUsage, "%w", err)
	}
	return func(i int) (*sim.Web, error) {
		w, lines, err := towns.Open(ctx, i)
		if err == nil && o.readers != "" {
			all, unlinked := w.Important()
			a.say("  %s lines of logs name %s pages; of %d important pages nothing links to %d", count(lines),
				count(w.Clicks.Pages), all, unlinked)
		}
		return w, err
	}, nil
}

// traceWeb reads a trace file.
func (a *app) traceWeb(ctx context.Context, file string, o simulateOptions, cfg *Config) (*sim.Web, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fail(badInput, "--trace: %w", err)
	}
	if info.IsDir() {
		return nil, fail(badInput, "--trace %s is a folder, want a file. \"gazehound crawl --record-trace FILE\" "+
			"writes one", file)
	}
	var label sim.Labeller
	if a.judgeGiven() {
		judge, _, _, err := a.openJudge(project{a.data}, cfg)
		if err != nil {
			return nil, err
		}
		label = sim.LabelBy(ctx, judge)
	}
	w, warnings, err := sim.OpenTrace(file, label)
	if err != nil {
		return nil, invalid(err)
	}
	for _, warning := range warnings {
		a.warn("%s", oneLine(warning))
	}
	if len(o.seeds) == 0 {
		return w, nil
	}
	seeds, err := a.simulatedSeeds(o)
	if err != nil {
		return nil, err
	}
	w.StartFrom(seeds)
	return w, nil
}

// recordTrace opens the trace of a crawl; a resumed crawl appends to it.
func (a *app) recordTrace(name string, seeds []weburl.URL, resumed bool) (*sim.Recorder, error) {
	recorder, late, err := sim.OpenRecorder(name, seeds, resumed)
	if err != nil {
		return nil, fail(badInput, "--record-trace: %w", err)
	}
	if late {
		a.warn("%s starts in the middle of a crawl: it will lack the pages that were visited before", name)
	}
	return recorder, nil
}

func (a *app) simulatedSeeds(o simulateOptions) ([]weburl.URL, error) {
	var seeds []weburl.URL
	for _, name := range o.seeds {
		found, _, err := a.seedFile(name)
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, found...)
	}
	if len(seeds) == 0 {
		return nil, fail(badInput, "no seed. --seeds FILE says where recorded pages are to be crawled from")
	}
	return seeds, nil
}

// warcWeb reads WARC files. --labels decide what is relevant, or else the geoparser.
func (a *app) warcWeb(ctx context.Context, o simulateOptions, cfg *Config) (*sim.Web, error) {
	seeds, err := a.simulatedSeeds(o)
	if err != nil {
		return nil, err
	}
	archive, err := a.openRecorded(cfg, false, o.warc...)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	var label sim.Labeller
	if o.labels != "" {
		labels, err := sim.ReadLabels(o.labels)
		if err != nil {
			return nil, fail(badInput, "--labels: %w", err)
		}
		label = labels.Label
	} else {
		judge, _, places, err := a.openJudge(project{a.data}, cfg)
		if err != nil || judge == nil {
			return nil, err
		}
		if places != nil {
			defer places.Close()
		}
		label = sim.LabelBy(ctx, judge)
	}
	if cfg.Crawl.Topics != "" && cfg.Crawl.Collection == "crawled" {
		label = sim.WithText(label)
	}
	if o.merged {
		okapi, err := sim.MergeSeeds(ctx, archive, seeds, cfg.Crawl.Options)
		if err != nil {
			return nil, invalid(err)
		}
		label = sim.Rated(label, okapi)
	}
	return sim.FromWARC(ctx, filepath.Base(o.warc[0]), archive, seeds, label)
}

// simulateNodes crawls a made-up web of many cities with several nodes, once
// for each partition, policy and strategy.
func (a *app) simulateNodes(ctx context.Context, o simulateOptions, k config.Cluster, orders []sim.Order) error {
	web, err := sim.ParseCities(o.nodes)
	if err != nil {
		return fail(badUsage, "--nodes: %w", err)
	}
	if o.places != "" {
		if web.Nodes, web.Known, err = a.places(ctx, o.places, o.placesOptions); err != nil {
			return err
		}
	}
	plan := sim.NodesPlan{Orders: orders, NodesOptions: sim.NodesOptions{
		Partition: partition.Options{Alpha: k.Alpha, Beta: k.Beta, MostPopulous: k.MostPopulous},
		Pages:     o.sim.Pages, Seed: o.sim.Seed,
		Levels: o.levels, Centrality: sim.Centrality{Links: k.CentralityLinks, Base: k.CentralityBase}}}
	if plan.Methods, plan.Policies, err = sim.ParsePartitions(o.partitions, o.policies); err != nil {
		return fail(badUsage, "%w", err)
	}
	for _, strategy := range orders {
		if strings.HasPrefix(strategy.Name, "oracle-") {
			return fail(badUsage, "--strategy %s knows one web only: it cannot be used with --nodes", strategy.Name)
		}
	}
	names := plan.Names()
	expectations, err := o.expectations(names, report.NodesMetricNames())
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
	if err := a.writeReport(o.output, o.format, func(out io.Writer) error { return c.Write(out, o.format) }); err != nil {
		return err
	}
	return a.check(c, expectations)
}

// simulateNuggets prints and draws figures 5 and 6 of Ahmadi-Abkenari & Selamat, measured by agents
// that communicate over a JetStream server in this process.
func (a *app) simulateNuggets(ctx context.Context, o simulateOptions, cfg *Config) (err error) {
	if err := checkOneOf("format", o.format, []string{"text", "json"}); err != nil {
		return err
	}
	if o.order.Parts > o.order.URLs {
		return fail(badUsage, "--order-parts must be 1 to --order-urls, %d, got %d", o.order.URLs, o.order.Parts)
	}
	o.order.Seed = o.sim.Seed
	if o.order.Queue, err = a.crawledQueue(ctx, o, cfg); err != nil {
		return err
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
	figures, err := sim.Nuggets(o.order, func(f nugget.Format, queues [][]float64) ([]nugget.Nugget, int, int,
		error) {
		turns, heard, err := cluster.Agree(ctx, server,
			cluster.Order{URLs: o.order.URLs, Parts: f.Parts, Lambda: f.Lambda}, queues)
		return turns, int(heard.Bits), int(heard.Bytes), err
	})
	if err != nil {
		return err
	}
	if o.format == "json" {
		err = a.printJSON(fields{"type": "nuggets", "agents": figures[0], "parts": figures[1]})
	} else {
		err = sim.WriteNuggets(a.stdout, figures)
	}
	if err != nil || o.plot == "" {
		return err
	}
	files, err := o.order.Plot(o.plot, figures)
	if err != nil {
		return invalid(err)
	}
	a.say("drawn: %s", strings.Join(files, ", "))
	return nil
}

// crawledQueue returns what waits after a crawl of the web by the one strategy; nil without a web.
func (a *app) crawledQueue(ctx context.Context, o simulateOptions, cfg *Config) ([]frontier.Entry, error) {
	if len(o.traces)+len(o.warc) == 0 && o.demo == "" {
		return nil, nil
	}
	if err := a.checkSimulation(&o, cfg); err != nil {
		return nil, err
	}
	orders, err := a.simulatedOrders(ctx, o, cfg)
	if err != nil {
		return nil, err
	}
	webs, open, err := a.webOpener(ctx, o, cfg)
	if err != nil {
		return nil, err
	}
	if len(orders) != 1 || webs != 1 {
		return nil, fail(badUsage, "--nuggets takes the queue of one crawl: one web and one --strategy NAME")
	}
	w, err := open(0)
	if err != nil {
		return nil, err
	}
	strategy, err := orders[0].New(w)
	if err != nil {
		return nil, err
	}
	queue, err := sim.Queue(ctx, w, strategy, o.sim)
	if err != nil {
		return nil, invalid(err)
	}
	a.say("%s wait after %s of %s", several(len(queue), "URL"), several(o.sim.Pages, "page"), oneLine(w.Name))
	return queue, nil
}
