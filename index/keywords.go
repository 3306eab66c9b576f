package index

import (
	"context"

	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	bleveindex "github.com/blevesearch/bleve_index_api"
)

// unscored is a query that has no share in a score. Without scores Bleve unites and intersects
// sets of documents.
type unscored struct{ query.Query }

// Searcher returns what finds the documents.
func (q unscored) Searcher(
	ctx context.Context, r bleveindex.IndexReader, m mapping.IndexMapping, o search.SearcherOptions,
) (search.Searcher, error) {
	return q.Query.Searcher(ctx, r, m, search.SearcherOptions{Score: "none"})
}

// has is the query for documents with one of some keywords.
func has(field string, values ...string) query.Query {
	var all alternatives
	for _, value := range values {
		all.add(field, 0, clipBytes(value, maxKey))
	}
	return unscored{&all}
}

// these is the query for documents with these IDs. It does not weigh, so that scores are those
// without it.
func these(ids []string) query.Query {
	q := query.NewDocIDQuery(ids)
	q.SetBoost(0)
	return unscored{q}
}
