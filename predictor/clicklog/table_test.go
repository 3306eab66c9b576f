package clicklog

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gazehound/internal/disk"
)

// A table with a changed bit, or cut short anywhere, is refused.
func TestTableDamaged(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, tableName)
	var pages disk.Sorter
	defer pages.Close()
	for _, url := range []string{"http://a.example/", "http://b.example/"} {
		if err := addPage(&pages, Page{url, 7, 2, 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := writeTable(name, &pages); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if table, err := Load(dir); err != nil || table.Len() != 2 {
		t.Fatalf("%v, %v", table, err)
	}
	try := func(what string, at int, bad []byte) {
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil {
			t.Errorf("%s at %d: %q is taken", what, at, bad)
		}
	}
	for at := range text {
		bad := slices.Clone(text)
		bad[at] ^= 1
		try("bit flipped", at, bad)
		try("cut", at, text[:at])
	}
}
