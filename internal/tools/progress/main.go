// Progress prints what "go test -json" writes to standard input: a line with n/m for each
// package when it is done, what failed tests print, and twice a minute what still runs. Its
// argument is the number of packages. It exits with 1 where a test fails.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	all := "?"
	if len(os.Args) > 1 {
		all = os.Args[1]
	}
	if !show(os.Stdin, os.Stdout, all) {
		os.Exit(1)
	}
}

// An event is a line of "go test -json"; see "go doc test2json".
type event struct {
	Action, Package, ImportPath, Test, Output string
	Time                                      time.Time
	Elapsed                                   float64 // seconds
}

// quiet is how long nothing is said of packages that still run.
const quiet = 30 * time.Second

// show reports whether nothing failed.
func show(events io.Reader, w io.Writer, all string) (ok bool) {
	ok = true
	done := 0
	running := map[string]string{} // packages → the test that began last
	output := map[string][]string{}
	var said time.Time
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil { // of go itself
			fmt.Fprintln(w, lines.Text())
			continue
		}
		switch e.Action {
		case "start", "run":
			running[e.Package] = e.Test
		case "output":
			key := e.Package + " " + e.Test
			output[key] = append(output[key], e.Output)
		case "build-output":
			fmt.Fprint(w, e.Output)
		case "pass", "skip":
			delete(output, e.Package+" "+e.Test)
		case "fail", "build-fail":
			ok = false
			fmt.Fprint(w, strings.Join(output[e.Package+" "+e.Test], ""))
		}
		if isEnd := e.Action == "pass" || e.Action == "fail" || e.Action == "skip"; isEnd && e.Test == "" {
			done++
			delete(running, e.Package)
			fmt.Fprintf(w, "%d/%s %-4s %s %.1f s\n", done, all, e.Action, e.Package, e.Elapsed)
			said = e.Time
		}
		if !said.IsZero() && e.Time.Sub(said) > quiet {
			said = e.Time
			for _, name := range slices.Sorted(maps.Keys(running)) {
				fmt.Fprintf(w, "%d/%s ...  %s %s\n", done, all, name, running[name])
			}
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(w, "progress:", err)
		return false
	}
	return ok
}
