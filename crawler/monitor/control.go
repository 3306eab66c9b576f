package monitor

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"gazehound/internal/problem"
)

// SeedsTaken counts the outcomes of seeds queued in a running crawl.
type SeedsTaken struct {
	Taken   int           `json:"taken"`   // accepted by the crawl, or by the nodes that own them
	New     int           `json:"new"`     // of them, that entered the queue of this node
	Refused []RefusedSeed `json:"refused"` // never null
}

// A RefusedSeed is out of the crawl.
type RefusedSeed struct {
	URL    string `json:"url"`
	Reason string `json:"reason"` // such as "excluded" or "by_order"
}

// Bounds of what is ordered.
const (
	maxBody    = 16 << 10 // bytes
	maxSeeds   = 1 << 20  // bytes of the body that has them
	manySeeds  = 10_000
	maxPattern = 1000           // bytes
	maxHost    = 260            // bytes
	maxDelay   = 24 * time.Hour // as of fetch.delay
)

// control registers everything that changes something.
func (a *Admin) control() {
	for _, c := range []struct {
		name string
		do   func()
	}{{"pause", a.o.Pause}, {"resume", a.o.Resume}, {"stop", a.o.Stop}} {
		a.change("/v1/crawl/"+c.name, maxBody, func(*http.Request) (map[string]any, error) {
			c.do()
			return map[string]any{}, nil
		})
	}
	a.change("/v1/crawl/checkpoint", maxBody, func(*http.Request) (map[string]any, error) {
		return map[string]any{}, a.o.Checkpoint()
	})
	if a.o.Lend != nil {
		a.change("/v1/crawl/lend", maxBody, func(*http.Request) (map[string]any, error) {
			return map[string]any{}, a.o.Lend()
		})
	}
	a.change("/v1/labels", maxBody, a.label)
	a.change("/v1/crawl/seeds", maxSeeds, a.seeds)
	a.change("/v1/crawl/delay", maxBody, a.delay)
	a.change("/v1/crawl/exclude", maxBody, a.exclude)
	a.change("/v1/crawl/release", maxBody, a.release)
	if a.o.Run != nil {
		a.post("/v1/crawl/run", a.o.Owner, maxBody, a.o.Run)
	}
}

// controlHeader is required by everything that changes something: a form of
// another web site cannot send it.
const controlHeader = "X-Gazehound-Control"

// change registers POST at an address, with the token. The answer has the result of do and the name
// of the action.
func (a *Admin) change(address string, most int64, do func(r *http.Request) (map[string]any, error)) {
	a.post(address, a.o.Token, most, func(w http.ResponseWriter, r *http.Request) {
		done, err := do(r)
		if err != nil {
			fault(w, r, err)
			return
		}
		done["type"], done["action"] = "done", path.Base(address)
		answer(w, r, done)
	})
}

// post registers a POST handler that requires a token; most bounds the body in bytes.
func (a *Admin) post(address, token string, most int64, h http.HandlerFunc) {
	a.paths = append(a.paths, "POST "+address)
	a.mux.HandleFunc("POST "+address, guarded(most, h, token))
}

// guarded returns a handler of what changes something. It requires one of tokens; most bounds the body
// in bytes.
func guarded(most int64, h http.HandlerFunc, tokens ...string) http.HandlerFunc {
	same := http.NewCrossOriginProtection()
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case same.Check(r) != nil || r.Header.Get(controlHeader) == "":
			fault(w, r, &problem.Problem{Status: http.StatusForbidden,
				Title:    "this request may come from another web site",
				Expected: "the header " + controlHeader + ": 1, and no Origin but our own"})
			return
		case !slices.ContainsFunc(tokens, func(token string) bool { return knows(r, token) }):
			unauthorized(w, r)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		h(w, r)
	}
}

// StopPath is where POST ends a crawl, below the URL of its listener.
const StopPath = "v1/crawl/stop"

// Stopper returns the handler of StopPath for a process that has no Admin at the moment. It takes the
// token for command lines, too.
func (l *Listener) Stopper(stop func()) http.Handler {
	return guarded(maxBody, func(w http.ResponseWriter, r *http.Request) {
		stop()
		answer(w, r, map[string]any{"type": "done", "action": path.Base(StopPath)})
	}, l.Token, l.Owner)
}

// knows reports whether r has a valid token.
func knows(r *http.Request, token string) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

// readBody decodes the one JSON object of a request into v. Anything else, or members unknown to
// v, is a Problem; form shows what is expected.
func readBody(r *http.Request, v any, form string) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		_, more := d.Token()
		if more == nil {
			err = errors.New("something follows the object")
		} else if more != io.EOF {
			err = more
		}
	}
	if err == nil {
		return nil
	}
	detail := strings.TrimPrefix(err.Error(), "json: ")
	var large *http.MaxBytesError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &large):
		detail = fmt.Sprintf("it is larger than %d bytes", large.Limit)
	case errors.Is(err, io.EOF):
		detail = "it is empty"
	case errors.As(err, &kind) && kind.Field == "":
		detail = "it is of the kind " + kind.Value
	case errors.As(err, &kind):
		detail = fmt.Sprintf("%s is of the kind %s", kind.Field, kind.Value)
	}
	return &problem.Problem{Title: "the body is not " + form, Detail: problem.Clip(detail), Expected: form}
}

func (a *Admin) label(r *http.Request) (map[string]any, error) {
	const form = `{"url": "https://…", "relevant": true or false}`
	var l struct {
		URL      string `json:"url"`
		Relevant *bool  `json:"relevant"`
	}
	if err := readBody(r, &l, form); err != nil {
		return nil, err
	}
	switch {
	case l.URL == "" || len(l.URL) > maxURL:
		return nil, bad("url", l.URL, crawlURL)
	case l.Relevant == nil:
		return nil, bad("relevant", "", "true or false")
	}
	return map[string]any{"url": l.URL, "relevant": *l.Relevant}, a.o.Label(r.Context(), l.URL, *l.Relevant)
}

func (a *Admin) seeds(r *http.Request) (map[string]any, error) {
	const form = `{"urls": ["https://…"]}`
	var b struct {
		URLs []string `json:"urls"`
	}
	if err := readBody(r, &b, form); err != nil {
		return nil, err
	}
	if n := len(b.URLs); n == 0 || n > manySeeds {
		return nil, bad("urls", strconv.Itoa(n), fmt.Sprintf("a list of 1 to %d URLs", manySeeds))
	}
	taken, err := a.o.Seeds(r.Context(), b.URLs)
	if err != nil {
		return nil, err
	}
	return map[string]any{"taken": taken.Taken, "new": taken.New, "refused": taken.Refused}, nil
}

func (a *Admin) delay(r *http.Request) (map[string]any, error) {
	const form = `{"delay": "10s"}, with "host": "www.example.org" for one host`
	var b struct {
		Delay *string `json:"delay"`
		Host  string  `json:"host"`
	}
	if err := readBody(r, &b, form); err != nil {
		return nil, err
	}
	const expected = "a duration with a unit, such as 10s or 1m, at most 24h; 0s is as configured"
	if b.Delay == nil {
		return nil, bad("delay", "", expected)
	}
	d, err := time.ParseDuration(*b.Delay)
	if err != nil || d < 0 || d > maxDelay {
		return nil, bad("delay", *b.Delay, expected)
	}
	if len(b.Host) > maxHost {
		return nil, bad("host", b.Host, "a host name")
	}
	return a.ordered(a.o.Scope.OrderDelay(b.Host, d))
}

func (a *Admin) exclude(r *http.Request) (map[string]any, error) {
	const form = `{"pattern": "/calendar/"} or {"host": "www.example.org"}, with "undo": true to take it back`
	var o struct {
		Pattern string `json:"pattern"` // regular expression on the URL
		Host    string `json:"host"`    // or "*." with all below it
		Undo    bool   `json:"undo"`    // takes the order back
	}
	if err := readBody(r, &o, form); err != nil {
		return nil, err
	}
	switch {
	case (o.Pattern == "") == (o.Host == ""):
		return nil, &problem.Problem{Title: "the body is not " + form,
			Detail: "it wants one of pattern and host", Expected: form}
	case len(o.Pattern) > maxPattern:
		return nil, bad("pattern", o.Pattern, fmt.Sprintf("a regular expression of at most %d bytes", maxPattern))
	case len(o.Host) > maxHost:
		return nil, bad("host", o.Host, "a host name")
	}
	if o.Host != "" {
		return a.ordered(a.o.Scope.ExcludeHost(o.Host, o.Undo))
	}
	return a.ordered(a.o.Scope.ExcludePattern(o.Pattern, o.Undo))
}

func (a *Admin) release(r *http.Request) (map[string]any, error) {
	const form = `{"host": "www.example.org"}, with "undo": true to take it back`
	var o struct {
		Host string `json:"host"` // or "*." with all below it
		Undo bool   `json:"undo"` // takes the order back
	}
	if err := readBody(r, &o, form); err != nil {
		return nil, err
	}
	if o.Host == "" || len(o.Host) > maxHost {
		return nil, bad("host", o.Host, "a host name")
	}
	done, err := a.ordered(a.o.Scope.ReleaseHost(o.Host, o.Undo))
	if err == nil && a.o.Release != nil {
		done["released"], err = a.o.Release(r.Context())
	}
	return done, err
}

// ordered answers an order with all standing orders.
func (a *Admin) ordered(done string, err error) (map[string]any, error) {
	if err != nil {
		return nil, err
	}
	if a.o.Ordered != nil {
		a.o.Ordered(done)
	}
	return map[string]any{"orders": a.o.Scope.Orders()}, nil
}
