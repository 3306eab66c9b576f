package partition

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
)

// A host is one of its addresses, the same whatever their order.
func TestServers(t *testing.T) {
	of := Servers(t.Context(), func(_ context.Context, host string) ([]netip.Addr, error) {
		switch host {
		case "a.example":
			return []netip.Addr{netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("192.0.2.1")}, nil
		case "2001:db8::1":
			return []netip.Addr{netip.MustParseAddr(host)}, nil
		case "gone.example":
			return nil, &net.DNSError{IsNotFound: true}
		}
		return nil, errors.New("no answer")
	})
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
