package api

import (
	"cmp"
	"net/http"
	"strings"

	"gazehound/internal/problem"
	"gazehound/internal/textutil"
)

// A Problem is an answer that says what is wrong (RFC 9457).
type Problem = problem.Problem

// sentence says what is wrong, and with what, in one or two sentences.
func sentence(p *Problem) string {
	if p.Parameter != "" && !strings.Contains(p.Detail, p.Parameter) {
		return p.Parameter + ": " + cmp.Or(p.Detail, p.Title+".")
	}
	return cmp.Or(p.Detail, p.Title+".")
}

// didYouMean returns `Did you mean x?` for the nearest of names, or "".
func (t words) didYouMean(given string, names []string) string {
	best := textutil.Nearest(given, names)
	if best == "" {
		return ""
	}
	return t.say("mean", best)
}

// writeProblem answers with p.
func writeProblem(w http.ResponseWriter, r *http.Request, p *Problem) { p.Write(w, r) }
