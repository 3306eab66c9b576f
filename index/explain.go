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
func (s *searcher) explain(q query.Query, hits []match) error {
	ids := make([]string, len(hits))
	for i := range hits {
		ids[i] = hits[i].at.ID
	}
	s.parts = map[string]map[*word]Part{}
	shown := query.NewConjunctionQuery([]query.Query{q, these(ids)})
	found, err := s.run(s.ctx, bleve.NewSearchRequestOptions(shown, len(hits), 0, true))
	if err != nil {
		return err
	}
	for _, d := range found.Hits {
		noted, sum := s.parts[string(d.IndexInternalID)], 0.0
		for _, p := range noted {
			sum += p.Rarity * p.Weight
		}
		h := &hits[slices.Index(ids, d.ID)]
		h.parts = []Part{}
		for i := range s.words {
			if p, known := noted[&s.words[i]]; known { // their sum is the score, where only some words fit as well
				h.parts = append(h.parts, Part{p.Word, round(p.Rarity, 3), round(p.Weight*d.Score/sum, 5)})
			}
		}
	}
	return nil
}

// noteOf returns a function that notes what a word gives to an explained score: by the term that
// counts, how rare it is, and how much it weighs.
func (s *searcher) noteOf(w *word) func(*search.DocumentMatch) {
	return func(d *search.DocumentMatch) {
		rarity := rarityOf(d.Expl)
		if rarity == 0 {
			return
		}
		at := string(d.IndexInternalID)
		if s.parts[at] == nil {
			s.parts[at] = map[*word]Part{}
		}
		p := s.parts[at][w]
		s.parts[at][w] = Part{w.raw, max(p.Rarity, rarity), p.Weight + d.Score/rarity}
	}
}

// rarityOf returns the inverse document frequency in the explanation of a term.
func rarityOf(e *search.Explanation) float64 {
	for _, c := range e.Children {
		if strings.HasPrefix(c.Message, "idf(") {
			return c.Value
		}
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
