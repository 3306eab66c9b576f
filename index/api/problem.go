package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

// A Problem is an answer that says what is wrong (RFC 9457). Its Status is 400
// where none is given.
type Problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail,omitempty"`
	Instance  string `json:"instance,omitempty"` // path of the request
	Parameter string `json:"parameter,omitempty"`
	Given     string `json:"given,omitempty"`
	Expected  string `json:"expected,omitempty"`
	Hint      string `json:"hint,omitempty"`

	retry bool // it may work in a moment
}

// sentence says what is wrong, and with what, in one or two sentences.
func (p *Problem) sentence() string {
	if p.Parameter != "" && !strings.Contains(p.Detail, p.Parameter) {
		return p.Parameter + ": " + cmp.Or(p.Detail, p.Title+".")
	}
	return cmp.Or(p.Detail, p.Title+".")
}

// writeProblem answers with p.
func writeProblem(w http.ResponseWriter, r *http.Request, p *Problem) {
	p.Status = cmp.Or(p.Status, http.StatusBadRequest)
	if p.Type = "about:blank"; p.Parameter != "" {
		p.Type = "urn:gazehound:problem:bad-parameter"
	}
	p.Instance = clip(r.URL.Path)
	h := w.Header()
	h.Del("ETag")
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.retry {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(p.Status)
	if r.Method == http.MethodHead {
		return
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.Encode(p) // a reader who has gone does not miss it
}

// didYouMean returns `Did you mean x?` for the nearest of names, or "".
func (t words) didYouMean(given string, names []string) string {
	best, least := "", 1+len(given)/3
	for _, name := range names {
		if d := distance(given, name, least); d <= least && (best == "" || d < least) {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return t.say("mean", best)
}

// distance counts insertions, deletions and replacements of bytes, and gives
// up with most + 1 where the lengths alone differ by more than most.
func distance(a, b string, most int) int {
	if d := len(a) - len(b); d > most || -d > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before := row[0] // row[j-1] of the line above
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			before, row[j] = row[j], min(row[j]+1, row[j-1]+1, before+cost)
		}
	}
	return row[len(b)]
}
