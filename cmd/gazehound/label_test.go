package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/index"
	"gazehound/internal/corrections"
	"gazehound/predictor"
)

func mustParse(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// inTree returns what the crawl tree of dir says of a URL, and what its model
// has learned at depth 1.
func inTree(t *testing.T, dir, raw string) (n frontier.Node, links predictor.DepthStats) {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Dir: project{dir}.frontier(), Memory: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, _, err = f.Get(frontier.KeyOf(mustParse(t, raw)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := predictor.Load(project{dir}.model(), predictor.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return n, m.Stats().Depths[0]
}

// TestLabel labels a page that was judged not relevant: it changes class once, however often it is
// labelled, also in the tree that retrain reads.
func TestLabel(t *testing.T) {
	t.Parallel()
	dir := explainProject(t)
	const bridge = "http://www.seed.example/bridge"
	label := func(args ...string) (c labelCount) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(context.Background(), append([]string{"label", "--data", dir, "--json"}, args...), strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("label %q: exit %d: %s", args, code, errs.String())
		}
		if err := json.Unmarshal(out.Bytes(), &c); err != nil {
			t.Fatalf("label %q: %v: %s", args, err, out.String())
		}
		return c
	}
	_, before := inTree(t, dir, bridge)
	for i, step := range []struct {
		url, word       string
		learned, agrees int
		relevant        int // links to relevant pages, more than before
	}{
		{bridge, "relevant", 1, 0, 1},
		{bridge, "relevant", 0, 1, 1},
		{bridge, "not", 1, 0, 0},
		{bridge, "relevant", 1, 0, 1},
		{"http://www.b.example/kontakt", "not", 0, 0, 1}, // waits
		{"http://elsewhere.example/", "not", 0, 0, 1},
	} {
		c := label(step.url, step.word)
		_, links := inTree(t, dir, bridge)
		if c.Learned != step.learned || c.Agree != step.agrees || c.Learned+c.Agree+c.Kept != 1 {
			t.Errorf("step %d: %+v", i, c)
		}
		if links.Relevant != before.Relevant+step.relevant || links.Relevant+links.Other != before.Relevant+before.Other {
			t.Errorf("step %d: %d links to relevant pages, %d to others; before the labels %d, %d", i, links.Relevant, links.Other, before.Relevant, before.Other)
		}
	}
	n, _ := inTree(t, dir, bridge)
	if !n.Outcome.Relevant || n.Seq != 3 {
		t.Errorf("in the crawl tree: %+v", n.Outcome)
	}
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"retrain", "--data", dir, "--dry-run"}, strings.NewReader(""), &out, &errs); code != 0 || !strings.Contains(out.String(), "(2 relevant)") {
		t.Errorf("retrain does not know the label: exit %d\n%s%s", code, out.String(), errs.String())
	}
	data, err := os.ReadFile(filepath.Join(dir, corrections.FileName))
	if err != nil || strings.Count(string(data), "\n") != 6 {
		t.Errorf("%v: %s", err, data)
	}
}

// What only a rejected page states leaves search and exports at once, and stays out of a revisit and
// of a replay.
func TestRejectedIsNotFound(t *testing.T) {
	t.Parallel()
	dir, flags, _, ledger := servedTown(t)
	archive, soon := filepath.Join(dir, "archive"), filepath.Join(t.TempDir(), "soon.yaml")
	if err := os.WriteFile(soon, []byte("revisit: {first: 1ms, min: 1ms, max: 1ms}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	crawl := append([]string{"crawl", "--quiet", "--max-pages", "150", "--warc", archive, "--config", soon}, flags...)
	gazehound := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), code, errs.String())
		}
		return out.String()
	}
	found := func(dir string) map[string]string { // address → its only page
		t.Helper()
		x, err := index.OpenReadOnly(project{dir}.index())
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		pages := map[string]string{}
		err = x.Walk(t.Context(), index.Filters{}, func(h *index.Hit) error {
			pages[h.ID] = ""
			if h.Mentions == 1 && len(h.Evidence) == 1 {
				pages[h.ID] = h.Evidence[0].URL
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return pages
	}
	gazehound(crawl...)
	before := found(dir)
	rejected := ""
	for _, page := range before {
		rejected = max(rejected, page)
	}
	if rejected == "" {
		t.Fatal("no address stands on one page only")
	}
	check := func(when, dir string) {
		t.Helper()
		after := found(dir)
		for id, page := range before {
			if _, there := after[id]; there && page == rejected {
				t.Errorf("%s: %s of the rejected page is found", when, id)
			}
		}
		if len(after) == 0 || len(after) >= len(before) {
			t.Errorf("%s: %d addresses, before %d", when, len(after), len(before))
		}
		for _, format := range []string{"csv", "geojson", "osm"} {
			if strings.Contains(gazehound("export", format, "--data", dir), rejected) {
				t.Errorf("%s: export %s names the rejected page", when, format)
			}
		}
	}
	gazehound("label", "--data", dir, "--quiet", rejected, "not")
	check("label", dir)
	again := t.TempDir()
	gazehound("replay", "--quiet", "--data", dir, archive, "--into", again)
	check("replay", again)
	gazehound("retrain", "--quiet", "--data", dir)
	check("retrain", dir)
	requests := func() (n int) {
		for _, r := range ledger.Requests() {
			if "http://"+r.Host+r.Path == rejected {
				n++
			}
		}
		return n
	}
	once := requests()
	gazehound(append(crawl, "--revisit")...)
	if requests() == once {
		t.Errorf("%s was not revisited", rejected)
	}
	check("revisit", dir)
}

// A page that was rejected and then confirmed is not in the index before its next visit, which is no
// fault that doctor reports.
func TestDoctorKnowsLabels(t *testing.T) {
	t.Parallel()
	data, flags := townProject(t)
	crawl := append([]string{"crawl", "--quiet", "--max-pages", "60"}, flags...)
	if out, err := program(crawl...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	page := strings.Fields(runText(t, "export", "seeds", "--data", data, "-o", "-", "--quiet"))
	url := page[slices.IndexFunc(page, func(word string) bool { return strings.HasPrefix(word, "http") })]
	runText(t, "label", url, "not", "--data", data)
	runText(t, "label", url, "relevant", "--data", data)
	var out, errs bytes.Buffer
	run(t.Context(), []string{"doctor", "--deep", "--data", data}, strings.NewReader(""), &out, &errs)
	if !strings.Contains(out.String(), "all in the index, but 1 that wait for their next visit after a label") {
		t.Error(out.String())
	}
}
