package place

import "slices"

// Object returns which of the objects that the map has at an address, each with all
// its names, the page says is there: one with the words of a candidate, the best of
// which decides; -1 where there is none.
func (p *Page) Object(a Around, objects [][]string) (best int) {
	best = -1
	if len(objects) == 0 || a.Third {
		return best
	}
	score := leastObject
	for _, c := range p.candidates(a) {
		words := nameWords(withoutLegalForm(c.text))
		i := slices.IndexFunc(objects, func(names []string) bool { return isOneOf(words, names) })
		if s := c.score(); i >= 0 && s > score {
			best, score = i, s
		}
	}
	return best
}

// leastObject is the chance of being right that a candidate has at least: that the
// map has its name at the very house says more than all else.
const leastObject = 0.05

// isOneOf reports whether words are those of a name, in any order.
func isOneOf(words, names []string) bool {
	return len(words) > 0 && slices.ContainsFunc(names, func(name string) bool {
		own := nameWords(withoutLegalForm(name))
		return within(own, words) && within(words, own)
	})
}
