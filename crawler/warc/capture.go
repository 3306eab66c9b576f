package warc

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"gazehound/crawler/page"

	"github.com/google/uuid"
	"github.com/klauspost/compress/gzip"
	"github.com/nlnwa/gowarc"
)

// A Capture is one exchange with its outcome.
type Capture struct {
	Response *page.Response
	Note     Note
	Before   time.Time // of a 304: when the page was fetched last, or zero
	NoteOnly bool      // no copy of the exchange may be kept: only Note is written
}

// A Note is the block of a metadata record, in JSON: how the crawl found a URL and its outcome.
// Together with the response it is enough to judge the page again and to learn from it.
type Note struct {
	Outcome   string   `json:"outcome"`          // page, redirect, error or skipped
	Reason    string   `json:"reason,omitempty"` // of an error or a skip
	Via       string   `json:"via,omitempty"`    // URL of the page that held the link
	Depth     int      `json:"depth"`            // links from a seed
	Distance  int      `json:"distance"`         // links since the last relevant page
	Priority  float64  `json:"priority"`         // with which it was taken from the queue
	Anchor    string   `json:"anchor,omitempty"` // words of the link
	Title     string   `json:"title,omitempty"`  // its title attribute
	Around    string   `json:"around,omitempty"` // words around it
	Place     string   `json:"place,omitempty"`  // where it stands, see page.Link
	Switch    bool     `json:"switch,omitempty"` // it leads to another site
	Redirects int      `json:"redirects,omitempty"`
	Relevant  bool     `json:"relevant"`
	Score     float64  `json:"score"`
	Addresses []string `json:"addresses,omitempty"` // ids of those in the region
	Status    int      `json:"status,omitempty"`    // of a response of which no copy is kept
}

// An encoder makes records, each a gzip member.
type encoder struct {
	out bytes.Buffer
	gz  *gzip.Writer
}

func newEncoder() *encoder {
	return &encoder{gz: gzip.NewWriter(nil)}
}

const specification = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"

const dateLayout = "2006-01-02T15:04:05.000Z"

// info writes the record with which a file begins.
func (e *encoder) info(file string, fields [][2]string) error {
	var block bytes.Buffer
	fields = append([][2]string{{"format", "WARC File Format 1.1"}, {"conformsTo", specification}}, fields...)
	for _, f := range fields {
		fmt.Fprintf(&block, "%s: %s\r\n", f[0], oneLine.Replace(f[1]))
	}
	h := header("warcinfo", newID(), time.Now())
	h.Add(gowarc.WarcFilename, file)
	return e.record(h, "application/warc-fields", block.Bytes())
}

// capture writes the records of one exchange: request, response or revisit, the
// conversion of a rendered page, and metadata. It returns the origin that later revisits may refer to; without
// a URL, there is none.
func (e *encoder) capture(c Capture, known func(payload [sha256.Size]byte) (origin, bool)) (origin, error) {
	r := c.Response
	id, target := newID(), r.URL.String()
	if c.NoteOnly {
		return origin{}, e.note(c.Note, target, newID(), "", r.Fetched)
	}
	head, body := responseBytes(r)
	payload := sha256.Sum256(body)
	self := origin{payload: payload, url: target, date: r.Fetched}

	h := header("response", id, r.Fetched)
	h.Add(gowarc.WarcTargetURI, target)
	if ip, err := netip.ParseAddr(r.RemoteIP); err == nil {
		h.Add(gowarc.WarcIPAddress, ip.String())
	}
	block := [][]byte{head, body}
	switch was, seen := known(payload); {
	case r.Status == http.StatusNotModified:
		h.Set(gowarc.WarcType, "revisit")
		h.Add(gowarc.WarcProfile, gowarc.ProfileServerNotModifiedV1_1)
		h.Add(gowarc.WarcRefersToTargetURI, target)
		if !c.Before.IsZero() {
			h.Add(gowarc.WarcRefersToDate, c.Before.UTC().Format(dateLayout))
		}
		block, self = block[:1], origin{}
	case seen && r.Status == http.StatusOK && !r.Cut && len(body) > 0:
		h.Set(gowarc.WarcType, "revisit")
		h.Add(gowarc.WarcProfile, gowarc.ProfileIdenticalPayloadDigestV1_1)
		h.Add(gowarc.WarcRefersToTargetURI, was.url)
		h.Add(gowarc.WarcRefersToDate, was.date.UTC().Format(dateLayout))
		h.Add(gowarc.WarcPayloadDigest, digest(payload))
		block, self = block[:1], was
	default:
		h.Add(gowarc.WarcPayloadDigest, digest(payload))
		if r.Cut {
			h.Add(gowarc.WarcTruncated, "length")
		}
		if r.Status != http.StatusOK || r.Cut || len(body) == 0 {
			self = origin{}
		}
	}

	if r.Request != nil {
		q := header("request", newID(), r.Fetched)
		q.Add(gowarc.WarcTargetURI, target)
		q.Add(gowarc.WarcConcurrentTo, id)
		err := e.record(q, "application/http;msgtype=request", requestBytes(r))
		if err != nil {
			return origin{}, err
		}
	}
	err := e.record(h, "application/http;msgtype=response", block...)
	if err != nil {
		return origin{}, err
	}
	if r.Rendered != nil {
		d := header(kindConversion, newID(), r.Fetched)
		d.Add(gowarc.WarcTargetURI, target)
		d.Add(gowarc.WarcRefersTo, id)
		err := e.record(d, renderedType, r.Rendered)
		if err != nil {
			return origin{}, err
		}
	}
	return self, e.note(c.Note, target, newID(), id, r.Fetched)
}

// renderedType is the content type of our conversion records.
const renderedType = "text/html;charset=utf-8"

// note writes a metadata record, of the exchange with the id of if it has one.
func (e *encoder) note(n Note, target, id, of string, at time.Time) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	m := header("metadata", id, at)
	m.Add(gowarc.WarcTargetURI, target)
	if of != "" {
		m.Add(gowarc.WarcConcurrentTo, of)
	}
	return e.record(m, noteType, text)
}

// noteType is the content type of our metadata records.
const noteType = "application/json"

func header(kind, id string, date time.Time) *gowarc.WarcFields {
	h := &gowarc.WarcFields{}
	h.Add(gowarc.WarcType, kind)
	h.Add(gowarc.WarcRecordID, id)
	h.Add(gowarc.WarcDate, date.UTC().Format(dateLayout))
	return h
}

// record writes one record as a gzip member.
func (e *encoder) record(h *gowarc.WarcFields, contentType string, block ...[]byte) error {
	sum, length := sha256.New(), 0
	for _, b := range block {
		sum.Write(b)
		length += len(b)
	}
	h.Add(gowarc.WarcBlockDigest, digest([32]byte(sum.Sum(nil))))
	h.Add(gowarc.ContentType, contentType)
	h.Add(gowarc.ContentLength, strconv.Itoa(length))
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s\r\n", gowarc.V1_1)
	_, err := h.Write(&text)
	if err != nil {
		return err
	}
	text.WriteString("\r\n")
	e.gz.Reset(&e.out)
	for _, b := range append(append([][]byte{text.Bytes()}, block...), []byte("\r\n\r\n")) {
		_, err := e.gz.Write(b)
		if err != nil {
			return err
		}
	}
	return e.gz.Close()
}

// responseBytes returns status line and header, and the body as it was sent.
// Where only the decoded body is known, the fields that no longer describe it
// are renamed, as other archives do it.
func responseBytes(r *page.Response) (head, body []byte) {
	body = r.Raw
	decoded := body == nil && len(r.Body) > 0
	if decoded {
		body = r.Body
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", r.Status, http.StatusText(r.Status))
	h := r.Header
	if decoded || h.Get("Transfer-Encoding") != "" || len(h["Content-Length"]) > 1 {
		h = h.Clone()
		for _, name := range []string{"Content-Encoding", "Transfer-Encoding", "Content-Length"} {
			if values, ok := h[name]; ok {
				delete(h, name)
				h["X-Archive-Orig-"+name] = values
			}
		}
		if h == nil {
			h = http.Header{}
		}
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	return append(b.Bytes(), headerBytes(h)...), body
}

// requestFields are the archived fields of a request: no passwords, cookies or configured fields.
var requestFields = []string{
	"User-Agent", "Accept", "Accept-Encoding", "Accept-Language", "If-None-Match", "If-Modified-Since", "From",
}

// requestBytes returns the request as it was sent, but for what may be secret.
func requestBytes(r *page.Response) []byte {
	var b bytes.Buffer
	path := r.URL.Path()
	if q := r.URL.Query(); q != "" {
		path += "?" + q
	}
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\n", path, r.URL.Host())
	h := http.Header{}
	for _, name := range requestFields {
		if values := r.Request[name]; values != nil {
			h[name] = values
		}
	}
	return append(b.Bytes(), headerBytes(h)...)
}

// headerBytes returns h in the order of its names, and the line that ends it.
func headerBytes(h http.Header) []byte {
	var b bytes.Buffer
	h.Write(&b) // to memory; it takes line ends out of values
	return append(b.Bytes(), "\r\n"...)
}

// oneLine removes line breaks from a value.
var oneLine = strings.NewReplacer("\r", " ", "\n", " ", "\x00", " ")

func digest(sum [32]byte) string {
	return "sha256:" + base32.StdEncoding.EncodeToString(sum[:])
}

func newID() string { return "<urn:uuid:" + uuid.NewString() + ">" }

// An origin is a response whose body revisit records may refer to.
type origin struct {
	payload [32]byte
	url     string
	date    time.Time
}
