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
	cmd := &cobra.Command{
		Use:   "explain URL",
		Short: "Say why a link has its priority, or what became of a page",
		Long: `Says what the crawl knows about a URL.

For a link that waits: the path from the last relevant page, the parts that add up
to its priority, its rank in the queue, and where a predictor has a say the terms
of the link with their log-odds, which add up to what was predicted. All of
it is of the model that was saved last and the strategy of the configuration;
the priority that the link was queued with may be older.

For a page that was visited: the outcome, its addresses in the region, and which
links its verdict taught the model as examples of the depths 1 to 3.

For any other URL: why it is left out, as far as that is known.

Exit status: 0 known, 4 never seen or damaged model, 5 a crawl is running, 10 no
crawl.`,
		Example: `  gazehound explain https://www.oldenburg.example/branchen
  gazehound explain www.oldenburg.example/branchen --json | jq .depths[0].terms`,
		Args: exactly(1, "explain wants one URL, got %d arguments"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.explain(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	strategyFlags(f)
	return cmd
}

// explain says what the crawl knows about one URL.
func (a *app) explain(ctx context.Context, text string) error {
	u, problem := a.parseSeed("explain", text)
	if problem != "" {
		return fail(exitUsage, "explain: %s", problem)
	}
	return a.readCrawl(func(p project, cfg *Config, f *frontier.Frontier) error { return a.explainURL(ctx, p, cfg, f, u) })
}

func (a *app) explainURL(ctx context.Context, p project, cfg *Config, f *frontier.Frontier, u weburl.URL) error {
	model, err := predictor.Load(p.model(), cfg.ModelOptions())
	if errors.Is(err, fs.ErrNotExist) {
		model, err = predictor.NewModel(cfg.ModelOptions())
	}
	if err != nil {
		return fail(exitInvalidInput, "%w", err)
	}
	strategy, err := a.newOrder(p, cfg, model, nil)
	if err != nil {
		return err
	}
	scope, err := newScope(cfg, crawlOptions{replay: []string{""}}) // what is out of reach without a contact is another matter
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
	return x.Write(a.stdout, crawler.Weights{Decay: cfg.Crawl.Decay, Alpha: cfg.Crawl.Alpha, Beta: cfg.Crawl.Beta, Emphasis: cfg.Crawl.Emphasis,
		Weight: cfg.Predictor.Weight, Combine: cfg.Predictor.Combine}, a.Verbose > 0)
}

// explainUnknown fails with what can be said of a URL that was never queued.
func (a *app) explainUnknown(f *frontier.Frontier, u weburl.URL, scope string) error {
	near, err := f.Near(u)
	if err != nil {
		return err
	}
	r := crawler.UnknownReport{Type: "explain", URL: u.String(), State: "never_seen", Scope: scope, Near: near, Dropped: f.Totals().Dropped}
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	}
	return fail(exitInvalidInput, "%s", r)
}
