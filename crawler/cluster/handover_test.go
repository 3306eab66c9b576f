package cluster

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"gazehound/crawler/polite"
)

// A node that does not need a host any more gives it back long before its
// lease ends.
func TestGateGivesBack(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	var gates []*Gate
	for _, name := range []string{"a", "b"} {
		o := options(t, s, name)
		o.Lease = 10 * time.Minute
		gates = append(gates, join(t, &memory{}, o).Gate(free{}, nil))
	}
	for _, g := range gates {
		for range 3 {
			until(t, "a turn", func() bool { return g.Claim("www.example.org") == 0 })
			g.Visited("www.example.org", polite.Visit{})
		}
	}
}

// Two hosts at one address are asked by one node at a time, whatever order the
// name server gives its addresses in.
func TestGateSparesAddresses(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	asked := make(chan string, 100)
	gate := func(name string, addresses ...string) *Gate {
		o := options(t, s, name)
		o.Lease = 10 * time.Minute
		return join(t, &memory{}, o).Gate(free{}, func(_ context.Context, host string) (all []netip.Addr, err error) {
			asked <- host
			for _, a := range addresses {
				all = append(all, netip.MustParseAddr(a))
			}
			return all, nil
		})
	}
	a, b := gate("a", "192.0.2.1", "192.0.2.2"), gate("b", "192.0.2.2", "192.0.2.1")
	until(t, "a's turn", func() bool { return a.Claim("one.example:8080") == 0 })
	if host := <-asked; host != "one.example" {
		t.Errorf("%q was looked up", host)
	}
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if b.Claim("two.example") == 0 {
			t.Fatal("b asks another host at the address that a is asking")
		}
	}
	a.Visited("one.example:8080", polite.Visit{})
	until(t, "b's turn", func() bool { return b.Claim("two.example") == 0 })
	b.Visited("two.example", polite.Visit{})
	until(t, "a turn at an address", func() bool { return a.Claim("[2001:db8::1]:8080") == 0 })
}
