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
	found, err := s.run(bleve.NewSearchRequestOptions(shown, len(hits), 0, true))
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
	given, rarity := make([]float64, len(s.words)), make([]float64, len(s.words))
	s.addUp(e, 1, given, rarity)
	parts := []Part{}
	for i, w := range s.words {
		if given[i] > 0 {
			parts = append(parts, Part{w.raw, round(rarity[i], 3), round(given[i]/rarity[i], 5)})
		}
	}
	return parts
}

// addUp adds up what the terms in an explanation give, times a factor: the
// share of the clauses of a disjunction that match.
func (s *searcher) addUp(e *search.Explanation, factor float64, given, rarity []float64) {
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
	if i, known := s.wordOf[term[:strings.IndexAny(term+" ", "^ ")]]; known {
		given[i] += e.Value * factor
		rarity[i] = max(rarity[i], rarityOf(e))
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
