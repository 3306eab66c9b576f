package index

import (
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2/search/query"
	"github.com/paulmach/orb"
)

// more adds the number of pages to an answer, if it is asked for.
func (s *searcher) more(q query.Query, r *answer) (err error) {
	if !s.q.CountPages {
		return nil
	}
	ids, err := idsOf(s.ctx, s.view, q)
	if err != nil {
		return err
	}
	r.Pages, err = s.pages(ids)
	return err
}

// pages counts the pages that state addresses, a thousand addresses at a time.
func (s *searcher) pages(ids []string) (n int, err error) {
	for some := range slices.Chunk(ids, 1000) {
		stating, err := s.count(has(fieldStates, some...))
		if err != nil {
			return 0, err
		}
		n += stating
	}
	return n, nil
}

// nearScale is the distance in metres at which "near" an address says half as
// much as at it.
const nearScale = 150

// resolveNear makes the address in "bakery near Main Street 5" the centre of the
// search, and returns it in one line; "" where the text names none.
func (s *searcher) resolveNear() (line string, err error) {
	what, where, ok := nearness(s.words)
	if !ok || s.q.Center != nil {
		return "", nil
	}
	at, err := s.locate(where)
	if err != nil {
		return "", err
	}
	var center orb.Point
	switch {
	case at != nil:
		center, line = at.Point, join(" ", at.Street, at.HouseNumber)
	case s.q.Locate != nil:
		var raws []string
		for _, w := range where {
			raws = append(raws, w.raw)
		}
		center, line, ok = s.q.Locate(strings.Join(raws, " "))
		if !ok {
			return "", nil
		}
	default:
		return "", nil
	}
	s.words, s.q.Center, s.q.Scale, s.q.Bias, s.lift = what, &center, nearScale, 1, nearLift
	return line, nil
}

// locate finds the address that words describe, of those that fit the filter:
// with all words, or all but the numbers.
func (s *searcher) locate(words []word) (*Hit, error) {
	streets := slices.DeleteFunc(slices.Clone(words), func(w word) bool { return isNumber(w.raw[:1]) })
	for _, words := range [][]word{words, streets} {
		if len(words) == 0 {
			continue
		}
		one := *s
		one.words, one.stage = words, exact
		one.q.Located, one.q.AddressOnly, one.q.Limit = true, true, 1
		one.q.Facets, one.q.CountPages = nil, false
		one.q.Sort, one.q.Explain = Relevance, false
		a, err := one.find(nil)
		if err != nil {
			return nil, err
		}
		if len(a.matches) > 0 {
			h, err := whole(s.view, 0).hit(&a.matches[0])
			return &h, err
		}
	}
	return nil, nil
}

// nearness splits "bakery near Main Street 5" into the words and the place.
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

var nearWords = foldedSet("near nearby nahe nähe neben bei beim")
