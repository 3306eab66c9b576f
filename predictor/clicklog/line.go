package clicklog

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxLine is the longest log line that is read, in bytes. A longer one is
// counted as bad and skipped.
const MaxLine = 64 << 10

// A Line is one request in an access log.
type Line struct {
	Vhost  string // host before the client, as in vhost_combined; may be empty
	Client string // IP address (IPv4-mapped IPv6 is written as IPv4) or host name
	Time   time.Time
	Method string
	Target string // as requested: a path with its query, or an absolute URL
	Status int    // 100–599
	Agent  string // empty in the common format
}

var errLine = errors.New("not a line of the common or combined log format")

// In quotes a backslash escapes what follows.
const quoted = `"((?:[^"\\]|\\.)*)"`

// lineForm has vhost, client, time, method, target, status and agent.
var lineForm = regexp.MustCompile(`(?s)^(?:(\S+) +)?(\S+) +\S+ +\S+ +\[([^\]]*)\] +` +
	`"([A-Z]{1,20}) ((?:[^"\\ ]|\\.)+) HTTP/(?:[^"\\ ]|\\.)*" +([1-5]\d\d) (?:\d{1,18}|-)` +
	`(?: +` + quoted + ` +` + quoted + `.*)?$`)

// ParseLine reads one line of the common, combined or vhost_combined format
// of Apache and nginx, without its line feed. Inside quotes a backslash
// escapes a quote, a backslash, \n, \r, \t and \xHH. It never returns a
// target or agent with a control character or invalid UTF-8.
func ParseLine(raw []byte) (l Line, err error) {
	if len(raw) > MaxLine {
		return l, fmt.Errorf("line of %d bytes: %w", len(raw), errLine)
	}
	m := lineForm.FindStringSubmatch(strings.TrimSuffix(string(raw), "\r"))
	if m == nil {
		return l, errLine
	}
	l.Vhost, l.Method = m[1], m[4]
	l.Status, _ = strconv.Atoi(m[6])
	at, err := time.Parse("02/Jan/2006:15:04:05 -0700", m[3])
	l.Time = at.UTC()
	var ok [3]bool
	l.Client, ok[0] = client(m[2])
	l.Target, ok[1] = unescape(m[5])
	l.Agent, ok[2] = unescape(m[8])
	if err != nil || ok != [3]bool{true, true, true} || strings.Contains(l.Target, " ") {
		return Line{}, errLine
	}
	return l, nil
}

var hostForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,255}$`)

// client checks and normalises the address or name of the client.
func client(s string) (string, bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		return a.Unmap().WithZone("").String(), true
	}
	return strings.ToLower(s), s != "-" && hostForm.MatchString(s)
}

var escapes = regexp.MustCompile(`(?s)\\(?:x[0-9a-fA-F]{2}|.)`)

// unescape returns the content of a quoted field, and whether it is UTF-8 text without control
// characters: log lines are shown in reports and terminals.
func unescape(s string) (text string, ok bool) {
	ok = true
	text = escapes.ReplaceAllStringFunc(s, func(e string) string {
		switch e[1:] {
		case "n", "r", "t", "x": // control characters, and half a hexadecimal one
			ok = false
			return ""
		}
		if e[1] != 'x' {
			return e[1:]
		}
		b, _ := strconv.ParseUint(e[2:], 16, 8)
		return string([]byte{byte(b)})
	})
	control := func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }
	return text, ok && utf8.ValidString(text) && !strings.ContainsFunc(text, control)
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
