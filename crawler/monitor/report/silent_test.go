package report

import (
	"fmt"
	"strings"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
)

func TestSilence(t *testing.T) {
	var s Silence
	visit := func(host string, times int, sitemap bool, o frontier.Outcome) {
		for i := range times {
			u, err := weburl.Parse(fmt.Sprintf("http://%s/%d", host, i))
			if err != nil {
				t.Fatal(err)
			}
			s.Visit(&frontier.Entry{URL: u, Sitemap: sitemap}, &o)
		}
	}
	visit("forbidden.example", 7, false, frontier.Outcome{Kind: "skipped", Reason: "robots"})
	visit("login.example", 3, false, frontier.Outcome{Kind: "error", Reason: "http_4xx", Status: 403})
	visit("code.example", 4, false, frontier.Outcome{Kind: "page", Dropped: map[string]int64{"nofollow": 9}})
	visit("read.example", 5, false, frontier.Outcome{Kind: "page"}) // irrelevant, and read
	visit("read.example", 5, false, frontier.Outcome{Kind: "error", Reason: "timeout"})
	visit("good.example", 9, false, frontier.Outcome{Kind: "error", Reason: "timeout"})
	visit("good.example", 1, false, frontier.Outcome{Kind: "page", Relevant: true})
	visit("good.example", 9, false, frontier.Outcome{Kind: "error", Reason: "timeout"})
	visit("map.example", 9, true, frontier.Outcome{Kind: "skipped", Reason: "no_sitemap"})
	visit("shop.example", 6, false, frontier.Outcome{Kind: "skipped", Reason: "needs_javascript", Status: 200})
	visit("odd.example", 2, false, frontier.Outcome{Kind: "error", Reason: "panic"})
	visit("list.example", 3, false, frontier.Outcome{Kind: "page"})
	parked := []frontier.ParkedPattern{{Host: "list.example", Pattern: "listing sorting", Links: 30},
		{Host: "list.example", Pattern: "list.example?sid", Links: 10}, {Host: "good.example", Pattern: "good.example/*", Links: 99},
		{Host: "long-ago.example", Pattern: "long-ago.example/*", Links: 99}}
	for i, path := range []string{"/konto/anmelden?weiter=%2Fa", "/Login.aspx?next=/b", "/users/sign_in", "/users/sign-in/", "/verein/anmeldung-zum-fest"} {
		u, err := weburl.Parse("http://club.example" + path)
		if err != nil {
			t.Fatal(err)
		}
		s.Visit(&frontier.Entry{URL: u, Redirects: 1}, &frontier.Outcome{Kind: "page"})
		if i == 0 { // a page that a link leads to is read like any other
			s.Visit(&frontier.Entry{URL: u}, &frontier.Outcome{Kind: "page"})
		}
	}
	var got []string
	for _, h := range s.Top(10, parked) {
		got = append(got, fmt.Sprint(h.Host, " ", h.Reason, " ", h.URLs))
		if text := h.String(); !strings.HasPrefix(text, h.Host+"  ") || !strings.HasSuffix(text, ")") {
			t.Errorf("line %q", text)
		}
	}
	want := "list.example parked 40, forbidden.example robots 7, shop.example needs_javascript 6, club.example login 4, code.example nofollow 4, login.example login 3, odd.example panic 2"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
	if top := s.Top(1, parked); len(top) != 1 || top[0].Host != "list.example" {
		t.Errorf("the first is %+v", top)
	}
	for urls, want := range map[int64]string{
		7: "a.example  7 URLs: robots.txt forbids them (no option; ask its owner)",
		1: "a.example  1 URL: robots.txt forbids them (no option; ask its owner)",
	} {
		if text := (SilentHost{"a.example", "robots", urls}).String(); text != want {
			t.Errorf("line %q", text)
		}
	}
}
