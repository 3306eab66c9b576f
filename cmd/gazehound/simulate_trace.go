package main

import (
	"context"
	"io"

	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/sim"

	"github.com/spf13/cobra"
)

const simulateTraceHelp = `Writes a web to a trace, which is read faster than WARC files: pages, labels, all links.
With --strategy the trace has only what that strategy visits of the web: a data set as
Somboonviwat et al. made theirs, on which other strategies are then compared.

` + simulatedWebsHelp + `
Exit status: 0 done, 2 unusable flag, 4 unusable web.

Examples:
  gazehound simulate trace --warc archive --seeds seeds.txt -o web.trace
  gazehound simulate trace --demo sites=120,finite=1,language=th --judge language --language th --pages 0 --strategy limited-distance-2 --ties first-in -o hard.trace
`

// simulateTraceOptions are the flags of "simulate trace".
type simulateTraceOptions struct {
	simulatedWebs
	simulatedCrawl
	simulatedStrategies
	strategy string
	output   string
}

func newSimulateTraceCommand(a *app) *cobra.Command {
	var o simulateTraceOptions
	cmd := command("trace", "Write a web, or what one strategy visits of it, to a trace", simulateTraceHelp, noArgs,
		stoppable(func(ctx context.Context, args []string) error { return a.simulateTrace(ctx, o) }))
	o.simulatedWebs.flags(cmd, false)
	cmd.MarkFlagsOneRequired("trace", "warc", "demo")
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "trace `FILE` to write; standard output otherwise")
	f.StringVar(&o.strategy, "strategy", "", "write only what the strategy of this `NAME` visits")
	o.simulatedStrategies.flags(f)
	o.simulatedCrawl.flags(f)
	needs(f, "pages", "strategy")
	return cmd
}

func (a *app) simulateTrace(ctx context.Context, o simulateTraceOptions) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	options, err := o.options(cfg)
	if err != nil {
		return err
	}
	w, err := a.oneWeb(ctx, o.simulatedWebs, o.Pages, cfg)
	if err != nil {
		return err
	}
	a.describeWeb(w)
	if o.strategy != "" {
		strategy, err := a.oneStrategy(o.strategy, o.simulatedStrategies, w, cfg)
		if err != nil {
			return err
		}
		options.Visited = map[frontier.Key]bool{}
		_, err = sim.Run(ctx, w, strategy, options)
		if err != nil {
			return invalid(err)
		}
	}
	return a.writeExport(o.output, "", func(out io.Writer) error { return w.WriteTrace(ctx, out, options.Visited) })
}
