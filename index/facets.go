package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2/search"
)

// A Count says how many of the addresses that match have a value.
type Count struct {
	Facet  Facet
	Values []Value
}

// A Value of a facet.
type Value struct {
	Value string
	Count int
}

func compareValues(a, b Value) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
}

// maxFacetValues bounds the values of one facet in an answer.
const maxFacetValues = 20

// facetField names the fields whose keywords facets count. Streets, codes and
// cities are counted as they are written, and one address writes each in one way.
var facetField = map[Facet]string{
	ByStreet: fieldStreetShown, ByPostcode: fieldCodeShown, ByCity: fieldCityShown,
	ByHost: fieldHost, BySite: fieldSite,
	ByKind: fieldKind, ByMonth: fieldMonth, ByPrecision: fieldPrecision, ByLevel: fieldLevel,
}

// counted bounds the values of a facet that Bleve counts: several may be spellings
// of one.
const counted = 5 * maxFacetValues

// facets returns what Bleve counted, in the order asked for.
func (s *searcher) facets(found search.FacetResults) (all []Count) {
	for _, f := range s.q.Facets {
		c := Count{Facet: f, Values: []Value{}}
		at := map[string]int{}
		if r := found[string(f)]; r != nil {
			for _, t := range r.Terms.Terms() {
				key := keyOf(f, t.Term)
				i, known := at[key]
				if !known {
					i, at[key] = len(c.Values), len(c.Values)
					c.Values = append(c.Values, Value{Value: t.Term})
				}
				c.Values[i].Count += t.Count
			}
		}
		slices.SortStableFunc(c.Values, compareValues)
		c.Values = c.Values[:min(maxFacetValues, len(c.Values))]
		all = append(all, c)
	}
	return all
}
