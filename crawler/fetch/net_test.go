package fetch_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gazehound/crawler/fetch"
	"gazehound/crawler/lab/crawltest"
)

// certificate returns a certificate for host that root signed, or, without
// root, that signed itself.
func certificate(t *testing.T, host string, until time.Time, root *tls.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: until,
		IsCA: root == nil, BasicConstraintsValid: true,
	}
	parent, signer := c, any(key)
	if root != nil {
		parent, signer = root.Leaf, root.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// secure starts an HTTPS server, with HTTP/2, that shows cert.
func secure(t *testing.T, cert tls.Certificate, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func port(addr net.Addr) string {
	_, p, _ := net.SplitHostPort(addr.String())
	return p
}

func TestTLS(t *testing.T) {
	later, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	root := certificate(t, "Root", later, nil)
	pool := x509.NewCertPool()
	pool.AddCert(root.Leaf)
	var proto atomic.Value
	handler := func(w http.ResponseWriter, r *http.Request) {
		proto.Store(r.Proto)
		if r.URL.Path == "/headers" {
			for i := range 2500 {
				w.Header().Add("X-Many", fmt.Sprintf("%d of these are too much: %s", i, strings.Repeat("x", 100)))
			}
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, town)
	}
	c := client(t, func(o *fetch.Options) { o.RootCAs = pool; o.Timeout = time.Second })
	good := secure(t, certificate(t, "a.example", later, &root), handler)
	base := "https://a.example:" + port(good.Listener.Addr())
	r, err := c.Fetch(t.Context(), mustParse(t, base))
	if err != nil || string(r.Body) != town || r.RemoteIP != "127.0.0.1" || proto.Load() != "HTTP/2.0" {
		t.Fatalf("%+v, %v over %v", r, err, proto.Load())
	}
	if _, err := c.Fetch(t.Context(), mustParse(t, base+"/headers")); fetch.Class(err) != "protocol" && fetch.Class(err) != "too_large" {
		t.Errorf("header list of HTTP/2: %v; want class protocol or too_large", err)
	}

	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts in the kernel, says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for _, bad := range []struct {
		name, port, class string
	}{
		{"expired", port(secure(t, certificate(t, "a.example", past, &root), handler).Listener.Addr()), "tls"},
		{"wrong host", port(secure(t, certificate(t, "b.example", later, &root), handler).Listener.Addr()), "tls"},
		{"self-signed", port(secure(t, certificate(t, "a.example", later, nil), handler).Listener.Addr()), "tls"},
		{"not TLS", port(plain.Listener.Addr()), "tls"},
		{"silent", port(silent.Addr()), "timeout"},
	} {
		_, err := c.Fetch(t.Context(), mustParse(t, "https://a.example:"+bad.port))
		if got := fetch.Class(err); got != bad.class {
			t.Errorf("%s: class %q (%v); want %q", bad.name, got, err, bad.class)
		}
	}
}

func TestDNS(t *testing.T) {
	var lookups atomic.Int64
	hostile := crawltest.NewHostile()
	defer hostile.Close()
	c := client(t, func(o *fetch.Options) {
		o.Timeout = 400 * time.Millisecond
		o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			lookups.Add(1)
			switch host {
			case "none.example":
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			case "fails.example":
				return nil, errors.New("SERVFAIL")
			case "empty.example":
				return nil, nil
			case "slow.example":
				<-ctx.Done()
				return nil, ctx.Err()
			case "closed.example":
				return []netip.Addr{netip.MustParseAddr("127.0.0.9")}, nil
			}
			return loopback(ctx, host)
		}
	})
	for host, class := range map[string]string{
		"none.example": "dns", "fails.example": "dns", "empty.example": "dns", "slow.example": "dns", "closed.example": "connect",
	} {
		if _, err := c.Fetch(t.Context(), mustParse(t, "http://"+host+":9/")); class == "" || err == nil {
			t.Fatal(err) // port 9 is refused before
		}
		_, err := c.Fetch(t.Context(), mustParse(t, "http://"+host+":39999/"))
		if got := fetch.Class(err); got != class {
			t.Errorf("%s: class %q (%v); want %q", host, got, err, class)
		}
	}
	lookups.Store(0)
	for range 3 { // each on a new connection
		if _, err := c.Fetch(t.Context(), mustParse(t, "http://a.example:"+port2(hostile)+"/close-delimited")); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Fetch(t.Context(), mustParse(t, "http://none.example:39999/")); err == nil {
			t.Fatal("no error")
		}
	}
	if n := lookups.Load(); n != 1 {
		t.Errorf("%d lookups; want 1 for a new name, and none for one that failed just before", n)
	}
	if addrs, err := c.Resolve(t.Context(), "a.example"); err != nil || len(addrs) != 1 || lookups.Load() != 1 {
		t.Errorf("Resolve: %v, %v", addrs, err)
	}
	if addrs, err := c.Resolve(t.Context(), "[::1]"); err != nil || addrs[0] != netip.IPv6Loopback() {
		t.Errorf("Resolve of an address: %v, %v", addrs, err)
	}
}

func port2(h *crawltest.Hostile) string { return strings.TrimPrefix(h.Addr(), "127.0.0.1:") }

// TestResolver looks up names concurrently: each is looked up once, the cache keeps its limit, and a
// caller that gives up does not fail the others.
func TestResolver(t *testing.T) {
	var lookups atomic.Int64
	gate := make(chan struct{})
	c := client(t, func(o *fetch.Options) {
		o.DNSNames = 3
		o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			lookups.Add(1)
			select {
			case <-gate:
				return loopback(ctx, host)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
	hasty, giveUp := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := c.Resolve(hasty, "a.example"); err == nil {
			t.Error("hasty: no error")
		}
	})
	time.Sleep(20 * time.Millisecond)
	for range 10 {
		wg.Go(func() {
			if addrs, err := c.Resolve(t.Context(), "a.example"); err != nil || len(addrs) != 1 {
				t.Errorf("%v, %v", addrs, err)
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	giveUp()
	time.Sleep(20 * time.Millisecond)
	close(gate)
	wg.Wait()
	if n := lookups.Load(); n != 2 {
		t.Errorf("%d lookups; want 2", n)
	}
	for i := range 10 {
		c.Resolve(t.Context(), fmt.Sprintf("h%d.example", i))
	}
	lookups.Store(0)
	c.Resolve(t.Context(), "h9.example")
	c.Resolve(t.Context(), "a.example")
	if n := lookups.Load(); n != 1 {
		t.Errorf("%d lookups; want 1: the last name is remembered, the first forgotten", n)
	}
}

func TestProxy(t *testing.T) {
	web := crawltest.MustWeb("-- http://a.example/x?y=1 --\n" + town + "\n-- http://10.0.0.1/ --\nbehind\n").Start(1)
	defer web.Close()
	var looked atomic.Bool
	through := func(o *fetch.Options) {
		o.AllowPrivate = false
		o.Proxy = web.Proxy()
		o.Resolve = func(context.Context, string) ([]netip.Addr, error) {
			looked.Store(true)
			return nil, errors.New("nobody may ask")
		}
	}
	c := client(t, through)
	r, err := c.Fetch(t.Context(), mustParse(t, "http://a.example/x?y=1"))
	if err != nil || !strings.Contains(string(r.Body), town) || r.RemoteIP != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := c.Fetch(t.Context(), mustParse(t, "http://10.0.0.1/")); fetch.Class(err) != "private_address" {
		t.Errorf("an address inside: %v; want class private_address", err)
	}
	if looked.Load() {
		t.Error("a name was looked up behind the proxy")
	}
	if _, err := c.Fetch(t.Context(), mustParse(t, "https://a.example/")); fetch.Class(err) == "" { // no CONNECT there
		t.Errorf("CONNECT refused: %v; want a class", err)
	}
	gone := client(t, func(o *fetch.Options) { through(o); o.Proxy = "http://127.0.0.1:1" })
	if _, err := gone.Fetch(t.Context(), mustParse(t, "http://a.example/")); fetch.Class(err) != "connect" {
		t.Errorf("no proxy there: %v; want class connect", err)
	}
}

// TestTunnel fetches https through a proxy that does CONNECT.
func TestTunnel(t *testing.T) {
	root := certificate(t, "Root", time.Now().Add(time.Hour), nil)
	pool := x509.NewCertPool()
	pool.AddCert(root.Leaf)
	site := secure(t, certificate(t, "a.example", time.Now().Add(time.Hour), &root),
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, town)
		})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "a.example:443" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		there, err := net.Dial("tcp", site.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer there.Close()
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer here.Close()
		io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { io.Copy(there, here); there.Close() }()
		io.Copy(here, there)
	}))
	defer proxy.Close()
	c := client(t, func(o *fetch.Options) { o.Proxy = proxy.URL; o.RootCAs = pool; o.AllowPrivate = false })
	r, err := c.Fetch(t.Context(), mustParse(t, "https://a.example/"))
	if err != nil || string(r.Body) != town {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = c.Fetch(t.Context(), mustParse(t, "https://b.example/"))
	if fetch.Class(err) != "connect" {
		t.Errorf("refused tunnel: %v of class %q; want connect", err, fetch.Class(err))
	}
	c.Close()
}

// TestRequest checks what we send.
func TestRequest(t *testing.T) {
	var got *http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Content-Type", "text/html")
	}))
	defer s.Close()
	c := client(t, nil)
	base := "http://a.example:" + port(s.Listener.Addr())
	for _, path := range []string{"/", "//x//", "/a%2Fb/%C3%BC?q=%C3%A4+b&c", "/a|b", "/100%25", "/[x]'(y)*;z=1", "/?a?b/c", "/%3Fx"} {
		if _, err := c.Fetch(t.Context(), mustParse(t, base+path)); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		want := strings.ReplaceAll(path, "|", "%7C")
		if got.RequestURI != want {
			t.Errorf("%s: asked for %s", path, got.RequestURI)
		}
	}
	h := got.Header
	if got.Method != "GET" || got.Host != strings.TrimPrefix(base, "http://") || h.Get("User-Agent") != "gazehound/test (+http://127.0.0.1/bot)" ||
		h.Get("Accept") != "text/html,application/xhtml+xml,*/*;q=0.1" || h.Get("Accept-Encoding") != "gzip, br, zstd, deflate" ||
		len(h) != 3 {
		t.Errorf("sent %s %s %v", got.Method, got.Host, h)
	}
}

func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*fetch.Options){
		"no agent":      func(o *fetch.Options) { o.UserAgent = "" },
		"agent injects": func(o *fetch.Options) { o.UserAgent = "a\r\nX: y" },
		"proxy scheme":  func(o *fetch.Options) { o.Proxy = "127.0.0.1:3128" },
		"proxy ftp":     func(o *fetch.Options) { o.Proxy = "ftp://127.0.0.1:3128" },
		"proxy host":    func(o *fetch.Options) { o.Proxy = "http://" },
		"proxy garbage": func(o *fetch.Options) { o.Proxy = "http://[" },
	} {
		o := fetch.DefaultOptions()
		change(&o)
		if _, err := fetch.New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := fetch.DefaultOptions().Validate(); err != nil {
		t.Error(err)
	}
}
