// Package markup reads what the markup of a page says: its visible text, and
// the addresses that it states in a form made for machines.
package markup

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of a tree made by Parse. What exceeds them is left out, but text is
// kept however deep it is nested.
const (
	MaxDepth      = 256     // nested elements
	MaxNodes      = 1 << 19 // elements and texts
	MaxAttributes = 64      // of one element
)

// Parse builds the tree of a page in UTF-8. Any bytes make a tree; time and
// memory are linear in them.
//
// The tree is what html.Parse builds, as far as text, links and attributes go:
// implied end tags, table parts, foreign content and misnested formatting end
// where they end there. It differs in what hostile pages exploit (html.Parse
// gives up at 512 open elements, copies formatting elements into every
// paragraph and needs quadratic time for some bytes): formatting elements are
// not copied, and stray text in a table stays in its place. Comments and the
// text of scripts other than JSON are left out; noscript and noframes hold
// elements, as for a reader without scripts.
func Parse(page []byte) *html.Node { return new(Nodes).Parse(page) }

// Nodes are memory for trees and their text, those of one page after those of
// another: the nodes are most of what parsing takes. The zero Nodes are ready.
// They are not safe for concurrent use.
type Nodes struct {
	nodes slabs[html.Node]
	attrs slabs[html.Attribute]
	texts strings.Builder // of the last texts and values, one behind the other

	page  bytes.Reader
	fresh *html.Tokenizer // of page, which has read nothing: pages are read by copies of it

	text  []byte // room to write it
	spans []Span // room for those that TextSpans returned last
}

const (
	slabNodes      = 64
	slabAttributes = 2 * MaxAttributes
	keptSlabs      = 64       // between two pages, enough for most
	keptText       = 64 << 10 // bytes, likewise
	keptSpans      = 2 << 10

	pieceOfText = 4 << 10 // bytes, for texts of up to a quarter of that
)

// Slabs are pieces of memory for Ts, all of the same length, that are given out
// one after the other.
type slabs[T any] struct {
	all  [][]T
	used int
}

// next returns a slab of size Ts.
func (s *slabs[T]) next(size int) []T {
	if s.used == len(s.all) {
		s.all = append(s.all, make([]T, size))
	}
	s.used++
	return s.all[s.used-1]
}

// free takes all slabs back.
func (s *slabs[T]) free() {
	for _, slab := range s.all[:s.used] {
		clear(slab)
	}
	if s.used = 0; len(s.all) > keptSlabs {
		s.all = slices.Clone(s.all[:keptSlabs])
	}
}

// Parse is the function of that name; the tree lives until Free.
func (m *Nodes) Parse(page []byte) *html.Node {
	b := &builder{nodes: m, doc: &html.Node{Type: html.DocumentNode}}
	b.root = b.node(html.ElementNode, atom.Html, "html", nil)
	b.doc.AppendChild(b.root)
	if m.fresh == nil {
		m.fresh = html.NewTokenizer(&m.page)
	}
	m.page.Reset(page)
	defer m.page.Reset(nil)
	copied := *m.fresh // they share its buffer, one after the other
	z := &copied
	for b.count < MaxNodes {
		switch z.Next() {
		case html.ErrorToken: // the end; a reader of bytes has no other error
			return b.doc
		case html.TextToken:
			if top := b.top(); top.DataAtom == atom.Style || top.DataAtom == atom.Script && !isJSON(top) {
				continue
			}
			b.text(z.Text())
		case html.StartTagToken:
			b.startTag(z, false)
		case html.SelfClosingTagToken:
			b.startTag(z, true)
		case html.EndTagToken:
			name := b.tagName(z.Raw()[len("</"):])
			b.end(atom.Lookup(name), name)
		}
		z.AllowCDATA(b.foreign > 0)
	}
	return b.doc
}

// Free ends the life of the trees: nobody may have a node of them any more. What
// was taken from them, such as text, stays.
func (m *Nodes) Free() {
	m.nodes.free()
	m.attrs.free()
	clear(m.spans[:cap(m.spans)])
}

type builder struct {
	doc, root, head, body *html.Node

	open    []openElement // below root, outermost first
	over    int           // start tags beyond MaxDepth that are still open
	foreign int           // 1 + index in open of the svg or math element we are in, or 0

	nodes *Nodes
	count int              // of them, in the tree
	slab  []html.Node      // the next ones
	attrs []html.Attribute // of the last tags, those of one behind those of another
	name  []byte           // of the tag that is being read
}

// An openElement is one that its end tag, or what follows, has yet to end. All
// searches among them go through at most MaxDepth of these small records.
type openElement struct {
	node *html.Node
	atom atom.Atom
	kind kindOfElement
}

// A kindOfElement is a set of the categories by which the HTML standard decides
// what a tag ends.
type kindOfElement uint16

const (
	special     kindOfElement = 1 << iota // unrelated end tags do not end it
	scope                                 // elements outside of it cannot be ended from inside
	buttonScope                           // the same for paragraphs
	itemScope                             // the same for the start of list items
	listScope                             // the same for the end of list items
	tableScope                            // the same for parts of tables
	template                              // the same for tables
	heading                               // h1 to h6
	htmlInside                            // HTML goes on inside this foreign element
	nothing     kindOfElement = 0
)

func (b *builder) node(t html.NodeType, a atom.Atom, data string, attr []html.Attribute) *html.Node {
	if len(b.slab) == 0 {
		b.slab = b.nodes.nodes.next(slabNodes)
	}
	n := &b.slab[0]
	b.slab = b.slab[1:]
	b.count++
	n.Type, n.DataAtom, n.Data, n.Attr = t, a, data, attr
	return n
}

func (b *builder) top() *html.Node {
	if len(b.open) == 0 {
		return b.root
	}
	return b.open[len(b.open)-1].node
}

func (b *builder) popTo(i int) {
	b.open = b.open[:i]
	if b.foreign > i {
		b.foreign = 0
	}
}

// drop takes the element at i off the stack and leaves those above it open.
func (b *builder) drop(i int) {
	if i == len(b.open)-1 {
		b.popTo(i)
		return
	}
	b.open = append(b.open[:i], b.open[i+1:]...)
	if b.foreign > i+1 {
		b.foreign--
	} else if b.foreign == i+1 {
		b.foreign = 0
	}
}

func (b *builder) text(data []byte) {
	if len(data) == 0 {
		return
	}
	if top := b.top(); b.body == nil && (top == b.root || top == b.head) {
		if len(bytes.TrimSpace(data)) == 0 {
			return
		}
		b.startBody(nil)
	}
	b.top().AppendChild(b.node(html.TextNode, 0, b.keep(data), nil))
}

// keep returns data as a string. Most texts and values are short, so that many
// lie in one piece of memory, also those of two pages.
func (b *builder) keep(data []byte) string {
	if len(data) > pieceOfText/4 {
		return string(data)
	}
	texts := &b.nodes.texts
	if texts.Cap()-texts.Len() < len(data) {
		texts.Reset()
		texts.Grow(pieceOfText)
	}
	from := texts.Len()
	texts.Write(data)
	return texts.String()[from:]
}

func isJSON(script *html.Node) bool {
	return strings.Contains(strings.ToLower(attr(script, "type")), "json")
}

func (b *builder) startBody(attrs []html.Attribute) {
	b.body = b.node(html.ElementNode, atom.Body, "body", attrs)
	b.root.AppendChild(b.body)
	b.popTo(0)
	b.open = append(b.open, openElement{b.body, atom.Body, kindOf(atom.Body, "body")})
}

func (b *builder) openHead() {
	b.open = append(b.open[:0], openElement{b.head, atom.Head, kindOf(atom.Head, "head")})
}

func (b *builder) startTag(z *html.Tokenizer, selfClosing bool) {
	raw := b.tagName(z.Raw()[len("<"):])
	a := atom.Lookup(raw)
	name := a.String()
	if a == 0 {
		name = string(raw)
	}
	if a == atom.Image && b.foreign == 0 {
		a, name = atom.Img, "img"
	}
	if cap(b.attrs)-len(b.attrs) < MaxAttributes {
		b.attrs = b.nodes.attrs.next(slabAttributes)[:0]
	}
	first := len(b.attrs)
	for more := true; more && len(b.attrs)-first < MaxAttributes; {
		var key, val []byte
		if key, val, more = z.TagAttr(); key != nil {
			b.attrs = append(b.attrs, html.Attribute{Key: attributeName(key), Val: b.keep(val)})
		}
	}
	b.start(a, name, slices.Clip(b.attrs[first:]), selfClosing)
	if a == atom.Noscript || a == atom.Noframes || b.foreign > 0 {
		z.NextIsNotRawText()
	}
}

// tagName returns the name at the beginning of a tag in lower case, until the
// next one is asked for. It is Tokenizer.TagName without its copy.
func (b *builder) tagName(tag []byte) []byte {
	b.name = b.name[:0]
	for _, c := range tag {
		switch {
		case c == ' ', c == '\n', c == '\r', c == '\t', c == '\f', c == '/', c == '>':
			return b.name
		case 'A' <= c && c <= 'Z':
			c |= 0x20
		case c == 0:
			b.name = append(b.name, "\ufffd"...)
			continue
		}
		b.name = append(b.name, c)
	}
	return b.name
}

// attributeName returns key without an allocation for known names.
func attributeName(key []byte) string {
	if a := atom.Lookup(key); a != 0 {
		return a.String()
	}
	return string(key)
}

func (b *builder) start(a atom.Atom, name string, attrs []html.Attribute, selfClosing bool) {
	switch {
	case a == atom.Html:
		if len(b.root.Attr) == 0 {
			b.root.Attr = attrs
		}
		return
	case a == atom.Body && b.body == nil:
		b.startBody(attrs)
		return
	case a == atom.Head && b.body == nil && b.head == nil:
		b.head = b.node(html.ElementNode, a, name, attrs)
		b.root.AppendChild(b.head)
		b.openHead()
		return
	case a == atom.Head, a == atom.Body:
		return
	}
	if b.body == nil && b.index(atom.Template, nothing) < 0 {
		if !inHead(a) {
			b.startBody(nil)
		} else if len(b.open) == 0 {
			if b.head == nil {
				b.head = b.node(html.ElementNode, atom.Head, "head", nil)
				b.root.AppendChild(b.head)
			}
			b.openHead()
		}
	}
	if b.foreign > 0 && !b.integrated() {
		if breaksOut(a) {
			b.popTo(b.foreign - 1)
		} else {
			b.push(a, name, attrs, selfClosing)
			return
		}
	}
	b.endImplied(a)
	b.push(a, name, attrs, isVoid(a) || selfClosing && (a == atom.Svg || a == atom.Math))
}

// push appends an element to the innermost open one and, unless it is a leaf,
// opens it.
func (b *builder) push(a atom.Atom, name string, attrs []html.Attribute, leaf bool) {
	n := b.node(html.ElementNode, a, name, attrs)
	b.top().AppendChild(n)
	switch {
	case leaf:
	case len(b.open) >= MaxDepth:
		b.over++
	default:
		b.open = append(b.open, openElement{n, a, kindOf(a, name)})
		if b.foreign == 0 && (a == atom.Svg || a == atom.Math) {
			b.foreign = len(b.open)
		}
	}
}

// integrated tells whether HTML goes on inside the foreign element we are in.
func (b *builder) integrated() bool {
	for i := len(b.open) - 1; i >= b.foreign; i-- {
		if b.open[i].kind&htmlInside != 0 {
			return true
		}
	}
	return false
}

// endImplied closes what the start of an a element closes without an end tag.
func (b *builder) endImplied(a atom.Atom) {
	if closesParagraph(a) {
		b.close(atom.P, buttonScope)
	}
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if isHeading(b.top().DataAtom) {
			b.popTo(len(b.open) - 1)
		}
	case atom.Li:
		b.close(atom.Li, itemScope)
	case atom.Dd, atom.Dt:
		b.close(atom.Dd, itemScope)
		b.close(atom.Dt, itemScope)
	case atom.Option, atom.Optgroup:
		if b.top().DataAtom == atom.Option {
			b.popTo(len(b.open) - 1)
		}
		if a == atom.Optgroup && b.top().DataAtom == atom.Optgroup {
			b.popTo(len(b.open) - 1)
		}
	case atom.Select, atom.Button, atom.A, atom.Nobr:
		b.close(a, scope)
	case atom.Td, atom.Th:
		b.closeTableParts(atom.Td, atom.Th, atom.Caption)
	case atom.Tr:
		b.closeTableParts(atom.Td, atom.Th, atom.Caption, atom.Tr)
	case atom.Thead, atom.Tbody, atom.Tfoot, atom.Caption, atom.Colgroup:
		b.closeTableParts(atom.Td, atom.Th, atom.Caption, atom.Tr, atom.Thead, atom.Tbody, atom.Tfoot, atom.Colgroup)
	}
}

// index returns the place in open of the innermost a element that no barrier
// hides, or -1.
func (b *builder) index(a atom.Atom, barrier kindOfElement) int {
	for i := len(b.open) - 1; i >= 0; i-- {
		if b.open[i].atom == a {
			return i
		}
		if b.open[i].kind&barrier != 0 {
			return -1
		}
	}
	return -1
}

func (b *builder) close(a atom.Atom, barrier kindOfElement) bool {
	i := b.index(a, barrier)
	if i >= 0 {
		b.popTo(i)
	}
	return i >= 0
}

// closeTableParts closes the outermost of the named elements in the innermost
// open table.
func (b *builder) closeTableParts(parts ...atom.Atom) {
	outermost := -1
	for i := len(b.open) - 1; i >= 0; i-- {
		if b.open[i].kind&tableScope != 0 {
			if outermost >= 0 {
				b.popTo(outermost)
			}
			return
		}
		for _, p := range parts {
			if b.open[i].atom == p {
				outermost = i
			}
		}
	}
}

func (b *builder) end(a atom.Atom, name []byte) {
	switch a {
	case atom.Html, atom.Body:
		return
	case atom.Head:
		if b.body == nil {
			b.popTo(0)
		}
		return
	case atom.Br, atom.P:
		if b.body == nil {
			b.startBody(nil)
		}
		if a == atom.Br || !b.close(atom.P, buttonScope) {
			b.top().AppendChild(b.node(html.ElementNode, a, a.String(), nil))
		}
		return
	}
	if b.over > 0 && !isVoid(a) {
		b.over--
		return
	}
	switch {
	case isFormatting(a):
		i := b.index(a, scope)
		if i < 0 {
			return
		}
		for _, above := range b.open[i+1:] {
			if above.kind&special != 0 {
				b.drop(i)
				return
			}
		}
		b.popTo(i)
	case a == atom.Form:
		if i := b.index(a, scope); i >= 0 {
			b.drop(i)
		}
	case isHeading(a):
		for i := len(b.open) - 1; i >= 0 && b.open[i].kind&scope == 0; i-- {
			if b.open[i].kind&heading != 0 {
				b.popTo(i)
				return
			}
		}
	case a == atom.Li:
		b.close(a, listScope)
	case a == atom.Table, a == atom.Template:
		b.close(a, template)
	case isTablePart(a):
		b.close(a, tableScope)
	case kindOf(a, "")&special != 0:
		b.close(a, scope)
	default:
		for i := len(b.open) - 1; i >= 0; i-- {
			e := &b.open[i]
			if e.atom == a && (a != 0 || e.node.Data == string(name)) {
				b.popTo(i)
				return
			}
			if e.kind&special != 0 {
				return
			}
		}
	}
}

// kindOf returns the categories of an element.
func kindOf(a atom.Atom, name string) (k kindOfElement) {
	switch a {
	case atom.Table:
		k = special | scope | tableScope
	case atom.Template:
		k = special | scope | tableScope | template
	case atom.Applet, atom.Marquee, atom.Object, atom.Caption, atom.Td, atom.Th, atom.Body, atom.Head:
		k = special | scope
	case atom.Button:
		k = special | buttonScope
	case atom.Ul, atom.Ol:
		k = special | listScope
	case atom.Frameset, atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Script, atom.Select, atom.Style,
		atom.Textarea:
		k = special
	case atom.Title:
		k = special | htmlInside
	case atom.Desc, atom.Foreignobject:
		k = htmlInside
	default:
		if name == "annotation-xml" {
			k = htmlInside
		} else if isHeading(a) {
			k = special | heading
		} else if closesParagraph(a) || isTablePart(a) {
			k = special
		}
	}
	if k&scope != 0 {
		k |= buttonScope | listScope
	}
	if k&special != 0 {
		switch a {
		case atom.Address, atom.Div, atom.P, atom.Li, atom.Dd, atom.Dt:
		default:
			k |= itemScope
		}
	}
	return k
}

func inHead(a atom.Atom) bool {
	switch a {
	case atom.Title, atom.Meta, atom.Link, atom.Base, atom.Basefont, atom.Bgsound, atom.Script, atom.Style, atom.Noscript, atom.Template:
		return true
	}
	return false
}

func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Basefont, atom.Bgsound, atom.Br, atom.Col, atom.Embed, atom.Frame, atom.Hr, atom.Img,
		atom.Input, atom.Keygen, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
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

func isTablePart(a atom.Atom) bool {
	switch a {
	case atom.Td, atom.Th, atom.Tr, atom.Thead, atom.Tbody, atom.Tfoot, atom.Caption, atom.Colgroup:
		return true
	}
	return false
}

func closesParagraph(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir,
		atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Header,
		atom.Hgroup, atom.Hr, atom.Li, atom.Listing, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.P, atom.Plaintext,
		atom.Pre, atom.Section, atom.Summary, atom.Table, atom.Ul, atom.Xmp:
		return true
	}
	return isHeading(a)
}

// breaksOut tells whether an HTML element ends the foreign content it is in.
func breaksOut(a atom.Atom) bool {
	switch a {
	case atom.B, atom.Big, atom.Br, atom.Code, atom.Em, atom.Embed, atom.I, atom.Img, atom.Meta, atom.Nobr, atom.Ruby, atom.S,
		atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Tt, atom.U, atom.Var, atom.Body:
		return true
	}
	return closesParagraph(a)
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
