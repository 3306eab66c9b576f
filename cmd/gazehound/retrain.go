package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"gazehound/crawler/frontier"
	"gazehound/crawler/strategy"
	"gazehound/predictor"

	"github.com/spf13/cobra"
)

func newRetrainCommand(a *app) *cobra.Command {
	var force, noReplace bool
	cmd := &cobra.Command{
		Use:   "retrain",
		Short: "Rebuild the link predictor from the crawl",
		Long: `Trains a new model from every judged page of the crawl tree, and compares it with
the model in use on the last fifth of the pages, which neither of them has
learned then: log-loss, and area under the ROC curve, for each depth. The new
model takes the old one's place if it is better, or with --force. The next
crawl, also one with --fresh, starts with it.

Exit status: 0 done, whether the model was replaced or not, 4 damaged model or
nothing to learn from, 5 a crawl is running, 10 no crawl.`,
		Example: `  gazehound retrain
  gazehound retrain --force --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.retrain(cmd.Context(), force, noReplace)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace the old model even if the new one is not better")
	cmd.Flags().BoolVar(&noReplace, "dry-run", false, "compare only")
	cmd.MarkFlagsMutuallyExclusive("force", "dry-run")
	return cmd
}

func (a *app) retrain(ctx context.Context, force, dryRun bool) (err error) {
	ctx, stop := signals(ctx)
	defer stop()
	cfg, err := a.config(nil)
	if err != nil {
		return err
	}
	if err := a.needData(); err != nil {
		return err
	}
	p := project{a.data}
	if !fileExists(p.frontier()) {
		return fail(exitNoData, "%s holds no crawl to learn from. \"gazehound crawl\" makes one", p.dir)
	}
	f, err := frontier.Open(frontier.Options{Dir: p.frontier(), Memory: int64(cfg.Storage.Memory)})
	if err != nil {
		return storeError(p, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	old, err := predictor.Load(p.model(), modelOptions(cfg))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, predictor.ErrFeatures), force && err != nil:
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.warn("%s; training without it", oneLine(err.Error()))
		}
		old = nil
	case err != nil:
		return fail(exitInvalidInput, "%w; --force trains without it", err)
	}
	if old != nil {
		if err := a.takeUpLabels(ctx, p, f, old); err != nil {
			return err
		}
	}
	model, report, err := predictor.Retrain(ctx, judgedPages(ctx, f), old, modelOptions(cfg))
	switch {
	case ctx.Err() != nil:
		return fail(exitStopped, "stopped; the model was not touched")
	case errors.Is(err, predictor.ErrNoExamples):
		return fail(exitInvalidInput, "%w", err)
	case err != nil:
		return err
	}
	replace := (report.Better || force) && !dryRun
	if replace {
		if err := saveModel(p, model, f); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(struct {
			Type string `json:"type"`
			predictor.Report
			Replaced bool `json:"replaced"`
		}{"retrain", report, replace})
	}
	fmt.Fprint(a.stdout, report)
	switch {
	case replace && !report.Better:
		fmt.Fprintf(a.stdout, "replaced because of --force, although %s\n", report.Reason)
	case replace:
		fmt.Fprintf(a.stdout, "replaced: %s\n", report.Reason)
	default:
		fmt.Fprintf(a.stdout, "kept the old model: %s\n", report.Reason)
	}
	return nil
}

// takeUpLabels applies the labels that no crawl has taken up yet, so that the
// crawl tree says what people say.
func (a *app) takeUpLabels(ctx context.Context, p project, f *frontier.Frontier, model *predictor.Model) error {
	order := strategy.Lookahead{Model: model}
	labels := &labelled{f: f, order: order, file: p.labels(), warn: a.warn}
	if err := relearn(ctx, f, order); err != nil {
		return err
	}
	learned, err := labels.load(ctx)
	if learned > 0 && err == nil {
		err = saveModel(p, model, f)
	}
	return err
}

// judgedPages reads the pages of the crawl tree, in the order of their visits,
// with the links that led to them.
func judgedPages(ctx context.Context, f *frontier.Frontier) iter.Seq2[predictor.Example, error] {
	errStop := errors.New("stop")
	return func(yield func(predictor.Example, error) bool) {
		err := f.Walk(ctx, 0, func(n frontier.Node) error {
			if n.Outcome.Kind != "page" {
				return nil
			}
			trail, err := f.Trail(frontier.KeyOf(n.URL), predictor.MaxDepth)
			if err != nil {
				return err
			}
			if len(trail) == 0 {
				return nil
			}
			if e := strategy.Example(trail, n.Outcome.Relevant); len(e.Trail) > 0 && !yield(e, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(predictor.Example{}, err)
		}
	}
}
