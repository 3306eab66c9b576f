package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"gazehound/crawler/weburl"
)

func TestRefusal(t *testing.T) {
	for _, c := range []struct {
		addr string
		open bool
	}{
		{"1.1.1.1", true}, {"93.184.216.34", true}, {"172.15.255.255", true}, {"172.32.0.0", true},
		{"100.63.255.255", true}, {"100.128.0.0", true}, {"168.63.129.15", true}, {"223.255.255.255", true},
		{"2606:2800:220:1::1", true}, {"2a00:1450:4001::5", true}, {"::ffff:1.1.1.1", true},
		{"64:ff9b::1.1.1.1", true}, {"2002:0101:0101::1", true},

		{"127.0.0.1", false}, {"127.255.255.254", false}, {"0.0.0.0", false}, {"0.1.2.3", false},
		{"10.0.0.1", false}, {"172.16.0.1", false}, {"172.31.255.255", false}, {"192.168.1.1", false},
		{"100.64.0.1", false}, {"100.100.100.200", false}, {"169.254.169.254", false}, {"168.63.129.16", false},
		{"192.0.0.192", false}, {"192.0.2.1", false}, {"198.18.0.1", false}, {"198.51.100.1", false},
		{"203.0.113.1", false}, {"224.0.0.1", false}, {"239.255.255.250", false}, {"240.0.0.1", false},
		{"255.255.255.255", false}, {"192.88.99.1", false},
		{"::", false}, {"::1", false}, {"fc00::1", false}, {"fd00:ec2::254", false}, {"fe80::1", false},
		{"fe80::1%eth0", false}, {"fec0::1", false}, {"ff02::1", false}, {"2001:db8::1", false},
		{"2001::1", false}, {"3fff::1", false}, {"100::1", false}, {"5f00::1", false},
		{"::ffff:127.0.0.1", false}, {"::ffff:10.0.0.1", false}, {"::ffff:169.254.169.254", false}, {"::127.0.0.1", false},
		{"64:ff9b::127.0.0.1", false}, {"64:ff9b::10.0.0.1", false}, {"64:ff9b:1::1.1.1.1", false},
		{"2002:7f00:1::1", false}, {"2002:a00:1::1", false}, {"2002:a9fe:a9fe::", false},
	} {
		addr := netip.MustParseAddr(c.addr)
		if got := refusal(addr, false); (got == "") != c.open {
			t.Errorf("%s refused as %q; open: %v", c.addr, got, c.open)
		}
		loopback := addr.Unmap().IsLoopback()
		if got := refusal(addr, true); (got == "") != (c.open || loopback) {
			t.Errorf("%s with loopback admitted: refused as %q", c.addr, got)
		}
	}
}

// TestGuard requests hosts whose names resolve to private networks. No request may reach the server.
func TestGuard(t *testing.T) {
	var reached atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reached.Add(1) }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	o := DefaultOptions()
	o.DNSTTL = 0
	o.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
		asked.Add(1)
		switch {
		case host == "rebinding.example" && asked.Load() == 1:
			return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
		case host == "two.example":
			return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("127.0.0.1")}, nil
		case host == "mapped.example":
			return []netip.Addr{netip.MustParseAddr("::ffff:127.0.0.1")}, nil
		case host == "nat64.example":
			return []netip.Addr{netip.MustParseAddr("64:ff9b::7f00:1")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, host := range []string{
		"rebinding.example", "rebinding.example", "one.example", "two.example", "mapped.example", "nat64.example",
		"localhost", "127.0.0.1", "2130706433", "0x7f.1", "127.1", "0177.0.0.1", "[::1]", "[::ffff:7f00:1]", "169.254.169.254",
		"10.1.2.3", "0", "[fe80::1]", "127.0.0.1.",
	} {
		u, err := weburl.Parse("http://" + host + ":" + port + "/")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Fetch(t.Context(), u); Class(err) != ClassPrivateAddress {
			t.Errorf("%s: %v; want class private_address", host, err)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests reached a private server", n)
	}
	o.AllowPrivate = true
	lax, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer lax.Close()
	for host, open := range map[string]bool{"one.example": true, "two.example": true, "mapped.example": true, "nat64.example": false} {
		u, err := weburl.Parse("http://" + host + ":" + port + "/")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lax.Fetch(t.Context(), u); (err == nil) != open {
			t.Errorf("%s with loopback admitted: %v", host, err)
		}
	}
}

func TestBadPort(t *testing.T) {
	c, err := New(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for host, bad := range map[string]bool{
		"a.example": false, "a.example:8080": false, "[::1]": false, "[::1]:8443": false,
		"a.example:22": true, "a.example:25": true, "[::1]:6667": true, "a.example:0": true,
	} {
		if got := badPort(host) != ""; got != bad {
			t.Errorf("badPort(%q) = %v; want %v", host, got, bad)
		}
	}
	u, err := weburl.Parse("http://a.example:25/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Fetch(t.Context(), u); Class(err) != ClassProtocol {
		t.Errorf("port 25: %v; want class protocol", err)
	}
}

func TestClassOf(t *testing.T) {
	e := fmt.Errorf("layer: %w", &Error{Class: ClassDNS, Err: errors.New(strings.Repeat("long ", 1000))})
	if Class(e) != ClassDNS || len(e.Error()) > 400 {
		t.Errorf("class %q, %d bytes", Class(e), len(e.Error()))
	}
	if Class(nil) != "" || Class(context.Canceled) != "" {
		t.Error("a class of no Error")
	}
}

// Names that exist only inside a network, and those that name an address in it, are refused without a
// lookup, which a proxy would make.
func TestRefuseHost(t *testing.T) {
	c, err := New(DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for host, open := range map[string]bool{
		"printer": false, "nas.local": false, "wiki.intern": false, "x.home.arpa": false, "a.b.internal": false,
		"fritz.box": false, "nas.fritz.box": false, "speedport.ip": false, "db.default.svc": false,
		"web.service.consul": false, "lvh.me": false, "app.localtest.me": false, "routerlogin.net": false,
		"10.0.0.1.nip.io": false, "app.192.168.1.20.nip.io": false, "app-10-0-0-1.sslip.io": false,
		"7f000001.nip.io": false, "www.0a000001.nip.io": false, "--1.sslip.io": false, "fd00--1.sslip.io": false,
		"127.0.0.1.traefik.me": false, "169-254-169-254.sslip.io": false,

		"fritzbox.example": true, "intern.example": true, "svc.example": true, "myfritz.box": true, "consul.io": true,
		"8.8.8.8.nip.io": true, "1-1-1-1.sslip.io": true, "nip.io": true, "www.sslip.io": true, "10.0.0.1.example.com": true,
	} {
		u, err := weburl.Parse("http://" + host + "/")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.refuseHost(u); (err == nil) != open {
			t.Errorf("%s: %v; open: %v", host, err, open)
		}
	}
}

// Other ports of this machine's public addresses are inside, and so are its neighbours with global
// IPv6 addresses.
func TestOwnNetwork(t *testing.T) {
	own := []netip.Prefix{
		netip.MustParsePrefix("127.0.0.1/8"), netip.MustParsePrefix("85.214.1.2/24"), netip.MustParsePrefix("10.1.2.3/8"),
		netip.MustParsePrefix("2a01:4f8:1:2::10/64"), netip.MustParsePrefix("fe80::1/64"),
	}
	for _, c := range []struct {
		addr                string
		machine, neighbours bool
	}{
		{"85.214.1.2", true, false}, {"::ffff:85.214.1.2", true, false}, {"85.214.1.3", false, false},
		{"2a01:4f8:1:2::10", true, false}, {"2a01:4f8:1:2::11", false, true}, {"2a01:4f8:1:2:ffff::1", false, true},
		{"2a01:4f8:1:3::10", false, false}, {"127.0.0.7", true, false}, {"1.1.1.1", false, false},
	} {
		addr := netip.MustParseAddr(c.addr)
		if got := isOneOf(own, addr); got != c.machine {
			t.Errorf("%s is of this machine: %v", addr, got)
		}
		if got := isNeighbour(own, addr); got != c.neighbours {
			t.Errorf("%s is a neighbour: %v", addr, got)
		}
	}
}
