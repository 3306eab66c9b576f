package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
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

// TestLabel labels a page that was judged not relevant: it changes sides once,
// however often it is labelled, and the tree that retrain reads says so.
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
	data, err := os.ReadFile(filepath.Join(dir, "labels.tsv"))
	if err != nil || strings.Count(string(data), "\n") != 6 {
		t.Errorf("%v: %s", err, data)
	}
}

type never struct{}

func (never) Judge(context.Context, *page.Page) (geoparse.Verdict, error) {
	return geoparse.Verdict{}, nil
}

// TestLabelledCrawl adds labels to the file of a crawl that runs: to one that
// was visited, one that waits, and a line that is not whole.
func TestLabelledCrawl(t *testing.T) {
	t.Parallel()
	dir := explainProject(t)
	p := project{dir}
	f, err := frontier.Open(frontier.Options{Dir: p.frontier(), Memory: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	model, err := predictor.Load(p.model(), predictor.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	w := &labelled{judge: never{}, f: f, strategy: order.Lookahead{Model: model}, file: p.labels(), warn: t.Logf}
	load := func(want int) {
		t.Helper()
		if learned, err := w.load(t.Context()); learned != want || err != nil {
			t.Errorf("learned %d, %v; want %d", learned, err, want)
		}
	}
	load(0) // there is no file
	bridge, kontakt := mustParse(t, "http://www.seed.example/bridge"), mustParse(t, "http://www.b.example/kontakt")
	if err := appendLabels(p.labels(), []label{{bridge, true}, {kontakt, true}}); err != nil {
		t.Fatal(err)
	}
	load(1)
	load(0)
	if v, err := w.Judge(t.Context(), &page.Page{URL: kontakt}); err != nil || !v.Relevant {
		t.Errorf("the label does not stand above the verdict: %+v, %v", v, err)
	}
	if v, err := w.Judge(t.Context(), &page.Page{URL: mustParse(t, "http://www.b.example/other")}); err != nil || v.Relevant {
		t.Errorf("verdict %+v, %v", v, err)
	}
	file, err := os.OpenFile(p.labels(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	file.WriteString(bridge.String() + "\t0")
	load(0) // not whole yet
	file.WriteString("\n")
	load(1)
	// A page that was judged before its label came.
	if err := appendLabels(p.labels(), []label{{bridge, true}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.news(); err != nil {
		t.Fatal(err)
	}
	v := &crawler.Visit{Entry: frontier.Entry{URL: bridge}, Outcome: frontier.Outcome{Kind: "page"}}
	if err := w.visited(v); err != nil {
		t.Fatal(err)
	}
	if n, _, err := f.Get(frontier.KeyOf(bridge)); err != nil || !n.Outcome.Relevant {
		t.Errorf("%+v, %v", n.Outcome, err)
	}
}

// FuzzParseLabels holds that each label stands in the file, and that what is
// written is read back.
func FuzzParseLabels(f *testing.F) {
	f.Add("http://a.example/\trelevant\nhttp://b.example/\t0\t2026-11-21T10:00:00Z\n# note\n\nnonsense\n")
	f.Add("\ufeffhttp://a.example/ \t NOT \r\n\t1\nftp://x/\t1\n")
	f.Fuzz(func(t *testing.T, text string) {
		bad := 0
		labels := parseLabels([]byte(text), func(int, string) { bad++ })
		if lines := strings.Count(text, "\n") + 1; len(labels)+bad > lines {
			t.Fatalf("%d labels and %d bad lines of %d", len(labels), bad, lines)
		}
		if len(labels) == 0 {
			return
		}
		name := filepath.Join(t.TempDir(), "labels.tsv")
		if err := appendLabels(name, labels); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		again := parseLabels(data, func(n int, line string) { t.Fatalf("line %d is not read back: %q", n, line) })
		if len(again) != len(labels) {
			t.Fatalf("%d labels, read back %d", len(labels), len(again))
		}
		for i := range labels {
			if again[i] != labels[i] {
				t.Fatalf("label %d: %v, read back %v", i, labels[i], again[i])
			}
		}
	})
}
