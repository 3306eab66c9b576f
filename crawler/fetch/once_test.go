package fetch_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"gazehound/crawler/fetch"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A host that closes a reused connection after it has read a request sees that request once: a retry
// is up to the caller, who keeps the delay.
func TestAsksOnce(t *testing.T) {
	for name, test := range map[string]struct{ last, class string }{
		"closed":           {"", fetch.ClassConnect},
		"garbage":          {"no HTTP at all\r\n\r\n", fetch.ClassProtocol},
		"half an answer":   {"HTTP/1.1 200 OK\r\nContent-Le", fetch.ClassProtocol},
		"answer by itself": {"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			var requests, connections atomic.Int64
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					connections.Add(1)
					go func() {
						defer conn.Close()
						in := bufio.NewReader(conn)
						for {
							if _, err := http.ReadRequest(in); err != nil {
								return
							}
							if requests.Add(1) == 3 {
								io.WriteString(conn, test.last)
								return
							}
							io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok")
						}
					}()
				}
			}()
			c := client(t, nil)
			u := mustParse(t, "http://"+listener.Addr().String()+"/")
			for range 2 {
				if r, err := c.Fetch(t.Context(), u); err != nil || string(r.Body) != "ok" {
					t.Fatal(r, err)
				}
			}
			r, err := c.Fetch(t.Context(), u)
			if fetch.Class(err) != test.class || err == nil && r.Status != http.StatusRequestTimeout {
				t.Errorf("%+v, %v; want class %q", r, err, test.class)
			}
			// A busy machine may open a second connection while the first is still being given back.
			if e, ok := errors.AsType[*fetch.Error](err); ok && name == "garbage" && connections.Load() == 1 && !e.Reused {
				t.Errorf("%v: the connection was in use before", err)
			}
			if n := requests.Load(); n != 3 {
				t.Errorf("the host saw %d requests of 3", n)
			}
			if r, err := c.Fetch(t.Context(), u); err != nil || string(r.Body) != "ok" || connections.Load() > 3 {
				t.Errorf("afterwards: %+v, %v, %d connections", r, err, connections.Load())
			}
		})
	}
}

// The same over HTTP/2, where a server may refuse a request so that clients
// try again at once.
func TestAsksOnceOverHTTP2(t *testing.T) {
	root := certificate(t, "Root", time.Now().Add(time.Hour), nil)
	pool := x509.NewCertPool()
	pool.AddCert(root.Leaf)
	server := certificate(t, "a.example", time.Now().Add(time.Hour), &root)
	for name, last := range map[string]func(f *http2.Framer, stream uint32){
		"closed":         func(*http2.Framer, uint32) {},
		"goes away":      func(f *http2.Framer, stream uint32) { f.WriteGoAway(stream-2, http2.ErrCodeNo, nil) },
		"refused stream": func(f *http2.Framer, stream uint32) { f.WriteRSTStream(stream, http2.ErrCodeRefusedStream) },
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{server}, NextProtos: []string{"h2"}})
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			var requests atomic.Int64
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					go func() {
						defer conn.Close()
						serveHTTP2(conn, func(f *http2.Framer, stream uint32) (more bool) {
							if requests.Add(1) == 3 {
								last(f, stream)
								return name == "refused stream"
							}
							var header bytes.Buffer
							h := hpack.NewEncoder(&header)
							h.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
							h.WriteField(hpack.HeaderField{Name: "content-type", Value: "text/html"})
							f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: header.Bytes(), EndHeaders: true})
							return f.WriteData(stream, true, []byte("ok")) == nil
						})
					}()
				}
			}()
			c := client(t, func(o *fetch.Options) { o.RootCAs = pool })
			u := mustParse(t, "https://a.example:"+port(listener.Addr()))
			for range 2 {
				if r, err := c.Fetch(t.Context(), u); err != nil || string(r.Body) != "ok" {
					t.Fatal(r, err)
				}
			}
			if r, err := c.Fetch(t.Context(), u); fetch.Class(err) != fetch.ClassConnect {
				t.Errorf("%+v, %v; want class connect", r, err)
			}
			if n := requests.Load(); n != 3 {
				t.Errorf("the host saw %d requests of 3", n)
			}
			r, err := c.Fetch(t.Context(), u)
			for range 1000 { // until the end of the connection is known
				if err == nil {
					break
				}
				time.Sleep(time.Millisecond)
				r, err = c.Fetch(t.Context(), u)
			}
			if err != nil || string(r.Body) != "ok" {
				t.Errorf("afterwards: %+v, %v", r, err)
			}
		})
	}
}

// serveHTTP2 calls answer with the stream of every request until that returns
// false or the client is gone.
func serveHTTP2(conn net.Conn, answer func(f *http2.Framer, stream uint32) (more bool)) {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(conn, preface); err != nil {
		return
	}
	f := http2.NewFramer(conn, conn)
	f.WriteSettings()
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				f.WriteSettingsAck()
			}
		case *http2.PingFrame:
			f.WritePing(true, frame.Data)
		case *http2.HeadersFrame:
			if !answer(f, frame.StreamID) {
				return
			}
		}
	}
}
