package index

import (
	"math"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
)

// explain sets the parts of each hit's score by word, without the lift of near addresses.
func (s *searcher) explain(q query.Query, hits []share) error {
	ids := make([]string, len(hits))
	for i := range hits {
		ids[i] = hits[i].ID
	}
	shown := query.NewConjunctionQuery([]query.Query{q, these(ids)})
	found, err := s.run(s.ctx, bleve.NewSearchRequestOptions(shown, len(hits), 0, true))
	if err != nil {
		return err
	}
	for _, d := range found.Hits {
		hits[slices.Index(ids, d.ID)].Parts = s.parts(d.Expl)
	}
	return nil
}

// parts returns the contribution of each word to a score, from Bleve's explanation.
func (s *searcher) parts(e *search.Explanation) []Part {
	given, rarity := map[*word]float64{}, map[*word]float64{}
	s.addUp(e, 1, given, rarity)
	parts := []Part{}
	for i := range s.words {
		if w := &s.words[i]; given[w] > 0 {
			parts = append(parts, Part{w.raw, round(rarity[w], 3), round(given[w]/rarity[w], 5)})
		}
	}
	return parts
}

// addUp adds up what the terms in an explanation give, times a factor: the
// share of the clauses of a disjunction that match.
func (s *searcher) addUp(e *search.Explanation, factor float64, given, rarity map[*word]float64) {
	if e == nil {
		return
	}
	_, leaf, found := strings.Cut(e.Message, "eight(")
	if !found {
		for _, c := range e.Children {
			if strings.HasPrefix(c.Message, "coord(") {
				factor *= c.Value
			}
		}
		for _, c := range e.Children {
			s.addUp(c, factor, given, rarity)
		}
		return
	}
	_, term, _ := strings.Cut(leaf, ":") // field:term^boost in document
	if w := s.wordOf[term[:strings.IndexAny(term+" ", "^ ")]]; w != nil {
		given[w] += e.Value * factor
		rarity[w] = max(rarity[w], rarityOf(e))
	}
}

// rarityOf returns the inverse document frequency in the explanation of a term.
func rarityOf(e *search.Explanation) float64 {
	if strings.HasPrefix(e.Message, "idf(") {
		return e.Value
	}
	for _, c := range e.Children {
		if v := rarityOf(c); v > 0 {
			return v
		}
	}
	return 0
}

func round(v float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(v*p) / p
}
