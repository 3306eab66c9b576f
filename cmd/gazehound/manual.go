package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

const manualHelp = `Writes a man page of each command to DIR/man1 and completions for bash, zsh, fish
and PowerShell to DIR/completions. Their date is that of SOURCE_DATE_EPOCH, or today.

Examples:
  gazehound manual /tmp/gazehound-manual
`

func newManualCommand(a *app) *cobra.Command {
	c := command("manual DIR", "Write man pages and shell completions, for packages", manualHelp, cobra.ExactArgs(1), nil)
	c.Hidden = true // make release calls it
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := writeManual(cmd.Root(), args[0]); err != nil {
			return fail(badInput, "manual: %w", err)
		}
		return nil
	}
	return c
}

// indented are the lines of a list in a help text.
var indented = regexp.MustCompile(`(?m)(?:^  .*\n?)+`)

// fenceLists marks the lists in the help texts of a command and of those below it, so that man pages keep their lines.
func fenceLists(c *cobra.Command) {
	c.Long = indented.ReplaceAllStringFunc(c.Long, func(list string) string {
		return "```\n" + strings.TrimSuffix(list, "\n") + "\n```\n"
	})
	for _, below := range c.Commands() {
		fenceLists(below)
	}
}

func writeManual(root *cobra.Command, dir string) error {
	man, completions := filepath.Join(dir, "man1"), filepath.Join(dir, "completions")
	for _, d := range []string{man, completions} {
		err := os.MkdirAll(d, 0o755)
		if err != nil {
			return err
		}
	}
	root.DisableAutoGenTag = true
	fenceLists(root)
	header := &doc.GenManHeader{Source: "gazehound " + version, Manual: "gazehound"}
	err := doc.GenManTree(root, header, man)
	if err != nil {
		return err
	}
	for shell, write := range map[string]func(string) error{
		"bash":       func(name string) error { return root.GenBashCompletionFileV2(name, true) },
		"zsh":        root.GenZshCompletionFile,
		"fish":       func(name string) error { return root.GenFishCompletionFile(name, true) },
		"powershell": root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := write(filepath.Join(completions, "gazehound."+shell)); err != nil {
			return fmt.Errorf("%s completion: %w", shell, err)
		}
	}
	return nil
}
