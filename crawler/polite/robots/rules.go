package robots

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gazehound/crawler/weburl"

	"github.com/jimsmart/grobotstxt"
	"golang.org/x/text/encoding/unicode"
)

// rules are the rules of one robots.txt for one agent. grobotstxt parses the file, with the common
// misspellings. That library parses it again for every URL; here it is parsed once, and only the
// lines for the agent are kept.
type rules struct {
	// longest pattern first; of equal length, allowing ones first
	List     []rule        `json:"list,omitempty"`
	Delay    time.Duration `json:"delay,omitempty"` // Crawl-delay, or 0
	Sitemaps []string      `json:"sitemaps,omitempty"`
}

// A rule allows or disallows the paths that match its pattern, which is in
// normal form.
type rule struct {
	Pattern string `json:"p"`
	Allow   bool   `json:"a,omitempty"`
}

const maxSitemaps = 100

// parse reads the first MaxSize bytes of a robots.txt that was fetched from at.
func parse(body []byte, agent string, at weburl.URL, maxDelay time.Duration) *rules {
	if len(body) > MaxSize {
		body = body[:MaxSize]
		if end := bytes.LastIndexAny(body, "\r\n"); end >= 0 {
			body = body[:end] // half a rule could be a different rule
		}
	}
	r := reader{agent: agent, at: at, maxDelay: maxDelay}
	grobotstxt.Parse(text(body), &r)
	return r.rules()
}

var escapes = regexp.MustCompile(`%[0-9a-fA-F]{2}`)

// text decodes UTF-16, in which some editors save robots.txt, and writes percent-escapes in upper
// case, because grobotstxt 1.0.3 corrupts lower-case ones. UTF-16 has a mark, or a zero in each of its
// first two letters.
func text(body []byte) string {
	marked := bytes.HasPrefix(body, []byte{0xff, 0xfe}) || bytes.HasPrefix(body, []byte{0xfe, 0xff})
	little := len(body) > 3 && body[0] != 0 && body[1] == 0 && body[2] != 0 && body[3] == 0
	big := len(body) > 3 && body[0] == 0 && body[1] != 0 && body[2] == 0 && body[3] != 0
	if marked || little || big {
		order := unicode.BigEndian
		if little {
			order = unicode.LittleEndian
		}
		body, _ = unicode.UTF16(order, unicode.UseBOM).NewDecoder().Bytes(body) // replaces what is not valid
	}
	return string(escapes.ReplaceAllFunc(body, bytes.ToUpper))
}

// A reader receives the lines of a robots.txt from grobotstxt and keeps those for agent: the groups
// that name it, or else those for all agents.
type reader struct {
	agent    string
	at       weburl.URL
	maxDelay time.Duration

	named, everybody group
	sitemaps         []string
	seen             map[string]bool

	// The group that is being read.
	inNamed, inEverybody bool
	inRules              bool // a rule was read: the next User-agent line begins a new group
	// A Crawl-delay applies to the User-agent lines right above it only. It is no part of the RFC,
	// by which "User-agent: a, Crawl-delay: 9, User-agent: *, Disallow: /x" would be one group.
	slowNamed, slowEverybody bool
	slowDone                 bool
}

// A group is all groups for one agent, taken as one (RFC 9309, section 2.2.1).
type group struct {
	present bool
	list    []rule
	delay   time.Duration // the longest Crawl-delay
}

func (r *reader) HandleRobotsStart() {}
func (r *reader) HandleRobotsEnd()   {}

func (r *reader) HandleUserAgent(_ int, value string) {
	if r.inRules {
		r.inNamed, r.inEverybody, r.inRules = false, false, false
	}
	if r.slowDone {
		r.slowNamed, r.slowEverybody, r.slowDone = false, false, false
	}
	switch {
	case value == "*", strings.HasPrefix(value, "* "), strings.HasPrefix(value, "*\t"):
		r.inEverybody, r.slowEverybody = true, true
	case strings.EqualFold(token(value), r.agent):
		r.inNamed, r.slowNamed, r.named.present = true, true, true
	}
}

// token returns the product token at the start of a User-agent value, by grobotstxt's set of
// characters.
func token(value string) string {
	for i := range len(value) {
		c := value[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.IndexByte("~#$%'*+-.^_`|", c) >= 0) {
			return value[:i]
		}
	}
	return value
}

func (r *reader) HandleAllow(_ int, value string) {
	r.rule(value, true)
	// As Google does, "/x/index.html" also allows "/x/".
	if i := strings.LastIndexByte(value, '/'); i >= 0 && strings.HasPrefix(value[i:], "/index.htm") {
		r.rule(value[:i+1]+"$", true)
	}
}

func (r *reader) HandleDisallow(_ int, value string) { r.rule(value, false) }

func (r *reader) rule(pattern string, allow bool) {
	r.slowDone = true
	if !r.inNamed && !r.inEverybody {
		return
	}
	r.inRules = true
	if pattern == "" {
		return // "Disallow:" forbids nothing
	}
	g := &r.everybody
	if r.inNamed {
		g = &r.named
	}
	g.list = append(g.list, rule{normal(pattern, true), allow})
}

func (r *reader) HandleSitemap(_ int, value string) {
	if len(r.sitemaps) >= maxSitemaps {
		return
	}
	value = strings.Trim(strings.TrimSpace(value), `"'<>`)
	u, err := r.at.Resolve(value)
	if err != nil || value == "" || r.seen[u.String()] {
		return
	}
	if r.seen == nil {
		r.seen = make(map[string]bool)
	}
	r.seen[u.String()] = true
	r.sitemaps = append(r.sitemaps, u.String())
}

func (r *reader) HandleUnknownAction(_ int, key, value string) {
	if !strings.EqualFold(key, "crawl-delay") && !strings.EqualFold(key, "crawldelay") {
		return
	}
	r.slowDone = true
	delay := crawlDelay(value, r.maxDelay)
	if r.slowNamed {
		r.named.delay = max(r.named.delay, delay)
	}
	if r.slowEverybody {
		r.everybody.delay = max(r.everybody.delay, delay)
	}
}

// secondsUnit is what may follow the number of a Crawl-delay.
var secondsUnit = regexp.MustCompile(`(?i)(s|secs?|seconds?)?;*$`)

// crawlDelay parses seconds, possibly with a fraction behind a point or a comma, and cuts them to
// longest. An invalid value is 0.
func crawlDelay(value string, longest time.Duration) time.Duration {
	number, _, _ := strings.Cut(value, " ")
	number = strings.Replace(secondsUnit.ReplaceAllString(number, ""), ",", ".", 1)
	seconds, _ := strconv.ParseFloat(number, 64) // infinite where there are too many
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, longest.Seconds()) * float64(time.Second))
}

func (r *reader) rules() *rules {
	g := r.everybody
	if r.named.present {
		g = r.named
	}
	for i := range g.list {
		g.list[i].Pattern = strings.Clone(g.list[i].Pattern) // does not hold the whole file in memory
	}
	slices.SortFunc(g.list, func(a, b rule) int {
		return cmp.Or(cmp.Compare(len(b.Pattern), len(a.Pattern)), allowFirst(a, b),
			strings.Compare(a.Pattern, b.Pattern))
	})
	return &rules{slices.Clip(slices.Compact(g.list)), g.delay, r.sitemaps}
}

func allowFirst(a, b rule) int {
	switch {
	case a.Allow == b.Allow:
		return 0
	case a.Allow:
		return -1
	default:
		return 1
	}
}

// size returns about how many bytes r takes.
func (r *rules) size() int64 {
	if r == nil {
		return 0
	}
	n := int64(128)
	for _, rule := range r.List {
		n += 24 + int64(len(rule.Pattern))
	}
	for _, s := range r.Sitemaps {
		n += 16 + int64(len(s))
	}
	return n
}

// allows reports whether u may be requested: the longest matching pattern decides, at equal length
// the one that allows (RFC 9309, section 2.2.2). robots.txt itself is always allowed.
func (r *rules) allows(u weburl.URL) bool {
	if len(r.List) == 0 || u.Path() == "/robots.txt" {
		return true
	}
	path := u.Path()
	if q := u.Query(); q != "" {
		path += "?" + q
	}
	path = normal(path, false)
	i := slices.IndexFunc(r.List, func(rule rule) bool { return Matches(rule.Pattern, path) })
	return i < 0 || r.List[i].Allow
}

// Matches reports whether path begins with pattern, in which "*" stands for any text and "$" at the
// end for the end of path. It takes the leftmost match of each piece between two stars, which
// suffices and makes it linear.
func Matches(pattern, path string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	piece, rest, starred := strings.Cut(pattern, "*")
	if !strings.HasPrefix(path, piece) {
		return false
	}
	path = path[len(piece):]
	for starred {
		piece, rest, starred = strings.Cut(rest, "*")
		if anchored && !starred {
			return strings.HasSuffix(path, piece)
		}
		i := strings.Index(path, piece)
		if i < 0 {
			return false
		}
		path = path[i+len(piece):]
	}
	return !anchored || path == ""
}

// normal returns the canonical spelling of a path or pattern (RFC 9309, section 2.2.2): escapes in
// upper case and only for characters that are neither unreserved nor reserved. In a pattern a star,
// and a dollar at its end, have a meaning; everywhere else they are ordinary characters and
// escaped.
func normal(s string, pattern bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c, escaped := s[i], false
		if c == '%' && i+2 < len(s) {
			if code, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				c, escaped = code[0], true
				i += 2
			}
		}
		switch {
		case strings.IndexByte(unreserved, c) >= 0, !escaped && strings.IndexByte(reserved, c) >= 0,
			pattern && !escaped && (c == '*' || c == '$' && i == len(s)-1):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// The characters of RFC 3986 that need no escape, except "*" and "$", which are special in
// patterns.
const (
	unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	reserved   = ":/?#[]@!&'()+,;="
)
