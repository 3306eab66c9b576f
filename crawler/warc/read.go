package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/nlnwa/gowarc"
)

// maxHeader is the longest header of a record and of a recorded HTTP response
// that is read, in bytes.
const maxHeader = 64 << 10

var (
	errHeader = fmt.Errorf("header longer than %d bytes or without an end", maxHeader)
	errWhole  = errors.New("compressed as a whole, so that no record can be read alone (unpack it with gunzip and give the .warc file)")
)

// A reader reads one record at a time.
//
// gowarc reads the record; the frame around it is ours, because gowarc 1.6.0
// loops for ever or panics where a compressed header is cut off. It therefore
// only ever sees complete headers, and an end of file in place of any error.
type reader struct {
	src     io.ReaderAt // of file
	file    counter
	gz      *gzip.Reader
	errs    endOnError
	buf     *bufio.Reader // of maxHeader bytes: a whole header can be peeked
	records gowarc.Unmarshaler
}

func newReader() *reader {
	return &reader{
		file:    counter{buf: bufio.NewReaderSize(nil, 32<<10)},
		buf:     bufio.NewReaderSize(nil, maxHeader),
		records: gowarc.NewUnmarshaler(gowarc.WithNoValidation(), gowarc.WithAddMissingDigest(false)),
	}
}

// A record is one WARC record; its block must be read before the next.
type record struct {
	kind       string // WARC-Type, such as "response"
	id         string // WARC-Record-ID
	concurrent string // WARC-Concurrent-To, the first of them
	response   bool   // a recorded HTTP response, or a revisit that refers to one
	target     string
	media      string // Content-Type
	digest     string // WARC-Payload-Digest
	refersTo   string // WARC-Refers-To-Target-URI of a revisit
	date       time.Time
	length     int64 // of the block, in bytes
	header     int64 // length of the record's header, in bytes
	block      io.Reader
}

const (
	kindResponse = "response"
	kindRevisit  = "revisit"
	kindMetadata = "metadata"
)

// seek makes r stand at byte offset of src.
func (r *reader) seek(src io.ReaderAt, offset int64) {
	if r.src == src && r.file.n == offset {
		return // behind the record before, with the next one in its buffer
	}
	r.src = src
	r.file.reset(io.NewSectionReader(src, offset, 1<<62), offset)
}

// next reads the header of the record at which r stands.
func (r *reader) next(zipped bool) (record, error) {
	if !zipped {
		r.errs = endOnError{r: &r.file}
	} else {
		if r.gz == nil {
			r.gz = new(gzip.Reader)
		}
		if err := r.gz.Reset(&r.file); err != nil {
			return record{}, err
		}
		r.gz.Multistream(false)
		r.errs = endOnError{r: r.gz}
	}
	r.buf.Reset(&r.errs)
	n, err := r.headerLength()
	if err != nil {
		return record{}, err
	}
	wr, _, _, err := r.records.Unmarshal(r.buf)
	if wr == nil || wr.WarcHeader() == nil {
		return record{}, fmt.Errorf("record header: %w", err)
	}
	h := wr.WarcHeader()
	rec := record{
		header: int64(n), kind: strings.ToLower(h.Get(gowarc.WarcType)), target: strings.Trim(h.Get(gowarc.WarcTargetURI), "<> "),
		id: h.Get(gowarc.WarcRecordID), concurrent: h.Get(gowarc.WarcConcurrentTo), media: strings.ToLower(h.Get(gowarc.ContentType)),
		digest: h.Get(gowarc.WarcPayloadDigest), refersTo: strings.Trim(h.Get(gowarc.WarcRefersToTargetURI), "<> "),
	}
	rec.length, err = h.GetInt64(gowarc.ContentLength)
	if err != nil || rec.length < 0 {
		return record{}, fmt.Errorf("record header: content length %q", h.Get(gowarc.ContentLength))
	}
	rec.date, _ = time.Parse(time.RFC3339Nano, h.Get(gowarc.WarcDate))
	rec.response = (rec.kind == kindResponse || rec.kind == kindRevisit) && strings.HasPrefix(rec.media, gowarc.ApplicationHttp)
	if wr.Block() == nil { // a digest field that gowarc does not know
		rec.block = bytes.NewReader(nil)
	} else if rec.block, err = wr.Block().RawBytes(); err != nil {
		return record{}, fmt.Errorf("record block: %w", err)
	}
	return rec, nil
}

// headerLength returns the length of the header ahead with its empty line, or
// io.EOF where nothing is ahead.
func (r *reader) headerLength() (int, error) {
	for want := 512; ; want = min(want*2, maxHeader) {
		b, err := r.buf.Peek(want)
		if !bytes.HasPrefix(b, []byte("WARC/")) && len(b) >= len("WARC/") {
			return 0, fmt.Errorf("%w (a record starts with %q)", ErrNotWARC, b[:min(len(b), 12)])
		}
		n := -1
		for _, end := range []string{"\r\n\r\n", "\n\n"} {
			if i := bytes.Index(b, []byte(end)); i >= 0 && (n < 0 || i+len(end) < n) {
				n = i + len(end)
			}
		}
		switch {
		case n >= 0 && b[len("WARC/")] == '\n': // gowarc panics on an empty version
			return 0, fmt.Errorf("%w (no version)", ErrNotWARC)
		case n >= 0:
			return n, nil
		case r.errs.err != nil:
			return 0, r.errs.err
		case err != nil && len(b) == 0:
			return 0, io.EOF
		case err != nil:
			return 0, io.ErrUnexpectedEOF
		case want == maxHeader:
			return 0, errHeader
		}
	}
}

// end reads what is left of rec, which starts at byte offset of a file with this
// size, and returns where the next record starts. Of a record that is not
// compressed it looks only at the length.
func (r *reader) end(rec record, zipped bool, offset, size int64) (int64, error) {
	if zipped {
		err := r.finish(rec)
		return r.file.n, err
	}
	if rec.length > size-offset-rec.header {
		return 0, io.ErrUnexpectedEOF
	}
	return skipBlank(r.src, offset+rec.header+rec.length), nil
}

// finish reads the rest of a compressed record and checks that it is whole.
func (r *reader) finish(rec record) error {
	_, err := io.Copy(io.Discard, r.buf)
	want, got := rec.header+rec.length, r.errs.n
	switch {
	case r.errs.err != nil:
		return r.errs.err
	case err != nil:
		return err
	case got < want:
		return io.ErrUnexpectedEOF
	case got > want+16: // more than the empty lines that end a record
		return errWhole
	default:
		return nil
	}
}

// A counter is a buffered reader that counts the bytes taken from it, so that
// the end of a compressed record is known to the byte.
type counter struct {
	buf *bufio.Reader
	n   int64
}

func (c *counter) reset(src io.Reader, n int64) {
	c.buf.Reset(src)
	c.n = n
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.buf.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counter) ReadByte() (byte, error) {
	b, err := c.buf.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// An endOnError reader keeps the error of r and reports the end instead.
type endOnError struct {
	r   io.Reader
	n   int64 // bytes read
	err error // other than io.EOF
}

func (e *endOnError) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.n += int64(n)
	if err != nil {
		if err != io.EOF {
			e.err = err
		}
		err = io.EOF
	}
	return n, err
}
