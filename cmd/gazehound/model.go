package main

import (
	"context"
	"fmt"
	"strings"

	"gazehound/predictor"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const modelHelp = `Shows the terms of the link predictor with their log-odds: above 0 a term is evidence
for a relevant page that many links ahead, below 0 against one. The model is the one
last saved; a crawl may be running.

Exit status: 0 done, 4 damaged model, 10 no model.

Examples:
  gazehound model show --feature anchor --depth 1
  gazehound model diff ../other-data
`

func newModelCommand(a *app) *cobra.Command {
	return group("model", "Show what the link predictor has learned", modelHelp, newModelShowCommand(a),
		newModelDiffCommand(a), newModelExportCommand(a))
}

// modelOptions are the flags that choose terms of a model.
type modelOptions struct {
	depth   int
	feature string
	top     int
}

func (o *modelOptions) flags(f *pflag.FlagSet) {
	f.IntVar(&o.depth, "depth", 0, fmt.Sprintf("only this depth, 1 to %d links ahead; 0 is all",
		predictor.MaxDepth))
	f.StringVar(&o.feature, "feature", "", "only terms of this `FAMILY`: "+strings.Join(predictor.Families(),
		" | "))
	f.IntVar(&o.top, "top", 20, "terms of each depth")
	oneOf(f, "feature", predictor.Families())
	between(f, "top", 1, 1e6)
}

// depths lists the depths of a model to print.
func (o modelOptions) depths(m *predictor.Model) (list []int, err error) {
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

const modelShowHelp = `Prints for each depth how many links were learned, and the strongest terms for and
against. --json prints one array of terms.

Examples:
  gazehound model show --depth 1 --top 10
  gazehound model show --feature anchor --json
`

func newModelShowCommand(a *app) *cobra.Command {
	var o modelOptions
	cmd := command("show", "Print the strongest terms", modelShowHelp, noArgs,
		func(ctx context.Context, args []string) error { return a.modelShow(o) })
	o.flags(cmd.Flags())
	return cmd
}

var modelText = textTemplate(`depth {{.depth}}   {{several .s.Relevant "link"}} to relevant pages, {{count .s.Other}} to others, {{several .s.Terms "term"}}
{{range .terms}}{{.}}
{{end}}`)

func (a *app) modelShow(o modelOptions) error {
	model, err := a.projectModel()
	if err != nil {
		return err
	}
	lines := []predictor.TermWeight{}
	return a.showTerms(model, o, func(d int) text {
		terms := model.Top(d, o.feature, o.top)
		lines = append(lines, terms...)
		return text{modelText, fields{"depth": d, "s": model.Stats().Depths[d-1], "terms": terms}}
	}, &lines)
}

const modelDiffHelp = `Compares the model with OTHER, a model file or a data directory, and prints the
terms whose log-odds differ most. A term that only one model has seen counts as unknown
in the other. --json prints one array.

Examples:
  gazehound model diff ../irvine-data --feature anchor
  gazehound model diff before.gob --depth 1 --top 5 --json
`

func newModelDiffCommand(a *app) *cobra.Command {
	var o modelOptions
	cmd := command("diff OTHER", "Print the terms that another model weighs differently", modelDiffHelp,
		one("one model file or data directory to compare with"),
		func(ctx context.Context, args []string) error { return a.modelDiff(args[0], o) })
	o.flags(cmd.Flags())
	return cmd
}

var modelDiffText = textTemplate(`depth {{.depth}}   here {{several .m.Relevant "link"}} to relevant pages, {{count .m.Other}} to others, {{/**/ -}}
{{several .m.Terms "term"}}; there {{count .t.Relevant}}, {{count .t.Other}}, {{count .t.Terms}}
    here   there
{{range .terms}}{{.}}
{{end}}`)

func (a *app) modelDiff(other string, o modelOptions) error {
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
		return text{modelDiffText, fields{"depth": d, "m": here.Stats().Depths[d-1], "t": there.Stats().Depths[d-1],
			"terms": terms}}
	}, &lines)
}

// showTerms prints what look returns for each depth of m; with --json it prints lines, which look fills.
func (a *app) showTerms(m *predictor.Model, o modelOptions, look func(depth int) text, lines any) error {
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

const modelExportHelp = `Prints a line of type "model" with the links learned for each depth, one of type
"term" for each term of each depth, and a "summary".

Examples:
  gazehound model export > model.ndjson
  gazehound model export --data ../irvine-data | jq 'select(.log_odds > 2)'
`

func newModelExportCommand(a *app) *cobra.Command {
	return command("export", "Print all terms with their counts as JSON lines", modelExportHelp, noArgs, a.modelExport)
}

func (a *app) modelExport(context.Context, []string) error {
	model, err := a.projectModel()
	if err != nil {
		return err
	}
	return model.WriteJSON(a.stdout)
}
