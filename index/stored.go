package index

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// decodeData reads what is stored of a mention beside its row. An answer shows
// tens of mentions, and encoding/json takes a tenth of a search to find the
// fields of each, so the usual form is read without it.
func (m *mention) decodeData(b []byte) error {
	if m.decodePlain(b) {
		return nil
	}
	return json.Unmarshal(b, m)
}

// decodePlain reads an object as json.Marshal writes that of a mention: keys of
// one letter, no spaces, strings, numbers and true. It says false where there is
// anything else; m is unfinished then.
func (m *mention) decodePlain(b []byte) bool {
	if len(b) < 2 || b[0] != '{' || !utf8.Valid(b) {
		return false
	}
	text := string(b[1:])
	for {
		if len(text) < 5 || text[0] != '"' || text[2] != '"' || text[3] != ':' {
			return false
		}
		key := text[1]
		text = text[4:]
		ok := false
		switch key {
		case 'l':
			m.Lang, text, ok = plainString(text)
		case 'u':
			m.URL, text, ok = plainString(text)
		case 't':
			m.Title, text, ok = plainString(text)
		case 'w':
			m.Near, text, ok = plainString(text)
		case 'n':
			m.Number, text, ok = plainString(text)
		case 'i':
			m.Unit, text, ok = plainString(text)
		case 'r':
			m.State, text, ok = plainString(text)
		case 'c':
			m.Land, text, ok = plainString(text)
		case 'h':
			m.Phone, text, ok = plainString(text)
		case 'm':
			m.Email, text, ok = plainString(text)
		case 'x':
			m.Home, text, ok = plainString(text)
		case 'b':
			m.Hours, text, ok = plainString(text)
		case 'p':
			text, ok = strings.CutPrefix(text, "true")
			m.Person = true
		case 's', 'e', 'z':
			var n int64
			n, text, ok = plainNumber(text)
			switch key {
			case 's':
				m.Start = int(n)
			case 'e':
				m.End = int(n)
			default:
				m.Gone = n
			}
		}
		if !ok || text == "" {
			return false
		}
		if text == "}" {
			return true
		}
		if text[0] != ',' {
			return false
		}
		text = text[1:]
	}
}

// plainNumber cuts a number of at most 18 digits off the start of JSON.
func plainNumber(text string) (n int64, rest string, ok bool) {
	i := 0
	for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		if i == 18 {
			return 0, "", false
		}
		n = 10*n + int64(text[i]-'0')
	}
	return n, text[i:], i > 0 && (text[0] != '0' || i == 1)
}

// plainString cuts a string off the start of JSON. It knows the escapes that
// texts of pages have.
func plainString(text string) (value, rest string, ok bool) {
	if text == "" || text[0] != '"' {
		return "", "", false
	}
	text = text[1:]
	var b []byte // what is before start, where there are escapes
	start := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			if b == nil {
				return text[:i], text[i+1:], true
			}
			return string(append(b, text[start:i]...)), text[i+1:], true
		case c < ' ':
			return "", "", false
		case c == '\\':
			if i+1 == len(text) {
				return "", "", false
			}
			if b == nil {
				b = make([]byte, 0, len(text))
			}
			b = append(b, text[start:i]...)
			i++
			switch text[i] {
			case 'n':
				b = append(b, '\n')
			case 't':
				b = append(b, '\t')
			case '"', '\\', '/':
				b = append(b, text[i])
			case 'u': // such as & and <
				if i+4 >= len(text) || text[i+1] != '0' || text[i+2] != '0' {
					return "", "", false
				}
				high, low := strings.IndexByte(hexDigits, text[i+3]), strings.IndexByte(hexDigits, text[i+4])
				if high < 0 || low < 0 {
					return "", "", false
				}
				b = utf8.AppendRune(b, rune(high<<4|low))
				i += 4
			default:
				return "", "", false
			}
			start = i + 1
		}
	}
	return "", "", false
}

const hexDigits = "0123456789abcdef"
