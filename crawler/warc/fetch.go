package warc

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"gazehound/crawler/fetch"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

// ErrTooLarge is wrapped by the error of Fetch for a body longer than
// [Archive.MaxBody].
var ErrTooLarge = errors.New("body is too large")

// Fetch returns the recorded response for u. The scheme does not matter, and a
// directory is found as a static server would: /dir leads to /dir/ by a
// redirect, /dir/ may be recorded as /dir/index.html and the other way round,
// and /page as /page.html. What was not recorded has the
// status 404 and is Missing. Errors are
// those of the live web: a *fetch.Error, or the error of ctx.
func (a *Archive) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	began := time.Now()
	p, redirect, ok := a.find(u)
	switch {
	case !ok:
		return &page.Response{URL: u, Status: http.StatusNotFound, Missing: true, Header: http.Header{},
			Fetched: began}, nil
	case redirect != "":
		to, err := u.Resolve(u.Scheme() + "://" + redirect)
		if err != nil {
			return nil, &fetch.Error{Class: fetch.ClassProtocol, URL: u, Err: fmt.Errorf("warc: redirect: %w", err)}
		}
		return &page.Response{
			URL: u, Status: http.StatusMovedPermanently, Header: http.Header{"Location": {to.String()}},
			Location: to, Fetched: began,
		}, nil
	}
	r, err := a.read(u, p)
	if err != nil {
		class := fetch.ClassProtocol
		if errors.Is(err, ErrTooLarge) {
			class = fetch.ClassTooLarge
		}
		err = fmt.Errorf("warc: byte %d of %s: %w", p.offset, p.file.name, err)
		return nil, &fetch.Error{Class: class, URL: u, Err: err}
	}
	if t := r.Header.Get("Content-Type"); r.Status == 200 && t != "" && len(a.ContentTypes) > 0 {
		if media, _, err := mime.ParseMediaType(t); err == nil && !slices.Contains(a.ContentTypes, media) {
			return nil, &fetch.Error{Class: fetch.ClassContentType, URL: u, Err: fmt.Errorf("%q", media)}
		}
	}
	r.Took = time.Since(began)
	return r, nil
}

// find returns where the response for u lies, or the address (host, path and
// query) to which a static server would redirect.
func (a *Archive) find(u weburl.URL) (p place, redirect string, ok bool) {
	at := address(u)
	has := func(address string) bool {
		p, ok = a.index[keyOf(address)]
		return ok
	}
	if has(at) {
		return p, "", true
	}
	if u.Query() != "" {
		return p, "", false
	}
	path := u.Path()
	dir, file := at[:strings.LastIndexByte(at, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
	switch file {
	case "index.html", "index.htm", "index.php":
		return p, "", has(dir)
	case "":
		if has(dir+"index.html") || has(dir+"index.htm") || has(dir+"index.php") {
			return p, "", true
		}
		if bare := strings.TrimSuffix(at, "/"); path != "/" && has(bare) {
			return p, bare, true
		}
		return p, "", false
	}
	if has(at+"/") || has(at+"/index.html") || has(at+"/index.htm") {
		return p, at + "/", true
	}
	return p, "", !strings.Contains(file, ".") && has(at+".html")
}

// read returns the response recorded at p.
func (a *Archive) read(u weburl.URL, p place) (*page.Response, error) {
	r := a.readers.Get().(*reader)
	defer a.readers.Put(r)
	r.seek(p.file, p.offset)
	rec, err := r.next(p.file.zipped)
	if err != nil {
		return nil, err
	}
	resp, err := a.response(r, rec, u)
	if p, rendered := a.rendered[keyOf(rec.id)]; err == nil && rendered {
		resp.Rendered, err = a.conversion(p)
	}
	return resp, err
}

// conversion returns the rendered page recorded at p.
func (a *Archive) conversion(p place) ([]byte, error) {
	r := a.readers.Get().(*reader)
	defer a.readers.Put(r)
	r.seek(p.file, p.offset)
	rec, err := r.next(p.file.zipped)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(rec.block, a.MaxBody))
}

// ErrLost is wrapped by the errors for a revisit record whose original is in
// none of the files.
var ErrLost = errors.New("the record that holds the body is in none of the files")

// response decodes a recorded response at which r stands. The body of a
// revisit record is the one that it refers to.
func (a *Archive) response(r *reader, rec record, u weburl.URL) (*page.Response, error) {
	head, body, err := readHead(rec.block)
	if err != nil {
		return nil, err
	}
	resp := &page.Response{URL: u, Status: head.status, Header: head.header, Fetched: rec.date}
	if rec.kind == kindRevisit {
		resp.Body, err = a.original(rec)
	} else {
		resp.Body, err = decode(body, head.header, a.MaxBody)
	}
	err = cmp.Or(r.data.err, err)
	if err != nil {
		return nil, err
	}
	// The body is decoded and complete: drop the fields about its transfer.
	for _, name := range []string{"Content-Encoding", "Transfer-Encoding", "Content-Length"} {
		head.header.Del(name)
	}
	if to := head.header.Get("Location"); to != "" && head.status >= 300 && head.status < 400 {
		resp.Location, _ = u.Resolve(to)
	}
	return resp, nil
}

// original returns the body that a revisit record refers to: by its digest, or
// else by the URL.
func (a *Archive) original(rec record) ([]byte, error) {
	p, found := a.payloads[keyOf(rec.digest)]
	if u, err := weburl.Parse(rec.refersTo); err == nil && !found {
		p, found = a.index[keyOf(address(u))]
	}
	lost := fmt.Errorf("revisit of %.200q: %w", rec.refersTo, ErrLost)
	if !found {
		return nil, lost
	}
	r := a.readers.Get().(*reader)
	defer a.readers.Put(r)
	r.seek(p.file, p.offset)
	was, err := r.next(p.file.zipped)
	if err != nil {
		return nil, err
	}
	if was.kind != kindResponse { // no chains, which could be circular
		return nil, lost
	}
	resp, err := a.response(r, was, weburl.URL{})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// A responseHead is the status line and header of a recorded response.
type responseHead struct {
	status int
	header http.Header
}

var errStatusLine = errors.New("no HTTP status line")

// readHead reads the head of a recorded response and returns a reader of the
// rest. Header lines after a malformed one are lost.
func readHead(block io.Reader) (responseHead, *bufio.Reader, error) {
	limited := &io.LimitedReader{R: block, N: maxHeader}
	rest := bufio.NewReader(limited)
	text := textproto.NewReader(rest)
	line, err := text.ReadLine()
	if err != nil {
		return responseHead{}, nil, errStatusLine
	}
	proto, after, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(strings.TrimLeft(after, " "), " ")
	status, err := strconv.Atoi(code)
	if err != nil || !strings.HasPrefix(proto, "HTTP/") || status < 100 || status > 599 {
		return responseHead{}, nil, fmt.Errorf("%w (%q)", errStatusLine, line[:min(len(line), 40)])
	}
	header, _ := readHeader(text) // one without an end has no body
	if limited.N <= 0 && rest.Buffered() == 0 {
		return responseHead{}, nil, fmt.Errorf("HTTP %w", errHeader)
	}
	limited.N = math.MaxInt64
	return responseHead{status, header}, rest, nil
}

// decode undoes the transfer and content codings of a body, at most limit
// bytes of it. Many archives keep the header of a coding that they have
// undone, so the body's first bytes decide.
func decode(body *bufio.Reader, h http.Header, limit int64) ([]byte, error) {
	if strings.EqualFold(strings.TrimSpace(h.Get("Transfer-Encoding")), "chunked") && startsChunk(body) {
		body = bufio.NewReader(httputil.NewChunkedReader(body))
	}
	var src io.Reader = body
	if magic, _ := body.Peek(8); !printable(magic) {
		var err error
		src, err = fetch.Decode(h, body)
		if err != nil {
			return nil, fmt.Errorf("body: %w", err)
		}
	}
	b, err := io.ReadAll(io.LimitReader(src, limit+1))
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	if err != nil && len(b) == 0 { // what came before damage is of use
		return nil, fmt.Errorf("body: %w", err)
	}
	return b, nil
}

// startsChunk reports whether a line with a hexadecimal length is ahead.
func startsChunk(body *bufio.Reader) bool {
	b, _ := body.Peek(18)
	line, _, found := bytes.Cut(b, []byte("\n"))
	if !found {
		return false
	}
	size, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte(";"))
	_, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 64)
	return err == nil
}

// printable reports whether b looks like the start of a text document.
func printable(b []byte) bool {
	for _, c := range b {
		if c != '\n' && c != '\r' && c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}
