package robots

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"gazehound/crawler/weburl"

	"github.com/jimsmart/grobotstxt"
)

// rules are what one robots.txt says to one agent. The grammar, with the
// common misspellings, is grobotstxt's. That library reads the whole file
// again for every question; here it is read once, and only the lines that
// bind the agent are kept.
type rules struct {
	plain    []rule // without * and $, each pattern once, in the order of patterns
	wild     []rule // the others, longest first, of equal length those first that allow
	delay    time.Duration
	note     string
	sitemaps []string
}

// A rule allows or disallows the paths that match its pattern, which is in
// normal form.
type rule struct {
	pattern string
	allow   bool
}

const (
	maxSitemaps = 100
	maxNote     = 100
)

// parse reads the first MaxSize bytes of a robots.txt that was fetched from at.
func parse(body []byte, agent string, at weburl.URL, maxDelay time.Duration) *rules {
	if len(body) > MaxSize {
		body = body[:MaxSize]
		if end := bytes.LastIndexAny(body, "\r\n"); end >= 0 {
			body = body[:end] // half a rule would be another rule
		}
	}
	r := reader{agent: agent, at: at, maxDelay: maxDelay}
	grobotstxt.Parse(text(body), &r)
	return r.rules()
}

// text undoes UTF-16, which some editors save robots.txt in, and writes
// percent-escapes in upper case, for grobotstxt 1.0.3 spoils the others.
func text(body []byte) string {
	if order := utf16Order(body); order != nil {
		units := make([]uint16, len(body)/2)
		for i := range units {
			units[i] = order.Uint16(body[2*i:])
		}
		body = []byte(strings.TrimPrefix(string(utf16.Decode(units)), "\ufeff"))
	} else {
		body = bytes.Clone(body)
	}
	for i := range len(body) - 2 {
		if body[i] == '%' && hex(body[i+1]) >= 0 && hex(body[i+2]) >= 0 {
			copy(body[i+1:], bytes.ToUpper(body[i+1:i+3]))
		}
	}
	return string(body)
}

// utf16Order returns the byte order of UTF-16, by its mark or by the zeros of
// its first two letters, or nil.
func utf16Order(body []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(body, []byte{0xff, 0xfe}):
		return binary.LittleEndian
	case bytes.HasPrefix(body, []byte{0xfe, 0xff}):
		return binary.BigEndian
	case len(body) > 3 && body[0] != 0 && body[1] == 0 && body[2] != 0 && body[3] == 0:
		return binary.LittleEndian
	case len(body) > 3 && body[0] == 0 && body[1] != 0 && body[2] == 0 && body[3] != 0:
		return binary.BigEndian
	}
	return nil
}

// A reader takes the lines of a robots.txt from grobotstxt and keeps those
// that bind agent: the groups that name it, or else those for everybody.
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
	// Who a Crawl-delay binds: only the User-agent lines right above. It is no
	// part of the RFC, which would make one group of "User-agent: a, Crawl-delay:
	// 9, User-agent: *, Disallow: /x".
	slowNamed, slowEverybody bool
	slowDone                 bool
}

// A group is all groups for one agent, taken as one (RFC 9309, section 2.2.1).
type group struct {
	present bool
	list    []rule
	delay   delay
}

// A delay is the longest Crawl-delay of a group.
type delay struct {
	wait time.Duration
	note string
}

func (d *delay) merge(e delay) {
	if e.wait > d.wait {
		d.wait = e.wait
	}
	d.note = cmp.Or(d.note, e.note)
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

// token returns the product token that a User-agent value begins with, by the
// characters that grobotstxt admits.
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
	// Google's habit: "/x/index.html" also allows "/x/".
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
	g.list = append(g.list, rule{normalPattern(pattern), allow})
}

func (r *reader) HandleSitemap(_ int, value string) {
	if len(r.sitemaps) >= maxSitemaps {
		return
	}
	u, err := r.at.Resolve(value)
	if err != nil || r.seen[u.String()] {
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
	d := r.crawlDelay(value)
	if r.slowNamed {
		r.named.delay.merge(d)
	}
	if r.slowEverybody {
		r.everybody.delay.merge(d)
	}
}

// crawlDelay reads seconds, with a fraction perhaps. What cannot be kept is
// cut or ignored, with a note.
func (r *reader) crawlDelay(value string) delay {
	number, _, _ := strings.Cut(value, " ")
	number = strings.TrimSuffix(number, "s")
	seconds, err := strconv.ParseFloat(number, 64)
	switch {
	case math.IsNaN(seconds), seconds < 0, err != nil && !math.IsInf(seconds, 1):
		return delay{note: fmt.Sprintf("Crawl-delay %.*q is no delay; ignored", maxNote, value)}
	case seconds > r.maxDelay.Seconds():
		return delay{r.maxDelay, fmt.Sprintf("Crawl-delay %.*q is cut to %v", maxNote, value, r.maxDelay)}
	}
	return delay{wait: time.Duration(seconds * float64(time.Second))}
}

func (r *reader) rules() *rules {
	g := r.everybody
	if r.named.present {
		g = r.named
	}
	kept := &rules{delay: g.delay.wait, note: g.delay.note, sitemaps: r.sitemaps}
	for _, x := range g.list {
		x.pattern = strings.Clone(x.pattern) // does not hold the whole file in memory
		if strings.Contains(x.pattern, "*") || strings.HasSuffix(x.pattern, "$") {
			kept.wild = append(kept.wild, x)
		} else {
			kept.plain = append(kept.plain, x)
		}
	}
	slices.SortFunc(kept.plain, func(a, b rule) int {
		return cmp.Or(strings.Compare(a.pattern, b.pattern), allowFirst(a, b))
	})
	kept.plain = slices.Clip(slices.CompactFunc(kept.plain, func(a, b rule) bool { return a.pattern == b.pattern }))
	slices.SortFunc(kept.wild, func(a, b rule) int {
		return cmp.Or(cmp.Compare(len(b.pattern), len(a.pattern)), allowFirst(a, b), strings.Compare(a.pattern, b.pattern))
	})
	kept.wild = slices.Clip(slices.Compact(kept.wild))
	return kept
}

func allowFirst(a, b rule) int {
	switch {
	case a.allow == b.allow:
		return 0
	case a.allow:
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
	n := int64(128 + len(r.note))
	for _, list := range [][]rule{r.plain, r.wild} {
		for _, rule := range list {
			n += 24 + int64(len(rule.pattern))
		}
	}
	for _, s := range r.sitemaps {
		n += 16 + int64(len(s))
	}
	return n
}

// match returns the rule that decides about u: the one with the longest
// pattern, and of two as long the one that allows (RFC 9309, section 2.2.2).
// None decides about robots.txt itself, which is always allowed.
func (r *rules) match(u weburl.URL) (best rule, found bool) {
	if len(r.plain)+len(r.wild) == 0 || u.Path() == "/robots.txt" {
		return rule{}, false
	}
	path := normalPath(u)
	best, found = longestPrefix(r.plain, path)
	for _, w := range r.wild {
		if len(w.pattern) < len(best.pattern) || len(w.pattern) == len(best.pattern) && best.allow {
			break
		}
		if matches(w.pattern, path) {
			return w, true
		}
	}
	return best, found
}

// longestPrefix returns the rule of plain with the longest pattern that path
// begins with. The greatest pattern that is not behind path in order is that
// one, or else begins with it, so the search goes on with what both share.
func longestPrefix(plain []rule, path string) (rule, bool) {
	for {
		i, equal := slices.BinarySearchFunc(plain, path, func(r rule, path string) int {
			return strings.Compare(r.pattern, path)
		})
		if equal {
			return plain[i], true
		}
		if i == 0 {
			return rule{}, false
		}
		before := plain[i-1].pattern
		if strings.HasPrefix(path, before) {
			return plain[i-1], true
		}
		shared := 0
		for path[shared] == before[shared] { // they differ somewhere
			shared++
		}
		path = path[:shared]
	}
}

// matches tells whether path begins with pattern, in which "*" stands for any
// text and "$" at the end for the end of path. It takes the leftmost place for
// each piece between two stars, which is enough and makes it linear: no
// pattern blows up.
func matches(pattern, path string) bool {
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

// normalPath returns path and query of u in the form of normalPattern. A star
// or dollar in a URL is an ordinary character, so it is escaped.
func normalPath(u weburl.URL) string {
	path := u.Path()
	if q := u.Query(); q != "" {
		path += "?" + q
	}
	return normal(path, false)
}

// normalPattern writes a pattern so that two spellings of one path agree (RFC
// 9309, section 2.2.2): escapes in upper case and only for characters that are
// neither unreserved nor reserved; a dollar that is not at the end escaped.
func normalPattern(pattern string) string { return normal(pattern, true) }

func normal(s string, pattern bool) string {
	plain := true
	for i := 0; plain && i < len(s); i++ {
		plain = class[s[i]] == literal || pattern && (s[i] == '*' || s[i] == '$' && i == len(s)-1)
	}
	if plain {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%' && i+2 < len(s) && hex(s[i+1]) >= 0 && hex(s[i+2]) >= 0:
			c = byte(hex(s[i+1])<<4 | hex(s[i+2]))
			i += 2
			if class[c] == literal && !strings.ContainsRune(reserved, rune(c)) {
				b.WriteByte(c)
			} else {
				escape(&b, c)
			}
		case class[c] == literal, pattern && c == '*', pattern && c == '$' && i == len(s)-1:
			b.WriteByte(c)
		default:
			escape(&b, c)
		}
	}
	return b.String()
}

func escape(b *strings.Builder, c byte) {
	const digits = "0123456789ABCDEF"
	b.WriteByte('%')
	b.WriteByte(digits[c>>4])
	b.WriteByte(digits[c&15])
}

func hex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c - 'a' + 10)
	case 'A' <= c && c <= 'F':
		return int(c - 'A' + 10)
	}
	return -1
}

// The characters of RFC 3986 that stand for themselves, but for "*" and "$",
// which stand for something else in a pattern.
const (
	unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	reserved   = ":/?#[]@!&'()+,;="
)

const literal = 1

var class = func() (table [256]byte) {
	for _, c := range []byte(unreserved + reserved) {
		table[c] = literal
	}
	return
}()
