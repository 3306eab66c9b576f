package index

import (
	"slices"
	"strings"

	"gazehound/geoparse/hours"
	"gazehound/internal/kind"
)

// A Subject is what a query asks for, as its words are understood.
type Subject struct {
	Words []string  // for what is looked for, without stop words
	Kinds []string  // that all of them mean, see package kind; nil: they mean none
	Where string    // the surroundings: "bakery near Main Street"; "": none are named
	Open  *OpenTime // when it must be open, or nil
}

// SubjectOf understands the text of a query.
func SubjectOf(q Query) (about Subject) {
	s := searcher{q: q, words: splitQuery(q.Text)}
	if q.literal() {
		for _, w := range s.words {
			about.Words = append(about.Words, w.raw)
		}
		return about
	}
	s.readOpening(q.Now)
	about.Open = s.open
	s.words, _ = nearMe(s.words)
	what, where, named := nearness(s.words)
	if named {
		s.words = what
		about.Where = strings.Join(raws(where), " ")
	}
	about.Words = raws(slices.DeleteFunc(slices.Clone(s.words), func(w word) bool { return w.minor }))
	if len(about.Words) == 0 {
		return about
	}
	found := kind.InQuery(about.Words)
	if !slices.ContainsFunc(found, func(kinds []string) bool { return !slices.Equal(kinds, found[0]) }) {
		about.Kinds = found[0]
	}
	return about
}

func raws(words []word) (texts []string) {
	for _, w := range words {
		texts = append(texts, w.raw)
	}
	return texts
}

// OpenThen reports whether the place is open at a time that is asked for.
func (h *Hit) OpenThen(o OpenTime) bool { return slices.Contains(openKeys(h.Hours), o.key()) }

// ReadHours returns opening hours of OpenStreetMap as those of a Hit are, or "" where they cannot be
// read or differ between weeks.
func ReadHours(osm string) string {
	hours, ok := hours.ParseMap(osm)
	if !ok {
		return ""
	}
	return hours
}
