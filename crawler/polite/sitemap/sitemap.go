// Package sitemap parses sitemaps (sitemaps.org, version 0.9): XML, indexes of sitemaps, and plain
// text.
package sitemap

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"gazehound/crawler/weburl"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Limits bound what is read of one file.
type Limits struct {
	Bytes   int64 // of the decoded file
	Entries int   // of pages and lists together
}

// A File is the content of one sitemap file.
type File struct {
	Pages   []weburl.URL
	Lists   []weburl.URL // further sitemap files, of an index
	Foreign int          // entries of other hosts, which are ignored (protocol, "Location")
	Bad     int          // entries that are no http or https URL
	Cut     bool         // a limit ended the reading
}

// ErrFormat is the error for a file that is no sitemap.
var ErrFormat = errors.New("not a sitemap")

const maxText = 8 << 10 // bytes of one element that are read

// Read parses the sitemap at the URL at, which may be compressed with gzip. Entries before an error
// are returned with it. Entities that a file declares are errors, so they cannot expand.
func Read(r io.Reader, at weburl.URL, limits Limits) (File, error) {
	in := bufio.NewReader(r)
	if magic, _ := in.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return File{}, fmt.Errorf("sitemap: %s: %w", at, err)
		}
		defer z.Close()
		in = bufio.NewReader(z)
	}
	bounded := &io.LimitedReader{R: in, N: limits.Bytes + 1}
	l := &list{at: at, limits: limits, seen: make(map[weburl.URL]bool)}
	decoded := unicode.BOMOverride(encoding.Nop.NewDecoder())
	start := bufio.NewReaderSize(transform.NewReader(bounded, decoded), headBytes)
	head, _ := start.Peek(headBytes)
	if at := beginning.FindIndex(head); at != nil { // behind a warning of PHP or the like
		start.Discard(at[0])
		head = head[at[0]:]
	}
	var err error
	if looksXML(head) {
		err = l.xml(start)
	} else {
		err = l.text(start)
	}
	if bounded.N <= 0 {
		l.Cut, err = true, nil
	}
	if err != nil {
		err = fmt.Errorf("sitemap: %s: %w", at, err)
	}
	return l.File, err
}

// headBytes are searched for the beginning of the XML.
const headBytes = 4096

var beginning = regexp.MustCompile(`(?i)<\?xml|<!doctype|<urlset|<sitemapindex`)

func looksXML(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(head, []byte("<"))
}

// A list is a File in the making.
type list struct {
	File
	at     weburl.URL
	limits Limits
	seen   map[weburl.URL]bool
	size   int
}

var errEnough = errors.New("enough")

// xml parses a stream of elements: memory is that of the entries, whatever the size of the
// document.
func (l *list) xml(r io.Reader) error {
	d := xml.NewDecoder(r)
	d.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if strings.HasPrefix(strings.ToLower(label), "utf-16") {
			return in, nil // decoded by Read
		}
		return charset.NewReaderLabel(label, in)
	}
	d.Strict, d.Entity = false, xml.HTMLEntity // a raw & in a URL, and &eacute;
	known, depth := false, 0
	var entry, field string // names of the elements at depths 2 and 3
	var text strings.Builder
	for {
		token, err := d.Token()
		switch {
		case err == io.EOF && known:
			return nil
		case err == io.EOF:
			return ErrFormat
		case err != nil:
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			name := strings.ToLower(t.Name.Local)
			switch {
			case depth == 1 && name != "urlset" && name != "sitemapindex":
				return fmt.Errorf("%w: its root is %.40q", ErrFormat, t.Name.Local)
			case depth == 1:
				known = true
			case depth == 2:
				entry = name
			case depth == 3:
				field = name
				text.Reset()
			case depth > 20:
				return fmt.Errorf("%w: elements are nested too deep", ErrFormat)
			}
		case xml.Directive:
			if bytes.Contains(t, []byte("ENTITY")) {
				return fmt.Errorf("%w: it declares entities", ErrFormat)
			}
		case xml.CharData:
			if field != "" && depth == 3 {
				text.Write(t[:min(len(t), maxText-min(maxText, text.Len()))])
			}
		case xml.EndElement:
			switch {
			case depth == 3 && field == "loc": // some files have two of them in one entry
				if err := l.add(text.String(), entry == "sitemap"); err != nil {
					return nil
				}
			}
			field = ""
			depth--
		}
	}
}

// text reads a list of URLs, one per line.
func (l *list) text(r *bufio.Reader) error {
	for n := 0; ; n++ {
		line, err := r.ReadString('\n')
		if len(line) > maxText {
			return fmt.Errorf("%w: a line of %d bytes", ErrFormat, len(line))
		}
		line = strings.TrimSpace(strings.TrimPrefix(line, "\uFEFF"))
		if line != "" {
			if !utf8.ValidString(line) || n == 0 && !strings.HasPrefix(strings.ToLower(line), "http") {
				return fmt.Errorf("%w: line %d is not a URL", ErrFormat, n+1)
			}
			if l.add(line, false) != nil {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// add adds one entry, or returns errEnough.
func (l *list) add(loc string, isList bool) error {
	if l.size++; l.size > l.limits.Entries {
		l.Cut = true
		return errEnough
	}
	u, err := weburl.Parse(strings.TrimSpace(loc))
	switch {
	case err != nil:
		l.Bad++
		return nil
	case u.Host() != l.at.Host():
		l.Foreign++
		return nil
	case l.seen[u]:
		return nil
	}
	l.seen[u] = true
	if isList {
		l.Lists = append(l.Lists, u)
	} else {
		l.Pages = append(l.Pages, u)
	}
	return nil
}
