package page

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"gazehound/crawler/weburl"
)

// checkPage asserts what holds of every page, whatever its bytes.
func checkPage(t testing.TB, p *Page) {
	t.Helper()
	checkWords(t, p, "title", p.Title, MaxTitle)
	if p.Lang != "" && len(p.Lang) != 2 {
		t.Errorf("%s: language %q", p.URL, p.Lang)
	}
	if len(p.Links) > MaxLinks {
		t.Errorf("%s: %d links", p.URL, len(p.Links))
	}
	if p.NoFollow && len(p.Links) > 0 {
		t.Errorf("%s: nofollow, but %d links", p.URL, len(p.Links))
	}
	seen := make(map[weburl.URL]bool)
	for _, l := range p.Links {
		if again, err := weburl.Parse(l.To.String()); err != nil || again != l.To {
			t.Errorf("%s: link to %q parses as %q, %v", p.URL, l.To, again, err)
		}
		if l.From != p.URL || l.To == p.URL || seen[l.To] {
			t.Errorf("%s: link from %s to %s, seen before: %v", p.URL, l.From, l.To, seen[l.To])
		}
		seen[l.To] = true
		checkWords(t, p, "anchor", l.Anchor, MaxAnchor)
		checkWords(t, p, "link title", l.Title, MaxAnchor)
		checkWords(t, p, "around", l.Around, MaxAround)
	}
}

func checkWords(t testing.TB, p *Page, what, s string, most int) {
	t.Helper()
	if !utf8.ValidString(s) || utf8.RuneCountInString(s) > most || strings.TrimSpace(s) != s || strings.Contains(s, "  ") ||
		strings.ContainsFunc(s, unicode.IsControl) {
		t.Errorf("%s: %s %q", p.URL, what, s)
	}
}
