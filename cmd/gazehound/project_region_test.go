package main

import (
	"os"
	"testing"
)

// A folder that is called like the region, as a project's often is, is no file of it.
func TestRegionFile(t *testing.T) {
	t.Chdir(t.TempDir())
	err := os.Mkdir("Musterstadt", 0o755)
	if err != nil {
		t.Fatal(err)
	}
	r, err := regionFile("Musterstadt")
	if r != nil || err != nil {
		t.Errorf("a folder: %v, %v", r, err)
	}
	_, err = regionFile("nowhere.geojson")
	if err == nil {
		t.Error("a file that is missing: no error")
	}
}
