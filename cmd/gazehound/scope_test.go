package main

import (
	"testing"
	"time"
)

// Without a delay nothing beyond loopback is in scope, whatever is reachable.
func TestScopeWithoutDelay(t *testing.T) {
	for _, c := range []struct {
		delay time.Duration
		url   string
		want  string
	}{
		{0, "http://www.example.org/", "out_of_scope"}, {0, "http://127.0.0.1:8080/", ""}, {0, "http://town.localhost/", ""},
		{time.Second, "http://www.example.org/", ""},
	} {
		cfg := DefaultConfig()
		cfg.Fetch.Contact, cfg.Fetch.Delay, cfg.Fetch.AllowPrivateAddresses = "https://www.a-town.org/bot", c.delay, true
		scope, err := newScope(&cfg, crawlOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := scope.Check(mustParse(t, c.url)); got != c.want {
			t.Errorf("%s with a delay of %v is %q, want %q", c.url, c.delay, got, c.want)
		}
	}
}
