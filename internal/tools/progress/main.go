// Progress prints what "go test -json" writes to standard input as "go test" prints it, but each package when
// it is done, where go waits for all before it; and twice a minute how many are done and what still runs. Its
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
}

// quiet is the time between two reports of what still runs.
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
			if lines := output[e.Package+" "]; e.Test == "" && len(lines) > 0 {
				fmt.Fprint(w, lines[len(lines)-1]) // "ok" or "?", and the package
			}
			delete(output, e.Package+" "+e.Test)
		case "fail", "build-fail":
			ok = false
			fmt.Fprint(w, strings.Join(output[e.Package+" "+e.Test], ""))
		}
		if isEnd := e.Action == "pass" || e.Action == "fail" || e.Action == "skip"; isEnd && e.Test == "" {
			done++
			delete(running, e.Package)
		}
		if said.IsZero() {
			said = e.Time
		}
		if e.Time.Sub(said) > quiet {
			said = e.Time
			fmt.Fprintf(w, "# %d of %s packages are done; what runs:\n", done, all)
			for _, name := range slices.Sorted(maps.Keys(running)) {
				fmt.Fprintf(w, "#   %s %s\n", name, running[name])
			}
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(w, "progress:", err)
		return false
	}
	return ok
}
