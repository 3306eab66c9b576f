package main

import (
	"fmt"
	"slices"
	"strings"

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
	showDefaults(root)
	root.SetUsageTemplate(strings.NewReplacer(".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", a.columns),
		`[command] --help" for more information about a command`, `COMMAND --help" for more about a command`,
	).Replace(root.UsageTemplate()))
	if a.columns > 0 {
		fitHelp(root.Commands(), min(a.columns, 88))
	}
}

// command makes a command with the arguments that it takes, nil for any. Its help is a text and, after
// a line "Examples:", examples.
func command(use, short, help string, args cobra.PositionalArgs, run action) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: args}
	c.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) }
	describe(c, help)
	return c
}

// group makes a command that only has others below it.
func group(use, short, help string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: subCommand, RunE: showHelp}
	describe(c, help)
	c.AddCommand(commands...)
	return c
}

func describe(c *cobra.Command, help string) {
	long, examples, _ := strings.Cut(help, "Examples:\n")
	c.Long, c.Example = strings.TrimSpace(long), strings.TrimRight(examples, "\n")
	c.Flags().SortFlags = false
}

// showDefaults lets the help of all commands show the default of a list as it is typed, and none if it is
// empty.
func showDefaults(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		_, ours := f.Value.(restricted)
		list := strings.HasPrefix(f.DefValue, "[") && strings.HasSuffix(f.DefValue, "]")
		if list && (ours || f.DefValue != "[]") { // pflag knows an empty list by the brackets
			f.DefValue = strings.Trim(f.DefValue, "[]")
		}
	})
	for _, below := range c.Commands() {
		showDefaults(below)
	}
}

// fitHelp fits the descriptions of commands, and of those below them, to the terminal.
func fitHelp(commands []*cobra.Command, columns int) {
	for _, c := range commands {
		c.Long = textutil.Reflow(c.Long, columns)
		fitHelp(c.Commands(), columns)
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
