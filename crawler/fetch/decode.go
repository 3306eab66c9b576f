package fetch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

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

// decode returns a reader of body without the content codings that the header
// names, and a function that gives its memory back. It starts no goroutine.
// The caller limits what it reads: a body may decode to any length.
func decode(header http.Header, body io.Reader) (decoded io.Reader, release func(), err error) {
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
		return nil, nil, classedf(ClassProtocol, "%d content codings on one body", len(codings))
	}
	var layers []*layer
	release = func() {
		for _, l := range layers {
			l.release()
		}
	}
	for i := len(codings) - 1; i >= 0; i-- {
		l, err := newLayer(codings[i], body)
		if err != nil {
			release()
			return nil, nil, err
		}
		layers, body = append(layers, l), l
	}
	return body, release, nil
}

// isIdentity tells the codings that change nothing, among them charsets and
// words that careless servers write there.
func isIdentity(coding string) bool {
	switch coding {
	case "", "identity", "none", "binary", "8bit", "utf-8", "utf8", "iso-8859-1":
		return true
	}
	return false
}

// A layer undoes one content coding and gives errors of the decompressor
// their class.
type layer struct {
	coding string
	input  *bufio.Reader
	r      io.Reader
	pool   *sync.Pool // that r returns to, or nil
	read   bool       // something was read
}

// The decompressors with large tables are used again.
var (
	inputs = sync.Pool{New: func() any { return bufio.NewReader(nil) }}
	gzips  = sync.Pool{New: func() any { return new(gzip.Reader) }}
	brotli = sync.Pool{New: func() any { return br.NewReader(nil) }}
	zstds  = sync.Pool{New: func() any {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
		if err != nil {
			panic(err) // the options are constants
		}
		return r
	}}
)

func newLayer(coding string, body io.Reader) (*layer, error) {
	l := &layer{coding: coding, input: inputs.Get().(*bufio.Reader)}
	l.input.Reset(body)
	if err := l.open(); err != nil {
		l.release()
		return nil, l.classed(err)
	}
	return l, nil
}

func (l *layer) open() error {
	l.r = l.input
	magic, err := l.input.Peek(2)
	if err != nil && err != io.EOF {
		return err
	}
	if len(magic) == 0 {
		return nil // an empty body has nothing to decode
	}
	switch l.coding {
	case "gzip", "x-gzip":
		if len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
			return nil // plain text under a false header
		}
		return l.use(&gzips, func(r any) error { return r.(*gzip.Reader).Reset(l.input) })
	case "br":
		return l.use(&brotli, func(r any) error { return r.(*br.Reader).Reset(l.input) })
	case "zstd":
		return l.use(&zstds, func(r any) error { return r.(*zstd.Decoder).Reset(l.input) })
	case "deflate": // zlib by RFC 9110, raw by habit
		if len(magic) == 2 && magic[0]&0x0f == 8 && (uint(magic[0])<<8|uint(magic[1]))%31 == 0 {
			l.r, err = zlib.NewReader(l.input)
			return err
		}
		l.r = flate.NewReader(l.input)
		return nil
	}
	return classedf(ClassProtocol, "unknown content coding %q", l.coding[:min(len(l.coding), 40)])
}

func (l *layer) use(pool *sync.Pool, reset func(any) error) error {
	r := pool.Get()
	l.pool, l.r = pool, r.(io.Reader)
	return reset(r)
}

func (l *layer) release() {
	if l.pool != nil {
		if z, ok := l.r.(*zstd.Decoder); ok {
			z.Reset(nil) // lets go of the input
		}
		l.pool.Put(l.r)
	}
	l.input.Reset(nil)
	inputs.Put(l.input)
}

func (l *layer) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.read = l.read || n > 0
	switch {
	case err == nil, err == io.EOF:
		return n, err
	case l.read && errors.Is(err, gzip.ErrHeader):
		return n, io.EOF // padding behind the last gzip member
	}
	return n, l.classed(err)
}

// classed gives err its class, unless it is one of the connection or of a
// layer below.
func (l *layer) classed(err error) error {
	if _, ok := errors.AsType[*wireError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*classed](err); ok {
		return err
	}
	return classedf(ClassProtocol, "body is no valid %s: %w", l.coding, err)
}

// A wire reads the body as it comes over the network, at most limit bytes of
// it, and marks errors as the network's.
type wire struct {
	r     io.Reader
	limit int64
	kept  *bytes.Buffer // what was read, or nil
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
