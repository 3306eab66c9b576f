package geoparse

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gazehound/geoparse/place"
	"gazehound/internal/textutil"
)

// A Role is whose address it is, seen from the page.
type Role uint8

// The roles.
const (
	OwnRole       Role = iota // of whom or what the page is about, or of who runs the site
	ListedRole                // one of many on the page
	AgencyRole                // of who made or hosts the site
	AuthorityRole             // of an authority, a court, a chamber or an insurer that the page must name
)

var roleNames = [...]string{"own", "listed", "agency", "authority"}

// String returns "own", "listed", "agency" or "authority".
func (r Role) String() string { return roleNames[r] }

// MarshalText returns the name of r.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// ThirdParty reports whether the address is that of the site's maker or of an authority over its
// owner, and not of the place itself.
func (r Role) ThirdParty() bool { return r >= AgencyRole }

// Limits of what may stand between a cue word and its address.
const (
	cueWindow = 160 // bytes
	cueLines  = 3
)

// leastList is how many addresses make a list.
const leastList = 4

var (
	// authorities lead to the address of somebody whom a page must name.
	authorities = place.Phrases("authorities")
	// courts do so in their own line or the next, unless a register number
	// follows.
	courts = place.Phrases("courts")
	// makers lead to that of whoever made the site, if ":", "by" or the end of
	// the line follows.
	makers = place.Phrases("makers")
	// makerLeads follow one of them before the maker, or what it was made with.
	makerLeads = []string{" : ", " by ", " by\n", " durch ", " von ", " mit "}
	// makerWords may stand before one of them in a label of its own.
	makerWords = place.Words("maker-words")
	// verbs among them need "by".
	verbs = place.Words("verbs")
	// siteLabels among them are also those of an entry's own address on the web.
	siteLabels = place.Words("site-labels")
)

// thirdParty returns AgencyRole or AuthorityRole where the words before the
// address at start say that it is not the page's own; else OwnRole. from is
// where the address before it ends.
func thirdParty(text string, from, start int) Role {
	lo := max(from, start-cueWindow, 0)
	lines := 0
	for k := start - 1; k >= lo; k-- {
		if text[k] != '\n' {
			continue
		}
		lines++
		if lines > cueLines {
			lo = k + 1
			break
		}
	}
	window := strings.ToLower(text[lo:start])
	for _, cue := range authorities {
		if strings.Contains(window, cue) {
			return AuthorityRole
		}
	}
	for _, cue := range courts {
		if i := strings.LastIndex(window, cue); i >= 0 {
			rest := window[i+len(cue):]
			if strings.Count(rest, "\n") <= 1 && !strings.ContainsAny(rest, "0123456789") {
				return AuthorityRole
			}
		}
	}
	for _, cue := range makers {
		i := strings.LastIndex(window, cue)
		if i < 0 || i > 0 && textutil.LetterBefore(window, i) ||
			strings.Contains(window[strings.LastIndexByte(window[:i], '\n')+1:i], "inhalt") { // who answers for it
			continue
		}
		rest := window[i+len(cue):]
		by := slices.ContainsFunc(makerLeads, func(lead string) bool { return strings.HasPrefix(rest, lead) })
		label := strings.HasPrefix(rest, ":") && !(siteLabels[cue] && isWebAddress(rest[1:]))
		if by || label || !verbs[cue] && strings.HasPrefix(rest, "\n") &&
			onlyMakes(window[strings.LastIndexByte(window[:i], '\n')+1:i]) {
			return AgencyRole
		}
	}
	return OwnRole
}

// onlyMakes reports whether nothing but makerWords stands in what comes before the last word of a label,
// "Design und technische".
func onlyMakes(words string) bool {
	isOther := func(w string) bool { return !makerWords[w] }
	return !slices.ContainsFunc(strings.FieldsFunc(words, func(r rune) bool { return !unicode.IsLetter(r) }), isOther)
}

// isWebAddress reports whether what follows a label, in its line or the next, begins with a web address.
func isWebAddress(text string) bool {
	words := strings.Fields(text)
	return len(words) > 0 && webAddress.MatchString(words[0])
}

// webAddress is one that a page writes out: "https://harms.example/", "harms.example".
var webAddress = regexp.MustCompile(`^(?:https?://\S+|[\pL\d-]+(?:\.[\pL\d-]+)*\.\pL{2,}(?:/\S*)?)$`)
