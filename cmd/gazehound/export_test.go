package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/geoparse"
	"gazehound/index"
)

// lacksPlace reports whether the map lacks a place at an address of the truth: what is there by name
// and no home.
func lacksPlace(p map[string]any) bool {
	names, _ := p["names"].([]any)
	return p["person"] == false && p["housenumber"] != "" && slices.ContainsFunc(names, func(name any) bool {
		return !index.SameName(fmt.Sprint(name), fmt.Sprint(p["mapped"]), "")
	})
}

// If nothing can be exported, the exit code says why, and no file is left behind.
func TestExportRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	x, err := index.Open(filepath.Join(data, "index"))
	if err != nil {
		t.Fatal(err)
	}
	text := "Lange Straße 5, 26122 Oldenburg"
	err = x.Put(t.Context(), index.Document{URL: "https://a.example/", Text: text, Fetched: time.Now(), Addresses: []geoparse.Address{{
		Text: text, End: len([]rune(text)), Street: "Lange Straße", HouseNumber: "5", Postcode: "26122", City: "Oldenburg", Country: "DE", InRegion: true, Confidence: 1,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	export := func(want int, message string, args ...string) {
		t.Helper()
		var out, complaints bytes.Buffer
		code := run(t.Context(), append([]string{"export", "--data", data, "-o", filepath.Join(dir, "out")}, args...), nil, &out, &complaints)
		if code != want || !strings.Contains(complaints.String(), message) {
			t.Errorf("%v: exit %d, want %d with %q: %s", args, code, want, message, complaints.String())
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "out*")); code != 0 && left != nil {
			t.Errorf("%v: left %v", args, left)
		}
	}
	export(exitLocked, "in use by a running crawl", "csv")
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	export(exitInvalidInput, "--only-missing compares with the gazetteer", "osm", "--only-missing")
	export(exitUsage, "no tags to add names to", "csv", "--with-names")
	postcodes := filepath.Join(dir, "XX.txt")
	if err := os.WriteFile(postcodes, []byte("DE\t26122\tOldenburg\tNiedersachsen\tNI\t\t00\tOldenburg\t03403\t53.14\t8.21\t4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, complaints bytes.Buffer
	if code := run(t.Context(), []string{"gazetteer", "import", postcodes, "--data", data}, nil, &out, &complaints); code != 0 {
		t.Fatalf("import: exit %d: %s", code, complaints.String())
	}
	export(exitInvalidInput, "compares with OpenStreetMap", "osm", "--only-missing")
	export(exitUsage, "geojsonseq has", "csv", "--rs")
	export(exitUsage, "street is longer than", "csv", "--street", strings.Repeat("a", 300))
	export(exitOK, "1 address →", "csv")
}

func TestTimeOf(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-11-01": time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), "2026-11-01T12:00:00+01:00": time.Date(2026, 11, 1, 11, 0, 0, 0, time.UTC),
		"7d": now.AddDate(0, 0, -7), "36h": now.Add(-36 * time.Hour), "0d": now,
	} {
		if got, _, ok := index.ReadSince(text, now); !ok || !got.Equal(want) {
			t.Errorf("%s: %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "gestern", "-1d", "7", "1e3d", "d", "2026-13-01", "7w", "999999999999d"} {
		if got, _, ok := index.ReadSince(text, now); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// sameAddresses checks that status and report count as many addresses as the
// index has.
func sameAddresses(t *testing.T, data string) {
	t.Helper()
	counts := map[string]string{}
	for command, count := range map[string]*regexp.Regexp{
		"status": regexp.MustCompile(`"addresses":\s*(\d+)`),
		"report": regexp.MustCompile(`(?m)^distinct addresses\s+(\d+)`),
		"doctor": regexp.MustCompile(`(?m)index\s+(\d+) addresses on`),
	} {
		args := []string{command, "--data", data}
		if command == "status" {
			args = append(args, "--json")
		}
		var out, complaints bytes.Buffer
		run(t.Context(), args, nil, &out, &complaints) // doctor may report other problems
		found := count.FindStringSubmatch(out.String())
		if found == nil {
			t.Fatalf("%s says nothing of addresses: %s%s", command, out.String(), complaints.String())
		}
		counts[command] = found[1]
	}
	if n := counts["status"]; n == "0" || n != counts["report"] || n != counts["doctor"] {
		t.Errorf("addresses: %v", counts)
	}
}
