package main

import (
	"fmt"

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
			newDemoCommand(a), newInitCommand(a), newSeedsCommand(a), newDoctorCommand(a), newCrawlCommand(a), newStatusCommand(a), newCtlCommand(a), newServeCommand(a)}},
		{"results", "What was found:", []*cobra.Command{
			newSearchCommand(a), newExportCommand(a), newPagesCommand(a), newReportCommand(a), newForgetCommand(a)}},
		{"learning", "What was learned, and why:", []*cobra.Command{
			newExplainCommand(a), newLabelCommand(a), newModelCommand(a), newRetrainCommand(a), newSimulateCommand(a)}},
		{"data", "Places, texts, archives and logs:", []*cobra.Command{
			newGazetteerCommand(a), newGeoparseCommand(a), newReplayCommand(a), newClickstreamCommand(a)}},
		{"nodes", "Several machines:", []*cobra.Command{newNodeCommand(a), newPlacesCommand(a)}},
	} {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(newConfigCommand(a), newVersionCommand(a), newLicencesCommand(a), newManualCommand(a))
}

// groupFlags prints the flags of cmd under headings, each of which begins with the
// flag that it is the heading of.
func groupFlags(cmd *cobra.Command, headings map[string]string) {
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		w := c.OutOrStderr()
		fmt.Fprintf(w, "Usage:\n  %s\n\nExamples:\n%s\n", c.UseLine(), c.Example)
		group := pflag.NewFlagSet("", pflag.ContinueOnError)
		group.SortFlags = false
		title := "Flags"
		end := func() {
			if group.HasFlags() {
				fmt.Fprintf(w, "\n%s:\n%s", title, group.FlagUsages())
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if heading := headings[f.Name]; heading != "" {
				end()
				group, title = pflag.NewFlagSet("", pflag.ContinueOnError), heading
				group.SortFlags = false
			}
			group.AddFlag(f)
		})
		end()
		_, err := fmt.Fprintf(w, "\nGlobal Flags:\n%s", c.InheritedFlags().FlagUsages())
		return err
	})
}
