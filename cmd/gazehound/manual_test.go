package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command has a man page, every shell its completions, and two runs write the same bytes.
func TestManual(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	one, two := t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		var said bytes.Buffer
		if code := run(t.Context(), []string{"manual", dir}, nil, &said, &said); code != exitOK {
			t.Fatalf("exit %d: %s", code, said.String())
		}
	}
	files, err := filepath.Glob(filepath.Join(one, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Errorf("only the files %q", files)
	}
	for _, name := range files {
		a, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(strings.Replace(name, one, two, 1))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is different the second time (%v)", filepath.Base(name), err)
		}
	}
	for name, want := range map[string]string{
		"man1/gazehound-crawl.1":           "--contact",
		"man1/gazehound.1":                 "Nov 2023",
		"man1/gazehound-export.1":          "\n  gpx          waypoints: OsmAnd, Garmin\n  atom         a feed",
		"completions/gazehound.bash":       "__start_gazehound",
		"completions/gazehound.zsh":        "#compdef gazehound",
		"completions/gazehound.fish":       "complete -c gazehound",
		"completions/gazehound.powershell": "Register-ArgumentCompleter",
	} {
		text, err := os.ReadFile(filepath.Join(one, name))
		if err != nil || !strings.Contains(strings.ReplaceAll(string(text), `\-`, "-"), want) {
			t.Errorf("%s has no %q (%v)", name, want, err)
		}
	}
	var said bytes.Buffer
	if code := run(t.Context(), []string{"manual", filepath.Join(one, "man1", "gazehound.1")}, nil, &said, &said); code != exitInvalidInput {
		t.Errorf("exit %d where a file is in the way: %s", code, said.String())
	}
}

// --version, which is what people try first, prints what the command version prints.
func TestVersion(t *testing.T) {
	var flag, command, said bytes.Buffer
	for args, out := range map[string]*bytes.Buffer{"--version": &flag, "version": &command} {
		code := run(t.Context(), []string{args}, nil, out, &said)
		if code != exitOK {
			t.Errorf("%s: exit %d: %s", args, code, said.String())
		}
	}
	if flag.String() != command.String() || !strings.HasPrefix(flag.String(), "gazehound ") {
		t.Errorf("%q and %q", flag.String(), command.String())
	}
}
