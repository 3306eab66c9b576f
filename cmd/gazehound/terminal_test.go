//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
)

// inTerminal runs a command in a pseudo-terminal of so many columns, and returns what it shows and
// how long it took.
func inTerminal(t *testing.T, columns uint16, env string, args ...string) (shown string, took time.Duration) {
	t.Helper()
	return startInTerminal(t, columns, env, args...)()
}

// startInTerminal starts a command in a pseudo-terminal of so many columns. end waits for it, and
// returns what it has shown and how long it took.
func startInTerminal(t *testing.T, columns uint16, env string, args ...string) (end func() (string, time.Duration)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), "GAZEHOUND_TEST_MAIN=1", "CI=", "TERM=xterm", env)
	began := time.Now()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: columns})
	if err != nil {
		cancel()
		t.Skipf("no pseudo-terminal: %v", err)
	}
	var out bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		defer cancel()
		io.Copy(&out, terminal) // ends with an error once the command has
		err := cmd.Wait()
		terminal.Close()
		ended <- err
	}()
	return func() (shown string, took time.Duration) {
		t.Helper()
		if err := <-ended; err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out.String())
		}
		return out.String(), time.Since(began)
	}
}

// The line of a crawl fits any terminal, is redrawn at most twice a second, and is no line in one that
// cannot redraw.
func TestProgressLine(t *testing.T) {
	t.Parallel()
	for _, columns := range []uint16{20, 60, 80, 120} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			_, flags := townProject(t)
			shown, took := inTerminal(t, columns, "", append([]string{"crawl", "--max-pages", "150", "--serve", "off"}, flags...)...)
			drawn := 0
			for line := range strings.SplitSeq(strings.ReplaceAll(shown, "\r\n", "\n"), "\n") {
				for i, part := range strings.Split(line, "\r") {
					if i == 0 { // not redrawn
						continue
					}
					drawn++
					if width := utf8.RuneCountInString(strings.TrimRight(part, " ")); width >= int(columns) {
						t.Errorf("a line of %d in %d columns: %q", width, columns, part)
					}
				}
			}
			if most := int(took/(500*time.Millisecond)) + 2; drawn > most {
				t.Errorf("drawn %d times in %v", drawn, took)
			}
			if !strings.Contains(strings.Join(strings.Fields(shown), " "), "reached its page limit") {
				t.Errorf("no summary: %s", shown)
			}
			if columns >= 60 {
				fits(t, shown, int(columns))
			}
		})
	}
	t.Run("dumb", func(t *testing.T) {
		t.Parallel()
		_, flags := townProject(t)
		shown, _ := inTerminal(t, 80, "TERM=dumb", append([]string{"crawl", "--max-pages", "100", "--serve", "off"}, flags...)...)
		if strings.Contains(strings.ReplaceAll(shown, "\r\n", "\n"), "\r") || strings.Contains(shown, "\x1b") {
			t.Errorf("it redraws in a dumb terminal: %q", shown)
		}
	})
}

// fits reports lines that are wider than the terminal, unless they are one long word with its name.
func fits(t *testing.T, shown string, columns int) {
	t.Helper()
	for line := range strings.SplitSeq(strings.ReplaceAll(shown, "\r\n", "\n"), "\n") {
		line = strings.TrimRight(line[strings.LastIndex(line, "\r")+1:], " ")
		if utf8.RuneCountInString(line) > columns && len(strings.Fields(line)) > 3 {
			t.Errorf("%d characters in %d columns: %q", utf8.RuneCountInString(line), columns, line)
		}
	}
	if strings.TrimSpace(shown) == "" {
		t.Error("nothing is shown")
	}
}

// shown runs a command in this process, with a pseudo-terminal of so many columns as its standard
// output and standard error, and returns what it shows.
func shown(t *testing.T, columns uint16, args ...string) string {
	t.Helper()
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer terminal.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 40, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	out := make(chan string)
	go func() {
		text, _ := io.ReadAll(terminal) // ends with an error once the other end is closed
		out <- string(text)
	}()
	run(t.Context(), args, strings.NewReader(""), tty, tty)
	tty.Close()
	return <-out
}

// example matches the examples in a help text.
var example = regexp.MustCompile(`(?m)^ +(zcat .*)?gazehound .*$`)

// What every command prints fits the terminal, its help too.
func TestFitsTerminal(t *testing.T) {
	t.Setenv("CI", "")
	t.Setenv("TERM", "xterm")
	data, flags := townProject(t)
	if out, err := program(append([]string{"crawl", "--quiet", "--max-pages", "150"}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("crawl: %v\n%s", err, out)
	}
	var json, none bytes.Buffer
	run(t.Context(), []string{"search", "--json", "--data", data}, nil, &json, &none)
	run(t.Context(), []string{"pages", "--json", "--data", data}, nil, &json, &none)
	id := regexp.MustCompile(`"id":"([0-9a-f]{16})"`).FindStringSubmatch(json.String())
	page := regexp.MustCompile(`"url":"(http[^"]+)"`).FindStringSubmatch(json.String())
	if id == nil || page == nil {
		t.Fatalf("nothing was found: %s", json.String())
	}
	text, file := filepath.Join(t.TempDir(), "text"), filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(text, []byte("Bäckerei Kruse, Hauptstraße 5, 26999 Demostadt, und 12345 Nirgendwo am See"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, columns := range []uint16{60, 80, 120} {
		for _, args := range [][]string{
			{"status"}, {"doctor"}, append([]string{"crawl", "--dry-run"}, flags...), {"search"}, {"search", "zzzz"},
			{"report"}, {"report", data, "NAME=" + data}, {"report", "--nodes"}, {"report", "--top-bridges"}, {"pages"},
			{"model", "show"}, {"model", "diff", data}, {"retrain", "--dry-run"}, {"explain", page[1]}, {"explain", id[1]},
			{"explain", "http://nowhere.example/"}, {"label", page[1], "relevant"}, {"forget", "--dry-run", page[1]},
			{"forget", "--requests"}, {"gazetteer", "stats"}, {"gazetteer", "regions"}, {"gazetteer", "lookup", "Demostadt"},
			{"geoparse", text, "--all-candidates"}, {"seeds", "check"}, {"config", "show", "--origin"}, {"config", "check"},
			{"export", "csv", "-o", file}, {"export", "seeds", "-o", file}, {"export", "cdxj"}, {"ctl", "orders"},
			{"clickstream", "top"}, {"version"}, {"simulate", "orders", "--demo", "sites=40", "--pages", "60", "--runs", "1"}, {"nonsense"},
		} {
			t.Run(fmt.Sprint(columns, args), func(t *testing.T) {
				fits(t, shown(t, columns, append(args, "--data", data)...), int(columns))
			})
		}
	}
	commands := newRootCommand(&app{}).Commands()
	for len(commands) > 0 {
		c := commands[0]
		commands = append(commands[1:], c.Commands()...)
		if !c.Hidden {
			args := append(strings.Fields(c.CommandPath())[1:], "--help")
			help := shown(t, 80, args...)
			fits(t, example.ReplaceAllString(help, ""), 80) // which are copied
		}
	}
}

// up is the escape that goes back to the first row of what was drawn.
var up = regexp.MustCompile(`\x1b\[(\d+)A\x1b\[J`)

// "status --watch" draws over what it has drawn, however many rows of the terminal that took.
func TestWatchRedraws(t *testing.T) {
	t.Parallel()
	data, flags := townProject(t)
	args := append([]string{"crawl", "--quiet", "--serve", "off"}, flags...)
	crawl := program(append(args, "--delay", "1s", "--max-time", "8s")...)
	if err := crawl.Start(); err != nil {
		t.Fatal(err)
	}
	ready(t, data, 0)
	ends := map[uint16]func() (string, time.Duration){}
	for _, columns := range []uint16{20, 60, 80, 120} {
		ends[columns] = startInTerminal(t, columns, "", "status", "--watch", "--data", data)
	}
	if err := crawl.Wait(); err == nil {
		t.Error("the crawl has not reached its time limit")
	}
	for columns, end := range ends {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			shown, _ := end()
			marks := up.FindAllStringSubmatchIndex(shown, -1)
			if len(marks) == 0 {
				t.Fatalf("nothing is redrawn: %q", shown)
			}
			from := 0
			for _, m := range marks {
				rows := 0
				for line := range strings.SplitSeq(strings.TrimSuffix(strings.ReplaceAll(shown[from:m[0]], "\r\n", "\n"), "\n"), "\n") {
					rows += max(1, (utf8.RuneCountInString(line)+int(columns)-1)/int(columns))
				}
				if got := shown[m[2]:m[3]]; got != fmt.Sprint(rows) {
					t.Errorf("it goes %s rows back of %d in %d columns", got, rows, columns)
				}
				from = m[1]
			}
		})
	}
}
