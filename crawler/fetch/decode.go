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
			return nil, err
		}
		body = r
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
		r, err := gzip.NewReader(input)
		return &gzipReader{r: r}, err
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

// A gzipReader ends without an error at padding after the last gzip member.
type gzipReader struct {
	r    io.Reader
	read bool // some bytes were read
}

func (g *gzipReader) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	g.read = g.read || n > 0
	if g.read && errors.Is(err, gzip.ErrHeader) {
		err = io.EOF
	}
	return n, err
}

// A wire reads the encoded body from the network, at most limit bytes of it, and keeps the error
// that cuts it short: what a decoder makes of that is not the decoder's.
type wire struct {
	r     io.Reader
	limit int64
	kept  *bytes.Buffer // copy of the bytes read, or nil
	err   error         // other than io.EOF
}

func (w *wire) Read(p []byte) (int, error) {
	if w.limit <= 0 {
		w.err = classedf(ClassTooLarge, "body on the wire is over the limit")
		return 0, w.err
	}
	n, err := w.r.Read(p[:min(int64(len(p)), w.limit)])
	w.limit -= int64(n)
	if w.kept != nil {
		w.kept.Write(p[:n])
	}
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

// failed returns why a body that was read from w could not be read: w's own error, or that of its
// decoder.
func (w *wire) failed(err error) error {
	if w.err != nil {
		return w.err
	}
	return classedf(ClassProtocol, "body does not decode: %w", err)
}
