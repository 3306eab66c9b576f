package place

import "slices"

// Object returns the index of the map object at the address, each with all its names, that the best
// matching candidate names; -1 if there is none.
func (p *Page) Object(a Around, objects [][]string) (best int) {
	best = -1
	if len(objects) == 0 || a.Third {
		return best
	}
	score := leastObject
	found, _ := p.candidates(a)
	for _, c := range found {
		i := slices.IndexFunc(objects, func(names []string) bool { return isOneOf(c.core, names) })
		if s := c.score(); i >= 0 && s > score {
			best, score = i, s
		}
	}
	return best
}

// leastObject is the least probability of a candidate that matches an object at the very house, the
// strongest evidence.
const leastObject = 0.05

// isOneOf reports whether words are those of a name, in any order.
func isOneOf(words, names []string) bool {
	return len(words) > 0 && slices.ContainsFunc(names, func(name string) bool {
		own := coreWords(name)
		return within(own, words) && within(words, own)
	})
}
