package fetch

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"gazehound/crawler/weburl"
)

// No spelling of a host inside the network is requested, directly or through a proxy.
func TestInsideIsUnreachable(t *testing.T) {
	text, err := os.ReadFile("../../testdata/hosts/inside.txt")
	if err != nil {
		t.Fatal(err)
	}
	inside := strings.Fields(string(text))
	var reached atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer server.Close()
	for _, proxy := range []string{"", server.URL, "socks5://" + server.Listener.Addr().String()} {
		o := DefaultOptions()
		o.Proxy = proxy
		c, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		tried := 0
		for _, host := range inside {
			for _, form := range []string{"http://HOST/", "https://HOST/", "http://HOST:8091/latest/meta-data/"} {
				u, err := weburl.Parse(strings.Replace(form, "HOST", host, 1))
				if err != nil {
					continue // cannot be asked for at all
				}
				tried++
				if _, err := c.Fetch(t.Context(), u); Class(err) != ClassPrivateAddress {
					t.Errorf("proxy %q: %s: %v; want class private_address", proxy, u, err)
				}
				if _, err := c.FetchPrefix(t.Context(), u, 100); Class(err) != ClassPrivateAddress {
					t.Errorf("proxy %q: %s: %v; want class private_address", proxy, u, err)
				}
			}
		}
		if tried < 120 {
			t.Errorf("only %d URLs were tried", tried)
		}
		t.Logf("proxy %q: %d spellings of %d hosts refused", proxy, tried, len(inside))
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}

// The program's own ports are never requested, under any address of this machine, even if loopback is
// allowed.
func TestOwnPort(t *testing.T) {
	var reached atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer server.Close()
	port := server.Listener.Addr().(*net.TCPAddr).AddrPort().Port()
	hosts := []string{"127.0.0.1", "localhost", "x.localhost", "[::ffff:127.0.0.1]", "2130706433"}
	for _, proxy := range []string{"", server.URL} {
		o := DefaultOptions()
		o.Proxy, o.AllowPrivate = proxy, true
		o.OwnPort = func(p uint16) bool { return p == port }
		c, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, host := range hosts {
			u, err := weburl.Parse("http://" + host + server.URL[strings.LastIndex(server.URL, ":"):] + "/")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Fetch(t.Context(), u); Class(err) != ClassPrivateAddress {
				t.Errorf("proxy %q: %s: %v; want class private_address", proxy, u, err)
			}
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
	if own, _ := net.InterfaceAddrs(); len(own) > 0 {
		for _, a := range own {
			if p, ok := a.(*net.IPNet); ok {
				addr := netip.MustParseAddr(p.IP.String())
				if !isOneOf(localPrefixes(), addr) {
					t.Errorf("%s is an address of this machine", addr)
				}
			}
		}
	}
	if isOneOf(localPrefixes(), netip.MustParseAddr("192.0.2.1")) {
		t.Error("192.0.2.1 is no address of this machine")
	}
}
