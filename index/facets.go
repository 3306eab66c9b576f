package index

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	bleveindex "github.com/blevesearch/bleve_index_api"
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

// A counter counts the keywords of fields of documents. Bleve's facets take five times as long
// where a field has thousands of them.
type counter struct {
	read   bleveindex.DocValueReader
	fields []countedField
}

type countedField struct {
	start  []byte // of its terms
	counts map[string]*int
}

// counter returns one for these fields, which lie in fieldFacets.
func (v *view) counter(fields ...string) (*counter, error) {
	read, err := v.DocValueReader([]string{fieldFacets})
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	c := &counter{read: read}
	for _, field := range fields {
		_, start := termOf(field, "")
		c.fields = append(c.fields, countedField{[]byte(start), map[string]*int{}})
	}
	return c, nil
}

// add counts the keywords of a document.
func (c *counter) add(n bleveindex.IndexInternalID) error {
	if len(c.fields) == 0 {
		return nil
	}
	return c.read.VisitDocValues(n, c.addTerm)
}

func (c *counter) addTerm(_ string, term []byte) {
	for _, f := range c.fields {
		value, ok := bytes.CutPrefix(term, f.start)
		if !ok {
			continue
		}
		n := f.counts[string(value)]
		if n == nil {
			n = new(int)
			f.counts[string(value)] = n
		}
		*n++
		return
	}
}

// most returns the most frequent keywords of the i-th field.
func (c *counter) most(i, n int) (all []Value) {
	for value, count := range c.fields[i].counts {
		all = insert(all, n, Value{value, *count}, compareValues)
	}
	return all
}

// facets returns what was counted of the facets that the query asks for, in its order.
func (s *searcher) facets(counted *counter) (all []Count) {
	for i, f := range s.q.Facets {
		c := Count{Facet: f, Values: []Value{}}
		at := map[string]int{}
		for _, v := range counted.most(i, 5*maxFacetValues) { // several may be spellings of one
			key := keyOf(f, v.Value)
			j, known := at[key]
			if known {
				c.Values[j].Count += v.Count
				continue
			}
			at[key] = len(c.Values)
			c.Values = append(c.Values, v)
		}
		slices.SortStableFunc(c.Values, compareValues)
		c.Values = c.Values[:min(maxFacetValues, len(c.Values))]
		all = append(all, c)
	}
	return all
}
