package place

import (
	"slices"
	"strings"

	"gazehound/internal/kind"
)

// mostTitle is how many words a title or heading has that says what the place is.
const mostTitle = 7

// leastShared is the least length in bytes of a word that a title shares with a name.
const leastShared = 4

// Kind returns the kind of place by its name, in the form of package kind. If the page is the
// place's own site, it also uses title, headings and domain that share a word with the name:
// "Bäckerei Meyer in Oldenburg" for "Meyer GmbH". It is "" if nothing shows it.
func (p *Page) Kind(name, lang, country string, own bool) string {
	if id := kind.OfName(name, lang, country); id != "" && !IsPerson(name) || !own {
		return id
	}
	words := slices.DeleteFunc(nameWords(withoutLegalForm(name)), func(w string) bool { return len(w) < leastShared })
	for _, text := range p.own {
		said := nameWords(text)
		if len(said) > mostTitle {
			continue
		}
		ofName := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(said, w) })
		if !ofName && agreement(said, p.label) < 0.9 {
			continue
		}
		if id := kind.OfName(text, lang, country); id != "" {
			return id
		}
	}
	return kind.OfName(strings.Join(p.domain, " "), lang, country)
}
