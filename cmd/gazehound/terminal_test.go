//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), "GAZEHOUND_TEST_MAIN=1", "CI=", "TERM=xterm", env)
	began := time.Now()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: columns})
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer terminal.Close()
	var out bytes.Buffer
	io.Copy(&out, terminal) // ends with an error once the command has
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out.String())
	}
	return out.String(), time.Since(began)
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

// fits reports lines that are wider than the terminal, unless they end with one long word.
func fits(t *testing.T, shown string, columns int) {
	t.Helper()
	lines := 0
	for line := range strings.SplitSeq(strings.ReplaceAll(shown, "\r\n", "\n"), "\n") {
		line = strings.TrimRight(line[strings.LastIndex(line, "\r")+1:], " ")
		lines++
		if utf8.RuneCountInString(line) > columns && len(strings.Fields(line)) > 3 {
			t.Errorf("%d characters in %d columns: %q", utf8.RuneCountInString(line), columns, line)
		}
	}
	if lines < 4 {
		t.Errorf("too little is shown: %q", shown)
	}
}

// What people read fits their terminal.
func TestFitsTerminal(t *testing.T) {
	t.Parallel()
	data, flags := townProject(t)
	if out, err := program(append([]string{"crawl", "--quiet", "--max-pages", "150"}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("crawl: %v\n%s", err, out)
	}
	commands := [][]string{{"status"}, {"doctor"}, append([]string{"crawl", "--dry-run"}, flags...),
		{"search", "straße", "--limit", "3"}, {"model", "show"}, {"retrain"}}
	for _, columns := range []uint16{60, 80, 120} {
		for _, args := range commands {
			t.Run(fmt.Sprint(columns, args[0]), func(t *testing.T) {
				shown, _ := inTerminal(t, columns, "GAZEHOUND_FETCH__CONTACT=https://www.gazehound-bot.de/", append(args, "--data", data)...)
				fits(t, shown, int(columns))
			})
		}
	}
	shown, _ := inTerminal(t, 80, "", "seeds", "--help")
	fits(t, shown, 80)
}

// up is the escape that goes back to the first row of what was drawn.
var up = regexp.MustCompile(`\x1b\[(\d+)A\x1b\[J`)

// "status --watch" draws over what it has drawn, however many rows of the terminal that took.
func TestWatchRedraws(t *testing.T) {
	t.Parallel()
	for _, columns := range []uint16{20, 60, 80, 120} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			data, flags := townProject(t)
			crawl := program(append(append([]string{"crawl"}, flags...), "--quiet", "--delay", "1s", "--max-time", "3s", "--serve", "off")...)
			if err := crawl.Start(); err != nil {
				t.Fatal(err)
			}
			ready(t, data, 0)
			shown, _ := inTerminal(t, columns, "", "status", "--watch", "--data", data)
			if err := crawl.Wait(); err == nil {
				t.Error("the crawl has not reached its time limit")
			}
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
