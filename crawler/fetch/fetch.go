// Package fetch fetches pages from the live web: one HTTP exchange per call, with limits on
// everything a server may send, and never from an address that is not on the public internet. Start
// with [Client.Fetch].
package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"

	"golang.org/x/net/http/httpguts"
)

// Options tune a Client.
type Options struct {
	UserAgent    string        // as sent; should name a contact
	Timeout      time.Duration // of one exchange, from the lookup of the name to the last byte
	MaxBody      int64         // bytes of a decoded body
	MaxHeader    int64         // bytes of a response header
	ContentTypes []string      // media types that Fetch admits, in lower case; none: all

	// Proxy is the URL (http, https, socks5) of a proxy for all requests, or "". With a proxy no
	// name is looked up here, so that the guard sees only hosts that are addresses, and names such
	// as localhost.
	Proxy string
	// AllowPrivate admits loopback addresses, for tests and demonstrations; other private addresses
	// stay refused.
	AllowPrivate bool
	// OwnPort reports whether the program itself listens on a port of this machine. Such ports
	// never get requests, even with AllowPrivate. nil: none.
	OwnPort func(port uint16) bool

	// Resolve looks up names, never IP addresses; nil: the system's resolver.
	Resolve  func(ctx context.Context, host string) ([]netip.Addr, error)
	DNSTTL   time.Duration // how long addresses are remembered
	DNSNames int           // how many names are remembered

	KeepRaw bool // keep the Raw body of responses
	// Host returns additional header fields and credentials for the host of a URL; nil: none.
	Host func(u weburl.URL) Host
	// Cookies keeps the cookies of a site for the life of the Client and sends them back to that
	// site. Without it, none is ever sent.
	Cookies bool

	IdlePerHost int // connections kept open to one host
	Idle        int // connections kept open in all
	RootCAs     *x509.CertPool
}

// DefaultOptions returns the options of config.yaml as shipped. UserAgent lacks the contact.
func DefaultOptions() Options {
	return Options{
		UserAgent:    "gazehound",
		Timeout:      20 * time.Second,
		MaxBody:      2_000_000,
		MaxHeader:    256_000,
		ContentTypes: []string{"text/html", "application/xhtml+xml", "text/plain", "application/xml", "text/xml"},
		DNSTTL:       time.Hour,
		DNSNames:     50_000,
		IdlePerHost:  2,
		Idle:         512,
	}
}

// Validate returns an error if o is invalid.
func (o Options) Validate() error {
	if o.UserAgent == "" || !httpguts.ValidHeaderFieldValue(o.UserAgent) {
		return fmt.Errorf("fetch: user agent %q cannot be sent in a header", o.UserAgent)
	}
	_, err := o.proxy()
	return err
}

func (o Options) proxy() (*url.URL, error) {
	if o.Proxy == "" {
		return nil, nil
	}
	p, err := url.Parse(o.Proxy)
	if err != nil {
		return nil, fmt.Errorf("fetch: proxy: %w", err)
	}
	switch p.Scheme {
	case "http", "https", "socks5", "socks5h":
	default:
		return nil, fmt.Errorf("fetch: proxy %q needs a scheme: http, https or socks5, such as "+
			"http://127.0.0.1:3128", o.Proxy)
	}
	if p.Host == "" {
		return nil, fmt.Errorf("fetch: proxy %q names no host", o.Proxy)
	}
	return p, nil
}

// A Client fetches pages. It is safe for concurrent use.
type Client struct {
	options   Options
	accept    string
	types     map[string]bool
	names     *resolver
	dialer    net.Dialer
	transport *http.Transport
	cookies   *cookieStore // nil: none
}

// New returns a Client, or the error of o.Validate. It makes no connection.
func New(o Options) (*Client, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := &Client{
		options: o,
		accept:  "*/*",
		types:   make(map[string]bool),
		names:   newResolver(o.Resolve, o.DNSTTL, o.DNSNames),
	}
	if len(o.ContentTypes) > 0 {
		// plain text and XML are admitted, and not preferred to HTML where a server offers both
		html := slices.DeleteFunc(slices.Clone(o.ContentTypes), func(t string) bool { return !strings.Contains(t, "html") })
		c.accept = strings.Join(append(html, "*/*;q=0.1"), ",")
	}
	if o.Cookies {
		c.cookies = newCookieStore()
	}
	for _, t := range o.ContentTypes {
		c.types[strings.ToLower(t)] = true
	}
	c.dialer.Control = c.guard
	c.transport = &http.Transport{
		DialContext:            c.dial,
		TLSClientConfig:        &tls.Config{RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    o.connect(),
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // Decode does it
		MaxIdleConns:           o.Idle,
		MaxIdleConnsPerHost:    o.IdlePerHost,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: o.MaxHeader,
		ReadBufferSize:         16 << 10,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream:     1 << 20,
			MaxReceiveBufferPerConnection: 2 << 20,
			SendPingTimeout:               15 * time.Second, // a dead connection is noticed and not reused
			PingTimeout:                   5 * time.Second,
		},
	}
	if proxy, _ := o.proxy(); proxy != nil {
		c.transport.Proxy = http.ProxyURL(proxy)
		c.transport.DialContext = (&net.Dialer{Timeout: o.connect()}).DialContext
		c.transport.MaxIdleConnsPerHost = o.Idle // http requests to all hosts go over the same connections
		c.transport.OnProxyConnectResponse = func(
			_ context.Context, _ *url.URL, _ *http.Request, r *http.Response,
		) error {
			if r.StatusCode != http.StatusOK {
				return classedf(ClassConnect, "%w: %s", errNoTunnel, r.Status)
			}
			return nil
		}
	}
	return c, nil
}

// connect is the part of the timeout for lookup and connection, or for a TLS handshake. It is
// shorter than the whole so that the error can name the phase.
func (o Options) connect() time.Duration { return min(10*time.Second, o.Timeout/2) }

// Close closes the idle connections. The Client can be used further.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Fetch sends one request for u, even if the connection is lost, and returns the response. It never
// follows redirects: a response with a status of 300 to 399 has its Location, if that is usable. A
// status other than 2xx is no error; of such bodies only the beginning is kept.
//
// Errors are an *Error, or wrap the error of ctx if that is done. A 2xx body longer than MaxBody is
// cut and Cut is set. The content type is checked
// before the body is read; a missing or evidently wrong one is sniffed from the first 512 bytes.
func (c *Client) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	return c.exchange(ctx, u, want{accept: c.accept, types: c.types, max: c.options.MaxBody})
}

// FetchIf is a conditional Fetch: if the page still has the validators v, the response has status
// 304 and no body.
func (c *Client) FetchIf(ctx context.Context, u weburl.URL, v page.Validators) (*page.Response, error) {
	return c.exchange(ctx, u, want{accept: c.accept, types: c.types, max: c.options.MaxBody, unless: v})
}

// FetchPrefix is Fetch for files that are no pages, such as robots.txt: of any
// content type, and cut after limit bytes of the decoded body.
func (c *Client) FetchPrefix(ctx context.Context, u weburl.URL, limit int64) (*page.Response, error) {
	return c.exchange(ctx, u, want{accept: "*/*", max: limit, cut: true})
}

// Resolve returns the addresses of a host name without port, from the cache that connections use,
// so that delays per address and requests agree. It does not apply the guard.
func (c *Client) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.connect())
	defer cancel()
	return c.names.addresses(ctx, strings.Trim(host, "[]"))
}

// A want is what one exchange accepts.
type want struct {
	accept string
	types  map[string]bool // empty: all
	max    int64           // bytes of the decoded body
	cut    bool            // a longer body is cut and no error
	unless page.Validators // for a conditional request
}

const (
	maxOtherBody = 64 << 10 // bytes kept of bodies with a status other than 2xx
	sniffLength  = 512
)

func (c *Client) exchange(parent context.Context, u weburl.URL, w want) (*page.Response, error) {
	ctx, cancel := context.WithTimeout(parent, c.options.Timeout)
	defer cancel()
	r := &page.Response{URL: u, Fetched: time.Now()}
	err := c.roundTrip(ctx, r, w)
	if err == nil {
		r.Took = time.Since(r.Fetched)
		return r, nil
	}
	if parent.Err() != nil {
		return nil, fmt.Errorf("fetch: %s: %w", u, parent.Err())
	}
	e := &Error{Class: classify(err), URL: u, Err: err}
	if inUse, ok := errors.AsType[*inUse](err); ok {
		e.Err, e.Reused = inUse.error, true
	}
	return nil, e
}

// inUse is an error on a connection that had carried another response before.
type inUse struct{ error }

func (e *inUse) Unwrap() error { return e.error }

func (c *Client) roundTrip(ctx context.Context, r *page.Response, w want) error {
	if r.URL.IsZero() {
		return errors.New("the zero URL")
	}
	if p := badPort(r.URL.Host()); p != "" {
		return classedf(ClassProtocol, "port %s belongs to another protocol", p)
	}
	if err := c.refuseHost(r.URL); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	connections, reused := 0, false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			connections++
			if connections > 1 {
				// net/http is about to send the request again because the connection was closed.
				// The host may have seen the first one, and its delay has not passed.
				cancel()
				info.Conn.Close()
				return
			}
			reused = info.Reused
			if at, ok := info.Conn.RemoteAddr().(*net.TCPAddr); ok && c.transport.Proxy == nil {
				r.RemoteIP = at.AddrPort().Addr().Unmap().String()
			}
		},
	})
	request, err := c.request(ctx, r.URL, w)
	if err != nil {
		return err
	}
	r.Request = request.Header.Clone() // without secrets, since it may be archived
	c.dress(request, r.URL)
	response, err := c.transport.RoundTrip(request)
	switch {
	case connections > 1:
		if err == nil {
			response.Body.Close()
		}
		return classedf(ClassConnect, "the host closed the connection before it answered")
	case err != nil && reused:
		return &inUse{err}
	case err != nil:
		return err
	}
	defer response.Body.Close()
	r.Status, r.Header = response.StatusCode, response.Header
	if c.cookies != nil {
		c.cookies.keep(response, r.URL)
	}
	if r.Status < 200 || r.Status > 599 {
		return classedf(ClassProtocol, "status %d", r.Status)
	}
	if 300 <= r.Status && r.Status <= 399 && r.Status != http.StatusNotModified {
		r.Location = location(r.URL, r.Header.Get("Location"))
	}
	if r.Status > 299 {
		// errors do not matter: the status is enough
		r.Body, _ = c.body(r, response, want{max: min(w.max, maxOtherBody), cut: true})
		return nil
	}
	r.Body, err = c.body(r, response, w)
	return err
}

func (c *Client) request(ctx context.Context, u weburl.URL, w want) (*http.Request, error) {
	path, err := url.PathUnescape(u.Path())
	if err != nil {
		return nil, classedf(ClassProtocol, "path: %w", err)
	}
	request := &http.Request{
		Method: http.MethodGet,
		URL:    &url.URL{Scheme: u.Scheme(), Host: u.Host(), Path: path, RawPath: u.Path(), RawQuery: u.Query()},
		Host:   u.Host(),
		Header: http.Header{
			"User-Agent":      {c.options.UserAgent},
			"Accept":          {w.accept},
			"Accept-Encoding": {acceptEncoding},
		},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if t := w.unless.ETag; t != "" && httpguts.ValidHeaderFieldValue(t) {
		request.Header.Set("If-None-Match", t)
	}
	if t := w.unless.Modified; t != "" && httpguts.ValidHeaderFieldValue(t) {
		request.Header.Set("If-Modified-Since", t)
	}
	return request.WithContext(ctx), nil
}

// body reads and decodes the body within the limits of w, and sets Raw and Cut of r.
func (c *Client) body(r *page.Response, response *http.Response, w want) ([]byte, error) {
	declared := mediaType(response.Header.Get("Content-Type"))
	if declared != "" && len(w.types) > 0 && !w.types[declared] {
		return nil, classedf(ClassContentType, "content type %q is not accepted", declared)
	}
	limit := w.max
	if !w.cut {
		limit++ // one byte more shows a longer body
		if response.Header["Content-Encoding"] == nil && response.ContentLength > muchLonger*w.max {
			return nil, classedf(ClassTooLarge, "body is announced with %d bytes, over %d", response.ContentLength,
				w.max)
		}
	}
	sent := &wire{r: response.Body, limit: limit + slack}
	if c.options.KeepRaw {
		sent.kept = new(bytes.Buffer)
		defer func() { r.Raw = sent.kept.Bytes() }()
	}
	decoded, err := Decode(response.Header, sent)
	if err != nil {
		return nil, sent.failed(err)
	}
	var buffer bytes.Buffer
	if len(w.types) > 0 {
		if _, err := buffer.ReadFrom(io.LimitReader(decoded, min(limit, sniffLength))); err != nil {
			return nil, sent.failed(err)
		}
		if err := sniff(buffer.Bytes(), declared, w.types); err != nil {
			return nil, err
		}
	}
	_, err = buffer.ReadFrom(io.LimitReader(decoded, limit-int64(buffer.Len())))
	switch {
	case w.cut && int64(buffer.Len()) == limit:
		r.Cut, err = true, nil
	case err == nil && int64(buffer.Len()) > w.max:
		r.Cut = true
		buffer.Truncate(int(w.max))
	}
	if err != nil {
		err = sent.failed(err)
	}
	return buffer.Bytes(), err
}

const (
	muchLonger = 16       // times MaxBody: a declared length above this is refused unread
	slack      = 64 << 10 // by which an encoded body may exceed the decoded limit
)

// mediaType returns the type of a Content-Type header in lower case, without parameters; the header
// may be malformed.
func mediaType(header string) string {
	if i := strings.IndexAny(header, ";,"); i >= 0 {
		header = header[:i]
	}
	header = strings.ToLower(strings.TrimSpace(header))
	return header[:min(len(header), 100)]
}

// sniff checks the beginning of a body: without a declared type it must be an admitted one; with
// one, it must not be evidently another.
func sniff(start []byte, declared string, types map[string]bool) error {
	if len(start) == 0 {
		return nil
	}
	found := mediaType(http.DetectContentType(start))
	if declared == "" {
		if types[found] {
			return nil
		}
		return classedf(ClassContentType, "no content type is declared and the body looks like %q", found)
	}
	if !strings.HasPrefix(declared, "text/") && !strings.HasSuffix(declared, "+xml") {
		return nil
	}
	switch {
	case strings.HasPrefix(found, "text/"), found == "application/octet-stream", found == "image/bmp":
		return nil // text; unknown, perhaps UTF-16; "BM", with which a text may begin
	}
	return classedf(ClassContentType, "%q is declared and the body is %q", declared, found)
}

// location returns the target of a redirect from u, or the zero URL if the header has no valid one.
// Bytes that are not UTF-8 are escaped one by one, as browsers do.
func location(u weburl.URL, header string) weburl.URL {
	if header == "" {
		return weburl.URL{}
	}
	if !utf8.ValidString(header) {
		var b strings.Builder
		for i := range len(header) {
			if header[i] < utf8.RuneSelf {
				b.WriteByte(header[i])
			} else {
				fmt.Fprintf(&b, "%%%02X", header[i])
			}
		}
		header = b.String()
	}
	target, err := u.Resolve(header)
	if err != nil {
		return weburl.URL{}
	}
	return target
}

// dial connects to one of the addresses of a host. The guard judges each, so a host with a private
// and a public address is reached at the public one. The transport detaches ctx from the request,
// hence the limit here.
func (c *Client) dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.connect())
	defer cancel()
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("port %q: %w", port, err)
	}
	addrs, err := c.names.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	var failed error
	for i, addr := range addrs {
		conn, err := c.dialOne(ctx, network, netip.AddrPortFrom(addr, uint16(number)), len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		if failed == nil || classify(failed) == ClassPrivateAddress {
			failed = err
		}
	}
	return nil, failed
}

// dialOne tries one address within its share of the time left for n.
func (c *Client) dialOne(ctx context.Context, network string, at netip.AddrPort, n int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && n > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(n))
		defer cancel()
	}
	return c.dialer.DialContext(ctx, network, at.String())
}
