package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"gazehound/crawler"
	"gazehound/crawler/frontier"

	"github.com/spf13/cobra"
)

func newLabelCommand(a *app) *cobra.Command {
	var file string
	cmd := command("label URL relevant|not", "Correct the verdict of a page, and train with it",
		nil, func(ctx context.Context, args []string) error {
			if file != "" && len(args) > 0 || file == "" && len(args) != 2 {
				return fail(exitUsage, "label takes a URL and \"relevant\" or \"not\", or --file FILE alone; got %d "+
					"arguments", len(args))
			}
			return a.label(ctx, args, file)
		})
	cmd.Flags().StringVar(&file, "file", "", "labels from this `FILE`; - is standard input")
	return cmd
}

func (a *app) label(ctx context.Context, args []string, file string) error {
	given, err := a.givenLabels(args, file)
	if err != nil {
		return err
	}
	p, cfg, err := a.project()
	if err != nil {
		return err
	}
	if err := crawler.AppendLabels(p.labels(), given); errors.Is(err, crawler.ErrTooManyLabels) {
		return invalid(err)
	} else if err != nil {
		return err
	}
	count := labelCount{Type: "summary", LabelCount: crawler.LabelCount{Labels: len(given)}}
	switch pid, locked, err := frontier.Holder(p.frontier()); {
	case errors.Is(err, fs.ErrNotExist):
		count.Kept = len(given)
	case err != nil:
		return fmt.Errorf("label: %w", err)
	case locked:
		count.Handed, count.PID = len(given), pid
	default:
		if err := a.learnLabels(ctx, p, cfg, &count, given); err != nil {
			return err
		}
	}
	return a.show(count, "label", count)
}

// givenLabels reads the labels of the command line.
func (a *app) givenLabels(args []string, file string) ([]crawler.Label, error) {
	if file == "" {
		u, problem := a.parseSeed("label", args[0])
		if problem != "" {
			return nil, fail(exitUsage, "label: %s", problem)
		}
		relevant, ok := crawler.ParseLabel(args[1])
		if !ok {
			return nil, fail(exitUsage, "label takes \"relevant\" or \"not\" after the URL, got %.40q", args[1])
		}
		return []crawler.Label{{URL: u, Relevant: relevant}}, nil
	}
	in, err := a.openInput("--file", file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	skipped := 0
	labels, err := crawler.ReadLabels(in, func(n int, line string) {
		if skipped++; skipped <= 10 {
			a.warn("%s:%d: want URL, tab, relevant or not; got %.80q; line skipped", file, n, line)
		}
	})
	switch {
	case errors.Is(err, crawler.ErrTooManyLabels):
		return nil, fail(exitInvalidInput, "%s is larger than %s, too large for labels. Give it in parts", file,
			megabytes(crawler.MaxLabelFile))
	case err != nil:
		return nil, fail(exitInvalidInput, "--file: %w", err)
	}
	if len(labels) == 0 {
		return nil, fail(exitInvalidInput, "%s has no label: want lines of URL, tab, relevant or not (%d lines "+
			"skipped)", file, skipped)
	}
	return labels, nil
}

// learnLabels trains the stored model where no crawl runs.
func (a *app) learnLabels(ctx context.Context, p project, cfg *Config, count *labelCount,
	given []crawler.Label) (err error) {
	s := &session{a: a, p: p, cfg: cfg}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.openFrontier(p, false, nil); err != nil {
		return err
	}
	if err := s.learned.Restore(ctx); err != nil {
		return err
	}
	labels := crawler.NewLabelled(nil, s.f, s.strategy, "", nil)
	if fileExists(p.index()) {
		x, err := openIndex(p)
		if err != nil {
			return fail(codeOf(err), "%w. The label is kept: the next crawl takes it up, and so does this command", err)
		}
		s.onClose(x.Close)
		labels.Reject = x.Delete
	}
	if count.LabelCount, err = labels.ApplyAll(ctx, given); err != nil {
		return err
	}
	return s.learned.Save()
}

// A labelCount counts the outcomes of labels.
type labelCount struct {
	Type string `json:"type"`
	crawler.LabelCount
	Handed int `json:"handed_over,omitzero"` // to the process of the running crawl
	PID    int `json:"pid,omitzero"`         // of that process
}
