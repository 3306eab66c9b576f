package api

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
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

func TestRemovalRequests(t *testing.T) {
	var mu sync.Mutex
	var stored []Removal
	full := false
	o := options()
	o.Remove = func(r Removal) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		if full {
			return 0, errors.New("disk full")
		}
		stored = append(stored, r)
		return len(stored), nil
	}
	h := Handler(town(t, 1), o)
	if _, body := get(h, "/bot?lang=en"); !strings.Contains(body, `<form action="/bot/removal" method="post">`) {
		t.Fatal(body)
	}
	if _, body := get(h, "/bot?lang=en&what="+url.QueryEscape(`"><script> · Weg 3`)); !strings.Contains(body, `value="&#34;&gt;&lt;script&gt; · Weg 3"`) {
		t.Error("the form is not filled in", body)
	}
	if r, _ := get(h, "/bot?what="+strings.Repeat("x", maxWhat+1)); r.StatusCode != 400 {
		t.Errorf("a long text is %d", r.StatusCode)
	}
	remote := "192.0.2.1:1"
	post := func(body string, header ...string) (int, string) {
		r := httptest.NewRequest("POST", "http://gazehound.example/bot/removal?lang=en", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.RemoteAddr = remote
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	good := url.Values{"what": {"http://a.example/ <b>"}, "reason": {"line 1\nline 2"}, "contact": {"me"}}.Encode()
	if code, body := post(good, "Sec-Fetch-Site", "same-origin"); code != 202 || !strings.Contains(body, "number 1.") || strings.Contains(body, "<form") {
		t.Errorf("%d %s", code, body)
	}
	if code, _ := post(good, "Origin", "http://gazehound.example"); code != 202 {
		t.Error(code)
	}
	if len(stored) != 2 || stored[0] != (Removal{"http://a.example/ <b>", "line 1\nline 2", "me"}) {
		t.Errorf("%+v", stored)
	}
	for _, c := range []struct {
		body   string
		header []string
		code   int
	}{
		{good, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{good, []string{"Origin", "https://evil.example"}, 403},
		{good, []string{"Origin", "null"}, 403},
		{"what=", nil, 400},
		{"", nil, 400},
		{"what=%ff%fe", nil, 400},
		{"what=%zz", nil, 400},
		{"what=" + strings.Repeat("x", maxWhat+1), nil, 400},
		{"what=" + strings.Repeat("x", maxRemovalBody), nil, 413},
		{"what=x", []string{"Content-Type", "text/plain"}, 400},
	} {
		code, body := post(c.body, c.header...)
		if code != c.code || !strings.Contains(body, `role="alert"`) {
			t.Errorf("%.60q %v: %d, want %d: %s", c.body, c.header, code, c.code, body)
		}
	}
	if code, body := post("what=%3Cscript%3Ealert(1)%3C/script%3E&contact=" + strings.Repeat("x", maxContact+1)); code != 400 || strings.Contains(body, "<script") {
		t.Errorf("%d %s", code, body)
	}
	full = true
	if code, body := post(good); code != 503 || !strings.Contains(body, "write to the operator") {
		t.Errorf("%d %s", code, body)
	}
	full = false
	// One client may send a few, and all together not many more.
	accepted := func() (n int) {
		for range 2 * clientForms {
			if code, _ := post(good); code == 202 {
				n++
			} else if code != 429 {
				t.Errorf("%d", code)
			}
		}
		return n
	}
	remote = "192.0.2.2:1"
	if n := accepted(); n != clientForms {
		t.Errorf("one client may send %d forms", n)
	}
	all := 0
	for i := range 10 {
		remote = fmt.Sprintf("198.51.100.%d:1", i)
		all += accepted()
	}
	if all == 0 || all > allForms {
		t.Errorf("ten clients may send %d forms", all)
	}
	before := len(stored)
	r := httptest.NewRequest("POST", "http://gazehound.example/v1/search", strings.NewReader(good))
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 405 || len(stored) != before {
		t.Errorf("POST elsewhere: %d", w.Code)
	}
}
