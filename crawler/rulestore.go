package crawler

import (
	"sync/atomic"

	"gazehound/crawler/frontier"
)

// A RuleStore keeps robots.txt files in the crawl tree, once Use has set it. It provides Load and
// Save of robots.Options.
type RuleStore struct {
	tree atomic.Pointer[frontier.Frontier]
}

// Use sets the crawl tree.
func (s *RuleStore) Use(f *frontier.Frontier) { s.tree.Store(f) }

// Load returns what was saved for a site, nil if it cannot be read, so that it is fetched again.
func (s *RuleStore) Load(site string) (data []byte) {
	if f := s.tree.Load(); f != nil {
		data, _ = f.Meta(robotsKey(site))
	}
	return data
}

// Save keeps the rules of a site. It ignores errors: the next visit meets them, too, and ends the
// crawl.
func (s *RuleStore) Save(site string, data []byte) {
	if f := s.tree.Load(); f != nil {
		f.PutMeta(robotsKey(site), data)
	}
}

func robotsKey(site string) string { return "robots " + site }
