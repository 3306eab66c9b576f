package crawltest

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
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

// A Snapshotter can save and restore its state.
type Snapshotter interface {
	Snapshot() ([]byte, error)
	Restore([]byte) error
}

// Restores holds the law of a snapshot against data, which may be anything: what can be restored is
// written the same way however often it is restored. fresh makes an empty one. It returns the one
// that was restored last, and false where data is no snapshot.
func Restores[S Snapshotter](t *testing.T, data []byte, fresh func() S) (S, bool) {
	t.Helper()
	once := fresh()
	if once.Restore(data) != nil {
		return once, false
	}
	first, err := once.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	twice := fresh()
	if err := twice.Restore(first); err != nil {
		t.Fatal(err)
	}
	if second, err := twice.Snapshot(); err != nil || string(second) != string(first) {
		t.Errorf("%s, again %s, %v", first, second, err)
	}
	return twice, true
}
