package main

import (
	"strings"
	"testing"

	"gazehound/internal/notices"
)

// Every module of the program has its licence in the notices.
func TestModules(t *testing.T) {
	text, err := notices.Text()
	if err != nil {
		t.Fatal(err)
	}
	all, err := modules()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no modules")
	}
	for name := range all {
		if !strings.Contains(text, "\n"+name+"\n==") && !strings.HasPrefix(text, name+"\n==") {
			t.Errorf("no licence of %s: run \"go generate ./internal/notices\"", name)
		}
	}
}
