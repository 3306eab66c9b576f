package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/sim"

	"github.com/spf13/cobra"
)

const simulateNuggetsHelp = `Measures what it costs parallel agents to agree on one order of their queues over
JetStream, and how good that order is, for several numbers of agents and of parts of a queue
(Ahmadi-Abkenari & Selamat 2010, figures 5 and 6). --order-urls, --order-parts and
--order-lambda are K, L and λ of the paper. Without a web the importance of URLs is drawn;
with one, the queues are what a crawl by --strategy leaves after --pages, shared out by site.

` + simulatedWebsHelp + `
Exit status: 0 done, 2 unusable flag, 4 unusable web.

Examples:
  gazehound simulate nuggets --plot figures
  gazehound simulate nuggets --order-urls 300 --order-parts 8 --order-lambda 6
  gazehound simulate nuggets --trace web.trace --strategy lookahead --pages 2500
`

// simulateNuggetsOptions are the flags of "simulate nuggets".
type simulateNuggetsOptions struct {
	simulatedWebs
	simulatedCrawl
	simulatedStrategies
	strategy string
	order    sim.NuggetOptions
	plot     string
}

func newSimulateNuggetsCommand(a *app) *cobra.Command {
	o := simulateNuggetsOptions{order: sim.DefaultNuggetOptions()}
	cmd := command("nuggets", "Measure what it costs agents to agree on one order", simulateNuggetsHelp, noArgs,
		stoppable(func(ctx context.Context, args []string) error { return a.simulateNuggets(ctx, o) }))
	f := cmd.Flags()
	f.IntVar(&o.order.URLs, "order-urls", o.order.URLs, "URLs of each agent (K), 256 to 10,000")
	f.IntVar(&o.order.Parts, "order-parts", o.order.Parts, "parts of a queue in figure 5 (L)")
	f.IntVar(&o.order.Lambda, "order-lambda", o.order.Lambda, "bits of a mean (λ), 1 to 40")
	between(f, "order-urls", 256, 10_000)
	between(f, "order-parts", 1, 10_000)
	between(f, "order-lambda", 1, 40)
	f.StringVar(&o.plot, "plot", "", "draw the figures of the paper: `FILE.svg|FILE.png|DIR`")
	o.simulatedWebs.flags(cmd, false)
	f.StringVar(&o.strategy, "strategy", "lookahead", "crawl the web by the strategy of this `NAME`")
	o.simulatedStrategies.flags(f)
	o.simulatedCrawl.flags(f)
	needs(f, "strategy", "trace", "warc", "demo")
	needs(f, "pages", "trace", "warc", "demo")
	return cmd
}

// simulateNuggets prints and draws figures 5 and 6 of Ahmadi-Abkenari & Selamat, measured by agents
// that communicate over a JetStream server in this process.
func (a *app) simulateNuggets(ctx context.Context, o simulateNuggetsOptions) (err error) {
	if o.order.Parts > o.order.URLs {
		return fail(badUsage, "--order-parts must be 1 to --order-urls, %d, got %d", o.order.URLs, o.order.Parts)
	}
	o.order.Seed = o.Seed
	o.order.Queue, err = a.crawledQueue(ctx, o)
	if err != nil {
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
	if a.json {
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

// crawledQueue returns what waits after a crawl of the web; nil without a web.
func (a *app) crawledQueue(ctx context.Context, o simulateNuggetsOptions) ([]frontier.Entry, error) {
	if !o.given() {
		return nil, nil
	}
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	options, err := o.options(cfg)
	if err != nil {
		return nil, err
	}
	options.Scope = nil // agents order what was found, before a visit decides whether it is in scope
	w, err := a.oneWeb(ctx, o.simulatedWebs, o.Pages, cfg)
	if err != nil {
		return nil, err
	}
	strategy, err := a.oneStrategy(o.strategy, o.simulatedStrategies, w, cfg)
	if err != nil {
		return nil, err
	}
	queue, err := sim.Queue(ctx, w, strategy, options)
	if err != nil {
		return nil, invalid(err)
	}
	a.say("%s wait after %s of %s", several(len(queue), "URL"), several(o.Pages, "page"), oneLine(w.Name))
	return queue, nil
}
