package config

import (
	"testing"
	"time"

	"gazehound/crawler/weburl"
)

func TestContact(t *testing.T) {
	for _, c := range []struct {
		text                string
		ok, example, isHere bool
	}{
		{"", true, false, false},
		{"https://stadtlabor.de/bot", true, false, false},
		{"http://stadtlabor.de:8080/bot?a=b", true, false, false},
		{"http://127.0.0.1:8090/bot", true, false, true},
		{"http://[::1]/bot", true, false, true},
		{"http://localhost/bot", true, false, true},
		{"https://intranet/bot", true, false, false},
		{"bot@stadtlabor.de", true, false, false},
		{"mailto:bot@stadtlabor.de", true, false, false},
		{"City Lab <bot@stadtlabor.de>", true, false, false},
		{"https://example.org/bot", true, true, false},
		{"https://www.Example.COM./bot", true, true, false},
		{"https://your-site.example/bot", true, true, false},
		{"me@example.net", true, true, false},
		{"https://notexample.org/", true, false, false},
		{"https://example.org.de/", true, false, false},
		{"notanaddress", false, false, false},
		{"stadtlabor.de/bot", false, false, false},
		{"https://", false, false, false},
		{"https:///bot", false, false, false},
		{"ftp://stadtlabor.de/", false, false, false},
		{"javascript:alert(1)", false, false, false},
		{"me@localhost", true, false, true},
		{"me@", false, false, false},
		{"@stadtlabor.de", false, false, false},
		{"a b@stadtlabor.de", false, false, false},
		{"https://stadtlabor.de/bot\nX-Evil: 1", false, false, false},
	} {
		o := new(Options)
		o.Fetch.Contact = c.text
		if err := CheckContact(c.text); (err == nil) != c.ok {
			t.Errorf("CheckContact(%q) = %v, want ok %v", c.text, err, c.ok)
		}
		if got := o.ContactIsExample(); got != c.example {
			t.Errorf("%q is an example: %v, want %v", c.text, got, c.example)
		}
		if got := o.ContactIsHere(); got != c.isHere {
			t.Errorf("%q is on loopback: %v, want %v", c.text, got, c.isHere)
		}
	}
}

// A contact that is an example will do for a crawl that can only reach loopback, and keeps it there.
func TestExampleContactStaysHere(t *testing.T) {
	here, elsewhere := mustURL(t, "http://127.2.0.1/"), mustURL(t, "http://www.stadt.de/")
	for _, contact := range []string{"mailto:bot@stadt.test", "https://stadt.example/bot", "http://crawl.localhost/bot", "bot@localhost"} {
		o := new(Options)
		o.Fetch.Contact, o.Fetch.Delay, o.Fetch.AllowPrivateAddresses = contact, time.Second, true
		if err := CheckContact(contact); err != nil {
			t.Errorf("%s: %v", contact, err)
		}
		if err := o.CheckManners([]weburl.URL{here}); err != nil {
			t.Errorf("%s: %v", contact, err)
		}
		if !o.ContactIsExample() {
			continue
		}
		if err := o.CheckManners([]weburl.URL{here, elsewhere}); err == nil {
			t.Errorf("%s will do for %s", contact, elsewhere)
		}
		if !o.ScopeRules(false).Loopback || o.ScopeRules(true).Loopback {
			t.Errorf("%s: a live crawl may leave loopback, or a replay may not", contact)
		}
	}
}

func mustURL(t *testing.T, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
