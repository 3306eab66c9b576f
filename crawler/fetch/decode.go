package fetch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	br "github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

const (
	acceptEncoding = "gzip, br, zstd, deflate"
	maxCodings     = 3       // content codings on top of each other
	maxWindow      = 8 << 20 // of zstd, bytes; what browsers accept (RFC 9659)
)

// Decode returns a reader of body without the content codings that the header
// names. It starts no goroutine. The caller limits what it reads: a body may
// decode to any length.
func Decode(header http.Header, body io.Reader) (io.Reader, error) {
	var codings []string
	for _, line := range header["Content-Encoding"] {
		for coding := range strings.SplitSeq(line, ",") {
			coding = strings.ToLower(strings.TrimSpace(coding))
			if !isIdentity(coding) {
				codings = append(codings, coding)
			}
		}
	}
	if len(codings) > maxCodings {
		return nil, classedf(ClassProtocol, "%d content codings on one body", len(codings))
	}
	for _, coding := range slices.Backward(codings) {
		r, err := decompressor(coding, bufio.NewReader(body))
		if err != nil {
			return nil, classedAs(coding, err)
		}
		body = &layer{coding: coding, r: r}
	}
	return body, nil
}

// isIdentity reports whether a coding changes nothing; these include charsets and other words that
// servers write there by mistake.
func isIdentity(coding string) bool {
	switch coding {
	case "", "identity", "none", "binary", "8bit", "utf-8", "utf8", "iso-8859-1":
		return true
	}
	return false
}

// A layer decodes one content coding and gives errors of the decompressor their class.
type layer struct {
	coding string
	r      io.Reader
	read   bool // some bytes were read
}

// decompressor returns a decoder of a content coding.
func decompressor(coding string, input *bufio.Reader) (io.Reader, error) {
	magic, err := input.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(magic) == 0 {
		return input, nil // an empty body needs no decoding
	}
	switch coding {
	case "gzip", "x-gzip":
		if len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
			return input, nil // the header is wrong: the body is not compressed
		}
		return gzip.NewReader(input)
	case "br":
		return br.NewReader(input), nil
	case "zstd":
		return zstd.NewReader(input, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
	case "deflate": // zlib by RFC 9110, raw in practice
		if len(magic) == 2 && magic[0]&0x0f == 8 && (uint(magic[0])<<8|uint(magic[1]))%31 == 0 {
			return zlib.NewReader(input)
		}
		return flate.NewReader(input), nil
	}
	return nil, classedf(ClassProtocol, "unknown content coding %q", coding[:min(len(coding), 40)])
}

func (l *layer) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.read = l.read || n > 0
	switch {
	case err == nil, err == io.EOF:
		return n, err
	case l.read && errors.Is(err, gzip.ErrHeader):
		return n, io.EOF // padding after the last gzip member
	}
	return n, classedAs(l.coding, err)
}

// classedAs gives an error of a content coding its class, unless it comes from the connection or a
// layer below.
func classedAs(coding string, err error) error {
	if _, ok := errors.AsType[*wireError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*classed](err); ok {
		return err
	}
	return classedf(ClassProtocol, "body is no valid %s: %w", coding, err)
}

// A wire reads the encoded body from the network, at most limit bytes of it, and marks errors as
// the network's.
type wire struct {
	r     io.Reader
	limit int64
	kept  *bytes.Buffer // copy of the bytes read, or nil
}

func (w *wire) Read(p []byte) (int, error) {
	if w.limit <= 0 {
		return 0, &wireError{classedf(ClassTooLarge, "body on the wire is over the limit")}
	}
	if int64(len(p)) > w.limit {
		p = p[:w.limit]
	}
	n, err := w.r.Read(p)
	w.limit -= int64(n)
	if w.kept != nil {
		w.kept.Write(p[:n])
	}
	if err != nil && err != io.EOF {
		err = &wireError{err}
	}
	return n, err
}

type wireError struct{ err error }

func (e *wireError) Error() string { return e.err.Error() }
func (e *wireError) Unwrap() error { return e.err }
