// Package markup extracts the visible text of a page, and the addresses in its structured data.
package markup

import (
	"bytes"
	"io"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of a page.
const (
	MaxTags   = 1 << 18 // the page ends there
	MaxCopies = 1 << 18 // of formatting elements; where there are more, such as b and font, they are left out

	// MaxDepth is how many elements may be open, without the parts of paragraphs, lists
	// and tables; the tags of others are left out.
	MaxDepth = 100
	MaxTime  = 5 * time.Second // the page ends where it has been read by then; honest ones take milliseconds
)

// Parse builds the tree of a page in UTF-8, as for a reader without scripts. Any
// bytes make a tree. A page over the bounds is cut, or loses tags, but no text
// between them: html.Parse gives up at 512 open elements, copies all open
// formatting elements into every paragraph, and needs quadratic time for some
// bytes, such as those of texts between tags that it ignores.
func Parse(page []byte) *html.Node {
	doc := parseGuarded(firstTags(page))
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Noframes && n.FirstChild != nil {
			showNoframes(n)
		}
	}
	return doc
}

// showNoframes puts elements in the place of the text of a noframes element, for
// a reader without frames.
func showNoframes(n *html.Node) {
	inside := parseGuarded([]byte(n.FirstChild.Data))
	n.RemoveChild(n.FirstChild)
	for body := range inside.Descendants() {
		if body.DataAtom != atom.Body {
			continue
		}
		for body.FirstChild != nil {
			child := body.FirstChild
			body.RemoveChild(child)
			n.AppendChild(child)
		}
		return
	}
}

func parseGuarded(page []byte) *html.Node {
	if !isTangled(page) {
		if doc, err := parse(page); err == nil {
			return doc
		}
	}
	doc, err := parse(untangle(page))
	if err != nil { // the bounds leave no page that is too deep
		doc = &html.Node{Type: html.DocumentNode}
	}
	return doc
}

func parse(page []byte) (*html.Node, error) {
	return html.ParseWithOptions(&timedReader{bytes.NewReader(page), time.Now().Add(MaxTime)},
		html.ParseOptionEnableScripting(false))
}

// A timedReader returns io.EOF after its deadline.
type timedReader struct {
	r   *bytes.Reader
	end time.Time
}

func (r *timedReader) Read(p []byte) (int, error) {
	if time.Now().After(r.end) {
		return 0, io.EOF
	}
	return r.r.Read(p)
}

// firstTags returns what stands before the tag beyond MaxTags.
func firstTags(page []byte) []byte {
	if bytes.Count(page, []byte{'<'}) <= MaxTags {
		return page
	}
	end := 0
	for range MaxTags {
		end += bytes.IndexByte(page[end:], '<') + 1
	}
	return page[:end-1]
}

// isTangled reports whether a page may have more open elements, or copies of
// formatting elements, than the bounds allow. It looks for tags only, so that
// text in scripts counts as well.
func isTangled(page []byte) bool {
	depth, formatting, copies := 0, 0, 0
	for {
		i := bytes.IndexByte(page, '<')
		if i < 0 {
			return false
		}
		page = page[i+1:]
		step := 1
		if len(page) > 0 && page[0] == '/' {
			step, page = -1, page[1:]
		}
		name := tagName(page)
		if len(name) == 0 {
			continue
		}
		copies += formatting
		switch opens(name) {
		case formattingElement:
			formatting = max(formatting+step, 0)
		case nestingElement:
			depth = max(depth+step, 0)
		}
		if depth > MaxDepth || copies > MaxCopies {
			return true
		}
	}
}

// untangle leaves out the tags of formatting elements but links, and those of
// elements that are nested too deep.
func untangle(page []byte) []byte {
	kept := make([]byte, 0, len(page))
	var open []string // elements that have not ended, outermost first
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		token := z.Next()
		raw := z.Raw()
		if token == html.ErrorToken {
			return append(kept, raw...)
		}
		if token == html.StartTagToken || token == html.EndTagToken {
			name := tagName(bytes.TrimLeft(raw, "</"))
			switch kind := opens(name); {
			case kind == formattingElement && !bytes.EqualFold(name, []byte("a")):
				continue
			case kind == nestingElement && token == html.StartTagToken:
				if len(open) >= MaxDepth {
					continue
				}
				open = append(open, string(bytes.ToLower(name)))
			case kind == nestingElement:
				at := lastIndex(open, name)
				if at < 0 {
					continue
				}
				open = append(open[:at], open[at+1:]...)
			}
		}
		kept = append(kept, raw...)
	}
}

func lastIndex(open []string, name []byte) int {
	for i := len(open) - 1; i >= 0; i-- {
		if bytes.EqualFold([]byte(open[i]), name) {
			return i
		}
	}
	return -1
}

// tagName returns the name that a tag begins with.
func tagName(tag []byte) []byte {
	n := 0
	for n < len(tag) && (tag[n]|0x20-'a' <= 25 && tag[n]|0x20 >= 'a' || n > 0 && (tag[n] == '-' || tag[n]-'0' <= 9)) {
		n++
	}
	return tag[:n]
}

type openKind uint8

const (
	otherElement      openKind = iota // is empty, or ends where another one of its kind begins
	formattingElement                 // is copied into what follows until it ends
	nestingElement
)

func opens(name []byte) openKind {
	a := atom.Lookup(name)
	if a == 0 {
		a = atom.Lookup(bytes.ToLower(name))
	}
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img,
		atom.Image, atom.Input, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr, atom.P, atom.Li,
		atom.Dd, atom.Dt, atom.Option, atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Thead, atom.Tfoot,
		atom.Html, atom.Head, atom.Body:
		return otherElement
	}
	if isFormatting(a) {
		return formattingElement
	}
	return nestingElement
}

func isHeading(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}

func isFormatting(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike,
		atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}

// attr returns the value of the attribute key of n, or "".
func attr(n *html.Node, key string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return n.Attr[i].Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return true
		}
	}
	return false
}
