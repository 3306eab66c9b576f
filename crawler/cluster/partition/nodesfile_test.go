package partition

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNodesFile(t *testing.T) {
	good := "- name: general\n- name: west\n  cities:\n    - {name: Los Angeles, state: CA, aliases: [LA]}\n- known:\n    - {name: Los Angeles, state: TX}\n"
	nodes, known, err := ParseNodes(strings.NewReader(good))
	if err != nil || len(nodes) != 2 || nodes[1].Cities[0].Aliases[0] != "LA" || len(known) != 1 {
		t.Errorf("%v, %v, %v", nodes, known, err)
	}
	if nodes, _, err := ParseNodes(strings.NewReader(`[{"name": "a"}, {"name": "b", "cities": [{"name": "X", "population": 5}]}]`)); err != nil || nodes[1].Cities[0].Population != 5 {
		t.Errorf("JSON: %v, %v", nodes, err)
	}
	for text, want := range map[string]string{
		"":                                  "names no node",
		"name: x":                           "not a list",
		"- name: a\n  citys: []":            "citys",
		"- cities: [{name: x}]":             "entry 1: a node needs a name",
		"- {name: a, known: [{name: x}]}":   "entry 1: known cities belong to no node",
		strings.Repeat("#", maxNodesFile+1): "more than",
	} {
		if _, _, err := ParseNodes(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v, want %q", text, err, want)
		}
	}
	if _, _, err := ReadNodes(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
