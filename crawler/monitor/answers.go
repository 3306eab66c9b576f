package monitor

import (
	"encoding/json"
	"errors"
	"net/http"

	"gazehound/internal/problem"
)

// bad returns the problem of an invalid parameter or member of a body.
func bad(name, given, expected string) error { return problem.Bad(name, given, expected, "") }

// fault answers with an error.
func fault(w http.ResponseWriter, r *http.Request, err error) {
	var p *problem.Problem
	switch {
	case errors.As(err, &p):
	case errors.Is(err, ErrUnknown):
		p = &problem.Problem{Title: err.Error(), Status: http.StatusNotFound}
	default:
		p = &problem.Problem{Title: err.Error(), Status: http.StatusInternalServerError}
	}
	p.Write(w, r)
}

func unauthorized(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	fault(w, r, &problem.Problem{
		Status: http.StatusUnauthorized, Title: "the token is missing or wrong",
		Expected: "Authorization: Bearer TOKEN",
		Hint:     "the token is the content of admin.token_file, or stands in admin.json of the data directory",
	})
}

// answer answers with v as JSON.
func answer(w http.ResponseWriter, r *http.Request, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		fault(w, r, err)
		return
	}
	send(w, http.StatusOK, data)
}

func send(w http.ResponseWriter, status int, data []byte) {
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json")
	}
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(append(data, '\n'))
}
