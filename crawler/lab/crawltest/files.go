package crawltest

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Fixture returns the text of a file in testdata at the top of the repository,
// such as "webs/town.txtar". It panics where there is none.
func Fixture(name string) string {
	dir, err := os.Getwd()
	if err != nil {
		panic(fmt.Sprintf("crawltest: %v", err))
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			panic("crawltest: no go.mod above the test's folder")
		}
		dir = filepath.Dir(dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, "testdata", filepath.FromSlash(name)))
	if err != nil {
		panic(fmt.Sprintf("crawltest: %v", err))
	}
	return string(text)
}

// ReadGzip returns what is in a gzip file, all of its members.
func ReadGzip(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
