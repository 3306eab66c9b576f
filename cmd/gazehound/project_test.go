package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A data directory that was copied or moved has its own archives, not those of the original.
func TestArchivesMoveWithTheData(t *testing.T) {
	root := t.TempDir()
	original, outside := project{filepath.Join(root, "original")}, filepath.Join(root, "elsewhere")
	if err := os.Mkdir(original.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(original.dir, "warc"), outside, filepath.Join(original.dir, "warc", "."), outside} {
		if err := original.addArchive(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(original.dir, filepath.Join(root, "moved")); err != nil {
		t.Fatal(err)
	}
	moved := project{filepath.Join(root, "moved")}
	got, err := moved.archiveFolders()
	want := []string{filepath.Join(moved.dir, "warc"), outside}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("archives %q, %v; want %q", got, err, want)
	}
	t.Chdir(root)
	if err := (project{"moved"}).addArchive(filepath.Join("moved", "warc")); err != nil {
		t.Fatal(err)
	}
	if got, err = moved.archiveFolders(); err != nil || !slices.Equal(got, want) {
		t.Errorf("archives %q, %v after it was named once more; want %q", got, err, want)
	}
}
