package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/weburl"
	"gazehound/predictor"

	"github.com/spf13/cobra"
)

func newExplainCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain URL",
		Short: "Say why a link has its priority, or what became of a page",
		Long: `Says what the crawl knows about a URL.

For a link that waits: the path from the last relevant page, the parts that add up
to its priority, its rank in the queue, and where a predictor has a say the terms
of the link with their log-odds, which add up to what was predicted. All of
it is of the model that was saved last and the strategy of the configuration;
the priority that the link was queued with may be older.

For a page that was visited: the outcome, its addresses in the region, and which
links its verdict taught the model as examples of the depths 1 to 3.

For any other URL: why it is left out, as far as that is known.

Exit status: 0 known, 4 never seen or damaged model, 5 a crawl is running, 10 no
crawl.`,
		Example: `  gazehound explain https://www.oldenburg.example/branchen
  gazehound explain www.oldenburg.example/branchen --json | jq .depths[0].terms`,
		Args: exactly(1, "explain wants one URL, got %d arguments"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.explain(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	strategyFlags(f)
	return cmd
}

// explain says what the crawl knows about one URL.
func (a *app) explain(ctx context.Context, text string) error {
	u, problem := a.parseSeed("explain", text)
	if problem != "" {
		return fail(exitUsage, "explain: %s", problem)
	}
	return a.readCrawl(func(p project, cfg *Config, f *frontier.Frontier) error { return a.explainURL(ctx, p, cfg, f, u) })
}

func (a *app) explainURL(ctx context.Context, p project, cfg *Config, f *frontier.Frontier, u weburl.URL) error {
	model, err := predictor.Load(p.model(), modelOptions(cfg))
	if errors.Is(err, fs.ErrNotExist) {
		model, err = predictor.NewModel(modelOptions(cfg))
	}
	if err != nil {
		return fail(exitInvalidInput, "%w", err)
	}
	strategy, err := a.newOrder(p, cfg, model, nil)
	if err != nil {
		return err
	}
	scope, err := newScope(cfg, crawlOptions{replay: []string{""}}) // what is out of reach without a contact is another matter
	if err == nil {
		_, err = scope.Restore(f)
	}
	if err != nil {
		return err
	}
	n, known, err := f.Get(frontier.KeyOf(u))
	if err != nil {
		return err
	}
	if !known {
		return a.explainUnknown(f, u, scope.Check(u))
	}
	traps := trap.New()
	learned := crawler.Learned{Tree: f, Model: model, Strategy: strategy, Traps: traps}
	if err := learned.Restore(ctx); err != nil {
		return err
	}
	x, err := learned.Explain(n)
	if err != nil {
		return err
	}
	x.Scope = scope.Check(n.URL)
	if x.Queued != nil {
		x.Strategy = cfg.Crawl.Strategy
		if x.Rank, err = f.RankOf(ctx, &n); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(x)
	}
	writeLink(a.stdout, x)
	if x.Queued != nil {
		writeQueued(a.stdout, x, cfg, a.verbose > 0)
	} else {
		writeVisited(a.stdout, x.Visited)
	}
	return nil
}

const clock = "2006-01-02 15:04:05"

// writeLink prints what is the same for links and pages.
func writeLink(w io.Writer, x crawler.LinkReport) {
	fmt.Fprintln(w, oneLine(x.URL))
	if x.Queued != nil {
		fmt.Fprintf(w, "queued    %s with priority %.3f, not downloaded yet\n", x.Found.Local().Format(clock), x.Priority)
	}
	if x.Retries > 0 {
		fmt.Fprintf(w, "tries     %d failed\n", x.Retries)
	}
	if x.Scope != "" {
		fmt.Fprintf(w, "left out  %s\n", scopeWords(x.Scope))
	}
	if x.Demoted != "" {
		fmt.Fprintf(w, "demoted   × %v: %s\n", x.Factor, oneLine(x.Demoted))
	}
	for _, parameter := range x.Dust {
		fmt.Fprintf(w, "dust      %s: demoted once the page was read\n", oneLine(parameter))
	}
	if x.Check != nil {
		fmt.Fprintf(w, "fetched   %s\n", checkWords(x.Check))
	}
	if x.Depth == 0 {
		fmt.Fprintln(w, "seed      the crawl was told to start here")
		return
	}
	fmt.Fprintf(w, "link      %s\n", linkWords(x.Link))
	for i, step := range x.Path[:len(x.Path)-1] {
		label := "path"
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(w, "%-9s %s  %s\n", label, oneLine(step.URL), stepWords(step))
	}
	fmt.Fprintf(w, "distance  %d since the last relevant page or seed, %d from a seed\n", x.Distance, x.Depth)
}

// checkWords says when a page was fetched.
func checkWords(c *crawler.CheckReport) string {
	text := fmt.Sprintf("last on %s, due again on %s", c.Fetched.Format(time.DateOnly), c.Due.Format(time.DateOnly))
	if c.Times > 0 {
		text += fmt.Sprintf(", changed %d of %d times", c.Changes, c.Times)
	}
	if !c.Gone.IsZero() {
		text += ", gone since " + c.Gone.Format(time.DateOnly)
	}
	return text
}

// linkWords describes the words of a link.
func linkWords(l crawler.LinkWords) string {
	text := fmt.Sprintf("%q", l.Anchor)
	if l.Anchor == "" {
		text = "without words"
	}
	if l.Title != "" {
		text += fmt.Sprintf(", title %q", l.Title)
	}
	if l.Around != "" {
		text += fmt.Sprintf(", near %q", l.Around)
	}
	if l.Switch {
		text += ", from another site"
	}
	return text
}

// stepWords says what a page on the path is.
func stepWords(s crawler.PathStep) string {
	kind := "(not judged)"
	switch {
	case s.Relevant != nil && *s.Relevant:
		kind = "(relevant)"
	case s.Relevant != nil:
		kind = "(not relevant)"
	}
	if s.Seed {
		return "seed " + kind
	}
	return kind
}

// maxTermLines is how many terms of a depth are printed without -v.
const maxTermLines = 8

// writeQueued prints how the priority of a link comes about; all: with all terms.
func writeQueued(w io.Writer, x crawler.LinkReport, cfg *Config, all bool) {
	fmt.Fprintf(w, "priority  %.3f today, by strategy %s\n", x.Now, x.Strategy)
	for _, part := range x.Parts {
		fmt.Fprintf(w, "  %6.3f  %s\n", part.Value, oneLine(part.Name))
	}
	if r := x.Rank; r != nil {
		fmt.Fprintf(w, "rank      %d of %d that wait; level by level it would be %d\n", r.Place, r.Queued, r.BreadthFirst)
	}
	if !x.Kept {
		fmt.Fprintf(w, "          such a link is dropped; this one is in the queue from another strategy and comes last\n")
	}
	if t := x.Trend; t != nil {
		fmt.Fprintf(w, "content   %.3f, weight %v × %v", t.Content, cfg.Crawl.Alpha, cfg.Crawl.Emphasis)
		if t.Okapi != nil {
			fmt.Fprintf(w, "; Okapi of the link's words %.3f, %d links since a relevant page", *t.Okapi, x.Distance)
		}
		fmt.Fprintf(w, "\nstay      %.3f, weight %v: how long people stay, by the access logs\n", t.Stay, cfg.Crawl.Beta)
	}
	if v := x.Value; v != nil {
		fmt.Fprintf(w, "value     log-odds %+.2f of a relevant page, or of one that leads on to some\n", v.LogOdds)
		writeTerms(w, v.Terms, all)
	}
	if len(x.Depths) == 0 {
		return
	}
	d, how := cfg.Crawl.Decay, "max(P1, %.3g × P2, %.3g × P3)"
	if cfg.Predictor.Combine == predictor.Mean {
		how = fmt.Sprintf("(P1 + %%.3g × P2 + %%.3g × P3) ÷ %.4g", 1+d+d*d)
	}
	fmt.Fprintf(w, "p         %v × "+how+"\n", cfg.Predictor.Weight, d, d*d)
	for _, depth := range x.Depths {
		writeDepth(w, depth, all)
	}
}

func writeDepth(w io.Writer, d order.Depth, all bool) {
	if !d.Trained {
		fmt.Fprintf(w, "depth %d   P = 0, learned too little so far: %d links to relevant pages, %d to others\n", d.Depth, d.Relevant, d.Other)
		return
	}
	fmt.Fprintf(w, "depth %d   P = %.3f, log-odds %+.2f; learned so far: %d links to relevant pages, %d to others\n", d.Depth, d.Probability, d.LogOdds, d.Relevant, d.Other)
	fmt.Fprintf(w, "  %s  before any term\n", logOdds(d.Prior))
	writeTerms(w, d.Terms, all)
}

// writeTerms prints those that tell most, or all.
func writeTerms(w io.Writer, terms []predictor.TermWeight, all bool) {
	rest := 0.0
	for i, t := range terms {
		if i >= maxTermLines && !all {
			rest += t.LogOdds
			continue
		}
		fmt.Fprintln(w, weightLine(t))
	}
	if more := len(terms) - maxTermLines; more > 0 && !all {
		fmt.Fprintf(w, "  %s  %d more terms (-v shows them)\n", logOdds(rest), more)
	}
}

// maxAddressLines is how many addresses of a page are printed.
const maxAddressLines = 20

// writeVisited prints what became of a page.
func writeVisited(w io.Writer, v *crawler.Visited) {
	what := v.Kind
	if v.Reason != "" {
		what += ", " + v.Reason
	}
	if v.Status > 0 {
		what += fmt.Sprintf(", HTTP %d", v.Status)
	}
	fmt.Fprintf(w, "visit     %d, %s: %s, %d bytes\n", v.Number, v.At.Local().Format(clock), oneLine(what), v.Bytes)
	if len(v.Dropped) > 0 {
		fmt.Fprintf(w, "dropped   links of this page: %s\n", byReason(v.Dropped))
	}
	if v.Kind != "page" {
		return
	}
	verdict := "not relevant"
	if v.Relevant {
		verdict = "relevant"
	}
	fmt.Fprintf(w, "verdict   %s, score %.3f, %s in the region\n", verdict, v.Score, several(len(v.Addresses), "address"))
	if v.Evidence != "" {
		fmt.Fprintf(w, "evidence  %s\n", oneLine(v.Evidence))
	}
	if v.SiteWide {
		fmt.Fprintln(w, "          site-wide: most pages of the host state what this one does, as in a footer")
	}
	for i, key := range v.Addresses {
		if i == maxAddressLines {
			fmt.Fprintf(w, "            … %d more (--json has them)\n", len(v.Addresses)-i)
			break
		}
		fmt.Fprintf(w, "            %s\n", oneLine(key))
	}
	if len(v.Taught) == 0 {
		fmt.Fprintln(w, "taught    nothing: no link led to this seed")
		return
	}
	fmt.Fprintf(w, "taught    as links that lead to a page that is %s (P of today's model)\n", verdict)
	for _, l := range v.Taught {
		fmt.Fprintf(w, "  depth %d   P = %.3f  %q  %s\n", l.Depth, l.Probability, l.Anchor, oneLine(l.URL))
	}
}

// scopeWords says what a reason of the scope test means.
func scopeWords(reason string) string {
	switch reason {
	case "excluded":
		return "a pattern of crawl.exclude matches it"
	case "not_included":
		return "no pattern of crawl.include matches it"
	case crawler.ReasonSkippedHost:
		return "the hosts section says skip"
	case crawler.ReasonOrdered:
		return "an order of \"ctl exclude\" says so"
	}
	return reason
}

// explainUnknown fails with what can be said of a URL that was never queued.
func (a *app) explainUnknown(f *frontier.Frontier, u weburl.URL, scope string) error {
	near, err := f.Near(u)
	if err != nil {
		return err
	}
	dropped := f.Totals().Dropped
	if a.json {
		if err := a.printJSON(struct {
			Type    string           `json:"type"`
			URL     string           `json:"url"`
			State   string           `json:"state"`
			Scope   string           `json:"left_out,omitzero"`
			Near    []string         `json:"near"`
			Dropped map[string]int64 `json:"dropped_by_crawl"`
		}{"explain", u.String(), "never_seen", scope, near, dropped}); err != nil {
			return err
		}
	}
	why := "No visited page links to it"
	switch {
	case scope != "":
		why = "It is left out: " + scopeWords(scope)
	case len(dropped) > 0:
		why += ", or the link was dropped (of all links: " + byReason(dropped) + ")"
	}
	if len(near) > 0 {
		why += "; nearest known: " + strings.Join(near, ", ")
	}
	return fail(exitInvalidInput, "%s was never seen. %s", u, why)
}
