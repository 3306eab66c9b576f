package api

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"gazehound/index/texts"
	"gazehound/index/web"
)

// A Removal is a visitor's removal request. All of it is untrusted text.
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

// removalPath is where the form of /bot is sent to.
const removalPath = "/bot/removal"

// bot shows who crawls, and takes removal requests.
func (s *server) bot(w http.ResponseWriter, r *http.Request, _ *params) *Problem {
	b := web.Bot{Lang: languageOf(r), Region: s.Region, Agent: s.Agent, Contact: s.Contact, Form: s.Remove != nil,
		What: r.URL.Query().Get("what")}
	status := http.StatusOK
	if r.Method == http.MethodPost {
		status = s.takeRemoval(w, r, &b)
	}
	var body bytes.Buffer
	if err := web.RenderBot(&body, b); err != nil {
		return s.broken("bot page", err)
	}
	w.WriteHeader(status)
	writeBody(w, r, body.Bytes())
	return nil
}

// takeRemoval stores a request and returns the status of the answer.
func (s *server) takeRemoval(w http.ResponseWriter, r *http.Request, b *web.Bot) int {
	refuse := func(status int, why string, values ...any) int {
		b.Problem = texts.Of("api", b.Lang).Say("removal_"+why, values...)
		return status
	}
	if !sameOrigin(r) {
		return refuse(http.StatusForbidden, "elsewhere")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxRemovalBody)
	err := r.ParseForm()
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return refuse(http.StatusRequestEntityTooLarge, "long")
		}
		return refuse(http.StatusBadRequest, "unread")
	}
	field := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	removal := Removal{What: field("what"), Reason: field("reason"), Contact: field("contact")}
	if !utf8.ValidString(removal.What + removal.Reason + removal.Contact) {
		return refuse(http.StatusBadRequest, "utf8")
	}
	b.What, b.Reason, b.From = removal.What, removal.Reason, removal.Contact
	switch {
	case removal.What == "":
		return refuse(http.StatusBadRequest, "empty")
	case len(removal.What) > maxWhat, len(removal.Reason) > maxReason, len(removal.Contact) > maxContact:
		return refuse(http.StatusBadRequest, "field", maxWhat, maxReason, maxContact)
	case !s.clients.of(r).forms.Allow() || !s.clients.forms.Allow():
		w.Header().Set("Retry-After", "600")
		return refuse(http.StatusTooManyRequests, "many")
	}
	number, err := s.Remove(removal)
	if err != nil {
		s.Log.Error("api: removal request", "error", err)
		return refuse(http.StatusServiceUnavailable, "failed")
	}
	s.Log.Warn("api: a removal request was stored", "number", number)
	b.Number = number
	return http.StatusAccepted
}

// sameOrigin reports whether a form was sent from our own page, or by a program.
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
