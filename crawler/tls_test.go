package crawler_test

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"gazehound/crawler/fetch"
	"gazehound/crawler/lab/crawltest"
)

// A page with a bad certificate is requested by http only if the operator allows it, and always if no
// server listens for https.
func TestBadTLSIsNotRetriedByHTTP(t *testing.T) {
	var plain atomic.Int64
	quiet := log.New(io.Discard, "", 0)
	self := httptest.NewUnstartedServer(http.NotFoundHandler()) // nobody knows its authority
	self.Config.ErrorLog = quiet
	self.StartTLS()
	defer self.Close()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			if r.URL.Path != "/robots.txt" {
				plain.Add(1)
			}
			io.WriteString(w, "<p>"+here+"</p>")
			return
		}
		if r.Host == "closed.example:443" {
			http.Error(w, "refused", http.StatusBadGateway)
			return
		}
		to, err := net.Dial("tcp", self.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer to.Close()
		from, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer from.Close()
		io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
		go io.Copy(to, from)
		io.Copy(from, to)
	}))
	defer proxy.Close()
	for _, x := range []struct {
		host  string
		allow bool
		want  int64
	}{{"bad.example", false, 0}, {"bad.example", true, 1}, {"closed.example", false, 1}} {
		s := crawltest.MustWeb(town).Start(1)
		c, l := newCrawler(t, s, "breadth-first", nil, nil)
		s.Close()
		o := fetch.DefaultOptions()
		o.Proxy, o.Timeout = proxy.URL, 5*time.Second
		client, err := fetch.New(o)
		if err != nil {
			t.Fatal(err)
		}
		c.Fetcher, c.Gate, c.Options.PlainForBadTLS = client, noDelays(t, client.FetchPrefix), x.allow
		plain.Store(0)
		seed(t, c, "https://"+x.host+"/page")
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		client.Close()
		if n := plain.Load(); n != x.want {
			t.Errorf("%s, http for bad TLS %v: asked by http %d times, want %d", x.host, x.allow, n, x.want)
		}
		if v := l.visits[len(l.visits)-1]; x.want == 0 && (v.Outcome.Kind != "error" || v.Outcome.Reason != fetch.ClassTLS) {
			t.Errorf("%s: outcome %s %s, want error tls", x.host, v.Outcome.Kind, v.Outcome.Reason)
		}
	}
}
