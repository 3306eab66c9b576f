package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"gazehound/crawler/weburl"
	"gazehound/internal/oserr"
)

// The classes of errors. They are stored in the crawl tree and counted in reports, so they never
// change.
const (
	ClassDNS            = "dns"             // the name has no address, or the lookup failed
	ClassConnect        = "connect"         // refused, unreachable, reset, or closed before the end
	ClassTLS            = "tls"             // failed handshake, or an invalid certificate
	ClassTimeout        = "timeout"         // Options.Timeout passed before the last byte
	ClassTooLarge       = "too_large"       // header or decoded body over the limit
	ClassContentType    = "content_type"    // none of Options.ContentTypes
	ClassPrivateAddress = "private_address" // every address of the host is refused by the guard
	// not HTTP, an invalid encoding, or a port of another protocol
	ClassProtocol = "protocol"
)

// An Error is a failed exchange. Its class is stable, its text is for people
// and may quote at most a few hundred bytes of what the server sent.
type Error struct {
	Class string
	URL   weburl.URL
	Err   error

	// Reused means that the connection had carried another response before, which may be the cause
	// of the error, such as a body after a 204. The next exchange uses a new connection.
	Reused bool
}

const maxErrorText = 300

func (e *Error) Error() string {
	text := e.Err.Error()
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	return fmt.Sprintf("fetch: %s: %s: %s", e.URL, e.Class, text)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Class returns the class of the *Error in err's chain, or "" if there is none, as for nil and for
// a cancelled context.
func Class(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return ""
}

var errNoTunnel = errors.New("proxy makes no connection")

// NobodyListens reports whether err means that nothing listens on the port: the connection was
// refused, or the proxy could not make one.
func NobodyListens(err error) bool {
	return errors.Is(err, oserr.Refused) || errors.Is(err, errNoTunnel)
}

// A classed error has its class already.
type classed struct {
	class string
	err   error
}

func (e *classed) Error() string { return e.err.Error() }
func (e *classed) Unwrap() error { return e.err }

func classedf(class, format string, args ...any) error {
	return &classed{class, fmt.Errorf(format, args...)}
}

// classify returns the class of an error of net/http. Any cause without a class of its own means a
// server that does not speak HTTP.
func classify(err error) string {
	if e, ok := errors.AsType[*classed](err); ok {
		return e.class
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return ClassDNS
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return ClassTimeout
	}
	if isTLS(err) {
		return ClassTLS
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return ClassTimeout
	}
	if isConnect(err) {
		return ClassConnect
	}
	if text := err.Error(); strings.Contains(text, "server response headers exceeded") ||
		strings.Contains(text, "response header list larger") {
		return ClassTooLarge
	}
	return ClassProtocol
}

func isTLS(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return true
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	inner := err
	for next := errors.Unwrap(inner); next != nil; next = errors.Unwrap(inner) {
		inner = next
	}
	text := inner.Error()
	return strings.HasPrefix(text, "tls: ") || strings.HasPrefix(text, "x509: ") ||
		strings.HasSuffix(text, "server gave HTTP response to HTTPS client")
}

func isConnect(err error) bool {
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	if errors.Is(err, oserr.Reset) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	text := err.Error()
	return strings.Contains(text, "server closed idle connection") ||
		strings.Contains(text, "http2: client connection") ||
		strings.Contains(text, "GOAWAY")
}
