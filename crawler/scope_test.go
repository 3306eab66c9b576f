package crawler

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"gazehound/crawler/weburl"
)

// The scope leaves out what the patterns say.
func TestScopePatterns(t *testing.T) {
	for _, include := range [][]string{nil, {`/shop/`, `page1\d*`}} {
		scope, err := NewScope(ScopeRules{Include: include, Exclude: []string{`\.(jpe?g|pdf)(\?|$)`, `/private/`}})
		if err != nil {
			t.Fatal(err)
		}
		excluded, included := regexp.MustCompile(`(?i)\.(jpe?g|pdf)(\?|$)|/private/`), regexp.MustCompile(`/shop/|page1\d*`)
		want := func(text string) string {
			switch {
			case excluded.MatchString(text):
				return "excluded"
			case include != nil && !included.MatchString(text):
				return "not_included"
			}
			return ""
		}
		random := rand.New(rand.NewPCG(1, 2))
		reasons := map[string]int{}
		for range 3000 {
			u, err := weburl.Parse(fmt.Sprintf("http://a.example/%s/page%d%s", []string{"shop", "private", "news"}[random.IntN(3)], random.IntN(500),
				[]string{"", ".html", ".JPG", ".pdf?x=1"}[random.IntN(4)]))
			if err != nil {
				t.Fatal(err)
			}
			got := scope.Check(u)
			if reasons[got]++; got != want(u.String()) {
				t.Fatalf("include %q: %s is %q, want %q", include, u, got, want(u.String()))
			}
		}
		if reasons["excluded"] == 0 || reasons[""] == 0 {
			t.Errorf("include %q: %v", include, reasons)
		}
	}
}

// Hosts in other countries' domains are left out, those in domains of no country stay.
func TestCountryDomains(t *testing.T) {
	scope, err := NewScope(ScopeRules{CountryDomains: []string{"de", "at"}})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{
		"www.a.de": "", "a.at": "", "a.com": "", "a.example": "", "192.0.2.10": "", "[::1]": "",
		"a.fr": ReasonCountry, "de.a.uk": ReasonCountry, "a.xn--p1ai": ReasonCountry,
	} {
		u, err := weburl.Parse("http://" + host + "/")
		if err != nil {
			t.Fatal(err)
		}
		if got := scope.Check(u); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}

// Links to the big platforms are left out unless an option or a line for the host lets them in.
func TestPlatforms(t *testing.T) {
	for _, x := range []struct {
		host   string
		is, in bool // a platform; let in by the hosts section
	}{
		{"www.facebook.com", true, false}, {"m.facebook.com", true, false}, {"www.google.co.uk", true, false}, {"maps.google.de", true, false},
		{"x.com", true, false}, {"t.co", true, false}, {"www.openstreetmap.org", true, false}, {"youtu.be", true, false},
		{"old.reddit.com", true, true},
		{"lux.com", false, false}, {"facebook.com.example", false, false}, {"notfacebook.com", false, false}, {"google.example.de", false, false},
		{"sites.google.com", false, false}, {"apple.com", false, false}, {"de.wikipedia.org", false, false}, {"192.0.2.10", false, false},
	} {
		u, err := weburl.Parse("http://" + x.host + "/")
		if err != nil {
			t.Fatal(err)
		}
		hosts := map[string]HostRules{"*.reddit.com": {}}
		for _, follow := range []bool{false, true} {
			scope, err := NewScope(ScopeRules{Hosts: hosts, Platforms: follow})
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if x.is && !x.in && !follow {
				want = ReasonPlatform
			}
			if got := scope.Check(u); got != want || scope.Barred(u) != "" {
				t.Errorf("%s, platforms %v: %q, want %q", x.host, follow, got, want)
			}
		}
	}
}

func TestParseHost(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"www.a.example", "www.a.example"}, {" WWW.A.example ", "www.a.example"}, {"a.example:8080", "a.example:8080"}, {"a.example:80", "a.example"}, {"*.a.example", "*.a.example"},
		{"bücher.example", "xn--bcher-kva.example"}, {"[::1]:8080", "[::1]:8080"},
		{"", ""}, {"*.", ""}, {"*", ""}, {"*.a.example:8080", ""}, {"a.example/x", ""}, {"http://a.example", ""}, {"user@a.example", ""}, {"a.example?x", ""}, {"a b", ""}, {"a.example#x", ""}, {"a\\b", ""},
	} {
		if got, err := parseHost(c.given); (err == nil) != (c.want != "") || err == nil && got != c.want {
			t.Errorf("parseHost(%q) = %q, %v, want %q", c.given, got, err, c.want)
		}
	}
}

func TestMatchesAll(t *testing.T) {
	for pattern, want := range map[string]bool{"": true, ".*": true, ".": true, "/": true, "^https?:": true, "x?": true,
		`\.`: true, "/calendar/": false, `\?`: false, "^http:": false, "a": false, "example": false} {
		if got := MatchesAll(regexp.MustCompile(pattern)); got != want {
			t.Errorf("%q: %v", pattern, got)
		}
	}
}
