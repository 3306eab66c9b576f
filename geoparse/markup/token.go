package markup

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A tokenizer cuts a page into tags and texts: the same ones as
// html.Tokenizer (FuzzTokens holds that), which reads from an io.Reader byte
// by byte and copies every name and value several times. What this one returns
// are parts of the page, copied only where they are escaped.
type tokenizer struct {
	page string
	at   int // the first byte that was not read

	raw   atom.Atom // the element whose text comes next as it stands, or 0
	cdata bool      // CDATA sections are text, as in foreign elements

	// The token that next has read. The first two are of tags.
	atom  atom.Atom
	name  string
	attrs []html.Attribute // of a start tag, at most MaxAttributes; until the next token
	text  string
}

// A token is the kind of what next has read.
type token uint8

const (
	endOfPage token = iota
	textToken
	startTag
	selfClosing // a start tag that ends with "/>"
	endTag
	comment // or anything else that is no part of a page
)

// next reads one token.
func (z *tokenizer) next() token {
	if z.raw != 0 {
		if text := z.rawText(); text != "" {
			z.text = text
			return textToken
		}
	}
	start := z.at
	for i := start; ; i++ {
		step := strings.IndexByte(z.page[i:], '<')
		if step < 0 || i+step+1 >= len(z.page) {
			z.at = len(z.page)
			return z.textUpTo(start)
		}
		i += step
		c := z.page[i+1]
		if !isLetter(c) && c != '/' && c != '!' && c != '?' {
			continue
		}
		if i > start {
			z.at = i
			return z.textUpTo(start)
		}
		z.at = i + 2
		switch {
		case c == '!':
			return z.declaration()
		case c == '?':
			z.until('>')
			return comment
		case c != '/':
			z.at--
			return z.startTag()
		case z.at == len(z.page):
			return z.textUpTo(start)
		case isLetter(z.page[z.at]):
			return z.tag(endTag)
		}
		z.until('>') // "</>" at once
		return comment
	}
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' }

// textUpTo returns the text from start to z.at.
func (z *tokenizer) textUpTo(start int) token {
	if start == z.at {
		return endOfPage
	}
	z.text = unescape(newlines(z.page[start:z.at]))
	return textToken
}

// until reads up to and including c.
func (z *tokenizer) until(c byte) {
	if i := strings.IndexByte(z.page[z.at:], c); i >= 0 {
		z.at += i + 1
	} else {
		z.at = len(z.page)
	}
}

// declaration reads what begins with "<!".
func (z *tokenizer) declaration() token {
	rest := z.page[z.at:]
	switch {
	case strings.HasPrefix(rest, "--"):
		z.at += 2
		z.comment()
	case z.cdata && strings.HasPrefix(rest, "[CDATA["):
		rest = rest[len("[CDATA["):]
		text, _, _ := strings.Cut(rest, "]]>")
		z.at = min(len(z.page), len(z.page)-len(rest)+len(text)+len("]]>"))
		z.text = unescape(withoutNUL(newlines(text)))
		return textToken
	default: // a document type, or nothing that is known
		z.until('>')
	}
	return comment
}

// comment reads behind "<!--" to the end of the comment.
func (z *tokenizer) comment() {
	dashes, beginning := 0, true
	for z.at < len(z.page) {
		c := z.page[z.at]
		z.at++
		switch {
		case c == '-':
			dashes++
			continue
		case c == '>' && (dashes >= 2 || beginning):
			return
		case c == '!' && dashes >= 2 && z.at < len(z.page):
			c = z.page[z.at]
			z.at++
			if c == '>' {
				return
			}
			if c == '-' {
				dashes, beginning = 1, false
				continue
			}
		}
		dashes, beginning = 0, false
	}
}

// startTag reads a start tag from its name on.
func (z *tokenizer) startTag() token {
	kind := z.tag(startTag)
	switch z.atom {
	case atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript, atom.Plaintext, atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Xmp:
		if kind != endOfPage {
			z.raw = z.atom
		}
	}
	return kind
}

// tag reads a tag from its name on. One that the page does not finish is the
// end of the page.
func (z *tokenizer) tag(kind token) token {
	page, i := z.page, z.at
	for i < len(page) && !isSpace(page[i]) && page[i] != '/' && page[i] != '>' {
		i++
	}
	z.setName(page[z.at:i])
	z.attrs = z.attrs[:0]
	start, last := z.at, -1 // where the value of the last attribute ends
	for {
		if i = skipSpace(page, i); i == len(page) {
			z.at = i
			return endOfPage
		}
		if page[i] == '>' {
			break
		}
		from := i
		for i < len(page) && !isSpace(page[i]) && page[i] != '/' && page[i] != '>' && (page[i] != '=' || i == from) {
			i++
		}
		key := page[from:i]
		var first, end int
		first, end, i = attributeValue(page, i)
		if kind == endTag || key == "" {
			continue
		}
		if key = lower(key); !z.has(key) {
			last = end
			if len(z.attrs) < MaxAttributes {
				z.attrs = append(z.attrs, html.Attribute{Key: key, Val: page[first:end]})
			}
		}
	}
	z.at = i + 1
	if kind == endTag {
		return kind
	}
	if tag := page[start:i]; strings.IndexByte(tag, '&') >= 0 || strings.IndexByte(tag, 0) >= 0 || strings.IndexByte(tag, '\r') >= 0 {
		for j := range z.attrs {
			a := &z.attrs[j]
			a.Key, a.Val = withoutNUL(a.Key), unescapeValue(newlines(withoutNUL(a.Val)))
		}
	}
	if page[i-1] == '/' && last != i {
		return selfClosing
	}
	return kind
}

func skipSpace(page string, i int) int {
	for i < len(page) && isSpace(page[i]) {
		i++
	}
	return i
}

// attributeValue reads what follows the name of an attribute at i: its value
// is page[first:end], and next is where the tag goes on.
func attributeValue(page string, i int) (first, end, next int) {
	first, end = i, i
	if i = skipSpace(page, i); i == len(page) {
		return first, end, i
	}
	switch page[i] {
	case '/':
		return first, end, i + 1
	case '=':
	default:
		return first, end, i
	}
	if i = skipSpace(page, i+1); i == len(page) || page[i] == '>' {
		return first, end, i
	}
	if quote := page[i]; quote == '"' || quote == '\'' {
		first = i + 1
		n := strings.IndexByte(page[first:], quote)
		if n < 0 {
			return first, len(page), len(page)
		}
		return first, first + n, first + n + 1
	}
	first = i
	for i < len(page) && !isSpace(page[i]) && page[i] != '>' {
		i++
	}
	return first, i, i
}

// setName takes the name of a tag.
func (z *tokenizer) setName(name string) {
	var known [16]byte // the longest name of an element has 13 letters
	if len(name) <= len(known) {
		for i := range len(name) {
			known[i] = name[i]
			if 'A' <= name[i] && name[i] <= 'Z' {
				known[i] |= 0x20
			}
		}
		if z.atom = atom.Lookup(known[:len(name)]); z.atom != 0 {
			z.name = z.atom.String()
			return
		}
	}
	z.atom, z.name = atom.Lookup([]byte(lower(name))), lower(withoutNUL(name))
}

// has tells whether the tag has an attribute called key.
func (z *tokenizer) has(key string) bool {
	for i := range z.attrs {
		if z.attrs[i].Key == key {
			return true
		}
	}
	return false
}

// rawText reads the text of an element that holds no others, up to its end tag.
func (z *tokenizer) rawText() string {
	start, name := z.at, z.raw.String()
	switch z.raw {
	case atom.Plaintext:
		z.at = len(z.page)
	case atom.Script:
		z.script()
	default:
		for z.at < len(z.page) && !z.endsHere(name) {
			z.at++
			if i := strings.IndexByte(z.page[z.at:], '<'); i >= 0 {
				z.at += i
			} else {
				z.at = len(z.page)
			}
		}
	}
	text := withoutNUL(newlines(z.page[start:z.at]))
	if z.raw == atom.Textarea || z.raw == atom.Title {
		text = unescape(text)
	}
	z.raw = 0
	return text
}

// endsHere tells whether the end tag of an element with this name is next.
func (z *tokenizer) endsHere(name string) bool {
	rest := z.page[z.at:]
	n := len("</") + len(name)
	return len(rest) > n && strings.HasPrefix(rest, "</") && strings.EqualFold(rest[2:n], name) && (isSpace(rest[n]) || rest[n] == '/' || rest[n] == '>')
}

// script reads the text of a script. What looks like a comment in it may hold
// another script with its end tag.
func (z *tokenizer) script() {
	const name = "script"
	comment, inner, dashes := false, false, 0 // dashes: that stand before z.at, in a comment
	for z.at < len(z.page) {
		if !comment {
			i := strings.IndexByte(z.page[z.at:], '<')
			if i < 0 {
				break
			}
			z.at += i
		}
		i := z.at
		switch c := z.page[i]; {
		case comment && c == '-':
			dashes++
		case comment && c == '>' && dashes >= 2:
			comment, inner, dashes = false, false, 0
		case c != '<':
			dashes = 0
		case inner: // a tag within the script within the comment
			dashes = 0
			if z.endsHere(name) {
				inner = false
				z.at += len("</script")
			}
		case z.endsHere(name):
			return
		case !comment:
			if strings.HasPrefix(z.page[i:], "<!--") {
				comment, dashes = true, 2
				z.at += len("<!-")
			}
		default:
			dashes = 0
			rest := z.page[i+1:]
			switch {
			case rest == "" || rest[0] == '/':
			case !isLetter(rest[0]):
				comment = false
			case len(rest) > len(name) && strings.EqualFold(rest[:len(name)], name) && (isSpace(rest[len(name)]) || rest[len(name)] == '/' || rest[len(name)] == '>'):
				inner = true
				z.at += len(name) + 1
			}
		}
		z.at++
	}
	z.at = len(z.page)
}

// lower returns s with the letters A to Z in lower case.
func lower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] |= 0x20
				}
			}
			return string(b)
		}
	}
	return s
}

// newlines returns s with line breaks of one kind.
func newlines(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func withoutNUL(s string) string {
	if strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\x00", "\ufffd")
}

// unescape replaces the character references of a text.
func unescape(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	return html.UnescapeString(s)
}

// unescapeValue replaces the character references of an attribute's value.
// Those without a semicolon that go on with a letter, a digit or "=" are
// none there: "?a=1&copy=2" is an address.
func unescapeValue(s string) string {
	i := strings.IndexByte(s, '&')
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for ; i >= 0; i = strings.IndexByte(s, '&') {
		b.WriteString(s[:i])
		s = s[i:]
		n := 1
		if n < len(s) && s[n] == '#' {
			n++
		}
		for n < len(s) && (isLetter(s[n]) || '0' <= s[n] && s[n] <= '9') {
			n++
		}
		reference := s[:n]
		ended := n < len(s) && s[n] == ';'
		if ended {
			n++
			reference = s[:n]
		}
		s = s[n:]
		if strings.HasPrefix(reference, "&#") {
			b.WriteString(html.UnescapeString(reference))
			continue
		}
		text := html.UnescapeString(reference)
		switch {
		case ended && (text == ";" || !strings.HasSuffix(text, ";")):
		case !ended && !strings.HasPrefix(s, "=") && utf8.RuneCountInString(text) == 1:
		default: // no name is known but a part of it
			text = reference
		}
		b.WriteString(text)
	}
	b.WriteString(s)
	return b.String()
}
