package main

import (
	"context"
	"errors"
	"io/fs"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/predictor"

	"github.com/spf13/cobra"
)

const retrainHelp = `Trains a new model from every judged page of the crawl tree, and of the crawls of the
data directories DIR, in the order of their visits. The value of a link to a page that
is not relevant is computed from the pages found behind it, whatever the strategy of the
crawl was. The new model is compared with the present one on the last fifth of the pages,
or more of them until ten relevant and ten others are among them, held out from both. It
replaces the present one if it puts these links into a better order, by what
crawl.strategy orders them: the area under the ROC curve must be larger by 0.001, and the
log-loss after calibration about as good. With --force it replaces it anyway. The next
crawl, with --fresh, too, starts with it. "replay --retrain" trains from WARC files. A
running crawl waits meanwhile and goes on with the model that is then there.

Exit status: 0 done, whether the model was replaced or not, 4 damaged model or
nothing to learn from, 5 a crawl without admin listener is running, 10 no crawl.

Examples:
  gazehound retrain
  gazehound retrain ../irvine-data ../tustin-data --dry-run
  gazehound retrain --force --json
`

// retrainOptions are the flags of retrain.
type retrainOptions struct {
	force, dryRun bool
}

func newRetrainCommand(a *app) *cobra.Command {
	var o retrainOptions
	cmd := command("retrain [DIR…]", "Rebuild the link predictor from the crawl", retrainHelp, cobra.ArbitraryArgs,
		stoppable(func(ctx context.Context, args []string) error {
			return a.retrain(ctx, args, o)
		}, "the model was not touched"))
	cmd.Flags().BoolVar(&o.force, "force", false, "replace the old model even if the new one is not better")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "compare only")
	cmd.MarkFlagsMutuallyExclusive("force", "dry-run")
	return cmd
}

var retrainText = textTemplate(`{{.Report}}
{{- if and .Better (not .Replaced)}}not replaced (--dry-run), although {{else if not .Replaced}}kept the old model: {{else if .Better}}replaced: {{else}}replaced because of --force, although {{end}}{{.Reason}}
`)

func (a *app) retrain(ctx context.Context, others []string, o retrainOptions) (err error) {
	p, cfg, err := a.project()
	if err != nil {
		return err
	}
	back, err := a.borrow(ctx)
	if err != nil {
		return err
	}
	defer back()
	f, err := p.openCrawl(int64(cfg.Storage.Memory))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	trees := []*frontier.Frontier{f}
	for _, dir := range others {
		other := project{dir}
		tree, err := other.crawlToRead(int64(cfg.Storage.Memory))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, tree.Close()) }()
		trees = append(trees, tree)
	}
	old, err := predictor.Load(p.model(), cfg.ModelOptions())
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, predictor.ErrFeatures), o.force && err != nil:
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.warn("%s; training without it", oneLine(err.Error()))
		}
		old = nil
	case err != nil:
		return fail(badInput, "%w; --force trains without it", err)
	}
	if old != nil {
		log, err := a.corrections(p)
		if err == nil {
			err = crawler.TakeUpLabels(ctx, f, old, p.model(), log)
		}
		if err != nil {
			return err
		}
	}
	by := predictor.ByValue
	if cfg.Crawl.Strategy == "adaptive" {
		by = predictor.ByDepths
	}
	model, report, err := predictor.Retrain(ctx, crawler.JudgedPages(ctx, trees...), old, cfg.ModelOptions(), by)
	if errors.Is(err, predictor.ErrNoExamples) {
		return invalid(err)
	} else if err != nil {
		return err
	}
	replace := (report.Better || o.force) && !o.dryRun
	if replace {
		err := (&crawler.Learned{Tree: f, Model: model, File: p.model()}).Save()
		if err != nil {
			return err
		}
	}
	line := struct {
		Type string `json:"type"`
		predictor.Report
		Replaced bool `json:"replaced"`
	}{"retrain", report, replace}
	return a.show(line, retrainText, line)
}
