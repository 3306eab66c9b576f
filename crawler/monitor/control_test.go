package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/internal/problem"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// command sends a body to an address that changes something, as those do who may.
func command(a *Admin, address, body string) *httptest.ResponseRecorder {
	return ask(a, "POST", address, body, controlHeader, "1", "Authorization", "Bearer sesame-sesame-sesame")
}

// problemOf returns the problem of an answer, which must be one that helps.
func problemOf(t interface{ Errorf(string, ...any) }, w *httptest.ResponseRecorder) (p problem.Problem) {
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Header().Get("Content-Type") != "application/problem+json" || p.Status != w.Code || p.Title == "" || p.Type == "" || p.Instance == "" {
		t.Errorf("no problem: %d %s %q", w.Code, w.Body, w.Header())
	}
	return p
}

// An invalid order changes nothing, and the answer says what was expected.
func TestBadOrders(t *testing.T) {
	long := strings.Repeat("a", 5000)
	everywhere := []string{"", " ", "null", "[]", `"x"`, "1", "true", "{", "{}", "}", "url=1", `{"x":1}`, `{} {}`, `{"urls":1,"delay":1,"pattern":1,"url":1}`, "\xff", "\x00",
		strings.Repeat("[", 15_000), `{"urls":` + strings.Repeat("[", 15_000), "<xml/>", `{"__proto__":{}}`, strings.Repeat(" ", 2<<20)}
	cases := map[string][]string{
		"/v1/labels": {`{"url":"http://a.example/"}`, `{"relevant":true}`, `{"url":"","relevant":true}`, `{"url":1,"relevant":true}`, `{"url":"http://a.example/","relevant":"yes"}`,
			`{"url":"http://a.example/","relevant":null}`, `{"url":"` + long + `","relevant":true}`, `{"url":"http://a.example/","relevant":true}x`},
		"/v1/crawl/seeds": {`{"urls":null}`, `{"urls":[]}`, `{"urls":"http://a.example/"}`, `{"urls":[1]}`, `{"urls":["http://a.example/\u0000"],"x":1}`,
			`{"urls":[` + strings.Repeat(`"http://a.example/",`, 10_000) + `"http://a.example/"]}`, `{"url":["http://a.example/"]}`, `{"urls":[["http://a.example/"]]}`},
		"/v1/crawl/delay": {`{"delay":5}`, `{"delay":"5"}`, `{"delay":""}`, `{"delay":null}`, `{"delay":"-5s"}`, `{"delay":"25h"}`, `{"delay":"1e9s"}`, `{"delay":"NaN"}`, `{"delay":"∞"}`, `{"delay":["1s"]}`,
			`{"delay":"1s","host":1}`, `{"delay":"1s","hosts":"a.example"}`, `{"host":"a.example"}`, `{"delay":"1s","host":"` + long + `"}`},
		"/v1/crawl/exclude": {`{"pattern":""}`, `{"pattern":1}`, `{"pattern":["x"]}`, `{"pattern":"a","host":"b.example"}`, `{"undo":true}`, `{"pattern":"` + long + `"}`, `{"host":"` + long + `"}`,
			`{"pattern":"a","undo":"yes"}`, `{"patterns":["a"]}`},
	}
	a, did := testAdmin(t, nil)
	for address, bodies := range cases {
		for _, body := range append(bodies, everywhere...) {
			w := command(a, address, body)
			if w.Code != 400 {
				t.Errorf("%s %.60q: %d %.200s", address, body, w.Code, w.Body)
				continue
			}
			if p := problemOf(t, w); p.Expected == "" || p.Instance != address || len(w.Body.String()) > 2000 {
				t.Errorf("%s %.60q: %s", address, body, w.Body)
			}
		}
	}
	if len(*did) > 0 {
		t.Errorf("something was done: %q", *did)
	}
}

// Whatever a body holds, the answer is done or a problem, never a failure.
func FuzzOrders(f *testing.F) {
	for _, body := range []string{`{"urls":["http://a.example/"]}`, `{"delay":"10s","host":"a.example"}`, `{"pattern":"/x/","undo":true}`, `{"url":"http://a.example/","relevant":true}`, "{", "null"} {
		for n := range 4 {
			f.Add(n, body)
		}
	}
	a, _ := testAdmin(f, nil)
	f.Fuzz(func(t *testing.T, n int, body string) {
		address := []string{"/v1/crawl/seeds", "/v1/crawl/delay", "/v1/crawl/exclude", "/v1/labels"}[uint(n)%4]
		switch w := command(a, address, body); w.Code {
		case 200:
			if !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s %q: %s", address, body, w.Body)
			}
		case 400, 404:
			problemOf(t, w)
		default:
			t.Errorf("%s %q: %d %s", address, body, w.Code, w.Body)
		}
	})
}

func TestOrders(t *testing.T) {
	a, did := testAdmin(t, nil)
	for _, c := range []struct{ address, body, want, answer string }{
		{"/v1/crawl/seeds", `{"urls":["http://A.example","https://b.example/x#y"]}`, "seeds [http://A.example https://b.example/x#y]", `{"action":"seeds","new":0,"refused":[],"taken":2,"type":"done"}`},
		{"/v1/crawl/delay", `{"delay":"10s"}`, "delay 10s", `{"action":"delay","orders":{"delay":"10s","delay_ordered":true,"hosts":{},"exclude":[]},"type":"done"}`},
		{"/v1/crawl/delay", `{"delay":"20s","host":"*.A.example"}`, "delay 20s for *.a.example", `{"action":"delay","orders":{"delay":"10s","delay_ordered":true,"hosts":{"*.a.example":{"delay":"20s"}},"exclude":[]},"type":"done"}`},
		{"/v1/crawl/exclude", `{"pattern":"/calendar/"}`, "leave out /calendar/", `{"action":"exclude","orders":{"delay":"10s","delay_ordered":true,"hosts":{"*.a.example":{"delay":"20s"}},"exclude":["/calendar/"]},"type":"done"}`},
		{"/v1/crawl/delay", `{"delay":"0s","host":"*.a.example"}`, "delay 0s for *.a.example", `{"action":"delay","orders":{"delay":"10s","delay_ordered":true,"hosts":{},"exclude":["/calendar/"]},"type":"done"}`},
		{"/v1/crawl/delay", `{"delay":"0s"}`, "delay 0s", `{"action":"delay","orders":{"delay":"2s","delay_ordered":false,"hosts":{},"exclude":["/calendar/"]},"type":"done"}`},
		{"/v1/crawl/exclude", `{"host":"a.example"}`, "leave out a.example", `{"action":"exclude","orders":{"delay":"2s","delay_ordered":false,"hosts":{"a.example":{"skip":true}},"exclude":["/calendar/"]},"type":"done"}`},
		{"/v1/crawl/exclude", `{"host":"a.example","undo":true}`, "take in again a.example", `{"action":"exclude","orders":{"delay":"2s","delay_ordered":false,"hosts":{},"exclude":["/calendar/"]},"type":"done"}`},
		{"/v1/labels", `{"url":"http://a.example/","relevant":true}`, "label http://a.example/ true", `{"action":"labels","relevant":true,"type":"done","url":"http://a.example/"}`},
	} {
		*did = nil
		w := command(a, c.address, c.body)
		if w.Code != 200 || strings.TrimSpace(w.Body.String()) != c.answer {
			t.Errorf("%s %s: %d %s, want %s", c.address, c.body, w.Code, w.Body, c.answer)
		}
		if diff := cmp.Diff([]string{c.want}, *did); diff != "" {
			t.Errorf("%s %s: %s", c.address, c.body, diff)
		}
	}
	// Those who do it say what is wrong in their own words.
	for _, c := range []struct {
		err  error
		want int
	}{
		{&problem.Problem{Title: "too short", Expected: "more"}, 400}, {&problem.Problem{Title: "full", Status: 409}, 409}, {fmt.Errorf("it is %w", ErrUnknown), 404},
		{fmt.Errorf("store: %w", errors.New("disk full")), 500},
	} {
		a, _ := testAdmin(t, func(o *Options) { o.Checkpoint = func() error { return c.err } })
		w := command(a, "/v1/crawl/checkpoint", "")
		if problemOf(t, w); w.Code != c.want {
			t.Errorf("%v: %d %s", c.err, w.Code, w.Body)
		}
	}
	for _, c := range []struct {
		address, body string
		want          int
	}{
		{"/v1/crawl/delay", `{"delay":"1s"}`, 400}, {"/v1/crawl/delay", `{"delay":"1s","host":"a b"}`, 400},
		{"/v1/crawl/exclude", `{"pattern":"("}`, 400}, {"/v1/crawl/exclude", `{"pattern":"x*"}`, 400},
		{"/v1/crawl/exclude", `{"pattern":"/other/","undo":true}`, 404}, {"/v1/crawl/exclude", `{"host":"b.example","undo":true}`, 404},
	} {
		w := command(a, c.address, c.body)
		if problemOf(t, w); w.Code != c.want {
			t.Errorf("%s %s: %d %s, want %d", c.address, c.body, w.Code, w.Body, c.want)
		}
	}
	lost, _ := testAdmin(t, func(o *Options) { o.Nodes = func(context.Context) (any, error) { return nil, errors.New("no leader") } })
	if w := ask(lost, "GET", "/v1/crawl/nodes", ""); w.Code != 503 || problemOf(t, w).Detail != "no leader" {
		t.Errorf("nodes of a cluster without a leader: %d %s", w.Code, w.Body)
	}
}

// Nothing that a listener does not have is a bare 404 or 405.
func TestAstray(t *testing.T) {
	a, did := testAdmin(t, nil)
	for _, c := range []struct {
		method, path string
		want         int
		allow        string
	}{
		{"GET", "/nothing", 404, ""}, {"POST", "/v1/crawl/label", 404, ""}, {"GET", "/v1/crawl/hsots", 404, ""}, {"DELETE", "/", 405, "GET"}, {"POST", "/metrics", 405, "GET"},
		{"GET", "/v1/labels", 405, "POST"}, {"PUT", "/v1/crawl/seeds", 405, "POST"}, {"GET", "/v1/crawl/pause", 405, "POST"}, {"BREW", "/v1/crawl", 405, "GET"},
		{"GET", "/v1/crawl/../../etc/passwd", 404, ""}, {"OPTIONS", "/v1/crawl/stop", 405, "POST"}, {"GET", "/assets/x.js", 404, ""},
	} {
		w := ask(a, c.method, c.path, "", controlHeader, "1", "Authorization", "Bearer sesame-sesame-sesame")
		if w.Code != c.want || w.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q", c.method, c.path, w.Code, w.Header().Get("Allow"))
		}
		if p := problemOf(t, w); p.Expected == "" {
			t.Errorf("%s %s: %s", c.method, c.path, w.Body)
		}
	}
	if len(*did) > 0 {
		t.Errorf("something was done: %q", *did)
	}
	if w := ask(a, "HEAD", "/v1/crawl", ""); w.Code != 200 {
		t.Errorf("HEAD: %d", w.Code)
	}
	rapid.Check(t, func(t *rapid.T) {
		path := "/" + rapid.StringMatching(`[a-z0-9/._-]{0,20}`).Draw(t, "path")
		method := rapid.SampledFrom([]string{"GET", "POST", "PUT", "DELETE"}).Draw(t, "method")
		if w := ask(a, method, path, ""); w.Code >= 400 {
			problemOf(t, w)
		}
	})
}

// What is no URL is a bad parameter that is named, what the crawl has never seen is not found.
func TestExplainRefuses(t *testing.T) {
	f, err := frontier.Open(frontier.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, _ := testAdmin(t, func(o *Options) { o.Explain = ExplainOf(&crawler.Learned{Tree: f}, "lookahead", o.Scope) })
	for _, c := range []struct {
		query, parameter string
		want             int
	}{
		{"", "url", 400}, {"?url=", "url", 400}, {"?url=%ff", "url", 400}, {"?url=ftp://a.example/", "url", 400},
		{"?url=http://" + strings.Repeat("a", 4000) + ".example/", "url", 400}, {"?url=/x", "url", 400},
		{"?uri=http://a.example/", "uri", 400}, {"?url=http://a.example/", "", 404},
	} {
		w := ask(a, "GET", "/v1/crawl/explain"+c.query, "")
		if p := problemOf(t, w); w.Code != c.want || p.Parameter != c.parameter {
			t.Errorf("%.40q: %d, parameter %q: %s", c.query, w.Code, p.Parameter, w.Body)
		}
	}
}

// One text that is no URL refuses all of them, with a problem that says which.
func TestSeedURLs(t *testing.T) {
	if urls, err := seedURLs([]string{"http://A.example", "https://b.example/x#y"}); err != nil || len(urls) != 2 || urls[0].String() != "http://a.example/" {
		t.Errorf("%v, %v", urls, err)
	}
	for _, text := range []string{"", "a.example", "ftp://a.example/", "javascript:alert(1)", "http://", "//a.example/", "http://a.example/" + strings.Repeat("a", 5000), "mailto:a@b.example", "http://a b/"} {
		_, err := seedURLs([]string{"http://a.example/", text})
		var p *problem.Problem
		if !errors.As(err, &p) || p.Expected == "" || p.Parameter != "urls" || len(p.Title)+len(p.Given) > 600 {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// Command lines are run for those who read the file of the listener, not for those who load the page.
func TestRunIsForTheOwner(t *testing.T) {
	ran := 0
	a := NewAdmin(Options{Board: NewBoard(), Token: "sesame-sesame-sesame", Owner: "owner-owner-owner",
		Run: func(http.ResponseWriter, *http.Request) { ran++ }})
	defer a.Close()
	if w := command(a, "/v1/crawl/run", "{}"); w.Code != http.StatusUnauthorized || ran != 0 {
		t.Errorf("with the token of the page: %d, run %d times", w.Code, ran)
	}
	w := ask(a, "POST", "/v1/crawl/run", "{}", controlHeader, "1", "Authorization", "Bearer owner-owner-owner")
	if w.Code != http.StatusOK || ran != 1 {
		t.Errorf("with the owner's: %d, run %d times", w.Code, ran)
	}
}
