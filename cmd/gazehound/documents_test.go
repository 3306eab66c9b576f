package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that docs/testing.md and docs/bad-input.md name is there.
func TestTestsOfDocuments(t *testing.T) {
	dirs := map[string]string{"main": "."}
	for name := range arrows {
		dirs[path.Base(name)] = filepath.Join("..", "..", filepath.FromSlash(name))
	}
	declared := map[string]bool{} // package.Test
	for name, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(string(text), -1) {
				declared[name+"."+found[1]] = true
			}
		}
	}
	for _, document := range []string{"testing.md", "bad-input.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", document))
		if err != nil {
			t.Fatal(err)
		}
		named := 0
		for _, line := range strings.Split(string(text), "\n") {
			for _, test := range regexp.MustCompile(`\b[a-z0-9]+\.(?:Test|Fuzz)\w+`).FindAllString(line, -1) {
				if named++; !declared[test] {
					t.Errorf("docs/%s names %s, which does not exist: %.100s", document, test, line)
				}
			}
		}
		if named < 10 {
			t.Errorf("docs/%s names %d tests", document, named)
		}
	}
}
