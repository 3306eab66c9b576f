package config

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the copy of config.yaml that is embedded")

// What is embedded is the config.yaml at the top.
func TestEmbeddedConfig(t *testing.T) {
	top, err := os.ReadFile("../../../config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("defaults.yaml", top, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(top, shipped) {
		t.Error("cmd/gazehound/config/defaults.yaml is not the config.yaml at the top: go test ./cmd/gazehound/config -run EmbeddedConfig -update")
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{"2MB": 2e6, "500 kB": 5e5, "1.5GB": 1.5e9, "17": 17, "0": 0} {
		var s Size
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want {
			t.Errorf("size %q = %d, %v; want %d", text, s, err, want)
		}
	}
	for _, text := range []string{"", "MB", "-1", "1e99GB", "NaN"} {
		var s Size
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("size %q = %d; want an error", text, s)
		}
	}
}
