package partition

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
)

// A host is asked for once, and again only where the name server failed.
func TestServers(t *testing.T) {
	asked := map[string]int{}
	of := Servers(t.Context(), func(_ context.Context, host string) ([]netip.Addr, error) {
		asked[host]++
		switch host {
		case "a.example":
			return []netip.Addr{netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("192.0.2.1")}, nil
		case "gone.example":
			return nil, &net.DNSError{IsNotFound: true}
		}
		return nil, errors.New("no answer")
	})
	for range 3 {
		if a, ok := of("a.example:8080"); !ok || a.String() != "192.0.2.1" {
			t.Error(a, ok)
		}
		if a, ok := of("[2001:db8::1]:80"); !ok || a.String() != "2001:db8::1" {
			t.Error(a, ok)
		}
		for _, host := range []string{"gone.example", "slow.example"} {
			if _, ok := of(host); ok {
				t.Error(host)
			}
		}
	}
	if asked["a.example"] != 1 || asked["gone.example"] != 1 || asked["slow.example"] != 3 || len(asked) != 3 {
		t.Errorf("asked %v", asked)
	}
}
