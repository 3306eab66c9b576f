package crawler

import (
	"fmt"
	"slices"
	"sync"

	"gazehound/crawler/frontier"
	"gazehound/predictor"
)

// trails remembers by which links the last pages were reached: the links of a
// page are visited soon after it, or one after the other, and to read the tree
// waits for what is being written. Each page has one place, which it shares with
// others. The zero trails remembers nothing yet.
type trails struct {
	mu     sync.Mutex
	places [256]struct {
		page  frontier.Key
		nodes []frontier.Node
	}
}

// parents returns the page that held the link to e and the page that held the
// link to that, without their addresses, as far as links are learned.
func (c *Crawler) parents(e *frontier.Entry) ([]frontier.Node, error) {
	if nodes, ok := c.trails.of(e.Parent); ok {
		return nodes, nil
	}
	nodes, err := c.Frontier.Trail(e.Parent, predictor.MaxDepth-1)
	if err != nil {
		return nil, fmt.Errorf("trail of %s: %w", e.URL, err)
	}
	return c.trails.keep(e.Parent, nodes), nil
}

func (t *trails) of(page frontier.Key) (nodes []frontier.Node, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &t.places[page[len(page)-1]] // of a digest
	return p.nodes, p.page == page && p.nodes != nil
}

// keep remembers the first nodes of a trail, and returns them as they are kept.
func (t *trails) keep(page frontier.Key, trail []frontier.Node) []frontier.Node {
	nodes := slices.Clone(trail[:min(len(trail), predictor.MaxDepth-1)])
	for i := range nodes {
		nodes[i].Outcome.Addresses = nil // up to a thousand, and nothing is learned from them
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &t.places[page[len(page)-1]]
	p.page, p.nodes = page, nodes
	return nodes
}
