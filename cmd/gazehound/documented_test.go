package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gazehound/internal/console"

	"github.com/spf13/cobra"
)

// Every command in the documents and in --help exists, with its flags. The examples of --help are
// valid with their values and arguments.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "node_modules") {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		document := strings.HasSuffix(path, ".md") && (strings.Contains(path, "docs") || filepath.Base(path) == "README.md")
		if !document && !strings.HasSuffix(path, ".service") && filepath.Base(path) != "Makefile" {
			return nil
		}
		data, err := os.ReadFile(path)
		texts[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	root := func() *cobra.Command {
		return newRootCommand(&app{stdin: strings.NewReader(""), stdout: new(bytes.Buffer), Console: console.Console{Err: new(bytes.Buffer)}})
	}
	var collect func(c *cobra.Command)
	collect = func(c *cobra.Command) {
		texts["--help of "+c.CommandPath()] = strings.ReplaceAll(c.Example, "  ", "\n")
		for _, sub := range c.Commands() {
			collect(sub)
		}
	}
	collect(root())

	inLine := regexp.MustCompile("`(gazehound [^`]+)`")
	seen := 0
	for name, text := range texts {
		var commands []string
		for _, found := range inLine.FindAllStringSubmatch(text, -1) {
			commands = append(commands, found[1])
		}
		markdown, code := strings.HasSuffix(name, ".md"), false
		for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
			if kind, fence := strings.CutPrefix(strings.TrimSpace(line), "```"); fence {
				code = kind == "sh" || kind == "console" // what was typed, and what was printed
			}
			if markdown && !code {
				continue // prose, or what a program printed
			}
			line = strings.TrimPrefix(strings.TrimSpace(line), "ExecStart=/usr/local/bin/")
			line = strings.TrimPrefix(strings.TrimPrefix(line, "$ "), "bin/")
			for part := range strings.SplitSeq(strings.ReplaceAll(line, "&&", "|"), "|") {
				if part = strings.TrimSpace(part); strings.HasPrefix(part, "gazehound ") {
					commands = append(commands, part)
				}
			}
		}
		for _, command := range commands {
			args := argumentsOf(command)
			if len(args) == 0 || !regexp.MustCompile(`^[a-z]+$`).MatchString(args[0]) {
				continue // a sentence, or flags alone
			}
			c, rest, err := root().Find(args)
			if err != nil || !c.HasParent() {
				t.Errorf("%s: %s: %v", name, command, err)
				continue
			}
			seen++
			if strings.HasPrefix(name, "--help of ") {
				if err := errors.Join(c.ParseFlags(rest), c.ValidateFlagGroups(), c.ValidateArgs(c.Flags().Args())); err != nil {
					t.Errorf("%s: %s: %v", name, command, err)
				}
				continue
			}
			for _, arg := range rest {
				flag, _, _ := strings.Cut(arg, "=")
				c.InitDefaultHelpFlag()
				long, isLong := strings.CutPrefix(flag, "--")
				switch {
				case isLong && long != "" && c.Flag(long) == nil && c.InheritedFlags().Lookup(long) == nil:
					t.Errorf("%s: %s: there is no flag --%s", name, command, long)
				case !isLong && len(flag) == 2 && flag[0] == '-' && c.Flags().ShorthandLookup(flag[1:]) == nil && c.InheritedFlags().ShorthandLookup(flag[1:]) == nil:
					t.Errorf("%s: %s: there is no flag %s", name, command, flag)
				}
			}
		}
	}
	if seen < 150 {
		t.Errorf("only %d commands were found", seen)
	}
	t.Logf("%d commands in %d texts", seen, len(texts))
}

var shellWord = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s"']+("[^"]*"|'[^']*')?`)

// argumentsOf returns the words of a command after the program's name, without what a
// shell takes for itself.
func argumentsOf(command string) []string {
	command, _, _ = strings.Cut(command, " #")
	command, _, _ = strings.Cut(command, "   ")
	var args []string
	for _, word := range shellWord.FindAllString(command, -1)[1:] {
		if strings.ContainsAny(word[:1], ">&;<") {
			break
		}
		args = append(args, strings.Trim(strings.TrimRight(word, ";,"), `"'`))
	}
	return args
}
