package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestBotPage(t *testing.T) {
	o := options()
	o.Agent, o.Contact = "testhound", "https://lab.example/bot?a=1&b=2"
	r, body := get(Handler(town(t, 1), o), "/bot", "Accept-Language", "de")
	for _, want := range []string{`<html lang="de">`, "User-agent: testhound\nDisallow: /", `href="https://lab.example/bot?a=1&amp;b=2"`, "Oldenburg"} {
		if !strings.Contains(body, want) {
			t.Errorf("%d without %q: %s", r.StatusCode, want, body)
		}
	}
	if strings.Contains(body, "<form") {
		t.Error("a form without anybody who takes it")
	}
	o.Contact = `javascript:alert(1)`
	if _, body := get(Handler(town(t, 1), o), "/bot?lang=en"); strings.Contains(body, `href="javascript`) || !strings.Contains(body, "javascript:alert(1)") {
		t.Error(body)
	}
}

// A removalDesk is a handler that takes removal requests, and what it has stored.
type removalDesk struct {
	http.Handler
	mu     sync.Mutex
	stored []Removal
	full   bool // nothing more can be stored
}

func newRemovalDesk(t *testing.T) *removalDesk {
	d := &removalDesk{}
	o := options()
	o.Remove = func(r Removal) (int, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.full {
			return 0, errors.New("disk full")
		}
		d.stored = append(d.stored, r)
		return len(d.stored), nil
	}
	d.Handler = Handler(town(t, 1), o)
	return d
}

// post sends a form from a client.
func (d *removalDesk) post(client, form string, header ...string) (int, string) {
	r := httptest.NewRequest("POST", "http://gazehound.example/bot/removal?lang=en", strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.RemoteAddr = client
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

const someClient = "192.0.2.1:1"

var goodForm = url.Values{"what": {"http://a.example/ <b>"}, "reason": {"line 1\nline 2"}, "contact": {"me"}}.Encode()

func TestRemovalForm(t *testing.T) {
	d := newRemovalDesk(t)
	_, body := get(d, "/bot?lang=en")
	if !strings.Contains(body, `<form action="/bot/removal" method="post">`) {
		t.Fatal(body)
	}
	_, body = get(d, "/bot?lang=en&what="+url.QueryEscape(`"><script> · Weg 3`))
	if !strings.Contains(body, `value="&#34;&gt;&lt;script&gt; · Weg 3"`) {
		t.Error("the form is not filled in", body)
	}
	for _, what := range []string{strings.Repeat("x", maxWhat+1), "%ff"} {
		if r, body := get(d, "/bot?what="+what); r.StatusCode != 400 || !strings.Contains(body, "at most 2000 characters") {
			t.Errorf("what=%.9s is %d: %s", what, r.StatusCode, body)
		}
	}
}

func TestRemovalRequests(t *testing.T) {
	d := newRemovalDesk(t)
	for _, c := range []struct {
		form       string
		header     []string
		code       int
		text, none string // in the answer, and not in it
	}{
		{goodForm, []string{"Sec-Fetch-Site", "same-origin"}, 202, "number 1.", "<form"},
		{goodForm, []string{"Origin", "http://gazehound.example"}, 202, "number 2.", "<form"},
		{goodForm, []string{"Sec-Fetch-Site", "cross-site"}, 403, `role="alert"`, ""},
		{goodForm, []string{"Origin", "https://evil.example"}, 403, `role="alert"`, ""},
		{goodForm, []string{"Origin", "null"}, 403, `role="alert"`, ""},
		{"what=", nil, 400, `role="alert"`, ""},
		{"", nil, 400, `role="alert"`, ""},
		{"what=%ff%fe", nil, 400, `role="alert"`, ""},
		{"what=%zz", nil, 400, `role="alert"`, ""},
		{"what=" + strings.Repeat("x", maxWhat+1), nil, 400, `role="alert"`, ""},
		{"what=" + strings.Repeat("x", maxRemovalBody), nil, 413, `role="alert"`, ""},
		{"what=x", []string{"Content-Type", "text/plain"}, 400, `role="alert"`, ""},
		{"what=%3Cscript%3E&contact=" + strings.Repeat("x", maxContact+1), nil, 400, "", "<script"},
	} {
		code, body := d.post(someClient, c.form, c.header...)
		unwanted := c.none != "" && strings.Contains(body, c.none)
		if code != c.code || !strings.Contains(body, c.text) || unwanted {
			t.Errorf("%.60q %v: %d, want %d with %q: %s", c.form, c.header, code, c.code, c.text, body)
		}
	}
	want := Removal{"http://a.example/ <b>", "line 1\nline 2", "me"}
	if !slices.Equal(d.stored, []Removal{want, want}) {
		t.Errorf("%+v", d.stored)
	}
	d.full = true
	if code, body := d.post(someClient, goodForm); code != 503 || !strings.Contains(body, "write to the operator") {
		t.Errorf("%d %s", code, body)
	}
	d.full = false
	r := httptest.NewRequest("POST", "http://gazehound.example/v1/search", strings.NewReader(goodForm))
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	if w.Code != 405 || len(d.stored) != 2 {
		t.Errorf("POST elsewhere: %d", w.Code)
	}
}

// One client may send a few removal requests, and all together not many more.
func TestRemovalsOfOneClient(t *testing.T) {
	d := newRemovalDesk(t)
	accepted := func(client string) (n int) {
		for range 2 * clientForms {
			switch code, _ := d.post(client, goodForm); code {
			case 202:
				n++
			case 429:
			default:
				t.Errorf("%d", code)
			}
		}
		return n
	}
	if n := accepted(someClient); n != clientForms {
		t.Errorf("one client may send %d forms", n)
	}
	all := 0
	for i := range 10 {
		all += accepted(fmt.Sprintf("198.51.100.%d:1", i))
	}
	if all == 0 || all > allForms {
		t.Errorf("ten clients may send %d forms", all)
	}
}
