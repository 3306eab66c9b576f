package main

import (
	"context"
	"fmt"
	"strings"

	"gazehound/predictor"

	"github.com/spf13/cobra"
)

// termFlags are the flags that choose terms of a model.
type termFlags struct {
	depth   int
	feature string
	top     int
}

func newModelCommand(a *app) *cobra.Command {
	var o termFlags
	show := command("show", "Print the strongest terms", noArgs,
		func(ctx context.Context, args []string) error { return a.modelShow(o) })
	diff := command("diff OTHER", "Print the terms that another model weighs differently",
		one("one model file or data directory to compare with"),
		func(ctx context.Context, args []string) error { return a.modelDiff(args[0], o) })
	for _, cmd := range []*cobra.Command{show, diff} {
		f := cmd.Flags()
		f.IntVar(&o.depth, "depth", 0, fmt.Sprintf("only this depth, 1 to %d links ahead; 0 is all",
			predictor.MaxDepth))
		f.StringVar(&o.feature, "feature", "", "only terms of this `FAMILY`: "+strings.Join(predictor.Families(),
			" | "))
		f.IntVar(&o.top, "top", 20, "terms of each depth")
		oneOf(f, "feature", predictor.Families())
		between(f, "top", 1, 1e6)
	}
	export := command("export", "Print all terms with their counts as JSON lines", noArgs, a.modelExport)
	return group("model", "Show what the link predictor has learned", show, diff, export)
}

// depths lists the depths of a model to print.
func (o termFlags) depths(m *predictor.Model) (list []int, err error) {
	for d := range m.Stats().Depths {
		if o.depth == 0 || o.depth == d+1 {
			list = append(list, d+1)
		}
	}
	if len(list) == 0 {
		return nil, fail(badUsage, "--depth must be 1 to %d, or 0 for all, got %d (predictor.depths)",
			len(m.Stats().Depths), o.depth)
	}
	return list, nil
}

func (a *app) modelShow(o termFlags) error {
	model, err := a.projectModel()
	if err != nil {
		return err
	}
	lines := []predictor.TermWeight{}
	return a.showTerms(model, o, func(d int) text {
		terms := model.Top(d, o.feature, o.top)
		lines = append(lines, terms...)
		return text{"model", fields{"depth": d, "s": model.Stats().Depths[d-1], "terms": terms}}
	}, &lines)
}

func (a *app) modelDiff(other string, o termFlags) error {
	here, err := a.projectModel()
	if err != nil {
		return err
	}
	there, err := a.loadModel(modelFile(other))
	if err != nil {
		return err
	}
	lines := []any{}
	return a.showTerms(here, o, func(d int) text {
		terms := predictor.Diff(here, there, d, o.feature, o.top)
		for _, t := range terms {
			lines = append(lines, t.Record())
		}
		return text{"model-diff", fields{"depth": d, "m": here.Stats().Depths[d-1], "t": there.Stats().Depths[d-1],
			"terms": terms}}
	}, &lines)
}

// showTerms prints what look returns for each depth of m; with --json it prints lines, which look fills.
func (a *app) showTerms(m *predictor.Model, o termFlags, look func(depth int) text, lines any) error {
	depths, err := o.depths(m)
	var all strings.Builder
	for _, d := range depths {
		all.WriteString(look(d).String())
	}
	if err != nil {
		return err
	}
	return a.tell(lines, "%s", &all)
}

func (a *app) modelExport(context.Context, []string) error {
	model, err := a.projectModel()
	if err != nil {
		return err
	}
	return model.WriteJSON(a.stdout)
}
