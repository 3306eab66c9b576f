package main

import (
	"slices"
	"strings"

	"gazehound/cmd/gazehound/config"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/weburl"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const simulateHelp = `Runs the crawler on webs of which every page is known. Nothing is fetched, time is
virtual, and the same seed gives the same bytes.

  orders    compares strategies on recorded or made-up webs
  ablation  measures what each part of the default order gives
  nodes     compares the ways in which several nodes share a crawl
  nuggets   measures what it costs agents to agree on one order
  trace     writes a web, or what one strategy visits of it, to a file

Examples:
  gazehound simulate orders --demo default --pages 5000
  gazehound simulate ablation --demo default --webs 4 --pages 2000
  gazehound simulate nodes --partition url-hash,url --pages 50000
`

func newSimulateCommand(a *app) *cobra.Command {
	cmd := group("simulate", "Compare strategies on a recorded or made-up web", simulateHelp,
		newSimulateOrdersCommand(a), newSimulateAblationCommand(a), newSimulateNodesCommand(a),
		newSimulateNuggetsCommand(a), newSimulateTraceCommand(a))
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if c == cmd {
			return a.simulateFlagError(err)
		}
		return flagError(c, err)
	})
	return cmd
}

// simulateMoved are the flags that simulate had itself, with the command below it that took the place
// of each. The first one of those given decides.
var simulateMoved = []struct{ flag, command string }{
	{"nodes", "nodes"}, {"nuggets", "nuggets"}, {"without", "ablation"}, {"save-trace", "trace"}, {"save-log", "trace"},
	{"demo", "orders"}, {"trace", "orders"}, {"warc", "orders"}, {"strategy", "orders"},
}

// simulateFlagError says which command below simulate takes the flags that were given.
func (a *app) simulateFlagError(err error) error {
	for _, moved := range simulateMoved {
		given := slices.ContainsFunc(a.args, func(arg string) bool {
			name, _, _ := strings.Cut(arg, "=")
			return name == "--"+moved.flag
		})
		if given {
			return fail(badUsage, "simulate --%s is now \"gazehound simulate %s\", and its --help lists the flags",
				moved.flag, moved.command)
		}
	}
	return fail(badUsage, "%s. The commands below simulate have flags: \"gazehound simulate --help\" lists them", err)
}

// simulatedCrawl says how a web is crawled.
type simulatedCrawl struct {
	sim.Options
	rate config.Size
	ties string
}

// ties are the values of --ties, the default first.
var ties = []string{"random", "first-in"}

func (o *simulatedCrawl) flags(f *pflag.FlagSet) {
	f.IntVar(&o.Pages, "pages", 20_000, "HTML pages for each strategy; 0 is all")
	f.Uint64Var(&o.Seed, "seed", 1, "the first random seed: order among equal priorities")
	f.StringVar(&o.ties, "ties", ties[0], "order among equal priorities: random | first-in (the link that was found "+
		"first)")
	oneOf(f, "ties", ties)
	f.IntVar(&o.Fetchers, "fetchers", 1, "pages at a time")
	f.IntVar(&o.PerHost, "per-host", 0, "of these from one host; 0 is no limit (one, if there is a --delay)")
	f.DurationVar(&o.Delay, "delay", 0, "between requests to one host, in virtual time")
	crawl := DefaultConfig().Crawl
	f.Float64Var(&o.Selectivity, "selectivity", crawl.Selectivity,
		"hold back a link that scores less than this share of one whose host is waiting; 0 fetches it meanwhile")
	f.Float64Var(&o.Patience, "crawl-patience", crawl.Patience,
		"largest share of the fetchers' time that may be lost by that; 1 is no bound")
	f.DurationVar(&o.Latency, "latency", 0, "before each answer, in virtual time")
	f.Var(&o.rate, "rate", "`SIZE` a second of each transfer, such as 1MB; 0 is no limit")
	f.Float64Var(&o.Noise, "noise", 0, "share of pages whose relevance is judged wrong")
}

// options returns the options of a crawl within the scope of the configuration.
func (o simulatedCrawl) options(cfg *Config) (sim.Options, error) {
	options := o.Options
	options.Rate = float64(o.rate)
	options.FirstIn = o.ties == "first-in"
	if options.Delay > 0 && options.PerHost == 0 {
		options.PerHost = 1
	}
	if err := options.Validate(); err != nil {
		return options, fail(badUsage, "%w", err)
	}
	scope, err := newScope(cfg, crawlOptions{replay: []string{"recorded"}})
	if err != nil {
		return options, err
	}
	options.Scope = scope.Check
	return options, nil
}

// expectFlag is --expect of what compares.
func expectFlag(f *pflag.FlagSet, texts *[]string) {
	f.StringArrayVar(texts, "expect", nil, "`COMPARISON` that must hold, or the exit status is 6 (repeatable)")
}

// parseExpectations parses the values of --expect.
func parseExpectations(texts, names, metrics []string) (sim.Expectations, error) {
	list, err := sim.ParseExpectations(texts, names, metrics)
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

// recordTrace opens the trace of a crawl; a resumed crawl appends to it.
func (a *app) recordTrace(name string, seeds []weburl.URL, region []string, resumed bool) (*sim.Recorder, error) {
	recorder, late, err := sim.OpenRecorder(name, seeds, region, resumed)
	if err != nil {
		return nil, fail(badInput, "--record-trace: %w", err)
	}
	if late {
		a.warn("%s starts in the middle of a crawl: it will lack the pages that were visited before", name)
	}
	return recorder, nil
}
