package crawler

import (
	"sync/atomic"

	"gazehound/crawler/frontier"
)

// A RuleStore keeps the robots.txt of sites in the crawl tree, once it has one. Its Load and Save are
// those of robots.Options.
type RuleStore struct {
	tree atomic.Pointer[frontier.Frontier]
}

// Use says which tree that is.
func (s *RuleStore) Use(f *frontier.Frontier) { s.tree.Store(f) }

// Load returns what was saved for a site; what cannot be read is fetched again.
func (s *RuleStore) Load(site string) (data []byte) {
	if f := s.tree.Load(); f != nil {
		data, _ = f.Meta(robotsKey(site))
	}
	return data
}

// Save keeps the rules of a site. A tree that fails ends the crawl at the next visit.
func (s *RuleStore) Save(site string, data []byte) {
	if f := s.tree.Load(); f != nil {
		f.PutMeta(robotsKey(site), data)
	}
}

func robotsKey(site string) string { return "robots " + site }
