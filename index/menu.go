package index

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// leastMenu is how many links in a row are a menu.
const leastMenu = 3

// A menuReader knows the menus of a page by the texts of its links.
type menuReader struct {
	known, first map[string]bool // links, and the words that they begin with; nil: too few for a menu
}

func menusOf(links []string) menuReader {
	if len(links) < leastMenu {
		return menuReader{}
	}
	r := menuReader{known: make(map[string]bool, len(links)), first: make(map[string]bool, len(links))}
	for _, l := range links {
		words := strings.Fields(l)
		r.known[strings.Join(words, " ")] = true
		r.first[strings.Join(words[:min(1, len(words))], "")] = true
	}
	return r
}

// without returns the text of a page with spaces in place of its menus: lines that hold nothing but
// links, where at least leastMenu of them follow each other. The targets of a menu say nothing about
// its page. Lines of addresses stay. It has as many characters as text.
func (r menuReader) without(text string, addresses spans) string {
	if r.known == nil {
		return text
	}
	var out strings.Builder
	written, from, n := 0, 0, 0 // bytes in out; of the run of such lines: where it begins, and its links
	end := func(to int) {
		if n >= leastMenu {
			out.WriteString(text[written:from])
			for _, c := range text[from:to] {
				if c != '\n' {
					c = ' '
				}
				out.WriteRune(c)
			}
			written = to
		}
		n = 0
	}
	for at, start := 0, 0; start < len(text); { // of the line: its first character, its first byte
		line, _, _ := strings.Cut(text[start:], "\n")
		next := at + utf8.RuneCountInString(line)
		if strings.TrimSpace(line) != "" {
			found := r.linksIn(line)
			switch {
			case found == 0 || addresses.touch(at, next):
				end(start)
			case n == 0:
				from, n = start, found
			default:
				n += found
			}
		}
		at, start = next+1, start+len(line)+1
	}
	end(len(text))
	out.WriteString(text[written:])
	return out.String()
}

// maxLinkWords bounds the words of one link within a line of several.
const maxLinkWords = 8

// linksIn counts the links that a line consists of; 0: it has other words, too.
func (r menuReader) linksIn(line string) (n int) {
	for word := range strings.FieldsSeq(line) {
		if !r.first[word] && !isBullet(word) {
			return 0 // as most lines, without a list of their words
		}
		break
	}
	words := strings.Fields(line)
	if r.known[strings.Join(words, " ")] {
		return 1
	}
	for i := 0; i < len(words); {
		if isBullet(words[i]) {
			i++
			continue
		}
		k := 0
		if r.first[words[i]] {
			k = min(maxLinkWords, len(words)-i)
		}
		for k > 0 && !r.known[strings.Join(words[i:i+k], " ")] {
			k--
		}
		if k == 0 {
			return 0
		}
		n++
		i += k
	}
	return n
}

// isBullet reports whether a word stands between links and is none.
func isBullet(word string) bool { return strings.Trim(word, "|·•»›>/–—-*") == "" }

// touch reports whether an address stands between two characters of the text.
func (s *spans) touch(from, to int) bool {
	return slices.ContainsFunc(s.list, func(at [2]int) bool { return at[0] < to && at[1] > from })
}
