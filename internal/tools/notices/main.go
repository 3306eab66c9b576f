// Notices writes notices.txt.gz: the licence files of Go and of all modules
// that cmd/gazehound is built from on any system. Run it by "go generate
// ./internal/notices" after a change of go.mod; its test says when.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var licenceFile = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice)`)

func main() {
	err := generate()
	if err != nil {
		log.Fatal(err)
	}
}

func generate() error {
	all, err := modules()
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	all["Go"] = strings.TrimSpace(string(root))
	all["OpenStreetMap's tagging schema and name suggestion index"] = filepath.Join("..", "kind")
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		err := add(&text, name, all[name])
		if err != nil {
			return err
		}
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	z.Write([]byte(text.String())) // a buffer takes everything
	err = z.Close()
	if err != nil {
		return err
	}
	return os.WriteFile("notices.txt.gz", packed.Bytes(), 0o644)
}

// add appends the licence files of a folder under a name.
func add(text *strings.Builder, name, dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := 0
	for _, f := range files {
		if f.IsDir() || !licenceFile.MatchString(f.Name()) || strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "%s\n%s\n\n%s\n\n", name, strings.Repeat("=", len(name)), strings.TrimSpace(string(content)))
		found++
	}
	if found == 0 {
		return fmt.Errorf("%s: no licence in %s", name, dir)
	}
	return nil
}

// modules returns the modules that cmd/gazehound is built from on any system, as
// "path version", with the folder of each. It runs the go command in the module.
func modules() (map[string]string, error) {
	modules := map[string]string{}
	for _, system := range []string{"linux", "darwin", "windows", "freebsd"} {
		list := exec.Command("go", "list", "-deps",
			"-f", "{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "gazehound/cmd/gazehound")
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("list modules for %s: %w", system, err)
		}
		for line := range strings.Lines(string(out)) {
			if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				modules[name] = dir
			}
		}
	}
	return modules, nil
}
