package geoparse

import "strings"

// Limits of what may stand between a cue word and its address.
const (
	cueWindow = 160 // bytes
	cueLines  = 3
)

var (
	// authorities lead to the address of somebody whom a page must name.
	authorities = []string{
		"aufsichtsbehörde", "aufsichtsbehoerde", "zuständige kammer", "zuständige behörde", "datenschutzbeauftragte", "landesbeauftragte", "schlichtungsstelle",
		"schlichtungsverfahren", "haftpflichtversicher", "versicherer", "supervisory authority", "data protection officer", "ombudsman",
	}
	// makers lead to that of whoever made the site, if ":", "by" or the end of
	// the line follows.
	makers = []string{
		"webdesign", "web design", "design", "webseite", "website", "webmaster", "realisierung", "realisation", "umsetzung", "technische umsetzung", "konzeption", "gestaltung",
		"programmierung", "hosting", "hoster", "powered", "site",
	}
)

// thirdParty tells whether the words before the address at start say that it
// is not the page's own but that of an authority, an insurer or the maker of
// the site. from is where the address before it ends.
func thirdParty(text string, from, start int) bool {
	lo := max(from, start-cueWindow, 0)
	lines := 0
	for k := start - 1; k >= lo; k-- {
		if text[k] != '\n' {
			continue
		}
		if lines++; lines > cueLines {
			lo = k + 1
			break
		}
	}
	window := strings.ToLower(text[lo:start])
	for _, cue := range authorities {
		if strings.Contains(window, cue) {
			return true
		}
	}
	for _, cue := range makers {
		i := strings.LastIndex(window, cue)
		if i < 0 || i > 0 && isLetterAt(window, i-1) {
			continue
		}
		rest := window[i+len(cue):]
		if strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, " by ") || strings.HasPrefix(rest, " durch ") || strings.HasPrefix(rest, " von ") || cue != "site" && cue != "website" && strings.HasPrefix(rest, "\n") && strings.HasSuffix("\n"+window[:i], "\n") {
			return true
		}
	}
	return false
}
