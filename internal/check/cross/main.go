// Cross checks that the program and its tests are right for other systems: "cross windows/amd64 …"
// reads all packages, dependencies included, from their sources, in a tenth of the time that
// compiling them takes, and prints what the compiler would refuse.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	wrong := 0
	for _, target := range os.Args[1:] {
		system, processor, _ := strings.Cut(target, "/")
		all, err := packages.Load(&packages.Config{
			Mode:  packages.LoadAllSyntax,
			Tests: true,
			Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
		}, "./...")
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", target, err)
			os.Exit(1)
		}
		packages.Visit(all, nil, func(p *packages.Package) {
			for _, e := range p.Errors {
				fmt.Fprintf(os.Stderr, "%s: %v\n", target, e)
				wrong++
			}
		})
	}
	if wrong > 0 {
		os.Exit(1)
	}
}
