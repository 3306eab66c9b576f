package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/internal/corrections"
	"gazehound/internal/textutil"

	"github.com/spf13/cobra"
)

const labelHelp = `A person's label overrules the judge's verdict, now and at every later visit of the
page. It is a line of corrections.ndjson in the data directory, with what was corrected
on the search page, and survives retrain, replay, --fresh and --new-model.

A visited page trains at once: its links move to the other class. A running crawl
applies the label within a second. If verdict and label agree, nothing changes. The
label of a page that has not been visited applies at its visit.

A page labelled "not" leaves search, map and exports at once; one labelled "relevant" is
found after its next visit (crawl --revisit).

--file reads lines of URL, tab, "relevant" or "not" (or 1 or 0); further columns and
lines that begin with # are ignored.

--list lists all corrections with their numbers. --undo takes one back: what counted
before it counts again. A page whose verdict before is not known gets one at its next
visit.

Exit status: 0 done, 2 bad argument, 4 unusable file, 10 no data directory.

Examples:
  gazehound label https://example.org/kontakt relevant
  gazehound label https://example.org/shop not --json
  gazehound label --file labels.tsv
  gazehound label --list
  gazehound label --undo 17
`

// labelOptions are the flags of label.
type labelOptions struct {
	file string
	undo int
	list bool
}

func newLabelCommand(a *app) *cobra.Command {
	var o labelOptions
	cmd := command("label [URL relevant|not]", "Correct the verdict of a page, and train with it", labelHelp,
		nil, func(ctx context.Context, args []string) error {
			others := 0
			for _, given := range []bool{o.file != "", o.undo != 0, o.list} {
				if given {
					others++
				}
			}
			switch {
			case others > 1 || others == 1 && len(args) > 0 || others == 0 && len(args) != 2:
				return fail(badUsage, "label takes a URL and \"relevant\" or \"not\", or one of --file FILE, --undo "+
					"NUMBER and --list alone; got %d arguments", len(args))
			case o.list:
				return a.listCorrections()
			case o.undo != 0:
				return a.undo(ctx, o.undo)
			}
			return a.label(ctx, args, o.file)
		})
	f := cmd.Flags()
	f.StringVar(&o.file, "file", "", "labels from this `FILE`; - is standard input")
	f.IntVar(&o.undo, "undo", 0, "take the correction with this `NUMBER` back, also one of the search page")
	f.BoolVar(&o.list, "list", false, "list all corrections")
	return cmd
}

func (a *app) label(ctx context.Context, args []string, file string) error {
	given, err := a.givenLabels(args, file)
	if err != nil {
		return err
	}
	return a.correct(ctx, crawler.Corrections(given), func(ctx context.Context, s *session) (crawler.LabelCount, error) {
		return s.labels.ApplyAll(ctx, given)
	})
}

// correctionsLog returns the project with its log of corrections.
func (a *app) correctionsLog() (p project, cfg *Config, log *corrections.Log, err error) {
	p, cfg, err = a.project()
	if err == nil {
		log, err = a.corrections(p)
	}
	return p, cfg, log, err
}

// undo takes a correction back.
func (a *app) undo(ctx context.Context, number int) error {
	_, _, log, err := a.correctionsLog()
	if err != nil {
		return err
	}
	e, ok := log.Entry(number)
	if !ok {
		return fail(badUsage, "there is no correction %d; \"gazehound label --list\" lists them", number)
	}
	if log.Undone(number) {
		return fail(badUsage, "correction %d was taken back already", number)
	}
	back := corrections.Entry{Who: corrections.Operator, What: corrections.Undo, Undoes: number}
	err = a.correct(ctx, []corrections.Entry{back}, func(ctx context.Context, s *session) (crawler.LabelCount, error) {
		n, err := s.labels.TakeBack(ctx, e)
		if err == nil && e.Address != "" && s.x != nil {
			err = s.x.Correct(ctx, []string{e.Address})
		}
		return n, err
	})
	if err == nil {
		a.say("Correction %d is taken back. A page whose verdict before is not known gets one at its next visit.",
			number)
	}
	return err
}

var labelText = textTemplate(`{{with .Learned}}{{count .}} learned: the verdict changed
{{end}}{{with .Agree}}{{count .}} unchanged: the verdict was the same
{{end}}{{with .Kept}}{{count .}} kept: the page has not been visited; the label applies at its visit
{{end}}{{with .Handed}}{{count .}} saved: the running crawl (process {{$.PID}}) applies it within a second, any other command {{/**/ -}}
leaves it to the next crawl
{{end}}`)

// correct stores corrections, and makes the data follow them with apply unless a crawl does.
func (a *app) correct(ctx context.Context, entries []corrections.Entry,
	apply func(context.Context, *session) (crawler.LabelCount, error)) error {
	p, cfg, log, err := a.correctionsLog()
	if err != nil {
		return err
	}
	added, err := log.Add(nil, entries...)
	if errors.Is(err, corrections.ErrFull) {
		return invalid(err)
	} else if err != nil {
		return err
	}
	count := labelCount{Type: "summary", LabelCount: crawler.LabelCount{Labels: len(entries)}, First: added[0].N}
	switch pid, locked, err := frontier.Holder(p.frontier()); {
	case errors.Is(err, fs.ErrNotExist):
		count.Kept = len(entries)
	case err != nil:
		return fmt.Errorf("label: %w", err)
	case locked:
		count.Handed, count.PID = len(entries), pid
	default:
		s := &session{a: a, p: p, cfg: cfg, corrections: log}
		count.LabelCount, err = s.applyOnce(ctx, apply)
		if err != nil {
			return err
		}
	}
	return a.show(count, labelText, count)
}

// applyOnce opens what corrections change, applies them and saves the model.
func (s *session) applyOnce(ctx context.Context,
	apply func(context.Context, *session) (crawler.LabelCount, error)) (n crawler.LabelCount, err error) {
	defer func() { err = errors.Join(err, s.close()) }()
	err = s.openFrontier(s.p, false, nil)
	if err != nil {
		return n, err
	}
	err = s.learned.Restore(ctx)
	if err != nil {
		return n, err
	}
	s.labels = crawler.NewLabelled(nil, s.f, s.strategy, s.corrections)
	if fileExists(s.p.index()) {
		s.x, err = openIndex(s.p, s.corrections)
		if err != nil {
			return n, fail(kindOf(err), "%w. The label is kept: the next crawl takes it up, and so does this command", err)
		}
		s.onClose(s.x.Close)
		s.labels.Reject = s.x.Delete
	}
	n, err = apply(ctx, s)
	if err != nil {
		return n, err
	}
	return n, s.learned.Save()
}

// listCorrections prints all corrections, one per line.
func (a *app) listCorrections() error {
	_, _, log, err := a.correctionsLog()
	if err != nil {
		return err
	}
	all, _ := log.Since(corrections.Position{})
	for _, e := range all {
		line := struct {
			Type string `json:"type"`
			corrections.Entry
			Undone bool `json:"undone"`
		}{"correction", e, log.Undone(e.N)}
		text := strings.Join(slices.DeleteFunc([]string{strconv.Itoa(e.N), textutil.Moment(e.Time), string(e.What),
			e.Address, oneLine(e.Value), oneLine(strings.Join(e.Pages, " "))}, func(s string) bool { return s == "" }), "  ")
		if e.What == corrections.Undo {
			text += fmt.Sprintf("  of %d", e.Undoes)
		}
		if line.Undone {
			text += "  (taken back)"
		}
		err := a.tell(line, "%s\n", text)
		if err != nil {
			return err
		}
	}
	if len(all) == 0 {
		a.say("no corrections")
	}
	return nil
}

// givenLabels reads the labels of the command line.
func (a *app) givenLabels(args []string, file string) ([]crawler.Label, error) {
	if file == "" {
		u, problem := a.parseSeed("label", args[0])
		if problem != "" {
			return nil, fail(badUsage, "label: %s", problem)
		}
		relevant, ok := crawler.ParseLabel(args[1])
		if !ok {
			return nil, fail(badUsage, "label takes \"relevant\" or \"not\" after the URL, got %.40q", args[1])
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
		skipped++
		if skipped <= 10 {
			a.warn("%s:%d: want URL, tab, relevant or not; got %.80q; line skipped", file, n, line)
		}
	})
	switch {
	case errors.Is(err, crawler.ErrTooManyLabels):
		return nil, fail(badInput, "%s is larger than %s, too large for labels. Give it in parts", file,
			megabytes(crawler.MaxLabelFile))
	case err != nil:
		return nil, fail(badInput, "--file: %w", err)
	}
	if len(labels) == 0 {
		return nil, fail(badInput, "%s has no label: want lines of URL, tab, relevant or not (%d lines "+
			"skipped)", file, skipped)
	}
	return labels, nil
}

// A labelCount counts the outcomes of labels.
type labelCount struct {
	Type string `json:"type"`
	crawler.LabelCount
	First  int `json:"number,omitzero"`      // of the first in the log
	Handed int `json:"handed_over,omitzero"` // to the process of the running crawl
	PID    int `json:"pid,omitzero"`         // of that process
}
