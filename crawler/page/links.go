package page

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"gazehound/crawler/weburl"
	"gazehound/geoparse/markup"
	"gazehound/internal/textutil"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of collect besides MaxLinks: a page may link to one target a million times.
const (
	maxTried      = 5 * MaxLinks
	maxTriedBytes = 1 << 20
)

func isLink(n *html.Node) bool {
	_, ok := reference(n)
	return ok
}

// reference returns the URL of a link element, as written.
func reference(n *html.Node) (string, bool) {
	switch n.DataAtom {
	case atom.A, atom.Area:
		return attr(n, "href")
	case atom.Frame, atom.Iframe:
		return attr(n, "src")
	}
	if n.FirstChild == nil || n.FirstChild == n.LastChild && n.FirstChild.Type == html.TextNode {
		return fragment(n)
	}
	return "", false
}

// fragment returns the URL of what a script puts into an empty element once the page is loaded, such as
// a menu: by htmx, or by the include attributes of small scripts.
func fragment(n *html.Node) (string, bool) {
	ref, trigger := "", ""
	for _, a := range n.Attr {
		switch a.Key {
		case "data-include", "data-include-html", "w3-include-html", "include-html":
			return a.Val, true
		case "hx-get", "data-hx-get":
			ref = a.Val
		case "hx-trigger", "data-hx-trigger":
			trigger = a.Val
		}
	}
	loads := strings.HasPrefix(trigger, "load") || strings.HasPrefix(trigger, "revealed")
	return ref, ref != "" && loads
}

// Reasons why a link to the web is not in Page.Links.
const (
	LeftNoFollow = "nofollow" // its rel, meta robots or X-Robots-Tag says so
	LeftBadURL   = "bad_url"  // too long, without a usable host, with a password …
	LeftTooMany  = "too_many" // the page has more than MaxLinks, or repeats one target too often
)

// collect returns the links of the head and of the spans of text, and counts those left out by
// reason: all, if follow is false.
func collect(page weburl.URL, h *head, text string, spans []markup.Span, follow bool) (links []Link,
	left map[string]int64) {
	leave := func(reason string, n int) {
		if n == 0 {
			return
		}
		if left == nil {
			left = make(map[string]int64)
		}
		left[reason] += int64(n)
	}
	if !follow {
		leave(LeftNoFollow, len(h.links))
	}
	most := min(len(h.links)+len(spans), MaxLinks)
	links = make([]Link, 0, most)
	seen := make(map[string]int, most) // by their spelling
	add := func(l Link) {
		if l.To == page {
			return
		}
		i, known := seen[l.To.String()]
		switch {
		case !known && len(links) < MaxLinks:
			seen[l.To.String()] = len(links)
			links = append(links, l)
		case known && links[i].Anchor == "" && l.Anchor != "":
			links[i].Anchor, links[i].Around, links[i].Split = l.Anchor, l.Around, l.Split
			links[i].Place = l.Place
			if l.Title != "" {
				links[i].Title = l.Title
			}
		}
	}
	for _, l := range h.links {
		if follow {
			add(l)
		}
	}
	tried, bytes := 0, 0
	var where places
	for i, s := range spans {
		if tried >= maxTried || bytes >= maxTriedBytes || len(links) >= MaxLinks {
			leave(LeftTooMany, len(spans)-i)
			break
		}
		ref, _ := reference(s.Node)
		ref = strings.TrimSpace(ref)
		if ref == "" || ref[0] == '#' {
			continue
		}
		if !follow || noFollow(s.Node) {
			leave(LeftNoFollow, 1)
			continue
		}
		tried++
		bytes += min(len(ref), weburl.MaxLength)
		to, err := h.resolve(ref)
		if err != nil {
			if !errors.Is(err, weburl.ErrScheme) { // mailto: and the like are no pages
				leave(LeftBadURL, 1)
			}
			continue
		}
		title, _ := attr(s.Node, "title")
		l := Link{From: page, To: to, Anchor: anchor(s, text), Title: fold(title, MaxAnchor),
			Place: where.of(s.Node)}
		l.Around, l.Split = around(text, spans, i)
		add(l)
	}
	return links, left
}

func noFollow(n *html.Node) bool {
	rel, _ := attr(n, "rel")
	for token := range strings.FieldsSeq(rel) {
		if strings.EqualFold(token, "nofollow") {
			return true
		}
	}
	return false
}

// anchor returns the words of a link, else its label, else the words of its images or of hidden
// text.
func anchor(s markup.Span, text string) string {
	words := text[s.Start:s.End]
	if strings.IndexByte(words, '\n') >= 0 || strings.TrimSpace(words) != words {
		words = fold(words, MaxAnchor)
	}
	if words != "" {
		// a copy, so that a kept link does not hold the whole text
		return strings.Clone(textutil.Clip(words, MaxAnchor))
	}
	for _, key := range []string{"aria-label", "alt"} {
		if label, _ := attr(s.Node, key); label != "" {
			return fold(label, MaxAnchor)
		}
	}
	var parts []string
	steps := 0
	for n := range s.Node.Descendants() {
		steps++
		if steps > 100 {
			break
		}
		switch {
		case n.Type == html.TextNode:
			parts = append(parts, fold(n.Data, MaxAnchor))
		case n.DataAtom == atom.Img:
			alt, _ := attr(n, "alt")
			parts = append(parts, fold(alt, MaxAnchor))
		}
	}
	return fold(strings.Join(parts, " "), MaxAnchor)
}

// reach is the number of bytes to each side of a link that around reads.
const reach = 400

// around returns the words around the link spans[i], see Parse, and how many bytes of them are
// before it.
func around(text string, spans []markup.Span, i int) (words string, split int) {
	s := spans[i]
	from := lineStart(text, s.Start)
	to := lineEnd(text, s.End)
	if wordy(text, spans, i, from, to) {
		return joinAround(text[from:s.Start], text[s.End:to])
	}
	var before, after string
	if from > 0 {
		if a, b := lineStart(text, from-1), from-1; wordy(text, spans, i, a, b) {
			before = text[a:b]
		}
	}
	if to < len(text) {
		if a, b := to+1, lineEnd(text, to+1); wordy(text, spans, i, a, b) {
			after = text[a:b]
		}
	}
	return joinAround(before, after)
}

// lineStart and lineEnd return the bounds of the line around i, within reach of it.
func lineStart(text string, i int) int {
	low := max(0, i-reach)
	if j := strings.LastIndexByte(text[low:i], '\n'); j >= 0 {
		return low + j + 1
	}
	return low
}

func lineEnd(text string, i int) int {
	high := min(len(text), i+reach)
	if j := strings.IndexByte(text[i:high], '\n'); j >= 0 {
		return i + j
	}
	return high
}

// wordy reports whether text[from:to], near spans[i], has words outside of links.
func wordy(text string, spans []markup.Span, i, from, to int) bool {
	const most = 64 // links examined on each side
	first := i
	for first > 0 && i-first < most && spans[first-1].End > from {
		first--
	}
	at := from
	for j := first; j < len(spans) && j-i < most && spans[j].Start < to; j++ {
		if spans[j].Start > at && hasWord(text[at:spans[j].Start]) {
			return true
		}
		at = max(at, spans[j].End)
	}
	return at < to && hasWord(text[at:to])
}

func hasWord(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0
}

// joinAround returns the end of before and the beginning of after, each cut at
// a word, and the length of the first.
func joinAround(before, after string) (words string, split int) {
	const side = MaxAround / 2
	before = strings.TrimSpace(strings.ToValidUTF8(before, ""))
	after = strings.TrimSpace(strings.ToValidUTF8(after, ""))
	if n := utf8.RuneCountInString(before); n >= side {
		before = before[beginOf(before, n-side+1):]
		if i := strings.IndexByte(before, ' '); i >= 0 {
			before = before[i+1:]
		}
	}
	if utf8.RuneCountInString(after) > side {
		after = after[:beginOf(after, side+1)]
		if i := strings.LastIndexByte(after, ' '); i >= 0 {
			after = after[:i]
		} else {
			after = after[:beginOf(after, side)]
		}
	}
	before = strings.TrimSpace(before)
	return strings.TrimSpace(before + " " + after), len(before)
}

// beginOf returns where character n of s begins, counted from 0, or len(s).
func beginOf(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
