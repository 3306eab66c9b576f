package crawltest

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// A Hostile is a server on loopback that speaks raw TCP and answers each path
// with one kind of bad behaviour: the path "/reset" is the case "reset".
// Cases lists them.
type Hostile struct {
	listener net.Listener
	running  context.Context
	stop     context.CancelFunc
	work     sync.WaitGroup
}

// NewHostile starts a server; Close ends it. It panics where loopback cannot
// be listened on.
func NewHostile() *Hostile {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(fmt.Sprintf("crawltest: %v", err))
	}
	h := &Hostile{listener: l}
	h.running, h.stop = context.WithCancel(context.Background())
	h.work.Go(h.accept)
	return h
}

// Addr returns host and port.
func (h *Hostile) Addr() string { return h.listener.Addr().String() }

// URL returns the URL of a case.
func (h *Hostile) URL(name string) string { return "http://" + h.Addr() + "/" + name }

// Close ends all connections and waits for their goroutines.
func (h *Hostile) Close() {
	h.stop()
	h.listener.Close()
	h.work.Wait()
}

func (h *Hostile) accept() {
	for {
		c, err := h.listener.Accept()
		if err != nil {
			return
		}
		h.work.Go(func() {
			defer context.AfterFunc(h.running, func() { c.Close() })()
			h.serve(c)
		})
	}
}

// serve answers requests until a case ends the connection.
func (h *Hostile) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for nth := 1; ; nth++ {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		answer, ok := cases()[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			answer = page("404 Not Found", "", "<p>no such case")
		}
		if !answer(&exchange{c, h.running, nth}) {
			return
		}
	}
}

// An exchange is one request to be answered badly.
type exchange struct {
	net.Conn
	running context.Context // until the server stops
	nth     int             // request of its connection, from 1
}

// printf writes a piece of an answer and reports whether the client still listens.
func (e *exchange) printf(format string, args ...any) bool {
	_, err := fmt.Fprintf(e.Conn, format, args...)
	return err == nil
}

// sleep waits and reports whether the server still runs.
func (e *exchange) sleep(d time.Duration) bool {
	select {
	case <-e.running.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// An answer writes one response and reports whether the connection goes on.
type answer func(*exchange) bool

// Cases returns the names of all cases in order.
func Cases() []string { return slices.Sorted(maps.Keys(cases())) }

const html = "<!DOCTYPE html><title>Rathaus</title><p>Schloßplatz 1, 26122 Oldenburg\n"

// page answers correctly. header holds whole lines.
func page(status, header, body string) answer {
	if !strings.Contains(header, "Content-Type:") {
		header = "Content-Type: text/html; charset=utf-8\r\n" + header
	}
	return whole(fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s", status, header, len(body), body))
}

// whole writes a complete response, after which the client may use the
// connection again.
func whole(text string) answer {
	return func(e *exchange) bool { return e.printf("%s", text) }
}

// raw writes bytes and ends the connection. The bytes must not be a response
// after which a client keeps the connection: whether its next request fails
// would be a matter of who is faster.
func raw(text string) answer {
	return func(e *exchange) bool {
		e.printf("%s", text)
		return false
	}
}

// drip writes head and then one byte a tick, for ever.
func drip(head, b string) answer {
	return func(e *exchange) bool {
		e.printf("%s", head)
		for e.sleep(50*time.Millisecond) && e.printf("%s", b) {
		}
		return false
	}
}

// endless writes head and then piece as fast as it is taken, for ever.
func endless(head, piece string) answer {
	return func(e *exchange) bool {
		e.printf("%s", head)
		for e.printf("%s", piece) {
		}
		return false
	}
}

// encoded answers with a body under a Content-Encoding.
func encoded(encoding, body string) answer {
	return page("200 OK", "Content-Encoding: "+encoding+"\r\n", body)
}

const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

// last ends a head. What follows the body must not be the answer to whatever the
// client asks next on this connection, which would then be judged by it.
const last = "Connection: close\r\n\r\n"

// cases are built at first use: the bombs take a moment.
var cases = sync.OnceValue(func() map[string]answer {
	return map[string]answer{
		// As it should be.
		"good":            page("200 OK", "", html),
		"gzip":            encoded("gzip", gzipped(html)),
		"deflate-zlib":    encoded("deflate", packed("zlib", html)),
		"deflate-raw":     encoded("deflate", packed("deflate", html)),
		"br":              encoded("br", packed("br", html)),
		"zstd":            encoded("zstd", packed("zstd", html)),
		"gzip-twice":      encoded("gzip, gzip", gzipped(gzipped(html))),
		"chunked":         whole(ok + "Transfer-Encoding: chunked\r\n\r\n" + chunk(html) + "0\r\n\r\n"),
		"close-delimited": raw(ok + "Connection: close\r\n\r\n" + html),
		"latin1-header":   page("200 OK", "X-Ort: K\xf6ln\r\n", html),

		// Time.
		"never-answers": func(e *exchange) bool { e.sleep(time.Hour); return false },
		"slow-header":   drip("HTTP/1.1 200 OK\r\nX-Slow: ", "x"),
		"slow-body":     drip(ok+"\r\n", "x"),

		// The connection.
		"closes-at-once":    func(*exchange) bool { return false },
		"reset-before":      reset(""),
		"reset-mid-body":    reset(ok + "Content-Length: 5000\r\n\r\n" + html),
		"closes-second-use": func(e *exchange) bool { return e.nth == 1 && page("200 OK", "", html)(e) },

		// The head.
		"http-0.9":        raw(html),
		"bad-status-line": raw("HTTP/1.1 200:OK\r\n\r\n" + html),
		"status-999":      page("999 Request denied", "", html),
		"status-abc":      page("abc", "", html),
		"binary-status":   raw("\x00\x01\x02\xff\xfe\r\n\r\n"),
		"switching": raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: nonsense\r\n" +
			"Connection: Upgrade\r\n\r\n"),
		"continues":            endless("", "HTTP/1.1 100 Continue\r\n\r\n"),
		"header-without-colon": raw("HTTP/1.1 200 OK\r\nContent-Type text/html\r\n\r\n" + html),
		"header-folded":        page("200 OK", "X-Folded: a\r\n  b\r\n", html),
		"header-nul":           page("200 OK", "X-Nul: a\x00b\r\n", html),
		"header-cr":            page("200 OK", "X-Cr: a\rb\r\n", html),
		"header-10mb":          page("200 OK", "X-Big: "+strings.Repeat("x", 10<<20)+"\r\n", html),
		"headers-10000":        page("200 OK", strings.Repeat("X-Many: of these are too much\r\n", 10_000), html),
		"headers-endless":      endless("HTTP/1.1 200 OK\r\n", "X-Flood: there is always one more\r\n"),
		"cookies-1mb":          page("200 OK", "Set-Cookie: a="+strings.Repeat("c", 1<<20)+"\r\n", html),

		// Length and chunks.
		"length-abc":       raw(ok + "Content-Length: abc\r\n\r\n" + html),
		"length-negative":  raw(ok + "Content-Length: -5\r\n\r\n" + html),
		"length-too-long":  raw(ok + "Content-Length: 99999\r\n\r\n" + html),
		"length-too-short": raw(ok + "Content-Length: 10\r\n" + last + html),
		"length-twice":     raw(ok + "Content-Length: 5\r\nContent-Length: 50\r\n\r\n" + html),
		"length-10gb":      raw(ok + "Content-Length: 10737418240\r\n\r\n" + html),
		"chunk-bad-size":   raw(ok + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n" + html),
		"chunk-no-end":     raw(ok + "Transfer-Encoding: chunked\r\n\r\n" + chunk(html)),
		"chunk-huge-size":  raw(ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n" + html),
		"chunk-endless":    endless(ok+"Transfer-Encoding: chunked\r\n\r\n", chunk(strings.Repeat("x", 4096))),
		"chunk-tiny": endless(ok+"Transfer-Encoding: chunked\r\n\r\n",
			strings.Repeat("8\r\nxxxxxxxx\r\n", 500)),
		"body-endless":   endless(ok+"\r\n", strings.Repeat("x", 4096)),
		"body-too-large": page("200 OK", "", strings.Repeat("x", 4<<20)),
		"204-with-body": raw("HTTP/1.1 204 No Content\r\nContent-Type: text/html\r\n" +
			"Content-Length: 9\r\n" + last + "<p>a</p>\n"),
		"304-with-body": raw("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n" + last + "<p>a</p>\n"),
		"401-endless": endless("HTTP/1.1 401 Unauthorized\r\nContent-Type: text/html\r\n\r\n",
			strings.Repeat("x", 4096)),
		"404-broken-body": raw("HTTP/1.1 404 Not Found\r\nContent-Encoding: gzip\r\n" +
			"Content-Length: 900\r\n\r\n\x1f\x8bxx"),
		"503-retry-after":    page("503 Service Unavailable", "Retry-After: 120\r\n", html),
		"429-retry-10-years": page("429 Too Many Requests", "Retry-After: 315360000\r\n", html),

		// Content codings.
		"gzip-bomb":        encoded("gzip", gzipped(strings.Repeat("\x00", 16<<20))),
		"gzip-bomb-twice":  encoded("gzip, gzip", gzipped(gzipped(strings.Repeat("\x00", 16<<20)))),
		"br-bomb":          encoded("br", packed("br", strings.Repeat("a", 4<<20))),
		"zstd-bomb":        encoded("zstd", packed("zstd", strings.Repeat("a", 4<<20))),
		"gzip-in-gzip":     encoded("gzip", gzipped(gzipped(html))),
		"gzip-plain":       encoded("gzip", html),
		"gzip-truncated":   encoded("gzip", gzipped(html)[:40]),
		"gzip-corrupt":     encoded("gzip", gzipped(html)[:20]+strings.Repeat("\xff", 60)),
		"gzip-trailing":    encoded("gzip", gzipped(html)+"\x00\x00\x00\x00garbage"),
		"gzip-empty":       encoded("gzip", ""),
		"gzip-no-output":   endless(ok+"Content-Encoding: gzip\r\n\r\n", gzipped("")),
		"deflate-corrupt":  encoded("deflate", "\xff\xff\xff\xff"),
		"br-corrupt":       encoded("br", "\xff\xff\xff\xff\xff\xff"),
		"zstd-corrupt":     encoded("zstd", "\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff"),
		"zstd-huge-window": encoded("zstd", "\x28\xb5\x2f\xfd\x00\xf8\x01\x00\x00"),
		"coding-unknown":   encoded("pack200-gzip", html),
		"coding-charset":   encoded("UTF-8", html),
		"coding-many":      encoded(strings.Repeat("gzip,", 50), html),

		// Content types.
		"type-missing":       raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + html),
		"type-missing-pdf":   raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%PDF-1.7\n" + html),
		"type-pdf":           page("200 OK", "Content-Type: application/pdf\r\n", "%PDF-1.7\n"),
		"type-pdf-as-html":   page("200 OK", "", "%PDF-1.7\n"+html),
		"type-sloppy":        page("200 OK", "Content-Type: TEXT/HTML ;charset=\"ISO-8559-1; x\r\n", html),
		"type-image-endless": endless("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n", strings.Repeat("x", 4096)),

		// Redirects.
		"redirect-self":       redirect("/redirect-self"),
		"redirect-a":          redirect("/redirect-b"),
		"redirect-b":          redirect("/redirect-a"),
		"redirect-none":       page("302 Found", "", html),
		"redirect-empty":      redirect(""),
		"redirect-javascript": redirect("javascript:alert(1)"),
		"redirect-file":       redirect("file:///etc/passwd"),
		"redirect-data":       redirect("data:text/html,hello"),
		"redirect-ftp":        redirect("ftp://a.example/"),
		"redirect-relative":   redirect("../good?x=1#y"),
		"redirect-slashes":    redirect("//"),
		"redirect-latin1":     redirect("/stra\xdfe"),
		"redirect-private":    redirect("http://169.254.169.254/latest/meta-data/"),
		"redirect-endless": endless("HTTP/1.1 301 Moved Permanently\r\nLocation: /good\r\n"+
			"Content-Type: text/html\r\n\r\n",
			strings.Repeat("x", 4096)),
	}
})

func redirect(location string) answer {
	return page("302 Found", "Location: "+location+"\r\n", "")
}

// reset writes text and ends the connection with a TCP reset.
func reset(text string) answer {
	return func(e *exchange) bool {
		e.printf("%s", text)
		e.sleep(20 * time.Millisecond) // lets the client read it first
		e.Conn.(*net.TCPConn).SetLinger(0)
		return false
	}
}

func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// coders write content codings.
var coders = map[string]func(w io.Writer) io.WriteCloser{
	"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"zlib": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	"br":   func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, brotli.BestSpeed) },
	"deflate": func(w io.Writer) io.WriteCloser {
		f, _ := flate.NewWriter(w, flate.DefaultCompression) // fails for unknown levels only
		return f
	},
	"zstd": func(w io.Writer) io.WriteCloser {
		z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) // fails for bad options only
		return z
	},
}

// packed returns a text in a coding.
func packed(coding, text string) string {
	var b bytes.Buffer
	w := coders[coding](&b)
	_, err := io.WriteString(w, text)
	if err != nil {
		panic(err)
	}
	err = w.Close()
	if err != nil {
		panic(err)
	}
	return b.String()
}

func gzipped(text string) string { return packed("gzip", text) }
