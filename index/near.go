package index

import (
	"slices"
	"strings"

	"github.com/paulmach/orb"
)

// nearScale is the distance in metres at which "near" an address says half as
// much as at it.
const nearScale = 150

// nearness parts "bakery near Main Street 5" into what is looked for and
// where.
func nearness(words []word) (what, where []word, ok bool) {
	for i, w := range words {
		if i == 0 || !nearWords[w.terms[0]] {
			continue
		}
		what, where = words[:i], words[i+1:]
		for len(what) > 0 && what[len(what)-1].minor { // "in der"
			what = what[:len(what)-1]
		}
		for len(where) > 0 && where[0].minor { // "der", "von"
			where = where[1:]
		}
		return what, where, len(what) > 0 && len(where) > 0
	}
	return nil, nil, false
}

var nearWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("near nearby nahe nähe neben bei beim") {
		m[foldWord(w)] = true
	}
	return m
}()

// locate finds the address that words describe, of those that fit the filter
// of q: with all words, or all but the numbers. The line is "" where there is
// none.
func (s *search) locate(q Query, words []word) (at orb.Point, line string, err error) {
	q.Located, q.AddressOnly, q.Only = true, true, nil
	streets := slices.DeleteFunc(slices.Clone(words), func(w word) bool { return isNumber(w.raw[:1]) })
	for _, words := range [][]word{words, streets} {
		if len(words) == 0 {
			continue
		}
		if err := s.run(q, words, exact); err != nil {
			return at, "", err
		}
		best := -1
		for i, n := range s.found {
			if best < 0 || s.groups[n].sum > s.groups[s.found[best]].sum || s.groups[n].sum == s.groups[s.found[best]].sum && s.v.ids[n] < s.v.ids[s.found[best]] {
				best = i
			}
		}
		if best >= 0 {
			p, n := s.v.at(s.v.summaries()[s.found[best]].number)
			m, err := p.mention(n)
			if err != nil {
				return at, "", err
			}
			return m.Point, join(" ", m.Street, m.Number), nil
		}
	}
	return at, "", nil
}
