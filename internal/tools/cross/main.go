// Cross checks that the program and its tests are right for other systems: "cross windows/amd64 …"
// reads all packages, dependencies included, from their sources, in a tenth of the time that
// compiling them takes, and prints what the compiler or "go vet" would refuse.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/packages"
)

// analyzers are those of "go vet" that look at one package by itself. The others, for formats and
// lost cancellations, first read every dependency, and find the same on every system.
var analyzers = []*analysis.Analyzer{
	assign.Analyzer, atomic.Analyzer, bools.Analyzer, buildtag.Analyzer, copylock.Analyzer, errorsas.Analyzer,
	ifaceassert.Analyzer, nilfunc.Analyzer, shift.Analyzer, stdmethods.Analyzer, stringintconv.Analyzer,
	structtag.Analyzer, unreachable.Analyzer, unsafeptr.Analyzer, unusedresult.Analyzer,
}

func main() {
	wrong := 0
	for _, target := range os.Args[1:] {
		found, err := check(target)
		if err != nil {
			found = append(found, err.Error())
		}
		for _, f := range found {
			fmt.Fprintf(os.Stderr, "%s: %s\n", target, f)
			wrong++
		}
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

// check returns what is wrong for a system, such as "windows/amd64".
func check(target string) (found []string, err error) {
	system, processor, _ := strings.Cut(target, "/")
	all, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
	}, "./...")
	if err != nil {
		return nil, err
	}
	packages.Visit(all, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			found = append(found, e.Error())
		}
	})
	if len(found) > 0 {
		return found, nil
	}
	graph, err := checker.Analyze(analyzers, all, nil)
	if err != nil {
		return nil, err
	}
	for _, action := range graph.Roots {
		for _, d := range action.Diagnostics {
			at := action.Package.Fset.Position(d.Pos)
			found = append(found, fmt.Sprintf("%s: %s", at, d.Message))
		}
		if action.Err != nil {
			found = append(found, fmt.Sprintf("%s: %v", action, action.Err))
		}
	}
	return found, nil
}
