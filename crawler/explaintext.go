package crawler

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"gazehound/crawler/order"
	"gazehound/internal/textutil"
	"gazehound/predictor"
)

// Weights are the settings that a priority is made with.
type Weights struct {
	Decay                 float64
	Alpha, Beta, Emphasis float64 // of strategy trend
	Weight                float64 // of what the predictor says
	Combine               string  // as of predictor.Options
}

// Write writes the report for people; all: with all terms.
func (x LinkReport) Write(w io.Writer, o Weights, all bool) error {
	b := bufio.NewWriter(w)
	writeLink(b, x)
	if x.Queued != nil {
		writeQueued(b, x, o, all)
	} else {
		writeVisited(b, x.Visited)
	}
	return b.Flush()
}

// writeLink prints what is the same for links and pages.
func writeLink(w io.Writer, x LinkReport) {
	fmt.Fprintln(w, textutil.OneLine(x.URL))
	if x.Queued != nil {
		fmt.Fprintf(w, "queued    %s with priority %.3f, not downloaded yet\n", x.Found.Local().Format(time.DateTime), x.Priority)
	}
	if x.Retries > 0 {
		fmt.Fprintf(w, "tries     %d failed\n", x.Retries)
	}
	if x.Scope != "" {
		fmt.Fprintf(w, "left out  %s\n", ReasonInWords(x.Scope))
	}
	if x.Demoted != "" {
		fmt.Fprintf(w, "demoted   × %v: %s\n", x.Factor, textutil.OneLine(x.Demoted))
	}
	for _, parameter := range x.Dust {
		fmt.Fprintf(w, "dust      %s: demoted once the page was read\n", textutil.OneLine(parameter))
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
		fmt.Fprintf(w, "%-9s %s  %s\n", label, textutil.OneLine(step.URL), stepWords(step))
	}
	fmt.Fprintf(w, "distance  %d since the last relevant page or seed, %d from a seed\n", x.Distance, x.Depth)
}

// checkWords says when a page was fetched.
func checkWords(c *CheckReport) string {
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
func linkWords(l LinkWords) string {
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
func stepWords(s PathStep) string {
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
func writeQueued(w io.Writer, x LinkReport, o Weights, all bool) {
	fmt.Fprintf(w, "priority  %.3f today, by strategy %s\n", x.Now, x.Strategy)
	for _, part := range x.Parts {
		fmt.Fprintf(w, "  %6.3f  %s\n", part.Value, textutil.OneLine(part.Name))
	}
	if r := x.Rank; r != nil {
		fmt.Fprintf(w, "rank      %d of %d that wait; level by level it would be %d\n", r.Place, r.Queued, r.BreadthFirst)
	}
	if !x.Kept {
		fmt.Fprintf(w, "          such a link is dropped; this one is in the queue from another strategy and comes last\n")
	}
	if t := x.Trend; t != nil {
		fmt.Fprintf(w, "content   %.3f, weight %v × %v", t.Content, o.Alpha, o.Emphasis)
		if t.Okapi != nil {
			fmt.Fprintf(w, "; Okapi of the link's words %.3f, %d links since a relevant page", *t.Okapi, x.Distance)
		}
		fmt.Fprintf(w, "\nstay      %.3f, weight %v: how long people stay, by the access logs\n", t.Stay, o.Beta)
	}
	if v := x.Value; v != nil {
		fmt.Fprintf(w, "value     log-odds %+.2f of a relevant page, or of one that leads on to some\n", v.LogOdds)
		writeTerms(w, v.Terms, all)
	}
	if len(x.Depths) == 0 {
		return
	}
	d, how := o.Decay, "max(P1, %.3g × P2, %.3g × P3)"
	if o.Combine == predictor.Mean {
		how = fmt.Sprintf("(P1 + %%.3g × P2 + %%.3g × P3) ÷ %.4g", 1+d+d*d)
	}
	fmt.Fprintf(w, "p         %v × "+how+"\n", o.Weight, d, d*d)
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
	fmt.Fprintf(w, "  %s  before any term\n", predictor.FormatLogOdds(d.Prior))
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
		fmt.Fprintln(w, t)
	}
	if more := len(terms) - maxTermLines; more > 0 && !all {
		fmt.Fprintf(w, "  %s  %d more terms (-v shows them)\n", predictor.FormatLogOdds(rest), more)
	}
}

// maxAddressLines is how many addresses of a page are printed.
const maxAddressLines = 20

// writeVisited prints what became of a page.
func writeVisited(w io.Writer, v *Visited) {
	what := v.Kind
	if v.Reason != "" {
		what += ", " + v.Reason
	}
	if v.Status > 0 {
		what += fmt.Sprintf(", HTTP %d", v.Status)
	}
	fmt.Fprintf(w, "visit     %d, %s: %s, %d bytes\n", v.Number, v.At.Local().Format(time.DateTime), textutil.OneLine(what), v.Bytes)
	if len(v.Dropped) > 0 {
		fmt.Fprintf(w, "dropped   links of this page: %s\n", textutil.Reasons(v.Dropped))
	}
	if v.Kind != "page" {
		return
	}
	verdict := "not relevant"
	if v.Relevant {
		verdict = "relevant"
	}
	fmt.Fprintf(w, "verdict   %s, score %.3f, %s in the region\n", verdict, v.Score, textutil.Several(len(v.Addresses), "address"))
	if v.Evidence != "" {
		fmt.Fprintf(w, "evidence  %s\n", textutil.OneLine(v.Evidence))
	}
	if v.SiteWide {
		fmt.Fprintln(w, "          site-wide: most pages of the host state what this one does, as in a footer")
	}
	for i, key := range v.Addresses {
		if i == maxAddressLines {
			fmt.Fprintf(w, "            … %d more (--json has them)\n", len(v.Addresses)-i)
			break
		}
		fmt.Fprintf(w, "            %s\n", textutil.OneLine(key))
	}
	if len(v.Taught) == 0 {
		fmt.Fprintln(w, "taught    nothing: no link led to this seed")
		return
	}
	fmt.Fprintf(w, "taught    as links that lead to a page that is %s (P of today's model)\n", verdict)
	for _, l := range v.Taught {
		fmt.Fprintf(w, "  depth %d   P = %.3f  %q  %s\n", l.Depth, l.Probability, l.Anchor, textutil.OneLine(l.URL))
	}
}

// ReasonInWords says what a reason of the scope test means.
func ReasonInWords(reason string) string {
	switch reason {
	case "excluded":
		return "a pattern of crawl.exclude matches it"
	case "not_included":
		return "no pattern of crawl.include matches it"
	case ReasonSkippedHost:
		return "the hosts section says skip"
	case ReasonCountry:
		return "its country domain is not one of crawl.country_domains"
	case ReasonOrdered:
		return "an order of \"ctl exclude\" says so"
	}
	return reason
}

// An UnknownReport is what can be said of a URL that was never queued.
type UnknownReport struct {
	Type    string           `json:"type"`
	URL     string           `json:"url"`
	State   string           `json:"state"`
	Scope   string           `json:"left_out,omitzero"`
	Near    []string         `json:"near"`
	Dropped map[string]int64 `json:"dropped_by_crawl"`
}

// String says it in one line.
func (r UnknownReport) String() string {
	why := "No visited page links to it"
	switch {
	case r.Scope != "":
		why = "It is left out: " + ReasonInWords(r.Scope)
	case len(r.Dropped) > 0:
		why += ", or the link was dropped (of all links: " + textutil.Reasons(r.Dropped) + ")"
	}
	if len(r.Near) > 0 {
		why += "; nearest known: " + strings.Join(r.Near, ", ")
	}
	return fmt.Sprintf("%s was never seen. %s", r.URL, why)
}
