package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gazehound/internal/console"

	"github.com/spf13/cobra"
)

// The program alone says how to use it.
func TestNoCommand(t *testing.T) {
	if out := gazehound(t); !strings.Contains(out, "Usage:") {
		t.Errorf("printed %q", out)
	}
}

// Every command in the documents and in --help exists, with its flags. The examples of --help are
// valid with their values and arguments.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	texts := documents(t)
	addExamples(texts, documentedRoot())
	seen := 0
	for name, text := range texts {
		for _, command := range commandsIn(text, strings.HasSuffix(name, ".md")) {
			args := argumentsOf(command)
			if len(args) == 0 || !regexp.MustCompile(`^[a-z]+$`).MatchString(args[0]) {
				continue // a sentence, or flags alone
			}
			c, rest, err := documentedRoot().Find(args)
			if err != nil || !c.HasParent() {
				t.Errorf("%s: %s: %v", name, command, err)
				continue
			}
			seen++
			if strings.HasPrefix(name, "--help of ") {
				err = errors.Join(c.ParseFlags(rest), c.ValidateFlagGroups(), c.ValidateArgs(c.Flags().Args()))
			} else {
				err = flagsExist(c, rest)
			}
			if err != nil {
				t.Errorf("%s: %s: %v", name, command, err)
			}
		}
	}
	if seen < 150 {
		t.Errorf("only %d commands were found", seen)
	}
	t.Logf("%d commands in %d texts", seen, len(texts))
}

// The help shows the default of a list as it is typed, and none if it is empty. What a flag takes has
// no characters of several bytes, by which pflag would indent the column of descriptions.
func TestHelpOfFlags(t *testing.T) {
	t.Parallel()
	commands, wide, lists := documentedRoot().Commands(), regexp.MustCompile(`(?m)^ +(-\w, )?--[\w-]+ \S*[^\x00-\x7f]`), 0
	for ; len(commands) > 0; commands = commands[1:] {
		help := commands[0].UsageString()
		if strings.Contains(help, "(default [") || strings.Contains(help, "(default )") || wide.MatchString(help) {
			t.Errorf("%s: %s", commands[0].CommandPath(), help)
		}
		lists += strings.Count(help, "(default 1,2,3,4)")
		commands = append(commands, commands[0].Commands()...)
	}
	if lists == 0 {
		t.Error("the numbers of limited-distance are in no help")
	}
}

func documentedRoot() *cobra.Command {
	return newRootCommand(&app{stdin: strings.NewReader(""), stdout: new(bytes.Buffer),
		Console: console.Console{Err: new(bytes.Buffer)}})
}

// documents returns the documents of the repository, the units of systemd and the Makefile, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	// Not the whole repository: go runs a test again when a folder that it listed has changed, and any
	// command of git changes .git.
	for _, root := range []string{"README.md", "Makefile", "docs", "testdata", "index/web/dist"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			document := strings.HasSuffix(path, ".md") && (root == "docs" || filepath.Base(path) == "README.md")
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
	}
	return texts
}

// addExamples adds the examples of a command and of those below it.
func addExamples(texts map[string]string, c *cobra.Command) {
	texts["--help of "+c.CommandPath()] = strings.ReplaceAll(c.Example, "  ", "\n")
	for _, sub := range c.Commands() {
		addExamples(texts, sub)
	}
}

var commandInLine = regexp.MustCompile("`(gazehound [^`]+)`")

// commandsIn returns the commands of a text; those of a Markdown document stand in backticks and in
// blocks of what was typed.
func commandsIn(text string, markdown bool) (commands []string) {
	for _, found := range commandInLine.FindAllStringSubmatch(text, -1) {
		commands = append(commands, found[1])
	}
	code := false
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
			part = strings.TrimSpace(part)
			if strings.HasPrefix(part, "gazehound ") {
				commands = append(commands, part)
			}
		}
	}
	return commands
}

// flagsExist returns an error for each flag among args that a command does not have.
func flagsExist(c *cobra.Command, args []string) (err error) {
	c.InitDefaultHelpFlag()
	for _, arg := range args {
		flag, _, _ := strings.Cut(arg, "=")
		long, isLong := strings.CutPrefix(flag, "--")
		var known bool
		switch {
		case isLong && long != "":
			known = c.Flag(long) != nil || c.InheritedFlags().Lookup(long) != nil
		case !isLong && len(flag) == 2 && flag[0] == '-':
			short := flag[1:]
			known = c.Flags().ShorthandLookup(short) != nil || c.InheritedFlags().ShorthandLookup(short) != nil
		default:
			continue // no flag
		}
		if !known {
			err = errors.Join(err, fmt.Errorf("there is no flag %s", flag))
		}
	}
	return err
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
