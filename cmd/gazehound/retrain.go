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

func newRetrainCommand(a *app) *cobra.Command {
	var force, noReplace bool
	cmd := command("retrain [DIR…]", "Rebuild the link predictor from the crawl", cobra.ArbitraryArgs,
		stoppable(func(ctx context.Context, args []string) error {
			return a.retrain(ctx, args, force, noReplace)
		}, "the model was not touched"))
	cmd.Flags().BoolVar(&force, "force", false, "replace the old model even if the new one is not better")
	cmd.Flags().BoolVar(&noReplace, "dry-run", false, "compare only")
	cmd.MarkFlagsMutuallyExclusive("force", "dry-run")
	return cmd
}

func (a *app) retrain(ctx context.Context, others []string, force, dryRun bool) (err error) {
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
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, predictor.ErrFeatures), force && err != nil:
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
	replace := (report.Better || force) && !dryRun
	if replace {
		if err := (&crawler.Learned{Tree: f, Model: model, File: p.model()}).Save(); err != nil {
			return err
		}
	}
	line := struct {
		Type string `json:"type"`
		predictor.Report
		Replaced bool `json:"replaced"`
	}{"retrain", report, replace}
	return a.show(line, "retrain", line)
}
