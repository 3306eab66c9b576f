package api

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"gazehound/index/web"

	"golang.org/x/time/rate"
)

// A Removal is what a visitor asks to have taken out. All of it is a
// stranger's text.
type Removal struct {
	What    string `json:"what"` // page, site or address
	Reason  string `json:"reason,omitempty"`
	Contact string `json:"contact,omitempty"`
}

// Bounds of a removal request, in bytes.
const (
	maxWhat        = 2000
	maxReason      = 8000
	maxContact     = 400
	maxRemovalBody = 32 << 10
)

// Removal requests come one in six seconds at the most, over all clients: the
// one before a proxy looks like all others.
const (
	removalsPerSecond = 1. / 6
	removalBurst      = 20
)

func newRemovalLimit() *rate.Limiter { return rate.NewLimiter(removalsPerSecond, removalBurst) }

// removalPath is where the form of /bot is sent to.
const removalPath = "/bot/removal"

// bot shows who crawls, and takes removal requests.
func (s *server) bot(w http.ResponseWriter, r *http.Request, on route) {
	if _, p := s.parse(r, on); p != nil {
		writeProblem(w, r, p)
		return
	}
	b := web.Bot{Lang: languageOf(r), Region: s.Region, Agent: s.Agent, Contact: s.Contact, Form: s.Remove != nil, What: r.URL.Query().Get("what")}
	status := http.StatusOK
	if r.Method == http.MethodPost {
		status = s.takeRemoval(w, r, &b)
	}
	var body strings.Builder
	if err := web.RenderBot(&body, b); err != nil {
		s.Log.Error("api: bot page", "error", err)
		writeProblem(w, r, &Problem{Title: "the server could not answer", Status: http.StatusInternalServerError})
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Add("Vary", "Accept-Language")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		io.WriteString(w, body.String())
	}
}

// takeRemoval stores a request and returns the status of the answer.
func (s *server) takeRemoval(w http.ResponseWriter, r *http.Request, b *web.Bot) int {
	refuse := func(status int, why string) int {
		b.Problem = texts[b.Lang].say(why)
		return status
	}
	if !sameOrigin(r) {
		return refuse(http.StatusForbidden, "removal_elsewhere")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxRemovalBody)
	if err := r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return refuse(http.StatusRequestEntityTooLarge, "removal_long")
		}
		return refuse(http.StatusBadRequest, "removal_unread")
	}
	ask := Removal{What: strings.TrimSpace(r.PostForm.Get("what")), Reason: strings.TrimSpace(r.PostForm.Get("reason")), Contact: strings.TrimSpace(r.PostForm.Get("contact"))}
	for _, text := range []string{ask.What, ask.Reason, ask.Contact} {
		if !utf8.ValidString(text) {
			return refuse(http.StatusBadRequest, "removal_utf8")
		}
	}
	b.What, b.Reason, b.From = ask.What, ask.Reason, ask.Contact
	switch {
	case ask.What == "":
		return refuse(http.StatusBadRequest, "removal_empty")
	case len(ask.What) > maxWhat, len(ask.Reason) > maxReason, len(ask.Contact) > maxContact:
		return refuse(http.StatusBadRequest, "removal_field")
	case !s.removals.Allow():
		w.Header().Set("Retry-After", "60")
		return refuse(http.StatusTooManyRequests, "removal_many")
	}
	number, err := s.Remove(ask)
	if err != nil {
		s.Log.Error("api: removal request", "error", err)
		return refuse(http.StatusServiceUnavailable, "removal_failed")
	}
	s.Log.Warn("api: a removal request waits", "number", number)
	b.Number = number
	return http.StatusAccepted
}

// sameOrigin tells whether a form was sent from our own page, or by a program.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin" || site == "none"
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host
}
