package monitor

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// A Problem is an answer that says what is wrong (RFC 9457), and the error of
// those functions of Options that want one. Its Status is 400 where none is
// given. Title says all that people need, in one line.
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
}

// Error returns the title.
func (p *Problem) Error() string { return p.Title }

// badValue says that a parameter, or a member of a body, is not what it must be.
func badValue(name, given, expected string) *Problem {
	return &Problem{Title: fmt.Sprintf("%s must be %s, got %.20q", name, expected, given), Parameter: name, Given: clip(given), Expected: expected}
}

// clip keeps what is quoted of a request short, and whole characters.
func clip(text string) string {
	const most = 200
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// refuse answers with p.
func refuse(w http.ResponseWriter, r *http.Request, p *Problem) {
	said := *p
	said.Status = cmp.Or(p.Status, http.StatusBadRequest)
	if said.Type = "about:blank"; p.Parameter != "" {
		said.Type = "urn:gazehound:problem:bad-parameter"
	}
	said.Instance = clip(r.URL.Path)
	data, _ := json.Marshal(said) // texts only
	w.Header().Set("Content-Type", "application/problem+json")
	send(w, said.Status, data)
}

// fault answers with an error.
func fault(w http.ResponseWriter, r *http.Request, err error) {
	var p *Problem
	switch {
	case errors.As(err, &p):
	case errors.Is(err, ErrUnknown):
		p = &Problem{Title: err.Error(), Status: http.StatusNotFound}
	default:
		p = &Problem{Title: err.Error(), Status: http.StatusInternalServerError}
	}
	refuse(w, r, p)
}

func unauthorized(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	refuse(w, r, &Problem{Status: http.StatusUnauthorized, Title: "the token is missing or wrong", Expected: "Authorization: Bearer TOKEN", Hint: "the token is the content of admin.token_file, or stands in admin.json of the data directory"})
}

func answer(w http.ResponseWriter, r *http.Request, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		fault(w, r, err)
		return
	}
	send(w, http.StatusOK, data)
}
