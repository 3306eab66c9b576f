package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/index"
)

// A writing command that is killed at any moment loses nothing: the project opens in its old or its
// new state, and the command, run again, ends as if it had not been killed. "make soak" kills each 20
// times.
func TestCommandsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	t.Parallel()
	kills := 2
	if os.Getenv("GAZEHOUND_SOAK") != "" {
		kills = 20
	}
	data, flags, town, _ := servedTown(t)
	if out, err := program(append([]string{"crawl", "--quiet", "--max-pages", "200", "--warc", filepath.Join(data, "archive")}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.RemoveAll(project{data}.model()); err != nil { // retrain makes another
		t.Fatal(err)
	}
	extract := filepath.Join(t.TempDir(), "again.osm")
	if err := writeFile(extract, town.WriteOSM); err != nil {
		t.Fatal(err)
	}
	host := someHost(t, data)
	crawl := append([]string{"crawl", "--quiet", "--max-pages", "260"}, flags[2:]...)
	for name, c := range map[string]struct {
		args   []string
		asks   [][]string // whose answers are those of before, or of afterwards
		figure *regexp.Regexp
	}{
		"retrain": {[]string{"retrain", "--force"}, [][]string{{"pages"}, {"model", "show"}}, nil},
		"import":  {[]string{"gazetteer", "import", extract, "--quiet"}, [][]string{{"gazetteer", "lookup", "Hauptstraße"}, {"gazetteer", "stats"}}, nil},
		"forget":  {[]string{"forget", host, "--yes"}, [][]string{{"search", "--json"}, {"pages"}}, nil},
		// Only how many pages were visited is the same in each run. It ends with compactions.
		"crawl": {crawl, [][]string{{"report", "--json"}}, regexp.MustCompile(`"pages":\d+`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			copied := func() string {
				dir := filepath.Join(t.TempDir(), "data")
				if err := os.CopyFS(dir, os.DirFS(data)); err != nil {
					t.Fatal(err)
				}
				text := "archive\n"
				if err := os.WriteFile(project{dir}.archives(), []byte(strings.ReplaceAll(text, "archive", filepath.Join(dir, "archive"))), 0o666); err != nil {
					t.Fatal(err)
				}
				return dir
			}
			do := func(dir string) *exec.Cmd { return program(append(c.args, "--data", dir)...) }
			answers := func(dir string) string {
				all := ""
				for _, args := range c.asks {
					var out, complaints bytes.Buffer
					code := run(t.Context(), append(slices.Clone(args), "--data", dir), nil, &out, &complaints)
					answer := out.String()
					if code != exitOK {
						answer = "none" // such as of a model that is not there
					}
					if code == exitInvalidInput {
						t.Errorf("%v: %s", args, complaints.String())
					}
					if c.figure != nil {
						answer = c.figure.FindString(answer)
					}
					all += strings.ReplaceAll(answer, dir, "DIR") + "\n"
				}
				return all
			}
			whole := copied()
			before := answers(whole)
			began := time.Now()
			if out, err := do(whole).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			took := time.Since(began)
			after := answers(whole)
			if before == after {
				t.Fatalf("the command changes nothing: %s", before)
			}
			hit := 0
			for range kills {
				dir := copied()
				cmd := do(dir)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(rand.Float64() * float64(took)))
				cmd.Process.Kill()
				if cmd.Wait() != nil {
					hit++
				}
				// A forgotten page is gone from one store after the other.
				if got := answers(dir); c.figure == nil && name != "forget" && got != before && got != after {
					t.Errorf("after a kill:\n%.1500s\nbefore:\n%.1500s", got, before)
				}
				if out, err := do(dir).CombinedOutput(); err != nil {
					t.Errorf("given again: %v\n%s", err, out)
				}
				if got := answers(dir); got != after {
					t.Errorf("given again:\n%.1500s\nwant\n%.1500s", got, after)
				}
				if name == "forget" {
					for _, place := range searchAll(t, dir, []string{"//" + host}) {
						t.Error(place)
					}
				}
			}
			t.Logf("%d of %d were killed within %v", hit, kills, took)
		})
	}
}

// someHost returns the host of an address of the index.
func someHost(t *testing.T, data string) (host string) {
	t.Helper()
	x, err := index.OpenReadOnly(project{data}.index())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	err = x.Walk(t.Context(), index.Query{}, func(h *index.Hit) error {
		if !strings.Contains(h.Site, "demostadt.example") {
			host = h.Site
		}
		return nil
	})
	if err != nil || host == "" {
		t.Fatalf("no host has an address: %v", err)
	}
	return host
}
