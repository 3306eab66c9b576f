package report

import (
	"context"

	"gazehound/crawler/frontier"
)

// A NodesReader collects the crawl trees of the nodes of one crawl. A tree has
// of all links those by which pages were found, on this node or another, so
// centrality and locality are those of the tree. It keeps one record a page.
type NodesReader struct {
	// An Owner returns the place of an address of the crawl tree and the node that owns it; place
	// "" if it is no target.
	Owner     func(address string) (place string, node int)
	fetches   []Fetch
	places    []string // of the fetches, by the partition of the crawl
	byMethod  bool     // some are given
	links     map[frontier.Key][]frontier.Key
	exchanged int
}

// A Walker is a frontier.Frontier.
type Walker interface {
	Walk(ctx context.Context, after uint64, fn func(frontier.Node) error) error
}

// Read adds the tree of one node. The place of a page is the one by the partition of the crawl, as
// in section 5.3; without places there, it is that of most of its addresses, the first of several.
func (r *NodesReader) Read(ctx context.Context, node int, tree Walker) error {
	if r.links == nil {
		r.links = map[frontier.Key][]frontier.Key{}
	}
	return tree.Walk(ctx, 0, func(n frontier.Node) error {
		key := frontier.KeyOf(n.URL)
		if n.Depth > 0 {
			r.links[n.Parent] = append(r.links[n.Parent], key)
		}
		r.exchanged += int(n.Outcome.Dropped["other_node"])
		if n.Outcome.Kind != frontier.KindPage {
			return nil
		}
		f := Fetch{Node: node, Page: key, Domain: n.URL.Site()}
		times, most := map[string]int{}, 0
		for _, a := range n.Outcome.Addresses {
			place, owner := r.Owner(a)
			if place == "" {
				continue
			}
			f.Entities = append(f.Entities, Entity{ID: a, Node: owner})
			times[place]++
			if times[place] > most {
				f.Place, most = place, times[place]
			}
		}
		r.fetches, r.places = append(r.fetches, f), append(r.places, n.Outcome.Place)
		r.byMethod = r.byMethod || n.Outcome.Place != ""
		return nil
	})
}

// Nodes returns the report on all trees; general marks the general nodes.
func (r *NodesReader) Nodes(general []bool) *Nodes {
	n := NewNodes(general)
	for i, f := range r.fetches {
		if r.byMethod {
			f.Place = r.places[i]
		}
		f.Links = r.links[f.Page]
		n.Fetched(f)
	}
	n.Exchanged(r.exchanged)
	return n
}
