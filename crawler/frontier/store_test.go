package frontier

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	badger "github.com/dgraph-io/badger/v4"
)

// Killed while Badger replaces an empty log, a store has no log: it must not be taken for a lost one.
func TestKilledBetweenEmptyLogs(t *testing.T) {
	dir := t.TempDir()
	f := open(t, Options{Dir: dir})
	if _, err := f.Push(t.Context(), Entry{URL: parse(t, "http://a.example/")}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	log, lock := filepath.Join(dir, "00001.mem"), filepath.Join(dir, lockFile)
	for name, text := range map[string][]byte{log: make([]byte, logHead), lock: []byte("1\n")} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	registry := filepath.Join(dir, badger.KeyRegistryFileName)
	whole, err := os.ReadFile(registry)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(registry, []byte("x"), 0o600); err != nil { // so that Badger does not get far
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: dir}); err == nil {
		t.Fatal("Badger opened a store without a key registry")
	}
	if err := errors.Join(os.WriteFile(registry, whole, 0o600), os.RemoveAll(log)); err != nil {
		t.Fatal(err)
	}
	f = open(t, Options{Dir: dir})
	if n := f.Totals().Queued; n != 1 {
		t.Errorf("%d queued, want 1", n)
	}
}

// A store that was killed in its first run, before it had a table, can be read.
func TestReadFirstRunKilled(t *testing.T) {
	dir := t.TempDir()
	f := open(t, Options{Dir: dir})
	if _, err := f.Push(t.Context(), Entry{URL: parse(t, "http://a.example/")}); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(t.TempDir(), "killed")
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	read, err := Open(Options{Dir: killed, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if n := read.Totals().Queued; n != 1 {
		t.Errorf("%d queued, want 1", n)
	}
}
