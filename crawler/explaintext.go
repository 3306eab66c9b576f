package crawler

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"

	"gazehound/internal/textutil"
	"gazehound/predictor"
)

// Weights are the settings that go into a priority.
type Weights struct {
	Decay                 float64
	Alpha, Beta, Emphasis float64 // of strategy trend
	Weight                float64 // of the prediction
	Combine               string  // as in predictor.Options
}

// Formula describes how the predictions for the depths are combined.
func (o Weights) Formula() string {
	d := o.Decay
	if o.Combine == predictor.Mean {
		return fmt.Sprintf("(P1 + %.3g × P2 + %.3g × P3) ÷ %.4g", d, d*d, 1+d+d*d)
	}
	return fmt.Sprintf("max(P1, %.3g × P2, %.3g × P3)", d, d*d)
}

//go:embed explain.tmpl
var explainSource string

var explainText = template.Must(template.New("explain").Funcs(template.FuncMap{
	"line": textutil.OneLine, "several": textutil.Several[int], "reasons": textutil.Reasons, "inWords": ReasonInWords,
	"logodds": predictor.FormatLogOdds,
	"f3":      func(x float64) string { return fmt.Sprintf("%.3f", x) },
	"local":   textutil.Moment,
	"date":    func(t time.Time) string { return t.Local().Format(time.DateOnly) },
	"judged":  func(relevant bool) bool { return relevant },
}).Parse(explainSource))

// An explanation is a report as the template sees it.
type explanation struct {
	LinkReport
	Weights Weights
	all     bool
}

// Write writes the report for people; all: with all terms.
func (x LinkReport) Write(w io.Writer, o Weights, all bool) error {
	return explainText.Execute(w, explanation{x, o, all})
}

// Before is the path to the link, without the page itself.
func (x explanation) Before() []PathStep { return x.Path[:len(x.Path)-1] }

// maxTermLines is how many terms of a depth are printed without -v.
const maxTermLines = 8

// A fewTerms is what is printed of terms.
type fewTerms struct {
	Shown []predictor.TermWeight
	More  int
	Rest  float64 // log-odds of those that are not shown
}

// Few returns the terms with the greatest weights, or all.
func (x explanation) Few(terms []predictor.TermWeight) fewTerms {
	if x.all || len(terms) <= maxTermLines {
		return fewTerms{Shown: terms}
	}
	few := fewTerms{Shown: terms[:maxTermLines], More: len(terms) - maxTermLines}
	for _, t := range terms[maxTermLines:] {
		few.Rest += t.LogOdds
	}
	return few
}

// Verdict is the verdict in words.
func (v *Visited) Verdict() string {
	if v.Relevant {
		return "relevant"
	}
	return "not relevant"
}

// maxAddressLines is how many addresses of a page are printed.
const maxAddressLines = 20

// Shown are the first addresses of the page, and Hidden counts the others.
func (v *Visited) Shown() []string { return v.Addresses[:min(len(v.Addresses), maxAddressLines)] }
func (v *Visited) Hidden() int     { return max(0, len(v.Addresses)-maxAddressLines) }

// ReasonInWords describes a reason of the scope.
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
	case ReasonPlatform:
		return "it is on a big platform; --platforms or a line in the hosts section lets it in"
	case ReasonOrdered:
		return "an order of \"ctl exclude\" says so"
	}
	return reason
}

// An UnknownReport explains why a URL was never queued.
type UnknownReport struct {
	Type    string           `json:"type"`
	URL     string           `json:"url"`
	State   string           `json:"state"`
	Scope   string           `json:"left_out,omitzero"`
	Near    []string         `json:"near"`
	Dropped map[string]int64 `json:"dropped_by_crawl"`
}

// String returns it in one line.
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
