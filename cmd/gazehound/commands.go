package main

import (
	"strings"

	"github.com/spf13/cobra"
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
	root.AddCommand(newConfigCommand(a), newVersionCommand(a))
}

// groupFlags puts headings into the flags of --help, each above the flag that it
// is the heading of.
func groupFlags(cmd *cobra.Command, headings map[string]string) {
	var b strings.Builder
	for line := range strings.Lines(cmd.LocalFlags().FlagUsages()) {
		_, name, _ := strings.Cut(line, "--")
		name, _, _ = strings.Cut(name, " ")
		if heading := headings[name]; heading != "" {
			b.WriteString("\n" + heading + ":\n")
		}
		b.WriteString(line)
	}
	const flags = "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	cmd.SetUsageTemplate(strings.Replace(cmd.UsageTemplate(), flags, "{{`"+strings.TrimSpace(b.String())+"`}}", 1))
}
