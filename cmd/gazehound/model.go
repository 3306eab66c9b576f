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
		return nil, fail(exitUsage, "--depth must be 1 to %d, or 0 for all, got %d (predictor.depths)",
			len(m.Stats().Depths), o.depth)
	}
	return list, nil
}

func (a *app) modelShow(o termFlags) error {
	model, err := a.projectModel()
	if err != nil {
		return err
	}
	depths, err := o.depths(model)
	if err != nil {
		return err
	}
	if a.json {
		lines := []predictor.TermWeight{}
		for _, d := range depths {
			lines = append(lines, model.Top(d, o.feature, o.top)...)
		}
		return a.printJSON(lines)
	}
	stats := model.Stats()
	for _, d := range depths {
		err := a.print("%s", text{"model", fields{"depth": d, "s": stats.Depths[d-1], "terms": model.Top(d, o.feature, o.top)}})
		if err != nil {
			return err
		}
	}
	return nil
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
	depths, err := o.depths(here)
	if err != nil {
		return err
	}
	if a.json {
		lines := []any{}
		for _, depth := range depths {
			for _, d := range predictor.Diff(here, there, depth, o.feature, o.top) {
				lines = append(lines, d.Record())
			}
		}
		return a.printJSON(lines)
	}
	mine, theirs := here.Stats(), there.Stats()
	for _, depth := range depths {
		err := a.print("%s", text{"model-diff", fields{"depth": depth, "m": mine.Depths[depth-1], "t": theirs.Depths[depth-1],
			"terms": predictor.Diff(here, there, depth, o.feature, o.top)}})
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *app) modelExport(context.Context, []string) error {
	model, err := a.projectModel()
	if err != nil {
		return err
	}
	return model.WriteJSON(a.stdout)
}
