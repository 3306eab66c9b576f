// Package problem has the error responses of our HTTP servers (RFC 9457).
package problem

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"

	"gazehound/internal/textutil"
)

// A Problem describes what is wrong with a request. It is an error, too, so that packages without
// HTTP can return it.
type Problem struct {
	Type      string `json:"type"`   // set by Write
	Title     string `json:"title"`  // the problem for people, in one line
	Status    int    `json:"status"` // 0: 400
	Detail    string `json:"detail,omitempty"`
	Instance  string `json:"instance,omitempty"` // path of the request; set by Write
	Parameter string `json:"parameter,omitempty"`
	Given     string `json:"given,omitempty"`
	Expected  string `json:"expected,omitempty"`
	Hint      string `json:"hint,omitempty"`

	Retry bool `json:"-"` // it may work in a moment
}

// Error returns the title.
func (p *Problem) Error() string { return p.Title }

// Bad returns the problem of an invalid parameter or member of a body.
func Bad(name, given, expected, hint string) *Problem {
	return &Problem{
		Title:     fmt.Sprintf("%s must be %s, got %.80q", name, expected, given),
		Parameter: name, Given: Clip(given), Expected: expected, Hint: hint,
	}
}

// Clip keeps what is quoted of a request short, and whole characters.
func Clip(text string) string {
	const most = 200
	if len(text) > most {
		return textutil.ClipBytes(text, most) + "…"
	}
	return text
}

// Write answers with p.
func (p *Problem) Write(w http.ResponseWriter, r *http.Request) {
	said := *p
	said.Status = cmp.Or(p.Status, http.StatusBadRequest)
	said.Type = "about:blank"
	if p.Parameter != "" {
		said.Type = "urn:gazehound:problem:bad-parameter"
	}
	said.Instance = Clip(r.URL.Path)
	h := w.Header()
	h.Del("ETag")
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.Retry {
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(said.Status)
	if r.Method == http.MethodHead {
		return
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.Encode(said) // the client may have gone
}
