package forget

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"gazehound/crawler/weburl"

	"golang.org/x/net/idna"
)

// A span is a part of a text, in bytes.
type span struct{ from, to int }

var (
	// names of hosts, and what only looks like them
	dotted = regexp.MustCompile(`[\pL\pN-]+(?:\.[\pL\pN-]+)+`)
	// local part of an e-mail address before its host
	mailbox = regexp.MustCompile(`[\pL\pN._%+-]+@$`)
	// port and path of a URL behind its host, as long as endsURL says
	behindHost = regexp.MustCompile("^(?::[0-9]+)?(?:[/?][^\\s\"'<>#,;)\\]}\\\\]*)?")
	// groups of digits, which may be a telephone number
	digitRun = regexp.MustCompile(`[0-9](?:[ /().\x{a0}+–-]*[0-9]){5,}`)
)

// spans returns at most n places where a text names what is blocked.
func (b *Blocklist) spans(text string, n int) (found []span) {
	for at := 0; at < len(text) && len(found) < n && strings.Contains(text[at:], "."); {
		place := dotted.FindStringIndex(text[at:])
		if place == nil {
			break
		}
		from, to := at+place[0], at+place[1]
		if s, ok := b.namedAt(text, from, to); ok {
			found = append(found, s)
		}
		at = to
	}
	if len(b.texts) == 0 {
		return found
	}
	for _, run := range digitRun.FindAllStringIndex(text, -1) {
		if len(found) >= n {
			break
		}
		if s, ok := b.phoneIn(text, run[0], run[1]); ok {
			found = append(found, s)
		}
	}
	return found
}

// namedAt reports whether the host name between two bytes is blocked, or the page or mailbox that it
// belongs to, and where that stands.
func (b *Blocklist) namedAt(text string, from, to int) (span, bool) {
	host := strings.ToLower(strings.Trim(text[from:to], "-"))
	if !isASCII(host) {
		if ascii, err := idna.Lookup.ToASCII(host); err == nil {
			host = ascii
		}
	}
	if b.hasHost(host) {
		return span{from, to}, true
	}
	rest := behindHost.FindString(text[to:])
	if strings.HasPrefix(rest, ":") && len(b.hosts) > 0 {
		port, _, _ := strings.Cut(rest[1:], "/")
		if b.hosts.has(host + ":" + port) {
			return span{from, to + 1 + len(port)}, true
		}
	}
	if len(b.urls) > 0 {
		u, err := weburl.Parse("http://" + host + rest)
		if err == nil && b.urls.has(u.Identity()) {
			return span{from, to + len(rest)}, true
		}
	}
	if len(b.texts) > 0 && strings.HasSuffix(text[:from], "@") {
		before := mailbox.FindString(text[max(0, from-64):from])
		if id := textID(before + text[from:to]); before != "" && b.texts.has(id) {
			return span{from - len(before), to}, true
		}
	}
	return span{}, false
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return c >= utf8.RuneSelf })
}

// phoneIn reports whether digits between two bytes end a blocked telephone number, and returns them
// all: numbers that stand beside each other without a word between are taken for one.
func (b *Blocklist) phoneIn(text string, from, to int) (span, bool) {
	digits := digitsOf(text[from:to])
	for end := minPhone; end <= len(digits); end++ {
		for size := minPhone; size <= min(end, maxPhone); size++ {
			if b.texts.has(textID(digits[end-size : end])) {
				return span{from, to}, true
			}
		}
	}
	return span{}, false
}

// States reports whether a text states a blocked street and house number, in whatever spelling. It may
// be that of another town.
func (b Blocklist) States(text string) bool {
	if len(b.texts) == 0 || !strings.ContainsAny(text, "0123456789") {
		return false
	}
	words := strings.Fields(wordsOf(text))
	for i, word := range words {
		if !isNumber(word) {
			continue
		}
		for from := max(0, i-maxStreet); from < i; from++ {
			for to := i + 1; to <= min(len(words), i+2); to++ {
				if id := lineID(words[from:to]); id != "" && b.texts.has(id) {
					return true
				}
			}
		}
	}
	return false
}
