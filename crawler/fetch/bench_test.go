package fetch_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gazehound/crawler/fetch"
)

// BenchmarkFetch fetches pages of 16 kB from loopback: through the Client, and
// with net/http alone as the naive baseline, which neither limits nor guards.
func BenchmarkFetch(b *testing.B) {
	page := []byte("<!DOCTYPE html><title>Rathaus</title>" + strings.Repeat("<p>Schloßplatz 1, 26122 Oldenburg ", 16<<10/36))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(page)
	z.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/gzip" && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(packed.Bytes())
			return
		}
		w.Write(page)
	}))
	defer s.Close()
	c := client(b, nil)
	defer c.Close()
	bare := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 2}}
	defer bare.CloseIdleConnections()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range []string{"/plain", "/gzip"} {
		raw := "http://127.0.0.1:" + port + path
		u := mustParse(b, raw)
		for _, f := range []struct {
			name  string
			fetch func() (int, error)
		}{
			{"client", func() (int, error) {
				r, err := c.Fetch(b.Context(), u)
				if err != nil {
					return 0, err
				}
				return len(r.Body), nil
			}},
			{"http.Get", func() (int, error) {
				r, err := bare.Get(raw)
				if err != nil {
					return 0, err
				}
				defer r.Body.Close()
				body, err := io.ReadAll(r.Body)
				return len(body), err
			}},
		} {
			b.Run(strings.TrimPrefix(path, "/")+"/"+f.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetParallelism(1)
				var pages atomic.Int64
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if n, err := f.fetch(); err != nil || n != len(page) {
							b.Errorf("%d bytes, %v", n, err)
							return
						}
						pages.Add(1)
					}
				})
				b.ReportMetric(float64(pages.Load())/b.Elapsed().Seconds(), "pages/s")
			})
		}
	}
}

// BenchmarkNames looks names up that are remembered.
func BenchmarkNames(b *testing.B) {
	c := client(b, func(o *fetch.Options) { o.DNSNames = 200_000 })
	names := make([]string, 100_000)
	for i := range names {
		names[i] = fmt.Sprintf("www.host-%d.example", i)
	}
	n := 0
	for b.Loop() {
		c.Resolve(b.Context(), names[n%len(names)])
		n++
	}
}
