package markup

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/unicode/norm"
)

// Text returns the text of doc that a reader sees, the one that all spans of
// addresses refer to. Every block, table cell, list item, heading, option and
// <br> starts a new line, and so does what its own style makes a box; what is inline
// stays joined, but for words and numbers that elements divide: see [writer.apart]. Within a line white
// space is folded to single spaces; there are no empty lines and no spaces at their ends; <pre> keeps
// its lines. Format characters (soft hyphen, zero-width
// and direction marks) and control characters are dropped, letters are composed
// (NFC). Scripts, styles, templates, drawings, the head, image texts and
// elements with the hidden attribute or style display:none are left out.
//
// It is one linear pass without recursion; any tree is safe.
func Text(doc *html.Node) string {
	text, _ := TextSpans(doc, nil)
	return text
}

// A Span is the place of an element in the text.
type Span struct {
	Node       *html.Node
	Start, End int // bytes; equal where the element shows no text
}

// TextSpans returns Text(doc) and the spans of those elements that mark
// accepts, in document order. Elements that show nothing have empty spans;
// those inside scripts, templates and the head have none.
func TextSpans(doc *html.Node, mark func(*html.Node) bool) (string, []Span) {
	w := writer{root: doc, mark: mark, limit: math.MaxInt}
	w.out.Grow(textBytes(doc))
	walk(doc, math.MaxInt, w.enter, w.leave)
	w.place()
	text := w.out.String()
	if !w.composable || norm.NFC.IsNormalString(text) {
		return text, w.spans
	}
	return w.compose(text)
}

// textBytes returns the length of the text in doc, white space and what is hidden included.
func textBytes(doc *html.Node) (n int) {
	for c := range doc.Descendants() {
		if c.Type == html.TextNode && layoutOf(c.Parent.DataAtom) != absent {
			n += len(c.Data)
		}
	}
	return n
}

// textUpTo returns the beginning of Text(n), about limit bytes from at most 256
// nodes. It costs the same however large n is.
func textUpTo(n *html.Node, limit int) string {
	w := writer{root: n, limit: limit}
	walk(n, 256, w.enter, w.leave)
	return norm.NFC.String(w.out.String())
}

// walk visits the nodes of the tree in document order, at most most of them.
// Where enter returns false, it skips the children.
func walk(root *html.Node, most int, enter func(*html.Node) bool, leave func(*html.Node)) {
	for n := root; most > 0; most-- {
		if enter(n) && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for {
			leave(n)
			if n == root {
				return
			}
			if n.NextSibling != nil {
				n = n.NextSibling
				break
			}
			n = n.Parent
		}
	}
}

type writer struct {
	root        *html.Node
	limit       int // bytes of out after which nothing is written any more
	out         strings.Builder
	line, space bool       // a line break, a space is due before the next character
	composable  bool       // out may have letters that are not composed yet
	pre         int        // open elements that keep line breaks
	hidden      *html.Node // outermost open element that hides its text, or nil

	seam seam // what inline elements did since the last character
	from int  // where the text of the innermost inline element began
	lone bool // the inline element that ended last holds one character

	mark  func(*html.Node) bool
	spans []Span
	open  []int // spans that have not ended
	late  int   // spans before this one have a place
}

func (w *writer) enter(n *html.Node) bool {
	switch n.Type {
	case html.TextNode:
		if w.hidden == nil && (n.Parent == nil || n.Parent.DataAtom != atom.Noscript ||
			!strings.Contains(n.Data, "<")) {
			w.write(n.Data)
		}
		return false
	case html.DocumentNode:
		return true
	case html.ElementNode:
	default:
		return false
	}
	l := layoutIn(n)
	if l == absent && n != w.root {
		return false
	}
	switch l {
	case block, verbatim:
		w.line = true
	case replaced:
		w.space = true
	case inline:
		w.seam |= opened
		w.from = w.out.Len()
		if n.DataAtom == atom.Sup || n.DataAtom == atom.Sub {
			w.seam |= raised
		}
	}
	if l == verbatim {
		w.pre++
	}
	if w.hidden == nil && hides(n) {
		w.hidden = n
	}
	if w.mark != nil && w.mark(n) {
		w.open = append(w.open, len(w.spans))
		w.spans = append(w.spans, Span{Node: n, Start: -1})
	}
	return true
}

func (w *writer) leave(n *html.Node) {
	if n.Type != html.ElementNode {
		return
	}
	l := layoutIn(n)
	if l == absent && n != w.root {
		return
	}
	if k := len(w.open) - 1; k >= 0 && w.spans[w.open[k]].Node == n {
		w.end(w.open[k], k > 0 && w.spans[w.open[k-1]].Start < 0)
		w.open = w.open[:k]
	}
	if w.hidden == n {
		w.hidden = nil
	}
	switch l {
	case block, verbatim:
		w.line = true
	case inline:
		w.seam |= closed
		inner := w.out.String()[w.from:]
		w.lone = len(inner) <= 2*utf8.UTFMax && utf8.RuneCountInString(strings.TrimSpace(inner)) == 1
	}
	if l == verbatim {
		w.pre--
	}
}

// A seam is what inline elements did between two characters.
type seam uint8

const (
	opened seam = 1 << iota
	closed
	raised // <sup> or <sub> began
)

// apart reports whether rest begins a word or number of its own, though no white
// space stands before it: where one inline element ends and the next begins a
// number or a capital follows ("WI 53022" and "118 Main St"), or a capital follows
// a small letter where one element ends or begins ("Kontakt" and "Impressum").
// Single characters stay joined: they are counters and letters in motion.
func (w *writer) apart(rest string) bool {
	last, _ := utf8.DecodeLastRuneInString(w.out.String())
	next, size := utf8.DecodeRuneInString(rest)
	if w.seam&raised != 0 || w.lone && len(strings.TrimSpace(rest)) == size {
		return false
	}
	between := w.seam == opened|closed && (unicode.IsLetter(last) || unicode.IsDigit(last))
	if unicode.IsUpper(next) {
		return between || unicode.IsLower(last) && !w.lone
	}
	return between && unicode.IsDigit(next)
}

// write appends the characters of one text node.
func (w *writer) write(s string) {
	for i := 0; i < len(s) && w.out.Len() < w.limit; {
		c := s[i]
		if c > ' ' && c < 0x7f {
			w.gap(s[i:])
			j := i + 1
			for j < len(s) {
				if s[j] > ' ' && s[j] < 0x7f {
					j++
				} else if s[j] == ' ' && j+1 < len(s) && s[j+1] > ' ' && s[j+1] < 0x7f && w.out.Len()+j-i < w.limit {
					j += 2 // one space between two words, as they are written
				} else {
					break
				}
			}
			w.out.WriteString(s[i:j])
			i = j
			continue
		}
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '\n' && w.pre > 0:
				w.line = true
			case c == ' ' || '\t' <= c && c <= '\r':
				w.space = true
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch classOf(r) {
		case letter:
			w.gap(s[i-size:])
			w.out.WriteRune(r)
			w.composable = w.composable || r >= firstMark && (r < dashes || r > signs)
		case blank:
			w.space = true
		}
	}
}

// gap writes the line break or space that is due before rest, and begins the
// open spans.
func (w *writer) gap(rest string) {
	if w.out.Len() > 0 {
		if w.line {
			w.out.WriteByte('\n')
		} else if w.space || w.seam != 0 && w.apart(rest) {
			w.out.WriteByte(' ')
		}
	}
	w.line, w.space, w.seam, w.lone = false, false, 0, false
	w.place()
}

// end ends a span. One without text stands where it ends, unless a line break
// is due there or the span around it has no place yet.
func (w *writer) end(i int, within bool) {
	switch s := &w.spans[i]; {
	case s.Start >= 0:
		s.End = w.out.Len()
	case !w.line && !within:
		for j := i; j < len(w.spans); j++ { // with those inside it
			w.spans[j].Start, w.spans[j].End = w.out.Len(), w.out.Len()
		}
	}
}

// place lets the spans that have no place yet begin here. Those that have ended
// are empty: they stand at the start of the line that follows them, as pictures
// and their captions do.
func (w *writer) place() {
	for i := w.late; i < len(w.spans); i++ {
		if s := &w.spans[i]; s.Start < 0 {
			s.Start, s.End = w.out.Len(), w.out.Len()
		}
	}
	w.late = len(w.spans)
}

// compose returns text in NFC and moves the spans along. A span that begins
// or ends between the parts of one composed letter moves behind it.
func (w *writer) compose(text string) (string, []Span) {
	offsets := make([]*int, 0, 2*len(w.spans))
	for i := range w.spans {
		offsets = append(offsets, &w.spans[i].Start, &w.spans[i].End)
	}
	slices.SortFunc(offsets, func(a, b *int) int { return *a - *b })
	out := make([]byte, 0, len(text))
	var it norm.Iter
	it.InitString(norm.NFC, text)
	for !it.Done() {
		for len(offsets) > 0 && *offsets[0] <= it.Pos() {
			*offsets[0] = len(out)
			offsets = offsets[1:]
		}
		out = append(out, it.Next()...)
	}
	for _, o := range offsets {
		*o = len(out)
	}
	return string(out), w.spans
}

// firstMark is the first character that can change in NFC, or join the one before
// it: what lies below is Latin and whole.
const firstMark = 0x300

// From dashes on, dashes, quotes, bullets and signs of currencies change neither.
const (
	dashes = '\u2010'
	signs  = '\u20cf'
)

type class uint8

const (
	letter class = iota
	blank
	dropped
)

func classOf(r rune) class {
	switch {
	case 0xc0 <= r && r < firstMark, 0x3001 <= r && r < 0xd800: // the quick answer for most scripts
		return letter
	case unicode.IsSpace(r), unicode.Is(unicode.Z, r), unicode.Is(unicode.Co, r): // icon fonts draw private characters
		return blank
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Cc, r):
		return dropped
	}
	return letter
}

type layout uint8

const (
	inline layout = iota
	block
	verbatim // a block that keeps its line breaks
	replaced // an inline box without text of its own
	absent   // no part of the text, with all that is in it
)

func layoutOf(a atom.Atom) layout {
	switch a {
	case 0:
		return inline
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Br, atom.Button, atom.Caption,
		atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset,
		atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Frameset, atom.H1, atom.H2, atom.H3, atom.H4,
		atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Main, atom.Menu,
		atom.Nav, atom.Noframes, atom.Noscript, atom.Ol, atom.Optgroup, atom.Option, atom.P, atom.Section, atom.Select,
		atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul:
		return block
	case atom.Listing, atom.Plaintext, atom.Pre, atom.Textarea, atom.Xmp:
		return verbatim
	case atom.Embed, atom.Img, atom.Input, atom.Object, atom.Svg:
		return replaced
	case atom.Audio, atom.Canvas, atom.Datalist, atom.Head, atom.Noembed, atom.Script, atom.Style, atom.Template,
		atom.Title, atom.Video:
		return absent
	}
	return inline
}

// layoutIn is layoutOf an element, which its own style can make a block.
func layoutIn(n *html.Node) layout {
	l := layoutOf(n.DataAtom)
	if l != inline {
		return l
	}
	for i := range n.Attr {
		if n.Attr[i].Key == "style" && isBox(n.Attr[i].Val) {
			return block
		}
	}
	return inline
}

// isBox reports whether a style makes a block or puts an element somewhere on its own, as programs do that
// draw each line of a text: "top: 28px", where a class has the rest. What is moved from where it stands,
// "position: relative; top: -2px", stays in its line.
func isBox(style string) bool {
	return boxed.MatchString(style) || strings.Contains(style, "top:") && placed.MatchString(style) &&
		!strings.Contains(style, "position")
}

var (
	boxed = regexp.MustCompile(`(?i)(?:^|;)\s*(?:position\s*:\s*(?:absolute|fixed)|` +
		`display\s*:\s*(?:block|table|flex|grid|list-item))`)
	placed = regexp.MustCompile(`(?:^|;)\s*top:`)
)

// hides reports whether nothing in n is seen.
func hides(n *html.Node) bool {
	if n.DataAtom == atom.Svg || n.DataAtom == atom.Iframe {
		return true
	}
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "hidden":
			return true
		case "style":
			if displayNone.MatchString(n.Attr[i].Val) {
				return true
			}
		}
	}
	return false
}

var displayNone = regexp.MustCompile(`(?i)(?:^|;)\s*display\s*:\s*none`)
