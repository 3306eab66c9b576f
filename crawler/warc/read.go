package warc

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"gazehound/crawler/weburl"

	"github.com/klauspost/compress/gzip"
	"github.com/nlnwa/gowarc"
)

// maxHeader is the longest header of a record and of a recorded HTTP response
// that is read, in bytes.
const maxHeader = 64 << 10

var (
	errHeader = fmt.Errorf("header longer than %d bytes or without an end", maxHeader)
	errWhole  = errors.New("compressed as a whole, so that no record can be read alone " +
		"(unpack it with gunzip and give the .warc file)")
	errLength = errors.New("the record does not end where its length says")
	errARC    = fmt.Errorf("%w (an ARC file of the older format; convert it with warctools)", ErrNotWARC)
)

// arcMagic begins an ARC file.
const arcMagic = "filedesc://"

// A reader reads one record at a time. It is our own because that of gowarc 1.6.0 does not return
// where a compressed record is cut off: docs/decisions/018-warc-is-read-by-our-own-reader.md.
type reader struct {
	src  io.ReaderAt // of file
	file counter     // counts the bytes of the file
	gz   *gzip.Reader
	data data // of the record
	buf  *bufio.Reader
}

func newReader() *reader {
	return &reader{file: counter{buf: bufio.NewReaderSize(nil, 32<<10)}, buf: bufio.NewReaderSize(nil, 32<<10)}
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
	blockSum   string // WARC-Block-Digest
	refersTo   string // WARC-Refers-To-Target-URI of a revisit
	original   string // WARC-Refers-To: the WARC-Record-ID of which it is a conversion
	date       time.Time
	length     int64 // of the block, in bytes
	header     int64 // length of the record's header, in bytes
	block      io.Reader
}

const (
	kindResponse = "response"
	kindRevisit  = "revisit"
	kindMetadata = "metadata"
	// a page after its scripts have run, which refers to the record of the response
	kindConversion = "conversion"
)

// seek sets r to byte offset of src.
func (r *reader) seek(src io.ReaderAt, offset int64) {
	if r.src == src && r.file.n == offset {
		return // behind the record before, with the next one in its buffer
	}
	r.src = src
	r.file.buf.Reset(io.NewSectionReader(src, offset, 1<<62))
	r.file.n = offset
}

// next reads the header of the record at r's position; io.EOF at the end.
func (r *reader) next(zipped bool) (rec record, err error) {
	r.data = data{Reader: &r.file}
	if zipped {
		if r.gz == nil {
			r.gz = new(gzip.Reader)
		}
		err := r.gz.Reset(&r.file)
		if err != nil {
			return rec, err
		}
		r.gz.Multistream(false)
		r.data.Reader = r.gz
	}
	limited := &io.LimitedReader{R: &r.data, N: maxHeader}
	r.buf.Reset(limited)
	text := textproto.NewReader(r.buf)
	version, err := text.ReadLine()
	if err != nil {
		return rec, err
	}
	switch {
	case strings.HasPrefix(version, arcMagic):
		return rec, errARC
	case !strings.HasPrefix(version, "WARC/"):
		return rec, fmt.Errorf("%w (a record starts with %q)", ErrNotWARC, version[:min(len(version), 12)])
	}
	h, err := readHeader(text)
	switch {
	case err != nil && limited.N <= 0:
		return rec, errHeader
	case err == io.EOF:
		return rec, io.ErrUnexpectedEOF
	case err != nil:
		return rec, err
	}
	limited.N = math.MaxInt64
	rec = record{
		kind: strings.ToLower(h.Get(gowarc.WarcType)), target: strings.Trim(h.Get(gowarc.WarcTargetURI), "<> "),
		id: h.Get(gowarc.WarcRecordID), concurrent: h.Get(gowarc.WarcConcurrentTo),
		media: strings.ToLower(h.Get(gowarc.ContentType)), digest: h.Get(gowarc.WarcPayloadDigest),
		blockSum: h.Get(gowarc.WarcBlockDigest),
		refersTo: strings.Trim(h.Get(gowarc.WarcRefersToTargetURI), "<> "),
		original: h.Get(gowarc.WarcRefersTo),
		header:   r.data.n - int64(r.buf.Buffered()),
	}
	rec.length, err = strconv.ParseInt(h.Get(gowarc.ContentLength), 10, 64)
	if err != nil || rec.length < 0 {
		return rec, fmt.Errorf("record header: content length %q", h.Get(gowarc.ContentLength))
	}
	rec.date, _ = time.Parse(time.RFC3339Nano, h.Get(gowarc.WarcDate))
	rec.response = (rec.kind == kindResponse || rec.kind == kindRevisit) &&
		strings.HasPrefix(rec.media, gowarc.ApplicationHttp)
	rec.block = io.LimitReader(r.buf, rec.length)
	return rec, nil
}

// readHeader reads the lines of a header and the empty one. Lines behind a
// malformed one are lost.
func readHeader(text *textproto.Reader) (http.Header, error) {
	header, err := text.ReadMIMEHeader()
	if _, malformed := errors.AsType[textproto.ProtocolError](err); malformed {
		for line := "-"; line != ""; {
			line, err = text.ReadLine()
			if err != nil {
				break
			}
		}
	}
	return http.Header(header), err
}

// end reads what is left of rec, which starts at byte offset of f, and returns
// where the next record starts. Of a record that is not compressed it looks only
// at the length, and whether a record can end there.
func (r *reader) end(rec record, f *source, offset int64) (int64, error) {
	if f.zipped {
		return r.file.n, r.finish(rec)
	}
	end := offset + rec.header
	if rec.length > f.size-end {
		return 0, io.ErrUnexpectedEOF
	}
	end += rec.length
	r.seek(f, end)
	if next, _ := r.file.buf.Peek(len("WARC/")); len(next) > 0 && next[0] != '\r' && next[0] != '\n' &&
		string(next) != "WARC/" {
		return 0, errLength
	}
	for b, err := r.file.ReadByte(); err == nil && (b == '\r' || b == '\n'); b, err = r.file.ReadByte() {
		end++
	}
	return end, nil
}

// finish reads the rest of a compressed record and checks that it is whole.
func (r *reader) finish(rec record) error {
	_, err := io.Copy(io.Discard, r.buf)
	want, got := rec.header+rec.length, r.data.n
	switch {
	case err != nil:
		return cmp.Or(r.data.err, err)
	case got < want:
		return io.ErrUnexpectedEOF
	case got > want+16: // more than the empty lines that end a record
		return errWhole
	}
	return nil
}

// A counter counts the bytes taken from it, so that the end of a compressed
// record is known to the byte.
type counter struct {
	buf *bufio.Reader
	n   int64
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

// A data reader counts the bytes of a record, and keeps the error that cuts it
// short, which what decodes its block may not pass on.
type data struct {
	io.Reader
	n   int64
	err error // other than io.EOF
}

func (d *data) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	d.n += int64(n)
	if err != nil && err != io.EOF {
		d.err = err
	}
	return n, err
}

// A scanner reads the records of a file one after the other, and leaves out its known damage.
type scanner struct {
	*reader
	file       *source
	record     record
	start, end int64 // of the record; end is that of the one before until finish
	size       int64 // of what is read of the file
	open       bool  // the record has not been read to its end
	err        error // the end of the scan, or nil
}

// scan returns a scanner of f up to a byte; it owns r until then.
func (r *reader) scan(f *source, size int64) *scanner {
	return &scanner{reader: r, file: f, size: size}
}

// next reads the next header; false at the end and after an error.
func (s *scanner) next() bool {
	if s.finish() != nil {
		return false
	}
	s.end = s.file.behindDamage(s.end)
	if s.end >= s.size {
		return false
	}
	s.start = s.end
	s.seek(s.file, s.start)
	s.record, s.err = s.reader.next(s.file.zipped)
	if s.err == io.EOF {
		s.err = io.ErrUnexpectedEOF
	}
	s.open = s.err == nil
	return s.open
}

// finish reads the record to its end.
func (s *scanner) finish() error {
	if s.open {
		s.open = false
		var end int64
		end, s.err = s.reader.end(s.record, s.file, s.start)
		if s.err == nil {
			s.end = end
		}
	}
	return s.err
}

// scan puts the responses of a file into the index. Damage costs the records that it touches and
// leaves a warning, but a file without a whole record is an error.
func (a *Archive) scan(f *source) error {
	r := a.readers.Get().(*reader)
	defer a.readers.Put(r)
	err := r.survey(f, func(s *scanner) {
		var head responseHead
		var headErr error
		if s.record.response {
			head, _, headErr = readHead(s.record.block)
		}
		if s.finish() == nil {
			a.note(f, s, head, headErr)
		}
	})
	if err != nil {
		return err
	}
	if text := f.describeDamage("left out"); text != "" {
		a.stats.Warnings = append(a.stats.Warnings, text)
	}
	if f.isDamaged() {
		a.stats.Damaged++
	}
	return nil
}

// note counts a whole record, and puts it into the index if it is a response.
func (a *Archive) note(f *source, s *scanner, head responseHead, headErr error) {
	rec := &s.record
	a.stats.Records++
	if rec.kind == kindConversion && rec.media == renderedType && rec.original != "" {
		a.rendered[keyOf(rec.original)] = place{f, s.start, true}
	}
	if !rec.response {
		return
	}
	a.stats.Responses++
	if rec.kind == kindRevisit {
		a.stats.Revisits++
	}
	u, err := weburl.Parse(rec.target)
	if err != nil || headErr != nil {
		a.stats.Skipped++
		return
	}
	k, at := keyOf(address(u)), place{f, s.start, head.status >= 200 && head.status < 300}
	if old, found := a.index[k]; (!found || at.ok && !old.ok) && head.status != http.StatusNotModified {
		a.index[k] = at
	}
	if _, known := a.payloads[keyOf(rec.digest)]; rec.kind == kindResponse && rec.digest != "" && !known {
		a.payloads[keyOf(rec.digest)] = at
	}
}
