// Package sitemap parses sitemaps (sitemaps.org, version 0.9): XML, indexes of sitemaps, feeds (RSS,
// Atom) and plain text.
package sitemap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gazehound/crawler/weburl"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/runes"
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
	Foreign int          // entries of other sites, which are ignored (protocol, "Location")
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
	decoded := transform.NewReader(bounded, unicode.BOMOverride(encoding.Nop.NewDecoder()))
	start := bufio.NewReaderSize(decoded, headBytes)
	head, _ := start.Peek(headBytes)
	if at := beginning.FindIndex(head); at != nil { // behind a warning of PHP or the like
		start.Discard(at[0])
		head = head[at[0]:]
	}
	var err error
	if looksXML(head) {
		err = l.xml(inUTF8(start, head))
	} else {
		lines := transform.NewReader(start, runes.Map(func(r rune) rune {
			if r == '\r' {
				return '\n'
			}
			return r
		}))
		err = l.text(bufio.NewReader(lines))
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

var (
	beginning   = regexp.MustCompile(`(?i)<\?xml|<!doctype|<urlset|<sitemapindex|<rss|<feed|<rdf:rdf`)
	declaration = regexp.MustCompile(`(?i)^\s*<\?xml[^>]*encoding\s*=\s*["']([^"']+)`)
)

func looksXML(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(head, []byte("<"))
}

// inUTF8 decodes a document whose declaration, in head, names another charset. UTF-16 is decoded
// already.
func inUTF8(document io.Reader, head []byte) io.Reader {
	label := declaration.FindSubmatch(head)
	if label == nil {
		return document
	}
	e, name := charset.Lookup(string(label[1]))
	if e == nil || strings.HasPrefix(name, "utf-") {
		return document
	}
	return transform.NewReader(document, e.NewDecoder())
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

// Bounds of a document.
const (
	maxDepth = 20 // of elements in one entry
	maxToken = 1 << 20
)

// locations are the elements that hold a URL, by their parent, in sitemaps, RSS and Atom.
var locations = map[[2]string]bool{
	{"url", "loc"}: true, {"sitemap", "loc"}: true, {"item", "link"}: true, {"entry", "link"}: true,
}

// xml reads sitemaps, RSS and Atom with the tokenizer of HTML, because real ones have raw ampersands,
// &eacute;, control characters and elements that are never closed. Memory is that of the entries,
// whatever the size of the document.
func (l *list) xml(r io.Reader) error {
	z := html.NewTokenizer(r)
	z.SetMaxBuf(maxToken)
	z.AllowCDATA(true)
	var open []string // names of the open elements, without prefix
	var loc strings.Builder
	inLoc, known := false, false
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			switch {
			case !known:
				return ErrFormat
			case z.Err() == io.EOF && len(open) == 0:
				return nil
			case z.Err() == io.EOF:
				return io.ErrUnexpectedEOF
			}
			return z.Err()
		case html.DoctypeToken:
			if bytes.Contains(z.Raw(), []byte("ENTITY")) {
				return fmt.Errorf("%w: it declares entities", ErrFormat)
			}
		case html.TextToken:
			if raw := z.Raw(); inLoc {
				loc.WriteString(text(raw[:min(len(raw), maxText-min(maxText, loc.Len()))]))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			tag := z.Token()
			name := local(tag.Data)
			switch {
			case !known && !isRoot(name):
				return fmt.Errorf("%w: its root is %.40q", ErrFormat, tag.Data)
			case name == "url" || name == "sitemap" || name == "item" || name == "entry":
				open = open[:min(len(open), 2)] // the last entry may not have been closed
			}
			known = true
			if len(open) > maxDepth {
				return fmt.Errorf("%w: elements are nested too deep", ErrFormat)
			}
			parent := ""
			if len(open) > 0 {
				parent = open[len(open)-1]
			}
			inLoc = locations[[2]string{parent, name}] && !strings.HasPrefix(tag.Data, "atom:")
			loc.Reset()
			if inLoc && parent == "entry" { // Atom has its links in attributes
				inLoc = false
				if href := feedLink(tag.Attr); href != "" && l.add(href, false) != nil {
					return nil
				}
			}
			if kind == html.StartTagToken && !(parent == "entry" && name == "link") {
				open = append(open, name)
			}
		case html.EndTagToken:
			tag, _ := z.TagName()
			name := local(string(tag))
			if inLoc && (name == "loc" || name == "link") { // some files have two of them in one entry
				if l.add(loc.String(), open[len(open)-2] == "sitemap") != nil {
					return nil
				}
			}
			inLoc = false
			if at := slices.Index(open, name); at >= 0 {
				open = open[:at]
			}
		}
	}
}

// isRoot reports whether an element of this name holds entries.
func isRoot(name string) bool {
	switch name {
	case "urlset", "sitemapindex", "rss", "rdf", "feed":
		return true
	}
	return false
}

// local returns the name of an element without its prefix.
func local(name string) string { return name[strings.IndexByte(name, ':')+1:] }

// feedLink returns the URL of a link element of Atom that leads to the entry's page, or "".
func feedLink(attributes []html.Attribute) (href string) {
	for _, a := range attributes {
		switch {
		case a.Key == "rel" && a.Val != "alternate":
			return ""
		case a.Key == "href":
			href = a.Val
		}
	}
	return href
}

var reference = regexp.MustCompile(`&#?\w+;`)

// text returns the text of raw characters or of a CDATA section. References end with a semicolon in
// XML, so that "&copy=1" in a query is none.
func text(raw []byte) string {
	if cdata, ok := bytes.CutPrefix(raw, []byte("<![CDATA[")); ok {
		return string(bytes.TrimSuffix(cdata, []byte("]]>")))
	}
	return reference.ReplaceAllStringFunc(string(raw), html.UnescapeString)
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

// SameHost reports whether two URLs are of one host, with "www." or without: the protocol keeps them
// apart, but they are one site, and many a sitemap names only the other spelling.
func SameHost(a, b weburl.URL) bool {
	return strings.TrimPrefix(a.Host(), "www.") == strings.TrimPrefix(b.Host(), "www.")
}

// add adds one entry, or returns errEnough.
func (l *list) add(loc string, isList bool) error {
	l.size++
	if l.size > l.limits.Entries {
		l.Cut = true
		return errEnough
	}
	u, err := weburl.Parse(strings.TrimSpace(loc))
	switch {
	case err != nil:
		l.Bad++
		return nil
	case !SameHost(u, l.at):
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
