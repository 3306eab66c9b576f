package predictor

import (
	"bytes"
	"hash/maphash"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FeatureSet names the rules by which Terms reads a link. A model file that
// was written under other rules is refused, because its counts mean nothing to
// the terms of today.
const FeatureSet = 1

// The bounds of what Terms returns.
const (
	MaxTerms      = 64 // terms of a link
	MaxTermLength = 64 // bytes of a term, with its family
	maxFolders    = 3  // above the target
)

// Families are the six sources of terms (Ahlers & Boll 2009, section 4.4), in
// the order of Terms. A term starts with its family and a colon.
var families = [...]struct {
	name, prefix string
	max          int // terms of this family that Terms returns
}{
	{"host", "host:", 6}, {"path", "path:", 18}, {"anchor", "anchor:", 12}, {"title", "title:", 8}, {"around", "around:", 19}, {"switch", "switch:", 1},
}

// Families returns the names of the six term families in the order of Terms.
func Families() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

// Terms returns what the classifiers know a link by: the words of its six
// feature families, each term with its family before it ("anchor:kontakt",
// "path:impressum", "switch:yes"), no term twice, always in the same order.
//
// Words are runs of letters and digits in lower case, with every digit written
// as 0, so that all years, or all five-digit postcodes, are one term.
// The host gives itself and its parent domains ("host:www.uci.edu",
// "host:uci.edu", "host:edu"); the path its words, and the folders above the
// target under its host ("path:www.uci.edu/dept/"), which is how a site's
// sections are told apart. There are at most MaxTerms terms of at most
// MaxTermLength bytes; what is beyond is left out.
func Terms(l Link) []string {
	var t collector
	t.read(l)
	return t.terms()
}

// read gathers the terms of a link.
func (t *collector) read(l Link) {
	host := strings.ToLower(strings.ToValidUTF8(l.Host, ""))
	if strings.ContainsFunc(host, unicode.IsSpace) {
		host = strings.Join(strings.Fields(host), "")
	}
	t.start(0)
	t.host(host)
	t.start(1)
	t.path(host, l.Path)
	for i, text := range [...]string{l.Anchor, l.Title, l.Around} {
		t.start(2 + i)
		t.words(text)
	}
	t.start(5)
	if l.Switch {
		t.add("yes")
	} else {
		t.add("no")
	}
}

// A collector gathers the terms of one link, family by family. It has room for
// all that there can be, so that it needs no memory but the stack's.
type collector struct {
	text   [MaxTerms*MaxTermLength + MaxTermLength]byte // the terms, one behind the other, and the one that is being put together
	ends   [MaxTerms]int                                // of the terms in text
	n      int                                          // terms
	from   int                                          // where the one that is being put together begins,
	to     int                                          // and where it ends so far
	family string                                       // with its colon, which every term begins with
	first  int                                          // of the family's terms
	left   int                                          // terms that the family may still add
	full   bool                                         // no more fits into the term
}

func (t *collector) start(family int) {
	t.family, t.left, t.first = families[family].prefix, families[family].max, t.n
	t.begin()
}

// begin starts a term.
func (t *collector) begin() { t.to, t.full = t.from+copy(t.text[t.from:], t.family), false }

// room returns how many bytes the term may still grow by.
func (t *collector) room() int { return t.from + MaxTermLength - t.to }

// terms returns what was gathered, all of it in one piece of memory.
func (t *collector) terms() []string {
	all, from := string(t.text[:t.from]), 0
	terms := make([]string, t.n)
	for i, end := range t.ends[:t.n] {
		terms[i], from = all[from:end], end
	}
	return terms
}

// keys appends those of what was gathered to keys, without making strings of it.
func (t *collector) keys(keys []key, v *vocabulary) []key {
	from := 0
	for _, end := range t.ends[:t.n] {
		term := t.text[from:end]
		keys, from = append(keys, key{maphash.Bytes(v.seed, term) | 1, slotOf(term), familyOf(term)}), end
	}
	return keys
}

// put appends a character to the term as terms have it: in lower case, digits
// as 0 and white space as "_".
func (t *collector) put(r rune) {
	switch {
	case 'a' <= r && r <= 'z':
	case 'A' <= r && r <= 'Z':
		r |= 0x20
	case unicode.IsDigit(r):
		r = '0'
	case unicode.IsSpace(r):
		r = '_'
	default:
		r = unicode.ToLower(r)
	}
	if t.full = t.full || utf8.RuneLen(r) > t.room(); !t.full {
		t.to += utf8.EncodeRune(t.text[t.to:], r)
	}
}

// end adds the term, unless it is there or the family is full, and starts
// the next one.
func (t *collector) end() {
	if t.left > 0 && t.to-t.from > len(t.family) && !t.has() {
		t.ends[t.n], t.from = t.to, t.to
		t.n++
		t.left--
	}
	t.begin()
}

// has tells whether the family has the term.
func (t *collector) has() bool {
	from := 0
	if t.first > 0 {
		from = t.ends[t.first-1]
	}
	for _, end := range t.ends[t.first:t.n] {
		if bytes.Equal(t.text[from:end], t.text[t.from:t.to]) {
			return true
		}
		from = end
	}
	return false
}

// add adds a word that is folded already.
func (t *collector) add(word string) {
	t.putFolded(word)
	t.end()
}

// putFolded appends characters that are folded already.
func (t *collector) putFolded(s string) {
	if room := t.room(); len(s) > room {
		for room > 0 && !utf8.RuneStart(s[room]) {
			room--
		}
		s, t.full = s[:room], true
	}
	t.to += copy(t.text[t.to:], s)
}

// host adds the host, with its port, and its parent domains, the longest first.
func (t *collector) host(host string) {
	t.add(host)
	host, _, _ = strings.Cut(host, ":")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" || '0' <= last[0] && last[0] <= '9' {
		return // an IP address has no parents
	}
	for t.left > 0 {
		_, parent, ok := strings.Cut(host, ".")
		if !ok {
			return
		}
		t.add(parent)
		host = parent
	}
}

// path adds the folders of an escaped path, the outermost first, then the
// words of path and query.
func (t *collector) path(host, path string) {
	if path = unescape(path); !isASCII(path) {
		path = norm.NFC.String(strings.ToValidUTF8(path, ""))
	}
	file, _, _ := strings.Cut(path, "?")
	for i, folders := 1, 0; i < len(file) && folders < maxFolders; i++ {
		if file[i] == '/' {
			t.putFolded(host)
			for _, r := range file[:i+1] {
				t.put(r)
			}
			t.end()
			folders++
		}
	}
	t.words(path)
}

// words adds the words of a text in their order.
func (t *collector) words(text string) {
	if isASCII(text) {
		t.asciiWords(text)
		return
	}
	for _, r := range norm.NFC.String(strings.ToValidUTF8(text, " ")) {
		if !isSeparator(r) {
			t.put(r)
		} else if t.end(); t.left == 0 {
			return
		}
	}
	t.end()
}

// asciiWords is words for most texts.
func (t *collector) asciiWords(text string) {
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z':
		case 'A' <= c && c <= 'Z':
			c |= 0x20
		case '0' <= c && c <= '9':
			c = '0'
		default:
			if t.end(); t.left == 0 {
				return
			}
			continue
		}
		if t.full = t.full || t.room() == 0; !t.full {
			t.text[t.to] = c
			t.to++
		}
	}
	t.end()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isSeparator(r rune) bool {
	if r < utf8.RuneSelf {
		return !('a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9')
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

// unescape undoes percent-escapes and leaves broken ones as they are.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi >= 0 && lo >= 0 {
				b.WriteByte(byte(hi<<4 | lo))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unhex returns the value of a hexadecimal digit, or -1.
func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
