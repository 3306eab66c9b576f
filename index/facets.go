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
	Value string `json:"value"`
	Count int    `json:"count"`
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
		var values []Value
		if r := found[string(f)]; r != nil {
			for _, t := range r.Terms.Terms() {
				values = append(values, Value{t.Term, t.Count})
			}
		}
		all = append(all, Count{f, unite(f, values)})
	}
	return all
}

// unite makes one of the spellings of each value, and returns the most frequent ones.
func unite(f Facet, values []Value) []Value {
	all, at := []Value{}, map[string]int{}
	for _, v := range values {
		key := keyOf(f, v.Value)
		if i, known := at[key]; known {
			all[i].Count += v.Count
			continue
		}
		at[key] = len(all)
		all = append(all, v)
	}
	slices.SortStableFunc(all, compareValues)
	return all[:min(maxFacetValues, len(all))]
}
