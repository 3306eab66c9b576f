package predictor

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FeatureSet is the version of the rules of Terms. A model file of another version is refused,
// because its counts belong to other terms.
const FeatureSet = 2

// The bounds of what Terms returns.
const (
	MaxTerms      = 67 // terms of a link
	MaxTermLength = 64 // bytes of a term, with its family
	maxFolders    = 3  // above the target
)

// Families are the sources of terms, in the order of Terms: six of Ahlers & Boll 2009, section 4.4,
// and the place of the link in its page. A term starts with its family and a colon.
var families = [...]struct {
	name, prefix string
	max          int // terms of this family that Terms returns
}{
	{"host", "host:", 6}, {"path", "path:", 18}, {"anchor", "anchor:", 12}, {"title", "title:", 8}, {"around",
		"around:", 19}, {"switch", "switch:", 1}, {"place",
		"place:", 3},
}

// Families returns the names of the seven term families in the order of Terms.
func Families() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

// Terms returns the features of a link: the words of its seven feature families, each term with its
// family before it ("anchor:kontakt", "path:impressum", "switch:yes"), no term twice, always in the
// same order.
//
// Words are runs of letters and digits in lower case, with every digit written as 0, so that all
// years, or all five-digit postcodes, are one term. The host gives itself and its parent domains
// ("host:www.uci.edu", "host:uci.edu", "host:edu"); the path its words, and the folders above the
// target under its host ("path:www.uci.edu/dept/"), which identify a site's sections. There are at
// most MaxTerms terms of at most MaxTermLength bytes; further ones are left out.
func Terms(l Link) []string {
	t := collector{terms: make([]string, 0, MaxTerms)}
	host := strings.Join(strings.Fields(strings.ToLower(strings.ToValidUTF8(l.Host, ""))), "")
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
	t.start(6)
	t.place(l.Place)
	return t.terms
}

// A collector gathers the terms of one link, family by family.
type collector struct {
	terms  []string
	prefix string // of the family
	first  int    // of the family's terms
	left   int    // terms that the family may still add
}

func (t *collector) start(family int) {
	t.prefix, t.left, t.first = families[family].prefix, families[family].max, len(t.terms)
}

// add adds a word that is folded, unless it is there or the family is full.
func (t *collector) add(word string) {
	if t.left == 0 || word == "" {
		return
	}
	term := t.prefix + word
	if len(term) > MaxTermLength {
		end := MaxTermLength
		for !utf8.RuneStart(term[end]) {
			end--
		}
		term = strings.Clone(term[:end])
	}
	if !slices.Contains(t.terms[t.first:], term) {
		t.terms = append(t.terms, term)
		t.left--
	}
}

// host adds the host, with its port, and its parent domains, the longest first.
func (t *collector) host(host string) {
	t.add(host)
	host, _, _ = strings.Cut(host, ":")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" || '0' <= last[0] && last[0] <= '9' {
		return // an IP address has no parents
	}
	for ok := true; ok && t.left > 0; {
		_, host, ok = strings.Cut(host, ".")
		if ok {
			t.add(host)
		}
	}
}

// path adds the folders of an escaped path, the outermost first, then the
// words of path and query.
func (t *collector) path(host, path string) {
	path = norm.NFC.String(strings.ToValidUTF8(unescape(path), ""))
	file, _, _ := strings.Cut(path, "?")
	for i, folders := 1, 0; i < len(file) && folders < maxFolders; i++ {
		if file[i] == '/' {
			t.add(host + strings.Map(fold, file[:i+1]))
			folders++
		}
	}
	t.words(path)
}

// place adds the zone of the page, the two elements around the link, and the innermost element with
// an id or a class: "menu", "ul>li" and "nav.top" of "menu html body nav.top ul li a".
func (t *collector) place(place string) {
	place = strings.ToValidUTF8(place, "")
	zone, path, _ := strings.Cut(place, " ")
	t.add(strings.Map(fold, zone))
	path, _, _ = cutLast(path)
	up, parent, _ := cutLast(path)
	_, grandparent, _ := cutLast(up)
	if parent != "" {
		t.add(strings.Map(fold, grandparent+">"+parent))
	}
	for element, ok := "", path != ""; ok; {
		path, element, ok = cutLast(path)
		if strings.ContainsAny(element, "#.") {
			t.add(strings.Map(fold, element))
			return
		}
	}
}

// cutLast cuts a text at its last space; ok: it has one.
func cutLast(text string) (before, last string, ok bool) {
	i := strings.LastIndexByte(text, ' ')
	return text[:max(i, 0)], text[i+1:], i >= 0
}

// words adds the words of a text in their order.
func (t *collector) words(text string) {
	text = norm.NFC.String(strings.ToValidUTF8(text, " "))
	for word := range strings.FieldsFuncSeq(text, isSeparator) {
		if t.left == 0 {
			return
		}
		t.add(strings.Map(fold, word))
	}
}

// fold returns a character in the spelling of terms: in lower case, digits as 0 and white space as
// "_".
func fold(r rune) rune {
	switch {
	case unicode.IsDigit(r):
		return '0'
	case unicode.IsSpace(r):
		return '_'
	}
	return unicode.ToLower(r)
}

func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

var escaped = regexp.MustCompile(`%[0-9a-fA-F]{2}`)

// unescape decodes percent-escapes and leaves invalid ones unchanged.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	return escaped.ReplaceAllStringFunc(s, func(code string) string {
		b, _ := strconv.ParseUint(code[1:], 16, 8)
		return string([]byte{byte(b)})
	})
}
