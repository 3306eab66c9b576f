// Package weburl defines the canonical form of URLs.
package weburl

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	whatwgerrors "github.com/nlnwa/whatwg-url/errors"
	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/publicsuffix"
)

// MaxLength is the longest URL, in bytes, that Parse accepts. Longer ones are traps or embedded
// data.
const MaxLength = 2048

// Errors of Parse and Resolve, wrapped together with the quoted input.
var (
	ErrScheme   = errors.New("not an http or https URL")
	ErrUserinfo = errors.New("has a user name or password")
	ErrTooLong  = fmt.Errorf("longer than %d bytes", MaxLength)
	ErrHost     = errors.New("has no usable host")

	errRelative = errors.New("not absolute, and there is no page to resolve it against")
)

const maxHost = 255 // bytes of a host name, RFC 1035

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
	u, err := canonical(base, ref)
	if err != nil {
		return URL{}, fmt.Errorf("weburl: %s: %w", quote(ref), err)
	}
	return u, nil
}

// quote returns foreign text in quotes, shortened.
func quote(s string) string {
	if len(s) > 80 {
		return fmt.Sprintf("%.80q…", s)
	}
	return fmt.Sprintf("%q", s)
}

func canonical(base URL, ref string) (URL, error) {
	if len(ref) > MaxLength {
		return URL{}, ErrTooLong
	}
	text, err := absolute(base, ref)
	if err != nil {
		return URL{}, err
	}
	scheme, host, path, query, ok := plain(text)
	if !ok {
		scheme, host, path, query, err = standard(text)
		if err != nil {
			return URL{}, err
		}
	}
	path = tidyEscapes(path)
	if short := dropPathSession(path); short != path { // the result may have new dot segments
		return canonical(URL{}, scheme+"://"+host+short+"?"+query)
	}
	query = dropTracking(tidyEscapes(query))
	u := URL{host: len(scheme) + len("://")}
	u.path = u.host + len(host)
	u.query = u.path + len(path)
	var room [256]byte // large enough for most URLs
	spelling := append(append(append(append(room[:0], scheme...), "://"...), host...), path...)
	if query != "" {
		spelling = append(append(spelling, '?'), query...)
	}
	if len(spelling) > MaxLength {
		return URL{}, ErrTooLong
	}
	u.text = text
	if string(spelling) != text { // most URLs are canonical already
		u.text = string(spelling)
	}
	return u, nil
}

// absolute resolves ref against base by concatenation, following the URL standard for http and
// https. The result starts with one of these schemes; its dot segments are not resolved yet.
func absolute(base URL, ref string) (string, error) {
	ref = strings.TrimFunc(ref, func(r rune) bool { return r <= ' ' })
	if strings.ContainsAny(ref, "\t\n\r") {
		ref = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(ref)
	}
	if scheme, rest, ok := cutScheme(ref); ok {
		if scheme != "http" && scheme != "https" {
			return "", ErrScheme
		}
		if base.IsZero() || scheme != base.Scheme() || slashes(rest) >= 2 {
			return scheme + "://" + rest[slashes(rest):], nil
		}
		ref = rest // "http:path" is relative to a base of the same scheme
	}
	if base.IsZero() {
		return "", errRelative
	}
	switch {
	case ref == "" || ref[0] == '#':
		return base.text, nil
	case ref[0] == '?':
		return base.text[:base.query] + ref, nil
	case slashes(ref) >= 2:
		return base.Scheme() + "://" + ref[slashes(ref):], nil
	case slashes(ref) == 1:
		return base.text[:base.path] + ref, nil
	}
	dir := base.text[:base.path+strings.LastIndexByte(base.Path(), '/')+1]
	return dir + ref, nil
}

// cutScheme splits "Scheme:rest"; scheme is in lower case.
func cutScheme(ref string) (scheme, rest string, ok bool) {
	for i := 0; i < len(ref); i++ {
		switch c := ref[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.ToLower(ref[:i]), ref[i+1:], true
		default:
			return "", ref, false
		}
	}
	return "", ref, false
}

// slashes counts the slashes, of either kind, that s starts with.
func slashes(s string) int {
	return len(s) - len(strings.TrimLeft(s, `/\`))
}

// standard splits an absolute URL as browsers do.
func standard(text string) (scheme, host, path, query string, err error) {
	authority := text[strings.Index(text, "://")+3:]
	if i := strings.IndexAny(authority, `/\?#`); i >= 0 {
		authority = authority[:i]
	}
	switch { // before the parser, whose time is quadratic in the length
	case strings.Contains(authority, "@"):
		return "", "", "", "", ErrUserinfo
	case len(authority) > 3*maxHost: // each character may be escaped with three
		return "", "", "", "", ErrHost
	}
	parsed, err := parser.Parse(text)
	if err != nil { // of the host or the port; the original message would repeat the URL
		return "", "", "", "", fmt.Errorf("%w (%s)", ErrHost, whatwgerrors.Type(err))
	}
	hostname := strings.TrimSuffix(parsed.Hostname(), ".")
	if hostname == "" || len(hostname) > maxHost || strings.Contains("."+hostname+".", "..") {
		return "", "", "", "", ErrHost
	}
	if p := parsed.Port(); p != "" {
		hostname += ":" + p
	}
	return parsed.Scheme(), hostname, parsed.Pathname(), parsed.Query(), nil
}

// plain is standard for URLs without special cases, which are most of them, at ten times the speed.
// It reports false for the others.
func plain(text string) (scheme, host, path, query string, ok bool) {
	scheme, rest, _ := strings.Cut(text, "://")
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ = strings.Cut(rest, "?")
	host, path = rest, "/"
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	if !plainHost(host) || !plainText(path) || !plainText(query) || strings.Contains(query, "'") {
		return "", "", "", "", false
	}
	if strings.Contains(path, "/.") {
		path = resolveDots(path)
	}
	return scheme, host, path, query, true
}

// plainHost reports whether host is a name in canonical form, and neither a
// number nor internationalised.
func plainHost(host string) bool {
	if len(host) > maxHost || strings.Contains(host, "xn--") {
		return false
	}
	last := byte('.') // the byte before
	label := byte(0)  // first byte of the last label
	for i := 0; i < len(host); i++ {
		c := host[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-':
			if last == '.' {
				label = c
			}
		case c == '.' && last != '.':
		default:
			return false
		}
		last = c
	}
	return last != '.' && 'a' <= label && label <= 'z'
}

// plainText reports whether s is a path or query in which nothing is escaped or
// has to be.
func plainText(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '/', '.', '!', '$', '&', '\'', '(', ')', '*', '+', ',', ';', '=', ':', '@', '?':
		default:
			if !isUnreserved(c) {
				return false
			}
		}
	}
	return true
}

// resolveDots takes "." and ".." segments out of a path.
func resolveDots(path string) string {
	var kept []string
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case "..":
			kept = kept[:max(0, len(kept)-1)]
			fallthrough
		case ".":
			if last {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, s)
		}
	}
	return "/" + strings.Join(kept, "/")
}

// String returns the canonical spelling, or "" for the zero URL.
func (u URL) String() string { return u.text }

// IsZero reports whether u is the zero URL.
func (u URL) IsZero() bool { return u.text == "" }

// Scheme returns "http" or "https".
func (u URL) Scheme() string { return strings.TrimSuffix(u.text[:u.host], "://") }

// Plain returns the http URL of the same page for an https URL on its usual
// port, and u itself otherwise.
func (u URL) Plain() URL {
	if u.Scheme() != "https" || u.Host() != u.Hostname() {
		return u
	}
	return URL{text: "http" + u.text[len("https"):], host: u.host - 1, path: u.path - 1, query: u.query - 1}
}

// Host returns the host, with the port where it is not the scheme's own:
// "www.oldenburg.example:8080". Delays apply to it. It shares memory with u: clone it to keep it
// for long.
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

// RequestURI returns the path and, behind a question mark, the query: what is asked of the host.
func (u URL) RequestURI() string { return u.text[u.path:] }

// Query returns the escaped query without "?", or "".
func (u URL) Query() string { return strings.TrimPrefix(u.text[u.query:], "?") }

// Identity returns the key under which a page is fetched once: host, path and query, without the
// scheme and without the name of a directory's index file. "http://a.example/x/index.html" and
// "https://a.example/x/" are nearly always one page; fetching both would spend a quarter of a
// crawl's pages on copies.
func (u URL) Identity() string {
	rest := u.text[u.host:]
	if u.query < len(u.text) {
		return rest
	}
	slash := strings.LastIndexByte(rest, '/')
	switch strings.ToLower(rest[slash+1:]) {
	case "index.html", "index.htm", "index.shtml", "index.xhtml", "index.php", "index.asp", "index.aspx",
		"index.jsp", "index.cfm",
		"default.html", "default.htm", "default.asp", "default.aspx":
		return rest[:slash+1]
	}
	return rest
}

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

// tidyEscapes writes percent-escapes in upper case and decodes those of letters, digits, "-", "_"
// and "~" (RFC 3986, section 6.2.2). Escaped dots stay as they are, because "%2E%2E" is no dot
// segment any more. A "%" that escapes nothing is escaped itself.
func tidyEscapes(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		c, err := hex.DecodeString(s[i+1 : min(i+3, len(s))])
		if err != nil || len(c) == 0 {
			b.WriteString("%25")
			continue
		}
		if isUnreserved(c[0]) {
			b.WriteByte(c[0])
		} else {
			b.WriteString(strings.ToUpper(s[i : i+3]))
		}
		i += 2
	}
	return b.String()
}

func isUnreserved(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '_' || c == '~'
}

// dropPathSession removes ";jsessionid=…" from the segments of a path.
func dropPathSession(path string) string {
	const session = "jsessionid="
	first, parameters, found := strings.Cut(path, ";")
	if !found {
		return path
	}
	kept := append(make([]byte, 0, len(path)), first...)
	for part := range strings.SplitSeq(parameters, ";") {
		if len(part) < len(session) || !strings.EqualFold(part[:len(session)], session) {
			kept = append(append(kept, ';'), part...)
			continue
		}
		_, below, found := strings.Cut(part, "/")
		if found {
			kept = append(append(kept, '/'), below...)
		}
	}
	return string(kept)
}

// dropTracking removes parameters of sessions and click tracking, and keeps the others in their
// order.
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
	case "gclid", "gbraid", "wbraid", "fbclid", "msclkid", "dclid", "yclid", "twclid", "ttclid", "igshid", "mc_cid",
		"mc_eid",
		"_ga", "_gl", "_hsenc", "_hsmi", "mkt_tok", "srsltid",
		"phpsessid", "jsessionid", "oscsid", "zenid", "cfid", "cftoken":
		return true
	}
	return strings.HasPrefix(name, "utm_") || strings.HasPrefix(name, "aspsessionid")
}
