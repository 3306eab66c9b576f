package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Without a network, or without npm, the build ends with a sentence that says so, and what was built
// before stays.
func TestBuildWithoutNetwork(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "index", "web", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	built := filepath.Join(folder, "dist", "app.js")
	if err := os.MkdirAll(filepath.Dir(built), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(built, []byte("built before"), 0o644); err != nil {
		t.Fatal(err)
	}
	fails := func(when, says string) {
		t.Helper()
		if err := build(folder); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "plain map") {
			t.Errorf("%s: %v, want %q", when, err, says)
		}
		if text, err := os.ReadFile(built); err != nil || string(text) != "built before" {
			t.Errorf("%s: dist has changed: %q, %v", when, text, err)
		}
	}
	if _, err := exec.LookPath("npm"); err == nil && !testing.Short() {
		t.Setenv("npm_config_registry", "http://127.0.0.1:1") // nobody listens there
		t.Setenv("npm_config_cache", t.TempDir())
		fails("without a network", "npm cannot fetch Leaflet")
	}
	t.Setenv("PATH", t.TempDir())
	fails("without npm", "npm is not there")
	if err := build(t.TempDir()); err == nil || !strings.Contains(err.Error(), "package-lock.json") {
		t.Errorf("elsewhere: %v", err)
	}
}
