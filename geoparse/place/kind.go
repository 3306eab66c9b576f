package place

import (
	"slices"
	"strings"

	"gazehound/internal/kind"
)

// leastShared is the length in bytes of a word by which a title speaks of a name.
const leastShared = 4

// Kind returns the kind of place that a name says, as package kind has it; of the
// place that the page is its own site of, also what the title, the headings or the
// domain say where they speak of the name: "Bäckerei Meyer in Oldenburg" of "Meyer
// GmbH". It is "" where nothing says it.
func (p *Page) Kind(name, lang, country string, own bool) string {
	if id := kind.OfName(name, lang, country); id != "" || !own {
		return id
	}
	words := slices.DeleteFunc(nameWords(withoutLegalForm(name)), func(w string) bool { return len(w) < leastShared })
	for _, text := range p.own {
		said := nameWords(text)
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
