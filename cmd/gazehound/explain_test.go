package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
)

// explainProject makes a data directory with a small crawl tree:
//
//	seed (not relevant) → /a (relevant) → /bridge (not relevant) → www.b.example/kontakt (queued)
//
// what it knows of a calendar and of a forum with session ids, and a model that has learned from it and from 40 links more.
func explainProject(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	p := project{dir}
	f, err := frontier.Open(frontier.Options{Dir: p.frontier(), Memory: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	model := predictor.NewModel(predictor.DefaultOptions())
	order := order.Adaptive{Near: order.Nearness{Weight: 1, Decay: 0.5}, Model: model}
	entry := func(raw string, parent *frontier.Entry, distance int, anchor string) frontier.Entry {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		e := frontier.Entry{URL: u, Distance: distance, Anchor: anchor, Found: time.Now()}
		if parent != nil {
			e.Depth, e.Parent, e.Switch = parent.Depth+1, frontier.KeyOf(parent.URL), parent.URL.Site() != u.Site()
		}
		e.Priority, _ = order.Score(&e)
		return e
	}
	seed := entry("http://www.seed.example/", nil, 0, "")
	a := entry("http://www.seed.example/a", &seed, 1, "Betriebe")
	bridge := entry("http://www.seed.example/bridge", &a, 1, "Branchen")
	kontakt := entry("http://www.b.example/kontakt", &bridge, 2, "Kontakt\x1b[31m")
	kontakt.Around = "Tischlerei Harms Nadorster Oldenburg"
	pdf := entry("http://www.b.example/plan.pdf", &bridge, 2, "Plan")
	gone := entry("http://www.b.example/gone", &bridge, 2, "Fort")
	forum := entry("http://forum.example/thema/99?sid=99", &bridge, 2, "Forum")
	calendar := entry("http://cal.example/termine/99", &bridge, 2, "Termine")
	traps := trap.New()
	for i := range 40 {
		for _, raw := range []string{"http://cal.example/termine/%d", "http://forum.example/thema/%[1]d", "http://forum.example/thema/%[1]d?sid=%[1]d"} {
			text := uint64(0)
			if strings.Contains(raw, "forum") {
				text = uint64(i+1) * 0x9E3779B97F4A7C15
			}
			traps.Observe(trap.Page{URL: entry(fmt.Sprintf(raw, i), nil, 0, "").URL, Text: text})
		}
	}

	ctx := t.Context()
	if _, err := f.Push(ctx, seed); err != nil {
		t.Fatal(err)
	}
	for _, visit := range []struct {
		e     frontier.Entry
		o     frontier.Outcome
		found []frontier.Entry
	}{
		{seed, frontier.Outcome{Kind: "page", Status: 200, Bytes: 100}, []frontier.Entry{a}},
		{a, frontier.Outcome{Kind: "page", Status: 200, Relevant: true, Score: 0.9, Addresses: []string{"DE|26121|oldenburg|langestrasse|5"},
			Dropped: map[string]int64{"excluded": 3}}, []frontier.Entry{bridge}},
		{bridge, frontier.Outcome{Kind: "page", Status: 200}, []frontier.Entry{kontakt, pdf, gone, forum, calendar}},
		{gone, frontier.Outcome{Kind: "error", Reason: "http_4xx", Status: 404}, nil},
	} {
		visit.o.At = time.Now()
		if _, err := f.Done(ctx, visit.e, visit.o, visit.found...); err != nil {
			t.Fatal(err)
		}
		trail, err := f.Trail(frontier.KeyOf(visit.e.URL), predictor.MaxDepth)
		if err != nil {
			t.Fatal(err)
		}
		order.Learn(trail, visit.o.Relevant)
	}
	for i := range 40 {
		other := kontakt
		other.Anchor = fmt.Sprintf("Kontakt und Anfahrt %c", 'a'+i)
		order.Learn([]frontier.Node{{Entry: other}, {Entry: bridge}, {Entry: a}}, i%4 != 0)
	}
	if err := errors.Join((&crawler.Learned{Tree: f, Model: model, File: p.model(), Traps: traps}).Save(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// explained runs explain, of the adaptive strategy if no other is named, and
// returns its exit code and what it printed.
func explained(dir string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	if !slices.Contains(args, "--strategy") {
		args = append(args, "--strategy", "adaptive")
	}
	code = run(context.Background(), append([]string{"explain", "--data", dir}, args...), strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestExplainText(t *testing.T) {
	t.Parallel()
	dir := explainProject(t)
	for _, c := range []struct {
		args []string
		want []string // regular expressions
		not  string
	}{
		{[]string{"http://www.b.example/kontakt"}, []string{
			`(?m)^queued    .* not downloaded yet$`,
			`(?m)^link      "Kontakt\\x1b\[31m", near "Tischlerei Harms Nadorster Oldenburg", from another site$`,
			`(?m)^path      http://www\.seed\.example/a  \(relevant\)\n          http://www\.seed\.example/bridge  \(not relevant\)$`,
			`(?m)^distance  2 since the last relevant page or seed, 3 from a seed$`,
			`   0\.250  s = 0\.5\^2, links since a relevant page\n   0\.\d{3}  p × \(1 − s\), with p = 0\.\d{3}`,
			`(?m)^p         1 × \(P1 \+ 0\.5 × P2 \+ 0\.25 × P3\) ÷ 1\.75`,
			`(?m)^depth 1   P = 0\.\d{3}, log-odds \+\d`,
			`(?m)^   [+-]\d\.\d\d  30 relevant / 10 other +anchor  kontakt$`,
			`(?m)^depth 3   P = `,
			`\d more terms \(-v shows them\)`,
		}, "\x1b"},
		{[]string{"http://www.b.example/kontakt", "-v"}, []string{`(?m)  switch  yes$`}, "more terms"},
		{[]string{"http://www.b.example/kontakt", "--strategy", "hard-focused"}, []string{`priority  0\.000 today, by strategy hard-focused`, `such a link is dropped`}, "depth 1"},
		{[]string{"http://www.b.example/kontakt", "--strategy", "lookahead"}, []string{
			`priority  0\.\d{3} today, by strategy lookahead\n   0\.025  s = 0\.1 × 0\.5\^2, links since a relevant page\n   0\.\d{3}  p × \(1 − s\), with p = 0\.\d{3} as the model expects\nrank      1 of 4 that wait; level by level it would be 1\nvalue     log-odds [+-]\d\.\d\d of a relevant page`,
			`(?m)^   -2\.50  prior$`, `(?m)^   [+-]\d\.\d\d  30 relevant / 10 other +anchor  \w+, at depth 1$`,
		}, "depth 1   P"},
		{[]string{"http://www.b.example/kontakt", "--strategy", "link-distance"}, []string{`priority  0\.250 today`, `   0\.250  0\.5\^2`}, "p ×"},
		{[]string{"http://forum.example/thema/99?sid=99"}, []string{`(?m)^dust      "sid" changed nothing in 40 of 40 pairs of pages of forum\.example: parked once the page was read$`}, "demoted   "},
		{[]string{"http://cal.example/termine/99"}, []string{`(?m)^demoted   × 0\.\d+: 39 of the 40 pages like cal\.example/termine/# were nearly the same`}, "dust"},
		{[]string{"http://www.b.example/plan.pdf"}, []string{`left out  a pattern of crawl\.exclude matches it`}, "visit"},
		{[]string{"https://www.seed.example/a"}, []string{
			`(?m)^visit     2, .*: page, HTTP 200`, `verdict   relevant, score 0\.900, 1 address in`, `DE\|26121\|oldenburg\|langestrasse\|5`,
			`dropped   links of this page: excluded 3`, `taught    as links that lead to a page that is relevant`, `(?m)^  depth 1   P = 0\.\d{3}  "Betriebe"  http://www\.seed\.example/a$`,
		}, "depth 2"},
		{[]string{"http://www.seed.example/bridge"}, []string{`a page that is not relevant`, `(?m)^  depth 2   P = .*"Betriebe"  http://www\.seed\.example/a$`}, "depth 3"},
		{[]string{"http://www.seed.example/"}, []string{`seed      the crawl was told to start here`, `taught    nothing: no link led to this seed`}, "link  "},
		{[]string{"http://www.b.example/gone"}, []string{`visit     4, .*: error, http_4xx, HTTP 404`}, "taught"},
	} {
		code, out, errs := explained(dir, c.args...)
		if code != exitOK || strings.Contains(out, c.not) || errs != "" {
			t.Errorf("explain %q: exit code %d, want %q not in %s%s", c.args, code, c.not, out, errs)
		}
		for _, want := range c.want {
			if !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("explain %q: no %q in\n%s", c.args, want, out)
			}
		}
	}
}

// The numbers of --json add up: decayed and boost to the priority, prior and
// terms to the log-odds, those to the probability.
func TestExplainAddsUp(t *testing.T) {
	t.Parallel()
	dir := explainProject(t)
	code, out, errs := explained(dir, "http://www.b.example/kontakt", "--json")
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var x struct {
		Type, State                          string
		Priority, Decayed, Boost, Prediction float64
		Path                                 []struct {
			URL      string
			Relevant *bool
		}
		Depths []struct {
			Trained            bool
			Probability, Prior float64
			LogOdds            float64 `json:"log_odds"`
			Relevant, Other    int
			Terms              []struct {
				Term            string
				LogOdds         float64 `json:"log_odds"`
				Relevant, Other int
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &x); err != nil {
		t.Fatal(err)
	}
	if x.Type != "explain" || x.State != "queued" || len(x.Path) != 3 || x.Path[0].Relevant == nil || !*x.Path[0].Relevant || x.Path[2].Relevant != nil {
		t.Errorf("%s", out)
	}
	if math.Abs(x.Decayed+x.Boost-x.Priority) > 1e-12 || math.Abs(x.Prediction*(1-x.Decayed)-x.Boost) > 1e-12 || x.Decayed != 0.25 || x.Boost <= 0 {
		t.Errorf("decayed %v + boost %v is not %v", x.Decayed, x.Boost, x.Priority)
	}
	mean := 0.0
	for i, d := range x.Depths {
		sum := d.Prior
		for _, w := range d.Terms {
			sum += w.LogOdds
			if w.Relevant > d.Relevant || w.Other > d.Other {
				t.Errorf("depth %d: %+v of %d and %d links", i+1, w, d.Relevant, d.Other)
			}
		}
		if !d.Trained || len(d.Terms) < 5 || math.Abs(sum-d.LogOdds) > 1e-9 || math.Abs(1/(1+math.Exp(-sum))-d.Probability) > 1e-9 {
			t.Errorf("depth %d: terms add up to %v; want %v, P = %v", i+1, sum, d.LogOdds, d.Probability)
		}
		mean += d.Probability * math.Pow(0.5, float64(i)) / 1.75
	}
	if len(x.Depths) != predictor.DefaultDepths || math.Abs(mean-x.Prediction) > 1e-12 {
		t.Errorf("prediction = %v; want %v of %d depths", x.Prediction, mean, len(x.Depths))
	}
}

func TestExplainErrors(t *testing.T) {
	t.Parallel()
	dir := explainProject(t)
	empty := t.TempDir()
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"http://b.example/Kontakt/"}, exitInvalidInput, "was never seen. No visited page links to it, or the link was dropped (of all links: excluded 3); nearest known: http://www.b.example/kontakt"},
		{[]string{"http://www.seed.example/a/b/c?x=1", "--json"}, exitInvalidInput, "nearest known: http://www.seed.example/a, http://www.seed.example/"},
		{[]string{"http://c.example/x.PDF"}, exitInvalidInput, "It is left out: a pattern of crawl.exclude matches it"},
		{[]string{"mailto:a@b.example"}, exitUsage, "mailto is not crawled"},
		{[]string{"no url"}, exitUsage, "is not a URL"},
		{nil, exitUsage, "takes one URL or ID, got 0"},
		{[]string{"http://a.example/", "http://b.example/"}, exitUsage, "takes one URL or ID, got 2"},
		{[]string{"http://a.example/", "--data", empty}, exitNoData, "holds no crawl"},
		{[]string{"http://a.example/", "--data", filepath.Join(empty, "x")}, exitNoData, "no data directory"},
		{[]string{"http://a.example/", "--prioritised"}, exitUsage, "belongs to --strategy limited-distance"},
	} {
		code, out, errs := explained(dir, c.args...)
		if code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("explain %q: exit code %d, %s; want %d and %q", c.args, code, errs, c.code, c.want)
		}
		if lines := strings.Split(strings.TrimSpace(out), "\n"); out != "" && !strings.Contains(lines[len(lines)-1], `"type":"exit_error"`) {
			t.Errorf("explain %q ends with %s", c.args, lines[len(lines)-1])
		}
	}

	f, err := frontier.Open(frontier.Options{Dir: project{dir}.frontier(), Memory: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	code, _, errs := explained(dir, "http://www.seed.example/")
	if code != exitLocked || !strings.Contains(errs, "in use") {
		t.Errorf("while a crawl runs: exit code %d, %s", code, errs)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	// Without a model there is nothing to predict from; a damaged one is said so.
	model := project{dir}.model()
	whole, err := os.ReadFile(model)
	if err == nil {
		err = os.Remove(model)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, out, _ := explained(dir, "http://www.b.example/kontakt"); code != exitOK || !strings.Contains(out, "learned too little so far") {
		t.Errorf("without a model: exit code %d, %s", code, out)
	}
	if err := os.WriteFile(model, whole[:len(whole)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := explained(dir, "http://www.b.example/kontakt"); code != exitInvalidInput || !strings.Contains(errs, "damaged or cut off") {
		t.Errorf("damaged model: exit code %d, %s", code, errs)
	}
}
