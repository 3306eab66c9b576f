// Package weburl holds the one spelling under which gazehound knows a page.
package weburl

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/publicsuffix"
)

// MaxLength is the longest URL, in bytes, that Parse accepts. Longer ones are
// traps or data in disguise.
const MaxLength = 2048

// Errors of Parse and Resolve, wrapped together with the quoted input.
var (
	ErrScheme   = errors.New("not an http or https URL")
	ErrUserinfo = errors.New("has a user name or password")
	ErrTooLong  = fmt.Errorf("longer than %d bytes", MaxLength)
	ErrHost     = errors.New("has no usable host")
)

// A URL is a canonical absolute http or https URL. It is comparable: two
// spellings of one page are equal, so a URL can be a map key. The zero URL is
// no page.
//
// The canonical form is the browsers' one (WHATWG URL: lower-case ASCII host,
// no default port, resolved dot segments) without fragment, trailing dot of
// the host, empty query, session ids and click-tracking parameters, and with
// percent-escapes in upper case and only where they are needed.
type URL struct {
	text  string
	host  int // start of the host
	path  int // start of the path
	query int // start of the query's "?", or len(text)
}

// Parse returns the canonical form of raw, which must be absolute.
func Parse(raw string) (URL, error) {
	return parse(URL{}, raw)
}

// Resolve returns the canonical URL of a reference found on the page u, such
// as "../kontakt?x=1". A page with a base element resolves against that.
func (u URL) Resolve(ref string) (URL, error) {
	return parse(u, ref)
}

var parser = whatwg.NewParser(whatwg.WithPercentEncodeSinglePercentSign())

func parse(base URL, ref string) (URL, error) {
	if len(ref) > MaxLength {
		return URL{}, fmt.Errorf("weburl: %q…: %w", ref[:64], ErrTooLong)
	}
	parsed, err := parser.ParseRef(base.text, ref)
	if err != nil {
		return URL{}, fmt.Errorf("weburl: %q: %w", ref, err)
	}
	if s := parsed.Scheme(); s != "http" && s != "https" {
		return URL{}, fmt.Errorf("weburl: %q: %w", ref, ErrScheme)
	}
	if parsed.Username() != "" || parsed.Password() != "" {
		return URL{}, fmt.Errorf("weburl: %q: %w", ref, ErrUserinfo)
	}
	hostname := strings.TrimRight(parsed.Hostname(), ".")
	if hostname == "" || strings.Contains(hostname, "..") {
		return URL{}, fmt.Errorf("weburl: %q: %w", ref, ErrHost)
	}
	host := hostname
	if p := parsed.Port(); p != "" {
		host += ":" + p
	}
	prefix := parsed.Scheme() + "://"
	path := tidyEscapes(dropPathSession(parsed.Pathname()))
	query := dropTracking(strings.TrimPrefix(parsed.Search(), "?"))
	text := prefix + host + path
	u := URL{host: len(prefix), path: len(prefix) + len(host), query: len(text)}
	if query != "" {
		text += "?" + tidyEscapes(query)
	}
	if len(text) > MaxLength {
		return URL{}, fmt.Errorf("weburl: %q…: %w", ref[:min(len(ref), 64)], ErrTooLong)
	}
	u.text = text
	return u, nil
}

// String returns the canonical spelling, or "" for the zero URL.
func (u URL) String() string { return u.text }

// IsZero tells whether u is the zero URL.
func (u URL) IsZero() bool { return u.text == "" }

// Scheme returns "http" or "https".
func (u URL) Scheme() string { return strings.TrimSuffix(u.text[:u.host], "://") }

// Host returns the host, with the port where it is not the scheme's own:
// "www.oldenburg.example:8080". It is what politeness is counted by.
func (u URL) Host() string { return u.text[u.host:u.path] }

// Hostname returns the host without port; an IPv6 address keeps its brackets.
func (u URL) Hostname() string {
	h := u.Host()
	if i := strings.LastIndexByte(h, ':'); i > strings.LastIndexByte(h, ']') {
		return h[:i]
	}
	return h
}

// Site returns the registrable domain of the host by the public suffix list
// ("oldenburg.example" of "www.oldenburg.example"); for an IP address and for
// a public suffix itself it returns the host name.
func (u URL) Site() string {
	h := u.Hostname()
	if _, err := netip.ParseAddr(strings.Trim(h, "[]")); err == nil {
		return h
	}
	if site, err := publicsuffix.EffectiveTLDPlusOne(h); err == nil {
		return site
	}
	return h
}

// Path returns the escaped path, which starts with "/".
func (u URL) Path() string { return u.text[u.path:u.query] }

// Query returns the escaped query without "?", or "".
func (u URL) Query() string { return strings.TrimPrefix(u.text[u.query:], "?") }

// MarshalText returns the canonical spelling.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.text), nil }

// UnmarshalText parses any spelling; the empty text is the zero URL.
func (u *URL) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*u = URL{}
		return nil
	}
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*u = parsed
	return nil
}

// tidyEscapes writes percent-escapes in upper case and undoes those of
// letters, digits, "-", ".", "_" and "~" (RFC 3986, section 6.2.2). Escaped
// dots stay as they are, because "%2E%2E" is no dot segment any more.
func tidyEscapes(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			b.WriteByte(s[i])
			continue
		}
		if c := unhex(s[i+1])<<4 | unhex(s[i+2]); isUnreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteString(strings.ToUpper(s[i : i+3]))
		}
		i += 2
	}
	return b.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	default:
		return c - 'A' + 10
	}
}

func isUnreserved(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '_' || c == '~'
}

// dropPathSession cuts ";jsessionid=…" off a path.
func dropPathSession(path string) string {
	i := strings.Index(strings.ToLower(path), ";jsessionid=")
	if i < 0 {
		return path
	}
	rest := path[i+1:]
	if j := strings.IndexAny(rest, "/;"); j >= 0 {
		return dropPathSession(path[:i] + rest[j:])
	}
	return path[:i]
}

// dropTracking removes parameters that name a visit or a click and never a
// page, and keeps the others in their order.
func dropTracking(query string) string {
	if query == "" {
		return ""
	}
	parts := strings.Split(query, "&")
	kept := parts[:0]
	for _, part := range parts {
		name, _, _ := strings.Cut(part, "=")
		if part != "" && !tracks(strings.ToLower(name)) {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&")
}

func tracks(name string) bool {
	switch name {
	case "gclid", "fbclid", "msclkid", "dclid", "yclid", "igshid", "mc_cid", "mc_eid", "_ga", "_gl",
		"phpsessid", "jsessionid", "aspsessionid":
		return true
	}
	return strings.HasPrefix(name, "utm_")
}
