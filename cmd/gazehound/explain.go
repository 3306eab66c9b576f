package main

import (
	"context"
	"errors"
	"io/fs"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/weburl"
	"gazehound/predictor"

	"github.com/spf13/cobra"
)

func newExplainCommand(a *app) *cobra.Command {
	cmd := command("explain URL", "Explain the priority of a link, or the outcome of a page", one("one URL"),
		func(ctx context.Context, args []string) error { return a.explain(ctx, args[0]) })
	strategyFlags(cmd.Flags())
	return cmd
}

// explain prints what the crawl knows about one URL.
func (a *app) explain(ctx context.Context, text string) error {
	u, problem := a.parseSeed("explain", text)
	if problem != "" {
		return fail(exitUsage, "explain: %s", problem)
	}
	return a.readCrawl(func(p project, cfg *Config, f *frontier.Frontier) error {
		return a.explainURL(ctx, p, cfg, f, u)
	})
}

func (a *app) explainURL(ctx context.Context, p project, cfg *Config, f *frontier.Frontier, u weburl.URL) error {
	model, err := predictor.Load(p.model(), cfg.ModelOptions())
	if errors.Is(err, fs.ErrNotExist) {
		model, err = predictor.NewModel(cfg.ModelOptions())
	}
	if err != nil {
		return invalid(err)
	}
	strategy, err := a.newOrder(p, cfg, model, nil)
	if err != nil {
		return err
	}
	// a missing contact must not make the URL out of scope here
	scope, err := newScope(cfg, crawlOptions{replay: []string{""}})
	if err == nil {
		_, err = scope.Restore(f)
	}
	if err != nil {
		return err
	}
	n, known, err := f.Get(frontier.KeyOf(u))
	if err != nil {
		return err
	}
	if !known {
		return a.explainUnknown(f, u, scope.Check(u))
	}
	traps := trap.New()
	learned := crawler.Learned{Tree: f, Model: model, Strategy: strategy, Traps: traps}
	if err := learned.Restore(ctx); err != nil {
		return err
	}
	x, err := learned.Explain(n)
	if err != nil {
		return err
	}
	x.Scope = scope.Check(n.URL)
	if x.Queued != nil {
		x.Strategy = cfg.Crawl.Strategy
		if x.Rank, err = f.RankOf(ctx, &n); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(x)
	}
	return x.Write(a.stdout, crawler.Weights{Decay: cfg.Crawl.Decay, Alpha: cfg.Crawl.Alpha, Beta: cfg.Crawl.Beta,
		Emphasis: cfg.Crawl.Emphasis,
		Weight:   cfg.Predictor.Weight, Combine: cfg.Predictor.Combine}, a.Verbose > 0)
}

// explainUnknown returns an error that says why a URL was never queued.
func (a *app) explainUnknown(f *frontier.Frontier, u weburl.URL, scope string) error {
	near, err := f.Near(u)
	if err != nil {
		return err
	}
	r := crawler.UnknownReport{Type: "explain", URL: u.String(), State: "never_seen", Scope: scope, Near: near,
		Dropped: f.Totals().Dropped}
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	}
	return fail(exitInvalidInput, "%s", r)
}
