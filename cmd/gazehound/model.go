package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
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
	group := &cobra.Command{
		Use:   "model",
		Short: "Show what the link predictor has learned",
		Long: `Shows the terms of the link predictor, each with its log-odds: above 0 it speaks
for a relevant page so many links ahead, below 0 against one. The model is the
one that was saved last; a crawl may be running.

Exit status: 0 done, 4 damaged model, 10 no model.`,
		Example: "  gazehound model show --feature anchor --depth 1\n  gazehound model diff ../other-data",
		Args:    subCommand,
		RunE:    showHelp,
	}
	var o termFlags
	show := &cobra.Command{
		Use:   "show",
		Short: "Print the terms that tell most",
		Long: `Prints for each depth how many links were learned, and the terms that tell most,
for or against. --json prints one array of terms.`,
		Example: "  gazehound model show --depth 1 --top 10\n  gazehound model show --feature anchor --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return a.modelShow(o) },
	}
	diff := &cobra.Command{
		Use:   "diff OTHER",
		Short: "Print the terms that another model weighs differently",
		Long: `Compares the model with OTHER, a model file or a data directory, and prints the
terms whose log-odds differ most. A term that only one of them has seen has what
the other gives to any unknown term. --json prints one array.`,
		Example: "  gazehound model diff ../irvine-data --feature anchor\n  gazehound model diff before.gob --depth 1 --top 5 --json",
		Args:    exactly(1, "model diff wants one model file or data directory to compare with, got %d arguments"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.modelDiff(args[0], o) },
	}
	for _, cmd := range []*cobra.Command{show, diff} {
		f := cmd.Flags()
		f.SortFlags = false
		f.IntVar(&o.depth, "depth", 0, fmt.Sprintf("only this depth, 1 to %d links ahead; 0 is all", predictor.MaxDepth))
		f.StringVar(&o.feature, "feature", "", "only terms of this `FAMILY`: "+strings.Join(predictor.Families(), " | "))
		f.IntVar(&o.top, "top", 20, "terms of each depth")
	}
	export := &cobra.Command{
		Use:   "export",
		Short: "Print all terms with their counts as JSON lines",
		Long: `Prints a line of type "model" with the links learned for each depth, one of type
"term" for each term of each depth, and a "summary".`,
		Example: "  gazehound model export > model.ndjson\n  gazehound model export --data ../irvine-data | jq 'select(.log_odds > 2)'",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return a.modelExport() },
	}
	group.AddCommand(show, diff, export)
	return group
}

// check returns what is wrong with the flags.
func (o termFlags) check() error {
	switch families := predictor.Families(); {
	case o.depth < 0 || o.depth > predictor.MaxDepth:
		return fail(exitUsage, "--depth must be 1 to %d, or 0 for all, got %d", predictor.MaxDepth, o.depth)
	case o.top < 1 || o.top > 1e6:
		return fail(exitUsage, "--top must be 1 to 1000000, got %d", o.top)
	case o.feature != "" && !slices.Contains(families, o.feature):
		return fail(exitUsage, "--feature: %.40q is not one of %s.%s", o.feature, strings.Join(families, ", "), didYouMean(o.feature, families))
	}
	return nil
}

// depths lists the depths to print.
func (o termFlags) depths() []int {
	if o.depth > 0 {
		return []int{o.depth}
	}
	var all []int
	for d := range predictor.MaxDepth {
		all = append(all, d+1)
	}
	return all
}

// A termLine is one term in --json.
type termLine struct {
	Type string `json:"type,omitempty"`
	predictor.TermWeight
}

func (a *app) modelShow(o termFlags) error {
	if err := o.check(); err != nil {
		return err
	}
	model, err := a.projectModel()
	if err != nil {
		return err
	}
	if a.json {
		lines := []termLine{}
		for _, d := range o.depths() {
			for _, w := range model.Top(d, o.feature, o.top) {
				lines = append(lines, termLine{"", w})
			}
		}
		return a.printJSON(lines)
	}
	stats := model.Stats()
	for _, d := range o.depths() {
		s := stats.Depths[d-1]
		fmt.Fprintf(a.stdout, "depth %d   %d links to relevant pages, %d to others, %d terms\n", d, s.Relevant, s.Other, s.Terms)
		for _, w := range model.Top(d, o.feature, o.top) {
			fmt.Fprintln(a.stdout, weightLine(w))
		}
	}
	return nil
}

// weightLine is one term for people.
func weightLine(w predictor.TermWeight) string {
	if w.Relevant+w.Other == 0 {
		return fmt.Sprintf("  %s  %s", logOdds(w.LogOdds), strings.TrimSpace(termName(w.Term)))
	}
	return fmt.Sprintf("  %s  %s  %d relevant / %d other", logOdds(w.LogOdds), termName(w.Term), w.Relevant, w.Other)
}

// logOdds prints a number with its sign, in six columns.
func logOdds(x float64) string {
	if x = math.Round(x*100) / 100; x == 0 {
		x = 0 // and not -0
	}
	return fmt.Sprintf("%+6.2f", x)
}

// termName prints a term in two columns, family and word.
func termName(term string) string {
	family, word, _ := strings.Cut(oneLine(term), ":")
	return fmt.Sprintf("%-6s  %-44s", family, word)
}

func (a *app) modelDiff(other string, o termFlags) error {
	if err := o.check(); err != nil {
		return err
	}
	here, err := a.projectModel()
	if err != nil {
		return err
	}
	if info, err := os.Stat(other); err == nil && info.IsDir() {
		other = project{other}.model()
	}
	there, err := a.loadModel(other)
	if err != nil {
		return err
	}
	if a.json {
		type side struct {
			LogOdds  float64 `json:"log_odds"`
			Relevant int     `json:"relevant"`
			Other    int     `json:"other"`
		}
		type line struct {
			Depth  int     `json:"depth"`
			Term   string  `json:"term"`
			Here   side    `json:"here"`
			There  side    `json:"there"`
			Change float64 `json:"change"`
		}
		lines := []line{}
		for _, depth := range o.depths() {
			for _, d := range predictor.Diff(here, there, depth, o.feature, o.top) {
				lines = append(lines, line{depth, d.Here.Term, side{d.Here.LogOdds, d.Here.Relevant, d.Here.Other},
					side{d.There.LogOdds, d.There.Relevant, d.There.Other}, d.Change()})
			}
		}
		return a.printJSON(lines)
	}
	mine, theirs := here.Stats(), there.Stats()
	for _, depth := range o.depths() {
		m, t := mine.Depths[depth-1], theirs.Depths[depth-1]
		fmt.Fprintf(a.stdout, "depth %d   here %d links to relevant pages, %d to others, %d terms; there %d, %d, %d\n",
			depth, m.Relevant, m.Other, m.Terms, t.Relevant, t.Other, t.Terms)
		fmt.Fprintln(a.stdout, "    here   there")
		for _, d := range predictor.Diff(here, there, depth, o.feature, o.top) {
			fmt.Fprintf(a.stdout, "  %s  %s  %s  %d / %d here, %d / %d there\n", logOdds(d.Here.LogOdds), logOdds(d.There.LogOdds), termName(d.Here.Term),
				d.Here.Relevant, d.Here.Other, d.There.Relevant, d.There.Other)
		}
	}
	return nil
}

func (a *app) modelExport() error {
	model, err := a.projectModel()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.stdout)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	type depthLine struct {
		Depth    int `json:"depth"`
		Relevant int `json:"relevant"`
		Other    int `json:"other"`
		Terms    int `json:"terms"`
	}
	head := struct {
		Type     string      `json:"type"`
		Features int         `json:"features"`
		Depths   []depthLine `json:"depths"`
	}{Type: "model", Features: predictor.FeatureSet}
	for d, s := range model.Stats().Depths {
		head.Depths = append(head.Depths, depthLine{d + 1, s.Relevant, s.Other, s.Terms})
	}
	err = lines.Encode(head)
	terms := 0
	for d := range predictor.MaxDepth {
		for w := range model.Weights(d+1, "") {
			if err != nil {
				return err
			}
			err = lines.Encode(termLine{"term", w})
			terms++
		}
	}
	if err == nil {
		err = lines.Encode(struct {
			Type  string `json:"type"`
			Terms int    `json:"terms"`
		}{"summary", terms})
	}
	return errors.Join(err, out.Flush())
}
