package index

import (
	"cmp"
	"slices"
	"strings"

	"gazehound/gazetteer"

	"github.com/blevesearch/bleve/v2"
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

// maxFacetValues bounds the values of one facet in an answer.
const maxFacetValues = 20

// facetField names the fields whose keywords facets count.
var facetField = map[Facet]string{
	ByStreet: fieldStreet, ByPostcode: fieldCode, ByCity: fieldCity, ByHost: fieldHost, BySite: fieldSite,
	ByKind: fieldKind, ByMonth: fieldMonth, ByPrecision: fieldPrecision, ByLevel: fieldLevel,
}

// facets returns what Bleve counted, in the order asked for.
func (s *searcher) facets(found search.FacetResults) ([]Count, error) {
	var all []Count
	for _, f := range s.q.Facets {
		c := Count{Facet: f, Values: []Value{}}
		if counted := found[string(f)]; counted != nil {
			for _, t := range counted.Terms.Terms() {
				shown, err := s.shown(f, t.Term)
				if err != nil {
					return nil, err
				}
				c.Values = append(c.Values, Value{shown, t.Count})
			}
		}
		slices.SortStableFunc(c.Values, func(a, b Value) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
		})
		all = append(all, c)
	}
	return all, nil
}

// shown returns how some page writes the value that has a key.
func (s *searcher) shown(f Facet, key string) (string, error) {
	var write func(*mention) (written, itsKey string)
	switch f {
	case ByStreet:
		write = func(m *mention) (string, string) { return m.Street, gazetteer.StreetKey(m.Street) }
	case ByPostcode:
		write = func(m *mention) (string, string) { return m.Code, gazetteer.Key(m.Code) }
	case ByCity:
		write = func(m *mention) (string, string) { return m.City, gazetteer.Key(m.City) }
	default:
		return key, nil
	}
	request := bleve.NewSearchRequestOptions(has(facetField[f], key), 1, 0, false)
	request.Score = "none"
	request.Fields = []string{fieldStored}
	request.SortByCustom(search.SortOrder{&search.SortDocID{}})
	found, err := s.run(request)
	if err != nil {
		return "", err
	}
	for _, d := range found.Hits {
		stored, _ := d.Fields[fieldStored].(string)
		r, err := decodeRecord(d.ID, stored)
		if err != nil {
			return "", err
		}
		for _, m := range r.Mentions {
			if written, its := write(m); clipBytes(its, cursorName) == key {
				return written, nil
			}
		}
	}
	return key, nil
}
