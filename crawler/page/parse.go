package page

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	"gazehound/crawler/weburl"
	"gazehound/geoparse/markup"
	"gazehound/internal/textutil"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// Agent is the name by which a page may address gazehound in meta elements and
// X-Robots-Tag headers.
const Agent = "gazehound"

// ErrNotHTML is the error for a body that is a picture, an archive, a PDF or
// the like, whatever its header says.
var ErrNotHTML = errors.New("body is not an HTML page")

// Parse parses a page. The only error is ErrNotHTML, for other XML with ErrXML. Time and memory are
// linear in the body, however broken or hostile it is. r is not changed, and the page shares no memory with its Body.
//
// Links are those of a, area, frame and iframe elements, of fragments that scripts put in, of meta refresh and of
// link elements that are canonical, alternate (in another language or for
// another device), next or prev. Links with rel=nofollow, to the page itself, within it (#…), in
// comments, scripts and templates, and to what is not http or https are left
// out; those in hidden elements count, because menus are often hidden. A
// target that is linked to several times keeps the words of the first link
// that has any.
//
// Around is up to 100 characters before and 100 after the link in its line of the text, cut at
// words. If that line has only links, as in a menu, the lines before and after it are used, if
// these have other words.
//
// Of a rendered response the document is parsed that its scripts have made. A response that is parsed
// already returns its Parsed.
func Parse(r *Response) (*Page, error) {
	if r.Parsed != nil {
		return r.Parsed, nil
	}
	if what := foreignFormat(r.Body); what != "" {
		return nil, fmt.Errorf("page: %s: %w but %s", r.URL, ErrNotHTML, what)
	}
	body, encoding := decode(r.Body, r.Header)
	if r.Rendered != nil {
		body = repair(r.Rendered) // its links are those of a page in the charset of the body
	}
	switch media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media {
	case "text/plain":
		body = append([]byte("<plaintext>"), body...)
	case "application/xml", "text/xml":
		if !isXHTML(body) {
			return nil, fmt.Errorf("page: %s: %w but %w", r.URL, ErrNotHTML, ErrXML)
		}
	}
	p := &Page{URL: r.URL, Charset: encoding, Doc: markup.Parse(body)}
	h := readHead(r, p.Doc, encoding)
	var spans []markup.Span
	p.Text, spans = markup.TextSpans(p.Doc, isLink)
	p.Title = h.title
	p.Meta, p.Script = h.charset, languageOfScript(p.Text)
	p.Lang = p.Script
	if p.Lang == "" {
		p.Lang = h.language(p.Text)
	}
	p.NoIndex, p.NoFollow, p.NoArchive, p.Reserved = h.noIndex, h.noFollow, h.noArchive, h.reserved
	p.Marks, p.Feeds = h.marks(r.Header), h.feeds
	p.Links, p.Left = collect(r.URL, h, p.Text, spans, !p.NoFollow)
	// once rendered, a page with links has become what it is, however short
	p.NeedsScript = needsScript(p.Doc, p.Text, len(p.Links)) && (r.Rendered == nil || len(p.Links) == 0)
	return p, nil
}

// ErrXML is wrapped by the error for XML that is not XHTML, such as a feed.
var ErrXML = errors.New("XML of another kind")

// xhtmlRoot matches the root of XHTML behind declaration, comments and document type.
var xhtmlRoot = regexp.MustCompile(`(?is)^\s*(<\?.*?\?>\s*|<!--.*?-->\s*|<!doctype[^>]*>\s*)*<(\w+:)?html[\s>]`)

// isXHTML reports whether XML is XHTML by its root.
func isXHTML(body []byte) bool { return xhtmlRoot.Match(body[:min(len(body), 16<<10)]) }

// foreignFormat names the format of a body that is surely not HTML, or "".
func foreignFormat(body []byte) string {
	for _, f := range []struct{ magic, name string }{
		{"%PDF-", "PDF"}, {"\x89PNG\r\n", "a PNG picture"}, {"GIF87a", "a GIF picture"}, {"GIF89a", "a GIF picture"},
		{"\xff\xd8\xff", "a JPEG picture"}, {"PK\x03\x04", "a ZIP archive"}, {"\x1f\x8b\x08", "gzip data"},
		{"\xd0\xcf\x11\xe0", "an Office document"}, {"Rar!\x1a", "a RAR archive"}, {"7z\xbc\xaf", "a 7z archive"},
		{"wOFF", "a font"}, {"wOF2", "a font"}, {"%!PS-", "PostScript"}, {"ID3\x03", "sound"},
		{"OggS\x00", "sound or film"},
		{"\x00\x00\x01\x00", "an icon"}, {"\x7fELF", "a program"},
	} {
		if bytes.HasPrefix(body, []byte(f.magic)) {
			return f.name
		}
	}
	return ""
}

// A head is the information in header fields and elements without text.
type head struct {
	title                                  string
	base                                   weburl.URL // base of relative references
	encoding                               string     // of the page, in which queries are sent
	links                                  []Link     // of link elements and refreshes
	feeds                                  []weburl.URL
	langs                                  []string
	charset                                string // of a meta element, by the name of the Encoding Standard
	noIndex, noFollow, noArchive, reserved bool
	made                                   []string // marks in elements
	contentLanguage, locale, socialTitle   string   // of meta elements
}

// What readHead selects, anywhere in the page.
var (
	headElements = markup.Elements(atom.Html, atom.Title, atom.Base, atom.Meta, atom.Link, atom.Body)
	roots        = markup.Elements(atom.Html)
	titles       = cascadia.MustCompile("title:not(svg > title)")
	bases        = cascadia.MustCompile("base[href]")
)

func readHead(r *Response, doc *html.Node, encoding string) *head {
	h := &head{base: r.URL, encoding: encoding}
	elements := goquery.NewDocumentFromNode(doc).FindMatcher(headElements)
	if href, ok := elements.FilterMatcher(bases).Attr("href"); ok {
		if base, err := r.URL.Resolve(href); err == nil {
			h.base = base
		}
	}
	for _, n := range elements.FilterMatcher(roots).Nodes {
		for _, key := range []string{"lang", "xml:lang"} {
			lang, _ := attr(n, key)
			h.langs = append(h.langs, lang)
		}
	}
	for _, n := range elements.FilterMatcher(titles).Nodes {
		h.title = cmp.Or(h.title, fold(markup.Text(n), MaxTitle))
	}
	for _, n := range elements.Nodes {
		switch n.DataAtom {
		case atom.Link:
			h.link(r.URL, n)
			if rel, _ := attr(n, "rel"); strings.Contains(rel, "://") {
				h.mark("rel", rel)
			}
		case atom.Body:
			id, _ := attr(n, "id")
			h.mark("body", id)
		case atom.Meta:
			h.meta(r.URL, n)
		}
	}
	h.title = cmp.Or(h.title, fold(h.socialTitle, MaxTitle))
	h.langs = append(h.langs, h.contentLanguage, r.Header.Get("Content-Language"), h.locale)
	for _, line := range r.Header.Values("X-Robots-Tag") {
		h.robotsTag(line)
	}
	if tdm := strings.TrimSpace(r.Header.Get("Tdm-Reservation")); tdm == "1" {
		h.reserved = true // either suffices
	}
	if refresh := r.Header.Get("Refresh"); refresh != "" {
		h.refresh(r.URL, refresh)
	}
	return h
}

// meta reads a meta element of a page.
func (h *head) meta(page weburl.URL, n *html.Node) {
	if h.charset == "" {
		h.charset = charsetOf(n.Attr)
	}
	content, _ := attr(n, "content")
	name, _ := attr(n, "name")
	pragma, isPragma := attr(n, "http-equiv")
	property, _ := attr(n, "property")
	name = cmp.Or(name, property)
	if isPragma {
		name = pragma
	}
	switch strings.ToLower(name) {
	case "robots", Agent:
		h.robots(content)
	case "tdm-reservation":
		h.reserved = strings.TrimSpace(content) == "1"
	case "refresh":
		h.refresh(page, content)
	case "generator":
		h.mark("generator", content)
	case "content-language", "language":
		h.contentLanguage = content
	case "og:locale":
		h.locale = content
	case "og:title":
		h.socialTitle = content
	}
}

const maxFeeds = 3 // of a page

// maxMarks and maxMark bound the marks of a page.
const (
	maxMarks = 20
	maxMark  = 200 // bytes
)

// mark adds a mark of the software that made the page.
func (h *head) mark(kind, text string) {
	text = strings.TrimSpace(text)
	if text != "" && len(h.made) < maxMarks {
		h.made = append(h.made, kind+": "+strings.ToValidUTF8(text[:min(len(text), maxMark)], ""))
	}
}

// markFields are the header fields that name software.
var markFields = []string{"Server", "X-Powered-By", "Powered-By", "X-Generator", "X-Pingback", "Link", "X-Shopid"}

// marks returns what names the software that made the page: its generator and title, links whose
// relation is a URL, the id of its body, and header fields, each as "generator: WordPress 6.8".
func (h *head) marks(header http.Header) []string {
	h.mark("title", h.title)
	for _, name := range markFields {
		for _, value := range header.Values(name) {
			h.mark(strings.ToLower(name), value)
		}
	}
	for name := range header {
		if strings.HasPrefix(name, "X-Magento-") || strings.HasPrefix(name, "X-Shopify-") {
			h.mark(strings.ToLower(name), "set")
		}
	}
	return h.made
}

// resolve returns the URL of a reference on the page. Letters in its query are escaped in the charset
// of the page, as browsers do (URL Standard, section 4.4, query state); those that it lacks are sent
// as references, "&#8364;".
func (h *head) resolve(ref string) (weburl.URL, error) {
	if q := strings.IndexByte(ref, '?'); q >= 0 && !isASCII(ref[q:]) && len(ref) <= weburl.MaxLength {
		ref = ref[:q] + escapeIn(h.encoding, ref[q:])
	}
	return h.base.Resolve(ref)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// escapeIn escapes what is not ASCII in an encoding, by its name in the Encoding Standard.
func escapeIn(encoding, s string) string {
	e, name := charset.Lookup(encoding)
	if e == nil || name == "utf-8" || strings.HasPrefix(name, "utf-16") {
		return s // escaped in UTF-8
	}
	s, fragment, hasFragment := strings.Cut(s, "#")
	encoder := e.NewEncoder()
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		bytes, err := encoder.String(string(r))
		if err != nil {
			fmt.Fprintf(&b, "%%26%%23%d%%3B", r)
			continue
		}
		for _, c := range []byte(bytes) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if hasFragment {
		return b.String() + "#" + fragment
	}
	return b.String()
}

func (h *head) link(page weburl.URL, n *html.Node) {
	href, ok := attr(n, "href")
	if !ok || len(h.links) >= 50 {
		return
	}
	rel, _ := attr(n, "rel")
	canonical, follow := false, false
	for _, token := range strings.Fields(strings.ToLower(rel)) {
		switch token {
		case "canonical":
			canonical, follow = true, true
		case "next", "prev":
			follow = true
		case "alternate":
			kind, _ := attr(n, "type")
			switch strings.ToLower(kind) {
			case "", "text/html", "application/xhtml+xml":
				follow = true
			case "application/rss+xml", "application/atom+xml":
				if to, err := h.resolve(href); err == nil && len(h.feeds) < maxFeeds {
					h.feeds = append(h.feeds, to)
				}
			}
		case "nofollow", "stylesheet":
			return
		}
	}
	if !follow {
		return
	}
	to, err := h.resolve(href)
	if err != nil || canonical && to.Site() != page.Site() {
		return
	}
	title, _ := attr(n, "title")
	h.links = append(h.links, Link{From: page, To: to, Title: fold(title, MaxAnchor), Place: ZoneHead + " link"})
}

// refresh reads "5; url=https://…" as browsers do.
func (h *head) refresh(page weburl.URL, content string) {
	i := strings.IndexAny(content, ";,")
	if i < 0 || len(h.links) >= 50 {
		return
	}
	ref := strings.TrimSpace(content[i+1:])
	if len(ref) >= 3 && strings.EqualFold(ref[:3], "url") {
		if target, ok := strings.CutPrefix(strings.TrimSpace(ref[3:]), "="); ok {
			ref = strings.TrimSpace(target)
		}
	}
	if quote := ref[:min(len(ref), 1)]; quote == "'" || quote == `"` {
		ref, _, _ = strings.Cut(ref[1:], quote)
	}
	if to, err := h.resolve(ref); err == nil && ref != "" {
		h.links = append(h.links, Link{From: page, To: to, Place: ZoneHead + " meta"})
	}
}

// robots parses directives for all crawlers, or for us.
func (h *head) robots(directives string) {
	for _, d := range strings.FieldsFunc(strings.ToLower(directives),
		func(r rune) bool { return r == ',' || r == ' ' || r == ';' }) {
		switch strings.TrimSpace(d) {
		case "noindex":
			h.noIndex = true
		case "nofollow":
			h.noFollow = true
		case "none":
			h.noIndex, h.noFollow = true, true
		case "noarchive", "nocache":
			h.noArchive = true
		}
	}
}

// robotsTag parses one X-Robots-Tag field. Directives after "name:" are for that crawler only.
func (h *head) robotsTag(field string) {
	agent := "*"
	for _, part := range strings.Split(field, ",") {
		if name, directive, ok := strings.Cut(part, ":"); ok && !takesValue(name) {
			agent, part = strings.ToLower(strings.TrimSpace(name)), directive
		}
		if agent == "*" || agent == Agent {
			h.robots(part)
		}
	}
}

// takesValue reports whether name, before a colon, is a directive and no crawler.
func takesValue(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return strings.HasPrefix(name, "max-") || name == "unavailable_after"
}

// attr returns the value of the attribute key of n and whether it exists.
func attr(n *html.Node, key string) (string, bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}

// fold returns at most n characters of s, with white space folded.
func fold(s string, n int) string {
	if s == "" {
		return ""
	}
	s = s[:min(len(s), 8*n)]
	return textutil.Clip(markup.Text(&html.Node{Type: html.TextNode, Data: strings.ToValidUTF8(s, "")}), n)
}
