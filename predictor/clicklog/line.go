package clicklog

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxLine is the longest log line that is read, in bytes. A longer one is
// counted as bad and skipped.
const MaxLine = 64 << 10

// A Line is one request as a server's access log tells it.
type Line struct {
	Vhost  string // host before the client, as in vhost_combined; may be empty
	Client string // IP address (IPv4-mapped IPv6 is written as IPv4) or host name
	Time   time.Time
	Method string
	Target string // as the client asked: a path with its query, or an absolute URL
	Status int    // 100–599
	Agent  string // empty in the common format
}

var errLine = errors.New("not a line of the common or combined log format")

// ParseLine reads one line of the common, combined or vhost_combined format
// of Apache and nginx, without its line feed. Inside quotes a backslash
// escapes a quote, a backslash, \n, \r, \t and \xHH. It never returns a
// target or agent with a control character or invalid UTF-8.
func ParseLine(raw []byte) (Line, error) {
	var l Line
	if len(raw) > MaxLine {
		return l, fmt.Errorf("line of %d bytes: %w", len(raw), errLine)
	}
	raw = bytes.TrimSuffix(raw, []byte("\r"))
	stamp := bytes.Index(raw, []byte(" ["))
	if stamp < 0 {
		return l, errLine
	}
	head := strings.Fields(string(raw[:stamp]))
	switch len(head) {
	case 3: // client ident user
	case 4: // vhost client ident user
		l.Vhost, head = head[0], head[1:]
	default:
		return l, errLine
	}
	var err error
	if l.Client, err = client(head[0]); err != nil {
		return l, err
	}
	rest := raw[stamp+2:]
	end := bytes.IndexByte(rest, ']')
	if end < 0 {
		return l, errLine
	}
	if l.Time, err = time.Parse("02/Jan/2006:15:04:05 -0700", string(rest[:end])); err != nil {
		return l, errLine
	}
	l.Time = l.Time.UTC()

	request, rest, ok := quoted(rest[end+1:])
	if !ok {
		return l, errLine
	}
	method, target, more := strings.Cut(request, " ")
	target, protocol, more2 := strings.Cut(target, " ")
	if !more || !more2 || strings.Contains(protocol, " ") || !strings.HasPrefix(protocol, "HTTP/") || !isMethod(method) || target == "" {
		return l, errLine
	}
	l.Method, l.Target = method, target

	numbers := strings.SplitN(strings.TrimLeft(string(rest), " "), " ", 3)
	if len(numbers) < 2 {
		return l, errLine
	}
	if l.Status, err = strconv.Atoi(numbers[0]); err != nil || l.Status < 100 || l.Status > 599 || len(numbers[0]) != 3 {
		return l, errLine
	}
	if _, err := strconv.ParseUint(numbers[1], 10, 63); err != nil && numbers[1] != "-" {
		return l, errLine
	}
	if len(numbers) == 2 {
		return l, nil // common format
	}
	_, tail, ok := quoted([]byte(numbers[2])) // referer
	if !ok {
		return l, errLine
	}
	if l.Agent, _, ok = quoted(tail); !ok {
		return l, errLine
	}
	return l, nil
}

// client checks the address or the name of who asked.
func client(s string) (string, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		return a.Unmap().WithZone("").String(), nil
	}
	if len(s) > 255 || s == "-" {
		return "", errLine
	}
	for _, r := range s {
		if !(r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return "", errLine
		}
	}
	return strings.ToLower(s), nil
}

func isMethod(s string) bool {
	for _, r := range s {
		if r < 'A' || r > 'Z' {
			return false
		}
	}
	return s != "" && len(s) <= 20
}

// quoted reads `"…"` at the start of b, after spaces, and returns its
// unescaped content and what follows.
func quoted(b []byte) (content string, rest []byte, ok bool) {
	b = bytes.TrimLeft(b, " ")
	if len(b) == 0 || b[0] != '"' {
		return "", nil, false
	}
	end := bytes.IndexAny(b[1:], `"\\`)
	if end < 0 {
		return "", nil, false
	}
	out := b[1 : 1+end : 1+end] // an escape copies it
	for i := 1 + end; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			if !printable(out) {
				return "", nil, false
			}
			return string(out), b[i+1:], true
		case '\\':
			if i+1 >= len(b) {
				return "", nil, false
			}
			i++
			switch b[i] {
			case 'x':
				if i+2 >= len(b) {
					return "", nil, false
				}
				v, err := strconv.ParseUint(string(b[i+1:i+3]), 16, 8)
				if err != nil {
					return "", nil, false
				}
				out = append(out, byte(v))
				i += 2
			case 'n':
				out = append(out, '\n')
			case 'r':
				out = append(out, '\r')
			case 't':
				out = append(out, '\t')
			default:
				out = append(out, b[i])
			}
		default:
			out = append(out, c)
		}
	}
	return "", nil, false
}

// printable says that b is UTF-8 text without control characters: what a log
// line says goes on to reports and terminals.
func printable(b []byte) bool {
	ascii := true
	for _, c := range b {
		if c < ' ' || c == 0x7f {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if ascii {
		return true
	}
	if !utf8.Valid(b) {
		return false
	}
	for _, r := range string(b) {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return false
		}
	}
	return true
}

// String writes the line in the combined format, or in vhost_combined where
// it has a vhost; ParseLine reads it back.
func (l Line) String() string {
	var b strings.Builder
	if l.Vhost != "" {
		b.WriteString(l.Vhost + " ")
	}
	fmt.Fprintf(&b, `%s - - [%s] "%s %s HTTP/1.1" %d - "-" "%s"`,
		l.Client, l.Time.Format("02/Jan/2006:15:04:05 -0700"), l.Method, escape(l.Target), l.Status, escape(l.Agent))
	return b.String()
}

func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
}
