package forget

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"gazehound/crawler/weburl"

	"golang.org/x/net/idna"
)

// A trace is the texts by which other files and pages name what is forgotten.
type trace struct {
	Pages []string `json:"pages,omitempty"` // URLs of pages that state the address
	Texts []string `json:"texts,omitempty"` // the address as it is written, telephones, e-mail addresses, persons
}

// A finder finds a removal in texts.
type finder struct {
	hosts, urls, words, phones, others []string
}

// newFinder returns a finder of the host or page of r, or of the texts of its trace.
func (r *Removal) newFinder() (f finder) {
	switch r.Kind {
	case "host":
		f.hosts = []string{strings.ToLower(r.What)}
		if shown, err := idna.Lookup.ToUnicode(r.What); err == nil && shown != f.hosts[0] {
			f.hosts = append(f.hosts, shown)
		}
	case "url":
		_, rest, _ := strings.Cut(r.What, "://")
		f.urls = []string{strings.ToLower(rest)}
	}
	if r.Trace == nil {
		return f
	}
	for _, text := range r.Trace.Texts {
		const few = minPhone // shorter texts match too much
		switch digits := digitsOf(text); {
		case strings.Contains(text, "@"):
			f.others = append(f.others, strings.ToLower(text))
		case isPhone(text, digits):
			f.phones = append(f.phones, digits[max(0, len(digits)-maxPhone):])
		case len(wordsOf(text)) >= few:
			f.words = append(f.words, wordsOf(text))
		}
	}
	return f
}

// isPhone reports whether a text with these digits is a telephone number.
func isPhone(text, digits string) bool {
	return !strings.ContainsFunc(text, unicode.IsLetter) && len(digits) >= minPhone && !strings.Contains(digits, "|")
}

// in reports whether a text names what is forgotten, as it is or escaped once or twice as in the
// query of a URL.
func (f finder) in(text string) bool { return inSpellings(text, f.plainly) }

// inSpellings reports whether a text matches as it is or unescaped once or twice.
func inSpellings(text string, matches func(string) bool) bool {
	for range 3 {
		if matches(text) {
			return true
		}
		plain := unescaped(text)
		if plain == text {
			break
		}
		text = plain
	}
	return false
}

// unescaped returns a text with its percent-encoded bytes decoded; what is not encoded stays.
func unescaped(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	return escape.ReplaceAllStringFunc(text, func(code string) string {
		b, _ := strconv.ParseUint(code[1:], 16, 8)
		return string([]byte{byte(b)})
	})
}

var escape = regexp.MustCompile("%[0-9A-Fa-f]{2}")

// plainly is in without decoding.
func (f finder) plainly(text string) bool {
	if text == "" {
		return false
	}
	lower := strings.ToLower(text)
	within := func(list []string, text string, ends func(before, after string) bool) bool {
		for _, s := range list {
			for at := 0; ; {
				i := strings.Index(text[at:], s)
				if i < 0 {
					break
				}
				at += i + len(s)
				if ends(text[:at-len(s)], text[at:]) {
					return true
				}
			}
		}
		return false
	}
	if within(f.hosts, lower, endsHost) || within(f.urls, lower, endsURL) || within(f.others, lower, anywhere) {
		return true
	}
	if len(f.words) > 0 && within(f.words, wordsOf(text), endsWord) {
		return true
	}
	return len(f.phones) > 0 && within(f.phones, digitsOf(text), anywhere)
}

func anywhere(_, _ string) bool { return true }

// endsHost reports whether a host name ends between two texts; it may have labels before it.
func endsHost(before, after string) bool {
	letter := func(c byte) bool { return c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' }
	if before != "" && letter(before[len(before)-1]) || after != "" && letter(after[0]) {
		return false
	}
	return len(after) < 2 || after[0] != '.' || !letter(after[1])
}

// endsURL reports whether a URL ends between two texts.
func endsURL(before, after string) bool {
	return endsHost(before, "") && (after == "" || strings.ContainsRune(" \t\r\n\"'<>#,;)]}\\", rune(after[0])))
}

func endsWord(before, after string) bool {
	return (before == "" || strings.HasSuffix(before, " ")) && (after == "" || after[0] == ' ')
}

// wordsOf returns the words of a text in one spelling: "Lange Straße Nr. 5a" and
// "LANGESTR. 5 a" are "langestr 5 a".
func wordsOf(text string) string {
	var b strings.Builder
	last := ' '
	for _, c := range strings.ToLower(text) {
		switch {
		case c == 'ß':
			b.WriteString("ss")
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			c = ' '
			if last != ' ' {
				b.WriteByte(' ')
			}
		case unicode.IsLetter(c) && unicode.IsDigit(last):
			b.WriteByte(' ')
			b.WriteRune(c)
		default:
			b.WriteRune(c)
		}
		last = c
	}
	words := strings.NewReplacer("strasse", "str", "straat", "str", "street", "str").Replace(b.String())
	words = strings.TrimSpace(strings.ReplaceAll(words, " str ", "str "))
	return numberWord.ReplaceAllString(words, " $1")
}

// numberWord matches a word for "number" before one.
var numberWord = regexp.MustCompile(` (?:nr|no|num|n|hausnummer|hausnr|nummer|number|numéro|numero) (\d)`)

// digitsOf returns the digits of a text; "|" stands between those of two numbers.
func digitsOf(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			b.WriteRune(c)
		case strings.ContainsRune(" /().-+\u00a0–", c):
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "|"):
			b.WriteByte('|')
		}
	}
	return strings.Trim(b.String(), "|")
}

// inURL reports whether a URL, or one in its query, is forgotten.
func (f finder) inURL(u weburl.URL) bool { return f.in(u.String()) }
