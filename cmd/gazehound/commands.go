package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"gazehound/crawler/monitor/report"
	"gazehound/gazetteer/importer"
	"gazehound/gazetteer/table"
	"gazehound/index/export"
	"gazehound/internal/textutil"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addCommands gives root its commands, in the groups of the help text.
func addCommands(root *cobra.Command, a *app) {
	for _, group := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"project", "A project, from the first command on:", []*cobra.Command{
			newDemoCommand(a), newInitCommand(a), newSeedsCommand(a), newDoctorCommand(a),
			newCrawlCommand(a), newStatusCommand(a), newCtlCommand(a), newServeCommand(a), newRunCommand(a)}},
		{"results", "What was found:", []*cobra.Command{
			newSearchCommand(a), newCompareCommand(a), newExportCommand(a), newPagesCommand(a), newReportCommand(a), newForgetCommand(a)}},
		{"learning", "What was learned, and why:", []*cobra.Command{
			newExplainCommand(a), newLabelCommand(a), newModelCommand(a), newRetrainCommand(a), newSimulateCommand(a)}},
		{"data", "Places, texts, archives and logs:", []*cobra.Command{
			newGazetteerCommand(a), newGeoparseCommand(a), newReplayCommand(a), newUpgradeCommand(a), newClickstreamCommand(a)}},
		{"nodes", "Several machines:", []*cobra.Command{newNodeCommand(a), newPlacesCommand(a)}},
	} {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(newConfigCommand(a), newVersionCommand(a), newLicencesCommand(a), newManualCommand(a))
	fit := func(text string) string { return text }
	if a.columns > 0 {
		fit = func(text string) string { return textutil.Reflow(text, min(a.columns, 88)) }
	}
	root.SetUsageTemplate(strings.NewReplacer(".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", a.columns),
		`[command] --help" for more information about a command`, `COMMAND --help" for more about a command`,
	).Replace(root.UsageTemplate()))
	describe(root.Commands(), helpTexts(), fit)
}

// command makes a command with the arguments that it takes, nil for any. help.txt describes it.
func command(use, short string, args cobra.PositionalArgs, run action) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: args}
	c.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) }
	c.Flags().SortFlags = false
	return c
}

// group makes a command that only has others below it.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: subCommand, RunE: showHelp}
	c.AddCommand(commands...)
	return c
}

// help describes the commands: "== NAME", a text, and after a line "Examples:" examples of it. Text
// in {{ }} is filled in.
//
//go:embed help.txt
var help string

// helpTexts returns the descriptions of commands by their names.
func helpTexts() map[string]string {
	var exports, imports strings.Builder
	for _, f := range export.Formats() {
		fmt.Fprintf(&exports, "  %-12s %s\n", f.Name, f.About)
	}
	for _, f := range importer.Formats() {
		fmt.Fprintf(&imports, "  %-19s %s\n", f.Name, f.About)
	}
	filled := strings.NewReplacer(
		"{{strategies}}", strategyHelp(),
		"{{export formats}}", exports.String(),
		"{{import formats}}", imports.String(),
		"{{table fields}}", strings.Join(table.Fields, ", "),
		"{{bridge reach}}", fmt.Sprint(report.BridgeReach),
		"{{report metrics}}", textutil.Fit("  "+strings.Join(report.MetricNames(), ", "), 78),
		"{{simulate metrics}}", simulationMetrics(),
		"{{nodes metrics}}", strings.Join(report.NodesMetricNames(), ", "),
	).Replace(help)
	texts := map[string]string{}
	for section := range strings.SplitSeq("\n"+filled, "\n== ") {
		name, text, _ := strings.Cut(section, "\n")
		texts[name] = text
	}
	return texts
}

// describe gives commands, and those below them, their descriptions, as fit returns them, and examples.
func describe(commands []*cobra.Command, texts map[string]string, fit func(string) string) {
	for _, c := range commands {
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		long, examples, _ := strings.Cut(texts[name], "Examples:\n")
		c.Long, c.Example = fit(strings.TrimSpace(long)), strings.TrimRight(examples, "\n")
		describe(c.Commands(), texts, fit)
	}
}

// groupFlags prints the flags of cmd: those that most people need first, the others under headings.
// A heading stands before the flag that is its key.
func groupFlags(a *app, cmd *cobra.Command, headings map[string]string, first ...string) {
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		w := c.OutOrStderr()
		fmt.Fprintf(w, "Usage:\n  %s\n\nExamples:\n%s\n", c.UseLine(), c.Example)
		group := pflag.NewFlagSet("", pflag.ContinueOnError)
		group.SortFlags = false
		title := "Flags"
		end := func() {
			if group.HasFlags() {
				fmt.Fprintf(w, "\n%s:\n%s", title, group.FlagUsagesWrapped(a.columns))
			}
		}
		if len(first) > 0 {
			title = "Most used"
		}
		for _, name := range first {
			group.AddFlag(c.LocalFlags().Lookup(name))
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if heading := headings[f.Name]; heading != "" {
				end()
				group, title = pflag.NewFlagSet("", pflag.ContinueOnError), heading
				group.SortFlags = false
			}
			if !slices.Contains(first, f.Name) {
				group.AddFlag(f)
			}
		})
		end()
		_, err := fmt.Fprintf(w, "\nGlobal Flags:\n%s", c.InheritedFlags().FlagUsagesWrapped(a.columns))
		return err
	})
}
