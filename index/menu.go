package index

import (
	"slices"
	"strings"
)

// leastMenu is how many links in a row are a menu.
const leastMenu = 3

// withoutMenus returns the text of a page with spaces in place of its menus: lines that hold
// nothing but links, where at least leastMenu of them follow each other. The targets of a menu say
// nothing about its page. Lines of addresses stay.
func withoutMenus(text []rune, links []string, addresses spans) []rune {
	if len(links) < leastMenu {
		return text
	}
	known, first := map[string]bool{}, map[string]bool{} // links, and the words that they begin with
	for _, l := range links {
		words := strings.Fields(l)
		known[strings.Join(words, " ")] = true
		first[strings.Join(words[:min(1, len(words))], "")] = true
	}
	out := slices.Clone(text)
	from, n := 0, 0 // of the run of such lines: where it begins, and its links
	end := func(to int) {
		for i := from; n >= leastMenu && i < to; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
		n = 0
	}
	for at := 0; at < len(text); {
		to := lineEnd(text, at, len(text))
		line := string(text[at:to])
		found := linksOf(line, known, first)
		switch {
		case strings.TrimSpace(line) == "":
		case found == 0 || addresses.touch(at, to):
			end(at)
		default:
			if n == 0 {
				from = at
			}
			n += found
		}
		at = to + 1
	}
	end(len(text))
	return out
}

// maxLinkWords bounds the words of one link within a line of several.
const maxLinkWords = 8

// linksOf counts the links that a line consists of; 0: it has other words, too.
func linksOf(line string, known, first map[string]bool) (n int) {
	words := strings.Fields(line)
	if known[strings.Join(words, " ")] {
		return 1
	}
	for i := 0; i < len(words); {
		if strings.Trim(words[i], "|·•»›>/–—-*") == "" {
			i++
			continue
		}
		k := 0
		if first[words[i]] {
			k = min(maxLinkWords, len(words)-i)
		}
		for k > 0 && !known[strings.Join(words[i:i+k], " ")] {
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

// touch reports whether an address stands in text[from:to].
func (s *spans) touch(from, to int) bool {
	return slices.ContainsFunc(s.list, func(at [2]int) bool { return at[0] < to && at[1] > from })
}
