package page

import (
	"bytes"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"
)

// decode returns body in UTF-8 and the name of its encoding. In this order it trusts: a byte order
// mark, valid UTF-8 (declarations are wrong more often), the header, a meta element, a Thai,
// Japanese or Korean distribution of bytes, and else windows-1252. A declared windows-1252 or ISO-8859-1 is
// trusted last, because servers declare it without knowing. No declaration makes it fail.
func decode(body []byte, header http.Header) (text []byte, name string) {
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return repair(body[3:]), "utf-8"
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return decodeAs(body[2:], "utf-16le")
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return decodeAs(body[2:], "utf-16be")
	}
	valid := utf8.Valid(body)
	looksUTF8 := valid || mostlyUTF8(body)
	// ISO-2022 and UTF-16 consist of ASCII bytes, too
	if looksUTF8 && bytes.IndexByte(body, 0) < 0 && bytes.IndexByte(body, '\x1b') < 0 {
		if !valid {
			body = repair(body)
		}
		return body, "utf-8"
	}
	label := charsetIn(strings.Join(header.Values("Content-Type"), ";"))
	if e, _ := charset.Lookup(label); e == nil {
		label = metaCharset(body)
	}
	_, declared := charset.Lookup(label)
	switch {
	case declared == "utf-8", declared == "replacement", declared == "x-user-defined":
		return repair(body), "utf-8"
	case strings.HasPrefix(declared, "utf-16") && bytes.IndexByte(body, 0) < 0:
		return repair(body), "utf-8"
	case declared != "" && declared != "windows-1252":
		return decodeAs(body, declared)
	case looksUTF8 && !bytes.Contains(body, []byte("\x1b$")):
		return repair(body), "utf-8"
	}
	if name := charsetOfBytes(body); name != "" {
		return decodeAs(body, name)
	}
	return decodeAs(body, "windows-1252")
}

// Charset returns the charset that Parse reads the body in, such as "utf-8" or "windows-1252", whatever header and page
// declare.
func (r *Response) Charset() string {
	_, name := decode(r.Body, r.Header)
	return name
}

func decodeAs(body []byte, name string) ([]byte, string) {
	e, _ := charset.Lookup(name)
	text, _, err := transform.Bytes(e.NewDecoder(), body)
	if err != nil {
		return repair(body), "utf-8"
	}
	return text, name
}

// mostlyUTF8 reports whether a body is UTF-8 with rare errors: a page that was cut off, or one with
// parts in different encodings.
func mostlyUTF8(body []byte) bool {
	good, bad := 0, 0
	for i := 0; i < len(body); {
		if body[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(body[i:])
		i += size
		if r == utf8.RuneError && size == 1 {
			bad++
		} else {
			good++
		}
	}
	return good > 4*bad
}

// repair decodes the bytes that are not UTF-8 as windows-1252.
func repair(body []byte) []byte {
	if utf8.Valid(body) {
		return body
	}
	out := make([]byte, 0, len(body)+len(body)/8)
	for i := 0; i < len(body); {
		if body[i] < utf8.RuneSelf {
			out = append(out, body[i])
			i++
			continue
		}
		r, size := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && size == 1 {
			r = charmap.Windows1252.DecodeByte(body[i])
		}
		out = utf8.AppendRune(out, r)
		i += size
	}
	return out
}

// charsetIn returns the label after the first "charset=" of a content type, which need not be well
// formed.
func charsetIn(contentType string) string {
	for s := strings.ToLower(contentType); ; {
		_, rest, found := strings.Cut(s, "charset")
		if !found {
			return ""
		}
		s = rest
		if label, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t"), "="); ok {
			label = strings.TrimLeft(label, " \t\"'")
			if i := strings.IndexAny(label, "\"'; \t,"); i >= 0 {
				label = label[:i]
			}
			return label
		}
	}
}

// metaCharset returns the charset that a meta element at the beginning of the
// page declares, or "". Scripts and comments do not count.
func metaCharset(body []byte) string {
	z := html.NewTokenizer(bytes.NewReader(body[:min(len(body), 16<<10)]))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if t.DataAtom == atom.Body {
				return ""
			}
			if name := charsetOf(t.Attr); name != "" && t.DataAtom == atom.Meta {
				return name
			}
		}
	}
}

// charsetOf returns the charset that the attributes of a meta element declare, by its name in the
// Encoding Standard, or "".
func charsetOf(meta []html.Attribute) string {
	var label, content string
	pragma := false
	for _, a := range meta {
		switch a.Key {
		case "charset":
			label = a.Val
		case "http-equiv":
			pragma = strings.EqualFold(a.Val, "content-type")
		case "content":
			content = a.Val
		}
	}
	if label == "" && pragma {
		label = charsetIn(content)
	}
	_, name := charset.Lookup(label)
	return name
}
