package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"gazehound/internal/textutil"
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
	best := textutil.Nearest(given, names)
	if best == "" {
		return ""
	}
	return t.say("mean", best)
}
